"""Where to train: decided on recorded machines, and tried out in processes of their own."""

import json
from types import SimpleNamespace

import machines
import pytest

from accel_helpers.machine import strategy
from accel_helpers.machine.strategy import pick
from accel_helpers.probe import Outcome


def keras_on(name):
    """Modules as they are where Keras is loaded; a strategy only looks at them."""
    backend = SimpleNamespace(backend=lambda: name)
    return {"keras": SimpleNamespace(backend=backend), name: SimpleNamespace()}


def no_child(code, *arguments, seconds, environ=()):
    raise AssertionError("nothing here is worth a child process")


@pytest.fixture
def on(tmp_path):
    """Pick on a recorded machine; what is given replaces what was recorded."""

    def choose(name, replicas=None, *, environ=(), packages=(), loaded=(), probe=no_child):
        recorded = machines.kwargs(name, tmp_path)
        recorded["environ"].update(environ)
        versions = {**machines.MACHINES[name].packages, **dict(packages)}
        recorded["versions"] = versions.get
        return pick(replicas, **recorded, loaded=dict(loaded), probe=probe)

    return choose


def child(kind="finished", **more):
    """A child process that ends so; it keeps what it was asked."""

    def probe(code, *arguments, seconds, environ=()):
        probe.asked.append((code, arguments, seconds, dict(environ)))
        return Outcome(kind, 0.1, **more)

    probe.asked = []
    return probe


# Every recorded machine


@pytest.mark.parametrize(
    ("name", "kind", "backend", "replicas", "with_four"),
    [
        ("colab cpu", "cpu", "tensorflow", 1, ("virtual replicas", 4)),
        ("colab t4", "one gpu", "tensorflow", 1, ("one gpu", 1)),
        ("colab l4", "one gpu", "tensorflow", 1, ("one gpu", 1)),
        ("colab a100", "one gpu", "tensorflow", 1, ("one gpu", 1)),
        ("colab g4", "one gpu", "jax", 1, ("one gpu", 1)),
        ("colab v5e-1", "tpu on jax", "jax", 1, ("tpu on jax", 1)),
        ("colab v5e-1, stock tensorflow", "tpu on jax", "jax", 1, ("tpu on jax", 1)),
        ("colab v5e-1, tensorflow-tpu 2.19.1", "tpu on tensorflow", "tensorflow", 1,
         ("tpu on tensorflow", 1)),
        ("colab v5e-1, tensorflow-tpu 2.20.0", "tpu on jax", "jax", 1, ("tpu on jax", 1)),
        ("colab, claimed tpu", "cpu", "jax", 1, ("virtual replicas", 4)),
        ("old tpu node", "cpu", "tensorflow", 1, ("virtual replicas", 4)),
        ("kaggle cpu", "cpu", "tensorflow", 1, ("virtual replicas", 4)),
        ("kaggle t4 x2", "several gpus", "tensorflow", 2, ("several gpus", 2)),
        ("kaggle v5e-8", "tpu on jax", "jax", 8, ("tpu on jax", 4)),
        ("laptop, nothing", "cpu", "tensorflow", 1, ("virtual replicas", 4)),
        ("laptop, tensorflow and a gpu", "one gpu", "tensorflow", 1, ("one gpu", 1)),
        ("a mac", "cpu", "tensorflow", 1, ("virtual replicas", 4)),
    ],
)  # fmt: skip
def test_every_recorded_machine(tmp_path, on, name, kind, backend, replicas, with_four):
    picked = on(name, probe=child("crashed"))
    assert (picked.kind, picked.backend, picked.replicas) == (kind, backend, replicas)
    (tmp_path / "machine").rename(tmp_path / "before")
    four = on(name, 4, probe=child("crashed"))
    assert (four.kind, four.replicas) == with_four
    for each in (picked, four):
        assert each.kind in strategy.KINDS and each.reason
        assert str(each).startswith("Train on ") and "  " not in str(each)
        assert json.loads(json.dumps(each.to_dict())) == each.to_dict()


def test_every_recorded_machine_is_in_the_table():
    (marks,) = (
        mark for mark in test_every_recorded_machine.pytestmark if mark.name == "parametrize"
    )
    assert [row[0] for row in marks.args[1]] == list(machines.MACHINES)


@pytest.mark.parametrize("replicas", [0, -1, 17, 2.0, "4", True, [2]])
def test_replicas_must_be_a_whole_number(replicas):
    with pytest.raises(ValueError) as caught:
        pick(replicas, environ={}, root="/nowhere")
    said = str(caught.value)
    assert "a whole number from 1 to 16" in said and f"got {replicas!r}" in said


@pytest.mark.parametrize("replicas", [None, 1])
def test_one_replica_is_the_plain_device(on, replicas):
    assert on("colab cpu", replicas).kind == "cpu"


def test_virtual_replicas_say_that_they_are_not_fast(on):
    assert "share the cores of this CPU" in on("colab cpu", 2).reason


# Advice


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("colab cpu", "Runtime → Change runtime type → T4 GPU"),
        ("kaggle cpu", "settings panel"),
        ("laptop, nothing", "Google Colab can lend a GPU"),
        ("colab, claimed tpu", "Disconnect and delete runtime"),
    ],
)
def test_a_missing_accelerator_is_advice(on, name, words):
    assert words in on(name).reason


def test_where_nothing_is_installed_the_reason_says_what_to_install(on):
    assert "pip install tensorflow" in on("laptop, nothing").reason


def test_a_claimed_tpu_is_not_believed(on):
    reason = on("colab, claimed tpu").reason
    assert "claims a TPU (v5e-1), but none is attached" in reason


def test_a_driver_without_a_gpu_is_named(tmp_path):
    recorded = machines.kwargs("colab cpu", tmp_path)
    (tmp_path / "machine/dev").mkdir()
    (tmp_path / "machine/dev/nvidiactl").touch()
    picked = pick(**recorded, loaded={}, probe=no_child)
    assert picked.kind == "cpu" and "nvidia-smi did not answer" in picked.reason


# What Keras is bound to


@pytest.mark.parametrize("name", ["tensorflow", "jax"])
@pytest.mark.parametrize("machine", ["colab cpu", "colab t4"])
def test_keras_backend_is_honoured_and_named(on, machine, name):
    picked = on(machine, environ={"KERAS_BACKEND": name})
    assert picked.backend == name and "KERAS_BACKEND asks for" in picked.reason


def test_a_loaded_keras_wins_over_the_variable(on):
    picked = on("colab cpu", environ={"KERAS_BACKEND": "tensorflow"}, loaded=keras_on("jax"))
    assert picked.backend == "jax" and "already loaded on JAX" in picked.reason


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("theano", "which Keras does not know; set it to tensorflow or jax"),
        ("torch", "which is not installed here"),
    ],
)
def test_a_backend_that_cannot_be_is_advice(on, value, words):
    picked = on("colab cpu", environ={"KERAS_BACKEND": value})
    assert picked.backend == "tensorflow" and repr(value) in picked.reason
    assert words in picked.reason


def test_torch_is_no_strategys_backend(on):
    picked = on("colab cpu", environ={"KERAS_BACKEND": "torch"}, packages={"torch": "2.11.0"})
    assert picked.backend == "tensorflow" and "no strategy here knows" in picked.reason


def test_keras_loaded_on_torch_needs_a_restart(on):
    picked = on("colab cpu", loaded=keras_on("torch"))
    assert "already loaded on PyTorch" in picked.reason and "restart" in picked.reason


@pytest.mark.parametrize("half", [SimpleNamespace(), None, SimpleNamespace(backend=None)])
def test_a_keras_that_is_loaded_by_half_counts_as_not_loaded(on, half):
    assert on("colab v5e-1", loaded={"keras": half}).kind == "tpu on jax"


# GPUs


def test_fewer_gpus_can_be_asked_for(on):
    picked = on("kaggle t4 x2", 1)
    assert (picked.kind, picked.replicas) == ("one gpu", 1)


def test_more_gpus_than_there_are_is_said(on):
    assert "4 replicas were asked for, and there are 2 GPUs" in on("kaggle t4 x2", 4).reason


@pytest.mark.parametrize("setting", ["", "-1", "7"])
def test_hidden_gpus_are_a_reason(on, setting):
    picked = on("colab t4", environ={"CUDA_VISIBLE_DEVICES": setting})
    assert picked.kind == "cpu" and f"CUDA_VISIBLE_DEVICES={setting!r} hides" in picked.reason


def test_a_gpu_that_is_hidden_in_part_is_not_counted(on):
    picked = on("kaggle t4 x2", environ={"CUDA_VISIBLE_DEVICES": "1"})
    assert (picked.kind, picked.replicas) == ("one gpu", 1)
    assert "shows 1 of 2" in picked.reason


def test_a_tensorflow_for_cpus_is_a_reason(on):
    packages = {"tensorflow": None, "tensorflow-cpu": "2.21.0", "jax-cuda12-plugin": None}
    picked = on("colab t4", packages=packages)
    assert (picked.kind, picked.backend) == ("cpu", "tensorflow")
    assert "tensorflow-cpu) is built without GPUs" in picked.reason
    assert "without its CUDA plugin" in picked.reason


def test_jax_takes_the_gpu_that_tensorflow_cannot(tmp_path, on):
    packages = {"tensorflow": None, "tensorflow-cpu": "2.21.0"}
    picked = on("colab t4", packages=packages)
    assert (picked.kind, picked.backend) == ("one gpu", "jax")
    (tmp_path / "machine").rename(tmp_path / "before")
    picked = on("colab t4", packages=packages, environ={"KERAS_BACKEND": "tensorflow"})
    assert (picked.kind, picked.backend) == ("cpu", "tensorflow")
    assert "set KERAS_BACKEND=jax and restart" in picked.reason


def test_jax_without_its_plugin_is_a_reason(on):
    packages = {"jax-cuda12-plugin": None}
    picked = on("colab t4", packages=packages, environ={"KERAS_BACKEND": "jax"})
    assert picked.kind == "cpu" and "jax-cuda12-plugin" in picked.reason
    assert "set KERAS_BACKEND=tensorflow and restart" in picked.reason


def test_jax_that_is_kept_off_the_gpu_is_a_reason(on):
    environ = {"KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu"}
    picked = on("colab t4", environ=environ)
    assert picked.kind == "cpu" and "JAX_PLATFORMS='cpu' keeps JAX off" in picked.reason


@pytest.mark.parametrize(("version", "backend"), [("2.20.0", "jax"), ("2.21.0", "tensorflow")])
def test_a_blackwell_gpu_needs_a_tensorflow_that_knows_it(on, version, backend):
    picked = on("colab g4", packages={"tensorflow": version})
    assert (picked.kind, picked.backend) == ("one gpu", backend)


def test_a_blackwell_gpu_on_an_old_tensorflow_comes_with_a_warning(on):
    picked = on("colab g4", environ={"KERAS_BACKEND": "tensorflow"})
    assert picked.kind == "one gpu" and "not built for this generation" in picked.reason


# TPUs


def test_stock_tensorflow_under_a_loaded_keras_trains_on_the_cpu_and_says_restart(on):
    picked = on("colab v5e-1, stock tensorflow", loaded=keras_on("tensorflow"))
    assert (picked.kind, picked.backend) == ("cpu", "tensorflow")
    assert "has no kernels for a TPU" in picked.reason
    assert "nothing to install" in picked.reason
    assert "Runtime → Restart session" in picked.reason and "pick before" in picked.reason


def test_stock_tensorflow_that_is_asked_for_trains_on_the_cpu(on):
    environ = {"KERAS_BACKEND": "tensorflow"}
    picked = on("colab v5e-1, stock tensorflow", environ=environ)
    assert (picked.kind, picked.backend) == ("cpu", "tensorflow")
    assert "take KERAS_BACKEND out of the environment" in picked.reason


def test_a_tensorflow_for_tpus_that_does_not_fit_gives_way_even_where_it_is_asked_for(on):
    environ = {"KERAS_BACKEND": "tensorflow"}
    picked = on("colab v5e-1, tensorflow-tpu 2.20.0", environ=environ)
    assert (picked.kind, picked.backend) == ("tpu on jax", "jax")
    assert "2.20.0 with libtpu 0.0.21.1 is not known to start a TPU" in picked.reason


def test_tensorflow_on_a_tpu_says_that_nobody_has_seen_it(on):
    picked = on("colab v5e-1, tensorflow-tpu 2.19.1")
    assert "has not seen this run" in picked.reason


def test_another_libtpu_does_not_fit(on):
    how = {"packages": {"libtpu": "0.0.21.1"}, "environ": {"KERAS_BACKEND": "tensorflow"}}
    picked = on("colab v5e-1, tensorflow-tpu 2.19.1", **how)
    assert (picked.kind, picked.backend) == ("tpu on jax", "jax")
    assert "2.19.1 with libtpu 0.0.21.1 is not known to start a TPU" in picked.reason


def test_tensorflow_that_is_loaded_before_its_settings_is_told_to_restart(on):
    loaded = {"tensorflow": SimpleNamespace()}
    picked = on("colab v5e-1, tensorflow-tpu 2.19.1", loaded=loaded)
    assert "Runtime → Restart session" in picked.reason


def test_jax_that_cannot_drive_the_tpu_is_a_reason(tmp_path, on):
    picked = on("colab v5e-1", packages={"libtpu": None})
    assert (picked.kind, picked.backend) == ("cpu", "jax")
    assert "without libtpu" in picked.reason
    (tmp_path / "machine").rename(tmp_path / "before")
    picked = on("colab v5e-1", environ={"JAX_PLATFORMS": "cpu"})
    assert picked.kind == "cpu" and "JAX_PLATFORMS" in picked.reason


def test_an_attached_tpu_needs_no_look_at_old_addresses(on):
    picked = on("colab v5e-1", environ={"COLAB_TPU_ADDR": "10.0.0.2:8470"})
    assert picked.kind == "tpu on jax"


# What could hang or crash


def test_the_old_tpu_node_is_asked_in_a_child_and_briefly(on):
    probe = child("crashed")
    reason = on("old tpu node", probe=probe).reason
    ((_, arguments, seconds, _),) = probe.asked
    assert arguments == ("10.255.255.1", "8470") and seconds <= 1.0
    assert "COLAB_TPU_ADDR is set" in reason and "nothing answers there" in reason
    assert "10.255" not in reason


def test_what_answers_at_the_old_address_is_left_alone(on):
    assert "is left alone" in on("old tpu node", probe=child("finished")).reason


@pytest.mark.parametrize("value", ["", " ", ":", "grpc://", "grpc://:8470", "no port",
                                   "host:port", "host:-1", "x:123456"])  # fmt: skip
@pytest.mark.parametrize("variable", ["COLAB_TPU_ADDR", "TPU_NAME"])
def test_nonsense_is_not_even_asked(on, variable, value):
    assert on("colab cpu", environ={variable: value}).kind == "cpu"


def test_the_name_of_a_tpu_that_is_not_there_is_named(on):
    assert "no such TPU here" in on("colab cpu", environ={"TPU_NAME": "my-tpu"}).reason


def test_the_name_local_is_no_address(on):
    assert "TPU_NAME" not in on("colab cpu", environ={"TPU_NAME": "local"}).reason


OFF_TPU = {"tensorflow": None, "tensorflow-tpu": "2.20.0"}


def test_a_tensorflow_for_tpus_gives_way_to_jax_on_a_cpu(on):
    picked = on("colab cpu", packages=OFF_TPU)
    assert picked.backend == "jax" and "pip uninstall -y tensorflow-tpu" in picked.reason


@pytest.mark.parametrize("how", [{"signal": "SIGABRT"}, {"output": "ImportError: no libtpu"}])
def test_where_it_is_asked_for_and_crashes_jax_trains(on, how):
    probe = child("crashed", **how)
    picked = on("colab cpu", packages=OFF_TPU, environ={"KERAS_BACKEND": "tensorflow"}, probe=probe)
    assert picked.backend == "jax"
    assert next(iter(how.values())) in picked.reason
    ((code, _, seconds, environ),) = probe.asked
    assert code == "import tensorflow" and seconds < 4.5
    assert environ == {"TPU_SKIP_MDS_QUERY": "1"}


@pytest.mark.parametrize(
    ("kind", "words"), [("finished", "jit_compile=False"), ("too slow", "was not done")]
)
def test_where_it_is_all_there_is_it_is_tried_in_a_child(on, kind, words):
    packages = {**OFF_TPU, "jax": None, "jaxlib": None}
    picked = on("colab cpu", packages=packages, probe=child(kind))
    assert picked.backend == "tensorflow" and words in picked.reason


def test_where_it_is_loaded_already_nothing_is_tried(on):
    picked = on("colab cpu", packages=OFF_TPU, loaded=keras_on("tensorflow"))
    assert picked.backend == "tensorflow"
