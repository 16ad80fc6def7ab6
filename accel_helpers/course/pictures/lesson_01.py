"""The pictures of lesson 01: the menu's dialog, and the rate of a matmul."""

from accel_helpers.course.pictures.kinds import Kind, of_the_course
from accel_helpers.lessons import lesson_01

RATES = Kind(
    measured=lesson_01.rates_measured,
    names=lambda result, path: [f"{path}/cpu", f"{path}/size"],
    restored=lesson_01.rates_on,
    draw=lambda data, title, reference: lesson_01.rates(data, reference=reference),
)

KINDS: dict[str, Kind] = {"dialog": of_the_course(lesson_01.dialog), "rates": RATES}
