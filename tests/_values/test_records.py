"""Files are written whole, and read with suspicion."""

import stat

import pytest

from accel_helpers._values import records


def test_a_file_that_was_written_can_be_read_by_others_and_nothing_is_left_beside_it(tmp_path):
    path = tmp_path / "card.json"
    records.write_whole(path, "first")
    records.write_whole(path, "second")
    assert path.read_text() == "second"
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_is_damaged_is_named_with_what_is_wrong(tmp_path):
    damaged = {"cut.json": '{"cut', "cut.toml": "cut =", "huge.json": " " * 5_000_001}
    for name, text in damaged.items():
        file = tmp_path / name
        file.write_text(text)
        with pytest.raises(records.DataError, match=f"^{name}: "):
            records.load(file)
