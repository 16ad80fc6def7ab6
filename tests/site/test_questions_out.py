"""The question bank to take along, read by programs that are not ours."""

import html
import json
import re
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


def is_right(choice):
    return choice["isCorrect"] if choice["weight"] is None else choice["weight"] > 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("take")
    out.write(folder)
    return folder


def test_moodle_gets_every_question_option_and_feedback(folder, required):
    npm = ["npm", "install", "--no-audit", "--no-fund", "gift-pegjs@1"]
    try:
        subprocess.run(npm, cwd=folder, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        required("npm cannot install gift-pegjs, which reads the GIFT file here")
    parsed = json.loads(subprocess.check_output(["node", "-e", PARSE], cwd=folder))
    read = {each["id"]: each for each in parsed if each["type"] != "Category"}
    assert [*read] == [*BANK]
    for name, q in BANK.items():
        got = read[name]
        after = plain(got["globalFeedback"]["text"])
        assert got["type"] == KINDS[q.kind]
        assert plain(got["stem"]["text"]).startswith(plain(q.stem))
        assert all(plain(text) in after for text in q.two_answers.values()), name
        if q.kind == "order":  # GIFT has no feedback for these but the general one
            pairs = {plain(p["subquestion"]["text"]): p["subanswer"] for p in got["matchPairs"]}
            for letter, option in q.options.items():
                step = q.right.find(letter) + 1
                place = f"step {step}" if step else "does not belong"
                assert pairs[plain(option.text)] == place, name
                assert plain(option.feedback) in after, name
            continue
        shown = [each["text"] for each in got["choices"]]
        keys = [text.get("number", plain(text.get("text", ""))) for text in shown]
        choices = dict(zip(keys, got["choices"], strict=True))
        for letter, option in q.options.items():
            choice = choices[option.value if q.kind == "number" else plain(option.text)]
            assert is_right(choice) == (letter in q.right), (name, letter)
            assert plain(choice["feedback"]["text"]).endswith(plain(option.feedback)), name


def test_anki_gets_every_card_and_knows_it_again(folder):
    zipfile.ZipFile(folder / "questions.apkg").extract("collection.anki2", folder)
    base = sqlite3.connect(folder / "collection.anki2")
    rows = base.execute("select guid, flds, tags from notes").fetchall()
    assert [guid for guid, *_ in rows] == [genanki.guid_for(name) for name in BANK]
    for q, (_, fields, tags) in zip(BANK.values(), rows, strict=True):
        asked, _, choices, answer, name = plain(fields).split("\x1f")
        assert (asked, name) == (plain(q.stem), q.id)
        assert f"lesson-{q.lesson}" in tags
        for option in q.options.values():
            assert (plain(option.text) in choices) == q.has_choices, name
            assert plain(option.feedback) in answer, name


def test_the_citation_names_this_version():
    cited = yaml.safe_load((out.lesson.ROOT / "CITATION.cff").read_text("utf-8"))
    assert cited["version"] == ah.__version__
