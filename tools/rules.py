"""What an author must mend in a lesson: functions that yield words for what is wrong."""

import re
from itertools import takewhile

import lesson
import measured
import repair

MARKERS = (
    "# ",
    "**Minutes:** ",
    "**You need:** ",
    "**You will be able to:** ",
    "**You will have measured:** ",
)
CORE_ENDS = re.compile(r"^#+ (What the exam asks|Quiz\b|Going further|One solution)", re.M)
NO_ALT = re.compile(r"!\[\s*\]\(|<img(?![^>]*\balt=)")
SENTENCE = re.compile(r"^[^<\s]+ \S+ \S+ .*[.!?]\s*$", re.S)
# What nobody reads in Markdown: folded hints, tags, addresses.
NOT_READ = re.compile(r"<details>\s*<summary>\s*Hint.*?</details>|<[^>]*>|(?<=\])\(\S*\)", re.S)
# The most words of a core, and lines and columns of its cells; these may be longer.
WORDS, MORE_WORDS = 1000, {"10": 1500}
LINES, COLUMNS, LONGER = 10, 79, {"exercise", "script", "take-away"}


def words(text):
    """Count the words that are read of Markdown, or of what a cell prints."""
    return sum(bool(re.search(r"\w", word)) for word in NOT_READ.sub("", text).split())


def of_page(nb, path):
    """A lesson begins as the others do, and stores one whole run; what measures is of one, too."""
    head, setup = nb.cells[:2]
    for start in (*MARKERS, lesson.badge(repair.stamp_of(nb), path.name)):
        if not re.search(rf"^[-* ]*{re.escape(start)}", head.source, re.M):
            yield f"the title cell needs a line that starts with {start}"
    if lesson.tags(setup) != {"setup"}:
        yield "the second cell has to be the one tagged 'setup'."
    runs = [cell.execution_count for cell in nb.cells if lesson.is_code(cell)]
    if runs != list(range(1, len(runs) + 1)):
        yield "its cells are not of one run: run `make notebooks`."
    told = measured.told(nb)
    if told is None or told["shown"] != measured.shown(nb):
        yield "what it measured is not of one run: `git checkout` it, or `make notebooks FRESH=1`."


def of_core(nb, path):
    """A core is short, and teaches the frameworks: its take-away does without this library."""
    core = list(takewhile(lambda cell: not CORE_ENDS.search(cell.source), nb.cells[2:]))
    read = sum(words(cell.source) for cell in core if cell.cell_type == "markdown")
    if read > MORE_WORDS.get(path.name[:2], WORDS):
        yield f"its core has {read} words: say less."
    away = [lesson.taken_away(cell.source) for cell in core if "take-away" in lesson.tags(cell)]
    if len(away) != 1 or re.search(r"\b(ah|lesson)\.|accel_helpers", away[0]):
        yield "its core needs one cell tagged take-away, which does without this library."
    for cell in core:
        if cell.cell_type == "code" and not lesson.tags(cell) & LONGER:
            lines = re.findall(r"^.*\S", cell.source, re.M)
            if len(lines) > LINES or max(map(len, lines)) > COLUMNS:
                yield f"one idea a cell: in {cell.id} 10 lines of 79 columns at most."


def of_cell(cell, before):
    """A cell stores no noise, its pictures have words, and an exercise is hinted at and checked."""
    if cell.cell_type == "markdown" and NO_ALT.search(cell.source):
        yield "a picture has no alt text: say in a few words what it shows."
    for output in cell.get("outputs", ()):
        if output.get("name", output.output_type) in ("error", "stderr"):
            yield "it stores an error, or stderr: mend its cause, then run `make notebooks`."
        data = output.get("data", {})
        if "image/png" in data and not SENTENCE.search(data.get("text/plain", "")):
            yield "a stored picture needs a sentence as its text/plain: use ah.plot."
    if "exercise" in lesson.tags(cell):
        if before.source.count("<summary>Hint") < 2:
            yield "the Markdown before it needs two folded hints, as in lesson 03."
        if "lesson.check(" not in cell.source:
            yield 'it needs lesson.check("name", ...).'
