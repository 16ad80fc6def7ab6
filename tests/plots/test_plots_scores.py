"""The pictures of lesson 10: what they draw is what they were given, and their sentence says it."""

import io

import pytest

from accel_helpers.plots import scores as plots_scores

np = pytest.importorskip("numpy")
pytest.importorskip("matplotlib")


def pixels(picture):
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(picture.png)).convert("RGB")).astype(int)


ROWS = {"before": [0.7, 0.75], "after": [0.9, 0.92]}


def blue(picture):
    """Where a picture is coloured, and not grey."""
    drawn = pixels(picture)
    return (drawn[..., 2] - drawn[..., 0]) > 30


CHANGE = {"after": (0.185, 0.1, 0.27)}


def test_the_sentence_names_every_row():
    drawn = plots_scores.shares(ROWS, title="A change")
    assert str(drawn) == "Dot plot of right answers. A change: before 72.5 %; after 91.0 %."


def test_the_sentence_of_a_ladder_says_every_change_and_whether_it_can_be_told_from_luck():
    rows = {**ROWS, "later": [0.9, 0.93]}
    changes = {**CHANGE, "later": (0.005, -0.01, 0.02)}
    assert str(plots_scores.ladder(rows, changes, title="A ladder")) == (
        "Two plots, a row for each model. A ladder: before 72.5 %; "
        "after 91.0 %, +18.5 points (+10.0 to +27.0), better; "
        "later 91.5 %, +0.5 points (-1.0 to +2.0), no measurable difference."
    )


@pytest.mark.parametrize(
    "draw", [plots_scores.shares, lambda rows, **more: plots_scores.ladder(rows, CHANGE, **more)]
)
def test_an_own_result_is_blue_and_a_reference_is_grey(draw):
    own, theirs = (blue(draw(ROWS, title="A change", own=own)).any() for own in (True, False))
    assert own and not theirs


def test_an_interval_is_drawn_where_there_is_one():
    plain = plots_scores.shares(ROWS, title="A change")
    wide = plots_scores.shares(ROWS, title="A change", intervals={"after": (0.5, 0.99)})
    assert blue(wide).sum() > 2 * blue(plain).sum()


def test_the_interval_of_a_change_is_drawn_beside_the_accuracies_and_not_among_them():
    plain = blue(plots_scores.ladder(ROWS, {}, title="A change"))
    changed = blue(plots_scores.ladder(ROWS, CHANGE, title="A change"))
    half = plain.shape[1] // 2
    assert not plain[:, half:].any() and changed[:, half:].sum() > 1_000


def test_one_value_is_a_dot_with_nothing_over_it():
    one, two = (
        (pixels(plots_scores.shares({"a": v}, title="A")).max(axis=2) < 60).sum()
        for v in ([0.8], [0.8, 0.8])
    )
    assert two > one + 50


@pytest.mark.parametrize(("lowest", "begins"), [(0.9, True), (0.6, False)])
def test_an_axis_that_does_not_begin_at_0_says_so_and_hides_nothing(lowest, begins):
    drawn = plots_scores.shares({"a": [lowest], "b": [0.95]}, title="A", start=70)
    assert ("the axis begins at 70" in str(drawn)) == begins
    whole = plots_scores.shares({"a": [lowest], "b": [0.95]}, title="A")
    assert blue(drawn).sum() > 0.9 * blue(whole).sum()


@pytest.mark.parametrize("rows", [{}, {"empty": []}])
def test_nothing_to_draw_is_said(rows):
    with pytest.raises(ValueError, match="a picture needs rows"):
        plots_scores.shares(rows, title="Nothing")
    with pytest.raises(ValueError, match="a picture needs rows"):
        plots_scores.ladder(rows, {}, title="Nothing")


def test_digits_are_drawn_with_their_labels_in_the_sentence():
    images = np.zeros((14, 8, 8))
    images[3] = 16  # one is black, as large as it is
    drawn = plots_scores.digits(images, list(range(14)), title="Some digits")
    assert str(drawn).startswith("14 pictures of 8 x 8 pixels. Some digits: 0 1 2 3")
    blank = plots_scores.digits(np.zeros((14, 8, 8)), list(range(14)), title="Some digits")
    dark = [(pixels(picture).max(axis=2) < 40).sum() for picture in (drawn, blank)]
    assert dark[0] > dark[1] + 1_000


def test_digits_without_labels_are_refused():
    with pytest.raises(ValueError, match="2 images and 1 labels"):
        plots_scores.digits(np.zeros((2, 8, 8)), [1], title="Some digits")
