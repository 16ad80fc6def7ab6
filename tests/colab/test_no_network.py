"""The pictures of the lessons on a machine that cannot fetch anything."""

import json
import os
import subprocess
import sys
import threading
from socketserver import BaseRequestHandler, ThreadingTCPServer

import pytest

LIMIT = 8  # seconds that the download of the pictures may take
# As the lesson does it: Keras is loaded by then, and the pictures are needed at once.
LOAD = f"""
import json
from accel_helpers.fit.images import load_images
import accel_helpers as ah
ah.use_backend()
images = load_images(1_920, source="auto", time_limit={LIMIT})
print(json.dumps([images.name, len(images.x_train), str(images)]))
"""
DROPPED = ("ACCEL_", "KERAS_", "NO_PROXY", "ALL_PROXY")


def said_behind(port, home):
    """Load the pictures in a Python whose only way to the network is a proxy; give what it says."""
    environ = {k: v for k, v in os.environ.items() if not k.upper().startswith(DROPPED)}
    environ |= dict.fromkeys(("http_proxy", "https_proxy"), f"http://127.0.0.1:{port}")
    environ |= {"HOME": str(home), "KERAS_HOME": str(home), "KERAS_BACKEND": "jax"}
    command = [sys.executable, "-c", LOAD]
    done = subprocess.run(command, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    name, count, said = json.loads(done.stdout.splitlines()[-1])
    assert (name, count) == ("scikit-learn digits", 1_920)
    return said


def test_a_network_that_refuses_is_said_and_the_lesson_has_pictures(tmp_path, closed_port):
    assert "MNIST could not be had" in said_behind(closed_port, tmp_path)


@pytest.mark.slow
def test_a_network_that_never_delivers_is_given_up_in_time(tmp_path):
    """What an ended download left behind is not mended without a time limit either."""
    ended = threading.Event()

    class Drips(BaseRequestHandler):
        """Answers for ever, one byte at a time: no single wait is long."""

        def handle(self):
            while not ended.wait(0.2):
                self.request.sendall(b"H")

    left = tmp_path / "datasets" / "mnist.npz"
    left.parent.mkdir()
    left.write_bytes(b"half of it")
    with ThreadingTCPServer(("127.0.0.1", 0), Drips) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        said = said_behind(server.server_address[1], tmp_path)
        ended.set()
        server.shutdown()
    assert f"within {LIMIT} s" in said
