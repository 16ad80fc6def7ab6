"""What each verb says to input that it cannot use: what was given, what is accepted, what to do."""

import numpy as np
import pytest

import accel_helpers as ah
from accel_helpers.measure.measurement import Measurement

# A call, what was given as its error names it, and what is accepted or to be done.
CALLS = """
ah.judge(flops='many', seconds=1, accelerator='T4') | 'many' | a finite number
ah.judge(seconds=1, accelerator='T4') | None | flops or bytes_moved
ah.judge(flops=1e9, seconds=-1, accelerator='T4') | -1 | above zero
ah.judge(flops=float('nan'), seconds=1, accelerator='T4') | nan | a finite number
ah.judge(flops=1, seconds=1, accelerator='T4', dtype='float12') | 'float12' | float16
ah.benchmark(7) | 7 | lambda:
ah.compare(7, sorted) | 7 | lambda:
ah.compare(timing, sorted) | Measurement | lambda:
ah.plot([]) | [] | a Measurement
ah.plot('worth it') | 'worth it' | a Measurement
ah.time_fit(7, x, y) | 7 | return model
ah.time_fit(make, batches, None) | list_iterator | x=batches
ah.time_fit(uncompiled, x, y) | not compiled | model.compile(
ah.time_fit(model, x[:0], y[:0]) | [0] | at least one
ah.time_fit(model, x, y[:60]) | [60, 64] | the same number
ah.time_fit(model, x, y, batch_size=0) | 0 | 1 or more
ah.profile_fit(7, x, y) | 7 | return model
ah.profile_fit(make, batches, None) | list_iterator | x=batches
ah.profile_fit(uncompiled, x, y) | not compiled | model.compile(
ah.profile_fit(make, x, y[:60]) | [60, 64] | the same number
ah.worth_it(7, x, y) | 7 | return model
ah.worth_it(make, batches, None) | list_iterator | x=batches
ah.worth_it(uncompiled, x, y) | not compiled | model.compile(
ah.fit_resident(7, x, y) | this model | model.compile(
ah.fit_resident(model, batches, None) | list_iterator | np.asarray
ah.fit_resident(model, x[:0], y[:0]) | [0] | at least one
ah.fit_resident(model, x, y[:60]) | [60, 64] | the same number
ah.fit_resident(model, x, y, batch_size=0) | 0 | 1 or more
ah.forecast(7, 32) | 7 | return model
ah.forecast(make, 0) | 0 | 1 or more
ah.forecast(make, '32') | '32' | a whole number
ah.forecast(make, 32, ('T5000',)) | 'T5000' | A100
ah.forecast(uncompiled, 32) | not compiled | model.compile(
ah.forecast(make, 32, x=x, y=y[:60]) | [60, 64] | the same number
"""
ROWS = [line.split(" | ") for line in CALLS.strip().splitlines()]


@pytest.fixture(scope="module")
def names(keras):
    def uncompiled():
        return keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])

    def make():
        model = uncompiled()
        model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        return model

    x = np.zeros((64, 4), "float32")
    y = np.zeros(64, "int32")
    found = {"ah": ah, "uncompiled": uncompiled, "make": make, "model": make(), "x": x, "y": y}
    found["timing"] = Measurement.from_samples([1.0] * 5)
    found["batches"] = iter([(x, y)])
    return found


@pytest.mark.parametrize(("call", "given", "wanted"), ROWS)
def test_an_error_names_what_was_given_and_what_is_accepted(call, given, wanted, names):
    with pytest.raises((TypeError, ValueError)) as caught:
        eval(call, dict(names))
    assert given in str(caught.value)
    assert wanted in str(caught.value)
