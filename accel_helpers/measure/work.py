"""The work in one step of a Keras model, counted layer by layer; nothing is run."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from accel_helpers._values.records import whole
from accel_helpers.measure.graph import (
    count_bytes,
    count_numbers,
    graph_of,
    nodes_of,
    shape_of,
    size_of,
)
from accel_helpers.measure.layers import name_of, parts_of
from accel_helpers.measure.parts import Parts, Shape
from accel_helpers.measure.step_work import Row, StepWork

__all__ = ["count_step"]

# Operations for each element of the output, forward and backward together.
LOSSES_OF_PROBABILITIES = {
    "sparse_categorical_crossentropy": 9 + 12,
    "categorical_crossentropy": 7 + 12,
    "binary_crossentropy": 10 + 12,
    "mean_squared_error": 3 + 3,
    "mean_absolute_error": 3 + 3,
}
LOSSES_OF_LOGITS = LOSSES_OF_PROBABILITIES | {
    "sparse_categorical_crossentropy": 8 + 5,
    "categorical_crossentropy": 6 + 5,
    "binary_crossentropy": 7 + 5,
}
# Operations for each trained number, and numbers that are kept beside it, from `update_step` in
# Keras's source (keras/src/optimizers); Adam is algorithm 1 of Kingma and Ba, arXiv:1412.6980,
# in the order of the remark at the end of its section 2. "" is the optimizer without settings; the
# other names are settings, with what each of them adds.
OPTIMIZERS = {
    "SGD": {"": (2, 0), "momentum": (2, 1), "nesterov": (3, 0)},
    "Adam": {"": (11, 2), "amsgrad": (1, 1)},
    "AdamW": {"": (11, 2), "amsgrad": (1, 1)},
    "Adamax": {"": (11, 2)},
    "Nadam": {"": (17, 2)},
    "RMSprop": {"": (8, 1), "momentum": (2, 1), "centered": (5, 1)},
    "Adagrad": {"": (6, 1)},
    "Adadelta": {"": (15, 2)},
    "Lion": {"": (9, 1)},
}
# The same for the settings that every optimizer has.
OF_ANY = {"weight_decay": (3, 0), "use_ema": (3, 1)}
# Settings of optimizers that get a note, because there is no count for them.
NOT_COUNTED = ("clipnorm", "clipvalue", "global_clipnorm", "gradient_accumulation_steps")


def count_step(model, batch_size: int, training: bool = True) -> StepWork:
    """Count the operations and bytes of one training step, or of one forward pass.

    * A product of (m, k) and (k, n) takes 2mkn operations. Going back, a layer has one for its
      weights, unless they are frozen, and one for its input, unless nothing before it is trained.
      Over the padding of "same" nothing is multiplied; what published counts, and most kernels,
      multiply there is `padding_flops`.
    * An elementwise operation counts one for each element; roots, powers, exponentials and the
      like are left out, as in XLA's own count, and so are metrics.
    * Bytes: a layer is one operation, which reads once what it needs and writes once what it
      makes, also going back; a loop reads its weights in every step. Caches, and a compiler that
      fuses across layers, make the true figure smaller: XLA's is 1 to 2 times this count.
    * `operations` are those of a forward pass that start one after the other: 1 for a layer, 1
      for an activation in it, 0 for a view, 8 for an attention, 2 for each step of a loop.

    Parameters
    ----------
    model : keras.Model
        Sequential with an Input, or functional, all shapes known but the batch; compiled, if
        `training`.
    batch_size : int
        Examples in a batch, 1 or more.
    training : bool, optional
        Whether the step trains; False counts one forward pass, as in ``predict``.

    Returns
    -------
    StepWork
        With `flops`, `product_flops` (matrix products and convolutions alone), `bytes`,
        `intensity` (FLOP per byte), `parameters`, `made` (numbers made by products with weights),
        `forward` and `backward` apart, its `rows` one by one, and `notes` on what is not counted.

    Raises
    ------
    TypeError
        If a layer has weights and no rule here, or layers cannot be listed.
    ValueError
        If a shape is open, the model is built for another batch, or `batch_size` is no such number.

    Examples
    --------
    >>> import keras
    >>> model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(3)])
    >>> model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    >>> count_step(model, batch_size=32).product_flops
    3072
    """
    batch_size = whole(batch_size, "batch_size")
    graph = graph_of(model)
    for tensor in graph.inputs:
        if tensor.shape[0] not in (None, batch_size):
            raise ValueError(
                f"{model.name!r} is built for batches of another size than {batch_size}."
            )
    notes: dict[str, None] = {}
    # A forward pass alone is less than the one in training: without dropout, for one.
    ahead = _Count(batch_size, notes, training=False).layers_of(model)
    if not training:
        return StepWork(batch_size, ahead, ahead, tuple(notes))
    layers = _Count(batch_size, notes, training=True).layers_of(model)
    loss = _loss(model, graph.outputs, batch_size, notes)
    optimizer = _optimizer(model, notes)
    rows = (*layers, loss, optimizer)
    for weight in model.trainable_variables:
        if getattr(weight, "regularizer", None):
            notes["Regularisation of weights is not counted."] = None
    return StepWork(batch_size, rows, ahead, tuple(notes))


@dataclass(frozen=True)
class _WayBack:
    """What training hands back through one use of a layer."""

    trained: int  # how many numbers of its weights get a gradient
    to_input: bool  # whether its input gets a gradient

    @property
    def gradients(self) -> int:
        """The number of gradients, of the weights and of the input: 0, 1 or 2."""
        count = 0
        if self.trained:
            count += 1
        if self.to_input:
            count += 1
        return count


class _Count:
    """A walk through the layers of a model, in the order in which they are used.

    A node is one use of a layer, as in `graph`. `notes` is filled in with what is not counted: they
    are the keys of a dict, so that each stands there once.
    """

    def __init__(self, batch_size: int, notes: dict[str, None], training: bool):
        self.batch_size = batch_size
        self.notes = notes
        self.training = training
        self.needs_gradient: dict[int, bool] = {}  # id of a tensor -> whether it gets one
        self.uses: Counter[int] = Counter()  # id of a layer -> how often it was used so far

    def layers_of(self, model) -> tuple[Row, ...]:
        """Return a row for each use of a layer, also of those in models within the model."""
        graph = graph_of(model)
        for tensor in graph.inputs:
            self.needs_gradient[id(tensor)] = False
        rows = self._rows(model, prefix="")
        return tuple(rows)

    def _rows(self, model, prefix: str) -> Iterator[Row]:
        """Yield the rows of a model; `prefix` is set before their names, such as "encoder/"."""
        import keras

        # Id of a tensor -> how many nodes of this model have read it so far.
        readers: Counter[int] = Counter()
        for node in nodes_of(model):
            if isinstance(node.operation, keras.Model):
                yield from self._rows_within(node, prefix)
            else:
                yield self._row(node, prefix, readers)

    def _rows_within(self, node, prefix: str) -> Iterator[Row]:
        """Yield the rows of the model that a node uses as a layer.

        It has tensors of its own for its inputs and outputs, which stand for those of the node.
        """
        model = node.operation
        graph = graph_of(model)
        self._hand_on(node.arguments.keras_tensors, graph.inputs)
        yield from self._rows(model, f"{prefix}{model.name}/")
        self._hand_on(graph.outputs, node.outputs)

    def _hand_on(self, tensors: Sequence[Any], same_tensors: Sequence[Any]) -> None:
        """Set for each of `same_tensors` that it needs a gradient if that of `tensors` does."""
        for tensor, same_tensor in zip(tensors, same_tensors, strict=True):
            needs_gradient = self.needs_gradient[id(tensor)]
            self.needs_gradient[id(same_tensor)] = needs_gradient

    def _row(self, node, prefix: str, readers: Counter[int]) -> Row:
        """Return the row of a node, and record whether its outputs need a gradient.

        `readers` counts how many nodes have read each tensor, and is updated.
        """
        layer = node.operation
        tensors = node.arguments.keras_tensors
        shapes = [shape_of(tensor, self.batch_size, layer) for tensor in tensors]
        output = shape_of(node.outputs[0], self.batch_size, layer)
        trainable = count_numbers(layer, "trainable_variables")
        passes_back = any(self.needs_gradient[id(tensor)] for tensor in tensors)
        # In a forward pass nothing goes back.
        back = _WayBack(trained=0, to_input=False)
        if self.training:
            back = _WayBack(trainable, passes_back)

        self.uses[id(layer)] += 1
        use = self.uses[id(layer)]
        parts = parts_of(layer, shapes, output, self.notes, self.training)
        elementwise = _count_elementwise(parts, back)
        elementwise += self._count_gradient_sums(node, shapes, back, readers)
        products = _count_products(parts, back)
        # A later layer hands a gradient back if this one or one before it is trained.
        for tensor in node.outputs:
            self.needs_gradient[id(tensor)] = passes_back or trainable > 0

        weights = count_numbers(layer, "weights")
        is_frozen = weights > 0 and trainable == 0 and not layer.trainable
        # A layer that is used again has no further parameters.
        name = f"{prefix}{layer.name}"
        parameters = weights
        if use > 1:
            name = f"{name} (use {use})"
            parameters = 0
        return Row(
            name,
            type(layer).__name__,
            parameters,
            flops=products + elementwise,
            bytes=_bytes(layer, parts, node, self.batch_size, back),
            product_flops=products,
            padding_flops=parts.padding_products * (1 + back.gradients),
            operations=parts.operations,
            made=parts.made,
            learns=trainable > 0,
            passes_back=passes_back,
            frozen=is_frozen,
        )

    def _count_gradient_sums(
        self, node, shapes: Sequence[Shape], back: _WayBack, readers: Counter[int]
    ) -> int:
        """Return the additions of gradients, where a layer is used or a tensor read once more.

        `shapes` are those of the node's inputs. `readers` is updated with what the node reads.
        """
        additions = 0
        if self.uses[id(node.operation)] > 1:
            additions += back.trained
        for tensor, shape in zip(node.arguments.keras_tensors, shapes, strict=True):
            has_gradient = self.training and self.needs_gradient[id(tensor)]
            if has_gradient and readers[id(tensor)] > 0:
                additions += prod(shape)
            readers[id(tensor)] += 1
        return additions


def _count_products(parts: Parts, back: _WayBack) -> int:
    """Return the operations of all products of one use of a layer, forward and backward."""
    products = parts.input_products + parts.later_products + parts.inner_products
    if back.gradients == 0:
        return products
    # A product with weights goes back once for them and once for its input.
    products += parts.input_products * back.gradients
    # What was made in the layer needs a gradient in any case.
    later_gradients = 1
    if back.trained:
        later_gradients = 2
    products += parts.later_products * later_gradients
    products += parts.inner_products * 2
    return products


def _count_elementwise(parts: Parts, back: _WayBack) -> int:
    """Return the elementwise operations of one use of a layer, forward and backward."""
    operations = parts.forward
    if back.gradients > 0:
        operations += parts.backward
    if back.trained:
        operations += parts.weight_sums
    return operations


def _bytes(layer, parts: Parts, node, batch_size: int, back: _WayBack) -> int:
    """Return the bytes that one use of a layer reads and writes, forward and backward.

    What is needed and what is made count once in each pass; a view, such as Flatten, moves none.
    """
    is_view = not parts.operations and not parts.forward
    if is_view:
        return 0
    inputs = count_bytes(node.arguments.keras_tensors, batch_size, layer)
    output = count_bytes(node.outputs[:1], batch_size, layer)
    number_format = getattr(layer, "compute_dtype", node.outputs[0].dtype)
    inner = parts.inner_elements * size_of(number_format)
    weight_size = size_of(getattr(layer, "variable_dtype", "float32"))
    weights_read = parts.weights_read
    if weights_read is None:
        weights_read = count_numbers(layer, "weights")
    weights = weights_read * weight_size
    total = inputs + weights + output + 2 * inner
    if parts.passes_gradient or back.gradients == 0:
        return total
    # The gradient, what was kept, and the gradient of the weights.
    total += output + inputs + 3 * inner + back.trained * weight_size
    if back.to_input:
        total += weights + inputs
    return total


def _loss(model, outputs: Sequence[Any], batch_size: int, notes: dict[str, None]) -> Row:
    """Return one row for the losses of all outputs; a loss without a count is added to `notes`."""
    import keras

    losses = model.loss
    if not isinstance(losses, list):
        losses = [losses] * len(outputs)
    flops = 0
    moved = 0
    for output, loss in zip(outputs, losses, strict=True):
        function = keras.losses.get(loss)
        if function is None:
            continue
        name = name_of(function)
        counts = LOSSES_OF_PROBABILITIES
        if getattr(function, "from_logits", False):
            counts = LOSSES_OF_LOGITS
        if name not in counts:
            notes[f"The loss {name} is not counted."] = None
            continue
        elements = prod(shape_of(output, batch_size, model))
        flops += counts[name] * elements
        # The outputs are read on both ways, and their gradient is written.
        moved += 3 * elements * size_of(output.dtype)
    return Row("loss", "", "", flops, moved)


def _optimizer(model, notes: dict[str, None]) -> Row:
    """Return the row of the optimizer's step; what has no count is added to `notes`."""
    optimizer = getattr(model.optimizer, "inner_optimizer", model.optimizer)
    kind = type(optimizer).__name__
    if kind not in OPTIMIZERS:
        notes[f"The optimizer {kind} is not counted."] = None
        return Row("optimizer", "", "", 0, 0)
    if optimizer is not model.optimizer:
        notes["Scaling the loss and its gradients is not counted."] = None
    for option in NOT_COUNTED:
        if getattr(optimizer, option, None):
            notes[f"The optimizer's {option} is not counted."] = None
    flops_each = 0
    kept_numbers = 0
    for setting, (setting_flops, setting_numbers) in (OPTIMIZERS[kind] | OF_ANY).items():
        # "" is the optimizer without settings.
        if not setting or getattr(optimizer, setting, None):
            flops_each += setting_flops
            kept_numbers += setting_numbers
    flops = 0
    moved = 0
    for variable in model.trainable_variables:
        numbers = prod(variable.shape)
        flops += flops_each * numbers
        # The gradient is read; the weight and what is kept beside it are read and written.
        moved += numbers * size_of(variable.dtype) * (3 + 2 * kept_numbers)
    return Row("optimizer", "", "", flops, moved)
