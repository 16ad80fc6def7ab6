"""Open a lesson in JupyterLab, in a browser without a window, and use it with keys and clicks.

As a command it takes pictures of a lesson, as a learner sees it:

    python tests/browser/lab.py notebooks/03_time_a_keras_model.ipynb pictures/

Nothing outside this machine is asked for anything, and the notebook itself is not changed: a copy
is opened.
"""

import argparse
import contextlib
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROME_ON_A_MAC = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
HERE_ONLY = ("127.0.0.1", "localhost")
SLICE = 1400  # pixels: the height of a picture
OVERLAP = 60
# Each of these answers a question that JupyterLab would ask in a box over the page.
SETTINGS = {
    "notebook-extension/tracker": {
        "autoStartDefaultKernel": True,
        "windowingMode": "none",
        "scrollPastEnd": False,
    },
    "apputils-extension/notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": True,
    },
    "docmanager-extension/plugin": {"autosave": False},
}
# The prompt of a code cell: [*] while it waits or runs, [3] when it has run.
RUNNING = """() => [...document.querySelectorAll('.jp-CodeCell .jp-InputArea-prompt')]
    .some(prompt => prompt.textContent.includes('*'))"""


class LabError(RuntimeError):
    """JupyterLab or the browser did not do what it was asked; the message says what."""


def find_browser():
    """Give the path of a Chromium or Chrome on this machine, or None."""
    for name in BROWSERS:
        if found := shutil.which(name):
            return found
    return str(CHROME_ON_A_MAC) if CHROME_ON_A_MAC.exists() else None


class Lesson:
    """A notebook that is open in JupyterLab.

    Attributes
    ----------
    page : playwright.sync_api.Page
    cells : list of dict
        The notebook's cells as they are stored.
    asked : list of str
        Addresses outside this machine that the page asked for; none was let through.
    """

    def __init__(self, page, name, cells, ask_server, asked):
        self.page, self.name, self.cells, self.asked = page, name, cells, asked
        self._ask_server = ask_server

    def go(self, address=None):
        """Load the page, or load it again."""
        self.page.goto(address) if address else self.page.reload()
        self.page.locator(".jp-Notebook .jp-Cell").first.wait_for(timeout=60_000)
        self.wait_for_kernel()
        if self.page.locator(".jp-FileBrowser").is_visible():
            self.page.keyboard.press("Control+b")  # the list of files, out of the way

    def kernel(self):
        """Give what the server says of the notebook's kernel, or nothing."""
        try:
            sessions = self._ask_server("/api/sessions")
        except OSError:  # now and then the server stumbles over a kernel that starts
            return {}
        return next((s["kernel"] for s in sessions if s["path"] == self.name), {})

    def place(self, code):
        """Give the place of the one code cell that holds a piece of code, blanks left aside."""
        wanted = "".join(code.split())
        found = [
            place
            for place, cell in enumerate(self.cells)
            if cell["cell_type"] == "code" and wanted in "".join("".join(cell["source"]).split())
        ]
        if len(found) != 1:
            raise LabError(f"{len(found)} code cells of the lesson hold {code}")
        return found[0]

    def cell(self, place):
        """Give the cell at a place, counted from 0 over all cells."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(place)

    def menu(self, *names):
        """Click through the menu bar."""
        for name in names:
            self.page.get_by_role("menuitem", name=name).first.click()

    def wait_for_kernel(self, seconds=60.0):
        """Come back when the kernel is idle and the page is connected to it.

        The page says "idle" before it is connected, and what is run then is lost: so the server
        is asked.
        """
        give_up = time.monotonic() + seconds
        while time.monotonic() < give_up:
            kernel = self.kernel()
            if kernel.get("connections") and kernel["execution_state"] == "idle":
                return
            self.page.wait_for_timeout(200)
        raise LabError(f"no idle kernel within {seconds:g} s; the server says {kernel}")

    def run_all(self, seconds=120.0):
        """Run all cells from the menu and come back when none is left."""
        from playwright.sync_api import TimeoutError as TooLate

        self.wait_for_kernel()
        for _ in range(4):
            self.menu("Run", "Run All Cells")
            with contextlib.suppress(TooLate):  # now and then the first click is lost
                self.page.wait_for_function(RUNNING, timeout=5000)
                break
        else:
            raise LabError("no cell started after four times Run All Cells")
        self.settle(seconds)

    def run_cell(self, place, keys="Shift+Enter", seconds=60.0):
        """Run one cell with the keys for it and come back when it is done."""
        self.cell(place).locator(".cm-content").click()
        self.page.keyboard.press(keys)
        self.settle(seconds)

    def tab_to(self, target, key="Tab", most=30):
        """Press Tab until something has the focus."""
        way = []
        for _ in range(most):
            self.page.keyboard.press(key)
            if target.evaluate("e => e === document.activeElement"):
                return
            way.append(self.page.evaluate("document.activeElement.outerHTML.slice(0, 90)"))
        raise LabError(f"{most} times {key} did not lead there, but to: {way}")

    def settle(self, seconds=60.0):
        """Come back when no cell runs or waits."""
        from playwright.sync_api import TimeoutError as TooLate

        try:
            self.page.wait_for_function(f"() => !({RUNNING})()", timeout=1000 * seconds)
        except TooLate:
            raise LabError(f"cells were still running after {seconds:g} s") from None
        self.wait_for_kernel()
        self.page.wait_for_timeout(300)  # outputs are drawn a moment after the kernel is idle

    def errors(self):
        """Give the texts of the errors that stand in the page."""
        return self.page.locator(
            '[data-mime-type="application/vnd.jupyter.error"],'
            '[data-mime-type="application/vnd.jupyter.stderr"]'
        ).all_inner_texts()

    def pictures(self, folder, stem):
        """Save the whole notebook as pictures, from its top to its end; give their paths."""
        panel = self.page.locator(".jp-NotebookPanel-notebook .jp-WindowedPanel-outer").first
        height, shown = panel.evaluate("e => [e.scrollHeight, e.clientHeight]")
        paths = []
        for number, top in enumerate(range(0, max(height - OVERLAP, 1), shown - OVERLAP), 1):
            panel.evaluate("(e, top) => { e.scrollTop = top }", top)
            self.page.wait_for_timeout(250)
            paths.append(Path(folder) / f"{stem}-{number:02}.png")
            panel.screenshot(path=paths[-1])
        return paths


class Lab:
    """JupyterLab and a browser, with copies of notebooks to open.

    Attributes
    ----------
    work : Path
        Where the copies lie; the working folder of their kernels.
    browser : playwright.sync_api.Browser
    """

    def __init__(self, work, browser, address, token, height):
        self.work, self.browser = work, browser
        self._address, self._token, self._height = address, token, height

    def ask_server(self, what, method="GET"):
        """Ask JupyterLab's server itself, past the page."""
        request = urllib.request.Request(
            self._address + what, headers={"Authorization": f"token {self._token}"}, method=method
        )
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(request, timeout=10) as answer:
            return json.loads(answer.read() or "null")

    @contextlib.contextmanager
    def open(self, name):
        """Open one of the notebooks in a page of its own; its kernel ends with it."""
        cells = json.loads((self.work / name).read_text("utf-8"))["cells"]
        page, asked = self.browser.new_page(viewport={"width": 1280, "height": self._height}), []
        page.route("**/*", lambda route: _only_here(route, asked))
        page.on("dialog", lambda dialog: dialog.accept())  # "leave this page?"
        lesson = Lesson(page, name, cells, self.ask_server, asked)
        lesson.go(f"{self._address}/lab/tree/{name}?token={self._token}&reset")
        try:
            yield lesson
        except BaseException:
            seen = self.work.parent / "at_failure.png"
            with contextlib.suppress(Exception):
                page.screenshot(path=seen)
                print(f"The page when it failed: {seen}", file=sys.stderr)
            raise
        finally:
            page.close()
            with contextlib.suppress(OSError):
                for session in self.ask_server("/api/sessions"):
                    self.ask_server(f"/api/sessions/{session['id']}", "DELETE")


@contextlib.contextmanager
def started(notebooks, folder, environ=None, height=1000):
    """Start JupyterLab on copies of notebooks, and a browser; give them as a `Lab`.

    Parameters
    ----------
    notebooks : sequence of Path
        Are copied first, and not changed.
    folder : Path
        Where the copies and all that JupyterLab writes go.
    environ : dict, optional
        Added to the environment of the server and so of the kernels.
    height : int, optional
        Of the browser's pages, in pixels.

    Raises
    ------
    LabError
        Where there is no browser, or the server does not start.
    """
    from playwright.sync_api import sync_playwright

    work = Path(folder) / "work"
    work.mkdir(parents=True)
    for notebook in notebooks:
        shutil.copyfile(notebook, work / notebook.name)
    with _server(work, Path(folder) / "jupyter", environ or {}) as (address, token):
        with sync_playwright() as playwright, launched(playwright) as browser:
            lab = Lab(work, browser, address, token, height)
            _wait_for(lab.ask_server)
            yield lab


@contextlib.contextmanager
def launched(playwright):
    """Start the browser of this machine, without a window."""
    path = find_browser()
    if path is None:
        raise LabError(f"no browser here; looked for {', '.join(BROWSERS)}")
    browser = playwright.chromium.launch(
        executable_path=path,
        args=[
            "--no-sandbox",  # there is none for root, nor in most containers
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--disable-component-update",
            "--no-first-run",
            "--no-proxy-server",
        ],
    )
    try:
        yield browser
    finally:
        browser.close()


@contextlib.contextmanager
def opened(notebook, folder, environ=None, height=1000):
    """Open a copy of one notebook and give it as a `Lesson`; parameters as in `started`."""
    with started([notebook], folder, environ, height) as lab, lab.open(notebook.name) as lesson:
        yield lesson


def small(folder):
    """The environment for quick runs that leave the learner's own files alone."""
    return {
        "ACCEL_FAST": "1",
        "ACCEL_DATA": "bundled",
        "ACCEL_RESULT_CARD": "result_card.json",
        "ACCEL_PROGRESS": str(Path(folder) / "course_progress.json"),
    }


def need_browser():
    """Skip a test where there is no browser; fail it where everything must run."""
    import pytest

    if find_browser() is None:
        reason = f"no browser here; looked for {', '.join(BROWSERS)}"
        (pytest.fail if os.environ.get("ACCEL_REQUIRE_ALL") == "1" else pytest.skip)(reason)


@contextlib.contextmanager
def ran(notebook, folder):
    """Open a lesson, run all of it on small sizes, and give it; for the tests of this folder."""
    need_browser()
    with opened(notebook, folder, small(folder)) as lesson:
        lesson.run_all()
        yield lesson


def _only_here(route, asked):
    parts = urlsplit(route.request.url)
    if parts.hostname in HERE_ONLY or parts.scheme in ("data", "blob"):
        route.continue_()
    else:
        asked.append(route.request.url)
        route.abort()


def _wait_for(ask_server, seconds=60.0):
    give_up = time.monotonic() + seconds
    while True:
        try:
            return ask_server("/api/status")
        except OSError as error:
            if time.monotonic() > give_up:
                raise LabError(f"JupyterLab did not start within {seconds:g} s: {error}") from None
            time.sleep(0.2)


@contextlib.contextmanager
def _server(root, own, environ):
    """Start JupyterLab with every folder of its own; give its address and its token."""
    for plugin, values in SETTINGS.items():
        path = own / "settings" / "@jupyterlab" / f"{plugin}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values), "utf-8")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    token = secrets.token_hex(16)
    private = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
    }
    # Under pytest the kernel would leave out what C libraries print; a learner's does not.
    kept = {k: v for k, v in os.environ.items() if k != "PYTEST_CURRENT_TEST"}
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1"),
        *(f"--port={port}", "--ServerApp.port_retries=0", f"--ServerApp.root_dir={root}"),
        *("--LabApp.extension_manager=readonly", f"--IdentityProvider.token={token}"),
    ]
    with open(own / "server.log", "wb") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=root,
            env={**kept, **{k: str(own / v) for k, v in private.items()}, **environ},
        )
    try:
        yield f"http://127.0.0.1:{port}", token
    finally:
        process.terminate()  # it ends its kernels, too
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def main(arguments=None):
    """Run the command; exit status 0 if no cell shows an error, else 1."""
    parser = argparse.ArgumentParser(prog="lab.py", description=__doc__.splitlines()[0])
    parser.add_argument("notebook", type=Path)
    parser.add_argument("out_dir", type=Path, help="where the pictures go")
    parser.add_argument("--no-run", action="store_true", help="as it is stored, nothing run")
    parser.add_argument("--full", action="store_true", help="real sizes, not the small ones")
    given = parser.parse_args(arguments)
    environ = {} if given.full else {"ACCEL_FAST": "1", "ACCEL_DATA": "bundled"}
    given.out_dir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="lab-") as folder:
        try:
            with opened(given.notebook, Path(folder), environ, height=SLICE + 120) as lesson:
                if not given.no_run:
                    lesson.run_all(seconds=600)
                for path in lesson.pictures(given.out_dir, given.notebook.stem):
                    print(path)
                errors, asked = lesson.errors(), lesson.asked
        except LabError as error:
            print(error, file=sys.stderr)
            return 1
    for address in dict.fromkeys(asked):
        print(f"asked for, and refused: {address}")
    for text in errors:
        print(f"an error stands in the page:\n{text}", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
