"""Lesson 05: this CPU beside a chip, by forecast or as it raced; and its exercise."""

import math
import time

from accel_helpers._words import format_duration, spanned, times
from accel_helpers.learn.checks import calls
from accel_helpers.lessons import lesson_03
from accel_helpers.measure import results
from accel_helpers.train import training
from accel_helpers.train.break_even import FEW, best
from accel_helpers.train.epochs import MANY_EPOCHS, stopwatch
from accel_helpers.train.worth import Plan, break_even

# --- data of any shape: arrays, a tf.data.Dataset, a keras.utils.PyDataset --------------------


def in_batches(x, batch_size: int):
    """A tf.data.Dataset in batches of this size; anything else as it is."""
    if not hasattr(x, "rebatch") or _size_of_batches(x) == batch_size:
        return x
    import tensorflow as tf

    known = tf.data.experimental.assert_cardinality(batches_in(x, batch_size))
    return x.rebatch(batch_size).apply(known)


def _size_of_batches(x) -> int:
    import keras

    return int(keras.tree.flatten(next(iter(x)))[0].shape[0])


def larger(x, batch_size: int) -> int:
    """A batch size eight times as large, but for a set that makes its own batches."""
    import keras

    return batch_size if isinstance(x, keras.utils.PyDataset) else 8 * batch_size


def batches_in(x, batch_size: int) -> int:
    """How many steps an epoch over `x` has."""
    import keras

    if isinstance(x, keras.utils.PyDataset):
        return x.num_batches
    if hasattr(x, "rebatch"):
        examples = int(x.cardinality()) * _size_of_batches(x)
    else:
        examples = len(keras.tree.flatten(x)[0])
    return math.ceil(examples / batch_size)


def race(make_model, x, y, *, batch_size: int, seconds: float, keep: str = ""):
    """As `lesson_03.race`, for data of any shape."""
    x = in_batches(x, batch_size)
    options = {"seconds": seconds, "batch_size": batch_size, "keep": keep}
    return lesson_03.race(make_model, x, y, **options)


def train(make_model, x, y, *, batch_size: int, seconds: float, keep: str = "") -> None:
    """Train a new model for about so many seconds."""
    model = make_model()
    if y is not None and hasattr(x, "shape"):
        training.time_fit(model, x, y, batch_size=batch_size, seconds=seconds, keep=keep)
        return

    end = time.perf_counter() + seconds
    watch = stopwatch(end=end, latest=end)
    options = {"epochs": MANY_EPOCHS, "verbose": 0, "callbacks": [watch], "shuffle": False}
    if y is not None:
        options |= {"y": y, "batch_size": batch_size}
    model.fit(in_batches(x, batch_size), **options)


# --- what stands beside this CPU ----------------------------------------------------------------


def plans(look, race, steps_raced: int, setup_minutes: float):
    """This CPU, and a chip: the one that raced over so many steps, else the forecast's first."""
    if race:
        name = f"this {race.fast.name}"
        count = len(race.slow.samples)
        cpu = [each / steps_raced for each in race.slow.interval]
        chip = [each / steps_raced for each in race.fast.interval]
    else:
        name = _one(look.rows[0].chip)
        count = len(look.here.samples)
        cpu, chip = look.here.interval, look.step(look.rows[0])[1:]
    here = Plan("this CPU", tuple(each * look.steps for each in cpu), samples=count)
    there = Plan(name, tuple(each * look.steps for each in chip), setup_minutes, samples=count)
    return here, there


def _one(chip: str) -> str:
    """A chip with its article."""
    return f"an {chip}" if chip[0] in "AHL" else f"a {chip}"


def met(look, race, known):
    """If the forecast knows what raced, "held" or "missed"; then the numbers to say."""
    if not look.measured:
        return "too few samples", "", "", ""
    gain = race.slow.median / race.fast.median if race else 1
    low, high = (gain * each for each in look.faster(look.rows[0]))
    verdict = None
    if race and known:
        results.keep("05/forecast", {}, {"05/forecast": (low, high, gain)})
        verdict = "held" if low <= gain <= high else "missed"
    return verdict, times(low), times(high), times(gain)


def answer(look, race):
    """What is held against the guess: the race, or else the middle of the forecast; and a remark.

    None where too little was timed for either.
    """
    if race:
        return race.slow.median / race.fast.median, ""
    if not look.measured:
        return None
    low, high = look.faster(look.rows[0])
    remark = f"(The middle of a forecast, {times(low)} to {times(high)}: nothing was measured.)"
    return (low * high) ** 0.5, remark


def pays(found) -> str:
    """From which length of training on the other pays, in a few words."""
    early, late = found.minutes
    name = found.there.name
    if found.verdict == FEW:
        return "timed fewer than five times"
    if early == math.inf:
        return f"{name} never pays"
    if late == math.inf:
        return f"{name} pays at best for trainings longer than {early:.0f} minutes"
    return f"{name} pays for trainings longer than {early:.0f} to {late:.0f} minutes"


def choices(look, here, there, epochs: int, prices) -> str:
    """Every chip of the forecast: how long the training takes there, what that saves and costs."""
    every = [here, there]
    for row in look.rows[1:]:
        if row.memory == "does not fit":
            continue
        epoch = tuple(look.steps * each for each in look.step(row)[1:])
        price = prices.get(row.chip)
        count = len(look.here.samples)
        every.append(Plan(_one(row.chip), epoch, there.setup_minutes, price, samples=count))
    lines = [_line("", "the training takes", "earlier by (-: later)", "cost", "for an hour saved")]
    for plan in every:
        found = break_even(here, plan, epochs)
        cells = [spanned(*map(format_duration, plan.cost(epochs))), "", "", ""]
        few, many = found.saved_seconds
        if plan is not here:
            cells[1] = spanned(_signed(few), _signed(many))
        if plan.price is not None:
            cells[2] = spanned(*map(times, plan.cost(epochs, "money")))
        if plan is not here and many > 0 and plan.price is not None:
            cells[3] = spanned(*map(times, found.price_of_an_hour))
        lines.append(_line(plan.name, *cells))
    choice = best(every, epochs)
    if choice is None:
        lines.append("A step was timed too few times to choose by it.")
    else:
        lines.append(f"On time, set-up included: {choice.name} is the first in this table that")
        lines.append("no other surely beats.")
    return "\n".join(lines)


def _signed(seconds: float) -> str:
    """A duration, with a minus where it is a loss."""
    return f"-{format_duration(-seconds)}" if seconds < 0 else format_duration(seconds)


def _line(name, *cells) -> str:
    return (f"{name:<12}" + "".join(f"{cell:<24}" for cell in cells)).rstrip()


def theirs(epochs: int, runs=None):
    """The break-even of the newest reference run that has one; or None."""
    found = results.reference_values("05/here", "05/there", runs=runs)
    if found is None:
        return None
    cpu, chip = found.data
    plans = Plan("the other CPU", cpu), Plan("T4, forecast there", chip, 5)
    return results.Reference(break_even(*plans, epochs), found.label)


def pays_from(factor, setup):
    return setup / (1 - 1 / factor) if factor > 1 else math.inf


_SLIPS = (
    (lambda factor, setup: setup, "That is the set-up alone, as if the chip trained in no time.",
        "It trains as well, for T / factor. Set both together equal to T."),
    (lambda factor, setup: setup / (factor - 1),
        "That is how long the chip trains.", "Asked is the CPU, which takes factor times as long."),
    (lambda factor, setup: factor * setup, "That grows with the factor: a better chip pays later.",
        "T = setup + T / factor. Bring both T to one side."),
    (lambda factor, setup: setup / (1 - 1 / factor),
        "Your function has a time for a chip that is slower than the CPU, too.",
        "A chip with a factor of 1 or less never catches up: math.inf."),
)  # fmt: skip
CHECKS = {
    "05/pays_from": calls(
        pays_from,
        on=[(2.0, 5.0), (3.0, 6.0), (10.0, 9.0), (1.25, 2.0)],
        edges=[(0.5, 5.0)],
        slips=_SLIPS,
        right="The set-up is the floor, and a small factor lifts the crossing high above it.",
        needs="It returns one number: minutes of training on the CPU.",
    )
}
