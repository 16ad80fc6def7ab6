"""The bank keeps its rules, and a file that is no bank is refused by file and field."""

import difflib
import itertools
import math
from collections import Counter

import pytest

from accel_helpers._records import DataError
from accel_helpers.learn import questions

BANK = questions.bank()
CHOICES = [q for q in BANK.values() if q.kind in ("one", "several")]
ONE = [q for q in BANK.values() if q.kind == "one"]
GOOD = """
[[question]]
id = "03/x"
lesson = "03"
kind = "one"
stem = "Which?"
source = ["https://example.org/"]
[[question.options]]
text = "this"
correct = true
feedback = "Yes."
[[question.options]]
text = "that"
correct = false
feedback = "No."
"""


def test_there_are_enough_of_every_kind_and_every_exam_question_comes_twice():
    assert len(BANK) >= 40
    assert {q.kind for q in BANK.values()} == set(questions.KINDS)
    times = Counter(number for q in BANK.values() for number in q.exam)
    assert set(times) == {f"E{n}" for n in range(1, 15)}
    assert min(times.values()) >= 2
    ways = {n: {q.stem for q in BANK.values() if n in q.exam} for n in times}
    assert all(len(stems) >= 2 for stems in ways.values())


def test_every_exam_question_can_be_drawn_in_two_ways():
    times = Counter(n for q in BANK.values() if q.practice and q.kind != "measured" for n in q.exam)
    assert len(times) == 14 and min(times.values()) >= 2


def test_every_option_says_why_and_no_two_say_the_same():
    for question in BANK.values():
        said = [o.feedback for o in question.options]
        assert len(set(said)) == len(said), question.id
        assert all(len(text.split()) >= 4 for text in said), question.id


def _plain(stem):
    return " ".join("".join(c if c.isalnum() else " " for c in stem.lower()).split())


def alike(stems):
    return [
        (a, b)
        for a, b in itertools.combinations(stems, 2)
        if difflib.SequenceMatcher(None, _plain(a), _plain(b), autojunk=False).ratio() > 0.8
    ]


def test_no_two_stems_are_alike():
    assert alike(["What does compile set?", "What does `compile` set"])
    assert alike([q.stem for q in BANK.values()]) == []


def given_away(question):
    """Whether the longest right option stands out among the wrong ones."""
    right = max(len(o.text) for o in question.options if o.correct)
    wrong = max(len(o.text) for o in question.options if not o.correct)
    return right > 1.25 * wrong and right > wrong + 10


def test_no_option_is_given_away_by_its_length():
    assert given_away(questions.parse(GOOD.replace('"this"', f'"{"this " * 9}"'), "x.toml")[0])
    assert [q.id for q in CHOICES if given_away(q)] == []


def chance(hits, trials, share):
    """How probable so many hits or more are, if each has this share."""
    return sum(
        math.comb(trials, k) * share**k * (1 - share) ** (trials - k)
        for k in range(hits, trials + 1)
    )


@pytest.mark.parametrize("pick", [max, min], ids=["longest", "shortest"])
def test_over_the_bank_length_gives_nothing_away(pick):
    """Choosing the longest (or shortest) option every time is no better than chance."""
    length = [pick(q.options, key=lambda o: len(o.text)) for q in ONE]
    hits = sum(option.correct for option in length)
    share = sum(1 / len(q.options) for q in ONE) / len(ONE)
    assert chance(hits, len(ONE), share) > 0.05, (hits, len(ONE))


def test_over_the_bank_no_place_is_better_than_another():
    """Choosing the same letter every time is no better than chance."""
    places = Counter(q.letters() for q in ONE)
    share = sum(1 / len(q.options) for q in ONE) / len(ONE)
    assert all(chance(hits, len(ONE), share) > 0.02 for hits in places.values()), places


def test_questions_to_be_kept_apart_are_there():
    for question in BANK.values():
        assert set(question.apart) <= set(BANK) - {question.id}


def test_steps_are_not_stored_in_their_order():
    for question in BANK.values():
        if question.kind == "order":
            for material in (False, True):
                steps = question.steps(material)
                assert list(steps) != sorted(steps), question.id


def test_known_mistakes_of_a_number_are_not_within_its_tolerance():
    for question in BANK.values():
        if question.kind == "number":
            (right,) = (o.value for o in question.options if o.correct)
            for option in question.options:
                off = abs(option.value - right)
                assert option.correct or off > question.tolerance * abs(right), question.id


def test_a_guess_is_about_something_on_the_card():
    from accel_helpers.measure import results

    card = results.reference_runs()[-1]
    names = {*card.measurements, *card.numbers}
    for question in BANK.values():
        if question.kind == "measured":
            assert {question.measured, question.over} - {""} <= names, question.id


def test_lessons_that_are_named_exist():
    import json
    from pathlib import Path

    folder = Path(questions.__file__).parents[2] / "notebooks"
    lessons = {path.name[:2]: path.name for path in folder.glob("[0-9]*.ipynb")}
    assert {q.lesson for q in BANK.values()} == set(lessons)
    for question in BANK.values():
        for source in question.source:
            if not source.startswith("https://"):
                lesson, _, heading = source.removeprefix("lesson ").partition(", ")
                assert source.startswith("lesson ") and lesson in lessons, question.id
                text = json.loads((folder / lessons[lesson]).read_text("utf-8"))["cells"]
                titles = "".join(
                    "".join(cell["source"]) + "\n" for cell in text if cell["cell_type"] != "code"
                ).splitlines()
                stripped = {line.lstrip("# ").strip() for line in titles if line.startswith("#")}
                named = {t.split(" · ")[-1] for t in stripped}
                assert heading in stripped | named, (question.id, heading)


# ---------------------------------------------------------------------------------------------


def refused(text):
    with pytest.raises(DataError) as said:
        questions.parse(text, "hostile.toml")
    return str(said.value)


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ('lesson = "03"', "lesson = 3", "'lesson' must be a text that is not empty; got 3"),
        ('id = "03/x"', 'id = "04/x"', "'id' must be lesson and name"),
        ('id = "03/x"', 'id = "03/<b>"', "'id' must be lesson and name"),
        ('kind = "one"', 'kind = "essay"', "'kind' must be one of one, several"),
        ('stem = "Which?"', 'stem = "  "', "'stem' must be a text"),
        ('stem = "Which?"', "", "'stem' must be a text that is not empty; got None"),
        ('stem = "Which?"', 'stem = "Which?"\ncolour = 1', "unknown field 'colour'"),
        ('["https://example.org/"]', "[]", "'source' must be a list of texts"),
        ('["https://example.org/"]', "[1]", "'source' must be a list of texts"),
        ("correct = true", 'correct = "yes"', "option 1: 'correct' must be true or false"),
        ("correct = true", "correct = false", "'options' must be a list with one correct"),
        ('feedback = "No."', "", "option 2: 'feedback' must be a text"),
        ('stem = "Which?"', 'stem = "Which?"\nexam = "E3"', "'exam' must be a list of texts"),
        ('stem = "Which?"', 'stem = "Which?"\nexam = ["3"]', "'exam' must be a list of numbers"),
        ('stem = "Which?"', 'stem = "Which?"\nexam = ["E3"]', "'material' must be a text"),
        ('stem = "Which?"', 'stem = "Which?"\ntoday = "x"', "'exam' must be there where"),
        ('kind = "one"', 'kind = "number"', "'value' must be a number"),
        ('kind = "one"', 'kind = "several"', "'options' must be a list with several correct"),
        ('kind = "one"', 'kind = "order"', "'options' must be steps with 'position' 1, 2, 3"),
        (
            'kind = "one"',
            'kind = "measured"\nmeasured = "a"\nwithin = 2',
            "'options' must be three",
        ),
    ],
)
def test_a_wrong_field_is_named_with_its_file(old, new, field):
    said = refused(GOOD.replace(old, new, 1))
    assert said.startswith("hostile.toml, question 1") and field in said


def test_steps_are_counted_from_one():
    steps = "".join(
        f'[[question.options]]\ntext = "step {n}"\ncorrect = true\nfeedback = "f"\nposition = {n}\n'
        for n in range(4)
    )
    head = GOOD.partition("[[question.options]]")[0].replace('kind = "one"', 'kind = "order"')
    assert "'position' 1, 2, 3 and so on; got [0, 1, 2, 3]" in refused(head + steps)
    (question,) = questions.parse(head + steps.replace("= 0", "= 4"), "x.toml")
    assert question.steps() == "bcda"


def test_where_the_answers_differ_today_must_be_said():
    theirs = GOOD.replace('stem = "Which?"', 'stem = "Which?"\nexam = ["E3"]\nmaterial = "that"')
    theirs = theirs.replace(
        'material = "that"', f'material = "that"\nlabel = "{questions.LABELS[0]}"'
    )
    theirs = theirs.replace("correct = false", "correct = false\nmaterial = true")
    assert "'today' must be there" in refused(theirs)
    theirs = theirs.replace('kind = "one"', 'kind = "one"\ntoday = "this"')
    (question,) = questions.parse(theirs, "x.toml")
    assert question.differs and (question.letters(), question.letters(True)) == ("a", "b")
    assert "'label' must be one of" in refused(theirs.replace(questions.LABELS[0], "hearsay"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "question = 1",
        "[question]\nid = 1",
        "x = [",
        GOOD[:40],
        "a=" + "[" * 5000,
        GOOD + "y = 1",
    ],
)
def test_what_is_no_list_of_questions_is_refused(text):
    assert refused(text).startswith("hostile.toml")


def test_hostile_files_are_refused_before_they_are_read(tmp_path):
    big = tmp_path / "big.toml"
    big.write_bytes(b"#" * 10_000_000)
    with pytest.raises(DataError, match=r"big\.toml: larger than 200,000 bytes"):
        questions.load(big)
    latin = tmp_path / "latin.toml"
    latin.write_bytes(GOOD.encode() + b"# \xff")
    with pytest.raises(DataError, match=r"latin\.toml: cannot be read: it is not UTF-8"):
        questions.load(latin)
    with pytest.raises(DataError, match=r"gone\.toml: cannot be read: No such file"):
        questions.load(tmp_path / "gone.toml")
