"""The pictures of lesson 10: shares of right answers, and models one change apart.

What `compile` and the first steps took is kept, and never drawn.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from accel_helpers import plots
from accel_helpers.course.pictures.kinds import Kind, numbers_under
from accel_helpers.measure import scores
from accel_helpers.measure.measurement import Measurement
from accel_helpers.measure.results import Card
from accel_helpers.measure.scores import Score

# --- prepared: one model's answers to the same images, by how these were prepared -----------------


def shares_of(right: Mapping[str, Sequence[bool]]) -> dict[str, tuple[float, ...]]:
    """The share of right answers and the ends of its interval, by name."""
    found = {}
    for name, answers in right.items():
        count = int(sum(answers))
        found[name] = (count / len(answers), *scores.wilson(count, len(answers)))
    return found


def as_drawn(shares: Mapping[str, Sequence[float]]):
    """What `plots.shares` takes: the shares by name, and their intervals by name."""
    values = {name: [share] for name, (share, *_) in shares.items()}
    return values, {name: interval for name, (_, *interval) in shares.items()}


PREPARED = Kind(
    draw=lambda drawn, title, reference: plots.shares(
        *drawn, title=title, start=70, reference=reference
    ),
    measured=lambda right, path: (
        {},
        {f"{path}/{name}": share for name, share in shares_of(right).items()},
    ),
    restored=lambda card, path: as_drawn(numbers_under(card, path)),
    data=lambda right: as_drawn(shares_of(right)),
)


# --- ladder: the scores of models, each one change away from the one before -----------------------


def ladder_of(models: Sequence[Score], path: str):
    """The accuracies of each model by seed, and each change, under the lesson's names."""
    lesson = path.partition("/")[0]
    accuracies, changes = steps_of(models)
    numbers = {f"{lesson}/accuracy/{name}": values for name, values in accuracies.items()}
    numbers |= {f"{lesson}/change/{name}": change for name, change in changes.items()}
    return {}, numbers


def steps_of(models: Sequence[Score]):
    """What `plots.ladder` takes: accuracies by name, and changes by name."""
    accuracies = {score.name: score.by_seed for score in models}
    changes = {
        after.name: scores.change(before, after).numbers() for before, after in pairwise(models)
    }
    return accuracies, changes


def ladder_on(card: Card, path: str):
    lesson = path.partition("/")[0]
    accuracies = numbers_under(card, f"{lesson}/accuracy")
    return accuracies, numbers_under(card, f"{lesson}/change")


def ladder_needs(path: str) -> list[str]:
    """What a reference card must have: a slow machine may lack the later models."""
    lesson = path.partition("/")[0]
    return [f"{lesson}/accuracy/{name}" for name in ("baseline", "hidden layer", "more epochs")]


LADDER = Kind(
    draw=lambda steps, title, reference: plots.ladder(*steps, title=title, reference=reference),
    measured=ladder_of,
    restored=ladder_on,
    needs=ladder_needs,
    data=steps_of,
)

# --- compiled: what `compile` took, and the steps after it ----------------------------------------


def compiled(seconds: Mapping[str, float], path: str):
    call = Measurement.from_samples([seconds["compile"]], name="compile")
    first, later = seconds["the first step"], seconds["a later step"]
    step = Measurement.from_samples([later], first_call=first, name="a step")
    return {f"{path}/call": call, f"{path}/step": step}, {}


COMPILED = Kind(measured=compiled)

KINDS: dict[str, Kind] = {
    "prepared": PREPARED,
    "ladder": LADDER,
    "compiled": COMPILED,
}
