"""The pictures of lesson 01: the menu's dialog, and the rate of a matmul."""

from accel_helpers.course.lessons import lesson_01
from accel_helpers.course.pictures.kinds import Kind, of_the_course


def draw_rates(data, title, reference):
    """Draw the rates that `hardware.judge` returned; the picture makes its own title of them."""
    return lesson_01.rates(data, reference=reference)


def rates_needs(path: str) -> list[str]:
    """Return the names that a reference card must have: of another machine its CPU is enough."""
    time = f"{path}/cpu"
    size = f"{path}/size"
    return [time, size]


RATES = Kind(
    draw=draw_rates,
    measured=lesson_01.rates_measured,
    needs=rates_needs,
    restored=lesson_01.rates_on,
)

DIALOG = of_the_course(lesson_01.dialog)

KINDS: dict[str, Kind] = {"dialog": DIALOG, "rates": RATES}
