"""Lesson 11: every question is asked, its stored pages are what the data say, its exam is fair."""

import re
from pathlib import Path

import nbformat
import pytest

import accel_helpers as ah

LESSONS = Path(__file__).parents[2] / "notebooks"
NOTEBOOK = nbformat.read(LESSONS / "11_exam_review.ipynb", as_version=4)


def the_cell(name):
    (found,) = [cell for cell in NOTEBOOK.cells if cell.id == name]
    return found


def page_of(name):
    return "".join(out.get("data", {}).get("text/html", "") for out in the_cell(name).outputs)


def words_of(name):
    return "".join(out.get("text", "") for out in the_cell(name).outputs)


def test_all_fourteen_questions_are_reviewed_with_both_answers_folded():
    pages = "".join(page_of(cell.id) for cell in NOTEBOOK.cells if "review.both" in cell.source)
    asked = re.findall(r"<strong>(E\d+)\. ", pages)
    assert asked == [f"E{n}" for n in range(1, 15)]
    assert pages.count("<summary>What the exam&#x27;s material answers (") == 9
    assert pages.count("<summary>The usual answer (the material&#x27;s text was not found)") == 5
    assert pages.count("<summary>What is true today") == 14
    assert pages.count("Where the course measures it: <a href=") == 14


def test_its_links_lead_to_headings_that_are_there():
    for page, anchor in re.findall(r'href="(\d\d_\w+\.ipynb)#([^"]+)"', str(NOTEBOOK)):
        text = "".join(
            cell.source + "\n"
            for cell in nbformat.read(LESSONS / page, as_version=4).cells
            if cell.cell_type == "markdown"
        )
        headings = {
            line.lstrip("# ").replace("*", "").replace("`", "").replace(" ", "-")
            for line in text.splitlines()
            if line.startswith("#")
        }
        assert anchor.replace("&#x27;", "'") in headings, (page, anchor)


@pytest.mark.parametrize(("name", "shown"), [("quiz", "11"), ("exam", 1)])
def test_the_stored_page_is_what_the_bank_gives(name, shown):
    made = ah.quiz.show(shown) if name == "quiz" else ah.exam.draw(shown)
    assert page_of(name) == made._repr_html_()


def test_the_exam_is_shown_to_be_fair():
    lines = words_of("fair").splitlines()
    assert re.match(r"knows the material: +20 as the material, .* passed$", lines[0])
    assert re.match(r"knows what is true today: .* 20 today: passed$", lines[1])
    assert lines[2].endswith("not passed")
    (odds,) = re.findall(r"once in ([\d,]+) papers", lines[3])
    assert int(odds.replace(",", "")) > 1000


def test_the_numbers_in_the_text_are_those_of_the_data():
    text = "\n".join(cell.source for cell in NOTEBOOK.cells if cell.cell_type == "markdown")
    assert "**Fourteen of either** pass" in text and ah.exam.PASS == 14
    assert "Twenty of the questions" in text and ah.exam.COUNT == 20
    assert "nineteen" in text and len(ah.ledger.entries()) == 19
    quiz = {question.id for question in ah.quiz.show("11").questions}
    paper = {question.id for question in ah.exam.draw(1).questions}
    assert "many of them in the one above" in text and len(quiz & paper) >= 5
    assert "It has questions in common with this one" in text
    assert paper & {question.id for question in ah.exam.draw(2).questions}


def test_every_lesson_ends_with_its_quiz():
    for path in sorted(LESSONS.glob("[0-9]*.ipynb")):
        cells = nbformat.read(path, as_version=4).cells
        lesson = path.name[:2]
        (quiz,) = [cell for cell in cells if cell.source == f'ah.quiz.show("{lesson}")']
        (shown,) = quiz.outputs
        assert shown["data"]["text/html"] == ah.quiz.show(lesson)._repr_html_(), lesson
        assert "quiz" in cells[0].source, f"{lesson}: the title says how long the quiz takes"
