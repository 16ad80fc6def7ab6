"""The maps of a tf.data pipeline in parallel: the same elements, in less time."""

import itertools
import threading

import numpy as np
import pytest

from accel_helpers.train import dataset_graph


def pipelines(tf):
    numbers = tf.data.Dataset.range(20)
    again = numbers.map(lambda n: 2 * n)
    return {
        "in batches": again.batch(3),
        "two maps": again.batch(4, drop_remainder=True).map(lambda n: n + 1),
        "shuffled": again.shuffle(20, seed=3, reshuffle_each_iteration=False),
        "without end": again.repeat(),
        "cached": again.cache().map(lambda n: n - 1),
        "zipped": tf.data.Dataset.zip((again, numbers.map(lambda n: n * n))),
        "a dictionary": again.map(lambda n: {"a": n, "b": -n}),
        "Python": numbers.map(lambda n: tf.numpy_function(lambda m: m + 1, [n], tf.int64)),
    }


PIPELINES = (
    "in batches",
    "two maps",
    "shuffled",
    "without end",
    "cached",
    "zipped",
    "a dictionary",
    "Python",
)


@pytest.mark.parametrize("name", PIPELINES)
def test_maps_in_parallel_give_the_same_elements_in_the_same_order(keras, name):
    tf = pytest.importorskip("tensorflow")
    dataset = pipelines(tf)[name]
    assert dataset_graph.maps_one_by_one(dataset) > 0
    parallel = dataset_graph.in_parallel(dataset)
    assert dataset_graph.maps_one_by_one(parallel) == 0
    assert parallel.element_spec == dataset.element_spec
    assert int(parallel.cardinality()) == int(dataset.cardinality())
    pairs = itertools.islice(zip(parallel, dataset, strict=True), 30)
    for element, other in pairs:
        for found, expected in zip(tf.nest.flatten(element), tf.nest.flatten(other), strict=True):
            assert np.array_equal(found, expected)


def test_maps_in_parallel_do_work_at_the_same_time(keras):
    """Each call waits for a second one."""
    tf = pytest.importorskip("tensorflow")
    both_there = threading.Barrier(2)

    def meet(number):
        both_there.wait(timeout=60)
        return number

    numbers = tf.data.Dataset.range(2)
    dataset = numbers.map(lambda n: tf.py_function(meet, [n], tf.int64))
    assert [int(n) for n in dataset_graph.in_parallel(dataset)] == [0, 1]


def test_a_pipeline_of_unknown_length_gets_parallel_maps():
    tf = pytest.importorskip("tensorflow")
    dataset = tf.data.Dataset.range(10).map(lambda i: i * 2).filter(lambda i: i % 4 == 0)
    elements = [int(element) for element in dataset_graph.in_parallel(dataset)]
    assert elements == [0, 4, 8, 12, 16]
