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
_GROUPED = "Exception Group Traceback"
_MARGIN = re.compile(r"^ *[|+] ?", re.MULTILINE)
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
        text = self.file
        if cell:
            text = f"cell [{cell['number']}]"
        elif _IN_NOTEBOOK.search(self.file):
            text = "a cell of the notebook"
        if self.number:
            text += f", line {self.number}"
        if self.code:
            text += f": {self.code}"
        return text


AREAS = records.read(tuple[Area, ...], tables("symptoms.toml")["area"], "symptoms.toml")


def look(text: str) -> Seen | None:
    """Return what is seen of the last error of a text without colours; None where none is seen."""
    if _GROUPED in text:
        text = _MARGIN.sub("", text)
    traceback_start = max(text.rfind(TRACEBACK), 0)
    lines = text[traceback_start:].split("\n")
    error_number = _start_of_error(lines, after_frames=TRACEBACK in text)
    if error_number is None:
        return _reported(lines)
    message = lines[error_number : error_number + _MESSAGE_LINES]
    match = _ERROR.match(message[0]) or _NAMED.match(message[0])
    assert match is not None, "it is where the error starts"
    exception = match["kind"]
    frames = _frames(lines[:error_number])
    own_frame = _last_own(frames)
    # The last traceback may be a package's alone; one before it then leads to the learner's line.
    if own_frame is None:
        own_frame = _last_own(_frames(text[:traceback_start].split("\n")))
    your_line = ""
    if own_frame is not None:
        your_line = str(own_frame)
    return _seen(
        exception=exception.rpartition(".")[2],
        message=message,
        package=_package(frames, exception),
        your_line=your_line,
    )


def _start_of_error(lines: list[str], after_frames: bool) -> int | None:
    """Return the number of the line at which the exception and its message begin."""
    errors = [number for number, line in enumerate(lines) if _ERROR.match(line)]
    if not after_frames:
        return errors[-1] if errors else None
    candidates = errors[:1]
    frames = [number for number, line in enumerate(lines) if _match_frame(line)]
    if frames:
        # Only behind a frame may any name be that of an exception.
        names = [number for number, line in enumerate(lines) if _NAMED.match(line)]
        candidates += [number for number in names if number > frames[0]]
    return min(candidates, default=None)


def _reported(lines: list[str]) -> Seen | None:
    """Return what is seen of the last error that a program in another language reports."""
    reports = [line for line in lines if _REPORTED.match(line)]
    if not reports:
        return None
    return _seen(exception="", message=reports[-1:], package="", your_line="")


def _match_frame(line: str) -> re.Match | None:
    """Return the match of a line that begins a frame, in any of the forms; None for another."""
    for form in _FRAMES:
        match = form.match(line)
        if match:
            return match
    return None


def _last_own(frames: list[Frame]) -> Frame | None:
    """Return the deepest frame in the learner's own code."""
    own_frames = [frame for frame in frames if frame.own]
    return own_frames[-1] if own_frames else None


def _frames(lines: list[str]) -> list[Frame]:
    """Return the frames of a traceback, from the outermost to the deepest."""
    starts = [number for number, line in enumerate(lines) if _match_frame(line)]
    # Each reaches to the beginning of the next, and the deepest to the end.
    return [_frame(lines[start:end]) for start, end in pairwise([*starts, len(lines)])]


def _frame(lines: list[str]) -> Frame:
    """Return the frame of a traceback that begins in the first of these lines."""
    head = _match_frame(lines[0])
    assert head is not None, "the first line is a frame's head"
    for line in lines[1:]:
        arrow = _ARROW.match(line)
        # IPython shows lines around the one that was running.
        if arrow:
            return Frame(head["file"], arrow["number"], _short(arrow["code"].strip()))
    code = ""
    # Python shows the line of code, indented, below the head, if it has the file.
    if len(lines) > 1 and lines[1].startswith("    "):
        code = lines[1].strip()
    return Frame(head["file"], head["number"] or "", _short(code))


def _package(frames: list[Frame], exception: str) -> str:
    """Return the package from which the exception came, as far as the text tells."""
    if not frames:
        # The full name says it, too, such as "jax.errors.TracerBoolConversionError".
        module, _, _ = exception.rpartition(".")
        return module.partition(".")[0]
    deepest = frames[-1]
    folder = _PACKAGE.search(deepest.file)
    if folder:
        return re.sub(r"[/\\]", ".", folder[1])
    return "your own code" if deepest.own else "Python's own library"


def _seen(*, exception: str, message: list[str], package: str, your_line: str) -> Seen:
    """Return what is certain of an error, by its exception's name and the lines of its message."""
    first_line = message[0]
    if exception:
        first_line = first_line.partition(": ")[2]
    lines = [line.strip() for line in [first_line, *message[1:]]]
    telling_lines = [line for line in lines if not _WHERE.match(line)]
    if not telling_lines:
        telling_lines = [first_line.strip()]
    sentence = telling_lines[0]
    error = sentence
    if exception and sentence:
        error = f"{exception}: {sentence}"
    elif exception:
        error = exception
    area = _area(package, exception, telling_lines)
    return Seen(
        error=_short(error),
        your_line=your_line,
        package=package,
        concerns=area.name,
        search=_search(package, exception, sentence),
        next_step=area.next_step,
    )


def _area(package: str, exception: str, telling_lines: list[str]) -> Area:
    """Return the first part of the machine of which an error speaks, or an area without a name."""
    message = "\n".join(telling_lines[:_TELLING])
    # TensorFlow names a device in every message of an operation, whatever is wrong.
    message = _DEVICE_OF_OP.sub("", message)
    for area in AREAS:
        if re.search(area.says, f"{package} {exception} {message}"):
            return area
    return Area(name="", says="", next_step="")


def _short(line: str) -> str:
    """Return a line, cut to what is shown."""
    if len(line) <= _SHOWN:
        return line
    return f"{line[: _SHOWN - 3]}..."


def _search(package: str, exception: str, sentence: str) -> str:
    """Return what to search the internet for: the message's words, without its values."""
    terms = []
    # "your own code" is no package.
    if package and " " not in package:
        terms.append(package)
    if exception:
        terms.append(exception)
    first_part = _VALUES.sub(" ", sentence).partition(". ")[0]
    for word in re.findall(r"[A-Za-z_][\w.-]*\w|[A-Za-z]", first_part)[:_WORDS]:
        # Keras and TensorFlow number their layers and operations.
        terms.append(re.sub(r"_\d+$", "", word))
    return " ".join(term for term in terms if term)
