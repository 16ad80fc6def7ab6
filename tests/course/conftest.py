"""What tests of several parts of the course use."""

import sys

import pytest


@pytest.fixture
def frames_of(monkeypatch):
    """The boxes of a player's frames, by a call that would draw them: `call(*arguments)`."""

    def frames(call, *arguments):
        with monkeypatch.context() as patch:
            patch.setattr(sys.modules[call.__module__], "played", lambda frames, title: frames)
            return [*call(*arguments).values()]

    return frames
