"""A warp at work: its frames say what they show, and nothing in them is covered or cut."""

import itertools

import pytest
from IPython.core.formatters import DisplayFormatter

from accel_helpers.course.players import warp


def test_33_numbers_take_two_rounds_and_32_take_one_in_which_nobody_waits():
    made, full = warp.warp_animation(33), warp.warp_animation(32)
    assert len(made.frames) == 2 * len(full.frames) == 2 * len(warp.INSTRUCTIONS)
    assert len(set(made.frames)) == len(made.frames), "no two frames are alike"
    assert "1 of 32 lanes works, 31 wait" in made.alt
    assert "132 of 256" in made.alt
    assert "wait" not in full.alt
    data, metadata = DisplayFormatter().format(made)
    assert data["image/png"] in made.frames
    assert metadata["image/png"]["alt"] == data["text/plain"] == made.alt
    assert data["text/html"].count("data:image/png;base64") == len(made.frames) + 1


@pytest.mark.parametrize("step", range(len(warp.INSTRUCTIONS)))
@pytest.mark.parametrize(("now", "busy"), [(0, 32), (1, 1)])
def test_a_frame_shows_what_each_lane_holds_and_covers_nothing(step, now, busy):
    with warp.sheet(warp.Moment(33, now, step)) as (figure, axes):
        figure.draw_without_rendering()
        said = [text.get_text() for text in axes.texts]
        boxes = [text.get_window_extent() for text in axes.texts]
        lanes = [patch.get_linewidth() for patch in axes.patches][1 : 1 + warp.LANES]
        width, height = figure.get_size_inches() * figure.dpi
        assert min(text.get_fontsize() for text in axes.texts) >= 9
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
    assert all(b.x0 > 0 and b.x1 < width and b.y0 > 0 and b.y1 < height for b in boxes)
    x, wide = 1 + 32 * now, max(lanes)  # who works has a thick edge, so that no colour is needed
    assert lanes == [wide] * busy + [min(lanes)] * (32 - busy)
    assert said.count("–") == 32 - busy
    assert str((x, 2 * x, 2 * x + 1, 2 * x + 1)[step]) in said
    assert f"Stored so far: {32 * now + busy * (step == 3)} of 33." in said
