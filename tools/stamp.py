"""Write where this copy of the course lives into badges, setup cells and metadata."""

import argparse
import re
import subprocess
import sys
from pathlib import Path

import lesson
from lesson import UNSTAMPED, Refused, Stamp, checked

_GITHUB = re.compile(
    r"(?:(?:https?|git)://(?:[^@/\s]+@)?(?:www\.)?github\.com/"
    r"|ssh://(?:[^@/\s]+@)?(?:ssh\.)?github\.com(?::\d+)?/"
    r"|(?:[^@/\s]+@)?github\.com:)"
    r"(?P<owner>[^/\s]+)/(?P<name>[^/\s]+?)(?:\.git)?/?"
)
PAGES = "the course as pages"
_PAGES = re.compile(rf"\[{PAGES}\]\([^)\s]*\)")
_URLS = re.compile(
    r"(?P<comment># Where this copy lives[^\n]*\n)(?:\[project\.urls\]\n(?:\w+ = [^\n]*\n)*)?"
)
PASS = "Pass --repo owner/name (make stamp REPO=owner/name)."


def repository_of(url):
    """Read ``owner/name`` from the address of a git remote on github.com, or give None."""
    match = _GITHUB.fullmatch(url.strip())
    return f"{match['owner']}/{match['name']}" if match else None


def _git(folder, *arguments):
    """Ask git something; give its answer, or None where it has none."""
    words = ["git", "-C", str(folder), *arguments]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def default_repository(folder):
    """Read the repository from the git remote: ``origin``, or the only one that there is."""
    remotes = (_git(folder, "remote") or "").split()
    name = "origin" if "origin" in remotes else remotes[0] if len(remotes) == 1 else None
    if name is None:
        found = f"the remotes are {', '.join(remotes)}" if remotes else "there is no git remote"
        raise Refused(f"Found no remote to take: {found}. {PASS}")
    url = _git(folder, "remote", "get-url", name) or ""
    repository = repository_of(url)
    if repository is None:
        shown = re.sub(r"//[^@/\s]+@", "//", url)  # an address may hold a password
        raise Refused(
            f"The git remote {name} is {shown!r}, which is not owner/name on github.com. {PASS}"
        )
    return repository


def default_ref(folder):
    """Take the tag exactly at the current commit (the highest, of several), else the branch."""
    here = _git(folder, "tag", "--points-at", "HEAD", "--sort=-version:refname")
    ref = here.splitlines()[0] if here else _git(folder, "symbolic-ref", "--short", "HEAD")
    if not ref:
        raise Refused(
            "No tag and no branch is at this commit. Pass --ref REF (make stamp REF=REF)."
        )
    return ref


def default_stamp(folder, repository, ref):
    """Give the stamp that was asked for; what was left out is git's."""
    if repository is None or ref is None:
        top = _git(folder, "rev-parse", "--show-toplevel")
        if not top or Path(top).resolve() != folder.resolve():  # it may lie inside another one
            raise Refused(
                f"{folder} is not a git checkout. Pass --repo owner/name and --ref REF "
                "(make stamp REPO=owner/name REF=REF)."
            )
    repository = default_repository(folder) if repository is None else repository
    return Stamp(repository, default_ref(folder) if ref is None else ref)


def stamp_lesson(text, path, stamp):
    """Give a lesson's text with the stamp in its badge and its setup cell."""
    try:
        nb = lesson.parse(text)
    except (ValueError, AttributeError, TypeError) as error:
        raise Refused(f"{path} is not a notebook that can be read: {error}.") from None
    for cell in nb.cells:
        if cell.cell_type == "markdown":
            cell.source = lesson.restamp_badges(cell.source, stamp, [path.name])
        elif "setup" in lesson.tags(cell):
            cell.source = lesson.restamp_setup(cell.source, stamp)
    return lesson.dump(nb)


def pages_of(stamp):
    """Give the address at which GitHub shows a repository's pages."""
    owner, _, name = stamp.repository.partition("/")
    root = f"https://{owner.lower()}.github.io/"
    # A repository that is named as its owner's pages is shown at their root.
    if name.lower() == f"{owner.lower()}.github.io":
        return root
    return f"{root}{name}/"


def stamp_readme(text, stamp, lessons):
    """Give the README with the stamp in its badges, and the link to the pages."""
    pages = "docs/README.md" if stamp == UNSTAMPED else pages_of(stamp)
    text = _PAGES.sub(f"[{PAGES}]({pages})", text)
    return lesson.restamp_badges(text, stamp, lessons)


def stamp_metadata(text, stamp, lessons):
    """Give pyproject.toml with the addresses that the package's page shows."""
    home = f"https://github.com/{stamp.repository}"
    addresses = {
        "Homepage": pages_of(stamp),
        "Source": home,
        "Issues": f"{home}/issues",
        "Changelog": f"{home}/blob/{stamp.ref}/CHANGELOG.md",
    }
    lines = [f'{name} = "{address}"\n' for name, address in addresses.items()]
    table = "" if stamp == UNSTAMPED else "".join(["[project.urls]\n", *lines])
    return _URLS.sub(lambda found: found["comment"] + table, text)


def stamp_citation(text, stamp, lessons):
    """Give CITATION.cff with the repository's address, its last line."""
    text = re.sub(r"^repository-code: .*\n", "", text, flags=re.M)
    if stamp == UNSTAMPED:
        return text
    return f"{text}repository-code: https://github.com/{stamp.repository}\n"


# What is stamped beside the lessons.
FILES = {
    "README.md": stamp_readme,
    "pyproject.toml": stamp_metadata,
    "CITATION.cff": stamp_citation,
}


def stamp_course(folder, stamp):
    """Stamp the lessons and what stands beside them, all or none; give the files that changed."""
    stamp = checked(stamp)
    notebooks = lesson.chosen([], folder / "notebooks")
    lessons = [path.name for path in notebooks]
    old = {path: lesson.read(path) for path in notebooks}
    new = {path: stamp_lesson(text, path, stamp) for path, text in old.items()}
    for name, stamped in FILES.items():
        path = folder / name
        old[path] = lesson.read(path)
        new[path] = stamped(old[path], stamp, lessons)
    changed = [path for path in old if new[path] != old[path]]
    for path in changed:
        lesson.write(path, new[path])
    return changed


def carried(folder):
    """Give the stamp that the course carries: the first one that a setup cell names."""
    for path in lesson.chosen([], folder / "notebooks"):
        for cell in lesson.parse(lesson.read(path)).cells:
            found = lesson.setup_stamp(cell.source) if "setup" in lesson.tags(cell) else None
            if found not in (None, UNSTAMPED):
                return found
    return UNSTAMPED


def main(arguments=None):
    """Run the command; give its exit status: 0 written, 2 refused."""
    parser = argparse.ArgumentParser(prog="stamp.py", description=__doc__.splitlines()[0])
    parser.add_argument("--repo", metavar="OWNER/NAME", help="default: the git remote's")
    parser.add_argument("--ref", help="default: the tag at this commit, else the branch")
    parser.add_argument("--unstamp", action="store_true", help="make it as if never published")
    parser.add_argument("--once", action="store_true", help="leave a course that carries a stamp")
    parser.add_argument("--root", type=Path, default=lesson.ROOT, help="the course's folder")
    given = parser.parse_args(arguments)
    if given.unstamp and (given.repo is not None or given.ref is not None or given.once):
        parser.error("--unstamp takes neither --repo nor --ref nor --once.")
    try:
        if given.once and (found := carried(given.root)) != UNSTAMPED:
            print(f"The course carries the stamp {found}: nothing was written.")
            return 0
        stamp = UNSTAMPED if given.unstamp else default_stamp(given.root, given.repo, given.ref)
        changed = stamp_course(given.root, stamp)
    except Refused as error:
        print(error, file=sys.stderr)
        return 2
    print(f"Wrote {stamp} into badges, setup cells and metadata: {len(changed)} files changed.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
