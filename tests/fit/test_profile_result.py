"""What a `Profile` says: which part is the largest, which change is the best, and by how much."""

from types import SimpleNamespace

import pytest

from accel_helpers.fit.clock import Turn
from accel_helpers.fit.dissection import AS_IT_IS, IDLE, IN_MEMORY, Dissection
from accel_helpers.fit.parts import NOT_TOLD, Parts
from accel_helpers.fit.profile import for_another_minute
from accel_helpers.fit.profile_result import Change, Profile
from accel_helpers.measure import timing
from accel_helpers.measure.measurement import Measurement

EPOCH = (2.0,) * 5
SPREAD = (-0.04, -0.02, 0.0, 0.02, 0.04)  # seconds, from round to round
SHARES = {"input": 0.41, "compute": 0.23, "memory": 0.15, "overhead": 0.1, "validation": 0.03}


def profile(verdict="input", tried=(), late=0):
    rounds = {part: [2 * share + off for off in SPREAD] for part, share in SHARES.items()}
    return Profile(
        verdict,
        parts=Parts(EPOCH, rounds),
        compiling=0.6,
        epoch=Measurement.from_samples(EPOCH),
        steps=1234,
        compile_seconds=3.0,
        compilations=1,
        late_compilations=late,
        tried=tuple(tried),
        not_tried={"workers=4": "the time was up"},
        notes=("No copy of width 1.",),
    )


def words(found):
    """What it prints, in one line."""
    return " ".join(str(found).split())


def change(name, seconds, before=EPOCH, note="", alters=False):
    """A change whose epochs took so many seconds, beside those of the training as it was."""
    slow, fast = Measurement.from_samples(before), Measurement.from_samples(seconds)
    return Change(name, timing.compare(slow, fast, in_turns=True), note, None, alters)


FASTER = change("jit_compile=True", [1.0] * 5, note="Mind the numbers.")
LITTLE_FASTER = change("validation_freq=5", [1.6] * 5)
ALTERING = change("batch_size=512", [0.5] * 5, note="Watch the accuracy.", alters=True)
SAME = change("prefetch(AUTOTUNE)", [2.0] * 5)
SLOWER = change("run_eagerly=True", [8.0] * 5)


@pytest.mark.parametrize(
    ("first", "second", "part", "verdict"),
    [
        ((0.6, 0.4, 0.6, 0.4, 0.6), (0.4, 0.6, 0.4, 0.6, 0.4), "compute", NOT_TOLD),
        # each differs from round to round, and the one is always the larger
        ((0.9, 0.3, 0.9, 0.3, 0.9), (0.1, 0.2, 0.1, 0.2, 0.1), "compute", "compute"),
        ((0.6, 0.4, 0.6), (0.4, 0.6, 0.4), "compute", NOT_TOLD),
        ((0.9, 0.9, 0.9), (0.1, 0.1, 0.1), "steps", NOT_TOLD),
    ],
)
def test_a_part_is_called_the_largest_where_that_is_sure(first, second, part, verdict):
    assert Parts((1.0,) * len(first), {part: first, "overhead": second}).verdict == verdict


def test_no_step_waits_longer_for_its_input_than_the_input_takes_alone():
    training = SimpleNamespace(_callbacks=[], _parts_of_steps=lambda steps, turns: {"steps": steps})
    turns = {AS_IT_IS: Turn(10.0), IN_MEMORY: Turn(6.0), IDLE: Turn(3.0)}
    assert Dissection._parts_of(training, turns)["input"] == 3.0


def test_each_verdict_says_its_own_share_and_its_own_sentence():
    said = {verdict: words(profile(verdict)).partition(". ")[0] for verdict in Profile.OUTCOMES}
    assert "60 % of the whole" in said["compilation"]
    assert len({*said.values()}) == len(Profile.OUTCOMES)


def test_a_profile_says_the_epoch_its_parts_and_what_was_tried():
    found = profile(tried=(ALTERING, SAME, FASTER), late=17)
    said = words(found)
    for fact in (
        "1,234 steps takes 2 s",
        "input 41 % (38 to 44), compute 23 % (20 to 26), memory 15 % (12 to 18), overhead 10 %",
        "later traces: 17",
        "No copy of width 1.",
        "prefetch(AUTOTUNE): no measurable difference",
        "workers=4 (the time was up)",
    ):
        assert fact in said
    assert "validation 3 %" not in said, "too small to be worth a word"
    advice = ("jit_compile=True: 2 times", "Mind the", "batch_size=512: 4 times", "Watch the")
    places = [said.index(part) for part in advice]
    assert places == sorted(places), "what alters the training comes last"
    assert found.shares == pytest.approx({**SHARES, "compilation": 0.6})


@pytest.mark.parametrize(
    ("tried", "best"),
    [
        ([SAME, LITTLE_FASTER, FASTER], FASTER),
        ([SLOWER, SAME], SLOWER),  # the first one that was tried
        ([], None),
        ([ALTERING, LITTLE_FASTER], LITTLE_FASTER),  # which leaves the training as it is
        ([SAME, ALTERING], ALTERING),
    ],
)
def test_the_best_change_is_the_one_that_was_faster_by_the_most(tried, best):
    assert profile(tried=tried).change is best


def test_what_was_not_faster_is_no_advice_and_what_is_unsure_no_tie():
    assert "nothing was measurably faster" in words(profile(tried=[SAME, SLOWER]))
    unsure = change(".cache()", [0.5, 2.9, 0.4, 3.1, 1.0], before=[1.0, 3.0, 1.0, 3.0, 1.0])
    slower = change("jit_compile=True", [9.0, 9.5, 10.0], before=[1.0, 1.1, 1.0])
    for each, gain in (
        (SAME, "no measurable difference"),
        (SLOWER, "0.25 times as fast"),
        (slower, "slower"),  # in a few rounds, which make no number
        (unsure, "not told apart yet"),
    ):
        assert gain in each.gain_in_words


def test_a_gain_is_promised_for_another_minute_too():
    promised = for_another_minute(FASTER.gain)
    assert promised.interval == pytest.approx((2 / 1.15, 2 * 1.15))
    little = for_another_minute(change(".cache()", [1.9] * 5).gain)
    assert little.verdict == "no measurable difference"
