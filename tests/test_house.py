"""The house: where imports may point, how long a file may be, what is public."""

import ast
import inspect
import json
import re
from pathlib import Path

import pytest

import accel_helpers as ah

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = ROOT / "accel_helpers"
# From the ground up; a room may import from the rooms before it, and from itself.
ROOMS = ("_values", "machine", "measure", "fit", "worth", "tpu", "course", "")
STRANGERS = {("worth", "tpu"), ("tpu", "worth")}
LONGEST = 400  # lines of a file


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
                assert ROOMS.index(there) <= ROOMS.index(here), whole
                assert (here, there) not in STRANGERS, whole
                private = [part for part in whole[1:] if part.startswith("_")]
                assert here == there or not private, whole


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(LIBRARY).as_posix())
def test_a_file_can_be_read_in_one_sitting(path):
    assert len(path.read_text("utf-8").splitlines()) <= LONGEST


# What a reader carries in each room: at most so many syntax nodes a statement, and conditional
# expressions in a thousand statements; none inside another.
MOST_NODES = 12.5
MOST_CONDITIONALS = 25


def carried(trees):
    """Nodes a statement, conditional expressions in 1,000 statements, and those inside others."""
    defined = (ast.FunctionDef, ast.ClassDef)  # their bodies are counted
    nodes = [node for tree in trees for node in ast.walk(tree)]
    conditionals = [node for node in nodes if isinstance(node, ast.IfExp)]
    nested = [
        inner
        for outer in conditionals
        for inner in ast.walk(outer)
        if isinstance(inner, ast.IfExp) and inner is not outer
    ]
    statements = sum(
        isinstance(node, ast.stmt) and not isinstance(node, defined) and not is_text(node)
        for node in nodes
    )
    return len(nodes) / statements, 1000 * len(conditionals) / statements, len(nested)


def is_text(node):
    return isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str)


@pytest.mark.parametrize("name", ROOMS)
def test_a_room_can_be_read_at_the_first_go(name):
    trees = [ast.parse(path.read_text("utf-8")) for path in FILES if room(path) == name]
    nodes, conditionals, nested = carried(trees)
    assert nodes <= MOST_NODES
    assert conditionals <= MOST_CONDITIONALS
    assert nested == 0


# The same of what stands beside the library: each may only fall.
MOST_BESIDE = {"tests": 15.3, "tools": 13.58, "benchmarks": 15.1}


@pytest.mark.parametrize("folder", MOST_BESIDE)
def test_what_stands_beside_the_library_gets_no_denser(folder):
    trees = [ast.parse(path.read_text("utf-8")) for path in (ROOT / folder).rglob("*.py")]
    assert carried(trees)[0] <= MOST_BESIDE[folder]


# How large the house is: syntax nodes of the library and of the lessons' cells, annotations left
# out, and bytes of what comes with the library and is not Python. Each number may only fall.
MOST_TOGETHER = 85_200
MOST_BYTES = 449_000
SONNETS = "shakespeare.txt"  # a text to learn from


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


def size(source):
    tree = WithoutAnnotations().visit(ast.parse(source))
    return sum(1 for _ in ast.walk(tree))


def code_of(cell):
    """The Python of a cell: magics are none, and of a script all below its first line is."""
    source = "".join(cell["source"])
    if source.startswith("%%"):
        source = source.partition("\n")[2]
    return re.sub(r"^(\s*)[!%].*", r"\1pass", source, flags=re.M)


def test_library_and_cells_only_get_smaller():
    library = sum(size(path.read_text("utf-8")) for path in FILES)
    cells = 0
    for path in ROOT.glob("notebooks/*.ipynb"):
        page = json.loads(path.read_text("utf-8"))
        cells += sum(size(code_of(cell)) for cell in page["cells"] if cell["cell_type"] == "code")
    assert library + cells <= MOST_TOGETHER, (library, cells)


def test_data_in_the_wheel_only_get_fewer():
    kept = [path for path in LIBRARY.rglob("*") if path.is_file() and path.name != SONNETS]
    kept = [path for path in kept if path.suffix not in (".py", ".pyc")]
    assert sum(path.stat().st_size for path in kept) <= MOST_BYTES


def test_a_public_verb_shows_how_it_is_used():
    verbs = {name: getattr(ah, name) for name in ah.__all__}
    bare = [
        name
        for name, verb in verbs.items()
        if inspect.isfunction(verb) and ">>>" not in verb.__doc__
    ]
    assert bare == []


def test_lessons_and_pages_use_public_names_alone():
    pages = [*ROOT.glob("notebooks/*.ipynb"), *ROOT.glob("docs/*.md")]
    pages += [ROOT / "README.md", ROOT / "SKILL.md"]
    doors = {
        f"{door.__name__.split('.')[1]}.{name}"
        for door in (ah.tpu, ah.course)
        for name in door.__all__
    }
    for page in pages:
        text = page.read_text("utf-8")
        for name in re.findall(r"\bah\.(\w+)", text):
            assert name in ah.__all__, (page.name, name)
        for name in re.findall(r"\bah\.((?:tpu|course)\.\w+)", text):
            assert name in doors, (page.name, name)


def test_links_from_page_to_page_lead_somewhere():
    pages = [ROOT / "llms.txt", *ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
    link = re.compile(r'(?:\]\(|src=")([^)"\s#]+)')
    links = [(page, to) for page in pages for to in link.findall(page.read_text())]
    # GitHub's own pages beside the files
    links = [(page, to) for page, to in links if not to.startswith("../../issues")]
    gone = [to for page, to in links if "://" not in to and not (page.parent / to).exists()]
    assert gone == []
    assert len(links) > 300
