"""What a text says of its last error for certain: no cause, and no guess.

>>> from accel_helpers.machine.symptoms import clean
>>> seen = look(clean('''Traceback (most recent call last):
...   File "/content/train.py", line 7, in <module>
...     model.fit(x, y)
...   File "/usr/lib/python3/dist-packages/keras/src/models.py", line 122, in fit
...     raise ValueError(text)
... ValueError: 3 labels for 4 pictures in /content/data.csv'''))
>>> seen.error, seen.package
('ValueError: 3 labels for 4 pictures in /content/data.csv', 'keras')
>>> seen.your_line
'/content/train.py, line 7: model.fit(x, y)'
>>> seen.search
'keras ValueError labels for pictures in'
"""

import re
from dataclasses import dataclass
from itertools import pairwise

from accel_helpers._values import records
from accel_helpers.machine.faults import tables

TRACEBACK = "Traceback (most recent call last)"
_MESSAGE_LINES = 100  # lines that may belong to an exception's message
_TELLING = 20  # of these, those in which the machine may be spoken of
_SHOWN = 200  # characters of a line that are shown
_WORDS = 12  # of a message that are searched for

# "KeyError: 'x'", "E   ValueError: ..." of pytest: an exception, wherever it stands.
_ERROR = re.compile(r"(?:E +)?(?P<kind>[A-Za-z_][\w.]*(?:Error|Exception|Interrupt))(?:: ?|$)")
# Behind the frames of a traceback the name may be any, such as StopIteration.
_NAMED = re.compile(r"(?P<kind>[A-Za-z_][\w.]*)(?:: |:?$)")
# Programs that are not Python; what pip calls an error of its resolver ends no installation.
_REPORTED = re.compile(
    r"(?!ERROR: pip's dependency resolver)"
    r"(?:(?:ERROR|[Ee]rror|[Ff]atal|FATAL|Fatal Python error)\b ?:"
    r"|Segmentation fault|Aborted\b|Killed$|F\d{4} |\d{4}-\d\d-\d\d \S+: F )"
)
# What begins a frame: Python's form; IPython's today; IPython's until 2021, and Colab's.
_FRAMES = (
    re.compile(r'\s*(?:\| +)?File "(?P<file>[^"]+)", line (?P<number>\d+)'),
    re.compile(r"\s*(?P<file>(?:Cell|Input) In ?\[\d+\])(?:, line (?P<number>\d+))?"),
    re.compile(r"\s*File (?P<file>[^\s\"][^:]*(?::\\[^:]*)?):(?P<number>\d+)(?:, in|\s*$)"),
    re.compile(
        r"\[?(?P<file><ipython-input[^>]*>|(?:[~/.]|[A-Z]:\\)[^\s\]]*\.py)(?:]\(\S*\))?"
        r"(?P<number>) in "
    ),
)
# IPython's arrow: at the line of a frame that was running.
_ARROW = re.compile(r"-{2,}> ?(?P<number>\d+) ?(?P<code>.*)")
# Not the learner's: installed packages, Python's own library, code that a program wrote.
_NOT_OWN = re.compile(
    r"(?:site|dist)-packages|[/\\]lib(?:64)?[/\\]python3?[\d.]*(?:zip)?[/\\]|[/\\]Lib[/\\]"
    r"|__autograph_generated|<(?!ipython-input|stdin|string)"
)
_PACKAGE = re.compile(r"(?:site|dist)-packages[/\\]((?:google[/\\])?\w+)")
_CELL = re.compile(r"(?:In ?\[|ipython-input-)(?P<number>\d+)(?:\]|-)")
_IN_NOTEBOOK = re.compile(r"ipython-input|ipykernel_")
# Lines of a message that say only where, and not what.
_WHERE = re.compile(
    r'Exception encountered|Graph execution error|Detected at node|<stack traces|File "|$'
)
# What Python 3.11 puts before each line of several exceptions.
_GROUPED, _MARGIN = "Exception Group Traceback", re.compile(r"^ *[|+] ?", re.MULTILINE)
_DEVICE_OF_OP = re.compile(r"/job:\S+?/device:\w+:\d+")
_PATH = r"https?://\S+|(?<!\w)(?:~|\.{0,2})/[\w./~-]+|[A-Za-z]:\\\S+"
_FILE = r"\b[\w-]+\.(?:csv|h5|hdf5|ipynb|jpe?g|json|keras|npy|npz|pkl|png|py|so|txt|zip)\b"
# Of a message only its words are searched for: no path, address, shape or number.
_VALUES = re.compile(
    rf"{_PATH}|{_FILE}|<[^<>]* at 0x[0-9a-f]+>|0x[0-9a-f]+"
    r"|[\[({][^\[\](){}]*[\])}]|\b\d[\d.,]*\b"
)


@dataclass(frozen=True)
class Seen:
    """What is seen of an error, each in one line; empty where the text does not tell."""

    error: str
    your_line: str
    package: str
    concerns: str  # the part of the machine that its message speaks of
    search: str
    next_step: str  # with {words} of the reader's place


@dataclass(frozen=True)
class Area:
    """A part of the machine, an entry of ``data/symptoms.toml``: the words that speak of it."""

    name: str
    says: str
    next_step: str


@dataclass(frozen=True)
class Frame:
    """A line of code that a traceback names."""

    file: str
    number: str
    code: str

    @property
    def own(self) -> bool:
        """Whether it is the learner's, and no package's."""
        return not _NOT_OWN.search(self.file)

    def __str__(self) -> str:
        cell = _CELL.search(self.file)
        place = self.file
        if cell:
            place = f"cell [{cell['number']}]"
        elif _IN_NOTEBOOK.search(self.file):
            place = "a cell of the notebook"
        line = f", line {self.number}" if self.number else ""
        code = f": {self.code}" if self.code else ""
        return f"{place}{line}{code}"


AREAS = records.read(tuple[Area, ...], tables("symptoms.toml")["area"], "symptoms.toml")


def look(text: str) -> Seen | None:
    """What is seen of the last error of a text without colours; None where none is seen."""
    if _GROUPED in text:
        text = _MARGIN.sub("", text)
    at = max(text.rfind(TRACEBACK), 0)
    lines = text[at:].split("\n")
    start = _start_of_error(lines, after_frames=TRACEBACK in text)
    if start is None:
        return _reported(lines)
    frames = _frames(lines[:start])
    own = [frame for frame in frames if frame.own] or [
        frame for frame in _frames(text[:at].split("\n")) if frame.own
    ]
    message = lines[start : start + _MESSAGE_LINES]
    kind = (_ERROR.match(message[0]) or _NAMED.match(message[0]))["kind"]
    package = _package(frames, kind)
    return _seen(kind.rpartition(".")[2], message, package, str(own[-1]) if own else "")


def _start_of_error(lines: list[str], after_frames: bool) -> int | None:
    """The number of the line at which the exception and its message begin."""
    found = [n for n, line in enumerate(lines) if _ERROR.match(line)]
    if not after_frames:
        return found[-1] if found else None
    framed = [n for n, line in enumerate(lines) if _frame(line)]
    named = [n for n, line in enumerate(lines) if framed and n > framed[0] and _NAMED.match(line)]
    return min(found[:1] + named[:1], default=None)


def _reported(lines: list[str]) -> Seen | None:
    """The last line in which a program that is not Python reports an error."""
    reports = [line for line in lines if _REPORTED.match(line)]
    return _seen("", reports[-1:], "", "") if reports else None


def _frame(line: str) -> re.Match | None:
    return next((found for form in _FRAMES if (found := form.match(line))), None)


def _frames(lines: list[str]) -> list[Frame]:
    """The frames of a traceback, from the outermost to the deepest."""
    starts = [n for n, line in enumerate(lines) if _frame(line)]
    frames = []
    for start, end in pairwise([*starts, len(lines)]):
        head = _frame(lines[start])
        arrows = [found for line in lines[start + 1 : end] if (found := _ARROW.match(line))]
        number, code = head["number"] or "", ""
        if arrows:
            number, code = arrows[0]["number"], arrows[0]["code"].strip()
        elif start + 1 < end and lines[start + 1].startswith("    "):
            code = lines[start + 1].strip()
        frames.append(Frame(head["file"], number, _short(code)))
    return frames


def _package(frames: list[Frame], kind: str) -> str:
    """The package from which the exception came."""
    if not frames:  # "jax.errors.TracerBoolConversionError" says it, too
        return kind.partition(".")[0] if "." in kind else ""
    deepest = frames[-1]
    if found := _PACKAGE.search(deepest.file):
        return re.sub(r"[/\\]", ".", found[1])
    return "your own code" if deepest.own else "Python's own library"


def _seen(kind: str, message: list[str], package: str, your_line: str) -> Seen:
    first = message[0].partition(": ")[2] if kind else message[0]
    said = [line.strip() for line in [first, *message[1:]]]
    telling = [line for line in said if not _WHERE.match(line)] or [first.strip()]
    what = telling[0]
    spoken_of = f"{package} {kind} " + _DEVICE_OF_OP.sub("", "\n".join(telling[:_TELLING]))
    area = next((each for each in AREAS if re.search(each.says, spoken_of)), None)
    return Seen(
        error=_short(": ".join(filter(None, [kind, what]))),
        your_line=your_line,
        package=package,
        concerns=area.name if area else "",
        search=_search(package, kind, what),
        next_step=area.next_step if area else "",
    )


def _short(line: str) -> str:
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 3]}..."


def _search(package: str, kind: str, what: str) -> str:
    """What to search the internet for: the words of the message, without this program's values."""
    installed = "" if " " in package else package
    sentence = _VALUES.sub(" ", what).partition(". ")[0]
    words = re.findall(r"[A-Za-z_][\w.-]*\w|[A-Za-z]", sentence)
    words = [re.sub(r"_\d+$", "", word) for word in words]
    return " ".join(filter(None, [installed, kind, *words[:_WORDS]]))
