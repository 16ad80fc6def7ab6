"""The lessons' model and its pictures, and the climb: its numbers, and the real thing, small."""

import pytest

from accel_helpers.course import climb, quickstart
from accel_helpers.fit.images import load_images
from accel_helpers.machine import backend
from accel_helpers.measure.measurement import Measurement

DRIFT = (1, 1.021, 1.04, 1.061, 1.08, 1.101)
# Of each stage: the batch, the steps at a time, and whether XLA compiles it.
STAGES = {
    "default fit": (32, 1, False),
    "bigger batches": (256, 1, False),
    "steps per execution": (256, 16, False),
    "XLA": (256, 16, True),
    "tf.data with prefetch": (32, 16, True),  # its batches are made before
    "resident, small batches": (32, 1, False),
}


def climbed(**seconds):
    """A climb whose stages all drift by a tenth."""
    stages = []
    for name, each in seconds.items():
        measured = Measurement.from_samples([each * drift for drift in DRIFT])
        stages.append(climb.Stage(name, 32, measured, (0.9,)))
    return climb.Climb(tuple(stages))


def test_gains_are_on_the_first_stage():
    walk = climbed(first=2.0, larger=0.5, compiled=0.5, resident=0.2)
    assert walk.overall["larger"].ratio == pytest.approx(4)
    assert walk.overall["resident"].ratio == pytest.approx(10)
    assert walk.verdict == "faster"


def test_a_drift_of_all_stages_hides_no_difference_and_makes_none():
    assert climbed(first=1.0, other=0.9).verdict == "faster"
    assert climbed(first=1.0, same=1.0).verdict == "no measurable difference"


def test_each_stage_changes_what_its_name_says(digits):
    if backend.framework() != "tensorflow":
        pytest.skip("Keras on JAX has fewer stages")
    trainings, _ = climb.trainings_of(*digits)
    settings = {}
    for name, training in trainings.items():
        model = training.new_model()
        is_compiled = bool(model.jit_compile)
        settings[name] = (training.batch_size, model.steps_per_execution, is_compiled)
    assert settings == STAGES


# --- The model and its pictures


@pytest.mark.usefixtures("keras")
def test_the_bundled_pictures_are_real_and_can_be_learned():
    found = load_images(4000, source="bundled")
    assert "There are 1,500 of them" in found.note
    trained_on = {picture.tobytes() for picture in found.x_train}
    held_out = {picture.tobytes() for picture in found.x_test}
    assert len(trained_on) <= 1500  # the others are repeated, not invented
    assert trained_on.isdisjoint(held_out)
    model = quickstart.quickstart_model()
    model.fit(found.x_train / 255.0, found.y_train, epochs=2, verbose=0)
    _, accuracy = model.evaluate(found.x_test / 255.0, found.y_test, verbose=0)
    assert accuracy > 0.85  # 0.1 would be chance
