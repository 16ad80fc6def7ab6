"""Serving: a model runs where nobody has Keras or its code, and the server goes when we go."""

import json
import os
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request

import numpy as np
import pytest

from accel_helpers import probe
from accel_helpers.train import serving

tensorflow = pytest.importorskip("tensorflow")
SHAPE = tensorflow.TensorSpec((None, 3), tensorflow.float32)


def exported_to(folder, answer):
    module = tensorflow.Module()
    module.serve = tensorflow.function(answer, input_signature=[SHAPE])
    signatures = {"serving_default": module.serve}
    tensorflow.saved_model.save(module, str(folder), signatures=signatures)
    return folder


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A small program: each of three numbers, times two."""
    return exported_to(tmp_path_factory.mktemp("exported"), lambda x: 2 * x)


@pytest.fixture(scope="module")
def server(exported):
    with serving.serve(exported, name="doubles") as running:
        assert running.url  # it is ready
        yield running


def asked(url, data=None):
    try:
        with urllib.request.urlopen(url, data, timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        return refused.code, json.load(refused)


def test_it_answers_as_tensorflow_serving_does_and_has_no_keras(server):
    body = json.dumps({"instances": [[1, 2, 3], [0, 0, 1]]}).encode()
    answer = {"predictions": [[2.0, 4.0, 6.0], [0.0, 0.0, 2.0]]}
    assert asked(server.url + ":predict", body) == (200, answer)
    status, said = asked(server.url)
    assert status == 200 and said["model_version_status"][0]["state"] == "AVAILABLE"
    assert server.modules == {"tensorflow": True, "keras": False}


@pytest.mark.parametrize(
    ("body", "names"),
    [
        (b"no json", "JSON"),
        (b'{"instances": ' + b"[" * 255 + b"]" * 255 + b"}", "these inputs"),
        (b'{"instances": []}', "[]"),
        (b'{"instances": [[1, 2]]}', "shape [3]; got [2]"),
        (b'{"instances": [["a", "b", "c"]]}', "these inputs"),
    ],
)
def test_a_bad_request_is_answered_with_a_sentence_and_the_server_goes_on(server, body, names):
    status, said = asked(server.url + ":predict", body)
    assert status == 400 and names in said["error"] and len(said["error"]) < 400
    assert server.ask([[1, 1, 1]]) == [[2.0, 2.0, 2.0]]


def test_arrays_and_tensors_can_be_sent_also_within_a_list(server):
    row = np.array([1, 2, 3], dtype="float32")
    for instances in (row[None], [row], list(row[None]), tensorflow.constant([row]), [[*row]]):
        assert server.ask(instances) == [[2.0, 4.0, 6.0]]


def test_only_this_machine_can_ask_and_several_at_once(server):
    local = serving.http_server(list, "doubles")
    assert local.server_address[0] == "127.0.0.1" and local.server_address[1] > 0
    local.server_close()
    found = []
    threads = [
        threading.Thread(target=lambda i=i: found.append(server.ask([[i, 0, 0]])[0][0] == 2 * i))
        for i in range(8)
    ]
    [thread.start() for thread in threads]
    [thread.join(120) for thread in threads]
    assert found == [True] * 8


def test_it_ends_cleanly_and_then_nobody_answers(exported):
    server = serving.serve(exported, name="doubles")
    assert server.ask([[1, 2, 3]])
    assert server.stop(60) == server.stop() == 0  # twice does no harm
    with pytest.raises(serving.ServerError, match="Nobody answers"):
        server.ask([[1, 2, 3]])


PARENT = """
import sys, time
from accel_helpers.train import serving
server = serving.serve(sys.argv[1])
server.ask([[1, 2, 3]])
print(server.process.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.slow
def test_it_ends_when_the_process_that_started_it_is_killed(exported):
    with probe.Child(probe.python(PARENT, exported), probe.variables(), heard=1) as parent:
        number = int(parent.hear(120))
        os.kill(number, 0)  # it is there
        parent.process.send_signal(signal.SIGKILL)
        end = time.monotonic() + 120
        listed = "it runs"
        while listed and time.monotonic() < end:
            words = ["ps", "-o", "stat=", "-p", str(number)]
            listed = subprocess.run(words, capture_output=True, text=True).stdout.strip("Z+ \n")
        assert not listed


def test_what_cannot_be_served_is_refused_at_once(tmp_path):
    with pytest.raises(ValueError, match="model.export"):
        serving.serve(tmp_path)


@pytest.mark.parametrize(
    ("code", "why"),
    [
        # it closes its output a moment before it ends: it did not take too long
        ("import os, sys, time; os.close(1); time.sleep(0.5); sys.exit('no room')", "no room"),
        ("import time; time.sleep(600)", "not ready"),
    ],
)
def test_a_server_that_does_not_start_says_why_however_often_it_is_asked(code, why):
    seconds = 0.5 if why == "not ready" else 60.0
    with serving.Server(probe.python(code), "doubles", seconds) as server:
        for named in (why, "did not start"):
            with pytest.raises(serving.ServerError, match=named):
                server.ask([[1]])


@pytest.mark.slow
def test_a_model_that_cannot_be_served_says_so(tmp_path):
    exported_to(tmp_path, lambda x: {"twice": 2 * x, "half": x / 2})
    with serving.serve(tmp_path) as server:
        with pytest.raises(serving.ServerError, match="one output"):
            server.ask([[1, 2, 3]])
    (tmp_path / "saved_model.pb").write_bytes(b"no program")
    with serving.serve(tmp_path) as server, pytest.raises(serving.ServerError, match="start: .+"):
        server.ask([[1]])
