"""A model's training step as a program that a compiler reads, made from shapes alone.

`model._flatten_layers`, `model._symbolic_build`, what `_built` puts back and TensorFlow's
`experimental_get_compiler_ir` are private; they are used here and nowhere else.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, prod

from accel_helpers._words import shown
from accel_helpers.tpu.report import layer_of

# Layers of Keras that look words or numbers up in tables, or turn them into text.
TEXT = ("Hashing", "HashedCrossing", "IntegerLookup", "StringLookup", "TextVectorization")


class NotForTPU(ValueError):
    """A TPU cannot run the operation `args[0]`; the layer `args[1]` holds it, "" where unknown."""


class TooLarge(ValueError):
    """What one chip is given for a step, `args[0]` in bytes, is more than it has memory."""


class CannotLower(RuntimeError):
    """The step could not be written down; the message says why, as far as the framework does."""


@dataclass(frozen=True)
class Program:
    """A training step, not compiled yet."""

    data: bytes  # a serialized HLO module
    given: int  # bytes of what one chip is given for a step, without any padding
    # What the step is given, as (kind, shape, dtype); the kinds are "weights", "optimizer",
    # "other state", "inputs" and "targets".
    arguments: tuple[tuple[str, tuple[int, ...], str], ...]
    # Which arguments of the program are cut along the batch; negative ones count from the end.
    batch_arguments: tuple[int, ...]


def bytes_of(arguments, *kinds: str) -> int:
    """Bytes of the arguments of these kinds, of all without one; without any padding."""

    def each(dtype):  # bool and string name no bits
        return max(int(re.search(r"\d+|$", dtype)[0] or 8), 8) // 8

    rows = [row for row in arguments if row[0] in kinds or not kinds]
    return sum(prod(shape) * each(dtype) for _, shape, dtype in rows)


def lower(model, batch_size: int, sample=None, *, chips: int = 1, memory: float = inf) -> Program:
    """Write down a model's training step for a batch of this size; the model stays as it is."""
    import keras

    _check(model)
    x, y = _batch(model, batch_size, sample)
    with _built(model, x, y):
        arguments = _arguments(model, x, y)
        batch = bytes_of(arguments, "inputs", "targets")
        given = bytes_of(arguments) - batch + batch // chips  # each has a copy of all else
        if given > memory:
            raise TooLarge(given)
        by_tensorflow = keras.config.backend() == "tensorflow"
        try:
            data = (_lower_tensorflow if by_tensorflow else _lower_jax)(model, x, y)
        except Exception as error:  # whatever the frameworks raise: told apart by what they say
            refused = refused_operation(str(error), [layer.name for layer in model.layers])
            if refused:
                raise NotForTPU(*refused) from error
            raise CannotLower(_reason(error)) from error
    leaves = len(keras.tree.flatten((x, y)))
    # TensorFlow puts the batch before the model's state, JAX behind it.
    first = 0 if by_tensorflow else -leaves
    return Program(data, given, arguments, tuple(range(first, first + leaves)))


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
    state = tuple([spec(variable) for variable in some] for some in _state(model).values())
    traced = jax.jit(step, donate_argnums=0, keep_unused=True).trace(
        state, *(keras.tree.map_structure(spec, part) for part in (x, y))
    )
    module = traced.lower(lowering_platforms=("tpu",)).compiler_ir("hlo")
    return module.as_serialized_hlo_module_proto()


def _state(model) -> dict[str, list]:
    """The model's numbers, in the order in which Keras's JAX trainer takes them."""
    return {
        "weights": model.trainable_variables,
        "not trained": model.non_trainable_variables,
        "optimizer": model.optimizer.variables,
        "metrics": model.metrics_variables,
    }


@contextlib.contextmanager
def _built(model, x, y):
    """Let Keras make its variables as `fit` would; what a guess was built on is not kept."""
    own = {name: vars(model).get(name) for name in ("_compile_loss", "_compile_metrics")}
    try:
        try:
            for name, held in own.items():
                if held is not None and not held.built:
                    # What `compile` was given, in the order in which the constructor takes it.
                    asked = {k: v for k, v in vars(held).items() if k.startswith("_user_")}
                    vars(model)[name] = type(held)(*asked.values(), output_names=held.output_names)
            model._symbolic_build(data_batch=(x, y))  # only shapes and types are looked at
            if not model.optimizer.built:
                model.optimizer.build(model.trainable_variables)
        except Exception as error:  # whatever the model's own code raises
            raise CannotLower(_reason(error)) from error
        yield
    finally:
        vars(model).update(own)


def _check(model) -> None:
    """Refuse what is no compiled model, what has text in it, and what several replicas share."""
    import keras

    if not isinstance(model, keras.Model) or not model.compiled:
        raise ValueError(f"model must be a compiled Keras model; got {shown(model)}.")
    for layer in model._flatten_layers():
        if type(layer).__name__ in TEXT:
            raise NotForTPU(type(layer).__name__, layer.name)
    shared = "tensorflow.python.distribute"
    if any(type(variable.value).__module__.startswith(shared) for variable in model.variables):
        raise CannotLower("the model is of a tf.distribute strategy; make one outside its scope")


def _arguments(model, x, y):
    import keras

    rows = [
        (kind if kind in ("weights", "optimizer") else "other state",
         tuple(variable.shape), str(variable.dtype))
        for kind, variables in _state(model).items()
        for variable in variables
    ]  # fmt: skip
    for kind, part in (("inputs", x), ("targets", y)):
        rows += [(kind, leaf.shape, leaf.dtype) for leaf in keras.tree.flatten(part)]
    return tuple(rows)


def _batch(model, batch_size: int, sample):
    """The shapes of a batch: from a sample, else from the model and its loss."""
    import keras

    def like(array):
        if not getattr(array, "shape", ()):
            raise ValueError(f"sample must hold arrays with samples; got {shown(array)}.")
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
        if not isinstance(sample, Sequence) or len(sample) != 2:
            raise ValueError(f"sample must be a pair (x, y) of arrays; got {shown(sample)}.")
        return tuple(keras.tree.map_structure(like, part) for part in sample)
    inputs, outputs = getattr(model, "inputs", None), getattr(model, "outputs", None)
    if not inputs or len(outputs) != 1:
        raise _ask_for_sample("the model does not say one shape of its inputs and one output")
    x = keras.tree.map_structure(fixed, inputs[0] if len(inputs) == 1 else model.input)
    out = fixed(outputs[0])
    sparse = _loss_name(model.loss).lower().startswith("sparse")
    y = (out.shape[:-1], "int32") if sparse else (out.shape, "float32")
    return x, keras.KerasTensor(*y)


def _loss_name(loss) -> str:
    """The name of a loss of Keras's own: it says which targets are taken."""
    if isinstance(loss, str):
        return loss
    loss = getattr(loss, "fn", loss)  # most losses of Keras are a function in a class
    kind = loss if hasattr(loss, "__name__") else type(loss)
    if not kind.__module__.startswith("keras"):
        raise _ask_for_sample(f"the loss {shown(loss)} does not say which targets it takes")
    return kind.__name__


def _ask_for_sample(why: str) -> ValueError:
    real = "Give a few real samples: sample=(x[:1], y[:1])."
    return ValueError(f"The shapes of a batch cannot be read off, since {why}. {real}")


def refused_operation(message: str, layers: Sequence[str] = ()) -> tuple[str, str] | None:
    """Find in a compiler's error the operation that it refused, and the layer that holds it."""
    found = re.search(r"No registered '(\w+)' OpKernel", message)
    found = found or re.search(r"unsupported operations[^:]*: (\w+)", message)
    if not found:
        # Sizes that are known only while the program runs: XLA, and so a TPU, has no such arrays.
        found = re.search(r"node `([^`]+/(\w+))` .*must be a compile-time constant", message, re.S)
        return (found[2], layer_of(found[1], layers)) if found else None
    node = re.search(r"\{\{node ([^}]+)\}\}", message[found.start() :])
    return found[1], layer_of(node[1] if node else "", layers)


def _reason(error: BaseException) -> str:
    """The last line of what was raised: the frameworks put the story before it."""
    # Keras closes with the arguments of the call, and writes in bold.
    said = re.sub(r"\x1b\[\d*m", "", str(error).partition("Arguments received by ")[0])
    if found := re.search(r"^\s*Failed getting HLO text: '(.*)", said, re.M):
        return found[1][:300]  # here the story stands behind it
    return (said.strip().splitlines() or [type(error).__name__])[-1].strip()[:300]
