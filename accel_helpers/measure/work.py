"""The work in one step of a Keras model, counted layer by layer; nothing is run."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from math import prod

from accel_helpers._values.records import whole
from accel_helpers.measure.layers import name_of, parts_of

__all__ = ["count_step"]

# Operations for each element of the output, forward and backward: on probabilities, on logits
LOSSES = {
    "sparse_categorical_crossentropy": (9 + 12, 8 + 5),
    "categorical_crossentropy": (7 + 12, 6 + 5),
    "binary_crossentropy": (10 + 12, 7 + 5),
    "mean_squared_error": (3 + 3, 3 + 3),
    "mean_absolute_error": (3 + 3, 3 + 3),
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


@dataclass(frozen=True)
class Row:
    """The work of one layer in one step, of the loss, or of the optimizer."""

    name: str
    kind: str
    parameters: int | str  # 0 where a layer stands a second time
    flops: int  # both passes together, as the rest
    bytes: int
    product_flops: int = 0  # the part that is matrix products and convolutions
    padding_flops: int = 0  # in no other number: products with the zeros of padding
    operations: int = 0  # forward, one after the other
    made: int = 0  # forward, numbers that products with weights make
    learns: bool = False  # training makes a gradient for its weights
    passes_back: bool = False  # training makes a gradient for its input
    frozen: bool = False  # it has weights, and is kept from learning


SHARED = ("flops", "bytes", "product_flops", "padding_flops")  # both passes have them


def _sum(name: str) -> property:
    return property(lambda step: sum(getattr(row, name) or 0 for row in step.rows))


@dataclass(frozen=True)
class StepWork:
    """The work of one step; `product_flops` are those of products and convolutions."""

    batch_size: int
    rows: tuple[Row, ...]  # the layers, the loss, the optimizer
    ahead: tuple[Row, ...]  # the layers in a forward pass alone
    notes: tuple[str, ...] = ()  # what was not counted

    flops, bytes, product_flops, padding_flops = map(_sum, SHARED)
    parameters, operations, made = map(_sum, ("parameters", "operations", "made"))
    forward = property(lambda step: StepWork(step.batch_size, step.ahead, step.ahead))

    @property
    def backward(self) -> Row:
        """What training adds: gradients, loss and optimizer, statistics and dropout."""
        work = (getattr(self, name) - getattr(self.forward, name) for name in SHARED)
        return Row("backward", "", "", *work)

    @property
    def intensity(self) -> float:
        return self.flops / self.bytes

    def __str__(self) -> str:
        table = [["layer", "kind", "parameters", "operations", "bytes"]]
        for row in self.rows:
            values = astuple(row)[:5]
            table.append([f"{cell:,}" if isinstance(cell, int) else cell for cell in values])
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        back = "" if self.rows == self.ahead else ", forward and backward"
        step = "training step" if back else "forward pass"
        lines = [f"One {step}, batch of {self.batch_size:,}{back}:"]
        for cells in table:
            aligned = zip("<<>>>", cells, widths, strict=True)
            lines.append("  ".join(f"{cell:{side}{width}}" for side, cell, width in aligned))
        share = 100 * self.product_flops / self.flops
        lines += [
            f"All: {self.flops:,} floating-point operations (FLOP), {share:.0f} % of them",
            f"in products, and {self.bytes:,} bytes: {self.intensity:.3g} FLOP for each byte.",
        ]
        return "\n".join([*lines, *(f"  Note: {note}" for note in self.notes)])


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
    if any(given.shape[0] not in (None, batch_size) for given in graph.inputs):
        raise ValueError(f"{model.name!r} is built for batches of another size than {batch_size}.")
    notes: dict[str, None] = {}
    counts = (model, batch_size, dict.fromkeys(map(id, graph.inputs), False))
    rows = ahead = tuple(_layers(*counts, Counter(), Counter(), notes, training=False))
    if training:
        rows = tuple(_layers(*counts, Counter(), Counter(), notes))
        rows += _loss(model, graph.outputs, batch_size, notes), _optimizer(model, notes)
        if any(getattr(weight, "regularizer", None) for weight in model.trainable_variables):
            notes["Regularisation of weights is not counted."] = None
    return StepWork(batch_size, rows, ahead, tuple(notes))


def _layers(model, batch, gradient, uses, seen, notes, prefix="", training=True) -> Iterator[Row]:
    """A row for each use of a layer; `gradient` says which tensors need one, and learns more."""
    import keras

    nodes = _graph(model)._nodes_by_depth
    for node in (node for depth in sorted(nodes, reverse=True) for node in nodes[depth]):
        if node.is_input:
            continue
        layer, tensors = node.operation, node.arguments.keras_tensors
        asked = [gradient[id(tensor)] for tensor in tensors]
        if isinstance(layer, keras.Model):  # a model in the model
            graph, within = _graph(layer), f"{prefix}{layer.name}/"
            gradient.update(zip(map(id, graph.inputs), asked, strict=True))
            yield from _layers(layer, batch, gradient, uses, Counter(), notes, within, training)
            made = [gradient[id(tensor)] for tensor in graph.outputs]
            gradient.update(zip(map(id, node.outputs), made, strict=True))
            continue
        trainable = _numbers(layer, "trainable_variables")
        passes_back = any(asked)
        gradient.update((id(tensor), bool(trainable) or passes_back) for tensor in node.outputs)
        if not training:  # nothing goes back: count none of it
            asked = [False] * len(asked)
        trained = trainable if training else 0
        ins = [_shape(tensor, batch, layer) for tensor in tensors]
        parts = parts_of(layer, ins, _shape(node.outputs[0], batch, layer), notes, training)
        uses[id(layer)] += 1
        number, name = uses[id(layer)], f"{prefix}{layer.name}"
        # where a tensor goes two ways, or a layer is used twice, the gradients are added
        again = trained if number > 1 else 0
        for tensor, shape, needs in zip(tensors, ins, asked, strict=True):
            again += prod(shape) if needs and seen[id(tensor)] else 0
            seen[id(tensor)] += 1
        products, padding = parts.first + parts.later + parts.inner, parts.padding
        if trained or any(asked):  # else nothing is trained, here or before
            products += parts.first * (bool(trained) + any(asked)) + 2 * parts.inner
            products += parts.later * (bool(trained) + 1)
            padding += padding * (bool(trained) + any(asked))
            again += parts.backward + (parts.sums if trained else 0)
        yield Row(
            name if number == 1 else f"{name} (use {number})",
            type(layer).__name__,
            _numbers(layer, "weights") if number == 1 else 0,
            products + parts.forward + again,
            _bytes(layer, parts, node, batch, trained, any(asked)),
            products,
            padding,
            parts.operations,
            parts.made,
            learns=bool(trainable),
            passes_back=passes_back,
            frozen=_numbers(layer, "weights") > 0 and not (trainable or layer.trainable),
        )


def _numbers(layer, which: str) -> int:
    """How many numbers the variables of a layer hold; operations, such as +, have none."""
    return sum(prod(variable.shape) for variable in getattr(layer, which, ()))


def _graph(model):
    """The part of a model that knows how its layers are joined."""
    graph = getattr(model, "_functional", None) or model
    if not hasattr(graph, "_nodes_by_depth"):
        wanted = "a functional model, or a Sequential one that begins with keras.Input(shape)"
        raise TypeError(f"count_step takes {wanted}; got {model.name!r}.")
    return graph


def _shape(tensor, batch, layer):
    first, *rest = tensor.shape
    if None in rest:
        given = "give keras.Input all sizes but the batch"
        raise ValueError(f"a shape at layer {layer.name!r} is open: {tensor.shape}; {given}.")
    return (batch if first is None else first, *rest)


def _bytes(layer, parts, node, batch, trained, asked):
    """Bytes read and written, both passes: everything needed and everything made, once."""
    if not (parts.operations or parts.forward):  # a view
        return 0
    given, made = (
        sum(prod(_shape(t, batch, layer)) * _size(t.dtype) for t in tensors)
        for tensors in (node.arguments.keras_tensors, node.outputs[:1])
    )
    inside = parts.inside * _size(getattr(layer, "compute_dtype", node.outputs[0].dtype))
    stored = _size(getattr(layer, "variable_dtype", "float32"))
    read = _numbers(layer, "weights") if parts.read is None else parts.read
    total = given + read * stored + made + 2 * inside
    if parts.passes or not (trained or asked):
        return total
    total += made + given + 3 * inside + trained * stored  # gradient, what was kept, new gradient
    return total + (read * stored + given if asked else 0)


def _size(dtype):
    """Bytes of one number."""
    bits = re.search(r"\d+", str(dtype))
    return int(bits[0]) // 8 if bits else 1


def _loss(model, outputs, batch, notes) -> Row:
    import keras

    losses = model.loss if isinstance(model.loss, list) else [model.loss] * len(outputs)
    flops = moved = 0
    for output, loss in zip(outputs, map(keras.losses.get, losses), strict=True):
        name, size = name_of(loss), prod(_shape(output, batch, model))
        if name in LOSSES:
            flops += LOSSES[name][bool(getattr(loss, "from_logits", False))] * size
            moved += 3 * size * _size(output.dtype)  # read on both ways, and its gradient
        elif loss is not None:
            notes[f"The loss {name} is not counted."] = None
    return Row("loss", "", "", flops, moved)


def _optimizer(model, notes) -> Row:
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
    settings = OPTIMIZERS[kind] | OF_ANY
    parts = [more for name, more in settings.items() if not name or getattr(optimizer, name, False)]
    flops, kept = (sum(column) for column in zip(*parts, strict=True))
    numbers = [(prod(v.shape), _size(v.dtype)) for v in model.trainable_variables]
    # the gradient is read; the weight and what is kept beside it are read and written
    moved = sum(count * size * (3 + 2 * kept) for count, size in numbers)
    return Row("optimizer", "", "", flops * sum(count for count, _ in numbers), moved)
