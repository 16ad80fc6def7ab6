"""Does `profile_fit` find what takes the time? Trainings whose bottleneck is known.

`benchmarks/trainings/` has them: `planted` and `public` ones with a bottleneck, and `healthy` ones,
in which the arithmetic takes most of an epoch. Thirty were written by people who had not seen the
library, two that run eagerly by its authors; each bottleneck was checked by hand.

python -m benchmarks.profile [NAME ...]

Profiles these trainings, measures each promised gain again, stores that, and writes docs/profile.md
from all that is stored.
"""

import importlib
import json
import re
import statistics
import sys
import time

from accel_helpers.fit.other_backend import OTHERS
from benchmarks import ROOT, in_process
from benchmarks.page import written

TRAININGS = ROOT / "benchmarks/trainings"
RESULTS = ROOT / "benchmarks/profile.json"
PAGE = ROOT / "docs/profile.md"
SECONDS = 60
ROUNDS = 7  # in which a gain is measured again
PAIRS = 2  # of runs with KERAS_BACKEND set to one backend and to the other
AGAIN = 2.0  # seconds of epochs, at least, for each training in a round


# --- measuring ------------------------------------------------------------------------------------


def names():
    """The names of the trainings, such as "planted/05_unet_cells"."""
    found = []
    for file in sorted(TRAININGS.glob("*/[0-9]*.py")):
        found.append(f"{file.parent.name}/{file.stem}")
    return found


def loaded(name):
    """The module of a training, how to make its model, and the arguments of fit."""
    training = importlib.import_module(f"benchmarks.trainings.{name.replace('/', '.')}")
    make_model, x, y, arguments = training.case()
    given = {"x": x, **arguments}
    if y is not None:
        given["y"] = y
    return training, make_model, given


def epoch_of(name):
    """Seconds of an epoch by ``fit`` alone, on the backend of this process."""
    _, make_model, given = loaded(name)
    return plain_fit(make_model, given)


def profile_of(name):
    """Profile a training, in this process, and measure the promised gain again."""
    import accel_helpers as ah

    training, make_model, given = loaded(name)
    start = time.perf_counter()
    profile = ah.profile_fit(make_model, seconds=SECONDS, **given)
    found = {
        "took": time.perf_counter() - start,
        "backend": training.BACKEND,
        "truth": training.TRUTH,
        "verdict": profile.verdict,
        "shares": dict(profile.shares),
        "tried": {change.name: change.gain.interval for change in profile.tried},
    }
    change = profile.change
    if change is not None:
        gain = change.gain
        found |= {"change": change.name, "gain": gain.verdict, "interval": gain.interval}
        if gain.verdict == "faster" and change.training is not None:
            found["again"] = again(profile, (make_model, given), change.apply())
    return found


def again(profile, now, then):
    """How many times as fast plain fits were with the change, a number for each round."""
    ratios = []
    for number in range(ROUNDS):
        # Every other round goes backwards: a machine that gets slower is unfair to neither.
        if number % 2 == 0:
            before, after = plain_fit(*now, profile), plain_fit(*then, profile)
        else:
            after, before = plain_fit(*then, profile), plain_fit(*now, profile)
        ratios.append(before / after)
    return ratios


def plain_fit(make_model, given, profile=None):
    """Seconds of an epoch by ``fit`` alone; of the whole training, where it mostly compiles."""
    import keras

    from accel_helpers.machine import backend

    given = {**given, "verbose": 0}
    model = make_model()
    make = given["x"]
    if callable(make) and not hasattr(make, "shape"):
        given["x"] = (batch for _ in iter(int, 1) for batch in make())
        given.setdefault("steps_per_epoch", profile.steps)
    if profile and profile.verdict == "compilation":
        start = time.perf_counter()
        model.fit(**given)
        return time.perf_counter() - start
    # the first epochs compile, the last of them the validation; then as many again, or more
    every = given.get("validation_freq", 1)
    ends = []

    def note(epoch, logs):
        backend.wait(model)
        ends.append(time.perf_counter())
        enough = len(ends) > every and len(ends) % every == 0
        model.stop_training = enough and ends[-1] > ends[every - 1] + AGAIN

    watch = keras.callbacks.LambdaCallback(on_epoch_end=note)
    given |= {"epochs": 1000, "callbacks": [*given.get("callbacks", []), watch]}
    model.fit(**given)
    return (ends[-1] - ends[every - 1]) / (len(ends) - every)


def run(chosen):
    """Profile trainings, each in a process of its own, and store what came out."""
    stored = {found["name"]: found for found in results()}
    for name in chosen:
        source = (TRAININGS / f"{name}.py").read_text("utf-8")
        framework = re.search(r'BACKEND = "(\w+)"', source)[1]
        other = OTHERS[framework]
        profile = in_process(framework, "profile", f"profile_of({name!r})")
        found = {"name": name, **profile}
        if f"KERAS_BACKEND={other}" in found["tried"]:
            found["elsewhere"] = []
            for _ in range(PAIRS):
                call = f"epoch_of({name!r})"
                here, there = (in_process(each, "profile", call) for each in (framework, other))
                found["elsewhere"].append(here / there)
        stored[name] = found
        rows = [stored[key] for key in sorted(stored)]
        RESULTS.write_text(json.dumps(rows, indent=1) + "\n")


# --- the page -------------------------------------------------------------------------------------


def results():
    """What was stored, a dict for each training."""
    return json.loads(RESULTS.read_text("utf-8"))


def page():
    """The page, from what was stored."""
    rows = results()
    for found in rows:
        fill(found)
    healthy = []
    sick = []
    for found in rows:
        kind = healthy if found["name"].startswith("healthy") else sick
        kind.append(is_right(found))
    gains = [found for found in rows if "again" in found]
    return written(
        "profile.md",
        rows=rows,
        sick=len(sick),
        right=sum(sick),
        healthy=len(healthy),
        alarms=healthy.count(False),
        gains=len(gains),
        held=sum(map(held, gains)),
        seconds=statistics.mean(found["took"] for found in rows),
        others=OTHERS,
    )


def is_right(found):
    """Whether the word was the right one."""
    return found["verdict"] == found["truth"]


def held(found):
    """Whether a gain that was measured again lay in its interval."""
    low, high = found["interval"]
    middle = statistics.median(found["again"])
    return low <= middle <= high


def fill(found):
    """Add the texts of a line of the table; what is not right stands out."""
    found["said"] = found["verdict"]
    if not is_right(found):
        found["said"] = f"**{found['verdict']}**"
    shares = found["shares"]
    parts = []
    for part in sorted(shares, key=shares.get, reverse=True)[:3]:
        percent = 100 * shares[part]
        parts.append(f"{part} {percent:.0f}%")
    found["parts"] = ", ".join(parts)
    found["promise"] = found.get("gain", "")
    found["kept"] = ""
    if found["promise"] == "no measurable difference" and found["interval"][1] < 1:
        found["promise"] = "slower"
    if "again" in found:
        low, high = found["interval"]
        found["promise"] = f"{low:.3g} to {high:.3g}"
        middle = statistics.median(found["again"])
        found["kept"] = f"{middle:.3g}"
        if not held(found):
            found["kept"] = f"**{middle:.3g}**"


if __name__ == "__main__":
    run(sys.argv[1:])
    PAGE.write_text(page(), "utf-8")
