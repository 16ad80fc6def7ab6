"""What one use of a Keras layer computes: a rule for every kind, for `work.count_step`."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from math import prod

from accel_helpers.measure.activations import ACTIVATIONS

Shape = Sequence[int]  # with the batch first


@dataclass
class Parts:
    """What one use of a layer computes, in operations and in elements."""

    input_products: int = 0  # of the input and weights
    later_products: int = 0  # of something made in the layer and weights
    inner_products: int = 0  # of two things made in the layer
    padding_products: int = 0  # of weights and the zeros of padding; in no other number
    forward: int = 0  # elementwise
    backward: int = 0  # elementwise
    weight_sums: int = 0  # additions that only the weights' gradient needs
    training_only: int = 0  # those of `forward` that only training has
    inner_elements: int = 0  # of arrays that are made and used in the layer
    made: int = 0  # elements that products with weights make
    weights_read: int | None = None  # in a pass; all if None
    passes_gradient: bool = False  # the gradient is handed on as it is
    operations: int = 1  # one after the other, forward


# A rule counts the parts of a layer from the layer, the shapes of its inputs, and its output's.
Rule = Callable[[object, Sequence[Shape], Shape], Parts]


def _elementwise(
    forward: int, backward: int, passes_gradient: bool = False, operations: int = 1
) -> Rule:
    """A rule: so many operations for each element of the output.

    Of a layer with several inputs they are, forward, between each two of them, and backward for
    each of them.
    """

    def count(layer, inputs, output):
        size = prod(output)
        pairs = max(len(inputs) - 1, 1)
        return Parts(
            forward=forward * pairs * size,
            backward=backward * len(inputs) * size,
            passes_gradient=passes_gradient,
            operations=operations,
        )

    return count


_count_view = _elementwise(0, 0, passes_gradient=True, operations=0)


def _count_dropout(layer, inputs, output) -> Parts:
    """Multiplied by a mask of random bits and scaled, in training alone."""
    if layer.rate == 0:
        return Parts(passes_gradient=True, operations=0)
    size = prod(output)
    return Parts(forward=2 * size, backward=size, training_only=2 * size, operations=0)


def _count_dense(layer, inputs, output) -> Parts:
    """One product, and a bias."""
    size = prod(output)
    additions = size if layer.use_bias else 0
    return Parts(
        input_products=2 * prod(inputs[0]) * output[-1],
        forward=additions,
        weight_sums=additions,
        made=size,
    )


def _count_embedding(layer, inputs, output) -> Parts:
    """Rows of a table are read, and their gradients added to it."""
    return Parts(weights_read=prod(output), weight_sums=prod(output))


def _count_convolution(layer, inputs, output) -> Parts:
    """A filter at every place; a separable convolution has one of 1 x 1 after it."""
    kind = type(layer).__name__
    separable = kind.startswith("Separable")
    kernel = layer.depthwise_kernel if separable else layer.kernel
    # Pairs of a channel that comes in and one that goes out.
    channels = prod(kernel.shape[-2:])
    space = slice(2, None) if layer.data_format == "channels_first" else slice(1, -1)
    wide = inputs[0][space]
    narrow = output[space]
    if "Transpose" in kind:
        # It is the way back of a convolution.
        wide, narrow = narrow, wide
    settings = zip(wide, layer.kernel_size, layer.strides, layer.dilation_rate, strict=True)
    on_elements = prod(_count_elements(*setting, layer.padding) for setting in settings)
    on_zeros = prod(narrow) * prod(layer.kernel_size) - on_elements
    batch = output[0]
    parts = Parts(
        input_products=2 * batch * on_elements * channels,
        padding_products=2 * batch * on_zeros * channels,
        made=prod(output),
    )
    if layer.use_bias:
        parts.forward = prod(output)
        parts.weight_sums = prod(output)
    if separable:
        parts.inner_elements = batch * prod(narrow) * channels
        parts.later_products = 2 * prod(output) * channels
        parts.made += parts.inner_elements
        parts.operations = 2
    return parts


def _count_elements(size: int, kernel: int, stride: int, dilation: int, padding: str) -> int:
    """How often a filter of one dimension lies over an element, and not over padding."""
    reach = (kernel - 1) * dilation
    zeros_before = 0
    if padding == "causal":
        # Keras writes the zeros in front itself, and they are multiplied.
        size += reach
    if padding == "same":
        outputs = -(-size // stride)  # rounded up
        zeros = max((outputs - 1) * stride + reach + 1 - size, 0)
        zeros_before = zeros // 2
    else:
        outputs = (size - reach - 1) // stride + 1
    count = 0
    for output in range(outputs):
        for k in range(kernel):
            place = output * stride + k * dilation - zeros_before
            count += 0 <= place < size
    return count


def _count_pool(layer, inputs, output) -> Parts:
    """One operation for each element of a window."""
    work = prod(output) * prod(layer.pool_size)
    return Parts(forward=work, backward=work)


def _count_global_pool(layer, inputs, output) -> Parts:
    """One operation for each element; the gradient of a maximum has to look for it again."""
    size = prod(inputs[0])
    if type(layer).__name__.startswith("GlobalAverage"):
        return Parts(forward=size, backward=prod(output))
    return Parts(forward=size, backward=4 * size)


@dataclass(frozen=True)
class _Norm:
    """Operations of a normalisation for each element."""

    forward: int
    backward: int
    weight_sums: int
    training_only: int = 0


# In the order of Keras's source, which sums up for the mean twice; `predict` has the mean already.
NORMS = {
    "BatchNormalization": _Norm(7, 9, 2, 5),
    "LayerNormalization": _Norm(10, 14, 3),
    "GroupNormalization": _Norm(7, 9, 2),
    "RMSNormalization": _Norm(4, 8, 1),
}
FROZEN_BATCH_NORM = _Norm(2, 1, 0)  # it scales and moves by stored numbers, in training as well


def _count_norm(layer, inputs, output) -> Parts:
    """So many operations for each element, by the kind of normalisation."""
    kind = type(layer).__name__
    norm = NORMS[kind]
    if kind == "BatchNormalization" and not layer.trainable:
        norm = FROZEN_BATCH_NORM
    size = prod(output)
    return Parts(
        forward=norm.forward * size,
        backward=norm.backward * size,
        weight_sums=norm.weight_sums * size,
        training_only=norm.training_only * size,
    )


@dataclass(frozen=True)
class _Cell:
    """The work of a recurrent layer for each unit and step."""

    gates: int
    biases: int  # additions
    forward: int  # elementwise
    backward: int


LOOPS = {
    "LSTM": _Cell(4, 4, 17, 25),
    "GRU": _Cell(3, 6, 14, 25),
    "SimpleRNN": _Cell(1, 1, 1, 5),
}


def _count_loop(layer, inputs, output) -> Parts:
    """The gates of a recurrent layer, step by step; its activations are in it."""
    cell = LOOPS[type(layer).__name__]
    batch, steps, features = inputs[0]
    size = batch * steps * layer.units
    weights = layer.count_params()
    additions = cell.biases * size if layer.use_bias else 0
    return Parts(
        input_products=2 * size * features * cell.gates,
        later_products=2 * size * layer.units * cell.gates,
        forward=additions + cell.forward * size,
        backward=cell.backward * size,
        # The gradients of all the steps are added up.
        weight_sums=additions + (steps - 1) * weights,
        inner_elements=(cell.gates + 1) * size,
        weights_read=steps * weights,
        made=cell.gates * size,
        operations=2 * steps,
    )


def _count_attention(layer, inputs, output) -> Parts:
    """Queries, keys and values from the input; scores, their softmax, and the sums of values."""
    batch, queries, query_features = inputs[0]
    _, length, value_features = inputs[1]
    # Without keys of their own, the values are the keys.
    keys = inputs[2] if len(inputs) > 2 else inputs[1]
    heads = layer.num_heads
    key_size = layer.key_dim
    value_size = layer.value_dim
    query_work = queries * query_features * key_size
    key_work = length * keys[-1] * key_size
    value_work = length * value_features * value_size
    projected = batch * heads * (queries * key_size + length * key_size + length * value_size)
    made = projected + prod(output)
    additions = made if layer.use_bias else 0
    scores = batch * heads * queries * length
    scaling = batch * heads * queries * key_size
    softmax_forward, softmax_backward = ACTIVATIONS["softmax"]
    summed_values = batch * heads * queries * value_size
    parts = Parts(
        input_products=2 * batch * heads * (query_work + key_work + value_work),
        later_products=2 * summed_values * output[-1],
        inner_products=2 * scores * (key_size + value_size),
        forward=additions + softmax_forward * scores + scaling,
        # Key and value are one input as a rule: their gradients are added.
        backward=softmax_backward * scores + scaling + batch * length * value_features,
        weight_sums=additions,
        inner_elements=2 * scores + projected + summed_values,
        made=made,
        operations=8,
    )
    if layer.dropout:
        parts.training_only = 2 * scores
        parts.forward += 2 * scores
        parts.backward += scores
    return parts


def _rules_of(dimensions: int) -> dict[str, Rule]:
    """The rules of layers for sequences, images or volumes."""
    return {
        f"ZeroPadding{dimensions}D": _elementwise(0, 0),
        f"Cropping{dimensions}D": _elementwise(0, 0),
        f"UpSampling{dimensions}D": _elementwise(0, 1),
        f"Conv{dimensions}D": _count_convolution,
        f"DepthwiseConv{dimensions}D": _count_convolution,
        f"SeparableConv{dimensions}D": _count_convolution,
        f"Conv{dimensions}DTranspose": _count_convolution,
        f"MaxPooling{dimensions}D": _count_pool,
        f"AveragePooling{dimensions}D": _count_pool,
        f"GlobalMaxPooling{dimensions}D": _count_global_pool,
        f"GlobalAveragePooling{dimensions}D": _count_global_pool,
    }


RULES: dict[str, Rule | None] = {
    "Flatten": _count_view,
    "Reshape": _count_view,
    "Permute": _count_view,
    "Identity": _count_view,
    "Activation": _count_view,
    "Concatenate": _elementwise(0, 0),
    "RepeatVector": _elementwise(0, 0),
    "Add": _elementwise(1, 0, passes_gradient=True),
    "Subtract": _elementwise(1, 0, passes_gradient=True),
    "Average": _elementwise(1, 0, passes_gradient=True),
    "Maximum": _elementwise(1, 2),
    "Minimum": _elementwise(1, 2),
    "Multiply": _elementwise(1, 1),
    "ReLU": _elementwise(*ACTIVATIONS["relu"]),
    "LeakyReLU": _elementwise(*ACTIVATIONS["leaky_relu"]),
    "ELU": _elementwise(*ACTIVATIONS["elu"]),
    "Softmax": _elementwise(*ACTIVATIONS["softmax"]),
    "Rescaling": _elementwise(2, 1),
    "Normalization": _elementwise(2, 1),
    "CustomScaleLayer": _elementwise(2, 1),
    "LayerScale": _elementwise(1, 3),
    "Dropout": _count_dropout,
    "SpatialDropout1D": _count_dropout,
    "SpatialDropout2D": _count_dropout,
    "Dense": _count_dense,
    "Embedding": _count_embedding,
    **dict.fromkeys(NORMS, _count_norm),
    **dict.fromkeys(LOOPS, _count_loop),
    "MultiHeadAttention": _count_attention,
    **_rules_of(dimensions=1),
    **_rules_of(dimensions=2),
    **_rules_of(dimensions=3),
    # By the rules of what they hold.
    "Bidirectional": None,
    "TimeDistributed": None,
}


def parts_of(layer, inputs, output, notes: dict[str, None], training: bool) -> Parts:
    """Count what a use of a layer computes, its activation too; note what is not counted.

    The notes are the keys of a dictionary, so that each stands there once.
    """
    kind = type(layer).__name__
    if kind not in RULES or not type(layer).__module__.startswith("keras.src."):
        return _parts_without_rule(layer, inputs, output, notes)
    if kind == "Bidirectional":
        ahead = parts_of(layer.forward_layer, inputs, output, notes, training)
        back = parts_of(layer.backward_layer, inputs, output, notes, training)
        return _add(ahead, back)
    if kind == "TimeDistributed":
        inputs = [_steps_as_batch(shape) for shape in inputs]
        return parts_of(layer.layer, inputs, _steps_as_batch(output), notes, training)
    rule = RULES[kind]
    assert rule is not None, "a layer around others is counted above"
    parts = rule(layer, inputs, output)
    if not training:
        parts.forward -= parts.training_only
    elif getattr(layer, "rate", 0) or getattr(layer, "dropout", 0):
        notes["Making random numbers for dropout is not counted."] = None
    if kind not in LOOPS:
        _add_activation(parts, layer, output, notes)
    return parts


def _parts_without_rule(layer, inputs, output, notes: dict[str, None]) -> Parts:
    """Nothing, and a note; a TypeError where the layer has weights, which must be counted."""
    kind = type(layer).__name__
    if getattr(layer, "weights", None):
        known = ", ".join(sorted(RULES))
        raise TypeError(f"no rule for layer {layer.name!r} ({kind}). There are rules for {known}.")
    notes[f"{layer.name} ({kind}) is not counted: there is no rule for it."] = None
    return _count_view(layer, inputs, output)


def _add(first: Parts, second: Parts) -> Parts:
    """The parts of two layers together."""
    names = [field.name for field in fields(Parts)]
    return Parts(**{name: getattr(first, name) + getattr(second, name) for name in names})


def _steps_as_batch(shape: Shape) -> Shape:
    """A shape with each step of a sequence as an example of its own."""
    batch, steps, *rest = shape
    return (batch * steps, *rest)


def _add_activation(parts: Parts, layer, output: Shape, notes: dict[str, None]) -> None:
    """Add the activation of a layer to its parts."""
    activation = getattr(layer, "activation", None)
    name = name_of(activation) if activation else "linear"
    if name == "linear":
        return
    parts.operations += 1
    if name not in ACTIVATIONS:
        notes[f"The activation {name} of {layer.name} is not counted."] = None
        return
    forward, backward = ACTIVATIONS[name]
    parts.forward += prod(output) * forward
    parts.backward += prod(output) * backward
    parts.passes_gradient = False


def name_of(function) -> str:
    """Name an activation or a loss as its function is named."""
    name = getattr(function, "__name__", type(function).__name__)
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
