"""Every cell "What this means" tells what came out, and each of its sentences can come out."""

import ast
import re
from types import SimpleNamespace

import pytest
from cells import PATHS, cells, choices, said, the_cell

import accel_helpers as ah
from accel_helpers.measure import scores


def about(level, name=""):
    return ah.timing.Measurement.from_samples(
        [level * f for f in (1, 1.02, 0.99, 1.01, 0.98, 1.0)], name=name
    )


def scaling(low, high):
    scaled = {"right": (0.95, 0.93, 0.97), "another way": ((low + high) / 2, low, high)}
    return {"scaled": scaled, "raw": range(9)}


def compiling(where, clear=True):
    times = {"in_compile": about(0.002), "step": about(0.3), "first": 1}
    return {"where": where, "clear": clear, **times}


def wrong_loss(low, high, in_validation=0.95):
    wrong = SimpleNamespace(verdict=scores.verdict(low, high))
    return {"wrong": wrong, "on_test": [95, 100, 0.9, 0.98], "in_validation": in_validation}


def kill(first=3, epoch=3, died="killed", came_out="exactly the same"):
    return {
        "died": SimpleNamespace(kind=died, ending="ended with: an error"),
        "came_out": came_out,
        "counted": list(range(first, 13)),
        "epochs": 12,
        "kill_at": {"epoch": epoch, "step": 9},
    }


def gain(low, high):
    return {"gains": {"a layer": SimpleNamespace(verdict=scores.verdict(low, high))}}


def backup(plain, with_dice):
    return {"backup": {"without dropout": plain, "with dropout": with_dice}}


WHOSE = choices("10", 'ask("10/serve"', "whose")
CLOSE = choices("10", 'ask("10/kill"', "closeness")
PLACES = choices("10", 'ask("10/compile"', "places")
# lesson and words of a verdict cell: what it must say of what
TOLD = {
    "10 say[outcome].format": [
        ("Another way: worse, by this rough look", scaling(0.5, 0.6)),
        ("Another way: no difference seen", scaling(0.9, 0.97)),
        ("Another way: better, by this rough look", scaling(0.985, 1.0)),
    ],
    "10 say[where if clear": [
        *zip(
            ("the call of `compile` took longest", "is in the first step", "a later step took"),
            map(compiling, PLACES),
            strict=True,
        ),
        ("cannot be told", compiling("in compile", clear=False)),
    ],
    "10 say[g.verdict]": [
        ("A layer: better", gain(0.01, 0.02)),
        ("A layer: worse", gain(-0.2, -0.1)),
        ("A layer: no measurable difference", gain(-0.1, 0.1)),
    ],
    "10 say[wrong.verdict]": [
        ("wrong loss: better", wrong_loss(0.01, 0.02)),
        ("wrong loss: worse", wrong_loss(-0.2, -0.1)),
        ("wrong loss: no measurable difference", wrong_loss(-0.1, 0.1)),
    ],
    "10 {report}": [
        ("Validation and test agree", wrong_loss(-0.2, -0.1)),
        ("Validation and test differ", wrong_loss(-0.2, -0.1, in_validation=0.99)),
        ("Validation and test differ", wrong_loss(-0.2, -0.1, in_validation=0.8)),
    ],
    "10 Markdown(say[outcome])": [
        (words, {"whose": WHOSE, "outcome": outcome})
        for outcome, words in zip(
            WHOSE, ("Only the first ran", "Only the exported", "Both ran", "Neither"), strict=True
        )
    ],
    "10 counted[0] - 1": [
        ("epochs 1 and 2 were not trained again", kill()),
        ("epochs 1 to 3 were not trained again", kill(first=4)),  # it came just after the epoch
        ("epoch 1 was not trained again", kill(2, 2)),
        ("no epoch was whole at the kill", kill(1, 1)),
        ("did not go on from the checkpoint:** after the kill, epoch 1", kill(1)),
        ("did not go on from the checkpoint:** after the kill, epoch 4", kill(4, 5)),
        ("no kill:** ended with: an error", kill(died="crashed")),
    ],
    "10 }[came_out]": [
        (words, kill(came_out=came_out))
        for came_out, words in zip(
            CLOSE, ("Exactly the same", "The same weights up to", "weights differ"), strict=True
        )
    ],
    "10 plain <= 1e-6": [
        ("With dropout it does not", backup(0.0, 0.01)),
        ("Both end", backup(0.0, 0.0)),
        ("Neither ends", backup(0.1, 0.2)),
        ("Only the one with dropout", backup(0.1, 0.0)),
    ],
}
ALL = [(cell, words, names) for cell, cases in TOLD.items() for words, names in cases]


def source_of(cell):
    return the_cell(cell[:2], cell[3:], tag="verdict").source


@pytest.mark.parametrize(("cell", "words", "names"), ALL, ids=[f"{c}: {w}" for c, w, _ in ALL])
def test_what_came_out_is_told_as_it_came_out(cell, words, names):
    text = said(source_of(cell), **names)
    assert words in text
    assert not [other for other, _ in TOLD[cell] if other != words and other in text]


def sentences(source):
    """The longest piece without a field of each sentence that a cell could say."""
    for node in ast.walk(ast.parse(source)):
        for value in node.values if isinstance(node, ast.Dict) else ():
            texts = [part.value for part in ast.walk(value) if isinstance(part, ast.Constant)]
            pieces = [piece for text in texts for piece in re.split(r"\{.*?\}", text)]
            yield max(pieces, key=len)


@pytest.mark.parametrize("number", PATHS)
def test_every_sentence_belongs_to_something_that_can_come_out(number):
    for cell in cells(number, tag="verdict"):
        keys = [key for key in TOLD if key[:2] == number and key[3:] in cell.source]
        texts = [said(cell.source, **names) for key in keys for _, names in TOLD[key]]
        for sentence in sentences(cell.source):
            assert any(sentence in text for text in texts), sentence
