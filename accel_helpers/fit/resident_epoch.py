"""An epoch of a Keras model as a compiled program, which `fit_resident` runs.

Picking the batches and all steps are in it: Keras's own ``train_step``, or ``test_step``, inside a
loop of the framework, which XLA compiles. It is called for about a second of steps at a time.
"""

import operator
import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from types import SimpleNamespace

from accel_helpers.fit.take_away import has_own_step
from accel_helpers.machine import backend
from accel_helpers.machine.quiet import held_back

PIECE_SECONDS = 1.0  # of an epoch, after which Python hears the stop button
MOST_IN_A_GROUP = 16  # steps, on an accelerator


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
    if model.loss is not None or not has_own_step(model):
        model.compute_loss(x=x, y=y, y_pred=predicted)
    model.compute_metrics(x, y, predicted)
    model.reset_metrics()
    for variable, state in states:
        variable.assign(state)


def _program(
    model, mode: str, samples: int, batch_size: int, shuffle: bool
) -> Callable[[tuple, int], None]:
    """Return a function of the data and a seed that runs one epoch on the model's variables.

    The mode is "train" or "test". The data are tensors (x, y), each with so many samples. The
    steps are taken in pieces of about a second, between which Python hears the stop button.
    """
    # On JAX a step of Keras 3.8 to 3.11 reads where the variables lie, which `fit` notes first.
    note_where_variables_lie = getattr(model, "_record_training_state_sharding_spec", None)
    if note_where_variables_lie is not None:
        note_where_variables_lie()
    full_batches, rest = divmod(samples, batch_size)
    group = _group(full_batches)
    groups = full_batches // group
    make_programs = _tensorflow_programs
    if backend.framework() == "jax":
        make_programs = _jax_programs
    steps, last_step, order_of = make_programs(model, mode, samples, batch_size, group)
    piece = 1  # so many groups

    def run(data: tuple, seed: int) -> None:
        nonlocal piece
        order = order_of(seed, shuffle)
        done = 0
        while done < groups:
            started = time.perf_counter()
            end = min(done + piece, groups)
            steps(data, order, done, end)
            backend.wait(model)
            seconds = time.perf_counter() - started
            if seconds < PIECE_SECONDS / 2:
                piece = min(2 * piece, groups)
            elif seconds > PIECE_SECONDS:
                piece = max(piece // 2, 1)
            done = end
        if rest:
            last_step(data, order)

    return run


def _group(full_batches: int) -> int:
    """Return how many steps are taken between two questions whether there are more of them.

    On a GPU the host answers these, for which the device waits.
    """
    if backend.devices()[-1] == "cpu":
        return 1
    return max(size for size in range(1, MOST_IN_A_GROUP + 1) if full_batches % size == 0)


def _tensorflow_programs(model, mode: str, samples: int, batch_size: int, group: int) -> tuple:
    """Return functions that take some steps, take the last one and make an order, on TensorFlow.

    A step there changes the variables by itself.
    """
    import tensorflow as tf

    step = getattr(model, f"{mode}_step")
    # There is no state to carry from step to step, but a loop must have one.
    no_state = tf.constant(0)

    def step_on(state, batch):
        step(batch)
        return state

    @tf.function(jit_compile=True, autograph=False)
    def shuffled(seed):
        # What TensorFlow would select in place of Philox is far slower under XLA on a CPU.
        numbers = tf.random.stateless_uniform(
            [samples], [seed, 0], None, None, tf.int32, alg="philox"
        )
        return tf.argsort(numbers)

    def compiled(function):
        program = tf.function(function, jit_compile=True, autograph=False)

        def run(data, order, *places):
            program(no_state, data, order, *map(tf.constant, places))

        return run

    def order_of(seed: int, shuffle: bool):
        return shuffled(tf.constant(seed)) if shuffle else tf.range(samples)

    steps, last_step = _steps(step_on, tf.gather, samples, batch_size, group)
    return compiled(steps), compiled(last_step), order_of


def _jax_programs(model, mode: str, samples: int, batch_size: int, group: int) -> tuple:
    """Do what `_tensorflow_programs` does, on JAX: there all variables are a step's state."""
    import jax

    step = getattr(model, f"{mode}_step")

    def step_on(state, batch):
        _, new_state = step(state, batch)
        return new_state

    @jax.jit
    def shuffled(seed):
        numbers = jax.random.bits(jax.random.key(seed), (samples,))
        return jax.numpy.argsort(numbers)

    def compiled(function):
        # The state may be overwritten in place, which saves a copy of all variables.
        program = jax.jit(function, donate_argnums=0)
        return partial(_run_on_variables, model, mode, program)

    def order_of(seed: int, shuffle: bool):
        return shuffled(seed) if shuffle else jax.numpy.arange(samples)

    steps, last_step = _steps(step_on, operator.getitem, samples, batch_size, group)
    return compiled(steps), compiled(last_step), order_of


def _steps(
    step_on: Callable, pick: Callable, samples: int, batch_size: int, group: int
) -> tuple[Callable, Callable]:
    """Return two functions, to be compiled, that take steps of an epoch and return the new state.

    ``steps(state, data, order, begin, end)`` takes those of some groups of full batches, and
    ``last_step(state, data, order)`` that on the last batch, which is smaller.

    Parameters
    ----------
    step_on : callable
        ``step_on(state, batch)`` takes a step on a batch (x, y), and returns the new state.
    pick : callable
        ``pick(tensor, rows)`` returns these rows of a tensor.
    samples, batch_size, group : int
        Of the data, of a step, and so many steps in a group.
    """
    import keras
    from keras import ops

    def train_on(state, data, order, start, size):
        """Take a step on `size` samples, from the place `start` in the order on."""
        rows = ops.slice(order, [start], [size])
        batch = keras.tree.map_structure(lambda tensor: pick(tensor, rows), data)
        return step_on(state, batch)

    def steps(state, data, order, begin, end):
        def train_on_group(number, state):
            def train_on_batch(place, state):
                start = (number * group + place) * batch_size
                return train_on(state, data, order, start, batch_size)

            return ops.fori_loop(0, group, train_on_batch, state)

        return ops.fori_loop(begin, end, train_on_group, state)

    def last_step(state, data, order):
        rest = samples % batch_size
        return train_on(state, data, order, samples - rest, rest)

    return steps, last_step


def _run_on_variables(model, mode: str, program: Callable, *arguments) -> None:
    """Run a JAX program on all variables of a model, and give them the values that it returns.

    The program is one of `_steps`, compiled; the mode is "train" or "test". JAX deletes the arrays
    that the variables had before.
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
    new_state = program(state, *arguments)
    keras.tree.map_structure(
        lambda variable, value: variable.assign(value), tuple(variables), new_state
    )
