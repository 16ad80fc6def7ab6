"""What is said of every recorded machine, and where it trains."""

import pytest
from machines import MACHINES, build, keras_on

from accel_helpers.machine import backend, doctor, runtime, strategy
from accel_helpers.machine.facts import Facts, tables

NOTED = {"gpu-silent", "gpu-of-another-maker", "tpu-claimed", "another-chip"}


@pytest.mark.parametrize("name", MACHINES)
def test_every_machine_hears_what_is_wrong_and_trains_where_it_can(name, tmp_path):
    machine = MACHINES[name]
    facts = build(machine, tmp_path)
    finds = machine.get("finds", [])

    told = doctor.diagnose(**facts)
    assert [one.id for one in told.findings] == finds
    assert "{" not in str(told), "every brace was filled in"
    if name.startswith(("colab", "kaggle")):
        assert "pip install" not in str(told), "nothing is installed over what is there"

    found = runtime.describe(**facts)
    kind = "tpu" if machine.get("tpus") else "gpu" if machine.get("smi") else "cpu"
    assert found.kind == kind
    assert {*found.faults} == NOTED & {*finds}
    assert str(found).count("Note: ") == len(found.faults)

    picked = strategy.pick(**facts)
    assert [picked.kind, picked.backend, picked.replicas] == machine["picks"]
    assert str(picked).startswith("Train on ")
    if picked.kind == "cpu":
        alone = "No accelerator is attached" in picked.reason
        assert alone or any(one.cause in picked.reason for one in told.findings)

    if {"framework-missing", "keras-backend-unknown"} & {*finds}:
        with pytest.raises(ValueError, match="Run: |Name another"):
            backend.settle(Facts(**facts))
    elif not facts["loaded"]:
        chosen = backend.settle(Facts(**facts)).name
        # PyTorch trains where nothing else is, on no strategy of ours.
        assert chosen == ("torch" if "torch" in machine["packages"] else picked.backend)
        assert facts["environ"]["KERAS_BACKEND"] == chosen


def test_every_fault_has_words_and_a_machine_that_shows_it():
    shown = {fault for machine in MACHINES.values() for fault in machine.get("finds", [])}
    assert shown == tables("faults.toml")["fault"].keys()


def test_a_loaded_keras_wins_over_the_variable_and_that_over_the_rest(tmp_path):
    for machine in (MACHINES["colab cpu"], MACHINES["colab t4"]):
        for name, other in (("tensorflow", "jax"), ("jax", "tensorflow")):
            facts = build(machine, tmp_path, environ={"KERAS_BACKEND": name})
            assert strategy.pick(**facts).backend == name
            facts["loaded"] = {"keras": keras_on(other)}
            assert strategy.pick(**facts).backend == other


@pytest.mark.parametrize(
    ("setting", "visible"),
    [("0", 1), ("1,0", 2), ("0,7,1", 1), ("GPU-8a,1", 2), ("", 0), (" ", 0), ("-1", 0), ("2", 0)],
)
def test_cuda_counts_up_to_the_first_entry_that_names_no_gpu(tmp_path, setting, visible):
    facts = build(MACHINES["kaggle t4 x2"], tmp_path)
    facts["environ"]["CUDA_VISIBLE_DEVICES"] = setting
    picked = strategy.pick(**facts)
    assert (0 if picked.kind == "cpu" else picked.replicas) == visible
    assert ("CUDA_VISIBLE_DEVICES" in picked.reason) == (visible < 2)


def test_it_says_on_what_it_trains(tmp_path):
    said = {
        "kaggle t4 x2": "2 GPUs, with Keras on TensorFlow. ",
        "kaggle v5e-8": "the TPU (chips: 8), with Keras on JAX. ",
        "colab cpu": "the CPU, with Keras on TensorFlow. ",
    }
    for name, words in said.items():
        picked = strategy.pick(**build(MACHINES[name], tmp_path / name))
        assert str(picked).startswith(f"Train on {words}")
