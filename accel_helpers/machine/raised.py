"""What a text says of its last error for certain: no cause, and no guess.

A *frame* is a call that a traceback lists: a file, the number of a line, and its code. A *message*
is an exception's text, which may have several lines. Code is the learner's *own* where it is in no
installed package and not in Python's library.

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
# Behind the frames of a traceback the name may be any: "StopIteration", "queue.Empty: no item".
_NAMED = re.compile(r"(?P<kind>[A-Za-z_][\w.]*)(?:: |:?$)")
# Programs that are not Python: "ERROR: No matching distribution found", "Segmentation fault",
# "Killed", "F0512 08:15:01 ...", "2026-05-12 08:15:01.123456: F ...". What pip calls an error of
# its resolver ends no installation.
_REPORTED = re.compile(
    r"(?!ERROR: pip's dependency resolver)"
    r"(?:(?:ERROR|[Ee]rror|[Ff]atal|FATAL|Fatal Python error)\b ?:"
    r"|Segmentation fault|Aborted\b|Killed$|F\d{4} |\d{4}-\d\d-\d\d \S+: F )"
)
# The first line of a frame, its head, in each of the forms:
_FRAMES = (
    # '  File "/content/train.py", line 7, in <module>' of Python;
    re.compile(r'\s*(?:\| +)?File "(?P<file>[^"]+)", line (?P<number>\d+)'),
    # "Cell In[3], line 2" and "Input In [3], in <module>" of IPython today;
    re.compile(r"\s*(?P<file>(?:Cell|Input) In ?\[\d+\])(?:, line (?P<number>\d+))?"),
    # "File /content/train.py:7, in main(x)" of IPython today;
    re.compile(r"\s*File (?P<file>[^\s\"][^:]*(?::\\[^:]*)?):(?P<number>\d+)(?:, in|\s*$)"),
    # "<ipython-input-3-0f1e2d> in <module>" and "/usr/lib/python3/keras/models.py in fit(self)" of
    # IPython until 2021, and "[/tmp/train.py](https://...) in main()" of Colab. The number of the
    # line stands farther below, at the arrow, so this one is always empty.
    re.compile(
        r"\[?(?P<file><ipython-input[^>]*>|(?:[~/.]|[A-Z]:\\)[^\s\]]*\.py)(?:]\(\S*\))?"
        r"(?P<number>) in "
    ),
)
# IPython's arrow at the line of a frame that was running: "----> 7 model.fit(x, y)".
_ARROW = re.compile(r"-{2,}> ?(?P<number>\d+) ?(?P<code>.*)")
# A file that is not the learner's own: "/usr/lib/python3/dist-packages/keras/models.py" of an
# installed package, "/usr/lib/python3.12/json/decoder.py" of Python's library, and code that a
# program wrote: "/tmp/__autograph_generated_file1.py", "<frozen importlib._bootstrap>".
_NOT_OWN = re.compile(
    r"(?:site|dist)-packages|[/\\]lib(?:64)?[/\\]python3?[\d.]*(?:zip)?[/\\]|[/\\]Lib[/\\]"
    r"|__autograph_generated|<(?!ipython-input|stdin|string)"
)
# The package in ".../dist-packages/keras/models.py", or in ".../site-packages/google/colab/x.py".
_PACKAGE = re.compile(r"(?:site|dist)-packages[/\\](?P<folder>(?:google[/\\])?\w+)")
# The number of a cell in "Cell In[3]" or "<ipython-input-3-0f1e2d>".
_CELL = re.compile(r"(?:In ?\[|ipython-input-)(?P<number>\d+)(?:\]|-)")
# A cell without a number: "<ipython-input>", "/tmp/ipykernel_812/3571.py".
_IN_NOTEBOOK = re.compile(r"ipython-input|ipykernel_")
# Lines of a message that say only where, and not what: "Detected at node 'dense/MatMul' ...", and
# empty lines.
_WHERE = re.compile(
    r'Exception encountered|Graph execution error|Detected at node|<stack traces|File "|$'
)
# Python 3.11 puts a margin before each line of several exceptions: "  | ValueError: 3".
_GROUPED = "Exception Group Traceback"
_MARGIN = re.compile(r"^ *[|+] ?", re.MULTILINE)
# "/job:localhost/replica:0/task:0/device:CPU:0", in TensorFlow's messages of operations.
_DEVICE_OF_OP = re.compile(r"/job:\S+?/device:\w+:\d+")
# An address or a path: "https://...", "/content/data", "~/data", "../data", "C:\data".
_PATH = r"https?://\S+|(?<!\w)(?:~|\.{0,2})/[\w./~-]+|[A-Za-z]:\\\S+"
# The name of a file: "weights.h5".
_FILE = r"\b[\w-]+\.(?:csv|h5|hdf5|ipynb|jpe?g|json|keras|npy|npz|pkl|png|py|so|txt|zip)\b"
# What is taken out of a message before its words are searched for: paths, files, "12.5", "(3, 4)",
# "[None, 10]", "0x7f", "<object at 0x7f>".
_VALUES = re.compile(
    rf"{_PATH}|{_FILE}|<[^<>]* at 0x[0-9a-f]+>|0x[0-9a-f]+"
    r"|[\[({][^\[\](){}]*[\])}]|\b\d[\d.,]*\b"
)
# A word of what remains, such as "labels" or "tf.function"; a single letter is one, too.
_WORD = re.compile(r"[A-Za-z_][\w.-]*\w|[A-Za-z]")
# What Keras and TensorFlow add to the name of a layer or an operation: the "_3" of "dense_3".
_LAYER_NUMBER = re.compile(r"_\d+$")


@dataclass(frozen=True)
class Seen:
    """What is certain about an error, each in one line; empty where the text does not tell."""

    error: str  # the exception and the first line of its message that says what is wrong
    your_line: str  # the deepest frame in the learner's own code
    package: str  # in which it was raised, or "your own code", "Python's own library"
    concerns: str  # the part of the machine of which its message speaks, such as "memory"
    search: str  # what to search the internet for
    next_step: str  # with {words} of the reader's place


@dataclass(frozen=True)
class Area:
    """A part of the machine, an entry of ``data/symptoms.toml``: the words that speak of it."""

    name: str  # such as "memory"; empty: no part of the machine
    says: str  # a regular expression, which is found in an error that speaks of it
    next_step: str  # with {words} of the reader's place


@dataclass(frozen=True)
class Frame:
    """A call that a traceback lists: the line of code that was running.

    Printed: "/content/train.py, line 7: model.fit(x, y)", or "cell [3], line 2: model.fit(x, y)".
    """

    file: str  # a path, or what stands for a cell, such as "Cell In[3]"
    number: str  # of the line, from 1; empty where the traceback does not tell
    code: str  # empty where the traceback does not show it

    @property
    def is_own(self) -> bool:
        """Whether it is the learner's own code, and no package's."""
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


#: Of several areas of which an error speaks, the first one counts.
AREAS = records.read(tuple[Area, ...], tables("symptoms.toml")["area"], "symptoms.toml")


def look(text: str) -> Seen | None:
    """Return what is certain about the last error in a text; None where the text has no error.

    `text` is what `symptoms.clean` returns: without colours, with "\\n" as its only line end.
    """
    if _GROUPED in text:
        text = _MARGIN.sub("", text)
    traceback_start = max(text.rfind(TRACEBACK), 0)
    lines = text[traceback_start:].split("\n")
    error_index = _start_of_error(lines, after_frames=TRACEBACK in text)
    # A program that is not written in Python raises no exception.
    if error_index is None:
        return _reported(lines)
    message = lines[error_index : error_index + _MESSAGE_LINES]
    head = _ERROR.match(message[0]) or _NAMED.match(message[0])
    assert head is not None, "it is where the error starts"
    full_name = head["kind"]
    frames = _frames(lines[:error_index])
    own_frame = _last_own(frames)
    # The last traceback may be a package's alone; one before it then leads to the learner's line.
    if own_frame is None:
        own_frame = _last_own(_frames(text[:traceback_start].split("\n")))
    your_line = ""
    if own_frame is not None:
        your_line = str(own_frame)
    return _seen(
        exception=full_name.rpartition(".")[2],
        message=message,
        package=_package(frames, full_name),
        your_line=your_line,
    )


def _start_of_error(lines: list[str], after_frames: bool) -> int | None:
    """Return the index of the line at which the exception and its message begin; None: nowhere.

    `after_frames`: `lines` begin with a traceback. Then it is the first exception behind it, which
    may have any name once a frame was listed. Otherwise it is the last line of the form
    "SomeError: ...".
    """
    error_indexes = [index for index, line in enumerate(lines) if _ERROR.match(line)]
    if not after_frames:
        return error_indexes[-1] if error_indexes else None
    candidates = error_indexes[:1]
    frame_indexes = [index for index, line in enumerate(lines) if _match_frame(line)]
    if frame_indexes:
        # Only behind a frame may any name be that of an exception.
        name_indexes = [index for index, line in enumerate(lines) if _NAMED.match(line)]
        candidates += [index for index in name_indexes if index > frame_indexes[0]]
    return min(candidates, default=None)


def _reported(lines: list[str]) -> Seen | None:
    """Return what is certain about the last error that a program other than Python reports.

    None where no line is such a report, as "Segmentation fault" is.
    """
    reports = [line for line in lines if _REPORTED.match(line)]
    if not reports:
        return None
    return _seen(exception="", message=reports[-1:], package="", your_line="")


def _match_frame(line: str) -> re.Match[str] | None:
    """Return the match of a frame's head, with groups "file" and "number"; None for another line.

    The number is None or empty where the head does not tell it.
    """
    for form in _FRAMES:
        match = form.match(line)
        if match:
            return match
    return None


def _last_own(frames: list[Frame]) -> Frame | None:
    """Return the last, deepest frame in the learner's own code; None where no frame is in it."""
    own_frames = [frame for frame in frames if frame.is_own]
    return own_frames[-1] if own_frames else None


def _frames(lines: list[str]) -> list[Frame]:
    """Return the frames in some lines, from the outermost to the deepest; [] where none is."""
    starts = [index for index, line in enumerate(lines) if _match_frame(line)]
    # Each reaches to the beginning of the next one, and the deepest to the end.
    return [_frame(lines[start:end]) for start, end in pairwise([*starts, len(lines)])]


def _frame(lines: list[str]) -> Frame:
    """Return a frame of a traceback by its lines, of which the first is its head.

    ['  File "train.py", line 7, in <module>', '    model.fit(x, y)'] ->
    Frame("train.py", "7", "model.fit(x, y)")
    """
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


def _package(frames: list[Frame], full_name: str) -> str:
    """Return the package in which an exception was raised, such as "keras" or "google.colab".

    Of code that is in no package: "your own code" or "Python's own library". Empty where there are
    no frames and `full_name`, the exception's name as the text writes it, names no package.
    """
    if not frames:
        # The full name says it, too, such as "jax.errors.TracerBoolConversionError".
        module, _, _ = full_name.rpartition(".")
        return module.partition(".")[0]
    deepest = frames[-1]
    package = _PACKAGE.search(deepest.file)
    if package:
        return re.sub(r"[/\\]", ".", package["folder"])
    return "your own code" if deepest.is_own else "Python's own library"


def _seen(*, exception: str, message: list[str], package: str, your_line: str) -> Seen:
    """Return what is certain about an error.

    `exception` is the class name without its module, such as "ValueError"; empty for an error of a
    program that is not Python. `message` has the lines from that name on, and at least one.
    `package` and `your_line` are what the result's fields of these names are.
    """
    first_line = message[0]
    # "ValueError: 3 labels" -> "3 labels"; empty where only the name stands there.
    if exception:
        first_line = first_line.partition(": ")[2]
    lines = [line.strip() for line in [first_line, *message[1:]]]
    # The lines that say what is wrong; the first of them is shown.
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
    """Return the first area in `AREAS` of which an error speaks; else one whose name is empty.

    `telling_lines` are the lines of its message that say what is wrong.
    """
    message = "\n".join(telling_lines[:_TELLING])
    # TensorFlow names a device in every message of an operation, whatever is wrong.
    message = _DEVICE_OF_OP.sub("", message)
    for area in AREAS:
        if re.search(area.says, f"{package} {exception} {message}"):
            return area
    return Area(name="", says="", next_step="")


def _short(line: str) -> str:
    """Return a line, cut to 200 characters, of which the last three are then "..."."""
    if len(line) <= _SHOWN:
        return line
    return f"{line[: _SHOWN - 3]}..."


def _search(package: str, exception: str, sentence: str) -> str:
    """Return what to search the internet for: the message's words, without its values.

    ("keras", "ValueError", "3 labels for 4 pictures in data.csv") ->
    "keras ValueError labels for pictures in"
    """
    terms = []
    # "your own code" is no package.
    if package and " " not in package:
        terms.append(package)
    if exception:
        terms.append(exception)
    first_part = _VALUES.sub(" ", sentence).partition(". ")[0]
    words = _WORD.findall(first_part)
    for word in words[:_WORDS]:
        terms.append(_LAYER_NUMBER.sub("", word))
    return " ".join(term for term in terms if term)
