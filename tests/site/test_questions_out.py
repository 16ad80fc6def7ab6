"""The question bank to take along, read by programs that are not ours."""

import html
import json
import re
import shutil
import sqlite3
import subprocess
import zipfile

import pytest
import yaml

import accel_helpers as ah
from accel_helpers.course import questions

genanki = pytest.importorskip("genanki")  # it comes with `make site-environment`
out = pytest.importorskip("questions_out")
pytestmark = pytest.mark.night  # with what the site needs
BANK = questions.bank()
KINDS = {"one": "MC", "several": "MC", "number": "Numerical", "order": "Matching"}
PARSE = """const text = require("fs").readFileSync("questions.gift", "utf8");
console.log(JSON.stringify(require("gift-pegjs").parse(text)));"""


def plain(text):
    """A text without HTML's tags and without backticks."""
    return html.unescape(re.sub(r"</?[a-z].*?>|`", "", text))


def place(question, letter):
    step = question.right.find(letter) + 1
    return f"step {step}" if step else "does not belong"


def test_moodle_gets_every_question_option_and_feedback(tmp_path, required):
    npm = [shutil.which("npm"), "install", "--no-audit", "--no-fund", "gift-pegjs@1"]
    if not npm[0] or subprocess.run(npm, cwd=tmp_path, capture_output=True).returncode:
        required("npm cannot install gift-pegjs, which reads the GIFT file here")
    out.write(tmp_path)
    parsed = json.loads(subprocess.check_output(["node", "-e", PARSE], cwd=tmp_path))
    read = {each["id"]: each for each in parsed if each["type"] != "Category"}
    assert [*read] == [*BANK]
    assert len(parsed) - len(read) == len({q.lesson for q in BANK.values()})
    for q, got in zip(BANK.values(), read.values(), strict=True):
        asked, after = plain(got["stem"]["text"]), plain(got["globalFeedback"]["text"])
        assert got["type"] == KINDS[q.kind]
        assert asked.startswith(plain(q.stem))
        assert q.further == ("Further question" in asked)
        assert all(plain(text) in after for text in q.two_answers.values()), q.id
        pairs = [(p["subquestion"]["text"], p["subanswer"]) for p in got.get("matchPairs", ())]
        if q.kind == "order":  # GIFT has no feedback for these but the general one
            assert all(plain(o.feedback) in after for o in q.options.values()), q.id
            steps = [(plain(o.text), place(q, x)) for x, o in q.options.items()]
            assert [(plain(step), at) for step, at in pairs] == steps
            continue
        options = out.right_first(q) if q.kind == "number" else q.options.items()
        for (letter, o), choice in zip(options, got["choices"], strict=True):
            text, weight = choice["text"], choice["weight"]
            if q.kind == "number":
                assert text["number"] == o.value
                assert text["range"] <= q.tolerance * o.value
            else:
                assert plain(text["text"]) == plain(o.text)
            assert (choice["isCorrect"] if weight is None else weight > 0) == (letter in q.right), o
            assert plain(choice["feedback"]["text"]).endswith(plain(o.feedback)), o


def test_anki_gets_every_card_and_knows_it_again(tmp_path):
    out.write(tmp_path)
    zipfile.ZipFile(tmp_path / "questions.apkg").extract("collection.anki2", tmp_path)
    base = sqlite3.connect(tmp_path / "collection.anki2")
    rows = {guid: rest for guid, *rest in base.execute("select guid, flds, tags from notes")}
    assert [*rows] == [genanki.guid_for(name) for name in BANK]
    for q, (fields, tags) in zip(BANK.values(), rows.values(), strict=True):
        asked, _, choices, answer, name = plain(fields).split("\x1f")
        assert (asked, name) == (plain(q.stem), q.id)
        assert {f"lesson-{q.lesson}", *q.exam} <= {*tags.split()}
        assert all((plain(o.text) in choices) == q.has_choices for o in q.options.values())
        parts = [(o.text, o.feedback) for o in q.options.values()] + [
            text[1:] for text in q.two_answers
        ]
        assert all(plain(text) in answer for part in parts for text in part), q.id


def test_the_citation_names_this_version():
    cited = yaml.safe_load((out.lesson.ROOT / "CITATION.cff").read_text("utf-8"))
    assert (cited["cff-version"], cited["version"]) == ("1.2.0", ah.__version__)
    assert cited["authors"] == [{"name": "The accelerator course authors"}]
    assert {"message", "title", "license"} <= {*cited}
