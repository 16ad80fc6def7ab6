"""Files that are written: whole, and for others to read."""

import stat

from accel_helpers._values.records import write_whole


def test_a_file_that_was_written_can_be_read_by_others_and_nothing_is_left_beside_it(tmp_path):
    path = tmp_path / "card.json"
    write_whole(path, "first")
    write_whole(path, "second")
    assert path.read_text() == "second"
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert list(tmp_path.iterdir()) == [path]
