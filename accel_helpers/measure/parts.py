"""The parts that the work of a layer is counted in, for the rules of `layers`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Shape = Sequence[int]  # with the batch first


@dataclass
class Parts:
    """What one use of a layer computes, for a whole batch.

    A product is one of matrices or a convolution, counted by its operations in a forward pass: 2mkn
    for (m, k) and (k, n). `work` derives from it what going back takes.
    """

    input_products: int = 0  # of the input and weights
    later_products: int = 0  # of arrays that the layer made before, and weights
    inner_products: int = 0  # of two arrays that the layer made
    padding_products: int = 0  # of weights and the zeros of padding; in no other number
    forward: int = 0  # elementwise operations
    backward: int = 0  # elementwise operations
    weight_sums: int = 0  # additions that only the weights' gradient needs
    training_only: int = 0  # those of `forward` that only training has
    inner_elements: int = 0  # of arrays that are made and used in the layer
    made: int = 0  # elements that products with weights make
    weights_read: int | None = None  # numbers of weights read in a pass; None: each once
    passes_gradient: bool = False  # the gradient is handed on as it is
    operations: int = 1  # that start one after the other in a forward pass


# A rule counts the parts of a layer from the layer, the shapes of its inputs, and its output's.
Rule = Callable[[object, Sequence[Shape], Shape], Parts]


def add_bias(parts: Parts, additions: int) -> None:
    """Add the work of a bias to `parts`; `additions` is to how many numbers it is added.

    The gradient of a bias is a sum of as many numbers.
    """
    parts.forward += additions
    parts.weight_sums += additions
