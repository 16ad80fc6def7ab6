"""A model's training step as a program that a compiler reads, made from shapes alone.

To lower a step is to write it down as a program that a compiler reads. `model._flatten_layers`,
`model._symbolic_build`, what `_built` puts back and TensorFlow's `experimental_get_compiler_ir` are
private; they are used here and nowhere else. In what follows, a shape is a `keras.KerasTensor`: a
shape with a dtype and no numbers.
"""

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import inf

from accel_helpers._values.words import shown
from accel_helpers.measure.products import name_of
from accel_helpers.tpu.answers import NOT_WRITTEN
from accel_helpers.tpu.report import array_bytes, layer_of

# Classes of Keras layers that look words or numbers up in tables, or turn them into text.
TEXT_LAYERS = (
    "Hashing", "HashedCrossing", "IntegerLookup", "StringLookup", "TextVectorization",
)  # fmt: skip
LONGEST_MESSAGE = 300  # characters of a framework's error that are quoted

# In an error of TensorFlow's, an operation that XLA does not have, and the node that it stands in:
#     "… AsString (No registered 'AsString' OpKernel for XLA_CPU_JIT devices compatible with node
#     {{node sequential_1/odd_one_1/AsString}}){{node …"
_NO_KERNEL = re.compile(r"No registered '(?P<operation>\w+)' OpKernel")
_NODE = re.compile(r"\{\{node (?P<path>[^}]+)\}\}")
# The same where there is no such sentence: "Detected unsupported operations when trying to compile
# graph __inference_step_310[] on XLA_CPU_JIT: AsString …"
_UNSUPPORTED = re.compile(r"unsupported operations[^:]*: (?P<operation>\w+)")
# An array whose size is known only while the program runs, which XLA, and so a TPU, does not have:
#     "Input 1 to node `sequential_1/encode_1/bincount/DenseBincount` with op DenseBincount must be
#     a compile-time constant."
_NO_CONSTANT = re.compile(
    r"node `(?P<path>[^`]+/(?P<operation>\w+))` .*must be a compile-time constant", re.S
)
# "Failed getting HLO text: 'Detected unsupported operations …", with what led to it behind it.
_NO_HLO = re.compile(r"^\s*Failed getting HLO text: '(?P<reason>.*)", re.M)
_BOLD = re.compile(r"\x1b\[\d*m")  # switches a terminal to bold, and back


class NoProgram(Exception):
    """There is no program to compile; `fields` are those of a `CompiledStep` that say why."""

    def __init__(self, **fields: object):
        super().__init__(fields)
        self.fields = fields


@dataclass(frozen=True)
class Program:
    """A training step, not compiled yet."""

    data: bytes  # a serialized HLO module
    # The arguments of a step on one chip, as (kind, array as the compiler writes it), such as
    # ("weights", "f32[24,16]"). Kinds: "weights", "optimizer", "other state", "inputs", "targets".
    arguments: tuple[tuple[str, str], ...]
    argument_bytes: int  # of all these, without padding
    # The places of the program's arguments that are cut along the batch; negative ones count from
    # the end.
    batch_arguments: tuple[int, ...]


def lower(
    model, batch_size: int, sample: tuple | None = None, *, chips: int = 1, memory: float = inf
) -> Program:
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
        The bytes of a chip: a step whose arguments are larger is not written down.

    Raises
    ------
    NoProgram
        If a TPU cannot run the step, if its arguments are too large, or if Keras or its backend
        cannot write it down.
    ValueError
        If the model is no compiled Keras model, or does not tell the shapes of a batch.
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
    # Whatever the model's own code and the frameworks raise.
    except Exception as error:
        raise _no_program(error, model) from error

    arrays_of_batch = len(keras.tree.flatten((x, y)))
    # TensorFlow puts the batch before the model's state, JAX behind it.
    first = 0 if keras.config.backend() == "tensorflow" else -arrays_of_batch
    batch_arguments = tuple(range(first, first + arrays_of_batch))
    return Program(data, arguments, argument_bytes, batch_arguments)


def _check(model) -> None:
    """Raise ValueError if this is no compiled Keras model, and NoProgram if it has text layers."""
    import keras

    if not isinstance(model, keras.Model) or not model.compiled:
        raise ValueError(f"model must be a compiled Keras model; got {shown(model)}.")
    for layer in model._flatten_layers():
        layer_type = type(layer).__name__
        if layer_type in TEXT_LAYERS:
            raise NoProgram(verdict="refused", operation=layer_type, layer=layer.name)


def _batch(model, batch_size: int, sample: tuple | None) -> tuple:
    """Return the shapes of a batch as (x, y): from a sample, else from the model and its loss.

    Raises ValueError if there is no sample, and the model does not tell the shapes.
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
    """Return the shape of a batch of samples such as those in an array, in the dtype of `fit`."""
    import keras

    dtype = keras.backend.standardize_dtype(array.dtype)
    # `fit` turns floating-point numbers into the type that Keras works with.
    if "float" in dtype:
        dtype = keras.config.floatx()
    return keras.KerasTensor((batch_size, *array.shape[1:]), dtype)


def _with_batch_size(tensor, batch_size: int):
    """Return the shape of a model's input or output with `batch_size` samples.

    Raises ValueError if it is built for another batch, or another axis has no length.
    """
    import keras

    fixed_batch, *sides = tensor.shape
    if fixed_batch not in (None, batch_size):
        raise ValueError(f"The model is built for a batch of {fixed_batch}; got {batch_size}.")
    if None in sides:
        raise _ask_for_sample(f"a shape is open: {tuple(tensor.shape)}")
    return keras.KerasTensor((batch_size, *sides), tensor.dtype)


def _targets(loss, output):
    """Return the targets that a loss compares with an output, as a KerasTensor without values.

    These are labels for a loss whose name begins with "sparse", else an array like the output.
    `loss` is what the model was compiled with: a name, which is not checked, a function or an
    object; `output` is the KerasTensor of the model's output. Raises ValueError if the loss is none
    of Keras's own.
    """
    import keras

    if isinstance(loss, str):
        loss_name = loss
    else:
        # Most losses of Keras are objects around a function, `fn`, whose name says which targets
        # they take.
        core = getattr(loss, "fn", loss)
        definition = core if hasattr(core, "__name__") else type(core)
        if not definition.__module__.startswith("keras"):
            raise _ask_for_sample(f"the loss {shown(core)} does not say which targets it takes")
        loss_name = name_of(core)
    if loss_name.lower().startswith("sparse"):
        return keras.KerasTensor(output.shape[:-1], "int32")
    return keras.KerasTensor(output.shape, "float32")


def _ask_for_sample(reason: str) -> ValueError:
    """Return the error that asks the caller for a sample."""
    return ValueError(
        f"The shapes of a batch cannot be read off, since {reason}. "
        "Give a few real samples: sample=(x[:1], y[:1])."
    )


@contextlib.contextmanager
def _built(model, x, y):
    """Within the block, a model has all its variables, made as `fit` makes them.

    `x` and `y` are the shapes of a batch. Afterwards the model has the loss and the metrics that it
    had before: they may have been built on guessed shapes, and the next `fit` is to build them.
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
    """Return a new, unbuilt object for a model's loss or metrics, of the arguments of `compile`."""
    # Keras keeps them as `_user_…`, in the order in which the constructor takes them.
    arguments = [value for name, value in vars(original).items() if name.startswith("_user_")]
    return type(original)(*arguments, output_names=original.output_names)


def _state(model) -> list[tuple[str, list]]:
    """Return a model's variables as (kind, variables), in the order that Keras's step on JAX takes.

    A kind may stand there twice.
    """
    return [
        ("weights", model.trainable_variables),
        ("other state", model.non_trainable_variables),
        ("optimizer", model.optimizer.variables),
        ("other state", model.metrics_variables),
    ]


def _arguments(model, x, y, chips: int) -> tuple[tuple[str, str], ...]:
    """Return the arguments of a step on one chip, as (kind, array as the compiler writes it).

    `x` and `y` are the shapes of a batch over all chips: (("weights", "f32[24,16]"), …).
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
    """Return an array as the compiler writes it: (32, 10), "float32" -> "f32[32,10]"."""
    # Text counts as bytes, although it never gets to a TPU: writing the step down fails later.
    short = {"bool": "pred", "string": "u8"}.get(dtype, dtype)
    short = short.replace("float", "f").replace("uint", "u").replace("int", "s")
    sides = ",".join(str(side) for side in shape)
    return f"{short}[{sides}]"


def _write_down(model, x, y) -> bytes:
    """Return a model's training step on shapes (x, y) as a serialized HLO module.

    Raises whatever the framework raises if it cannot write the step down.
    """
    import keras

    if keras.config.backend() == "tensorflow":
        return _write_down_by_tensorflow(model, x, y)
    return _write_down_by_jax(model, x, y)


def _write_down_by_tensorflow(model, x, y) -> bytes:
    """Do what `_write_down` does, on TensorFlow."""
    import keras
    import tensorflow as tf

    # Each array of a batch is an argument of its own: TensorFlow takes no lists or dicts here.
    @tf.function(jit_compile=True)
    def step(*arrays):
        return model.train_step(keras.tree.pack_sequence_as((x, y), arrays))

    specs = [tf.TensorSpec(array.shape, array.dtype) for array in keras.tree.flatten((x, y))]
    return step.experimental_get_compiler_ir(*specs)(stage="hlo_serialized")


def _write_down_by_jax(model, x, y) -> bytes:
    """Do what `_write_down` does, on JAX."""
    import jax
    import keras

    def spec(tensor):
        return jax.ShapeDtypeStruct(tensor.shape, tensor.dtype)

    def step(state, x, y):
        return model.train_step(state, (x, y))

    state = tuple([spec(variable) for variable in variables] for _, variables in _state(model))
    x_specs = keras.tree.map_structure(spec, x)
    y_specs = keras.tree.map_structure(spec, y)
    # Arguments that are not used are kept, so that those of the batch can be counted from the end.
    step = jax.jit(step, donate_argnums=0, keep_unused=True)
    lowered = step.trace(state, x_specs, y_specs).lower(lowering_platforms=("tpu",))
    return lowered.compiler_ir("hlo").as_serialized_hlo_module_proto()


def _no_program(error: Exception, model) -> NoProgram:
    """Return what the error of a framework means: a TPU cannot run the step, or there is none."""
    layers = [layer.name for layer in model.layers]
    refusal = _refused(str(error), layers)
    if refusal is None:
        return _not_written(error)
    operation, layer = refusal
    return NoProgram(verdict="refused", operation=operation, layer=layer)


def _refused(message: str, layers: Sequence[str]) -> tuple[str, str] | None:
    """Return (operation, layer) out of an error that says that XLA does not have the operation.

    `layers` are the names of the model's layers; the layer is "" if it is not known. Returns None
    if the error does not say so: ("AsString", "odd_one"), ("AsString", "") or None.
    """
    refusal = _NO_KERNEL.search(message)
    if not refusal:
        refusal = _UNSUPPORTED.search(message)
    if refusal:
        node = _NODE.search(message, refusal.start())
        layer = layer_of(node["path"], layers) if node else ""
        return refusal["operation"], layer
    open_size = _NO_CONSTANT.search(message)
    if open_size:
        return open_size["operation"], layer_of(open_size["path"], layers)
    return None


def _not_written(error: Exception) -> NoProgram:
    """Return an answer with the reason that the error of a framework gives, in one line.

    It says that the step could not be written down, quotes the reason, and asks for a sample.
    """
    # Keras ends with the arguments of the call, which are long, and writes in bold.
    message = str(error).partition("Arguments received by ")[0]
    message = _BOLD.sub("", message)
    no_hlo = _NO_HLO.search(message)
    lines = message.strip().splitlines()
    if no_hlo:
        reason = no_hlo["reason"]
    elif lines:
        # What led to the error stands before it.
        reason = lines[-1].strip()
    else:
        reason = type(error).__name__
    reason = reason[:LONGEST_MESSAGE].rstrip(". ")
    return NoProgram(
        why=f"{NOT_WRITTEN}: {reason}. If you train with other shapes or types, hand some in: "
        "sample=(x[:1], y[:1])"
    )
