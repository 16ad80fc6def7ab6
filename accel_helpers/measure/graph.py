"""How the layers of a Keras model are joined, and how large their tensors are, for `work`.

A node is one use of a layer: with `operation` (the layer), `arguments.keras_tensors` and `outputs`.
"""

import re
from collections.abc import Iterator, Sequence
from math import prod
from typing import Any


def graph_of(model):
    """Return the part of a model that has its nodes, and its `inputs` and `outputs` as lists.

    Raises TypeError for a model whose layers cannot be listed, such as a subclass of keras.Model.
    """
    graph = getattr(model, "_functional", None) or model
    if not hasattr(graph, "_nodes_by_depth"):
        raise TypeError(
            f"{model.name!r} is no functional model, and no Sequential one that begins with "
            "keras.Input(shape): its layers cannot be listed."
        )
    return graph


def nodes_of(model) -> Iterator[Any]:
    """Yield the nodes of a model, each after those whose outputs it reads."""
    by_depth = graph_of(model)._nodes_by_depth
    for depth in sorted(by_depth, reverse=True):
        for node in by_depth[depth]:
            if not node.is_input:
                yield node


def shape_of(tensor, batch_size: int, layer) -> tuple[int, ...]:
    """Return the shape of a symbolic tensor, with the batch size in it.

    (None, 28, 28) with a `batch_size` of 32 -> (32, 28, 28). Raises ValueError where another size
    is open; the message names `layer`.
    """
    first, *others = tensor.shape
    if None in others:
        raise ValueError(
            f"a shape at layer {layer.name!r} is open: {tensor.shape}; "
            "give keras.Input all sizes but the batch."
        )
    if first is None:
        first = batch_size
    return (first, *others)


def count_numbers(layer, variables: str) -> int:
    """Return how many numbers the variables of a layer hold; 0 for an operation such as +.

    `variables` is an attribute of layers: "weights" or "trainable_variables".
    """
    count = 0
    for variable in getattr(layer, variables, ()):
        count += prod(variable.shape)
    return count


def count_bytes(tensors: Sequence[Any], batch_size: int, layer) -> int:
    """Return the bytes of all these tensors together; raises ValueError as `shape_of` does."""
    total = 0
    for tensor in tensors:
        elements = prod(shape_of(tensor, batch_size, layer))
        total += elements * size_of(tensor.dtype)
    return total


def size_of(dtype: Any) -> int:
    """Return the bytes of one number of a type: "bfloat16" -> 2, and "bool", without bits, -> 1."""
    bits = re.search(r"\d+", str(dtype))
    if bits is None:
        return 1
    return int(bits[0]) // 8
