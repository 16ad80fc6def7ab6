"""Sessions on the replicas, whose outputs are compared as the notebook tools do."""

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


@pytest.fixture(params=replica.RUNTIMES, ids=lambda runtime: runtime.name)
def colab(request, required, tmp_path, closed_port):
    """Start a session on a replica of one of Colab's runtimes, without the course's library."""
    yield from started(request.param, required, tmp_path, closed_port)


@pytest.fixture
def past_colab(required, tmp_path, closed_port):
    """Start a session on a replica of a past runtime."""
    yield from started(replica.PAST, required, tmp_path, closed_port)


def started(runtime, required, tmp_path, closed_port):
    """One test at a time has a replica: another process of the suite would find its library."""
    try:
        python = replica.make(runtime)
    except replica.NoReplica as reason:
        required(str(reason))
    home = tmp_path / "home"
    home.mkdir()
    with open(replica.KEPT / f".{runtime.name}.used", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield Colab(runtime, python, home, closed_port)
