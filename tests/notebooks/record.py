"""Record the results that the tests replay: python tests/notebooks/record.py OUT.json

Run once with KERAS_BACKEND=jax and twice with KERAS_BACKEND=tensorflow. All are real measurements
on one CPU; in the replay one of them plays the accelerator, faster, equal or slower.
"""

import json
import sys
from pathlib import Path

import accel_helpers as ah
from accel_helpers.fit.images import load_images

if __name__ == "__main__":
    ah.use_backend()
    images = load_images(9_600, source="bundled")
    x, y = (images.x_train / 255).astype("float32"), images.y_train
    epochs = ah.time_fit(ah.course.quickstart_model(), x, y, seconds=4).epochs
    recorded = {"samples": epochs.samples, "first_call": epochs.first_call}
    Path(sys.argv[1]).write_text(json.dumps(recorded, indent=1) + "\n")
