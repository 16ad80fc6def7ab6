"""The summary holds both answers, told apart, is safe to open, and is whole or not there."""

import datetime
import errno
import html.parser
import os
import re

import pytest

from accel_helpers._records import DataError
from accel_helpers.learn import exam_answers, ledger, summary
from accel_helpers.learn.exam_answers import LABELS, Answer
from accel_helpers.measure import results
from accel_helpers.measure.timing import Measurement

NOW = datetime.datetime(2026, 11, 22, 9, 5)
EVIL = '<script>alert(1)</script><img src=x onerror="x"> & \' \ud800\x00\u202e'


@pytest.fixture(autouse=True)
def no_card_of_this_machine(monkeypatch, tmp_path):
    monkeypatch.setenv("ACCEL_RESULT_CARD", str(tmp_path / "none" / "card.json"))


@pytest.fixture(scope="module")
def reference():
    return results.reference_runs()[-1]


def written(tmp_path, **options):
    return summary.write(tmp_path / "s.html", now=NOW, **options).read_text("utf-8")


class Page(html.parser.HTMLParser):
    """The tags of a page in their order, and whether each is closed again."""

    EMPTY = ("meta", "link", "wbr", "br")

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.headings, self.links = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in self.EMPTY:
            self.open.append(tag)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "a":
            self.links.append(dict(attributes)["href"])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_every_exam_question_is_there_with_both_answers_told_apart(tmp_path, reference):
    text = written(tmp_path, card=reference)
    page = Page(text)
    for answer in summary.answers():
        part = text[text.index(f'<span class="number">{answer.number}</span>') :]
        part = part[: part.index("</article>")]
        exam, today = part.index("To answer in the exam"), part.index("True today")
        for first in (answer.material[0], answer.label):
            assert exam < part.index(ledger.marked(first)) < today
        assert today < part.index(ledger.marked(answer.today[0]))
        for address in (*answer.material_source, *answer.today_source):
            assert not address.startswith("https://") or address in page.links
    assert [answer.number for answer in summary.answers()] == [f"E{n}" for n in range(1, 15)]


def test_the_page_is_in_order_and_asks_the_network_for_nothing(tmp_path, reference):
    text = written(tmp_path, card=reference, missed=["One."], answered="Two.")
    page = Page(text)
    assert page.open == [] and page.headings[0] == 1 and page.headings.count(1) == 1
    for above, below in zip(page.headings, page.headings[1:], strict=False):
        assert below <= above + 1
    tags = [tag for tag, _ in page.tags]
    assert not {"script", "img", "iframe", "object", "form"} & set(tags)
    assert "@import" not in text and "url(" not in text
    assert dict(page.tags)["html"] == {"lang": "en"}
    assert all(link.startswith("https://") for link in page.links)
    assert not any(name.startswith("on") for _, given in page.tags for name in given)
    assert "@media print" in text and "prefers-color-scheme: dark" in text
    assert 'name="viewport"' in text and "default-src 'none'" in text


def test_what_was_measured_stands_beside_its_question_with_its_interval(tmp_path, reference):
    text = written(tmp_path, card=reference)
    part = text[text.index('<span class="number">E5</span>') :]
    part = part[: part.index("</article>")]
    measured = str(reference.measurements["06/product/129"]).splitlines()[0]
    assert "interval" in measured and f"<code>06/product/129</code>: {measured}" in part
    entry = ledger.fill(reference)[7]
    assert entry.measured.endswith(").") and entry.measured in part
    assert f"<strong>{entry.verdict.capitalize()}</strong>" in part
    assert "not measured yet" not in part
    without = written(tmp_path)
    part = without[without.index('<span class="number">E5</span>') :]
    assert "On your machine: not measured yet: lesson 06." in part[: part.index("</article>")]


def test_long_lists_of_numbers_are_shortened(tmp_path, reference):
    question = Answer(
        "E1", "?", "04", ("a",), LABELS[0], ("https://x",), ("b",), ("https://y",), True
    )
    question = Answer(**{**vars(question), "card": ("04/shakespeare/loss", "04/no such name")})
    text = written(tmp_path, card=reference, questions=[question])
    loss = reference.numbers["04/shakespeare/loss"]
    assert f"</code>: {loss[0]:.4g}, {loss[1]:.4g}, " in text
    assert f"{loss[7]:.4g} and so on, {loss[-1]:.4g} at the end" in text
    assert "no such name" not in text


def test_all_claims_stand_there_as_the_ledger_fills_them(tmp_path, reference):
    text = written(tmp_path, card=reference)
    assert text.count('<article class="claim">') == 19
    for entry in ledger.fill(reference):
        assert ledger.marked(entry.sentence) in text and ledger.marked(entry.measured) in text


def test_where_you_stand(tmp_path):
    text = written(tmp_path, missed=["Why is `fit` slow?", "What is a pod?"], answered="3 of 5.")
    assert "<p>3 of 5.</p>" in text and "<li>Why is <code>fit</code> slow?</li>" in text
    assert "No answers of yours are kept here." in written(tmp_path)
    assert "Still to be learned" not in written(tmp_path, answered="5 of 5.")
    with pytest.raises(TypeError, match="missed needs a list of sentences; got 'one'"):
        written(tmp_path, missed="one")


def test_date_and_machine(tmp_path, reference):
    text = written(tmp_path, card=reference)
    assert "22 November 2026, 09:05" in text and reference.machine["cpu_name"] in text
    assert "nothing measured yet" in written(tmp_path)


def test_the_current_card_is_used_and_a_damaged_one_is_named(tmp_path, reference, monkeypatch):
    current = tmp_path / "result_card.json"
    monkeypatch.setenv("ACCEL_RESULT_CARD", str(current))
    results.save(reference, current)
    assert reference.machine["cpu_name"] in written(tmp_path)
    current.write_text('{"schema": 1, "cr')
    text = written(tmp_path)
    assert "Your result card was not used: result_card.json: not valid JSON" in text
    assert "nothing measured yet" in text


def hostile_card(**machine):
    """A card with texts that want to be HTML."""
    sample = Measurement.from_samples([1.0, 1.1, 0.9, 1.0, 1.1, 1.0], name=EVIL)
    machine = {"cpu_name": EVIL, "accelerator": {"name": EVIL}, "cores": 2, **machine}
    measured = dict.fromkeys(("06/product/128", "06/product/129", EVIL), sample)
    return results.Card("2026-11-22", EVIL, machine, measured, {EVIL: (1.0,)})


def test_everything_from_files_is_escaped(tmp_path):
    texts = dict.fromkeys(("number", "asks", "lesson", "label", "says", "where"), EVIL)
    lists = dict.fromkeys(("material", "today"), (EVIL, EVIL))
    sources = (f'https://x/" onclick="{EVIL}', "javascript:alert(1)")
    question = Answer(
        **texts, **lists, material_source=sources, today_source=sources, differs=True,
        card=(EVIL, "06/product/128"),
    )  # fmt: skip
    card = hostile_card()
    text = written(tmp_path, card=card, questions=[question], missed=[EVIL], answered=EVIL)
    page = Page(text)
    allowed = {"html", "head", "meta", "title", "link", "style", "body", "main", "time", "wbr"}
    allowed |= {"h1", "h2", "h3", "h4", "p", "dl", "dt", "dd", "em", "ul", "li", "div", "span"}
    assert {tag for tag, _ in page.tags} - allowed <= {"article", "section", "strong", "code", "a"}
    assert not any(name.startswith("on") for _, given in page.tags for name in given)
    assert not any(link.startswith("javascript:") for link in page.links)
    assert text.count("&lt;script&gt;") > 10 and "\u202e" not in text and "\x00" not in text


@pytest.mark.parametrize(
    "machine",
    [
        {"accelerator": [1], "cpu_name": 5, "cores": "many"},
        {"accelerator": "T4", "cpu_name": None, "cores": -3},
        {"accelerator": {"name": {}}, "cpu_name": "x" * 10_000, "cores": 10**400},
        {"cores": True},
    ],
)
def test_a_machine_that_says_nonsense_is_written_down_all_the_same(tmp_path, machine):
    text = written(tmp_path, card=hostile_card(**machine))
    assert "<dt>Machine</dt>" in text and "x" * 301 not in text


@pytest.mark.parametrize("samples", [[5e-324] * 6, [1e308] * 6, [5e-324, 1e308] * 4])
def test_times_that_no_machine_takes(tmp_path, samples):
    names = {name for answer in summary.answers() for name in answer.card}
    found = {name: Measurement.from_samples(samples) for name in names}
    card = results.Card("2026-11-22", "test", {}, found, {name: (1e308,) for name in names})
    text = written(tmp_path, card=card)
    assert "</html>" in text and " inf" not in text and "nan " not in text
    if samples[0] == 1e308:
        assert "cannot be read. Run its lesson again." in text


def test_a_folder_that_is_not_there_is_named(tmp_path):
    path = tmp_path / "nowhere" / "s.html"
    with pytest.raises(FileNotFoundError, match=r"nowhere.s\.html.*Name a file in a folder"):
        summary.write(path)
    assert not path.parent.exists()


def test_a_write_that_fails_leaves_the_old_file_and_no_other(tmp_path):
    there = tmp_path / "s.html"
    there.mkdir()  # no file can take the place of a folder, whoever runs this
    (there / "old").write_text("old")
    with pytest.raises(OSError, match=r"cannot be written to .*s\.html") as error:
        summary.write(there)
    assert error.value.errno in (errno.EISDIR, errno.ENOTEMPTY, errno.EEXIST, errno.EACCES)
    assert [path.name for path in tmp_path.iterdir()] == ["s.html"]
    assert (there / "old").read_text() == "old"


def test_the_file_is_replaced_and_anyone_may_read_it(tmp_path):
    path = tmp_path / "s.html"
    path.write_text("old")
    os.link(path, tmp_path / "kept")  # the old file itself is never written to
    assert summary.write(str(path), now=NOW) == path
    assert path.read_text("utf-8").startswith("<!DOCTYPE html>")
    assert path.stat().st_mode & 0o777 == 0o644
    assert (tmp_path / "kept").read_text() == "old"
    assert {each.name for each in tmp_path.iterdir()} == {"s.html", "kept"}


# --- The file of the answers


GOOD = """
[[answer]]
number = "E1"
asks = "Which steps?"
lesson = "01"
material = ["One.", "Two."]
label = "seen in the material"
material_source = ["https://example.org"]
today = "Other ones."
today_source = ["https://example.org"]
differs = true
card = ["01/product/cpu"]
measurement = { lesson = "01", page = "01_x.ipynb", heading = "Look", says = "It shows." }
"""


def test_answers_in_order_are_read():
    (answer,) = exam_answers.parse(GOOD)
    assert answer.material == ("One.", "Two.") and answer.today == ("Other ones.",)
    assert answer.where == "Lesson 01, “Look”" and answer.card == ("01/product/cpu",)
    assert answer.link == "01_x.ipynb#Look"


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("number =", "number = =", "not valid TOML"),
        ("[[answer]]", "[[reply]]", "must hold tables [[answer]]"),
        ('asks = "Which steps?"', "asks = 3", "answer E1: 'asks' must be a text"),
        ('label = "seen', 'label = "guessed', "answer E1: 'label' must be one of seen in the"),
        ('["One.", "Two."]', "[]", "answer E1: 'material' must be a list"),
        ('["One.", "Two."]', '["One.", 2]', "answer E1: 'material' must be a list"),
        ('today = "Other ones."\n', "", "answer E1: 'today' must be a list"),
        ("differs = true", "differs = 1", "answer E1: 'differs' must be true or false"),
        ('"Look", says', '"Look", sais', "answer E1, measurement: unknown field 'sais'"),
        (', says = "It shows."', "", "answer E1, measurement: 'says' must be a text"),
        ('{ lesson = "01", ', "{ ", "answer E1, measurement: 'lesson' must be a text"),
        (
            '{ lesson = "01", page = "01_x.ipynb", heading = "Look", says = "It shows." }',
            "5",
            "must be a table; got 5",
        ),
        ('page = "01_x.ipynb", ', "", "answer E1, measurement: 'page' must be a text"),
        ("differs", "note = 1\ndiffers", "answer E1: unknown field 'note'"),
        ('material_source = ["https://example.org"]', "material_source = []", "'material_source'"),
    ],
)
def test_answers_that_are_not_in_order_are_refused_by_place_and_field(old, new, named):
    assert old in GOOD
    with pytest.raises(DataError) as error:
        exam_answers.parse(GOOD.replace(old, new, 1))
    assert str(error.value).startswith("exam_answers.toml") and named in str(error.value)


def test_only_an_answer_that_was_not_found_has_no_source():
    none = GOOD.replace('material_source = ["https://example.org"]', "material_source = []")
    (answer,) = exam_answers.parse(none.replace(LABELS[0], LABELS[2]))
    assert answer.material_source == ()
