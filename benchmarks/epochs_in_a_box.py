"""Hold the epoch that lesson 03 says against whole epochs timed by hand, quiet and busy.

python benchmarks/epochs_in_a_box.py [--runs 10] [--epochs 10] [--seconds 3] [--fresh]

Each run times an epoch of the quickstart model in a box of so many seconds, and then so many whole
epochs, one by one, on the same machine in the same state. The busy runs have a loop beside them
that keeps one core at work. A line for each run, and for each state the middle of the ratios, and
in how many runs the middle of the whole epochs lay in the interval. With --fresh each run has a
process of its own, as a learner's first run has.
"""

import argparse
import contextlib
import statistics
import subprocess
import sys
import time

LOOP = "while True: pass"


@contextlib.contextmanager
def beside(busy: bool):
    """A loop in a process of its own, as long as the block lasts, if it is to be busy."""
    loop = subprocess.Popen([sys.executable, "-c", LOOP]) if busy else None
    try:
        yield
    finally:
        if loop:
            loop.kill()
            loop.wait()


def by_hand(model, x, y, epochs: int) -> list[float]:
    """Seconds of whole epochs, each by the clock around one of fit's; the first is left out."""
    import keras

    begun, took = [], []
    watch = keras.callbacks.LambdaCallback(
        on_epoch_begin=lambda epoch, logs: begun.append(time.perf_counter()),
        on_epoch_end=lambda epoch, logs: took.append(time.perf_counter() - begun[-1]),
    )
    model.fit(x, y, batch_size=32, epochs=epochs + 1, verbose=0, callbacks=[watch])
    return took[1:]


def once(busy: bool, epochs: int, seconds: float) -> tuple[float, bool]:
    """Time one epoch both ways, and print a line about it.

    Returns the ratio of what the box says to the middle of the whole epochs, and whether that lies
    in its interval.
    """
    from accel_helpers.course import quickstart
    from accel_helpers.fit.images import load_images
    from accel_helpers.fit.time_fit import time_fit
    from accel_helpers.machine import backend

    backend.choose()
    images = load_images(60_000)
    x, y = images.x_train.astype("float32") / 255, images.y_train
    with beside(busy), backend.on("cpu"):
        start = time.perf_counter()
        said = time_fit(quickstart.quickstart_model(), x, y, seconds=seconds).epochs
        took = time.perf_counter() - start
        whole = by_hand(quickstart.quickstart_model(), x, y, epochs)
    middle = statistics.median(whole)
    ratio = said.median / middle
    low, high = said.interval
    print(
        f"{'busy' if busy else 'quiet'}: said {said.median:.2f} s ({low:.2f} to {high:.2f}, "
        f"{len(said.samples)} samples, {took:.1f} s in all); {epochs} whole epochs "
        f"{min(whole):.2f} to {max(whole):.2f} s, middle {middle:.2f}: "
        f"{ratio:.2f} times",
        flush=True,
    )
    return ratio, low <= middle <= high


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--fresh", action="store_true", help="a process for each run")
    parser.add_argument("--state", choices=("quiet", "busy"), help="of these alone")
    given = parser.parse_args()
    for state in [given.state] if given.state else ["quiet", "busy"]:
        ratios, inside = [], []
        for _ in range(given.runs):
            if given.fresh:
                words = ["--runs", "1", "--state", state, "--epochs", str(given.epochs)]
                words += ["--seconds", str(given.seconds)]
                subprocess.run([sys.executable, __file__, *words], check=True)
            else:
                ratio, held = once(state == "busy", given.epochs, given.seconds)
                ratios.append(ratio)
                inside.append(held)
        if len(ratios) > 1:
            middle = statistics.median(ratios)
            print(f"{state}: inside in {sum(inside)} of {len(inside)}, middle {middle:.2f}")


if __name__ == "__main__":
    main()
