"""The four facts about an accelerator: the answer to each question, and the first "no"."""

import re
from dataclasses import dataclass
from typing import Any

from accel_helpers.course.outcomes import device_kind
from accel_helpers.measure.measurement import FASTER, SAME, SLOWER, Speedup

# What the four answers would say on a GPU, shown beside those of a runtime without an accelerator.
ON_A_GPU = (
    "on a GPU",
    "---",
    "its name",
    "gpu:0",
    "device:GPU:0 or cuda:0",
    "how many times as fast, if at all",
)
# The verdict where all is placed on the accelerator, by that of the race against the CPU.
BY_SPEED = {FASTER: "all four", SLOWER: "placed, slower", SAME: "placed, no difference"}


@dataclass(frozen=True)
class FourFacts:
    """Attached, visible, placed, faster: asked in this order, and the first "no" decides.

    >>> from accel_helpers.measure.measurement import Measurement
    >>> cpu = Measurement.from_samples([4] * 5, name="CPU")
    >>> gpu = Measurement.from_samples([1] * 5, name="gpu:0")
    >>> race = Speedup(cpu, gpu, (3.9, 4.1), True, 4.0)
    >>> FourFacts("a GPU", "gpu:0", "cpu:0", race).verdict
    'visible, not placed'
    """

    attached: Any  # the accelerator that `describe` found, or None
    visible: Any  # the best device that the framework lists
    placed: Any  # the device of a result
    faster: Speedup  # of the CPU and that device; without one, of the CPU and itself

    @property
    def verdict(self) -> str:
        """The first fact that does not hold, or "all four"."""
        is_visible = device_kind(self.visible) != "cpu"
        if self.attached is None:
            # The framework may see a chip of which the system's files say nothing.
            return "visible, not in the files" if is_visible else "not attached"
        if not is_visible:
            return "attached, not visible"
        if device_kind(self.placed) == "cpu":
            return "visible, not placed"
        return BY_SPEED[self.faster.verdict]

    @property
    def table(self) -> str:
        """The answer to each question as a table in Markdown.

        Without an accelerator it has a second column: what the answers would be on a GPU.
        """
        attached = self.attached or "the CPU, no accelerator"
        # TensorFlow's names are long: "/job:localhost/replica:0/task:0/device:GPU:0".
        placed = str(self.placed).split("/")[-1]
        # The ratio alone: "gpu:0 is 4 times as fast as CPU (95% interval 3.9 to 4.1)" without the
        # interval in brackets, and without a second sentence.
        faster = re.split(r" \(|\. ", str(self.faster))[0]
        lines = [
            "| fact | the answer here |",
            "|---|---|",
            f"| **attached** | {attached} |",
            f"| **visible** | {self.visible} |",
            f"| **placed** | {placed} |",
            f"| **faster** | {faster} |",
        ]
        if self.verdict == "not attached":
            lines = map("{} {} |".format, lines, ON_A_GPU)
        return "\n".join(lines)
