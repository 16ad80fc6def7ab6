"""Where to train, and on which framework: decided on recorded machines, healthy and faulty ones."""

import re

import machines
import pytest
from machines import keras_on

from accel_helpers.machine import backend, doctor, strategy


@pytest.fixture
def on(tmp_path):
    """Pick on a recorded machine; what is given replaces what was recorded."""
    folders = iter(range(9))

    def choose(name, **changes):
        machine = machines.MACHINES[name].but(**changes)
        (folder := tmp_path / str(next(folders))).mkdir()
        return strategy.pick(**machine.build(folder), loaded=machine.loaded)

    return choose


NOT_TOLD = {"no-accelerator-colab", "no-accelerator-kaggle", "framework-missing",
             "tensorflow-tpu-without-tpu", "tensorflow-twice", "keras-not-on-jax",
             "jax-trains-wrongly", "jax-computes-wrongly"}  # fmt: skip


@pytest.mark.parametrize("name", machines.MACHINES)
def test_every_machine_trains_where_it_can_or_hears_the_doctors_words(on, name, tmp_path):
    picked = on(name)
    assert (picked.kind, picked.backend, picked.replicas) == machines.MACHINES[name].picks
    assert picked.kind in strategy.KINDS
    assert str(picked).startswith("Train on ")
    assert "  " not in str(picked)
    assert "10.255" not in picked.reason, "no address is told"
    (tmp_path / "told").mkdir()
    machine = machines.MACHINES[name]
    told = doctor.diagnose(**machine.build(tmp_path / "told"), loaded=machine.loaded)
    for fault in told.findings if picked.kind == "cpu" else ():
        assert fault.id in NOT_TOLD or fault.cause in picked.reason


def test_gpus_that_the_framework_does_not_see_are_an_error_and_no_silent_cpu(on, keras):
    picked = on("kaggle t4 x2")
    with pytest.raises(RuntimeError, match="has 2 GPUs and TensorFlow sees 0"):
        picked.build()


@pytest.mark.parametrize("name", machines.MACHINES)
def test_choose_takes_the_framework_that_pick_takes(name, tmp_path):
    machine = machines.MACHINES[name]
    recorded = machine.build(tmp_path)
    refused = ("keras-backend-unknown", "keras-backend-not-installed", "framework-missing")
    for fault in doctor.diagnose(**recorded, loaded={}).findings:
        if fault.id in refused:
            with pytest.raises((ValueError, RuntimeError), match=re.escape(fault.fix)):
                backend.choose(**recorded)
            return
    asked = machine.environ.get("KERAS_BACKEND")
    choice = backend.choose(**recorded)
    assert recorded["environ"]["KERAS_BACKEND"] == choice.name
    assert choice.reason.endswith(".")
    if asked or not machine.loaded:  # PyTorch trains where nothing else is, on no strategy of ours
        others = "torch" if "torch" in machine.packages else machine.picks[1]
        assert choice.name == (asked or others)


@pytest.mark.parametrize("name", ["tensorflow", "jax"])
@pytest.mark.parametrize("machine", ["colab cpu", "colab t4"])
def test_a_loaded_keras_wins_over_the_variable_and_that_over_the_rest(on, machine, name):
    other = {"tensorflow": "jax", "jax": "tensorflow"}[name]
    assert on(machine, environ={"KERAS_BACKEND": name}).backend == name
    loaded = on(machine, environ={"KERAS_BACKEND": other}, loaded=keras_on(name))
    assert loaded.backend == name


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("kaggle t4 x2", "2 GPUs, with Keras on TensorFlow. "),
        ("kaggle v5e-8", "8 TPU chips, with Keras on JAX. "),
        ("colab v5e-1", "a TPU, with Keras on JAX. "),
        ("colab cpu", "the CPU, with Keras on TensorFlow. "),
    ],
)
def test_it_says_on_what_it_trains(on, name, words):
    assert str(on(name)).startswith(f"Train on {words}")


@pytest.mark.parametrize(
    ("setting", "visible"),
    [("0", 1), ("1,0", 2), ("0,7,1", 1), ("0,0,1", 1), ("GPU-8a,1", 2),
     *((hides, 0) for hides in ("", " ", "-1", "2", "7", "NoDevFiles"))],
)  # fmt: skip
def test_cuda_counts_up_to_the_first_entry_that_names_no_gpu(on, setting, visible):
    picked = on("kaggle t4 x2", environ={"CUDA_VISIBLE_DEVICES": setting})
    assert (0 if picked.kind == "cpu" else picked.replicas) == visible


OFF_TPU = {"tensorflow": None, "tensorflow-tpu": "2.20.0"}


def test_a_tensorflow_for_tpus_trains_on_a_cpu_only_where_nothing_else_can(on):
    assert on("colab cpu", packages=OFF_TPU).backend == "jax"
    asked = on("colab cpu", packages=OFF_TPU, environ={"KERAS_BACKEND": "tensorflow"})
    assert asked.backend == "jax"
    assert "tensorflow-tpu 2.20.0" in asked.reason
    alone = {**OFF_TPU, "jax": None, "jaxlib": None}
    assert on("colab cpu", packages=alone).backend == "tensorflow"
    assert on("colab cpu", packages=OFF_TPU, loaded=keras_on("tensorflow")).backend == "tensorflow"
