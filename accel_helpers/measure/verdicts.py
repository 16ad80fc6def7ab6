"""Verdicts: what measurements say, as one of a few words for which a lesson holds a sentence."""

import re
from collections import namedtuple
from collections.abc import Collection, Iterable, Mapping

from accel_helpers.measure import ceilings, measurement, results, scores, timing
from accel_helpers.measure.measurement import FASTER, Measurement, Speedup

__all__ = ["how_much_longer", "say", "step_parts"]

Border = namedtuple("Border", "verdict pays not_worth untold largest")
StepParts = namedtuple("StepParts", "verdict seconds")
#: All words of each source of verdicts, by the name of what gives them.
LABELS: dict[str, tuple[str, ...]] = {
    "compare": measurement.VERDICTS,
    "scores": scores.VERDICTS,
    "bound_by": ceilings.BOUNDS,
    "where_it_pays": ("everywhere", "at some sizes", "nowhere", "cannot tell"),
    "step_parts": ("mostly arithmetic", "mostly other work", "mixed", "cannot tell"),
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


def where_it_pays(ratios: Mapping[tuple[int, int], Speedup], *, at_least: float = 1.0) -> Border:
    """Say at which sizes (width, batch size) a ratio lies above a threshold, at which below it.

    A size counts where its whole interval lies on one side, and is "untold" where it does not, or
    where the two times could not be told apart.

    Returns
    -------
    Border
        Its `verdict` is "everywhere", "at some sizes", "nowhere" (below at every size that could
        be told) or "cannot tell" (at no size); `pays`, `not_worth` and `untold` say the sizes in
        words, as `sizes_in_words` does; `largest` is the size with the largest ratio, or None.

    Examples
    --------
    >>> slow, fast = (Measurement.from_samples([s] * 5) for s in (4.0, 1.0))
    >>> found = {(16, 32): timing.compare(fast, slow), (128, 32): timing.compare(slow, fast)}
    >>> where_it_pays(found)[:3]
    ('at some sizes', 'batches of 32 from width 128 on', 'batches of 32 at width 16')
    """
    above, below, untold = [], [], []
    for size, ratio in ratios.items():
        low, high = ratio.interval
        if ratio.conclusive and low > at_least:
            above.append(size)
        elif ratio.conclusive and high < at_least:
            below.append(size)
        else:
            untold.append(size)

    if len(above) == len(ratios):
        verdict = "everywhere"
    elif above:
        verdict = "at some sizes"
    elif below:
        verdict = "nowhere"
    else:
        verdict = "cannot tell"

    largest = max(above, key=lambda size: ratios[size].ratio, default=None)
    words = [sizes_in_words(sizes, ratios) for sizes in (above, below, untold)]
    return Border(verdict, *words, largest)


def sizes_in_words(chosen: Collection[tuple[int, int]], every: Iterable[tuple[int, int]]) -> str:
    """Say which of all the sizes (width, batch size) are chosen, one batch size after the other.

    >>> every = [(16, 32), (128, 32), (512, 32), (16, 256), (128, 256)]
    >>> sizes_in_words([(128, 32), (512, 32), (16, 256), (128, 256)], every)
    'batches of 32 from width 128 on; batches of 256 at every width'
    """
    widths_of: dict[int, list[int]] = {}
    for width, batch in sorted(every):
        widths_of.setdefault(batch, []).append(width)

    parts = []
    for batch, widths in sorted(widths_of.items()):
        here = [width for width in widths if (width, batch) in chosen]
        if not here:
            continue
        named = " and ".join(f"{width:,}" for width in here)
        if here == widths:
            where = "at every width"
        elif here == widths[-len(here) :]:
            where = f"from width {here[0]:,} on"
        elif len(here) > 1 and here == widths[: len(here)]:
            where = f"up to width {here[-1]:,}"
        else:
            where = f"at width {named}"
        parts.append(f"batches of {batch:,} {where}")
    return "; ".join(parts)


def step_parts(plain: Measurement, *others: Measurement, keep: str = "") -> StepParts:
    """Split the time of one step into arithmetic, the rest of the step, and Keras in between.

    The `verdict` is "mostly arithmetic" (two thirds and more), "mostly other work" (one third of
    arithmetic or less), "mixed", or "cannot tell"; in `seconds`, parts that could not be told apart
    are joined.

    Parameters
    ----------
    plain, grouped, products : Measurement
        One step of an ordinary ``fit``, one of a ``fit`` that returns to Python after many steps
        only (left out where `backend.groups_steps` says that none does: then there is no "Python
        between steps"), and the products of one step alone (see `training.arithmetic`).
    keep : str, optional
        Where they go on the result card: "KEEP/ordinary", "KEEP/grouped", "KEEP/products".

    Examples
    --------
    >>> step_parts(*(Measurement.from_samples([s] * 5) for s in (1.0, 0.5, 0.1))).verdict
    'mostly other work'
    """
    *grouped, products = others
    names = ("ordinary", "grouped", "products") if grouped else ("ordinary", "products")
    results.keep(keep, {f"{keep}/{n}": m for n, m in zip(names, (plain, *others), strict=True)})

    def told_apart(slow, fast):
        return timing.compare(slow, fast).verdict == FASTER

    if not told_apart(plain, products):
        return StepParts("cannot tell", {"one step": plain.median})
    share = products.median / plain.median
    verdict = "mostly arithmetic" if share >= 2 / 3 else "mixed"
    verdict = "mostly other work" if share <= 1 / 3 else verdict
    seconds = {"the matrix products": products.median}
    if grouped and told_apart(plain, *grouped) and told_apart(*grouped, products):
        seconds["the rest of the step"] = grouped[0].median - products.median
        seconds["Python between steps"] = plain.median - grouped[0].median
    else:
        seconds["everything else"] = plain.median - products.median
    return StepParts(verdict, seconds)


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
