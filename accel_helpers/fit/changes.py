"""Changes that may make a training faster, by what takes its time: each is another call of fit."""

import copy
from collections.abc import Iterator
from dataclasses import replace
from math import ceil

from accel_helpers.fit import (
    compile_changes,
    harmful_settings,
    input_changes,
    other_backend,
    resident_turns,
)
from accel_helpers.fit.compile_changes import shapes_change  # noqa: F401
from accel_helpers.fit.proposal import ELSEWHERE, RESIDENT, Proposal
from accel_helpers.fit.training import ARRAYS, DATASET, Training, samples_in
from accel_helpers.machine import backend

BATCH_FACTOR = 8  # batches so many times as large
GROUPED_STEPS = 16  # so many steps per execution
VALIDATES_EVERY = 5  # epochs


def proposals(
    verdict: str, call: Training, model, batches: list, slowest_callback: str
) -> Iterator[Proposal]:
    """Yield what to try where a part takes most of an epoch, the likeliest first.

    What leaves the training as it is comes before what alters it. `verdict` is the name of the
    part; `model` is one of the call's, and is only asked how it was compiled; `batches` are some of
    the training's.
    """
    if verdict in ("overhead", "compute", "memory"):
        yield from harmful_settings.proposals(call, model)
        # in eager mode the others would be measured in vain
        if not model.run_eagerly:
            yield from _faster_steps(verdict, call, model)
    elif verdict == "input":
        yield from input_changes.proposals(call, batches)
        yield resident(call)
        yield larger_batches(call)
    elif verdict == "callbacks":
        yield from _calmer_callbacks(call, slowest_callback)
    elif verdict == "validation":
        yield from _less_validation(call)
    else:
        yield from compile_changes.proposals(call, model, batches)


def _faster_steps(verdict: str, call: Training, model) -> Iterator[Proposal]:
    """Yield what to try where a part of the steps takes most of an epoch."""
    if verdict == "overhead":
        yield grouped_steps(call, model)
    yield from _elsewhere(call)
    yield compiled_by_xla(call, model)
    if verdict == "overhead":
        yield resident(call)
    if verdict != "compute":
        yield larger_batches(call)
    if verdict != "overhead":
        yield mixed_precision(call)


def larger_batches(call: Training) -> Proposal:
    """Propose batches eight times as large."""
    size = call.batch_size
    if call.form == DATASET:
        size = samples_in(next(iter(call.arguments["x"])))
    name = f"batches {BATCH_FACTOR} times as large"
    if size:
        name = f"batch_size={BATCH_FACTOR * size}"
    if call.form not in (ARRAYS, DATASET):
        return Proposal(name, reason="your data make their own batches")
    if call.steps < 4 * BATCH_FACTOR:
        return Proposal(name, reason=f"an epoch has only {call.steps} steps")
    steps = ceil(call.steps / BATCH_FACTOR)

    def make_call():
        if call.form == ARRAYS:
            changed = call.changed(batch_size=BATCH_FACTOR * size)
        else:
            changed = call.changed(x=rebatched(call.arguments["x"], BATCH_FACTOR * size, steps))
        if "steps_per_epoch" in call.arguments:
            changed = changed.changed(steps_per_epoch=steps)
        return replace(changed, steps=steps)

    if call.form == DATASET and not size:
        return Proposal(name, reason="the size of your batches is not known")
    return Proposal(name, make_call, note="batches", alters=True)


def rebatched(dataset, batch_size: int, steps: int):
    """Return a tf.data.Dataset in batches of another size; `steps` says how many these are."""
    import tensorflow as tf

    larger = dataset.rebatch(batch_size)
    if int(dataset.cardinality()) < 0:
        return larger
    # rebatch forgets how many batches there are, and fit would not know where an epoch ends
    return larger.apply(tf.data.experimental.assert_cardinality(steps))


def grouped_steps(call: Training, model) -> Proposal:
    """Propose 16 steps per execution."""
    name = f"steps_per_execution={GROUPED_STEPS}"
    if (model.steps_per_execution or 1) >= GROUPED_STEPS:
        return Proposal(name, reason="you have it")
    if not backend.groups_steps():
        reason = "on JAX, Keras before 3.16 takes the steps one by one all the same"
        return Proposal(name, reason=reason)
    if call.steps < 4 * GROUPED_STEPS:
        return Proposal(name, reason=f"an epoch has only {call.steps} steps")

    def make_model():
        made = call.make_model()
        made.steps_per_execution = GROUPED_STEPS
        return made

    return Proposal(name, lambda: call.with_model(make_model), note="groups")


def compiled_by_xla(call: Training, model) -> Proposal:
    """Propose to compile the step with XLA."""
    name = "jit_compile=True"
    if model.jit_compile:
        return Proposal(name, reason="you have it")

    def make_model():
        made = call.make_model()
        made.jit_compile = True
        # Keras leaves it off, with a warning, where it knows that XLA cannot compile a layer
        if not made.jit_compile:
            raise ValueError("Keras says that XLA cannot compile this model")
        return made

    return Proposal(name, lambda: call.with_model(make_model))


def resident(call: Training) -> Proposal:
    """Propose `fit_resident`: all data on the device, and an epoch as one program."""
    name = "fit_resident"
    reason = resident_turns.why_not(call)
    return Proposal(name, lambda: resident_turns.resident_training(call), reason, timed=RESIDENT)


def mixed_precision(call: Training) -> Proposal:
    """Propose to compute in 16 bits, on a GPU."""
    name = "mixed_float16"
    if "gpu" not in backend.devices():
        return Proposal(name, reason="a CPU gains nothing by it")

    def make_model():
        import keras

        policy = keras.config.dtype_policy()
        keras.config.set_dtype_policy("mixed_float16")
        try:
            return call.make_model()
        finally:
            keras.config.set_dtype_policy(policy)

    return Proposal(name, lambda: call.with_model(make_model), note="half", alters=True)


def _elsewhere(call: Training) -> Iterator[Proposal]:
    """Propose Keras's other backend, where one is installed."""
    other = other_backend.other_backend()
    if other:
        name = f"KERAS_BACKEND={other}"
        reason = other_backend.why_not(call)
        yield Proposal(name, lambda: call, reason, note="backend", timed=ELSEWHERE)


def _calmer_callbacks(call: Training, slowest: str) -> Iterator[Proposal]:
    """Propose to call the slowest callback less often, or not at all; `slowest` is its class."""
    callbacks = call.arguments["callbacks"]
    if not isinstance(callbacks, (list, tuple)):
        callbacks = [callbacks]
    calmer = []
    settings = ""
    for callback in callbacks:
        if type(callback).__name__ != slowest:
            calmer.append(callback)
            continue
        calm, settings = _once_an_epoch(callback)
        if settings:
            calmer.append(calm)
    if settings:
        changed = call.changed(callbacks=calmer)
        yield Proposal(f"{slowest}({settings})", lambda: changed)
    others = [callback for callback in callbacks if type(callback).__name__ != slowest]
    without = call.changed(callbacks=others or None)
    yield Proposal(f"without {slowest}", lambda: without, note="callback")


def _once_an_epoch(callback) -> tuple[object, str]:
    """Return a copy of a callback of Keras's that acts once an epoch, and what was set for it.

    "" where the callback has no such setting, or has it already.
    """
    kind = type(callback).__name__
    calm = copy.copy(callback)
    if kind == "ModelCheckpoint" and callback.save_freq != "epoch":
        calm.save_freq = "epoch"
        return calm, "save_freq='epoch'"
    if kind == "TensorBoard" and callback.update_freq != "epoch":
        calm.update_freq = "epoch"
        return calm, "update_freq='epoch'"
    return callback, ""


def _less_validation(call: Training) -> Iterator[Proposal]:
    """Propose larger batches for the validation, then to validate less often."""
    data = call.arguments["validation_data"]
    size = BATCH_FACTOR * (call.arguments.get("validation_batch_size") or call.batch_size)
    if isinstance(data, (tuple, list)) and "validation_steps" not in call.arguments:
        larger = call.changed(validation_batch_size=size)
        yield Proposal(f"validation_batch_size={size}", lambda: larger)
    if call.arguments.get("validation_freq", 1) == 1:
        rarer = call.changed(validation_freq=VALIDATES_EVERY)
        yield Proposal(f"validation_freq={VALIDATES_EVERY}", lambda: rarer, note="rarer")
