"""A question in an open lesson, answered as a learner answers it."""

from accel_helpers.course import questions


class Field:
    """The part of a page that holds a question."""

    def __init__(self, cell, number, question):
        self.question = question
        self.part = cell.locator(".jp-OutputArea .accel-question").nth(number - 1)
        name = f"Check answer {number}"
        self.button = self.part.get_by_role("button", name=name, exact=True)
        self.said = self.part.get_by_role("status")

    def option(self, letter):
        """Give what is clicked for an option."""
        text = plain(self.question.options[letter].text)
        return self.part.get_by_label(f"{letter}) {text}", exact=True)

    def feedback(self, letter):
        """Give what is said of an option beneath the question, and not what is folded away."""
        text = plain(self.question.options[letter].feedback)
        return self.said.locator("> p", has_text=text)

    def answer(self, letters):
        """Choose options with the mouse, or type what stands for them; press the button."""
        if self.question.kind in ("one", "several"):
            for letter in letters:
                self.option(letter).check()
        else:
            value = self.question.options[letters[0]].value
            typed = letters if value is None else f"{value:g}"
            self.part.get_by_role("textbox").fill(typed)
        self.button.click()

    def wrong(self):
        """Give the letter of a wrong option."""
        right = self.question.right + self.question.by_material
        return next(letter for letter in self.question.options if letter not in right)


def fields(cell, asked):
    """Give the questions of a cell."""
    return [Field(cell, number, question) for number, question in enumerate(asked, 1)]


def of_lesson(number):
    """Give the questions of a lesson's quiz, in their order."""
    bank = questions.bank().values()
    return [question for question in bank if question.lesson == number and question.quiz]


def plain(text):
    """Give a text as a reader sees it: what stands in backticks is set as code."""
    return text.replace("`", "")
