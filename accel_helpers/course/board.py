"""The class board: what a folder of learners' result cards shows, as one page and one table.

What stands on a card is shown by ``templates/board.html``, which escapes it. Decisions depend on
the names that the lessons give to measurements on a card, and on no text that is meant for people.
"""

import csv
import dataclasses
import io
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import NamedTuple

from accel_helpers._values import records
from accel_helpers._values.words import format_seconds, percent, template
from accel_helpers.course.class_cards import Refusal, Seen, Time, read
from accel_helpers.course.predict import CLOSE
from accel_helpers.measure.measurement import FEW_SAMPLES, WIDE_SPREAD
from accel_helpers.plots.style import short

FAR = 3  # times the class's middle, or a third of it
ENOUGH = 4  # cards of one machine that make a middle
SIZE = re.compile("size|/work$")  # names of numbers that are the size of something
MOST_NUMBERS = 20  # numbers of one name in the table
COLUMNS = (
    "learner",
    "machine",
    "begun",
    "name",
    "remark",
    "seconds",
    "low",
    "high",
    "samples",
    "numbers",
)
FORMULA = ("=", "+", "-", "@")  # with these begins what a spreadsheet would compute


class Pair(NamedTuple):
    """Two times on a card, by their names; a ceiling is what a chip could gain at most."""

    slow: str
    fast: str
    is_ceiling: bool = False


@dataclass(frozen=True)
class Race:
    """A picture of how many times as fast something is in lesson 03."""

    id: str
    title: str
    pairs: tuple[Pair, ...]  # the first of which a card has both times counts


def _chip_race(id: str, title: str, step: str, without_work: str) -> Race:
    """Return the race of a CPU against the chip beside it.

    Where there is none, a model without work stands for a chip that computes in no time.
    """
    on_cpu = f"03/step/cpu/{step}"
    on_gpu = f"03/step/gpu/{step}"
    on_tpu = f"03/step/tpu/{step}"
    bare = f"03/step/cpu/{without_work}"
    ceiling = Pair(on_cpu, bare, is_ceiling=True)
    return Race(id, title, (Pair(on_cpu, on_tpu), Pair(on_cpu, on_gpu), ceiling))


RACES = (
    _chip_race(
        "chip-small",
        "Better chip, width 128, batches of 32",
        "width 128/batch 32",
        "width 1/batch 32",
    ),
    _chip_race(
        "chip-large",
        "Better chip, both 2,048",
        "width 2048/batch 2048",
        "width 1/batch 2048",
    ),
    _chip_race("chip-cnn", "Better chip, small CNN", "cnn/batch 32", "cnn-bare/batch 32"),
    Race(
        "code",
        "Better code, same chip and batches",
        (Pair("03/climb/epoch/default", "03/climb/epoch/resident-small"),),
    ),
)


@dataclass(frozen=True)
class Row:
    """A row of a race: the cards of one machine, or those that know a ceiling alone."""

    label: str
    is_ceiling: bool = False


CEILING = Row("at most, by those without one", is_ceiling=True)


class Dot(NamedTuple):
    """A value in a picture, and whose it is."""

    value: float
    who: str


@dataclass(frozen=True)
class FarOff:
    """A time that is far from the class's middle on the same machine."""

    who: str
    reason: str  # what the card shows that may explain it
    name: str
    ratio: float  # the time over the middle


@dataclass(frozen=True)
class Board:
    """The page that was written, how many cards count, and which were refused and why."""

    page: str
    cards: int
    refused: Sequence[Refusal]

    def to_dict(self) -> dict:
        """Return the fields as plain values, for JSON."""
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        lines = [f"{self.cards} cards on the board: {self.page}, and beside it a table (.csv)."]
        for who, reason in self.refused:
            lines.append(f"Not counted: {who}: {reason}")
        return "\n".join(lines)


def write(folder: Path, page: Path, *, names: bool = True) -> Board:
    """Write the board of a folder's cards, and the table beside it.

    Without `names` the cards are numbered, and nobody is named.
    """
    cards, refused = read(folder, names)
    times = _by_name_and_machine(cards)
    odd = far_off(cards, times)
    sorted_times = sorted(times.items(), key=_most_cards_first)
    board = template("course/templates/board.html")
    html = board.render(
        cards=cards,
        refused=refused,
        odd=odd,
        times=sorted_times,
        RACES=RACES,
        CEILING=CEILING,
        found=races(cards),
        guesses=guesses(cards),
        CLOSE=CLOSE,
        median=median,
        scale=scale,
        short=short,
        seconds=format_seconds,
    )
    records.write_whole(page, html)
    records.write_whole(page.with_suffix(".csv"), table(cards, odd))
    return Board(str(page), len(cards), refused)


# --- What the cards show


def races(cards: Iterable[Seen]) -> dict[str, dict[Row, list[Dot]]]:
    """Return how many times as fast the quick side was on each card, by a race's id and by row."""
    dots = defaultdict(lambda: defaultdict(list))
    for card in cards:
        for race in RACES:
            pair = _first_pair(race, card)
            if pair is None:
                continue
            slow = card.times[pair.slow]
            fast = card.times[pair.fast]
            dot = Dot(slow.middle / fast.middle, card.who)
            row = CEILING if pair.is_ceiling else Row(card.machine)
            dots[race.id][row].append(dot)
    return dots


def _first_pair(race: Race, card: Seen) -> Pair | None:
    """Return the first pair of a race of which the card has both times, and neither is 0."""
    for pair in race.pairs:
        slow = card.times.get(pair.slow)
        fast = card.times.get(pair.fast)
        if slow is None or fast is None:
            continue
        if slow.middle and fast.middle:
            return pair
    return None


def guesses(cards: Iterable[Seen]) -> dict[str, list[Dot]]:
    """Return each guess over what came out, by its name; of a choice 1 where it was right, or 0."""
    dots = defaultdict(list)
    for card in cards:
        for name, values in card.numbers.items():
            if not name.startswith("guess/"):
                continue
            question = name.removeprefix("guess/")
            dot = Dot(_guess_ratio(values), card.who)
            dots[question].append(dot)
    return dots


def _guess_ratio(values: Sequence[float]) -> float:
    """Return a guess over what came out, or 0 where there is no such ratio."""
    if len(values) < 2:
        return 0.0
    guess, actual = values[:2]
    if guess <= 0 or actual <= 0:
        return 0.0
    return guess / actual


# By the name of a measurement and the machine: seconds, and the card that they are on.
Times = Mapping[tuple[str, str], Sequence[tuple[float, Seen]]]
# By the name of a size and the machine: what most cards have.
Sizes = Mapping[tuple[str, str], float]


def _by_name_and_machine(cards: Iterable[Seen]) -> Times:
    """Return all times of the class, by what was measured and on which machine."""
    times = defaultdict(list)
    for card in cards:
        for name, time in card.times.items():
            group = times[name, card.machine]
            group.append((time.middle, card))
    return times


def _most_cards_first(item: tuple) -> tuple:
    """Return the key by which the times are sorted for the page."""
    place, times = item
    return -len(times), place


def far_off(cards: Iterable[Seen], times: Times) -> dict[tuple[str, str], FarOff]:
    """Return what is far from the class's middle on the same machine, by owner and name."""
    sizes = _usual_sizes(cards)
    odd = {}
    for (name, _), group in times.items():
        if len(group) < ENOUGH:
            continue
        middle = median([seconds for seconds, _ in group])
        for seconds, card in group:
            if middle / FAR < seconds < middle * FAR:
                continue
            is_quick = seconds < middle
            reason = _reason(card, card.times[name], is_quick, sizes)
            ratio = seconds / middle
            odd[card.who, name] = FarOff(card.who, reason, name, ratio)
    return odd


def _sizes_on(card: Seen) -> dict[str, float]:
    """Return the numbers of a card that are the size of something, by name."""
    sizes = {}
    for name, values in card.numbers.items():
        if SIZE.search(name):
            sizes[name] = values[-1]
    return sizes


def _usual_sizes(cards: Iterable[Seen]) -> Sizes:
    """Return what most cards of a machine have of each size."""
    counts = defaultdict(Counter)
    for card in cards:
        for name, size in _sizes_on(card).items():
            counter = counts[name, card.machine]
            counter[size] += 1
    usual = {}
    for place, counter in counts.items():
        [(size, _)] = counter.most_common(1)
        usual[place] = size
    return usual


def _reason(card: Seen, time: Time, is_quick: bool, sizes: Sizes) -> str:
    """Return what the card shows that may explain a time that is far off."""
    # The surest explanation comes first.
    for name, size in _sizes_on(card).items():
        usual = sizes[name, card.machine]
        if size != usual:
            return f"perhaps other sizes (ACCEL_FAST?): {name} is {size:g}, mostly {usual:g}"
    if is_quick:
        return "perhaps timed without waiting for the result, or a smaller model or batch"
    spread = (time.high - time.low) / time.middle
    if time.samples < FEW_SAMPLES or spread > WIDE_SPREAD:
        return f"perhaps a busy machine: {time.samples} samples, spread {percent(spread)}"
    return "perhaps a larger model or batch, or something else on the machine"


# --- The page and the table


def scale(values: Sequence[float]) -> tuple:
    """Return where a value lies on a logarithmic axis, in % of it, and the axis's ticks."""
    values = [_within(value, 1e-9, 1e9) for value in values]
    middle = median(values)
    # A card far out must not press the others flat.
    low = max(min(values), middle / 1e3) / 1.15
    high = min(max(values), middle * 1e3) * 1.15
    share = 100 / math.log(high / low)

    def position(value: float) -> float:
        return share * math.log(_within(value, low, high) / low)

    ticks = _ticks(low, high)
    step = 1 + len(ticks) // 7
    return position, ticks[::step]


def _within(value: float, low: float, high: float) -> float:
    """Return the value, or the limit that it is beyond."""
    return min(max(value, low), high)


def _ticks(low: float, high: float) -> list[float]:
    """Return 1, 2, 5, 10, 20 and so on, as far as they lie between two values."""
    ticks = []
    for exponent in range(-9, 10):
        for digit in (1, 2, 5):
            tick = digit * 10.0**exponent
            if low < tick < high:
                ticks.append(tick)
    return ticks


def table(cards: Iterable[Seen], odd: Mapping[tuple[str, str], FarOff]) -> str:
    """Return all times and numbers as CSV, without what a spreadsheet would compute."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for card in cards:
        for name in (*card.times, *card.numbers):
            remark = ""
            if (card.who, name) in odd:
                remark = odd[card.who, name].reason
            row = _table_row(card, name, remark)
            writer.writerow(row)
    # By this mark Excel knows UTF-8.
    return "\ufeff" + text.getvalue()


def _table_row(card: Seen, name: str, remark: str) -> list:
    """Return the cells of a time or of some numbers, as `COLUMNS` names them."""
    texts = [card.who, card.machine, card.begun, name, remark]
    cells = [_harmless(text) for text in texts]
    # The seconds, their quartiles and the count of samples.
    cells += card.times.get(name, ("", "", "", ""))
    values = card.numbers.get(name, ())
    numbers = " ".join(str(value) for value in values[:MOST_NUMBERS])
    return [*cells, numbers]


def _harmless(text: str) -> str:
    """Return a text that a spreadsheet shows and does not compute."""
    if text.lstrip().startswith(FORMULA):
        return f"'{text}"
    return text
