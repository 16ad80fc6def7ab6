"""The pictures of lesson 10: what they draw is what they were given, and their sentence says it."""

import io

import pytest

from accel_helpers import plots_scores

np = pytest.importorskip("numpy")
pytest.importorskip("matplotlib")


def pixels(picture):
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(picture.png)).convert("RGB")).astype(int)


ROWS = {"before": [0.7, 0.75], "after": [0.9, 0.92]}


def test_the_sentence_names_every_row_with_what_stands_beside_it():
    drawn = plots_scores.shares(ROWS, title="A change", notes={"after": "+18.5 points:\nbetter"})
    assert str(drawn) == (
        "Dot plot of right answers. A change: before 72.5 %; after +18.5 points: better."
    )


def test_an_own_result_is_blue_and_a_reference_is_grey():
    def coloured(own):
        drawn = pixels(plots_scores.shares(ROWS, title="A change", own=own, steps=True))
        return bool(((drawn[..., 2] - drawn[..., 0]) > 60).any())

    assert coloured(True) and not coloured(False)


def test_an_interval_is_drawn_where_there_is_one():
    plain = plots_scores.shares(ROWS, title="A change")
    wide = plots_scores.shares(ROWS, title="A change", intervals={"after": (0.5, 0.99)})
    blue = [int((pixels(p)[..., 2] - pixels(p)[..., 0] > 30).sum()) for p in (plain, wide)]
    assert blue[1] > 2 * blue[0]


@pytest.mark.parametrize("rows", [{}, {"empty": []}])
def test_nothing_to_draw_is_said(rows):
    with pytest.raises(ValueError, match="shares needs rows"):
        plots_scores.shares(rows, title="Nothing")


def test_digits_are_drawn_with_their_labels_in_the_sentence():
    images = np.zeros((14, 8, 8))
    images[3] = 16  # one is black, as large as it is
    drawn = plots_scores.digits(images, list(range(14)), title="Some digits")
    assert str(drawn).startswith("14 pictures of 8 x 8 points. Some digits: 0 1 2 3")
    blank = plots_scores.digits(np.zeros((14, 8, 8)), list(range(14)), title="Some digits")
    dark = [(pixels(picture).max(axis=2) < 40).sum() for picture in (drawn, blank)]
    assert dark[0] > dark[1] + 1_000


def test_digits_without_labels_are_refused():
    with pytest.raises(ValueError, match="2 images and 1 labels"):
        plots_scores.digits(np.zeros((2, 8, 8)), [1], title="Some digits")
