"""What the time of an epoch consists of: one thing after the other is taken away, in turns."""

from collections.abc import Callable, Mapping
from math import prod

from accel_helpers.fit import take_away
from accel_helpers.fit.batches import bytes_of_a_sample, why_no_room
from accel_helpers.fit.borrowed_callbacks import BorrowedCallbacks
from accel_helpers.fit.checked import said_where_it_does_not_fit
from accel_helpers.fit.clock import TimeBox, Timed, Turn, epochs_of, take_turns, until
from accel_helpers.fit.parts import NOT_TOLD, Parts
from accel_helpers.fit.training import Training, samples_in, two_models
from accel_helpers.machine import backend

TURNS_IN_A_BOX = 240  # a turn takes about this part of the seconds: one in 240
LONGEST_TURN = 0.4  # seconds
# Where the steps on batches in memory are a smaller share of an epoch than this, none of
# their parts can be the largest: they are not taken apart.
SMALL_SHARE = 0.15
FEW_TIMES = 4  # a batch of so few times the fewest samples is held beside a larger one

# the trainings that take turns, each with one thing less than the one before
AS_IT_IS = "as it is"
NO_CALLBACKS = "no callbacks"
IN_MEMORY = "no input"
OTHER_SIZE = "a batch of another size"
NARROW = "a batch of one, width 1"
IDLE = "no model"  # the input is there again

# What weights can take at most: a step reads and writes them, their gradients and the optimizer's
# numbers, each operation of an optimizer apart, and no memory is slower than this.
PASSES = 20
SLOWEST_MEMORY = 2e9  # bytes a second


class Dissection:
    """Takes a training apart, by `measure`.

    Its `as_it_is` stays, for later turns beside something else, and so do the `batches` that were
    read and the copies of the callbacks (`borrowed`).
    """

    def __init__(self, training: Training, box: TimeBox):
        # before one of them is trained, since a function may return the same model again
        model, self._second_model = two_models(training)
        self.box = box
        self.turn_seconds = min(LONGEST_TURN, box.seconds / TURNS_IN_A_BOX)
        self.borrowed = BorrowedCallbacks(training.arguments.get("callbacks"))
        self._callbacks = self.borrowed.copies()
        self.traces = _count_traces(model)
        self.as_it_is = Timed(
            training,
            self.turn_seconds,
            callbacks=self._callbacks,
            clock=box.clock,
            model=model,
            traces=self.traces,
        )
        with said_where_it_does_not_fit():
            self.as_it_is.warm_up(box.seconds / 4)
        # with the number of steps, which the first epoch may have told
        self.training = self.as_it_is.training
        self.first_traces = self.traces()
        self.late_traces = 0  # of the step, after the first moments
        seconds = 2 * self.turn_seconds
        self.batches = self.training.first_batches(take_away.MOST_BATCHES, seconds, box.clock)
        self.notes: list[str] = []  # names of sentences
        self.idle_epochs: tuple[float, ...] = ()  # seconds around a model that computes nothing
        self._sizes = (0, 0)  # of a batch, and of a batch of `OTHER_SIZE`
        if take_away.has_own_step(model):
            self.notes.append("own step")

    def __enter__(self):
        return self

    def __exit__(self, *error: object) -> None:
        self.borrowed.close()

    def measure(self, patience: float = 0.25) -> Parts:
        """Take turns at everything in half of the box, and return the parts of an epoch.

        For the sake of five rounds it may take this share of the box longer.
        """
        entries = self._entries()
        # a training on batches in memory may have needed one, too
        traces = self.traces()
        half = self.box.seconds / 2
        measuring = TimeBox(max(self.box.seconds_left() - half, half / 10), self.box.clock)
        overtime = patience * self.box.seconds / measuring.seconds

        def is_clear(turns: Mapping[str, list[Turn]]) -> bool:
            return self._parts(turns).verdict != NOT_TOLD

        turns = take_turns(entries, until(measuring, overtime=overtime, is_clear=is_clear))
        self.late_traces = self.traces() - traces
        self.idle_epochs = epochs_of(turns[IDLE])
        return self._parts(turns)

    def _entries(self) -> dict[str, Timed]:
        """Return the trainings that take turns, by name, each warmed up."""
        entries = {AS_IT_IS: self.as_it_is}
        model = self.as_it_is.model
        without_callbacks = take_away.without_callbacks(self.training)
        if self._callbacks:
            entries[NO_CALLBACKS] = self._entry(without_callbacks, model)
        in_memory = take_away.without_input(self.training, self.batches)
        entries[IN_MEMORY] = self._entry(in_memory, model)
        entries[IDLE] = self._entry(without_callbacks, take_away.idle_model())
        if self.box.seconds_left() < 0:
            self.notes.append("long steps")
            return entries
        share = entries[IN_MEMORY].turn().epoch / self.as_it_is.turn().epoch
        if share < SMALL_SHARE:
            self.notes.append("small steps")
            return entries
        return entries | self._other_sizes()

    def _entry(self, training: Training, model) -> Timed:
        """Return a training that has been warmed up."""
        timed = Timed(training, self.turn_seconds, clock=self.box.clock, model=model)
        timed.warm_up(self.box.seconds / 8)
        return timed

    def _other_sizes(self) -> dict[str, Timed]:
        """Return trainings on a batch of another size: of the model, and of one of width 1."""
        model = self.as_it_is.model
        fewest = take_away.fewest_samples(model)
        size = samples_in(self.batches[0])
        other_size = fewest
        if size < FEW_TIMES * fewest:
            other_size = FEW_TIMES * size
            if why_no_room(other_size * bytes_of_a_sample(model)):
                self.notes.append("one batch size")
                return {}
        self._sizes = (size, other_size)
        batch = take_away.resized(self.batches[0], other_size)
        try:
            # a model of its own: other shapes would make TensorFlow trace the first one again
            training = take_away.without_input(self.training, [batch])
            entries = {OTHER_SIZE: self._entry(training, self._second_model)}
        except Exception:
            self.notes.append("one batch size")
            return {}
        try:
            batch = take_away.resized(self.batches[0], fewest)
            training = take_away.without_input(self.training, [batch])
            entries[NARROW] = self._entry(training, take_away.narrow_copy(model))
        except Exception:
            # it has none, or shapes that fit together at the model's own width alone
            self.notes.append("no narrow copy")
        return entries

    def _parts(self, turns: Mapping[str, list[Turn]]) -> Parts:
        """Return the parts of an epoch by what each training takes more than the next one."""
        rounds: dict[str, list[float]] = {}
        for number in range(len(turns[AS_IT_IS])):
            this_round = {name: turns[name][number] for name in turns}
            for part, seconds in self._parts_of(this_round).items():
                rounds.setdefault(part, []).append(seconds)
        seconds_by_part = {part: tuple(seconds) for part, seconds in rounds.items()}
        return Parts(epochs_of(turns[AS_IT_IS]), seconds_by_part)

    def _parts_of(self, turns: Mapping[str, Turn]) -> dict[str, float]:
        """Return the seconds of each part in a round; together they are at most an epoch."""
        as_it_is = turns[AS_IT_IS]
        without_validation = max(as_it_is.epoch - as_it_is.validation, 0.0)
        without_callbacks = without_validation
        if NO_CALLBACKS in turns:
            without_callbacks = min(turns[NO_CALLBACKS].epoch, without_validation)
        in_memory = min(turns[IN_MEMORY].epoch, without_callbacks)
        parts = self._parts_of_steps(in_memory, turns)
        # no step waits longer for its input than the input takes where nothing else is done
        parts["input"] = min(without_callbacks - in_memory, turns[IDLE].epoch)
        parts["callbacks"] = without_validation - without_callbacks if self._callbacks else 0.0
        parts["validation"] = min(as_it_is.validation, as_it_is.epoch)
        return parts

    def _parts_of_steps(self, steps: float, turns: Mapping[str, Turn]) -> dict[str, float]:
        """Return the parts of so many seconds of steps: what the batch adds, what the width adds.

        A part that is longer than what is known of the model allows is not told apart.
        """
        if OTHER_SIZE not in turns:
            return {"steps": steps}
        size, other_size = self._sizes
        added = turns[OTHER_SIZE].epoch - turns[IN_MEMORY].epoch
        compute = min(max(size * added / (other_size - size), 0.0), steps)
        rest = steps - compute
        parts = {"compute": compute}
        overhead = rest
        if NARROW in turns:
            overhead = min(turns[NARROW].epoch, rest)
            parts["memory"] = min(rest - overhead, self._most_for_weights())
        launching = self.training.steps * take_away.most_for_launching(self.as_it_is.model)
        most_for_launching = turns[IDLE].epoch + launching
        parts["overhead"] = min(overhead, most_for_launching)
        parts["steps"] = steps - sum(parts.values())
        return parts

    def _most_for_weights(self) -> float:
        """Return the seconds of an epoch that reading and writing weights can take at most."""
        numbers = sum(prod(weight.shape) for weight in self.as_it_is.model.weights)
        return self.training.steps * 4 * numbers * PASSES / SLOWEST_MEMORY


def _count_traces(model) -> Callable[[], int]:
    """Count from now on how often a framework traces the training step; return a way to ask."""
    compiles = not model.run_eagerly
    if backend.framework() == "jax":
        compiles = compiles and bool(model.jit_compile)
    traces = 0
    step = model.train_step

    def train_step(*arguments, **named):
        # a framework runs this Python code only while it traces it
        nonlocal traces
        traces += compiles
        return step(*arguments, **named)

    model.train_step = train_step
    return lambda: traces
