"""Find what a lesson measures and puts on no result card, by reading the code of its cells.

A name is *measured* where it is bound to a call of a measuring verb: a function of the library
whose declared result is, or holds, a Measurement or a training's History; Keras's own `fit` and
`evaluate`; or a difference of two readings of a clock. A name is *kept* where it stands in a call
of `results.record` or in one with `keep=`, or where something that is kept was made from it.

Only cells tagged nbval-ignore-output are asked: what the others say is the same on every machine.
What this cannot see: which part of a name is kept (`run.losses` counts for `run.epoch`); the order
of cells; two things that share a name; and what has no verb, such as the size of an array.
"""

import ast
import re

import lesson

LIBRARY = lesson.ROOT / "accel_helpers"
NO_VERBS = frozenset({"results.py"})  # it gives what was measured before
CLOCKS = frozenset(
    "perf_counter perf_counter_ns monotonic monotonic_ns process_time time time_ns".split()
)
KERAS = frozenset({"fit", "evaluate"})
# Made from what is measured already, these two measure nothing themselves.
FROM_MEASURED = frozenset({"compare", "from_samples"})
PUTS_IN = frozenset({"append", "extend", "add", "update", "insert", "setdefault"})


def verbs(folder=LIBRARY):
    """Give the names of the library's functions that measure, by what they declare to return."""
    files = [path for path in folder.rglob("*.py") if path.name not in NO_VERBS]
    nodes = [node for path in files for node in ast.parse(path.read_text("utf-8")).body]
    classes = {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}
    records, more = set(), {"Measurement", "History"}
    while more - records:
        records |= more
        more = {
            name
            for name, node in classes.items()
            for field in node.body
            if isinstance(field, ast.AnnAssign) and _words(field.annotation) & records
        }
    return {"from_samples"} | {
        node.name
        for node in nodes
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
        if node.returns is not None and _words(node.returns) & records
    }


def unkept(nb, measuring):
    """Give what is measured and not kept, as pairs: the cell's place, and its name or its code."""
    cells = [
        (i, ast.parse(_no_magic(cell.source)))
        for i, cell in enumerate(nb.cells)
        if lesson.is_code(cell) and "nbval-ignore-output" in lesson.tags(cell)
    ]
    bindings = [(i, *pair) for i, tree in cells for pair in _bindings(tree)]
    recorded = [
        call
        for _, tree in cells
        for call in _every(tree, ast.Call)
        if _verb(call) == "record" or _keeps(call)
    ]
    kept = _spread({n for call in recorded for n in _names(call)}, bindings, backwards=True)
    readings = {n for _, names, value in bindings if _readings(value) for n in names}
    called = [(i, names, _measuring(value, measuring)) for i, names, value in bindings]
    first = {n for _, names, calls in called for n in names if calls} | readings
    measured = _spread(first, bindings, backwards=False)

    missing = []
    for i, names, value in bindings:
        own = [c for c in _measuring(value, measuring) if not _derived(c, measured - set(names))]
        if (own or _readings(value)) and not set(names) & kept:
            missing.append((i, ", ".join(sorted(names))))
    for i, tree in cells:
        for node in tree.body:
            value = node.value if isinstance(node, ast.Expr) else None
            if value is None or _bindings(ast.Module([node], [])) or _verb(value) in KERAS:
                continue  # a bare `fit` trains and shows nothing
            calls = [c for c in _measuring(value, measuring) if not _derived(c, measured)]
            if calls and not any(_verb(c) == "record" for c in _every(value, ast.Call)):
                missing.append((i, ast.unparse(calls[0])))
    return missing


def _words(node):
    """Give the names in an annotation, one written as text included."""
    said = {n.id for n in _every(node, ast.Name)} | {n.attr for n in _every(node, ast.Attribute)}
    texts = [n.value for n in _every(node, ast.Constant) if isinstance(n.value, str)]
    return said.union(*(re.findall(r"\w+", text) for text in texts))


def _no_magic(source):
    """Take out the lines that are IPython's own, which no Python parser reads."""
    return "\n".join(line for line in source.splitlines() if line.lstrip()[:1] not in ("%", "!"))


def _names(node):
    """Give the names in code, but those that a comprehension makes; an f-string keeps nothing."""
    if isinstance(node, ast.JoinedStr):
        return set()
    own = {node.id} if isinstance(node, ast.Name) else set()
    made = _targets(*(each.target for each in getattr(node, "generators", ())))
    return own.union(*(_names(inner) for inner in ast.iter_child_nodes(node))) - made


def _every(node, kind):
    return [n for n in ast.walk(node) if isinstance(n, kind)]


def _verb(node):
    function = getattr(node, "func", None)
    return getattr(function, "attr", getattr(function, "id", None))


def _measuring(node, measuring):
    """Give the measuring calls in a piece of code, and where a training's history is taken."""
    calls = [c for c in _every(node, ast.Call) if _verb(c) in measuring | KERAS and not _keeps(c)]
    return calls + [n for n in _every(node, ast.Attribute) if n.attr == "history"]


def _keeps(call):
    return any(keyword.arg == "keep" for keyword in call.keywords)


def _readings(node):
    """Tell whether two readings of a clock are subtracted."""
    differences = [n for n in _every(node, ast.BinOp) if isinstance(n.op, ast.Sub)]
    return any(_verb(c) in CLOCKS for n in differences for c in _every(n, ast.Call))


def _derived(node, measured):
    """Tell whether a call, or a history that is taken, only speaks of what is measured already."""
    if isinstance(node, ast.Attribute):
        return bool(_names(node.value) & measured)
    return _verb(node) in FROM_MEASURED and any(_names(a) & measured for a in node.args)


def _bindings(tree):
    """Give what is bound to what: names, and the value's code; a function's value is its body."""
    found, todo = [], list(tree.body)
    while todo:
        node = todo.pop(0)
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.append(({node.name}, ast.Module(node.body, [])))
            continue
        if isinstance(node, ast.Assign):
            found.append((_targets(*node.targets), node.value))
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.NamedExpr)) and node.value:
            found.append((_targets(node.target), node.value))
        elif isinstance(node, ast.For):
            found.append((_targets(node.target), node.iter))
        elif isinstance(node, ast.withitem) and node.optional_vars:
            found.append((_targets(node.optional_vars), node.context_expr))
        elif _verb(node) in PUTS_IN and isinstance(node.func, ast.Attribute):
            arguments = [*node.args, *(k.value for k in node.keywords)]
            found += [(_targets(node.func.value), value) for value in arguments]
        todo += [n for n in ast.iter_child_nodes(node) if not isinstance(n, ast.Lambda)]
    return [(names, value) for names, value in found if names]


def _targets(*nodes):
    """Give the names that are bound; of `a[0]` and `a.b` it is `a`, and not the index."""
    names = set()
    for node in nodes:
        while isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred)):
            node = node.value
        if isinstance(node, (ast.Tuple, ast.List)):
            names |= _targets(*node.elts)
        elif isinstance(node, ast.Name):
            names.add(node.id)
    return names


def _spread(names, bindings, *, backwards):
    """Follow names to what they were made from, or to what is made from them."""
    names, before = set(names), None
    while names != before:
        before = set(names)
        for _, bound, value in bindings:
            if backwards and bound & names:
                names |= _names(value)
            elif not backwards and _names(value) & names:
                names |= bound
    return names
