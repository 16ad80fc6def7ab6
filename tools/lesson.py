"""What every tool here knows about a lesson: its file, setup cell, badge and stamp."""

import re
from dataclasses import dataclass
from pathlib import Path

import nbformat.v4

from accel_helpers._values.records import write_whole

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
LESSONS = ROOT / "notebooks"
SETUP_TEXT = (HERE / "setup_cell.txt").read_text("utf-8").rstrip("\n")
SANITIZE = ROOT / "tests" / "notebooks" / "nbval_sanitize.cfg"

# Colab's own page *open from GitHub*: where a badge leads until `make stamp` names a repository.
COLAB = "https://colab.research.google.com/github/"
PICTURE = "https://colab.research.google.com/assets/colab-badge.svg"
BADGE = r"\[!\[Open {} in Colab\]\([^()\s]*\)\]\(([^()\s]*)\)"
# Everything up to /notebooks/: a ref may hold slashes, a name may not.
PLACE = re.compile(rf"{COLAB}([^\s/]+/[^\s/]+)/blob/(\S+)/notebooks/")
# Where a copy was published; pip repeats the words of one that never was.
NEVER = "This copy was never published: put the course's .whl file beside this page"


class Refused(Exception):
    """Something was given that cannot be used; the message is a sentence for the person."""


@dataclass(frozen=True)
class Stamp:
    """Where a published copy lives: ``owner/name`` on GitHub, and a tag, a branch or a commit."""

    repository: str
    ref: str

    def __str__(self):
        return f"{self.repository} at {self.ref}"


UNSTAMPED = Stamp("", "")


def setup_source(stamp, number):
    """Give the setup cell's text for a stamp and a lesson's number."""
    place = f"git+https://github.com/{stamp.repository}@{stamp.ref}"
    course = NEVER if stamp == UNSTAMPED else place
    text = SETUP_TEXT.replace("never published", course)
    return text.replace('lesson("00")', f'lesson("{number}")')


def badge(stamp, name):
    """Give the badge that opens a lesson in Colab, in Markdown."""
    address = COLAB
    if stamp != UNSTAMPED:
        address += f"{stamp.repository}/blob/{stamp.ref}/notebooks/{name}"
    return f"[![Open {name[:2]} in Colab]({PICTURE})]({address})"


def badge_stamps(source):
    """Give the stamp of every badge, in their order."""
    addresses = re.findall(BADGE.format(r"\d\d"), source)
    places = map(PLACE.match, addresses)
    return [Stamp(*place.groups()) if place else UNSTAMPED for place in places]


def restamp_badges(source, stamp, lessons):
    """Write a stamp into the badges of these lessons."""
    for name in lessons:
        source = re.sub(BADGE.format(name[:2]), badge(stamp, name), source)
    return source


def parse(text):
    """Read a notebook from its text."""
    return nbformat.v4.reads(text)


def dump(nb):
    """Give the one canonical text of a notebook: what nbformat writes, with a last newline."""
    return nbformat.v4.writes(nb) + "\n"


def tags(cell):
    """Give the tags of a cell."""
    return frozenset(cell.metadata.get("tags", ()))


def is_code(cell):
    """Tell whether a cell holds code that runs."""
    return cell.cell_type == "code" and bool(cell.source.strip())


def python(source):
    """Give a cell's code without its lines for the shell."""
    return re.sub(r"^(\s*)[%!].*", r"\1pass", source, flags=re.M)


def taken_away(source):
    """Give a cell's code for a notebook of one's own: without the line that writes it to a file."""
    return re.sub(r"\A%%writefile .*\n", "", source)


def read(path):
    """Read a file's text."""
    return path.read_text("utf-8")


def write(path, text):
    """Replace a file in one step, so that an interruption leaves the old one or the new one."""
    write_whole(path.resolve(), text)


def chosen(files, folder=LESSONS):
    """Give the notebooks to work on: those named, else every lesson of the course."""
    paths = [Path(name) for name in files] or sorted(folder.glob("[0-9][0-9]_*.ipynb"))
    if not paths:
        raise Refused(f"There is no lesson in {folder}. Run this in a clone of the course.")
    return paths
