"""What the time of an epoch consists of: one thing after the other is taken away, in turns."""

from dataclasses import dataclass
from statistics import median

from accel_helpers.fit import take_away
from accel_helpers.fit.borrowed_callbacks import BorrowedCallbacks
from accel_helpers.fit.checked_call import (
    check_arguments,
    has_own_step,
    said_where_it_does_not_fit,
    two_models,
)
from accel_helpers.fit.fit_call import FitCall, samples_in
from accel_helpers.fit.fit_watch import timed_callbacks
from accel_helpers.fit.time_box import TimeBox
from accel_helpers.fit.timed_fit import TimedFit, Turn, WarmUp
from accel_helpers.measure.measurement import FEW_SAMPLES, Measurement
from accel_helpers.measure.series import locate

# the first three as in the bar of a step, in `parts`
PARTS = ("compute", "memory", "overhead", "input", "callbacks", "validation")
MOST_ROUNDS = 12
TURNS_IN_A_BOX = 240  # a turn takes about this part of the seconds: one in 240
LONGEST_TURN = 0.4  # seconds
MEASURING_SHARE = 0.5  # of the box; the rest is for the changes
# where a round takes more than this share of the box, so many rounds that agree are enough
DEAR = 0.08
FEW_ROUNDS = 3
# Where the steps alone, on batches in memory, are a smaller share of an epoch than this, none of
# their parts can be the largest: they are not taken apart unless there is time.
SMALL_SHARE = 0.3
# A convolution on a batch of so few times the smallest one that it is trained on computes about as
# long on the smallest: what is left then is not overhead.
FEW_TIMES = 4
HURRY = 0.75  # share of the box: there is time where more than that is left

# the trainings that take turns, each with one thing less than the one before
AS_IT_IS = "as it is"
STEPS_ALONE = "no callbacks"
IN_MEMORY = "no input"
ONE_SAMPLE = "a batch of one"
NARROW = "a batch of one, width 1"
IDLE = "no model"  # the input is there again


@dataclass(frozen=True)
class EpochParts:
    """The parts of an epoch by name, as seconds in each round of turns."""

    epochs: tuple[float, ...]  # seconds of an epoch as it is, one for each round
    seconds: dict[str, tuple[float, ...]]  # part -> seconds, one for each round
    idle_epochs: tuple[float, ...]  # seconds around a model that computes nothing
    input_alone: float  # seconds that the input of an epoch takes where nothing else is done
    warm_up: WarmUp
    traces: int  # how often the training step was traced
    late_traces: int  # of these, after the first fit
    slowest_callback: str  # name of its class; "" where there is none
    notes: tuple[str, ...]  # names of sentences

    @property
    def epoch(self) -> Measurement:
        """Seconds of an epoch."""
        return Measurement.from_samples(self.epochs, name="epoch")

    def share(self, part: str) -> tuple[float, float, float]:
        """Return the share of a part in an epoch, from 0 to 1: the middle, low and high.

        Low and high are the ends of a 95 % interval, or of all rounds where these are few.
        """
        shares = []
        for seconds, epoch in zip(self.seconds[part], self.epochs, strict=True):
            shares.append(seconds / epoch)
        if len(shares) < FEW_SAMPLES:
            ends = (median(shares), min(shares), max(shares))
        else:
            place = locate(shares)
            ends = (place.centre, *place.interval)
        middle, low, high = (min(max(end, 0.0), 1.0) for end in ends)
        return middle, low, high


class Apart:
    """Takes a training apart, by `measure`.

    Its `as_it_is` stays, for later turns beside something else, and so do the `batches` that were
    read and the copies of the callbacks (`borrowed`).
    """

    def __init__(self, call: FitCall, box: TimeBox):
        # before one of them is trained, since a function may return the same model again
        model, self._second_model = two_models(call)
        check_arguments(model, call.arguments)
        self.box = box
        self.turn_seconds = min(LONGEST_TURN, box.seconds / TURNS_IN_A_BOX)
        self.borrowed = BorrowedCallbacks(call.arguments.get("callbacks"))
        callbacks = self.borrowed.copies()
        self._callback_seconds = timed_callbacks(callbacks, box.clock)
        self.as_it_is = TimedFit(
            call, self.turn_seconds, callbacks=callbacks, clock=box.clock, model=model
        )
        with said_where_it_does_not_fit():
            self.warm_up = self.as_it_is.warm_up(box.seconds / 4)
        # with the number of steps, which the first epoch may have told
        self.call = self.as_it_is.call
        seconds = 2 * self.turn_seconds
        self.batches = self.call.first_batches(take_away.MOST_BATCHES, seconds, box.clock)
        self._steps_alone = take_away.steps_alone(self.call)
        self._notes: list[str] = []
        if has_own_step(model):
            self._notes.append("own step")

    def __enter__(self):
        return self

    def __exit__(self, *error: object) -> None:
        self.borrowed.close()

    def measure(self, fewest_rounds: int = FEW_ROUNDS) -> EpochParts:
        """Take turns at everything, in so many rounds at least, and return the parts of an epoch.

        Only when the box is empty there are fewer.
        """
        entries = self._entries()
        traces = self.as_it_is.traces()
        turns = self._rounds(entries, fewest_rounds)
        idle = _epochs(turns[IDLE])
        floor = _epochs(turns.get(NARROW) or turns.get(ONE_SAMPLE) or turns[IN_MEMORY])
        return EpochParts(
            epochs=_epochs(turns[AS_IT_IS]),
            seconds=_parts(turns),
            idle_epochs=idle,
            input_alone=max(median(idle) - median(floor), 0.0),
            warm_up=self.warm_up,
            traces=self.as_it_is.traces(),
            late_traces=self.as_it_is.traces() - traces,
            slowest_callback=self._slowest_callback(),
            notes=tuple(self._notes),
        )

    def _entries(self) -> dict[str, TimedFit]:
        """Return the trainings that take turns, by name, each warmed up and planned by a turn."""
        entries = {AS_IT_IS: self.as_it_is}
        model = self.as_it_is.model
        if self._callback_seconds:
            entries[STEPS_ALONE] = self._entry(self._steps_alone, model)
        in_memory = take_away.without_input(self.call, self.batches)
        entries[IN_MEMORY] = self._entry(in_memory, model)
        entries[IDLE] = self._entry(self._steps_alone, take_away.idle_model())
        if self.box.share_left() < 0:
            # there is not even a turn left to plan the others by
            self._notes.append("long steps")
            return entries
        epoch = self.as_it_is.replan().epoch
        is_small = entries[IN_MEMORY].replan().epoch < SMALL_SHARE * epoch
        if is_small and self.box.share_left() < HURRY:
            self._notes.append("small steps")
        elif self.box.share_left() < 0:
            self._notes.append("long steps")
        else:
            entries |= self._smaller_entries()
        for name in (STEPS_ALONE, IDLE):
            if name in entries:
                entries[name].replan()
        return entries

    def _smaller_entries(self) -> dict[str, TimedFit]:
        """Return the trainings on one sample, of the model and of its copy of width 1."""
        model = self.as_it_is.model
        count = take_away.fewest_samples(model)
        is_small = samples_in(self.batches[0]) < FEW_TIMES * count
        if is_small and take_away.convolves(model):
            self._notes.append("one batch size")
            return {}
        samples = take_away.first_samples(self.batches[:1], count)
        one_sample = take_away.without_input(self.call, samples)
        try:
            # a model of its own: other shapes would make TensorFlow trace the first one again
            entries = {ONE_SAMPLE: self._entry(one_sample, self._second_model)}
            entries[ONE_SAMPLE].replan()
        except Exception:
            self._notes.append("one batch size")
            return {}
        narrow = self._narrow_entry(one_sample)
        if narrow is None:
            self._notes.append("no narrow copy")
        else:
            entries[NARROW] = narrow
        return entries

    def _narrow_entry(self, one_sample: FitCall) -> TimedFit | None:
        """Return the training of the copy of width 1, or None where there can be none."""
        copy = take_away.narrow_copy(self.as_it_is.model)
        if copy is None:
            return None
        try:
            narrow = self._entry(one_sample, copy)
            narrow.replan()
        except Exception:
            # shapes that fit together at the model's own width alone
            return None
        return narrow

    def _entry(self, call: FitCall, model) -> TimedFit:
        """Return a training that has been warmed up."""
        training = TimedFit(call, self.turn_seconds, clock=self.box.clock, model=model)
        training.warm_up(self.box.seconds / 8)
        return training

    def _rounds(self, entries: dict[str, TimedFit], fewest_rounds: int) -> dict[str, list[Turn]]:
        """Take rounds of turns: five if that is possible at all, and more while there is time."""
        turns: dict[str, list[Turn]] = {name: [] for name in entries}
        cost_of_a_round = 0.0
        for number in range(MOST_ROUNDS):
            left = self.box.seconds_left()
            share_left = (left - cost_of_a_round) / self.box.seconds
            if number >= FEW_SAMPLES and share_left < 1 - MEASURING_SHARE:
                break
            # of few rounds the last ones may take of the time for the changes
            if number >= fewest_rounds and share_left < (1 - MEASURING_SHARE) / 2:
                break
            if number and share_left < 0:
                break
            is_dear = cost_of_a_round > DEAR * self.box.seconds
            enough = fewest_rounds if is_dear else FEW_SAMPLES
            if number >= enough and _is_clear(turns):
                break
            names = list(entries)
            # every other round goes backwards: a machine that gets slower is then unfair to nobody
            if number % 2 == 1:
                names.reverse()
            for name in names:
                turns[name].append(entries[name].turn())
            cost_of_a_round = left - self.box.seconds_left()
        return turns

    def _slowest_callback(self) -> str:
        """Return the class of the callback that took the most time, or ""."""
        seconds = {name: total[0] for name, total in self._callback_seconds.items()}
        return max(seconds, key=seconds.__getitem__, default="")


def _epochs(turns: list[Turn]) -> tuple[float, ...]:
    """Return the seconds of an epoch in each of some turns."""
    return tuple(turn.epoch for turn in turns)


def _parts(turns: dict[str, list[Turn]]) -> dict[str, tuple[float, ...]]:
    """Return the seconds of each part in each round: what a training has more than the next one.

    A part that could not be told is left out.
    """
    validation = tuple(turn.validation for turn in turns[AS_IT_IS])
    as_it_is = _epochs(turns[AS_IT_IS])
    without_validation = _differences(as_it_is, validation)
    steps_alone = without_validation
    if STEPS_ALONE in turns:
        steps_alone = _epochs(turns[STEPS_ALONE])
    in_memory = _epochs(turns[IN_MEMORY])
    # no step waits longer for its input than the input takes where nothing else is done
    waited = _differences(steps_alone, in_memory)
    parts = {"input": tuple(map(min, waited, _epochs(turns[IDLE])))}
    if ONE_SAMPLE not in turns:
        # what a step needs of its own was not told from its arithmetic
        parts["compute"] = in_memory
    else:
        one_sample = _epochs(turns[ONE_SAMPLE])
        parts["compute"] = _differences(in_memory, one_sample)
        if NARROW in turns:
            narrow = _epochs(turns[NARROW])
            parts["memory"] = _differences(one_sample, narrow)
            parts["overhead"] = tuple(map(min, narrow, one_sample))
        else:
            parts["overhead"] = one_sample
    parts["callbacks"] = _differences(without_validation, steps_alone)
    parts["validation"] = validation
    return parts


def _is_clear(turns: dict[str, list[Turn]]) -> bool:
    """Return whether one part was the largest in every round."""
    parts = _parts(turns)
    largest_parts = set()
    for seconds in zip(*parts.values(), strict=True):
        by_part = dict(zip(parts, seconds, strict=True))
        largest_parts.add(max(by_part, key=by_part.__getitem__))
    return len(largest_parts) == 1


def _differences(more: tuple[float, ...], less: tuple[float, ...]) -> tuple[float, ...]:
    """Return how much more seconds one training took than another, round by round, 0 at least."""
    return tuple(max(a - b, 0.0) for a, b in zip(more, less, strict=True))
