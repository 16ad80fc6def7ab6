"""The data of `resident`: arrays, their room in memory, and their way to a device."""

from contextlib import suppress
from functools import partial
from pathlib import Path

from accel_helpers._values.words import format_bytes
from accel_helpers.machine import backend

RESERVE = 0.1  # of the free memory: left for what a step needs while it runs
ORDER_BYTES = 16  # for each sample: two random numbers of four bytes, their order, and a copy


def as_arrays(data, what: str):
    """A pair of inputs and targets, checked and not copied."""
    import keras

    if not isinstance(data, (tuple, list)) or len(data) != 2:
        raise ValueError(f"{what} must be a pair (x, y); sample weights are not supported.")
    arrays = keras.tree.map_structure(partial(_array, what=what), tuple(data))
    counts = {int(array.shape[0]) for array in keras.tree.flatten(arrays)}
    if len(counts) != 1 or 0 in counts:
        said = f"{what} must have the same number of samples, at least one"
        raise ValueError(f"{said}; got {sorted(counts)}.")
    return arrays


def _array(value, what: str):
    """A tensor of the framework as it is, everything else as an array of numbers."""
    import numpy as np

    if type(value).__module__.partition(".")[0] in ("tensorflow", "jax", "jaxlib"):
        return value
    array = np.asarray(value) if hasattr(value, "__array__") else None
    if array is None or array.ndim == 0 or array.dtype.kind not in "fiub":
        raise TypeError(
            f"{what} must be arrays of numbers, or lists, tuples or dicts of arrays; got "
            f"{getattr(value, 'dtype', type(value).__name__)}. A list of numbers: np.asarray(it). "
            "Generators and tf.data go to model.fit."
        )
    return array


def memory_needed(x, y, validation_data: tuple = ()) -> int:
    """Bytes that these arrays will take on a device, and the order of the samples."""
    import keras
    import numpy as np

    def size(array):
        if not isinstance(array, np.ndarray):
            return 0  # a tensor, which is there already
        kind = keras.config.floatx() if array.dtype.kind == "f" else array.dtype
        return array.size * np.dtype(kind).itemsize

    arrays = keras.tree.flatten((x, y, validation_data))
    return sum(map(size, arrays)) + ORDER_BYTES * len(arrays[0])


def as_tensors(data, device: str):
    """The data on a device, floats in Keras's float type."""
    import keras
    import numpy as np

    def tensor(value):
        if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
            return keras.ops.convert_to_tensor(value)
        kind = keras.config.floatx()  # where it is named, Keras on JAX copies once and not twice
        return keras.ops.convert_to_tensor(value.astype(kind, copy=False), kind)

    with backend.on(device):
        return keras.tree.map_structure(tensor, data)


def check_room(needed: int, device: str) -> None:
    """Refuse data for which the computer has no room: to run out of its memory ends the kernel."""
    free = free_here() if device == "cpu" else None  # a full GPU or TPU is an error, no end
    if free is not None and needed > (1 - RESERVE) * free:
        raise MemoryError(
            f"fit_resident keeps all data in memory: {format_bytes(needed)} with their order, and "
            f"{format_bytes(free)} are free here, of which a tenth is left for the steps. Use "
            "fewer samples, store pictures as uint8 and divide in the model "
            "(keras.layers.Rescaling), or use model.fit, which copies batch by batch."
        )


def free_here(root: str = "/") -> int | None:
    """What the computer has left: of the machine's memory, or of a container's share."""
    found, group = [], Path(root) / "sys/fs/cgroup"
    with suppress(OSError, ValueError, IndexError):
        lines = (Path(root) / "proc/meminfo").read_text().splitlines()
        found += [1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable")]
        limit, used = ((group / f"memory.{name}").read_text() for name in ("max", "current"))
        found += [int(limit) - int(used)]  # the limit "max" is none
    return min(found, default=None)
