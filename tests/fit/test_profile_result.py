"""What a `Profile` says: the sentences of each verdict, and of the changes."""

import re

import pytest

from accel_helpers.fit.parts import NOT_TOLD, Parts
from accel_helpers.fit.profile import for_another_minute
from accel_helpers.fit.profile_result import Change, Profile
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


def parts_of(shares):
    """The parts of epochs of two seconds; a share spreads by 2 % of an epoch."""
    spread = (-0.04, -0.02, 0.0, 0.02, 0.04)
    rounds = {part: tuple(2 * share + off for off in spread) for part, share in shares.items()}
    return Parts(EPOCH, rounds)


def profile(verdict="input", shares=SHARES, **settings):
    settings = {
        "parts": parts_of(shares),
        "compiling": 0.6,
        "epoch": Measurement.from_samples(EPOCH, name="epoch"),
        "steps": 1234,
        "compile_seconds": 3.0,
        "compilations": 1,
        "late_compilations": 0,
        "tried": (),
        "not_tried": {},
        "notes": (),
        **settings,
    }
    return Profile(verdict, **settings)


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


@pytest.mark.parametrize("verdict", SHARES)
def test_every_part_as_a_verdict_begins_with_its_share(verdict):
    first = words(profile(verdict)).partition(". ")[0]
    _, low, high = parts_of(SHARES).interval(verdict)
    assert f"{100 * SHARES[verdict]:.0f} % ({100 * low:.0f} to {100 * high:.0f})" in first


def test_compiling_is_a_share_of_the_whole_training():
    assert "60 % of the whole" in words(profile("compilation"))


# Which part is the largest

FEW = (1.0, 1.0, 1.0)
MANY = (1.0,) * 6


@pytest.mark.parametrize(
    ("wholes", "rounds", "verdict"),
    [
        (MANY, {"compute": (0.6,) * 6, "overhead": (0.4,) * 6}, "compute"),
        (MANY, {"compute": (0.6, 0.4) * 3, "overhead": (0.4, 0.6) * 3}, NOT_TOLD),
        # each differs from round to round, and the one is always the larger
        (MANY, {"compute": (0.9, 0.3) * 3, "overhead": (0.1, 0.2) * 3}, "compute"),
        (FEW, {"compute": (0.6, 0.7, 0.6), "overhead": (0.4, 0.3, 0.4)}, "compute"),
        (FEW, {"compute": (0.6, 0.4, 0.6), "overhead": (0.4, 0.6, 0.4)}, NOT_TOLD),
        (FEW, {"steps": (0.9,) * 3, "input": (0.1,) * 3}, NOT_TOLD),
    ],
)
def test_a_part_is_called_the_largest_where_that_is_sure(wholes, rounds, verdict):
    assert Parts(wholes, rounds).verdict == verdict


def test_a_few_rounds_make_no_interval():
    parts = Parts(FEW, {"overhead": (0.6, 0.7, 0.8)})
    assert parts.interval("overhead") == (0.7, 0.7, 0.7)
    assert "to" not in parts.share_in_words("overhead")


def test_a_share_lies_in_its_interval_and_ends_at_one():
    parts = Parts(MANY, {"overhead": (0.99, 1.0) * 3})
    middle, low, high = parts.interval("overhead")
    assert low <= middle <= high <= 1


def test_the_shares_of_parts_that_vary_are_together_no_more_than_all():
    parts = Parts(MANY, {"compute": (0.7, 0.2, 0.7) * 2, "overhead": (0.3, 0.8, 0.8) * 2})
    assert sum(parts.shares.values()) == pytest.approx(1)


# What is said


def test_no_two_verdicts_read_alike():
    sentences = {words(profile(verdict)).partition(". ")[0] for verdict in Profile.OUTCOMES}
    assert len(sentences) == len(Profile.OUTCOMES)


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


def test_a_change_that_may_gain_much_or_nothing_is_not_called_a_tie():
    slow = Measurement.from_samples([1.0, 3.0, 1.0, 3.0, 1.0])
    fast = Measurement.from_samples([0.5, 2.9, 0.4, 3.1, 1.0])
    unsure = Change(".cache()", timing.compare(slow, fast, in_turns=True), "", None)
    assert unsure.is_undecided
    said = words(profile(tried=(unsure,)))
    assert "no measurable difference" not in said
    assert "seconds" in said
    assert not SAME.is_undecided


def test_steps_that_were_traced_again_are_said():
    assert "later traces: 17" in words(profile(late_compilations=17))
    assert "later traces" not in words(profile())


def test_a_part_that_cannot_be_told_is_left_out_and_its_note_is_said():
    shares = {part: share for part, share in SHARES.items() if part != "memory"}
    found = profile(shares=shares, notes=("No copy of width 1.",))
    assert "memory" not in found.parts.seconds
    assert "No copy of width 1." in words(found)


def test_the_seconds_of_the_parts_are_their_shares_of_an_epoch():
    seconds = profile().parts.seconds
    assert set(seconds) == set(SHARES)
    assert seconds["input"] == pytest.approx(0.82)


def test_reasons_are_announced_only_where_there_are_some():
    assert "reasons stand below" in words(profile(not_tried={"workers=4": "late"}))
    assert "reasons" not in words(profile("compilation"))


def test_the_change_that_was_faster_is_said_with_its_gain_and_its_note():
    said = words(profile(tried=(FASTER, SAME), not_tried={"workers=4": "late"}))
    assert "jit_compile=True: 2 times as fast" in said
    assert "Mind the numbers." in said
    assert "prefetch(AUTOTUNE): no measurable difference" in said
    assert "workers=4 (late)" in said
    assert said.count("jit_compile=True") == 1


@pytest.mark.parametrize(
    "tried, altering", [((FASTER, ALTERING), ALTERING), ((ALTERING,), ALTERING), ((FASTER,), None)]
)
def test_a_change_that_alters_the_training_comes_last_and_says_what_it_costs(tried, altering):
    found = profile(tried=(*tried, SAME), not_tried={"workers=4": "late"})
    assert (altering in found.advised) == (altering is not None)
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
    said = words(profile(tried=(SAME, SAME)))
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
    assert profile(tried=tuple(tried)).change is best


def test_a_change_that_was_slower_is_never_the_advice():
    said = words(profile(tried=(SLOWER,)))
    assert "nothing was measurably faster" in said
    assert "0.25 times as fast" in said


def test_a_change_that_was_slower_in_the_few_rounds_it_got_is_not_called_a_tie():
    slow = Measurement.from_samples([1.0, 1.1, 1.0])
    fast = Measurement.from_samples([9.0, 9.5, 10.0])
    slower = Change("jit_compile=True", timing.compare(slow, fast, in_turns=True), "", None)
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
