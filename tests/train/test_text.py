"""Shakespeare with and without a network, and the small model that writes."""

import contextlib
import json
import math
import socket
import threading

import numpy as np
import pytest

from accel_helpers import probe
from accel_helpers.train import text

SONNETS = text.load_text("bundled")
TINY = text.Sizes(embedding=4, units=8, layers=1, length=10, batch_size=8)

LOAD = """
import json, sys
from accel_helpers.train import text
got = text.load_text({source!r}, time_limit={limit})
print(json.dumps([got.name, len(got.text), " ".join(str(got).split())]))
"""

PLAYS = (text.BEGINS + "\nBefore we proceed any further, hear me speak.\n\n") * 2_000

TRAIN = """
import json
import accel_helpers as ah
ah.backend.choose()
sonnets = ah.text.load_text("bundled")
sizes = ah.text.Sizes(embedding=16, units=32, layers=2, length=20, batch_size=32)
x, y = sonnets.windows(sizes, characters=13_000)
model = ah.text.model(len(sonnets.vocabulary), sizes)
assert model.count_params() == sizes.parameters(len(sonnets.vocabulary))
traced = []
forward = model.call
model.call = lambda *a, **k: (traced.append(1), forward(*a, **k))[1]
first = ah.text.write(model, sonnets, "Shall I ", 60, seed=1)
again = ah.text.write(model, sonnets, "Shall I ", 60, seed=1)
other = ah.text.write(model, sonnets, "Shall I ", 60, seed=2)
calls = len(traced)
model.call = forward
ah.training.time_fit(model, x, y, batch_size=32, epochs=4)
losses = model.history.history["loss"]
cold = ah.text.write(model, sonnets, "Shall I ", 60, temperature=1e-3, seed=1)
cold_2 = ah.text.write(model, sonnets, "Shall I ", 60, temperature=1e-3, seed=2)
print(json.dumps([first, again, other, calls, losses, cold, cold_2]))
"""


def python(code, **environ):
    done = probe.run(code, seconds=280, environ={"ACCEL_DATA": "", **environ})
    assert done.kind == "finished", done.output
    return json.loads(probe.last_line(done.output))


def load(address, home, source="auto", limit=200, **more):
    """Load the text where the only way to the network is that address."""
    ways = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")
    environ = {**dict.fromkeys(ways, address), "NO_PROXY": "", "no_proxy": ""}
    code = LOAD.format(source=source, limit=limit)
    return python(code, **environ, **{"KERAS_HOME": str(home), **more})


@contextlib.contextmanager
def silent_proxy():
    """A way to the network that takes every question and never answers."""
    held = []  # the connections: its questions

    def accept():
        with contextlib.suppress(OSError):
            while True:
                held.append(server.accept()[0])

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}", held
        server.shutdown(socket.SHUT_RDWR)


def test_the_bundled_text_is_the_154_sonnets_in_plain_characters():
    poems = SONNETS.text.strip().split("\n\n")
    assert len(poems) == 154 and 60_000 < len(SONNETS.text) < 110_000
    assert SONNETS.text.isascii() and "\r" not in SONNETS.text and "\t" not in SONNETS.text
    lines = [len(poem.splitlines()) for poem in poems]
    assert lines[98] == 15 and lines[125] == 12, "the two that are known to be irregular"
    assert {n for i, n in enumerate(lines) if i not in (98, 125)} == {14}
    assert poems[17].startswith("Shall I compare thee to a summer's day?")
    assert all(line == line.strip() and line for poem in poems for line in poem.splitlines())


def test_the_bundled_text_is_asked_for_with_a_variable_and_looks_for_no_network(tmp_path):
    with silent_proxy() as (address, asked):
        name, _, said = load(address, tmp_path, None, ACCEL_DATA="bundled")
    assert name == SONNETS.name and "could not be had" not in said and not asked


@pytest.mark.slow
def test_a_network_that_never_answers_is_given_up_and_there_is_a_text(tmp_path):
    with silent_proxy() as (address, _):
        name, count, said = load(address, tmp_path, limit=5)
    assert (name, count) == (SONNETS.name, len(SONNETS.text)) and "no answer within 5 s" in said


@pytest.mark.slow
def test_a_network_that_refuses_is_said_and_the_plays_asked_for_are_an_error(tmp_path):
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # nobody listens there
        address = f"http://127.0.0.1:{held.getsockname()[1]}"
        name, _, said = load(address, tmp_path)
        with pytest.raises(AssertionError, match="ConnectionError: The plays .*'bundled'"):
            load(address, tmp_path, "plays")
    assert name == SONNETS.name and "the download failed" in said


@pytest.mark.parametrize("content", [PLAYS, "half"], ids=["whole", "half"])
def test_the_plays_are_used_where_they_are_and_half_a_file_is_not(tmp_path, content):
    stored = tmp_path / "datasets" / "shakespeare.txt"
    stored.parent.mkdir()
    stored.write_text(content)
    with silent_proxy() as (address, _):  # nothing is fetched: the file lies there
        name, count, said = load(address, tmp_path)
    whole = content == PLAYS
    assert (name == SONNETS.name, "delete shakespeare.txt" in said) == (not whole, not whole)
    assert count == len(PLAYS if whole else SONNETS.text)


def test_characters_and_numbers_go_back_and_forth():
    line = SONNETS.text[:200]
    assert SONNETS.decode(SONNETS.encode(line)) == line
    assert sorted(SONNETS.vocabulary) == list(SONNETS.vocabulary)


def test_a_target_is_the_same_text_one_character_later():
    x, y = SONNETS.windows(TINY)
    assert x.shape == y.shape == (len(x), 10) and x.dtype == np.int32
    assert SONNETS.decode(x[0]) == SONNETS.text[:10]
    assert SONNETS.decode(y[0]) == SONNETS.text[1:11]
    assert (x[:, 1:] == y[:, :-1]).all() and (x[1:, 0] == y[:-1, -1]).all()


@pytest.mark.parametrize("characters", [500, 999, 5_000, None])
def test_every_batch_is_full_so_that_it_divides_by_the_replicas(characters):
    x, _ = SONNETS.windows(TINY, characters=characters)
    assert len(x) and len(x) % TINY.batch_size == 0
    assert x.size <= (characters or len(SONNETS.text))


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: text.load_text("mnist"), "'plays' .*'mnist'"),
        (lambda: text.model(1), "characters .*1"),
        (lambda: text.model(2.5), "2.5"),
        (lambda: text.write(None, SONNETS, ""), "''"),
        (lambda: text.write(None, SONNETS, "a", temperature=0), "got .*0"),
        (lambda: SONNETS.windows(TINY, characters=50), "50 .* 8 "),
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


def test_the_materials_sizes_are_those_of_its_notebook():
    assert text.MATERIAL == text.Sizes(512, 512, 2, 100, 1024)
    # embedding 256 x 512; two LSTM layers of 4 x 512 x (512 + 512 + 1); dense 513 x 256
    assert text.MATERIAL.parameters(text.MATERIAL_CHARACTERS) == 131_072 + 4_198_400 + 131_328
