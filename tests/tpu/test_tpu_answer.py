"""The compiler's answer as one value: what the card says, and that it can be stored."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from accel_helpers.tpu.answers import CompiledStep
from accel_helpers.tpu.report import Allocation, Collective

ASKED = CompiledStep(
    name="net", backend="jax", batch_size=2048, chip="v5e", memory=int(15.75 * 2**30)
)
LARGEST = Allocation(65_536, 40_960, "f32[1024,10]", "output")
FITS = replace(
    ASKED, compiles=True, fits=True, flops=4_000_000_000, compiler_flops=4.2e9,
    bytes_accessed=2e8, peak_memory=5_000_000_000, logical_bytes=1_000_000,
    padded_bytes=1_600_000, largest=(LARGEST,), seconds=3.5, versions="jax 0, libtpu 0",
)  # fmt: skip
TOO_LARGE = replace(
    ASKED, compiles=True, fits=False, needed=int(15.75 * 2**30) + 5_000_000_000,
    largest=(LARGEST,), largest_batch=512, tried=((512, True), (1024, False)),
)  # fmt: skip
REFUSED = replace(ASKED, compiles=False, operation="AsString", layer="words")
UNAVAILABLE = replace(ASKED, available=False, why="the compiler is not installed")
OF_EIGHT = replace(
    FITS,
    chips=8,
    collectives=(Collective("all-reduce", 5, 2284), Collective("all-gather", 1, 64)),
    cycles=(("hidden", 3000), ("other", 1000)),
    thorough=True,
)
EACH = {"fits": FITS, "too large": TOO_LARGE, "refused": REFUSED, "unavailable": UNAVAILABLE}


def said(answer):
    return dict(answer.rows())


@pytest.mark.parametrize("verdict", EACH)
def test_there_are_four_verdicts(verdict):
    assert EACH[verdict].verdict == verdict


def test_a_step_that_fits():
    assert FITS.headline == (
        "net, batch of 2,048, written by JAX, for one TPU v5e (no TPU was used)"
    )
    assert FITS.rows() == [
        ("compiles", "yes"),
        ("fits", "yes: 5 GB at the peak, of 16.9 GB"),
        ("operations", "4 billion in matrix products and convolutions"),
        ("bytes", "200 MB read and written, as the compiler counts"),
        ("intensity", "20 operations for each byte"),
        ("padding", "1 MB given to the step take 1.6 MB on the chip"),
        ("largest array", "65.5 kB: output, f32[1024,10] (41 kB without padding)"),
    ]
    assert (FITS.intensity, FITS.padding, FITS.overflow) == (20, 1.6, 0)


def test_a_step_that_does_not_fit_says_by_how_much_and_which_batch_does():
    rows = said(TOO_LARGE)
    assert rows["fits"] == "no: it needs 21.9 GB, and there are 16.9 GB: 5 GB too much"
    assert rows["largest batch"] == "512, of the powers of two (compiled: 512 fits, 1024 does not)"
    assert TOO_LARGE.overflow == 5_000_000_000
    assert said(replace(TOO_LARGE, largest_batch=0, tried=()))["largest batch"] == "none fits"
    assert "largest batch" not in said(replace(TOO_LARGE, largest_batch=None))


def test_a_step_that_was_too_large_to_ask_does_not_say_that_it_compiles():
    given = replace(ASKED, fits=False, needed=602_000_000_000, at_least=True)
    assert given.verdict == "too large"
    rows = said(given)
    assert rows["compiles"] == "not known: it was not asked, the batch is too large"
    assert rows["fits"].startswith("no: it needs at least 602 GB, and there are 16.9 GB")


def test_a_refusal_without_figures_makes_none_up():
    rows = said(replace(ASKED, compiles=True, fits=False))
    assert rows["fits"] == "no: more than the 16.9 GB that there are"
    assert not re.search(r"\b0 B|None", str(replace(ASKED, compiles=True, fits=False)))


def test_a_refused_operation_is_named_with_its_layer():
    assert REFUSED.rows() == [
        ("compiles", "no: a TPU cannot run the operation 'AsString' in layer 'words'")
    ]
    assert REFUSED.fits is None
    somewhere = replace(REFUSED, layer="")
    assert said(somewhere)["compiles"] == "no: a TPU cannot run the operation 'AsString'"


def test_no_answer_is_no_judgement_of_the_model():
    # also where something was found out before it failed
    half = replace(FITS, available=False, why="the compiler's process ended with SIGKILL")
    for answer in (UNAVAILABLE, half):
        assert answer.rows() == [
            ("unavailable here", f"{answer.why}. This says nothing about the model.")
        ]
        text = str(answer)
        for word in ("compiles", "fits", "cannot run", "operations", "GB"):
            assert word not in text


def test_the_body_of_a_loop_is_counted_once_by_the_compiler_and_the_card_says_so():
    rows = said(replace(FITS, loops=True))
    assert (
        rows["bytes"]
        == "200 MB read and written (the body of a loop counted once), as the compiler counts"
    )
    assert "intensity" not in rows, "its bytes are not those of a whole step"
    assert rows["operations"] == "4 billion in matrix products and convolutions", (
        "the course's own count is"
    )
    uncounted = replace(FITS, flops=None, why="a loop whose number of turns is not written")
    assert said(uncounted)["operations"] == "not known: a loop whose number of turns is not written"


def test_several_chips():
    assert "for 8 TPU v5e chips" in OF_EIGHT.headline
    assert OF_EIGHT.intensity == FITS.intensity / 8
    assert said(OF_EIGHT)["bytes"] == "200 MB read and written by each chip, as the compiler counts"
    between = [answer for ask, answer in OF_EIGHT.rows() if ask == "between chips"]
    assert between == [
        "all-reduce of 5 arrays together, 2.28 kB on each chip",
        "all-gather of 1 array, 64 B on each chip",
    ]


def test_cycles_are_called_an_estimate():
    assert said(OF_EIGHT)["estimate"] == "4,000 clock cycles, 75 % of them in hidden"
    assert "estimate" not in said(FITS)


def test_the_text_has_a_line_for_each_row_set_in_columns():
    lines = str(FITS).splitlines()
    assert lines[0] == FITS.headline and len(lines) == 1 + len(FITS.rows())
    starts = {line.index(answer) for line, (_, answer) in zip(lines[1:], FITS.rows(), strict=True)}
    assert len(starts) == 1, "all answers begin at one column"


class Cells(HTMLParser):
    """The text of every cell, and every tag."""

    def __init__(self, page):
        super().__init__()
        self.cells, self.tags = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag in ("th", "td", "caption"):
            self.cells.append("")

    def handle_data(self, data):
        self.cells[-1] += data


@pytest.mark.parametrize("verdict", EACH)
def test_the_page_says_what_the_text_says(verdict):
    answer = EACH[verdict]
    expected = [answer.headline, *(part for row in answer.rows() for part in row)]
    assert Cells(answer._repr_html_()).cells == expected


def test_a_name_cannot_bring_html_into_the_page():
    evil = "<script>alert('&')</script>"
    answer = replace(REFUSED, name=evil, layer=evil, operation=evil)
    page = Cells(answer._repr_html_())
    assert "script" not in page.tags and evil in page.cells[0]
    assert "<script" not in answer._repr_html_()
    named = replace(FITS, largest=(replace(LARGEST, operation=evil),))
    assert "script" not in Cells(named._repr_html_()).tags
    assert "script" not in Cells(replace(UNAVAILABLE, why=evil)._repr_html_()).tags


def test_the_page_names_no_colour_that_one_theme_would_hide():
    for color in re.findall(r"#\w+|rgb\w*\([^)]*\)|(?<!-)color:[^;]+", FITS._repr_html_()):
        assert color == "#8888"


@pytest.mark.parametrize("answer", [*EACH.values(), OF_EIGHT], ids=[*EACH, "of eight"])
def test_it_survives_json(answer):
    back = CompiledStep.from_dict(json.loads(json.dumps(answer.to_dict(), allow_nan=False)))
    assert back == answer and hash(back) == hash(answer)


def test_what_is_no_answer_is_not_read():
    stored = FITS.to_dict()
    with pytest.raises(ValueError, match="has no speed, watts"):
        CompiledStep.from_dict({**stored, "watts": 1, "speed": 2})
    missing = {name: value for name, value in stored.items() if name != "chip"}
    with pytest.raises(ValueError, match="no compiled step: .*'chip'"):
        CompiledStep.from_dict(missing)
    bad = {**stored, "largest": [{"bytes": 1, "weight": 2}]}
    with pytest.raises(ValueError, match="no compiled step: .*'weight'"):
        CompiledStep.from_dict(bad)


def test_a_search_that_broke_off_says_why_on_the_card():
    why = "a batch of 512 could not be asked: the compiler's process ended with SIGKILL"
    rows = said(replace(TOO_LARGE, largest_batch=None, tried=(), why=why))
    assert rows["largest batch"] == f"not known: {why}"
