"""Answers to the questions of the bank."""


def typed(question, letters):
    """The letters of options as they are chosen, or the number that they stand for."""
    if question.has_choices:
        return letters
    return question.options[letters].value


def right(question):
    """The answer that is true today."""
    return typed(question, question.right)


def wrong(question):
    """An answer that is neither true today nor the material's."""
    counts = (question.right, question.by_material)
    others = [letter for letter in question.options if letter not in counts]
    return typed(question, others[0])


def whole(paper, kind="right"):
    """All answers to a paper: those "right" today, or those "by_material"."""
    return {n: typed(q, getattr(q, kind)) for n, q in enumerate(paper.questions, 1)}
