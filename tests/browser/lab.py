"""Open a copy of a lesson in JupyterLab, in a browser without a window, and use it.

Nothing outside this machine is asked for anything.
"""

import contextlib
import json
import os
import socket
import subprocess
import sys
from urllib.parse import urlsplit

import kernel  # of tools
from playwright.sync_api import TimeoutError

# Each of these answers a question that JupyterLab would ask in a box over the page.
SETTINGS = {
    "@jupyterlab/notebook-extension:tracker": {
        "autoStartDefaultKernel": True,
        "windowingMode": "none",
        "scrollPastEnd": False,
    },
    "@jupyterlab/apputils-extension:notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": True,
    },
    "@jupyterlab/docmanager-extension:plugin": {"autosave": False},
}
# The prompt of a code cell: [*] while it waits or runs, [3] when it has run.
RUNNING = """() => [...document.querySelectorAll('.jp-CodeCell .jp-InputArea-prompt')]
    .some(prompt => prompt.textContent.includes('*'))"""
ERRORS = (
    '[data-mime-type="application/vnd.jupyter.error"], '
    '[data-mime-type="application/vnd.jupyter.stderr"], .jp-Dialog'
)
BADGE = "https://colab.research.google.com/assets/colab-badge.svg"  # all that a lesson asks for
# Small sizes, and a record of the lesson's own: each lies in a folder of its own.
SMALL = {"ACCEL_FAST": "1", "ACCEL_DATA": "bundled", "ACCEL_RECORD": "course_record.json"}


class Lesson:
    """A notebook that is open in a page; `asked` are the addresses elsewhere that it asked for."""

    def __init__(self, page, file, sessions):
        self.page, self.file, self.asked = page, file, []
        self.cells = json.loads(file.read_text("utf-8"))["cells"]
        self._sessions = sessions  # where the server says how its kernel is
        page.set_default_timeout(0)  # a machine that is busy may take its time; pytest has a limit
        page.context.route("**/*", self._only_here)
        page.on("dialog", lambda dialog: dialog.accept())  # "leave this page?"

    def _only_here(self, route):
        parts = urlsplit(route.request.url)
        if parts.hostname == "127.0.0.1" or parts.scheme in ("data", "blob"):
            route.continue_()
        else:
            self.asked.append(route.request.url)
            route.abort()

    def go(self, address):
        """Load the page."""
        self.page.goto(address)
        self.page.locator(".jp-Notebook .jp-Cell").first.wait_for()
        self.wait_for_kernel()

    def wait_for_kernel(self):
        """Come back when the kernel is idle and the page is connected to it.

        The page says "idle" before it is connected, and what is run then is lost: so the server
        is asked.
        """
        while True:
            sessions = self.page.request.get(self._sessions).json()
            kernels = [each["kernel"] for each in sessions if each["name"] == self.file.name]
            if any(it["connections"] and it["execution_state"] == "idle" for it in kernels):
                return
            self.page.wait_for_timeout(200)

    def place(self, code):
        """Give the place of the one code cell that holds a piece of code."""
        (place,) = (
            number
            for number, cell in enumerate(self.cells)
            if cell["cell_type"] == "code" and code in "".join(cell["source"])
        )
        return place

    def cell(self, place):
        """Give the cell at a place, counted from 0 over all cells."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(place)

    def run_all(self):
        """Run all cells from the menu and come back when none is left."""
        with contextlib.suppress(TimeoutError):
            self._click_run_all()
            self.page.wait_for_function(RUNNING, timeout=5000)
            return self.settle()
        self._click_run_all()  # now and then the first click is lost
        self.settle()

    def _click_run_all(self):
        for name in ("Run", "Run All Cells"):
            self.page.get_by_role("menuitem", name=name).first.click()

    def run_cell(self, place, keys="Shift+Enter"):
        """Run one cell with the keys for it and come back when it is done."""
        self.cell(place).locator(".cm-content, .jp-Placeholder").first.click()  # it may be folded
        self.page.keyboard.press(keys)
        self.settle()

    def settle(self):
        """Come back when no cell runs or waits."""
        self.page.wait_for_function(f"() => !({RUNNING})()")
        self.wait_for_kernel()
        self.page.wait_for_timeout(300)  # outputs are drawn a moment after the kernel is idle

    def tab_to(self, target, key="Tab"):
        """Press Tab until something has the focus."""
        for _ in range(30):
            self.page.keyboard.press(key)
            if target.evaluate("e => e === document.activeElement"):
                return
        raise AssertionError(f"{key} does not lead there")

    def choose_by_key(self, option):
        """Go to an option and choose it; now and then the first press is lost."""
        self.tab_to(option)
        while not option.is_checked():
            self.page.keyboard.press("Space")
            self.page.wait_for_timeout(200)

    def problems(self):
        """Give the texts of the errors in the page, and of what stands over it."""
        return self.page.locator(ERRORS).all_inner_texts()


class Lab:
    """JupyterLab, in which copies of notebooks are opened."""

    def __init__(self, folder, browser, address):
        self.folder, self.browser, self.address = folder, browser, address

    @contextlib.contextmanager
    def open(self, notebook):
        """Open a copy of a notebook in a page of its own."""
        file = self.folder / notebook.stem / notebook.name
        file.parent.mkdir()
        file.write_text(kernel.in_small_boxes(notebook.read_text("utf-8")), "utf-8")
        page = self.browser.new_page(viewport={"width": 1280, "height": 1000})
        lesson = Lesson(page, file, f"{self.address}/api/sessions")
        lesson.go(f"{self.address}/lab/tree/{notebook.stem}/{notebook.name}?reset")
        page.keyboard.press("Control+b")  # the list of files, out of the way
        with contextlib.closing(page):
            yield lesson


@contextlib.contextmanager
def started(folder, browser):
    """Start JupyterLab in a folder that is its home, too."""
    settings = folder / ".jupyter" / "labconfig" / "default_setting_overrides.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps(SETTINGS), "utf-8")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += [f"--port={port}", "--ip=127.0.0.1", "--IdentityProvider.token="]
    # Under pytest the kernel would leave out what C libraries print; a learner's does not.
    environ = {**os.environ, **SMALL, "HOME": str(folder)}
    environ.pop("PYTEST_CURRENT_TEST")
    with subprocess.Popen(command, cwd=folder, env=environ, stderr=subprocess.DEVNULL) as server:
        page = browser.new_page()
        while True:
            with contextlib.suppress(Exception):
                page.request.get(f"http://127.0.0.1:{port}/api")
                break
            page.wait_for_timeout(200)
        yield Lab(folder, browser, f"http://127.0.0.1:{port}")
        server.terminate()  # it ends its kernels, too
