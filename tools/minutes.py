"""Work out how long each lesson takes; with --check hold the lessons to the limits, with --fix
write the minutes into their heads and the maps, with --time run them and store the seconds.

The core goes from after the setup cell to the first of *What the exam asks*, *Quiz* and *Going
further*. Words are its Markdown, the sentences that it prints, the longest one of each verdict;
hints and stubs belong to the five minutes of an exercise. Lines are lines of code, no blank ones;
what sets up, asks, checks, draws, keeps or says is machinery. The minutes go up to *Going
further*; the setup cell is run and not read, and code that is folded is not read.
"""

import argparse
import ast
import json
import math
import re
import subprocess
import sys
import tempfile
from collections import Counter
from datetime import date
from pathlib import Path

import lesson
import measured
import run_lessons

from accel_helpers.course import exam, places, quiz
from accel_helpers.machine import runtime

MOST = {"cells": 36, "words": 1000, "longest": 12, "predictions": 2, "folded": 2, "waiting": 60}
MOST |= {"first result": 3, "further": 15, "waits further": 120, "questions": 8, "untimed": 0}
OTHERS = {
    "03": {"cells": 44, "waiting": 90},
    "10": {"cells": 44, "words": 1500, "first result": 3.5},
    "11": {"cells": 99, "words": 9999},
}
# At least; seconds at most, the cores of all lessons together (06 to 11 on a slower machine; 25
# of them are the boxes of profile_fit in 03 and 08).
QUESTIONS, WAITING = 5, 390
LOW, HIGH = 0.9, 1.15  # what may be promised, as shares of what is worked out
# Seconds, the constants of a sitting: for a word, a line of code that is not folded, a picture, ...
WORD, LINE, PICTURE, PREDICTION, QUESTION, EXERCISE = 60 / 200, 5, 20, 25, 55, 300
BUSY = 2  # loops that keep the processor busy while lessons are timed

MACHINERY = re.compile(
    r"(\w+ = )?((print|display)\()*"
    r"(lesson|ah\.course)\."
)
DRAWS = re.compile(r"\bah\.plot\(|_animation\(|\blesson\.plot\(")
SHOWS = re.compile(r"\blesson\.(verdict|reveal)\(\s*\"([^\"]+)\"")
NOT_READ = re.compile(r"<details>\s*<summary>\s*Hint.*?</details>|<[^>]*>|(?<=\])\(\S*\)", re.S)
ASKED = re.compile(r"^(?:ah\.course\.(show_quiz|draw_exam)|(lesson\.quiz))\(([^)]*)\)", re.M)
# In Markdown, and in a notebook's file:
HEAD = re.compile(r'^(\s*"?[-* ]*?)\*\*Minutes:\*\*[^\\\n]*', re.M)
ROW = re.compile(r'^(\s*"?\| \[?(\d\d)\b.*?\| )(\d+)(?= \|)', re.M)


def words(text):
    """Count the words of Markdown or print; hints, addresses and tags are none."""
    return sum(bool(re.search(r"\w", word)) for word in NOT_READ.sub("", text).split())


def longest_sentence(number, source):
    """Count the words of what a cell of a lesson may say, the longest text at each place."""
    known, count = places.places(number), 0
    for _, id in SHOWS.findall(source):
        count += max(map(words, known[id].sentences.values()), default=0)
    return count


def read(cell, ran, number):
    """Count one cell: its words and lines, and its seconds on the clock of the course."""
    if cell.cell_type != "code":
        return Counter(cells=1, words=words(cell.source), clock=WORD * words(cell.source))
    tags, took, shown = lesson.tags(cell), ran.get(cell.id, 0), []
    said = longest_sentence(number, cell.source)
    source = lesson.python(cell.source)
    nodes = list(ast.walk(ast.parse(source)))
    code = {n for n, line in enumerate(cell.source.splitlines(), 1) if line.strip()}
    folded = cell.metadata.get("jupyter", {}).get("source_hidden", False)
    does = [n for n in nodes if isinstance(n, ast.stmt) and MACHINERY.match(ast.unparse(n))]
    apart = {n for node in does for n in range(node.lineno, node.end_lineno + 1)} & code
    apart = code if folded or "setup" in tags else apart
    found = Counter(cells=1, lines=len(code), machinery=len(apart), waiting=took, clock=took)
    found["untimed"] = measured.TAG in tags and cell.id not in ran
    for verb, of_lesson, given in ASKED.findall(source):
        if of_lesson:
            count = len(quiz.show_quiz(number).questions)
        else:
            ask = quiz.show_quiz if verb == "show_quiz" else exam.draw_exam
            count = len(ask(*ast.literal_eval(f"[{given}]")).questions)
        found["clock"] += QUESTION * count
        if verb != "draw_exam":
            found["questions"] += count
    if tags & {"setup", "exercise"} or ASKED.search(source):
        return found + Counter(clock=EXERCISE * ("exercise" in tags))
    if measured.TAG in tags:  # what it prints varies: the texts in its code
        prints = [n for n in nodes if isinstance(n, ast.Call) and ast.unparse(n.func) == "print"]
        shown = [" ".join(re.findall(r"[^'\"]{9,}", ast.unparse(call))) for call in prints]
    for out in () if measured.TAG in tags else cell.outputs:
        data = out.get("data", {"text/plain": out.get("text", "")})
        shown += data.get("text/plain", "").splitlines() if "image/png" not in data else []
    asks = source.count("lesson.ask(")
    prose = said + sum(words(line) for line in shown if line.rstrip()[-1:] in {*".:?!"})
    own = tags & {"script", "take-away"}  # form.py has limits for these
    longest = 0 if own else len(code)
    found += Counter(words=prose, longest=longest, predictions=asks, folded=folded)
    found["clock"] += WORD * (said + sum(map(words, shown))) + PREDICTION * asks
    found["clock"] += LINE * len(code) * (not folded) + PICTURE * pictures(cell)
    return found


def pictures(cell):
    """Count what a cell draws: the pictures that are stored, or one of what measures."""
    stored = sum("image/png" in output.get("data", {}) for output in cell.get("outputs", ()))
    if measured.TAG not in lesson.tags(cell) and stored:
        return stored
    return int(bool(DRAWS.search(cell.source)))


def work_out(path, timed):
    """Give a lesson's row of the table, and its minutes in parts, as its head has them."""
    nb, ran = lesson.parse(lesson.read(path)), timed.get(path.stem, {}).get("cells", {})
    counts = [read(cell, ran, path.name[:2]) for cell in nb.cells]
    prose = [cell.source if cell.cell_type == "markdown" else "" for cell in nb.cells]
    ends = lesson.core_end(nb)
    over = next((i for i, text in enumerate(prose) if lesson.FURTHER.search(text)), len(prose))
    first = next((i for i, c in enumerate(nb.cells, 1) if "first-result" in lesson.tags(c)), 0)
    places = (0, first), (2, ends), (0, ends), (ends, over), (over, None)
    soon, core, way, tail, on = (sum(counts[a:b], Counter()) for a, b in places)
    core["longest"] = max((count["longest"] for count in counts[2:ends]), default=0)
    upto, whole = way + tail, way + tail + on
    shown = ("cells", "words", "longest", "predictions", "folded", "waiting")
    row = {name: round(core[name]) for name in shown}
    # The result is there before it is looked at.
    seen = PICTURE * pictures(nb.cells[first - 1])
    row["first result"] = round((soon["clock"] - seen) / 60, 1) if first else math.inf
    row |= {"further": on["cells"], "waits further": round(on["waiting"])}
    row |= {"questions": upto["questions"], "minutes": round(upto["clock"] / 60, 1)}
    row["promised"] = sum(map(int, re.findall(r"\b(\d+)\b(?! more)", HEAD.search(prose[0])[0])))
    row |= {"lines": whole["lines"], "machinery": f"{whole['machinery'] / whole['lines']:.0%}"}
    names = "for the core path", "for the quiz", "more under *Going further*"
    clocks = [round(part["clock"] / 60) for part in (way, tail, on)]
    parts = {name: n for name, n in zip(names, clocks, strict=True) if n}
    return row | {"untimed": whole["untimed"]}, parts


def sections(path, timed):
    """Give the minutes of a lesson's sections, each by the heading that it begins with."""
    ran, found = timed.get(path.stem, {}).get("cells", {}), Counter()
    for cell in lesson.parse(lesson.read(path)).cells:
        if cell.cell_type == "markdown" and (heads := re.findall(r"^#+ (.*)", cell.source, re.M)):
            name = heads[-1]
        found[name] += read(cell, ran, path.name[:2])["clock"] / 60
    return dict(found)


def problems(number, row, maps):
    """Say which limits a lesson passes, and where its promise is not kept."""
    for name, most in (MOST | OTHERS.get(number, {})).items():
        if row[name] > most:
            yield f"{number}: {name}: {row[name]}, and {most} is the most."
    if row["questions"] < QUESTIONS:
        yield f"{number}: questions: {row['questions']}, and {QUESTIONS} is the least."
    if not LOW <= row["promised"] / row["minutes"] <= HIGH:
        yield f"{number}: it promises {row['promised']} minutes and takes {row['minutes']} (--fix)."
    if any(listed == number and int(said) != row["promised"] for listed, said in maps):
        yield f"{number}: a map does not say the minutes of its head (--fix)."


def write(path, parts, pages):
    """Write a lesson's minutes into its head and into the maps."""
    head = "**Minutes:** " + ", ".join(f"{n} {name}" for name, n in parts.items()) + "."
    whole = sum(n for name, n in parts.items() if "more" not in name)
    for page in {path, *pages}:
        text = lesson.read(page)
        text = HEAD.sub(lambda m: m[1] + head, text, count=1) if page == path else text
        text = ROW.sub(lambda m: f"{m[1]}{whole}" if m[2] == path.name[:2] else m[0], text)
        lesson.write(page, text)


def time_them(paths, timed):
    """Run lessons whole, beside loops that keep the processor busy; store what each cell took."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY)]
    try:
        with tempfile.TemporaryDirectory() as out:
            ran = [one for one in run_lessons.run(paths, Path(out), everything=True) if one.ok]
    finally:
        for loop in loops:
            loop.kill()
    here = runtime.describe()
    on = f"{here.cpu_name}, {here.cores} cores, beside {BUSY} busy loops"
    for one in ran:
        kept = {"on": on, "date": f"{date.today()}", "whole": round(one.seconds, 1)}
        timed[one.name] = {**kept, "cells": one.cells}
    lesson.write(run_lessons.TIMES, json.dumps(timed, indent=1) + "\n")


def main(arguments=None, folder=lesson.LESSONS, readme=lesson.ROOT / "README.md", timed=None):
    """Print the table, or what is wrong; exit status: 0 nothing is, 1 something."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for flag in ("--check", "--fix", "--time"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("numbers", nargs="*", help="of lessons; default: all")
    given = parser.parse_args(arguments)
    paths = {path.name[:2]: path for path in lesson.chosen([], folder)}
    chosen = given.numbers or sorted(paths)
    timed = run_lessons.times() if timed is None else timed
    if given.time:
        time_them([paths[number] for number in given.numbers or paths], timed)
    found = {number: work_out(path, timed) for number, path in paths.items()}
    pages = [readme, *folder.glob("00_*.ipynb")]
    if given.fix:
        for number in chosen:
            write(paths[number], found[number][1], pages)
        found = {number: work_out(path, timed) for number, path in paths.items()}
    maps = {(m[2], m[3]) for page in pages for m in ROW.finditer(lesson.read(page))}
    table = [["lesson", *found[min(found)][0]]]
    table += [[number, *row.values()] for number, (row, _) in found.items()]
    lines = [f"| {' | '.join(map(str, line))} |" for line in table]
    lines.insert(1, re.sub(r"[^|]+", "---", lines[0]))
    if given.check:
        rows = {number: found[number][0] for number in chosen}
        lines = [line for number, row in rows.items() for line in problems(number, row, maps)]
        if sum(row["waiting"] for row in rows.values()) > WAITING:
            lines.append(f"The cores take more than {WAITING} s together.")
    print(*lines, sep="\n", end="\n" * bool(lines))
    return int(given.check and bool(lines))


if __name__ == "__main__":
    sys.exit(main())
