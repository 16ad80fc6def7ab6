"""Record the results that the tests replay: python tests/notebooks/record.py OUT.json

Run once with KERAS_BACKEND=jax and twice with KERAS_BACKEND=tensorflow. All are real measurements
on one CPU; in the replay one of them plays the accelerator, faster, equal or slower.
"""

import sys
from dataclasses import replace

import accel_helpers as ah

WIDTHS, BATCH_SIZES = (16, 128, 512), (32, 256)


def main(path):
    choice = ah.backend.choose()
    images = ah.training.load_images(9_600, source="bundled")
    x, y = (images.x_train / 255).astype("float32"), images.y_train
    epochs = ah.training.time_fit(ah.training.quickstart_model(), x, y, epochs=8).epochs
    steps = ah.training.time_steps(x, y, widths=(1, *WIDTHS), batch_sizes=BATCH_SIZES)
    grouped = ah.training.quickstart_model(steps_per_execution=50)
    grouped = ah.training.time_fit(grouped, x, y, epochs=8)
    measured = {
        "epoch": epochs,
        "step": ah.timing.Measurement.from_samples(
            [epoch / 300 for epoch in epochs.samples], name="an ordinary step"
        ),
    }
    measured["grouped"] = grouped.step
    measured["products"] = ah.timing.benchmark(ah.training.arithmetic(), min_time=0.3)
    measured |= {f"width {w}, batch {b}": m for (w, b), m in steps.items()}
    card = ah.results.new_card(command=f"tests/notebooks/record.py, Keras on {choice.name}")
    ah.results.save(replace(card, measurements=measured), path)


if __name__ == "__main__":
    main(sys.argv[1])
