"""The picture of lesson 00: the answer to the course's question."""

from accel_helpers.course.lessons import lesson_00
from accel_helpers.course.pictures.kinds import Kind, of_the_course

KINDS: dict[str, Kind] = {"answer": of_the_course(lesson_00.answer)}
