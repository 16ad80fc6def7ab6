"""The checks of lesson 03, on right answers and on plausible wrong ones."""

import pytest

from accel_helpers.learn.checks import Result
from accel_helpers.lessons import check


def not_waited(d):
    batch = d.send("images")
    d.wait(d.run(batch))
    start = d.clock()
    d.run(batch)
    return d.clock() - start


def compiled_inside(d):
    batch = d.send("images")
    start = d.clock()
    for _ in range(10):
        d.wait(d.run(batch))
    return (d.clock() - start) / 10


def mended_a(d):
    batch = d.send("images")
    d.wait(d.run(batch))
    start = d.clock()
    d.wait(d.run(batch))
    return d.clock() - start


def mended_b(d):
    batch = d.send("images")
    d.wait(d.run(batch))
    start = d.clock()
    for _ in range(10):
        d.wait(d.run(batch))
    return (d.clock() - start) / 10


def mended_c(d):
    d.wait(d.run(d.send("images")))
    start = d.clock()
    for _ in range(10):
        d.wait(d.run(d.send("images")))
    return (d.clock() - start) / 10


def mended_d(d, n=500):
    batch = d.send("images")
    d.wait(d.run(batch))
    start = d.clock()
    for _ in range(n):
        d.wait(d.run(batch))
    return (d.clock() - start) / n


def forgot_to_divide(d):
    return 10 * mended_b(d)


def empty(d):
    raise NotImplementedError


RIGHT = [
    ("03/a", mended_a),
    ("03/a", mended_b),
    ("03/b", mended_b),
    ("03/b", mended_a),
    ("03/c", mended_c),
    ("03/d", mended_d),
]


@pytest.mark.parametrize(("exercise", "answer"), RIGHT)
def test_right_answers_pass(exercise, answer):
    result = check(exercise, answer)
    assert result.ok and bool(result) and not result.hint, str(result)


def first_run_not_waited_for(d):
    batch = d.send("images")
    d.run(batch)
    start = d.clock()
    for _ in range(10):
        d.wait(d.run(batch))
    return (d.clock() - start) / 10


def overlapping(d):
    d.wait(d.run(d.send("images")))
    start = d.clock()
    for _ in range(10):
        job = d.run(d.send("images"))
    d.wait(job)
    return (d.clock() - start) / 10


WRONG = [
    ("03/b", first_run_not_waited_for, "still working when your clock started"),
    ("03/c", overlapping, "overlap with the work"),
    ("03/a", not_waited, "give the order"),
    ("03/a", compiled_inside, "compilation is still inside"),
    ("03/a", forgot_to_divide, "about 10 steps together"),
    ("03/a", lambda d: 1.3 * mended_a(d), "true time lies elsewhere"),
    ("03/a", mended_c, "sending is inside"),
    ("03/b", compiled_inside, "first run compiles"),
    ("03/b", not_waited, "give the order"),
    ("03/b", lambda d: forgot_to_divide(d) / 2, "about 5 steps"),
    ("03/b", forgot_to_divide, "about 10 steps together"),
    ("03/b", lambda d: compiled_inside(d) / 2, "first run compiles"),  # as of 20 steps
    ("03/c", lambda d: 5 * mended_c(d), "about 5 steps"),
    ("03/c", lambda d: compiled_inside(d), "compilation is inside"),
    ("03/c", mended_b, "sent before the clock"),
    ("03/c", lambda d: 10 * mended_c(d), "about 10 steps"),
    ("03/d", mended_a, "ticks every 5 ms"),
    ("03/d", lambda d: mended_d(d, 3), "off"),
    ("03/d", compiled_inside, "compilation is inside"),
    ("03/d", lambda d: 500 * mended_d(d), "steps together"),
    ("03/a", empty, "still empty"),
    ("03/a", lambda d: d.start(), "AttributeError"),
    ("03/a", lambda d: None, "not a number of seconds"),
    ("03/a", 0.01, "A function of the device is needed"),
    ("03/diagnosis", {"A": "compiling", "B": "waiting"}, "Fill in the four causes"),
    ("03/diagnosis", {"A": ..., "B": ..., "C": ..., "D": ...}, "Fill in the four causes"),
    ("03/diagnosis", dict(zip("ABCD", ["compiling"] * 4, strict=True)), "1 of 4"),
    (
        "03/diagnosis",
        {"A": "waiting", "B": "compiling", "C": "too small", "D": "transfer"},
        "Look at C",
    ),
    ("03/diagnosis", dict.fromkeys("ABCD", "slow"), "not one of the causes"),
    ("03/diagnosis", {"A": "waiting", "B": "slow", "C": ""}, "'slow' is not one of the causes"),
    ("03/diagnosis", ["waiting"], "A dictionary is needed"),
]


@pytest.mark.parametrize(("exercise", "answer", "words"), WRONG)
def test_wrong_answers_get_their_own_message(exercise, answer, words):
    result = check(exercise, answer)
    assert not result.ok and words in result.message and result.hint, str(result)


TRUTH = {"03/a": 0.0101, "03/b": 0.0101, "03/c": 0.0401, "03/d": 0.0022}


@pytest.mark.parametrize("exercise", TRUTH)
def test_the_right_number_without_a_measurement_is_not_right(exercise):
    """A constant, also behind steps that really ran, is told to be one."""

    def constant(d):
        return TRUTH[exercise]

    def run_but_not_timed(d):
        d.wait(d.run(d.send("images")))
        return TRUTH[exercise] + 0 * (d.clock() - d.clock())

    def timed_and_thrown_away(d):
        mended_c(d)
        return TRUTH[exercise]

    for answer in (constant, run_but_not_timed):
        result = check(exercise, answer)
        assert not result.ok and result.hint
        assert "does not come from the device: nothing ran" in result.message
    result = check(exercise, timed_and_thrown_away)
    assert not result.ok and result.hint
    assert "takes 2 times as long" in result.message


def test_a_part_that_was_written_in_by_hand_is_found():
    result = check("03/c", lambda d: mended_b(d) + 0.030)
    assert not result.ok and "takes 2 times as long" in result.message


@pytest.mark.parametrize("n", [20, 40, 60, 100, 200, 400, 700])
def test_few_steps_are_never_said_to_be_a_constant(n):
    assert "takes 2 times" not in check("03/d", lambda d: mended_d(d, n)).message


def test_the_diagnosis():
    right = {"A": "waiting", "B": "compiling", "C": "transfer", "D": "too small"}
    assert check("03/diagnosis", right).ok


def test_a_result_reads_well_and_escapes_what_the_learner_typed():
    result = Result(False, "got <script>", "try & see")
    assert "<script>" not in result._repr_html_() and "&amp; see" in result._repr_html_()
    assert str(result).startswith("Not yet.")


def test_an_unknown_exercise_is_named():
    with pytest.raises(ValueError, match="no exercise is called '99'.*03/a,"):
        check("99", None)
