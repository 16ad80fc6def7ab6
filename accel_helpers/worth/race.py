"""A training as it is, beside variants of it: turns of each, until the time is up."""

from collections.abc import Iterable

from accel_helpers.measure import timing
from accel_helpers.measure.measurement import FEW_SAMPLES, Measurement, Speedup
from accel_helpers.worth.time_box import TimeBox
from accel_helpers.worth.turns import Turns, Variant

FEWEST_ROUNDS, MOST_ROUNDS = FEW_SAMPLES, 25
LATE = "the time was up"

# the two entries that always take part
NOW = "now"
OTHER = "other"


class Race:
    """A training as it is now, in turns with variants of it, until the time is up.

    What is not tried, and the reason, stands in `not_tried`.
    """

    def __init__(self, turns: Turns, box: TimeBox, on_accelerator: bool):
        self.on_accelerator = on_accelerator
        self.not_tried: dict[str, str] = {}
        self._turns = turns
        self._box = box
        self._entries: dict[str, Variant] = {}
        # seconds of a turn, with all that fit does around what is timed
        self._costs: dict[str, float] = {}
        # blocks of turns: seconds per epoch, by the names of those that took part
        self._rounds: list[dict[str, list[float]]] = []
        self._first_turn = 0.0

    def enter(self, name: str, variant: Variant) -> None:
        """Let one of the two take part that are compared in any case."""
        first_turn, self._costs[name] = self._warm_up(variant)
        self._entries[name] = variant
        if name == NOW:
            self._first_turn = first_turn
        else:
            self._compare_with_now(name)

    def try_change(self, name: str, change: Variant | str) -> None:
        """Let a change take part if there is time; else note the reason for which it was not."""
        if isinstance(change, str):
            self.not_tried[name] = change
            return
        # a first turn that compiles, as that of the training as it is now did
        needed = self._first_turn + 2 * FEWEST_ROUNDS * self._costs[NOW]
        if self._box.seconds_left() < needed:
            self.not_tried[name] = LATE
            return
        try:
            _, cost = self._warm_up(change)
        except Exception as error:
            # too much memory, an operation that XLA does not know, …
            self.not_tried[name] = _first_line(error)
            self._turns.forget(change)
            return
        # now that its cost is known
        needed = FEWEST_ROUNDS * (self._costs[NOW] + cost)
        if self._box.seconds_left() < needed:
            self.not_tried[name] = LATE
            self._turns.forget(change)
            return
        self._entries[name] = change
        self._costs[name] = cost
        self._compare_with_now(name)

    def fill_the_box(self) -> None:
        """Take turns of all that take part, until the time is up."""
        cost = sum(self._costs.values())
        taken = _no_turns(self._entries)
        self._rounds.append(taken)
        while len(taken[NOW]) < MOST_ROUNDS and self._box.seconds_left() > cost:
            self._take_round(taken)

    def speedup(self, name: str) -> Speedup:
        """Compare the training as it is now with another that took part.

        The time of now over that of a change; but the CPU's over that of an accelerator.
        """
        now_seconds, seconds = [], []
        for taken in self._rounds:
            if name in taken:
                now_seconds += taken[NOW]
                seconds += taken[name]
        if name != OTHER:
            now = Measurement.from_samples(now_seconds, name=NOW)
            changed = Measurement.from_samples(seconds, name=name)
            return timing.compare(now, changed, in_turns=True)
        now = Measurement.from_samples(now_seconds, name=self._entries[NOW].device)
        if self.on_accelerator:
            cpu = Measurement.from_samples(seconds, name="cpu")
            return timing.compare(cpu, now, in_turns=True)
        idle = Measurement.from_samples(seconds, name="feeding and Python")
        return timing.compare(now, idle, in_turns=True)

    def gains(self) -> dict[str, Speedup]:
        """Return what each change gained; those that were timed too few times are not tried."""
        gains = {}
        for name in self._entries:
            if name in (NOW, OTHER):
                continue
            gain = self.speedup(name)
            if len(gain.fast.samples) < FEW_SAMPLES:
                self.not_tried[name] = LATE
            else:
                gains[name] = gain
        return gains

    def _warm_up(self, variant: Variant) -> tuple[float, float]:
        """Return the seconds of the first turn, which also compiles, and of a later one."""
        left_at_first = self._box.seconds_left()
        self._turns(variant)
        left_in_between = self._box.seconds_left()
        first_turn = left_at_first - left_in_between
        if left_in_between <= 0:
            return first_turn, first_turn
        self._turns(variant)
        later_turn = left_in_between - self._box.seconds_left()
        return first_turn, later_turn

    def _compare_with_now(self, name: str) -> None:
        """Take turns of one entry and the training as it is now."""
        # once more before it is called a tie
        for _ in range(2):
            taken = _no_turns((NOW, name))
            self._rounds.append(taken)
            self._take_round(taken)
            while len(taken[NOW]) < FEWEST_ROUNDS and self._box.seconds_left() > 0:
                self._take_round(taken)
            if self.speedup(name).conclusive or self._box.seconds_left() < 0:
                return

    def _take_round(self, taken: dict[str, list[float]]) -> None:
        """Take a turn of each, every other time backwards: a machine that changes favours none."""
        names = list(taken)
        if len(taken[NOW]) % 2 == 1:
            names.reverse()
        for name in names:
            taken[name].append(self._turns(self._entries[name]))


def _no_turns(names: Iterable[str]) -> dict[str, list[float]]:
    return {name: [] for name in names}


def _first_line(error: Exception) -> str:
    first_line = str(error).strip().partition("\n")[0]
    return first_line[:100]
