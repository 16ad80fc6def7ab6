"""A run counts where nobody else worked, nothing was stolen, and the machine stayed as fast."""

import pytest
import quiet
from lesson import Refused


@pytest.mark.parametrize("taken", [(5, 0, 1), (0, 5, 1), (4, 4, 1.12)])
def test_a_disturbed_run_does_not_count(taken):
    others, stolen, later = taken

    def run(others, stolen, later):
        moments, loops = iter([(0, 0, 0), (100, others, stolen)]), iter([1, later])
        return quiet.run(lambda: "ran", moments.__next__, loops.__next__)

    assert run(4, 4, 1.04) == "ran"
    with pytest.raises(Refused):
        run(others + 1, stolen + 1, later)
