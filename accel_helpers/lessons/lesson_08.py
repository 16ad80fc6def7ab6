"""Lesson 08: what a compiler made of a chain of operations, when that pays; and its exercise."""

import math
import re
import sys

from accel_helpers.learn.checks import calls
from accel_helpers.machine import backend
from accel_helpers.measure import results
from accel_helpers.plots import style

LENGTHS, WAYS = (1, 2, 4, 8, 16, 32, 64), ("NumPy", "one by one", "graph", "XLA")
FLAT = ("flat", "flatter", "not flatter")


def theirs() -> dict:
    """The chain on the reference machine; empty until it was measured there."""
    card = results.reference().measurements
    lines = {w: {n: card.get(f"08/chain/{w}/{n}") for n in LENGTHS} for w in WAYS}
    return {way: line for way, line in lines.items() if all(line.values())}


def growth(times: dict) -> dict:
    """How many times as long the longest chain takes as the shortest, for each way."""
    return {way: line[max(line)].median / line[min(line)].median for way, line in times.items()}


def finding(times: dict, reference: dict) -> str:
    """What the curves that are drawn show, as their title."""
    gains = growth(style.sides(times, reference)[0][0][0]).items()
    said = ", ".join(f"{way} {style.short(gain)}" for way, gain in gains)
    return f"64 operations instead of one, times as long: {said}"


def flat(times: dict) -> str:
    """Whether the line of XLA is "flat" (below 3), "flatter" (half of each other), or neither."""
    gains = growth(times)
    xla, least = gains.pop("XLA"), min(gains.values())
    return FLAT[0 if xla < 3 <= least else 1 if xla < least / 2 else 2]


def xla(function):
    """The function, compiled by XLA when it is called first."""
    if backend.framework() == "jax":
        return backend.jit(function)
    return sys.modules["tensorflow"].function(function, jit_compile=True, autograph=False)


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
    kinds = [kind.lower().removesuffix("v2") for kind, *_ in nodes]
    ends = [[" and ".join(letter[str(e)] for e in end) for end in node[1:]] for node in nodes]
    return [f"{k}: takes {t}, gives {g}" for k, (t, g) in zip(kinds, ends, strict=True)]


def loops(function, *arrays) -> dict[str, int]:
    """What XLA made of a function: its arithmetic, its loops, the arrays that they read."""
    made = xla(function)
    if backend.framework() == "jax":
        text = made.lower(*arrays).compile().as_text()
    else:
        text = made.experimental_get_compiler_ir(*arrays)(stage="optimized_hlo")
    rows = re.findall(r" = .*? ([\w-]+)\((.*?)\)", text[text.index("\nENTRY") :])
    steps = [takes for kind, takes in rows if kind not in ("parameter", "constant", "tuple")]
    reads, arithmetic = "".join(steps).count("%"), re.findall(r" (?:add|multiply)\(", text)
    return {"arithmetic": len(arithmetic), "loops": len(steps), "reads": reads}


def auto(framework: str, accelerator: bool) -> bool:
    """What Keras makes of jit_compile="auto", by whether the framework sees a GPU or TPU."""
    return {"tensorflow": accelerator, "jax": True, "torch": False}[framework]


def pays_after(first: float, before: float, after: float) -> float:
    """Calls until compiling has paid: the first call compiles, each later one takes `after`."""
    return math.ceil(1 + (first - before) / (before - after)) if after < before else math.inf


_SLIPS = (
    (lambda f, b, a: pays_after(f, b, a) - 1, "Nearly: the calls after the first are counted.",
        "The first call is a call, too."),
    (lambda f, b, a: 1 + (f - b) / (b - a) if a < b else math.inf, "You count parts of calls.",
        "After how many whole calls is the loss made up? Round up."),
    (lambda f, b, a: math.ceil(f / (b - a)) if a < b else math.inf,
        "The whole first call is lost, for you.", "How long would it have taken uncompiled?"),
    (lambda f, b, a: math.ceil(1 + (f - b) / (b - a)) if a != b else math.inf,
        "You have a number for calls that got slower.", "What is never made up takes math.inf."),
)  # fmt: skip
CHECKS = {
    "08/pays_after": calls(
        pays_after,
        on=[(100, 10, 6), (50, 20, 8), (9, 4, 3), (80, 2, 3), (60, 5, 5)],
        slips=_SLIPS,
        right="The first call is the price. What each later one wins pays it back.",
        needs="It returns one number: calls, with the first one.",
    )
}
