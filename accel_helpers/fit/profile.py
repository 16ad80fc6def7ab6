"""Where does the time of a ``fit`` go? Measured by taking things away, and changes tried."""

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain

from accel_helpers._values.records import positive
from accel_helpers.fit import changes
from accel_helpers.fit.batches import shapes_change
from accel_helpers.fit.borrowed_callbacks import BorrowedCallbacks
from accel_helpers.fit.changes import ELSEWHERE, RESIDENT, Proposal
from accel_helpers.fit.checked import checked
from accel_helpers.fit.clock import TakesTurns, TimeBox, Timed, Turn, epochs_of, take_turns, until
from accel_helpers.fit.dissection import Dissection
from accel_helpers.fit.other_backend import OtherBackend, other_backend
from accel_helpers.fit.parts import Parts
from accel_helpers.fit.profile_result import COMPILATION, LATE, Change, Profile, said
from accel_helpers.fit.resident_turns import TimedResident
from accel_helpers.fit.training import Training
from accel_helpers.measure import timing
from accel_helpers.measure.measurement import FEW_SAMPLES, VAGUE, Measurement, Speedup

# a reason for which a change was not tried
LONG = "an epoch is too long for this: give it more seconds"
LARGE = 0.25  # a part with more than this share of an epoch is helped; at least the largest
MOSTLY = 0.5  # share of the whole training above which the compilation is the verdict
OVERTIME = 0.2  # share of the box by which a change may be late, for the sake of five rounds
LITTLE = 1.2  # times as fast: a change that can gain no more gets no more rounds
# The interval of a gain is widened by so much at both ends. In another minute of the same machine a
# gain differed by 9% (one standard deviation) beyond what its rounds had said, and nine of ten are
# to lie inside: 1.64 standard deviations (docs/profile.md).
ANOTHER_MINUTE = 1.15


def profile_fit(
    make_model: Callable,
    x,
    y=None,
    *,
    seconds: float = 60.0,
    clock: Callable[[], float] = time.perf_counter,
    **fit_arguments,
) -> Profile:
    """Say where the time of a ``fit`` goes, and try changes that may make it faster.

    Parameters
    ----------
    make_model : callable or keras.Model
        Without arguments; it returns the model, compiled. A model that is handed over is copied.
    x, y
        As for ``fit``: arrays, or a ``tf.data.Dataset`` or ``keras.utils.PyDataset`` and no y. In
        place of a generator the function that makes it.
    seconds : float, optional
        For everything. A step or a compilation that has begun is waited for.
    clock : callable, optional
        What returns the time in seconds.
    **fit_arguments
        As for ``fit``: `batch_size`, `epochs`, `callbacks`, `validation_data`, and so on.

    Returns
    -------
    Profile
        Its `verdict` is one word: input, compute, memory, overhead, callbacks, validation or
        compilation; or "not told apart" where the largest two may be equal. Its `parts` are those
        of an epoch. Its `change` has a `gain` that was measured, and
        ``make_model, arguments = profile.change.apply()`` gives the training with it:
        ``make_model().fit(**arguments)``. It prints as a few sentences.

    Raises
    ------
    TypeError, ValueError
        If no compiled model is made, an argument is none of ``fit``, or the data can be read only
        once.

    Notes
    -----
    One thing is taken away after the other, and epochs are timed in turns: callbacks and
    validation; the input (batches that lie in memory, again and again); the size of the batch; the
    width of the layers. **Compute** is what grows with the batch, **overhead** is what is left at
    width 1, and **memory** is what the width adds to it. A model with convolutions keeps its width,
    and memory is not told from overhead there. A part that is longer than weights of this size
    could take, or so many layers, is not named. Callbacks take part as copies, and those of Keras
    write into a temporary folder; progress bars are left out.

    Examples
    --------
    >>> import numpy
    >>> import keras
    >>> def make_model():
    ...     model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(3)])
    ...     model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    ...     return model
    >>> x, y = numpy.ones((320, 8), "float32"), numpy.arange(320) % 3
    >>> found = profile_fit(make_model, x, y, seconds=3)
    >>> found.verdict in found.OUTCOMES
    True
    """
    box = TimeBox(positive(seconds, "seconds"), clock)
    training = checked(make_model, x, y, fit_arguments)
    with Dissection(training, box) as dissection:
        parts = dissection.measure()
        return profile_of(dissection, parts)


def profile_of(dissection: Dissection, parts: Parts) -> Profile:
    """Return the profile of a training that was taken apart, once changes have been tried."""
    epoch = Measurement.from_samples(parts.wholes, name="epoch")
    compile_seconds = _compile_seconds(dissection, epoch)
    compiling = _share_of_compiling(dissection, parts, epoch.median, compile_seconds)
    verdict = parts.verdict
    # where no part is the largest for sure, what may help the largest is tried
    shares = parts.shares
    ordered = sorted(shares, key=shares.__getitem__, reverse=True)
    large = [part for part in ordered if shares[part] > LARGE] or ordered[:1]
    if compiling > MOSTLY:
        verdict = COMPILATION
        large = [COMPILATION]
    tried, not_tried = _try_changes(dissection, large, parts.seconds.get("callbacks", 0.0))
    return Profile(
        verdict,
        epoch=epoch,
        steps=dissection.training.steps,
        parts=parts,
        compiling=compiling,
        compile_seconds=compile_seconds,
        compilations=dissection.first_traces + dissection.late_traces,
        late_compilations=dissection.late_traces,
        tried=tried,
        not_tried=not_tried,
        notes=tuple(map(said, dissection.notes)),
    )


def _compile_seconds(dissection: Dissection, epoch: Measurement) -> float:
    """Return how much longer than others the steps of the first training took that compiled.

    Where shapes change from step to step these are not only the first one.
    """
    timed = dissection.as_it_is
    step = epoch.median / dissection.training.steps
    if shapes_change(dissection.batches):
        return max(timed.first.seconds - timed.first.steps * step, 0.0)
    return max(timed.first.first_step - step, 0.0)


def _share_of_compiling(
    dissection: Dissection, parts: Parts, epoch: float, seconds: float
) -> float:
    """Return the share of compiling in the whole training; 0 where its length is not known.

    A compilation that goes on in later epochs is what is left of an epoch when all of its parts are
    taken away.
    """
    epochs = dissection.training.epochs or 0
    if not epochs:
        return 0.0
    again = 0.0
    # TensorFlow's XLA compiles for new shapes without tracing anew
    new_shapes = dissection.as_it_is.model.jit_compile and shapes_change(dissection.batches)
    if dissection.late_traces or new_shapes:
        again = max(1 - sum(parts.shares.values()), 0.0) * epoch
    return (seconds + epochs * again) / (seconds + epochs * epoch)


def _try_changes(
    dissection: Dissection, parts: list[str], callback_seconds: float
) -> tuple[tuple[Change, ...], dict[str, str]]:
    """Try changes that may help some parts, in turns with the training as it is, in the time left.

    Return those that were tried, and the others with the reason.
    """
    timed = dissection.as_it_is
    box = dissection.box
    tried: dict[str, Change] = {}
    not_tried: dict[str, str] = {}
    asked = dissection.training, timed.model, dissection.batches
    for proposal in chain(*(changes.proposals(part, *asked) for part in parts)):
        if proposal.name in tried or proposal.name in not_tried:
            # it may help two parts
            continue
        # a compilation, and five turns of two trainings: it is hoped to take half as long
        needed = timed.first.seconds + FEW_SAMPLES * 1.5 * timed.cost
        reason = proposal.reason
        if not reason and box.seconds_left() + OVERTIME * box.seconds < needed:
            reason = LATE
        if not reason and proposal.whole and not timed.takes_whole_epochs:
            reason = LONG
        if not reason:
            try:
                tried[proposal.name] = _try(proposal, dissection, callback_seconds)
            except Exception as error:
                # too much memory, an operation that XLA does not know, …
                first_line = str(error).strip().partition("\n")[0]
                reason = first_line[:100] or type(error).__name__
        if reason:
            not_tried[proposal.name] = reason
    return tuple(tried.values()), not_tried


def _try(proposal: Proposal, dissection: Dissection, callback_seconds: float) -> Change:
    """Return a change with its gain."""
    assert proposal.make_call, "a proposal without a reason has a call"
    changed = proposal.make_call()
    training: Training | None = changed
    with BorrowedCallbacks(changed.arguments.get("callbacks")) as borrowed, ExitStack() as open_:
        then: TakesTurns
        if proposal.timed == ELSEWHERE:
            patience = dissection.box.seconds_left() + OVERTIME * dissection.box.seconds
            child = OtherBackend(changed, dissection.turn_seconds, callback_seconds, patience)
            then = open_.enter_context(child)
            # another process takes another session
            training = None
        else:
            then = _timed(proposal, changed, dissection, borrowed.copies())
        gain = for_another_minute(compared(dissection.as_it_is, then, dissection.box))
    note = said(proposal.note, backend=other_backend()) if proposal.note else ""
    return Change(proposal.name, gain, note, training, proposal.alters)


def _timed(proposal: Proposal, changed: Training, dissection: Dissection, callbacks: list) -> Timed:
    """Return a training with a change, warmed up."""
    now = dissection.training
    model = None
    if changed.make_model is now.make_model and changed.batch_size == now.batch_size:
        # it leaves the steps alone, so the model that is compiled already does
        model = dissection.as_it_is.model
    kind = TimedResident if proposal.timed == RESIDENT else Timed
    timed = kind(
        changed,
        dissection.turn_seconds,
        callbacks=callbacks,
        clock=dissection.box.clock,
        model=model,
    )
    timed.warm_up(dissection.box.seconds / 8)
    return timed


def compared(
    now: TakesTurns, then: TakesTurns, box: TimeBox, names=("as it is", "with the change")
) -> Speedup:
    """Take turns of two trainings, and compare their epochs: the first over the second."""

    def gain_of(turns: Mapping[str, list[Turn]]) -> Speedup:
        sides = [Measurement.from_samples(epochs_of(turns[name]), name=name) for name in names]
        return timing.compare(*sides, in_turns=True)

    def is_clear(turns: Mapping[str, list[Turn]]) -> bool:
        gain = gain_of(turns)
        low, high = gain.interval
        return high < LITTLE or (gain.conclusive and high < VAGUE * low)

    trainings = dict(zip(names, (now, then), strict=True))
    return gain_of(take_turns(trainings, until(box, overtime=OVERTIME, is_clear=is_clear)))


def for_another_minute(gain: Speedup) -> Speedup:
    """Return a gain with an interval in which it should lie when it is measured again."""
    low, high = gain.interval
    low /= ANOTHER_MINUTE
    high *= ANOTHER_MINUTE
    if low <= 1 <= high:
        return replace(gain, interval=(low, high), conclusive=False, ratio=None)
    return replace(gain, interval=(low, high))
