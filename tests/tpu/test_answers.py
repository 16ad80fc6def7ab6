"""The compiler's answer as one value: what the card says."""

from dataclasses import replace

from accel_helpers.course.stored_steps import stored_step
from accel_helpers.tpu import compiler
from accel_helpers.tpu.answers import CompiledStep

MEMORY = compiler.MEMORY["v5e"]
ASKED = CompiledStep("net", 2048, "v5e", MEMORY, "float32")
FITS = replace(ASKED, verdict="fits", flops=4_000_000_000, peak_memory=5_000_000_000)
TOO_LARGE = replace(ASKED, verdict="too large", needed=MEMORY + 5_000_000_000)


def test_the_card_says_what_is_known_and_no_more():
    cards = {
        replace(FITS, more=(("between chips", "all-reduce, 2 times"),)): {
            "compiles": "yes",
            "fits": "yes: 5 GB at the peak, of 16.9 GB",
            "operations": "4 billion in matrix products and convolutions",
            "between chips": "all-reduce, 2 times",
        },
        replace(TOO_LARGE, largest_batch=512, tried="1024 too large, 512 fits"): {
            "compiles": "yes",
            "fits": "no: it needs 21.9 GB, and there are 16.9 GB: 5 GB too much",
            "largest batch": "512, of the powers of two (compiled: 1024 too large, 512 fits)",
        },
        replace(TOO_LARGE, at_least=True, largest_batch=0): {
            "fits": "no: it needs at least 21.9 GB, and there are 16.9 GB: 5 GB too much",
            "largest batch": "none fits",
        },
        replace(TOO_LARGE, needed=None, why="it was killed"): {
            "compiles": "yes",
            "fits": "no: more than the 16.9 GB that there are",
            "largest batch": "not known: it was killed",
        },
        replace(FITS, verdict="unavailable", why="it ended with SIGKILL"): {
            "unavailable here": "it ended with SIGKILL",
        },
    }
    for answer, rows in cards.items():
        assert dict(answer.rows()) == rows
        assert str(answer).startswith(answer.headline)
        assert "<script" not in replace(answer, name="<script>", why="<script>")._repr_html_()
    assert ASKED.headline.endswith("in float32, written by JAX, for one TPU v5e (no TPU was used)")
    assert "for 8 TPU v5e chips" in replace(ASKED, chips=8).headline


def test_the_stored_answers_for_resnet50_are_there_in_both_formats():
    for name, largest in (("resnet50", 512), ("resnet50-float32", 256)):
        small, large = stored_step(name), stored_step(f"{name}-large")
        assert small.policy == large.policy
        assert (small.verdict, large.verdict, large.largest_batch) == ("fits", "too large", largest)
