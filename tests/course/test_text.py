"""Shakespeare, and the small model that writes."""

import json
import math

import numpy as np
import pytest

from accel_helpers._values import probe
from accel_helpers.course import text

SONNETS = text.load_text()
TINY = text.Sizes(embedding=4, units=8, layers=1, length=10, batch_size=8)

TRAIN = """
import json
import accel_helpers as ah
ah.use_backend()
sonnets = ah.course.load_text()
sizes = text.Sizes(embedding=16, units=32, layers=2, length=20, batch_size=32)
x, y = sonnets.windows(sizes, characters=13_000)
model = text.model(len(sonnets.vocabulary), sizes)
assert model.count_params() == sizes.parameters(len(sonnets.vocabulary))
traced = []
forward = model.call
model.call = lambda *a, **k: (traced.append(1), forward(*a, **k))[1]
first = text.write(model, sonnets, "Shall I ", 60, seed=1)
again = text.write(model, sonnets, "Shall I ", 60, seed=1)
other = text.write(model, sonnets, "Shall I ", 60, seed=2)
calls = len(traced)
model.call = forward
ah.time_fit(model, x, y, batch_size=32, epochs=4)
losses = model.history.history["loss"]
cold = text.write(model, sonnets, "Shall I ", 60, temperature=1e-3, seed=1)
cold_2 = text.write(model, sonnets, "Shall I ", 60, temperature=1e-3, seed=2)
print(json.dumps([first, again, other, calls, losses, cold, cold_2]))
"""


def python(code, **environ):
    done = probe.run(code, seconds=280, environ=environ)
    assert done.kind == "finished", done.output
    return json.loads(probe.last_line(done.output))


def test_the_bundled_text_is_the_154_sonnets_in_plain_characters():
    poems = SONNETS.text.strip().split("\n\n")
    assert len(poems) == 154 and 60_000 < len(SONNETS.text) < 110_000
    assert SONNETS.text.isascii() and "\r" not in SONNETS.text and "\t" not in SONNETS.text
    lines = [len(poem.splitlines()) for poem in poems]
    assert lines[98] == 15 and lines[125] == 12, "the two that are known to be irregular"
    assert {n for i, n in enumerate(lines) if i not in (98, 125)} == {14}
    assert poems[17].startswith("Shall I compare thee to a summer's day?")
    assert all(line == line.strip() and line for poem in poems for line in poem.splitlines())


def test_a_target_is_the_same_text_one_character_later():
    x, y = SONNETS.windows(TINY)
    assert x.shape == y.shape == (len(x), 10) and x.dtype == np.int32
    assert SONNETS.decode(x[0]) == SONNETS.text[:10]
    assert SONNETS.decode(y[0]) == SONNETS.text[1:11]
    assert (x[:, 1:] == y[:, :-1]).all() and (x[1:, 0] == y[:-1, -1]).all()


def test_every_batch_is_full_so_that_it_divides_by_the_replicas():
    for characters, batches in ((81, 1), (160, 1), (161, 2)):
        x, _ = SONNETS.windows(TINY, characters=characters)
        assert len(x) == batches * TINY.batch_size


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: text.model(1), "characters .*1"),
        (lambda: text.write(None, SONNETS, ""), "''"),
        (lambda: text.write(None, SONNETS, "a", temperature=0), "got .*0"),
        (lambda: SONNETS.encode("me@home"), "'@'.*vocabulary"),
    ],
)
def test_bad_input_names_what_was_given_and_what_is_needed(call, named):
    with pytest.raises(ValueError, match=named):
        call()


@pytest.mark.slow
@pytest.mark.parametrize("framework", ["tensorflow", "jax"])
def test_the_model_learns_and_writes_and_is_compiled_once_per_text(framework):
    first, again, other, calls, losses, cold, cold_2 = python(
        TRAIN, KERAS_BACKEND=framework, TF_CPP_MIN_LOG_LEVEL="2"
    )
    assert len(first) == 60 and first == again != other
    assert set(first) <= set(SONNETS.vocabulary)
    # 180 characters were written: with a trace per character there would be 180 traces
    assert 1 <= calls <= 6
    assert losses[-1] < losses[0] < math.log(len(SONNETS.vocabulary)) + 0.2
    assert cold == cold_2, "near temperature 0 the dice have no say"
