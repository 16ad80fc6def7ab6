"""Changes that may make a training faster, by what takes its time: each is another training.

What leaves the training as it is comes before what alters it.
"""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from accel_helpers.fit import other_backend, resident_turns
from accel_helpers.fit.batches import (
    bytes_in,
    bytes_of_a_sample,
    in_batches,
    on_arrays,
    shapes_change,
    why_no_room,
)
from accel_helpers.fit.profile_result import IN_PLACE_OF_FIT
from accel_helpers.fit.training import ARRAYS, DATASET, Training, samples_in
from accel_helpers.machine import backend

# what is timed in a turn, with the change and without
EPOCHS = "epochs"
RESIDENT = "epochs by fit_resident"
ELSEWHERE = "epochs in a process with Keras's other backend"

BATCH_FACTOR = 8  # batches at most so many times as large
FEWEST_STEPS = 4  # of an epoch in larger batches
GROUPED_STEPS = 16  # so many steps per execution
WORKERS = 4  # threads wait for files at the same time, however few cores there are
AUTOTUNE = -1  # tf.data's
TEXT_LAYERS = {"TextVectorization", "StringLookup"}


@dataclass(frozen=True)
class Proposal:
    """A change to try, or the reason for which it is not tried."""

    name: str  # such as "jit_compile=True"
    make_call: Callable | None = None  # returns it; it may read the data, so it is called late
    reason: str = ""  # why it is not tried; "" where it is
    note: str = ""  # the name of a sentence on what else it changes
    timed: str = EPOCHS  # or one of the others above
    alters: bool = False  # whether it alters the training itself: batch size, precision
    whole: bool = False  # whether only whole epochs show it: a cache keeps nothing of a part


def proposals(verdict: str, training: Training, model, batches: list) -> Iterator[Proposal]:
    """Return what to try where a part takes most of an epoch; `verdict` is the part's name.

    `model` is one of the training's, and is only asked how it was compiled; `batches` are some of
    its data.
    """
    if verdict == "input":
        return _of_input(training, model, batches)
    if verdict == "callbacks":
        return _of_callbacks(training)
    if verdict == "validation":
        return _of_validation(training)
    if verdict == "compilation":
        return _of_compiling(model, batches)
    return _of_steps(verdict, training, model, batches)


def _of_steps(verdict: str, training: Training, model, batches: list) -> Iterator[Proposal]:
    """Yield what to try where a part of the steps takes most of an epoch."""
    if model.run_eagerly:
        # in eager mode the others would be measured in vain
        yield _compiled(training, model, "run_eagerly", False)
        return
    if any(type(layer).__name__ in TEXT_LAYERS for layer in model.layers):
        reason = "it counts as compute here: put the text layer into your tf.data map"
        yield Proposal("text work before the model", reason=reason)
    if backend.devices() == ("cpu",) and "float16" in model.dtype_policy.name:
        reason = "a CPU computes 16 bits by way of 32: set no dtype policy there"
        yield Proposal("float32", reason=reason)
    other = other_backend.other_backend()
    if other:
        reason = other_backend.why_not(training)
        yield Proposal(f"KERAS_BACKEND={other}", lambda: training, reason, "backend", ELSEWHERE)
    if verdict == "overhead":
        yield _grouped(training, model)
    yield _compiled(training, model, "jit_compile", True)
    if verdict == "overhead":
        yield _resident(training)
    else:
        yield _in_16_bits(training)
    yield _larger_batches(training, model, batches)


def _of_input(training: Training, model, batches: list) -> Iterator[Proposal]:
    """Yield what to try where a training waits for its input."""
    data = training.arguments["x"]
    too_large = why_no_room(training.steps * bytes_in(batches[0]))
    if training.form == DATASET:
        yield _with(training, "prefetch(AUTOTUNE)", x=data.prefetch(AUTOTUNE))
        yield Proposal("num_parallel_calls=AUTOTUNE", reason="set it in your own .map")
        cached = partial(training.changed, x=data.cache().prefetch(AUTOTUNE))
        yield Proposal(".cache()", cached, too_large, "frozen", whole=True)
    elif training.form != ARRAYS:
        if getattr(data, "workers", WORKERS) < WORKERS:
            in_threads = copy.copy(data)
            in_threads.workers = WORKERS
            yield _with(training, f"workers={WORKERS}", x=in_threads)
        kept = partial(on_arrays, training)
        yield Proposal("an epoch kept in memory", kept, too_large, "frozen")
    yield _resident(training)
    yield _larger_batches(training, model, batches)


def _of_callbacks(training: Training) -> Iterator[Proposal]:
    """Yield a training without each of its callbacks."""
    import keras

    callbacks = keras.tree.flatten(training.arguments["callbacks"])
    for callback in callbacks:
        others = [each for each in callbacks if each is not callback]
        name = f"without {type(callback).__name__}"
        yield _with(training, name, note="callback", callbacks=others or None)


def _of_validation(training: Training) -> Iterator[Proposal]:
    """Yield larger batches for a validation on arrays, and fewer validations."""
    arguments = training.arguments
    is_on_arrays = isinstance(arguments["validation_data"], (tuple, list))
    if is_on_arrays and "validation_steps" not in arguments:
        size = BATCH_FACTOR * (arguments.get("validation_batch_size") or training.batch_size)
        yield _with(training, f"validation_batch_size={size}", validation_batch_size=size)
    if arguments.get("validation_freq", 1) == 1:
        yield _with(training, "validation_freq=5", note="rarer", validation_freq=5)


def _of_compiling(model, batches: list) -> Iterator[Proposal]:
    """Yield what to do by hand where compiling takes most of a training."""
    if shapes_change(batches):
        yield Proposal("batches padded to one shape", reason="pad them where you make them")
    if backend.framework() == "jax":
        reason = "set it to a folder that stays, and the next session need not compile"
        yield Proposal("jax_compilation_cache_dir", reason=reason)
    elif model.jit_compile:
        reason = "tell it to model.compile: without XLA there is less to compile"
        yield Proposal("jit_compile=False", reason=reason)


# What is proposed


def _with(training: Training, name: str, reason="", note="", **arguments) -> Proposal:
    """Propose other arguments of ``fit``."""
    return Proposal(name, partial(training.changed, **arguments), reason, note)


def _compiled(training: Training, model, name: str, value, reason="", note="") -> Proposal:
    """Propose another setting of ``compile``."""

    def make_model():
        changed = training.make_model()
        if name == "run_eagerly":
            # in eager mode Keras has decided against compiling: it decides anew
            changed.jit_compile = None
        setattr(changed, name, value)
        if getattr(changed, name) != value:
            raise ValueError("Keras says that XLA cannot compile this model")
        return changed

    if getattr(model, name) == value:
        reason = "you have it"
    return Proposal(f"{name}={value}", partial(training.with_model, make_model), reason, note)


def _grouped(training: Training, model) -> Proposal:
    """Propose 16 steps per execution."""
    reason = "on JAX, Keras before 3.16 takes steps one by one"
    if backend.groups_steps():
        reason = ""
    return _compiled(training, model, "steps_per_execution", GROUPED_STEPS, reason, "groups")


def _resident(training: Training) -> Proposal:
    """Propose `fit_resident`: all data on the device, and an epoch as one program."""
    reason = resident_turns.why_not(training)
    make_call = partial(resident_turns.resident_training, training)
    return Proposal(IN_PLACE_OF_FIT, make_call, reason, "resident", RESIDENT)


def _in_16_bits(training: Training) -> Proposal:
    """Propose to compute in 16 bits on a GPU; on a CPU say that nothing is gained by it."""
    import keras

    name = "mixed_float16"
    policy = keras.config.dtype_policy()

    def make_model():
        keras.config.set_dtype_policy(name)
        try:
            return training.make_model()
        finally:
            keras.config.set_dtype_policy(policy)

    reason = "" if "gpu" in backend.devices() else "a CPU gains nothing by it"
    in_16_bits = partial(training.with_model, make_model)
    return Proposal(name, in_16_bits, reason, note="half", alters=True)


def _larger_batches(training: Training, model, batches: list) -> Proposal:
    """Propose batches eight times as large, or less where an epoch has few steps."""
    factor = max(2, min(BATCH_FACTOR, training.steps // FEWEST_STEPS))
    size = factor * samples_in(batches)
    reason = why_no_room(size * bytes_of_a_sample(model))
    if training.steps < 2 * FEWEST_STEPS:
        reason = f"an epoch has only {training.steps} steps"
    larger = partial(in_batches, training, size)
    return Proposal(f"batch_size={size}", larger, reason, note="batches", alters=True)
