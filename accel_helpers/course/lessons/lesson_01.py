"""Lesson 01: a matmul beside a chip's rating, the dialog that lends one, and the old steps."""

from collections.abc import Sequence
from dataclasses import replace

from accel_helpers.course.checks import choices
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
    """The times and the size of square matrices, as a result card has them."""
    size = round((judged[0].work / 2) ** (1 / 3))
    timed = {f"{path}/{_kind(each).lower()}": each.time for each in judged}
    return timed, {f"{path}/size": [size]}


def rates_on(card: Card, path: str) -> list[Plausibility]:
    """The CPU's rate on a card."""
    timed, (size, *_) = card.measurements[f"{path}/cpu"], card.numbers[f"{path}/size"]
    return [hardware.judge(flops=2 * size**3, seconds=replace(timed, name="cpu"))]


def _kind(judged: Plausibility) -> str:
    """CPU of "cpu:0"."""
    return judged.time.name.partition(":")[0].upper()


def rates(own: Sequence[Plausibility], *, reference: Reference | None = None) -> style.Picture:
    """The billions of operations a second that were measured, and those a chip is rated at."""
    chip = own[-1].chip
    chip = chip if chip and hardware.peak(chip) else hardware.match("Tesla T4")
    rated, drawn, noted = 1000 * hardware.peak(chip), [], []
    sides, under = style.sides(own, reference, style.BARS)
    for several, mine, start in sides:
        colour, made = style.OWN if mine else style.REFERENCE, []
        for each in several:
            times = sorted((each.time.median, *each.time.interval))
            high, rate, low = (each.work / seconds / 1e9 for seconds in times)
            note = (f"{rate:,.0f}",)
            made.append(rows.Row(_kind(each), colour, note, bar=(low, high), line=rate))
        drawn.append(made)
        noted.append(start + "; ".join(f"{row.name} {row.notes[0]}" for row in made))
    every, more = rows.beneath(*drawn), style.short(rated / max(row.line for row in drawn[0]))
    title = f"The {chip.name} is rated at {more} times what was measured"
    with style.figure(style.WIDE, 1.1 + rows.room(every), title, under=under) as (figure, axes):
        rows.paint(axes, every, ["measured"])
        for place, row in zip(rows.places(every), every, strict=True):
            axes.plot([0, row.line], [place] * 2, color=row.colour, lw=3, zorder=0.9)
        axes.axvline(rated, color=style.SAID, ls="--")
        said = f"{chip.name}: rated at {rated:,.0f}"
        axes.text(0.98 * rated, rows.places(every)[-1] / 2, said, ha="right", va="center", **_PAPER)
        high = 1.05 * max(rated, *(row.bar[1] for row in every))
        style.scale(axes.xaxis, "billion operations per second", 0, high, style.plain)
        return style.picture(figure, f"Lines from zero. {title}: {'; '.join(noted)}; {said}.")


# --- the dialog ----------------------------------------------------------------------------------

#: What Colab's dialog offered as of August 2026, as far as Google's tools and its users say; chips
#: come and go. (https://github.com/googlecolab/google-colab-cli, and the sources of the lesson.)
OFFERED = ("CPU", "T4 GPU", "other GPUs: L4, G4, A100, H100", "TPUs: v5e-1, v6e-1")
CHOSEN, AS_OF = "T4 GPU", "August 2026"


def dialog() -> style.Picture:
    """The menu and the dialog in which Colab is asked for a GPU: a drawing of our own."""
    title = f"Drawing, not a screenshot (as of {AS_OF})"
    with style.figure(style.WIDE, 3.3, title) as (figure, axes):
        axes.set(xlim=(0, 10), ylim=(7.6, -0.2))
        axes.set_axis_off()
        menu = ("Run all", "Restart session", "Disconnect and delete runtime")
        _box(axes, 0, 0, 3.4, 0.6, "Runtime", face=style.EMPTY)
        _box(axes, 0, 0.6, 3.4, 3.2)
        for line, text in enumerate((*menu, "Change runtime type")):
            asked = text.startswith("Change")
            weight, colour = ("bold", style.OWN) if asked else ("normal", style.SAID)
            said = text.replace(" and ", "\nand ")
            axes.text(0.2, 1.0 + 0.75 * line, said, va="center", weight=weight, color=colour)
        arrow = {"arrowstyle": "->", "color": style.OWN, "lw": 1.6}
        axes.annotate("", (4.25, 3.25), (3.42, 3.25), arrowprops=arrow)
        _box(axes, 4.3, 0, 5.7, 7.4)
        axes.text(4.6, 0.5, "Change runtime type", va="center", fontsize=11, weight="bold")
        axes.text(4.6, 1.3, "Runtime type:  Python 3", va="center")
        axes.text(4.6, 2.1, "Hardware accelerator:", va="center")
        for line, text in enumerate(OFFERED):
            y, on = 2.85 + 0.7 * line, text == CHOSEN
            face = style.OWN if on else "white"
            axes.plot([4.9], [y], "o", ms=8, mfc=face, mec=style.OWN if on else style.SAID, mew=1.4)
            weight = "bold" if on else "normal"
            axes.text(5.25, y, text, va="center", weight=weight)
        axes.text(4.6, 5.75, "Runtime version:  Latest", va="center")
        axes.text(7.0, 6.75, "Cancel", va="center", color=style.SAID)
        _box(axes, 8.2, 6.4, 1.4, 0.7, "Save", face=style.OWN, colour="white")
        offered = "; ".join(f"{text}, chosen" if text == CHOSEN else text for text in OFFERED)
        alt = (
            f"{title}. The menu Runtime, in it Change runtime type; it opens a dialog of that name "
        )
        alt += f"with a choice of the hardware accelerator ({offered}) and the button Save."
        return style.picture(figure, alt)


def _box(axes, x, y, wide, high, text="", face="white", colour="black") -> None:
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((x, y), wide, high, fc=face, ec=style.EDGE, lw=1))
    font = {"ha": "center", "va": "center", "weight": "bold", "color": colour}
    axes.text(x + wide / 2, y + high / 2, text, **font)
