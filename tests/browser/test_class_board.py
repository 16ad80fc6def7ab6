"""The class board in a browser: a hostile card does nothing, and everybody can read the page."""

import axe
import chromium
import pytest

from accel_helpers import cli
from accel_helpers.measure import results
from accel_helpers.measure.timing import Measurement

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]
EVIL = "\"'><script>alert(1)</script><img src=https://x.example/ onerror=alert(2)><a href=js:1>"


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_the_board_asks_for_nothing_runs_nothing_and_breaks_no_rule(needed, tmp_path, colours):
    steps = ["03/race/cpu", "03/race/gpu"]
    times = dict.fromkeys(steps, Measurement.from_samples([1.0], name=EVIL))
    numbers = {"05/forecast": (0.5, 2.0, 1.0), f"guess/{EVIL}": (2.0, 1.0)}
    machine = {"accelerator": {"name": EVIL}, "cpu_name": EVIL, "cores": EVIL}
    for n in range(4):
        far = {EVIL: Measurement.from_samples([100.0 if n else 1.0], notes=[EVIL])}
        card = results.Card(EVIL[n:], EVIL, machine, times | far, {**numbers, EVIL: (n,)})
        results.save(card, tmp_path / f"{EVIL.replace('/', '')}{n}.json")
    (tmp_path / "cut <script>alert(3)<.json").write_text("{")
    assert cli.main(["board", str(tmp_path), "--out", str(tmp_path / "board.html")]) == 0
    happened = []
    with chromium.launched() as browser:
        page = browser.new_page(viewport={"width": 390, "height": 800}, color_scheme=colours)
        page.on("request", lambda request: happened.append(request.url))
        page.on("dialog", lambda dialog: happened.append(dialog.message))
        page.goto((tmp_path / "board.html").as_uri())
        page.locator("summary").click()
        assert page.locator("main script, main img, main a:not([href^='#'])").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        assert axe.violations(page) == []
    assert [each for each in happened if not each.startswith(("file:", "data:"))] == []
