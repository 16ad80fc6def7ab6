"""What a text says of its last error for certain: no cause, and no guess.

A *frame* is a call that a traceback lists: a file, the number of a line, and its code. Each form of
an error is a regular expression that ends where the sentence begins; its group "name" has the
exception's class, and is empty for what is no exception of Python's.
"""

import re
from dataclasses import dataclass

TRACEBACK = "Traceback (most recent call last)"
_MESSAGE = 400_000  # characters of a message that are looked at
_TELLING = 20  # lines of it that say what is wrong
_WORDS = 12  # of these that are searched for

# "KeyError: 'x'", "E   KeyError: 'x'" of pytest: an exception, wherever it stands.
_ERROR = re.compile(
    r"^(?:E +)?(?P<name>[A-Za-z_][\w.]*(?:Error|Exception|Interrupt))(?:: ?|$)", re.M
)
# Behind a traceback the name may be any: "StopIteration", "queue.Empty: no item". What TensorFlow
# recorded of "user code" is such a traceback inside a message, and its error is indented.
_RAISED = re.compile(
    r"^(?!.*: in user code:)(?:E +| +(?=\w+(?:Error|Exception): ))?"
    r"(?P<name>[A-Za-z_][\w.]*)(?:: |:?$)",
    re.M,
)
# What a process says that dies without an exception.
_DIED = re.compile(
    r"""^(?P<name>)(?![\w.]*(?:Error|Exception):\ )(?=
    F\d{4}\ \d\d:                             # F0512 08:15:01 x.cc:12] Check failed: ...
    | \d{4}-\d\d-\d\d\ \S+:\ F\               # 2026-05-12 08:15:01.123456: F x.cc:12] ...
    | loc\(.*:\ error:\                       # loc("x"): error: ..., of a compiler for Apple's GPU
    | (?:free|malloc|munmap_chunk)\(\):\ | double\ free\ or\ | corrupted\ size
    | .*?(?:                                  # in the middle of a line:
        LLVM\ ERROR:\ | Fatal\ Python\ error:\ | C(?:heck|HECK)\ failed:[ ]
        | \(mpsFileLoc\).*:\ error:\          # of Apple's graph
        | failed\ assertion\ [`'] | Assertion\ [`'].*\ failed
        | Memory\ access\ fault\ by\ GPU      # of AMD's
        | [Tt]erminat(?:e\ called|ing\ (?:app\ )?(?:due\ to|with)\ uncaught)
    ))""",
    re.M | re.X,
)
# What other programs report.
_REPORTED = re.compile(
    r"""^(?P<name>)
    (?!ERROR:\ pip's\ dependency\ resolver)   # which ends no installation
    (?=\ {0,4}(?:ERROR|[Ee]rror|[Ff]atal|FATAL|\w+\ fatal|(?:rocBLAS|CUDA|HIP|NCCL)\ error)\ *:[ ]
        (?!\d)                                # no figure, as in "Error: 0.1"
    | \S.*\d\)?:\ (?:fatal\ )?error:\         # x.cu:12:3: error: ..., of a compiler
    | .{0,60}\b(?:[Ss]egmentation\ fault|Aborted|Killed|Bus\ error|Illegal\ instruction)
        (?:\ *\(core\ dumped\)|:\ \d+|\ +python|\ process|$)
    | zsh:\ (?:killed|abort|segmentation\ fault)
    | .*\bSIG(?:SEGV|ABRT|KILL|BUS|ILL)\b
    | .*\bexit(?:ed\ with)?\ (?:code|status)\ (?:1[345]\d|-\d)
    | .*\b[Kk]ernel\ (?:appears\ to\ have\ |has\ )?(?:died|crashed)
    | FAILED\ \S+\ -\                         # of pytest
    | \S.*:\ (?<!nvidia-smi:\ )command\ not\ found$
    # What is cut, but in no warning and no line of a log:
    | (?!\d{4}-|[IWE]\d{4}\ |.*(?:INFO|DEBUG|WARN|Warn))(?:
        .{1,40}\b[A-Z]\w+(?:Error|Exception):\ \S                  # [rank0]: KeyError: 'x'
        | .{0,80}(?:No\ module\ named\ |cannot\ import\ name\ '|has\ no\ attribute\ ')
        | .*\(most\ recent\ call\ last\)      # a traceback without its end
    ))""",
    re.M | re.X,
)
# The line of a log, with which a message ends.
_LOG_LINE = re.compile(r"\n(?=\d{4}-\d\d-\d\d|[IWEF]\d{4} )")
# Lines of a message that say only where, and not what; empty lines; blanks before a line.
_WHERE = re.compile(
    r'^ *(?:(?:Exception encountered|Graph execution error|Detected at node|<stack traces|File ")'
    r".*)?(?:\n|$)|^[ \t]+",
    re.M,
)
# The first line of a frame: '  File "/content/train.py", line 7, in main' of Python; of IPython
# "Cell In[3], line 2", "File ~/train.py:7, in main(x)"; of Colab "[train.py](https://...) in f()".
# Where JAX's core raises what a line does that called it, that line is the deepest.
_FRAME = re.compile(
    r"^(?!.*/jax/_src/core\.py)"
    r' *\[?(?:File )?"?(?P<file>Cell In ?\[\d+\]|<[^>\n]+>|[^" \]\n][^"\]\n]*?\.pyx?)'
    r'(?:"?, line |:(?=\d+(?:,|: in|$))|(?:\]\(\S*\))? in )(?P<number>\d*)',
    re.M,
)
# Behind it the line of code: at IPython's arrow, "----> 7 model.fit(x, y)", or below Python's head.
_CODE = re.compile(r".*\n(?:(?: *\d+.*\n)*-{2,}> ?(?P<number>\d+)| {3,}) *(?P<code>.*)")
# The package of a file: "/usr/lib/python3/dist-packages/keras/models.py".
_PACKAGE = re.compile(r"(?:site|dist)-packages[/\\](\w+)")
# A file that is not the learner's own: of an installed package, of Python's library, or written by
# a program: "/tmp/__autograph_generated_file1.py", "<frozen importlib._bootstrap>".
_NOT_OWN = re.compile(
    r"(?:site|dist)-packages|[/\\]lib(?:64)?[/\\]python3?[\d.]*(?:zip)?[/\\]|[/\\]Lib[/\\]"
    r"|__autograph_generated|<(?!ipython-input|stdin|string)"
)
# A cell: "Cell In[3]", "<ipython-input-3-0f1e2d>", "/tmp/ipython-input-3-123.py".
_CELL = re.compile(r".*(?:In ?\[|ipython-input-)(\d+).*")
# What is taken out of a message before its words are searched for: addresses, paths, files, "12.5",
# "(3, 4)", "[None, 10]", "<object at 0x7f>", the "_3" of a layer's name "dense_3".
_VALUES = re.compile(
    r"https?://\S+|(?<!\w)(?:~|\.{0,2})/[\w./~-]+|[A-Za-z]:\\\S+"
    r"|\b[\w-]+\.(?:csv|h5|hdf5|ipynb|jpe?g|json|keras|npy|npz|pkl|png|py|so|txt|zip)\b"
    r"|<[^<>]* at 0x[0-9a-f]+>|0x[0-9a-f]+|[\[({][^\[\](){}]*[\])}]|\b\d[\d.,]*\b|_\d+\b"
)
# A word of what remains, such as "labels" or "tf.function"; a single letter is one, too.
_WORD = re.compile(r"[A-Za-z_][\w.'-]*\w|[A-Za-z]")


@dataclass(frozen=True)
class Seen:
    """What is certain about an error; empty where the text does not tell."""

    error: str = ""  # the exception and the line of its message that says what is wrong
    your_line: str = ""  # the deepest line of the learner's own code
    package: str = ""  # in which it was raised; empty: in no installed package
    search: str = ""  # what to search the internet for
    message: str = ""  # the lines that say what is wrong


def look(text: str) -> Seen:
    """Return what is certain about the last error in a text; all empty where it has none.

    `text` is what `symptoms.clean` returns: without colours, with "\\n" as its only line end.
    """
    start = max(text.rfind(TRACEBACK), 0)
    exception = _RAISED if TRACEBACK in text else _ERROR
    # A process that died has the last word.
    head = _DIED.search(text, start) or exception.search(text, start) or _REPORTED.search(text)
    if head is None:
        return Seen()
    # Its frames stand before it, or, where a process died, behind it, the deepest first.
    frames = [*_FRAME.finditer(text, 0, head.start())]
    frames = frames or [*_FRAME.finditer(text, head.end())][::-1]
    files = [frame["file"] for frame in frames]
    package = "".join(_PACKAGE.findall("".join(files[-1:])))
    own_frames = [frame for frame in frames if not _NOT_OWN.search(frame["file"])]
    # A log goes on behind the message.
    message, *_ = _LOG_LINE.split(text[head.end() : head.end() + _MESSAGE], maxsplit=1)
    # What stands behind a bare name is not its message.
    if head["name"] and ":" not in head.group():
        message = ""
    lines = _WHERE.sub("", message).strip().split("\n")
    name = head["name"].rpartition(".")[2]
    words = _WORD.findall(_VALUES.sub(" ", lines[0]))
    return Seen(
        error=f"{name}: {lines[0]}".strip(": "),
        your_line="".join(map(_line_at, own_frames[-1:])),
        package=package,
        search=" ".join([package, name, *words[:_WORDS]]).strip(),
        message=head.group() + "\n".join(lines[:_TELLING]),
    )


def _line_at(frame: re.Match) -> str:
    """Return the line of code at which a frame was: "cell [3], line 2: model.fit(x, y)"."""
    file = _CELL.sub(r"cell [\1]", frame["file"])
    number = frame["number"]
    line = ""
    code = _CODE.match(frame.string, frame.end())
    if code:
        number = code["number"] or number
        line = code["code"]
    return f"{file}, line {number}: {line}".strip(": ")
