"""The compiler's answer as one value: what the card says."""

import tomllib
from dataclasses import replace
from pathlib import Path

from accel_helpers.tpu.answers import CompiledStep
from accel_helpers.tpu.compiler import MEMORY

ASKED = CompiledStep("net", 2048, "v5e", MEMORY["v5e"], "float32")
CARDS = tomllib.loads(Path(__file__).with_name("cards.toml").read_text("utf-8"))["card"]


def test_the_card_says_what_is_known_and_no_more():
    for card in CARDS:
        answer = replace(ASKED, **card["answer"])
        assert dict(answer.rows()) == card["rows"]
        assert str(answer).startswith(answer.headline)
        hostile = replace(answer, name="<script>", why="<script>")
        assert "<script" not in hostile._repr_html_()
    assert ASKED.headline.endswith("in float32, written by JAX, for one TPU v5e (no TPU was used)")
    assert "for 8 TPU v5e chips" in replace(ASKED, chips=8).headline
