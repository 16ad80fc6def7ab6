"""What one use of a Keras layer computes: a rule for every kind, for `work.count_step`."""

import re
from dataclasses import astuple, dataclass
from math import prod

# Operations for each element, forward and backward, from the formulas; the exponential, the
# hyperbolic tangent and the error function themselves are not counted
ACTIVATIONS = {
    "linear": (0, 0),
    "relu": (1, 2),
    "relu6": (2, 4),
    "leaky_relu": (3, 3),
    "elu": (3, 4),
    "sigmoid": (3, 3),
    "tanh": (0, 4),
    "silu": (4, 5),
    "hard_sigmoid": (4, 5),
    "hard_silu": (5, 8),
    "gelu": (4, 8),
    "exponential": (0, 1),
    "softmax": (4, 4),
    "log_softmax": (4, 3),
}


@dataclass
class Parts:
    """What one use of a layer computes, in operations and in elements."""

    first: int = 0  # products of the input and weights
    later: int = 0  # products of something made in the layer and weights
    inner: int = 0  # products of two things made in the layer
    forward: int = 0  # elementwise
    backward: int = 0
    sums: int = 0  # additions that only the weights' gradient needs
    padding: int = 0  # what `first` leaves out: products of weights and the zeros of padding
    training: int = 0  # those of `forward` that only training has
    inside: int = 0  # elements of arrays that are made and used in the layer
    made: int = 0  # elements that products with weights make
    read: int | None = None  # weights read in a pass, all if None
    passes: bool = False  # the gradient is handed on as it is
    operations: int = 1  # one after the other, forward


def _each(forward: int, backward: int, passes: bool = False, operations: int = 1):
    """Some operations for each element of the output, or between each two inputs."""

    def count(layer, ins, out):
        size, between = prod(out), max(len(ins) - 1, 1)
        back = backward * len(ins) * size
        work = {"forward": forward * between * size, "backward": back}
        return Parts(**work, passes=passes, operations=operations)

    return count


_view = _each(0, 0, passes=True, operations=0)


def _dropout(layer, ins, out):
    size = prod(out) if layer.rate else 0
    return Parts(forward=2 * size, backward=size, training=2 * size, passes=not size, operations=0)


def _dense(layer, ins, out):
    bias = prod(out) if layer.use_bias else 0
    return Parts(first=2 * prod(ins[0]) * out[-1], forward=bias, sums=bias, made=prod(out))


def _embedding(layer, ins, out):
    return Parts(read=prod(out), sums=prod(out))


def _convolution(layer, ins, out):
    batch, kind = out[0], type(layer).__name__
    space = slice(2, None) if layer.data_format == "channels_first" else slice(1, -1)
    wide, narrow = ins[0][space], out[space]
    if "Transpose" in kind:  # the way back of a convolution
        wide, narrow = narrow, wide
    settings = zip(wide, layer.kernel_size, layer.strides, layer.dilation_rate, strict=True)
    met = prod(_met(*setting, layer.padding) for setting in settings)
    zeros = prod(narrow) * prod(layer.kernel_size) - met
    more = {"forward": prod(out), "sums": prod(out)} if layer.use_bias else {}
    if twice := kind.startswith("Separable"):  # 1 x 1 comes after
        joined = prod(layer.depthwise_kernel.shape[-2:])
        more |= {"later": 2 * prod(out) * joined, "inside": batch * prod(narrow) * joined}
    else:
        joined = prod(layer.kernel.shape[-2:])  # pairs of a channel given and one made
    made = prod(out) + more.get("inside", 0)
    first, padding = 2 * batch * met * joined, 2 * batch * zeros * joined
    return Parts(first=first, padding=padding, made=made, operations=1 + twice, **more)


def _met(size, kernel, stride, dilation, padding):
    """How often a filter of one dimension meets an element, and not padding."""
    reach, before = (kernel - 1) * dilation, 0
    if padding == "causal":  # Keras writes the zeros in front itself, and they are multiplied
        size, padding = size + reach, "valid"
    if padding == "valid":
        outputs = (size - reach - 1) // stride + 1
    else:
        outputs = -(-size // stride)
        before = max((outputs - 1) * stride + reach + 1 - size, 0) // 2
    places = (o * stride + k * dilation - before for o in range(outputs) for k in range(kernel))
    return sum(0 <= place < size for place in places)


def _pool(layer, ins, out):
    work = prod(out) * prod(layer.pool_size)
    return Parts(forward=work, backward=work)


def _pool_all(layer, ins, out):
    given, mean = prod(ins[0]), type(layer).__name__.startswith("GlobalAverage")
    return Parts(forward=given, backward=prod(out) if mean else 4 * given)


# Forward, backward, and sums for the weights' gradient, for each element, in the order of Keras's
# source, which sums up for the mean twice; then what `predict` spares: it has the mean
NORMS = {
    "BatchNormalization": (7, 9, 2, 5),
    "LayerNormalization": (10, 14, 3, 0),
    "GroupNormalization": (7, 9, 2, 0),
    "RMSNormalization": (4, 8, 1, 0),
}


def _normalise(layer, ins, out):
    kind = type(layer).__name__
    frozen = kind == "BatchNormalization" and not layer.trainable
    work = (2, 1, 0, 0) if frozen else NORMS[kind]
    forward, backward, sums, only = (each * prod(out) for each in work)
    return Parts(forward=forward, backward=backward, sums=sums, training=only)


# Gates, additions for the bias, and elementwise operations forward and backward: each of them for
# every unit and step
LOOPS = {"LSTM": (4, 4, 17, 25), "GRU": (3, 6, 14, 25), "SimpleRNN": (1, 1, 1, 5)}


def _loop(layer, ins, out):
    batch, steps, inputs = ins[0]
    gates, biases, forward, backward = LOOPS[type(layer).__name__]
    size, weights = batch * steps * layer.units, layer.count_params()
    added = biases * size if layer.use_bias else 0
    return Parts(
        first=2 * size * inputs * gates,
        later=2 * size * layer.units * gates,
        forward=added + forward * size,
        backward=backward * size,
        sums=added + (steps - 1) * weights,  # the gradients of all the steps are added up
        inside=(gates + 1) * size,
        read=steps * weights,
        made=gates * size,
        operations=2 * steps,
    )


def _attention(layer, ins, out):
    (batch, asked, features), (_, length, values), keys = ins[0], ins[1], ins[min(2, len(ins) - 1)]
    heads, query, value = layer.num_heads, layer.key_dim, layer.value_dim
    scores = batch * heads * asked * length
    made = batch * heads * (asked * query + length * query + length * value)
    bias = made + prod(out) if layer.use_bias else 0
    from_input = asked * features * query + length * keys[-1] * query + length * values * value
    forward, backward = ACTIVATIONS["softmax"]
    only, backward = (2 * scores, backward + 1) if layer.dropout else (0, backward)
    scale = batch * heads * asked * query
    return Parts(
        first=2 * batch * heads * from_input,
        later=2 * batch * asked * heads * value * out[-1],
        inner=2 * scores * (query + value),
        forward=bias + forward * scores + scale + only,
        # key and value are one input as a rule: their gradients are added
        backward=backward * scores + scale + batch * length * values,
        sums=bias,
        training=only,
        inside=2 * scores + made + batch * heads * asked * value,
        made=made + prod(out),
        operations=8,
    )


RULES = {
    **dict.fromkeys(("Flatten", "Reshape", "Permute", "Identity", "Activation"), _view),
    **{f"{kind}{n}D": _each(0, 0) for kind in ("ZeroPadding", "Cropping") for n in (1, 2, 3)},
    **dict.fromkeys(("Concatenate", "RepeatVector"), _each(0, 0)),
    **{f"UpSampling{n}D": _each(0, 1) for n in (1, 2, 3)},
    **dict.fromkeys(("Add", "Subtract", "Average"), _each(1, 0, passes=True)),
    **dict.fromkeys(("Maximum", "Minimum"), _each(1, 2)),
    "ReLU": _each(*ACTIVATIONS["relu"]),
    "LeakyReLU": _each(*ACTIVATIONS["leaky_relu"]),
    "ELU": _each(*ACTIVATIONS["elu"]),
    "Softmax": _each(*ACTIVATIONS["softmax"]),
    "Multiply": _each(1, 1),
    **dict.fromkeys(("Rescaling", "Normalization", "CustomScaleLayer"), _each(2, 1)),
    "LayerScale": _each(1, 3),
    **dict.fromkeys(("Dropout", "SpatialDropout1D", "SpatialDropout2D"), _dropout),
    "Dense": _dense,
    "Embedding": _embedding,
    **{f"{k}Conv{n}D": _convolution for k in ("", "Depthwise", "Separable") for n in (1, 2, 3)},
    **{f"Conv{n}DTranspose": _convolution for n in (1, 2, 3)},
    **{f"{kind}Pooling{n}D": _pool for kind in ("Max", "Average") for n in (1, 2, 3)},
    **{f"Global{kind}Pooling{n}D": _pool_all for kind in ("Max", "Average") for n in (1, 2, 3)},
    **dict.fromkeys(NORMS, _normalise),
    **dict.fromkeys(LOOPS, _loop),
    **dict.fromkeys(("Bidirectional", "TimeDistributed")),  # by the rules of what they hold
    "MultiHeadAttention": _attention,
}


def parts_of(layer, ins, out, notes, training) -> Parts:
    """What a use of a layer computes, its activation too; what is not counted goes to the notes."""
    kind = type(layer).__name__
    if kind not in RULES or not type(layer).__module__.startswith("keras.src."):
        if getattr(layer, "weights", None):
            known = ", ".join(sorted(RULES))
            raise TypeError(
                f"no rule for layer {layer.name!r} ({kind}). There are rules for {known}."
            )
        notes[f"{layer.name} ({kind}) is not counted: there is no rule for it."] = None
        return _view(layer, ins, out)
    if kind == "Bidirectional":
        directions = (layer.forward_layer, layer.backward_layer)
        both = [astuple(parts_of(each, ins, out, notes, training)) for each in directions]
        sums: list = [sum(column) for column in zip(*both, strict=True)]
        return Parts(*sums)
    if kind == "TimeDistributed":
        ins, out = ([(s[0] * s[1], *s[2:]) for s in shapes] for shapes in (ins, [out]))
        return parts_of(layer.layer, ins, out[0], notes, training)
    parts = RULES[kind](layer, ins, out)
    parts.forward -= 0 if training else parts.training
    if training and (getattr(layer, "rate", 0) or getattr(layer, "dropout", 0)):
        notes["Making random numbers for dropout is not counted."] = None
    if kind in LOOPS:  # their rule has the activations
        return parts
    activation = getattr(layer, "activation", None)
    name = name_of(activation) if activation else "linear"
    if name not in ACTIVATIONS:
        notes[f"The activation {name} of {layer.name} is not counted."] = None
    forward, backward = ACTIVATIONS.get(name, (0, 0))
    parts.forward += prod(out) * forward
    parts.backward += prod(out) * backward
    parts.passes &= not forward + backward
    parts.operations += name != "linear"
    return parts


def name_of(function) -> str:
    """The name of an activation or a loss, as its function has it."""
    name = getattr(function, "__name__", type(function).__name__)
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
