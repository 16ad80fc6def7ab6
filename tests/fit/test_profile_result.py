"""What a `Profile` says: the sentences of each verdict, and of the changes."""

import re

import pytest

from accel_helpers.fit.epoch_parts import EpochParts
from accel_helpers.fit.profile import best_of, for_another_minute
from accel_helpers.fit.profile_result import Change, Profile
from accel_helpers.fit.timed_fit import WarmUp
from accel_helpers.measure import timing
from accel_helpers.measure.measurement import Measurement

EPOCH = (2.0, 2.0, 2.0, 2.0, 2.0)
SHARES = {
    "input": 0.41,
    "compute": 0.23,
    "memory": 0.15,
    "overhead": 0.08,
    "callbacks": 0.07,
    "validation": 0.03,
}


def profile(verdict="input", **settings):
    settings = {
        "shares": SHARES | {"compilation": 0.6},
        "epoch": Measurement.from_samples(EPOCH, name="epoch"),
        "steps": 1234,
        "compile_seconds": 3.0,
        "compilations": 1,
        "late_compilations": 0,
        "input_alone": 0.0,
        "slowest_callback": "ModelCheckpoint",
        "change": None,
        "tried": (),
        "not_tried": {},
        "notes": (),
        **settings,
    }
    shares = settings["shares"]
    intervals = {part: (share - 0.02, share + 0.02) for part, share in shares.items()}
    return Profile(verdict, intervals=settings.pop("intervals", intervals), **settings)


def words(found):
    """What it prints, in one line."""
    return re.sub(r"\s+", " ", str(found))


def change(name, with_change, note="", alters=False):
    """A change whose epochs take so many seconds in place of two."""
    slow = Measurement.from_samples(EPOCH, name="as it is")
    fast = Measurement.from_samples([with_change] * 5, name="with the change")
    return Change(name, timing.compare(slow, fast, in_turns=True), note, None, alters)


FASTER = change("jit_compile=True", 1.0, note="Mind the numbers.")
LITTLE_FASTER = change("batch_size=256", 1.6)
ALTERING = change("batch_size=512", 0.5, note="Watch the accuracy.", alters=True)
SAME = change("prefetch(AUTOTUNE)", 2.0)
SLOWER = change("run_eagerly=True", 8.0)


@pytest.mark.parametrize("verdict", Profile.OUTCOMES)
def test_every_verdict_begins_with_its_share(verdict):
    first = words(profile(verdict)).partition(". ")[0]
    share = (SHARES | {"compilation": 0.6})[verdict]
    assert f"{100 * share:.0f} %" in first
    assert f"({100 * share - 2:.0f} to {100 * share + 2:.0f})" in first


def test_no_two_verdicts_read_alike():
    sentences = {words(profile(verdict)).partition(". ")[0] for verdict in Profile.OUTCOMES}
    assert len(sentences) == len(Profile.OUTCOMES)


def test_the_callback_that_takes_most_is_named():
    assert "ModelCheckpoint" in words(profile("callbacks"))
    assert "ModelCheckpoint" not in words(profile("input"))


def test_the_parts_are_said_from_the_largest_down_and_small_ones_not():
    said = words(profile()).partition("(Input that")[0]
    places = [said.index(f"{part} ") for part in SHARES if part != "validation"]
    places[0] = said.index("input 41 %")
    assert places == sorted(places)
    assert "validation" not in said


def test_an_epoch_is_said_with_its_steps_and_seconds():
    said = words(profile())
    assert "1,234 steps" in said
    assert "2 s" in said


@pytest.mark.parametrize(
    ("verdict", "seconds", "is_said"),
    [
        ("compute", 1.5, True),  # hardly any step waits
        ("compute", 0.1, False),
        ("input", 1.5, False),  # there steps wait for it
    ],
)
def test_input_that_nobody_waits_for_is_said_where_it_is_long(verdict, seconds, is_said):
    share = 0.41 if verdict == "input" else 0.01
    said = words(profile(verdict, input_alone=seconds, shares=SHARES | {"input": share}))
    assert ("1.5 s" in said) == is_said


def test_a_change_that_may_gain_much_or_nothing_is_not_called_a_tie():
    slow = Measurement.from_samples([1.0, 3.0, 1.0, 3.0, 1.0])
    fast = Measurement.from_samples([0.5, 2.9, 0.4, 3.1, 1.0])
    unsure = Change(".cache()", timing.compare(slow, fast, in_turns=True), "", call=None)
    assert unsure.is_undecided
    said = words(profile(change=unsure, tried=(unsure,)))
    assert "no measurable difference" not in said
    assert "seconds" in said
    assert not SAME.is_undecided


def test_steps_that_were_traced_again_are_said():
    assert "17 times" in words(profile(late_compilations=17))
    assert "times more" not in words(profile())


def test_a_part_that_cannot_be_told_is_left_out_and_its_note_is_said():
    shares = {part: share for part, share in SHARES.items() if part != "memory"}
    found = profile(shares=shares, notes=("No copy of width 1.",))
    assert "memory" not in found.seconds
    assert "No copy of width 1." in words(found)


def test_the_seconds_of_the_parts_are_their_shares_of_an_epoch():
    seconds = profile().seconds
    assert set(seconds) == set(SHARES)
    assert seconds["input"] == pytest.approx(0.82)


def test_reasons_are_announced_only_where_there_are_some():
    assert "reasons stand below" in words(profile(not_tried={"workers=4": "late"}))
    assert "reasons" not in words(profile("compilation"))


def test_the_change_that_was_faster_is_said_with_its_gain_and_its_note():
    said = words(profile(change=FASTER, tried=(FASTER, SAME), not_tried={"workers=4": "late"}))
    assert "jit_compile=True: 2 times as fast" in said
    assert "Mind the numbers." in said
    assert "prefetch(AUTOTUNE): no measurable difference" in said
    assert "workers=4 (late)" in said
    assert said.count("jit_compile=True") == 1


@pytest.mark.parametrize(
    "tried, altering", [((FASTER, ALTERING), ALTERING), ((ALTERING,), ALTERING), ((FASTER,), None)]
)
def test_a_change_that_alters_the_training_comes_last_and_says_what_it_costs(tried, altering):
    found = profile(change=tried[0], tried=(*tried, SAME), not_tried={"workers=4": "late"})
    assert found.altering_change is altering
    said = " ".join(found.advice.split())
    places = [said.index(f"{each.name}: {each.gain_in_words}") for each in (*tried, SAME)]
    assert places == sorted(places)
    assert ("Watch the accuracy." in said) == (altering is not None)
    assert said.count("batch_size=512") == said.count("Watch") <= 1
    assert "workers=4 (late)" in said


def test_it_shows_its_text_as_the_last_line_of_a_cell():
    found = profile()
    assert repr(found) == str(found)


def test_a_change_that_was_not_faster_is_no_advice():
    said = words(profile(change=SAME, tried=(SAME, SAME)))
    assert "nothing was measurably faster" in said
    assert "prefetch(AUTOTUNE): no measurable difference" in said


def test_where_nothing_could_be_tried_the_reasons_are_said():
    said = words(profile(not_tried={"batch_size=256": "an epoch has only 4 steps"}))
    assert "nothing that we could try" in said
    assert "batch_size=256 (an epoch has only 4 steps)" in said


@pytest.mark.parametrize(
    ("tried", "best"),
    [
        ([SAME, LITTLE_FASTER, FASTER], FASTER),
        ([FASTER, LITTLE_FASTER], FASTER),
        ([SAME, LITTLE_FASTER], LITTLE_FASTER),
        ([SAME, change("workers=4", 2.0)], SAME),
        ([SLOWER, SAME], SLOWER),  # the first one that was tried
        ([], None),
        ([ALTERING, LITTLE_FASTER], LITTLE_FASTER),  # which leaves the training as it is
        ([SAME, ALTERING], ALTERING),
    ],
)
def test_the_best_change_is_the_one_that_was_faster_by_the_most(tried, best):
    assert best_of(tried) is best


def test_a_change_that_was_slower_is_never_the_advice():
    assert best_of([SLOWER, LITTLE_FASTER]) is LITTLE_FASTER
    said = words(profile(change=SLOWER, tried=(SLOWER,)))
    assert "nothing was measurably faster" in said
    assert "0.25 times as fast" in said


def test_a_share_lies_in_its_interval_and_ends_at_one():
    warm_up = WarmUp(first_step=1.0, passed=1.0, steps=1, step=1.0)
    parts = EpochParts((1.0,), {"overhead": (2.05,)}, (1.0,), 0.0, warm_up, 1, 0, "", ())
    assert parts.share("overhead") == (1.0, 1.0, 1.0)


def test_a_change_that_was_slower_in_the_few_rounds_it_got_is_not_called_a_tie():
    slow = Measurement.from_samples([1.0, 1.1, 1.0])
    fast = Measurement.from_samples([9.0, 9.5, 10.0])
    slower = Change("jit_compile=True", timing.compare(slow, fast, in_turns=True), "", call=None)
    assert slower.gain_in_words == "slower"


def test_a_gain_is_promised_for_another_minute_too():
    measured = change(".cache()", 1.0).gain
    promised = for_another_minute(measured)
    assert promised.interval[0] < measured.interval[0] <= 2 <= measured.interval[1]
    assert promised.interval[1] > measured.interval[1]
    assert promised.verdict == "faster"


def test_a_gain_that_another_minute_may_take_away_is_none():
    measured = change(".cache()", 1.9).gain
    assert measured.verdict == "faster"
    assert for_another_minute(measured).verdict == "no measurable difference"
