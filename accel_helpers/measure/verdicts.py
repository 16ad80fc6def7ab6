"""Verdicts: what measurements say, as one of a few words for which a lesson holds a sentence."""

import re
from collections import namedtuple

from accel_helpers.machine.runtime import SILENT_GPU, Runtime
from accel_helpers.measure import ceilings, measurement, scores
from accel_helpers.measure.measurement import FASTER, SAME, SLOWER, Speedup

__all__ = ["attached", "how_much_longer", "say", "verified"]

Verified = namedtuple("Verified", "verdict facts")
#: All words of each source of verdicts, by the name of what gives them.
LABELS: dict[str, tuple[str, ...]] = {
    "compare": measurement.VERDICTS,
    "scores": scores.VERDICTS,
    "bound_by": ceilings.BOUNDS,
    "attached": (
        *("a GPU", "a TPU", "a driver that does not answer", "a TPU that is not there"),
        *("nothing in Colab", "nothing here"),
    ),
    "how_much_longer": ("about as long", "a little longer", "twice or more", "less", "cannot tell"),
    "verified": (
        *("not attached", "visible, not in the files", "attached, not visible"),
        *("visible, not placed", "placed, not timed", "placed, slower", "placed, no difference"),
        "all four",
    ),
}


def say(verdict, text: str, *fields, **named):
    """Show the sentences that belong to a verdict, as Markdown.

    In `text` each verdict has a line that begins with "[the verdict] ", up to the next such line;
    fields are filled in as by `str.format`, in the text that is chosen alone. What is given may
    also have a `verdict`; None is "not measured".

    >>> say("faster", "[faster] **{:.1f} times** as fast.\\n[slower] Slower.", 2.04).data
    '**2.0 times** as fast.'
    """
    from IPython.display import Markdown

    parts = labelled(text)
    label = "not measured" if verdict is None else getattr(verdict, "verdict", verdict)
    if label not in parts:
        raise ValueError(f"no text for [{label}]; there is {', '.join(map('[{}]'.format, parts))}.")
    return Markdown(parts[label].format(*fields, **named))


def labelled(text: str) -> dict[str, str]:
    """Take a text with labels apart; a link, `[so](…)`, is no label."""
    _, *found = re.split(r"^\[([^\]\n]+)\](?=\s)", text, flags=re.MULTILINE)
    return dict(zip(found[::2], map(str.strip, found[1::2]), strict=True))


def attached(found: Runtime) -> str:
    """Say in a few words what `runtime.describe` found: one of `LABELS["attached"]`.

    >>> from accel_helpers.machine import runtime
    >>> attached(runtime.describe(environ={"TPU_ACCELERATOR_TYPE": "v5e-1"}, root="/nowhere"))
    'a TPU that is not there'
    """
    if SILENT_GPU & {*found.faults}:
        return "a driver that does not answer"
    if found.accelerator:
        return f"a {found.accelerator.kind}"
    if "tpu-claimed" in found.faults:
        return "a TPU that is not there"
    return "nothing in Colab" if found.place == "colab" else "nothing here"


def how_much_longer(found: Speedup) -> str:
    """Say how much longer one thing takes than another, as far as the interval allows.

    That is "about as long" (the whole interval lies between 10 % less and 10 % more), "a little
    longer" (above 5 % more, below twice), "twice or more", "less" (above 5 % less), or "cannot
    tell" where the interval lies across a limit.

    >>> slow, fast = (Measurement.from_samples([s] * 5) for s in (4.0, 1.0))
    >>> how_much_longer(timing.compare(slow, fast))
    'twice or more'
    """
    low, high = found.interval
    if low >= 2:
        return "twice or more"
    if low > 1.05 and high < 2:
        return "a little longer"
    if high < 1 / 1.05:
        return "less"
    return "about as long" if low >= 1 / 1.1 and high <= 1.1 else "cannot tell"


_TIMED = {  # verdict of timing.compare -> the fourth fact, and the verdict where the others hold
    None: ("not measured", "placed, not timed"),
    FASTER: ("yes", "all four"),
    SLOWER: ("no", "placed, slower"),
    SAME: ("cannot tell", "placed, no difference"),
}


def verified(*, attached: bool, visible: bool, placed: bool, faster: str | None = None) -> Verified:
    """Put the four facts about an accelerator in order: the first "no" decides.

    The `verdict` is one of `LABELS["verified"]`; the `facts` are "yes", "no", "not measured",
    "cannot tell" or "not needed yet".

    Parameters
    ----------
    attached, visible, placed : bool
        The machine has one (`runtime.describe`), the framework lists it (`backend.devices`), and
        a result lies on it (`backend.where`).
    faster : str, optional
        The verdict of `timing.compare` on CPU and accelerator; None where it was not timed.

    Examples
    --------
    >>> verified(attached=True, visible=True, placed=False).verdict
    'visible, not placed'
    """
    said, verdict = _TIMED[faster]
    facts = {"attached": "yes" if attached else "no"}
    facts["visible"] = ("yes" if visible else "no") if attached or visible else "not needed yet"
    facts["placed"] = ("yes" if placed else "no") if visible else "not needed yet"
    facts["faster"] = said if visible and placed else "not needed yet"
    if not attached:
        verdict = "visible, not in the files" if visible else "not attached"
    elif not visible:
        verdict = "attached, not visible"
    elif not placed:
        verdict = "visible, not placed"
    return Verified(verdict, facts)
