"""Lesson 08: a chain of operations four ways, what a compiler makes of it; and the exercise."""

import math
import re
import sys
from functools import cache, partial
from itertools import combinations
from statistics import median

from accel_helpers import plots
from accel_helpers._words import format_seconds
from accel_helpers.learn.checks import calls
from accel_helpers.machine import backend, quiet
from accel_helpers.measure import results
from accel_helpers.plots import style

LENGTHS, WAYS = (1, 2, 4, 8, 16, 32, 64), ("NumPy", "one by one", "graph", "XLA")


def xla(function):
    """The function, compiled by XLA when it is called first."""
    if backend.framework() == "jax":
        return backend.jit(function)
    wake_xla()
    return sys.modules["tensorflow"].function(function, jit_compile=True, autograph=False)


@cache
def wake_xla() -> None:
    """Compile a first program of all, on which XLA remarks; once, or TensorFlow remarks, too."""
    tf = sys.modules["tensorflow"]
    with quiet.held_back():
        tf.function(abs, jit_compile=True)(tf.constant(1.0))


def ways(function, x) -> dict:
    """Calls of a function on a tensor, and on its numbers in NumPy; on JAX a graph is XLA's."""
    import numpy as np

    graph = None if backend.framework() == "jax" else backend.jit(function)
    made = zip(WAYS, (function, function, graph, xla(function)), strict=True)
    return {way: partial(f, np.asarray(x) if way == "NumPy" else x) for way, f in made if f}


def one_more(times: dict) -> dict:
    """Seconds that one more operation costs each way: the median over all pairs of lengths."""
    found = {}
    for way, line in times.items():
        slopes = [(line[b].median - line[a].median) / (b - a) for a, b in combinations(line, 2)]
        found[way] = max(0.0, median(slopes))
    return found


def their_chains(runs=None):
    """The chains of the newest reference run that has NumPy's and XLA's whole; or None."""
    keys = {way: {n: f"08/chain/{way}/{n}" for n in LENGTHS} for way in WAYS}
    card = results.reference(*keys["NumPy"].values(), *keys["XLA"].values(), runs=runs)
    if card is None:
        return None
    lines = {
        way: {n: card.measurements.get(key) for n, key in of.items()} for way, of in keys.items()
    }
    return card.reference({way: line for way, line in lines.items() if all(line.values())})


def picture(times: dict, runs=None) -> style.Picture:
    """The time of a chain over its length; the title says what the lines that are drawn show."""
    theirs = their_chains(runs)
    drawn = style.sides(times, theirs)[0][0][0]
    numpy, xla = (format_seconds(float(f"{one_more(drawn)[way]:.2g}")) for way in ("NumPy", "XLA"))
    title = f"One more operation costs NumPy {numpy}, XLA {xla}"
    *climb, flat = (max(m.median for m in of.values()) / of[1].median for of in drawn.values())
    if flat < 2 and 3 * flat < min(climb):
        title += f": {'two' if len(climb) == 2 else 'three'} lines climb, one stays flat"
    axes = {"x": ("operations in the chain", style.plain), "y": ("time of a call", format_seconds)}
    return plots.curves(times, title=title, **axes, log=True, reference=theirs)


def graph(function, *arrays) -> list[str]:
    """The operations of a traced function, with letters for the arrays between them."""
    if backend.framework() == "jax":
        made = sys.modules["jax"].make_jaxpr(function)(*arrays).jaxpr
        given, nodes = made.invars, [(n.primitive.name, n.invars, n.outvars) for n in made.eqns]
    else:
        made = backend.jit(function).get_concrete_function(*arrays).graph
        given, nodes = made.inputs, [(n.type, n.inputs, n.outputs) for n in made.get_operations()]
    nodes = [node for node in nodes if node[1] and node[0] != "Identity"]  # which hands over
    edges = dict.fromkeys(map(str, [*given, *(node[2][0] for node in nodes)]))
    letter = dict(zip(edges, "abcdefghij", strict=False))
    named = [(n[0], *(" and ".join(letter[str(e)] for e in end) for end in n[1:])) for n in nodes]
    return [f"{kind.lower().removesuffix('v2')}: takes {a}, gives {b}" for kind, a, b in named]


def loops(function, *arrays) -> dict[str, int]:
    """What XLA made of a function: its arithmetic, its loops, the arrays that they read."""
    made = xla(function)
    if backend.framework() == "jax":
        text = made.lower(*arrays).compile().as_text()
    else:
        text = made.experimental_get_compiler_ir(*arrays)(stage="optimized_hlo")
    rows = re.findall(r" = .*? ([\w-]+)\((.*?)\)", text[text.index("\nENTRY") :])
    steps = [takes for kind, takes in rows if kind not in ("parameter", "constant", "tuple")]
    found, reads = len(re.findall(r" (?:add|multiply)\(", text)), "".join(steps).count("%")
    return {"sums and products": found, "loops": len(steps), "arrays read": reads}


def pays_after(first: float, before: float, after: float) -> float:
    """Calls until compiling has paid: the first call compiles, each later one takes `after`."""
    return 1 + math.ceil((first - before) / (before - after)) if after < before else math.inf


_SLIPS = (
    (lambda f, b, a: pays_after(f, b, a) - 1, "Nearly: the calls after the first are counted.",
        "The first call is a call, too."),
    (lambda f, b, a: 1 + (f - b) / (b - a), "You count parts of calls.",
        "After how many whole calls is the loss made up? Round up."),
    (lambda f, b, a: (f - b) / (b - a), "You count parts of calls, and not the first one.",
        "After how many whole calls is the loss made up? And the first call is a call, too."),
    (lambda f, b, a: math.ceil(f / (b - a)),
        "The whole first call is lost, for you.", "How long would it have taken uncompiled?"),
    (lambda f, b, a: math.ceil(1 + (f - b) / (b - a)) if a != b else math.inf,
        "You have a number for calls that got slower.", "What is never made up takes math.inf."),
)  # fmt: skip
CHECKS = {"08/pays_after": calls(
    pays_after, on=[(100, 10, 6), (50, 20, 8), (9, 4, 3)], edges=[(80, 2, 3), (60, 5, 5)],
    slips=_SLIPS, at_edges="What is never made up takes math.inf.",
    right="The first call is the price. What each later one wins pays it back.", needs="A number.",
)}  # fmt: skip
