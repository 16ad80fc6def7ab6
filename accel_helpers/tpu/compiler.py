"""Compiles a model's training step for a TPU that is not there, by libtpu in a child process."""

import json
import re
import tempfile
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from accel_helpers._values import probe
from accel_helpers._values.records import whole
from accel_helpers.measure import products
from accel_helpers.tpu import child, report
from accel_helpers.tpu import environment as tpu_environment
from accel_helpers.tpu.answers import CompiledStep
from accel_helpers.tpu.environment import Environment
from accel_helpers.tpu.lowering import NoProgram, Program, lower

# chip -> bytes of its memory that a program may have. They are the compiler's own figures, out of
# the error "Used 21.98G of 15.75G hbm"; the tests compare them with it.
MEMORY = {"v5e": int(15.75 * 2**30), "v6e": int(31.25 * 2**30)}
SECONDS = 300.0  # that one compilation may take
CHILD_MEMORY = 12e9  # bytes that one compilation may take
MOST_TRIES = 8  # compilations to find the batch that fits
MOST_ARRAYS = 5  # of the largest arrays are in an answer
# What stands in the place of an operation's path if an array is an argument of the step, or a copy
# of one: "", "XLA_Args" by TensorFlow; "x", "y['a']" or "state[0][3]" by JAX.
_ARGUMENT = re.compile(r"|XLA_Args|[xy](\[.*)?|state\[.*")
# how the child process ended -> what the user can do about it
_ADVICE = {"too slow": "; give seconds= more", "too large": "; give memory= more"}

__all__ = ["compile_training_step"]


def compile_training_step(
    model, batch_size: int, chip: str = "v5e", *, chips: int = 1, sample: tuple | None = None,
    thorough: bool = False, seconds: float = SECONDS, memory: float = CHILD_MEMORY,
    environment: Environment | None = None, run: Callable = probe.run_command,
) -> CompiledStep:  # fmt: skip
    """Compile the training step that `fit` runs, for a TPU that is not there.

    Only shapes are needed: no batch is allocated, and the model stays as it is. Where the batch
    does not fit, others are compiled to find the largest power of two that does.

    Parameters
    ----------
    model : keras.Model
        Compiled, on the TensorFlow or the JAX backend.
    batch_size : int
        Samples of a step, over all chips.
    chip : {"v5e", "v6e"}, optional
        The kind of TPU.
    chips : {1, 4, 8}, optional
        How many there are; each gets its part of the batch.
    sample : (x, y), optional
        A few real samples with their targets, for models whose shapes cannot be read off.
    thorough : bool, optional
        Give the compiler its full time, for its estimate of cycles by layer.
    seconds : float, optional
        The time limit of each compilation.
    memory : float, optional
        The limit of each compilation in bytes.
    environment : optional
        Where the compiler is installed; by default where `install` puts it.
    run : callable, optional
        What runs it, as `probe.run_command`.

    Returns
    -------
    CompiledStep
        What the compiler found out. If the compiler is missing or fails, the answer says so, and
        why.

    Raises
    ------
    ValueError
        If the model is not a compiled Keras model, or does not tell the shapes of a batch; if the
        batch size is no multiple of the number of chips; if there is no such chip, or no such
        number of them.

    Examples
    --------
    >>> compile_training_step(None, 32, chip="v4")
    Traceback (most recent call last):
    ...
    ValueError: chip must be 'v5e' or 'v6e'; got 'v4'.
    """
    _check_choice(chip, "chip", MEMORY)
    _check_choice(chips, "chips", child.TOPOLOGIES)
    # Every chip gets a sample at least.
    batch_size = whole(batch_size, "batch_size", least=chips)
    if batch_size % chips:
        raise ValueError(f"batch_size must be a multiple of {chips}, the chips; got {batch_size}.")
    import keras

    unknown = CompiledStep(
        name=getattr(model, "name", ""),
        backend=keras.config.backend(),
        batch_size=batch_size,
        chip=chip,
        chips=chips,
        memory=MEMORY[chip],
        policy=_policy(model),
        thorough=thorough,
    )
    if environment is None:
        environment = tpu_environment.status()
    run_within_limits = partial(run, seconds=seconds, memory=memory)
    compiler = _Compiler(model, sample, unknown, environment, run_within_limits)
    answer = compiler.compile(batch_size)
    if answer.verdict != "too large":
        return answer
    return compiler.find_batch_that_fits(answer)


def _check_choice(value: object, name: str, choices: Collection) -> None:
    """Raise ValueError if a value is none of the choices; `name` is that of the parameter."""
    if value not in choices:
        texts = [repr(choice) for choice in choices]
        raise ValueError(f"{name} must be {' or '.join(texts)}; got {value!r}.")


def _policy(model) -> str:
    """Return the dtype policy of a model's layers that have weights: "mixed_bfloat16".

    Where they differ: "bfloat16 and float32". Where there are no such layers: "float32".
    """
    names = set()
    for layer in getattr(model, "layers", ()):
        if layer.weights:
            names.add(layer.dtype_policy.name)
    return " and ".join(sorted(names)) or "float32"


@dataclass(frozen=True)
class _Compiler:
    """Compiles the step of one model for batches of different sizes, in a child process."""

    model: Any  # a keras.Model
    sample: Any  # (x, y), or None
    unknown: CompiledStep  # the answer as it is before anything was compiled
    environment: Environment  # where the compiler is installed, or why it is not
    run: Callable  # as `probe.run_command`, with its limits set

    def compile(self, batch_size: int) -> CompiledStep:
        """Return the answer for a batch of this size; a failure is an answer, too.

        Raises ValueError if the model is not compiled, or does not tell the shapes of a batch.
        """
        unknown = replace(self.unknown, batch_size=batch_size)
        try:
            program = lower(
                self.model, batch_size, self.sample, chips=unknown.chips, memory=unknown.memory
            )
            if not self.environment.ready:
                return replace(unknown, why=self.environment.why)
            fields = self._compile_in_child(program)
        except NoProgram as reason:
            return replace(unknown, **reason.fields)
        except OSError as error:
            return replace(unknown, why=str(error))

        message = fields.pop("error")
        text = fields.pop("program")
        answer = replace(unknown, flops=_product_flops(self.model, batch_size), **fields)
        if not message:
            return self._fitting(answer, program, text)
        overflow = report.read_overflow(message)
        if overflow:
            needed, largest = overflow
            largest = _named(largest, self._layers(), program)
            return replace(answer, verdict="too large", needed=needed, largest=largest)
        # Of a program that is far too large, the compiler says only that memory is exhausted.
        if message.startswith("RESOURCE_EXHAUSTED"):
            return replace(answer, verdict="too large")
        first_line = message.partition("\n")[0]
        return replace(unknown, why=f"the compiler failed: {first_line[:300]}")

    def _compile_in_child(self, program: Program) -> dict:
        """Return what `child.compile_program` returns for a program, after running it as a process.

        That is fields of the answer, the compiled "program" as text, and an "error" or "". Raises
        OSError if the process does not end by itself with an answer, within its limits.
        """
        job = {
            "chip": self.unknown.chip,
            "chips": self.unknown.chips,
            "thorough": self.unknown.thorough,
            "shared": program.batch_arguments,
        }
        # The compiler leaves temporary files in the folder, which are deleted with it.
        with tempfile.TemporaryDirectory(prefix="accel-tpu-") as folder:
            place = Path(folder)
            (place / "job.json").write_text(json.dumps(job))
            (place / "program.pb").write_bytes(program.data)
            answer_file = place / "answer.json"
            command, variables = self.environment.command(child.__file__, folder, scratch=folder)
            outcome = self.run(command, environ=variables, folder=folder)
            if outcome.kind != "finished" or not answer_file.exists():
                advice = _ADVICE.get(outcome.kind, "")
                raise ChildProcessError(f"the compiler's process {outcome.ending}{advice}")
            return json.loads(answer_file.read_text())

    def _fitting(self, answer: CompiledStep, program: Program, text: str) -> CompiledStep:
        """Return the answer for a step that fits, completed by what the compiled program says.

        `program` is the step as the framework wrote it, `text` is what the compiler made of it.
        """
        layers = self._layers()
        cycles = ()
        if answer.thorough:
            cycles = report.estimated_cycles(text, layers)
        return replace(
            answer,
            verdict="fits",
            logical_bytes=program.argument_bytes,
            largest=_named(report.largest_arrays(text), layers, program),
            collectives=report.collectives(text),
            cycles=cycles,
        )

    def _layers(self) -> list[str]:
        """Return the names of the model's own layers."""
        return [layer.name for layer in self.model.layers]

    def find_batch_that_fits(self, too_large: CompiledStep) -> CompiledStep:
        """Compile other batches, and return the answer with the largest power of two that fits.

        `too_large` is the answer for a batch that does not fit. If a batch can be neither compiled
        nor said to be too large, the answer says why in its `why`.
        """
        chips = too_large.chips
        newest = too_large
        tried: dict[int, bool] = {}
        while len(tried) < MOST_TRIES:
            batch = _next_batch(newest)
            if batch in tried or not chips <= batch < too_large.batch_size:
                break
            newest = self.compile(batch)
            if newest.verdict not in ("fits", "too large"):
                reason = newest.why or newest.verdict
                return replace(too_large, why=f"a batch of {batch} could not be asked: {reason}")
            tried[batch] = newest.verdict == "fits"

        fitting = [size for size, fits in tried.items() if fits]
        largest_batch = None
        if fitting:
            largest_batch = max(fitting)
        elif batch < chips:
            # None is left to try: even one sample for each chip is too many.
            largest_batch = 0
        return replace(too_large, largest_batch=largest_batch, tried=tuple(sorted(tried.items())))


def _next_batch(newest: CompiledStep) -> int:
    """Return the batch to try after the newest answer: a power of two, or 0 where none is left.

    After a batch that fits it is twice as large, and else at most as large as the memory allows.
    """
    batch = newest.batch_size
    if newest.verdict == "fits":
        return 2 * batch
    # More than this share of the batch cannot fit, since the bytes that are needed grow at most in
    # proportion to the batch. If they are not known, half the batch is tried.
    share = 0.5
    if newest.needed:
        share = newest.memory / newest.needed
    limit = int(min(max(newest.chips, batch * share), batch - 1))
    if limit < 1:
        return 0
    return 2 ** (limit.bit_length() - 1)


def _product_flops(model, batch_size: int) -> int | None:
    """Return the FLOP of the matrix products and convolutions in a step of a model.

    Returns None if the work of one of its layers cannot be counted.
    """
    try:
        counted = products.count(model, batch_size)
    # Whatever goes wrong: the compiler understands more models than are counted.
    except Exception:
        return None
    if counted.notes:
        return None
    return counted.training_flops


def _named(
    rows: Sequence[report.Allocation], layers: list[str], program: Program
) -> tuple[report.Allocation, ...]:
    """Return the first few of some arrays, each with an operation that a learner understands.

    Such as "hidden, going back" for what a layer makes, or "weights or optimizer" for an argument
    of the step. `layers` are the names of the model's layers.
    """
    named_rows = []
    for row in rows[:MOST_ARRAYS]:
        if _ARGUMENT.fullmatch(row.operation):
            name = _name_of_argument(row.array, program)
        else:
            name = report.short_name(row.operation, layers)
        named_rows.append(replace(row, operation=name))
    return tuple(named_rows)


def _name_of_argument(array: str, program: Program) -> str:
    """Return which arguments of the step are arrays of this type and shape, by their kinds.

    "f32[24,16]" -> "weights or optimizer", since the optimizer keeps arrays of the weights' shapes.
    If none is, it returns "an argument".
    """
    kinds = [kind for kind, argument in program.arguments if argument == array]
    if not kinds:
        return "an argument"
    return " or ".join(dict.fromkeys(kinds))
