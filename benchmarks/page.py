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
        against=against,
        middle=middle,
        percent=percent,
    )


def middle(samples):
    return format_seconds(Measurement.from_samples(samples).median)


def against(fit, fit_resident):
    """The middle epoch of `fit`, and how many times as fast `fit_resident` is."""
    slow = Measurement.from_samples(fit)
    fast = Measurement.from_samples(fit_resident)
    found = compare(slow, fast, in_turns=True)
    low, high = found.interval
    if found.ratio is None:
        said = f"no measurable difference ({low:.2g} to {high:.2g})"
    elif high > VAGUE * low:
        said = f"between {low:.2g} and {high:.2g}"
    else:
        said = f"**{found.ratio:.3g}** ({low:.3g} to {high:.3g})"
    return f"{middle(fit)}; {said}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
