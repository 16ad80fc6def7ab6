"""A lesson is in form; each slip that authors make is found, and mended if it can be."""

import tomllib
from pathlib import Path

import form
import lesson
import pytest
import repair
from example import cell
from nbformat import from_dict

PATH = next(lesson.LESSONS.glob("03_*.ipynb"))
TEXT = lesson.read(PATH)
SLIPS = tomllib.loads(Path(__file__).with_name("slips.toml").read_text("utf-8"))


def with_slip(slip):
    nb = lesson.parse(TEXT)
    cell(nb, slip["cell"]).update(from_dict(slip["change"]))
    return lesson.dump(nb)


def test_a_lesson_in_form_stays_as_it_is():
    assert form.check(TEXT, PATH) == []
    assert repair.fix(TEXT, PATH) == TEXT


@pytest.mark.parametrize("slip", SLIPS["mended"])
def test_a_slip_that_needs_no_author_is_mended(slip):
    text = with_slip(slip)
    assert form.check(text, PATH)
    assert form.check(repair.fix(text, PATH), PATH) == []


@pytest.mark.parametrize("slip", SLIPS["left"])
def test_a_slip_that_needs_its_author_is_found(slip):
    mended = repair.fix(with_slip(slip), PATH)
    assert form.check(mended, PATH)


def test_a_core_has_a_limit_of_words():
    text = with_slip({"cell": "op-intro", "change": {"source": "Too many words. " * 400}})
    assert "words" in form.check(text, PATH)[0]
