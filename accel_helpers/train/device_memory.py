"""The data of `resident`: checked as arrays, measured against free memory, put on a device."""

from contextlib import suppress
from functools import partial
from pathlib import Path

from accel_helpers._values.words import format_bytes
from accel_helpers.machine import backend

RESERVE = 0.1  # share of the free memory that is left for what a step needs while it runs
ORDER_BYTES = 16  # for each sample: two random numbers of four bytes, their order, and a copy
FRAMEWORKS = ("tensorflow", "jax", "jaxlib")  # whose tensors are taken as they are
NUMBERS = "fiub"  # NumPy's letters for floats, integers, unsigned integers and booleans


def as_arrays(data, label: str):
    """Check a pair of inputs and targets, and return them as arrays without copying them.

    A ValueError or a TypeError names it by `label`, such as "x and y".
    """
    import keras

    if not isinstance(data, (tuple, list)) or len(data) != 2:
        raise ValueError(f"{label} must be a pair (x, y); sample weights are not supported.")
    arrays = keras.tree.map_structure(partial(_as_array, label=label), tuple(data))
    counts = {int(array.shape[0]) for array in keras.tree.flatten(arrays)}
    if len(counts) != 1 or 0 in counts:
        raise ValueError(
            f"{label} must have the same number of samples, at least one; got {sorted(counts)}."
        )
    return arrays


def _as_array(value, label: str):
    """A tensor of the framework as it is, everything else as an array of numbers."""
    import numpy as np

    package = type(value).__module__.partition(".")[0]
    if package in FRAMEWORKS:
        return value
    if hasattr(value, "__array__"):
        array = np.asarray(value)
        if array.ndim > 0 and array.dtype.kind in NUMBERS:
            return array
    unfit_type = getattr(value, "dtype", type(value).__name__)
    raise TypeError(
        f"{label} must be arrays of numbers, or lists, tuples or dicts of arrays; got "
        f"{unfit_type}. A list of numbers: np.asarray(it). "
        "Generators and tf.data go to model.fit."
    )


def memory_needed(x, y, validation_data: tuple = ()) -> int:
    """Count the bytes that these arrays, and the order of the samples, will take on a device."""
    import keras

    arrays = keras.tree.flatten((x, y, validation_data))
    samples = len(arrays[0])
    return sum(_bytes_on_device(array) for array in arrays) + ORDER_BYTES * samples


def _bytes_on_device(array) -> int:
    """The bytes that `as_tensors` will allocate for an array."""
    import keras
    import numpy as np

    # A tensor is on the device already.
    if not isinstance(array, np.ndarray):
        return 0
    dtype = array.dtype
    if dtype.kind == "f":
        dtype = np.dtype(keras.config.floatx())
    return array.size * dtype.itemsize


def as_tensors(data, device: str):
    """Put the data on a device, floats in Keras's float type."""
    import keras

    with backend.on(device):
        return keras.tree.map_structure(_as_tensor, data)


def _as_tensor(value):
    """A tensor on the device that Keras works on now."""
    import keras
    import numpy as np

    if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
        return keras.ops.convert_to_tensor(value)
    # Where the type is named, Keras on JAX copies once and not twice.
    dtype = keras.config.floatx()
    return keras.ops.convert_to_tensor(value.astype(dtype, copy=False), dtype)


def check_room(needed: int, device: str) -> None:
    """Refuse data that do not fit into the computer's memory, with a MemoryError.

    Only for the CPU: running out of its memory kills the kernel, while a full GPU or TPU raises an
    error by itself.
    """
    if device != "cpu":
        return
    free = free_here()
    if free is None:
        return
    if needed > (1 - RESERVE) * free:
        raise MemoryError(
            f"fit_resident keeps all data in memory: {format_bytes(needed)} with their order, and "
            f"{format_bytes(free)} are free here, of which a tenth is left for the steps. Use "
            "fewer samples, store pictures as uint8 and divide in the model "
            "(keras.layers.Rescaling), or use model.fit, which copies batch by batch."
        )


def free_here(root: str = "/") -> int | None:
    """Return the bytes that are free: of the machine's memory, or of a container's share of it.

    None where the system does not say.
    """
    sizes = [_available_memory(Path(root)), _left_of_container_limit(Path(root))]
    return min((size for size in sizes if size is not None), default=None)


def _available_memory(root: Path) -> int | None:
    """The bytes that Linux has available, or None."""
    with suppress(OSError, ValueError, IndexError):
        for line in (root / "proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable"):
                kibibytes = int(line.split()[1])
                return 1024 * kibibytes
    return None


def _left_of_container_limit(root: Path) -> int | None:
    """The bytes that a control group may still take, or None where it has no limit."""
    group = root / "sys/fs/cgroup"
    # Without a limit the file says "max", which is no number.
    with suppress(OSError, ValueError):
        limit = int((group / "memory.max").read_text())
        used = int((group / "memory.current").read_text())
        return limit - used
    return None
