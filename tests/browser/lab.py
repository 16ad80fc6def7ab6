"""Open a copy of a lesson in JupyterLab, in a browser without a window, and use it.

Nothing outside this machine is asked for anything.
"""

import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import chromium  # of tools
import kernel

LIMIT = 300.0  # seconds: nothing takes so long; a machine that is busy may take its time
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
# Small sizes, and files of the lesson's own: each lies in a folder of its own.
SMALL = {
    "ACCEL_FAST": "1",
    "ACCEL_DATA": "bundled",
    "ACCEL_RECORD": "course_record.json",
}


class LabError(RuntimeError):
    """JupyterLab or the browser did not do what it was asked."""


def wait_for(what, condition, pause=time.sleep):
    """Come back with what the condition gives, when it gives something."""
    give_up = time.monotonic() + LIMIT
    while not (found := condition()):
        if time.monotonic() > give_up:
            raise LabError(f"waited {LIMIT:g} s for {what}")
        pause(0.2)
    return found


class Lesson:
    """A notebook that is open in JupyterLab.

    `cells` are as they are stored, `asked` are the addresses outside this machine that the page
    asked for; none was let through.
    """

    def __init__(self, page, file, path, ask_server):
        self.page, self.file, self._path, self._ask_server = page, file, path, ask_server
        self.cells, self.asked = json.loads(file.read_text("utf-8"))["cells"], []
        page.set_default_timeout(1000 * LIMIT)
        page.route("**/*", self._only_here)
        page.on("dialog", lambda dialog: dialog.accept())  # "leave this page?"

    def _only_here(self, route):
        parts = urlsplit(route.request.url)
        if parts.hostname in ("127.0.0.1", "localhost") or parts.scheme in ("data", "blob"):
            route.continue_()
        else:
            self.asked.append(route.request.url)
            route.abort()

    def go(self, address=None):
        """Load the page, or load it again."""
        self.page.goto(address) if address else self.page.reload()
        self.page.locator(".jp-Notebook .jp-Cell").first.wait_for()
        self.wait_for_kernel()
        if self.page.locator(".jp-FileBrowser").is_visible():
            self.page.keyboard.press("Control+b")  # the list of files, out of the way

    def kernel(self):
        """Give what the server says of the notebook's kernel, or nothing."""
        with contextlib.suppress(OSError):  # now and then it stumbles over a kernel that starts
            sessions = self._ask_server("/api/sessions")
            return next((s["kernel"] for s in sessions if s["path"] == self._path), {})
        return {}

    def place(self, code):
        """Give the place of the one code cell that holds a piece of code, blanks left aside."""
        sources = ["".join("".join(cell["source"]).split()) for cell in self.cells]
        found = [n for n, source in enumerate(sources) if "".join(code.split()) in source]
        (place,) = (n for n in found if self.cells[n]["cell_type"] == "code")
        return place

    def cell(self, place):
        """Give the cell at a place, counted from 0 over all cells."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(place)

    def pause(self, seconds):
        self.page.wait_for_timeout(1000 * seconds)

    def wait_for_kernel(self):
        """Come back when the kernel is idle and the page is connected to it.

        The page says "idle" before it is connected, and what is run then is lost: so the server
        is asked.
        """

        def idle():
            kernel = self.kernel()
            return kernel.get("connections") and kernel["execution_state"] == "idle"

        wait_for("an idle kernel", idle, self.pause)

    def run_all(self):
        """Run all cells from the menu and come back when none is left."""
        from playwright.sync_api import TimeoutError as TooLate

        self.wait_for_kernel()
        for _ in range(4):
            for name in ("Run", "Run All Cells"):
                self.page.get_by_role("menuitem", name=name).first.click()
            with contextlib.suppress(TooLate):  # now and then the first click is lost
                self.page.wait_for_function(RUNNING, timeout=5000)
                break
        self.settle()

    def run_cell(self, place, keys="Shift+Enter"):
        """Run one cell with the keys for it and come back when it is done."""
        self.cell(place).locator(".cm-content, .jp-Placeholder").first.click()  # it may be folded
        self.page.keyboard.press(keys)
        self.settle()

    def tab_to(self, target, key="Tab"):
        """Press Tab until something has the focus."""
        for _ in range(30):
            self.page.keyboard.press(key)
            if target.evaluate("e => e === document.activeElement"):
                return
        raise LabError(f"{key} does not lead there")

    def choose_by_key(self, option):
        """Choose the option that has the focus; now and then the first press is lost."""

        def chosen():
            self.page.keyboard.press("Space")
            return option.is_checked()

        wait_for("an option that is chosen", chosen, self.pause)

    def settle(self):
        """Come back when no cell runs or waits."""
        self.page.wait_for_function(f"() => !({RUNNING})()")
        self.wait_for_kernel()
        self.pause(0.3)  # outputs are drawn a moment after the kernel is idle

    def problems(self):
        """Give the texts of the errors in the page, and of what stands over it."""
        kinds = [
            f'[data-mime-type="application/vnd.jupyter.{kind}"]' for kind in ("error", "stderr")
        ]
        return self.page.locator(", ".join([*kinds, ".jp-Dialog"])).all_inner_texts()


class Lab:
    """JupyterLab and a browser, with copies of notebooks to open."""

    def __init__(self, work, browser, address, token):
        self.work, self.browser, self._address, self._token = work, browser, address, token

    def ask_server(self, what, method="GET"):
        """Ask JupyterLab's server itself, past the page."""
        request = urllib.request.Request(
            self._address + what, headers={"Authorization": f"token {self._token}"}, method=method
        )
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(request, timeout=60) as answer:
            return json.loads(answer.read() or "null")

    def answers(self):
        with contextlib.suppress(OSError):
            return self.ask_server("/api/status")

    @contextlib.contextmanager
    def open(self, notebook):
        """Open a copy of a notebook in a page of its own; its kernel ends with it."""
        file = self.work / notebook.stem / notebook.name
        file.parent.mkdir()
        file.write_text(kernel.in_small_boxes(notebook.read_text("utf-8")), "utf-8")
        path = file.relative_to(self.work).as_posix()
        page = self.browser.new_page(viewport={"width": 1280, "height": 1000})
        try:
            lesson = Lesson(page, file, path, self.ask_server)
            lesson.go(f"{self._address}/lab/tree/{path}?token={self._token}&reset")
            yield lesson
        finally:
            page.close()
            with contextlib.suppress(OSError):
                for session in self.ask_server("/api/sessions"):
                    self.ask_server(f"/api/sessions/{session['id']}", "DELETE")


@contextlib.contextmanager
def started(folder):
    """Start JupyterLab in a folder, with settings of its own, and a browser."""
    work, own = Path(folder) / "work", Path(folder) / "jupyter"
    work.mkdir(parents=True)
    with chromium.launched() as browser, _server(work, own) as (address, token):
        lab = Lab(work, browser, address, token)
        wait_for("JupyterLab", lab.answers)
        yield lab


@contextlib.contextmanager
def _server(root, own):
    """Start JupyterLab with every folder of its own; give its address and its token."""
    for plugin, values in SETTINGS.items():
        path = own / "JUPYTERLAB_SETTINGS_DIR" / "@jupyterlab" / f"{plugin}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values), "utf-8")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    token = secrets.token_hex(16)
    private = ["JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"]
    private += ["JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR"]
    # Under pytest the kernel would leave out what C libraries print; a learner's does not.
    environ = {k: v for k, v in os.environ.items() if k != "PYTEST_CURRENT_TEST"} | SMALL
    environ |= {name: str(own / name) for name in private}
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1"),
        *(f"--port={port}", "--ServerApp.port_retries=0", f"--ServerApp.root_dir={root}"),
        *("--LabApp.extension_manager=readonly", f"--IdentityProvider.token={token}"),
    ]
    with open(own / "server.log", "wb") as log:
        streams = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
        process = subprocess.Popen(command, **streams, cwd=root, env=environ)
    try:
        yield f"http://127.0.0.1:{port}", token
    finally:
        process.terminate()  # it ends its kernels, too
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
