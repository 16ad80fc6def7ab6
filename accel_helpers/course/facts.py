"""The four facts about an accelerator: the answer to each question, and the first "no"."""

from dataclasses import dataclass
from typing import Any, ClassVar

from accel_helpers.measure.measurement import FASTER, SAME, SLOWER, Speedup

# A second column for a runtime without an accelerator: what the four rows would say on a GPU.
COLUMN_ON_A_GPU = (
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

    OUTCOMES: ClassVar[tuple[str, ...]] = (
        "not attached",
        "visible, not in the files",
        "attached, not visible",
        "visible, not placed",
        "placed, slower",
        "placed, no difference",
        "all four",
    )

    @property
    def verdict(self) -> str:
        """One of `OUTCOMES`: the first fact that does not hold, or "all four"."""
        is_visible = _is_accelerator(self.visible)
        if self.attached is None:
            # The framework may see a chip of which the system's files say nothing.
            return "visible, not in the files" if is_visible else "not attached"
        if not is_visible:
            return "attached, not visible"
        if not _is_accelerator(self.placed):
            return "visible, not placed"
        return BY_SPEED[self.faster.verdict]

    @property
    def rows(self) -> dict[str, str]:
        """The answer to each question in short, by the name of the fact."""
        attached = "the CPU, no accelerator"
        if self.attached:
            attached = str(self.attached)
        # TensorFlow's names are long: "/job:localhost/replica:0/task:0/device:GPU:0".
        _, _, placed = str(self.placed).rpartition("/")
        # The ratio alone: "gpu:0 is 4 times as fast as CPU (95 % interval 3.9 to 4.1)" without the
        # interval in brackets, and without a second sentence.
        comparison, _, _ = str(self.faster).partition(" (")
        faster, _, _ = comparison.partition(". ")
        visible = str(self.visible)
        return {"attached": attached, "visible": visible, "placed": placed, "faster": faster}

    @property
    def table(self) -> str:
        """The rows as a table in Markdown.

        Without an accelerator it has a second column: what the answers would be on a GPU.
        """
        lines = ["| fact | the answer here |", "|---|---|"]
        for fact, answer in self.rows.items():
            lines.append(f"| **{fact}** | {answer} |")
        if self.verdict == "not attached":
            pairs = zip(lines, COLUMN_ON_A_GPU, strict=True)
            lines = [f"{line} {cell} |" for line, cell in pairs]
        return "\n".join(lines)

    def __str__(self) -> str:
        lines = []
        for fact, answer in self.rows.items():
            lines.append(f"{fact:<10} {answer}")
        return "\n".join(lines)


def _is_accelerator(device: object) -> bool:
    """Return whether a device, by its name, is anything but a CPU: "gpu:0" is, "cpu:0" is not."""
    name = str(device).lower()
    return "cpu" not in name
