"""Verdicts: what measurements say, as one of a few words for which a lesson holds a sentence."""

import re

from accel_helpers.measure import ceilings, measurement, scores
from accel_helpers.measure.measurement import Speedup

__all__ = ["how_much_longer", "say"]

#: All words of each source of verdicts, by the name of what gives them.
LABELS: dict[str, tuple[str, ...]] = {
    "compare": measurement.VERDICTS,
    "scores": scores.VERDICTS,
    "bound_by": ceilings.BOUNDS,
    "how_much_longer": ("about as long", "a little longer", "twice or more", "less", "cannot tell"),
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


def how_much_longer(found: Speedup) -> str:
    """Say how much longer one thing takes than another, as far as the interval allows.

    That is "about as long" (the whole interval lies between 10 % less and 10 % more), "a little
    longer" (above 5 % more, below twice), "twice or more", "less" (above 5 % less), or "cannot
    tell" where the interval lies across a limit.

    >>> from accel_helpers.measure import timing
    >>> slow, fast = (timing.Measurement.from_samples([s] * 5) for s in (4.0, 1.0))
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
