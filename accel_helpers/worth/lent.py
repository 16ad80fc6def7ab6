"""A model that is lent to be measured, and the turns in which that is done."""

import random
import time
from collections import namedtuple
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import ceil

from accel_helpers.machine import backend
from accel_helpers.machine.quiet import held_back, without_remarks
from accel_helpers.train import device_memory
from accel_helpers.train.epochs import stopwatch
from accel_helpers.train.resident import fit_resident

# How to train; `group` is steps per execution, `kind` "fit", "resident" or "nothing" (computed).
Way = namedtuple("Way", "device batch_size group xla kind", defaults=["fit"])
DICE = "global_seed_generator"  # so Keras names the dice that no layer owns
REACH = 8  # times the samples of a turn of the first way: no turn uses more
MANY = 10**6  # epochs; a callback ends them


@contextmanager
def lent(model, on: Callable = backend.on) -> Iterator[Callable[[str], None]]:
    """Lend a built model; gives what puts its values, as they are now, on a device.

    At the end, also after an error, these are back, and so are its attributes and the random state
    of Python, NumPy and Keras. An optimizer and metrics that were not built are so, and at rest.
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
    python, numpy, attributes = random.getstate(), np.random.get_state(), dict(vars(model))

    def place(device: str) -> None:
        with on(device):
            if device not in held:
                for variable, value in zip(variables, values, strict=True):
                    variable._initialize(keras.ops.convert_to_tensor(value.copy()))
                held[device] = [variable._value for variable in variables]
            for variable, at, value in zip(variables, held[device], values, strict=True):
                if backend.framework() == "tensorflow":
                    variable._value = at
                variable.assign(value.copy())
        # the optimizer knows what it trains by where TensorFlow keeps it
        for each in (model.optimizer, getattr(model.optimizer, "inner_optimizer", None)):
            trained = enumerate(getattr(each, "_trainable_variables", ()))
            known = {each._var_key(variable): index for index, variable in trained}
            if known:
                each._trainable_variables_indices = known

    try:
        yield place
    finally:
        model.reset_metrics()  # those that were first made here
        place(home)
        random.setstate(python)
        np.random.set_state(numpy)
        vars(model).clear()
        vars(model).update(attributes)
        global_state.set_global_attribute(DICE, dice)


class Turns:
    """Takes turns, each from the weights that the model came with; gives seconds per epoch."""

    def __init__(self, model, x, y, batch_size: int, place: Callable, length: float):
        import keras

        self.models = {"fit": model, "resident": model, "nothing": idle()}
        self.data, self.batch_size, self.place, self.length = (x, y), batch_size, place, length
        self.plans, self.functions, self.reach = {}, {}, None
        self.rebatch = getattr(x, "rebatch", None)  # of a tf.data.Dataset
        self.arrays = not self.rebatch and not isinstance(x, keras.utils.PyDataset)
        if hasattr(x, "__next__"):
            raise TypeError(
                f"x is a {type(x).__name__}, which cannot be rewound, and every turn begins anew. "
                "Give arrays, a tf.data.Dataset or a keras.utils.PyDataset."
            )
        if self.arrays:
            leaves = [each for each in keras.tree.flatten((x, y)) if each is not None]
            counts = {len(each) if getattr(each, "shape", ()) else 0 for each in leaves}
            self.samples = max(counts, default=0)
            if len(counts) != 1 or not self.samples:
                raise ValueError(
                    "x and y must be arrays, or lists or dicts of arrays, with the same number of "
                    f"samples, at least one; got {sorted(counts) or 'none'}."
                )
            return
        batches = int(x.cardinality()) if self.rebatch else x.num_batches or 0
        if y is not None or batches < 1:
            raise ValueError(
                f"a {type(x).__name__} holds its targets (so y=None), and must know how many "
                "batches it has: .take(n), or tf.data.experimental.assert_cardinality(n)."
            )
        first = keras.tree.flatten(next(iter(x)) if self.rebatch else x[0])[0]
        self.batch_size = int(first.shape[0])
        self.samples = batches * self.batch_size

    def __call__(self, way: Way) -> float:
        self.place(way.device)
        if way.kind == "resident":
            return self._resident(way)
        new = way not in self.plans
        if new:  # this turn also compiles
            self._plan(way, self._fit(way, way.group, 1, self.length))
        each = self._fit(way, *self.plans[way])
        if new:
            self._plan(way, each)
        return each * self.steps(way)

    def _plan(self, way: Way, each: float) -> None:
        """Say after how many steps a turn begins, and how many it times, when each takes that."""
        count = max(1, round(self.length / each))
        self.reach = self.reach or REACH * count * way.batch_size
        count = max(1, min(count, self.reach // way.batch_size))
        skip = max(way.group, count // 2)  # meanwhile the pipeline starts, and fit is slower
        if 2 * count > self.steps(way):  # whole epochs, with what Keras does between them
            count = self.steps(way) * ceil(count / self.steps(way))
        self.plans[way] = skip, count

    def steps(self, way: Way) -> int:
        """How many steps an epoch has."""
        return -(-self.samples // way.batch_size)

    def first(self, steps: int, batch_size: int):
        """The arrays of the first steps."""
        import keras

        return keras.tree.map_structure(lambda array: array[: steps * batch_size], self.data)

    def _fit(self, way: Way, skip: int, count: int, length: float = 0.0) -> float:
        """Seconds per step in ``fit`` itself, over so many steps and seconds, without the first."""
        import keras

        ticks, model, steps = [], self.models[way.kind], self.steps(way)
        given = {"x": self.data[0], "shuffle": not self.rebatch}  # as fit wants it
        if self.arrays:
            part = skip + count + (64 if length else 2) * way.group
            steps = min(steps, part)
            x, y = self.first(part, way.batch_size)
            given |= {"x": x, "y": y, "batch_size": way.batch_size}
        elif way.batch_size != self.batch_size:
            import tensorflow as tf

            known = tf.data.experimental.assert_cardinality(steps)
            given["x"] = self.rebatch(way.batch_size).apply(known)

        class Ticker(keras.callbacks.Callback):
            def on_epoch_begin(self, epoch, logs=None):
                self.before = epoch * steps

            def on_train_batch_begin(self, batch, logs=None):  # lets fit run ahead, as no end does
                now, at = time.perf_counter(), self.before + batch
                first, start = ticks[0] if ticks else (at, now)
                if at >= skip if not ticks else at >= first + count and now >= start + length:
                    backend.wait(self.model)
                    ticks.append((at, time.perf_counter()))
                    self.model.stop_training = len(ticks) > 1

        if way.kind == "fit":
            model.jit_compile = way.xla
            if bool(model.jit_compile) != way.xla:
                raise ValueError("Keras says that XLA cannot compile this model")
        model.steps_per_execution, model.train_function = way.group, self.functions.get(way)
        with backend.on(way.device), held_back(), without_remarks():
            model.fit(**given, epochs=MANY, verbose=0, callbacks=[Ticker()])
        self.functions[way] = model.train_function
        (first, start), (last, end) = ticks[:2]
        return (end - start) / (last - first)

    def _resident(self, way: Way) -> float:
        model, options = self.models["resident"], {"batch_size": way.batch_size, "seed": 0}
        if way not in self.plans:
            device_memory.check_room(device_memory.memory_needed(*self.data), way.device)
            # the longer a step, the fewer: XLA's convolutions in a loop take 20 times as long
            count = self.reach // REACH // way.batch_size
            several = min(4 * count, int(1e-3 * (count / self.length) ** 2))
            steps = min(self.steps(way), max(2, several))
            part = device_memory.as_arrays(self.first(steps, way.batch_size), "x and y")
            self.plans[way] = device_memory.as_tensors(part, way.device), steps
        (x, y), steps = self.plans[way]
        watch = stopwatch()
        with held_back(), without_remarks():
            fit_resident(model, x, y, epochs=2, callbacks=[watch], verbose=0, **options)
        return watch.epochs[1] * self.steps(way) / steps


def idle():
    """A model that computes nothing: no chip takes over what is left of its ``fit``."""
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
