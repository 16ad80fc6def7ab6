"""Texts of the course as HTML: everything is escaped, backticks become code, addresses links."""

import html
import re
from collections.abc import Sequence

LONGEST = 60  # characters of a link's text


def marked(text: str) -> str:
    """Escape a text for HTML and set what stands in backticks as code.

    Examples
    --------
    >>> marked("is `a < b` <b>true</b>?")
    'is <code>a &lt; b</code> &lt;b&gt;true&lt;/b&gt;?'
    """
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))


def linked(sources: Sequence[str]) -> str:
    """Sources as HTML: what is an address becomes a link, the name of a lesson stays text.

    Examples
    --------
    >>> linked(["https://www.example.org/a/", "lesson 03, Key points"])
    '<a href="https://www.example.org/a/">example.org/a</a>; lesson 03, Key points'
    """
    return "; ".join(
        f'<a href="{html.escape(source)}">{html.escape(short(source))}</a>'
        if source.startswith("https://")
        else marked(source)
        for source in sources
    )


def short(address: str) -> str:
    """An address as a person reads it: a long one by its host and by how it ends.

    Examples
    --------
    >>> short("https://www.example.org/" + "a-long-way/" * 9 + "to-the-page/")
    'example.org/…-way/a-long-way/a-long-way/a-long-way/to-the-page'
    """
    text = address.removeprefix("https://").removeprefix("www.").rstrip("/")
    if len(text) <= LONGEST:
        return text
    host = text.partition("/")[0]
    room = LONGEST - len(host)
    if room < 10:
        return f"{text[: LONGEST - 1]}…"
    end = text[len(host) :][-room:]
    word = re.search(r"[-/].*", end)  # from the beginning of a word on
    return f"{host}/…{word.group() if word else end}"
