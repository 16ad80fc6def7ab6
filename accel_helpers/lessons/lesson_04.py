"""The exercises of lesson 04: counting batches, and adding up what the replicas found."""

from __future__ import annotations

import math

from accel_helpers.learn.checks import Result, called, shown

# samples, per replica, replicas: the first is a usual one, the others are where rules differ
BATCHES = ((60_000, 128, 8), (1_024, 32, 4), (1_000, 100, 1), (10, 32, 4))

# gradients per replica (each a mean over its samples), samples per replica
GRADIENTS = (
    ([[2.0, -4.0], [6.0, 8.0]], [3, 1]),
    ([[1.0, 10.0, -1.0], [5.0, 2.0, -3.0], [9.0, 0.0, 7.0]], [4, 4, 2]),
    ([[3.0], [1.0]], [8, 0]),  # a replica that got nothing
)

TRY = "Try it on the numbers of the table above first."  # where a function stops with an error


def whole_batch(gradients, counts) -> list[float]:
    """Combine the replicas' gradients into the gradient of the whole batch.

    Parameters
    ----------
    gradients : list of list of float
        One per replica, each the mean over that replica's samples.
    counts : list of int
        Samples per replica.

    Returns
    -------
    list of float

    Examples
    --------
    >>> whole_batch([[2.0], [6.0]], [3, 1])
    [3.0]
    """
    total = sum(counts)
    return [
        sum(count * part for count, part in zip(counts, parts, strict=True)) / total
        for parts in zip(*gradients, strict=True)
    ]


# ---------------------------------------------------------------------------------------------


def _batch(answer) -> Result:
    given = []
    for case in BATCHES:
        said, problem = called(answer, *case, hint=TRY)
        if problem is not None:
            return problem
        try:
            said = tuple(said)
            whole = len(said) == 3 and all(float(value) == int(value) for value in said)
        except Exception:  # whatever was returned, it is no three numbers
            whole = False
        if not whole:
            return Result(
                False,
                f"Three whole numbers are needed; got {shown(said)}.",
                "Return global_batch, steps, last_batch, in this order.",
            )
        given.append(tuple(map(int, said)))
    checks = (_why_global, _why_steps, _why_last)
    for place, why in enumerate(checks):
        column = [numbers[place] for numbers in given]
        right = [_truth(*case)[place] for case in BATCHES]
        if column != right:
            message, hint = why(column)
            return Result(False, message, hint)
    return Result(
        True, "Global batch, steps and last batch are right, also where it comes out even."
    )


def _truth(samples: int, per_replica: int, replicas: int) -> tuple[int, int, int]:
    together = per_replica * replicas
    steps = math.ceil(samples / together)
    return together, steps, samples - (steps - 1) * together


def _why_global(column) -> tuple[str, str]:
    if column == [per for _, per, _ in BATCHES]:
        return (
            "Your global batch is what one replica sees.",
            "All replicas work in the same step. How many pictures do they see together?",
        )
    if column == [per // replicas for _, per, replicas in BATCHES]:
        return (
            "You divided by the replicas. That leads the other way, from the whole to a part.",
            "The part is given. Eight replicas with 128 each see more than 128 together.",
        )
    if column == [per + replicas for _, per, replicas in BATCHES]:
        return ("You added the two.", "Each of the replicas has a batch of its own.")
    return (
        f"With {BATCHES[0][1]} per replica and {BATCHES[0][2]} replicas your global batch is "
        f"{column[0]:,}.",
        "Count the pictures that all replicas see in one step.",
    )


def _why_steps(column) -> tuple[str, str]:
    if column == [samples // (per * replicas) for samples, per, replicas in BATCHES]:
        return (
            "Your steps leave out the pictures that do not fill a batch.",
            "Keras trains on them too, in one smaller batch at the end: round up.",
        )
    if column == [samples // (per * replicas) + 1 for samples, per, replicas in BATCHES]:
        return (
            "You always add a step. Where the batches come out even, nothing is left for it.",
            "1,024 pictures in batches of 128 are 8 steps, not 9.",
        )
    if column == [math.ceil(samples / per) for samples, per, _ in BATCHES]:
        return (
            "You divided by the batch of one replica.",
            "In one step all replicas move on together: divide by the global batch.",
        )
    samples, per, replicas = BATCHES[0]
    return (
        f"For {samples:,} pictures and a global batch of {per * replicas:,} you have "
        f"{column[0]:,} steps.",
        "How many batches does it take until every picture was seen once?",
    )


def _why_last(column) -> tuple[str, str]:
    if column == [samples % (per * replicas) for samples, per, replicas in BATCHES]:
        return (
            "You have a last batch of 0 where the batches come out even.",
            "There is no empty batch: then the last one is as large as the others.",
        )
    if column == [per * replicas for _, per, replicas in BATCHES]:
        return (
            "Your last batch is always full.",
            "Take away from all pictures those that the steps before have seen.",
        )
    missing = [-samples % (per * replicas) for samples, per, replicas in BATCHES]
    if column == missing:
        return (
            "That is how many pictures the last batch lacks.",
            "Asked for is how many it has.",
        )
    return (
        f"For {BATCHES[0][0]:,} pictures your last batch has {column[0]:,}.",
        "Take away from all pictures those that the steps before have seen.",
    )


def _all_reduce(answer) -> Result:
    given = []
    for gradients, counts in GRADIENTS:
        said, problem = called(answer, [list(part) for part in gradients], list(counts), hint=TRY)
        if problem is not None:
            return problem
        try:
            said = [float(value) for value in said]
        except Exception:  # whatever was returned, it is no list of numbers
            said = None
        if said is None or len(said) != len(gradients[0]):
            return Result(
                False,
                "A list is needed, with as many numbers as one gradient has.",
                "Combine the first numbers of all replicas, then the second ones, and so on.",
            )
        given.append(said)
    if all(_close(said, whole_batch(*case)) for said, case in zip(given, GRADIENTS, strict=True)):
        return Result(True, "Every picture counts once, on whichever replica it was.")
    for combine, message, hint in _MISTAKES:
        if all(_close(said, combine(*case)) for said, case in zip(given, GRADIENTS, strict=True)):
            return Result(False, message, hint)
    return Result(
        False,
        f"For the gradients {GRADIENTS[0][0]} of {GRADIENTS[0][1]} pictures you have {given[0]}.",
        "Weigh every gradient with its pictures, add up, divide by all pictures.",
    )


def _columns(combine):
    def all_reduce(gradients, counts):
        return [combine(parts, counts) for parts in zip(*gradients, strict=True)]

    return all_reduce


def _weighed(parts, counts) -> float:
    return sum(count * part for count, part in zip(counts, parts, strict=True))


_MISTAKES = (
    (
        _columns(lambda parts, counts: sum(parts) / len(parts)),
        "That is the plain mean. A replica with one picture counts as much as one with three.",
        "Use counts: a gradient stands for as many pictures as its replica had.",
    ),
    (
        _columns(lambda parts, counts: sum(parts)),
        "That is the sum. With more replicas the step gets longer, as if the learning rate grew.",
        "The gradient of a batch is a mean over its pictures.",
    ),
    (
        _columns(lambda parts, counts: parts[0]),
        "That is the first replica's gradient. What the others found is thrown away.",
        "Every replica has seen other pictures: all of them count.",
    ),
    (
        _columns(lambda parts, counts: max(parts)),
        "That takes the largest number of each. A gradient is no contest.",
        "The gradient of a batch is a mean over its pictures.",
    ),
    (
        _columns(_weighed),
        "Weighed rightly, and not divided: that is the sum over all pictures, not their mean.",
        "Divide by the number of all pictures.",
    ),
    (
        _columns(lambda parts, counts: _weighed(parts, counts) / len(parts)),
        "Weighed rightly, and divided by the number of replicas.",
        "Divide by the number of all pictures.",
    ),
)


def _close(said, right) -> bool:
    pairs = zip(said, right, strict=True)
    return all(math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-9) for a, b in pairs)


GRADERS = {"04/batch": _batch, "04/all_reduce": _all_reduce}


# --- what goes wrong, tried in processes of their own ------------------------------------------

_RESOLVER = """
import tensorflow as tf
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
print("-> The resolver succeeded.", flush=True)
tf.tpu.experimental.initialize_tpu_system(resolver)
"""
_FIT = """
import sys
import numpy as np
import accel_helpers as ah
{before}
with {scope}:
    model = ah.training.quickstart_model(steps_per_execution=int(sys.argv[2]))
    x, y = np.zeros((240, 28, 28), "float32"), np.zeros(240, "int32")
    model.fit(x, y, batch_size=int(sys.argv[1]), verbose=0)
print("-> Training went through.")
"""
_DEVICES = """
import tensorflow as tf
(cpu,) = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 4)
names = [device.name for device in tf.config.list_logical_devices("CPU")]
"""
# nothing of an accelerator that may be there: these trials are about virtual replicas
_ON_CPU = {"JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": "-1", "TPU_SKIP_MDS_QUERY": "1"}


def trials(backend: str) -> dict[str, tuple[str, tuple[str, ...], dict[str, str]]]:
    """Give three things that go wrong with strategies, as code for `probe.run`.

    Parameters
    ----------
    backend : str
        What Keras runs on, "tensorflow" or "jax".

    Returns
    -------
    dict
        Name to code, its arguments and its variables.

    Examples
    --------
    >>> list(trials("jax"))
    ['1. looking for a TPU', '2. batches of 30', '3. four steps at a time']
    """
    picked = 'ah.strategy.pick(replicas=4, root="/nowhere").scope()'  # as if nothing were attached
    divide = _FIT.format(before="", scope=picked)
    own = _FIT.format(before=_DEVICES, scope="tf.distribute.MirroredStrategy(names).scope()")
    here = {**_ON_CPU, "KERAS_BACKEND": backend}
    tensorflow = {**_ON_CPU, "KERAS_BACKEND": "tensorflow"}
    return {
        "1. looking for a TPU": (_RESOLVER, (), tensorflow),
        "2. batches of 30": (divide, ("30", "1"), here),
        "3. four steps at a time": (own, ("40", "4"), tensorflow),
    }
