"""The checks of lesson 03, on right answers and on plausible wrong ones."""

import pytest

from accel_helpers.checks import Result, check


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
    ("03/a", compiled_inside, "true time lies elsewhere"),
    ("03/a", mended_c, "sending is inside"),
    ("03/b", compiled_inside, "first run compiles"),
    ("03/b", not_waited, "give the order"),
    ("03/b", lambda d: forgot_to_divide(d) / 2, "about 5 steps"),
    ("03/c", mended_b, "sent before the clock"),
    ("03/c", lambda d: 10 * mended_c(d), "about 10 steps"),
    ("03/d", mended_a, "ticks every 5 ms"),
    ("03/d", lambda d: mended_d(d, 3), "off"),
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
    ("03/diagnosis", ["waiting"], "A dictionary is needed"),
]


@pytest.mark.parametrize(("exercise", "answer", "words"), WRONG)
def test_wrong_answers_get_their_own_message(exercise, answer, words):
    result = check(exercise, answer)
    assert not result.ok and words in result.message and result.hint, str(result)


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
