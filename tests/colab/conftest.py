"""Sessions on the replicas of Colab's runtimes."""

import fcntl
import socket

import pytest
import replica
from session import Colab


@pytest.fixture(scope="session")
def closed_port():
    """Keep a port on which nothing listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


@pytest.fixture(params=[replica.CPU, replica.TPU], ids=lambda runtime: runtime.name)
def colab(request, required, tmp_path, closed_port):
    """Start a session on a replica of a runtime, without the course's library."""
    try:
        python = replica.make(request.param)
    except replica.NoReplica as reason:
        required(str(reason))
    # One test at a time has a replica: another process of the suite would find its library.
    with open(replica.KEPT / f".{request.param.name}.used", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield Colab(request.param, python, tmp_path, closed_port)
