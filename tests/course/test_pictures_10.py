"""What lesson 10 puts on a card, and draws again."""

import pytest

from accel_helpers.course.pictures import PICTURES, reference_for
from accel_helpers.measure.results import Card
from accel_helpers.measure.scores import Score

MODELS = [
    Score("baseline", [[True] * 30 + [False] * 10] * 2),
    Score("hidden layer", [[True] * 38 + [False] * 2] * 2),
    Score("more epochs", [[True] * 38 + [False] * 2] * 2),
    Score("moved copies", [[True] * 38 + [False] * 2] * 2),
]
PREPARED = {"as the training images": [True] * 9 + [False], "not normalised": [True, False] * 5}
SECONDS = {"compile": 0.002, "the first step": 0.5, "a later step": 0.01}
DRAWN = [
    ("prepared", "10/scaling", PREPARED),
    ("ladder", "10/ladder", MODELS),
    ("compiled", "10/compile", SECONDS),
]


def card_of(kind, path, result):
    measurements, numbers = PICTURES[kind].measured(result, path)
    machine = {"cpu_name": "Another", "cores": 3}
    return Card("2027-01-02", "run", machine, measurements, numbers)


@pytest.mark.parametrize(("kind", "path", "result"), DRAWN[:2])
def test_a_card_gives_back_what_was_drawn(kind, path, result):
    grey = reference_for(PICTURES[kind], result, path, runs=[card_of(kind, path, result)])
    assert grey.data == PICTURES[kind].data(result)


def test_the_time_of_the_first_step_is_kept_apart():
    step = card_of(*DRAWN[2]).measurements["10/compile/step"]
    assert step.first_call == 0.5
    assert step.median == 0.01


@pytest.mark.parametrize(("kind", "path", "result"), DRAWN[:2])
def test_it_is_drawn(kind, path, result):
    picture = PICTURES[kind]
    drawn = picture.draw(picture.data(result), title="A title", reference=None)
    assert "A title" in drawn.alt
