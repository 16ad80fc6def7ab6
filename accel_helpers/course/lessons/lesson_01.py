"""Lesson 01: a matmul beside a chip's rating, the dialog that lends one, and the old steps."""

from collections.abc import Sequence

from accel_helpers.course.checks import WordCheck
from accel_helpers.machine import hardware
from accel_helpers.machine.hardware import Plausibility
from accel_helpers.plots import rows, style

_STOPS = "A notebook stops at this cell. Is that nothing?"


class OldSteps(WordCheck):
    """What the six old steps, A to F, do today."""

    truth = {
        "A": "fails",
        "B": "fails",
        "C": "fails",
        "D": "works",
        "E": "does nothing",
        "F": "works",
    }
    allowed = ("works", "fails", "does nothing")
    done = "Three fail, one does nothing, two still work."
    empty = "The six answers are still empty."
    # step -> wrong answer (or "" for each) -> the message and the hint
    slips = {
        "A": {
            "works": ("That address belonged to TPUs on another machine.", "What is a KeyError?"),
            "does nothing": ("It raises an error, a KeyError.", _STOPS),
        },
        "B": {
            "works": ("pip downloads something, but look at its last line.", "Was it installed?"),
            "does nothing": (
                "It ends with an error, and nothing is installed.",
                "Which word does pip's last line begin with?",
            ),
        },
        "C": {
            "works": ("Sessions belong to TensorFlow 1.", "What does the module not have?"),
            "does nothing": ("It raises an error, an AttributeError.", _STOPS),
        },
        "D": {
            "": (
                "It answers either way: with a GPU's name, or with an empty text.",
                "Was it an error?",
            )
        },
        "E": {
            "": (
                "There is no error, and nothing left to switch.",
                "How does Colab's sentence end?",
            )
        },
        "F": {"": ("The menu is still there.", "How did you choose your own runtime?")},
    }


CHECKS = {"01/old": OldSteps()}


# --- the rate of a matmul: what `hardware.judge` said of it, device by device -------------------

# Each is a product of two square matrices, of the same size on every device. Its `work` is its
# number of operations, its `time` a Measurement that has the name of the device, such as "gpu:0".


def _kind(judgement: Plausibility) -> str:
    """Return the kind of a judgement's device, such as "CPU" where its time is named "cpu:0"."""
    kind, _, _ = judgement.time.name.partition(":")
    return kind.upper()


def _rate_row(judgement: Plausibility) -> rows.Row:
    """Return the row of a device: a line to its rate, and the interval of the rate as a bar.

    Both are in billions of operations a second.
    """
    time = judgement.time
    # Sorted, since the median of few timings can lie outside of their interval.
    shortest, middle, longest = sorted((time.median, *time.interval))
    # The shortest time is the highest rate.
    high = _billions(judgement.work, shortest)
    rate = _billions(judgement.work, middle)
    low = _billions(judgement.work, longest)
    device = _kind(judgement)
    note = f"{rate:,.0f}"
    return rows.Row(device, style.OWN, (note,), bar=(low, high), line=rate)


def _billions(operations: float, seconds: float) -> float:
    """Return the billions of operations a second, of operations that took so many seconds."""
    return operations / seconds / 1e9


def rates(judged: Sequence[Plausibility]) -> style.Picture:
    """Draw the measured rate of each device, and the rating of the last one's chip.

    Parameters
    ----------
    judged : sequence of Plausibility
        What `hardware.judge` said of the learner's devices, one or more, the best one last.

    Returns
    -------
    Picture
        Its title says how many times the best measured rate the rating is.
    """
    chip = _rated_chip(judged[-1])
    # Billions of operations a second, as the rows have them; the table has trillions.
    rated = 1000 * hardware.peak(chip)
    every_row = [_rate_row(judgement) for judgement in judged]
    best = max(row.line for row in every_row)
    factor = style.short(rated / best)
    title = f"The {chip.name} is rated at {factor} times what was measured"
    rating = f"{chip.name}: rated at {rated:,.0f}"
    height = 1.1 + rows.room(every_row)
    with style.figure(style.WIDE, height, title, under=style.BARS) as (figure, axes):
        rows.paint(axes, every_row, ["measured"])
        _draw_rates(axes, every_row)
        _draw_rating(axes, every_row, rated, rating)
        highest = max(row.bar[1] for row in every_row)
        end = 1.05 * max(rated, highest)
        style.scale(axes.xaxis, "billion operations per second", 0, end, style.plain)
        # The only note of a row is its rate.
        measured = "; ".join(f"{row.name} {row.notes[0]}" for row in every_row)
        return style.picture(figure, f"Lines from zero. {title}: {measured}; {rating}.")


def _rated_chip(judgement: Plausibility) -> hardware.Accelerator:
    """Return the chip that was judged, or a T4 where the chip or its rating is not known."""
    chip = judgement.chip
    if chip is None or not hardware.peak(chip):
        return hardware.match("Tesla T4")
    return chip


def _draw_rates(axes, every_row: Sequence[rows.Row]) -> None:
    """Draw a line from zero to the rate of each row, at the height of the row."""
    for place, row in enumerate(every_row):
        axes.plot([0, row.line], [place, place], color=row.colour, lw=3, zorder=0.9)


def _draw_rating(axes, every_row: Sequence[rows.Row], rated: float, text: str) -> None:
    """Draw a dashed upright line at a rating, with a text at half the height of the rows.

    `rated` is in billions of operations a second, as the rates of the rows are.
    """
    middle = (len(every_row) - 1) / 2
    # On white, so that a line that it crosses leaves it legible.
    paper = {"fc": "white", "ec": "none"}
    axes.axvline(rated, color=style.SAID, ls="--")
    axes.text(0.98 * rated, middle, text, ha="right", va="center", bbox=paper)


# --- the dialog ----------------------------------------------------------------------------------

#: What Colab's dialog offered as of August 2026, as far as Google's tools and its users say; chips
#: come and go. (https://github.com/googlecolab/google-colab-cli, and the sources of the lesson.)
OFFERED = ("CPU", "T4 GPU", "other GPUs: L4, G4, A100, H100", "TPUs: v5e-1, v6e-1")
CHOSEN = "T4 GPU"
AS_OF = "August 2026"


def dialog() -> style.Picture:
    """Draw the menu and the dialog in which Colab is asked for a GPU.

    It is a drawing of our own and no screenshot. The helpers below place what they draw on a sheet
    10 wide and 7.8 high; y grows downwards.
    """
    title = f"Drawing, not a screenshot (as of {AS_OF})"
    with style.figure(style.WIDE, 3.3, title) as (figure, axes):
        # A drawing is placed from the top left corner on, like a screen.
        axes.set(xlim=(0, 10), ylim=(7.6, -0.2))
        axes.set_axis_off()
        _draw_menu(axes)
        arrow = {"arrowstyle": "->", "color": style.OWN, "lw": 1.6}
        axes.annotate("", (4.25, 3.25), (3.42, 3.25), arrowprops=arrow)
        _draw_dialog(axes)
        options = _options_text()
        alt = (
            f"{title}. The menu Runtime, in it Change runtime type; it opens a dialog of that name "
            f"with a choice of the hardware accelerator ({options}) and the button Save."
        )
        return style.picture(figure, alt)


def _options_text() -> str:
    """Return what the dialog offers, with "; " between: "CPU; T4 GPU, chosen; other GPUs: ..."."""
    options = []
    for option in OFFERED:
        text = option
        if option == CHOSEN:
            text = f"{option}, chosen"
        options.append(text)
    return "; ".join(options)


def _draw_menu(axes) -> None:
    """Draw the open menu Runtime at the left, its last entry, "Change runtime type", in bold."""
    _box(axes, 0, 0, 3.4, 0.6, "Runtime", face=style.EMPTY)
    _box(axes, 0, 0.6, 3.4, 3.2)
    entries = ("Run all", "Restart session", "Disconnect and delete runtime")
    y = 1.0
    for entry in entries:
        text = entry.replace(" and ", "\nand ")
        axes.text(0.2, y, text, va="center", color=style.SAID)
        y += 0.75
    axes.text(0.2, y, "Change runtime type", va="center", weight="bold", color=style.OWN)


def _draw_dialog(axes) -> None:
    """Draw the dialog at the right, with a line for each accelerator that is offered."""
    _box(axes, 4.3, 0, 5.7, 7.4)
    axes.text(4.6, 0.5, "Change runtime type", va="center", fontsize=11, weight="bold")
    axes.text(4.6, 1.3, "Runtime type:  Python 3", va="center")
    axes.text(4.6, 2.1, "Hardware accelerator:", va="center")
    for line, text in enumerate(OFFERED):
        y = 2.85 + 0.7 * line
        _draw_option(axes, y, text)
    axes.text(4.6, 5.75, "Runtime version:  Latest", va="center")
    axes.text(7.0, 6.75, "Cancel", va="center", color=style.SAID)
    _box(axes, 8.2, 6.4, 1.4, 0.7, "Save", face=style.OWN, colour="white")


def _draw_option(axes, y: float, text: str) -> None:
    """Draw a circle and, beside it, the accelerator `text`, at the height y.

    Where it is `CHOSEN`, the circle is filled and the text is bold.
    """
    face = "white"
    edge = style.SAID
    weight = "normal"
    if text == CHOSEN:
        face = style.OWN
        edge = style.OWN
        weight = "bold"
    axes.plot([4.9], [y], "o", ms=8, mfc=face, mec=edge, mew=1.4)
    axes.text(5.25, y, text, va="center", weight=weight)


def _box(
    axes,
    x: float,
    y: float,
    width: float,
    height: float,
    text: str = "",
    face: str = "white",
    colour: str = "black",
) -> None:
    """Draw a box from its top left corner on, filled with `face`, a text in its middle."""
    from matplotlib.patches import Rectangle

    rectangle = Rectangle((x, y), width, height, fc=face, ec=style.EDGE, lw=1)
    axes.add_patch(rectangle)
    middle_x = x + width / 2
    middle_y = y + height / 2
    font = {"ha": "center", "va": "center", "weight": "bold", "color": colour}
    axes.text(middle_x, middle_y, text, **font)
