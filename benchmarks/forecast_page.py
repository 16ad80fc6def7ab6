"""docs/forecast.md, and the score that a forecast prints of a class of its own.

python -m benchmarks.forecast_page          from benchmarks/measured.csv
"""

from collections import Counter, defaultdict
from pathlib import Path

from accel_helpers.worth import step_time
from benchmarks import forecast as judging
from benchmarks.page import written

DOCS = Path(__file__).parents[1] / "docs"
COMPARED = ["all rows", "all but engines", "training"]


def printed_score():
    """What a forecast says of a class of its own; accel_helpers/data/forecast_score.toml."""
    rows, _ = judging.judged()
    jax = judging.on_jax(rows)
    return written(
        "forecast_score.toml",
        small=judging.small_keras(rows),
        light=judging.light(rows),
        below=judging.LIGHT,
        jax=jax,
        jax_light=judging.light(jax),
    )


def parts_of(rows):
    """The rows of each line of the score, by its name."""
    fitted = step_time.fitted().chips
    parts = {name: [] for name in judging.KINDS}
    for row in rows:
        parts[judging.how(row)].append(row)
    parts["all rows"] = rows
    parts["all but engines"] = [row for row in rows if judging.how(row) != judging.KINDS[2]]
    parts["Keras's own small examples"] = judging.small_keras(rows)
    parts["chips of which no row was fitted"] = [r for r in rows if r.chip.name not in fitted]
    for chip in ("T4", "L4", "H100"):
        own = [row for row in parts["training"] if chip in row.chip.name]
        parts[f"{chip}, training"] = own
    parts[f"training, under {judging.LIGHT} GMAC an example"] = judging.light(rows)
    parts["JAX, or Keras on JAX"] = judging.on_jax(rows)
    return parts


def page():
    """The text of docs/forecast.md."""
    rows, reasons = judging.judged()
    parts = parts_of(rows)
    by_source = defaultdict(list)
    for row in rows:
        by_source[row.source].append(row)
    return written(
        "forecast.md",
        fit=step_time.fitted(),
        parts=parts,
        score=judging.score,
        compared=COMPARED,
        pairs=[judging.pairs(parts[name]) for name in COMPARED],
        sources=sorted(by_source.items()),
        left=Counter(reasons).most_common(),
    )


if __name__ == "__main__":
    step_time.SCORE.write_text(printed_score(), encoding="utf-8")
    (DOCS / "forecast.md").write_text(page(), encoding="utf-8")
