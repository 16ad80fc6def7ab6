"""Counts what the TPU compiler makes of single matrix products. A script for its environment.

    python count_products.py FOLDER    reads FOLDER/products.json, writes FOLDER/counted.json

libtpu is told to write down its last form of the program, the bundles of instructions that the chip
would run; the instruction that feeds the matrix unit is called `vmatmul`. The flags and the form
of that text are documented nowhere: this is for the authors of the lessons, and the figures are
stored. A loop's body counts once in that text, so products are asked about only as long as the
count grows with them (`tests/tools/test_stored_programs.py`).
"""

import json
import os
import re
import shutil
import sys
from pathlib import Path

FOLDER = Path(sys.argv[1])
DUMP = FOLDER / "bundles"
# Without a filter libtpu writes everything, and ends the process on the way.
os.environ["LIBTPU_INIT_ARGS"] = (
    f"--xla_jf_dump_to={DUMP} --xla_jf_dump_llo_text=true --xla_jf_dump_llo_html=false "
    "--xla_jf_dump_category_filter=codegen"
)


def count(chip, m, k, n):
    """Compile a product of (m, k) and (k, n) in bfloat16, and count."""
    import jax
    from jax.experimental import topologies
    from jax.sharding import SingleDeviceSharding

    topology = topologies.get_topology_desc(
        platform="tpu", topology_name=f"{chip}:1x1", chips_per_host_bounds=[1, 1, 1]
    )
    sharding = SingleDeviceSharding(topology.devices[0])
    product = jax.jit(lambda a, b: a @ b, in_shardings=sharding, out_shardings=sharding)
    shapes = [jax.ShapeDtypeStruct(shape, "bfloat16") for shape in ((m, k), (k, n))]
    shutil.rmtree(DUMP, ignore_errors=True)
    text = product.lower(*shapes).compile().as_text()
    instructions = 0
    for file in DUMP.glob("*final_bundles*"):
        if "schedule" not in file.name:
            instructions += len(re.findall(r"\bvmatmul\b", file.read_text()))
    cycles = 0
    for estimate in re.findall(r'"estimated_cycles":"(\d+)"', text):
        if int(estimate) < 2**62:  # it writes about 2**63 where it has none
            cycles += int(estimate)
    # inputs and output, with their layout
    layout = re.search(r"entry_computation_layout=\{\((.*?)\)->(.*?)\}\n", text + "\n")
    arrays = re.findall(r"\w+\[[\d,]+\]\{[^}]*\}", layout[0])
    found = {"chip": chip, "m": m, "k": k, "n": n, "instructions": instructions}
    return found | {"estimated_cycles": cycles, "arrays": arrays}


if __name__ == "__main__":
    rows = json.loads((FOLDER / "products.json").read_text())
    (FOLDER / "counted.json").write_text(json.dumps([count(*row) for row in rows]))
