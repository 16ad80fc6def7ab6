"""A compiled model in a folder, for a process of its own to make again, on whatever backend.

Its weights stay: their numbers change neither what a step takes nor how long. Classes and functions
of the learner's own travel by value, since a process cannot import what stands in a notebook.
"""

import importlib.util
import json
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# what Keras writes of the model, and its own classes and functions by the names in that
DESCRIPTION, OWN_CODE = "model.json", "own_code.pickle"
# where Keras's own functions stand; of these a description says the name alone
FUNCTIONS = ("activations", "losses", "metrics", "initializers", "regularizers")
REGISTER = "put @keras.saving.register_keras_serializable() above it"


def save(model, folder: Path) -> None:
    """Write a model into a folder; ValueError with a name where it could not be made again."""
    import keras

    try:
        description = keras.saving.serialize_keras_object(model)
        text = json.dumps(description)
    # Whatever the model's own code raises.
    except Exception as error:
        raise ValueError(f"the model cannot be saved: {error}") from error
    names = dict.fromkeys(_own_names(description))
    own_code = {name: _registered(name) for name in names}
    (folder / OWN_CODE).write_bytes(_by_value(own_code))
    (folder / DESCRIPTION).write_text(text, "utf-8")


def load(folder: Path):
    """Return the model that was written into a folder."""
    import keras

    description = json.loads((folder / DESCRIPTION).read_text("utf-8"))
    # it was written by the process that has started this one
    own_code = pickle.loads((folder / OWN_CODE).read_bytes())
    return keras.saving.deserialize_keras_object(description, own_code)


def _own_names(description: Any, owner: str = "") -> Iterator[str]:
    """Yield the names of classes and functions in a description that are not Keras's own.

    Raises ValueError for a lambda; `owner` is the name of what the description is a part of.
    """
    parts = description
    if isinstance(description, dict):
        parts = description.values()
        owner = description.get("name", owner)
        if "class_name" in description:
            yield from _own_name(description, owner)
    elif not isinstance(description, (list, tuple)):
        return
    for part in parts:
        yield from _own_names(part, owner)


def _own_name(description: dict, owner: str) -> Iterator[str]:
    """Yield the name of the class or function that a description is of, if it is not Keras's."""
    import keras

    kind = description["class_name"]
    if kind == "__lambda__":
        raise ValueError(f"{owner!r} has a lambda: make it a function with a name, and {REGISTER}.")
    if kind == "function":
        name = description["config"]
        if not any(hasattr(getattr(keras, place), name) for place in FUNCTIONS):
            yield name
    elif description.get("registered_name") and not str(description["module"]).startswith("keras"):
        yield description["registered_name"]


def _registered(name: str) -> object:
    """Return the class or function that is registered with Keras under a name."""
    import keras

    found = keras.saving.get_registered_object(name)
    if found is None:
        raise ValueError(f"{name!r} is your own, and Keras does not know it: {REGISTER}.")
    return found


def _by_value(own_code: dict) -> bytes:
    """Return classes and functions as bytes, with the code of the files that they stand in."""
    if not own_code:
        return pickle.dumps(own_code)
    if importlib.util.find_spec("cloudpickle") is None:
        names = ", ".join(own_code)
        raise ValueError(f"{names}: classes of your own need cloudpickle: pip install cloudpickle")
    import cloudpickle

    for thing in own_code.values():
        # Of a notebook's it takes the code anyway.
        cloudpickle.register_pickle_by_value(sys.modules[thing.__module__])
    return cloudpickle.dumps(own_code)
