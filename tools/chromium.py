"""The Chromium or Chrome of this machine, without a window: for pictures, and for tests."""

import contextlib
import shutil

from lesson import Refused

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ON_A_MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
# No sandbox: we may be root. No proxy: it would be asked for pages of this machine.
WORDS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-proxy-server"]
START = 300_000  # milliseconds: it never takes so long; a machine that is busy may take its time


def find():
    """Give the path of the browser; `Refused` where there is none."""
    for name in (*NAMES, ON_A_MAC):
        if path := shutil.which(name):
            return path
    raise Refused(f"There is no browser here: looked for {', '.join(NAMES)}.")


@contextlib.contextmanager
def launched():
    """Start the browser, and close it at the end."""
    from playwright.sync_api import sync_playwright

    path = find()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=WORDS, timeout=START)
        with contextlib.closing(browser):
            yield browser
