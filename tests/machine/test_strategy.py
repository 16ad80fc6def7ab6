"""Where to train, and on which framework: decided on recorded machines, healthy and faulty ones."""

import machines
import pytest
from machines import keras_on

from accel_helpers.machine import backend, facts, faults, strategy


@pytest.fixture
def on(tmp_path):
    """Pick on a recorded machine; what is given replaces what was recorded."""
    folders = iter(range(9))

    def choose(name, **changes):
        machine = machines.MACHINES[name].but(**changes)
        (folder := tmp_path / str(next(folders))).mkdir()
        return strategy.pick(**machine.build(folder), loaded=machine.loaded)

    return choose


@pytest.mark.parametrize("name", machines.MACHINES)
def test_every_machine_trains_where_it_can_or_hears_why_not(on, name, tmp_path):
    machine = machines.MACHINES[name]
    picked = on(name)
    assert (picked.kind, picked.backend, picked.replicas) == machine.picks
    assert str(picked).startswith("Train on ")
    found = faults.find(facts.Facts(**machine.build(tmp_path), loaded=machine.loaded))
    if picked.kind == "cpu":
        alone = "No accelerator is attached" in picked.reason
        assert alone or any(one.cause in picked.reason for one in found)


def test_every_fault_has_words_and_a_machine_that_shows_it():
    shown = {fault for machine in machines.MACHINES.values() for fault in machine.finds}
    assert shown == facts.tables("faults.toml")["fault"].keys()


@pytest.mark.parametrize("name", machines.MACHINES)
def test_choose_takes_the_framework_that_pick_takes(name, tmp_path):
    machine = machines.MACHINES[name]
    facts = faults.Facts(**machine.build(tmp_path))
    if {"framework-missing", "keras-backend-unknown"} & {*machine.finds}:
        with pytest.raises(ValueError, match="Run: |Name another"):
            backend.settle(facts)
        return
    choice = backend.settle(facts)
    assert facts.environ["KERAS_BACKEND"] == choice.name
    if not machine.loaded:
        # PyTorch trains where nothing else is, on no strategy of ours.
        others = "torch" if "torch" in machine.packages else machine.picks[1]
        assert choice.name == machine.environ.get("KERAS_BACKEND", others)


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
        ("kaggle v5e-8", "the TPU (chips: 8), with Keras on JAX. "),
        ("colab cpu", "the CPU, with Keras on TensorFlow. "),
    ],
)
def test_it_says_on_what_it_trains(on, name, words):
    assert str(on(name)).startswith(f"Train on {words}")


@pytest.mark.parametrize(
    ("setting", "visible"),
    [("0", 1), ("1,0", 2), ("0,7,1", 1), ("GPU-8a,1", 2),
     *((hides, 0) for hides in ("", " ", "-1", "2", "7", "NoDevFiles"))],
)  # fmt: skip
def test_cuda_counts_up_to_the_first_entry_that_names_no_gpu(on, setting, visible):
    picked = on("kaggle t4 x2", environ={"CUDA_VISIBLE_DEVICES": setting})
    assert (0 if picked.kind == "cpu" else picked.replicas) == visible
    assert ("CUDA_VISIBLE_DEVICES" in picked.reason) == (visible < 2)
