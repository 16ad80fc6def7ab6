"""A whole training, from a new model on, timed in every turn: with all that compiles."""

from collections.abc import Callable

from accel_helpers.fit.clock import Turn
from accel_helpers.fit.training import Training
from accel_helpers.machine import backend
from accel_helpers.machine.quiet import held_back


class WholeFit:
    """Makes a new model in every turn, and trains it for all its epochs.

    `undo` is called when a turn is over, to put back what making the model set for the process.
    """

    def __init__(
        self,
        training: Training,
        callbacks: list,
        clock: Callable[[], float],
        undo: Callable[[], None] | None = None,
    ):
        self._training = training
        self._callbacks = callbacks
        self._clock = clock
        self._undo = undo

    def turn(self) -> Turn:
        """Train, and return the seconds of the whole training, in place of those of an epoch."""
        arguments = self._training.shortened(0)
        epochs = self._training.epochs or 1
        started = self._clock()
        try:
            model = self._training.make_model()
            with held_back():
                model.fit(**arguments, epochs=epochs, callbacks=self._callbacks, verbose=0)
            backend.wait(model)
        finally:
            if self._undo is not None:
                self._undo()
        return Turn(self._clock() - started)
