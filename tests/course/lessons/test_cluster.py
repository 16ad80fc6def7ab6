"""The pretend cluster: what follows from its numbers, and the real ones that it is held against."""

import random
from dataclasses import replace
from statistics import fmean

import pytest

from accel_helpers.course.lessons.cluster import Cluster, published

SLOW, COUNTS = Cluster(step=0.25, parameters=25e6, bandwidth=1e9), [1, 2, 4, 8, 64, 256]


def test_one_device_waits_for_nobody_more_lose_more_and_a_faster_link_loses_less():
    assert SLOW.seconds(1) == SLOW.step
    assert SLOW.speed_up(1) == 1
    lost = [1 - SLOW.speed_up(chips) / chips for chips in COUNTS]
    assert lost == sorted(lost)
    assert len(set(lost)) == len(COUNTS)
    fast = replace(SLOW, bandwidth=1e10)
    assert all(fast.speed_up(chips) > SLOW.speed_up(chips) for chips in COUNTS[1:])


def test_with_nothing_to_wait_for_the_speed_up_is_the_number_of_devices():
    free = Cluster(0.25, 25e6, bandwidth=float("inf"), latency=0, spread=0)
    hidden = replace(SLOW, spread=0, overlap=0.9)
    assert [each.speed_up(n) for each in (free, hidden) for n in COUNTS] == COUNTS * 2


def test_the_ring_sends_almost_twice_the_gradients_and_hops_twice_around():
    assert replace(SLOW, latency=0).all_reduce(4) == pytest.approx(2 * 3 / 4 * 0.1)
    assert replace(SLOW, parameters=0, latency=1e-3).all_reduce(4) == pytest.approx(6e-3)


@pytest.mark.parametrize("chips", [2, 8, 64])
def test_the_slowest_is_as_slow_as_in_a_simulation(chips):
    draw, times = random.Random(9), Cluster(1, 0, 1, spread=0.1)
    drawn = fmean(max(draw.gauss(1, 0.1) for _ in range(chips)) for _ in range(8_000))
    assert times.slowest(chips) == pytest.approx(drawn, abs=0.005)


def test_every_real_cluster_has_a_source_and_a_pretend_one_with_the_same_numbers():
    alex = [row for row in published() if row.name == "AlexNet, NVLink"][-1]
    assert (alex.speed_up, alex.cluster.step) == (17822 / 2987, 512 / 2987)  # as in the source
    for row in published():
        assert "http" in row.source or "arXiv" in row.source
        assert row.speed_up <= row.devices
        assert (row.cluster.spread, row.cluster.overlap) == (SLOW.spread, 0)  # nothing is fitted
        if row.cluster.bandwidth < 1e10:  # a network: some is hidden, at most behind backward
            most = replace(row.cluster, overlap=2 / 3).speed_up(row.devices)
            assert row.cluster.speed_up(row.devices) < row.speed_up < most * 1.01  # three digits


def test_gpus_of_a_machine_send_over_the_links_that_lead_to_one_another():
    """In a DGX-1 two P100 share one link of 20 GB/s; each of four has three to the others."""
    links = {(row.device, row.devices): row.cluster.bandwidth for row in published()}
    assert links["P100", 2] == 20e9
    assert links["P100", 4] == 60e9
    assert links["P100", 8] == 80e9
    assert links["V100", 4] == 100e9  # four of six links of 25 GB/s
    assert links["V100", 8] == 150e9
