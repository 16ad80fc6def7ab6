"""The data of a training: arrays, their room in memory, and their way to a device."""

from contextlib import suppress
from functools import partial
from pathlib import Path

from accel_helpers._values.words import format_bytes
from accel_helpers.machine import backend

MOST_OF_MEMORY = 0.9  # share of the free memory for data; a step needs some while it runs
NUMBERS = "fciub"  # NumPy's kinds: floats, complex numbers, integers, unsigned ones, truth values


def copied_to(data, what: str, device: str) -> tuple:
    """Copy a pair (x, y) of inputs and targets to a "cpu", "gpu" or "tpu", as tensors.

    Each is an array or tensor, or a nesting of them. Floats get Keras's float type. Raises
    ValueError or TypeError, in which `what` names the pair, and MemoryError, as `check_room` does.
    """
    import keras
    import numpy as np

    if not isinstance(data, (tuple, list)) or len(data) != 2:
        raise ValueError(f"{what} must be a pair (x, y); sample weights are not supported.")
    arrays = keras.tree.map_structure(partial(as_array, what=what), tuple(data))
    counts = {len(array) for array in keras.tree.flatten(arrays)}
    if len(counts) != 1 or 0 in counts:
        raise ValueError(
            f"{what} must have the same number of samples, at least one; got {sorted(counts)}."
        )
    check_room(arrays, device)

    def tensor(array):
        dtype = None
        if isinstance(array, np.ndarray) and array.dtype.kind == "f":
            dtype = keras.config.floatx()
        return keras.ops.convert_to_tensor(array, dtype)

    with backend.on(device):
        return keras.tree.map_structure(tensor, arrays)


def as_array(value, what: str):
    """Return a tensor of Keras's backend as it is, and any other array as a NumPy array.

    Raises TypeError, in which `what` names the data, if the value is no array of numbers.
    """
    import keras
    import numpy as np

    if keras.ops.is_tensor(value):
        return value
    array = None
    if hasattr(value, "__array__"):
        array = np.asarray(value)
    if array is None or array.ndim == 0 or array.dtype.kind not in NUMBERS:
        kind = getattr(value, "dtype", type(value).__name__)
        raise TypeError(
            f"{what} must be arrays of numbers, or lists, tuples or dicts of arrays; got {kind}. "
            "Encode strings as numbers, make an array of a list: np.asarray(it). A generator and a "
            "tf.data.Dataset are for model.fit and ah.profile_fit."
        )
    return array


def check_room(arrays, device: str) -> None:
    """Raise MemoryError if the computer has no room for a nesting of NumPy arrays, and of tensors.

    It is checked before, since a notebook's kernel that runs out of memory is killed. A GPU or TPU
    raises an error of its own when it is full, and tensors lie somewhere already.
    """
    import keras
    import numpy as np

    flat = keras.tree.flatten(arrays)
    needed = sum(array.nbytes for array in flat if isinstance(array, np.ndarray))
    free = free_here()
    if device != "cpu" or free is None:
        return
    if needed > MOST_OF_MEMORY * free:
        raise MemoryError(
            f"fit_resident keeps all data in memory: {format_bytes(needed)}, and "
            f"{format_bytes(free)} are free here, of which a tenth is left for the steps. "
            "Use fewer samples, store pictures as uint8 and divide in the model "
            "(keras.layers.Rescaling), or use model.fit, which copies batch by batch."
        )


def free_here() -> int | None:
    """Return the bytes of memory that are free on this machine; None where Linux does not say."""
    with suppress(OSError):
        report = Path("/proc/meminfo").read_text()
        # "MemAvailable:   12345678 kB"
        _, _, after = report.partition("MemAvailable:")
        return 1024 * int(after.split()[0])
    return None
