"""Write where this copy of the course lives into badges, setup cells and metadata."""

import argparse
import re
import subprocess
import sys

import lesson
import repair
from lesson import UNSTAMPED, Refused, Stamp

PAGES = "the course as pages"
REMOTE = re.compile(
    r"(?:https://(?:[^@/\s]+@)?|ssh://git@|git@)github\.com[:/]([^/\s]+/[^/\s]+?)(?:\.git)?/?"
)
URLS = re.compile(r"(# Where this copy lives.*\n)(?:\[project\.urls\]\n(?:\w+ = .*\n)*)?")


def git(root, *words):
    """Give what git answers, or nothing."""
    command = ["git", "-C", str(root), *words]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def asked_for(root, repository, ref):
    """Give the stamp that was asked for; what was left out is the remote's, and the branch."""
    remote = REMOTE.fullmatch(git(root, "remote", "get-url", "origin"))
    repository = repository or (remote and remote[1])
    ref = ref or git(root, "symbolic-ref", "--short", "HEAD")
    if not (repository and ref):
        raise Refused("git names no repository on github.com: make stamp REPO=owner/name REF=main")
    return Stamp(repository, ref)


def pages_of(stamp):
    """Give the address at which GitHub shows a repository's pages."""
    owner, _, name = stamp.repository.partition("/")
    host = f"{owner.lower()}.github.io"
    # A repository that is named as its owner's pages is shown at their root.
    return f"https://{host}/" if name.lower() == host else f"https://{host}/{name}/"


def stamp_readme(text, stamp):
    """Give the README's text with its link to the pages."""
    pages = "docs/README.md" if stamp == UNSTAMPED else pages_of(stamp)
    return re.sub(rf"\[{PAGES}\]\([^)\s]*\)", f"[{PAGES}]({pages})", text)


def stamp_project(text, stamp):
    """Give pyproject.toml with the addresses that the package's page shows."""
    home = f"https://github.com/{stamp.repository}"
    table = (
        f'[project.urls]\nHomepage = "{pages_of(stamp)}"\nSource = "{home}"\n'
        f'Issues = "{home}/issues"\nChangelog = "{home}/blob/{stamp.ref}/CHANGELOG.md"\n'
    )
    return URLS.sub(r"\1" if stamp == UNSTAMPED else r"\1" + table, text)


def stamp_citation(text, stamp):
    """Give CITATION.cff with the repository's address, its last line."""
    text = re.sub(r"^repository-code: .*\n", "", text, flags=re.M)
    line = f"repository-code: https://github.com/{stamp.repository}\n"
    return text if stamp == UNSTAMPED else text + line


BESIDE = {
    "README.md": stamp_readme,
    "pyproject.toml": stamp_project,
    "CITATION.cff": stamp_citation,
}


def stamp_course(root, stamp):
    """Stamp the lessons and what stands beside them, all or none."""
    paths, new = lesson.chosen([], root / "notebooks"), {}
    for path in paths:
        nb = lesson.parse(lesson.read(path))
        repair.place_stamp(nb, path, stamp)
        new[path] = lesson.dump(nb)
    for name, stamped in BESIDE.items():
        new[root / name] = stamped(lesson.read(root / name), stamp)
    readme, names = root / "README.md", [path.name for path in paths]
    new[readme] = lesson.restamp_badges(new[readme], stamp, names)
    for path, text in new.items():
        lesson.write(path, text)


def carried(root):
    """Give the stamp that the course carries."""
    first, *_ = lesson.chosen([], root / "notebooks")
    return repair.stamp_of(lesson.parse(lesson.read(first)))


def main(arguments=None, root=lesson.ROOT):
    """Run the command; give its exit status: 0 written, 2 refused."""
    parser = argparse.ArgumentParser(prog="stamp.py", description=__doc__)
    parser.add_argument("--repo", metavar="OWNER/NAME", help="default: that of the remote origin")
    parser.add_argument("--ref", help="default: the branch")
    parser.add_argument("--unstamp", action="store_true", help="make it as if never published")
    parser.add_argument("--once", action="store_true", help="leave a course that carries a stamp")
    given = parser.parse_args(arguments)
    try:
        stamp = UNSTAMPED if given.unstamp else asked_for(root, given.repo, given.ref)
        if given.once and carried(root) != UNSTAMPED:
            print(f"The course carries the stamp {carried(root)}: nothing was written.")
            return 0
        stamp_course(root, stamp)
    except (Refused, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    print(f"Wrote {stamp} into badges, setup cells and metadata.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
