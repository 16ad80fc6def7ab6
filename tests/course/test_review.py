"""Both answers to every exam question are there, told apart, labelled, sourced and measured."""

import html
import re

from cells import prose

from accel_helpers.course import exam, questions, quiz, review
from accel_helpers.course.lessons import drawings
from accel_helpers.course.places import places

ANSWERS = review.answers()
BANK = questions.bank().values()


def test_every_exam_question_has_both_answers_with_their_sources():
    assert [one.number for one in ANSWERS] == [f"E{n}" for n in range(1, 15)]
    for one in ANSWERS:
        assert one.material
        assert one.today
        for url in one.today_source + one.material_source:
            assert url.startswith("https://")


def test_it_names_the_section_and_the_measurements_of_a_lesson():
    for one in ANSWERS:
        page = html.unescape(review.both_answers(one.number)._repr_html_())
        number, anchor = re.search(r'<a href="(\d\d)_[^"#]+#([^"]+)">Lesson', page).groups()
        assert anchor in re.sub("[*`]", "", prose(number)).replace(" ", "-")
        for place in one.places:
            number, _, id = place.partition("/")
            assert id in {**places(number), **drawings(number)}


def test_the_sources_of_the_bank_are_addresses_or_headings_that_exist():
    for question in BANK:
        assert question.source
        for source in question.source:
            number, _, heading = source.removeprefix("lesson ").partition(", ")
            assert source.startswith("https://") or heading in prose(number), source


def test_each_question_hides_both_answers_until_a_click_and_says_whether_they_differ():
    differ = set()
    for question in BANK:
        if question.expected:
            differ.update(question.exam)
    for one in ANSWERS:
        shown = review.both_answers(one.number)
        above, _, folded = html.unescape(shown._repr_html_()).partition("</summary>")
        assert " open>" not in above
        assert ("Today differs" in above) == (one.number in differ)
        assert one.for_the_exam in folded
        assert one.for_the_exam in str(shown)


def test_what_was_wrong_or_left_empty_is_shown_with_what_was_right(own_record):
    assert "No wrong or empty answer" in str(review.missed())
    exam.hand_in(1, {})
    assert review.missed().answers == ANSWERS[:10]
    assert "Question 20:" in str(review.missed())
    own_record.unlink()
    quiz.answer("03/speed_up", "a")
    assert "You: a\nBy the material: b) About" in str(review.missed())
