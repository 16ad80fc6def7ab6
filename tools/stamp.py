"""Write where this copy of the course lives into every badge and every setup cell."""

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


def stamp_lesson(text, path, stamp, lessons):
    """Give a lesson's text with the stamp in its badge, its links and its setup cell."""
    try:
        nb = lesson.parse(text)
    except (ValueError, AttributeError, TypeError) as error:
        raise Refused(f"{path} is not a notebook that can be read: {error}.") from None
    for cell in nb.cells:
        if cell.cell_type == "markdown":
            cell.source = lesson.restamp_links(cell.source, stamp, lessons)
        elif "setup" in lesson.tags(cell):
            cell.source = lesson.restamp_setup(cell.source, stamp)
    return lesson.dump(nb)


def stamp_page(text, stamp, lessons, repositories):
    """Give a page's text with the stamp in its links and its lines on `repositories`."""
    for old in repositories:
        repository = re.escape(old)
        clone = rf"(git clone (?:\S+ )*https://github\.com/){repository}(?![\w-]|\.(?!git\b)\w)"
        text = re.sub(clone, lambda m: m[1] + stamp.repository, text)
        pip = rf"(git\+https://github\.com/){repository}((?:\.git)?)@[\w./-]*\w"
        text = re.sub(pip, lambda m: f"{m[1]}{stamp.repository}{m[2]}@{stamp.ref}", text)
    return lesson.restamp_links(text, stamp, lessons)


def stamp_course(folder, stamp):
    """Stamp lessons and README, all or none; give the files and those that changed."""
    stamp = checked(stamp)
    notebooks = lesson.chosen([], folder / "notebooks")
    lessons = frozenset(path.name for path in notebooks)
    readme = folder / "README.md"
    pages = [readme] if readme.is_file() else []
    old = {path: lesson.read(path) for path in [*notebooks, *pages]}
    links = {link for text in old.values() for link in lesson.link_stamps(text, lessons)}
    repositories = {link.repository for link in links}
    new = {page: stamp_page(old[page], stamp, lessons, repositories) for page in pages}
    new |= {path: stamp_lesson(old[path], path, stamp, lessons) for path in notebooks}
    changed = [path for path in old if new[path] != old[path]]
    for path in changed:
        lesson.write(path, new[path])
    return list(old), changed


def main(arguments=None):
    """Run the command; give its exit status: 0 written, 2 refused."""
    parser = argparse.ArgumentParser(prog="stamp.py", description=__doc__.splitlines()[0])
    parser.add_argument("--repo", metavar="OWNER/NAME", help="default: the git remote's")
    parser.add_argument("--ref", help="default: the tag at this commit, else the branch")
    parser.add_argument("--unstamp", action="store_true", help="put the placeholder back")
    parser.add_argument("--root", type=Path, default=lesson.ROOT, help="the course's folder")
    given = parser.parse_args(arguments)
    if given.unstamp and (given.repo is not None or given.ref is not None):
        parser.error("--unstamp takes neither --repo nor --ref.")
    try:
        stamp = UNSTAMPED if given.unstamp else default_stamp(given.root, given.repo, given.ref)
        files, changed = stamp_course(given.root, stamp)
    except Refused as error:
        print(error, file=sys.stderr)
        return 2
    lessons = sum(path.suffix == ".ipynb" for path in files)
    pages = " and README.md" if len(files) > lessons else ""
    what = "the placeholder" if stamp == UNSTAMPED else str(stamp)
    print(
        f"Wrote {what} into {lessons} lesson{'s' * (lessons != 1)}{pages}: "
        f"{len(changed)} file{'s' * (len(changed) != 1)} changed."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
