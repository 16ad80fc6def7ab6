"""The tensors of TensorFlow, JAX and PyTorch in a value; no framework is imported for it."""

from collections import deque
from collections.abc import Mapping
from typing import Any

# Framework -> the attribute by which its tensors are told from its other objects.
_ATTRIBUTES = {"jax": "block_until_ready", "tensorflow": "device", "torch": "device"}


def find(x: Any) -> dict[str, list]:
    """Return the tensors in a nesting of values, in lists by framework.

    {"a": [jax_array, 2.0]} -> {"jax": [jax_array]}. A framework of which there is no tensor is not
    in the dictionary.
    """
    tensors: dict[str, list] = {}
    unvisited = deque([x])
    # A container that holds itself is visited once.
    visited_ids = set()
    while unvisited:
        value = unvisited.popleft()
        if id(value) in visited_ids:
            continue
        visited_ids.add(id(value))
        # The class of JAX's arrays is defined in "jaxlib._jax", and that of traced ones in "jax".
        package = type(value).__module__.partition(".")[0].replace("jaxlib", "jax")
        attribute = _ATTRIBUTES.get(package)
        if attribute is not None and hasattr(value, attribute):
            tensors.setdefault(package, []).append(value)
        else:
            unvisited += _parts(value, package)
    return tensors


def _parts(value: Any, package: str) -> list:
    """Return the values in a container, or the tensors of a Keras model or a Keras variable.

    [] for any other value. `package` is the package in which the class of `value` is defined.
    """
    if isinstance(value, Mapping):
        return list(value.values())
    if isinstance(value, (list, tuple, set, frozenset)):
        return list(value)
    is_model = hasattr(value, "weights") and hasattr(value, "fit")
    if is_model:
        return [weight.value for weight in value.weights]
    is_variable = package == "keras" and hasattr(value, "value")
    if is_variable:
        return [value.value]
    return []
