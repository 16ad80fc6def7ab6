"""Write where this copy of the course lives into badges, setup cells, README and pyproject.toml."""

import argparse
import re
import sys

import lesson
import repair
from lesson import UNSTAMPED, Stamp

# Nothing in a stamp ends a string or a shell word.
KNOWN = re.compile(r"[\w-]+/[\w.-]+ at [\w./-]+", re.A)
PAGES = re.compile(r"(?<=\[the course as pages\]\()[^)\s]*")
URLS = re.compile(r"(# Where this copy lives.*\n)(?:\[project\.urls\]\n(?:\w+ = .*\n)*)?")


def pages_of(stamp):
    """Give the address at which GitHub shows a repository's pages."""
    owner, _, name = stamp.repository.partition("/")
    return f"https://{owner.lower()}.github.io/{name}/"


def stamp_project(text, stamp):
    """Give pyproject.toml with the addresses that the package's page shows."""
    home = f"https://github.com/{stamp.repository}"
    table = (
        f'[project.urls]\nHomepage = "{pages_of(stamp)}"\nSource = "{home}"\n'
        f'Issues = "{home}/issues"\nChangelog = "{home}/blob/{stamp.ref}/CHANGELOG.md"\n'
    )
    return URLS.sub(r"\1" if stamp == UNSTAMPED else r"\1" + table, text)


def stamp_course(root, stamp):
    """Stamp the lessons and what stands beside them."""
    paths = lesson.chosen([], root / "notebooks")
    for path in paths:
        nb = lesson.parse(lesson.read(path))
        repair.place_stamp(nb, path, stamp)
        lesson.write(path, lesson.dump(nb))
    readme, project = root / "README.md", root / "pyproject.toml"
    names = [path.name for path in paths]
    text = lesson.restamp_badges(lesson.read(readme), stamp, names)
    pages = "docs/README.md" if stamp == UNSTAMPED else pages_of(stamp)
    lesson.write(readme, PAGES.sub(pages, text))
    lesson.write(project, stamp_project(lesson.read(project), stamp))


def main(arguments=None, root=lesson.ROOT):
    """Run the command."""
    parser = argparse.ArgumentParser(prog="stamp.py", description=__doc__)
    parser.add_argument("--repo", metavar="OWNER/NAME", default="")
    parser.add_argument("--ref", default="main", help="a tag, a branch or a commit")
    parser.add_argument("--unstamp", action="store_true", help="make it as if never published")
    parser.add_argument("--once", action="store_true", help="leave a course that carries a stamp")
    given = parser.parse_args(arguments)
    stamp = UNSTAMPED if given.unstamp else Stamp(given.repo, given.ref)
    if stamp != UNSTAMPED and not KNOWN.fullmatch(str(stamp)):
        sys.exit(f"{stamp} is no place on GitHub: make stamp REPO=owner/name REF=main")
    if given.once and UNSTAMPED not in lesson.badge_stamps(lesson.read(root / "README.md")):
        print("The course carries a stamp: nothing was written.")
        return
    stamp_course(root, stamp)
    print(f"Wrote {stamp} into badges, setup cells and metadata.")


if __name__ == "__main__":
    main()
