"""Work out how long each lesson takes, write it into heads and maps, and hold the lessons to it.

The core goes from after the setup cell to the first of *What the exam asks*, *Quiz* and *Going
further*. Words are its Markdown, the sentences that it prints, the longest text of each `say`;
hints and stubs belong to the four minutes of an exercise. Lines are lines of code: no blank ones
and no texts of a `say`. The minutes go up to *Going further*; the setup cell is run and not read.
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
import run_lessons

from accel_helpers.learn import exam, quiz
from accel_helpers.machine import runtime

NOT_YET = {"00", "01", "02", "03", "04", "06", "10", "11"}  # not rewritten yet: held to nothing
MOST = {"core cells": 25, "words": 1000, "longest cell": 12, "predictions": 2, "folded": 2}
MOST |= {"first result": 3, "waiting": 60, "further on": 15, "waiting further on": 120}
MOST |= {"questions": 8, "untimed": 0}
OTHERS = {"10": {"core cells": 38, "words": 1500}, "11": {"core cells": 99, "words": 9999}}
LEAST = {"questions": 5, "first result": 0.1}
WAITING = 300  # seconds: the cores of all lessons together
PROMISE = 0.9, 1.25  # as shares of what is worked out
WORD, TEACHES, ELSE, EXERCISE, PREDICTION, QUESTION, FEEDBACK = 0.3, 5, 2, 240, 15, 15, 45 * 0.3
BUSY = 2  # loops that keep the processor busy while lessons are timed

FURTHER = re.compile(r"^#+ (Going further|One solution)", re.M)
CORE_ENDS = re.compile(r"^#+ (What the exam asks|Quiz\b)|" + FURTHER.pattern, re.M)
MACHINERY = re.compile(
    r"import |from |(\w+ = )?((print|display|Markdown)\()*(Markdown|display|ah\.(plots|results|"
    r"progress|predict|quiz|checks|verdicts)\.)|fast = |if (not )?fast\b"
)
NOT_READ = re.compile(r"<details>\s*<summary>\s*Hint.*?</details>|<[^>]*>|(?<=\])\(\S*\)", re.S)
ASKED = re.compile(r"^ah\.(quiz\.show|exam\.draw)\(([^)]*)\)", re.M)
# In Markdown, and in a notebook's file:
HEAD = re.compile(r'^(\s*"?[-* ]*?)\*\*Minutes:\*\*[^\\\n]*', re.M)
ROW = re.compile(r'^(\s*"?\| \[?(\d\d)\b.*?\| )(\d+)(?= \|)', re.M)


def words(text):
    """Count the words of Markdown or print; hints, addresses and tags are none."""
    return sum(bool(re.search(r"\w", word)) for word in NOT_READ.sub("", text).split())


def strings(node):
    """Join the texts that stand in a piece of code."""
    found = (n.value for n in ast.walk(node) if isinstance(n, ast.Constant))
    return " ".join(value for value in found if isinstance(value, str))


def code_of(cell):
    """Give the lines of code of a cell, those that teach nothing, its spoken words, its prints."""
    tree = ast.parse(re.sub(r"^(\s*)[%!].*", r"\1pass", cell.source, flags=re.M))
    code = {n for n, line in enumerate(cell.source.splitlines(), 1) if line.strip()}
    apart, spoken, prints = set(), 0, []
    for node in ast.walk(tree):
        span = set(range(getattr(node, "lineno", 0), getattr(node, "end_lineno", -1) + 1))
        name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
        if name == "print":
            prints.append(strings(node))
        elif name == "ah.verdicts.say":
            text = node.args[1]
            spoken += max(map(words, re.split(r"^\s*\[[^]]*\]", strings(text), flags=re.M)))
            code -= set(range(text.lineno + 1, text.end_lineno + 1))
        elif isinstance(node, ast.Assign) and ast.unparse(node).startswith("say = {"):
            told = getattr(node.value, "value", node.value)
            spoken += max(words(strings(value)) for value in told.values)
            code -= span
        if isinstance(node, ast.stmt) and MACHINERY.match(ast.unparse(node)):
            apart |= span
    return code, code & apart, spoken, prints


def read(cell, ran):
    """Count one cell: its words and lines, and its seconds on the clock of the course."""
    if cell.cell_type != "code":
        return Counter(cells=1, words=words(cell.source), clock=WORD * words(cell.source))
    tags, took = lesson.tags(cell), ran.get(cell.id, 0)
    code, apart, spoken, shown = code_of(cell)
    folded = cell.metadata.get("jupyter", {}).get("source_hidden", False)
    apart = code if folded or "verdict" in tags else apart
    found = Counter(cells=1, lines=len(code), machinery=len(apart), waiting=took, clock=took)
    if "nbval-ignore-output" in tags:
        found["untimed"] = cell.id not in ran
    else:
        data = [{"text/plain": out.get("text", ""), **out.get("data", {})} for out in cell.outputs]
        shown = [d.get("text/plain", "") for d in data if "image/png" not in d]
    for verb, given in ASKED.findall(cell.source):
        shown, ask = [], quiz.show if verb == "quiz.show" else exam.draw
        for each in ask(*ast.literal_eval(f"[{given}]")).questions:
            text = " ".join([each.stem, *(option.text for option in each.options)])
            found["questions"] += verb == "quiz.show"
            found["asked"] += WORD * words(text) + QUESTION + FEEDBACK
    if "setup" in tags or "exercise" in tags:
        return found + Counter(clock=EXERCISE * ("exercise" in tags))
    lines = [line.rstrip() for text in shown for line in text.splitlines()]
    asks = cell.source.count("predict.ask(")
    reading = WORD * (spoken + sum(map(words, lines))) + PREDICTION * asks
    reading += TEACHES * len(code - apart) + ELSE * len(apart)
    prose = spoken + sum(words(line) for line in lines if line[-1:] in {".", ":", "?", "!"})
    found += Counter(words=prose, clock=reading, predictions=asks, folded=folded)
    return found | Counter(longest=len(code))


def work_out(path, timed):
    """Give a lesson's row of the table, and its minutes in parts, as its head has them."""
    nb, ran = lesson.parse(lesson.read(path)), timed.get(path.stem, {}).get("cells", {})
    counts = [read(cell, ran) for cell in nb.cells]
    prose = [cell.source if cell.cell_type == "markdown" else "" for cell in nb.cells]
    ends = next((i for i, text in enumerate(prose) if CORE_ENDS.search(text)), len(prose))
    over = next((i for i, text in enumerate(prose) if FURTHER.search(text)), len(prose))
    first = next((i for i, c in enumerate(nb.cells, 1) if "first-result" in lesson.tags(c)), 0)
    places = (0, first), (2, ends), (0, ends), (ends, over), (over, None), (0, None)
    soon, core, way, tail, on, whole = (sum(counts[a:b], Counter()) for a, b in places)
    quiz_clock = tail["clock"] + tail["asked"]
    way["clock"] += way["asked"]  # lesson 11 has its practice exam there
    parts = {"for the core path": way["clock"], "for the quiz": quiz_clock}
    parts["more under *Going further*"] = on["clock"] + on["asked"]
    row = {"core cells": core["cells"], "words": core["words"]}
    row["longest cell"] = max((count["longest"] for count in counts[2:ends]), default=0)
    row |= {"predictions": core["predictions"], "folded": core["folded"]}
    row["first result"] = round(soon["clock"] / 60, 1) if first else math.inf
    row |= {"waiting": round(core["waiting"]), "further on": on["cells"]}
    row["waiting further on"] = round(on["waiting"])
    row["questions"] = way["questions"] + tail["questions"]
    row["minutes"] = round((way["clock"] + quiz_clock) / 60, 1)
    row["promised"] = sum(map(int, re.findall(r"\b(\d+)\b(?! more)", HEAD.search(prose[0])[0])))
    row["code lines"] = whole["lines"]
    row["machinery"] = f"{whole['machinery'] / whole['lines']:.0%}"
    row["untimed"] = whole["untimed"]
    return row, {name: round(seconds / 60) for name, seconds in parts.items() if seconds > 30}


def problems(number, row, maps):
    """Say which limits a lesson passes, and where its promise is not kept."""
    for name, most in (MOST | OTHERS.get(number, {})).items():
        if not LEAST.get(name, 0) <= row[name] <= most:
            yield f"{name}: {row[name]}, where {LEAST.get(name, 0)} to {most} may be."
    if not PROMISE[0] <= row["promised"] / row["minutes"] <= PROMISE[1]:
        yield f"it promises {row['promised']} minutes and takes {row['minutes']}: --fix writes it."
    if {int(said) for listed, said in maps if listed == number} - {row["promised"]}:
        yield "a map does not say the minutes of its head: --fix writes them."


def write(path, parts, pages):
    """Write a lesson's minutes into its head and into the maps."""
    head = "**Minutes:** " + ", ".join(f"{n} {name}" for name, n in parts.items()) + "."
    whole = sum(n for name, n in parts.items() if "more" not in name)
    for page in {path, *pages}:
        text = lesson.read(page)
        text = HEAD.sub(lambda m: m[1] + head, text, count=1) if page == path else text
        text = ROW.sub(lambda m: f"{m[1]}{whole}" if m[2] == path.name[:2] else m[0], text)
        lesson.write(page, text)


def time_them(paths):
    """Run lessons whole, beside loops that keep the processor busy; store what each cell took."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY)]
    try:
        with tempfile.TemporaryDirectory() as out:
            ran = [one for one in run_lessons.run(paths, Path(out), everything=True) if one.ok]
    finally:
        for loop in loops:
            loop.kill()
    here, timed = runtime.describe(), run_lessons.times()
    kept = {"on": f"{here.cpu_name}, {here.cores} cores, beside {BUSY} busy loops"}
    for one in ran:
        rest = round(one.seconds - sum(one.cells.values()), 1)
        timed[one.name] = {**kept, "date": f"{date.today()}", "rest": rest, "cells": one.cells}
    lesson.write(run_lessons.TIMES, json.dumps(timed, indent=1) + "\n")


def main(arguments=None, folder=lesson.LESSONS, readme=lesson.ROOT / "README.md", timed=None):
    """Print the table; exit status: 0 all lessons keep to the limits, 1 not."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="hold the lessons to the limits")
    parser.add_argument("--fix", action="store_true", help="write the minutes")
    parser.add_argument("--time", action="store_true", help="run the lessons and store their times")
    parser.add_argument("numbers", nargs="*", help="of lessons; default: all that are rewritten")
    given = parser.parse_args(arguments)
    paths = {path.name[:2]: path for path in sorted(folder.glob("[0-9][0-9]_*.ipynb"))}
    chosen = given.numbers or sorted(set(paths) - NOT_YET)
    if given.time:
        time_them([paths[number] for number in given.numbers or paths])
    timed = run_lessons.times() if timed is None else timed
    rows = {number: work_out(path, timed) for number, path in paths.items()}
    pages = [readme, *folder.glob("00_*.ipynb")]
    if given.fix:
        for number in chosen:
            write(paths[number], rows[number][1], pages)
        rows = {number: work_out(path, timed) for number, path in paths.items()}
    maps = [(m[2], m[3]) for page in pages for m in ROW.finditer(lesson.read(page))]
    table = [["lesson", *rows[min(rows)][0]], *([n, *row.values()] for n, (row, _) in rows.items())]
    lines = [f"| {' | '.join(map(str, line))} |" for line in table]
    lines.insert(1, "|---" * len(table[0]) + "|")
    wrong = [f"{n}: {said}" for n in chosen for said in problems(n, rows[n][0], maps)]
    waiting = sum(rows[number][0]["waiting"] for number in chosen)
    if waiting > WAITING:
        wrong.append(f"the cores take {waiting} s together, and {WAITING} is the most.")
    print(*(wrong if given.check else lines), sep="\n")
    return int(given.check and bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
