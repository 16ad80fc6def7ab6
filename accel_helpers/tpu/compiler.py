"""Compiles a model's training step for a TPU that is not there, by libtpu in a child process."""

import json
import re
import tempfile
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from accel_helpers._values import probe
from accel_helpers._values.records import whole
from accel_helpers.measure.layers import RULES
from accel_helpers.measure.work import count_step
from accel_helpers.tpu import child, report
from accel_helpers.tpu import environment as tpu_environment
from accel_helpers.tpu.answers import CompiledStep
from accel_helpers.tpu.environment import Environment
from accel_helpers.tpu.lowering import NoProgram, Program, lower

# Bytes of memory that a program may have, in the compiler's own words ("Used ... of 15.75G hbm");
# the tests ask it again.
MEMORY = {"v5e": int(15.75 * 2**30), "v6e": int(31.25 * 2**30)}
SECONDS = 300.0  # that one compilation may take
CHILD_MEMORY = 12e9  # bytes that one compilation may take
MOST_TRIES = 8  # compilations to find the batch that fits
MOST_ARRAYS = 5  # of the largest arrays are told
# How the frameworks name an argument of the step, or a copy of one: "", "XLA_Args", "x", "y['a']"
# where there are several, "state[0][3]".
_ARGUMENT = re.compile(r"|XLA_Args|[xy](\[.*)?|state\[.*")
# What to do about a limit that the child process broke.
_ADVICE = {"too slow": "; give seconds= more", "too large": "; give memory= more"}

__all__ = ["compile_training_step"]


def compile_training_step(
    model, batch_size: int, chip: str = "v5e", *, chips: int = 1, sample=None,
    thorough: bool = False, seconds: float = SECONDS, memory: float = CHILD_MEMORY,
    environment=None, run: Callable = probe.run_command,
) -> CompiledStep:  # fmt: skip
    """Compile the training step that `fit` runs, for a TPU that is not there.

    Only shapes are needed: no batch is allocated, and the model stays as it is. Where the batch
    does not fit, others are compiled to find the largest power of two that does.

    Parameters
    ----------
    model : keras.Model
        Compiled, on the TensorFlow or the JAX backend.
    batch_size : int
        Samples of a step, over all chips: a multiple of `chips`.
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
        The limit of each compilation, in bytes of this computer's memory.
    environment : Environment, optional
        Where the compiler is installed; by default where `install` puts it.
    run : callable, optional
        What runs it, as `probe.run_command`.

    Returns
    -------
    CompiledStep
        What the compiler found out: its `verdict` is "fits", "too large" (then with the largest
        batch that fits), "refused" or "unavailable". Where the compiler is missing or fails, the
        answer says so, and why.

    Raises
    ------
    ValueError
        If an argument is none of those above, if the model is not compiled by ``compile``, or if
        the shapes of a batch cannot be read off it and there is no sample.

    Examples
    --------
    >>> compile_training_step(None, 32, chip="v4")
    Traceback (most recent call last):
    ...
    ValueError: chip must be 'v5e' or 'v6e'; got 'v4'.
    """
    _check_choice(chip, "chip", MEMORY)
    _check_choice(chips, "chips", child.TOPOLOGIES)
    batch_size = whole(batch_size, "batch_size", least=chips)
    if batch_size % chips:
        raise ValueError(f"batch_size must be a multiple of {chips}, the chips; got {batch_size}.")
    import keras

    # What is known before anything is compiled.
    unanswered = CompiledStep(
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
    compiler = _Compiler(model, sample, unanswered, environment, run_within_limits)
    answer = compiler.compile(batch_size)
    if answer.verdict != "too large":
        return answer
    return compiler.find_batch_that_fits(answer)


def _check_choice(value, name: str, choices: Container) -> None:
    """Refuse a value that is none of the choices, with a ValueError."""
    if value not in choices:
        texts = [repr(choice) for choice in choices]
        raise ValueError(f"{name} must be {' or '.join(texts)}; got {value!r}.")


def _policy(model) -> str:
    """Return the dtype policy of the layers that have weights, such as "mixed_bfloat16".

    Where they differ it names all: "float32 and mixed_bfloat16".
    """
    names = set()
    for layer in getattr(model, "layers", ()):
        if layer.weights:
            names.add(layer.dtype_policy.name)
    return " and ".join(sorted(names)) or "float32"


@dataclass(frozen=True)
class _Compiler:
    """Compiles the step of one model for batches of different sizes.

    An *answer* is a `CompiledStep`; a *program* is the step as a framework writes it down.
    """

    model: Any
    sample: Any  # (x, y), or None
    unanswered: CompiledStep  # what is known before anything was compiled
    environment: Environment  # where the compiler is
    run: Callable  # runs its process, as `probe.run_command`, within the limits

    def compile(self, batch_size: int) -> CompiledStep:
        """Compile the step for a batch of this size, and return the answer.

        Where there is no program, no compiler, or where it fails, that is the answer.
        """
        unanswered = replace(self.unanswered, batch_size=batch_size)
        try:
            program = lower(
                self.model,
                batch_size,
                self.sample,
                chips=unanswered.chips,
                memory=unanswered.memory,
            )
            if not self.environment.ready:
                return replace(unanswered, why=self.environment.why)
            fields = self._compile_in_child(program)
        except NoProgram as reason:
            return replace(unanswered, **reason.fields)
        except OSError as error:
            return replace(unanswered, why=str(error))

        message = fields.pop("error")
        text = fields.pop("program")
        answer = replace(unanswered, flops=_product_flops(self.model, batch_size), **fields)
        if not message:
            return self._fitting(answer, program, text)
        overflow = report.read_overflow(message)
        if overflow:
            needed, largest = overflow
            largest = _named(largest, self._layers(), program)
            return replace(answer, verdict="too large", needed=needed, largest=largest)
        # For programs far too large the compiler says no more than that memory is exhausted.
        if message.startswith("RESOURCE_EXHAUSTED"):
            return replace(answer, verdict="too large")
        first_line = message.partition("\n")[0]
        return replace(unanswered, why=f"the compiler failed: {first_line[:300]}")

    def _compile_in_child(self, program: Program) -> dict:
        """Return what the compiler's process wrote for this program.

        Fields of the answer, the compiled "program" as text, and an "error", which is "" where
        there was none. Raises OSError where that process ended without an answer.
        """
        job = {
            "chip": self.unanswered.chip,
            "chips": self.unanswered.chips,
            "thorough": self.unanswered.thorough,
            "shared": program.batch_arguments,
        }
        # What the compiler itself leaves lying about stays in the folder, and goes with it.
        with tempfile.TemporaryDirectory(prefix="accel-tpu-") as folder:
            place = Path(folder)
            (place / "job.json").write_text(json.dumps(job))
            (place / "program.pb").write_bytes(program.data)
            answer = place / "answer.json"
            command, variables = self.environment.command(child.__file__, folder, scratch=folder)
            outcome = self.run(command, environ=variables, folder=folder)
            if outcome.kind != "finished" or not answer.exists():
                advice = _ADVICE.get(outcome.kind, "")
                raise ChildProcessError(f"the compiler's process {outcome.ending}{advice}")
            return json.loads(answer.read_text())

    def _fitting(self, answer: CompiledStep, program: Program, text: str) -> CompiledStep:
        """Return the answer for a step that fits, with what the text of its program says."""
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
        """Look for the largest power of two that fits, by compiling, and add it to the answer.

        Where that ends without one, `largest_batch` stays None, or is 0: not even one sample fits
        on each chip.
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
            # Even one sample for each chip is too many.
            largest_batch = 0
        return replace(too_large, largest_batch=largest_batch, tried=tuple(sorted(tried.items())))


def _next_batch(newest: CompiledStep) -> int:
    """Return the batch to try after the newest answer: a power of two, or 0 where none is left."""
    batch = newest.batch_size
    if newest.verdict == "fits":
        return 2 * batch
    share = 0.5
    # What is needed grows at most with the batch: the share says how far to go down.
    if newest.needed:
        share = newest.memory / newest.needed
    limit = int(min(max(newest.chips, batch * share), batch - 1))
    if limit < 1:
        return 0
    return 2 ** (limit.bit_length() - 1)


def _product_flops(model, batch_size: int) -> int | None:
    """Return the FLOP of the products in a step; None where a layer's kind has no rule."""
    try:
        work = count_step(model, batch_size)
    except Exception:  # whatever a model may be that this compiler has understood
        return None
    for row in work.rows:
        if row.kind and row.kind not in RULES:
            return None
    return work.product_flops


def _named(
    rows: Sequence[report.Allocation], layers: list[str], program: Program
) -> tuple[report.Allocation, ...]:
    """Return the first few arrays, each with a name for a learner in place of the operation.

    That is the layer, such as "hidden, going back", or for an argument of the step its kind, such
    as "weights or optimizer".
    """
    named = []
    for row in rows[:MOST_ARRAYS]:
        if _ARGUMENT.fullmatch(row.operation):
            name = _name_of_argument(row.array, program)
        else:
            name = report.short_name(row.operation, layers)
        named.append(replace(row, operation=name))
    return tuple(named)


def _name_of_argument(array: str, program: Program) -> str:
    """Return which of the step's arguments look like an array: "weights or optimizer"."""
    # Several arguments may look alike: a weight and the optimizer's two numbers for it.
    kinds = [kind for kind, argument in program.arguments if argument == array]
    if not kinds:
        return "an argument"
    return " or ".join(dict.fromkeys(kinds))
