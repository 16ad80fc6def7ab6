"""The page of claims: nineteen, each with a verdict, its sources and the lesson that decides it."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "claims.md").read_text("utf-8")
# Number, verdict with reasons, and what our run said.
CLAIMS = re.findall(r"^## (\d+)\. .+\n\n(.+)\n\n(.+)\n", PAGE, re.M)
CHECKED = re.compile(r"\(Checked \d{4}-\d\d-\d\d; sources: \[1\]\(https://")


def test_each_claim_has_a_verdict_a_source_and_a_lesson():
    assert [int(number) for number, *_ in CLAIMS] == [*range(1, 20)]
    for number, verdict, ours in CLAIMS:
        assert verdict.startswith("**"), number
        assert CHECKED.search(verdict), number
        (page,) = re.findall(r"\]\((\.\./notebooks/[^)]+)\)", ours)
        assert (DOCS / page).is_file(), number
