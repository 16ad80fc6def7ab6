"""The files of the course and the learner's own: read, or refused by file, place and field."""

import copy
import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accel_helpers._values import records
from accel_helpers._values.records import DataError
from accel_helpers.course import questions, record

WHEN = "2026-11-22T10:00:00+00:00"
SCHEMAS = {
    "course_record.json": tuple[record.Entry, ...],
}
GOOD = {
    "course_record.json": [
        {
            "place": "03/race",
            "outcome": "faster",
            "numbers": {"times as fast": 2.0},
            "when": WHEN,
            "machine": {"name": "a chip"},
        }
    ],
}
(P,) = GOOD


def read(name, tables):
    return records.read(SCHEMAS[name], tables, name)


@pytest.mark.parametrize(
    ("name", "place", "value", "named"),
    [
        (P, (0,), {}, "'place'"),
        (P, (0, "place"), None, "1, place"),
        (P, (0, "outcome"), "x" * 30_000, "1, outcome"),
        (P, (0, "numbers", "times as fast"), float("nan"), "1, numbers, times as fast"),
        (P, (0, "when"), "2026-11-22\ud80010:00:00", "1, when"),
    ],
)
def test_a_wrong_field_is_named_with_its_file_and_place(name, place, value, named):
    tables = inner = copy.deepcopy(GOOD[name])
    *way, last = place
    for key in way:
        inner = inner[key]
    inner[last] = value
    assert read(name, GOOD[name])
    with pytest.raises(DataError) as error:
        read(name, tables)
    assert str(error.value).startswith(name)
    assert named in str(error.value)
    assert len(str(error.value)) < 400


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.just(10**400) | st.floats()
    | st.text(st.characters(categories=None), max_size=5) | st.sampled_from([*questions.HOW]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)  # fmt: skip


def places(inner):
    """Every place in nested tables and lists, with what holds it."""
    for key in [*inner] if isinstance(inner, dict) else range(len(inner)):
        yield inner, key
        if isinstance(inner[key], (dict, list)):
            yield from places(inner[key])


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.data())
def test_any_change_of_a_file_gives_a_value_or_an_error_that_names_the_file(data):
    name = data.draw(st.sampled_from([*GOOD]))
    tables = copy.deepcopy(GOOD[name])
    for _ in range(data.draw(st.integers(1, 4))):
        there = [*places(tables)] or [({}, "")]
        inner, key = there[data.draw(st.integers(0, len(there) - 1))]
        inner[key] = data.draw(ANYTHING)
        if data.draw(st.booleans()):
            del inner[key]
    try:
        read(name, tables)
    except DataError as error:
        assert str(error).startswith(name)


@pytest.mark.parametrize("text", ["x = [", "a=" + "[" * 5000, '{"schema": 1, "x": ' + "9" * 9000])
@pytest.mark.parametrize("name", ["hostile.toml", "hostile.json"])
def test_what_is_no_toml_and_no_json_is_refused(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=name):
        records.read(SCHEMAS[P], records.load(tmp_path / name, "bank"), name)


def test_a_hostile_file_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "p.json"
    path.write_bytes(b" " * 10_000_000)
    with pytest.raises(DataError, match=r"p\.json: larger than"):
        records.load(path, "card")
    path.write_bytes(json.dumps(GOOD[P]).encode() + b"\xff")
    with pytest.raises(DataError, match=r"p\.json: not valid JSON .*utf-8"):
        records.load(path, "card")
    path.unlink()
    with pytest.raises(DataError, match=r"p\.json: cannot be read"):
        records.load(path, "card")
    os.mkfifo(path)  # it would be waited for
    with pytest.raises(DataError, match=r"p\.json: cannot be read"):
        records.load(path, "card")
