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
    there = SingleDeviceSharding(topology.devices[0])
    product = jax.jit(lambda a, b: a @ b, in_shardings=there, out_shardings=there)
    a, b = (jax.ShapeDtypeStruct(shape, "bfloat16") for shape in ((m, k), (k, n)))
    shutil.rmtree(DUMP, ignore_errors=True)
    program = product.lower(a, b).compile()
    text = program.as_text()
    files = [file for file in glob.glob(f"{DUMP}/*final_bundles*") if "schedule" not in file]
    made = sum(len(re.findall(r"\bvmatmul\b", Path(file).read_text())) for file in files)
    cycles = [int(found) for found in re.findall(r'"estimated_cycles":"(\d+)"', text)]
    layout = re.search(r"entry_computation_layout=\{\((.*?)\)->(.*?)\}\n", text + "\n")
    arrays = re.findall(r"\w+\[[\d,]+\]\{[^}]*\}", layout[0])
    asked = {"chip": chip, "m": m, "k": k, "n": n}
    cycles = sum(found for found in cycles if found < 2**62)
    return asked | {"instructions": made, "estimated_cycles": cycles, "arrays": arrays}


if __name__ == "__main__":
    asked = json.loads((FOLDER / "products.json").read_text())
    (FOLDER / "counted.json").write_text(json.dumps([count(*row) for row in asked]))
