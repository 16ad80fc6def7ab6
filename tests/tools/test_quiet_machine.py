"""A run counts where nobody else worked, nothing was stolen, and the machine stayed as fast."""

import pytest
import quiet
from lesson import Refused


def run(others, stolen, later):
    """Run in a hundred seconds of which others took some, with a loop of one second before."""
    moments = iter([(0, 0, 0), (100, others, stolen)])
    loops = iter([1, later])
    return quiet.run(lambda: "ran", moments.__next__, loops.__next__)


def test_a_disturbed_run_does_not_count():
    assert run(4, 4, 1.04) == "ran"
    for disturbed in ((6, 0, 1), (0, 6, 1), (0, 0, 1.06), (0, 0, 0.9)):
        with pytest.raises(Refused):
            run(*disturbed)
