"""The house: where imports may point, how large it is, how it reads, what is public."""

import ast
import inspect
import json
import re
from pathlib import Path

import pytest

import accel_helpers as ah

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = ROOT / "accel_helpers"
FILES = sorted(LIBRARY.rglob("*.py"))
# From the ground up; a room may import from the rooms before it, and from itself.
ROOMS = ("_values", "machine", "measure", "fit", "worth", "tpu", "course", "")
STRANGERS = {("worth", "tpu"), ("tpu", "worth")}
LONGEST = 400  # lines of a file
MOST_NODES = 12.5  # syntax nodes a statement
MOST_CONDITIONALS = 25  # conditional expressions in a thousand statements
# Syntax nodes of the library and of the lessons' cells, and bytes of what comes with the library
# and is not Python. Each may only fall, as may the nodes of what stands beside the library.
MOST_TOGETHER = 82_200
MOST_BYTES = 409_500
MOST_BESIDE = {"tests": 54_000, "tools": 14_800, "benchmarks": 17_600}
SONNETS = "shakespeare.txt"  # a text to learn from
SMALL = "CONTRIBUTING.md says what to do: the library stays small"


def room(path):
    first, *inside = path.relative_to(LIBRARY).parts
    return first if inside else ""


def nodes_of(path):
    return [*ast.walk(ast.parse(path.read_text("utf-8")))]


def is_ours(node):
    return isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("accel_helpers.")


def test_imports_point_down_and_into_no_others_private_parts():
    for path in FILES:
        here = room(path)
        for node in filter(is_ours, nodes_of(path)):
            _, *taken = node.module.split(".")
            taken += [alias.name for alias in node.names]
            there = taken[0] if taken[0] in ROOMS else ""
            assert ROOMS.index(there) <= ROOMS.index(here), path
            assert (here, there) not in STRANGERS, path
            if here != there:
                assert not any(name.startswith("_") for name in taken[1:]), path


def test_a_file_can_be_read_in_one_sitting():
    for path in FILES:
        assert len(path.read_text("utf-8").splitlines()) <= LONGEST, path


class WithoutAnnotations(ast.NodeTransformer):
    """Types are no burden: to leave them out must not pay."""

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        node.returns = None
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_arg(self, node):
        node.annotation = None
        return node

    def visit_AnnAssign(self, node):
        self.generic_visit(node)
        node.annotation = ast.Constant(0)
        return node


def size(sources):
    """Syntax nodes of texts of Python, annotations left out."""
    total = 0
    for source in sources:
        tree = WithoutAnnotations().visit(ast.parse(source))
        total += len([*ast.walk(tree)])
    return total


def is_statement(node):
    """Whether a node counts as one: definitions do not, nor their docstrings."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return False
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return not isinstance(node.value.value, str)
    return isinstance(node, ast.stmt)


def are_readable(paths):
    nodes = []
    for path in paths:
        nodes += nodes_of(path)
    statements = sum(map(is_statement, nodes))
    conditionals = len([node for node in nodes if isinstance(node, ast.IfExp)])
    if 1000 * conditionals > MOST_CONDITIONALS * statements:
        return False
    return len(nodes) <= MOST_NODES * statements


@pytest.mark.parametrize("name", ROOMS)
def test_a_room_can_be_read_at_the_first_go(name):
    assert are_readable([path for path in FILES if room(path) == name])


def test_no_conditional_stands_inside_another():
    for path in FILES:
        for outer in nodes_of(path):
            if isinstance(outer, ast.IfExp):
                _, *inner = ast.walk(outer)
                assert not any(isinstance(node, ast.IfExp) for node in inner), path


@pytest.mark.parametrize("folder", MOST_BESIDE)
def test_what_stands_beside_the_library_stays_small_and_readable(folder):
    paths = sorted((ROOT / folder).rglob("*.py"))
    assert size(path.read_text("utf-8") for path in paths) <= MOST_BESIDE[folder]
    # the trainings are written as other people write them
    assert are_readable([path for path in paths if "trainings" not in path.parts])


def code_of(cell):
    """The Python of a cell: magics are none, and of a script all below its first line is."""
    source = "".join(cell["source"])
    if source.startswith("%%"):
        source = source.partition("\n")[2]
    return re.sub(r"^(\s*)[!%].*", r"\1pass", source, flags=re.M)


def test_library_and_cells_only_get_smaller():
    sources = [path.read_text("utf-8") for path in FILES]
    for path in ROOT.glob("notebooks/*.ipynb"):
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                sources.append(code_of(cell))
    assert size(sources) <= MOST_TOGETHER, SMALL


def test_data_in_the_wheel_only_get_fewer():
    total = 0
    for path in LIBRARY.rglob("*.*"):
        if path.suffix not in (".py", ".pyc") and path.name != SONNETS:
            total += path.stat().st_size
    assert total <= MOST_BYTES, SMALL


def test_a_public_verb_shows_how_it_is_used():
    for name in ah.__all__:
        verb = getattr(ah, name)
        assert not inspect.isfunction(verb) or ">>>" in verb.__doc__, name


def test_lessons_and_pages_use_public_names_alone():
    public = set(ah.__all__)
    for door in ("tpu", "course"):
        public |= {f"{door}.{name}" for name in getattr(ah, door).__all__}
    pages = [*ROOT.glob("notebooks/*.ipynb"), *ROOT.glob("docs/*.md"), *ROOT.glob("*.md")]
    for page in pages:
        used = re.findall(r"\bah\.((?:tpu\.|course\.)?\w+)", page.read_text("utf-8"))
        assert set(used) <= public, page.name


def test_links_from_page_to_page_lead_somewhere():
    pages = [ROOT / "llms.txt", *ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
    link = re.compile(r'(?:\]\(|src=")([^)"\s#]+)')
    for page in pages:
        for to in link.findall(page.read_text("utf-8")):
            # GitHub's own pages beside the files are not ours
            is_elsewhere = "://" in to or "../issues" in to
            assert is_elsewhere or (page.parent / to).exists(), (page.name, to)
