"""What an author must mend in a lesson: functions that yield a cell's place, or None, and words."""

import re

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
TAGS = {
    "setup",
    "nbval-ignore-output",
    "nbval-skip",
    "raises-exception",
    "exercise",
    "solution",
    "hide-input",
    "first-result",
    "script",
    "take-away",
}
LARGEST = 500_000  # bytes of a lesson that may be stored
CHECKED = re.compile(r"\bcheck\(\s*[\"']([^\"']+)[\"']")
NO_ALT = re.compile(r"!\[\s*\]\(|<img(?![^>]*\balt=)")
SENTENCE = re.compile(r"^[^<\s]+ \S+ \S+ .*[.!?]\s*$", re.S)
# What nobody reads in Markdown: folded hints, tags, addresses.
NOT_READ = re.compile(r"<details>\s*<summary>\s*Hint.*?</details>|<[^>]*>|(?<=\])\(\S*\)", re.S)
# The most cells and words of a core; lines of a cell with a tag (else 10), and their columns.
USUAL, MOST = (36, 1000), {"03": (44, 1000), "10": (44, 1500)}
LINES, COLUMNS = {"script": 14, "take-away": 20}, 79


def words(text):
    """Count the words that are read of Markdown, or of what a cell prints."""
    return sum(bool(re.search(r"\w", word)) for word in NOT_READ.sub("", text).split())


def title(nb, path):
    """The first cell is the title with its four lines and its badge, the second sets up."""
    kinds = [cell.cell_type for cell in nb.cells[:2]]
    if kinds != ["markdown", "code"] or lesson.tags(nb.cells[1]) != {"setup"}:
        yield 0, "begin as lesson 03 does: a title in Markdown, then the cell tagged 'setup'."
        return
    badge = lesson.badge(repair.stamp_of(nb), path.name)
    for start in ("# ", *MARKERS, badge):
        if not re.search(rf"^[-* ]*{re.escape(start)}", nb.cells[0].source, re.M):
            yield 0, f"the title cell needs a line that starts with {start}"


def known_tags(nb, path):
    """A tag with a slip of the pen would switch nothing on."""
    for place, cell in enumerate(nb.cells):
        for tag in lesson.tags(cell) - TAGS:
            yield place, f"the tag {tag!r} is not known; known are {', '.join(sorted(TAGS))}."


def stored(nb, path):
    """What is stored is one whole run, without errors and without noise."""
    runs = [cell for cell in nb.cells if lesson.is_code(cell)]
    runs = [cell for cell in runs if "nbval-skip" not in lesson.tags(cell)]
    for count, cell in enumerate(runs, 1):
        place = nb.cells.index(cell)
        kinds = [output.get("name", output.output_type) for output in cell.outputs]
        if "error" in kinds and "raises-exception" not in lesson.tags(cell):
            yield place, f"it stores an error: mend it, {RUN_IT}; or tag it raises-exception."
        if "stderr" in kinds:
            yield place, f"it stores what went to stderr: silence its source, then {RUN_IT}."
        if cell.execution_count != count:
            yield place, f"its number is {cell.execution_count}, not {count}: {RUN_IT}."


def of_one_run(nb, path):
    """What the measuring cells show is of one run, and the last line says of which."""
    told = measured.told(nb)
    if told is None and any(cell.outputs for cell in measured.cells(nb)):
        yield None, f"no line says on which machine it was measured: {RUN_IT}."
    if told is not None and told["shown"] != measured.shown(nb):
        yield None, f"its stored results are not of one run: `git checkout` them, or {RUN_IT}."


def alt_text(nb, path):
    """Every picture has words for those who cannot see it."""
    for place, cell in enumerate(nb.cells):
        if cell.cell_type == "markdown" and NO_ALT.search(cell.source):
            yield place, "a picture has no alt text: say in a few words what it shows."
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if "image/png" in data and not SENTENCE.search(data.get("text/plain", "")):
                yield place, "a stored picture needs a sentence as its text/plain: use ah.plot."


def exercise(nb, path):
    """Before an exercise stand two hints; it is checked, and so is a solution that passes."""
    sources = [cell.source for cell in nb.cells if "solution" in lesson.tags(cell)]
    solved = CHECKED.findall("\n".join(sources))
    prose = ""
    for place, cell in enumerate(nb.cells):
        if cell.cell_type == "markdown":
            prose += cell.source
            continue
        if "exercise" in lesson.tags(cell):
            checked = CHECKED.findall(cell.source)
            if prose.count("<summary>Hint") < 2:
                yield place, "the Markdown before it needs two folded hints, as in lesson 03."
            if not checked or set(checked) - set(solved):
                yield place, 'it needs lesson.check("name", ...), as has a cell tagged solution.'
        prose = ""


def plain(nb, path):
    """A core is short, and teaches the frameworks: its take-away does without this library."""
    if not lesson.is_converted(nb):
        return
    core = list(enumerate(nb.cells))[2 : lesson.core_end(nb)]
    read = sum(words(cell.source) for _, cell in core if cell.cell_type == "markdown")
    most_cells, most_words = MOST.get(path.name[:2], USUAL)
    if len(core) > most_cells or read > most_words:
        size = f"{len(core)} cells and {read} words, of at most {most_cells} and {most_words}"
        yield None, f"its core has {size}: say less."
    away = [lesson.taken_away(cell.source) for _, cell in core if "take-away" in lesson.tags(cell)]
    if len(away) != 1 or re.search(r"\b(ah|lesson)\.|accel_helpers", away[0]):
        yield None, "its core needs one cell tagged take-away, which does without this library."
    for place, cell in core:
        tags = lesson.tags(cell)
        if cell.cell_type == "markdown" or "exercise" in tags:
            continue
        lines = re.findall(r"^.*\S", cell.source, re.M)
        longest = max((LINES.get(tag, 10) for tag in tags), default=10)
        if len(lines) > longest or max(map(len, lines), default=0) > COLUMNS:
            yield place, f"one idea a cell: {longest} lines of {COLUMNS} columns at most."


RULES = (title, known_tags, stored, of_one_run, alt_text, exercise, plain)
