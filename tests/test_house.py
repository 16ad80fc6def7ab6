"""The house: where imports may point, how long a file may be, what is public."""

import ast
import inspect
import re
from pathlib import Path

import pytest

import accel_helpers as ah

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = ROOT / "accel_helpers"
# From the ground up; a room may import from the rooms before it, and from itself.
ROOMS = ("", "machine", "measure", "train", "tpu", "plots", "learn", "lessons", "course")
STRANGERS = {("train", "tpu"), ("tpu", "train")}
LONGEST = 400  # lines of a file
BARE = 7  # public verbs without an example


def room(path):
    return path.relative_to(LIBRARY).parts[0] if path.parent != LIBRARY else ""


FILES = sorted(LIBRARY.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(LIBRARY).as_posix())
def test_imports_point_down_and_into_no_others_private_parts(path):
    here = room(path)
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("accel_helpers"):
            for alias in node.names:
                whole = [*node.module.split(".")[1:], alias.name]
                there = whole[0] if whole[0] in ROOMS else ""
                assert ROOMS.index(there) <= ROOMS.index(here) or path.name == "cli.py", whole
                assert (here, there) not in STRANGERS, whole
                private = [part for part in whole if part.startswith("_")]
                assert here == there or not there or not private, whole


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(LIBRARY).as_posix())
def test_a_file_can_be_read_in_one_sitting(path):
    assert len(path.read_text("utf-8").splitlines()) <= LONGEST


def public():
    """Every public name: the verbs, and `module.name` of the rest."""
    found = {name: getattr(ah, name) for name in ah.__all__ if name != "__version__"}
    homes = {name: home for name, home in found.items() if inspect.ismodule(home)}
    verbs = {name: verb for name, verb in found.items() if name not in homes}
    return verbs | {
        f"{name}.{verb}": getattr(home, verb)
        for name, home in homes.items()
        for verb in home.__all__
    }


def test_a_public_verb_shows_how_it_is_used():
    verbs = {name: value for name, value in public().items() if inspect.isfunction(value)}
    bare = [name for name, value in verbs.items() if ">>>" not in inspect.getdoc(value)]
    assert len(bare) <= BARE, bare


def test_lessons_and_pages_use_public_names_alone():
    pages = [*ROOT.glob("notebooks/*.ipynb"), *ROOT.glob("docs/*.md"), ROOT / "README.md"]
    used = {
        (path.name, said)
        for path in pages
        for said in re.findall(r"\bah\.([a-z_]+\.\w+)", path.read_text("utf-8"))
    }
    names = set(public())
    assert {pair for pair in used if pair[1] not in names} == set()


def test_links_from_page_to_page_lead_somewhere():
    pages = [ROOT / "README.md", ROOT / "llms.txt", *ROOT.glob("docs/*.md")]
    links = [(page, to) for page in pages for to in re.findall(r"\]\(([^)\s#]+)", page.read_text())]
    gone = [to for page, to in links if "://" not in to and not (page.parent / to).exists()]
    assert gone == [] and len(links) > 500
