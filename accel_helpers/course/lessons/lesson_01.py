"""Lesson 01: a matmul beside a chip's rating, the dialog that lends one, and the old steps."""

from collections.abc import Sequence
from dataclasses import replace

from accel_helpers.course.word_checks import choices
from accel_helpers.machine import hardware
from accel_helpers.machine.hardware import Plausibility
from accel_helpers.measure.results import Card, Reference
from accel_helpers.plots import rows, style

_PAPER = {"bbox": {"fc": "white", "ec": "none"}}
FATES = ("works", "fails", "does nothing")
_STOPS = "A notebook stops at this cell. Is that nothing?"
_SLIPS = {  # a step, and perhaps what was said of it: what to say to that
    ("A", "works"): ("That address belonged to TPUs on another machine.", "What is a KeyError?"),
    ("A", "does nothing"): ("It raises an error, a KeyError.", _STOPS),
    ("B", "works"): ("pip downloads something, but look at its last line.", "Was it installed?"),
    ("B", "does nothing"): (
        "It ends with an error, and nothing is installed.",
        "Which word does pip's last line begin with?",
    ),
    ("C", "works"): ("Sessions belong to TensorFlow 1.", "What does the module not have?"),
    ("C", "does nothing"): ("It raises an error, an AttributeError.", _STOPS),
    "D": ("It answers either way: with a GPU's name, or with an empty text.", "Was it an error?"),
    "E": ("There is no error, and nothing left to switch.", "How does Colab's sentence end?"),
    "F": ("The menu is still there.", "How did you choose your own runtime?"),
}
CHECKS = {
    "01/old": choices(
        dict.fromkeys("ABC", "fails") | {"D": "works", "E": "does nothing", "F": "works"},
        FATES,
        _SLIPS,
        done="Three fail, one does nothing, two still work.",
        empty="The six answers are still empty.",
    )
}


# --- the rate of a matmul: what `hardware.judge` said of it, device by device -------------------


def rates_measured(judged: Sequence[Plausibility], path: str):
    """Give the times and the size of square matrices, as a result card has them."""
    # A product of two n by n matrices takes 2 n^3 operations.
    size = round((judged[0].work / 2) ** (1 / 3))
    times = {}
    for answer in judged:
        times[f"{path}/{_kind(answer).lower()}"] = answer.time
    return times, {f"{path}/size": [size]}


def rates_on(card: Card, path: str) -> list[Plausibility]:
    """Judge the CPU's time on a card."""
    time = replace(card.measurements[f"{path}/cpu"], name="cpu")
    size = card.numbers[f"{path}/size"][0]
    return [hardware.judge(flops=2 * size**3, seconds=time)]


def _kind(judged: Plausibility) -> str:
    """Give the kind of a device: "CPU" of "cpu:0"."""
    kind, _, _ = judged.time.name.partition(":")
    return kind.upper()


def _rate_row(judged: Plausibility, colour) -> rows.Row:
    """Give the row of a device: its rate in billions a second, with an interval."""
    times = sorted((judged.time.median, *judged.time.interval))
    # The shortest time is the highest rate.
    high, rate, low = (judged.work / seconds / 1e9 for seconds in times)
    return rows.Row(_kind(judged), colour, (f"{rate:,.0f}",), bar=(low, high), line=rate)


def rates(own: Sequence[Plausibility], *, reference: Reference | None = None) -> style.Picture:
    """Draw the billions of operations a second that were measured, and a chip's rating."""
    chip = own[-1].chip
    if chip is None or not hardware.peak(chip):
        chip = hardware.match("Tesla T4")
    rated = 1000 * hardware.peak(chip)
    groups = []
    sentences = []
    sides, under = style.sides(own, reference, style.BARS)
    for answers, is_own, start in sides:
        colour = style.OWN if is_own else style.REFERENCE
        group = [_rate_row(answer, colour) for answer in answers]
        groups.append(group)
        sentences.append(start + "; ".join(f"{row.name} {row.notes[0]}" for row in group))
    every_row = rows.beneath(*groups)
    places = rows.places(every_row)
    best = max(row.line for row in groups[0])
    title = f"The {chip.name} is rated at {style.short(rated / best)} times what was measured"
    rating = f"{chip.name}: rated at {rated:,.0f}"
    height = 1.1 + rows.room(every_row)
    with style.figure(style.WIDE, height, title, under=under) as (figure, axes):
        rows.paint(axes, every_row, ["measured"])
        for place, row in zip(places, every_row, strict=True):
            axes.plot([0, row.line], [place] * 2, color=row.colour, lw=3, zorder=0.9)
        axes.axvline(rated, color=style.SAID, ls="--")
        axes.text(0.98 * rated, places[-1] / 2, rating, ha="right", va="center", **_PAPER)
        end = 1.05 * max(rated, *(row.bar[1] for row in every_row))
        style.scale(axes.xaxis, "billion operations per second", 0, end, style.plain)
        alt = f"Lines from zero. {title}: {'; '.join(sentences)}; {rating}."
        return style.picture(figure, alt)


# --- the dialog ----------------------------------------------------------------------------------

#: What Colab's dialog offered as of August 2026, as far as Google's tools and its users say; chips
#: come and go. (https://github.com/googlecolab/google-colab-cli, and the sources of the lesson.)
OFFERED = ("CPU", "T4 GPU", "other GPUs: L4, G4, A100, H100", "TPUs: v5e-1, v6e-1")
CHOSEN, AS_OF = "T4 GPU", "August 2026"


def dialog() -> style.Picture:
    """Draw the menu and the dialog in which Colab is asked for a GPU: a drawing of our own."""
    title = f"Drawing, not a screenshot (as of {AS_OF})"
    with style.figure(style.WIDE, 3.3, title) as (figure, axes):
        axes.set(xlim=(0, 10), ylim=(7.6, -0.2))
        axes.set_axis_off()
        _draw_menu(axes)
        arrow = {"arrowstyle": "->", "color": style.OWN, "lw": 1.6}
        axes.annotate("", (4.25, 3.25), (3.42, 3.25), arrowprops=arrow)
        _draw_dialog(axes)
        options = []
        for text in OFFERED:
            options.append(f"{text}, chosen" if text == CHOSEN else text)
        alt = (
            f"{title}. The menu Runtime, in it Change runtime type; it opens a dialog of that name "
            f"with a choice of the hardware accelerator ({'; '.join(options)}) and the button Save."
        )
        return style.picture(figure, alt)


def _draw_menu(axes) -> None:
    """Draw the menu Runtime, its last entry in bold."""
    _box(axes, 0, 0, 3.4, 0.6, "Runtime", face=style.EMPTY)
    _box(axes, 0, 0.6, 3.4, 3.2)
    entries = ("Run all", "Restart session", "Disconnect and delete runtime")
    for line, entry in enumerate(entries):
        text = entry.replace(" and ", "\nand ")
        axes.text(0.2, 1.0 + 0.75 * line, text, va="center", color=style.SAID)
    y = 1.0 + 0.75 * len(entries)
    axes.text(0.2, y, "Change runtime type", va="center", weight="bold", color=style.OWN)


def _draw_dialog(axes) -> None:
    """Draw the dialog with a choice of accelerators, one of them chosen."""
    _box(axes, 4.3, 0, 5.7, 7.4)
    axes.text(4.6, 0.5, "Change runtime type", va="center", fontsize=11, weight="bold")
    axes.text(4.6, 1.3, "Runtime type:  Python 3", va="center")
    axes.text(4.6, 2.1, "Hardware accelerator:", va="center")
    for line, text in enumerate(OFFERED):
        y = 2.85 + 0.7 * line
        face, edge, weight = "white", style.SAID, "normal"
        if text == CHOSEN:
            face, edge, weight = style.OWN, style.OWN, "bold"
        axes.plot([4.9], [y], "o", ms=8, mfc=face, mec=edge, mew=1.4)
        axes.text(5.25, y, text, va="center", weight=weight)
    axes.text(4.6, 5.75, "Runtime version:  Latest", va="center")
    axes.text(7.0, 6.75, "Cancel", va="center", color=style.SAID)
    _box(axes, 8.2, 6.4, 1.4, 0.7, "Save", face=style.OWN, colour="white")


def _box(axes, x, y, width, height, text="", face="white", colour="black") -> None:
    """Draw a box with a text in its middle."""
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((x, y), width, height, fc=face, ec=style.EDGE, lw=1))
    font = {"ha": "center", "va": "center", "weight": "bold", "color": colour}
    axes.text(x + width / 2, y + height / 2, text, **font)
