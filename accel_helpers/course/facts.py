"""The four facts about an accelerator: what each question was answered with, and the first no."""

from dataclasses import dataclass
from typing import Any, ClassVar

from accel_helpers.measure.measurement import FASTER, SAME, SLOWER, Speedup

WITH_A_GPU = ("its name", "gpu:0", "device:GPU:0 or cuda:0", "how many times as fast, if at all")


@dataclass(frozen=True)
class FourFacts:
    """Attached, visible, placed, faster: asked in this order, and the first no decides.

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
        *("not attached", "visible, not in the files", "attached, not visible"),
        *("visible, not placed", "placed, slower", "placed, no difference", "all four"),
    )

    @property
    def verdict(self) -> str:
        """One of `OUTCOMES`."""
        visible, placed = map(_off_the_cpu, (self.visible, self.placed))
        if self.attached is None:
            return "visible, not in the files" if visible else "not attached"
        if not visible:
            return "attached, not visible"
        if not placed:
            return "visible, not placed"
        last = {FASTER: "all four", SLOWER: "placed, slower", SAME: "placed, no difference"}
        return last[self.faster.verdict]

    @property
    def rows(self) -> dict[str, str]:
        """What each question was answered with."""
        return {
            "attached": str(self.attached or "the CPU, no accelerator"),
            "visible": str(self.visible),
            "placed": str(self.placed).rpartition("/")[2],  # TensorFlow's names are long
            "faster": str(self.faster).partition(" (")[0].partition(". ")[0],
        }

    @property
    def table(self) -> str:
        """The rows in Markdown; where there is no accelerator, beside what would be said of one."""
        lines = ["| fact | the answer here |", "|---|---|"]
        lines += [f"| **{fact}** | {said} |" for fact, said in self.rows.items()]
        if self.verdict == "not attached":
            more = ("on a GPU", "---", *WITH_A_GPU)
            lines = [f"{line} {cell} |" for line, cell in zip(lines, more, strict=True)]
        return "\n".join(lines)

    def __str__(self) -> str:
        return "\n".join(f"{fact:<10} {said}" for fact, said in self.rows.items())


def _off_the_cpu(device) -> bool:
    return "cpu" not in str(device).lower()
