"""The pictures of lesson 01: the menu's dialog, and the rate of a matmul."""

from accel_helpers.course.lessons import lesson_01
from accel_helpers.course.pictures.kinds import Kind, of_the_course

RATES = Kind(
    draw=lambda data, title, reference: lesson_01.rates(data, reference=reference),
    measured=lesson_01.rates_measured,
    needs=lambda path: [f"{path}/cpu", f"{path}/size"],  # of the other machine only its CPU
    restored=lesson_01.rates_on,
)

KINDS: dict[str, Kind] = {"dialog": of_the_course(lesson_01.dialog), "rates": RATES}
