"""Compiles a model's training step for a TPU that is not there, by libtpu in a child process."""

import json
import tempfile
from pathlib import Path

from accel_helpers._values import probe
from accel_helpers._values.records import whole
from accel_helpers._values.words import shown
from accel_helpers.fit import saved_model
from accel_helpers.measure import products
from accel_helpers.tpu import child, environment
from accel_helpers.tpu.answers import CompiledStep

# chip -> bytes of its memory that a program may have. They are the compiler's own figures, out of
# the error "Used 21.98G of 15.75G hbm".
MEMORY = {"v5e": int(15.75 * 2**30), "v6e": int(31.25 * 2**30)}
SECONDS = 300.0  # that an answer may take
CHILD_MEMORY = 12e9  # bytes that the compiler may take
# how the child process ended -> what the user can do about it
_ADVICE = {"too slow": "; give seconds= more", "too large": "; give memory= more"}
# Classes of Keras layers that look words or numbers up in tables, or turn them into text.
TEXT_LAYERS = (
    "Hashing", "HashedCrossing", "IntegerLookup", "StringLookup", "TextVectorization",
)  # fmt: skip

__all__ = ["compile_training_step"]


def compile_training_step(
    model, batch_size: int, chip: str = "v5e", *, chips: int = 1, sample: tuple | None = None,
    seconds: float = SECONDS, memory: float = CHILD_MEMORY,
) -> CompiledStep:  # fmt: skip
    """Compile the training step that `fit` runs, for a TPU that is not there.

    The model is described to a process of its own, which makes it again on JAX. Only shapes are
    needed: no batch is allocated, and the model stays as it is. Where the batch does not fit,
    others are compiled to find the largest power of two that does.

    Parameters
    ----------
    model : keras.Model
        Compiled, on any backend. Classes and functions of your own in it must be registered, by
        ``@keras.saving.register_keras_serializable()``, and run on JAX.
    batch_size : int
        Samples of a step, over all chips.
    chip : {"v5e", "v6e"}, optional
        The kind of TPU.
    chips : {1, 4, 8}, optional
        How many there are; each gets its part of the batch.
    sample : (x, y), optional
        A few real samples with their targets, for models whose shapes cannot be read off.
    seconds : float, optional
        The time limit.
    memory : float, optional
        The limit of the process in bytes.

    Returns
    -------
    CompiledStep
        What the compiler found out. If the compiler is missing or fails, the answer says so, and
        why.

    Raises
    ------
    ValueError
        If the model is not a compiled Keras model, has unregistered classes or functions, or does
        not tell the shapes of a batch; if the batch size is no multiple of the number of chips; if
        there is no such chip, or no such number of them.

    Examples
    --------
    >>> compile_training_step(None, 32, chip="v4")
    Traceback (most recent call last):
    ...
    ValueError: chip is of ['v5e', 'v6e'], chips of [1, 4, 8]; got 'v4' and 1.
    """
    import keras

    if chip not in MEMORY or chips not in child.TOPOLOGIES:
        raise ValueError(
            f"chip is of {[*MEMORY]}, chips of {[*child.TOPOLOGIES]}; got {chip!r} and {chips!r}."
        )
    # Every chip gets a sample at least.
    batch_size = whole(batch_size, "batch_size", least=chips)
    if batch_size % chips:
        raise ValueError(f"batch_size must be a multiple of {chips}, the chips; got {batch_size}.")
    if not isinstance(model, keras.Model) or not model.compiled:
        raise ValueError(f"model must be a compiled Keras model; got {shown(model)}.")
    job = {"batch_size": batch_size, "chip": chip, "chips": chips, "memory": MEMORY[chip]}
    layers = model._flatten_layers(include_self=False)
    words = [layer.name for layer in layers if type(layer).__name__ in TEXT_LAYERS]
    if words:
        answer = {"verdict": "refused", "why": f"a TPU has no text, which layer {words[0]!r} needs"}
    else:
        batch = described_batch(model, sample)
        answer = ask(model, job | {"batch": batch}, seconds, memory)
    policies = {layer.dtype_policy.name for layer in layers if layer.weights}
    answer["name"] = model.name
    answer["policy"] = " and ".join(sorted(policies)) or model.dtype_policy.name
    answer["flops"] = _product_flops(model, batch_size)
    return CompiledStep(**(job | answer))


def ask(
    model, job: dict, seconds: float, memory: float = CHILD_MEMORY, script: str = child.__file__
) -> dict:
    """Return what a script answers to a job, as `child.main` does, from a process of its own.

    Raises ValueError if the model cannot be saved.
    """
    # The compiler leaves temporary files in the folder, which are deleted with it.
    with tempfile.TemporaryDirectory(prefix="accel-tpu-") as folder:
        saved_model.save(model, Path(folder))
        compiler = environment.status()
        if compiler.why:
            return {"why": compiler.why}
        Path(folder, "job.json").write_text(json.dumps(job))
        command, variables = compiler.command(script, folder, scratch=folder)
        outcome = probe.run_command(command, seconds=seconds, memory=memory, environ=variables)
        file = Path(folder, "answer.json")
        answer = json.loads(file.read_text("utf-8")) if file.exists() else {}
        if outcome.kind != "finished":
            advice = _ADVICE.get(outcome.kind, "")
            answer["why"] = f"the compiler's process {outcome.ending}{advice}"
        return answer


def _product_flops(model, batch_size: int) -> int | None:
    """Return the FLOP of a step's matrix products; None where a layer's cannot be counted."""
    try:
        counted = products.count(model, batch_size)
    # Whatever goes wrong: the compiler understands more models than are counted.
    except Exception:
        return None
    return None if counted.notes else counted.training_flops


def described_batch(model, sample: tuple | None = None) -> list:
    """Return what a batch is made of as [x, y], without its first side: "float32 28 28", or many.

    They are read off a sample, or else off the model and its loss. Raises ValueError if there is no
    sample, and the model does not tell them.
    """
    import keras

    if sample is not None:
        return keras.tree.map_structure(_described, list(sample))
    inputs = getattr(model, "inputs", None)
    if not inputs or len(model.outputs) != 1:
        raise _no_shape("the model does not say one shape of its inputs and one output")
    for tensor in [*inputs, *model.outputs]:
        if None in tensor.shape[1:]:
            raise _no_shape(f"a shape is open: {tensor.shape}")
    # Keras makes a list of one input, which `fit` takes without.
    x = inputs[0] if len(inputs) == 1 else model.input
    return [keras.tree.map_structure(_described, x), _targets(model.loss, model.outputs[0])]


def _described(array) -> str:
    """Return the dtype in which `fit` hands on an array, and the sides of a sample in it."""
    import keras

    dtype = keras.backend.standardize_dtype(array.dtype)
    if "float" in dtype:
        dtype = keras.config.floatx()
    return " ".join([dtype, *map(str, array.shape[1:])])


def _targets(loss, output) -> str:
    """Return what a loss compares with an output, as `_described`; labels if it is a sparse one."""
    import keras

    # Most losses of Keras are objects around a function whose name says which targets they take.
    function = getattr(loss, "fn", loss)
    if isinstance(loss, str):
        name = loss
    elif getattr(function, "__module__", "").startswith("keras"):
        name = products.name_of(function)
    else:
        raise _no_shape(f"the loss {shown(function)} does not say which targets it takes")
    if name.lower().startswith("sparse"):
        return _described(keras.KerasTensor(output.shape[:-1], "int32"))
    return _described(output)


def _no_shape(reason: str) -> ValueError:
    """Return the error that asks the caller for a sample."""
    return ValueError(
        f"The shapes of a batch cannot be read off, since {reason}. "
        "Give a few real samples: sample=(x[:1], y[:1])."
    )
