"""The work of convolutions, for the rules of `layers`."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from accel_helpers.measure.parts import Parts, Shape, add_bias


def count_convolution(layer, inputs: Sequence[Shape], output: Shape) -> Parts:
    """Count a filter at every place of a convolution; a separable one has 1 x 1 filters after it.

    `inputs` has one shape; all shapes have the batch first. `layer` is a convolution of Keras:
    ordinary, depthwise, separable or transposed, in one, two or three dimensions.
    """
    is_separable = type(layer).__name__.startswith("Separable")
    kernel = layer.depthwise_kernel if is_separable else layer.kernel
    # Pairs of a channel that comes in and one that goes out.
    channels = prod(kernel.shape[-2:])
    batch = output[0]
    places = _count_places(layer, inputs[0], output)
    parts = Parts()
    parts.input_products = 2 * batch * places.on_elements * channels
    parts.padding_products = 2 * batch * places.on_zeros * channels
    parts.made = prod(output)
    if layer.use_bias:
        add_bias(parts, additions=prod(output))
    if is_separable:
        # What the first filter made goes through one of 1 x 1.
        parts.inner_elements = batch * places.filters * channels
        parts.later_products = 2 * prod(output) * channels
        parts.made += parts.inner_elements
        parts.operations = 2
    return parts


@dataclass(frozen=True)
class _Places:
    """Where the filter of a convolution lies, for one example and one pair of channels.

    A place is where the filter is applied once; at each place all numbers of the filter lie over
    an element of the input or over a zero of the padding.
    """

    filters: int  # places of the filter
    on_elements: int  # numbers of the filter over elements, summed over all places
    on_zeros: int  # numbers of the filter over padding, summed over all places


def _count_places(layer, inputs: Shape, output: Shape) -> _Places:
    """Return the places of a convolution's filter; both shapes have the batch in them."""
    wide = _space(layer, inputs)
    narrow = _space(layer, output)
    if "Transpose" in type(layer).__name__:
        # It is the way back of a convolution.
        wide, narrow = narrow, wide
    # Each dimension is counted apart: a place in the whole is one in every dimension.
    filters = prod(narrow)
    on_elements = 1
    dimensions = zip(wide, layer.kernel_size, layer.strides, layer.dilation_rate, strict=True)
    for size, kernel, stride, dilation in dimensions:
        on_elements *= _count_elements(size, kernel, stride, dilation, layer.padding)
    on_zeros = filters * prod(layer.kernel_size) - on_elements
    return _Places(filters, on_elements, on_zeros)


def _space(layer, shape: Shape) -> Shape:
    """Return a shape without its batch and its channels: (32, 28, 28, 3) -> (28, 28)."""
    if layer.data_format == "channels_first":
        return shape[2:]
    return shape[1:-1]


def _count_elements(size: int, kernel: int, stride: int, dilation: int, padding: str) -> int:
    """Return how many numbers of a filter lie over elements in one dimension, over all places.

    `size` is that of the input, `kernel` that of the filter, and `padding` one of "valid", "same"
    and "causal". 5 elements, a kernel of 3, stride 1 and "same" -> 13 of 15.
    """
    reach = (kernel - 1) * dilation
    zeros_before = 0
    if padding == "causal":
        # Keras writes the zeros in front itself, and they are multiplied.
        size += reach
    if padding == "same":
        # Rounded up.
        outputs = (size + stride - 1) // stride
        covered = (outputs - 1) * stride + reach + 1
        zeros = max(covered - size, 0)
        zeros_before = zeros // 2
    else:
        outputs = (size - reach - 1) // stride + 1
    count = 0
    for output in range(outputs):
        for k in range(kernel):
            place = output * stride + k * dilation - zeros_before
            if 0 <= place < size:
                count += 1
    return count
