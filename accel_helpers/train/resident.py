"""Training that leaves the device alone: an epoch of ``fit`` as one compiled program.

The data lie on the device, and shuffling, picking the batches and all steps of an epoch are one
program, which XLA compiles: Keras's own ``train_step`` inside a loop of the framework.
"""

import math
import operator
from contextlib import nullcontext
from functools import partial
from types import SimpleNamespace

from accel_helpers._values.records import whole
from accel_helpers.machine import backend
from accel_helpers.machine.quiet import held_back
from accel_helpers.train.device_memory import as_arrays, as_tensors, check_room, memory_needed


def fit_resident(
    model,
    x,
    y,
    *,
    batch_size: int = 32,
    epochs: int = 1,
    shuffle: bool = True,
    validation_data: tuple | None = None,
    callbacks=None,
    verbose="auto",
    seed: int | None = None,
):
    """Train as ``model.fit`` does, with all data on the device and one program per epoch.

    Parameters
    ----------
    model : keras.Model
        Compiled; on TensorFlow or JAX. Everything in it must be something that XLA can compile.
    x, y : array, or list, tuple or dict of arrays
        As for ``fit``. Arrays are copied to the device in every call; tensors stay where they are.
    batch_size, epochs, shuffle, callbacks, verbose : optional
        As for ``fit``; a callback that acts within an epoch is refused.
    validation_data : tuple of (x, y), optional
        Evaluated after every epoch, as one program, too.
    seed : int, optional
        Of the order. By default drawn from NumPy, whose seed `keras.utils.set_random_seed` sets.

    Raises
    ------
    TypeError, ValueError, MemoryError
        If an argument is not as above, or asks for what only ``fit`` can do, as ``sample_weight``
        does; if the data do not fit into the computer's memory, before any of them are copied.

    Notes
    -----
    The ``History`` that comes back, with its loss and metrics, and the weights are those of
    ``fit``, but for a few cases. What a step of your own reports is in it where a metric keeps it.
    On TensorFlow:

    * With dropout on a CPU an epoch takes much longer than without, since XLA makes random numbers
      slowly there, and other ones than ``fit``. Keras on JAX does not have that.
    * XLA does not check numbers: a label or a word that is out of range gives a wrong loss, or
      NaN, where ``fit`` on a CPU raises an error. A NaN in the data may be counted differently.
    * With several outputs and a last batch that is not full, ``fit`` averages the loss *of each
      output* over batches as if all were equally large. Here every sample counts alike.

    A layer that was frozen after ``compile`` is frozen here at once; compile again, as for ``fit``.

    Examples
    --------
    >>> import numpy
    >>> import keras
    >>> def make_model():
    ...     model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(3)])
    ...     model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    ...     return model
    >>> x, y = numpy.ones((320, 8), "float32"), numpy.arange(320) % 3
    >>> fit_resident(make_model(), x, y, epochs=2, verbose=0).epoch
    [0, 1]
    """
    check_model(model)
    batch_size = whole(batch_size, "batch_size")
    epochs = whole(epochs, "epochs")
    check_callbacks(callbacks)
    arrays = as_arrays((x, y), "x and y")
    validation_arrays: tuple = ()
    if validation_data is not None:
        validation_arrays = as_arrays(validation_data, "validation_data")
    device = backend.where(model) if model.weights else backend.devices()[-1]
    x_arrays, y_arrays = arrays
    check_room(memory_needed(x_arrays, y_arrays, validation_arrays), device)
    import keras
    import numpy as np

    run = _runner(model, arrays, batch_size)
    if seed is None:
        seed = np.random.randint(2**31)
    random = np.random.default_rng(seed)
    data = as_tensors(arrays, device)
    validation = as_tensors(validation_arrays, device)
    samples = len(keras.tree.flatten(data)[0])
    hooks = keras.callbacks.CallbackList(
        callbacks,
        add_history=True,
        model=model,
        add_progbar=verbose != 0,
        verbose=verbose,
        epochs=epochs,
        steps=math.ceil(samples / batch_size),
    )
    model.stop_training = False
    hooks.on_train_begin()
    for epoch in range(epochs):
        hooks.on_epoch_begin(epoch)
        order_seed = int(random.integers(2**31))
        logs = run("train", batch_size, bool(shuffle), data, order_seed)
        if validation:
            hooks.on_test_begin()
            validation_logs = run("test", batch_size, False, validation, 0)
            hooks.on_test_end(validation_logs)
            logs |= {f"val_{name}": value for name, value in validation_logs.items()}
        hooks.on_epoch_end(epoch, logs)
        if model.stop_training:
            break
    # Where the optimizer averages weights, the averages are what it was all for.
    model.optimizer.finalize_variable_values(model.trainable_variables)
    hooks.on_train_end(logs)
    return model.history


def fit_seeds(make_model, x, y, *, seeds: int = 5, **options):
    """Train a model from several random seeds, and yield it after each of these training runs.

    It is one model, compiled once: for each seed it gets the weights and the unused optimizer of a
    fresh one. So take what you need of it before the next seed.

    Parameters
    ----------
    make_model : callable
        Makes the model, compiled, each time that it is called.
    x, y : arrays
        As for `fit_resident`.
    seeds : int, optional
        The seeds are 0, 1, 2, and so on.
    **options
        Of `fit_resident`, such as ``epochs``.

    Examples
    --------
    >>> import keras, numpy as np
    >>> def make_model():
    ...     model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    ...     model.compile("sgd", "mse")
    ...     return model
    >>> x = np.ones((64, 1))
    >>> len({float(model.get_weights()[0][0, 0]) for model in fit_seeds(make_model, x, x, seeds=2)})
    2
    """
    import keras

    model = make_model()
    for seed in range(seeds):
        keras.utils.set_random_seed(seed)
        start_anew(model, make_model())
        fit_resident(model, x, y, **{"verbose": 0, **options})
        yield model


def start_anew(model, fresh) -> None:
    """Give a model the weights and the unused optimizer of a fresh one: nothing to compile."""
    model.optimizer.build(model.trainable_variables)
    fresh.optimizer.build(fresh.trainable_variables)
    variables = [*model.variables, *model.optimizer.variables]
    fresh_variables = [*fresh.variables, *fresh.optimizer.variables]
    for variable, fresh_variable in zip(variables, fresh_variables, strict=True):
        variable.assign(fresh_variable)


def check_model(model) -> None:
    """Refuse a model that cannot be trained as one program, with a sentence."""
    import keras

    framework = backend.framework()
    strategy = getattr(model, "distribute_strategy", None)
    replicas = getattr(strategy, "num_replicas_in_sync", 1)
    is_distributed = replicas > 1 or keras.distribution.distribution() is not None
    obstacle = ""
    if getattr(model, "optimizer", None) is None:
        obstacle = "it is not compiled; call model.compile(…) first"
    elif model.run_eagerly:
        obstacle = "run_eagerly=True asks for steps in Python; compile it without, or use model.fit"
    elif framework not in ("tensorflow", "jax"):
        obstacle = f"Keras runs on {framework} here, and it takes TensorFlow or JAX"
    elif is_distributed:
        obstacle = (
            "it has several replicas; build it outside the strategy's scope, or use model.fit"
        )
    if obstacle:
        raise ValueError(f"fit_resident cannot train this model: {obstacle}.")


def check_callbacks(callbacks) -> None:
    """Refuse a callback that wants to be called within an epoch."""
    import keras

    refused = (keras.callbacks.TerminateOnNaN, keras.callbacks.BackupAndRestore)
    for callback in keras.tree.flatten(callbacks or []):
        if isinstance(callback, refused) or _acts_within_an_epoch(callback):
            raise ValueError(
                f"{type(callback).__name__} acts within an epoch, or says at which one to go on; "
                "fit_resident is in Python between epochs only. Leave it out, or use model.fit."
            )


def _acts_within_an_epoch(callback) -> bool:
    """Whether a callback has a hook for batches of its own, or saves or reports between epochs."""
    import keras

    for name in dir(keras.callbacks.Callback):
        if "batch_" not in name:
            continue
        hook = getattr(callback, name, None)
        # A hook of Keras's own does nothing here.
        module = getattr(hook, "__module__", "keras.")
        if not module.startswith("keras."):
            return True
    save_frequency = getattr(callback, "save_freq", "epoch")
    update_frequency = getattr(callback, "update_freq", "epoch")
    return save_frequency != "epoch" or update_frequency != "epoch"


def _runner(model, data, batch_size: int):
    """Give what runs an epoch of the model.

    Its programs are kept on the model, as ``fit`` keeps its own: in a namespace, into which Keras
    does not look.
    """
    import keras
    import numpy as np

    trained = tuple(id(variable) for variable in model.trainable_variables)
    compiled = (model.optimizer, model.loss, tuple(model.metrics), trained)
    memory = getattr(model, "_accel_helpers_resident", None)
    if memory is None or memory.compiled != compiled:
        _build(model, data, batch_size)
        memory = SimpleNamespace(compiled=compiled, programs={})
        model._accel_helpers_resident = memory
    programs = memory.programs

    def run(kind, batch_size, shuffle, data, seed) -> dict:
        # The samples are counted in, since TensorFlow warns where one program is traced often.
        samples = len(keras.tree.flatten(data)[0])
        key = (kind, samples, batch_size, shuffle)
        is_new = key not in programs
        if is_new:
            programs[key] = _program(model, *key)
        model.reset_metrics()
        # XLA writes notices when it starts.
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
        # F1 by class has several values.
        metrics = model.get_metrics_result()
        return {name: np.asarray(value).tolist() for name, value in metrics.items()}

    return run


def _build(model, data, batch_size) -> None:
    """Make every variable now: inside a compiled loop none can be made."""
    import keras

    x, y = keras.tree.map_structure(lambda array: array[:batch_size], data)
    if not model.built:
        model(x, training=False)
    # What a pass through the model leaves behind, such as averages and states, is taken back.
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


def _program(model, kind: str, n: int, batch_size: int, shuffle: bool):
    """Give one epoch as a compiled function of the data and a seed."""
    # On JAX a step of Keras 3.8 to 3.11 reads where the variables lie, which `fit` notes first.
    note_where_variables_lie = getattr(model, "_record_training_state_sharding_spec", None)
    if note_where_variables_lie is not None:
        note_where_variables_lie()
    if backend.framework() == "jax":
        return _jax_program(model, kind, n, batch_size, shuffle)
    return _tensorflow_program(model, kind, n, batch_size, shuffle)


def _tensorflow_program(model, kind: str, n: int, batch_size: int, shuffle: bool):
    """Give an epoch on TensorFlow, whose step changes the variables itself: no state is carried."""
    import tensorflow as tf

    step = getattr(model, f"{kind}_step")

    def random_numbers(seed):
        # What TensorFlow would select is far slower under XLA on a CPU.
        return tf.random.stateless_uniform([n], [seed, 0], None, None, tf.int32, alg="philox")

    def step_on(state, batch):
        step(batch)
        return state

    epoch = _epoch(step_on, tf.gather, random_numbers, n, batch_size, shuffle)
    program = tf.function(epoch, jit_compile=True, autograph=False)

    def run(data, seed: int) -> None:
        program(tf.constant(0), data, tf.constant(seed))

    return run


def _jax_program(model, kind: str, n: int, batch_size: int, shuffle: bool):
    """Give an epoch on JAX, whose step takes all variables as its state and gives them back."""
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
    """Give a function of (state, data, seed) that trains on all batches, the last one smaller."""
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
    """Hand all variables of a model to a program of JAX, and keep what comes back."""
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
