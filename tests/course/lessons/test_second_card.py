"""A second machine's card breaks no lesson, and each grey mark carries its own machine's name."""

import re
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import run_lessons
from second_card import LABEL, SLOWER, made_up

from accel_helpers.course.pictures import PICTURES, reference_for
from accel_helpers.measure import results
from accel_helpers.plots import style

FIRST = results.reference_runs()[-1]
SECOND = made_up(FIRST)
BOTH = (FIRST, SECOND)
RACE = SimpleNamespace(slow=SimpleNamespace(name="CPU"), fast=SimpleNamespace(name="CPU again"))
CROSSING = SimpleNamespace(here=SimpleNamespace(epoch=(1, 2)), there=SimpleNamespace(epoch=(1, 2)))
THEIRS = {  # all that lessons draw in grey
    "02 race": lambda runs: reference_for(PICTURES["control"], RACE, "02/race", runs),
    "03 epochs": lambda runs: reference_for(PICTURES["epochs"], [2.0, 1.0], "03/epoch/cpu", runs),
    "03 climb": lambda runs: reference_for(PICTURES["climb"], None, "03/climb", runs),
    "05 crossing": lambda runs: reference_for(PICTURES["crossing"], CROSSING, "05/crossing", runs),
    "07 adding": lambda runs: reference_for(PICTURES["adding"], {}, "07/adding", runs),
    "08 chains": lambda runs: reference_for(PICTURES["chain"], None, "08/chain", runs),
}


def whole(card):
    """A newer card with everything, as of another machine."""
    return replace(SECOND, measurements=card.measurements, numbers=card.numbers)


@pytest.mark.parametrize("name", THEIRS)
def test_what_is_grey_comes_from_the_machine_that_its_label_names(name):
    theirs = THEIRS[name]
    found = theirs(BOTH)
    alone = {card.label: theirs((card,)) for card in BOTH}
    assert found == alone[found.label]
    newest = LABEL if alone[LABEL] else FIRST.label
    assert found.label == newest
    assert theirs((FIRST, whole(FIRST))).label == LABEL
    assert theirs(()) is None, "a lesson goes on without a reference run"


@pytest.mark.parametrize("name", THEIRS)
def test_a_stored_lesson_shows_the_reference_machine_alone(name, monkeypatch):
    theirs = THEIRS[name]
    assert not theirs((FIRST,)).alone
    monkeypatch.setenv("ACCEL_PICTURES", "reference")
    assert theirs((FIRST,)).alone


def test_a_card_with_a_third_of_the_names_lacks_some_and_has_others():
    had = [name for name, theirs in THEIRS.items() if theirs((SECOND,)) is not None]
    assert 0 < len(had) < len(THEIRS), had


def test_the_newest_card_that_has_all_the_names_is_the_one():
    (mine, *_), (other, *_) = (
        sorted(SECOND.measurements),
        sorted(FIRST.measurements.keys() - SECOND.measurements.keys()),
    )
    assert results.reference(mine, runs=BOTH) is SECOND
    assert results.reference(mine, other, runs=BOTH) is FIRST
    assert results.reference(runs=BOTH) is SECOND
    assert results.reference("no such name", runs=BOTH) is None
    assert results.reference_values("no such name", runs=BOTH) is None
    [value] = results.reference_values(mine, runs=BOTH).data
    before = FIRST.measurements[mine].median
    assert value.median == pytest.approx(SLOWER * before)


def test_cards_are_read_from_the_folder_that_is_handed_in(tmp_path):
    for name, card in zip("ba", BOTH, strict=True):
        results.save(card, tmp_path / f"{name}.json")
    assert results.reference_runs(tmp_path) == BOTH, "oldest first"


def test_a_gpu_of_another_machine_is_drawn_beside_its_cpu():
    keys = [key for key in FIRST.measurements if key.startswith("07/cpu/add/")]
    gpu = {key.replace("/cpu/", "/gpu/"): FIRST.measurements[key] for key in keys}
    chip = {"kind": "GPU", "name": "A made-up GPU"}
    machine = {**SECOND.machine, "accelerator": chip}
    second = replace(SECOND, machine=machine, measurements=FIRST.measurements | gpu)
    found = reference_for(PICTURES["adding"], {}, "07/adding", (FIRST, second))
    assert found.label == second.label
    assert [*found.data] == ["the CPU", "the A made-up GPU"]


def test_a_plot_names_the_machine_that_comes_with_the_data():
    (_, grey), under = style.sides({"a": 1.0}, results.Reference({"a": 2.0}, "some machine"))
    assert grey == ({"a": 2.0}, False, "on some machine: ")
    assert under == "Grey: some machine."


@pytest.mark.night
@pytest.mark.timeout(3600)
def test_all_lessons_run_beside_a_second_card_and_name_its_machine(tmp_path, monkeypatch):
    root = Path(run_lessons.__file__).parent.parent
    package = tmp_path / "package" / "accel_helpers"
    shutil.copytree(root / "accel_helpers", package)
    results.save(SECOND, package / "data" / "reference_runs" / "made-up.json")
    notebooks = tmp_path / "notebooks"
    shutil.copytree(root / "notebooks", notebooks)
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    paths = sorted(notebooks.glob("[0-9]*.ipynb"))
    done = run_lessons.run(paths, tmp_path / "report", fast=True, everything=True)
    assert [(lesson.name, lesson.status) for lesson in done if not lesson.ok] == []

    written = "".join(p.read_text("utf-8") for p in (tmp_path / "report" / "notebooks").glob("*"))
    named = set(re.findall(r"[;:] on ([^:;\"]+, 20\d\d-\d\d-\d\d): ", written))
    assert named == {LABEL, FIRST.label}
