"""The Chromium or Chrome of this machine, without a window: for pictures, and for tests."""

import contextlib
import shutil

NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
# No sandbox: we may be root. No proxy: it would be asked for pages of this machine.
WORDS = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-proxy-server")


def find():
    """Give the path of the browser, or None where there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextlib.contextmanager
def launched():
    """Start the browser, and close it at the end."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Without a limit: a machine that is busy may take its time.
        browser = playwright.chromium.launch(executable_path=find(), args=WORDS, timeout=0)
        with contextlib.closing(browser):
            yield browser
