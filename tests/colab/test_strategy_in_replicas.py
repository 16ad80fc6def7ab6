"""Strategies with Colab's packages: the scopes train there as they do here."""

import json
import subprocess

import pytest
import replica

SCRIPT = replica.ROOT / "tests" / "train_in_scopes.py"
SAME_LOSS = 1e-5  # relative: gradients are added up in another order, in float32

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]  # the first one makes the replica


@pytest.fixture
def train(colab):
    """Run the script of `train_in_scopes.py` on a replica, with this working tree's library."""

    def run(*arguments):
        done = subprocess.run(
            [str(colab.python), str(SCRIPT), *arguments],
            cwd=colab.environment["HOME"],
            env={**colab.environment, "PYTHONPATH": str(replica.ROOT)},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        assert not done.stderr.strip(), "a notebook would show this in red"
        return json.loads(done.stdout)

    run.backend = colab.runtime.backend
    return run


def test_several_sizes_in_one_kernel_train_alike(train):
    out = train("sizes", "1,2,4,2")
    one, *others = out["runs"]
    assert [run["used"] for run in out["runs"]] == [1, 2, 4, 2]
    for run in others:
        assert run["losses"] == pytest.approx(one["losses"], rel=SAME_LOSS)
    assert out["clean"]


def test_mishaps_leave_the_process_as_it_was(train):
    out = train("mishaps")
    assert out["clean"] and "A scope is open already" in out["nested"]
    assert out["after"]["used"] == 2
    shared_out = isinstance(out["partial"], list)
    assert shared_out == (train.backend == "tensorflow")


def test_after_a_look_at_the_devices_a_restart_is_asked_for_and_one_replica_trains(train):
    out = train("late")
    assert "Runtime → Restart session" in out["refused"]
    assert out["one"]["used"] == 1
