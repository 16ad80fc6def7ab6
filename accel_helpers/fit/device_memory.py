"""The data of `resident`: arrays, their room in memory, and their way to a device."""

from contextlib import suppress
from functools import partial
from pathlib import Path

from accel_helpers._values.words import format_bytes
from accel_helpers.machine import backend

RESERVE = 0.1  # share of the free memory that is left for what a step needs while it runs
ORDER_BYTES = 16  # for each sample: two random numbers of four bytes, their order, and a copy


def as_arrays(data, what: str) -> tuple:
    """Check a pair (x, y) of inputs and targets, and return it with every value as an array.

    x and y are arrays or tensors, or lists, tuples or dicts of them; nothing is copied, and tensors
    stay tensors. `what` is the name of the pair in an error message, such as "x and y".

    Raises ValueError if this is no pair, or if there are no samples, or not equally many in each
    array; TypeError if a value is no array of numbers.
    """
    import keras

    if not isinstance(data, (tuple, list)) or len(data) != 2:
        raise ValueError(f"{what} must be a pair (x, y); sample weights are not supported.")
    arrays = keras.tree.map_structure(partial(as_array, what=what), tuple(data))
    counts = {int(array.shape[0]) for array in keras.tree.flatten(arrays)}
    if len(counts) != 1 or 0 in counts:
        raise ValueError(
            f"{what} must have the same number of samples, at least one; got {sorted(counts)}."
        )
    return arrays


def as_array(value, what: str):
    """Return a tensor of TensorFlow or JAX as it is, and any other array as a NumPy array.

    Raises TypeError, in which `what` names the data, if the value is no array of numbers.
    """
    import numpy as np

    package = type(value).__module__.partition(".")[0]
    if package in ("tensorflow", "jax", "jaxlib"):
        return value
    array = None
    if hasattr(value, "__array__"):
        array = np.asarray(value)
    # The kinds of NumPy's types: floats, complex numbers, integers, unsigned ones and truth values.
    if array is None or array.ndim == 0 or array.dtype.kind not in "fciub":
        kind = getattr(value, "dtype", type(value).__name__)
        raise TypeError(
            f"{what} must be arrays of numbers, or lists, tuples or dicts of arrays; got {kind}. "
            "Encode strings as numbers, make an array of a list: np.asarray(it). A generator and a "
            "tf.data.Dataset are for model.fit and ah.profile_fit."
        )
    return array


def memory_needed(x, y, validation_data: tuple = ()) -> int:
    """Return the bytes that data will take on a device, with the order of their samples.

    `x` and `y` are arrays, or lists, tuples or dicts of arrays; `validation_data` is a pair of
    such, or empty: as `as_arrays` returns them, and not checked again. Tensors count nothing, since
    they lie there already. The length of the first array is the number of samples.
    """
    import keras
    import numpy as np

    arrays = keras.tree.flatten((x, y, validation_data))
    total = ORDER_BYTES * len(arrays[0])
    for array in arrays:
        if not isinstance(array, np.ndarray):
            continue
        dtype = array.dtype
        # `as_tensors` turns every kind of float into Keras's.
        if dtype.kind == "f":
            dtype = np.dtype(keras.config.floatx())
        total += array.size * dtype.itemsize
    return total


def as_tensors(data, device: str):
    """Copy arrays to a device, floats in Keras's float type, and return them as tensors.

    `data` is an array, or a nesting of arrays in lists, tuples and dicts, which is returned in the
    same form. `device` is "cpu", "gpu" or "tpu"; a ValueError says that there is none here.
    """
    import keras
    import numpy as np

    def tensor(value):
        if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
            return keras.ops.convert_to_tensor(value)
        # Where the type is named, Keras on JAX copies once and not twice.
        dtype = keras.config.floatx()
        return keras.ops.convert_to_tensor(value.astype(dtype, copy=False), dtype)

    with backend.on(device):
        return keras.tree.map_structure(tensor, data)


def check_room(needed: int, device: str) -> None:
    """Raise MemoryError if the computer has no room for data of `needed` bytes.

    It is checked before, since a notebook's kernel that runs out of memory is killed. Nothing is
    checked on a GPU or TPU, which raises an error when it is full, or where the free memory is not
    known.
    """
    if device != "cpu":
        return
    free_bytes = free_here()
    if free_bytes is not None and needed > (1 - RESERVE) * free_bytes:
        raise MemoryError(
            f"fit_resident keeps all data in memory: {format_bytes(needed)} with their order, and "
            f"{format_bytes(free_bytes)} are free here, of which a tenth is left for the steps. "
            "Use fewer samples, store pictures as uint8 and divide in the model "
            "(keras.layers.Rescaling), or use model.fit, which copies batch by batch."
        )


def free_here(root: str = "/") -> int | None:
    """Return the bytes of memory that are free: of the machine, or of a container if that is less.

    They are read from files of Linux under `root`. Where there are none, None is returned.
    """
    group = Path(root) / "sys/fs/cgroup"
    limits = []
    with suppress(OSError, ValueError, IndexError):
        for line in (Path(root) / "proc/meminfo").read_text().splitlines():
            # "MemAvailable:   12345678 kB"
            if line.startswith("MemAvailable"):
                kilobytes = line.split()[1]
                limits.append(1024 * int(kilobytes))
        # A container without a limit has "max" there, which is no number: that ends the block.
        most_bytes = int((group / "memory.max").read_text())
        used_bytes = int((group / "memory.current").read_text())
        limits.append(most_bytes - used_bytes)
    return min(limits, default=None)
