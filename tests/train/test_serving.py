"""Serving: a model runs where nobody has Keras or its code, and the server goes when we go."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

import pytest

from accel_helpers.train import serving
from accel_helpers.train.serving import answer_to

tensorflow = pytest.importorskip("tensorflow")


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A small program: each of three numbers, times two."""
    folder = tmp_path_factory.mktemp("exported")
    module = tensorflow.Module()

    @tensorflow.function(input_signature=[tensorflow.TensorSpec((None, 3), tensorflow.float32)])
    def double(x):
        return 2 * x

    module.serve = double
    tensorflow.saved_model.save(module, str(folder), signatures={"serving_default": double})
    return folder


@pytest.fixture(scope="module")
def server(exported):
    with serving.serve(exported, name="doubles") as running:
        yield running


def asked(url, data=None, **headers):
    request = urllib.request.Request(url, data=data, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        return refused.code, json.load(refused)


def test_it_answers_as_tensorflow_serving_does(server):
    assert server.ask([[1, 2, 3]]) == [[2.0, 4.0, 6.0]]
    assert server.url.startswith("http://127.0.0.1:")
    body = json.dumps({"instances": [[1, 2, 3], [0, 0, 1]]}).encode()
    assert asked(server.url + ":predict", body) == (
        200,
        {"predictions": [[2.0, 4.0, 6.0], [0.0, 0.0, 2.0]]},
    )
    status, said = asked(server.url)
    assert status == 200 and said["model_version_status"][0]["state"] == "AVAILABLE"


def test_keras_is_not_in_its_process(server):
    assert server.modules == {"tensorflow": True, "keras": False}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"no json", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b'{"instances": ' + b"[" * 255 + b"]" * 255 + b"}", "at most 32 deep"),
        (b'{"instances": [{"a": ' + b"[" * 40 + b"]" * 40 + b"}]}", "at most 32 deep"),
        (b'{"instances": [[1e39, 1, 2]]}', "infinity or NaN"),
        (b'{"instances": [[NaN, 1, 2]]}', "infinity or NaN"),
        (b"[]", 'no "instances"'),
        (b'{"instances": []}', "at least one input"),
        (b'{"instances": 5}', "at least one input"),
        (b'{"instances": [[1, 2]]}', "shape [3]; got [2]"),
        (b'{"instances": [["a", "b", "c"]]}', "cannot take these inputs"),
        (b'{"instances": [[1, 2, 3], [1]]}', "cannot take these inputs"),
    ],
)
def test_a_bad_request_is_answered_with_a_sentence_and_the_server_goes_on(server, body, words):
    status, said = asked(server.url + ":predict", body)
    assert status == 400 and words in said["error"] and len(said["error"]) < 400
    assert server.ask([[1, 1, 1]]) == [[2.0, 2.0, 2.0]]


def test_other_addresses_name_the_right_one(server):
    root = server.url.rpartition("/")[0]
    status, said = asked(f"{root}/cats:predict", b'{"instances": [[1, 2, 3]]}')
    assert status == 404 and "/v1/models/doubles:predict" in said["error"]
    status, said = asked(f"{root}/cats")
    assert status == 404 and "'doubles'" in said["error"]


def test_a_request_that_is_too_large_is_refused_before_it_is_read(server):
    for length in (str(serving.LARGEST + 1), "9" * 9000):
        status, said = asked(server.url + ":predict", b"{}", **{"Content-Length": length})
        assert status == 413 and f"{serving.LARGEST:,}" in said["error"]


def test_arrays_and_tensors_can_be_sent_also_within_a_list(server):
    import numpy as np

    wanted = [[2.0, 4.0, 6.0]]
    row = np.array([1, 2, 3], dtype="float32")
    for instances in (row[None], [row], list(row[None]), tensorflow.constant([row]), [[*row]]):
        assert server.ask(instances) == wanted


@pytest.mark.parametrize("wrong", [[[1, 2, {3}]], [[float("nan"), 1, 2]], [[object()]], {1: {2}}])
def test_what_json_cannot_write_is_refused_with_a_sentence(server, wrong):
    with pytest.raises(serving.ServerError, match=r"cannot be written as JSON.*finite numbers"):
        server.ask(wrong)


def test_a_request_that_is_too_large_is_not_sent(server):
    with pytest.raises(serving.ServerError, match="takes at most 10,000,000. Send fewer"):
        server.ask([[1, 2, 3]] * 1_200_000)


def test_ctrl_c_in_the_notebook_is_not_meant_for_the_server(server):
    assert os.getpgid(server._process.pid) != os.getpgid(0)


def test_only_this_machine_can_ask():
    server = serving._http_server(list, "doubles")
    try:
        assert server.server_address[0] == "127.0.0.1" and server.server_address[1] > 0
    finally:
        server.server_close()


def test_several_can_ask_at_once(server):
    found = []
    threads = [
        threading.Thread(target=lambda i=i: found.append(server.ask([[i, 0, 0]])[0][0] == 2 * i))
        for i in range(8)
    ]
    [thread.start() for thread in threads]
    [thread.join(60) for thread in threads]
    assert found == [True] * 8


def test_it_ends_cleanly_and_then_nobody_answers(exported):
    server = serving.serve(exported, name="doubles")
    assert server.ask([[1, 2, 3]]) and server.running
    assert server.stop() == 0 and not server.running
    assert server._process.stdout.closed and server._errors.closed
    assert server.stop() == 0  # twice does no harm
    with pytest.raises(serving.ServerError, match="Nobody answers"):
        server.ask([[1, 2, 3]])


PARENT = """
import sys, time
from accel_helpers.train import serving
server = serving.serve(sys.argv[1], name="doubles")
server.ask([[1, 2, 3]])
print(server._process.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.slow
def test_it_ends_when_the_process_that_started_it_is_killed(exported):
    path = os.pathsep.join(filter(None, sys.path))
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(exported)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
    )
    child = int(parent.stdout.readline())
    os.kill(child, 0)  # it is there
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    end = time.monotonic() + 30
    while alive(child) and time.monotonic() < end:
        time.sleep(0.1)
    assert not alive(child)


def alive(process):
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        pass
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return not os.path.isdir("/proc/self")  # where there is no /proc, the signal decides


def test_a_folder_without_an_exported_model_is_refused_by_name(tmp_path):
    with pytest.raises(ValueError, match=r"saved_model.pb.*model.export"):
        serving.serve(tmp_path)


@pytest.mark.parametrize("name", ["", "a/b", "a b", "ä"])
def test_a_name_that_cannot_stand_in_an_address_is_refused(exported, name):
    with pytest.raises(ValueError, match="letters, digits"):
        serving.serve(exported, name=name)


def test_a_server_that_does_not_start_says_why(tmp_path):
    (tmp_path / "saved_model.pb").write_bytes(b"no program")
    with serving.serve(tmp_path) as server:
        said = set()
        for _ in range(3):  # asked again, it says the same
            with pytest.raises(serving.ServerError, match="did not start: .{10}") as error:
                server.ask([[1]])
            said.add(str(error.value))
    assert len(said) == 1 and "not ready" not in said.pop()


def test_a_server_that_ends_a_moment_after_its_output_did_not_take_too_long():
    code = "import os, sys, time; os.close(1); time.sleep(0.3); sys.exit('no room')"
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
        with serving.Server(process, errors, "doubles", 60.0) as server:
            with pytest.raises(serving.ServerError, match="did not start: no room"):
                server.url  # noqa: B018


def test_a_server_that_was_stopped_before_it_was_ready_says_so(exported):
    server = serving.serve(exported)
    server._process.kill()
    server.stop()
    with pytest.raises(serving.ServerError, match="stopped before it was ready"):
        server.ask([[1, 2, 3]])


@pytest.mark.slow
def test_a_model_with_several_outputs_is_refused_by_its_number_of_them(tmp_path):
    module = tensorflow.Module()

    @tensorflow.function(input_signature=[tensorflow.TensorSpec((None, 3), tensorflow.float32)])
    def both(x):
        return {"twice": 2 * x, "half": x / 2}

    module.serve = both
    tensorflow.saved_model.save(module, str(tmp_path), signatures={"serving_default": both})
    with serving.serve(tmp_path) as server:
        with pytest.raises(serving.ServerError, match=r"1 input\(s\) and 2 output\(s\)"):
            server.ask([[1, 2, 3]])


def test_predictions_that_are_no_numbers_get_a_sentence():
    status, said = answer_to(b'{"instances": [1]}', lambda inputs: [b"a text"])
    assert status == 500 and "no numbers" in said["error"]


def test_what_the_model_says_is_cut_to_one_line():
    def refuses(inputs):
        raise TypeError("no\n" * 1000)

    status, said = answer_to(b'{"instances": [1]}', refuses)
    assert status == 400 and "\n" not in said["error"] and len(said["error"]) < 400
