"""Lesson 09: what is stored agrees with itself, with arithmetic and with what was published."""

import json
import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "notebooks" / "09_many_devices.ipynb"
CELLS = {cell["id"]: cell for cell in json.loads(PAGE.read_text("utf-8"))["cells"]}


def printed(id):
    return "".join(line for output in CELLS[id]["outputs"] for line in output["text"])


def test_the_page_shows_the_loss_of_one_device_on_two_and_on_eight():
    lines = printed("l09same").splitlines()
    for one, two in (lines[:2], lines[2:4]):  # TensorFlow, JAX
        assert one.startswith("one device: loss 0.")
        assert two == one.replace("one device", "two devices")
    eight = printed("l09eight").splitlines()[0]
    assert eight.replace("eight devices", "one device") in lines


def test_eight_chips_wait_nearly_as_long_as_512():
    waits = re.findall(r"wait (\S+) s", printed("l09wait"))
    assert waits == [f"{2 * (n - 1) / n * 4 * 138_357_544 / 3.125e9:.2f}" for n in (2, 8, 512)]


def test_what_real_clusters_did_is_what_was_published():
    rows = dict(re.findall(r"^(.+): \d+ as fast as (\S+),", printed("l09rows"), re.M))
    assert rows["VGG-16, 25 Gbit/s"] == f"{0.68 * 512:.0f}"  # an efficiency of 68 %
    assert rows["Inception V3, 25 Gbit/s"] == f"{0.9 * 512:.0f}"
