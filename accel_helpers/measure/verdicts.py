"""Verdicts: what measurements say, as one of a few words for which a lesson holds a sentence."""

import re

from accel_helpers.measure import ceilings, measurement, scores

__all__ = ["say"]

#: All words of each source of verdicts, by the name of what gives them.
LABELS: dict[str, tuple[str, ...]] = {
    "compare": measurement.VERDICTS,
    "scores": scores.VERDICTS,
    "bound_by": ceilings.BOUNDS,
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
