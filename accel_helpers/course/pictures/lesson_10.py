"""The pictures of lesson 10."""

from accel_helpers.course.pictures.kinds import Kind

KINDS: dict[str, Kind] = {}
