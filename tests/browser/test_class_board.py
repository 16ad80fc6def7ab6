"""The class board in a browser: a hostile file does nothing, and everybody can read the page."""

import json

import axe
import chromium
import pytest

from accel_helpers import cli

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]
EVIL = "\"'><script>alert(1)</script><img src=https://x.example/ onerror=alert(2)><a href=js:1>"
LONG = "x" * 60


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_board_asks_for_nothing_and_breaks_no_rule(needed, tmp_path, colours, width):
    for n in range(4):
        numbers = {
            f"{words} times as fast": 2.0 + k for k, words in enumerate([EVIL, *"abcdefghijk"])
        }
        numbers["far times as fast"] = 5134.0 if n else 6.6 + n / 10
        made = {"outcome": EVIL, "numbers": numbers, "machine": {"name": EVIL + LONG}}
        files = [{**made, "place": place, "when": f"{EVIL}{n}"} for place in (LONG, "03/race")]
        (tmp_path / f"{n}{EVIL.replace('/', '')}.json").write_text(json.dumps(files))
    (tmp_path / "cut <script>alert(3)<.json").write_text("{")
    page_file = tmp_path / "board.html"
    assert cli.main(["board", str(tmp_path), "--names", "--out", str(page_file)]) == 0
    happened = []
    with chromium.launched() as browser:
        size = {"width": width, "height": 800}
        page = browser.new_page(viewport=size, color_scheme=colours)
        page.on("request", lambda request: happened.append(request.url))
        page.on("dialog", lambda dialog: happened.append(dialog.message))
        page.goto(page_file.as_uri())
        assert page.locator("main circle").count() == 4 * 12
        assert page.locator("main script, main img, main a:not([href^='#'])").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert axe.violations(page) == []
    assert [each for each in happened if not each.startswith(("file:", "data:"))] == []
