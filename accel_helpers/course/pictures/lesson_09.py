"""The picture of lesson 09: what several chips wait for; two results are kept, and never drawn."""

from accel_helpers import plots
from accel_helpers.course.pictures.kinds import Kind

WAITS = Kind(  # arithmetic for a pretend cluster: nothing was measured
    draw=lambda data, title, reference: plots.bars(data, title=title)
)
BATCHES = Kind(measured=lambda apart, path: ({}, {f"{path} apart": [float(apart)]}))
STATE = Kind(measured=lambda held, path: ({}, {path: [float(size) for size in held]}))

KINDS: dict[str, Kind] = {"waits": WAITS, "batches": BATCHES, "state": STATE}
