"""The page of what has been measured says what the cards say, and nothing more."""

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
import status
from lesson import Refused

from accel_helpers.machine import hardware
from accel_helpers.measure import results
from accel_helpers.measure.measurement import Measurement

M = Measurement.from_samples([1.0, 1.01, 0.99, 1.0, 1.01, 0.99])
WIDE = Measurement.from_samples([1.0, 1.1, 3.0, 1.0, 2.9, 1.1, 3.1, 1.0])
NUMBERS = ("01", "02", "03", "04")
DATE = "[2027-01-02](#run-1)"
NO = "not yet"
T4 = {"kind": "GPU", "name": "Tesla T4", "count": 1}
V5E = {"kind": "TPU", "name": "TPU v5e", "count": 1}


def card(*names, accelerator=None, day="2027-01-02", numbers=None, command="make run"):
    machine = {"place": "colab", "accelerator": accelerator, "python": "3.12.1"}
    measured = dict.fromkeys(names, M)
    return results.Card(f"{day}T10:00:00+00:00", command, machine, measured, numbers or {})


def page(*cards):
    return status.page(cards, hardware.load(), NUMBERS)


def rows(*cards):
    """Give the table of a page: for each device, what stands under every lesson."""
    table = [line[2:-2].split(" | ") for line in page(*cards).splitlines() if line[:2] == "| "]
    return {device: cells for device, _, *cells in table[1:]}


def test_every_chip_that_colab_lends_has_a_row_and_nothing_is_measured_without_a_card():
    table = rows()
    assert {cell for cells in table.values() for cell in cells} == {NO, "–"}
    assert [*table][0] == "CPU"
    assert [*table][-2:] == ["several GPUs", "several TPU chips"]
    for chip in hardware.load():
        offered = re.match("free tier|paid|reported by users", chip.colab_status_2026)
        assert (chip.name in table) == bool(offered)
    chip = SimpleNamespace(name="New chip", kind="GPU", colab_status_2026="perhaps")
    with pytest.raises(Refused, match="New chip.*'perhaps'"):
        status.lent([chip])


@pytest.mark.parametrize(
    ("accelerator", "kind", "device"),
    [
        (T4, "gpu", "NVIDIA T4"),
        (V5E, "tpu", 'TPU v5e (Colab "v5e-1")'),
        ({**T4, "name": "A GPU of tomorrow"}, "gpu", "A GPU of tomorrow"),
    ],
)
def test_an_accelerator_is_measured_where_its_name_stands_in_a_result(accelerator, kind, device):
    race = f"03/race/{kind}"
    names = ("01/product/cpu", f"01/product/{kind}", race, "04/epoch/2 replicas")
    table = rows(card(*names, accelerator=accelerator))
    assert (table[device], table["CPU"]) == ([DATE, NO, DATE, NO], [DATE, NO, NO, NO])


@pytest.mark.parametrize(
    ("replicas", "one", "several"),
    [(2.0, [DATE, NO], ["–", "–", "–", DATE]), (1.0, [DATE, DATE], ["–", "–", "–", "–"])],
)
def test_several_chips_count_only_where_all_of_them_trained(replicas, one, several):
    path = "04/one code path/gpu"
    numbers = {f"{path}/loss": (2.0,), f"{path}/replicas": (replicas,)}
    names = ("03/step/gpu/width 16/batch 32", "04/shakespeare/epoch")
    table = rows(card(*names, accelerator={**T4, "count": 2}, numbers=numbers))
    assert (table["NVIDIA T4"][2:], table["several GPUs"]) == (one, several)


def test_the_newest_run_is_named_and_every_run_is_told_and_none_can_break_the_page():
    old = card("03/epoch/cpu", day="2027-01-02", command="make `run` | tee\n# A title")
    new = card("03/epoch/cpu", day="2027-03-04", command="KERAS_BACKEND=jax make run")
    new = replace(new, measurements={"01/product/cpu": M, "03/epoch/cpu": WIDE, "03/a/b": M})
    text = page(old, new)
    assert "| [2027-03-04](#run-2) |" in text
    assert "[2027-01-02]" not in text
    assert "`KERAS_BACKEND=jax make run`" in text
    assert "Python 3.12.1" in text
    assert "* **Command:** `make 'run' / tee # A title`\n" in text
    assert WIDE.warnings
    assert "2 of lesson 03 (1 with a warning)" in text
    assert re.findall(r"^## Run (\d+)$", text, re.M) == ["1", "2"]


def test_a_lesson_that_keeps_numbers_and_no_times_counts_as_measured():
    kept = card(numbers={"04/loss/one device": (0.3,), "04/state": (1.2, 0.2)})
    assert rows(kept)["CPU"] == [NO, NO, NO, DATE]
    assert "2 of lesson 04 (no times)" in page(kept)
    assert rows(card("03/epoch/cpu"))["CPU"] == [NO, NO, DATE, NO]


def test_a_card_of_small_sizes_is_refused():
    for command in ("python tools/run_lessons.py --fast", "ACCEL_FAST=1 make run"):
        with pytest.raises(Refused):
            page(card("03/epoch/cpu", command=command))


def test_a_page_that_is_out_of_date_is_complained_of_and_mended(tmp_path, capsys):
    path, cards = tmp_path / "status.md", results.reference_runs()
    assert status.main([], path, cards=cards) == 1
    assert not path.exists()
    assert status.RUN_IT in capsys.readouterr().out
    assert status.main(["--fix"], path, cards=cards) == 0 == status.main([], path, cards=cards)
    later = replace(cards[-1], created="2031-01-01T00:00:00+00:00")
    assert status.main([], path, cards=(*cards, later)) == 1
