"""An epoch as one compiled program: shuffling, picking the batches, and all steps in a loop."""

import operator
from functools import partial

from accel_helpers.machine import backend


def epoch_program(model, kind: str, n: int, batch_size: int, shuffle: bool):
    """Return one epoch on `n` samples as a compiled function of the data and a seed.

    The kind is "train" or "test". The function changes the variables of the model, and returns
    nothing.
    """
    # On JAX a step of Keras 3.8 to 3.11 reads where the variables lie, which `fit` notes first.
    note_where_variables_lie = getattr(model, "_record_training_state_sharding_spec", None)
    if note_where_variables_lie is not None:
        note_where_variables_lie()
    if backend.framework() == "jax":
        return _jax_program(model, kind, n, batch_size, shuffle)
    return _tensorflow_program(model, kind, n, batch_size, shuffle)


def _tensorflow_program(model, kind: str, n: int, batch_size: int, shuffle: bool):
    """Return what `epoch_program` does, on TensorFlow, whose step changes the variables itself."""
    import tensorflow as tf

    step = getattr(model, f"{kind}_step")

    def random_numbers(seed):
        # What TensorFlow would select is far slower under XLA on a CPU.
        return tf.random.stateless_uniform([n], [seed, 0], None, None, tf.int32, alg="philox")

    def step_on(state, batch):
        # No state is carried from step to step; the loop wants one all the same.
        step(batch)
        return state

    epoch = _epoch(step_on, tf.gather, random_numbers, n, batch_size, shuffle)
    program = tf.function(epoch, jit_compile=True, autograph=False)

    def run(data, seed: int) -> None:
        program(tf.constant(0), data, tf.constant(seed))

    return run


def _jax_program(model, kind: str, n: int, batch_size: int, shuffle: bool):
    """Return what `epoch_program` does, on JAX, whose step returns the variables anew."""
    import jax

    step = getattr(model, f"{kind}_step")

    def random_numbers(seed):
        return jax.random.bits(jax.random.key(seed), (n,))

    def step_on(state, batch):
        _, new_state = step(state, batch)
        return new_state

    epoch = _epoch(step_on, operator.getitem, random_numbers, n, batch_size, shuffle)
    return partial(_on_variables, model, kind, jax.jit(epoch, donate_argnums=0))


def _epoch(step_on, pick, random_numbers, n: int, batch_size: int, shuffle: bool):
    """Return an epoch as a function of (state, data, seed) that returns the state after it.

    It draws the order of the `n` samples from `random_numbers(seed)` (without `shuffle` they keep
    theirs), and takes each batch with `pick(array, rows)`. `step_on(state, batch)` returns the
    state after a step. The last batch may be smaller.
    """
    import keras
    from keras import ops

    full_batches, rest = divmod(n, batch_size)

    def epoch(state, data, seed):
        order = ops.argsort(random_numbers(seed)) if shuffle else ops.arange(n)

        def train_on(state, start, size):
            rows = ops.slice(order, [start], [size])
            batch = keras.tree.map_structure(lambda array: pick(array, rows), data)
            return step_on(state, batch)

        def train_on_batch(number, state):
            return train_on(state, number * batch_size, batch_size)

        if full_batches:
            state = ops.fori_loop(0, full_batches, train_on_batch, state)
        if rest:
            state = train_on(state, full_batches * batch_size, rest)
        return state

    return epoch


def _on_variables(model, kind: str, program, data, seed: int) -> None:
    """Hand all variables of a model to a program of JAX, and assign to them what it returns."""
    import jax
    import keras

    variables = [model.trainable_variables, model.non_trainable_variables]
    if kind == "train":
        variables.append(model.optimizer.variables)
    variables.append(model.metrics_variables)
    given_away: set[int] = set()

    def own_array(variable):
        # Two variables may share one array, and only one of them may give it away.
        array = variable.value
        is_shared = id(array) in given_away
        given_away.add(id(array))
        if is_shared:
            return jax.numpy.copy(array)
        return array

    state = keras.tree.map_structure(own_array, tuple(variables))
    new_state = program(state, data, seed)
    keras.tree.map_structure(
        lambda variable, value: variable.assign(value), tuple(variables), new_state
    )
