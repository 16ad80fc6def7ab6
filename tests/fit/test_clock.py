"""The one clock of a training: on machines whose every cost is known, and with Keras's own fit."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from fake_fit import FakeFit

from accel_helpers.fit.clock import TimeBox, Timed, Turn, take_turns, until
from accel_helpers.fit.time_fit import step_parts, time_fit
from accel_helpers.fit.training import Training
from accel_helpers.measure.pictures import plot

BATCH = 32
TURN = 0.15  # seconds


class Machine(FakeFit):
    """A model whose epochs cost a fixed time and one for each step, on a clock of its own.

    The first step of all compiles. A step of the validation takes `tested` seconds.
    """

    def __init__(self, fixed, each, *, compiling=0.0, tested=0.0):
        self.fixed, self.each, self.compiling, self.tested = fixed, each, compiling, tested
        self.now = 0.0
        self.steps = self.tests = 0

    def clock(self):
        return self.now

    def begin_epoch(self):
        self.now += self.fixed

    def take_step(self, batch_size):
        self.now += self.each
        if self.steps == 0:
            self.now += self.compiling
        self.steps += 1

    def test(self):
        self.now += self.tested
        self.tests += 1


def timed_on(machine, steps, **arguments):
    """A training of so many steps that has been warmed up."""
    x = np.zeros(steps * BATCH)
    training = Training(lambda: machine, {"x": x, "y": x, "batch_size": BATCH} | arguments, steps)
    timed = Timed(training, TURN, model=machine, clock=machine.clock)
    timed.warm_up(60)
    return timed


@pytest.mark.usefixtures("keras")
@pytest.mark.parametrize("steps", [5, 63, 300, 1875, 20_000])
@pytest.mark.parametrize("fixed", [0.0, 0.05, 0.3])
@pytest.mark.parametrize("each", [0.0015, 0.03, 0.4])
def test_a_turn_is_as_long_as_a_whole_epoch(steps, fixed, each):
    machine = Machine(fixed, each, compiling=1.0)
    timed = timed_on(machine, steps)
    assert timed.turn().epoch == pytest.approx(fixed + steps * each)
    assert timed.first.first_step == pytest.approx(1.0 + fixed + each)
    began = machine.now
    timed.turn()
    most = max(2 * TURN, 8 * each) + 8 * TURN
    assert machine.now - began < most + 2 * fixed


@pytest.mark.usefixtures("keras")
@pytest.mark.parametrize("every", [1, 5])
@pytest.mark.parametrize("tested", [0.0001, 0.1])
def test_a_validation_is_part_of_the_epochs_that_have_one(every, tested):
    """A long one is timed in part."""
    machine = Machine(0.0, 0.01, tested=tested)
    timed = timed_on(machine, 300, validation_data=[0] * 40, validation_freq=every)
    machine.tests = 0
    turn = timed.turn()
    assert turn.validation == pytest.approx(40 * tested / every)
    assert turn.epoch == pytest.approx(3 + 40 * tested / every)
    assert (machine.tests == 40) == (tested < 0.01)


class Late:
    """An array of a device that has taken its orders and is done with them later."""

    __module__ = "jax.fake"  # by which it is told that it is waited for

    def __init__(self, machine):
        self.machine = machine

    def block_until_ready(self):
        self.machine.now = self.machine.done_at
        return self


class LateWeight(SimpleNamespace):
    """A variable of Keras's, whose value is such an array."""

    __module__ = "keras.fake"  # by which it is told that it is one


class LateMachine(FakeFit):
    """A model whose steps are ordered at once; each takes the device a second."""

    def __init__(self):
        self.now = self.done_at = 0.0
        self.weights = [LateWeight(value=Late(self))]

    def clock(self):
        return self.now

    def take_step(self, batch_size):
        self.done_at += 1.0


@pytest.mark.usefixtures("keras")
def test_an_epoch_ends_when_the_device_is_done_with_it():
    assert timed_on(LateMachine(), 5).turn().epoch == 5.0


def test_the_turns_go_there_and_back():
    taken = []

    class Named:
        def __init__(self, name):
            self.name = name

        def turn(self):
            taken.append(self.name)
            return Turn(1.0)

    trainings = {name: Named(name) for name in "abc"}
    turns = take_turns(trainings, lambda turns: len(turns["a"]) == 3)
    assert "".join(taken) == "abccbaabc"
    assert turns == dict.fromkeys("abc", [Turn(1.0)] * 3)


@pytest.mark.parametrize(
    ("passed", "rounds", "clear", "enough"),
    [
        (5, 4, True, False),  # five are tried for, also where the time is up
        (15, 4, False, False),
        (25, 4, False, True),  # but not for ever
        (5, 5, False, False),
        (5, 5, True, True),
        (15, 5, False, True),
    ],
)
def test_it_is_enough_when_the_time_is_up_or_all_is_clear(passed, rounds, clear, enough):
    now = 0.0
    box = TimeBox(10, clock=lambda: now)
    is_enough = until(box, is_clear=lambda turns: clear)
    now = passed
    assert is_enough({"a": [Turn(1.0)] * rounds}) == enough


# With Keras's own fit


@pytest.fixture
def make_model(keras):
    def make_model(width=8):
        layers = [keras.Input((4,)), keras.layers.Dense(width), keras.layers.Dense(2)]
        model = keras.Sequential(layers)
        model.compile("adam", "mse", jit_compile=keras.config.backend() == "jax")
        return model

    return make_model


X, Y = np.ones((320, 4), "float32"), np.ones((320, 2), "float32")


@pytest.mark.parametrize(("batch_size", "steps"), [(4, 80), (300, 2)])
def test_a_real_fit_is_timed(make_model, batch_size, steps):
    timed = time_fit(make_model(), X, Y, batch_size=batch_size, seconds=0.5)
    assert timed.steps_per_epoch == steps
    assert min(timed.epochs.samples) > 0
    assert timed.epochs.first_call > 0
    assert timed.step.median == pytest.approx(timed.epochs.median / steps)
    assert str(timed).startswith(f"{timed.epochs}\n"), "text, and not the object's fields"


def test_an_epoch_shorter_than_a_group_of_steps_is_timed(make_model):
    model = make_model()
    model.steps_per_execution = 16
    assert time_fit(model, X, Y, batch_size=160, seconds=0.3).steps_per_epoch == 2


def test_the_clock_that_is_handed_in_is_the_one_used(make_model):
    ticks = itertools.count()
    timed = time_fit(make_model(), X, Y, seconds=1000, clock=lambda: float(next(ticks)))
    # each look at this clock takes a second of it
    assert min(timed.epochs.samples) > 1
    assert timed.epochs.first_call > 1


@pytest.mark.parametrize("kind", [list, tuple])
def test_several_inputs_and_targets_are_timed_as_fit_takes_them(keras, kind):
    inputs = [keras.Input(X.shape[1:]) for _ in range(2)]
    heads = [keras.layers.Dense(2)(keras.layers.Add()(inputs)) for _ in range(2)]
    model = keras.Model(inputs, heads)
    model.compile("adam", ["mse"] * 2)
    timed = time_fit(model, kind([X, X]), kind([Y, Y]), batch_size=32, seconds=0.3)
    assert timed.steps_per_epoch == 10


def test_a_training_that_was_ended_within_an_epoch_lives_on(make_model):
    model = make_model()
    for _ in range(6):  # on JAX a training that is stopped from another thread fails now and then
        time_fit(model, X, Y, batch_size=2, seconds=0.1)
        assert np.isfinite(model.evaluate(X, Y, verbose=0)).all()


@pytest.mark.night
def test_it_holds_on_jax_too(on_jax):
    on_jax("not on_jax", __file__)


# A step in three sizes


def test_a_step_has_its_three_parts_and_a_picture(make_model):
    parts = step_parts(make_model, X, Y, width=64, seconds=0.5)
    assert set(parts.rounds) == {"compute", "memory", "overhead"}
    assert sum(parts.seconds.values()) < 3 * np.median(parts.wholes)
    assert plot(parts).alt


@pytest.mark.usefixtures("keras")
@pytest.mark.parametrize("wrong", [{"width": 0}, {"width": 8, "batch_size": 0}])
def test_a_size_that_cannot_be_is_named(wrong):
    with pytest.raises(ValueError, match=next(reversed(wrong))):
        step_parts(lambda width: None, np.zeros(4), np.zeros(4), **wrong)
