"""A change to a training that is to be tried: another call of ``fit``."""

from collections.abc import Callable
from dataclasses import dataclass

from accel_helpers.fit.training import Training

# what is timed in a turn, with the change and without
EPOCHS = "epochs"
TRAININGS = "whole trainings, from a new model on"
RESIDENT = "epochs by fit_resident"
ELSEWHERE = "epochs in a process with Keras's other backend"


@dataclass(frozen=True)
class Proposal:
    """A change to try, or the reason for which it is not tried."""

    name: str  # such as "jit_compile=True"
    make_call: Callable[[], Training] | None = None  # it may read the data, so it is called late
    reason: str = ""  # why it is not tried; "" where it is
    note: str = ""  # the name of a sentence on what else it changes
    timed: str = EPOCHS  # or one of the others above
    alters: bool = False  # whether it alters the training itself: batch size, precision
    # puts back what the change sets for the whole process, where it does
    undo: Callable[[], None] | None = None
