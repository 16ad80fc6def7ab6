"""Changes that may make a training faster, by what takes its time: each is another call of fit.

What leaves the training as it is comes before what alters it.
"""

import copy
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import prod

from accel_helpers.fit import device_memory, other_backend, resident_turns
from accel_helpers.fit.batches import bytes_in, in_batches, on_arrays, shapes_change
from accel_helpers.fit.training import ARRAYS, DATASET, Training, samples_in
from accel_helpers.machine import backend

# what is timed in a turn, with the change and without
EPOCHS = "epochs"
TRAININGS = "whole trainings, from a new model on"
RESIDENT = "epochs by fit_resident"
ELSEWHERE = "epochs in a process with Keras's other backend"

BATCH_FACTOR = 8  # batches at most so many times as large
FEWEST_STEPS = 4  # of an epoch in larger batches, or groups of them
GROUPED_STEPS = 16  # so many steps per execution
FEWEST_WORKERS = 4  # threads wait for files at the same time, however few cores there are
SPARE_MEMORY = 0.5  # share of the free memory that a change may take
TEXT_LAYERS = {"TextVectorization", "StringLookup"}
# callbacks of Keras's, and the setting with which they act once an epoch
ONCE_AN_EPOCH = {
    "ModelCheckpoint": "save_freq",
    "BackupAndRestore": "save_freq",
    "TensorBoard": "update_freq",
}
HAVE_IT = "you have it"


@dataclass(frozen=True)
class Proposal:
    """A change to try, or the reason for which it is not tried."""

    name: str  # such as "jit_compile=True"
    make_call: Callable | None = None  # returns it; it may read the data, so it is called late
    reason: str = ""  # why it is not tried; "" where it is
    note: str = ""  # the name of a sentence on what else it changes
    timed: str = EPOCHS  # or one of the others above
    alters: bool = False  # whether it alters the training itself: batch size, precision
    # puts back what the change sets for the whole process, where it does
    undo: Callable | None = None


def proposals(
    verdict: str, call: Training, model, batches: list, slowest_callback: str
) -> Iterator[Proposal]:
    """Return what to try where a part takes most of an epoch; `verdict` is the part's name.

    `model` is one of the call's, and is only asked how it was compiled; `batches` are some of the
    training's.
    """
    if verdict == "input":
        return _of_input(call, model, batches)
    if verdict == "callbacks":
        return _of_callbacks(call, slowest_callback)
    if verdict == "validation":
        return _of_validation(call)
    if verdict == "compilation":
        return _of_compiling(call, model, batches)
    return _of_steps(verdict, call, model, batches)


def _of_steps(verdict: str, call: Training, model, batches: list) -> Iterator[Proposal]:
    """Yield what to try where a part of the steps takes most of an epoch."""
    if model.run_eagerly:
        # in eager mode the others would be measured in vain, and Keras decides on XLA anew
        yield _compiled(call, run_eagerly=False, jit_compile=None)
        return
    if any(type(layer).__name__ in TEXT_LAYERS for layer in model.layers):
        reason = "put the text layer into your tf.data map, and let the model begin behind it"
        yield Proposal("text work before the model", reason=reason)
    if backend.devices() == ("cpu",) and "float16" in model.dtype_policy.name:
        reason = "a CPU computes 16 bits by way of 32: set no policy until there is a GPU"
        yield Proposal("float32", reason=reason)
    other = other_backend.other_backend()
    if other:
        reason = other_backend.why_not(call)
        yield Proposal(f"KERAS_BACKEND={other}", lambda: call, reason, "backend", ELSEWHERE)
    if verdict == "overhead":
        yield _grouped(call, model)
    yield _compiled(call, HAVE_IT if model.jit_compile else "", jit_compile=True)
    if verdict == "overhead":
        yield _resident(call)
    else:
        yield _in_16_bits(call)
    yield _larger_batches(call, model, batches)


def _of_input(call: Training, model, batches: list) -> Iterator[Proposal]:
    """Yield what to try where a training waits for its input."""
    data = call.arguments["x"]
    too_large = _why_no_room(bytes_in(batches[0]) * call.steps)
    if call.form == DATASET:
        yield Proposal("prefetch(AUTOTUNE)", lambda: _prefetched(call, data))
        by_hand = "set it in your own .map if you have not"
        yield Proposal("num_parallel_calls=AUTOTUNE", reason=by_hand)
        yield Proposal(".cache()", lambda: _prefetched(call, data.cache()), too_large, "frozen")
    elif call.form == ARRAYS:
        yield from _in_32_bits(call)
    else:
        if hasattr(data, "workers"):
            yield _in_threads(call)
        kept = "an epoch kept in memory"
        yield Proposal(kept, lambda: on_arrays(call, call.steps), too_large, "frozen")
    yield _resident(call)
    yield _larger_batches(call, model, batches)


def _of_callbacks(call: Training, slowest: str) -> Iterator[Proposal]:
    """Yield what to try where callbacks take most of an epoch; `slowest` is the class of one."""
    import keras

    callbacks = keras.tree.flatten(call.arguments["callbacks"])
    slow = [each for each in callbacks if type(each).__name__ == slowest]
    others = [each for each in callbacks if each not in slow]
    setting = ONCE_AN_EPOCH.get(slowest, "")
    if any(getattr(each, setting, "epoch") != "epoch" for each in slow):
        calm = [copy.copy(each) for each in slow]
        for callback in calm:
            setattr(callback, setting, "epoch")
        yield _with(call, f"{slowest}({setting}='epoch')", callbacks=others + calm)
    yield _with(call, f"without {slowest}", "callback", callbacks=others or None)


def _of_validation(call: Training) -> Iterator[Proposal]:
    """Yield larger batches for a validation on arrays, and fewer validations."""
    arguments = call.arguments
    is_on_arrays = isinstance(arguments["validation_data"], (tuple, list))
    if is_on_arrays and "validation_steps" not in arguments:
        size = BATCH_FACTOR * (arguments.get("validation_batch_size") or call.batch_size)
        yield _with(call, f"validation_batch_size={size}", validation_batch_size=size)
    if arguments.get("validation_freq", 1) == 1:
        yield _with(call, "validation_freq=5", "rarer", validation_freq=5)


def _of_compiling(call: Training, model, batches: list) -> Iterator[Proposal]:
    """Yield what to try where compiling takes most of a training."""
    if shapes_change(batches):
        yield Proposal("batches padded to one shape", reason="pad them where you make them")
    if backend.framework() == "jax":
        yield _kept_programs(call)
    elif model.jit_compile:
        yield _compiled(call, timed=TRAININGS, jit_compile=False)


# What is proposed


def _with(call: Training, name: str, note: str = "", **arguments) -> Proposal:
    """Propose other arguments of ``fit``."""
    return Proposal(name, lambda: call.changed(**arguments), note=note)


def _compiled(call: Training, reason="", note="", timed=EPOCHS, **settings) -> Proposal:
    """Propose other settings of ``compile``; the first one names the change."""

    def make_model():
        model = call.make_model()
        for name, value in settings.items():
            setattr(model, name, value)
            if value and not getattr(model, name):
                raise ValueError("Keras says that XLA cannot compile this model")
        return model

    name, value = next(iter(settings.items()))
    return Proposal(f"{name}={value}", lambda: call.with_model(make_model), reason, note, timed)


def _grouped(call: Training, model) -> Proposal:
    """Propose 16 steps per execution."""
    reason = ""
    if (model.steps_per_execution or 1) >= GROUPED_STEPS:
        reason = HAVE_IT
    elif not backend.groups_steps():
        reason = "on JAX, Keras before 3.16 takes the steps one by one all the same"
    elif call.steps < FEWEST_STEPS * GROUPED_STEPS:
        reason = f"an epoch has only {call.steps} steps"
    return _compiled(call, reason, "groups", steps_per_execution=GROUPED_STEPS)


def _resident(call: Training) -> Proposal:
    """Propose `fit_resident`: all data on the device, and an epoch as one program."""
    reason = resident_turns.why_not(call)
    make_call = partial(resident_turns.resident_training, call)
    return Proposal("fit_resident", make_call, reason, timed=RESIDENT)


def _in_16_bits(call: Training) -> Proposal:
    """Propose to compute in 16 bits on a GPU; on a CPU say that nothing is gained by it."""
    import keras

    name = "mixed_float16"
    policy = keras.config.dtype_policy()

    def make_model():
        keras.config.set_dtype_policy(name)
        try:
            return call.make_model()
        finally:
            keras.config.set_dtype_policy(policy)

    if "gpu" in backend.devices():
        return Proposal(name, lambda: call.with_model(make_model), note="half", alters=True)
    return Proposal(name, reason="a CPU gains nothing by it")


# Batches


def _larger_batches(call: Training, model, batches: list) -> Proposal:
    """Propose batches eight times as large, or less where an epoch has few steps."""
    factor = min(BATCH_FACTOR, call.steps // FEWEST_STEPS)
    size = max(factor, 2) * samples_in(batches)
    reason = _why_no_room(size * _bytes_of_a_sample(model))
    if call.form not in (ARRAYS, DATASET):
        reason = "your data make their own batches: make them larger there"
    elif factor < 2:
        reason = f"an epoch has only {call.steps} steps"
    larger = partial(in_batches, call, size)
    return Proposal(f"batch_size={size}", larger, reason, note="batches", alters=True)


def _bytes_of_a_sample(model) -> int:
    """Return about how many bytes a step keeps of a sample, as far as the layers tell it."""
    import keras

    outputs = [getattr(layer, "output", []) for layer in model.layers]
    numbers = 0
    for tensor in keras.tree.flatten(outputs):
        numbers += prod(length or 1 for length in tensor.shape)
    # four bytes each, and as many on the way back
    return 8 * numbers


def _why_no_room(needed: float) -> str:
    """Return why so many bytes are not kept in memory; "" where they fit."""
    free = device_memory.free_here()
    if free is None or needed < SPARE_MEMORY * free:
        return ""
    return "it may not fit into memory"


# The input


def _prefetched(call: Training, dataset) -> Training:
    """Return a training on a dataset that makes its batches ahead."""
    import tensorflow as tf

    return call.changed(x=dataset.prefetch(tf.data.AUTOTUNE))


def _in_threads(call: Training) -> Proposal:
    """Propose a PyDataset that makes several batches at a time, in threads."""
    workers = max(FEWEST_WORKERS, os.cpu_count() or 1)
    dataset = copy.copy(call.arguments["x"])
    reason = HAVE_IT if dataset.workers >= workers else ""
    dataset.workers = workers
    return Proposal(f"workers={workers}", lambda: call.changed(x=dataset), reason)


def _in_32_bits(call: Training) -> Iterator[Proposal]:
    """Propose 32-bit floats in place of 64-bit ones, where there are some."""
    import keras
    import numpy as np

    x = call.arguments["x"]

    def as_float32(array):
        return np.asarray(array, "float32") if array.dtype == "float64" else array

    def make_call():
        return call.changed(x=keras.tree.map_structure(as_float32, x))

    if any(array.dtype == "float64" for array in keras.tree.flatten(x)):
        yield Proposal("float32 arrays", make_call)


# Compiling


def _kept_programs(call: Training) -> Proposal:
    """Propose to keep the programs that JAX compiles in a folder."""
    import jax

    name = "jax_compilation_cache_dir"
    if getattr(jax.config, name):
        return Proposal(name, reason=HAVE_IT)
    # it goes with this session: in one's own programs it is a folder that stays
    folder = tempfile.TemporaryDirectory(prefix="jax-cache-")

    def make_model():
        # by default what compiled in less than a second is not kept
        _keep_programs(folder.name, 0)
        return call.make_model()

    return Proposal(
        name,
        lambda: call.with_model(make_model),
        note="cache",
        timed=TRAININGS,
        undo=partial(_keep_programs, None, 1.0),
    )


def _keep_programs(folder: str | None, seconds: float) -> None:
    """Have JAX keep in a folder what takes so many seconds to compile; None: keep nothing."""
    import jax
    from jax.experimental.compilation_cache import compilation_cache

    jax.config.update("jax_compilation_cache_dir", folder)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", seconds)
    # JAX looks at these settings once, and then no more
    compilation_cache.reset_cache()
