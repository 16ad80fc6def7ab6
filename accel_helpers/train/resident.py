"""Training that leaves the device alone: an epoch of ``fit`` as one compiled program.

The data lie on the device, and shuffling, picking the batches and all steps of an epoch are one
program, which XLA compiles: Keras's own ``train_step`` inside a loop of the framework.
"""

import operator
import sys
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
    batch_size, epochs = whole(batch_size, "batch_size"), whole(epochs, "epochs")
    check_callbacks(callbacks)
    data, validation = as_arrays((x, y), "x and y"), ()
    if validation_data is not None:
        validation = as_arrays(validation_data, "validation_data")
    device = backend.where(model) if model.weights else backend.devices()[-1]
    check_room(memory_needed(*data, validation), device)
    import keras
    import numpy as np

    run = _runner(model, data, batch_size)
    order = np.random.default_rng(np.random.randint(2**31) if seed is None else seed)
    data, validation = as_tensors(data, device), as_tensors(validation, device)
    steps = -(-len(keras.tree.flatten(data)[0]) // batch_size)
    shown = {"add_progbar": verbose != 0, "verbose": verbose, "epochs": epochs, "steps": steps}
    calls = keras.callbacks.CallbackList(callbacks, add_history=True, model=model, **shown)
    model.stop_training = False
    calls.on_train_begin()
    for epoch in range(epochs):
        calls.on_epoch_begin(epoch)
        logs = run("train", batch_size, bool(shuffle), data, int(order.integers(2**31)))
        if validation:
            calls.on_test_begin()
            found = run("test", batch_size, False, validation, 0)
            calls.on_test_end(found)
            logs |= {f"val_{name}": value for name, value in found.items()}
        calls.on_epoch_end(epoch, logs)
        if model.stop_training:
            break
    # where the optimizer averages weights, the averages are what it was all for
    model.optimizer.finalize_variable_values(model.trainable_variables)
    calls.on_train_end(logs)
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
    for each in (model, fresh):
        each.optimizer.build(each.trainable_variables)
    new_values = [*fresh.variables, *fresh.optimizer.variables]
    for old, new in zip([*model.variables, *model.optimizer.variables], new_values, strict=True):
        old.assign(new)


def check_model(model) -> None:
    """Refuse a model that cannot be trained as one program, with a sentence."""
    framework, why = backend.framework(), ""
    replicas = getattr(getattr(model, "distribute_strategy", None), "num_replicas_in_sync", 1)
    if getattr(model, "optimizer", None) is None:
        why = "it is not compiled; call model.compile(…) first"
    elif model.run_eagerly:
        why = "run_eagerly=True asks for steps in Python; compile it without, or use model.fit"
    elif framework not in ("tensorflow", "jax"):
        why = f"Keras runs on {framework} here, and it takes TensorFlow or JAX"
    elif replicas > 1 or sys.modules["keras"].distribution.distribution() is not None:
        why = "it has several replicas; build it outside the strategy's scope, or use model.fit"
    if why:
        raise ValueError(f"fit_resident cannot train this model: {why}.")


def check_callbacks(callbacks) -> None:
    """Refuse a callback that wants to be called within an epoch."""
    import keras

    for callback in keras.tree.flatten(callbacks or []):
        hooks = [name for name in dir(keras.callbacks.Callback) if "batch_" in name]
        homes = [getattr(getattr(callback, name, None), "__module__", "keras.") for name in hooks]
        acts = not all(home.startswith("keras.") for home in homes)
        acts |= {getattr(callback, n, "epoch") for n in ("save_freq", "update_freq")} != {"epoch"}
        refused = keras.callbacks.TerminateOnNaN, keras.callbacks.BackupAndRestore
        if acts or isinstance(callback, refused):
            raise ValueError(
                f"{type(callback).__name__} acts within an epoch, or says at which one to go on; "
                "fit_resident is in Python between epochs only. Leave it out, or use model.fit."
            )


def _runner(model, data, batch_size: int):
    """What runs an epoch of the model; its programs are kept on it, as ``fit`` keeps its own."""
    import keras
    import numpy as np

    trained = tuple(id(variable) for variable in model.trainable_variables)
    compiled = model.optimizer, model.loss, tuple(model.metrics), trained
    known = getattr(model, "_accel_helpers_resident", None)
    if known is None or known.compiled != compiled:
        _build(model, data, batch_size)  # Keras does not look into a namespace
        known = model._accel_helpers_resident = SimpleNamespace(compiled=compiled, programs={})
    programs = known.programs

    def run(kind, batch_size, shuffle, data, seed) -> dict:
        # the samples are counted in, since TensorFlow warns where one program is traced often
        key = kind, len(keras.tree.flatten(data)[0]), batch_size, shuffle
        new = key not in programs
        if new:
            programs[key] = _program(model, *key)
        model.reset_metrics()
        try:
            with held_back() if new else nullcontext():  # what XLA says when it starts
                programs[key](data, seed)
        except Exception as error:
            error.add_note(
                "fit_resident compiles a whole epoch with XLA. If the error names an operation "
                "that XLA cannot compile, this model needs model.fit."
            )
            raise
        found = model.get_metrics_result()  # F1 by class has several values
        return {name: np.asarray(value).tolist() for name, value in found.items()}

    return run


def _build(model, data, batch_size) -> None:
    """Make every variable now: inside a compiled loop none can be made."""
    import keras

    x, y = keras.tree.map_structure(lambda array: array[:batch_size], data)
    if not model.built:
        model(x, training=False)
    # what a pass through the model leaves behind, such as averages and states, is taken back
    kept = [(variable, keras.ops.copy(variable)) for variable in model.non_trainable_variables]
    predicted = model(x, training=True)
    model.optimizer.build(model.trainable_variables)
    if model.loss is not None or type(model).train_step is keras.Model.train_step:
        model.compute_loss(x=x, y=y, y_pred=predicted)
    model.compute_metrics(x, y, predicted)
    model.reset_metrics()
    for variable, value in kept:
        variable.assign(value)


def _program(model, kind: str, n: int, batch_size: int, shuffle: bool):
    """One epoch as a compiled function of the data and a seed."""
    import keras

    ops, step = keras.ops, getattr(model, f"{kind}_step")
    framework, on_jax = sys.modules[backend.framework()], backend.framework() == "jax"
    pick = operator.getitem if on_jax else framework.gather
    # On JAX a step of Keras 3.8 to 3.11 reads where the variables lie, which `fit` notes first.
    note_where_variables_lie = getattr(model, "_record_training_state_sharding_spec", None)
    if note_where_variables_lie is not None:
        note_where_variables_lie()

    def dice(seed):
        if on_jax:
            return framework.random.bits(framework.random.key(seed), (n,))
        # what TensorFlow would select is far slower under XLA on a CPU
        draw = framework.random.stateless_uniform
        return draw([n], [seed, 0], None, None, framework.int32, alg="philox")

    def epoch(state, data, seed):  # the state: on JAX all variables, on TensorFlow nothing
        order = ops.argsort(dice(seed)) if shuffle else ops.arange(n)

        def one(state, start, size):
            picked = ops.slice(order, [start], [size])
            batch = keras.tree.map_structure(lambda array: pick(array, picked), data)
            return step(state, batch)[1] if on_jax else (step(batch), state)[1]

        full, rest = divmod(n, batch_size)
        if full:
            state = ops.fori_loop(0, full, lambda i, it: one(it, i * batch_size, batch_size), state)
        return one(state, full * batch_size, rest) if rest else state

    if on_jax:
        return partial(_on_variables, model, kind, framework.jit(epoch, donate_argnums=0))
    program = framework.function(epoch, jit_compile=True, autograph=False)
    return lambda data, seed: program(framework.constant(0), data, framework.constant(seed))


def _on_variables(model, kind: str, program, data, seed: int) -> None:
    """Hand all variables of a model to a program of JAX, and keep what comes back."""
    import jax
    import keras

    optimizer = [model.optimizer.variables] if kind == "train" else []
    variables = (model.trainable_variables, model.non_trainable_variables, *optimizer)
    variables += (model.metrics_variables,)
    seen: set[int] = set()

    def own(variable):  # two variables may share one array, and only one may give it away
        value = variable.value
        shared = id(value) in seen
        seen.add(id(value))
        return jax.numpy.copy(value) if shared else value

    tree = keras.tree.map_structure
    state = program(tree(own, variables), data, seed)
    tree(lambda variable, value: variable.assign(value), variables, state)
