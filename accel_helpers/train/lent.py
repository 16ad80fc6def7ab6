"""A model that is lent to be measured, and the turns in which that is done."""

import math
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import mean

from accel_helpers.machine import backend
from accel_helpers.machine.quiet import held_back, without_remarks
from accel_helpers.train import device_memory, training

DICE = "global_seed_generator"  # so Keras names the dice that no layer owns
REACH = 8  # times the samples of a turn of the first way: no turn uses more
FOREVER = 10**6  # epochs; a callback ends them


@contextmanager
def lent(model) -> Iterator[Callable[..., None]]:
    """Lend a built model, not a copy; gives what moves its values, as they were, to a device.

    Its values, its attributes and the random state of Python, NumPy and Keras are put back at the
    end, also after an error. An optimizer that was not built yet is then built, and at rest.
    """
    import keras
    import numpy as np
    from keras.src.backend.common import global_state  # no public name leads to the dice

    if not model.optimizer.built:
        model.optimizer.build(model.trainable_variables)
    dice = global_state.get_global_attribute(DICE)
    variables = [*model.variables, *model.metrics_variables, *model.optimizer.variables]
    variables = list({id(v): v for v in variables + ([dice.state] if dice else [])}.values())
    values = [np.array(keras.ops.convert_to_numpy(variable)) for variable in variables]
    home = backend.where(model)
    held = {home: [variable._value for variable in variables]}  # where TensorFlow keeps them
    kept = random.getstate(), np.random.get_state(), dict(vars(model))

    def place(device: str) -> None:
        with backend.on(device):
            if device not in held:
                for variable, value in zip(variables, values, strict=True):
                    variable._initialize(keras.ops.convert_to_tensor(value.copy()))
                held[device] = [variable._value for variable in variables]
            for variable, at, value in zip(variables, held[device], values, strict=True):
                if backend.framework() == "tensorflow":
                    variable._value = at
                variable.assign(value.copy())

    try:
        yield place
    finally:
        model.reset_metrics()  # those that were first made here
        place(home)
        random.setstate(kept[0])
        np.random.set_state(kept[1])
        vars(model).clear()
        vars(model).update(kept[2])
        global_state.set_global_attribute(DICE, dice)


class Data:
    """What ``fit`` takes: arrays, or a set that makes its own batches and knows how many."""

    def __init__(self, x, y, batch_size: int):
        import keras

        self.pair, self.batch_size = (x, y), batch_size
        self.rebatch = getattr(x, "rebatch", None)
        self.arrays = not self.rebatch and not isinstance(x, keras.utils.PyDataset)
        if hasattr(x, "__next__"):
            raise TypeError(
                f"x is a {type(x).__name__}, which cannot be rewound, and every turn begins anew. "
                "Give arrays, a tf.data.Dataset or a keras.utils.PyDataset."
            )
        if self.arrays:
            leaves = [leaf for leaf in keras.tree.flatten((x, y)) if leaf is not None]
            counts = {len(leaf) if hasattr(leaf, "__len__") else 0 for leaf in leaves}
            if len(counts) != 1 or 0 in counts:
                raise ValueError(
                    "x and y must be arrays with the same number of samples, at least one; got "
                    f"{sorted(counts) or 'none'}."
                )
            self.samples = counts.pop()
            return
        batches = int(x.cardinality()) if self.rebatch else x.num_batches
        if y is not None or not batches or batches < 1:
            raise ValueError(
                f"a {type(x).__name__} holds its targets (y=None), and must say how many batches "
                "an epoch has, one or more: .take(n) or tf.data.experimental.assert_cardinality(n)."
            )
        first = keras.tree.flatten(next(iter(x)) if self.rebatch else x[0])[0]
        self.batch_size = int(first.shape[0])
        self.samples = batches * self.batch_size

    def steps(self, batch_size: int) -> int:
        """How many steps an epoch has."""
        return -(-self.samples // batch_size)

    def given(self, batch_size: int, steps: int | None) -> dict:
        """What to hand to ``fit`` for so many steps or more; None for all."""
        import keras

        if not self.arrays:
            x = self.pair[0]
            return {"x": x if batch_size == self.batch_size else self.rebatch(batch_size)}
        end = steps and steps * batch_size
        x, y = keras.tree.map_structure(lambda a: a[:end], self.pair)
        return {"x": x, "y": y, "batch_size": batch_size}


@dataclass(frozen=True)
class Way:
    """One way to train: `group` steps per execution; "fit", "resident", or "nothing" computed."""

    device: str
    batch_size: int
    group: int
    xla: bool
    kind: str = "fit"


class Turns:
    """Takes turns: some steps each, or epochs where these are short. Gives seconds per epoch."""

    def __init__(self, model, data: Data, place: Callable, length: float):
        self.models = {"fit": model, "resident": model, "nothing": idle()}
        self.data, self.place, self.length = data, place, length
        self.plans, self.functions = {}, {}
        self.whole = self.reach = None  # epochs or steps, and of how many samples: as the first way

    def __call__(self, way: Way) -> float:
        self.place(way.device)
        if way.kind == "resident":
            return self._resident(way)
        if way not in self.plans:
            self.plans[way] = self._plan(way)
        return self._fit(way, *self.plans[way]) * self._executions(way)

    def _executions(self, way: Way) -> float:
        number = self.data.steps(way.batch_size) / way.group
        return math.ceil(number) if self.whole else number

    def _plan(self, way: Way) -> tuple[int, int]:
        """How many executions to leave out, and then to time; it also compiles."""
        each = self._fit(way, 1, 1, self.length)
        number, count = int(self._executions(way)), max(1, round(self.length / each))
        if self.whole is None:
            self.whole = number < 6 or number * each < 3 * self.length
            self.reach = REACH * count * way.batch_size * way.group
        if self.whole:
            number = self._executions(way)
            return number, number * math.ceil(count / number)
        skip = 2 if each < self.length else 1
        most = min(number - skip - 1, self.reach // (way.batch_size * way.group))
        return skip, max(1, min(count, most))

    def _fit(self, way: Way, skip: int, count: int, length: float = 0.0) -> float:
        """Seconds per execution, over so many executions and seconds, in ``fit`` itself."""
        import keras

        ticks, model = [], self.models[way.kind]

        class Ticker(keras.callbacks.Callback):
            begun = 0

            def on_train_batch_begin(self, batch, logs=None):  # lets fit run ahead, as no end does
                enough = ticks and self.begun >= skip + count
                if self.begun == skip or enough and time.perf_counter() - ticks[0][1] >= length:
                    backend.wait(self.model)
                    ticks.append((self.begun, time.perf_counter()))
                    self.model.stop_training = len(ticks) > 1
                self.begun += 1

        if way.kind == "fit":
            model.jit_compile = way.xla
            if bool(model.jit_compile) != way.xla:
                raise ValueError("Keras says that XLA cannot compile this model")
        model.steps_per_execution, model.train_function = way.group, self.functions.get(way)
        steps = (skip + count + 1 + 32 * bool(length)) * way.group
        given = self.data.given(way.batch_size, None if self.whole else steps)
        with backend.on(way.device), held_back(), without_remarks():
            model.fit(**given, epochs=FOREVER, verbose=0, callbacks=[Ticker()])
        self.functions[way] = model.train_function
        (first, start), (last, end) = ticks[:2]
        return (end - start) / (last - first)

    def _resident(self, way: Way) -> float:
        data, model = self.data, self.models["resident"]
        if way not in self.plans:
            x, y = device_memory.as_arrays(data.pair, "x and y")
            device_memory.check_room(device_memory.memory_needed(x, y), way.device)
            steps = data.steps(way.batch_size)
            if not self.whole:
                steps = min(steps - 1, self.reach // way.batch_size)
            given = data.given(way.batch_size, steps)
            part = device_memory.as_tensors((given["x"], given["y"]), way.device)
            self.plans[way] = part, data.steps(way.batch_size) / steps, 1
        (x, y), parts, epochs = self.plans[way]
        watch = training.stopwatch()
        options = {"batch_size": way.batch_size, "verbose": 0, "seed": 0, "callbacks": [watch]}
        with held_back(), without_remarks():
            training.fit_resident(model, x, y, epochs=1 + epochs, **options)
        each = mean(watch.epochs[1:])
        self.plans[way] = (x, y), parts, max(epochs, math.ceil(self.length / each))
        return parts * each


def idle():
    """A model that computes nothing: what stays of its ``fit`` no chip takes over."""
    import keras

    class Idle(keras.Model):
        def call(self, x):
            return x

        def train_step(self, *given):  # on JAX the state and the data, on TensorFlow the data
            logs = {"loss": keras.ops.zeros(())}
            return (logs, given[0]) if backend.framework() == "jax" else logs

    model = Idle()
    model.built = True
    model.compile("sgd")
    return model
