"""What a training step of a Keras model asks of a chip, and the chips' rows of a forecast."""

from collections.abc import Iterable
from math import prod

from accel_helpers._values import records
from accel_helpers._values.records import whole
from accel_helpers._values.words import shown
from accel_helpers.machine import backend
from accel_helpers.measure import products
from accel_helpers.worth import step_time
from accel_helpers.worth.break_even import WORDS

# classes of Keras layers that run a loop over time steps
LOOPS = {"LSTM", "GRU", "SimpleRNN", "Bidirectional"}


def expected_rows(
    model, batch_size: int, chips: tuple[str, ...] | str
) -> tuple[tuple[step_time.Row, ...], tuple[str, ...]]:
    """Return a row for each chip, calculated from the model alone, and notes on what was counted.

    `chips` are names such as "T4", or one name. Raises ValueError if a chip is unknown, and what
    `load_of` does.
    """
    load, counted = load_of(model, batch_size)
    if isinstance(chips, str):
        chips = (chips,)
    dtype = dtype_of(model)
    rows = tuple(step_time.on_chip(load, chip, dtype, training=True) for chip in chips)
    notes = counted.notes
    sentences = records.load(WORDS, "set of sentences")["forecast"]
    # how many published steps in JAX were compared, and how many of them are of light models
    jax = step_time.score()["jax"]
    if backend.framework() == "jax" and step_time.is_light(load) and not jax["light"]:
        notes += (sentences["jax"].format(**jax),)
    if any(row.kind in LOOPS for row in counted.rows):
        notes += (sentences["loops"],)
    return rows, notes


def load_of(model, batch_size: int) -> tuple[step_time.Load, products.Counted]:
    """Return what a training step asks of a chip, and the count of its work that this comes from.

    Raises TypeError if this is no Keras model, and TypeError or ValueError, with the reason and
    with what to do instead, if the work of a layer cannot be counted.
    """
    import keras

    if not isinstance(model, keras.Model):
        raise TypeError(f"model must be a keras.Model; got {shown(model)}.")
    batch_size = whole(batch_size, "batch_size")
    try:
        counted = products.count(model, batch_size)
    except (TypeError, ValueError) as error:
        reason = str(error).rstrip(".")
        raise type(error)(
            f"No forecast: {reason}. Time an epoch on a T4 instead, which Colab lends for free."
        ) from error
    kept = _numbers_of_the_optimizer(model)
    load = _sum_of(counted.rows)._replace(kept=kept, examples=batch_size)
    if any(row.frozen for row in counted.rows):
        without_way_back = []
        frozen_above_trained = []
        for row in counted.rows:
            # a frozen layer above a trained one hands a gradient on, and learns nothing; below all
            # trained layers there is no gradient at all
            if row.frozen and row.passes_back:
                frozen_above_trained.append(row)
            elif not (row.learns or row.passes_back):
                without_way_back.append(row)
        load = load._replace(
            no_way_back=_sum_of(without_way_back),
            frozen=_sum_of(frozen_above_trained),
        )
    return load, counted


def _numbers_of_the_optimizer(model) -> int:
    """Return how many numbers the model's optimizer keeps; without one, or not built, as Adam."""
    optimizer = getattr(model, "optimizer", None)
    if optimizer is not None and optimizer.built:
        return sum(prod(variable.shape) for variable in optimizer.variables)
    # Adam keeps two for each trained parameter
    return 2 * sum(prod(variable.shape) for variable in model.trainable_variables)


def _sum_of(rows: Iterable) -> step_time.Load:
    """Return what some layers, rows of a count, ask of a chip together in a forward pass."""
    return step_time.Load(
        product_flops=sum(row.product_flops for row in rows),
        made=sum(row.made for row in rows),
        parameters=sum(row.parameters for row in rows),
        operations=sum(row.operations for row in rows),
    )


def dtype_of(model) -> str:
    """Return the number type of a model's products: "float16", "bfloat16" or "float32"."""
    for layer in model.layers:
        # a mixed policy computes in 16 bits
        if layer.weights and "16" in layer.compute_dtype:
            return layer.compute_dtype
    return "float32"
