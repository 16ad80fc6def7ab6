"""What a training step of a Keras model asks of a chip, and the chips' rows of a forecast."""

from math import prod

from accel_helpers._values import records
from accel_helpers._values.words import shown
from accel_helpers.measure import work
from accel_helpers.worth import step_time
from accel_helpers.worth.break_even import WORDS

LOOPS = {"LSTM", "GRU", "SimpleRNN", "Bidirectional"}


def expected_rows(model, batch_size: int, chips: tuple[str, ...] | str):
    """Return the rows of a forecast, with nothing measured, and notes on them."""
    load, counted = load_of(model, batch_size)
    if isinstance(chips, str):
        chips = (chips,)
    dtype = dtype_of(model)
    rows = tuple(step_time.on_chip(load, chip, dtype, training=True) for chip in chips)
    notes = counted.notes
    if any(row.kind in LOOPS for row in counted.rows):
        sentences = records.load(WORDS, "set of sentences")["forecast"]
        notes += (sentences["loops"],)
    return rows, notes


def load_of(model, batch_size: int):
    """Return what a forecast needs of a model, and the count that it comes from."""
    import keras

    if not isinstance(model, keras.Model):
        raise TypeError(f"model must be a keras.Model; got {shown(model)}.")
    counted = work.count_step(model, batch_size, training=False)
    load = _sum_of(counted.rows)._replace(kept=_numbers_of_the_optimizer(model))
    if any(row.frozen for row in counted.rows):
        without_way_back = []
        frozen_above_trained = []
        for row in counted.rows:
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
    """Return how many numbers the optimizer keeps."""
    optimizer = getattr(model, "optimizer", None)
    if optimizer is not None and optimizer.built:
        return sum(prod(variable.shape) for variable in optimizer.variables)
    # as Adam keeps them
    return 2 * sum(prod(variable.shape) for variable in model.trainable_variables)


def _sum_of(rows) -> step_time.Load:
    """Return what some layers do in a forward pass."""
    return step_time.Load(
        # with the padding, as published counts have it
        product_flops=sum(row.product_flops + row.padding_flops for row in rows),
        made=sum(row.made for row in rows),
        parameters=sum(row.parameters for row in rows),
        operations=sum(row.operations for row in rows),
    )


def dtype_of(model) -> str:
    """Return the number type that the products of a model are in."""
    for layer in model.layers:
        # a mixed policy computes in 16 bits
        if layer.weights and "16" in layer.compute_dtype:
            return layer.compute_dtype
    return "float32"
