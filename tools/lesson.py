"""What every tool here knows about a lesson: its file, setup cell, badge and stamp."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import nbformat.v4

from accel_helpers._values.records import write_whole

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
LESSONS = ROOT / "notebooks"
SETUP_TEXT = (HERE / "setup_cell.txt").read_text(encoding="utf-8").rstrip("\n")
SANITIZE = ROOT / "tests" / "notebooks" / "nbval_sanitize.cfg"

# Colab's own page *open from GitHub*: where a badge leads until `make stamp` names a repository.
COLAB = "https://colab.research.google.com/github/"
PICTURE = "https://colab.research.google.com/assets/colab-badge.svg"
BADGE = re.compile(
    rf"\[!\[Open (?P<number>\d\d) in Colab\]\({re.escape(PICTURE)}\)\]\((?P<address>[^()\s]*)\)"
)
# Everything up to /notebooks/: a ref may hold slashes, a name may not.
_LESSON = re.compile(rf"{COLAB}([^\s/]+/[^\s/]+)/blob/(\S+?)/notebooks/[\w.-]+\.ipynb")
# Where a copy was published; pip repeats the words of one that never was.
NEVER = "This copy was never published: put the course's .whl file beside this page"
_COURSE = re.compile(r'^COURSE = "([^"\n]*)"$', re.MULTILINE)
_PUBLISHED = re.compile(r"git\+https://github\.com/([^@\s]+)@(\S+)")
_NUMBER = re.compile(r'(?<=^lesson = ah\.course\.lesson\(")\d\d(?="\)$)', re.MULTILINE)

FURTHER = re.compile(r"^#+ (Going further|One solution)", re.M)
CORE_ENDS = re.compile(r"^#+ (What the exam asks|Quiz\b)|" + FURTHER.pattern, re.M)

# What GitHub could hold: an owner of letters, digits and single hyphens inside, at most 39; a name;
# a tag, a branch or a commit. Nothing in them ends a string or a shell word.
_REPOSITORY = re.compile(
    r"(?=.{1,39}/)[A-Za-z0-9]+(-[A-Za-z0-9]+)*/(?!\.+$|.*\.git$)[\w.-]{1,100}", re.A
)
_REF = re.compile(r"(?!.*(\.\.|//|/\.|\./|\.lock(/|$)|[./]$))\w[\w./-]{0,199}", re.A)


class Refused(Exception):
    """Something was given that cannot be used; the message is a sentence for the person."""


@dataclass(frozen=True)
class Stamp:
    """Where a published copy lives: ``owner/name`` on GitHub, and a tag, a branch or a commit."""

    repository: str
    ref: str

    def __str__(self):
        return f"{self.repository} at {self.ref}" if self.repository else "no repository"


UNSTAMPED = Stamp("", "")


def checked(stamp):
    """Give back a stamp where GitHub could hold it."""
    is_known = _REPOSITORY.fullmatch(stamp.repository) and _REF.fullmatch(stamp.ref)
    if stamp != UNSTAMPED and not is_known:
        raise Refused(
            f"GitHub has no place such as {stamp.repository!r} at {stamp.ref!r}: give owner/name, "
            "and a tag, a branch or a commit."
        )
    return stamp


def setup_source(stamp, number):
    """Give the setup cell's text for a stamp and a lesson's number."""
    return restamp_setup(_NUMBER.sub(number, SETUP_TEXT), checked(stamp))


def restamp_setup(source, stamp):
    """Write a stamp into the constant of a setup cell and touch nothing else."""
    place = f"git+https://github.com/{stamp.repository}@{stamp.ref}"
    words = NEVER if stamp == UNSTAMPED else place
    return _COURSE.sub(lambda _: f'COURSE = "{words}"', source)


def setup_stamp(source):
    """Read the stamp of a setup cell; None where there is none, or one that cannot be."""
    found = _COURSE.search(source)
    if found and found[1] == NEVER:
        return UNSTAMPED
    published = found and _PUBLISHED.fullmatch(found[1])
    try:
        return checked(Stamp(*published.groups())) if published else None
    except Refused:
        return None


def badge(stamp, name):
    """Give the badge that opens a lesson in Colab, in Markdown."""
    address = COLAB
    if stamp != UNSTAMPED:
        address += f"{stamp.repository}/blob/{stamp.ref}/notebooks/{name}"
    return f"[![Open {name[:2]} in Colab]({PICTURE})]({address})"


def badge_stamps(source):
    """Give the stamp of every badge, in their order; None for one that leads elsewhere."""
    stamps = []
    for found in BADGE.finditer(source):
        lesson = _LESSON.fullmatch(found["address"])
        elsewhere = UNSTAMPED if found["address"] == COLAB else None
        stamps.append(Stamp(*lesson.groups()) if lesson else elsewhere)
    return stamps


def restamp_badges(source, stamp, lessons):
    """Write a stamp into the badges of the course's own lessons."""
    names = {name[:2]: name for name in lessons}

    def stamped(found):
        name = names.get(found["number"])
        return badge(stamp, name) if name else found[0]

    return BADGE.sub(stamped, source)


def raw(text):
    """Read the JSON of a notebook of format 4; raises ValueError where it is not one."""
    found = json.loads(text)
    if not isinstance(found, dict) or found.get("nbformat") != 4 or "cells" not in found:
        raise ValueError("it is not a notebook of format 4")
    return found


def parse(text):
    """Read a notebook from its text; raises as `raw` does."""
    raw(text)
    return nbformat.v4.reads(text)


def dump(nb):
    """Give the one canonical text of a notebook: what nbformat writes, with a last newline."""
    return nbformat.v4.writes(nb) + "\n"


def tags(cell):
    """Give the tags of a cell."""
    return frozenset(cell.get("metadata", {}).get("tags", ()))


def is_code(cell):
    """Tell whether a cell holds code that runs."""
    return cell.cell_type == "code" and bool(cell.source.strip())


def core_end(nb):
    """Give the place of the cell behind the core path, which begins behind the setup cell."""
    prose = (cell.source if cell.cell_type == "markdown" else "" for cell in nb.cells)
    return next((i for i, text in enumerate(prose) if CORE_ENDS.search(text)), len(nb.cells))


def python(source):
    """Give a cell's code without its lines for the shell; nothing of a cell that is all shell."""
    if source.lstrip().startswith(("%%bash", "%%sh")):
        return ""
    return re.sub(r"^(\s*)[%!].*", r"\1pass", source, flags=re.M)


def taken_away(source):
    """Give a cell's code for a notebook of one's own: without the line that writes it to a file."""
    return re.sub(r"\A%%writefile .*\n", "", source)


def is_converted(nb):
    """Tell whether a lesson's page talks to its `lesson` behind the setup cell."""
    return any(is_code(cell) and re.search(r"\blesson\.", cell.source) for cell in nb.cells[2:])


def read(path):
    """Read a file's text without changing its line ends; raises Refused where that fails."""
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"{path} cannot be read: {error}.") from None


def write(path, text):
    """Replace a file in one step, so that an interruption leaves the old one or the new one."""
    write_whole(path.resolve(), text)


def chosen(files, folder=LESSONS):
    """Give the notebooks to work on: those named, else every lesson of the course."""
    paths = [Path(f) for f in files] or sorted(folder.glob("[0-9][0-9]_*.ipynb"))
    if not paths:
        raise Refused(f"There is no lesson in {folder}. Run this in a clone of the course.")
    for path in paths:
        if path.suffix != ".ipynb" or not path.is_file():
            raise Refused(f"{path} is not a notebook: name files that end in .ipynb.")
    return paths
