"""docs/benchmarks.md, made from benchmarks/results.json and nothing else.

python -m benchmarks.page       writes it again
"""

import json
from pathlib import Path

import jinja2

from accel_helpers._values.words import format_seconds, percent
from accel_helpers.measure.measurement import VAGUE, Measurement
from accel_helpers.measure.timing import compare

RESULTS = Path(__file__).with_name("results.json")
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
NAMES = {"tensorflow": "TensorFlow", "jax": "JAX"}
RESIDENT = "fit_resident"


def written(page, /, **given):
    """A page, by its template."""
    loader = jinja2.FileSystemLoader(Path(__file__).with_name("templates"))
    made = jinja2.Environment(
        loader=loader, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    return made.get_template(f"{page}.j2").render(given)


def page():
    """The text of the page."""
    result = json.loads(RESULTS.read_text("utf-8"))
    jax = result["backends"]["jax"]
    return written(
        "benchmarks.md",
        **result,
        **jax["images"],
        sizes=[*jax["training"]],
        names=NAMES,
        vague=VAGUE,
        cell=cell,
        percent=percent,
        ratios=ratios,
        inside=inside,
    )


def cell(ways, name):
    """The middle epoch of a way, and how many times as fast `fit_resident` is."""
    slow = Measurement.from_samples(ways[name])
    epoch = format_seconds(slow.median)
    if name == RESIDENT:
        return epoch
    found = compare(slow, Measurement.from_samples(ways[RESIDENT]), in_turns=True)
    low, high = found.interval
    if found.ratio is None:
        return f"{epoch}; no measurable difference ({low:.2g} to {high:.2g})"
    if high > VAGUE * low:
        return f"{epoch}; between {low:.2g} and {high:.2g}"
    return f"{epoch}; **{found.ratio:.3g}** ({low:.3g} to {high:.3g})"


def ratios(runs):
    """What `time_fit` said over what whole epochs took: from the least to the most."""
    found = sorted(run["said"] / run["whole"] for run in runs)
    return f"{found[0]:.2f} to {found[-1]:.2f}"


def inside(runs):
    """In how many runs the whole epoch lay in the interval."""
    count = 0
    for run in runs:
        low, high = run["interval"]
        count += low <= run["whole"] <= high
    return count


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
