"""The summary to keep: both answers to every exam question, and what you measured, on one page.

`write` makes one HTML file that asks the network for nothing, can be printed, and has no scripts.
`exam_answers` has the answers, `ledger` the claims.
"""

from __future__ import annotations

import datetime
import math
import os
import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from accel_helpers._records import write_whole
from accel_helpers._words import linked, marked
from accel_helpers.learn import ledger
from accel_helpers.learn.exam_answers import Answer, answers
from accel_helpers.learn.ledger import Ledger
from accel_helpers.measure import results

NAME = "course_summary.html"
YET = "not measured yet"  # how the ledger's verdict begins


def write(
    path=None,
    *,
    card: results.Card | None = None,
    missed: Sequence[str] = (),
    answered: str = "",
    questions: Sequence[Answer] | None = None,
    now: datetime.datetime | None = None,
) -> Path:
    """Write the summary, whole or not at all.

    Parameters
    ----------
    path : path-like, optional
        The file, by default course_summary.html beside the result card; one that is there is
        replaced.
    card : Card, optional
        By default the current result card, if there is one.
    missed : sequence of str, optional
        A sentence for each question that is still to be learned.
    answered : str, optional
        How many questions were answered, in a sentence.
    questions : sequence of Answer, optional
        By default `answers`.
    now : datetime.datetime, optional
        By default the time of the call.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    OSError
        If it cannot be written; the message names the place. A file that was there is still whole.
    TypeError
        If `missed` is no list of sentences, or `card` no card.
    """
    path = results.card_path().with_name(NAME) if path is None else Path(path)
    note = ""
    if card is None and os.path.exists(results.card_path()):
        try:
            card = results.load(results.card_path())
        except results.CardError as error:
            note = f"Your result card was not used: {error}"
    if isinstance(missed, str) or not all(isinstance(each, str) for each in missed):
        raise TypeError(f"missed needs a list of sentences; got {missed!r:.60}.")
    questions = answers() if questions is None else questions
    now = now or datetime.datetime.now()
    text = page(questions, ledger.fill(card), card, missed, answered, now, note)
    _save(text, path)
    return path


def page(
    questions: Sequence[Answer],
    entries: Ledger,
    card: results.Card | None,
    missed: Sequence[str],
    answered: str,
    now: datetime.datetime,
    note: str = "",
) -> str:
    """The summary as HTML. Everything that is handed in is escaped."""
    if card is None:
        machine = "nothing measured yet: there is no result card"
        made = "-"
    else:
        machine, made = _machine(card.machine), card.created[:10]
    todo = "".join(f"<li>{_marked(each)}</li>" for each in missed)
    todo = f"<p>Still to be learned:</p><ul>{todo}</ul>" if todo else ""
    standing = f"<p>{_marked(answered)}</p>" if answered else ""
    if not (todo or standing):
        standing = "<p>No answers of yours are kept here. Lesson 11 has the practice exam.</p>"
    return _PAGE.format(
        style=_STYLE,
        stamp=escape(now.isoformat(timespec="minutes")),
        when=escape(f"{now.day} {now:%B %Y, %H:%M}"),
        machine=_clean(machine),
        made=_clean(made),
        note=f'<p class="note">{_clean(note)}</p>' if note else "",
        standing=standing + todo,
        questions="".join(_question(answer, entries, card) for answer in questions),
        claims="".join(_claim(entry) for entry in entries),
    )


# ---------------------------------------------------------------------------------------------
# The pieces of the page


def _question(answer: Answer, entries: Ledger, card: results.Card | None) -> str:
    today = "True today" if answer.differs else "True today (the same in substance)"
    return (
        f'<article><h3><span class="number">{_clean(answer.number)}</span> '
        f"{_marked(answer.asks)}</h3><div class='pair'>"
        f"<section class='box exam'><h4>To answer in the exam</h4>"
        f'<p class="label">{_clean(answer.label)}</p>{_paragraphs(answer.material)}'
        f"{_sources(answer.material_source)}</section>"
        f"<section class='box true'><h4>{today}</h4>{_paragraphs(answer.today)}"
        f"{_sources(answer.today_source)}</section></div>"
        f"<section class='yours'><h4>Measured</h4>{_measured(answer, entries, card)}"
        "</section></article>"
    )


def _measured(answer: Answer, entries: Ledger, card: results.Card | None) -> str:
    parts = []
    if answer.says:
        parts.append(f"<p>{_marked(answer.where)}: {_marked(answer.says)}</p>")
    lines = [line for name in answer.card if (line := _on_card(name, card))]
    for entry in entries:  # what the ledger makes of the same names
        names = entry.claim.evidence.names if entry.claim.evidence else ()
        if names and set(names) <= set(answer.card) and not entry.verdict.startswith(YET):
            says = entry.measured or entry.sentence
            lines.append(f"<strong>{_capital(entry.verdict)}</strong>: {_marked(says)}")
    if lines:
        parts.append("<ul>" + "".join(f"<li>{line}</li>" for line in lines) + "</ul>")
    elif answer.card:
        lesson = _clean(answer.card[0].partition("/")[0])
        parts.append(f'<p class="yet">On your machine: {YET}: lesson {lesson}.</p>')
    elif not answer.says:
        parts.append('<p class="yet">No measurement of this course belongs to it.</p>')
    return "".join(parts)


def _on_card(name: str, card: results.Card | None) -> str:
    if card is None:
        return ""
    try:
        if name in card.measurements:
            measured = card.measurements[name]
            if not all(map(math.isfinite, (measured.median, *measured.interval))):
                raise OverflowError(name)
            first, *_ = str(measured).splitlines()
            return f"<code>{_clean(name)}</code>: {_clean(first)}"
        if values := card.numbers.get(name):
            shown = ", ".join(f"{value:.4g}" for value in values[:8])
            more = f" and so on, {values[-1]:.4g} at the end" if len(values) > 8 else ""
            return f"<code>{_clean(name)}</code>: {_clean(shown + more)}"
    except (ArithmeticError, ValueError):  # numbers that no machine gives
        return f"<code>{_clean(name)}</code>: cannot be read. Run its lesson again."
    return ""


def _claim(entry: ledger.Entry) -> str:
    claim = entry.claim
    rows = [f'<strong class="here">{_capital(entry.verdict)}</strong>']
    rows += [_marked(text) for text in (entry.measured, entry.sentence) if text]
    return (
        f'<article class="claim"><h3><span class="number">{claim.number}</span> '
        f"{_marked(claim.claim)}</h3>"
        f'<p><strong class="verdict">{_capital(claim.verdict)}</strong> {_marked(claim.why)}</p>'
        f'<p class="own"><span class="who">Your machine:</span> {" ".join(rows)}</p>'
        f"{_sources(claim.source)}</article>"
    )


def _paragraphs(texts: tuple[str, ...]) -> str:
    if len(texts) == 1:
        return f"<p>{_marked(texts[0])}</p>"
    return "<ul>" + "".join(f"<li>{_marked(text)}</li>" for text in texts) + "</ul>"


def _sources(addresses: tuple[str, ...]) -> str:
    links = linked([_printable(each) for each in addresses])
    links = re.sub(r"/(?=[^<>]*</a>)", "/<wbr>", links)  # a line may break there
    return f'<p class="sources">Sources: {links}</p>' if links else ""


def _machine(machine: Mapping) -> str:
    """What a card says of its machine; it may say anything."""
    accelerator = machine.get("accelerator")
    name = accelerator.get("name") if isinstance(accelerator, Mapping) else None
    words = [word for word in (name, machine.get("cpu_name")) if isinstance(word, str) and word]
    cores = machine.get("cores")
    if isinstance(cores, int) and not isinstance(cores, bool):
        words.append(f"{cores} cores" if 0 < cores < 1e6 else "cores not known")
    return ", ".join(words)[:300] or "unknown machine"


def _printable(text: str) -> str:
    text = " ".join(str(text).split())
    return "".join(each if each.isprintable() else "\ufffd" for each in text)


def _clean(text: str) -> str:
    return escape(_printable(text))


def _capital(text: str) -> str:
    return _clean(text[:1].upper() + text[1:])


def _marked(text: str) -> str:
    return marked(_printable(text))


def _save(text: str, path: Path) -> None:
    try:
        write_whole(path, text)
    except OSError as error:
        reason = f"The summary cannot be written to {path} ({error.strerror}). Name a file in a "
        reason += "folder that you may write to: ah.summary.write('summary.html')."
        raise OSError(error.errno, reason) from None


_STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1c; --paper: #fff; --soft: #f3f4f6; --line: #c9ccd2;
  --link: #0b57a4; --exam: #7a4a00; --true: #1b5e20; --yours: #0b57a4; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e8e8; --paper: #16181c; --soft: #23262c; --line: #4a4f58; --link: #8ab8ff;
    --exam: #f0b860; --true: #8fd694; --yours: #8ab8ff; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; overflow-wrap: break-word; }
main { max-width: 66rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1, h2, h3, h4 { line-height: 1.25; }
h1 { margin: 0 0 .3rem; }
h2 { margin: 2.5rem 0 .8rem; }
h1 { font-size: 1.9em; }
h2 { font-size: 1.4em; }
h3 { margin: 0 0 .6rem; font-size: 1.1em; }
h4 { margin: 0 0 .3rem; font-size: 1em; }
p, ul, ol { margin: .4rem 0; }
ul, ol { padding-left: 1.4rem; }
a { color: var(--link); text-underline-offset: .15em; }
a:focus-visible { outline: .2rem solid var(--link); outline-offset: .15rem; }
code { font-size: .92em; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; margin: 1rem 0; }
dt { font-weight: 600; }
dd { margin: 0; overflow-wrap: anywhere; }
article { padding: 1.2rem 0; border-top: 1px solid var(--line); }
.number { display: inline-block; min-width: 2.2rem; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr));
  gap: .8rem; }
.box { padding: .8rem 1rem; background: var(--soft); border-left: .3rem solid var(--true); }
.box.exam { border-left-color: var(--exam); }
.box.exam h4 { color: var(--exam); }
.box.true h4 { color: var(--true); }
.label { font-style: italic; margin-top: 0; }
.yours { margin-top: .8rem; padding: .1rem 1rem; border-left: .3rem solid var(--yours); }
.yours h4, .who { color: var(--yours); }
.who { font-weight: 600; }
.sources { font-size: .88em; overflow-wrap: anywhere; }
.note { padding: .5rem 1rem; border-left: .3rem solid var(--exam); }
.claims { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr));
  gap: 0 2rem; }
.claim h3 { font-size: 1em; }
.verdict::after { content: "."; }
.here::after { content: "."; }
@media print {
  :root { color-scheme: light; --ink: #000; --paper: #fff; --soft: #fff; --line: #999;
    --link: #000; --exam: #5c3800; --true: #14491a; --yours: #083f78; }
  @page { margin: 14mm; }
  body { font-size: 9.5pt; line-height: 1.35; }
  main { max-width: none; padding: 0; }
  .box { border: 1px solid var(--line); border-left: 3pt solid var(--true); }
  .box.exam { border-left-color: var(--exam); }
  .pair { grid-template-columns: 1fr 1fr; }
  .claims { display: block; columns: 2; column-gap: 8mm; }
  article { padding: 3mm 0; break-inside: avoid; }
  h2, h3, h4 { break-after: avoid; }
  h2 { margin-top: 6mm; }
}
"""

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline';
 img-src data:">
<title>GPUs and TPUs: your course summary</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<main>
<h1>GPUs and TPUs: your course summary</h1>
<p>Two answers to every exam question, and what your own machine says.</p>
<dl>
<dt>Written</dt><dd><time datetime="{stamp}">{when}</time></dd>
<dt>Machine</dt><dd>{machine}</dd>
<dt>Card begun</dt><dd>{made}</dd>
</dl>
{note}
<h2>Where you stand</h2>
{standing}
<h2>The exam's questions</h2>
<p>The first answer is the one that the exam expects, as far as we know. It says how we know it:
<em>seen in the material</em>, <em>reported second-hand</em>, or <em>not available</em>, where the
answer is the usual one. The second answer is what is true today.</p>
{questions}
<h2>What is commonly said</h2>
<p>Nineteen claims, a verdict on each, and what your result card says about it. The numbers in
brackets are intervals: the value very probably lies between them.</p>
<div class="claims">
{claims}
</div>
</main>
</body>
</html>
"""
