"""What a training step of a Keras model asks of a chip, and the chips' rows of a forecast."""

from collections.abc import Iterable
from dataclasses import replace
from math import prod
from pathlib import Path

from accel_helpers._values import records
from accel_helpers.machine import backend
from accel_helpers.measure.products import Counted, count
from accel_helpers.worth import step_time
from accel_helpers.worth.step_time import Load

# the sentences of this folder's answers
WORDS = Path(__file__).parents[1] / "data" / "worth.toml"
# classes of Keras layers that run a loop over time steps
LOOPS = {"LSTM", "GRU", "SimpleRNN", "Bidirectional"}


def expected_rows(model, batch_size: int, chips: Iterable) -> tuple[list, tuple]:
    """Return a row for each chip, calculated from the model alone, and how far to trust them.

    `chips` are names such as "T4", or one name; the trust is put into sentences. Raises ValueError
    if a chip is unknown, and what `load_of` does.
    """
    load, counted = load_of(model, batch_size)
    if isinstance(chips, str):
        chips = [chips]
    dtype = dtype_of(model)
    rows = [step_time.row_of_chip(load, chip, dtype, training=True) for chip in chips]
    kinds = {row.kind for row in counted.rows}
    if kinds & LOOPS:
        # a fused kernel may be any number of times as fast: no time is too short
        for place, row in enumerate(rows):
            seconds, _, most = row.step
            rows[place] = replace(row, step=(seconds, 0.0, most))
    return rows, (_trust_in(rows, step_time.is_light(load), kinds), *counted.notes)


def _trust_in(rows: list, is_light: bool, kinds: set) -> str:
    """Say how good a forecast is, by those of the published trainings that are most like this one.

    `kinds` are those of the model's layers.
    """
    score = step_time.score()
    longest = score["small_keras"]["longest"]
    name = "light" if is_light else "published"
    # Keras's own examples have shorter steps than most published benchmarks
    if any(row.terms and row.step[0] <= longest for row in rows):
        name = "small_keras"
    # of steps in JAX perhaps no light one was compared
    if is_light and backend.framework() == "jax" and not score["jax"]["light"]:
        name = "jax"
    if kinds & LOOPS:
        name = "loops"
    sentence = records.load(WORDS)["trust"][name]
    return sentence.format(**score.get(name, {}))


def load_of(model, batch_size: int) -> tuple[Load, Counted]:
    """Return what a training step asks of a chip, and the count of its work that this comes from.

    Raises TypeError or ValueError, with the reason and with what to do instead, if the work of a
    layer cannot be counted.
    """
    try:
        counted = count(model, batch_size)
    except (TypeError, ValueError) as error:
        reason = str(error).rstrip(".")
        raise type(error)(
            f"No forecast: {reason}. Time an epoch on a T4 instead, which Colab lends for free."
        ) from error
    rows = counted.rows
    kept = _numbers_of_the_optimizer(model)
    load = _sum_of(rows)._replace(kept=kept, examples=batch_size)
    frozen = [row for row in rows if row.frozen]
    if frozen:
        # a frozen layer above a trained one hands a gradient on, and learns nothing
        above = [row for row in frozen if row.passes_back]
        # below all trained layers there is no gradient at all
        still = [row for row in rows if not (row.learns or row.passes_back)]
        load = load._replace(no_way_back=_sum_of(still), frozen=_sum_of(above))
    return load, counted


def _numbers_of_the_optimizer(model) -> int:
    """Return how many numbers the model's optimizer keeps; without one, or not built, as Adam."""
    optimizer = getattr(model, "optimizer", None)
    if optimizer is not None and optimizer.built:
        return sum(prod(variable.shape) for variable in optimizer.variables)
    # Adam keeps two for each trained parameter
    return 2 * sum(prod(variable.shape) for variable in model.trainable_variables)


def _sum_of(rows: Iterable) -> Load:
    """Return what some layers, rows of a count, ask of a chip together in a forward pass."""
    names = ("product_flops", "made", "parameters", "operations")
    return Load(*(sum(getattr(row, name) for row in rows) for name in names))


def dtype_of(model) -> str:
    """Return the number type of a model's products: "float16", "bfloat16" or "float32"."""
    for layer in model.layers:
        # a mixed policy computes in 16 bits
        if layer.weights and "16" in layer.compute_dtype:
            return layer.compute_dtype
    return "float32"
