"""The class board: what a folder of learners' result cards shows, as one page and one table.

What stands on a card is shown by ``templates/board.html``, which escapes it. Decisions depend on
the names that the lessons give to measurements on a card, and on no text that is meant for people.
"""

import csv
import dataclasses
import io
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import NamedTuple

from accel_helpers._values import records
from accel_helpers._values.words import format_seconds, percent, template
from accel_helpers.course.board_scale import scale
from accel_helpers.course.class_cards import Refusal, Seen, Time, read
from accel_helpers.course.predict import CLOSE
from accel_helpers.measure.measurement import FEW_SAMPLES, WIDE_SPREAD
from accel_helpers.plots.style import short

FAR = 3  # a time is far off at 3 times the class's middle or more, or a third of it or less
ENOUGH = 4  # cards of one machine that are needed for a middle
# Names of numbers that are the size of something: "03/climb/batch size and steps/default",
# "04/work". A time depends on them.
SIZE = re.compile("size|/work$")
MOST_NUMBERS = 20  # numbers of one name that the table shows
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
FORMULA = ("=", "+", "-", "@")  # a spreadsheet would compute a text that begins with one of these


class Pair(NamedTuple):
    """Two times on a card that are compared, by the names that they have there."""

    slow: str
    fast: str


@dataclass(frozen=True)
class Race:
    """A picture of how many times as fast something is in lesson 03."""

    id: str
    title: str
    pairs: tuple[Pair, ...]  # of each card the first pair counts of which it has both times


RACES = (
    Race(
        "chip",
        "Better chip, lesson 03's model",
        (Pair("03/race/cpu", "03/race/tpu"), Pair("03/race/cpu", "03/race/gpu")),
    ),
    Race(
        "code",
        "Better code, same chip and batches",
        (Pair("03/climb/epoch/default", "03/climb/epoch/resident-small"),),
    ),
)


@dataclass(frozen=True)
class FarOff:
    """A time that is far from the class's middle on the same machine."""

    who: str  # the owner of the card
    reason: str  # what the card shows that may explain it
    name: str  # of the measurement
    ratio: float  # the time over the middle


@dataclass(frozen=True)
class Board:
    """What was written: the page, and a table beside it."""

    page: str  # its path; the table has the ending .csv in place of .html
    cards: int  # how many cards are on it
    refused: Sequence[Refusal]  # the cards that are not, and why

    def to_dict(self) -> dict:
        """Return the fields as plain values, for JSON."""
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        lines = [f"{self.cards} cards on the board: {self.page}, and beside it a table (.csv)."]
        for who, reason in self.refused:
            lines.append(f"Not counted: {who}: {reason}")
        return "\n".join(lines)


def write(folder: Path, page: Path, *, names: bool = True) -> Board:
    """Write the board of the result cards in a folder as a page, and the table beside it.

    Without `names` the cards are numbered, and nobody is named. A card that cannot be used is
    refused with a reason and raises nothing; an OSError is raised where the page cannot be written.
    """
    cards, refusals = read(folder, names)
    times = _by_name_and_machine(cards)
    far_off_times = far_off(cards, times)
    sorted_times = sorted(times.items(), key=_most_cards_first)
    board = template("course/templates/board.html")
    html = board.render(
        cards=cards,
        refused=refusals,
        odd=far_off_times,
        times=sorted_times,
        RACES=RACES,
        found=races(cards),
        guesses=guesses(cards),
        CLOSE=CLOSE,
        median=median,
        scale=scale,
        short=short,
        seconds=format_seconds,
    )
    records.write_whole(page, html)
    records.write_whole(page.with_suffix(".csv"), table(cards, far_off_times))
    return Board(str(page), len(cards), refusals)


# --- What the cards show


def races(cards: Iterable[Seen]) -> dict[str, dict[str, list[tuple[float, str]]]]:
    """Return the dots of each race's picture, by the race's id and then by the kind of machine.

    A dot is how many times as fast the fast side was on a card, and whose that is: {"code":
    {"T4": [(9.1, "ana")]}}. A card without both times of a race has none.
    """
    dots = defaultdict(lambda: defaultdict(list))
    for card in cards:
        for race in RACES:
            pair = _first_pair(race, card)
            if pair is None:
                continue
            slow = card.times[pair.slow]
            fast = card.times[pair.fast]
            dots[race.id][card.machine].append((slow.middle / fast.middle, card.who))
    return dots


def _first_pair(race: Race, card: Seen) -> Pair | None:
    """Return the first pair of a race of which the card has both times, neither of them 0.

    None where the card has no such pair.
    """
    for pair in race.pairs:
        slow = card.times.get(pair.slow)
        fast = card.times.get(pair.fast)
        if slow is None or fast is None:
            continue
        if slow.middle and fast.middle:
            return pair
    return None


def guesses(cards: Iterable[Seen]) -> dict[str, list[tuple[float, str]]]:
    """Return the dots of the learners' guesses, by the question's name: "03/fit".

    A dot is the guess divided by what came out: 1.0 is just right. Of a guess among choices it is
    1.0 where it was right, and 0.0 where it was wrong.
    """
    dots = defaultdict(list)
    for card in cards:
        for name, values in card.numbers.items():
            if not name.startswith("guess/"):
                continue
            question = name.removeprefix("guess/")
            dot = (_guess_ratio(values), card.who)
            dots[question].append(dot)
    return dots


def _guess_ratio(values: Sequence[float]) -> float:
    """Return the guess divided by what came out, from the two numbers that a card keeps of it.

    0.0 where there are not two numbers, or one of them is not positive.
    """
    if len(values) < 2:
        return 0.0
    guess, actual = values[:2]
    if guess <= 0 or actual <= 0:
        return 0.0
    return guess / actual


# (name of a measurement, machine) -> [(seconds, the card that they are on), ...].
Times = Mapping[tuple[str, str], Sequence[tuple[float, Seen]]]
# (name of a size, machine) -> the size that most cards have.
Sizes = Mapping[tuple[str, str], float]


def _by_name_and_machine(cards: Iterable[Seen]) -> Times:
    """Return the middle of every measurement of the class, by its name and machine."""
    times = defaultdict(list)
    for card in cards:
        for name, time in card.times.items():
            group = times[name, card.machine]
            group.append((time.middle, card))
    return times


def _most_cards_first(item: tuple[tuple[str, str], Sequence]) -> tuple[int, tuple[str, str]]:
    """Return the key by which the items of `Times` are sorted: most cards first, then by name."""
    name_and_machine, times = item
    return -len(times), name_and_machine


def far_off(cards: Iterable[Seen], times: Times) -> dict[tuple[str, str], FarOff]:
    """Return the times that are far from the class's middle on the same machine.

    They are by (owner of the card, name of the measurement). `times` are those of the same cards,
    as `_by_name_and_machine` returns them; a machine with fewer than `ENOUGH` has no middle.
    """
    sizes = _usual_sizes(cards)
    far_off_times = {}
    for (name, _), group in times.items():
        if len(group) < ENOUGH:
            continue
        middle = median([seconds for seconds, _ in group])
        for seconds, card in group:
            if middle / FAR < seconds < middle * FAR:
                continue
            is_quick = seconds < middle
            reason = _reason(card, card.times[name], sizes, is_quick=is_quick)
            ratio = seconds / middle
            far_off_times[card.who, name] = FarOff(card.who, reason, name, ratio)
    return far_off_times


def _sizes_on(card: Seen) -> dict[str, float]:
    """Return the numbers of a card that are the size of something, by name.

    Of several numbers under a name, the last: of (batch size, steps) it is the steps.
    """
    sizes = {}
    for name, values in card.numbers.items():
        if SIZE.search(name):
            sizes[name] = values[-1]
    return sizes


def _usual_sizes(cards: Iterable[Seen]) -> Sizes:
    """Return the value of each size that most cards of a machine have, by (name, machine)."""
    counts = defaultdict(Counter)
    for card in cards:
        for name, size in _sizes_on(card).items():
            counter = counts[name, card.machine]
            counter[size] += 1
    usual_sizes = {}
    for name_and_machine, counter in counts.items():
        [(size, _)] = counter.most_common(1)
        usual_sizes[name_and_machine] = size
    return usual_sizes


def _reason(card: Seen, time: Time, sizes: Sizes, *, is_quick: bool) -> str:
    """Return what may explain a time of the card that is far off, beginning with "perhaps".

    `is_quick` says whether it is shorter than the middle. `sizes` are the usual ones: they hold
    every size of this card.
    """
    # The surest explanation comes first.
    for name, size in _sizes_on(card).items():
        usual_size = sizes[name, card.machine]
        if size != usual_size:
            return f"perhaps other sizes (ACCEL_FAST?): {name} is {size:g}, mostly {usual_size:g}"
    if is_quick:
        return "perhaps timed without waiting for the result, or a smaller model or batch"
    spread = (time.high - time.low) / time.middle
    if time.samples < FEW_SAMPLES or spread > WIDE_SPREAD:
        return f"perhaps a busy machine: {time.samples} samples, spread {percent(spread)}"
    return "perhaps a larger model or batch, or something else on the machine"


# --- The table


def table(cards: Iterable[Seen], odd: Mapping[tuple[str, str], FarOff]) -> str:
    """Return a CSV table of all times and numbers of the cards, with the columns `COLUMNS`.

    `odd` are the times that are far off, as `far_off` returns them: their reason is the remark.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for card in cards:
        # A row has either a time or numbers.
        for name in (*card.times, *card.numbers):
            remark = ""
            if (card.who, name) in odd:
                remark = odd[card.who, name].reason
            row = _table_row(card, name, remark)
            writer.writerow(row)
    # By this mark Excel knows UTF-8.
    return "\ufeff" + text.getvalue()


def _table_row(card: Seen, name: str, remark: str) -> list:
    """Return the cells of the row of a time or of some numbers, in the order of `COLUMNS`.

    Cells that the row has no value for are empty texts.
    """
    texts = [card.who, card.machine, card.begun, name, remark]
    cells = [_harmless(text) for text in texts]
    # The seconds, their quartiles and the count of samples.
    cells += card.times.get(name, ("", "", "", ""))
    values = card.numbers.get(name, ())
    # A card may hold thousands of numbers under a name: the table shows the first.
    numbers = " ".join(str(value) for value in values[:MOST_NUMBERS])
    return [*cells, numbers]


def _harmless(text: str) -> str:
    """Return a text that a spreadsheet shows and does not compute: "=1+1" -> "'=1+1"."""
    if text.lstrip().startswith(FORMULA):
        return f"'{text}"
    return text
