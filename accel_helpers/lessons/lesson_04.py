"""The exercises of lesson 04: counting batches, and adding up what the replicas found."""

from math import ceil
from statistics import fmean

from accel_helpers.learn.checks import calls


def batches(samples: int, per_replica: int, replicas: int) -> tuple[int, int, int]:
    """The global batch, the steps of an epoch, and the size of the last batch."""
    together = per_replica * replicas
    steps = ceil(samples / together)
    return together, steps, samples - (steps - 1) * together


def _each(combine):
    return lambda gradients, n: [combine(parts, n) for parts in zip(*gradients, strict=True)]


#: The replicas' gradients, each a mean over its samples, as that of the whole batch.
whole_batch = _each(fmean)

_BATCHES = (
    (0, lambda n, per, replicas: per, "Your global batch is what one replica sees.",
     "All replicas work in the same step. How many pictures do they see together?"),
    (1, lambda n, per, replicas: n // (per * replicas),
     "Your steps leave out the pictures that do not fill a batch.",
     "Keras trains on them too, in one smaller batch at the end: round up."),
    (1, lambda n, per, replicas: n // (per * replicas) + 1,
     "You always add a step. Where the batches come out even, nothing is left for it.",
     "1,024 pictures in batches of 128 are 8 steps, not 9."),
    (1, lambda n, per, replicas: ceil(n / per), "You divided by the batch of one replica.",
     "In one step all replicas move on together: divide by the global batch."),
    (2, lambda n, per, replicas: n % (per * replicas),
     "You have a last batch of 0 where the batches come out even.",
     "There is no empty batch: then the last one is as large as the others."),
    (2, lambda n, per, replicas: per * replicas, "Your last batch is always full.",
     "Take away from all pictures those that the steps before have seen."),
)  # fmt: skip
_MEANS = (
    (_each(lambda parts, n: fmean(parts)),
     "That is the plain mean. A replica with one picture counts as much as one with three.",
     "Use counts: a gradient stands for as many pictures as its replica had."),
    (_each(lambda parts, n: sum(parts)),
     "That is the sum. With more replicas the step gets longer, as if the learning rate grew.",
     "The gradient of a batch is a mean over its pictures."),
    (_each(lambda parts, n: fmean(parts, n) * sum(n)),
     "Weighed rightly, and not divided: that is the sum over all pictures, not their mean.",
     "Divide by the number of all pictures."),
    (_each(lambda parts, n: fmean(parts, n) * sum(n) / len(n)),
     "Weighed rightly, and divided by the number of replicas.",
     "Divide by the number of all pictures."),
)  # fmt: skip

CHECKS = {
    "04/batch": calls(
        batches,
        # a usual one, and where rules differ
        on=((60_000, 128, 8), (1_024, 32, 4), (1_000, 100, 1), (10, 32, 4)),
        right="Global batch, steps and last batch are right, also where it comes out even.",
        needs="Three whole numbers are needed: global_batch, steps, last_batch, in this order.",
        hint="Count the pictures of a step, the steps until all were seen, and what is left.",
        slips=_BATCHES,
    ),
    "04/all_reduce": calls(
        whole_batch,
        on=(
            ([[2.0, -4.0], [6.0, 8.0]], [3, 1]),
            ([[1.0, 10.0, -1.0], [5.0, 2.0, -3.0], [9.0, 0.0, 7.0]], [4, 4, 2]),
            ([[3.0], [1.0]], [8, 0]),  # a replica that got nothing
        ),
        right="Every picture counts once, on whichever replica it was.",
        needs="A list is needed, with as many numbers as one gradient has.",
        hint="Weigh every gradient with its pictures, add up, divide by all pictures.",
        slips=_MEANS,
    ),
}


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
{tensorflow}
picked = ah.strategy.pick(replicas=4, root="/nowhere")  # as if nothing were attached
with {scope}:
    model = ah.training.quickstart_model(steps_per_execution=int(sys.argv[2]))
    x, y = np.zeros((240, 28, 28), "float32"), np.zeros(240, "int32")
    model.fit(x, y, batch_size=int(sys.argv[1]), verbose=0)
print("-> Training went through.")
"""
# nothing of an accelerator that may be there: these trials are about virtual replicas
_ON_CPU = {"JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": "-1", "TPU_SKIP_MDS_QUERY": "1"}


def trials(backend: str) -> dict[str, tuple[str, tuple[str, ...], dict[str, str]]]:
    """Three things that go wrong with strategies: the arguments of `probe.run` for each name.

    They are code, its own arguments and its variables; `backend` is what Keras runs on.
    """
    divide = _FIT.format(tensorflow="", scope="picked.scope()")
    mirrored = "tf.distribute.MirroredStrategy([f'CPU:{n}' for n in range(4)]).scope()"
    own = _FIT.format(tensorflow="import tensorflow as tf", scope=mirrored)
    here = {**_ON_CPU, "KERAS_BACKEND": backend}
    tensorflow = {**_ON_CPU, "KERAS_BACKEND": "tensorflow"}
    return {
        "1. looking for a TPU": (_RESOLVER, (), tensorflow),
        "2. batches of 30": (divide, ("30", "1"), here),
        "3. four steps at a time": (own, ("40", "4"), tensorflow),
    }
