"""A quiz in an open lesson, used as a learner uses it."""

from accel_helpers.course import questions


class QuizPage:
    """The quiz of one cell of a `lab.Lesson`: the cell's place, and the questions there."""

    def __init__(self, lesson, call, asked):
        self.lesson, self.place, self.questions = lesson, lesson.place(call), list(asked)

    @property
    def output(self):
        return self.lesson.cell(self.place).locator(".jp-OutputArea")

    def number(self, kind):
        """Give the number, from 1, of the first question of a kind."""
        return 1 + [question.kind for question in self.questions].index(kind)

    def field(self, number):
        """Give the part of the page that holds a question."""
        return self.output.locator(".accel-question").nth(number - 1)

    def control(self, number, letter=""):
        """Give what is clicked or typed into: an option by its letter, or the box for text."""
        question, field = self.questions[number - 1], self.field(number)
        if question.kind not in ("one", "several"):
            return field.get_by_role("textbox")
        text = plain(question.options[letter].text)
        return field.get_by_label(f"{letter}) {text}", exact=True)

    def button(self, number):
        return self.field(number).get_by_role("button", name=f"Check answer {number}", exact=True)

    def said(self, number):
        """Give the place where the page says what an answer is worth."""
        return self.field(number).get_by_role("status")

    def feedback(self, number, text):
        """Give a paragraph beneath a question, not one of what is folded away there."""
        return self.said(number).locator("> p", has_text=plain(text))

    def answer(self, number, given):
        """Answer a question with the mouse, and by typing where it asks for text."""
        question = self.questions[number - 1]
        if question.kind == "several":
            for letter in question.options:
                self.control(number, letter).set_checked(letter in given)
        elif question.kind == "one":
            choice = self.control(number, given)
            # Seen once on a slow machine: the click was lost. A learner would click again.
            while not choice.is_checked():
                choice.click()
        else:
            self.control(number).fill(given)
        self.button(number).click()


def of_lesson(number):
    """Give the questions of a lesson, in their order."""
    return [
        question
        for question in questions.bank().values()
        if question.lesson == number and question.quiz
    ]


def solution(question):
    """Give the answer that is true today, as it is chosen or typed."""
    if question.kind == "number":
        return f"{question.options[question.right].value:g}"
    return question.right


def slip(question):
    """Give a wrong answer to a question with one right option, and its feedback."""
    letter = next(x for x in question.options if x not in question.right + question.by_material)
    wrong = question.options[letter]
    return (letter if wrong.value is None else f"{wrong.value:g}"), wrong.feedback


def plain(text):
    """Give a text as a reader sees it: what stands in backticks is set as code."""
    return text.replace("`", "")
