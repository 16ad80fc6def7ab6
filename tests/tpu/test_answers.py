"""The compiler's answer as one value: what the card says."""

import html
from dataclasses import replace

import pytest

from accel_helpers.course.stored_steps import stored_step
from accel_helpers.tpu.answers import CompiledStep
from accel_helpers.tpu.compiler import compile_training_step
from accel_helpers.tpu.environment import Environment
from accel_helpers.tpu.report import Allocation, Collective

ASKED = CompiledStep(
    name="net", backend="jax", batch_size=2048, chip="v5e", memory=int(15.75 * 2**30)
)
LARGEST = Allocation(65_536, "f32[1024,10]", "output")
FITS = replace(
    ASKED, verdict="fits", flops=4_000_000_000, compiler_flops=4.2e9, bytes_accessed=2e8,
    peak_memory=5_000_000_000, logical_bytes=1_000_000, padded_bytes=1_600_000,
    largest=(LARGEST,), versions="jax 0, libtpu 0",
)  # fmt: skip
TOO_LARGE = replace(
    ASKED, verdict="too large", needed=int(15.75 * 2**30) + 5_000_000_000, largest=(LARGEST,),
    largest_batch=512, tried=((512, True), (1024, False)),
)  # fmt: skip
GIVEN = replace(ASKED, verdict="too large", needed=602_000_000_000, at_least=True)
# also where something was found out before it failed
UNAVAILABLE = replace(FITS, verdict="unavailable", why="it ended with SIGKILL")
OF_EIGHT = replace(
    FITS, chips=8, thorough=True, cycles=(("hidden", 3000), ("other", 1000)),
    collectives=(Collective("all-reduce", 5, 2284), Collective("all-gather", 1, 64)),
)  # fmt: skip
BROKE_OFF = replace(TOO_LARGE, largest_batch=None, tried=(), why="it was killed")
# name -> (answer, what rows of the card say; None: there is no such row)
EACH = {
    "fits": (FITS, {
        "compiles": "yes",
        "fits": "yes: 5 GB at the peak, of 16.9 GB",
        "operations": "4 billion in matrix products and convolutions",
        "bytes": "200 MB read and written, as the compiler counts",
        "intensity": "20 operations for each byte",
        "padding": "1 MB given to the step take 1.6 MB on the chip",
        "largest array": "65.5 kB: output, f32[1024,10] (41 kB without padding)",
        "estimate": None,
    }),
    "too large": (TOO_LARGE, {
        "fits": "no: it needs 21.9 GB, and there are 16.9 GB: 5 GB too much",
        "largest batch": "512, of the powers of two (compiled: 512 fits, 1024 does not)",
    }),
    "none fits": (replace(TOO_LARGE, largest_batch=0, tried=()), {
        "largest batch": "none fits",
    }),
    "broke off": (BROKE_OFF, {"largest batch": "not known: it was killed"}),
    "too large to ask": (GIVEN, {
        "compiles": "not known: it was not asked, the batch is too large",
        "fits": "no: it needs at least 602 GB, and there are 16.9 GB: 585 GB too much",
        "largest batch": None,
    }),
    "no figures": (replace(ASKED, verdict="too large"), {
        "fits": "no: more than the 16.9 GB that there are",
    }),
    "refused": (replace(ASKED, verdict="refused", operation="AsString", layer="words"), {
        "compiles": "no: a TPU cannot run the operation 'AsString' in layer 'words'", "fits": None,
    }),
    "unavailable": (UNAVAILABLE, {
        "unavailable here": "it ended with SIGKILL. This says nothing about the model.",
        "compiles": None, "fits": None, "operations": None,
    }),
    "loop": (replace(FITS, loops=True, flops=None), {
        "operations": "4.2 billion (the body of a loop counted once), as the compiler counts",
        "bytes": "200 MB read and written (the body of a loop counted once), "
        "as the compiler counts",
    }),
    # its bytes are not those of a whole step
    "counted loop": (replace(FITS, loops=True), {"intensity": None}),
    "of eight": (OF_EIGHT, {
        "bytes": "200 MB read and written by each chip, as the compiler counts",
        "between chips": "all-gather of 1 array, 64 B on each chip",
        "intensity": "2.5 operations for each byte",
        "estimate": "4,000 clock cycles, 75 % of them in hidden",
    }),
}  # fmt: skip


@pytest.mark.parametrize("name", EACH)
def test_card_and_page_say_what_is_known_and_no_name_brings_html_into_the_page(name):
    answer, expected = EACH[name]
    rows = dict(answer.rows())
    assert {ask: rows.get(ask) for ask in expected} == expected
    assert "for one TPU v5e" in answer.headline or "for 8 TPU v5e chips" in answer.headline
    assert "no TPU was used" in answer.headline
    assert "None" not in str(answer)
    lines = str(answer).splitlines()
    assert lines[0] == answer.headline
    assert len(lines) > len(rows)
    evil = "<script>alert('&')</script>"
    answer = replace(answer, name=evil, layer=evil, why=evil)
    page = answer._repr_html_()
    assert "<script" not in page
    assert answer.headline in html.unescape(page)
    assert all(text in html.unescape(page) for row in answer.rows() for text in row)


@pytest.mark.parametrize("policy", ["float32", "mixed_bfloat16"])
def test_an_answer_names_the_format_of_the_models_numbers(keras, tmp_path, policy):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, dtype=policy)])
    model.compile("sgd", "mse")
    away = Environment(tmp_path, "not installed")
    answer = compile_training_step(model, 8, environment=away)
    assert f", in {policy}, " in answer.headline


def test_the_stored_answers_for_resnet50_are_there_in_both_formats():
    for policy, largest in {"mixed_bfloat16": 512, "float32": 256}.items():
        name = "resnet50" if policy != "float32" else "resnet50-float32"
        small, large = stored_step(name), stored_step(f"{name}-large")
        assert small.policy == large.policy == policy
        assert f", in {policy}, " in str(small)
        assert (small.verdict, large.verdict, large.largest_batch) == ("fits", "too large", largest)
