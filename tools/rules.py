"""The rules of a lesson's form: functions that yield a cell's place, or None, and a sentence."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import lesson
import measured
import repair
from lesson import badge, badge_stamps, is_code, setup_source, setup_stamp, tags
from nbformat import NotebookNode

RUN_IT = "run `make notebooks`"
MARKERS = (
    "**Minutes:**",
    "**You need:**",
    "**You will be able to:**",
    "**You will have measured:**",
)
TAGS = frozenset(
    [
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
    ]
)
LARGEST_OUTPUT = 200_000  # bytes of JSON that the outputs of one cell may take
LARGEST = 500_000  # bytes of a lesson
FEWEST_COMPARED = 3
UNCOMPARED = frozenset([measured.TAG, "nbval-skip"])
RULES = {}


@dataclass(frozen=True)
class Lesson:
    """A lesson as the rules see it: its file, its text and its cells."""

    path: Path
    text: str
    nb: NotebookNode

    def cells(self, kind):
        return [(i, cell) for i, cell in enumerate(self.nb.cells) if cell.cell_type == kind]

    def outputs(self):
        return [(i, cell, out) for i, cell in self.cells("code") for out in cell.outputs]


def rule(name):
    """Register a rule under its name."""

    def register(function):
        RULES[name] = function
        return function

    return register


@rule("format")
def _format(it):
    if it.nb.nbformat_minor != 5:
        yield None, f"it says format 4.{it.nb.nbformat_minor}; the course uses 4.5."


@rule("ids")
def _ids(it):
    for i in repair.bad_ids(it.nb):
        yield i, "the cell needs an id of its own, made of letters, digits, '-' and '_'."


@rule("canonical")
def _canonical(it):
    if lesson.dump(it.nb) != it.text:
        yield None, "the file is not written as nbformat writes it (indents of one, sorted keys)."


@rule("title")
def _title(it):
    if not it.nb.cells or it.nb.cells[0].cell_type != "markdown":
        yield 0, "the first cell must be the title cell, in Markdown."
        return
    lines = it.nb.cells[0].source.splitlines()
    if not any(line.startswith("# ") for line in lines):
        yield 0, "the title cell needs a line '# Title'."
    for marker in MARKERS:
        if not any(re.match(r"[-*\s]*" + re.escape(marker) + r"\s*\S", line) for line in lines):
            yield 0, f"the title cell needs a line that starts with {marker} and says something."


@rule("badge")
def _badge(it):
    stamp = repair.stamp_of(it.nb)
    title = it.nb.cells[0] if it.nb.cells else None
    wanted = badge(stamp, it.path.name)
    in_prose = title and title.cell_type == "markdown"
    if in_prose and wanted not in title.source.splitlines():
        yield 0, f"the title cell needs this line: {wanted}"
    for i, cell in it.cells("markdown"):
        if any(found != stamp for found in badge_stamps(cell.source)):
            yield i, f"a badge does not lead to {stamp}, where the setup cell leads."


@rule("setup")
def _setup(it):
    cell = it.nb.cells[1] if len(it.nb.cells) > 1 else None
    if cell is None or cell.cell_type != "code" or tags(cell) != {"setup"}:
        yield 1, "the second cell must be the setup cell: code with the one tag 'setup'."
    else:
        stamp = setup_stamp(cell.source)
        if stamp is None:
            yield 1, "COURSE is missing or cannot be a place: run `make stamp`."
        elif cell.source != setup_source(stamp, it.path.name[:2]):
            yield 1, "it is not the text in tools/setup_cell.txt; --fix puts it back."
    for i, cell in enumerate(it.nb.cells):
        if i != 1 and "setup" in tags(cell):
            yield i, "only the second cell may be tagged 'setup': keep one setup cell."


@rule("tags")
def _tags(it):
    for i, cell in enumerate(it.nb.cells):
        for tag in sorted(tags(cell) - TAGS):
            yield i, f"the tag {tag!r} is not known; the known ones are {', '.join(sorted(TAGS))}."
        comment = re.search(r"^\s*#\s*(NBVAL_|PYTEST_VALIDATE_)", cell.source, re.M)
        if cell.cell_type == "code" and comment:
            yield i, "mark the cell with a tag such as nbval-ignore-output, not with a comment."
        if {"nbval-skip", "nbval-ignore-output"} <= tags(cell):
            yield i, "nbval-skip already keeps nbval away: drop nbval-ignore-output."


@rule("notebook-metadata")
def _notebook_metadata(it):
    if dict(it.nb.metadata) != repair.clean_metadata(it.nb.metadata):
        allowed = ", ".join(repair.NOTEBOOK_KEYS)
        yield None, f"metadata: only {allowed} may stand there, and the kernel is Python 3."


@rule("stored")
def _stored(it):
    if it.nb.metadata.get("accelerator") not in (None, "GPU", "TPU"):
        yield None, "metadata: the accelerator is 'GPU' or 'TPU', or is left out."
    for i, cell in enumerate(it.nb.cells):
        if "attachments" in cell:
            yield i, "put the picture into docs/ and link it: attachments may not be stored."


@rule("cell-metadata")
def _cell_metadata(it):
    for i, cell in enumerate(it.nb.cells):
        for key in sorted(set(cell.metadata) - set(repair.clean_cell_metadata(cell.metadata))):
            yield i, f"the metadata key {key!r} may not be stored."


@rule("counts")
def _counts(it):
    expected = 1
    for i, cell in it.cells("code"):
        if not is_code(cell) or "nbval-skip" in tags(cell):
            continue
        if cell.execution_count != expected:
            yield i, f"its execution count is {cell.execution_count}, not {expected}: {RUN_IT}."
            return
        expected += 1


@rule("unstored")
def _unstored(it):
    for i, cell in it.cells("code"):
        stores = cell.outputs or cell.execution_count is not None
        if stores and ("nbval-skip" in tags(cell) or not is_code(cell)):
            yield i, "a cell that nbval does not run has no outputs and no execution count."


@rule("measured")
def _measured(it):
    told = measured.told(it.nb)
    if told is None:
        for i, cell in it.cells("code"):
            if cell.outputs and measured.TAG in tags(cell):
                yield i, f"no line of the page says on which machine it measured: {RUN_IT}."
    elif told["shown"] != measured.shown(it.nb):
        yield None, f"its stored results are not of one run: `git checkout` them, or {RUN_IT}."


@rule("size")
def _size(it):
    size = len(it.text.encode())
    if size > LARGEST:
        yield None, f"the file takes {size:,} bytes, more than {LARGEST:,}: show less."


@rule("widget-view")
def _widget_view(it):
    for i, _, output in it.outputs():
        if repair.WIDGET_VIEW in output.get("data", ()):
            yield i, "a widget's view may not be stored: it is dead in every new session."


@rule("stderr")
def _stderr(it):
    for i, _, output in it.outputs():
        if output.output_type == "stream" and output.name == "stderr":
            yield i, f"it stores what was written to stderr: silence the source, then {RUN_IT}."


@rule("error")
def _error(it):
    for i, cell in it.cells("code"):
        raised = any(output.output_type == "error" for output in cell.outputs)
        expected = "raises-exception" in tags(cell)
        if raised and not expected:
            yield i, f"it stores an error: repair it, then {RUN_IT}, or tag it raises-exception."
        if expected and not raised and not tags(cell) & UNCOMPARED:
            yield i, f"tagged raises-exception, it stores no error: drop the tag, or {RUN_IT}."


@rule("output-size")
def _output_size(it):
    for i, cell in it.cells("code"):
        size = len(json.dumps(cell.outputs, ensure_ascii=False).encode())
        if size > LARGEST_OUTPUT:
            yield i, f"its outputs take {size:,} bytes, more than {LARGEST_OUTPUT:,}: show less."


def has_text(output):
    """Tell whether nbval compares words of an output: a picture's sentence does not count."""
    if output.output_type == "stream":
        return bool(output.text.strip())
    data = output.get("data", {"evalue": output.get("evalue", "")})
    return not any(kind.startswith("image/") for kind in data) and any(data.values())


@rule("compared")
def _compared(it):
    counted = sum(
        cell.execution_count is not None and any(map(has_text, cell.outputs))
        for _, cell in it.cells("code")
        if not tags(cell) & (UNCOMPARED | {"setup"})
    )
    if counted < FEWEST_COMPARED:
        few = f"nbval compares the words of {counted} cells besides the setup cell"
        yield None, f"{few}; {FEWEST_COMPARED} at least must change if the main point breaks."


def without_code(source):
    """Take the code out of Markdown: fenced blocks and spans."""
    source = re.sub(r"^ {0,3}(```+|~~~+).*?(^ {0,3}\1[`~]*\s*$|\Z)", "", source, flags=re.M | re.S)
    return re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", source, flags=re.S)


def lacks_alt(html):
    """Tell whether a picture in HTML, or in Markdown, has no words for those who cannot see it."""
    pictures = re.findall(r"<img\b[^>]*>", html, re.I)
    return any(not re.search(r"\balt\s*=\s*(\"\s*[^\"\s]|'\s*[^'\s])", p, re.I) for p in pictures)


def is_sentence(text):
    """Tell whether a picture's text says something: four words and a full stop at least."""
    text = text.strip()
    return not text.startswith("<") and len(text.split()) >= 4 and text[-1] in ".!?"


@rule("alt-text")
def _alt_text(it):
    for i, cell in it.cells("markdown"):
        source = without_code(cell.source)
        if lacks_alt(source) or re.search(r"!\[\s*\]", source):
            yield i, "a picture has no alt text: say in a few words what it shows."
    for i, _, output in it.outputs():
        data = output.get("data", {})
        is_picture = any(kind.startswith("image/") for kind in data)
        if is_picture and not is_sentence(data.get("text/plain", "")):
            yield i, "a stored picture needs a sentence as its text/plain: use ah.plot."
        if lacks_alt(data.get("text/html", "")):
            yield i, "a picture in the stored HTML has no alt text."


_HEADING = re.compile(r"^ {0,3}(#{1,6})(?=\s)|<h([1-6])\b", re.M)


@rule("headings")
def _headings(it):
    found = [
        (i, len(match[1] or "") or int(match[2]))
        for i, cell in it.cells("markdown")
        for match in _HEADING.finditer(without_code(cell.source))
    ]
    last = 0
    for place, (i, level) in enumerate(found):
        if level == 1 and place:
            yield i, "only the title is a heading of level 1: use '##'."
        elif level > last + 1:
            yield i, f"a heading of level {level} follows level {last}: use '{'#' * (last + 1)}'."
        last = level


HINTS = 2  # the fewest folds before an exercise
_HINT = re.compile(
    r"^<details>\s*<summary>\s*Hint\b[^<]*</summary>[ \t]*\n[ \t]*\n\s*\S.*?\n</details>[ \t]*$",
    re.M | re.S,
)
_HINTS_WANTED = (
    f"the Markdown before an exercise needs {HINTS} hints in steps: <details>, "
    "<summary>Hint 1</summary>, a blank line, words, </details>."
)
_CHECKED = re.compile(r"^[^#\n]*\b(?:ah\.course|lesson)\.check\(\s*[\"']([^\"'\n]+)[\"']", re.M)


@rule("exercise")
def _exercise(it):
    solutions = [cell.source for _, cell in it.cells("code") if "solution" in tags(cell)]
    solved = {name for source in solutions for name in _CHECKED.findall(source)}
    prose = ""  # the Markdown since the code cell before
    for i, cell in enumerate(it.nb.cells):
        if cell.cell_type == "markdown":
            prose += cell.source + "\n\n"
        elif cell.cell_type == "code":
            if "exercise" in tags(cell):
                if len(_HINT.findall(without_code(prose))) < HINTS:
                    yield i, _HINTS_WANTED
                checked = _CHECKED.findall(cell.source)
                if not checked:
                    yield i, 'an exercise is checked: lesson.check("name", answer).'
                for name in sorted(set(checked) - solved):
                    yield i, f"no cell tagged 'solution' checks {name!r}: add one that passes."
            prose = ""


_FACTOR = r"\d+(?:[.,]\d+)?"
_SPEED_UP = re.compile(
    rf"{_FACTOR}\s?(?:[x×]|-?fold|-?\s?times)\s(?:as\s|the\s)?(?:faster|fast|quicker|slower|speed)"
    rf"|\b{_FACTOR}[x×](?!\s?[\w(])|\b{_FACTOR} ×(?=\s*(?:[.,;:!?)]|$))"
    rf"|speed-?\s?up of (?:about |around |some |up to )?{_FACTOR}",
    re.I | re.M,
)
_SOURCE = re.compile(r"\]\(|\]\[|https?://|<a\b|\bmaterials?\b", re.I)


@rule("speed-up")
def _speed_up(it):
    for i, cell in it.cells("markdown"):
        match = _SPEED_UP.search(without_code(cell.source).replace("**", ""))
        if match and not _SOURCE.search(re.sub(r"\[!\[.*?\]\(.*?\)\]\(.*?\)", "", cell.source)):
            said = match[0].strip()
            yield i, f"{said!r} stands there without its source: measure it, or name the source."


WIDEST = 79  # columns
LONGEST = {"script": 14, "take-away": 20}  # lines of a cell; others:
LINES = 10
_MACHINERY = re.compile(r"\breference=|\brecord\(|\blesson_\d\d\b")


@rule("plain")
def _plain(it):
    """A core that teaches the frameworks: what a reader carries out of it."""
    if not lesson.is_converted(it.nb):
        return
    core = [(i, cell) for i, cell in it.cells("code") if 2 <= i < lesson.core_end(it.nb)]
    away = [cell for _, cell in core if "take-away" in tags(cell)]
    if len(away) != 1:
        yield None, f"the core has {len(away)} cells tagged take-away, and needs one."
    elif re.search(r"\b(ah|lesson)\.|accel_helpers", lesson.taken_away(away[0].source)):
        yield None, "its take-away is for a notebook without this library: use the frameworks."
    for i, cell in core:
        if "exercise" in tags(cell):
            continue
        lines = [line for line in cell.source.splitlines() if line.strip()]
        most = max((LONGEST[tag] for tag in tags(cell) & LONGEST.keys()), default=LINES)
        if len(lines) > most:
            yield i, f"it has {len(lines)} lines, and {most} are the most: one idea a cell."
        if max(map(len, lines)) > WIDEST:
            yield i, f"a line is wider than {WIDEST} columns."
        if found := _MACHINERY.search(cell.source):
            yield i, f"{found[0]!r} is machinery: the lesson object keeps, draws and says."
