"""Whether a lesson draws another machine's run beside the learner's, or alone."""

import os
from dataclasses import replace

from accel_helpers.measure.results import Reference


def for_page(reference: Reference) -> Reference:
    """Have a reference drawn alone where lessons are executed to be stored; else as it is.

    `make notebooks` sets ACCEL_PICTURES=reference, so that a stored picture does not depend on the
    machine that stored it.
    """
    is_stored = os.environ.get("ACCEL_PICTURES") == "reference"
    return replace(reference, alone=is_stored)
