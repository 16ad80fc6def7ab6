"""Measure the claims about speed on this machine: ``python benchmarks/run.py`` (`make benchmarks`).

Not a test: it takes minutes, wants a machine with nothing else to do, and asserts nothing. What it
finds goes to ``benchmarks/results.json``; ``docs/benchmarks.md`` is made from there.
"""

import json
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BACKENDS = ("tensorflow", "jax")


def main():
    """Measure all, store it, and write the page."""
    from accel_helpers.machine.runtime import describe
    from benchmarks import claims, in_process, page

    start = time.monotonic()
    machine = describe()
    result = {
        "machine": machine.name,
        "versions": machine.to_dict()["frameworks"],
        "measured_on": f"{datetime.now(UTC):%Y-%m-%d}",
        "drifting": [claims.on_a_drifting_machine(drift) for drift in claims.DRIFTS],
        "backends": {name: in_process(name, "claims", "of_backend()") for name in BACKENDS},
    }
    result["minutes"] = round((time.monotonic() - start) / 60, 1)
    page.RESULTS.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    page.PAGE.write_text(page.page(), encoding="utf-8")


if __name__ == "__main__":
    sys.path[0] = str(ROOT)  # instead of this folder
    main()
