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

# Which of a model's answers are right, by its name.
Answers = Mapping[str, Sequence[bool]]
# The two mappings that a picture is drawn of.
Drawn = tuple[dict, dict]

# --- prepared: one model's answers to the same images, by how these were prepared -----------------


def shares_of(right: Answers) -> dict[str, tuple[float, ...]]:
    """Return the share of right answers and the ends of its interval, by name."""
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
    """Draw the shares, on an axis that begins at 70 % where they allow it."""
    values, intervals = data
    return plots.shares(values, intervals, title=title, start=70, reference=reference)


def keep_prepared(right: Answers, path: str) -> Kept:
    """Put the shares with their intervals on a card."""
    shares = shares_of(right)
    numbers = {f"{path}/{name}": share for name, share in shares.items()}
    return {}, numbers


def prepared_on(card: Card, path: str) -> Drawn:
    """Return the shares of a card, as they are drawn."""
    shares = numbers_under(card, path)
    return as_drawn(shares)


def prepared_data(right: Answers) -> Drawn:
    """Return the shares of a result, as they are drawn."""
    shares = shares_of(right)
    return as_drawn(shares)


PREPARED = Kind(
    draw=draw_prepared,
    measured=keep_prepared,
    restored=prepared_on,
    data=prepared_data,
)


# --- ladder: the scores of models, each one change away from the one before -----------------------


# What a slow machine has, too.
FIRST_MODELS = ("baseline", "hidden layer", "more epochs")


def keep_ladder(models: Sequence[Score], path: str) -> Kept:
    """Put the accuracies of each model by seed, and each change, on a card."""
    lesson = lesson_of(path)
    accuracies, changes = steps_of(models)
    numbers = {}
    for name, values in accuracies.items():
        numbers[f"{lesson}/accuracy/{name}"] = values
    for name, change in changes.items():
        numbers[f"{lesson}/change/{name}"] = change
    return {}, numbers


def steps_of(models: Sequence[Score]) -> Drawn:
    """Return what `plots.ladder` takes: accuracies by name, and changes by name."""
    accuracies = {score.name: score.by_seed for score in models}
    changes = {}
    for before, after in pairwise(models):
        change = scores.change(before, after)
        changes[after.name] = change.numbers()
    return accuracies, changes


def draw_ladder(data, title, reference):
    """Draw models and changes beside each other."""
    accuracies, changes = data
    return plots.ladder(accuracies, changes, title=title, reference=reference)


def ladder_on(card: Card, path: str) -> Drawn:
    """Return the accuracies and the changes of a card."""
    lesson = lesson_of(path)
    accuracies = numbers_under(card, f"{lesson}/accuracy")
    changes = numbers_under(card, f"{lesson}/change")
    return accuracies, changes


def ladder_needs(path: str) -> list[str]:
    """Return what a reference card must have: a slow machine may lack the later models."""
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
    """Put on a card what `compile` took, and a step with the first one apart."""
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
