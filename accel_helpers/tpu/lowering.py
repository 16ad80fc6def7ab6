"""A model's training step as a program that a compiler reads, made from shapes alone.

`model._flatten_layers`, `model._symbolic_build`, what `_built` puts back and TensorFlow's
`experimental_get_compiler_ir` are private; they are used here and nowhere else.
"""

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from accel_helpers._values.words import shown
from accel_helpers.measure.layers import name_of
from accel_helpers.tpu.answers import NOT_WRITTEN
from accel_helpers.tpu.report import array_bytes, layer_of

# Layers of Keras that look words or numbers up in tables, or turn them into text.
TEXT = ("Hashing", "HashedCrossing", "IntegerLookup", "StringLookup", "TextVectorization")


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
    given: int  # bytes of that, without any padding
    # Which arguments of the program are cut along the batch; negative ones count from the end.
    batch_arguments: tuple[int, ...]


def lower(model, batch_size: int, sample=None, *, chips: int = 1, memory: float = inf) -> Program:
    """Write down a model's training step for a batch of this size; the model stays as it is."""
    import keras

    _check(model)
    x, y = _batch(model, batch_size, sample)
    by_tensorflow = keras.config.backend() == "tensorflow"
    try:
        with _built(model, x, y):
            arguments = _arguments(model, x, y, chips)
            given = sum(array_bytes(array) for _, array in arguments)
            if given > memory:
                raise NoProgram(verdict="too large", needed=given, at_least=True)
            data = (_lower_tensorflow if by_tensorflow else _lower_jax)(model, x, y)
    except NoProgram:
        raise
    except Exception as error:  # whatever the model's own code and the frameworks raise
        if refused := _refused(str(error), [layer.name for layer in model.layers]):
            operation, layer = refused
            raise NoProgram(verdict="refused", operation=operation, layer=layer) from error
        raise _not_written(error) from error
    leaves = len(keras.tree.flatten((x, y)))
    # TensorFlow puts the batch before the model's state, JAX behind it.
    first = 0 if by_tensorflow else -leaves
    return Program(data, arguments, given, tuple(range(first, first + leaves)))


def _lower_tensorflow(model, x, y) -> bytes:
    import keras
    import tensorflow as tf

    # Its inputs are told one by one: lists of them, and dictionaries, are refused.
    @tf.function(jit_compile=True)
    def step(*leaves):
        return model.train_step(keras.tree.pack_sequence_as((x, y), leaves))

    leaves = [tf.TensorSpec(leaf.shape, leaf.dtype) for leaf in keras.tree.flatten((x, y))]
    return step.experimental_get_compiler_ir(*leaves)(stage="hlo_serialized")


def _lower_jax(model, x, y) -> bytes:
    import jax
    import keras

    def spec(shape):
        return jax.ShapeDtypeStruct(shape.shape, shape.dtype)

    def step(state, x, y):
        return model.train_step(state, (x, y))

    # What is not used stays in, so that the batch can be counted from the end.
    state = tuple([spec(variable) for variable in variables] for _, variables in _state(model))
    traced = jax.jit(step, donate_argnums=0, keep_unused=True).trace(
        state, *(keras.tree.map_structure(spec, part) for part in (x, y))
    )
    module = traced.lower(lowering_platforms=("tpu",)).compiler_ir("hlo")
    return module.as_serialized_hlo_module_proto()


def _state(model) -> list[tuple[str, list]]:
    """The model's numbers by kind, in the order in which Keras's JAX trainer takes them."""
    return [
        ("weights", model.trainable_variables),
        ("other state", model.non_trainable_variables),
        ("optimizer", model.optimizer.variables),
        ("other state", model.metrics_variables),
    ]


def _arguments(model, x, y, chips: int) -> tuple[tuple[str, str], ...]:
    import keras

    def array(shape, dtype):
        # a text never gets to a TPU: writing the step down fails
        short = {"bool": "pred", "string": "u8"}.get(dtype, dtype)
        short = short.replace("float", "f").replace("uint", "u").replace("int", "s")
        return f"{short}[{','.join(map(str, shape))}]"

    rows = [(kind, array(one.shape, one.dtype)) for kind, held in _state(model) for one in held]
    for kind, part in (("inputs", x), ("targets", y)):
        for leaf in keras.tree.flatten(part):
            rows.append((kind, array((leaf.shape[0] // chips, *leaf.shape[1:]), leaf.dtype)))
    return tuple(rows)


@contextlib.contextmanager
def _built(model, x, y):
    """Let Keras make its variables as `fit` would; what a guess was built on is not kept."""
    own = {name: vars(model).get(name) for name in ("_compile_loss", "_compile_metrics")}
    try:
        for name, held in own.items():
            if held is not None and not held.built:
                # What `compile` was given, in the order in which the constructor takes it.
                asked = {k: v for k, v in vars(held).items() if k.startswith("_user_")}
                vars(model)[name] = type(held)(*asked.values(), output_names=held.output_names)
        model._symbolic_build(data_batch=(x, y))  # only shapes and types are looked at
        if not model.optimizer.built:
            model.optimizer.build(model.trainable_variables)
        yield
    finally:
        vars(model).update(own)


def _check(model) -> None:
    """Refuse what is no compiled model, and what has text in it."""
    import keras

    if not isinstance(model, keras.Model) or not model.compiled:
        raise ValueError(f"model must be a compiled Keras model; got {shown(model)}.")
    for layer in model._flatten_layers():
        if type(layer).__name__ in TEXT:
            raise NoProgram(verdict="refused", operation=type(layer).__name__, layer=layer.name)


def _batch(model, batch_size: int, sample):
    """The shapes of a batch: from a sample, else from the model and its loss."""
    import keras

    def like(array):
        kind = keras.backend.standardize_dtype(array.dtype)
        # `fit` turns floating-point numbers into the type that Keras works with.
        kind = keras.config.floatx() if "float" in kind else kind
        return keras.KerasTensor((batch_size, *array.shape[1:]), kind)

    def fixed(tensor):
        first, *rest = tensor.shape
        if first not in (None, batch_size):
            raise ValueError(f"The model is built for a batch of {first}; got {batch_size}.")
        if None in rest:
            raise _ask_for_sample(f"a shape is open: {tuple(tensor.shape)}")
        return keras.KerasTensor((batch_size, *rest), tensor.dtype)

    if sample is not None:
        return tuple(keras.tree.map_structure(like, part) for part in sample)
    inputs, outputs = getattr(model, "inputs", None), getattr(model, "outputs", None)
    if not inputs or len(outputs) != 1:
        raise _ask_for_sample("the model does not say one shape of its inputs and one output")
    x = keras.tree.map_structure(fixed, inputs[0] if len(inputs) == 1 else model.input)
    out = fixed(outputs[0])
    # A loss of Keras's own says by its name which targets it takes; most are a function in a class.
    loss = getattr(model.loss, "fn", model.loss)
    kind = loss if hasattr(loss, "__name__") else type(loss)
    if not isinstance(loss, str) and not kind.__module__.startswith("keras"):
        raise _ask_for_sample(f"the loss {shown(loss)} does not say which targets it takes")
    if (loss if isinstance(loss, str) else name_of(loss)).lower().startswith("sparse"):
        return x, keras.KerasTensor(out.shape[:-1], "int32")
    return x, keras.KerasTensor(out.shape, "float32")


def _ask_for_sample(why: str) -> ValueError:
    real = "Give a few real samples: sample=(x[:1], y[:1])."
    return ValueError(f"The shapes of a batch cannot be read off, since {why}. {real}")


def _refused(message: str, layers: Sequence[str]) -> tuple[str, str] | None:
    """Find in a compiler's error the operation that it refused, and the layer that holds it."""
    found = re.search(r"No registered '(\w+)' OpKernel", message)
    found = found or re.search(r"unsupported operations[^:]*: (\w+)", message)
    if not found:
        # Sizes that are known only while the program runs: XLA, and so a TPU, has no such arrays.
        found = re.search(r"node `([^`]+/(\w+))` .*must be a compile-time constant", message, re.S)
        return (found[2], layer_of(found[1], layers)) if found else None
    node = re.search(r"\{\{node ([^}]+)\}\}", message[found.start() :])
    return found[1], layer_of(node[1] if node else "", layers)


def _not_written(error) -> NoProgram:
    """With the last line of what was raised: the frameworks put the story before it."""
    # Keras closes with the arguments of the call, and writes in bold.
    said = re.sub(r"\x1b\[\d*m", "", str(error).partition("Arguments received by ")[0])
    if found := re.search(r"^\s*Failed getting HLO text: '(.*)", said, re.M):
        last = found[1]  # here the story stands behind it
    else:
        last = (said.strip().splitlines() or [type(error).__name__])[-1].strip()
    hint = "If you train with other shapes or types, hand some in: sample=(x[:1], y[:1])"
    return NoProgram(why=f"{NOT_WRITTEN}: {last[:300].rstrip('. ')}. {hint}")
