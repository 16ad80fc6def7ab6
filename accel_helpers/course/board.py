"""The class board: what a folder of learners' result cards says, as one page and one table.

Cards come from strangers: what is shown of one is tidied, and escaped by ``templates/board.html``.
"""

import csv
import io
import math
import re
from collections import Counter, defaultdict, namedtuple
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from itertools import repeat
from pathlib import Path
from statistics import median

from accel_helpers._values import records
from accel_helpers._values.words import format_seconds, percent, template
from accel_helpers.course.predict import CLOSE
from accel_helpers.measure.measurement import FEW_SAMPLES, WIDE_SPREAD
from accel_helpers.measure.results import Card
from accel_helpers.plots.style import short

FAR, ENOUGH = 3, 4  # times off the class's middle; cards of one machine that make a middle
SIZE = re.compile("size|/work$")  # numbers that say how large something was
CEILING = "at most, by those without one"
FOUND = {  # times as fast, in lesson 03; a model without work stands for a chip where none is
    "Better chip, width 128, batches of 32": ("width 128/batch 32", "width 1/batch 32"),
    "Better chip, both 2,048": ("width 2048/batch 2048", "width 1/batch 2048"),
    "Better chip, small CNN": ("cnn/batch 32", "cnn-bare/batch 32"),
    "Better code, same chip and batches": ("default", "resident-small"),
}
# What is kept of a card; a time is its middle, its quartiles and how many samples.
Seen = namedtuple("Seen", "who machine begun times numbers")


class Board(namedtuple("Board", "page cards refused")):
    """What was written, how many cards count, and who does not and why."""

    def to_dict(self) -> dict:
        return self._asdict()

    def __str__(self) -> str:
        lines = [f"{self.cards} cards on the board: {self.page}, and beside it a table (.csv)."]
        return "\n".join(lines + [f"Not counted: {who}: {why}" for who, why in self.refused])


def write(folder: Path, page: Path, *, names: bool = True) -> Board:
    """Write the board of a folder's cards, and the table beside it."""
    cards, refused = read(folder, names)
    odd, times = apart(cards)
    told = {"cards": cards, "refused": refused, "odd": odd, "times": times, "CEILING": CEILING}
    told |= {"pictures": pictures(cards), "FOUND": FOUND, "CLOSE": CLOSE, "median": median}
    told |= {"scale": scale, "short": short, "seconds": format_seconds}
    records.write_whole(page, template("course/templates/board.html").render(**told))
    records.write_whole(page.with_suffix(".csv"), table(cards, odd))
    return Board(str(page), len(cards), refused)


def tidy(text: str, most: int = 80) -> str:
    """A stranger's text on one line, not too long, without what a terminal or a page obeys."""
    text = text if len(text) <= most else text[: most - 1] + "…"
    return text if text.isprintable() else "".join(x if x.isprintable() else "\ufffd" for x in text)


def read(folder: Path, names: bool = True) -> tuple[list[Seen], list[tuple[str, str]]]:
    """The cards that count, and who does not and why; links are not followed."""
    files = [p for p in folder.iterdir() if p.suffix not in (".html", ".csv") and p.name[0] != "."]
    files.sort(key=lambda p: p.name if names else p.lstat().st_size)  # nor does the order name
    kept, cards, refused = {}, [], []
    with (ProcessPoolExecutor if len(files) > 99 else ThreadPoolExecutor)() as pool:
        for seen, why in pool.map(_card, files, range(1, len(files) + 1), repeat(names)):
            same = kept.setdefault((seen.begun, *seen.times.items()), seen)
            if same is seen and not why:
                cards.append(seen)
            else:
                refused.append((seen.who, why or f"a copy of {same.who}, which counts once."))
    return cards, refused


def _card(path: Path, n: int, names: bool) -> tuple[Seen, str]:
    """What is kept of a card, or why it cannot count."""
    numbered = not names or re.fullmatch(r"result_card\W*\d*\W*", path.stem)
    who = f"card {n}" if numbered else tidy(path.stem, 40)
    try:
        if path.is_symlink() or path.suffix.lower() != ".json":
            raise records.DataError("no .json file; links and folders are not followed.")
        card = records.read(Card, records.load(path, "result card", name=who), who)
        if not card.measurements or "ACCEL_FAST=1" in card.command:
            raise records.DataError("nothing is measured on it, or only small sizes (ACCEL_FAST).")
    except records.DataError as error:
        said = tidy(str(error).removeprefix(who).lstrip(":, "), 200)
        return Seen(who, "", path.name, {}, {}), said
    times, day = {}, card.created[:10]
    for name, measured in card.measurements.items():
        s = sorted(measured.samples)
        times[tidy(name)] = (median(s), s[len(s) // 4], s[3 * len(s) // 4], len(s))
    numbers = {tidy(name): values for name, values in card.numbers.items() if values}
    return Seen(who, tidy(card.label.removesuffix(f", {day}"), 40), tidy(day), times, numbers), ""


def pictures(cards: list[Seen]) -> dict[str, dict]:
    """By picture and by row: values, and whose they are."""
    made = defaultdict(lambda: defaultdict(list))
    for card in cards:
        for title, (slow, fast) in FOUND.items():
            pairs = [(f"step/cpu/{slow}", f"step/{chip}/{slow}") for chip in ("tpu", "gpu")]
            pairs += [(f"{way}/{slow}", f"{way}/{fast}") for way in ("climb/epoch", "step/cpu")]
            for pair in pairs:
                one, other = (card.times.get(f"03/{name}", (0,))[0] for name in pair)
                if one and other:
                    row = CEILING if "/cpu/" in pair[1] else card.machine
                    made[title][row].append((one / other, card.who))
                    break
        for name, (value, *more) in card.numbers.items():
            if name.startswith("guess/"):  # over what came out; of a choice 1 or 0
                ratio = value / more[0] if more and value > 0 < more[0] else 0.0
                made["guesses"][name.removeprefix("guess/")].append((ratio, card.who))
    return made


def apart(cards: list[Seen]) -> tuple[dict, list]:
    """What is far from the class's middle on the same machine, and perhaps why; all the times."""
    times, sizes, odd = defaultdict(list), defaultdict(Counter), {}
    for card in cards:
        for name, time in card.times.items():
            times[name, card.machine].append((time[0], card))
        for name in filter(SIZE.search, card.numbers):
            sizes[name, card.machine][card.numbers[name][-1]] += 1
    usual = {where: counted.most_common(1)[0][0] for where, counted in sizes.items()}
    for (name, _), those in times.items():
        middle = median(seconds for seconds, _ in those)
        for seconds, card in those if len(those) >= ENOUGH else ():
            if not middle / FAR < seconds < middle * FAR:
                why = _why(card, card.times[name], seconds < middle, usual)
                odd[card.who, name] = card.who, why, name, seconds / middle
    return odd, sorted(times.items(), key=lambda each: (-len(each[1]), each[0]))


def _why(card: Seen, time: tuple, quick: bool, usual: dict) -> str:
    middle, low, high, count = time
    for name in filter(SIZE.search, card.numbers):
        if (mine := card.numbers[name][-1]) != (most := usual[name, card.machine]):
            return f"perhaps other sizes (ACCEL_FAST?): {name} is {mine:g}, mostly {most:g}"
    if quick:
        return "perhaps timed without waiting for the result, or a smaller model or batch"
    if count < FEW_SAMPLES or high - low > WIDE_SPREAD * middle:
        return f"perhaps a busy machine: {count} samples, spread {percent((high - low) / middle)}"
    return "perhaps a larger model or batch, or something else on the machine"


def scale(values: list[float]) -> tuple:
    """Where a value lies on a logarithmic axis, in % of it, and the axis's ticks."""
    values = [min(max(value, 1e-9), 1e9) for value in values]
    middle = median(values)  # a card far out must not press the others flat
    low, high = max(min(values), middle / 1e3) / 1.15, min(max(values), middle * 1e3) * 1.15
    ticks = [m * 10.0**e for e in range(-9, 10) for m in (1, 2, 5) if low < m * 10.0**e < high]
    share = 100 / math.log(high / low)
    return lambda v: share * math.log(min(max(v, low), high) / low), ticks[:: 1 + len(ticks) // 7]


def table(cards: list[Seen], odd: dict) -> str:
    """All times and numbers as CSV, without what a spreadsheet would compute."""
    rows = csv.writer(text := io.StringIO())
    rows.writerow("learner machine begun name remark seconds low high samples numbers".split())
    for card, name in ((one, name) for one in cards for name in (*one.times, *one.numbers)):
        texts = (*card[:3], name, odd.get((card.who, name), ("", ""))[1])
        texts = ("'" * x.lstrip().startswith(("=", "+", "-", "@")) + x for x in texts)
        numbers = map(str, card.numbers.get(name, ())[:20])
        rows.writerow([*texts, *card.times.get(name, [""] * 4), " ".join(numbers)])
    return "\ufeff" + text.getvalue()  # by which Excel knows UTF-8
