"""What one use of a Keras layer computes: a rule for every kind, for `work.count_step`.

A rule takes a layer, the shapes of its inputs and the shape of its output, all with the batch
first, and returns the Parts of one use of the layer.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import prod

from accel_helpers.measure.activations import ACTIVATIONS
from accel_helpers.measure.convolutions import count_convolution
from accel_helpers.measure.parts import Parts, Rule, Shape, add_bias


def _elementwise(
    forward: int, backward: int, passes_gradient: bool = False, operations: int = 1
) -> Rule:
    """Return a rule for a layer that works on each element by itself.

    `forward` and `backward` are operations for each element of the output. A layer with n inputs,
    such as Add, has n - 1 times `forward` and n times `backward`. `passes_gradient` and
    `operations` are as in Parts.
    """

    def count(layer, inputs: Sequence[Shape], output: Shape) -> Parts:
        size = prod(output)
        pairs = max(len(inputs) - 1, 1)
        parts = Parts()
        parts.forward = forward * pairs * size
        parts.backward = backward * len(inputs) * size
        parts.passes_gradient = passes_gradient
        parts.operations = operations
        return parts

    return count


_count_view = _elementwise(0, 0, passes_gradient=True, operations=0)


def _count_dropout(layer, inputs: Sequence[Shape], output: Shape) -> Parts:
    """Count the product with a random mask, and its scaling; both take place only in training."""
    parts = Parts()
    parts.operations = 0
    if layer.rate == 0:
        parts.passes_gradient = True
        return parts
    size = prod(output)
    parts.forward = 2 * size
    parts.training_only = 2 * size
    parts.backward = size
    return parts


def _count_dense(layer, inputs: Sequence[Shape], output: Shape) -> Parts:
    """Count the product of a Dense layer, and its bias."""
    units = output[-1]
    parts = Parts()
    parts.input_products = 2 * prod(inputs[0]) * units
    parts.made = prod(output)
    if layer.use_bias:
        add_bias(parts, additions=parts.made)
    return parts


def _count_embedding(layer, inputs: Sequence[Shape], output: Shape) -> Parts:
    """Count the rows of the table that are read, and the sums of their gradients."""
    size = prod(output)
    return Parts(weights_read=size, weight_sums=size)


def _count_pool(layer, inputs: Sequence[Shape], output: Shape) -> Parts:
    """Count one operation for each element of a window, forward and backward."""
    window = prod(layer.pool_size)
    operations = prod(output) * window
    return Parts(forward=operations, backward=operations)


def _count_global_pool(layer, inputs: Sequence[Shape], output: Shape) -> Parts:
    """Count one operation for each element of the input; going back, a maximum is found again."""
    size = prod(inputs[0])
    if type(layer).__name__.startswith("GlobalAverage"):
        return Parts(forward=size, backward=prod(output))
    return Parts(forward=size, backward=4 * size)


@dataclass(frozen=True)
class _Norm:
    """Operations of a normalisation for each element; the fields are as in Parts."""

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


def _count_norm(layer, inputs: Sequence[Shape], output: Shape) -> Parts:
    """Count the operations that `NORMS` has for each element; `layer` is of a kind in it."""
    kind = type(layer).__name__
    norm = NORMS[kind]
    if kind == "BatchNormalization" and not layer.trainable:
        norm = FROZEN_BATCH_NORM
    size = prod(output)
    parts = Parts()
    parts.forward = norm.forward * size
    parts.backward = norm.backward * size
    parts.weight_sums = norm.weight_sums * size
    parts.training_only = norm.training_only * size
    return parts


@dataclass(frozen=True)
class _Cell:
    """The work of a recurrent layer for each unit and step."""

    gates: int  # each has a product with the input and one with the state
    biases: int  # additions of biases
    forward: int  # elementwise operations, activations included
    backward: int  # elementwise operations, activations included


LOOPS = {
    "LSTM": _Cell(4, 4, 17, 25),
    "GRU": _Cell(3, 6, 14, 25),
    "SimpleRNN": _Cell(1, 1, 1, 5),
}


def _count_loop(layer, inputs: Sequence[Shape], output: Shape) -> Parts:
    """Count the gates of a recurrent layer over all steps, its activations included.

    `layer` is of a kind in `LOOPS`, and its input has the shape (batch, steps, features).
    """
    cell = LOOPS[type(layer).__name__]
    batch, steps, features = inputs[0]
    units = layer.units
    size = batch * steps * units
    weights = layer.count_params()
    parts = Parts()
    parts.input_products = 2 * size * features * cell.gates
    parts.later_products = 2 * size * units * cell.gates
    parts.made = cell.gates * size
    parts.forward = cell.forward * size
    parts.backward = cell.backward * size
    if layer.use_bias:
        add_bias(parts, additions=cell.biases * size)
    # The gradients of all the steps are added up.
    parts.weight_sums += (steps - 1) * weights
    parts.weights_read = steps * weights
    # The gates and the state.
    parts.inner_elements = (cell.gates + 1) * size
    parts.operations = 2 * steps
    return parts


def _count_attention(layer, inputs: Sequence[Shape], output: Shape) -> Parts:
    """Count queries, keys and values; their scores, the softmax of these, and sums of values.

    The inputs are queries, values and, where they differ from the values, keys; each has the shape
    (batch, length, features).
    """
    batch, queries, query_features = inputs[0]
    _, length, value_features = inputs[1]
    # Without keys of their own, the values are the keys.
    key_features = value_features
    if len(inputs) > 2:
        key_features = inputs[2][-1]
    all_heads = batch * layer.num_heads
    key_size = layer.key_dim
    value_size = layer.value_dim
    parts = Parts()
    parts.operations = 8

    # The input becomes queries, keys and values.
    query_products = queries * query_features * key_size
    key_products = length * key_features * key_size
    value_products = length * value_features * value_size
    parts.input_products = 2 * all_heads * (query_products + key_products + value_products)
    scaled_queries = all_heads * queries * key_size
    keys = all_heads * length * key_size
    values = all_heads * length * value_size
    projected = scaled_queries + keys + values

    # Each query meets each key, and the values are summed up by their scores.
    scores = all_heads * queries * length
    summed_values = all_heads * queries * value_size
    parts.inner_products = 2 * scores * (key_size + value_size)
    parts.inner_elements = 2 * scores + projected + summed_values
    softmax_forward, softmax_backward = ACTIVATIONS["softmax"]
    parts.forward = softmax_forward * scores + scaled_queries
    parts.backward = softmax_backward * scores + scaled_queries
    # Key and value are one input as a rule: their gradients are added.
    parts.backward += batch * length * value_features

    # The sums of all heads become the output.
    parts.later_products = 2 * summed_values * output[-1]
    parts.made = projected + prod(output)
    if layer.use_bias:
        add_bias(parts, additions=parts.made)
    if layer.dropout:
        parts.training_only = 2 * scores
        parts.forward += 2 * scores
        parts.backward += scores
    return parts


# Their names end in 1D, 2D or 3D: for sequences, images or volumes.
RULES_OF_SPACE: dict[str, Rule] = {
    "ZeroPadding": _elementwise(0, 0),
    "Cropping": _elementwise(0, 0),
    "UpSampling": _elementwise(0, 1),
    "Conv": count_convolution,
    "DepthwiseConv": count_convolution,
    "SeparableConv": count_convolution,
    "MaxPooling": _count_pool,
    "AveragePooling": _count_pool,
    "GlobalMaxPooling": _count_global_pool,
    "GlobalAveragePooling": _count_global_pool,
}


def _rules_for(dimensions: str) -> dict[str, Rule]:
    """Return the rules of layers for sequences ("1D"), images ("2D") or volumes ("3D").

    The keys are names of Keras classes, such as "Conv2D".
    """
    rules = {f"{name}{dimensions}": rule for name, rule in RULES_OF_SPACE.items()}
    rules[f"Conv{dimensions}Transpose"] = count_convolution
    return rules


# The name of a Keras class -> its rule.
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
    **_rules_for("1D"),
    **_rules_for("2D"),
    **_rules_for("3D"),
    # `parts_of` counts these by the rules of the layers that they hold.
    "Bidirectional": None,
    "TimeDistributed": None,
}


def parts_of(
    layer, inputs: Sequence[Shape], output: Shape, notes: dict[str, None], training: bool
) -> Parts:
    """Return what a use of a layer computes, its activation included.

    `inputs` and `output` are shapes with the batch first. What is not counted is added to `notes`
    as a key, so that each sentence stands there once. Raises TypeError for a layer that has
    weights and no rule.
    """
    kind = type(layer).__name__
    is_of_keras = type(layer).__module__.startswith("keras.src.")
    if kind not in RULES or not is_of_keras:
        return _parts_without_rule(layer, inputs, output, notes)
    if kind == "Bidirectional":
        ahead = parts_of(layer.forward_layer, inputs, output, notes, training)
        back = parts_of(layer.backward_layer, inputs, output, notes, training)
        return _add(ahead, back)
    if kind == "TimeDistributed":
        step_inputs = [_steps_as_batch(shape) for shape in inputs]
        step_output = _steps_as_batch(output)
        return parts_of(layer.layer, step_inputs, step_output, notes, training)
    rule = RULES[kind]
    assert rule is not None, "a layer around others is counted above"
    parts = rule(layer, inputs, output)
    has_dropout = getattr(layer, "rate", 0) or getattr(layer, "dropout", 0)
    if not training:
        parts.forward -= parts.training_only
    elif has_dropout:
        notes["Making random numbers for dropout is not counted."] = None
    if kind not in LOOPS:
        _add_activation(parts, layer, output, notes)
    return parts


def _parts_without_rule(
    layer, inputs: Sequence[Shape], output: Shape, notes: dict[str, None]
) -> Parts:
    """Return parts without any work for a layer that has no rule, and add a sentence to `notes`.

    Raises TypeError if the layer has weights, since its work must not be left out.
    """
    kind = type(layer).__name__
    if getattr(layer, "weights", None):
        names = ", ".join(sorted(RULES))
        raise TypeError(f"no rule for layer {layer.name!r} ({kind}). There are rules for {names}.")
    notes[f"{layer.name} ({kind}) is not counted: there is no rule for it."] = None
    return _count_view(layer, inputs, output)


def _add(first: Parts, second: Parts) -> Parts:
    """Return the sum of two Parts, field by field; both have a number in `weights_read`."""
    total = Parts()
    for field in fields(Parts):
        value = getattr(first, field.name) + getattr(second, field.name)
        setattr(total, field.name, value)
    return total


def _steps_as_batch(shape: Shape) -> Shape:
    """Return a shape in which each step is an example: (32, 10, 8) -> (320, 8)."""
    batch, steps, *rest = shape
    return (batch * steps, *rest)


def _add_activation(parts: Parts, layer, output: Shape, notes: dict[str, None]) -> None:
    """Add the activation of a layer, if it has one, to `parts`; without a count, to `notes`."""
    activation = getattr(layer, "activation", None)
    if activation is None:
        return
    name = name_of(activation)
    if name == "linear":
        return
    parts.operations += 1
    if name not in ACTIVATIONS:
        notes[f"The activation {name} of {layer.name} is not counted."] = None
        return
    forward, backward = ACTIVATIONS[name]
    size = prod(output)
    parts.forward += forward * size
    parts.backward += backward * size
    parts.passes_gradient = False


def name_of(function: object) -> str:
    """Return the name of an activation or a loss, which may be a function or an object.

    keras.activations.relu -> "relu", CategoricalCrossentropy() -> "categorical_crossentropy".
    """
    class_name = type(function).__name__
    name = getattr(function, "__name__", class_name)
    # An underscore goes between "l" and "C" in "CategoricalCrossentropy".
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
