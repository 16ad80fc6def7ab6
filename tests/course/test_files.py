"""The files of the course and the learner's own: typed as they are read, or refused in words."""

import copy
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from types import UnionType
from typing import Literal, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accel_helpers._values import records
from accel_helpers._values.records import DataError
from accel_helpers.course import questions, record, stored_steps
from accel_helpers.machine import hardware

STEPS = [path.stem.rpartition("-") for path in stored_steps.DATA.glob("*-v*.json")]
OURS = {
    "questions": lambda: questions.bank().values(),
    "chips": hardware.load,
    "compiled steps": lambda: [stored_steps.stored_step(name, chip) for name, _, chip in STEPS],
}


def fits(value, annotation):
    """Whether a value, with all that is in it, is of its annotated type."""
    kind, inner = get_origin(annotation) or annotation, get_args(annotation)
    if kind is UnionType:
        return any(fits(value, each) for each in inner)
    if kind is Literal:
        return value in inner
    if kind is tuple:
        inner = inner[:1] * len(value) if inner[-1] is Ellipsis else inner
        # JSON knows lists only.
        return isinstance(value, (tuple, list)) and all(map(fits, value, inner))
    if kind is Sequence:
        return isinstance(value, (list, tuple)) and all(fits(each, inner[0]) for each in value)
    if kind in (dict, Mapping):
        return all(fits(key, inner[0]) and fits(value[key], inner[1]) for key in value)
    if is_dataclass(kind):
        return all(fits(getattr(value, name), of) for name, of in get_type_hints(kind).items())
    return type(value) is kind or (kind is float and type(value) is int)


@pytest.mark.parametrize("name", OURS)
def test_every_field_of_our_files_is_of_its_type(name):
    rows = [*OURS[name]()]
    assert rows
    assert [row for row in rows if not fits(row, type(row))] == []


NAME = "course_record.json"
GOOD = [
    {
        "place": "03/race",
        "outcome": "faster",
        "numbers": {"times as fast": 2.0},
        "when": "2026-11-22T10:00:00+00:00",
        "machine": {"name": "a chip"},
    }
]


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """Reads a record in which such tables stand."""
    file = tmp_path_factory.mktemp("class") / NAME

    def read(tables):
        file.write_text(json.dumps(tables))
        return record.load(file, NAME)

    return read


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("place", None, "got None"),
        ("machine", {"name": 1}, "got .*1"),
        ("numbers", {"times as fast": float("nan")}, "got .*nan"),
        ("numbers", {"times as fast": True}, "got .*True"),
        ("numbers", [2.0], r"got \[2.0\]"),
        ("colour", "red", ""),
    ],
)
def test_a_wrong_field_of_a_record_is_named(read, field, value, named):
    assert read(GOOD)
    with pytest.raises(DataError, match=f"^{NAME}: .*{field}.*{named}"):
        read([GOOD[0] | {field: value}])


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.just(10**400) | st.floats()
    | st.text(st.characters(categories=None), max_size=5),
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
def test_any_change_of_a_record_gives_entries_or_an_error_that_names_the_file(read, data):
    tables = copy.deepcopy(GOOD)
    for _ in range(data.draw(st.integers(1, 4))):
        there = [*places(tables)] or [({}, "")]
        inner, key = there[data.draw(st.integers(0, len(there) - 1))]
        inner[key] = data.draw(ANYTHING)
        if data.draw(st.booleans()):
            del inner[key]
    try:
        assert all(fits(entry, record.Entry) for entry in read(tables))
    except DataError as error:
        assert str(error).startswith(NAME)


@pytest.mark.parametrize("text", ["x = [", "a=" + "[" * 5000, '{"schema": 1, "x": ' + "9" * 9000])
@pytest.mark.parametrize("name", ["hostile.toml", "hostile.json"])
def test_what_is_no_toml_and_no_json_is_refused(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=name):
        records.load(tmp_path / name)


def test_a_hostile_file_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "p.json"
    path.write_bytes(b" " * 10_000_000)
    with pytest.raises(DataError, match=r"p\.json: .*larger than"):
        records.load(path)
    path.write_bytes(json.dumps(GOOD).encode() + b"\xff")
    with pytest.raises(DataError, match=r"p\.json: not valid JSON .*utf-8"):
        records.load(path)
    path.unlink()
    with pytest.raises(DataError, match=r"p\.json: .*no ordinary file"):
        records.load(path)
    os.mkfifo(path)  # it would be waited for
    with pytest.raises(DataError, match=r"p\.json: .*no ordinary file"):
        records.load(path)
