"""A model's training step as a program that a compiler reads, made from shapes alone.

`model._flatten_layers`, `model._symbolic_build`, what `_built` puts back and TensorFlow's
`experimental_get_compiler_ir` are private; they are used here and nowhere else.
"""

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import inf

from accel_helpers._values.words import shown
from accel_helpers.measure.layers import name_of
from accel_helpers.tpu.answers import NOT_WRITTEN
from accel_helpers.tpu.report import array_bytes, layer_of

# Layers of Keras that look words or numbers up in tables, or turn them into text.
TEXT_LAYERS = (
    "Hashing", "HashedCrossing", "IntegerLookup", "StringLookup", "TextVectorization",
)  # fmt: skip
LONGEST_MESSAGE = 300  # characters that are told of a framework's error


class NoProgram(Exception):
    """There is no program to compile; the `fields` of the answer say why."""

    def __init__(self, **fields):
        super().__init__(fields)
        self.fields = fields


@dataclass(frozen=True)
class Program:
    """A training step, not compiled yet."""

    data: bytes  # a serialized HLO module
    # What one chip is given for a step, as (kind, array as the compiler writes it). The kinds are
    # "weights", "optimizer", "other state", "inputs" and "targets".
    arguments: tuple[tuple[str, str], ...]
    argument_bytes: int  # without any padding
    # Which arguments of the program are cut along the batch; negative ones count from the end.
    batch_arguments: tuple[int, ...]


def lower(model, batch_size: int, sample=None, *, chips: int = 1, memory: float = inf) -> Program:
    """Write down a model's training step for a batch of this size; the model stays as it is.

    Parameters
    ----------
    model : keras.Model
        Compiled.
    batch_size : int
        Over all chips.
    sample : (x, y), optional
        A few real samples, where the shapes of a batch cannot be read off the model.
    chips : int, optional
        Each is given its part of the batch.
    memory : float, optional
        The bytes of a chip: a step that is given more is not written down.

    Raises
    ------
    NoProgram
        If there is no program for a TPU.
    ValueError
        If the model is not compiled, or does not tell the shapes of a batch.
    """
    import keras

    _check(model)
    x, y = _batch(model, batch_size, sample)
    try:
        with _built(model, x, y):
            arguments = _arguments(model, x, y, chips)
            argument_bytes = sum(array_bytes(array) for _, array in arguments)
            if argument_bytes > memory:
                raise NoProgram(verdict="too large", needed=argument_bytes, at_least=True)
            data = _write_down(model, x, y)
    except NoProgram:
        raise
    except Exception as error:  # whatever the model's own code and the frameworks raise
        raise _no_program(error, model) from error

    arrays_of_batch = len(keras.tree.flatten((x, y)))
    # TensorFlow puts the batch before the model's state, JAX behind it.
    first = 0 if keras.config.backend() == "tensorflow" else -arrays_of_batch
    batch_arguments = tuple(range(first, first + arrays_of_batch))
    return Program(data, arguments, argument_bytes, batch_arguments)


def _check(model) -> None:
    """Refuse what is no compiled model, and what has text in it."""
    import keras

    if not isinstance(model, keras.Model) or not model.compiled:
        raise ValueError(f"model must be a compiled Keras model; got {shown(model)}.")
    for layer in model._flatten_layers():
        layer_type = type(layer).__name__
        if layer_type in TEXT_LAYERS:
            raise NoProgram(verdict="refused", operation=layer_type, layer=layer.name)


def _batch(model, batch_size: int, sample) -> tuple:
    """The shapes of a batch as (x, y): from a sample, else from the model and its loss."""
    import keras

    if sample is not None:
        shape_of_batch = partial(_shape_of_batch, batch_size=batch_size)
        return keras.tree.map_structure(shape_of_batch, tuple(sample))

    inputs = getattr(model, "inputs", None)
    outputs = getattr(model, "outputs", None)
    if not inputs or len(outputs) != 1:
        raise _ask_for_sample("the model does not say one shape of its inputs and one output")
    with_batch_size = partial(_with_batch_size, batch_size=batch_size)
    model_input = inputs[0] if len(inputs) == 1 else model.input
    x = keras.tree.map_structure(with_batch_size, model_input)
    y = _targets(model.loss, with_batch_size(outputs[0]))
    return x, y


def _shape_of_batch(array, batch_size: int):
    """The shape of a batch of arrays like this one, and the type in which `fit` trains."""
    import keras

    dtype = keras.backend.standardize_dtype(array.dtype)
    # `fit` turns floating-point numbers into the type that Keras works with.
    if "float" in dtype:
        dtype = keras.config.floatx()
    return keras.KerasTensor((batch_size, *array.shape[1:]), dtype)


def _with_batch_size(tensor, batch_size: int):
    """The shape of a model's input or output, with the size of the batch in it."""
    import keras

    built_for, *sides = tensor.shape
    if built_for not in (None, batch_size):
        raise ValueError(f"The model is built for a batch of {built_for}; got {batch_size}.")
    if None in sides:
        raise _ask_for_sample(f"a shape is open: {tuple(tensor.shape)}")
    return keras.KerasTensor((batch_size, *sides), tensor.dtype)


def _targets(loss, output):
    """The shape of the targets that a loss compares with an output."""
    import keras

    if isinstance(loss, str):
        loss_name = loss
    else:
        # Most losses of Keras's own are a function in a class, and say by its name which targets
        # they take.
        loss = getattr(loss, "fn", loss)
        definition = loss if hasattr(loss, "__name__") else type(loss)
        if not definition.__module__.startswith("keras"):
            raise _ask_for_sample(f"the loss {shown(loss)} does not say which targets it takes")
        loss_name = name_of(loss)
    if loss_name.lower().startswith("sparse"):
        return keras.KerasTensor(output.shape[:-1], "int32")
    return keras.KerasTensor(output.shape, "float32")


def _ask_for_sample(reason: str) -> ValueError:
    return ValueError(
        f"The shapes of a batch cannot be read off, since {reason}. "
        "Give a few real samples: sample=(x[:1], y[:1])."
    )


@contextlib.contextmanager
def _built(model, x, y):
    """Let Keras make its variables as `fit` would; what a guess was built on is not kept."""
    originals = {name: vars(model).get(name) for name in ("_compile_loss", "_compile_metrics")}
    try:
        for name, original in originals.items():
            if original is not None and not original.built:
                vars(model)[name] = _copy_as_compiled(original)
        # Only shapes and types are looked at.
        model._symbolic_build(data_batch=(x, y))
        if not model.optimizer.built:
            model.optimizer.build(model.trainable_variables)
        yield
    finally:
        vars(model).update(originals)


def _copy_as_compiled(original):
    """A new loss or metrics of a model, from what `compile` was given for it."""
    # In the order in which the constructor takes them.
    arguments = [value for name, value in vars(original).items() if name.startswith("_user_")]
    return type(original)(*arguments, output_names=original.output_names)


def _state(model) -> list[tuple[str, list]]:
    """The model's variables by kind, in the order in which Keras's JAX trainer takes them."""
    return [
        ("weights", model.trainable_variables),
        ("other state", model.non_trainable_variables),
        ("optimizer", model.optimizer.variables),
        ("other state", model.metrics_variables),
    ]


def _arguments(model, x, y, chips: int) -> tuple[tuple[str, str], ...]:
    """What one chip is given for a step, as (kind, array as the compiler writes it)."""
    import keras

    arguments = []
    for kind, variables in _state(model):
        for variable in variables:
            arguments.append((kind, _array(variable.shape, variable.dtype)))
    for kind, part in (("inputs", x), ("targets", y)):
        for tensor in keras.tree.flatten(part):
            samples, *sides = tensor.shape
            arguments.append((kind, _array([samples // chips, *sides], tensor.dtype)))
    return tuple(arguments)


def _array(shape: Sequence[int], dtype: str) -> str:
    """An array as the compiler writes it, such as "f32[32,10]"."""
    # A text never gets to a TPU: writing the step down fails.
    short = {"bool": "pred", "string": "u8"}.get(dtype, dtype)
    short = short.replace("float", "f").replace("uint", "u").replace("int", "s")
    sides = ",".join(str(side) for side in shape)
    return f"{short}[{sides}]"


def _write_down(model, x, y) -> bytes:
    """The step as a serialized HLO module."""
    import keras

    if keras.config.backend() == "tensorflow":
        return _write_down_by_tensorflow(model, x, y)
    return _write_down_by_jax(model, x, y)


def _write_down_by_tensorflow(model, x, y) -> bytes:
    import keras
    import tensorflow as tf

    # The arrays of a batch are arguments one by one: lists and dictionaries of them are refused.
    @tf.function(jit_compile=True)
    def step(*arrays):
        return model.train_step(keras.tree.pack_sequence_as((x, y), arrays))

    specs = [tf.TensorSpec(array.shape, array.dtype) for array in keras.tree.flatten((x, y))]
    return step.experimental_get_compiler_ir(*specs)(stage="hlo_serialized")


def _write_down_by_jax(model, x, y) -> bytes:
    import jax
    import keras

    def spec(tensor):
        return jax.ShapeDtypeStruct(tensor.shape, tensor.dtype)

    def step(state, x, y):
        return model.train_step(state, (x, y))

    state = tuple([spec(variable) for variable in variables] for _, variables in _state(model))
    x_specs = keras.tree.map_structure(spec, x)
    y_specs = keras.tree.map_structure(spec, y)
    # What is not used stays in, so that the batch can be counted from the end.
    step = jax.jit(step, donate_argnums=0, keep_unused=True)
    lowered = step.trace(state, x_specs, y_specs).lower(lowering_platforms=("tpu",))
    return lowered.compiler_ir("hlo").as_serialized_hlo_module_proto()


def _no_program(error: Exception, model) -> NoProgram:
    """What an error of the frameworks means: the step is refused, or could not be written down."""
    layers = [layer.name for layer in model.layers]
    refusal = _refused(str(error), layers)
    if refusal is None:
        return _not_written(error)
    operation, layer = refusal
    return NoProgram(verdict="refused", operation=operation, layer=layer)


def _refused(message: str, layers: Sequence[str]) -> tuple[str, str] | None:
    """Find in an error the operation that the compiler refused, and the layer that holds it."""
    operation = re.search(r"No registered '(\w+)' OpKernel", message)
    if not operation:
        operation = re.search(r"unsupported operations[^:]*: (\w+)", message)
    if operation:
        node = re.search(r"\{\{node ([^}]+)\}\}", message[operation.start() :])
        layer = layer_of(node[1], layers) if node else ""
        return operation[1], layer
    # Sizes that are known only while the program runs: XLA, and so a TPU, has no such arrays.
    node = re.search(r"node `([^`]+/(\w+))` .*must be a compile-time constant", message, re.S)
    if node:
        path, operation_name = node.groups()
        return operation_name, layer_of(path, layers)
    return None


def _not_written(error: Exception) -> NoProgram:
    """The last line of an error that a framework raised: what led to it stands before that."""
    # Keras closes with the arguments of the call, and writes in bold.
    message = str(error).partition("Arguments received by ")[0]
    message = re.sub(r"\x1b\[\d*m", "", message)
    from_hlo = re.search(r"^\s*Failed getting HLO text: '(.*)", message, re.M)
    lines = message.strip().splitlines()
    if from_hlo:
        # Here what led to it stands behind it.
        reason = from_hlo[1]
    elif lines:
        reason = lines[-1].strip()
    else:
        reason = type(error).__name__
    reason = reason[:LONGEST_MESSAGE].rstrip(". ")
    return NoProgram(
        why=f"{NOT_WRITTEN}: {reason}. If you train with other shapes or types, hand some in: "
        "sample=(x[:1], y[:1])"
    )
