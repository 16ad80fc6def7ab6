"""The material of the exercises is as the lessons say, and right answers differ in form."""

import json
import re
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from practice import timed

import accel_helpers as ah
from accel_helpers.course.lessons import (
    exercises,
    lesson_01,
    lesson_03,
    lesson_06,
)
from accel_helpers.course.lessons.lesson_09 import whole_batch
from accel_helpers.course.lessons.lesson_10 import split
from accel_helpers.course.unit import MatrixUnit
from accel_helpers.measure import timing

np = pytest.importorskip("numpy")

LESSONS = Path(__file__).parents[3] / "notebooks"
LESSON_00, LESSON_01, LESSON_02, LESSON_03 = sorted(LESSONS.glob("0[0-3]_*.ipynb"))
CASES = exercises()["02/detective"].truth


# --- right answers in other forms --------------------------------------------------------------


def of_the_sample(train, other):
    """Scaled by the spread with n - 1: as good."""
    spread = np.maximum(train.std(axis=0, ddof=1), 1e-6 + (train.std(axis=0) == 0))
    return (train - train.mean(axis=0)) / spread, (other - train.mean(axis=0)) / spread


def masks(originals, seed):
    held_out = np.isin(np.arange(len(originals)), split(originals, seed)[1])
    return ~held_out, held_out


def lists(function):
    return lambda *case: [np.asarray(part).tolist() for part in function(*case)]


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        ("02/detective", {n: right.split() for n, right in CASES.items()}),
        ("03/a", timed),
        ("03/a", lambda device: timed(device, 1)),
        ("09/all_reduce", lambda gradients, counts: np.average(gradients, axis=0, weights=counts)),
        ("06/cycles", lambda m, k, n, size: MatrixUnit(size, size).cycles(m, k, n)),
        ("06/cycles", lambda *case: Fraction(lesson_06.cycles(*case))),
        ("06/cycles", lambda *case: np.array(lesson_06.cycles(*case))),
        ("10/scaling", of_the_sample),
        ("10/split", masks),
        ("10/split", lists(split)),
        ("10/split", lambda originals, seed: split(originals, seed, share=4)),
    ],
)
def test_a_right_answer_passes_in_other_forms_too(exercise, answer):
    result = exercises()[exercise](answer)
    assert result.ok, str(result)


def test_of_all_answers_only_the_right_ones_pass():
    for exercise in ("00/told_apart", "01/old"):
        right = exercises()[exercise].truth
        words = exercises()[exercise].allowed
        answers = (
            dict(zip(right, said, strict=True)) for said in product(words, repeat=len(right))
        )
        assert [answer for answer in answers if exercises()[exercise](answer).ok] == [right]


# --- lesson by lesson --------------------------------------------------------------------------


def verdict(old, new):
    """What two intervals say."""
    if new[1] < old[0]:
        return "faster"
    if old[1] < new[0]:
        return "slower"
    return "no measurable difference"


def test_the_times_in_the_exercise_of_lesson_00_say_what_is_graded():
    """The medians of B, C and D are equally far apart, and their intervals are not."""
    number = r"(\d+\.\d)"
    one = rf"{number} \({number} to {number}\)"
    shown = re.findall(rf'"([A-D])\\": \.\.\.,  # {one}, then {one}', LESSON_00.read_text("utf-8"))
    times = {letter: [*map(float, numbers)] for letter, *numbers in shown}
    graded = {letter: verdict(row[1:3], row[4:6]) for letter, row in times.items()}
    assert graded == exercises()["00/told_apart"].truth
    for letter in "BCD":
        old, new = times[letter][0], times[letter][3]
        assert 1.075 < max(old, new) / min(old, new) < 1.09, letter
    _, *inside, _, low, high = times["D"]
    assert low < inside[0]
    assert inside[1] < high
    _, old_low, old_high, _, new_low, new_high = times["B"]
    assert max(old_low, new_low) < 19.5 < min(old_high, new_high), "the solution names 19.5 ms"


def test_the_doctor_knows_each_old_step_of_lesson_01_that_fails():
    fates, text = exercises()["01/old"].truth, LESSON_01.read_text("utf-8")
    rows = re.findall(r"\| ([ABC]) \| .*? \| `(.*?)` \|", text)
    said = {letter: message.replace("`, then `", "\n") for letter, message in rows}
    assert {letter for letter, fate in fates.items() if fate == "fails"} == said.keys()
    for letter, message in said.items():
        assert ah.diagnose(f"In Colab: {message}").findings, letter


def test_a_rate_is_the_operations_over_the_time_beside_what_the_chip_is_rated_at():
    judged = [
        ah.judge(
            flops=2 * 2048**3,
            seconds=timing.Measurement.from_samples([seconds] * 5, name=name),
            accelerator="Tesla T4",
        )
        for seconds, name in ((0.1, "cpu:0"), (0.005, "gpu:0"))
    ]
    said = lesson_01.rates(judged).alt
    for words in ("CPU 172", "GPU 3,436", "NVIDIA T4: rated at 8,100"):
        assert words in said
    unknown = [ah.judge(flops=1e9, seconds=judged[0].time, accelerator="No. 5")]
    assert "NVIDIA T4: rated at 8,100" in lesson_01.rates(unknown).alt


FOUND = {"visible B": "gpu-none", "attached A": "tpu-plain-tensorflow", "faster E": None}


def test_the_doctor_finds_in_each_log_of_lesson_02_what_the_case_says():
    cells = json.loads(LESSON_02.read_text("utf-8"))["cells"]
    text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    logs = re.findall(r"\*\*Case (\d): .*?```text\n(.*?)```", text, re.S)
    assert [int(number) for number, _ in logs] == [*CASES]
    for number, log in logs:
        finding = FOUND[CASES[int(number)]]
        assert [found.id for found in ah.diagnose(log).findings] == ([finding] if finding else [])


@pytest.mark.parametrize("steps", [1, 7, 100])
@pytest.mark.parametrize(("slip", "said"), [("cold", "compiles"), ("whole", "steps together")])
def test_a_slip_is_known_in_however_many_steps_it_was_made(slip, said, steps):
    result = exercises()["03/a"](lambda device: timed(device, steps, **{slip: True}))
    assert said in result.message or (slip, steps) == ("whole", 1)


def test_the_benchmarks_that_lesson_03_shows_are_as_wrong_as_it_says():
    scope, text = {}, LESSON_03.read_text("utf-8")
    cells = ["".join(cell["source"]) for cell in json.loads(text)["cells"]]
    shown = re.search(r"```python\n(def broken_a.*?)```", "\n".join(cells), re.S)[1]
    rest = next(cell for cell in cells if cell.startswith("def broken_b")).split("\nfor ")[0]
    exec(shown + rest, scope)
    said = {
        n: scope[f"broken_{n.lower()}"](lesson_03.practice_device(n))
        for n in lesson_03.PRACTICE_TRUTH
    }
    assert said == pytest.approx({"A": 0.0001, "B": 0.2101, "C": 0.0101, "D": 0})
    assert "says 0.1 ms where the truth is 10.1 ms" in text
    assert lesson_03.PRACTICE_TRUTH["A"] == 0.0101
    assert not exercises()["03/a"](scope["broken_a"]).ok


def test_the_whole_batch_is_what_all_pictures_together_say():
    pictures = [[1.0, 4.0], [3.0, -2.0], [5.0, 1.0]]
    first_two = np.mean(pictures[:2], axis=0)
    assert whole_batch([first_two, pictures[2]], [2, 1]) == pytest.approx(np.mean(pictures, axis=0))


# --- lesson 06: the tools and the truth ---------------------------------------------------------


def many_floats():
    """20,000 float32 numbers of every size that bfloat16 has, and all kinds of ties."""
    patterns = np.random.default_rng(6).integers(0, 2**32, 20_000, dtype=np.uint32)
    patterns[:5_000] = patterns[:5_000] & 0xFFFF0000 | 0x8000  # in the middle
    found = patterns.view(np.float32)
    return found[np.abs(found) < 3e38]  # no NaN, and nothing that becomes infinite


def test_bfloat16_is_rounded_as_ml_dtypes_does():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    found = many_floats()
    right = found.astype(ml_dtypes.bfloat16).astype(np.float32).tolist()
    assert [lesson_06.bfloat16(x) for x in found.tolist()] == right
    assert exercises()["06/bfloat16"](ml_dtypes.bfloat16).ok


def test_who_divides_by_the_variance_hears_so():
    def by_the_variance(*sets):
        spread = sets[0].var(axis=0)
        spread[spread == 0] = 1
        return [(images - sets[0].mean(axis=0)) / spread for images in sets]

    assert "variance" in exercises()["10/scaling"](by_the_variance).message


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("tiny", [0, 1e-7])
def test_what_is_divided_by_nothing_is_told_whatever_else_is_wrong_with_the_scaling(tiny):
    def by_the_last(*sets):
        return [(images - sets[1].mean(axis=0)) / (sets[0].std(axis=0) + tiny) for images in sets]

    assert "divided by zero" in exercises()["10/scaling"](by_the_last).message


def test_places_that_are_off_by_one_are_no_split():
    result = exercises()["10/split"](lambda *case: [places - 1 for places in split(*case)])
    assert "copies on both sides" in result.message


@pytest.mark.parametrize("share", [2, 20])
def test_a_split_holds_out_about_a_fifth(share):
    result = exercises()["10/split"](lambda originals, seed: split(originals, seed, share))
    assert not result.ok
    assert "about a fifth" in result.message


@pytest.mark.parametrize("lesson", sorted(LESSONS.glob("*.ipynb")), ids=lambda path: path.name[:2])
def test_a_cell_formats_no_ratio_that_a_busy_machine_leaves_none(lesson):
    """A comparison that tells nothing has no ratio, and a cell that formats it stops the lesson."""
    cells = json.loads(lesson.read_text(encoding="utf-8"))["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    assert not re.search(r"\{[^{}]*\.ratio\s*:", code)
