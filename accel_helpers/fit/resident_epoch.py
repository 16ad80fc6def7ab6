"""An epoch of a Keras model as a compiled program, which `fit_resident` runs.

Picking the batches and all steps are in it: Keras's own ``train_step``, or ``test_step``, inside a
loop of the framework, which XLA compiles. It is called for about a second of steps at a time.
"""

import time
from collections.abc import Callable
from functools import partial

from accel_helpers.machine import backend

PIECE_SECONDS = 1.0  # of an epoch, after which Python hears the stop button
MOST_IN_A_GROUP = 16  # steps, on an accelerator


def build(model, data: tuple, batch_size: int) -> None:
    """Make all variables of a model, its optimizer, loss and metrics, for its tensors (x, y).

    They must be there before: inside a compiled loop none can be made.
    """
    import keras

    batch = keras.tree.map_structure(lambda tensor: tensor[:batch_size], data)
    # as `fit` does on JAX: by shapes alone, so that nothing is trained or counted
    model._symbolic_build(data_batch=batch)
    # On JAX a step of Keras 3.8 to 3.11 reads where the variables lie, which `fit` notes first.
    if hasattr(model, "_record_training_state_sharding_spec"):
        model._record_training_state_sharding_spec()


def run_epoch(model, mode: str, data: tuple, batch_size: int, random=None) -> dict:
    """Run an epoch of a model that was built, and return its loss and metrics by name.

    The mode is "train" or "test"; `data` are tensors (x, y). `random` is NumPy's generator for
    their order; without it, they are taken as they stand.
    """
    import keras
    import numpy as np

    samples = len(keras.tree.flatten(data)[0])
    order = np.arange(samples, dtype="int32")
    if random is not None:
        random.shuffle(order)
    # Programs are kept on the model, past Keras, which would look into them. Each is valid for one
    # compilation, with its own optimizer and metrics, and until a layer is frozen.
    programs = vars(model).setdefault("_resident_programs", {})
    trained = [id(variable) for variable in model.trainable_variables]
    key = (mode, batch_size, samples, model.optimizer, *model.metrics, *trained)
    if key not in programs:
        programs[key] = _program(model, mode, batch_size)
    model.reset_metrics()
    try:
        programs[key](data, order)
    except Exception as error:
        error.add_note(
            "fit_resident compiles a whole epoch with XLA. If the error names an operation "
            "that XLA cannot compile, this model needs model.fit."
        )
        raise
    metrics = model.get_metrics_result()
    # Some metrics have several values, such as F1 with one for each class: a list.
    return {name: np.asarray(value).tolist() for name, value in metrics.items()}


def _program(model, mode: str, batch_size: int) -> Callable:
    """Return a function that takes the steps of an epoch on data (x, y), in an order."""
    import keras
    import numpy as np

    steps, variables = _compiled(model, mode)
    piece = 1  # groups of steps that take about a second

    def take(data, batches, begin: int, end: int) -> None:
        """Take the steps of the groups of batches from `begin` to before `end`."""
        state = keras.tree.map_structure(lambda variable: variable.value, variables)
        # For TensorFlow each number of Python's would be a new program.
        state = steps(state, data, batches, np.int32(begin), np.int32(end))
        keras.tree.map_structure(lambda variable, value: variable.assign(value), variables, state)

    def run(data, order) -> None:
        nonlocal piece
        full_batches, rest = divmod(len(order), batch_size)
        full = len(order) - rest
        group = _group(full_batches)
        batches = order[:full].reshape(-1, group, batch_size)
        begin = 0
        while begin < len(batches):
            end = min(begin + piece, len(batches))
            started = time.perf_counter()
            take(data, batches, begin, end)
            backend.wait(model)
            seconds = time.perf_counter() - started
            piece = max(1, int((end - begin) * PIECE_SECONDS / seconds))
            begin = end
        if rest:
            take(data, order[full:].reshape(1, 1, rest), 0, 1)

    return run


def _group(full_batches: int) -> int:
    """Return how many steps are taken between two questions whether there are more of them.

    On a GPU the host answers these, for which the device waits.
    """
    if backend.devices()[-1] == "cpu":
        return 1
    return max(size for size in range(1, MOST_IN_A_GROUP + 1) if full_batches % size == 0)


def _compiled(model, mode: str) -> tuple:
    """Return `_take_groups` of a model, compiled, and the variables whose values are its state."""
    step = getattr(model, f"{mode}_step")
    if backend.framework() == "tensorflow":
        import tensorflow as tf

        def step_in_place(state, batch):
            # It changes the variables by itself.
            step(batch)
            return state

        taken = partial(_take_groups, step_in_place)
        return tf.function(taken, jit_compile=True, autograph=False), ()
    import jax

    variables = [model.trainable_variables, model.non_trainable_variables]
    if mode == "train":
        variables.append(model.optimizer.variables)
    variables.append(model.metrics_variables)

    def step_on(state, batch):
        _, new_state = step(state, batch)
        return new_state

    return jax.jit(partial(_take_groups, step_on)), tuple(variables)


def _take_groups(step_on: Callable, state, data, batches, begin, end):
    """Take the steps of some groups of batches, and return the new state; to be compiled.

    ``step_on(state, batch)`` takes a step on a batch (x, y). `batches` has the numbers of their
    samples: of shape (groups, steps in a group, samples in a batch).
    """
    import keras
    from keras import ops

    def train_on_group(number, state):
        def train_on_batch(place, state):
            rows = batches[number, place]
            batch = keras.tree.map_structure(lambda tensor: ops.take(tensor, rows, axis=0), data)
            return step_on(state, batch)

        return ops.fori_loop(0, batches.shape[1], train_on_batch, state)

    return ops.fori_loop(begin, end, train_on_group, state)
