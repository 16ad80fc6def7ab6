"""What an author must mend in a lesson: functions that yield words for what is wrong."""

import re
from itertools import pairwise

import lesson
import measured
import repair

RUN_IT = "run `make notebooks`"
MARKERS = (
    "**Minutes:** ",
    "**You need:** ",
    "**You will be able to:** ",
    "**You will have measured:** ",
)
NO_ALT = re.compile(r"!\[\s*\]\(|<img(?![^>]*\balt=)")
SENTENCE = re.compile(r"^[^<\s]+ \S+ \S+ .*[.!?]\s*$", re.S)
# What nobody reads in Markdown: folded hints, tags, addresses.
NOT_READ = re.compile(r"<details>\s*<summary>\s*Hint.*?</details>|<[^>]*>|(?<=\])\(\S*\)", re.S)
# The most words of a core, lines of its cells, by their tag, and columns of them.
WORDS, MORE_WORDS = 1000, {"10": 1500}
LINES, MORE_LINES, COLUMNS = 10, {"script": 14, "take-away": 20}, 79


def words(text):
    """Count the words that are read of Markdown, or of what a cell prints."""
    return sum(bool(re.search(r"\w", word)) for word in NOT_READ.sub("", text).split())


def title(nb, path):
    """The first cell is the title with its four lines and its badge, the second sets up."""
    head, setup = nb.cells[:2]
    if lesson.tags(setup) != {"setup"}:
        yield "begin as lesson 03 does: a title in Markdown, then the cell tagged 'setup'."
    for start in ("# ", *MARKERS, lesson.badge(repair.stamp_of(nb), path.name)):
        if not re.search(rf"^[-* ]*{re.escape(start)}", head.source, re.M):
            yield f"the title cell needs a line that starts with {start}"


def stored(nb, path):
    """What is stored is one whole run, without errors and without noise."""
    runs = [cell for cell in nb.cells if lesson.is_code(cell)]
    if [cell.execution_count for cell in runs] != list(range(1, len(runs) + 1)):
        yield f"its cells are not of one run: {RUN_IT}."
    for cell in runs:
        kinds = {output.get("name", output.output_type) for output in cell.outputs}
        if kinds & {"error", "stderr"}:
            yield f"cell {cell.id} stores an error, or stderr: mend its cause, then {RUN_IT}."


def of_one_run(nb, path):
    """What the measuring cells show is of one run, and the last line says of which."""
    told = measured.told(nb)
    if told is None and any(cell.outputs for cell in measured.cells(nb)):
        yield f"no line says on which machine it was measured: {RUN_IT} FRESH=1."
    if told is not None and told["shown"] != measured.shown(nb):
        yield f"its measured results are not of one run: `git checkout` them, or {RUN_IT} FRESH=1."


def alt_text(nb, path):
    """Every picture has words for those who cannot see it."""
    for cell in nb.cells:
        if cell.cell_type == "markdown" and NO_ALT.search(cell.source):
            yield f"a picture of cell {cell.id} has no alt text: say in a few words what it shows."
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if "image/png" in data and not SENTENCE.search(data.get("text/plain", "")):
                yield f"the picture of cell {cell.id} needs a sentence as text/plain: use ah.plot."


def exercise(nb, path):
    """Before an exercise stand two hints, and it is checked."""
    for before, cell in pairwise(nb.cells):
        if "exercise" in lesson.tags(cell):
            if before.source.count("<summary>Hint") < 2:
                yield f"the Markdown before {cell.id} needs two folded hints, as in lesson 03."
            if "lesson.check(" not in cell.source:
                yield f'the exercise {cell.id} needs lesson.check("name", ...).'


def plain(nb, path):
    """A core is short, and teaches the frameworks: its take-away does without this library."""
    core = nb.cells[2 : lesson.core_end(nb)]
    read = sum(words(cell.source) for cell in core if cell.cell_type == "markdown")
    if read > MORE_WORDS.get(path.name[:2], WORDS):
        yield f"its core has {read} words: say less."
    away = [lesson.taken_away(cell.source) for cell in core if "take-away" in lesson.tags(cell)]
    if len(away) != 1 or re.search(r"\b(ah|lesson)\.|accel_helpers", away[0]):
        yield "its core needs one cell tagged take-away, which does without this library."
    for cell in core:
        tags = lesson.tags(cell)
        if cell.cell_type == "markdown" or "exercise" in tags:
            continue
        lines = re.findall(r"^.*\S", cell.source, re.M)
        most = max(MORE_LINES.get(tag, LINES) for tag in {*tags, ""})
        if len(lines) > most or max(map(len, lines)) > COLUMNS:
            yield f"one idea a cell: in {cell.id} {most} lines of {COLUMNS} columns at most."


RULES = (title, stored, of_one_run, alt_text, exercise, plain)
