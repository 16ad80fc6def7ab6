"""The work in one step of a Keras model, counted layer by layer; nothing is run."""

import re
from collections import Counter
from collections.abc import Iterator
from math import prod

from accel_helpers._values.records import whole
from accel_helpers.measure.layers import Parts, name_of, parts_of
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
# in the order of the remark at the end of its section 2. Then what a setting adds.
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
OF_ANY = {"weight_decay": (3, 0), "use_ema": (3, 1)}
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

    All shapes are known: Sequential with an Input, or functional; compiled, if `training`.

    Returns
    -------
    StepWork
        With `flops`, `product_flops` (matrix products and convolutions alone), `bytes`,
        `intensity` (FLOP per byte), `parameters`, `made` (numbers made by products with weights),
        `forward` and `backward` apart, its `rows` one by one, and `notes` on what is not counted.

    Raises
    ------
    TypeError, ValueError
        If a layer has weights and no rule here, layers cannot be listed, or a shape is open.

    Examples
    --------
    >>> import keras
    >>> model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(3)])
    >>> model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    >>> count_step(model, batch_size=32).product_flops
    3072
    """
    batch_size = whole(batch_size, "batch_size")
    graph = _graph(model)
    for tensor in graph.inputs:
        if tensor.shape[0] not in (None, batch_size):
            raise ValueError(
                f"{model.name!r} is built for batches of another size than {batch_size}."
            )
    forward = _Count(batch_size, training=False)
    ahead = forward.layers_of(model)
    if not training:
        return StepWork(batch_size, ahead, ahead, tuple(forward.notes))
    both = _Count(batch_size, training=True, notes=forward.notes)
    rows = both.layers_of(model)
    rows += (_loss(model, graph.outputs, batch_size, both.notes),)
    rows += (_optimizer(model, both.notes),)
    if any(getattr(weight, "regularizer", None) for weight in model.trainable_variables):
        both.notes["Regularisation of weights is not counted."] = None
    return StepWork(batch_size, rows, ahead, tuple(both.notes))


class _Count:
    """A walk through the layers of a model, in the order in which they are used.

    By the ids of tensors it keeps which of them need a gradient in training; by those of layers
    how often each was used. The notes are the keys of a dict, so that each is said once.
    """

    def __init__(self, batch_size: int, training: bool, notes: dict[str, None] | None = None):
        self.batch_size = batch_size
        self.training = training
        self.notes: dict[str, None] = {} if notes is None else notes
        self.needs_gradient: dict[int, bool] = {}
        self.uses: Counter[int] = Counter()

    def layers_of(self, model) -> tuple[Row, ...]:
        """A row for each use of a layer."""
        for tensor in _graph(model).inputs:
            self.needs_gradient[id(tensor)] = False
        return tuple(self._rows(model, ""))

    def _rows(self, model, prefix: str) -> Iterator[Row]:
        import keras

        # How often each tensor was used, within this model.
        readers: Counter[int] = Counter()
        for node in _nodes(model):
            if isinstance(node.operation, keras.Model):
                yield from self._rows_within(node, prefix)
            else:
                yield self._row(node, prefix, readers)

    def _rows_within(self, node, prefix: str) -> Iterator[Row]:
        """The rows of a model in the model, whose tensors stand for those outside."""
        model = node.operation
        graph = _graph(model)
        for outside, inside in zip(node.arguments.keras_tensors, graph.inputs, strict=True):
            self.needs_gradient[id(inside)] = self.needs_gradient[id(outside)]
        yield from self._rows(model, f"{prefix}{model.name}/")
        for outside, inside in zip(node.outputs, graph.outputs, strict=True):
            self.needs_gradient[id(outside)] = self.needs_gradient[id(inside)]

    def _row(self, node, prefix: str, readers: Counter[int]) -> Row:
        """The row of one use of a layer."""
        layer = node.operation
        tensors = node.arguments.keras_tensors
        trainable = _numbers(layer, "trainable_variables")
        input_gradients = [self.needs_gradient[id(tensor)] for tensor in tensors]
        passes_back = any(input_gradients)
        for tensor in node.outputs:
            self.needs_gradient[id(tensor)] = passes_back or trainable > 0
        # In a forward pass nothing goes back.
        if not self.training:
            input_gradients = [False] * len(tensors)
        trained = trainable if self.training else 0
        needs_input_gradient = any(input_gradients)

        shapes = [_shape(tensor, self.batch_size, layer) for tensor in tensors]
        output = _shape(node.outputs[0], self.batch_size, layer)
        parts = parts_of(layer, shapes, output, self.notes, self.training)
        self.uses[id(layer)] += 1
        use = self.uses[id(layer)]
        # Where a layer is used twice, or a tensor goes two ways, the gradients are added.
        additions = trained if use > 1 else 0
        for tensor, shape, has_gradient in zip(tensors, shapes, input_gradients, strict=True):
            if has_gradient and readers[id(tensor)]:
                additions += prod(shape)
            readers[id(tensor)] += 1

        products = parts.input_products + parts.later_products + parts.inner_products
        padding = parts.padding_products
        elementwise = parts.forward + additions
        if trained or needs_input_gradient:
            # A product with weights goes back once for them and once for its input.
            ways_back = int(trained > 0) + int(needs_input_gradient)
            products += parts.input_products * ways_back
            products += parts.later_products * (int(trained > 0) + 1)
            products += 2 * parts.inner_products
            padding += parts.padding_products * ways_back
            elementwise += parts.backward
        if trained:
            elementwise += parts.weight_sums

        weights = _numbers(layer, "weights")
        name = f"{prefix}{layer.name}"
        is_first_use = use == 1
        return Row(
            name if is_first_use else f"{name} (use {use})",
            type(layer).__name__,
            weights if is_first_use else 0,
            products + elementwise,
            _bytes(layer, parts, node, self.batch_size, trained, needs_input_gradient),
            products,
            padding,
            parts.operations,
            parts.made,
            learns=trainable > 0,
            passes_back=passes_back,
            frozen=weights > 0 and not trainable and not layer.trainable,
        )


def _nodes(model) -> Iterator:
    """The uses of layers in a model, from its inputs to its outputs."""
    by_depth = _graph(model)._nodes_by_depth
    for depth in sorted(by_depth, reverse=True):
        for node in by_depth[depth]:
            if not node.is_input:
                yield node


def _numbers(layer, variables: str) -> int:
    """How many numbers the variables of a layer hold; operations, such as +, have none."""
    return sum(prod(variable.shape) for variable in getattr(layer, variables, ()))


def _graph(model):
    """The part of a model that knows how its layers are joined."""
    graph = getattr(model, "_functional", None) or model
    if not hasattr(graph, "_nodes_by_depth"):
        wanted = "a functional model, or a Sequential one that begins with keras.Input(shape)"
        raise TypeError(f"count_step takes {wanted}; got {model.name!r}.")
    return graph


def _shape(tensor, batch_size: int, layer) -> tuple[int, ...]:
    """The shape of a tensor, with the batch in it."""
    first, *others = tensor.shape
    if None in others:
        raise ValueError(
            f"a shape at layer {layer.name!r} is open: {tensor.shape}; "
            "give keras.Input all sizes but the batch."
        )
    if first is None:
        first = batch_size
    return (first, *others)


def _bytes(
    layer, parts: Parts, node, batch_size: int, trained: int, needs_input_gradient: bool
) -> int:
    """Bytes read and written, both passes: everything needed and everything made, once."""
    is_view = not parts.operations and not parts.forward
    if is_view:
        return 0
    inputs = _bytes_of(node.arguments.keras_tensors, batch_size, layer)
    output = _bytes_of(node.outputs[:1], batch_size, layer)
    number_format = getattr(layer, "compute_dtype", node.outputs[0].dtype)
    inner = parts.inner_elements * _size(number_format)
    weight_size = _size(getattr(layer, "variable_dtype", "float32"))
    weights_read = parts.weights_read
    if weights_read is None:
        weights_read = _numbers(layer, "weights")
    weights = weights_read * weight_size
    total = inputs + weights + output + 2 * inner
    goes_back = trained or needs_input_gradient
    if parts.passes_gradient or not goes_back:
        return total
    # The gradient, what was kept, and the gradient of the weights.
    total += output + inputs + 3 * inner + trained * weight_size
    if needs_input_gradient:
        total += weights + inputs
    return total


def _bytes_of(tensors, batch_size: int, layer) -> int:
    """The bytes of some tensors."""
    return sum(prod(_shape(tensor, batch_size, layer)) * _size(tensor.dtype) for tensor in tensors)


def _size(dtype) -> int:
    """Bytes of one number: 2 of "bfloat16", 1 of what names no bits."""
    bits = re.search(r"\d+", str(dtype))
    if bits is None:
        return 1
    return int(bits[0]) // 8


def _loss(model, outputs, batch_size: int, notes: dict[str, None]) -> Row:
    """The row of the losses, one for each output."""
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
        elements = prod(_shape(output, batch_size, model))
        flops += counts[name] * elements
        # The outputs are read on both ways, and their gradient is written.
        moved += 3 * elements * _size(output.dtype)
    return Row("loss", "", "", flops, moved)


def _optimizer(model, notes: dict[str, None]) -> Row:
    """The row of the optimizer's step."""
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
        moved += numbers * _size(variable.dtype) * (3 + 2 * kept_numbers)
    return Row("optimizer", "", "", flops, moved)
