"""Data that do not fit are refused before they are copied."""

import tracemalloc

import pytest

from accel_helpers.train import device_memory, resident, training


def test_too_much_data_is_refused_before_anything_is_copied(keras, digits):
    x, y = digits

    needed = resident.memory_needed(x, y)
    assert needed == x.nbytes + y.nbytes + 16 * len(x)
    model = training.quickstart_model(dropout=0)
    doubles = x.astype("float64")  # would be turned into Keras's float type, half as large
    assert resident.memory_needed(doubles, y) == needed
    tracemalloc.start()  # NumPy's arrays are in its count
    with pytest.raises(MemoryError, match=r"1\.58 MB .*1\.58 MB are free.*Nothing was copied.*fit"):
        training.fit_resident(model, doubles, y, memory=needed, verbose=0)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < x.nbytes / 2, "nothing of that size was made"
    assert not model.optimizer.built, "nothing was begun"
    training.fit_resident(model, x, y, memory=int(needed / 0.89), verbose=0)
    on_device = keras.ops.convert_to_tensor(x)
    assert resident.memory_needed(on_device, y) == needed - x.nbytes, "a tensor is there already"
    more = resident.memory_needed(x, y, validation_data=(x, y))
    assert more == needed + x.nbytes + y.nbytes
    with pytest.raises(MemoryError):
        training.fit_resident(
            model, x, y, validation_data=(x, y), memory=int(needed / 0.89), verbose=0
        )


def test_free_memory_is_read_from_the_machine_or_its_container(tmp_path):
    assert device_memory.free_here(tmp_path) is None
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").write_text("MemTotal: 9000 kB\nMemAvailable: 5000 kB\n")
    assert device_memory.free_here(tmp_path) == 5000 * 1024
    (tmp_path / "sys/fs/cgroup").mkdir(parents=True)
    (tmp_path / "sys/fs/cgroup/memory.max").write_text("max\n")
    assert device_memory.free_here(tmp_path) == 5000 * 1024
    (tmp_path / "sys/fs/cgroup/memory.max").write_text("3000000\n")
    (tmp_path / "sys/fs/cgroup/memory.current").write_text("1000000\n")
    assert device_memory.free_here(tmp_path) == 2_000_000
