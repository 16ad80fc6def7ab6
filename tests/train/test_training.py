"""The lesson model, its data and the timing of fit, on real Keras."""

import numpy as np
import pytest

from accel_helpers.measure.measurement import Measurement
from accel_helpers.train import data as images
from accel_helpers.train import training

pytestmark = pytest.mark.usefixtures("keras")


@pytest.fixture(scope="module")
def data():
    found = training.load_images(320, source="bundled")
    return (found.x_train / 255).astype("float32"), found.y_train


def test_the_quickstart_model_is_the_one_described():
    model = training.quickstart_model()
    assert [layer.__class__.__name__ for layer in model.layers] == [
        "Flatten",
        "Dense",
        "Dropout",
        "Dense",
    ]
    assert model.count_params() == 784 * 128 + 128 + 128 * 10 + 10
    assert model.optimizer.__class__.__name__ == "Adam"
    assert model.output_shape == (None, 10)


def test_the_same_seed_gives_the_same_weights():
    a, b = training.quickstart_model(seed=3), training.quickstart_model(seed=3)
    assert all(np.array_equal(x, y) for x, y in zip(a.get_weights(), b.get_weights(), strict=True))


def test_operations_are_those_of_the_five_products():
    width, batch = 64, 16
    products = [(batch, 784, width), (batch, width, 10)]  # forward
    products += [(width, batch, 10), (batch, 10, width), (784, batch, width)]  # backward
    assert training.step_flops(width=width, batch_size=batch) == sum(
        2 * m * k * n for m, k, n in products
    )
    shapes = [tuple(p.shape) for p in training.arithmetic(width=width, batch_size=batch)()]
    assert sorted(shapes) == sorted([(m, n) for m, _, n in products])


def test_the_first_epoch_is_apart_and_steps_are_counted(data):
    x, y = data
    timed = training.time_fit(training.quickstart_model(), x, y, epochs=4, by_step=True)
    assert len(timed.epochs.samples) == 3 and timed.epochs.first_call > 0
    assert timed.steps_per_epoch == 10
    assert len(timed.steps.samples) == 3 * 9  # the first step of an epoch has no predecessor
    assert timed.total == pytest.approx(timed.epochs.first_call + sum(timed.epochs.samples))
    assert 0.0 <= timed.accuracy <= 1.0
    assert timed.throughput == pytest.approx(32 / timed.step.median)
    inside = sum(timed.steps.samples)
    assert inside < sum(timed.epochs.samples)


def test_a_partial_last_batch_counts_as_a_step(data):
    x, y = data
    timed = training.time_fit(training.quickstart_model(), x[:70], y[:70], epochs=2)
    assert timed.steps_per_epoch == 3


def test_the_clock_that_is_handed_in_is_the_one_used(data):
    x, y = data
    ticks = iter(range(1000))
    timed = training.time_fit(
        training.quickstart_model(), x, y, epochs=3, clock=lambda: float(next(ticks))
    )
    assert timed.epochs.first_call == 1.0 and timed.epochs.samples == (1.0, 1.0)


def test_verdict_on_the_first_epoch():
    def timing(first):
        epochs = Measurement.from_samples([1.0, 1.1, 0.9], first_call=first)
        return training.FitTiming(epochs, None, 10, 32, 0.9)

    assert timing(2.0).first_epoch == "longer than the others"
    assert timing(1.05).first_epoch == "like the others"


def test_every_size_is_measured_and_wider_takes_longer(data):
    x, y = data
    steps = training.time_steps(x, y, widths=(1, 4096), batch_sizes=(256,))
    assert set(steps) == {(1, 256), (4096, 256)}
    assert all(len(m.samples) >= 20 for m in steps.values())
    assert steps[4096, 256].median > steps[1, 256].median


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
    ("call", "words"),
    [
        (lambda: training.load_images(0), "count must be"),
        (lambda: training.load_images(5, source="cifar"), "'auto', 'mnist' or 'bundled'"),
        (lambda: training.quickstart_model(width=0), "width must be"),
        (lambda: training.time_fit(None, [], [], epochs=1), "at least 2"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_mnist_by_name_fails_with_a_sentence_where_it_cannot_be_had(monkeypatch, tmp_path):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")  # nobody listens there
    with pytest.raises(ConnectionError, match="needs no network"):
        training.load_images(10, source="mnist", time_limit=5)


def test_fast_is_off_unless_asked_for(monkeypatch):
    for value, expected in [("", False), ("0", False), ("1", True)]:
        monkeypatch.setenv("ACCEL_FAST", value)
        assert training.fast() is expected


def test_images_are_exported_where_lessons_look_for_them():
    assert training.load_images is images.load_images
