"""Hold the lessons to their minutes: --fix writes them into heads and maps, --time "03 05" runs
lessons beside loops that keep two cores busy, and stores the seconds of their cells.

Minutes are a sum: of seconds for what one person alone reads, guesses, answers and solves, and of
those that the cells run.
"""

import argparse
import json
import multiprocessing
import re
import sys
import tempfile
from datetime import date
from pathlib import Path

import lesson
import measured
import run_lessons
from rules import words

from accel_helpers.machine import runtime

# Seconds for one of each, for whoever wants to understand it.
WORD, LINE, SEEN_LINE, PICTURE = 0.375, 8, 3, 30
GUESS, QUESTION, SETUP, EXERCISE = 25, 55, 15, 360
# A line that holds nothing new: an import, or what only closes brackets.
PLAIN = re.compile(r"(import|from) .*|[\W\d]*|else:|#.*")
# The most that a lesson may take, its quiz included, from 00 to 11.
MOST = (15, 20, 25, 36, 25, 25, 30, 35, 32, 30, 45, 45)
# Where the second and the third number of a head begin.
PARTS = {
    "What the exam asks": 1,
    "Quiz": 1,
    "Going further": 2,
    "One solution of the exercise": 2,
}
HEAD = re.compile(r"\*\*Minutes:\*\*[^\\\n]*")
TOLD = "**Minutes:** {} for the core path, {} for the quiz, {} more under *Going further*."
NOTHING_MORE = ", 0 more under *Going further*"
ROW = re.compile(r"(\| \[?(0\d|1[01])\b.*?\| )\d+(?= \|)")


def seconds(cell, seen):
    """Give the seconds that a cell takes beside those that it runs; `seen` are lines before it."""
    if cell.cell_type == "markdown":
        return WORD * words(cell.source)
    tags = lesson.tags(cell)
    if "setup" in tags:
        return SETUP
    if "exercise" in tags:
        return EXERCISE
    if re.search(r"(quiz|draw_exam)\(", cell.source):
        shown = "".join(output.data["text/plain"] for output in cell.outputs)
        return QUESTION * len(re.findall(r"^\d+\. ", shown, re.M))
    found = GUESS * cell.source.count("lesson.ask(")
    if "jupyter" not in cell.metadata:  # its code is not folded
        lines = [line.strip() for line in cell.source.splitlines() if line.strip()]
        known = sum(line in seen or PLAIN.fullmatch(line) is not None for line in lines)
        found += SEEN_LINE * known + LINE * (len(lines) - known)
        seen.update(lines)
    for output in cell.outputs:
        data = output.get("data", {"text/plain": output.get("text", "")})
        if "image/png" in data:
            found += PICTURE
        elif "text/markdown" in data:
            found += WORD * words(data["text/markdown"])
        elif measured.TAG not in tags:  # numbers of one run are looked at, not read
            found += WORD * words(data["text/plain"])
    return found


def sections(path, timed):
    """Give the minutes of a lesson's sections, by the heading that each begins with."""
    ran, found, heading, seen = timed[path.stem]["cells"], {}, "", set()
    for cell in lesson.parse(lesson.read(path)).cells:
        if cell.cell_type == "markdown":
            for heading in re.findall(r"^#+ (.*)", cell.source, re.M):
                found[heading] = 0
        found[heading] += (seconds(cell, seen) + ran.get(cell.id, 0)) / 60
    return found


def parts(path, timed):
    """Give the minutes of the core, of the exam's questions and the quiz, and of what follows."""
    part, found = 0, [0, 0, 0]
    for heading, minutes in sections(path, timed).items():
        part = max(part, PARTS.get(heading, 0))
        found[part] += minutes
    return list(map(round, found))


def told(page, minutes):
    """Give a page's text with the minutes in its head and in its map of the lessons."""
    text = ROW.sub(lambda row: f"{row[1]}{sum(minutes[row[2]][:2])}", lesson.read(page))
    if page.name[:2] in minutes:
        line = TOLD.format(*minutes[page.name[:2]])
        text = HEAD.sub(line.replace(NOTHING_MORE, ""), text, count=1)
    return text


def spin():
    """Keep a core busy."""
    while True:
        pass


def time_lessons(paths, timed):
    """Run lessons whole on a busy machine, and store what each cell took."""
    for _ in range(2):
        multiprocessing.Process(target=spin, daemon=True).start()
    with tempfile.TemporaryDirectory() as out:
        done = run_lessons.run(paths, Path(out), everything=True)
    about = {"on": f"{runtime.describe().name}, beside 2 busy loops", "date": str(date.today())}
    for one in done:
        timed[one.name] = {**about, "cells": one.cells}
    lesson.write(run_lessons.TIMES, json.dumps(timed, indent=1) + "\n")


def main():
    """Run the command, and leave with a sentence where a page is wrong."""
    parser = argparse.ArgumentParser(prog="minutes.py", description=__doc__)
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("--time", metavar="NN", default="")
    given = parser.parse_args()
    paths, timed = lesson.chosen([]), run_lessons.times()
    if given.time:
        time_lessons(run_lessons.choose(paths, given.time), timed)
    minutes = {path.name[:2]: parts(path, timed) for path in paths}
    for (number, (core, quiz, _)), most in zip(minutes.items(), MOST, strict=True):
        if core + quiz > most:
            sys.exit(f"Lesson {number} takes {core + quiz} minutes, and {most} at most: cut it.")
    for page in [lesson.ROOT / "README.md", *paths]:
        text = told(page, minutes)
        if given.fix:
            lesson.write(page, text)
        elif lesson.read(page) != text:
            sys.exit(f"{page} does not say the minutes that are worked out: run `make fix`.")


if __name__ == "__main__":
    main()
