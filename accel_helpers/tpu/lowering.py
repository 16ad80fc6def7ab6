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

# What TensorFlow says of an operation that XLA cannot compile: "Detected unsupported operations
# when trying to compile graph __inference_step_384[] on XLA_CPU_JIT: AsString (No registered
# 'AsString' OpKernel for ... compatible with node {{node sequential_1/split_1/AsString}})".
_NO_KERNEL = re.compile(r"No registered '(?P<operation>\w+)' OpKernel")
_UNSUPPORTED = re.compile(r"unsupported operations[^:]*: (?P<operation>\w+)")
_NODE = re.compile(r"\{\{node (?P<path>[^}]+)\}\}")
# And of a size that is known only while the program runs, which no array of XLA's can have: "Input
# 1 to node `sequential_1/repeat_1/Tile` with op Tile must be a compile-time constant."
_NOT_CONSTANT = re.compile(
    r"node `(?P<path>[^`]+/(?P<operation>\w+))` .*must be a compile-time constant", re.S
)


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
    """Refuse what cannot be compiled at all.

    Raises ValueError for what is no compiled model, and NoProgram for a layer that works on text.
    """
    import keras

    if not isinstance(model, keras.Model) or not model.compiled:
        raise ValueError(f"model must be a compiled Keras model; got {shown(model)}.")
    for layer in model._flatten_layers():
        layer_type = type(layer).__name__
        if layer_type in TEXT_LAYERS:
            raise NoProgram(verdict="refused", operation=layer_type, layer=layer.name)


def _batch(model, batch_size: int, sample) -> tuple:
    """Return the shapes of a batch as (x, y), each a KerasTensor or a structure of several.

    They come from the `sample`, a pair of a few real inputs and targets, or without one (None) from
    the model and its loss. Raises ValueError where these leave a shape open.
    """
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
    """Return the shape of a batch whose samples are like those of an array, as a KerasTensor.

    Its type is the one in which `fit` trains.
    """
    import keras

    dtype = keras.backend.standardize_dtype(array.dtype)
    # `fit` turns floating-point numbers into the type that Keras works with.
    if "float" in dtype:
        dtype = keras.config.floatx()
    return keras.KerasTensor((batch_size, *array.shape[1:]), dtype)


def _with_batch_size(tensor, batch_size: int):
    """Return the shape of a model's input or output, with the size of the batch in it.

    (None, 28, 28) -> (32, 28, 28). Raises ValueError where the model is built for another batch, or
    where another side is open.
    """
    import keras

    built_for, *sides = tensor.shape
    if built_for not in (None, batch_size):
        raise ValueError(f"The model is built for a batch of {built_for}; got {batch_size}.")
    if None in sides:
        raise _ask_for_sample(f"a shape is open: {tuple(tensor.shape)}")
    return keras.KerasTensor((batch_size, *sides), tensor.dtype)


def _targets(loss, output):
    """Return the shape of the targets that a loss compares with an output.

    Labels for a "sparse" loss, else an array like the output. Raises ValueError for a loss that is
    not Keras's own.
    """
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
    """Return the error that asks for a sample, and says for which reason."""
    return ValueError(
        f"The shapes of a batch cannot be read off, since {reason}. "
        "Give a few real samples: sample=(x[:1], y[:1])."
    )


@contextlib.contextmanager
def _built(model, x, y):
    """Let Keras make the variables of the model, its optimizer, loss and metrics, as `fit` would.

    The shapes of the targets may be a guess. So the loss and the metrics are built as copies, and
    at the end the model has those again that it had.
    """
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
    """Return a new loss or metrics of a model, made from what `compile` was given for it."""
    # In the order in which the constructor takes them.
    arguments = [value for name, value in vars(original).items() if name.startswith("_user_")]
    return type(original)(*arguments, output_names=original.output_names)


def _state(model) -> list[tuple[str, list]]:
    """Return the model's variables as (kind, variables), in the order of Keras's JAX trainer."""
    return [
        ("weights", model.trainable_variables),
        ("other state", model.non_trainable_variables),
        ("optimizer", model.optimizer.variables),
        ("other state", model.metrics_variables),
    ]


def _arguments(model, x, y, chips: int) -> tuple[tuple[str, str], ...]:
    """Return what one chip is given for a step, as (kind, array as the compiler writes it).

    The whole state, and its part of the batch: ("weights", "f32[784,128]") and so on.
    """
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
    """Return an array as the compiler writes it: (32, 10) of "float32" -> "f32[32,10]"."""
    # A text never gets to a TPU: writing the step down fails.
    short = {"bool": "pred", "string": "u8"}.get(dtype, dtype)
    short = short.replace("float", "f").replace("uint", "u").replace("int", "s")
    sides = ",".join(str(side) for side in shape)
    return f"{short}[{sides}]"


def _write_down(model, x, y) -> bytes:
    """Return the training step for these shapes as a serialized HLO module."""
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
    """Return what an error of a framework means, to be raised.

    Either a TPU refuses an operation of the step, or the step could not be written down.
    """
    layers = [layer.name for layer in model.layers]
    refusal = _refused(str(error), layers)
    if refusal is None:
        return _not_written(error)
    operation, layer = refusal
    return NoProgram(verdict="refused", operation=operation, layer=layer)


def _refused(message: str, layers: Sequence[str]) -> tuple[str, str] | None:
    """Find in TensorFlow's error the operation that XLA refused, and the layer that holds it.

    Return (operation, name of the layer), with "" where the error names none of the `layers`; None
    where the error is about something else.
    """
    unsupported = _NO_KERNEL.search(message) or _UNSUPPORTED.search(message)
    if unsupported:
        # The place stands behind the operation; a place before it belongs to something else.
        node = _NODE.search(message, unsupported.end())
        layer = layer_of(node["path"], layers) if node else ""
        return unsupported["operation"], layer
    size_unknown = _NOT_CONSTANT.search(message)
    if size_unknown:
        return size_unknown["operation"], layer_of(size_unknown["path"], layers)
    return None


def _not_written(error: Exception) -> NoProgram:
    """Return that the step could not be written down, with the line of the error that says why.

    That is mostly the last one: what led to the error stands before it.
    """
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
