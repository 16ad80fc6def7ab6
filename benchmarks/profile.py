"""Does `profile_fit` find what takes the time? Thirty trainings whose bottleneck is known.

`benchmarks/trainings/` has them: `planted` and `public` ones with a bottleneck, and `healthy` ones,
in which the arithmetic takes most of an epoch. They were written by people who had not seen the
library; each checked its bottleneck by hand.

python -m benchmarks.profile         profile each of them, and measure each promised gain again
python -m benchmarks.profile --page  docs/profile.md from what that stored
"""

import argparse
import importlib.util
import json
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TRAININGS = ROOT / "benchmarks/trainings"
RESULTS = ROOT / "benchmarks/profile.json"
PAGE = ROOT / "docs/profile.md"
SECONDS = 60
ROUNDS = 3  # in which a gain is measured again
AGAIN = 2.0  # seconds of epochs, at least, for each training in a round


def of_file(path: Path) -> dict:
    """Profile one training, in this process, and measure the promised gain again."""
    import accel_helpers as ah

    spec = importlib.util.spec_from_file_location("training", path)
    training = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(training)
    make_model, x, y, arguments = training.case()
    load = os.getloadavg()[0]
    start = time.perf_counter()
    profile = ah.profile_fit(make_model, x, y, seconds=SECONDS, **arguments)
    took = time.perf_counter() - start
    found = {"load": load, "took": took, "backend": training.BACKEND, "truth": training.TRUTH}
    found |= {"verdict": profile.verdict, "shares": dict(profile.shares)}
    found |= {"epoch": profile.epoch.median, "source": training.SOURCE}
    change = profile.change
    if change is None:
        return found
    gain = change.gain
    found |= {"change": change.name, "gain": gain.verdict, "interval": gain.interval}
    if gain.verdict == "faster" and change.call is not None:
        given = {"x": x, "y": y, **arguments}
        given = {name: value for name, value in given.items() if value is not None}
        found["again"] = again(profile, (make_model, given), change.apply())
    return found


def again(profile, now, then) -> list[float]:
    """How many times as fast plain fits were with the change, a number for each round."""
    ratios = []
    for number in range(ROUNDS):
        pair = [now, then] if number % 2 == 0 else [then, now]
        seconds = [plain_fit(profile, *each) for each in pair]
        if number % 2 == 1:
            seconds.reverse()
        ratios.append(seconds[0] / seconds[1])
    return ratios


def plain_fit(profile, make_model, given) -> float:
    """Seconds of an epoch by ``fit`` alone; of the whole training, where it mostly compiles."""
    import keras

    from accel_helpers.machine import backend

    given = dict(given)
    if callable(given["x"]) and not hasattr(given["x"], "shape"):
        make = given["x"]
        given["x"] = (batch for _ in iter(int, 1) for batch in make())
        given.setdefault("steps_per_epoch", profile.steps)
    if profile.verdict == "compilation":
        start = time.perf_counter()
        make_model().fit(**given, verbose=0)
        return time.perf_counter() - start
    every = given.get("validation_freq", 1)
    marks = []

    class Marks(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            marks.append(time.perf_counter())

        def on_train_end(self, logs=None):
            marks.append(time.perf_counter())

    class End(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            backend.wait(self.model)
            # the first epochs compile, the last of them the validation; then as many again, or more
            done = len(marks)
            enough = done > every and done % every == 0
            self.model.stop_training = enough and time.perf_counter() > marks[every] + AGAIN

    callbacks = given.pop("callbacks", None) or []
    given["callbacks"] = [Marks(), *callbacks, End()]
    given |= {"epochs": 1000, "verbose": 0}
    make_model().fit(**given)
    return (marks[-1] - marks[every]) / (len(marks) - 1 - every)


def run(only: str) -> None:
    """Profile the trainings, each in a process of its own, and store what came out."""
    stored = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for path in sorted(TRAININGS.glob("*/*.py")):
        name = path.relative_to(TRAININGS).with_suffix("").as_posix()
        if only not in name:
            continue
        framework = re.search(r'BACKEND = "(\w+)"', path.read_text())[1]
        environ = {**os.environ, "KERAS_BACKEND": framework, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "benchmarks.profile", "--file", str(path)]
        ran = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
        if ran.returncode:
            stored[name] = {"error": ran.stderr.strip().splitlines()[-1]}
        else:
            stored[name] = json.loads(ran.stdout.splitlines()[-1])
        RESULTS.write_text(json.dumps(stored, indent=1) + "\n")
        print(name, stored[name], flush=True)


def page() -> str:
    """The page, from what was stored."""
    stored = json.loads(RESULTS.read_text())
    rows = []
    right = 0
    alarms = 0
    inside = 0
    gains = 0
    for name, found in stored.items():
        shares = sorted(found["shares"].items(), key=lambda item: -item[1])[:3]
        parts = ", ".join(f"{part} {100 * share:.0f} %" for part, share in shares)
        is_right = found["verdict"] == found["truth"]
        is_healthy = name.startswith("healthy")
        right += is_right and not is_healthy
        alarms += is_healthy and not is_right
        change = found.get("change", "none tried")
        promise = again = ""
        if "again" in found:
            low, high = found["interval"]
            ratio = statistics.median(found["again"])
            promise = f"{low:.2g} to {high:.2g}"
            again = f"{ratio:.2g}"
            gains += 1
            inside += low <= ratio <= high
        elif "gain" in found:
            promise = found["gain"]
        said = found["verdict"] if is_right else f"**{found['verdict']}**"
        cells = [name, found["backend"], found["truth"], said, parts, change, promise, again]
        cells += [f"{found['took']:.0f}", f"{found['load']:.1f}"]
        rows.append("| " + " | ".join(cells) + " |")
    sick = sum(not name.startswith("healthy") for name in stored)
    seconds = statistics.mean(found["took"] for found in stored.values())
    return TEXT.format(
        right=right,
        sick=sick,
        alarms=alarms,
        healthy=len(stored) - sick,
        inside=inside,
        gains=gains,
        seconds=f"{seconds:.0f}",
        heads=" | ".join(HEADS),
        lines=" --- |" * len(HEADS),
        rows="\n".join(rows),
    )


HEADS = ["training", "backend", "known", "said", "largest parts", "change"]
HEADS += ["times as fast, promised", "again", "seconds", "load"]
TEXT = """\
# Does `profile_fit` find it?

{sick} trainings with a bottleneck that was planted or known (six come from public notebooks) and
{healthy} healthy ones, in which arithmetic takes most of an epoch. They were written by people who
had not seen the library, and each checked by hand what takes more than half of its time
(`benchmarks/trainings/`; the figures stand in each file). Each ran in a process of its own with 60
seconds, on two cores that other work kept busy: *load* is that of the last minute when it began.
**In {right} of {sick} the word was right, with {alarms} false alarms in {healthy} healthy ones;
{inside} of {gains} promised gains, measured again by plain fits, lay in their interval; {seconds}
seconds on average.** This page is made by `python -m benchmarks.profile --page`.

What was mended after a first run of these trainings: too few steps in a turn where steps are long,
data of unknown length, a training that is too long to be repeated, and a crash of TensorFlow with
layers of few filters and one sample. No limit was set by them.
The intervals are those of the minute in which a gain was measured; what else the machine does later
is not in them.

| {heads} |
|{lines}
{rows}

A share may be over 100 % of an epoch where the machine was slower in one turn than in the next. The
share of *compilation* is one of the whole training.
"""


if __name__ == "__main__":
    reader = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    reader.add_argument("--page", action="store_true", help="write docs/profile.md")
    reader.add_argument("--only", default="", help="a part of a training's name")
    reader.add_argument("--file", type=Path, help="one training, here")
    asked = reader.parse_args()
    if asked.page:
        PAGE.write_text(page(), "utf-8")
    elif asked.file:
        print(json.dumps(of_file(asked.file)))
    else:
        run(asked.only)
