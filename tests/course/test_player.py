"""Players: a picture and words for each frame, nothing covered or cut, JavaScript that plays."""

import base64
import itertools
import json
import re

import numpy as np
import pytest
from IPython.core.formatters import DisplayFormatter
from matplotlib.figure import Figure

from accel_helpers.course.unit import MatrixUnit
from accel_helpers.course.unit_pictures import unit_animation, unit_strip
from accel_helpers.course.warp import warp_animation

draw = np.random.default_rng(0)
TWO = MatrixUnit(2, 2)
PLAYERS = {
    "unit": (unit_animation, MatrixUnit(3, 3), draw.integers(0, 9, (4, 3)), np.eye(3, dtype=int)),
    "tiles": (unit_animation, TWO, draw.integers(-9, 9, (3, 3)), draw.integers(-9, 9, (3, 3))),
    "one": (unit_animation, MatrixUnit(1, 1), [[3]], [[4]]),
    "floats": (unit_animation, TWO, draw.normal(size=(2, 2)) / 1000, draw.normal(size=(2, 2))),
    "long": (unit_animation, TWO, [[-9998, 7], [0, 9997]], [[-999, 1], [998, 0]]),
    "strip": (unit_strip, MatrixUnit(3, 3), np.eye(3), np.eye(3), (1, 5, 6)),
    "warp": (warp_animation, 33),
}


@pytest.mark.parametrize("name", PLAYERS)
def test_no_text_covers_another_or_leaves_its_box_or_the_sheet(name, monkeypatch):
    figures = []
    save = Figure.savefig
    monkeypatch.setattr(
        Figure,
        "savefig",
        lambda figure, *at, **how: figures.append(figure) or save(figure, *at, **how),
    )
    show, *arguments = PLAYERS[name]
    show(*arguments)
    for figure in figures:
        (axes,) = figure.axes
        figure.draw_without_rendering()
        texts = [text.get_window_extent() for text in axes.texts if text.get_text().strip()]
        assert not any(
            min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1
            for a, b in itertools.combinations(texts, 2)
        )
        width, height = figure.get_size_inches() * figure.dpi
        boxes = [
            patch.get_window_extent() for patch in axes.patches if patch.get_edgecolor()[3] > 0
        ]
        for text in texts:
            assert 0 < text.x0 < text.x1 < width
            assert 0 < text.y0 < text.y1 < height
            x, y = (text.x0 + text.x1) / 2, (text.y0 + text.y1) / 2
            around = [box for box in boxes if box.x0 < x < box.x1 and box.y0 < y < box.y1]
            assert all(box.x0 < text.x0 and text.x1 < box.x1 for box in around)


def test_a_player_has_a_picture_and_words_for_each_frame_and_needs_no_server():
    made = warp_animation(33)
    assert len({frame.png for frame in made.frames}) == len(made.frames) == 8
    data, metadata = DisplayFormatter().format(made)
    html = data["text/html"]
    frames = json.loads(re.search(r"frames = (\[.*?\]\]);", html)[1])
    assert [base64.b64decode(png) for png, _ in frames] == [frame.png for frame in made.frames]
    assert [words for _, words in frames] == [frame.alt for frame in made.frames]
    for name in ("First frame", "Previous frame", "Play", "Pause", "Next frame", "Last frame"):
        assert re.search(rf"<button [^>]*>{name}</button>", html)
    assert "http" not in html
    assert "max-width:100%" in html
    # for a page on which nothing plays: a frame from the middle, and what all of them show
    assert data["image/png"] == made.frames[4].png
    assert metadata["image/png"]["alt"] == data["text/plain"] == str(made) == made.alt
    again = made._repr_mimebundle_()[0]["text/html"]  # two players can be on one page
    one, two = (re.search(r'id="([^"]+)"', page)[1] for page in (html, again))
    assert one != two
    assert html.replace(one, two) == again


def test_33_numbers_take_two_rounds_and_32_take_one_in_which_nobody_waits():
    made, full = warp_animation(33), warp_animation(32)
    assert len(made.frames) == 2 * len(full.frames) == 8
    assert made.frames[4].alt == (
        "Round 2 of 2, instruction 1 of 4. To all 32 lanes: load x. "
        "1 of 32 lanes working, 31 waiting."
    )
    assert "52 % of the lanes' time" in made.alt
    assert "32 of 32 lanes working, 0 waiting." in full.frames[0].alt


@pytest.mark.parametrize("step", range(4))
def test_a_frame_shows_what_each_lane_holds(step, frames_of):
    first, second = (frames_of(warp_animation, 33)[step + now] for now in (0, 4))
    x = 32
    assert first[3, 7] == ("useful", str((x, 2 * x, 2 * x + 1, 2 * x + 1)[step]))
    assert second[0, 0] == ("useful", str((33, 66, 67, 67)[step]))
    assert list(second.values()).count(("waiting", "–")) == 31


def test_a_warp_says_how_many_numbers_it_takes():
    with pytest.raises(ValueError, match="at most 480; got 481"):
        warp_animation(481)
