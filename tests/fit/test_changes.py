"""Changes that `profile_fit` tries: each one trains, and does what its name says."""

from pathlib import Path

import numpy as np
import pytest

from accel_helpers.fit import batches as fit_batches
from accel_helpers.fit import changes
from accel_helpers.fit.batches import in_batches
from accel_helpers.fit.changes import ELSEWHERE
from accel_helpers.fit.checked import checked
from accel_helpers.fit.profile_result import Change
from accel_helpers.machine import backend

SAMPLES = 2560  # 80 steps of 32
X = np.arange(3.0 * SAMPLES, dtype="float32").reshape(-1, 3) / SAMPLES
Y = np.arange(1.0 * SAMPLES, dtype="float32").reshape(-1, 1) / SAMPLES
ARRAYS, DATASET, BATCHES = "arrays", "a tf.data.Dataset", "a PyDataset"


def maker(keras, **settings):
    """A function that makes a small model, compiled so."""

    def make_model():
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4), keras.layers.Dense(1)])
        model.compile("sgd", "mse", **settings)
        return model

    return make_model


def rows(index, size=32):
    start = size * index
    end = start + size
    return X[start:end], Y[start:end]


def py_dataset(keras, steps=80, make=rows, **settings):
    class Data(keras.utils.PyDataset):
        def __len__(self):
            return steps

        def __getitem__(self, index):
            return make(index)

    return Data(**settings)


@pytest.fixture
def call_of(keras):
    """The training on data of some form."""

    def call_of(form=ARRAYS, make_model=None, **arguments):
        make_model = make_model or maker(keras, jit_compile=backend.framework() == "jax")
        if form == ARRAYS:
            return checked(make_model, X, Y, arguments)
        if form == BATCHES:
            return checked(make_model, py_dataset(keras), None, arguments)
        tf = pytest.importorskip("tensorflow")
        data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(32)
        return checked(make_model, data, None, arguments)

    return call_of


def proposed(verdict, call):
    """The changes that are proposed, by name."""
    model = call.make_model()
    batches = call.first_batches(4, 60)
    found = changes.proposals(verdict, call, model, batches)
    return {proposal.name: proposal for proposal in found}


def applied(proposal):
    """The function and the arguments that somebody gets from `apply`."""
    assert proposal.reason == ""
    return Change(proposal.name, gain=None, note="", training=proposal.make_call()).apply()


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


# What is proposed, and that it trains


@pytest.mark.parametrize(
    ("verdict", "form"),
    [
        ("input", DATASET),
        ("input", BATCHES),
        ("overhead", ARRAYS),
        ("overhead", DATASET),
        ("compute", ARRAYS),
        ("memory", DATASET),
        ("callbacks", ARRAYS),
        ("validation", ARRAYS),
    ],
)
def test_every_change_that_is_proposed_trains(keras, call_of, tmp_path, verdict, form):
    saving = keras.callbacks.ModelCheckpoint(tmp_path / "model.keras", save_freq=50)
    call = call_of(form, maker(keras), callbacks=[saving], validation_data=(X[:64], Y[:64]))
    trained = []
    for proposal in proposed(verdict, call).values():
        own_batches = form == BATCHES and proposal.alters
        if proposal.reason or proposal.timed == ELSEWHERE or own_batches:
            continue
        make, arguments = applied(proposal)
        history = make().fit(**arguments, epochs=1, verbose=0)
        assert np.isfinite(history.history["loss"][0]), proposal.name
        trained.append(proposal.alters)
    assert trained
    assert trained == sorted(trained), "what alters the training comes last"


def test_leaving_eager_mode_is_all_that_is_tried_in_it(keras, call_of):
    found = proposed("overhead", call_of(make_model=maker(keras, run_eagerly=True)))
    assert list(found) == ["run_eagerly=False"]
    model = applied(found["run_eagerly=False"])[0]()
    assert not model.run_eagerly
    assert model.jit_compile == maker(keras)().jit_compile, "as where compile is told nothing"


def test_half_precision_on_a_cpu_is_named(keras, call_of):
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy("mixed_float16")
    try:
        found = proposed("overhead", call_of())
    finally:
        keras.config.set_dtype_policy(before)
    assert "a CPU" in found["float32"].reason
    assert "float32" not in proposed("overhead", call_of())


def test_a_text_layer_is_named(keras, call_of):
    if backend.framework() != "tensorflow":
        pytest.skip("a model takes text on TensorFlow alone")

    def make_model():
        model = keras.Sequential()
        model.add(keras.Input((1,), dtype="string"))
        model.add(keras.layers.StringLookup(vocabulary=["a"]))
        model.compile("sgd", "mse")
        return model

    found = proposed("overhead", call_of(make_model=make_model))
    assert "tf.data map" in found["text work before the model"].reason


def test_what_is_not_tried_has_a_reason(call_of):
    found = proposed("input", call_of(BATCHES))
    with pytest.raises(ValueError, match="your Data makes its own"):
        found["batch_size=256"].make_call()
    assert "arrays" in found["fit_resident"].reason
    found = proposed("compute", call_of(batch_size=400))
    assert "only 7 steps" in found["batch_size=800"].reason
    assert "a CPU" in found["mixed_float16"].reason
    found = proposed("input", call_of(DATASET))
    assert "your own .map" in found["num_parallel_calls=AUTOTUNE"].reason


def test_what_does_not_fit_into_memory_is_not_tried(call_of, monkeypatch):
    monkeypatch.setattr(fit_batches, "free_here", lambda: 1000)
    found = proposed("input", call_of(BATCHES))
    assert "memory" in found["an epoch kept in memory"].reason
    found = proposed("input", call_of(DATASET))
    assert "memory" in found[".cache()"].reason
    found = proposed("compute", call_of())
    assert "memory" in found["batch_size=256"].reason


# Batches


def test_larger_batches_are_eight_times_as_large(call_of):
    changed = proposed("compute", call_of(batch_size=16))["batch_size=128"].make_call()
    assert changed.arguments["batch_size"] == 128
    assert changed.arguments["x"] is X
    assert changed.steps == 20


def test_a_short_epoch_keeps_four_steps(call_of):
    changed = proposed("compute", call_of(batch_size=128))["batch_size=640"].make_call()
    assert changed.steps == 4


def test_a_dataset_in_larger_batches_has_the_same_samples_in_the_same_order(call_of):
    changed = in_batches(call_of(DATASET), 256)
    batches = read(changed.arguments["x"])
    assert [len(x) for x, _ in batches] == [256] * 10
    assert np.array_equal(np.concatenate([y for _, y in batches]), Y)
    assert int(changed.arguments["x"].cardinality()) == 10
    assert changed.steps == 10


def test_the_steps_of_an_epoch_that_are_named_are_those_of_larger_batches(call_of):
    changed = in_batches(call_of(DATASET, steps_per_epoch=40), 256)
    assert changed.steps == 5
    assert changed.arguments["steps_per_epoch"] == 5


# Settings of compile


def test_grouped_steps_are_sixteen_per_execution(call_of, monkeypatch):
    monkeypatch.setattr(backend, "groups_steps", lambda: True)
    make, _ = applied(proposed("overhead", call_of())["steps_per_execution=16"])
    assert make().steps_per_execution == 16


def test_xla_is_tried_where_the_model_goes_without(keras, call_of):
    call = call_of(make_model=maker(keras, jit_compile=False))
    if backend.framework() == "jax":
        pytest.skip("on JAX a model that is not compiled runs eagerly")
    make, _ = applied(proposed("compute", call)["jit_compile=True"])
    assert make().jit_compile is True
    assert proposed("compute", call.with_model(make))["jit_compile=True"].reason == "you have it"
    assert proposed("compilation", call.with_model(make))["jit_compile=False"].reason


@pytest.mark.filterwarnings("ignore:Model doesn't support")
def test_xla_is_refused_where_keras_refuses_it(keras, call_of):
    def make_model():
        model = maker(keras, jit_compile=False)()
        model.layers[0].supports_jit = False
        return model

    make, _ = applied(proposed("compute", call_of(make_model=make_model))["jit_compile=True"])
    with pytest.raises(ValueError, match="XLA cannot compile"):
        make()


def test_16_bits_are_for_a_gpu_and_for_this_model_alone(call_of, monkeypatch):
    call = call_of()
    monkeypatch.setattr(backend, "devices", lambda: ("cpu", "gpu"))
    make, _ = applied(proposed("compute", call)["mixed_float16"])
    assert make().layers[0].dtype_policy.name == "mixed_float16"
    assert call.make_model().layers[0].dtype_policy.name == "float32"


def test_batches_of_several_shapes_are_padded_by_hand_and_of_one_shape_not(keras, call_of):
    """A last batch may have fewer samples."""

    def found(make):
        data = py_dataset(keras, 2, make)
        return proposed("compilation", checked(maker(keras), data, None, {}))

    name = "batches padded to one shape"
    longer = found(lambda index: (np.zeros((32, 4 + index, 3), "float32"), Y[:32]))
    assert "pad them" in longer[name].reason
    assert name not in found(lambda index: (X[: 32 - index], Y[: 32 - index]))


# The input


def test_workers_are_set_on_a_copy_of_the_data(call_of):
    call = call_of(BATCHES)
    _, arguments = applied(proposed("input", call)["workers=4"])
    changed = arguments["x"]
    assert changed.workers == 4
    assert call.arguments["x"].workers == 1
    same_batches(read(changed), read(call.arguments["x"]))
    assert "workers=4" not in proposed("input", call.changed(x=changed))


@pytest.mark.parametrize("name", [".cache()", "prefetch(AUTOTUNE)"])
def test_a_pipeline_that_is_changed_gives_the_same_batches(call_of, name):
    call = call_of(DATASET)
    _, arguments = applied(proposed("input", call)[name])
    for _ in range(2):  # the second time they come from the cache
        same_batches(read(arguments["x"]), read(call.arguments["x"]))
    assert int(arguments["x"].cardinality()) == 80


def test_an_epoch_that_is_kept_in_memory_has_the_same_samples(keras):
    data = py_dataset(keras, 3, lambda index: rows(index, 30))
    call = checked(maker(keras), data, None, {})
    changed = proposed("input", call)["an epoch kept in memory"].make_call()
    assert np.array_equal(changed.arguments["x"], X[:90])
    assert np.array_equal(changed.arguments["y"], Y[:90])
    assert changed.batch_size == 30
    assert changed.steps == 3


def test_a_generator_is_kept_in_memory_and_can_be_handed_to_fit(keras):
    def batches():
        yield from map(rows, range(5))

    call = checked(maker(keras), batches, None, {"steps_per_epoch": 5})
    make, arguments = applied(proposed("input", call)["an epoch kept in memory"])
    assert np.array_equal(arguments["x"], X[:160])
    assert "steps_per_epoch" not in arguments
    make().fit(**arguments, verbose=0)
    change = Change("none", gain=None, note="", training=call)
    make, arguments = change.apply()
    history = make().fit(**arguments, epochs=2, verbose=0)
    assert len(history.epoch) == 2


# Callbacks and validation


def test_each_callback_is_left_out_alone(keras, call_of):
    slow, other = keras.callbacks.LambdaCallback(), keras.callbacks.TerminateOnNaN()
    found = proposed("callbacks", call_of(callbacks=[slow, other]))
    assert list(found) == ["without LambdaCallback", "without TerminateOnNaN"]
    _, arguments = applied(found["without LambdaCallback"])
    assert arguments["callbacks"] == [other]
    found = proposed("callbacks", call_of(callbacks=slow))
    assert "callbacks" not in applied(found["without LambdaCallback"])[1]


def test_a_validation_gets_larger_batches_and_is_then_made_less_often(call_of):
    found = proposed("validation", call_of(validation_data=(X, Y), batch_size=16))
    assert list(found) == ["validation_batch_size=128", "validation_freq=5"]
    _, arguments = applied(found["validation_batch_size=128"])
    assert arguments["validation_batch_size"] == 128
    assert arguments["batch_size"] == 16
    _, arguments = applied(found["validation_freq=5"])
    assert arguments["validation_freq"] == 5


@pytest.mark.night
def test_it_holds_on_jax_too(on_jax):
    others = ("test_training.py", "test_taken_away.py")
    on_jax("not on_jax", __file__, *map(Path(__file__).with_name, others))
