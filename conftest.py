"""What holds for the lessons under nbval, as for the tests beside them."""

import os

import kernel  # of tools


def pytest_collection_modifyitems(items):
    """Let lessons measure in small boxes where small sizes are asked for."""
    if os.environ.get("ACCEL_FAST") != "1":
        return
    for item in items:
        cell = getattr(item, "cell", None)
        if cell is not None and cell.cell_type == "code":
            cell.source = kernel.in_small_boxes(cell.source)
