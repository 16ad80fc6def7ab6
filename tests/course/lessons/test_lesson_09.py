"""Lesson 09: what is stored agrees with itself, with arithmetic and with what was published."""

import re

from cells import printed, the_cell


def lines(words):
    """What the cell with these words printed."""
    return printed(the_cell("09", words)).splitlines()


def test_the_page_shows_the_loss_of_one_device_on_two_and_on_eight():
    tensorflow, on_two, jax, jax_on_two = lines("{lesson.folder}/two.py 2>")
    loss = jax.removeprefix("one device: ")
    assert loss.startswith("loss 0.")
    assert jax_on_two == f"two devices: {loss}"
    assert on_two == tensorflow.replace("one device", "two devices")
    # A matrix of 64 x 256 float32 numbers.
    held = f"Of {4 * 64 * 256:,} bytes each holds {4 * 64 * 256 // 8:,}."
    assert lines("{eight} 2>") == [f"eight devices: {loss}", held]


def test_eight_chips_wait_nearly_as_long_as_512():
    waits = re.findall(r"wait: (\S+) s", "\n".join(lines("wait = 2 *")))
    # 0, 1/2, 7/8 and 511/512 of two times 4 bytes x 138,357,544 at 3.125 GB/s
    assert waits == ["0.00", "0.18", "0.31", "0.35"]
