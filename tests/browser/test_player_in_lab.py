"""Lesson 06's player, in JupyterLab: every frame by click and by key, and a way to the next one."""

from pathlib import Path

import lab
import pytest

LESSON = Path(__file__).resolve().parents[2] / "notebooks" / "06_inside_a_tpu.ipynb"
FRAMES = 11


@pytest.fixture(scope="module")
def player(tmp_path_factory):
    """Open lesson 06, run it, and give the player's output."""
    with lab.ran(LESSON, tmp_path_factory.mktemp("player")) as lesson:
        cell = lesson.cell(lesson.place("ah.plots.unit_animation"))
        cell.locator(".animation img").wait_for(timeout=30_000)
        yield cell


def shown(player):
    return player.locator(".animation img").get_attribute("src")


def button(player, name):
    return player.get_by_role("button", name=name, exact=True)


@pytest.mark.slow
def test_every_frame_is_reached_by_clicks_and_no_two_are_alike(player):
    button(player, "Pause").click()
    button(player, "First frame").click()
    seen = [shown(player)]
    for _ in range(FRAMES - 1):
        button(player, "Next frame").click()
        seen.append(shown(player))
    assert len(set(seen)) == FRAMES
    button(player, "Previous frame").click()
    assert shown(player) == seen[-2]


@pytest.mark.slow
def test_the_buttons_answer_to_the_keyboard(player):
    button(player, "Pause").click()
    button(player, "First frame").click()
    first = shown(player)
    button(player, "Next frame").focus()
    player.page.keyboard.press("Enter")
    assert shown(player) != first
    player.page.keyboard.press("Space")
    assert shown(player) != first


@pytest.mark.slow
def test_play_goes_on_by_itself_and_pause_stops_it(player):
    button(player, "First frame").click()
    first = shown(player)
    button(player, "Play").click()
    player.page.wait_for_function(
        "first => document.querySelector('.animation img').src !== first", arg=first
    )
    button(player, "Pause").click()
    stopped = shown(player)
    player.page.wait_for_timeout(2500)
    assert shown(player) == stopped
