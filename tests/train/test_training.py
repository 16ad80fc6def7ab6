"""The lesson model, its data and the timing of fit, on real Keras."""

import numpy as np
import pytest

from accel_helpers.measure import work
from accel_helpers.train import training

pytestmark = pytest.mark.usefixtures("keras")


@pytest.fixture(scope="module")
def data():
    found = training.load_images(320, source="bundled")
    return (found.x_train / 255).astype("float32"), found.y_train


def test_the_quickstart_model_is_the_one_described():
    model = training.quickstart_model()
    kinds = [layer.__class__.__name__ for layer in model.layers]
    assert kinds == ["Flatten", "Dense", "Dropout", "Dense"]
    assert model.count_params() == 784 * 128 + 128 + 128 * 10 + 10
    assert model.optimizer.__class__.__name__ == "Adam"
    assert model.output_shape == (None, 10)


def test_the_same_seed_gives_the_same_weights():
    a, b = training.quickstart_model(seed=3), training.quickstart_model(seed=3)
    assert all(np.array_equal(x, y) for x, y in zip(a.get_weights(), b.get_weights(), strict=True))


def test_operations_are_those_that_the_counter_of_work_finds():
    model = training.quickstart_model(width=64)
    expected = work.count_step(model, 16).product_flops
    assert training.step_flops(width=64, batch_size=16) == expected
    made = training.arithmetic(width=64, batch_size=16)()
    shapes = [(16, 64), (16, 10), (64, 10), (16, 64), (784, 64)]
    assert [tuple(product.shape) for product in made] == shapes


def test_the_clock_that_is_handed_in_is_the_one_used(data):
    x, y = data
    ticks = iter(range(1000))
    model = training.quickstart_model()
    timed = training.time_fit(model, x[:70], y[:70], epochs=3, clock=lambda: float(next(ticks)))
    assert timed.epochs.first_call == 1.0 and timed.epochs.samples == (1.0, 1.0)
    assert timed.steps_per_epoch == 3, "the last one is not full"
    assert timed.step.samples == (1 / 3, 1 / 3)


def test_a_box_takes_a_part_where_the_whole_does_not_fit(data, monkeypatch):
    monkeypatch.delenv("ACCEL_FAST", raising=False)
    ticks = iter(range(1000))  # so that an epoch of whatever length takes 1 s
    model, options = training.quickstart_model(), {"batch_size": 4, "seconds": 8.5}
    timed = training.time_fit(model, *data, clock=lambda: float(next(ticks)), **options)
    part = 80 / 69  # of 80 steps: six in the 6.5 s that the first 64 left, at 64 in 1 s
    assert timed.epochs.samples == pytest.approx([part] * 4) and timed.steps_per_epoch == 80
    assert timed.epochs.first_call == pytest.approx(1 + (1 - 64 / 80) * part)
    assert "276 of the 320" in timed.epochs.notes[0] and "4 samples" in timed.epochs.notes[1]


def test_sizes_shrink_where_that_is_asked_for(monkeypatch):
    monkeypatch.setenv("ACCEL_FAST", "1")
    assert [training.size(n) for n in (60_000, 1_000, 30)] == [1_984, 64, 30]
    monkeypatch.setenv("ACCEL_FAST", "")
    assert training.size(60_000) == 60_000


def test_every_size_is_measured(data, keras):
    steps = training.time_steps(*data, widths=(1, 16), batch_sizes=(32,))
    assert set(steps) == {(1, 32), (16, 32)}
    assert all(len(m.samples) == training.STEPS for m in steps.values())
    net = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(1)])
    net.compile("sgd", "mse")
    options = {"batch_sizes": (32, 8), "nets": {"net": lambda: net}, "seconds": 0.01}
    steps = training.time_steps(*data, widths=(1, 16), **options)
    assert [len(m.samples) for m in steps.values()] == [10] * 5, "two turns"
    assert net.input_shape == (None, 64, 64)


def test_how_a_model_is_compiled_is_said_and_does_not_depend_on_what_is_visible():
    default = f"jit_compile={training.backend.framework() == 'jax'}"
    assert training.compiled_as(training.quickstart_model()) == default
    model = training.quickstart_model(jit_compile=True, steps_per_execution=8)
    assert training.compiled_as(model) == "jit_compile=True, steps_per_execution=8"


def test_bundled_pictures_are_real_and_brought_to_shape():
    found = training.load_images(4000, source="bundled")
    assert found.x_train.shape == (4000, 28, 28) and found.x_train.dtype == np.uint8
    assert set(np.unique(found.y_train)) == set(range(10))
    assert "scikit-learn digits" in str(found) and "There are 1,500 of them" in found.note
    assert np.array_equal(found.x_train[0], found.x_train[1500])  # repeated, not invented
    train = {picture.tobytes() for picture in found.x_train}
    shared = sum(picture.tobytes() in train for picture in found.x_test)
    assert shared == 0  # no test picture was trained on


def test_the_pictures_can_be_learned(data):
    found = training.load_images(1500, source="bundled")
    model = training.quickstart_model()
    model.fit(found.x_train / 255.0, found.y_train, epochs=5, verbose=0)
    _, accuracy = model.evaluate(found.x_test / 255.0, found.y_test, verbose=0)
    assert accuracy > 0.85  # 0.1 would be chance


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: training.load_images(0), "count .*0"),
        (lambda: training.time_fit(None, [], [], epochs=1), "epochs .*2 .*1"),
    ],
)
def test_bad_input_is_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()


def test_labels_are_of_the_type_that_every_backend_takes_as_it_is():
    assert training.load_images(64, source="bundled").y_train.dtype == "int32"
