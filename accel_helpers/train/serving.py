"""Serving an exported model over HTTP, from a process that has neither Keras nor the model's code.

The requests and answers are those of TensorFlow Serving's REST API
(https://www.tensorflow.org/tfx/serving/api_rest): ``POST /v1/models/digits:predict`` with
``{"instances": [...]}`` gives ``{"predictions": [...]}``. This server is made for trying that
out. It listens on this machine only, and ends when the process that started it ends.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request
from pathlib import Path

LARGEST = 10_000_000  # bytes of a request
DEEPEST = 32  # lists within lists; far deeper ones make TensorFlow abort the process
_CPU = {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}

# The package is found where this process found it, behind everything else.
_CHILD = (
    "import sys; sys.path.append(sys.argv[1]); "
    "from accel_helpers.train.serving import _child; _child(*sys.argv[2:])"
)


class ServerError(RuntimeError):
    """The server did not start, or refused a request; the message is its own sentence."""


class Server:
    """A server in a process of its own; use it in a ``with`` block, or call `stop`.

    Attributes
    ----------
    url : str
        Where it answers; asking for it waits until the server is ready.
    modules : dict of str to bool
        Whether the server's process has imported "tensorflow" and "keras".
    """

    def __init__(self, process, errors, name: str, seconds: float):
        self._process, self._errors, self._name, self._seconds = process, errors, name, seconds
        self._line: bytes | None = None  # what it said first
        self._hello: dict | None = None
        self._failed = ""
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self):
        self._line = self._process.stdout.readline()

    def _ready(self) -> dict:
        if self._hello is None and not self._failed:
            self._listener.join(self._seconds)
            try:
                self._hello = json.loads(self._line or b"")
            except ValueError:
                self._failed = f"The server did not start: {self._reason()}"
                self.stop()
        if self._failed:
            raise ServerError(self._failed)
        return self._hello

    def _reason(self) -> str:
        if self._errors.closed:
            return "it was stopped before it was ready."
        if self._line is None:
            return f"it was not ready after {self._seconds:g} s."
        try:
            self._process.wait(1)  # it has closed its output, and is about to end
        except subprocess.TimeoutExpired:
            return "what it said first cannot be read."
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else "it ended without a word."

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._ready()['port']}/v1/models/{self._name}"

    @property
    def modules(self) -> dict[str, bool]:
        return self._ready()["modules"]

    @property
    def running(self) -> bool:
        """Whether its process is there."""
        return self._process.poll() is None

    def ask(self, instances) -> list:
        """Send inputs, and give the predictions.

        Parameters
        ----------
        instances : array, tensor or list of them or of numbers
            One or more inputs of the model.

        Returns
        -------
        list

        Raises
        ------
        ServerError
            If the inputs cannot be sent, or the server says no; then the message is what it says.
        """
        try:
            body = json.dumps({"instances": instances}, default=_plain, allow_nan=False).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise ServerError(
                f"The inputs cannot be written as JSON ({str(error)[:120]}). Give an array, or "
                "lists, of finite numbers."
            ) from None
        if len(body) > LARGEST:
            raise ServerError(
                f"The request would have {len(body):,} bytes, and the server takes at most "
                f"{LARGEST:,}. Send fewer inputs at a time."
            )
        request = urllib.request.Request(self.url + ":predict", data=body)
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with direct.open(request, timeout=self._seconds) as answer:
                return json.load(answer)["predictions"]
        except urllib.error.HTTPError as refused:
            raise ServerError(json.load(refused)["error"]) from None
        except (OSError, http.client.HTTPException) as error:
            raise ServerError(f"Nobody answers at {request.full_url}: {error}.") from None

    def stop(self) -> int | None:
        """End the server, and give the exit status of its process; 0 is a clean end."""
        if not self._process.stdin.closed:
            self._process.stdin.close()  # which is how the child learns that we are done
        try:
            code = self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        self._listener.join(1)
        self._process.stdout.close()
        self._errors.close()
        return code

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *error) -> None:
        self.stop()


def serve(folder, *, name: str = "digits", seconds: float = 60.0) -> Server:
    """Start a server for a model that ``model.export`` wrote. It comes back at once.

    Parameters
    ----------
    folder : path-like
        What ``model.export(folder)`` was given.
    name : str, optional
        Of the model, as it stands in the address: letters, digits, ``_`` and ``-``.
    seconds : float, optional
        The longest to wait for its start, or for an answer.

    Returns
    -------
    Server

    Raises
    ------
    ValueError
        If there is no exported model in the folder, or the name cannot stand in an address.
    """
    if not re.fullmatch(r"[\w-]{1,60}", name, re.ASCII):
        raise ValueError(f"name must be letters, digits, '_' and '-'; got {name!r}.")
    if not (Path(folder) / "saved_model.pb").is_file():
        raise ValueError(
            f"{str(folder)!r} holds no exported model (no saved_model.pb): call "
            "model.export(folder) first. A .keras file cannot be served."
        )
    root = os.fspath(Path(__file__).resolve().parents[2])
    errors = tempfile.TemporaryFile()
    process = subprocess.Popen(
        [sys.executable, "-c", _CHILD, root, os.fspath(folder), name],
        stdin=subprocess.PIPE,  # its end tells the child that we are gone, even if we were killed
        stdout=subprocess.PIPE,
        stderr=errors,
        env={**os.environ, **_CPU},
        start_new_session=True,  # Ctrl-C in the terminal of the notebook is not meant for it
    )
    return Server(process, errors, name, seconds)


def _plain(value):
    """An array or a tensor as lists, for `json.dumps`."""
    if not hasattr(value, "tolist") and hasattr(value, "numpy"):
        value = value.numpy()  # a tensor of TensorFlow
    if not hasattr(value, "tolist"):
        raise TypeError(f"{type(value).__name__} is neither a number nor an array")
    return value.tolist()


# --- in the child ------------------------------------------------------------------------------


def _child(folder: str, name: str) -> None:
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

    server = _http_server(predict, name)
    modules = {name: bool(sys.modules.get(name)) for name in ("tensorflow", "keras")}
    print(json.dumps({"port": server.server_address[1], "modules": modules}), flush=True)
    threading.Thread(target=_end_with_parent, args=(server,), daemon=True).start()
    server.serve_forever(poll_interval=0.05)
    server.server_close()


def _end_with_parent(server, stdin=None) -> None:
    (stdin or sys.stdin.buffer).read()  # comes back when the other end is closed, or gone
    server.shutdown()


def _http_server(predict, name: str):
    """A server on a free port of 127.0.0.1 that answers with what `predict` gives."""
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            if self.path != f"/v1/models/{name}":
                return self.answer(404, error=f"There is no model here but {name!r}.")
            state = {"version": "1", "state": "AVAILABLE"}
            return self.answer(200, model_version_status=[state])

        def do_POST(self):
            body = self.body()
            if body is None:
                self.close_connection = True
                limit = f"The request needs a Content-Length of at most {LARGEST:,} bytes."
                return self.answer(413, error=limit)
            if self.path != f"/v1/models/{name}:predict":
                way = f"/v1/models/{name}:predict"
                return self.answer(404, error=f"Nothing is served at {self.path!r:.80}: use {way}.")
            status, said = answer_to(body, predict)
            return self.answer(status, **said)

        def body(self):
            length = self.headers.get("Content-Length", "")
            if not length.isdecimal() or len(length) > 12 or int(length) > LARGEST:
                return None
            return self.rfile.read(int(length))

        def answer(self, status, **said):
            text = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *args):  # quiet
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    return server


def answer_to(body: bytes, predict) -> tuple[int, dict]:
    """Answer one request: a status, and what the JSON says.

    Parameters
    ----------
    body : bytes
        What came in.
    predict : callable
        From a list of inputs to a list of outputs.

    Returns
    -------
    tuple of int and dict

    Examples
    --------
    >>> answer_to(b'{"instances": [1, 2]}', lambda xs: [2 * x for x in xs])
    (200, {'predictions': [2, 4]})
    >>> answer_to(b'{"instances": 3}', list)[1]["error"]
    "'instances' must be a list of at least one input; got 3."
    """
    try:
        request = json.loads(body)
    except (ValueError, RecursionError):
        return 400, {"error": 'The request is no JSON. It must be {"instances": [...]}.'}
    if not isinstance(request, dict) or "instances" not in request:
        return 400, {"error": 'The request has no "instances". It must be {"instances": [...]}.'}
    instances = request["instances"]
    if not isinstance(instances, list) or not instances:
        said = f"'instances' must be a list of at least one input; got {instances!r:.60}."
        return 400, {"error": said}
    if _depth(instances) > DEEPEST:
        return 400, {"error": f"'instances' may hold lists at most {DEEPEST} deep, not deeper."}
    try:
        predictions = predict(instances)
    except Exception as error:  # whatever a model may say about inputs that do not fit
        line = " ".join(str(error).split())[:300]
        return 400, {"error": f"The model cannot take these inputs: {line}"}
    try:
        json.dumps(predictions, allow_nan=False)
    except TypeError:
        said = "The predictions are no numbers. Serve a model that gives numbers."
        return 500, {"error": said}
    except ValueError:
        said = "The predictions hold infinity or NaN, which JSON cannot write. Look at the inputs."
        return 400, {"error": said}
    return 200, {"predictions": predictions}


def _depth(instances: list) -> int:
    """How deep lists (or objects) lie within each other; without recursion."""
    level, depth = [instances], 0
    while level:
        depth += 1
        inside = (item.values() if isinstance(item, dict) else item for item in level)
        level = [item for items in inside for item in items if isinstance(item, (list, dict))]
    return depth
