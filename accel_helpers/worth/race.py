"""A training as it is, beside variants of it: turns of each, until the time is up."""

from collections.abc import Iterable

from accel_helpers.measure import timing
from accel_helpers.measure.measurement import FEW_SAMPLES, Measurement, Speedup
from accel_helpers.worth.time_box import TimeBox
from accel_helpers.worth.turns import Turns, Variant

FEWEST_ROUNDS = FEW_SAMPLES
MOST_ROUNDS = 25
LATE = "the time was up"  # the reason for which a change was not tried

# the names of the two entries that always take part
NOW = "now"  # the training as it is
OTHER = "other"  # the CPU beside an accelerator; else a model that computes nothing


class Race:
    """A training as it is now, in turns with variants of it, until the time is up.

    An entry is a variant that takes part, under a name: `NOW`, `OTHER` or that of a change, such as
    "jit_compile=True". In a turn one entry trains for a moment and is timed. In a round each entry
    of a group takes one turn. A block is several rounds of the same group. A cost is what a turn
    takes on the clock, with all that ``fit`` does around the steps that are timed. The box is the
    time that all of this may take.
    """

    def __init__(self, turns: Turns, box: TimeBox, on_accelerator: bool):
        self.on_accelerator = on_accelerator
        self.not_tried: dict[str, str] = {}  # name of a change -> reason
        self._turns = turns
        self._box = box
        self._entries: dict[str, Variant] = {}
        self._costs: dict[str, float] = {}  # name of an entry -> seconds
        # name of an entry -> the seconds per epoch of its turns; they are as many for each entry
        self._blocks: list[dict[str, list[float]]] = []
        self._first_cost = 0.0  # seconds of the first turn of `NOW`, which compiles

    def enter(self, name: str, variant: Variant) -> None:
        """Let one of the two entries take part that are compared in any case: `NOW` first.

        `name` is `NOW` or `OTHER`; the latter is compared with `NOW` at once. What the training
        raises is raised.
        """
        first_cost, cost = self._warm_up(variant)
        self._costs[name] = cost
        self._entries[name] = variant
        if name == NOW:
            self._first_cost = first_cost
        else:
            self._compare_with_now(name)

    def try_change(self, name: str, change: Variant | str) -> None:
        """Let a change take part, and compare it with `NOW`; or note in `not_tried` why it cannot.

        `change` is a text where the caller knows the reason. Other reasons are that there is no
        time for it, and that its first turns raise an error.
        """
        if isinstance(change, str):
            self.not_tried[name] = change
            return
        # its cost is not known yet: it is taken to be that of the training as it is now
        seconds_needed = self._first_cost + 2 * FEWEST_ROUNDS * self._costs[NOW]
        if self._box.seconds_left() < seconds_needed:
            self.not_tried[name] = LATE
            return
        try:
            _, cost = self._warm_up(change)
        except Exception as error:
            # too much memory, an operation that XLA does not know, …
            self.not_tried[name] = _first_line(error)
            self._turns.forget(change)
            return
        # now its cost is known
        seconds_needed = FEWEST_ROUNDS * (self._costs[NOW] + cost)
        if self._box.seconds_left() < seconds_needed:
            self.not_tried[name] = LATE
            self._turns.forget(change)
            return
        self._entries[name] = change
        self._costs[name] = cost
        self._compare_with_now(name)

    def fill_the_box(self) -> None:
        """Take rounds of all entries while there is time for another, at most `MOST_ROUNDS`."""
        cost_of_a_round = sum(self._costs.values())
        block = self._new_block(self._entries)
        while len(block[NOW]) < MOST_ROUNDS and self._box.seconds_left() > cost_of_a_round:
            self._take_round(block)

    def speedup(self, name: str) -> Speedup:
        """Compare the training as it is now with an entry that took part; not with `NOW` itself.

        The ratio is the time of `NOW` over that of the entry. One case is the other way round:
        `OTHER` on a machine with an accelerator is the CPU, and its time stands over that of `NOW`.
        """
        now_seconds: list[float] = []
        seconds: list[float] = []
        for block in self._blocks:
            if name in block:
                now_seconds += block[NOW]
                seconds += block[name]
        if name != OTHER:
            now = Measurement.from_samples(now_seconds, name=NOW)
            with_change = Measurement.from_samples(seconds, name=name)
            return timing.compare(now, with_change, in_turns=True)
        now = Measurement.from_samples(now_seconds, name=self._entries[NOW].device)
        if self.on_accelerator:
            cpu = Measurement.from_samples(seconds, name="cpu")
            return timing.compare(cpu, now, in_turns=True)
        idle = Measurement.from_samples(seconds, name="feeding and Python")
        return timing.compare(now, idle, in_turns=True)

    def gains(self) -> dict[str, Speedup]:
        """Return how many times as fast each change was, by its name.

        A change that was timed fewer than five times is left out, and noted in `not_tried`.
        """
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
        """Take two turns of a new variant, and return the cost of each in seconds.

        The first turn also compiles. Where the time is up after it there is no second turn, and the
        cost of the first stands for both. What the training raises is raised.
        """
        left_at_first = self._box.seconds_left()
        self._turns(variant)
        left_in_between = self._box.seconds_left()
        first_cost = left_at_first - left_in_between
        if left_in_between <= 0:
            return first_cost, first_cost
        self._turns(variant)
        later_cost = left_in_between - self._box.seconds_left()
        return first_cost, later_cost

    def _compare_with_now(self, name: str) -> None:
        """Take a block of rounds of `NOW` and one other entry, and a second one if it is a tie.

        `name` is one of `self._entries`. A block has five rounds, or fewer if the time is up.
        """
        for _ in range(2):
            block = self._new_block((NOW, name))
            self._take_round(block)
            while len(block[NOW]) < FEWEST_ROUNDS and self._box.seconds_left() > 0:
                self._take_round(block)
            if self.speedup(name).conclusive or self._box.seconds_left() < 0:
                return

    def _new_block(self, names: Iterable[str]) -> dict[str, list[float]]:
        """Begin a block of rounds of some entries, and return it: {"now": [], "other": []}."""
        block: dict[str, list[float]] = {name: [] for name in names}
        self._blocks.append(block)
        return block

    def _take_round(self, block: dict[str, list[float]]) -> None:
        """Take a turn of each entry of a block, and append its seconds per epoch to the block."""
        names = list(block)
        # every other round goes backwards: a machine that gets slower is then unfair to nobody
        if len(block[NOW]) % 2 == 1:
            names.reverse()
        for name in names:
            block[name].append(self._turns(self._entries[name]))


def _first_line(error: Exception) -> str:
    """Return the first line of an error's message, at most 100 characters of it."""
    first_line = str(error).strip().partition("\n")[0]
    return first_line[:100]
