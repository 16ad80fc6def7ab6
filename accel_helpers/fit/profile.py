"""Where does the time of a ``fit`` go? Measured by taking things away, and changes tried."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from accel_helpers._values import records
from accel_helpers._values.records import positive
from accel_helpers.fit import changes
from accel_helpers.fit.apart import FEW_ROUNDS, Apart
from accel_helpers.fit.batches import shapes_change
from accel_helpers.fit.borrowed_callbacks import BorrowedCallbacks
from accel_helpers.fit.changes import ELSEWHERE, RESIDENT, TRAININGS, Proposal
from accel_helpers.fit.checked import checked
from accel_helpers.fit.clock import TakesTurns, TimeBox, Timed, Turn, epochs_of, take_turns
from accel_helpers.fit.other_backend import OtherBackend
from accel_helpers.fit.parts import Parts
from accel_helpers.fit.profile_result import COMPILATION, WORDS, Change, Profile
from accel_helpers.fit.resident_turns import TimedResident
from accel_helpers.fit.training import Training
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
    with Apart(training, box) as apart:
        parts = apart.measure()
        return profile_of(apart, parts)


def profile_of(apart: Apart, parts: Parts) -> Profile:
    """Return the profile of a training that was taken apart, once changes have been tried."""
    epoch = Measurement.from_samples(parts.wholes, name="epoch")
    compile_seconds = _compile_seconds(apart, epoch)
    compiling = _share_of_compiling(apart, parts, epoch.median, compile_seconds)
    verdict = COMPILATION if compiling > MOSTLY else parts.verdict
    # where no part is the largest for sure, what may help the largest is tried
    part = COMPILATION if compiling > MOSTLY else parts.largest
    proposals = changes.proposals(
        part, apart.training, apart.as_it_is.model, apart.batches, apart.slowest_callback
    )
    tried, not_tried = _Trial(apart, parts).of(proposals)
    sentences = records.load(WORDS, "set of sentences")["note"]
    return Profile(
        verdict,
        epoch=epoch,
        steps=apart.training.steps,
        parts=parts,
        compiling=compiling,
        compile_seconds=compile_seconds,
        compilations=apart.traces(),
        late_compilations=apart.late_traces,
        input_alone=apart.input_alone,
        slowest_callback=apart.slowest_callback,
        tried=tuple(tried),
        not_tried=not_tried,
        notes=tuple(sentences[name] for name in apart.notes),
    )


def _compile_seconds(apart: Apart, epoch: Measurement) -> float:
    """Return how much longer than others the steps of the first training took that compiled.

    Where shapes change from step to step these are not only the first one.
    """
    timed = apart.as_it_is
    step = epoch.median / apart.training.steps
    if shapes_change(apart.batches):
        return max(timed.first_fit - timed.first_steps * step, 0.0)
    return max(timed.first_step - step, 0.0)


def _share_of_compiling(apart: Apart, parts: Parts, epoch: float, seconds: float) -> float:
    """Return the share of compiling in the whole training; 0 where its length is not known.

    A compilation that goes on in later epochs is what is left of an epoch when all of its parts are
    taken away.
    """
    epochs = apart.training.epochs
    if not epochs:
        return 0.0
    again = 0.0
    # TensorFlow's XLA compiles for new shapes without tracing anew
    new_shapes = apart.as_it_is.model.jit_compile and shapes_change(apart.batches)
    if apart.late_traces or new_shapes:
        again = max(1 - sum(parts.shares.values()), 0.0) * epoch
    return (seconds + epochs * again) / (seconds + epochs * epoch)


class _Trial:
    """Tries changes in turns with a training as it is, until the time is up."""

    def __init__(self, apart: Apart, parts: Parts):
        self._apart = apart
        self._box = apart.box
        self._callback_seconds = parts.seconds.get("callbacks", 0.0)

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
                    tried.append(self._try(proposal))
                except Exception as error:
                    # too much memory, an operation that XLA does not know, …
                    first_line = str(error).strip().partition("\n")[0]
                    reason = first_line[:100] or type(error).__name__
            if reason:
                not_tried[proposal.name] = reason
        return tried, not_tried

    def _seconds_needed(self, proposal: Proposal) -> float:
        """Return about how long a change takes: a compilation, and five turns of two trainings.

        The change is hoped to take half as long as the training as it is.
        """
        timed = self._apart.as_it_is
        turn = timed.cost
        if proposal.timed == TRAININGS:
            # with all that they compile, and not much of it is left with the change
            later_epochs = (self._apart.training.epochs or 1) - 1
            turn = timed.first_fit + later_epochs * timed.turn().epoch
        return timed.first_fit + FEW_SAMPLES * 1.5 * turn - OVERTIME * self._box.seconds

    def _try(self, proposal: Proposal) -> Change:
        """Return a change with its gain."""
        assert proposal.make_call, "a proposal without a reason has a call"
        changed = proposal.make_call()
        with BorrowedCallbacks(changed.arguments.get("callbacks")) as borrowed:
            now, then = self._both(proposal, changed, borrowed)
            try:
                gain = compared(now, then, self._box)
            finally:
                if isinstance(then, OtherBackend):
                    then.close()
        note = ""
        if proposal.note:
            note = records.load(WORDS, "set of sentences")["beside"][proposal.note]
        takes_another_process = proposal.timed == ELSEWHERE
        training = None if takes_another_process else changed
        return Change(proposal.name, for_another_minute(gain), note, training, proposal.alters)

    def _both(self, proposal: Proposal, changed: Training, borrowed) -> tuple:
        """Return the training as it is and with a change, ready to take turns."""
        apart = self._apart
        turn_seconds = apart.turn_seconds
        clock = self._box.clock
        if proposal.timed == TRAININGS:
            now = WholeFit(apart.training, borrowed.copies(), clock, proposal.undo)
            then = WholeFit(changed, borrowed.copies(), clock, proposal.undo)
            # what is kept from one training to the next is there from the second one on
            then.turn()
            return now, then
        if proposal.timed == ELSEWHERE:
            patience = self._box.seconds_left() + OVERTIME * self._box.seconds
            return apart.as_it_is, OtherBackend(
                changed, turn_seconds, self._callback_seconds, patience
            )
        kind = TimedResident if proposal.timed == RESIDENT else Timed
        timed = kind(
            changed,
            turn_seconds,
            callbacks=borrowed.copies(),
            clock=clock,
            model=self._model_for(changed),
        )
        timed.warm_up(self._box.seconds / 8)
        return apart.as_it_is, timed

    def _model_for(self, changed: Training):
        """Return the model that is compiled already, where a change leaves its steps alone."""
        now = self._apart.training
        same_model = changed.make_model is now.make_model
        same_steps = changed.steps == now.steps and changed.batch_size == now.batch_size
        return self._apart.as_it_is.model if same_model and same_steps else None


def compared(
    now: TakesTurns, then: TakesTurns, box: TimeBox, names=("as it is", "with the change")
) -> Speedup:
    """Take turns of two trainings, and compare their epochs: the first over the second.

    There are five rounds, or fewer if the time is up or if they promise little; and more if they
    promise much and are in doubt.
    """

    def gain_of(turns: Mapping[str, list[Turn]]) -> Speedup:
        sides = [Measurement.from_samples(epochs_of(turns[name]), name=name) for name in names]
        return timing.compare(*sides, in_turns=True)

    def is_enough(turns: Mapping[str, list[Turn]]) -> bool:
        rounds = len(turns[names[0]])
        if rounds < FEW_ROUNDS:
            return box.share_left() < -OVERTIME
        gain = gain_of(turns)
        pairs = zip(gain.slow.samples, gain.fast.samples, strict=True)
        ratios = [slow / fast for slow, fast in pairs]
        if min(ratios) < 1 and max(ratios) < LITTLE and not gain.conclusive:
            return True
        if rounds < FEW_SAMPLES:
            return box.share_left() < -OVERTIME
        return gain.conclusive or box.share_left() < 0

    return gain_of(take_turns(dict(zip(names, (now, then), strict=True)), is_enough))


def for_another_minute(gain: Speedup) -> Speedup:
    """Return a gain with an interval in which it should lie when it is measured again."""
    low, high = gain.interval
    low /= ANOTHER_MINUTE
    high *= ANOTHER_MINUTE
    if low <= 1 <= high:
        return replace(gain, interval=(low, high), conclusive=False, ratio=None)
    return replace(gain, interval=(low, high))
