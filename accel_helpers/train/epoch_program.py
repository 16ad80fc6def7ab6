"""An epoch of a Keras model as one program that XLA compiles.

Shuffling, picking the batches and all steps of an epoch are in it: Keras's own ``train_step``
inside a loop of the framework.
"""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field

from accel_helpers.machine import backend
from accel_helpers.machine.quiet import held_back


@dataclass(frozen=True)
class Epoch:
    """What a program is compiled for.

    The number of samples is a part of it: TensorFlow warns where one program is traced often.
    """

    kind: str  # "train" or "test", as Keras names its steps
    samples: int
    batch_size: int
    shuffle: bool


@dataclass
class Programs:
    """The compiled epochs of a model."""

    model: object
    compiled: tuple  # what the model was compiled with
    programs: dict[Epoch, Callable] = field(default_factory=dict)

    def train(self, data, batch_size: int, shuffle: bool, seed: int) -> dict:
        """Train an epoch on tensors (x, y), and return its loss and metrics."""
        return self._run("train", data, batch_size, shuffle, seed)

    def test(self, data, batch_size: int) -> dict:
        """Evaluate the model on tensors (x, y), and return its loss and metrics."""
        return self._run("test", data, batch_size, shuffle=False, seed=0)

    def _run(self, kind: str, data, batch_size: int, shuffle: bool, seed: int) -> dict:
        import keras
        import numpy as np

        samples = len(keras.tree.flatten(data)[0])
        epoch = Epoch(kind, samples, batch_size, shuffle)
        messages_of_xla = nullcontext()
        if epoch not in self.programs:
            self.programs[epoch] = _make_program(self.model, epoch)
            # XLA writes a few lines when it starts.
            messages_of_xla = held_back()
        program = self.programs[epoch]
        self.model.reset_metrics()
        try:
            with messages_of_xla:
                program(data, seed)
        except Exception as error:
            error.add_note(
                "fit_resident compiles a whole epoch with XLA. If the error names an operation "
                "that XLA cannot compile, this model needs model.fit."
            )
            raise
        metrics = self.model.get_metrics_result()
        # A list where a metric has several values, such as F1 by class.
        return {name: np.asarray(value).tolist() for name, value in metrics.items()}


def programs_of(model, data, batch_size: int) -> Programs:
    """Return the programs that are kept on a model, as ``fit`` keeps its own; none are compiled."""
    variables = tuple(id(variable) for variable in model.trainable_variables)
    compiled = (model.optimizer, model.loss, tuple(model.metrics), variables)
    programs = getattr(model, "_accel_helpers_resident", None)
    if programs is not None and programs.compiled == compiled:
        return programs
    _make_variables(model, data, batch_size)
    # Keras does not track what is in an object of ours.
    model._accel_helpers_resident = Programs(model, compiled)
    return model._accel_helpers_resident


def _make_variables(model, data, batch_size: int) -> None:
    """Make every variable of a model now: inside a compiled loop none can be made."""
    import keras

    x, y = keras.tree.map_structure(lambda array: array[:batch_size], data)
    if not model.built:
        model(x, training=False)
    # What a pass through the model leaves behind, such as averages and states, is taken back.
    states = [(variable, keras.ops.copy(variable)) for variable in model.non_trainable_variables]
    predicted = model(x, training=True)
    model.optimizer.build(model.trainable_variables)
    has_step_of_its_own = type(model).train_step is not keras.Model.train_step
    if model.loss is not None or not has_step_of_its_own:
        model.compute_loss(x=x, y=y, y_pred=predicted)
    model.compute_metrics(x, y, predicted)
    model.reset_metrics()
    for variable, state in states:
        variable.assign(state)


def _make_program(model, epoch: Epoch) -> Callable:
    """A function of the data and a seed that runs the epoch; it is compiled in its first call."""
    # On JAX a step of Keras 3.8 to 3.11 reads where the variables lie, which `fit` notes first.
    note_where_variables_lie = getattr(model, "_record_training_state_sharding_spec", None)
    if note_where_variables_lie is not None:
        note_where_variables_lie()
    if backend.framework() == "jax":
        return _make_jax_program(model, epoch)
    return _make_tensorflow_program(model, epoch)


def _make_tensorflow_program(model, epoch: Epoch) -> Callable:
    import tensorflow as tf

    step = getattr(model, f"{epoch.kind}_step")

    def draw_numbers(seed):
        # The algorithm that TensorFlow would select is far slower under XLA on a CPU.
        return tf.random.stateless_uniform(
            [epoch.samples], [seed, 0], None, None, tf.int32, alg="philox"
        )

    def take_step(state, batch):
        step(batch)
        return state

    # Variables are TensorFlow's own, so that the state in the loop is an idle number.
    def run_epoch(state, data, seed):
        order = _order(epoch, draw_numbers, seed)
        return _take_steps(epoch, take_step, tf.gather, order, state, data)

    program = tf.function(run_epoch, jit_compile=True, autograph=False)

    def run(data, seed: int) -> None:
        program(tf.constant(0), data, tf.constant(seed))

    return run


def _make_jax_program(model, epoch: Epoch) -> Callable:
    import operator

    import jax

    step = getattr(model, f"{epoch.kind}_step")

    def draw_numbers(seed):
        return jax.random.bits(jax.random.key(seed), (epoch.samples,))

    def take_step(state, batch):
        _, new_state = step(state, batch)
        return new_state

    # The state are the values of all variables.
    def run_epoch(state, data, seed):
        order = _order(epoch, draw_numbers, seed)
        return _take_steps(epoch, take_step, operator.getitem, order, state, data)

    # The arrays of the old state are given away, so that the new one can lie in their place.
    program = jax.jit(run_epoch, donate_argnums=0)

    def run(data, seed: int) -> None:
        variables = _variables(model, epoch)
        new_values = program(_values_to_give_away(variables), data, seed)
        _assign(variables, new_values)

    return run


def _order(epoch: Epoch, draw_numbers: Callable, seed):
    """The numbers of the samples, in the order in which the epoch takes them."""
    from keras import ops

    if epoch.shuffle:
        return ops.argsort(draw_numbers(seed))
    return ops.arange(epoch.samples)


def _take_steps(epoch: Epoch, take_step: Callable, pick: Callable, order, state, data):
    """Take every step of an epoch in a loop of the framework, and return the state after it."""
    import keras
    from keras import ops

    def step_on_samples(state, start, count):
        rows = ops.slice(order, [start], [count])
        batch = keras.tree.map_structure(lambda array: pick(array, rows), data)
        return take_step(state, batch)

    def step_on_full_batch(index, state):
        return step_on_samples(state, index * epoch.batch_size, epoch.batch_size)

    full_batches, left_over = divmod(epoch.samples, epoch.batch_size)
    if full_batches:
        state = ops.fori_loop(0, full_batches, step_on_full_batch, state)
    if left_over:
        state = step_on_samples(state, full_batches * epoch.batch_size, left_over)
    return state


def _variables(model, epoch: Epoch) -> tuple:
    """The variables of a model, grouped in the order in which Keras's steps on JAX take them."""
    groups = [model.trainable_variables, model.non_trainable_variables]
    if epoch.kind == "train":
        groups.append(model.optimizer.variables)
    groups.append(model.metrics_variables)
    return tuple(groups)


def _values_to_give_away(variables: tuple) -> tuple:
    """The arrays of variables; where two variables share one array, one gets a copy."""
    import jax
    import keras

    seen: set[int] = set()

    def value_to_give_away(variable):
        value = variable.value
        if id(value) in seen:
            return jax.numpy.copy(value)
        seen.add(id(value))
        return value

    return keras.tree.map_structure(value_to_give_away, variables)


def _assign(variables: tuple, new_values: tuple) -> None:
    """Give each variable its new value."""
    import keras

    def assign(variable, new_value):
        variable.assign(new_value)

    keras.tree.map_structure(assign, variables, new_values)
