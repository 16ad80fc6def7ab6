"""The checks of lesson 02: lines that frighten, and six broken runtimes."""

from __future__ import annotations

import functools
import importlib.resources
import tomllib

from accel_helpers.learn.checks import Result, blank, shown

FACTS = ("attached", "visible", "placed", "faster")
KINDS = ("fault", "harmless")


@functools.cache
def material() -> dict:
    """Give the cases, the cures and the lines of lesson 02.

    Returns
    -------
    dict
        "case": list of dict, "cures": letter to dict, "line": list of dict, as
        ``data/detective.toml`` explains them.

    Examples
    --------
    >>> [case["fact"] for case in material()["case"]].count("placed")
    1
    """
    file = importlib.resources.files("accel_helpers") / "data" / "detective.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


def _lines(answer) -> Result:
    lines = {line["letter"]: line for line in material()["line"]}
    wrong = _shape(answer, list(lines), "six lines", '{"A": "fault", "B": "harmless", ...}')
    if wrong is not None:  # a Result that says no is false
        return wrong
    for letter in lines:
        if not isinstance(answer[letter], str) or answer[letter] not in KINDS:
            return Result(
                False,
                f"{letter} is {shown(answer[letter])}, and that is not one of the two words.",
                'They are "fault" and "harmless".',
            )
    missed = [letter for letter, line in lines.items() if answer[letter] != line["kind"]]
    if not missed:
        return Result(
            True, "All six told apart. A loud line can mean nothing, and a calm one much."
        )
    letter = missed[0]
    if lines[letter]["kind"] == "harmless":
        hint = f"Did {letter} stop anything that was asked for? {lines[letter]['why']}"
    else:
        hint = f"Did the program get what it asked for? {lines[letter]['why']}"
    right = len(lines) - len(missed)
    return Result(False, f"{right} of 6 are right. Look at {letter} again.", hint)


def _detective(answer) -> Result:
    cases = dict(enumerate(material()["case"], 1))
    example = '{1: ("placed", "B"), 2: ("faster", "F"), ...}'
    wrong = _shape(answer, list(cases), "six cases", example)
    if wrong is not None:
        return wrong
    cures = material()["cures"]
    for number in cases:
        given = answer[number]
        if not isinstance(given, (tuple, list)) or len(given) != 2:
            return Result(
                False,
                f"Case {number} is {shown(given)}; a fact and the letter of a cure are needed.",
                f"Such as {example}",
            )
        fact, cure = given
        if blank({"fact": fact, "cure": cure}, ("fact", "cure")):
            return Result(False, f"Case {number} is still open.", f"Such as {example}")
        if not isinstance(fact, str) or fact not in FACTS:
            return Result(
                False,
                f"{shown(fact)} in case {number} is not one of the four facts.",
                f"They are: {', '.join(FACTS)}.",
            )
        if not isinstance(cure, str) or cure not in cures:
            return Result(
                False,
                f"{shown(cure)} in case {number} is not the letter of a cure.",
                f"They are: {', '.join(cures)}.",
            )
    solved = [n for n, case in cases.items() if tuple(answer[n]) == (case["fact"], case["cure"])]
    for number, case in cases.items():
        if number in solved:
            continue
        fact, cure = answer[number]
        head = f"{len(solved)} of 6 cases are solved. Case {number}: "
        if fact != case["fact"]:
            return Result(False, head + _about_fact(fact, case["fact"]), case["clue"])
        return Result(False, head + "the fact is right. " + cures[cure]["not_here"], case["clue"])
    return Result(True, "All six cases solved, with the cure of each.")


def _about_fact(named: str, first: str) -> str:
    if FACTS.index(named) < FACTS.index(first):
        return f'"{named}" holds there: the card or the log shows it. Go further down the list.'
    return f'before "{named}" something else fails already. The first no decides.'


def _shape(answer, keys: list, what: str, example: str) -> Result | None:
    if not isinstance(answer, dict):
        return Result(False, f"A dictionary is needed; got {shown(answer)}.", f"Such as {example}")
    empty = blank(answer, keys)
    touched = [key for key in keys if key not in empty and not _is_untouched(answer[key])]
    if not touched:
        return Result(False, f"The {what} are still empty.", f"Such as {example}")
    missing = [str(key) for key in keys if key not in answer]
    if missing:
        return Result(
            False, f"There is no answer yet for {', '.join(missing)}.", f"Such as {example}"
        )
    if empty:
        return Result(False, f"Still empty: {', '.join(map(str, empty))}.", f"Such as {example}")
    return None


def _is_untouched(pair) -> bool:
    return isinstance(pair, tuple) and all(part is ... for part in pair)


GRADERS = {"02/lines": _lines, "02/detective": _detective}
