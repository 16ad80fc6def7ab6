"""What the page is made of: tables with their cells, and curves with their intervals."""

from accel_helpers._values.words import format_bytes, format_seconds
from accel_helpers.measure import pictures
from accel_helpers.measure.measurement import VAGUE
from accel_helpers.measure.timing import Measurement
from benchmarks import harness


def table(heads, rows) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines) + "\n"


def row(columns, name, show) -> list[str]:
    """The cells of one name, a column each."""
    return [cell(column.get(name), show) for column in columns.values()]


def cell(found, show) -> str:
    if not found or "not_measured" in found:
        return f"not measured here{': ' + found['not_measured'] if found else ''}"
    return f"failed: {found['error']}" if "error" in found else show(found)


def missing(part) -> str:
    return "not measured here" if "not_measured" in part else "failed"


def epoch(found) -> str:
    return _with_interval(Measurement(**found["epoch"]), format_seconds)


def sample(found) -> str:
    return _with_interval(Measurement(**found["sample"]), format_seconds)


def accuracy(found) -> str:
    return f"{100 * found['test_accuracy']:.1f} %, {len(found['losses'])} epochs"


def ratio(ratios, slow, fast) -> str:
    for found in ratios:
        if (found.slow.name, found.fast.name) == (slow, fast):
            low, high = found.interval
            if not found.conclusive:
                return f"no measurable difference ({low:.2g} to {high:.2g})"
            if high > VAGUE * low:
                of_medians = found.slow.median / found.fast.median
                return f"between {low:.2g} and {high:.2g} (of the medians: {of_medians:.2g})"
            return f"{found.ratio:.3g} ({low:.3g} to {high:.3g})"
    return "not measured here"


def bias(rounds) -> str:
    return _with_interval(harness.bias(rounds), lambda ratio: f"{100 * (ratio - 1):+.2f} %")


def overhead(rounds) -> str:
    return f"{100 * harness.overhead(rounds):.0f} %"


def size(count) -> str:
    return "not told here" if count is None else format_bytes(count)


def growth(found, smallest) -> str:
    if found["grown"] is None or smallest.get("grown") is None or found is smallest:
        return size(found["grown"])
    return f"{size(found['grown'])} ({_signed(found['grown'] - smallest['grown'])})"


def series(lines, stem, *, title, xlabel, ylabel):
    """Medians over a size with the bands of their intervals: its line in the page, and the file."""
    if not lines:
        return "", {}
    ordered = {name: {x: line[x] for x in sorted(line)} for name, line in lines.items()}
    axes = (xlabel, pictures.number), (ylabel, format_seconds)
    drawn = pictures.lines(ordered, *axes, title=title, log=True)
    return f"![{drawn.alt}](pictures/{stem}.png)\n", {f"{stem}.png": drawn}


def _with_interval(measured, show) -> str:
    low, high = measured.interval
    return f"{show(measured.median)} ({show(low)} to {show(high)})"


def _signed(count) -> str:
    return f"{'-' if count < 0 else ''}{format_bytes(abs(count))}"
