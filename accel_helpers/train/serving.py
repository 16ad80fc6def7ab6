"""Serving an exported model over HTTP, from a process that has neither Keras nor the model's code.

Requests and answers are those of TensorFlow Serving's REST API
(https://www.tensorflow.org/tfx/serving/api_rest). The server listens on this machine only, and ends
when the process that started it ends.
"""

from __future__ import annotations

import http.client
import http.server
import json
import re
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path

from accel_helpers import probe

__all__ = ["ServerError", "serve"]

DEEPEST = 32  # lists within lists; far deeper ones make TensorFlow abort the process
_CPU = {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}
_CHILD = "import sys; from accel_helpers.train.serving import child; child(*sys.argv[1:])"


class ServerError(RuntimeError):
    """The server did not start, or refused a request; the message is its own sentence."""


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
    if not re.fullmatch(r"[\w-]{1,60}", name, re.ASCII):
        raise ValueError(f"name must be letters, digits, '_' and '-'; got {name!r}.")
    if not (Path(folder) / "saved_model.pb").is_file():
        raise ValueError(
            f"{str(folder)!r} holds no exported model (no saved_model.pb): call "
            "model.export(folder) first. A .keras file cannot be served."
        )
    words = probe.python(_CHILD, folder, name)
    return Server(probe.Child(words, probe.variables(_CPU), heard=1), name, seconds)


class Server:
    """A server in a process of its own; use it in a ``with`` block, or call `stop`."""

    def __init__(self, child: probe.Child, name: str, seconds: float):
        self.child, self.name, self.seconds = child, name, seconds
        self._hello, self._asking = None, threading.Lock()

    def _ready(self) -> dict:
        with self._asking:
            if not self._hello:
                line = self.child.hear(self.seconds)
                if not line:  # it has closed its output, and is about to end; or it is too slow
                    self.child.stop(0 if line is None else 10)
                    why = probe.last_line(self.child.output) or "it ended before it was ready."
                    why = f"it was not ready after {self.seconds:g} s." if line is None else why
                    raise ServerError(f"The server did not start: {why:.300}")
                self._hello = json.loads(line)
            return self._hello

    @property
    def url(self) -> str:
        """Where it answers; asking for it waits until the server is ready."""
        return f"http://127.0.0.1:{self._ready()['port']}/v1/models/{self.name}"

    @property
    def modules(self) -> dict[str, bool]:
        """Whether the server's process has imported "tensorflow" and "keras"."""
        return self._ready()["modules"]

    def ask(self, instances) -> list:
        """Send one or more inputs, such as an array, and give the predictions, or a ServerError."""
        try:
            body = json.dumps({"instances": instances}, default=_plain, allow_nan=False).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise ServerError(
                f"The inputs cannot be written as JSON ({str(error)[:120]}). Give an array, or "
                "lists, of finite numbers."
            ) from None
        request = urllib.request.Request(self.url + ":predict", data=body)
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with direct.open(request, timeout=self.seconds) as answer:
                return json.load(answer)["predictions"]
        except urllib.error.HTTPError as refused:
            raise ServerError(json.load(refused)["error"]) from None
        except (OSError, http.client.HTTPException) as error:
            raise ServerError(f"Nobody answers at {request.full_url}: {error}.") from None

    def stop(self) -> int | None:
        """End the server, and give the exit status of its process; 0 is a clean end."""
        return self.child.stop(patience=10)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *error) -> None:
        self.stop()


def _plain(value):
    """An array or a tensor as lists, for `json.dumps`."""
    if not hasattr(value, "tolist") and hasattr(value, "numpy"):
        value = value.numpy()  # a tensor of TensorFlow
    if not hasattr(value, "tolist"):
        raise TypeError(f"{type(value).__name__} is neither a number nor an array")
    return value.tolist()


# --- in the child ------------------------------------------------------------------------------


def child(folder: str, name: str) -> None:
    """Load the model, say where it is served, and serve it until the parent is gone."""
    sys.modules["keras"] = None  # TensorFlow would import Keras by itself; here nobody can
    import tensorflow as tf

    program = tf.saved_model.load(folder)  # no class of the model is needed
    signature = program.signatures["serving_default"]
    takes, gives = signature.structured_input_signature[1], signature.structured_outputs
    if len(takes) != 1 or len(gives) != 1:
        how_many = f"{len(takes)} input(s) and {len(gives)} output(s)"
        sys.exit(f"The model has {how_many}; this server is for models with one of each.")
    (wanted,) = takes.values()

    def predict(instances):
        inputs = tf.constant(instances, dtype=wanted.dtype)
        if not wanted.shape.is_compatible_with(inputs.shape):
            shapes = wanted.shape[1:].as_list(), inputs.shape[1:].as_list()
            raise ValueError("each must have the shape {}; got {}.".format(*shapes))
        (outputs,) = tf.nest.flatten(program.serve(inputs))
        return outputs.numpy().tolist()

    server = http_server(predict, name)
    modules = {name: bool(sys.modules.get(name)) for name in ("tensorflow", "keras")}
    print(json.dumps({"port": server.server_address[1], "modules": modules}), flush=True)

    def end_with_parent():
        sys.stdin.buffer.read()  # comes back when the other end is closed, or gone
        server.shutdown()

    threading.Thread(target=end_with_parent, daemon=True).start()
    server.serve_forever(poll_interval=0.05)
    server.server_close()


def http_server(predict, name: str):
    """A server on a free port of 127.0.0.1 that answers with what `predict` gives."""
    here = f"/v1/models/{name}"

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            if self.path != here:
                return self.answer(404, error=f"There is no model here but {name!r}.")
            state = {"version": "1", "state": "AVAILABLE"}
            return self.answer(200, model_version_status=[state])

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if self.path != f"{here}:predict":
                said = f"Nothing is served at {self.path!r:.80}: use {here}:predict."
                return self.answer(404, error=said)
            try:
                return self.answer(200, predictions=answer_to(body, predict))
            except ValueError as refused:
                return self.answer(400, error=str(refused))

        def answer(self, status, **said):
            text = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *args):  # quiet
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    return server


def answer_to(body: bytes, predict) -> list:
    """The predictions that a request asks for; a ValueError says what is wrong with it."""
    try:
        instances = json.loads(body)["instances"]
        depth = _depth(instances)
    except (ValueError, TypeError, KeyError, RecursionError):
        raise ValueError('The request must be JSON: {"instances": [...]}.') from None
    if not isinstance(instances, list) or not instances or depth > DEEPEST:
        raise ValueError(
            "'instances' must be a list of at least one input, and lists within it at most "
            f"{DEEPEST} deep; got {instances!r:.60}."
        )
    try:
        predictions = predict(instances)
        json.dumps(predictions, allow_nan=False)  # JSON has no infinity and no NaN
    except Exception as error:  # whatever a model may say about inputs that do not fit
        line = " ".join(str(error).split())[:300]
        raise ValueError(f"The model cannot take these inputs: {line}") from None
    return predictions


def _depth(value) -> int:
    """How deep lists (or objects) lie within each other."""
    if not isinstance(value, (list, dict)):
        return 0
    items = value.values() if isinstance(value, dict) else value
    return 1 + max(map(_depth, items), default=0)
