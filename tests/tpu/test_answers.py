"""The compiler's answer as one value: what the card says."""

import html
from dataclasses import replace

import pytest

from accel_helpers.course.stored_steps import stored_step
from accel_helpers.tpu.answers import CompiledStep

MEMORY = int(15.75 * 2**30)
ASKED = CompiledStep("net", 2048, "v5e", MEMORY, "float32")
FITS = replace(
    ASKED, verdict="fits", flops=4_000_000_000, peak_memory=5_000_000_000,
    more=(("between chips", "all-reduce, 2 times"),),
)  # fmt: skip
TOO_LARGE = replace(
    ASKED, verdict="too large", needed=MEMORY + 5_000_000_000, largest_batch=512,
    tried="1024 too large, 512 fits",
)  # fmt: skip
# name -> (answer, what rows of the card say; None: there is no such row)
EACH = {
    "fits": (FITS, {
        "compiles": "yes",
        "fits": "yes: 5 GB at the peak, of 16.9 GB",
        "operations": "4 billion in matrix products and convolutions",
        "between chips": "all-reduce, 2 times",
        "largest batch": None,
    }),
    "of eight": (replace(FITS, chips=8, flops=None), {"operations": None}),
    "too large": (TOO_LARGE, {
        "compiles": "yes",
        "fits": "no: it needs 21.9 GB, and there are 16.9 GB: 5 GB too much",
        "largest batch": "512, of the powers of two (compiled: 1024 too large, 512 fits)",
    }),
    "too large to ask": (replace(TOO_LARGE, at_least=True, largest_batch=0), {
        "compiles": None,
        "fits": "no: it needs at least 21.9 GB, and there are 16.9 GB: 5 GB too much",
        "largest batch": "none fits",
    }),
    "broke off": (replace(ASKED, verdict="too large", why="it was killed"), {
        "fits": "no: more than the 16.9 GB that there are",
        "largest batch": "not known: it was killed",
    }),
    "refused": (replace(ASKED, verdict="refused", why="a TPU has no text"), {
        "compiles": "no: a TPU has no text", "fits": None,
    }),
    "unavailable": (replace(FITS, verdict="unavailable", why="it ended with SIGKILL"), {
        "unavailable here": "it ended with SIGKILL", "compiles": None, "operations": None,
    }),
}  # fmt: skip


@pytest.mark.parametrize("name", EACH)
def test_card_and_page_say_what_is_known_and_no_name_brings_html_into_the_page(name):
    answer, expected = EACH[name]
    rows = dict(answer.rows())
    assert {label: rows.get(label) for label in expected} == expected
    chips = "8 TPU v5e chips" if name == "of eight" else "one TPU v5e"
    assert answer.headline.endswith(f"in float32, written by JAX, for {chips} (no TPU was used)")
    assert str(answer).startswith(answer.headline)
    evil = "<script>alert('&')</script>"
    answer = replace(answer, name=evil, why=evil)
    page = answer._repr_html_()
    assert "<script" not in page
    assert answer.headline in html.unescape(page)
    assert all(text in html.unescape(page) for row in answer.rows() for text in row)


def test_the_stored_answers_for_resnet50_are_there_in_both_formats():
    for policy, largest in {"mixed_bfloat16": 512, "float32": 256}.items():
        name = "resnet50" if policy != "float32" else "resnet50-float32"
        small, large = stored_step(name), stored_step(f"{name}-large")
        assert small.policy == large.policy == policy
        assert (small.verdict, large.verdict, large.largest_batch) == ("fits", "too large", largest)
