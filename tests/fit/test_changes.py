"""Changes that `profile_fit` tries: each one trains, and does what its name says."""

import os
from pathlib import Path

import numpy as np
import psutil
import pytest
from accel_helpers.fit.checked_call import checked_call

from accel_helpers.fit import changes, device_memory, other_backend
from accel_helpers.fit.profile_result import Change
from accel_helpers.fit.proposal import ELSEWHERE
from accel_helpers.machine import backend

SAMPLES = 2560  # 80 steps of 32
X = np.arange(3.0 * SAMPLES, dtype="float32").reshape(-1, 3) / SAMPLES
Y = np.arange(1.0 * SAMPLES, dtype="float32").reshape(-1, 1) / SAMPLES
ARRAYS, DATASET, BATCHES = "arrays", "a tf.data.Dataset", "a PyDataset"


@pytest.fixture
def make_model(keras):
    def make_model():
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4), keras.layers.Dense(1)])
        model.compile("sgd", "mse", jit_compile=backend.framework() == "jax")
        return model

    return make_model


def rows(index, size=32):
    return X[size * index : size * (index + 1)], Y[size * index : size * (index + 1)]


def py_dataset(keras, steps=80, make=rows, **settings):
    class Data(keras.utils.PyDataset):
        def __len__(self):
            return steps

        def __getitem__(self, index):
            return make(index)

    return Data(**settings)


def tf_dataset(size=32):
    tf = pytest.importorskip("tensorflow")
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(size)


@pytest.fixture
def call_of(keras, make_model):
    """The training on data of some form."""

    def call_of(form=ARRAYS, **arguments):
        if form == ARRAYS:
            return checked_call(make_model, X, Y, arguments)
        data = tf_dataset() if form == DATASET else py_dataset(keras)
        return checked_call(make_model, data, None, arguments)

    return call_of


def proposed(verdict, call, slowest=""):
    """The changes that are proposed, by name."""
    found = changes.proposals(verdict, call, call.make_model(), call.first_batches(4, 60), slowest)
    return {proposal.name: proposal for proposal in found}


def applied(proposal):
    """The function and the arguments that somebody gets from `apply`."""
    assert proposal.reason == ""
    return Change(proposal.name, gain=None, note="", call=proposal.make_call()).apply()


def read(data):
    """The batches of data, as arrays."""
    if hasattr(data, "rebatch"):
        return list(data.as_numpy_iterator())
    return [data[index] for index in range(len(data))]


def same_batches(found, expected):
    assert len(found) == len(expected)
    for batch, other in zip(found, expected, strict=True):
        for array, kept in zip(batch, other, strict=True):
            assert np.array_equal(array, kept)


# Each change trains


@pytest.mark.parametrize(
    ("verdict", "form"),
    [
        ("input", DATASET),
        ("input", BATCHES),
        ("overhead", ARRAYS),
        ("overhead", DATASET),
        ("memory", ARRAYS),
        ("callbacks", ARRAYS),
        ("validation", ARRAYS),
        ("compilation", DATASET),
    ],
)
def test_every_change_that_is_proposed_trains(keras, call_of, tmp_path, verdict, form):
    saving = keras.callbacks.ModelCheckpoint(tmp_path / "model.keras", save_freq=50)
    arguments = {"callbacks": [saving], "validation_data": (X[:64], Y[:64])}
    call = call_of(form, **arguments)
    trained = []
    for proposal in proposed(verdict, call, "ModelCheckpoint").values():
        if proposal.reason or proposal.timed == ELSEWHERE or "cache_dir" in proposal.name:
            continue
        make, arguments = applied(proposal)
        history = make().fit(**arguments, epochs=1, verbose=0)
        assert np.isfinite(history.history["loss"][0]), proposal.name
        trained.append(proposal.name)
    assert trained


# Batches


def test_larger_batches_are_eight_times_as_large(call_of):
    call = call_of(batch_size=16)
    _, arguments = applied(proposed("memory", call)["batch_size=128"])
    assert arguments["batch_size"] == 128
    assert arguments["x"] is X


def test_a_dataset_in_larger_batches_has_the_same_samples_in_the_same_order(call_of):
    changed = proposed("memory", call_of(DATASET))["batch_size=256"].make_call()
    batches = read(changed.arguments["x"])
    assert [len(x) for x, _ in batches] == [256] * 10
    assert np.array_equal(np.concatenate([y for _, y in batches]), Y)
    assert int(changed.arguments["x"].cardinality()) == changed.steps == 10


def test_an_epoch_in_larger_batches_has_an_eighth_of_the_steps(call_of):
    for form, arguments in ((ARRAYS, {}), (DATASET, {}), (DATASET, {"steps_per_epoch": 40})):
        call = call_of(form, **arguments)
        changed = proposed("memory", call)["batch_size=256"].make_call()
        assert changed.steps == call.steps / 8
        assert changed.arguments.get("steps_per_epoch") in (None, changed.steps)


@pytest.mark.parametrize(("form", "said"), [(BATCHES, "own batches"), (ARRAYS, "only 20 steps")])
def test_batches_that_cannot_grow_are_said(call_of, form, said):
    call = call_of(form, **({"batch_size": 128} if form == ARRAYS else {}))
    [proposal] = [found for name, found in proposed("memory", call).items() if "batch" in name]
    assert said in proposal.reason


# Steps, and how they are compiled


def test_grouped_steps_are_sixteen_per_execution(call_of, monkeypatch):
    monkeypatch.setattr(backend, "groups_steps", lambda: True)
    make, _ = applied(proposed("overhead", call_of())["steps_per_execution=16"])
    assert make().steps_per_execution == 16


def set_after_compiling(make_model, name, value):
    """A function that makes the same model with another setting of `compile`."""

    def make():
        model = make_model()
        setattr(model, name, value)
        return model

    return make


def test_xla_is_tried_where_the_model_goes_without(call_of, make_model):
    without_xla = set_after_compiling(make_model, "jit_compile", False)
    call = call_of().with_model(without_xla)
    make, _ = applied(proposed("compute", call)["jit_compile=True"])
    assert make().jit_compile is True
    assert proposed("compute", call.with_model(make))["jit_compile=True"].reason == "you have it"


@pytest.mark.filterwarnings("ignore:Model doesn't support")
def test_xla_is_refused_where_keras_refuses_it(keras, call_of):
    class Eager(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.supports_jit = False

        def call(self, x):
            return x

    def make_model():
        model = keras.Sequential([keras.Input((3,)), Eager(), keras.layers.Dense(1)])
        model.compile("sgd", "mse", jit_compile=False)
        return model

    make, _ = applied(proposed("compute", call_of().with_model(make_model))["jit_compile=True"])
    with pytest.raises(ValueError, match="XLA cannot compile"):
        make()


def test_16_bits_are_for_a_gpu_and_for_this_model_alone(keras, call_of, monkeypatch):
    call = call_of()
    assert proposed("compute", call)["mixed_float16"].reason
    monkeypatch.setattr(backend, "devices", lambda: ("cpu", "gpu"))
    make, _ = applied(proposed("compute", call)["mixed_float16"])
    assert make().layers[0].dtype_policy.name == "mixed_float16"
    assert call.make_model().layers[0].dtype_policy.name == "float32"


@pytest.mark.parametrize("setting", ["run_eagerly=True", "jit_compile=False"])
def test_a_training_that_mostly_compiles_may_go_without(call_of, make_model, setting):
    with_xla = set_after_compiling(make_model, "jit_compile", True)
    found = proposed("compilation", call_of(epochs=2).with_model(with_xla))
    if backend.framework() == "jax" and setting not in found:
        pytest.skip("on JAX a model that is not compiled runs eagerly")
    make, _ = applied(found[setting])
    name, _, value = setting.partition("=")
    assert str(getattr(make(), name)) == value


def test_a_long_training_is_not_to_run_eagerly(call_of):
    assert "run_eagerly=True" not in proposed("compilation", call_of(epochs=3))


def test_batches_of_several_shapes_are_padded_by_hand_and_of_one_shape_not(keras, call_of):
    """A last batch may have fewer samples."""

    def found(make):
        data = py_dataset(keras, 2, make)
        return proposed("compilation", checked_call(call_of().make_model, data, None, {}))

    name = "batches padded to one shape"
    longer = found(lambda index: (np.zeros((32, 4 + index, 3), "float32"), Y[:32]))
    assert "pad them" in longer[name].reason
    assert name not in found(lambda index: (X[: 32 - index], Y[: 32 - index]))


# The input


def test_workers_are_set_on_a_copy_of_the_data(keras, call_of):
    call = call_of(BATCHES)
    [name] = [name for name in proposed("input", call) if name.startswith("workers=")]
    _, arguments = applied(proposed("input", call)[name])
    assert arguments["x"].workers == int(name.removeprefix("workers="))
    assert arguments["x"].workers >= 4
    assert call.arguments["x"].workers == 1
    same_batches(read(arguments["x"]), read(call.arguments["x"]))


def test_workers_that_are_there_already_are_left(keras, make_model):
    data = py_dataset(keras, workers=max(4, os.cpu_count()))
    found = proposed("input", checked_call(make_model, data, None, {}))
    assert found[f"workers={data.workers}"].reason == "you have it"


@pytest.mark.parametrize("name", [".cache()", "prefetch(AUTOTUNE)"])
def test_a_pipeline_that_is_changed_gives_the_same_batches(call_of, name):
    call = call_of(DATASET)
    _, arguments = applied(proposed("input", call)[name])
    for _ in range(2):  # the second time they come from the cache
        same_batches(read(arguments["x"]), read(call.arguments["x"]))
    assert int(arguments["x"].cardinality()) == 80


def test_a_cache_reads_the_data_once(keras, make_model):
    tf = pytest.importorskip("tensorflow")
    seen = []

    def see(number):
        seen.append(int(number))
        return np.float32(number)

    def element(number):
        x = tf.numpy_function(see, [number], tf.float32)
        return tf.fill((3,), tf.ensure_shape(x, ())), tf.zeros((1,))

    data = tf.data.Dataset.range(8).map(element).batch(4)
    found = proposed("input", checked_call(make_model, data, None, {}))
    _, arguments = applied(found[".cache()"])
    seen.clear()
    read(arguments["x"])
    read(arguments["x"])
    assert seen == list(range(8))


def test_an_epoch_that_is_kept_in_memory_has_the_same_samples(keras, make_model):
    data = py_dataset(keras, 3, lambda index: (X[30 * index :][:30], Y[30 * index :][:30]))
    call = checked_call(make_model, data, None, {})
    changed = proposed("input", call)["an epoch kept in memory"].make_call()
    assert np.array_equal(changed.arguments["x"], X[:90])
    assert np.array_equal(changed.arguments["y"], Y[:90])
    assert changed.arguments["batch_size"] == 30
    assert changed.steps == 3


def test_a_generator_is_kept_in_memory_and_trains(keras, make_model):
    def batches():
        yield from map(rows, range(5))

    call = checked_call(make_model, batches, None, {"steps_per_epoch": 5})
    make, arguments = applied(proposed("input", call)["an epoch kept in memory"])
    assert np.array_equal(arguments["x"], X[:160])
    assert "steps_per_epoch" not in arguments
    make().fit(**arguments, verbose=0)


def test_data_that_do_not_fit_into_memory_are_not_kept(call_of, monkeypatch):
    monkeypatch.setattr(device_memory, "free_here", lambda: X.nbytes)
    for form, name in ((BATCHES, "an epoch kept in memory"), (DATASET, ".cache()")):
        assert "memory" in proposed("input", call_of(form))[name].reason


def test_arrays_of_64_bits_become_32_bits_and_others_are_not_touched(make_model):
    call = checked_call(make_model, X.astype("float64"), Y, {})
    _, arguments = applied(proposed("input", call)["float32 arrays"])
    assert arguments["x"].dtype == "float32"
    assert np.array_equal(arguments["x"], X)
    assert arguments["y"] is Y
    assert "float32 arrays" not in proposed("input", checked_call(make_model, X, Y, {}))


# Callbacks and validation


def test_a_checkpoint_is_written_once_an_epoch_by_a_copy(keras, call_of, tmp_path):
    mine = keras.callbacks.ModelCheckpoint(tmp_path / "model.keras", save_freq=5)
    other = keras.callbacks.TerminateOnNaN()
    found = proposed("callbacks", call_of(callbacks=[mine, other]), "ModelCheckpoint")
    _, arguments = applied(found["ModelCheckpoint(save_freq='epoch')"])
    calm, left = arguments["callbacks"]
    assert calm.save_freq == "epoch"
    assert mine.save_freq == 5
    assert left is other


@pytest.mark.parametrize("alone", [True, False])
def test_the_slowest_callback_is_left_out_and_no_other(keras, call_of, alone):
    slow, other = keras.callbacks.LambdaCallback(), keras.callbacks.TerminateOnNaN()
    callbacks = slow if alone else [slow, other]
    found = proposed("callbacks", call_of(callbacks=callbacks), "LambdaCallback")
    assert list(found) == ["without LambdaCallback"]
    _, arguments = applied(found["without LambdaCallback"])
    assert arguments.get("callbacks", []) == ([] if alone else [other])


def test_a_validation_gets_larger_batches_and_is_then_made_less_often(call_of):
    call = call_of(validation_data=(X, Y), batch_size=16)
    found = proposed("validation", call)
    assert list(found) == ["validation_batch_size=128", "validation_freq=5"]
    _, arguments = applied(found["validation_batch_size=128"])
    assert arguments["validation_batch_size"] == 128
    assert arguments["batch_size"] == 16
    _, arguments = applied(found["validation_freq=5"])
    assert arguments["validation_freq"] == 5


# Keras's other backend


def environments():
    """The backends of the processes that this one has started."""
    return [
        child.environ().get("KERAS_BACKEND")
        for child in psutil.Process().children(recursive=True)
        if child.status() != psutil.STATUS_ZOMBIE
    ]


def test_integers_beside_64_bit_floats_stay_integers(make_model):
    x = {"ids": np.full((64, 2), 2**24 + 1), "values": np.ones((64, 2))}
    call = checked_call(make_model, x, np.arange(64), {})
    changed = proposed("input", call)["float32 arrays"].make_call()
    assert changed.arguments["x"]["ids"].dtype == "int64"
    assert changed.arguments["x"]["values"].dtype == "float32"


def test_a_change_to_a_generator_can_be_handed_to_fit(keras, make_model):
    def batches():
        for index in range(80):
            yield rows(index)

    call = checked_call(make_model, batches, None, {"steps_per_epoch": 80})
    change = Change("none", gain=None, note="", call=call)
    make, arguments = change.apply()
    history = make().fit(**arguments, epochs=2, verbose=0)
    assert len(history.history["loss"]) == 2


def test_the_cache_of_jax_is_there_for_the_change_alone(make_model):
    if backend.framework() != "jax":
        pytest.skip("it is JAX's")
    import jax

    before = jax.config.jax_compilation_cache_dir
    call = checked_call(make_model, X, Y, {"epochs": 1})
    proposal = proposed("compilation", call)["jax_compilation_cache_dir"]
    proposal.make_call().make_model()
    assert jax.config.jax_compilation_cache_dir != before
    proposal.undo()
    assert jax.config.jax_compilation_cache_dir == before


@pytest.mark.slow
def test_the_other_backend_takes_turns_in_a_process_that_ends(call_of):
    other = other_backend.other_backend()
    if not other:
        pytest.skip("one framework is installed")
    before = environments()
    call = call_of(validation_data=(X[:64], Y[:64]), epochs=3)
    training = other_backend.OtherBackend(call, turn_seconds=0.05, extra_seconds=1000.0)
    try:
        turn = training.turn()
        assert other in environments()
    finally:
        training.close()
    assert 1000.0 < turn.epoch < 2000.0, "the callbacks' seconds are added"
    assert 0 < turn.validation < turn.epoch - 1000.0
    assert environments() == before


@pytest.mark.slow
def test_a_model_that_does_not_train_on_the_other_backend_is_said(keras, call_of):
    if not other_backend.other_backend():
        pytest.skip("one framework is installed")

    class Own(keras.layers.Layer):
        def call(self, x):
            return x

    def make_model():
        model = keras.Sequential([keras.Input((3,)), Own(), keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        return model

    before = environments()
    with pytest.raises(ValueError, match="classes of your own"):
        other_backend.OtherBackend(call_of().with_model(make_model), 0.05, 0.0)
    assert environments() == before


def test_data_that_cannot_travel_have_the_line_to_try(call_of):
    other = other_backend.other_backend()
    if not other:
        pytest.skip("one framework is installed")
    assert proposed("overhead", call_of())[f"KERAS_BACKEND={other}"].reason == ""
    found = proposed("overhead", call_of(BATCHES))[f"KERAS_BACKEND={other}"]
    assert f"KERAS_BACKEND={other}" in found.reason


def test_another_backend_cannot_be_applied_in_this_session():
    change = Change("KERAS_BACKEND=jax", gain=None, note="", call=None)
    with pytest.raises(ValueError, match="new session"):
        change.apply()


@pytest.mark.night
def test_it_holds_on_jax_too(on_jax):
    others = ("test_fit_call.py", "test_first_batches.py")
    on_jax("not on_jax", __file__, *map(Path(__file__).with_name, others))
