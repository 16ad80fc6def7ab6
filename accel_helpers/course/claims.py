"""How a result card is judged on each claim: one rule for each, by the claim's number.

A rule is called with the card and with what stands there under the claim's `names` in
``data/claims.toml``, in that order: a `Measurement` in seconds, or a tuple of numbers. Its limits
always apply to the whole interval. Cards come from elsewhere, so a rule may raise an arithmetic
error, a lookup error, a TypeError or a ValueError on values without sense; the ledger catches it
and says so.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from accel_helpers._values.words import format_count
from accel_helpers.course.claim_rates import matmul_rate
from accel_helpers.measure import timing
from accel_helpers.measure.measurement import Measurement, Speedup
from accel_helpers.measure.results import Card

SUPPORTED, CONTRADICTED, UNCLEAR = "supported", "contradicted", "unclear"
Numbers = Sequence[float]

FASTEST_CLOCK = 10e9  # ticks per second: no CPU that we know of has more
FEWEST_TRAININGS = 3  # with fewer seeds nothing can be told about accuracy


@dataclass(frozen=True)
class Finding:
    """What a card shows about a claim, and the measured values in words."""

    outcome: Literal["supported", "contradicted", "unclear"]
    measured: str


def cores_work_one_by_one(card: Card, product: Measurement, size: Numbers) -> Finding:
    """Judge claim 1: a CPU does one thing after another.

    `product` is the time of a product of square matrices on the CPU, and `size` has their number of
    rows.
    """
    rate = matmul_rate(product, size)
    cores = card.machine["cores"]
    one_by_one = FASTEST_CLOCK * cores
    measured = f"{rate}; one by one: at most {format_count(one_by_one)}."
    # A tenth of that is one operation per tick of a slow clock: then nothing was done at once.
    if rate.high <= 0.1 * one_by_one:
        return Finding(SUPPORTED, measured)
    # This is more than one by one even at a clock that no CPU has.
    if rate.low >= one_by_one:
        return Finding(CONTRADICTED, measured)
    return Finding(UNCLEAR, measured)


def batches_are_independent(_card: Card, distances: Numbers) -> Finding:
    """Judge claim 3: each batch is processed independently.

    `distances` has one number. Two batches are trained on one after the other, and both from the
    same weights: it is how far apart the weights end, as a share of the update.
    """
    (distance,) = distances
    measured = f"Relative distance of the two updates: {distance:.2g}."
    # In float64 rounding stays far below a billionth; a thousandth is another result.
    if 0 <= distance <= 1e-9:
        return Finding(SUPPORTED, measured)
    if distance >= 1e-3:
        return Finding(CONTRADICTED, measured)
    return Finding(UNCLEAR, measured)


def batches_at_the_same_time(_card: Card, small: Measurement, large: Measurement) -> Finding:
    """Judge claim 4: a GPU works on several batches at the same time.

    `small` is the time of a training step with a batch of 32, and `large` with one of 256.
    """
    samples = [8 * seconds for seconds in small.samples]
    eight_small = Measurement.from_samples(samples)
    speedup = _compared(eight_small, large, ("eight batches of 32", "one batch of 256"))
    least, most = speedup.interval
    measured = _sentence(speedup)
    # Why equal times support it: 32 pictures leave most of a GPU idle, so that eight batches at
    # once would fit beside each other and take about as long as their pictures in one. One after
    # the other, each of the eight pays for the floor of a step. In between they may have
    # overlapped in part. Fair only where `fit` runs ahead: steps that are each waited for could
    # not overlap at all.
    if least >= 0.9 and most <= 1.1:
        return Finding(SUPPORTED, measured)
    if least >= 2:
        return Finding(CONTRADICTED, measured)
    return Finding(UNCLEAR, measured)


def much_faster_on_a_gpu(_card: Card, on_cpu: Measurement, on_gpu: Measurement) -> Finding:
    """Judge claim 5: a GPU makes training much faster, by the same training on both chips."""
    speedup = _compared_in_turns(on_cpu, on_gpu, ("CPU", "GPU"))
    least, most = speedup.interval
    measured = _sentence(speedup)
    # Where "much" begins is a matter of taste: twice is beyond noise, a tenth nobody would notice.
    if least >= 2:
        return Finding(SUPPORTED, measured)
    if most <= 1.1:
        return Finding(CONTRADICTED, measured)
    return Finding(UNCLEAR, measured)


def handed_to_the_gpu(_card: Card, on_cpu: Measurement, on_gpu: Measurement) -> Finding:
    """Judge claim 6: TensorFlow hands work to GPUs through CUDA, by the same work on both chips."""
    speedup = _compared_in_turns(on_cpu, on_gpu, ("CPU", "GPU"))
    least, most = speedup.interval
    measured = _sentence(speedup)
    # A tenth faster is no accident.
    if least >= 1.1:
        return Finding(SUPPORTED, measured)
    # The same time to within 5 %, the least that timing.compare calls a difference: as if it had
    # never left the CPU.
    if least >= 0.95 and most <= 1.05:
        return Finding(CONTRADICTED, measured)
    return Finding(UNCLEAR, measured)


def built_for_matrices(_card: Card, instructions: Numbers) -> Finding:
    """Judge claim 8: a TPU is optimised for multiplying matrices.

    `instructions` are the counts of a TPU's program for matrices with 129 rows, and with 128.
    """
    for_129, for_128 = instructions
    ratio = for_129 / for_128
    counts = f"{for_129:.0f} instructions for 129, {for_128:.0f} for 128"
    measured = f"{counts}: {ratio:.1f} times as many."
    # The arithmetic grows by 2 %. Twice as many instructions show blocks of 128; up to a tenth,
    # none.
    if ratio >= 2:
        return Finding(SUPPORTED, measured)
    if 0 <= ratio <= 1.1:
        return Finding(CONTRADICTED, measured)
    return Finding(UNCLEAR, measured)


def tensorflow_on_a_tpu(card: Card, _replicas: Numbers) -> Finding:
    """Judge claim 9: TPUs work together seamlessly with TensorFlow.

    What counts is whether TensorFlow is installed on the runtime with a TPU. That there is one is
    known by the replicas that a model was trained on; how many does not matter.
    """
    installed = "tensorflow" in card.machine["frameworks"]
    measured = f"Copies of TensorFlow on this runtime: {int(installed)}."
    # None there contradicts the claim. That it is installed supports nothing: it trained nothing.
    if not installed:
        return Finding(CONTRADICTED, measured)
    return Finding(UNCLEAR, measured)


def tpus_in_colab(card: Card, replicas: Numbers) -> Finding:
    """Judge claim 10: Colab gives access to TPUs.

    `replicas` has one number: the TPUs that a model was trained on.
    """
    (tpus,) = replicas
    if card.machine["place"] != "colab":
        tpus = 0
    measured = f"TPUs in Colab that your model trained on: {tpus:.0f}."
    # Nothing contradicts it: what could not be had today may be free tomorrow.
    if tpus >= 1:
        return Finding(SUPPORTED, measured)
    return Finding(UNCLEAR, measured)


def _about_as_long(speedup: Speedup) -> Finding:
    """Return the finding on a claim that the slow side takes about as long as the fast one.

    Up to a fifth longer supports it, and from twice as long on it is contradicted.
    """
    least, most = speedup.interval
    measured = _sentence(speedup)
    if most <= 1.2:
        return Finding(SUPPORTED, measured)
    if least >= 2:
        return Finding(CONTRADICTED, measured)
    return Finding(UNCLEAR, measured)


def transfers_are_cheap(_card: Card, sent: Measurement, copied: Measurement) -> Finding:
    """Judge claim 11: video memory keeps the cost of transfers low.

    `sent` is the time of sending some bytes to the GPU, and `copied` of copying them within its
    memory.
    """
    speedup = _compared(sent, copied, ("sending", "copying within the GPU"))
    # A copy reads and writes, so a link as fast as the memory would even win: 1.2 is generous.
    # Twice as long is a price that no fast memory takes away.
    return _about_as_long(speedup)


def training_is_a_graph(_card: Card, runs: Numbers) -> Finding:
    """Judge claim 12: TensorFlow represents the operations of training as a graph.

    `runs` are two counts: how often Python ran the step, and how many steps there were.
    """
    python_runs, steps = runs
    share = python_runs / steps
    measured = f"Python ran the step {python_runs:.0f} times in {steps:.0f} steps."
    # To trace a graph takes one run for each shape, and without a graph each step is a run; so
    # both cases are far from the limits.
    if 0 <= share <= 0.5:
        return Finding(SUPPORTED, measured)
    if share >= 0.9:
        return Finding(CONTRADICTED, measured)
    return Finding(UNCLEAR, measured)


def operations_in_parallel(_card: Card, many: Measurement, single: Measurement) -> Finding:
    """Judge claim 13: a GPU runs the operations of the graph in parallel.

    `many` is the time of 64 small operations, and `single` of one with the same arithmetic.
    """
    speedup = _compared_in_turns(many, single, ("64 operations", "one operation"))
    # Side by side they would take about as long; twice as long is more than launching 64 at once.
    return _about_as_long(speedup)


def sharding_saves_memory(_card: Card, state: Numbers) -> Finding:
    """Judge claim 15: models with billions of parameters train across multiple TPUs.

    `state` are the bytes of a model, and of what Adam remembers, on each of eight devices: with
    copies of all, and sharded.
    """
    copied, sharded = state
    ratio = copied / sharded
    sizes = f"{copied:,.0f} bytes on each device copied, {sharded:,.0f} sharded"
    measured = f"{sizes}: {ratio:.1f} times less."
    # Sharded over eight it should be an eighth; from a quarter on, a model may outgrow one device.
    if ratio >= 4:
        return Finding(SUPPORTED, measured)
    if 0 <= ratio <= 1.1:
        return Finding(CONTRADICTED, measured)
    return Finding(UNCLEAR, measured)


def more_accurate(_card: Card, small_batches: Numbers, large_batches: Numbers) -> Finding:
    """Judge claim 17: accelerators improve the performance of a model.

    Both are the accuracies, from 0 to 1, of training runs that differ in their seeds. Only large
    batches need an accelerator, so they stand for it.
    """
    large_count = len(large_batches)
    small_count = len(small_batches)
    large = f"{_percentages(large_batches)} % ({large_count} training runs)"
    small = f"{_percentages(small_batches)} % ({small_count})"
    measured = f"Accuracy with large batches: {large}, with small ones {small}."
    if min(small_count, large_count) < FEWEST_TRAININGS:
        return Finding(UNCLEAR, measured)
    # Every run with one batch size must be above every run with the other, by a picture in a
    # thousand.
    least_gain = min(large_batches) - max(small_batches)
    most_gain = max(large_batches) - min(small_batches)
    if least_gain >= 0.001:
        return Finding(SUPPORTED, measured)
    if most_gain <= -0.001:
        return Finding(CONTRADICTED, measured)
    return Finding(UNCLEAR, measured)


def streaming_keeps_up(_card: Card, streamed: Measurement, resident: Measurement) -> Finding:
    """Judge claim 18: accelerators let you train with larger data sets.

    `streamed` is the time of an epoch whose data are sent batch by batch, and `resident` of one
    whose data lie in the memory of the device.
    """
    names = ("streaming", "keeping all data in memory")
    speedup = _compared_in_turns(streamed, resident, names)
    # Up to a fifth longer: then data that do not fit into the memory train about as fast. From
    # twice as long on, half of the time goes to feeding the data and calling the chip, and no
    # faster chip shortens that.
    return _about_as_long(speedup)


def sixteen_bits_are_enough(_card: Card, sums: Numbers) -> Finding:
    """Judge claim 19: numbers of 16 bits are good enough.

    `sums` are two sums of a thousand ones: added up in 16 bits, and the right one.
    """
    total, right_total = sums
    ratio = total / right_total
    measured = f"A thousand ones came to {total:.0f}, and should be {right_total:.0f}."
    # Good enough for every use would be within 1 %; a tenth off is no rounding any more.
    if 0.99 <= ratio <= 1.01:
        return Finding(SUPPORTED, measured)
    if 0 <= ratio <= 0.9:
        return Finding(CONTRADICTED, measured)
    return Finding(UNCLEAR, measured)


# By the claim's number. Claims 2, 7, 14 and 16 have none: nothing that a card holds settles them.
RULES: Mapping[int, Callable[..., Finding]] = {
    1: cores_work_one_by_one,
    3: batches_are_independent,
    4: batches_at_the_same_time,
    5: much_faster_on_a_gpu,
    6: handed_to_the_gpu,
    8: built_for_matrices,
    9: tensorflow_on_a_tpu,
    10: tpus_in_colab,
    11: transfers_are_cheap,
    12: training_is_a_graph,
    13: operations_in_parallel,
    15: sharding_saves_memory,
    17: more_accurate,
    18: streaming_keeps_up,
    19: sixteen_bits_are_enough,
}


def _compared(slow: Measurement, fast: Measurement, names: tuple[str, str]) -> Speedup:
    """Return how two measurements compare that were made one after the other, with their names."""
    return timing.compare(slow, fast, names=names)


def _compared_in_turns(slow: Measurement, fast: Measurement, names: tuple[str, str]) -> Speedup:
    """Return how two measurements compare that were made in turns, with their names."""
    # A card that was carried to another machine may hold more of one than of the other: those
    # were not taken in turns.
    paired = len(slow.samples) == len(fast.samples)
    return timing.compare(slow, fast, names=names, in_turns=paired)


def _sentence(speedup: Speedup) -> str:
    """Return a comparison as a sentence: with a capital letter, and one full stop at the end."""
    text = str(speedup).rstrip(".")
    return f"{text[0].upper()}{text[1:]}."


def _percentages(shares: Numbers) -> str:
    """Return the least and the most of some shares in percent: (0.9, 0.95) -> "90.0 to 95.0"."""
    least = 100 * min(shares)
    most = 100 * max(shares)
    return f"{least:.1f} to {most:.1f}"
