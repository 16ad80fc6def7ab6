"""Counts what the TPU compiler makes of single matrix products. A script for its environment.

    python count_products.py FOLDER    reads FOLDER/products.json, writes FOLDER/counted.json

libtpu is told to write down its last form of the program, the bundles of instructions that the chip
would run; the instruction that feeds the matrix unit is called `vmatmul`. The flags and the form
of that text are documented nowhere: this is for the authors of the lessons, and the figures are
stored. A loop's body counts once in that text, so products are asked about only as long as the
count grows with them (`tests/tools/test_stored_programs.py`).
"""

import glob
import json
import os
import re
import shutil
import sys
from pathlib import Path

FOLDER = Path(sys.argv[1])
DUMP = FOLDER / "bundles"
FLAGS = {
    "xla_jf_dump_to": DUMP,
    "xla_jf_dump_llo_text": "true",
    "xla_jf_dump_llo_html": "false",
    # Without a filter libtpu writes everything, and ends the process on the way.
    "xla_jf_dump_category_filter": "codegen",
}
os.environ["LIBTPU_INIT_ARGS"] = " ".join(f"--{name}={value}" for name, value in FLAGS.items())


def count(chip: str, m: int, k: int, n: int) -> dict:
    """Compile a product of (m, k) and (k, n) in bfloat16, and count."""
    import jax
    from jax.experimental import topologies
    from jax.sharding import SingleDeviceSharding

    topology = topologies.get_topology_desc(
        platform="tpu", topology_name=f"{chip}:1x1", chips_per_host_bounds=[1, 1, 1]
    )
    sharding = SingleDeviceSharding(topology.devices[0])
    product = jax.jit(lambda a, b: a @ b, in_shardings=sharding, out_shardings=sharding)
    a = jax.ShapeDtypeStruct((m, k), "bfloat16")
    b = jax.ShapeDtypeStruct((k, n), "bfloat16")
    shutil.rmtree(DUMP, ignore_errors=True)
    text = product.lower(a, b).compile().as_text()
    return {
        "chip": chip,
        "m": m,
        "k": k,
        "n": n,
        "instructions": _instructions(),
        "estimated_cycles": _estimated_cycles(text),
        "arrays": _arrays(text),
    }


def _instructions() -> int:
    """How often the bundles that were written down feed the matrix unit."""
    instructions = 0
    for file in glob.glob(f"{DUMP}/*final_bundles*"):
        if "schedule" not in file:
            instructions += len(re.findall(r"\bvmatmul\b", Path(file).read_text()))
    return instructions


def _estimated_cycles(text: str) -> int:
    """The sum of the compiler's estimates; it writes about 2**63 where it has none."""
    estimates = [int(digits) for digits in re.findall(r'"estimated_cycles":"(\d+)"', text)]
    return sum(estimate for estimate in estimates if estimate < 2**62)


def _arrays(text: str) -> list[str]:
    """The inputs and the output of a program, with their layout."""
    layout = re.search(r"entry_computation_layout=\{\((.*?)\)->(.*?)\}\n", text + "\n")
    return re.findall(r"\w+\[[\d,]+\]\{[^}]*\}", layout[0])


if __name__ == "__main__":
    rows = json.loads((FOLDER / "products.json").read_text())
    (FOLDER / "counted.json").write_text(json.dumps([count(*row) for row in rows]))
