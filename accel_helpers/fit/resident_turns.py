"""The turns of a training by `fit_resident`, whose data lie on the device."""

from collections.abc import Callable
from functools import partial

from accel_helpers.fit import device_memory
from accel_helpers.fit.checked_call import new_model
from accel_helpers.fit.fit_call import ARRAYS, FitCall
from accel_helpers.fit.resident import fit_resident
from accel_helpers.fit.stopwatch import stopwatch
from accel_helpers.fit.timed_fit import Turn
from accel_helpers.machine import backend
from accel_helpers.machine.quiet import held_back

# arguments with which it can be timed: a part of an epoch, without validation
ARGUMENTS = {"x", "y", "batch_size", "epochs", "shuffle", "verbose"}
PILOT_STEPS = 8  # of the first turn, while it is unknown how long a step takes


def why_not(call: FitCall) -> str:
    """Return why `fit_resident` cannot take this training; "" where it can."""
    if call.form != ARRAYS:
        return "it takes arrays"
    others = sorted(set(call.arguments) - ARGUMENTS)
    if others:
        return f"it is not timed with {', '.join(others)}"
    return ""


def resident_call(call: FitCall) -> FitCall:
    """Return a training whose models are trained by `fit_resident` when ``fit`` is called."""

    def make_model():
        model = call.make_model()
        model.fit = partial(fit_resident, model)
        return model

    return call.with_model(make_model)


class ResidentTurns:
    """Trains on the first steps of the data in every turn, which lie on the device.

    Raises MemoryError where the computer has no room for all of the data, and TypeError or
    ValueError where they are not what `fit_resident` takes.
    """

    def __init__(self, call: FitCall, turn_seconds: float, clock: Callable[[], float]):
        self._call = call
        self._clock = clock
        self._model = new_model(call)
        device_memory.check_room((call.arguments["x"], call.arguments["y"]), self._device)
        steps = min(PILOT_STEPS, call.steps)
        # as many steps as a turn has time for, by and by: what an epoch begins with counts less
        # the more there are, and XLA's convolutions in a loop may take 20 times as long as in fit
        while True:
            self._load(steps)
            # the first turn compiles
            self.turn()
            step = self.turn().epoch / call.steps
            wanted = min(round(turn_seconds / step), call.steps)
            if wanted < 2 * steps:
                return
            steps = wanted

    @property
    def _device(self) -> str:
        """The kind of device that the data are copied to."""
        return self._call.device or backend.devices()[-1]

    def _load(self, steps: int) -> None:
        """Copy the data of the first steps to the device."""
        self._steps = steps
        arguments = self._call.shortened(steps)
        data = (arguments["x"], arguments["y"])
        self._tensors = device_memory.on_device(data, "x and y", self._device)

    def turn(self) -> Turn:
        """Train two short epochs, and return a whole one at the pace of the second."""
        x, y = self._tensors
        watch = stopwatch(self._clock)
        with held_back():
            self._model.fit(
                x,
                y,
                batch_size=self._call.batch_size,
                epochs=2,
                callbacks=[watch],
                verbose=0,
                seed=0,
            )
        # the first epoch may have compiled
        return Turn(watch.epochs[1] * self._call.steps / self._steps, 0.0)
