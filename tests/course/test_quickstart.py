"""The lesson model, its data and the timing of fit, on real Keras."""

import jax  # noqa: F401 (loaded, its arrays are waited for)
import numpy as np
import pytest

from accel_helpers.course import quickstart
from accel_helpers.fit.images import load_images

pytestmark = pytest.mark.usefixtures("keras")


@pytest.fixture(scope="module")
def data():
    found = load_images(320, source="bundled")
    return (found.x_train / 255).astype("float32"), found.y_train


def test_the_quickstart_model_is_the_one_described():
    model = quickstart.quickstart_model()
    kinds = [layer.__class__.__name__ for layer in model.layers]
    assert kinds == ["Flatten", "Dense", "Dropout", "Dense"]
    assert model.count_params() == 784 * 128 + 128 + 128 * 10 + 10
    assert model.optimizer.__class__.__name__ == "Adam"
    assert model.output_shape == (None, 10)


def test_the_same_seed_gives_the_same_weights():
    a, b = quickstart.quickstart_model(seed=3), quickstart.quickstart_model(seed=3)
    assert all(np.array_equal(x, y) for x, y in zip(a.get_weights(), b.get_weights(), strict=True))


def test_bundled_pictures_are_real_and_brought_to_shape():
    found = load_images(4000, source="bundled")
    assert found.x_train.shape == (4000, 28, 28)
    assert found.x_train.dtype == np.uint8
    assert set(np.unique(found.y_train)) == set(range(10))
    assert "scikit-learn digits" in str(found)
    assert "There are 1,500 of them" in found.note
    assert np.array_equal(found.x_train[0], found.x_train[1500])  # repeated, not invented
    train = {picture.tobytes() for picture in found.x_train}
    shared = sum(picture.tobytes() in train for picture in found.x_test)
    assert shared == 0  # no test picture was trained on


def test_the_pictures_can_be_learned(data):
    found = load_images(1500, source="bundled")
    model = quickstart.quickstart_model()
    model.fit(found.x_train / 255.0, found.y_train, epochs=5, verbose=0)
    _, accuracy = model.evaluate(found.x_test / 255.0, found.y_test, verbose=0)
    assert accuracy > 0.85  # 0.1 would be chance


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="count .*0"):
        load_images(0)


def test_labels_are_of_the_type_that_every_backend_takes_as_it_is():
    assert load_images(64, source="bundled").y_train.dtype == "int32"
