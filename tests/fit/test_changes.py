"""Changes that `profile_fit` tries: each one trains, and does what its name says."""

from functools import partial
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

X = np.linspace(0, 1, 7680, dtype="float32").reshape(2560, 3)  # 80 steps of 32
Y = X[:, :1] ** 2
ARRAYS, DATASET, BATCHES = "arrays", "a tf.data.Dataset", "a PyDataset"


def batch(index):
    rows = slice(32 * index, 32 * (index + 1))
    return X[rows], Y[rows]


@pytest.fixture
def call_of(keras):
    """The training of a small model, always with the same weights, on data of some form."""

    class Data(keras.utils.PyDataset):
        def __len__(self):
            return 80

        def __getitem__(self, index):
            return batch(index)

    def call_of(form=ARRAYS, **settings):
        def make_model():
            dense = keras.layers.Dense(1, kernel_initializer="zeros")
            model = keras.Sequential([keras.Input((3,)), dense])
            model.compile("sgd", "mse", **settings)
            return model

        if form == DATASET:
            tf = pytest.importorskip("tensorflow")
            samples = tf.data.Dataset.from_tensor_slices((X, Y))
            return checked(make_model, samples.batch(32), None, {})
        in_order = {"shuffle": False}
        if form == BATCHES:
            return checked(make_model, Data(), None, in_order)
        return checked(make_model, X, Y, in_order)

    return call_of


def proposed(verdict, call):
    """The changes that are proposed, by name."""
    batches = call.first_batches(4, 60)
    found = changes.proposals(verdict, call, call.make_model(), batches)
    return {proposal.name: proposal for proposal in found}


def applied(proposal):
    """The function and the arguments that somebody gets from `apply`."""
    assert proposal.reason == ""
    training = proposal.make_call()
    return Change(proposal.name, gain=None, note="", training=training).apply()


def made(proposal):
    make_model, _ = applied(proposal)
    return make_model()


@pytest.mark.parametrize(
    ("verdict", "form", "names"),
    [
        ("input", DATASET, {"prefetch(AUTOTUNE)", ".cache()", "batch_size=256"}),
        ("input", BATCHES, {"workers=4", "an epoch kept in memory"}),
        ("overhead", ARRAYS, {"fit_resident", "batch_size=256"}),
    ],
)
def test_a_change_has_the_losses_of_the_training_as_it_is_or_says_that_it_alters_it(
    call_of, verdict, form, names
):
    call = call_of(form, jit_compile=False)

    def losses(make_model, arguments):
        model = make_model()
        trained = model.fit(**arguments, epochs=2, verbose=0)
        return trained.history["loss"]

    expected = losses(call.make_model, call.arguments)
    # on JAX, Keras itself trains otherwise where several workers make the batches
    is_jax = backend.framework() == "jax"
    altering = {}
    for name, proposal in proposed(verdict, call).items():
        if proposal.reason or proposal.timed == ELSEWHERE:
            continue
        altering[name] = proposal.alters
        if not proposal.alters and not (is_jax and name == "workers=4"):
            assert losses(*applied(proposal)) == pytest.approx(expected, rel=1e-4), name
    assert names <= altering.keys()
    order = list(altering.values())
    assert order == sorted(order), "what alters it comes last"
    data = call.arguments["x"]
    assert getattr(data, "workers", 1) == 1, "a copy has more"


def test_settings_of_compile_are_those_of_the_name(call_of, monkeypatch):
    monkeypatch.setattr(backend, "groups_steps", lambda: True)
    monkeypatch.setattr(backend, "devices", lambda: ("cpu", "gpu"))
    call = call_of(jit_compile=False)
    found = proposed("overhead", call)
    grouped = made(found["steps_per_execution=16"])
    assert grouped.steps_per_execution == 16
    found = proposed("compute", call)
    (half,) = made(found["mixed_float16"]).layers
    assert half.dtype_policy.name == "mixed_float16"
    (layer,) = call.make_model().layers
    assert layer.dtype_policy.name == "float32", "for that model alone"


def test_what_does_not_fit_into_memory_is_not_tried(call_of, monkeypatch):
    """A process that runs out of it is ended, and the learner's session with it."""
    monkeypatch.setattr(fit_batches, "free_here", lambda: 1000)

    def reason(verdict, form, name):
        found = proposed(verdict, call_of(form))
        return found[name].reason

    assert "memory" in reason("input", BATCHES, "an epoch kept in memory")
    assert "memory" in reason("input", DATASET, ".cache()")
    assert "memory" in reason("compute", ARRAYS, "batch_size=256")


def test_a_dataset_in_larger_batches_has_the_same_samples_in_fewer_steps(call_of):
    changed = in_batches(call_of(DATASET), 256)
    batches = changed.arguments["x"].as_numpy_iterator()
    _, targets = zip(*batches, strict=True)
    assert changed.steps == len(targets) == 10
    assert np.array_equal(np.concatenate(targets), Y)


def test_a_generator_can_be_handed_to_fit_for_several_epochs(call_of):
    batches = partial(map, batch, range(5))
    call = checked(call_of().make_model, batches, None, {"steps_per_epoch": 5})
    make, arguments = Change("none", gain=None, note="", training=call).apply()
    model = make()
    trained = model.fit(**arguments, epochs=2, verbose=0)
    assert trained.epoch == [0, 1]


@pytest.mark.night
def test_it_holds_on_jax_too(on_jax):
    others = ("test_training.py", "test_taken_away.py", "test_resident.py", "test_clock.py")
    on_jax("not on_jax", __file__, *map(Path(__file__).with_name, others))
