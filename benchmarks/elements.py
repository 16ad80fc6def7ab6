"""What the page is made of: tables with their cells, and curves with their intervals."""

from accel_helpers._values.words import format_bytes, format_seconds
from accel_helpers.measure.measurement import VAGUE
from accel_helpers.measure.timing import Measurement
from accel_helpers.plots import style
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


def series(lines, stem, *, title, xlabel, ylabel, log):
    """Medians over a size with the bars of their intervals: its line in the page, and the file."""
    if not lines:
        return "", {}
    with style.figure(8, 3.9, title, under=style.BARS) as (figure, axes):
        medians = {n: {x: line[x].median for x in sorted(line)} for n, line in lines.items()}
        labels = []
        for i, (name, line) in enumerate(lines.items()):
            colour, nested = style.COLOURS[i], min(4, 8 / max(1, len(lines) - 1))
            size = 5 + (len(lines) - 1 - i) * nested  # seen where marks coincide
            mark = {"marker": style.MARKS[i], "ms": size, "mfc": "none", "mew": 1.8}
            middle = medians[name]
            axes.plot(list(middle), list(middle.values()), color=colour, lw=1.2, **mark)
            end = (max(middle), middle[max(middle)])
            labels.append(style.Label(*end, style.folded(name), colour, mark))
            for x, m in line.items():
                axes.plot([x, x], m.interval, color=colour, lw=max(2, 6 - 2 * i), alpha=0.55)
        sizes = sorted({x for line in lines.values() for x in line})
        at, ends = sizes if len(sizes) <= 7 else (), (sizes[0] / 1.25, 1.25 * sizes[-1])
        style.scale(axes.xaxis, xlabel, *ends, style.plain, log=True, at=at)
        ends = [end for line in lines.values() for m in line.values() for end in m.interval]
        low, high = (min(ends) / 1.4, 1.4 * max(ends)) if log else (0, 1.15 * max(ends))
        style.scale(axes.yaxis, ylabel, low, high, format_seconds, log=log)
        style.beside(figure, axes, labels)
        said = []
        for name, line in medians.items():
            at = [f"{format_seconds(line[x])} at {style.plain(x)}" for x in (min(line), max(line))]
            said.append(f"{name} from {' to '.join(at)}")
        alt = f"Line plot over {xlabel}. {title}: {'; '.join(said)}."
        return f"![{alt}](pictures/{stem}.png)\n", {f"{stem}.png": style.picture(figure, alt)}


def _with_interval(measured, show) -> str:
    low, high = measured.interval
    return f"{show(measured.median)} ({show(low)} to {show(high)})"


def _signed(count) -> str:
    return f"{'-' if count < 0 else ''}{format_bytes(abs(count))}"
