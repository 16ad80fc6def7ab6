"""The pictures of lesson 10: shares of right answers, and models one change apart.

What `compile` and the first steps took is kept, and never drawn.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from accel_helpers import plots
from accel_helpers.course.pictures.kinds import Kept, Kind, lesson_of, numbers_under
from accel_helpers.measure import scores
from accel_helpers.measure.measurement import Measurement
from accel_helpers.measure.results import Card
from accel_helpers.measure.scores import Score

# Which of a model's answers are right, by the name of how its images were prepared.
Answers = Mapping[str, Sequence[bool]]
# The two mappings that a picture is drawn of.
Drawn = tuple[dict, dict]

# --- prepared: one model's answers to the same images, by how these were prepared -----------------


def shares_of(right: Answers) -> dict[str, tuple[float, ...]]:
    """Return (share of right answers, low end of its interval, high end) by name.

    All three are from 0 to 1. Every name has one answer or more.
    """
    shares = {}
    for name, answers in right.items():
        total = len(answers)
        count = int(sum(answers))
        low, high = scores.wilson(count, total)
        shares[name] = (count / total, low, high)
    return shares


def as_drawn(shares: Mapping[str, Sequence[float]]) -> Drawn:
    """Return what `plots.shares` takes: the shares by name, and their intervals by name."""
    values = {}
    intervals = {}
    for name, (share, low, high) in shares.items():
        values[name] = [share]
        intervals[name] = [low, high]
    return values, intervals


def draw_prepared(data, title, reference):
    """Draw shares as `as_drawn` returns them, on an axis from 70 % on where they allow it."""
    values, intervals = data
    return plots.shares(values, intervals, title=title, start=70, reference=reference)


def keep_prepared(right: Answers, path: str) -> Kept:
    """Return what a card keeps: each share with its interval, as "PATH/NAME"."""
    shares = shares_of(right)
    numbers = {f"{path}/{name}": share for name, share in shares.items()}
    return {}, numbers


def prepared_on(card: Card, path: str) -> Drawn:
    """Return the shares that a card has under a path, as `as_drawn` returns them."""
    shares = numbers_under(card, path)
    return as_drawn(shares)


def prepared_data(right: Answers) -> Drawn:
    """Return the shares of right answers, as `as_drawn` returns them."""
    shares = shares_of(right)
    return as_drawn(shares)


PREPARED = Kind(
    draw=draw_prepared,
    measured=keep_prepared,
    restored=prepared_on,
    data=prepared_data,
)


# --- ladder: the scores of models, each one change away from the one before -----------------------


# The models that a slow machine has time for, too.
FIRST_MODELS = ("baseline", "hidden layer", "more epochs")


def keep_ladder(models: Sequence[Score], path: str) -> Kept:
    """Return what a card keeps: the accuracies of each model by seed, and each change.

    They are named "10/accuracy/baseline" and, by the model after the change, "10/change/NAME".
    """
    lesson = lesson_of(path)
    accuracies, changes = steps_of(models)
    numbers = {}
    for name, values in accuracies.items():
        numbers[f"{lesson}/accuracy/{name}"] = values
    for name, change in changes.items():
        numbers[f"{lesson}/change/{name}"] = change
    return {}, numbers


def steps_of(models: Sequence[Score]) -> Drawn:
    """Return what `plots.ladder` takes: accuracies by name, and changes by name.

    A model has an accuracy for each seed. Each model but the first has the numbers of the change
    that led to it from the model before.
    """
    accuracies = {score.name: score.by_seed for score in models}
    changes = {}
    for before, after in pairwise(models):
        change = scores.change(before, after)
        changes[after.name] = change.numbers()
    return accuracies, changes


def draw_ladder(data, title, reference):
    """Draw models and changes beside each other; data as `steps_of` returns them."""
    accuracies, changes = data
    return plots.ladder(accuracies, changes, title=title, reference=reference)


def ladder_on(card: Card, path: str) -> Drawn:
    """Return the accuracies and the changes that a card has, each by the name of the model."""
    lesson = lesson_of(path)
    accuracies = numbers_under(card, f"{lesson}/accuracy")
    changes = numbers_under(card, f"{lesson}/change")
    return accuracies, changes


def ladder_needs(path: str) -> list[str]:
    """Return the names that a reference card must have: the accuracies of the first models."""
    lesson = lesson_of(path)
    return [f"{lesson}/accuracy/{name}" for name in FIRST_MODELS]


LADDER = Kind(
    draw=draw_ladder,
    measured=keep_ladder,
    restored=ladder_on,
    needs=ladder_needs,
    data=steps_of,
)

# --- compiled: what `compile` took, and the steps after it ----------------------------------------


def keep_compiled(seconds: Mapping[str, float], path: str) -> Kept:
    """Return what a card keeps: the time of `compile`, and of a step with the first one apart.

    `seconds` are by "compile", "the first step" and "a later step".
    """
    compiling = seconds["compile"]
    call = Measurement.from_samples([compiling], name="compile")
    first_step = seconds["the first step"]
    later_step = seconds["a later step"]
    step = Measurement.from_samples([later_step], first_call=first_step, name="a step")
    measurements = {f"{path}/call": call, f"{path}/step": step}
    return measurements, {}


# It is kept, and never drawn.
COMPILED = Kind(measured=keep_compiled)

KINDS: dict[str, Kind] = {
    "prepared": PREPARED,
    "ladder": LADDER,
    "compiled": COMPILED,
}
