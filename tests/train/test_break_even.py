"""Where two straight lines cross is known by arithmetic, in time, money and energy."""

import math

import pytest

from accel_helpers.train.break_even import LABELS, Plan, break_even

# Seconds of an epoch here and there, minutes of set-up, epochs at which they have cost the same;
# there an hour costs twice as much, and takes twice the watts
MADE = [
    ("time", 60, 15, 5, 300 / 45),
    ("time", 10, 2, 10, 600 / 8),
    ("time", 100, 50, 10, 600 / 50),
    ("money", 60, 15, 5, 2 * 300 / (60 - 2 * 15)),
    ("energy", 60, 15, 5, 2 * 300 / (60 - 2 * 15)),
]


@pytest.mark.parametrize("axis, here, there, setup, truth", MADE)
def test_the_interval_covers_a_crossing_that_is_known(axis, here, there, setup, truth):
    def asked(epochs, spread):
        cpu = Plan("this CPU", (here / spread, here * spread), price=1.5, watts=100)
        gpu = Plan("a GPU", (there / spread, there * spread), setup, price=3.0, watts=200)
        return break_even(cpu, gpu, epochs, axis)

    exact = asked(5, 1)
    assert exact.crossing == pytest.approx((truth, truth))
    assert exact.minutes == pytest.approx((truth * here / 60, truth * here / 60))
    early, late = asked(5, 1.2).crossing
    assert early < truth < late
    verdicts = [asked(epochs, 1.2).verdict for epochs in (int(late) + 1, int(early), round(truth))]
    assert verdicts == list(LABELS) and str(exact)


def test_what_never_pays_crosses_at_infinity():
    cpu, free = Plan("this CPU", (10, 11), price=0), Plan("a free one", (1, 2), 5, price=0)
    slower, perhaps = Plan("a slower one", (11, 12), 5), Plan("perhaps", (9, 12), 5)
    for there, axis in ((slower, "time"), (free, "money")):
        found = break_even(cpu, there, 1000, axis)
        assert found.crossing == (math.inf, math.inf) and found.verdict == LABELS[1] and str(found)
    early, late = break_even(cpu, perhaps, 1000).crossing
    assert early == pytest.approx(300 / 2) and late == math.inf


@pytest.mark.parametrize(
    "make, named",
    [
        (lambda cpu, gpu: break_even(cpu, gpu, 5, "money"), "a GPU.*price="),
        (lambda cpu, gpu: break_even(cpu, gpu, 5, "energy"), "this CPU.*watts="),
        (lambda cpu, gpu: break_even(cpu, gpu, 5, "miles"), "'miles'"),
        (lambda cpu, gpu: break_even(cpu, gpu, 0), "epochs.* 0"),
        (lambda cpu, gpu: Plan("upside down", (3, 1)), "upside down"),
    ],
)
def test_what_is_missing_is_named(make, named):
    with pytest.raises(ValueError, match=named):
        make(Plan("this CPU", (60, 60), price=0), Plan("a GPU", (10, 20), 5))
