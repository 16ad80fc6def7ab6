"""Serving an exported model over HTTP, from a process that has neither Keras nor the model's code.

Requests and answers are those of TensorFlow Serving's REST API
(https://www.tensorflow.org/tfx/serving/api_rest). The server listens on this machine only, and ends
when the process that started it ends.
"""

import http.client
import http.server
import json
import sys
import threading
import urllib.error
import urllib.request
from functools import cached_property
from pathlib import Path

from accel_helpers import probe

__all__ = ["ServerError", "serve"]

_CPU = {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}
_CHILD = "import sys; from accel_helpers.train.serving import child; child(*sys.argv[1:])"


class ServerError(RuntimeError):
    """The server did not start, or refused a request; the message is its own sentence."""


class Server(probe.Child):
    """A server in a process of its own; use it in a ``with`` block, or call `stop`."""

    def __init__(self, words: list[str], name: str, seconds: float):
        super().__init__(words, probe.variables(_CPU), heard=1)
        self.name, self.seconds = name, seconds

    @cached_property
    def _hello(self) -> dict:
        line = self.hear(self.seconds)
        if not line:  # it has closed its output, and is about to end; or it is too slow
            self.stop(0 if line is None else 10)
            why = probe.last_line(self.output) or "it ended before it was ready."
            why = f"it was not ready after {self.seconds:g} s." if line is None else why
            raise ServerError(f"The server did not start: {why:.300}")
        return json.loads(line)

    @property
    def url(self) -> str:
        """Where it answers; asking for it waits until the server is ready."""
        return f"http://127.0.0.1:{self._hello['port']}/v1/models/{self.name}"

    @property
    def modules(self) -> dict[str, bool]:
        """Whether the server's process has imported "tensorflow" and "keras"."""
        return self._hello["modules"]

    def ask(self, instances) -> list:
        """Send one or more inputs, such as an array, and give the predictions, or a ServerError."""
        import numpy as np

        plain = np.asarray(instances).tolist()
        body = json.dumps({"instances": plain}, allow_nan=False).encode()  # JSON has no NaN
        request = urllib.request.Request(self.url + ":predict", data=body)
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with direct.open(request, timeout=self.seconds) as answer:
                return json.load(answer)["predictions"]
        except urllib.error.HTTPError as refused:
            raise ServerError(json.load(refused)["error"]) from None
        except (OSError, http.client.HTTPException) as error:
            raise ServerError(f"Nobody answers at {request.full_url}: {error}.") from None


def serve(folder, *, name: str = "digits", seconds: float = 60.0) -> Server:
    """Start a server for a model that ``model.export`` wrote. It comes back at once.

    Parameters
    ----------
    folder : path-like
        What ``model.export(folder)`` was given; a ValueError if there is no model in it.
    name : str, optional
        Of the model, as it stands in the address: letters, digits, ``_`` and ``-``.
    seconds : float, optional
        The longest to wait for its start, or for an answer.

    Returns
    -------
    Server
        With `url`, `modules`, `ask` and `stop`; it can stand in a ``with`` block.

    Examples
    --------
    >>> serve("no such folder")
    Traceback (most recent call last):
    ValueError: 'no such folder' holds no exported model (no saved_model.pb): call ...
    """
    if not (Path(folder) / "saved_model.pb").is_file():
        raise ValueError(
            f"{str(folder)!r} holds no exported model (no saved_model.pb): call "
            "model.export(folder) first. A .keras file cannot be served."
        )
    return Server(probe.python(_CHILD, folder, name), name, seconds)


def child(folder: str, name: str) -> None:
    """In the child: load the model, say where it is served, serve it until the parent is gone."""
    sys.modules["keras"] = None  # TensorFlow would import Keras by itself; here nobody can
    import numpy as np
    import tensorflow as tf

    program = tf.saved_model.load(folder)  # no class of the model is needed
    signature = program.signatures["serving_default"]
    takes, gives = signature.structured_input_signature[1], signature.structured_outputs
    if len(takes) != 1 or len(gives) != 1:
        sys.exit("This server is for models with one input and one output.")
    (wanted,) = takes.values()

    def predict(instances):
        # NumPy refuses lists that lie too deep within lists; TensorFlow would abort the process.
        shape = np.shape(instances)
        if not wanted.shape.is_compatible_with(shape):
            shapes = wanted.shape[1:].as_list(), list(shape[1:])
            raise ValueError("each must have the shape {}; got {}.".format(*shapes))
        (outputs,) = tf.nest.flatten(program.serve(tf.constant(instances, dtype=wanted.dtype)))
        return outputs.numpy().tolist()

    server = http_server(predict, name)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    modules = {name: bool(sys.modules.get(name)) for name in ("tensorflow", "keras")}
    print(json.dumps({"port": server.server_address[1], "modules": modules}), flush=True)
    sys.stdin.read()  # comes back when the other end is closed, or gone
    server.shutdown()


def http_server(predict, name: str):
    """A server on a free port of 127.0.0.1 that answers with what `predict` gives."""
    here = f"/v1/models/{name}"

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path != here:
                return self.answer(404, error=f"There is no model here but {name!r}.")
            self.answer(200, model_version_status=[{"version": "1", "state": "AVAILABLE"}])

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if self.path != f"{here}:predict":
                said = f"Nothing is served at {self.path!r:.80}: use {here}:predict."
                return self.answer(404, error=said)
            try:
                instances = json.loads(body)["instances"]
            except (ValueError, TypeError, KeyError, RecursionError):
                said = 'The request must be JSON: {"instances": [...]}.'
                return self.answer(400, error=said)
            try:
                self.answer(200, predictions=predict(instances))
            except Exception as error:  # whatever a model may say about inputs that do not fit
                line = " ".join(str(error).split())[:300]
                self.answer(400, error=f"The model cannot take these inputs: {line}")

        def answer(self, status, **said):
            text = json.dumps(said, allow_nan=False).encode()  # JSON has no infinity and no NaN
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

    return http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
