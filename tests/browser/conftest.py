"""The browser that looks."""

import chromium
import pytest


@pytest.fixture(scope="module")
def browser(needed):
    with chromium.launched() as browser:
        yield browser
