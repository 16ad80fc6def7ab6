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

M = Measurement.from_samples([1.0, 1.1, 0.9])
NUMBERS = ("01", "02", "03", "04")
T4 = {"kind": "GPU", "name": "Tesla T4", "count": 1}
V5E = {"kind": "TPU", "name": "TPU v5e", "count": 1}


def card(*names, accelerator=None, day="2027-01-02", numbers=None, command="make run"):
    machine = {
        "place": "colab",
        "accelerator": accelerator,
        "frameworks": {"keras": "3.13.2", "jax": "0.7.2"},
        "python": "3.12.1",
        "cpu_name": "A CPU",
        "cores": 2,
    }
    measured = dict.fromkeys(names, M)
    return results.Card(f"{day}T10:00:00+00:00", command, machine, measured, numbers or {})


def rows(*cards):
    """Give the table of a page: for each device, what stands under every lesson."""
    text = status.page(cards, hardware.load(), NUMBERS)
    table = [line[2:-2].split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {device: cells for device, _, *cells in table[1:]}


def test_the_page_says_what_the_cards_say():
    assert status.main([]) == 0, f"run {status.RUN_IT}"


def test_without_a_card_nothing_has_been_measured_anywhere():
    said = {cell for cells in rows().values() for cell in cells}
    assert said == {"not yet", "–"} and len(rows()) > 8


def test_a_cpu_is_measured_by_a_card_without_an_accelerator_and_nothing_else_is():
    table = rows(card("01/product/cpu", "03/epoch/cpu"))
    date = "[2027-01-02](#run-1)"
    assert table.pop("CPU") == [date, "not yet", date, "not yet"]
    assert not any(date in cells for cells in table.values())


@pytest.mark.parametrize(
    ("accelerator", "kind", "device"),
    [
        (T4, "gpu", "NVIDIA T4"),
        (V5E, "tpu", 'TPU v5e (Colab "v5e-1")'),
        ({**T4, "name": "NVIDIA H200"}, "gpu", "NVIDIA H200-SXM-141GB"),
        ({**T4, "name": "A GPU of tomorrow"}, "gpu", "A GPU of tomorrow"),
    ],
)
def test_an_accelerator_is_measured_where_its_name_stands_in_a_result(accelerator, kind, device):
    names = (
        "01/product/cpu",
        f"01/product/{kind}",
        f"03/race/{kind.upper()}",
        "04/epoch/2 replicas",
    )
    table = rows(card(*names, accelerator=accelerator))
    date = "[2027-01-02](#run-1)"
    assert table[device] == [date, "not yet", date, "not yet"]
    assert table["CPU"] == [date, "not yet", "not yet", "not yet"]


def test_an_accelerator_that_was_attached_and_not_used_has_not_been_measured():
    table = rows(card("01/product/cpu", "04/shakespeare/epoch", accelerator=T4))
    assert table["NVIDIA T4"] == ["not yet"] * 4


def test_several_chips_count_only_where_all_of_them_trained():
    path = "04/one code path/gpu"
    two = {**T4, "count": 2}
    names = ("03/step/gpu/width 16/batch 32", "04/shakespeare/epoch")

    def table(replicas):
        numbers = {f"{path}/loss": (2.0,), f"{path}/replicas": (replicas,)}
        found = rows(card(*names, accelerator=two, numbers=numbers))
        return found["NVIDIA T4"][2:], found["several GPUs"]

    date = "[2027-01-02](#run-1)"
    assert table(2.0) == ([date, "not yet"], ["–", "–", "–", date])
    assert table(1.0) == ([date, date], ["–", "–", "–", "not yet"])


def test_the_newest_run_is_named_and_every_run_is_told():
    old = card("03/epoch/cpu", day="2027-01-02", command="make run")
    new = card("03/epoch/cpu", day="2027-03-04", command="KERAS_BACKEND=jax make run")
    text = status.page([old, new], hardware.load(), NUMBERS)
    assert "| [2027-03-04](#run-2) |" in text and "[2027-01-02]" not in text
    for words in ("`make run`", "`KERAS_BACKEND=jax make run`", "Python 3.12.1", "jax 0.7.2"):
        assert words in text
    linked = set(re.findall(r"\(#run-(\d+)\)", text))
    assert linked <= set(re.findall(r"^## Run (\d+)$", text, re.M)) == {"1", "2"}


@pytest.mark.parametrize("command", ["python -m accel_helpers run --fast", "ACCEL_FAST=1 make run"])
def test_a_card_of_small_sizes_is_refused(command):
    with pytest.raises(Refused, match="small sizes"):
        rows(card("03/epoch/cpu", command=command))


def test_every_chip_that_colab_lends_has_a_row_and_no_other_has():
    table = list(rows())
    assert table[0] == "CPU" and table[-2:] == ["several GPUs", "several TPU chips"]
    for chip in hardware.load():
        offered = re.match("free tier|paid|reported by users", chip.colab_status_2026)
        assert (chip.name in table) == bool(offered)


def test_words_about_colab_that_are_not_known_are_refused():
    chip = SimpleNamespace(name="New chip", kind="GPU", colab_status_2026="perhaps")
    with pytest.raises(Refused, match="New chip.*'perhaps'"):
        status.lent([chip])


def test_measurements_that_carry_a_warning_are_counted():
    wide = Measurement.from_samples([1.0, 1.1, 3.0, 1.0, 2.9, 1.1, 3.1, 1.0])
    steady = Measurement.from_samples([1.0, 1.01, 0.99, 1.0, 1.01, 0.99, 1.0, 1.01])
    assert wide.warnings and not steady.warnings
    mixed = {"01/product/cpu": steady, "03/epoch/cpu": wide, "03/waiting/naive": steady}
    text = status.page([replace(card(), measurements=mixed)], hardware.load(), NUMBERS)
    assert "1 of lesson 01, 0 of lesson 02, 2 of lesson 03 (1 with a warning), 0 of" in text


def test_a_card_cannot_break_the_page():
    hostile = card("03/epoch/cpu", command="make `run` | tee\n# A title")
    text = status.page([hostile], hardware.load(), NUMBERS)
    assert "* **Command:** `make 'run' / tee # A title`\n" in text


def test_a_page_that_is_out_of_date_is_complained_of_and_mended(tmp_path, capsys):
    path, cards = tmp_path / "status.md", results.reference_runs()
    assert status.main([], path, cards=cards) == 1 and not path.exists()
    assert status.RUN_IT in capsys.readouterr().out
    assert status.main(["--fix"], path, cards=cards) == 0 == status.main([], path, cards=cards)

    text = path.read_text("utf-8")
    path.write_text(text.replace(cards[-1].created[:10], "2031-01-01"), "utf-8")
    assert status.main([], path, cards=cards) == 1
    path.write_text(text, "utf-8")
    later = replace(cards[-1], created="2031-01-01T00:00:00+00:00")
    assert status.main([], path, cards=(*cards, later)) == 1


def test_every_lesson_that_keeps_measurements_has_a_column():
    assert set(NUMBERS) <= set(status.lessons(sorted(status.lesson.LESSONS.glob("*.ipynb"))))
