"""The class board: what a folder of learners' result cards says, as one page and one table.

The cards come from strangers: each is read with suspicion, one that cannot count is named with the
reason, and what is shown of a card is tidied here and escaped by ``data/templates/board.html``.
"""

import csv
import io
import math
import re
from collections import Counter, defaultdict, namedtuple
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from statistics import median

from accel_helpers import _records
from accel_helpers._words import format_seconds, percent, template
from accel_helpers.learn.predict import CLOSE
from accel_helpers.measure.measurement import FEW_SAMPLES, WIDE_SPREAD
from accel_helpers.measure.results import Card

SIZE = re.compile("size|/work$")  # numbers that say how large something was
FAR, ENOUGH = 3, 4  # times off the class's middle; cards on one machine that make a middle
CEILING = "at most, by those without one"
FOUND = (  # times as fast, in lesson 03; a model without work stands for a chip where none is
    ("A better chip, small dense model", "step/cpu/width 128/batch 32", "step/cpu/width 1/batch 32"),
    ("A better chip, wide dense model", "step/cpu/width 2048/batch 2048", "step/cpu/width 1/batch 2048"),
    ("A better chip, small CNN", "step/cpu/small CNN, 64 x 64/batch 32", "step/cpu/small CNN without convolutions/batch 32"),
    ("Better code, same chip", "climb/epoch/default fit", "climb/epoch/resident"),
)
# Of a card; a time is its middle, its quartiles and how many samples.
Seen = namedtuple("Seen", "who machine begun times numbers")


@dataclass(frozen=True)
class Board:
    """What was written, how many cards count, and who does not and why."""

    page: str
    cards: int
    refused: list[tuple[str, str]]
    to_dict = asdict

    def __str__(self) -> str:
        lines = [f"{self.cards} cards on the board: {self.page}, and beside it a table (.csv)."]
        return "\n".join(lines + [f"Not counted: {who}: {why}" for who, why in self.refused])


def write(folder: Path, page: Path, *, names: bool = True) -> Board:
    """Write the board of a folder's cards, and the table beside it."""
    cards, refused = read(folder, names)
    odd, spread = apart(cards)
    told = {"cards": cards, "refused": refused, "odd": odd, "spread": spread, "found": found(cards)}
    told |= {"guesses": guesses(cards), "forecasts": forecasts(cards), "CLOSE": CLOSE, "scale": scale, "span": span, "seconds": format_seconds, "CEILING": CEILING}
    _records.write_whole(page, template("board.html").render(**told))
    _records.write_whole(page.with_suffix(".csv"), table(cards, odd))
    return Board(str(page), len(cards), refused)


def tidy(text: str, most: int = 80) -> str:
    """A stranger's text on one line, not too long, without what a terminal or a page obeys."""
    text = "".join(each if each.isprintable() else "\ufffd" for each in text[: most + 1])
    return text if len(text) <= most else text[: most - 1] + "…"


def read(folder: Path, names: bool) -> tuple[list[Seen], list[tuple[str, str]]]:
    """The cards that count, and who does not and why; links are not followed."""
    files = [p for p in folder.iterdir() if p.suffix.lower() == ".json" and p.name[0] != "."]
    files.sort(key=lambda p: p.name if names else p.lstat().st_size)  # nor does the order name
    cards, refused, before = [], [], {}
    for n, path in enumerate(files, 1):
        numbered = not names or re.fullmatch(r"result_card\W*\d*\W*", path.stem)
        who = f"card {n}" if numbered else tidy(path.stem, 40)
        try:
            if path.is_symlink():
                raise _records.DataError("a link, which is not followed.")
            card = _seen(who, _records.load(path, "result card", name=who))
            if (same := before.setdefault((card.begun, *card.times.items()), who)) != who:
                raise _records.DataError(f"a copy of {same}, which counts once.")
            cards.append(card)
        except _records.DataError as error:
            refused.append((who, tidy(str(error).removeprefix(who).lstrip(":, "), 200)))
    return cards, refused


def span(values, text="{:.2g}".format) -> str:
    """The middle of the class, and its ends."""
    low, middle, high = map(text, (min(values), median(values), max(values)))
    return f"{middle} ({low} to {high})" if len(values) > 1 else middle


def _seen(who: str, plain) -> Seen:
    card, times = _records.read(Card, plain, who), {}
    for name, measured in card.measurements.items():
        several = sorted(measured.samples)
        low, high = (several[len(several) * part // 4] for part in (1, 3))
        times[tidy(name)] = (median(several), low, high, len(several))
    if not times:
        raise _records.DataError("nothing is measured on it yet.")
    numbers = {tidy(name): values for name, values in card.numbers.items() if values}
    day = card.created[:10]
    return Seen(who, tidy(card.label.removesuffix(f", {day}"), 40), tidy(day), times, numbers)


def found(cards: list[Seen]) -> dict[str, dict]:
    """How many times as fast and whose card says so: by what was changed, and by machine."""
    gains = defaultdict(lambda: defaultdict(list))
    for card, (title, slow, least) in product(cards, FOUND):
        chips = (f"03/{slow}".replace("cpu", kind) for kind in ("tpu", "gpu"))
        fast = next((name for name in chips if name in card.times), f"03/{least}")
        if {f"03/{slow}", fast} <= card.times.keys():
            machine = CEILING if "/cpu/" in fast else card.machine
            ratio = card.times[f"03/{slow}"][0] / card.times[fast][0]
            gains[title][machine].append((ratio, card.who))
    return {title: gains[title] for title, *_ in FOUND if title in gains}


def forecasts(cards: list[Seen]) -> tuple[dict, list]:
    """Of lesson 05: seconds of an epoch, forecast or raced; and forecasts of what raced there."""
    epochs, held = defaultdict(list), []
    for card in cards:
        there, both = (card.numbers.get(f"05/{name}", ()) for name in ("there", "forecast"))
        if len(there) == 2 and min(there) > 0:
            raced = any(name.startswith("05/race/") for name in card.times)
            where = f"measured: {card.machine}" if raced else "forecast for a T4, made without one"
            epochs[where].append((math.sqrt(there[0]) * math.sqrt(there[1]), card.who))
        if len(both) == 3 and min(both) > 0:
            held.append((card, both))
    return epochs, held


def guesses(cards: list[Seen]) -> dict[str, list]:
    """By question: a guess over what came out, 1 or 0 for a choice, whether close, and whose."""
    asked = defaultdict(list)
    for card in cards:
        for name in (name for name in card.numbers if name.startswith("guess/")):
            made, came, *_ = (*card.numbers[name], 1.0)
            ratio = made / came if made > 0 < came else 0.0
            asked[name.removeprefix("guess/")].append((ratio, card.who))
    return asked


def apart(cards: list[Seen]) -> tuple[dict, list]:
    """What is far from the class's middle on the same machine, and perhaps why; all the times."""
    times, sizes, odd = defaultdict(list), defaultdict(Counter), {}
    for card in cards:
        for name, time in card.times.items():
            times[name, card.machine].append((time[0], card))
        for name in filter(SIZE.search, card.numbers):
            sizes[name, card.machine][card.numbers[name]] += 1
    for (name, machine), those in times.items():
        middle = median(seconds for seconds, _ in those)
        for seconds, card in those if len(those) >= ENOUGH else ():
            if not middle / FAR < seconds < middle * FAR:
                odd[card.who, name] = seconds / middle, _why(card, name, seconds < middle, sizes)
    return odd, sorted(times.items(), key=lambda each: (-len(each[1]), each[0]))


def _why(card: Seen, name: str, short: bool, sizes: dict) -> str:
    middle, low, high, count = card.times[name]
    for size in filter(SIZE.search, card.numbers):
        usual = sizes[size, card.machine].most_common(1)[0][0]
        if card.numbers[size] != usual:
            here, there = (" and ".join(f"{x:g}" for x in v[:2]) for v in (card.numbers[size], usual))
            return f"perhaps other sizes (ACCEL_FAST?): {size} is {here}, in most cards {there}"
    if short:
        return "perhaps timed without waiting for the result, or a smaller model or batch"
    if count < FEW_SAMPLES or high - low > WIDE_SPREAD * middle:
        return f"perhaps a busy machine: {count} samples, half of them within {percent((high - low) / middle)}"
    return "perhaps a larger model or batch"


def scale(values: list[float]) -> tuple:
    """Where a value lies on a logarithmic axis, in % of it, and the axis's ticks."""
    middle = min(max(median(values), 1e-6), 1e6)  # a card far out must not press the others flat
    low = max(min(*values, 0.9), middle / 1000) / 1.15
    high = min(max(*values, 1.1), middle * 1000) * 1.15
    ticks = [m * 10.0**e for e in range(-9, 10) for m in (1, 2, 5) if low < m * 10.0**e < high]
    ticks = ticks if len(ticks) < 8 else [tick for tick in ticks if f"{tick:e}"[0] == "1"]
    return lambda v: 100 * math.log(min(max(v, low), high) / low) / math.log(high / low), ticks


def table(cards: list[Seen], odd: dict) -> str:
    """All times and numbers as CSV, without what a spreadsheet would compute."""
    text, rows = io.StringIO(), []
    for card in cards:
        for name in (*card.times, *card.numbers):
            texts = (card.who, card.machine, card.begun, name, odd.get((card.who, name), ("", ""))[1])
            rows.append(["'" * (x.lstrip()[:1] in (*"=+-@",)) + x for x in texts])
            rows[-1] += card.times.get(name, [""] * 4)
            rows[-1] += [" ".join(map(str, card.numbers.get(name, ())[:20]))]
    head = "learner machine begun name remark seconds low high samples numbers".split()
    csv.writer(text).writerows([head, *rows])
    return "\ufeff" + text.getvalue()  # by which Excel knows UTF-8
