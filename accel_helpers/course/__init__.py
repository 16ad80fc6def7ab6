"""What a lesson's page needs beside the library; the library never imports it."""

from accel_helpers.course.facts import FourFacts
from accel_helpers.course.lesson import Lesson, lesson
from accel_helpers.course.log import hide_log

__all__ = ["FourFacts", "Lesson", "hide_log", "lesson"]
