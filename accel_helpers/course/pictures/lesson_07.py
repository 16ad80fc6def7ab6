"""The pictures of lesson 07."""

from accel_helpers.course.pictures.kinds import Kind

KINDS: dict[str, Kind] = {}
