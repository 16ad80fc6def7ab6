"""An epoch of a Keras model as one compiled program, which `fit_resident` runs.

Shuffling, picking the batches and all steps are in it: Keras's own ``train_step``, or
``test_step``, inside a loop of the framework, which XLA compiles.
"""

import operator
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from types import SimpleNamespace

from accel_helpers.machine import backend
from accel_helpers.machine.quiet import held_back


def epoch_runner(model, arrays: tuple, batch_size: int) -> Callable[..., dict]:
    """Return a function that runs an epoch of a model, and that compiles it when it is new.

    The model was checked by `check_model`; `arrays` are its (x, y), from which its variables are
    made if there are none yet. The function is ``run(mode, batch_size, shuffle, data, seed)``. It
    changes the model's variables, and returns the loss and metrics of the epoch by name.
    """
    import keras
    import numpy as np

    # The programs are valid as long as none of these changes.
    trained_ids = tuple(id(variable) for variable in model.trainable_variables)
    ingredients = (model.optimizer, model.loss, tuple(model.metrics), trained_ids)
    # They are kept on the model, as fit keeps its own; and in a namespace, since Keras would look
    # into a dict.
    cache = getattr(model, "_accel_helpers_resident", None)
    if cache is None or cache.ingredients != ingredients:
        _build(model, arrays, batch_size)
        cache = SimpleNamespace(ingredients=ingredients, programs={})
        model._accel_helpers_resident = cache
    programs = cache.programs

    def run(mode: str, batch_size: int, shuffle: bool, data: tuple, seed: int) -> dict:
        """Run an epoch on tensors (x, y); the mode is "train" or "test"."""
        # The number of samples is in the key, since TensorFlow warns if it traces one program anew.
        samples = len(keras.tree.flatten(data)[0])
        key = (mode, samples, batch_size, shuffle)
        is_new = key not in programs
        if is_new:
            programs[key] = _program(model, *key)
        model.reset_metrics()
        # XLA writes notices to stderr when it starts.
        notices = held_back() if is_new else nullcontext()
        try:
            with notices:
                programs[key](data, seed)
        except Exception as error:
            error.add_note(
                "fit_resident compiles a whole epoch with XLA. If the error names an operation "
                "that XLA cannot compile, this model needs model.fit."
            )
            raise
        # Some metrics have several values, such as F1 with one for each class: a list.
        metrics = model.get_metrics_result()
        return {name: np.asarray(value).tolist() for name, value in metrics.items()}

    return run


def _build(model, arrays: tuple, batch_size: int) -> None:
    """Make all variables of a model, its optimizer, loss and metrics, with a batch of its (x, y).

    They must be there before: inside a compiled loop none can be made. Their values stay as they
    are.
    """
    import keras

    x, y = keras.tree.map_structure(lambda array: array[:batch_size], arrays)
    if not model.built:
        model(x, training=False)
    # A pass changes averages, states and the like, which then get these values back.
    states = [(variable, keras.ops.copy(variable)) for variable in model.non_trainable_variables]
    predicted = model(x, training=True)
    model.optimizer.build(model.trainable_variables)
    has_own_step = type(model).train_step is not keras.Model.train_step
    if model.loss is not None or not has_own_step:
        model.compute_loss(x=x, y=y, y_pred=predicted)
    model.compute_metrics(x, y, predicted)
    model.reset_metrics()
    for variable, state in states:
        variable.assign(state)


def _program(
    model, mode: str, samples: int, batch_size: int, shuffle: bool
) -> Callable[[tuple, int], None]:
    """Return a function of the data and a seed that runs one epoch on the model's variables.

    The mode is "train" or "test". The data are tensors (x, y), each with so many samples.
    """
    # On JAX a step of Keras 3.8 to 3.11 reads where the variables lie, which `fit` notes first.
    note_where_variables_lie = getattr(model, "_record_training_state_sharding_spec", None)
    if note_where_variables_lie is not None:
        note_where_variables_lie()
    if backend.framework() == "jax":
        return _jax_program(model, mode, samples, batch_size, shuffle)
    return _tensorflow_program(model, mode, samples, batch_size, shuffle)


def _tensorflow_program(
    model, mode: str, samples: int, batch_size: int, shuffle: bool
) -> Callable[[tuple, int], None]:
    """Do what `_program` does, on TensorFlow: a step there changes the variables by itself."""
    import tensorflow as tf

    step = getattr(model, f"{mode}_step")

    def random_numbers(seed):
        # What TensorFlow would select in place of Philox is far slower under XLA on a CPU.
        return tf.random.stateless_uniform([samples], [seed, 0], None, None, tf.int32, alg="philox")

    def step_on(state, batch):
        step(batch)
        return state

    epoch = _epoch(step_on, tf.gather, random_numbers, samples, batch_size, shuffle)
    program = tf.function(epoch, jit_compile=True, autograph=False)

    def run(data: tuple, seed: int) -> None:
        # There is no state to carry from step to step, but a loop must have one.
        no_state = tf.constant(0)
        program(no_state, data, tf.constant(seed))

    return run


def _jax_program(
    model, mode: str, samples: int, batch_size: int, shuffle: bool
) -> Callable[[tuple, int], None]:
    """Do what `_program` does, on JAX: a step there takes all variables as its state."""
    import jax

    step = getattr(model, f"{mode}_step")

    def random_numbers(seed):
        return jax.random.bits(jax.random.key(seed), (samples,))

    def step_on(state, batch):
        _, new_state = step(state, batch)
        return new_state

    epoch = _epoch(step_on, operator.getitem, random_numbers, samples, batch_size, shuffle)
    # The state may be overwritten in place, which saves a copy of all variables.
    program = jax.jit(epoch, donate_argnums=0)
    return partial(_run_on_variables, model, mode, program)


def _epoch(
    step_on: Callable,
    pick: Callable,
    random_numbers: Callable,
    samples: int,
    batch_size: int,
    shuffle: bool,
) -> Callable:
    """Return a function ``epoch(state, data, seed)``, to be compiled, that returns the new state.

    It takes a step on every batch of the data, the last of which may be smaller.

    Parameters
    ----------
    step_on : callable
        ``step_on(state, batch)`` takes a step on a batch (x, y), and returns the new state.
    pick : callable
        ``pick(tensor, rows)`` returns these rows of a tensor.
    random_numbers : callable
        ``random_numbers(seed)`` returns a number for each sample, which are sorted to shuffle.
    samples, batch_size : int
        Of the data, and of a step.
    shuffle : bool
        Whether the samples come in a random order.
    """
    import keras
    from keras import ops

    full_batches, rest = divmod(samples, batch_size)

    def epoch(state, data, seed):
        order = ops.argsort(random_numbers(seed)) if shuffle else ops.arange(samples)

        def train_on(state, start, size):
            """Take a step on `size` samples, from the place `start` in the order on."""
            rows = ops.slice(order, [start], [size])
            batch = keras.tree.map_structure(lambda tensor: pick(tensor, rows), data)
            return step_on(state, batch)

        def train_on_batch(number, state):
            return train_on(state, number * batch_size, batch_size)

        if full_batches:
            state = ops.fori_loop(0, full_batches, train_on_batch, state)
        if rest:
            state = train_on(state, full_batches * batch_size, rest)
        return state

    return epoch


def _run_on_variables(model, mode: str, program: Callable, data: tuple, seed: int) -> None:
    """Run a JAX program on all variables of a model, and give them the values that it returns.

    The program is an `_epoch`, compiled; the mode is "train" or "test"; the data are tensors
    (x, y). The arrays that the variables had before are deleted by JAX.
    """
    import jax
    import keras

    variables = [model.trainable_variables, model.non_trainable_variables]
    if mode == "train":
        variables.append(model.optimizer.variables)
    variables.append(model.metrics_variables)
    array_ids: set[int] = set()

    def own_array(variable):
        """Return the array of a variable, or a copy if another variable has the same array."""
        # An array can be given away to the program only once.
        array = variable.value
        is_shared = id(array) in array_ids
        array_ids.add(id(array))
        if is_shared:
            return jax.numpy.copy(array)
        return array

    state = keras.tree.map_structure(own_array, tuple(variables))
    new_state = program(state, data, seed)
    keras.tree.map_structure(
        lambda variable, value: variable.assign(value), tuple(variables), new_state
    )
