"""Open a copy of a lesson in JupyterLab, in a browser without a window, and use it.

Nothing outside this machine is asked for anything.
"""

import contextlib
import json
import os
import re
import socket
import subprocess
import sys

import kernel  # of tools
import nbformat
from playwright.sync_api import Error, expect

from accel_helpers.course import questions

# What answers the questions that JupyterLab would ask in a box over the page.
QUIET = {"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True}
SETTINGS = {
    "@jupyterlab/apputils-extension:notification": QUIET,
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
}
READY = """async () => {
    const notebook = jupyterapp.shell.currentWidget
    await notebook.context.ready
    await notebook.sessionContext.ready
    await notebook.sessionContext.session.kernel.info
}"""
ERRORS = (
    '[data-mime-type="application/vnd.jupyter.error"], '
    '[data-mime-type="application/vnd.jupyter.stderr"], .jp-Dialog'
)
ELSEWHERE = re.compile(r"https?://(?!127\.0\.0\.1)")
BADGE = "https://colab.research.google.com/assets/colab-badge.svg"  # all that a lesson asks for
# Small sizes, and a record of the lesson's own: each lies in a folder of its own.
SMALL = {"ACCEL_FAST": "1", "ACCEL_DATA": "bundled", "ACCEL_RECORD": "course_record.json"}


class Lesson:
    """A notebook that is open in a page; `asked` are the addresses elsewhere that it asked for."""

    def __init__(self, page, file):
        self.page, self.asked = page, []
        self.cells = nbformat.read(file, as_version=4).cells
        page.set_default_timeout(0)  # a machine that is busy may take its time; pytest has a limit
        page.route(ELSEWHERE, self._refuse)
        page.on("dialog", lambda dialog: dialog.accept())  # "leave this page?"

    def _refuse(self, route):
        self.asked.append(route.request.url)
        route.abort()

    def go(self, address):
        """Load the page."""
        self.page.goto(address)
        self.page.locator(".jp-Notebook .jp-Cell").first.wait_for()
        self.page.evaluate(READY)

    def cell(self, code):
        """Give the one code cell that holds a piece of code."""
        places = []
        for place, cell in enumerate(self.cells):
            if cell.cell_type == "code" and code in cell.source:
                places.append(place)
        (place,) = places
        return self.page.locator(".jp-Notebook .jp-Cell").nth(place)

    def run_all(self):
        """Run all cells and come back when none is left; no error and no box may be there."""
        self._do("run-all-cells")
        assert self.page.locator(ERRORS).all_inner_texts() == []

    def run(self, code):
        """Run one cell, come back when it is done, and give it."""
        cell = self.cell(code)
        cell.locator(".cm-content, .jp-Placeholder").first.click()  # it may be folded
        self._do("run-cell")
        return cell

    def _do(self, name):
        self.page.evaluate(f"jupyterapp.commands.execute('notebook:{name}')")
        # What waits or runs is [*].
        waiting = self.page.locator(".jp-CodeCell .jp-InputArea-prompt", has_text="*")
        expect(waiting).to_have_count(0, timeout=600_000)
        self.page.wait_for_timeout(1000)  # outputs are drawn a moment later

    def press(self, key, target, way="Tab"):
        """Press Tab until something has the focus, and then a key."""
        while not target.evaluate("e => e === document.activeElement"):
            self.page.keyboard.press(way)
        self.page.keyboard.press(key)


class Field:
    """A question in an open lesson, answered as a learner answers it."""

    def __init__(self, cell, number, question):
        self.question = question
        self.part = cell.locator(".jp-OutputArea .accel-question").nth(number - 1)
        name = f"Check answer {number}"
        self.button = self.part.get_by_role("button", name=name, exact=True)
        self.said = self.part.get_by_role("status")
        wrong = {*question.options} - {*question.right, *question.by_material}
        self.wrong = min(wrong, default=None)

    def option(self, letter):
        """Give what is clicked for an option."""
        text = self.question.options[letter].text.replace("`", "")
        return self.part.get_by_label(f"{letter}) {text}", exact=True)

    def feedback(self, letter):
        """Give what is said of an option beneath the question, and not what is folded away."""
        text = self.question.options[letter].feedback.replace("`", "")
        return self.said.locator("> p", has_text=text)

    def answer(self, letters):
        """Choose options with the mouse, or type what stands for them; press the button."""
        if self.question.kind in ("one", "several"):
            for letter in letters:
                self.option(letter).check()
        else:
            value = self.question.options[letters[0]].value
            typed = letters if value is None else f"{value:g}"
            self.part.get_by_role("textbox").fill(typed)
        self.button.click()


def fields(cell, lesson):
    """Give the questions of a lesson's quiz, in the cell that shows it."""
    bank = questions.bank().values()
    asked = [question for question in bank if question.lesson == lesson and question.quiz]
    return [Field(cell, number, question) for number, question in enumerate(asked, 1)]


@contextlib.contextmanager
def started(folder, browser):
    """Start JupyterLab in a folder that is its home, too; give its address."""
    settings = folder / ".jupyter" / "labconfig" / "default_setting_overrides.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps(SETTINGS), "utf-8")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += ["--expose-app-in-browser", f"--port={port}", "--IdentityProvider.token="]
    # Under pytest the kernel would leave out what C libraries print; a learner's does not.
    environ = {**os.environ, **SMALL, "HOME": str(folder)}
    environ.pop("PYTEST_CURRENT_TEST")
    address = f"http://127.0.0.1:{port}"
    with subprocess.Popen(command, cwd=folder, env=environ, stderr=subprocess.DEVNULL) as server:
        page = browser.new_page()
        while True:
            with contextlib.suppress(Error):
                page.request.get(f"{address}/api")
                break
            page.wait_for_timeout(200)
        yield address
        server.terminate()  # it ends its kernels, too


@contextlib.contextmanager
def opened(folder, browser, address, notebook):
    """Open a copy of a notebook in a page of its own, so high that nothing has to be scrolled."""
    file = folder / notebook.stem / notebook.name
    file.parent.mkdir()
    file.write_text(kernel.in_small_boxes(notebook.read_text("utf-8")), "utf-8")
    page = browser.new_page(viewport={"width": 1280, "height": 15_000})
    lesson = Lesson(page, file)
    lesson.go(f"{address}/lab/tree/{notebook.stem}/{notebook.name}?reset")
    page.keyboard.press("Control+b")  # the list of files, out of the way
    with contextlib.closing(page):
        yield lesson
