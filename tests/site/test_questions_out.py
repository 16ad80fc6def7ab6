"""The question bank to take along, read as Moodle and Anki read it."""

import csv
import html
import json
import re
import subprocess

import pytest
import questions_out as out
import yaml

import accel_helpers as ah
from accel_helpers.course import questions

BANK = questions.bank()
PARSE = """const text = require("fs").readFileSync("questions.gift", "utf8");
console.log(JSON.stringify(require("gift-pegjs").parse(text)));"""


def plain(text):
    """Give a text without HTML's tags and without backticks."""
    return html.unescape(re.sub(r"</?[a-z].*?>|`", "", text))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("take")
    out.write(folder)
    return folder


@pytest.mark.night
def test_moodle_gets_every_question_option_and_feedback(folder, required):
    npm = ["npm", "install", "--no-audit", "--no-fund", "gift-pegjs@1"]
    try:
        subprocess.run(npm, cwd=folder, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        required("npm cannot install gift-pegjs, which reads the GIFT file here")
    parsed = json.loads(subprocess.check_output(["node", "-e", PARSE], cwd=folder))
    read = {each["id"]: each for each in parsed if each["type"] != "Category"}
    assert [*read] == [*BANK]
    for name, question in BANK.items():
        got = read[name]
        after = plain(got["globalFeedback"]["text"])
        assert plain(got["stem"]["text"]).startswith(plain(question.stem))
        for text in question.two_answers.values():
            assert plain(text) in after, name
        places = {}
        for pair in got.get("matchPairs", ()):
            places[plain(pair["subquestion"]["text"])] = pair["subanswer"]
        for letter, option in question.options.items():
            step = question.right.find(letter) + 1
            if question.kind == "order":
                place = f"step {step}" if step else "does not belong"
                assert places[plain(option.text)] == place, name
                continue
            said = plain(option.feedback)
            (choice,) = (c for c in got["choices"] if plain(c["feedback"]["text"]).endswith(said))
            worth = choice["weight"]
            if worth is None:
                worth = choice["isCorrect"]
            assert (worth > 0) == bool(step), (name, letter)
            text = choice["text"]
            shown = text.get("number", plain(text.get("text", "")))
            assert shown in (option.value, plain(option.text)), (name, letter)


def test_anki_gets_every_card_and_knows_it_again(folder):
    with (folder / "questions.txt").open(encoding="utf-8", newline="") as file:
        lines = [line for line in file if not line.startswith("#")]
    cards = {name: rest for name, *rest in csv.reader(lines, "excel-tab")}
    assert [*cards] == [*BANK]
    for name, (front, back, tags) in cards.items():
        question = BANK[name]
        assert plain(front).startswith(plain(question.stem))
        assert f"lesson-{question.lesson}" in tags
        for option in question.options.values():
            assert plain(option.text) in plain(front if question.has_choices else back), name
            assert plain(option.feedback) in plain(back), name


def test_the_citation_names_this_version():
    cited = yaml.safe_load((out.lesson.ROOT / "CITATION.cff").read_text("utf-8"))
    assert cited["version"] == ah.__version__
