"""The parts that the work of a layer is counted in, for the rules of `layers`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

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


def add_bias(parts: Parts, additions: int) -> None:
    """Add a bias, whose gradient is a sum of as many numbers as it was added to."""
    parts.forward += additions
    parts.weight_sums += additions
