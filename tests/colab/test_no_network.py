"""A lesson on a machine that cannot fetch anything, or cannot write anything."""

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import threading

import kernel
import nbformat
import pytest
import replica

LESSON = replica.ROOT / "notebooks" / "03_time_a_keras_model.ipynb"
LIMIT = 8  # seconds that the download of the pictures may take
# As the lesson does it: Keras is loaded by then, and the pictures are needed at once.
LOAD = f"""
import json
from accel_helpers.fit.images import load_images
import accel_helpers as ah
ah.use_backend()
images = load_images(1_920, source="auto", time_limit={LIMIT})
print(json.dumps({{"name": images.name, "count": len(images.x_train), "said": str(images)}}))
"""


def silent(connection, closing):
    """Take the question and never answer."""
    closing.wait()


def dripping(connection, closing):
    """Answer for ever, one byte at a time: no single wait is long."""
    while not closing.wait(0.2):
        connection.sendall(b"H")


@contextlib.contextmanager
def proxy(behaviour):
    """Run a proxy that does not do its work; give its address and the questions it got."""
    asked, closing = [], threading.Event()

    def serve(connection):
        with connection, contextlib.suppress(OSError):
            asked.append(connection.recv(200))
            behaviour(connection, closing)

    def accept():
        with contextlib.suppress(OSError):
            while True:
                connection, _ = server.accept()
                threading.Thread(target=serve, args=(connection,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=accept, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}", asked
        finally:
            closing.set()
            server.shutdown(socket.SHUT_RDWR)


def away_from_home(folder, proxy_address):
    """Give an environment whose only way to the network is a proxy, and whose home is empty."""
    dropped = ("ACCEL_", "KERAS_", "PYTEST_", "NO_PROXY", "ALL_PROXY")
    kept = {k: v for k, v in os.environ.items() if not k.upper().startswith(dropped)}
    ways = {k: proxy_address for k in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")}
    home = folder / "home"
    home.mkdir(exist_ok=True)
    return {**kept, **ways, "HOME": str(home), "KERAS_HOME": str(home / "keras")}


def load(environment):
    """Load the pictures in a Python of their own."""
    done = subprocess.run(
        [sys.executable, "-c", LOAD],
        env={**environment, "KERAS_BACKEND": "jax"},  # the quicker one to load
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_a_network_that_refuses_is_said_and_the_lesson_has_pictures(tmp_path, closed_port):
    got = load(away_from_home(tmp_path, f"http://127.0.0.1:{closed_port}"))
    assert (got["name"], got["count"]) == ("scikit-learn digits", 1_920)
    assert "MNIST could not be had" in got["said"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("behaviour", "left"),
    [
        (silent, b""),
        pytest.param(dripping, b"", marks=pytest.mark.night),
        pytest.param(silent, b"half of it", marks=pytest.mark.night),
    ],
)
def test_a_network_that_never_delivers_is_given_up_in_time(tmp_path, behaviour, left):
    """What an ended download left behind must not be mended without a time limit either."""
    with proxy(behaviour) as (address, asked):
        environment = away_from_home(tmp_path, address)
        if left:
            stored = tmp_path / "home" / "keras" / "datasets" / "mnist.npz"
            stored.parent.mkdir(parents=True)
            stored.write_bytes(left)
        got = load(environment)
    assert asked, "the download was tried"
    assert (got["name"], got["count"]) == ("scikit-learn digits", 1_920)
    assert f"within {LIMIT} s" in got["said"]


@pytest.mark.night
def test_the_lesson_goes_on_without_a_network_and_in_a_read_only_folder(tmp_path, closed_port):
    folder = tmp_path / "course"
    folder.mkdir()
    path = folder / LESSON.name
    path.write_bytes(LESSON.read_bytes())
    notebook = nbformat.read(path, as_version=4)
    # Until its first measurements are to be kept; the others are kept in the same way.
    keep = [n for n, cell in enumerate(notebook.cells) if "lesson.plot(" in cell.source]
    del notebook.cells[keep[1] + 1 :]
    folder.chmod(0o555)
    try:
        environment = away_from_home(tmp_path, f"http://127.0.0.1:{closed_port}")
        environment |= {"ACCEL_FAST": "1", "PYTHONPATH": str(replica.ROOT)}
        if os.access(folder, os.W_OK):  # root may write anywhere, but into no file's inside
            environment["ACCEL_RECORD"] = str(path / "course_record.json")
        problem = kernel.execute(notebook, folder, environment, 600)
    finally:
        folder.chmod(0o755)
    assert problem is None
    assert [found.name for found in folder.iterdir()] == [LESSON.name], "nothing was left there"

    def said(code):
        cells = [c for c in notebook.cells if c.cell_type == "code" and code in c.source]
        return ["".join(output.get("text", "") for output in cell.outputs) for cell in cells]

    (pictures,) = said("load_images(")
    assert "MNIST could not be had" in " ".join(pictures.split())
    kept = said("lesson.plot(")
    assert len(kept) > 1
    for text in kept:
        sentence = r"^Not saved: course_record\.json cannot be written here \([^)\n]+\)\.$"
        assert re.search(sentence, text, re.MULTILINE), text
