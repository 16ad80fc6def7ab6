"""Check that docs/status.md says what the reference cards say, and write it from them."""

import argparse
import re
import sys

import lesson

from accel_helpers.machine import hardware
from accel_helpers.measure import results

PAGE = lesson.ROOT / "docs" / "status.md"
RUN_IT = ".venv/bin/python tools/status.py --fix"
NOT_YET = "not yet"
KEPT = r"\blesson\.(plot|verdict)\("  # what puts something on the card
CPU, SEVERAL = "CPU", {"GPU": "several GPUs", "TPU": "several TPU chips"}
SEVERAL_FROM = "09"  # earlier lessons use one chip, however many there are
# How the table of accelerators begins to say whether Colab lends a chip.
LENT = ("free tier", "paid", "default free runtime", "reported by users")
NOT_LENT = ("historic", "never", "removed", "not ")
INTRODUCTION = f"""# What has been measured, and on what

Made from the [reference cards](../accel_helpers/data/reference_runs/), nothing typed by hand: \
`{RUN_IT}` writes it, and `make lint` holds it to the cards. \
[How to add a card](reference_runs.md).

A date is the last day on which that lesson was really measured on that device. It leads to the \
run: its machine, its command, its versions. *Not yet* means that no card of it is here. A row \
says what did the work, in Colab or elsewhere; the second column says whether Colab lends it, as \
`accel_helpers/data/accelerators.csv` has it. Lessons before {SEVERAL_FROM} use one chip, also \
where there are several. \
A *warning* is one that the measurement itself prints: a drift, late samples, a wide spread. Its \
interval is wider for it."""


def lessons(paths):
    """Give the numbers of the lessons that put measurements on the card, such as "03"."""
    texts = {path.name[:2]: path.read_text("utf-8") for path in paths}
    return tuple(number for number, text in texts.items() if re.search(KEPT, text))


def lent(chips):
    """Give what Colab lends, and how it says so: for the CPU, then for every GPU and TPU."""
    rows = {}
    for chip in chips:
        said = chip.colab_status_2026
        if said.startswith(LENT):
            rows[CPU if chip.kind == "CPU" else chip.name] = _short(said)
        elif not said.startswith(NOT_LENT):
            raise lesson.Refused(f"{chip.name}: does Colab lend it? The table says {said!r}.")
    return {CPU: rows.pop(CPU, ""), **rows}


def measured_on(card, number):
    """Give the rows of the table on which a card measured a lesson, by its results' names."""
    attached = card.machine.get("accelerator")
    # A lesson may keep numbers and no times: a loss, bytes, a share.
    everything = {**card.measurements, **card.numbers}
    names = [name.lower() for name in everything if name.startswith(f"{number}/")]
    if not names:
        return set()
    if not attached:
        return {CPU}
    parts = {part for name in names for part in name.split("/")}
    found, kind = {CPU} if "cpu" in parts else set(), attached["kind"]
    if kind.lower() in parts:
        replicas = f"{number}/one code path/{kind.lower()}/replicas"
        known = hardware.match(attached["name"])
        one = known.name if known else attached["name"]
        found.add(SEVERAL[kind] if card.numbers.get(replicas, (1,))[0] > 1 else one)
    return found


def page(cards, chips, numbers):
    """Give the page's text for cards (oldest first), accelerators, and lessons such as "03"."""
    for card in cards:
        if "--fast" in card.command or "ACCEL_FAST=1" in card.command:
            raise lesson.Refused(f"{card.label}: made with small sizes, so it is no reference run.")
    newest = {
        (device, number): run
        for run, card in enumerate(cards, 1)
        for number in numbers
        for device in measured_on(card, number)
    }
    rows = lent(chips) | dict.fromkeys(SEVERAL.values(), "–")
    others = {chip.name: _short(chip.colab_status_2026) for chip in chips}
    rows |= {device: others.get(device, "–") for device, _ in newest if device not in rows}
    lines = [INTRODUCTION, "", "| device | in Colab | " + " | ".join(numbers) + " |"]
    lines.append("|" + "---|" * (2 + len(numbers)))
    for device, said in rows.items():
        cells = [_cell(device, number, newest, cards) for number in numbers]
        lines.append(f"| {_plain(device)} | {said} | {' | '.join(cells)} |")
    for run, card in enumerate(cards, 1):
        lines += ["", f"## Run {run}", "", *_told(card, numbers)]
    return "\n".join(lines) + "\n"


def _short(status):
    """Give the beginning of what the table says about Colab, without its reasons."""
    return status.partition(";")[0].partition(" (")[0].partition(":")[0]


def _cell(device, number, newest, cards):
    run = newest.get((device, number))
    if run:
        return f"[{cards[run - 1].created[:10]}](#run-{run})"
    return "–" if device in SEVERAL.values() and number < SEVERAL_FROM else NOT_YET


def _told(card, numbers):
    machine = card.machine
    attached = machine.get("accelerator")
    many = f"{attached['count']} x {attached['name']}" if attached else "no accelerator"
    where = {"colab": "in Google Colab", "kaggle": "on Kaggle"}.get(machine.get("place"))
    kept = [_counted(card, number) for number in numbers]
    versions = [f"{name} {version}" for name, version in (machine.get("frameworks") or {}).items()]
    cpu = f"{machine.get('cpu_name') or 'CPU of unknown name'}, {machine.get('cores')} cores"
    yield f"* **Date:** {card.created[:10]}"
    yield f"* **Machine:** {_plain(f'{cpu}; {many}')}; {where or 'neither in Colab nor on Kaggle'}"
    yield f"* **Command:** `{_plain(card.command)}`"
    yield "* **Versions:** " + _plain(", ".join([f"Python {machine.get('python')}", *versions]))
    yield "* **Measurements:** " + ", ".join(kept)


def _counted(card, number):
    found = [m for name, m in card.measurements.items() if name.startswith(f"{number}/")]
    numbers = [name for name in card.numbers if name.startswith(f"{number}/")]
    if numbers and not found:
        return f"{len(numbers)} of lesson {number} (no times)"
    doubted = sum(bool(measurement.warnings) for measurement in found)
    warned = f" ({doubted} with a warning)" if doubted else ""
    return f"{len(found)} of lesson {number}{warned}"


def _plain(text):
    """Give a text that ends no table cell, no code span and no line."""
    return " ".join(str(text).replace("|", "/").replace("`", "'").split())


def main(arguments=None, path=PAGE, folder=lesson.LESSONS, cards=None):
    """Run the command; exit status: 0 the page is right, 1 it is not, 2 refused."""
    parser = argparse.ArgumentParser(prog="status.py", description=__doc__.splitlines()[0])
    parser.add_argument("--fix", action="store_true", help="write the page")
    given = parser.parse_args(arguments)
    try:
        cards = results.reference_runs() if cards is None else cards
        text = page(cards, hardware.load(), lessons(lesson.chosen([], folder)))
        right = path.exists() and lesson.read(path) == text
        if given.fix and not right:
            lesson.write(path, text)
    except (lesson.Refused, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    if right or given.fix:
        print(f"docs/{path.name} {'says' if right else 'now says'} what the cards say.")
        return 0
    print(f"docs/{path.name} does not say what the reference cards say: run {RUN_IT}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
