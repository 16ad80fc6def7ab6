"""Where does the time of a ``fit`` go? Measured by taking things away, and one change tried."""

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from statistics import median

from accel_helpers._values import records
from accel_helpers._values.records import positive
from accel_helpers.fit import changes
from accel_helpers.fit.batches import shapes_change
from accel_helpers.fit.borrowed_callbacks import BorrowedCallbacks
from accel_helpers.fit.changes import ELSEWHERE, RESIDENT, TRAININGS, Proposal
from accel_helpers.fit.checked_call import checked_call
from accel_helpers.fit.epoch_parts import FEW_ROUNDS, MOST_ROUNDS, Apart, EpochParts
from accel_helpers.fit.fit_call import FitCall
from accel_helpers.fit.other_backend import OtherBackend
from accel_helpers.fit.profile_result import COMPILATION, WORDS, Change, Profile, fastest
from accel_helpers.fit.resident_turns import ResidentTurns
from accel_helpers.fit.time_box import TimeBox
from accel_helpers.fit.timed_fit import TimedFit
from accel_helpers.fit.whole_fit import WholeFit
from accel_helpers.measure import timing
from accel_helpers.measure.measurement import FEW_SAMPLES, Measurement, Speedup

LATE = "the time was up"  # the reason for which a change was not tried
MOSTLY = 0.5  # share of the whole training above which the compilation is the verdict
OVERTIME = 0.2  # share of the box by which a change may be late, for the sake of five rounds
# A change that was slower in one of a few rounds, and in none this many times as fast, is given up;
# another one gets as many rounds as it takes, up to the most.
LITTLE = 1.2
# The interval of a gain is widened by so much at both ends. In another minute of the same machine a
# gain differed by 9 % (one standard deviation) beyond what its rounds had said, and nine of ten are
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
    """Say where the time of a ``fit`` goes, and try a change that may make it faster.

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
        compilation. Its `shares` are those of an epoch. Its `change` has a `gain` that was
        measured, and ``make_model, arguments = profile.change.apply()`` gives the training with
        it: ``make_model().fit(**arguments)``. It prints as a few sentences.

    Raises
    ------
    TypeError, ValueError
        If no compiled model is made, an argument is none of ``fit``, or the data can be read only
        once.

    Notes
    -----
    One thing is taken away after the other, and epochs are timed in turns: callbacks and
    validation; the input (batches that lie in memory, again and again); all of a batch but one
    sample; the width of the layers. **Overhead** is what is left then, **memory** is what the
    width adds to it, **compute** is what the batch adds to that, as in the course's lesson 03. A
    model with convolutions keeps its width, and memory is not told from overhead there.
    Callbacks take part as copies, and those of Keras write into a temporary folder; progress bars
    are left out.

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
    call = checked_call(make_model, x, y, fit_arguments)
    with Apart(call, box) as apart:
        parts = apart.measure()
        return profile_of(apart, parts)


def profile_of(apart: Apart, parts: EpochParts) -> Profile:
    """Return the profile of a training that was taken apart, once changes have been tried."""
    compile_seconds = _compile_seconds(parts, apart)
    verdict, shares, intervals = _verdict(parts, apart.call, compile_seconds)
    model = apart.as_it_is.model
    proposals = changes.proposals(verdict, apart.call, model, apart.batches, parts.slowest_callback)
    callback_seconds = median(parts.seconds["callbacks"])
    tried, not_tried = _Trial(apart, callback_seconds).of(proposals)
    sentences = records.load(WORDS, "set of sentences")["note"]
    return Profile(
        verdict,
        epoch=parts.epoch,
        steps=apart.call.steps,
        shares=shares,
        intervals=intervals,
        compile_seconds=compile_seconds,
        compilations=parts.traces,
        late_compilations=parts.late_traces,
        input_alone=parts.input_alone,
        slowest_callback=parts.slowest_callback,
        change=best_of(tried),
        tried=tuple(tried),
        not_tried=not_tried,
        notes=tuple(sentences[name] for name in parts.notes),
    )


def _verdict(parts: EpochParts, call: FitCall, compile_seconds: float):
    """Return the largest part, the share of each, and their intervals.

    A compilation that goes on in later epochs is what is left of an epoch when all of its parts are
    taken away.
    """
    shares = {}
    intervals = {}
    for part in parts.seconds:
        middle, low, high = parts.share(part)
        shares[part] = middle
        intervals[part] = (low, high)
    verdict = max(shares, key=shares.__getitem__)
    if call.epochs:
        epoch = parts.epoch.median
        again = 0.0
        if parts.late_traces:
            again = max(1 - sum(shares.values()), 0.0) * epoch
        compiling = compile_seconds + call.epochs * again
        share = compiling / (compile_seconds + call.epochs * epoch)
        shares[COMPILATION] = share
        intervals[COMPILATION] = (share, share)
        if share > MOSTLY:
            verdict = COMPILATION
    return verdict, shares, intervals


def _compile_seconds(parts: EpochParts, apart: Apart) -> float:
    """Return how much longer than others the steps of the first training took that compiled.

    Where shapes change from step to step these are not only the first one.
    """
    warm_up = parts.warm_up
    step = parts.epoch.median / apart.call.steps
    if not shapes_change(apart.batches):
        return max(warm_up.first_step - step, 0.0)
    return max(warm_up.passed - warm_up.steps * step, 0.0)


class _Trial:
    """Tries changes in turns with a training as it is, until the time is up."""

    def __init__(self, apart: Apart, callback_seconds: float):
        self._apart = apart
        self._box = apart.box
        self._callback_seconds = callback_seconds

    def of(self, proposals: Iterable[Proposal]) -> tuple[list[Change], dict[str, str]]:
        """Return the changes that were tried, and the others with the reason."""
        tried = []
        not_tried = {}
        for proposal in proposals:
            reason = proposal.reason
            if not reason and self._box.seconds_left() < self._seconds_needed(proposal):
                reason = LATE
            if not reason:
                try:
                    change = self._try(proposal)
                except Exception as error:
                    # too much memory, an operation that XLA does not know, …
                    reason = _first_line(error)
                else:
                    tried.append(change)
            if reason:
                not_tried[proposal.name] = reason
        return tried, not_tried

    def _seconds_needed(self, proposal: Proposal) -> float:
        """Return about how long a change takes: a compilation, and five turns of two trainings.

        The change is hoped to take half as long as the training as it is.
        """
        training = self._apart.as_it_is
        seconds = self._apart.warm_up.passed
        turn = training.cost
        if proposal.timed == TRAININGS:
            # with all that they compile, and not much of it is left with the change
            later_epochs = (self._apart.call.epochs or 1) - 1
            turn = seconds + later_epochs * training.turn().epoch
        return seconds + FEW_SAMPLES * 1.5 * turn - OVERTIME * self._box.seconds

    def _try(self, proposal: Proposal) -> Change:
        """Return a change with its gain."""
        assert proposal.make_call, "a proposal without a reason has a call"
        call = proposal.make_call()
        if proposal.timed == TRAININGS:
            gain = self._gain_of_trainings(call, proposal.undo)
        elif proposal.timed == RESIDENT:
            gain = self._gain_of_resident(call)
        elif proposal.timed == ELSEWHERE:
            gain = self._gain_elsewhere(call)
        else:
            gain = self._gain_of_epochs(call)
        note = ""
        if proposal.note:
            note = records.load(WORDS, "set of sentences")["beside"][proposal.note]
        takes_another_process = proposal.timed == ELSEWHERE
        gain = for_another_minute(gain)
        changed_call = None if takes_another_process else call
        return Change(proposal.name, gain, note, changed_call, proposal.alters)

    def _gain_of_epochs(self, call: FitCall) -> Speedup:
        """Return the gain of a change by the epochs of a model of its own."""
        with BorrowedCallbacks(call.arguments.get("callbacks")) as borrowed:
            callbacks = borrowed.copies()
            turn_seconds = self._apart.turn_seconds
            training = TimedFit(
                call,
                turn_seconds,
                callbacks=callbacks,
                clock=self._box.clock,
                model=self._model_for(call),
            )
            training.warm_up(self._box.seconds / 8)
            training.replan()
            return in_turns(self._apart.as_it_is, training, self._box)

    def _model_for(self, call: FitCall):
        """Return the model that is compiled already, where a change leaves its steps alone."""
        now = self._apart.call
        same_model = call.make_model is now.make_model
        same_steps = call.steps == now.steps and call.batch_size == now.batch_size
        if same_model and same_steps:
            return self._apart.as_it_is.model
        return None

    def _gain_of_trainings(self, call: FitCall, undo: Callable[[], None] | None) -> Speedup:
        """Return the gain of a change by whole trainings, a new model for each."""
        with BorrowedCallbacks(call.arguments.get("callbacks")) as borrowed:
            now = WholeFit(self._apart.call, borrowed.copies(), self._box.clock, undo)
            training = WholeFit(call, borrowed.copies(), self._box.clock, undo)
            # what is kept from one training to the next is there from the second one on
            training.turn()
            return in_turns(now, training, self._box)

    def _gain_of_resident(self, call: FitCall) -> Speedup:
        """Return the gain of `fit_resident`."""
        training = ResidentTurns(call, self._apart.turn_seconds, self._box.clock)
        return in_turns(self._apart.as_it_is, training, self._box)

    def _gain_elsewhere(self, call: FitCall) -> Speedup:
        """Return the gain of the other backend, in a process of its own."""
        callbacks = self._callback_seconds
        patience = self._box.seconds_left() + OVERTIME * self._box.seconds
        training = OtherBackend(call, self._apart.turn_seconds, callbacks, patience)
        try:
            return in_turns(self._apart.as_it_is, training, self._box)
        finally:
            training.close()


def in_turns(training, changed, box: TimeBox, names=("as it is", "with the change")) -> Speedup:
    """Take turns of two trainings, and compare their epochs: the first over the second.

    There are five rounds, or fewer if the time is up or if they promise little; and more if they
    promise much and are in doubt.
    """
    seconds: list[float] = []
    seconds_changed: list[float] = []
    while True:
        # every other round goes backwards: a machine that gets slower is then unfair to nobody
        if len(seconds) % 2 == 0:
            seconds.append(training.turn().epoch)
            seconds_changed.append(changed.turn().epoch)
        else:
            seconds_changed.append(changed.turn().epoch)
            seconds.append(training.turn().epoch)
        is_late = box.share_left() < 0
        if len(seconds) < FEW_ROUNDS and box.share_left() > -OVERTIME:
            continue
        now = Measurement.from_samples(seconds, name=names[0])
        then = Measurement.from_samples(seconds_changed, name=names[1])
        gain = timing.compare(now, then, in_turns=True)
        ratios = [a / b for a, b in zip(seconds, seconds_changed, strict=True)]
        promises_little = min(ratios) < 1 and max(ratios) < LITTLE
        if promises_little and not gain.conclusive:
            return gain
        if len(seconds) < FEW_SAMPLES and box.share_left() > -OVERTIME:
            continue
        if gain.conclusive or is_late or len(seconds) >= MOST_ROUNDS:
            return gain


def for_another_minute(gain: Speedup) -> Speedup:
    """Return a gain with an interval in which it should lie when it is measured again."""
    low, high = gain.interval
    low /= ANOTHER_MINUTE
    high *= ANOTHER_MINUTE
    if low <= 1 <= high:
        return replace(gain, interval=(low, high), conclusive=False, ratio=None)
    return replace(gain, interval=(low, high))


def best_of(tried: list[Change]) -> Change | None:
    """Return the fastest change that leaves the training as it is, or else the fastest of all.

    Where none was measurably faster, it is the first that was tried.
    """
    first = tried[0] if tried else None
    return fastest(tried, alters=False) or fastest(tried, alters=True) or first


def _first_line(error: Exception) -> str:
    """Return the first line of an error's message, at most 100 characters of it."""
    first_line = str(error).strip().partition("\n")[0]
    return first_line[:100] or type(error).__name__
