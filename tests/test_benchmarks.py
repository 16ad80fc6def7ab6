"""The benchmarks measure side by side, go on when one contender fails, and say what they found."""

import doctest
import itertools
import json
import sys
from pathlib import Path

import pytest

from benchmarks import (
    data,
    harness,
    memory,
    page,
    profile,
    run,
    samples,
    timers,
    trainer,
    turns,
)
from benchmarks import training as training_part
from benchmarks.turns import Lost, Worker

ROOT = Path(__file__).parent.parent
WAIT = 200.0  # seconds; a busy machine may take its time
MODULES = (harness, memory, run, samples, timers, trainer, training_part, turns)

ECHO = """
import json, sys
for line in sys.stdin:
    order = json.loads(line)
    if order["do"] == "die":
        sys.exit("the ground has opened")
    if order["do"] == "hang":
        import time; time.sleep(600)
    print("no JSON" if order["do"] == "chat" else json.dumps({"did": order["do"]}), flush=True)
"""


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_the_examples_are_right(module):
    failed, tried = doctest.testmod(module)
    assert failed == 0
    assert tried


# --- workers ----------------------------------------------------------------------------------


LOST = {"die": "exit status 1.*the ground has opened", "hang": "within 0.2 s", "chat": "no JSON"}


@pytest.mark.parametrize("order", LOST)
def test_a_worker_answers_until_it_is_lost_and_then_says_why(order):
    with Worker("echo", [sys.executable, "-c", ECHO]) as worker:
        assert worker.ask({"do": "one"}, seconds=WAIT) == {"did": "one"}
        assert worker.ask({"do": "two"}, seconds=WAIT) == {"did": "two"}
        with pytest.raises(Lost, match=f"echo: .*{LOST[order]}"):
            worker.ask({"do": order}, seconds=0.2 if order == "hang" else WAIT)
        with pytest.raises(Lost):
            worker.ask({"do": "one"}, seconds=WAIT)


# --- turns ------------------------------------------------------------------------------------


class Fake:
    """Answers as a contender does, from numbers that it was given."""

    def __init__(self, name, seconds, *, fails_in=None, losses=None, calls=None):
        self.name, self.seconds, self.fails_in = name, iter(seconds), fails_in
        self.losses = itertools.count(9, -0.1) if losses is None else iter(losses)
        self.calls = [] if calls is None else calls

    def ask(self, order, *, seconds):
        self.calls.append((self.name, order["do"]))
        if order["do"] == self.fails_in:
            raise Lost(f"{self.name}: ended (exit status -9).")
        if order["do"] == "finish":
            return {"test_accuracy": 0.97}
        return {"seconds": [next(self.seconds)], "loss": next(self.losses), "accuracy": 0.9}


def times(level):
    return [9.0 + level, *(level * factor for factor in (1.0, 1.02, 0.98, 1.01, 0.99))]


def measured(*fakes, rounds=5):
    workers = {fake.name: fake for fake in fakes}

    def rule():
        return training_part.enough(rounds, rounds, 0)

    return training_part.measure(workers, {}, batch_sizes=[32], until=rule)["32"]


def test_contenders_take_turns_and_each_round_turns_the_order_round():
    calls = []
    found = measured(Fake("a", times(1), calls=calls), Fake("b", times(2), calls=calls))
    epoch = found["a"]["epoch"]
    assert epoch["first_call"] == 10.0, "that is no sample"
    assert [*epoch["samples"]] == times(1)[1:], "that is no sample"
    epochs = "".join(name for name, do in calls if do == "epoch")
    assert epochs == "abbaabbaab"


@pytest.mark.parametrize("moment", ["train", "epoch", "finish"])
def test_who_is_lost_is_named_and_the_others_go_on(moment):
    lazy = Fake("d", times(1), losses=[2.3] * 6)  # it learns nothing
    others = (Fake("a", times(1)), Fake("c", times(1)), lazy)
    found = measured(Fake("b", times(1), fails_in=moment), *others)
    assert "did not fall" in found.pop("d")["error"]
    assert found["b"] == {"error": "b: ended (exit status -9)."}
    assert len(found["a"]["epoch"]["samples"]) == len(found["c"]["epoch"]["samples"]) == 5
    assert list(run.errors_in({"training": found})) == ["training, b: b: ended (exit status -9)."]


def test_ratios_are_taken_pair_by_pair():
    slow, fast = "fit, TensorFlow", "fit_resident, TensorFlow"
    slower = [9.0, 1.0, 1.5, 2.0, 3.0, 4.0]  # a machine that grows slower and slower
    found = measured(Fake(slow, [3 * t for t in slower]), Fake(fast, [t / 4 for t in slower]))
    (ratio,) = training_part.ratios(found)
    assert ratio.conclusive
    assert ratio.interval == pytest.approx((12, 12))
    assert ratio.ratio == pytest.approx(12)
    assert (ratio.slow.name, ratio.fast.name) == (slow, fast)
    assert training_part.ratios({slow: found[slow], fast: {"error": "ended"}}) == []


def test_small_epochs_are_taken_several_at_a_time_and_counted_per_sample():
    asked = []

    class Sized(Fake):
        def ask(self, order, *, seconds):
            asked.append(order)
            answer = super().ask(order, seconds=seconds) | {"grown": 50, "needed": 30}
            return answer | {"seconds": answer["seconds"] * order.get("times", 1)}

    found = samples.measure({1000: Sized("a", times(0.5))}, {}, until=training_part.enough(5, 5, 0))
    assert asked[0] == {"do": "train", "batch_size": 32, "count": 1000}
    assert asked[1] == {"do": "epoch", "times": 50}
    assert found["1000"]["sample"]["samples"] == pytest.approx([t / 1000 for t in times(0.5)[1:]])
    assert (found["1000"]["grown"], found["1000"]["needed"]) == (50, 30)


# --- the harness ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "our, their, word",
    [(1.001, 1.05, "smaller"), (0.95, 1.01, "larger"), (1.01, 0.99, "no measurable difference")],
)
def test_the_verdict_compares_sizes_of_bias_not_signs(our, their, word):
    def rounds(ratio):
        return [{"reported": ratio * f, "truth": 1.0} for f in (1.0, 1.001, 0.999, 1.0, 1.001)]

    both = {harness.OURS: rounds(our), harness.TORCH: rounds(their)}
    assert harness.verdict(both) == word
    assert harness.verdict({harness.OURS: rounds(our)}) == "not measured here"


def test_the_truth_of_a_function_is_found_without_a_harness():
    slope = timers.Slope(timers.function_of(200e-6), 200e-6, spend=0.02)
    # It looks at the clock until then. A loaded machine moves a difference of two times either
    # way, so one of nine is let be right.
    assert max(slope() for _ in range(9)) >= 200e-6


def test_a_late_device_is_timed_rightly_by_waiting_and_wrongly_without():
    ways = {harness.OURS: timers.ours, "timeit": timers.standard}
    found = harness.late(0.01, 3, ways)
    reported = {
        way: harness.error(seconds, found["alone"]) for way, seconds in found["reported"].items()
    }
    assert found["alone"] == 0.01 + harness.ORDER
    assert not found["together"]
    assert reported[harness.OURS] < 0.01
    assert reported[f"timeit, {harness.WITH_WAIT}"] < 0.02
    assert reported[f"timeit, {harness.NO_WAIT}"] > 0.9
    found = harness.late(1e-5, 2, {harness.OURS: timers.ours})
    assert found["together"], "short jobs are timed in a row"
    assert harness.error(found["reported"][harness.OURS], found["in a row"]) < 0.02


# --- the script -------------------------------------------------------------------------------


@pytest.mark.night
@pytest.mark.timeout(900)
def test_a_real_contender_answers_and_learns(tmp_path, monkeypatch):
    monkeypatch.setenv("ACCEL_DATA", "bundled")
    what = data.save(tmp_path, 320)
    assert what["count"] == 320
    assert data.load(tmp_path).x.max() <= 1
    name = "fit_resident, JAX"
    with training_part.start(name, tmp_path, torch_python=None) as worker:
        found = training_part.measure(
            {name: worker}, {}, batch_sizes=[32], until=lambda: training_part.enough(5, 5, 0)
        )
    entry = found["32"][name]
    assert len(entry["epoch"]["samples"]) == 5
    assert entry["losses"][-1] < entry["losses"][0]
    assert 0 <= entry["test_accuracy"] <= 1


# --- the page ---------------------------------------------------------------------------------


def test_what_was_not_measured_and_what_failed_is_on_the_page():
    """All else on it is held by the page in docs."""
    ((name, found),) = page.load(ROOT / "benchmarks" / "results").items()
    ways = found["training"]["batch_sizes"]["32"]
    ways["PyTorch loop"] = {"not_measured": "no wheel"}
    ways["fit, JAX"] = {"error": "no answer within 9 s."}
    found["samples"]["backends"]["JAX"]["1000"] = {"not_measured": "too large"}
    text, _ = page.make({name: found})
    for said in ("here: no wheel", "failed: no answer within 9 s.", "here: too large"):
        assert said in text


def test_the_page_in_docs_is_the_one_that_the_results_give():
    found = page.load(ROOT / "benchmarks" / "results")
    text, pictures = page.make(found)
    again = "run: .venv/bin/python benchmarks/run.py --page"
    assert (ROOT / "docs" / "benchmarks.md").read_text("utf-8") == text, again
    drawn = {p.name for p in (ROOT / "docs" / "pictures").glob("benchmarks-*.png")}
    assert drawn == set(pictures), again
    commands = [part.get("command", "") for one in found.values() for part in one.values()
                if isinstance(part, dict)]  # fmt: skip
    assert not any("--quick" in command for command in commands)


# --- trainings whose bottleneck is known --------------------------------------------------------


def test_on_a_quiet_machine_every_word_was_right_and_nine_of_ten_gains_were_kept():
    stored = json.loads(profile.RESULTS.read_text("utf-8"))
    quiet = {found["name"]: found for found in stored if not found["loops"]}
    gains = [found for found in quiet.values() if "again" in found]
    assert [*quiet] == profile.names("")
    assert [name for name, found in quiet.items() if not profile.is_right(found)] == []
    assert len(gains) >= 10
    assert sum(map(profile.held, gains)) >= 0.9 * len(gains)


def test_the_page_on_them_says_what_was_stored():
    assert profile.page() == profile.PAGE.read_text("utf-8")
