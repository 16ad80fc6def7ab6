"""The data of `resident`: arrays, their room in memory, and their way to a device."""

from contextlib import suppress
from functools import partial
from pathlib import Path

from accel_helpers._values.words import format_bytes
from accel_helpers.machine import backend

RESERVE = 0.1  # of the free memory: left for what a step needs while it runs
ORDER_BYTES = 16  # for each sample: two random numbers of four bytes, their order, and a copy


def as_arrays(data, what: str):
    """Return a pair (x, y) as arrays, not copied; x and y may be lists or dicts of arrays.

    `what` is the pair's name in errors. Raises ValueError where it is no pair or where the numbers
    of samples differ, and TypeError for what is no array of numbers.
    """
    import keras

    if not isinstance(data, (tuple, list)) or len(data) != 2:
        raise ValueError(f"{what} must be a pair (x, y); sample weights are not supported.")
    arrays = keras.tree.map_structure(partial(_array, what=what), tuple(data))
    counts = {int(array.shape[0]) for array in keras.tree.flatten(arrays)}
    if len(counts) != 1 or 0 in counts:
        raise ValueError(
            f"{what} must have the same number of samples, at least one; got {sorted(counts)}."
        )
    return arrays


def _array(value, what: str):
    """Return a framework's tensor as it is, and everything else as an array of NumPy's.

    Raises TypeError for what is no array of numbers, and for a single number.
    """
    import numpy as np

    package = type(value).__module__.partition(".")[0]
    if package in ("tensorflow", "jax", "jaxlib"):
        return value
    array = None
    if hasattr(value, "__array__"):
        array = np.asarray(value)
    # Floats, integers, unsigned ones and truth values.
    if array is None or array.ndim == 0 or array.dtype.kind not in "fiub":
        raise TypeError(
            f"{what} must be arrays of numbers, or lists, tuples or dicts of arrays; got "
            f"{getattr(value, 'dtype', type(value).__name__)}. A list of numbers: np.asarray(it). "
            "Generators and tf.data go to model.fit."
        )
    return array


def memory_needed(x, y, validation_data: tuple = ()) -> int:
    """Return the bytes that these arrays will take on a device, with the order of the samples.

    Tensors count as nothing, since they are on the device already.
    """
    import keras
    import numpy as np

    arrays = keras.tree.flatten((x, y, validation_data))
    total = ORDER_BYTES * len(arrays[0])
    for array in arrays:
        if not isinstance(array, np.ndarray):
            continue
        dtype = array.dtype
        if dtype.kind == "f":
            dtype = np.dtype(keras.config.floatx())
        total += array.size * dtype.itemsize
    return total


def as_tensors(data, device: str):
    """Return all arrays of `data` as tensors on a device, floats in Keras's float type."""
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
    """Raise MemoryError where so many bytes of data find no room in the computer's memory.

    To run out of it would end the kernel.
    """
    # A GPU or TPU that is full raises an error and ends nothing.
    if device != "cpu":
        return
    free = free_here()
    if free is not None and needed > (1 - RESERVE) * free:
        raise MemoryError(
            f"fit_resident keeps all data in memory: {format_bytes(needed)} with their order, and "
            f"{format_bytes(free)} are free here, of which a tenth is left for the steps. Use "
            "fewer samples, store pictures as uint8 and divide in the model "
            "(keras.layers.Rescaling), or use model.fit, which copies batch by batch."
        )


def free_here(root: str = "/") -> int | None:
    """Return the free bytes of the machine's memory, or of a container's share if that is less.

    None where it cannot be read, as on a Mac. `root` is the folder in which /proc and /sys lie.
    """
    group = Path(root) / "sys/fs/cgroup"
    free = []
    with suppress(OSError, ValueError, IndexError):
        for line in (Path(root) / "proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable"):
                kilobytes = line.split()[1]
                free.append(1024 * int(kilobytes))
        # The limit "max" is none, and no number.
        limit = int((group / "memory.max").read_text())
        used = int((group / "memory.current").read_text())
        free.append(limit - used)
    return min(free, default=None)
