"""What the layers of a Keras model ask of a chip in a forward pass; nothing is run.

A forecast needs four figures of each: the operations of its products (matmuls and convolutions),
the numbers that these make, its parameters, and the operations that start one after the other.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

from accel_helpers._values.records import whole

Shape = tuple[int, ...]

# Layers that start no operation: views, and dropout, which a forward pass leaves out.
VIEWS = {"Flatten", "Reshape", "Permute", "Identity", "Activation"}
VIEWS |= {"Dropout", "SpatialDropout1D", "SpatialDropout2D"}
# Layers that start one, which is no product.
SIMPLE = {"BatchNormalization", "LayerNormalization", "GroupNormalization", "RMSNormalization"}
SIMPLE |= {"Normalization", "Rescaling", "LayerScale", "CustomScaleLayer", "Embedding"}
SIMPLE |= {"Add", "Subtract", "Average", "Maximum", "Minimum", "Multiply", "Concatenate"}
SIMPLE |= {"ReLU", "LeakyReLU", "ELU", "Softmax", "RepeatVector"}
# Their names end in 1D, 2D or 3D.
IN_SPACE: tuple[str, ...] = (
    "ZeroPadding",
    "Cropping",
    "UpSampling",
    "MaxPooling",
    "AveragePooling",
)
IN_SPACE += ("GlobalMaxPooling", "GlobalAveragePooling")
# Recurrent layers, with the number of their gates.
GATES = {"LSTM": 4, "GRU": 3, "SimpleRNN": 1}


@dataclass(frozen=True)
class LayerWork:
    """What one use of a layer asks for, for a whole batch."""

    kind: str  # the name of its class
    product_flops: int  # over the zeros of a padding, too, as published counts have it
    made: int  # numbers that its products make
    operations: int  # that start one after the other
    parameters: int  # 0 where a layer is used again
    learns: bool  # some of its weights are trained
    passes_back: bool  # its input needs a gradient
    frozen: bool  # it has weights, and is kept from learning


class Asked(NamedTuple):
    """What a layer asks for by its kind."""

    product_flops: int = 0
    made: int = 0
    operations: int = 0


class Counted(NamedTuple):
    """What a model asks for: a row for each use of a layer, and notes on what is not counted."""

    rows: tuple[LayerWork, ...]
    notes: tuple[str, ...]

    @property
    def training_flops(self) -> int:
        """The operations of all products in a step that trains.

        A layer has its products once more for its weights, and once for what lies before it.
        """
        return sum(row.product_flops * (1 + row.learns + row.passes_back) for row in self.rows)


def count(model, batch_size: int) -> Counted:
    """Count what a forward pass asks for, in the order of the layers.

    Raises TypeError for a model whose layers cannot be listed, and for a layer that has weights and
    is of no kind that is known here; ValueError where a shape is open, the model is built for
    another batch, or `batch_size` is no number of examples.
    """
    batch_size = whole(batch_size, "batch_size")
    for tensor in _graph_of(model).inputs:
        if tensor.shape[0] not in (None, batch_size):
            raise ValueError(
                f"{model.name!r} is built for batches of another size than {batch_size}."
            )
    walk = _Walk(batch_size)
    rows = tuple(walk.through(model))
    return Counted(rows, tuple(walk.notes))


class _Walk:
    """A walk through the layers of a model, in the order in which they are used.

    `notes` is filled in with what is not counted: they are the keys of a dict, so that each stands
    there once.
    """

    def __init__(self, batch_size: int):
        self.batch_size = batch_size
        self.notes: dict[str, None] = {}
        self._trained: set[int] = set()  # ids of the tensors that need a gradient
        self._used: set[int] = set()  # ids of the layers so far

    def through(self, model) -> Iterator[LayerWork]:
        """Yield a row for each use of a layer, also in models within the model."""
        import keras

        for node in _nodes_of(model):
            if not isinstance(node.operation, keras.Model):
                yield self._row(node)
                continue
            inner = _graph_of(node.operation)
            # it has tensors of its own for its inputs and outputs
            self._hand_on(node.arguments.keras_tensors, inner.inputs)
            yield from self.through(node.operation)
            self._hand_on(inner.outputs, node.outputs)

    def _hand_on(self, tensors: Sequence[Any], same_tensors: Sequence[Any]) -> None:
        """Let each of `same_tensors` need a gradient if its partner does, and only then."""
        for tensor, same in zip(tensors, same_tensors, strict=True):
            self._trained.discard(id(same))
            if id(tensor) in self._trained:
                self._trained.add(id(same))

    def _row(self, node) -> LayerWork:
        """Return the row of one use of a layer, and note whether its outputs need a gradient."""
        layer = node.operation
        tensors = node.arguments.keras_tensors
        inputs = [_shape_of(tensor, self.batch_size, layer) for tensor in tensors]
        output = _shape_of(node.outputs[0], self.batch_size, layer)
        asked = _asked_by(layer, inputs, output, self.notes)
        learns = bool(getattr(layer, "trainable_variables", ()))
        passes_back = any(id(tensor) in self._trained for tensor in tensors)
        if learns or passes_back:
            self._trained.update(map(id, node.outputs))
        weights = sum(prod(weight.shape) for weight in getattr(layer, "weights", ()))
        parameters = weights
        if id(layer) in self._used:
            parameters = 0
        self._used.add(id(layer))
        frozen = weights > 0 and not learns and not layer.trainable
        kind = type(layer).__name__
        return LayerWork(kind, *asked, parameters, learns, passes_back, frozen)


def _asked_by(layer, inputs: Sequence[Shape], output: Shape, notes: dict[str, None]) -> Asked:
    """Return what a layer asks for, its activation included; all shapes have the batch first."""
    kind = type(layer).__name__
    if not type(layer).__module__.startswith("keras.src."):
        return _unknown(layer, notes)
    if kind == "Bidirectional":
        ways = (layer.forward_layer, layer.backward_layer)
        of_each = [_asked_by(way, inputs, output, notes) for way in ways]
        both = map(sum, zip(*of_each, strict=True))
        return Asked(*both)
    if kind == "TimeDistributed":
        step_inputs = [_steps_as_batch(shape) for shape in inputs]
        return _asked_by(layer.layer, step_inputs, _steps_as_batch(output), notes)
    if kind in VIEWS:
        asked = Asked()
    elif kind in SIMPLE or kind[:-2] in IN_SPACE:
        asked = Asked(operations=1)
    elif kind in RULES:
        asked = RULES[kind](layer, inputs, output)
    else:
        return _unknown(layer, notes)
    activation = getattr(layer, "activation", None)
    # a loop has its activations inside
    if kind in GATES or activation is None or name_of(activation) == "linear":
        return asked
    return asked._replace(operations=asked.operations + 1)


def _unknown(layer, notes: dict[str, None]) -> Asked:
    """Return nothing for a layer of no known kind, with a note; TypeError if it has weights."""
    kind = type(layer).__name__
    if getattr(layer, "weights", None):
        raise TypeError(f"no rule for layer {layer.name!r} ({kind}).")
    notes[f"{layer.name} ({kind}) is not counted: there is no rule for it."] = None
    return Asked()


def _dense(layer, inputs: Sequence[Shape], output: Shape) -> Asked:
    """Return the work of a product with a matrix of weights."""
    flops = 2 * prod(inputs[0]) * output[-1]
    return Asked(flops, prod(output), 1)


def _convolution(layer, inputs: Sequence[Shape], output: Shape) -> Asked:
    """Return the work of a filter at every place; a separable one has filters of 1 x 1 after it."""
    kind = type(layer).__name__
    is_separable = kind.startswith("Separable")
    kernel = layer.depthwise_kernel if is_separable else layer.kernel
    # a transposed one is the way back of a convolution: its filter lies over the input
    placed = inputs[0] if "Transpose" in kind else output
    sizes = placed[1:-1]
    if layer.data_format == "channels_first":
        sizes = placed[2:]
    batch = output[0]
    places = batch * prod(sizes)
    flops = 2 * places * prod(kernel.shape)
    made = prod(output)
    if not is_separable:
        return Asked(flops, made, 1)
    channels_between = prod(kernel.shape[-2:])
    flops += 2 * made * channels_between
    return Asked(flops, made + places * channels_between, 2)


def _loop(layer, inputs: Sequence[Shape], output: Shape) -> Asked:
    """Return the work of a recurrent layer's gates, over all steps."""
    batch, steps, features = inputs[0]
    gates = GATES[type(layer).__name__]
    made = gates * batch * steps * layer.units
    flops = 2 * made * (features + layer.units)
    return Asked(flops, made, 2 * steps)


def _attention(layer, inputs: Sequence[Shape], output: Shape) -> Asked:
    """Return the work of queries, keys and values, of their scores and sums, and of the output.

    The inputs are queries, values and, where they differ from the values, keys.
    """
    batch, queries, query_features = inputs[0]
    _, length, value_features = inputs[1]
    key_features = inputs[-1][-1]
    key_size, value_size = layer.key_dim, layer.value_dim
    heads = batch * layer.num_heads
    projections = queries * query_features * key_size
    projections += length * key_features * key_size
    projections += length * value_features * value_size
    scores_and_sums = queries * length * (key_size + value_size)
    ends = queries * value_size * output[-1]
    flops = 2 * heads * (projections + scores_and_sums + ends)
    made = heads * (queries * key_size + length * (key_size + value_size))
    return Asked(flops, made + prod(output), 8)


CONVOLUTIONS = ("Conv{}", "Conv{}Transpose", "DepthwiseConv{}", "SeparableConv{}")
RULES = {
    "Dense": _dense,
    "MultiHeadAttention": _attention,
    **dict.fromkeys(GATES, _loop),
    **{name.format(n): _convolution for name in CONVOLUTIONS for n in ("1D", "2D", "3D")},
}


def name_of(function: object) -> str:
    """Return the name of an activation or a loss, which may be a function or an object.

    keras.activations.relu -> "relu", CategoricalCrossentropy() -> "categorical_crossentropy".
    """
    name = getattr(function, "__name__", type(function).__name__)
    # An underscore goes between "l" and "C" in "CategoricalCrossentropy".
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _steps_as_batch(shape: Shape) -> Shape:
    """Return a shape in which each step is an example: (32, 10, 8) -> (320, 8)."""
    batch, steps, *rest = shape
    return (batch * steps, *rest)


def _graph_of(model):
    """Return the part of a model that has its nodes; TypeError where it has none."""
    graph = getattr(model, "_functional", None) or model
    if not hasattr(graph, "_nodes_by_depth"):
        raise TypeError(
            f"{model.name!r} is no functional model, and no Sequential one that begins with "
            "keras.Input(shape): its layers cannot be listed."
        )
    return graph


def _nodes_of(model) -> Iterator[Any]:
    """Yield the uses of layers in a model, each after those whose outputs it reads."""
    by_depth = _graph_of(model)._nodes_by_depth
    for depth in sorted(by_depth, reverse=True):
        for node in by_depth[depth]:
            if not node.is_input:
                yield node


def _shape_of(tensor, batch_size: int, layer) -> Shape:
    """Return the shape of a symbolic tensor with the batch in it; ValueError where more is open."""
    first, *others = tensor.shape
    if None in others:
        raise ValueError(
            f"a shape at layer {layer.name!r} is open: {tensor.shape}; "
            "give keras.Input all sizes but the batch."
        )
    return (first or batch_size, *others)
