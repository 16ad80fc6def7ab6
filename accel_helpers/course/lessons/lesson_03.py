"""Lesson 03: the exercise in which a benchmark is mended, and the picture of the climb."""

import math
from statistics import mean

from accel_helpers._values.words import format_seconds, shown, times
from accel_helpers.course.checks import Check, Told, ask
from accel_helpers.course.climb import TAKES_AWAY, Climb
from accel_helpers.course.lessons.pretend_device import (
    COMPILING,
    ORDER,
    PRACTICE_TRUTH,
    practice_device,
)
from accel_helpers.fit.profile_result import gain_in_words
from accel_helpers.measure import pictures
from accel_helpers.measure.measurement import FASTER
from accel_helpers.measure.pictures import plot


class Benchmark(Check):
    """The exercise in which device A is timed: right is what is within 5% of its step."""

    # (the seconds that it says after so many steps, message, hint)
    slips = (
        (
            lambda steps: PRACTICE_TRUTH["C"],
            "The sending is inside.",
            "This one asks for the step alone: send before the clock.",
        ),
        (
            lambda steps: PRACTICE_TRUTH["A"] + COMPILING / steps,
            "The first run compiles, and that time is still inside.",
            "Let the device run once, and wait for it, before you read the clock.",
        ),
        (
            lambda steps: PRACTICE_TRUTH["A"] * (1 + 1 / steps),
            "That is longer than your steps alone.",
            "Was an earlier job still running when you started the clock?",
        ),
        (
            lambda steps: ORDER,
            "That is the time it takes to give the order, not to carry it out.",
            "run() returns a job. Something must wait for that job before the clock is read.",
        ),
        (
            lambda steps: PRACTICE_TRUTH["A"] * steps,
            "Those are all your steps together.",
            "Divide by the number of steps between the two clock readings.",
        ),
    )

    def grade(self, answer: object) -> str:
        """Time the device by the answer. Returns and raises as every check does."""
        device = practice_device("A")
        verbs = "The device has four verbs: send(data), run(batch), wait(job) and clock()."
        seconds = ask(answer, device, hint=verbs)
        hint = "Return the difference of two clock readings."
        if not isinstance(seconds, float):
            raise Told(f"The function returned {shown(seconds)}, not a time in seconds.", hint)
        said = f"Your timing says {format_seconds(max(seconds, 0))}"
        if math.isclose(seconds, PRACTICE_TRUTH["A"], rel_tol=0.05):
            return f"{said}; the device's own record says the same."
        steps = max(device.steps, 1)
        for wrong_seconds, message, slip_hint in self.slips:
            if math.isclose(seconds, wrong_seconds(steps), rel_tol=0.05):
                raise Told(f"{said}. {message}", slip_hint)
        raise Told(f"{said}, and it is {format_seconds(PRACTICE_TRUTH['A'])}.", hint)


CHECKS = {"03/a": Benchmark()}


def climb(found: Climb) -> pictures.Picture:
    """Draw how many times as fast each stage of a climb is, with the best one in a strong colour.

    The best has the batch size of the first stage, since larger batches can cost accuracy.
    """
    first, *others = found.stages
    gains = found.overall
    sure = {first.name: 1.0}
    for stage in others:
        gain = gains[stage.name]
        if gain.verdict == FASTER and stage.batch_size == first.batch_size:
            sure[stage.name], _ = gain.interval
    best = max(sure, key=sure.__getitem__)
    title = f"{best}: at least {times(sure[best])} times as fast, same batch size"
    if best == first.name:
        title = "Nothing here is measurably faster with the same batch size"
    things = []
    for stage in found.stages:
        said = "the start"
        dots = [1.0]
        interval = None
        if stage is not first:
            gain = gains[stage.name]
            said = gain_in_words(gain).replace(" times as fast", " times")
            dots = []
            interval = gain.interval
        name = stage.name
        if name in TAKES_AWAY:
            name = f"{name}: less {TAKES_AWAY[name]}"
        note = f"{said}; accuracy {mean(stage.accuracy):.0%}"
        colour = pictures.PALE
        if stage.name == best:
            colour = pictures.OWN
        thing = pictures.Row(name, note, dots, interval, colour=colour)
        things.append(thing)
    x = (f"times as fast as {first.name}", pictures.number)
    return pictures.rows(things, x, title=title, log=True)


PICTURES = {
    "climb": climb,
    "profile": plot,
}
