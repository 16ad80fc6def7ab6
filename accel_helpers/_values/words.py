"""What is shown to people: numbers with three digits and a unit, texts and cards as HTML.

>>> percent(0.123), format_bytes(512), format_bytes(3_156_000), format_rate(123_456_000_000, "B/s")
('12%', '512 B', '3.16 MB', '123 GB/s')
>>> [format_count(count) for count in (512, 13_090_816, 2.811e12)]
['512', '13.1 million', '2.81 trillion']
>>> format_range(0.0123, 0.0145)
'12.3 to 14.5 ms'
>>> marked("is `a < b` <b>true</b>?")
'is <code>a &lt; b</code> &lt;b&gt;true&lt;/b&gt;?'
>>> linked(["https://www.example.org/a/", "lesson 03, Key points"])
'<a href="https://www.example.org/a/">example.org/a</a>; lesson 03, Key points'
>>> short("https://www.example.org/" + "a-long-way/" * 9 + "to-the-page/")
'example.org/…-way/a-long-way/a-long-way/a-long-way/to-the-page'
"""

import functools
import html
import re
import textwrap
from collections.abc import Iterable, Sequence

LONGEST = 60  # characters of a link's text
# Unit or prefix -> its size, the largest first.
SECONDS = {"s": 1, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}
PREFIXES = {"P": 1e15, "T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3, "": 1}
WORDS = {"trillion": 1e12, "billion": 1e9, "million": 1e6}


def format_seconds(seconds: float, digits: int = 3) -> str:
    """Return a time in seconds with three digits, or as many as asked for, and a unit that suits.

    >>> [format_seconds(s) for s in (0, 0.00000123, 0.0456, 1.5, 999.7)]
    ['0 s', '1.23 µs', '45.6 ms', '1.5 s', '1000 s']
    >>> [format_seconds(s, digits=2) for s in (0.0456, 0.187, 1234)]
    ['46 ms', '190 ms', '1200 s']
    """
    if seconds == 0:
        return "0 s"
    return _scaled(_rounded(seconds, digits), SECONDS, digits)


def format_duration(seconds: float) -> str:
    """Return a time in seconds as a person says it: from two minutes on in minutes, then hours.

    It has two digits.

    >>> [format_duration(s) for s in (0, 3.21, 300, 6_660, 10_000, float("inf"))]
    ['0 s', '3.2 s', '5 minutes', '110 minutes', '2.8 hours', 'any length']
    """
    if seconds == float("inf"):
        return "any length"
    if seconds < 120:
        return format_seconds(seconds, digits=2)
    if seconds < 7200:
        return f"{times(seconds / 60)} minutes"
    return f"{times(seconds / 3600)} hours"


def spanned(low: str, high: str) -> str:
    """Join two amounts as "LOW to HIGH", naming their unit, or both alike, once.

    >>> spanned("5 minutes", "15 minutes"), spanned("50 s", "2 minutes"), spanned("3 s", "3 s")
    ('5 to 15 minutes', '50 s to 2 minutes', '3 s')
    """
    if low == high:
        return low
    unit = high.partition(" ")[2]
    number = low.removesuffix(f" {unit}")
    return f"{number} to {high}"


def format_range(low: float, high: float) -> str:
    """Join two times in seconds as "LOW to HIGH UNIT".

    Each has three digits, or five where three would make two different times look equal.

    >>> format_range(0.0009, 0.0011), format_range(49.01e-5, 49.02e-5)
    ('900 µs to 1.1 ms', '490.1 to 490.2 µs')
    """
    digits = 3
    if format_seconds(low) == format_seconds(high):
        digits = 5
    low_text = format_seconds(low, digits)
    high_text = format_seconds(high, digits)
    return spanned(low_text, high_text)


def times(factor: float) -> str:
    """Return a factor, or a price, with two digits and no exponent; infinity as "any number of".

    >>> [times(factor) for factor in (0.6402, 2.07, 99.7, 187.3, 24_440)]
    ['0.64', '2.1', '100', '190', '24,000']
    """
    if factor == float("inf"):
        return "any number of"
    return f"{_rounded(factor, 2):,.15g}"


def factor(ratio: float) -> str:
    """Return a factor as `times` does, from 1 to 2 with three digits: 1.16 and 1.25 differ much."""
    return f"{ratio:.3g}" if 1 <= ratio < 2 else times(ratio)


def format_bytes(count: float) -> str:
    """Return a number of bytes with three digits and the unit that suits it."""
    return format_rate(round(count), "B")


def format_rate(value: float, unit: str) -> str:
    """Return a value with three digits, the prefix that suits it, and a unit such as "B/s"."""
    return _scaled(value, PREFIXES) + unit


def format_count(count: float) -> str:
    """Return a large count with three digits and the word for its size (a billion: 1e9)."""
    # From here on a count rounds to a million.
    if count >= 999_500:
        return _scaled(count, WORDS)
    return f"{count:,.0f}"


def _scaled(value: float, units: dict[str, float], digits: int = 3) -> str:
    """Return a value, rounded, in the largest unit of which it is at least one.

    `units` has the size of each unit, the largest first; below the smallest, that one is used.

    (0.0456, {"s": 1, "ms": 1e-3}) -> "45.6 ms"
    """
    for unit, size in units.items():
        rounded = _rounded(value / size, digits)
        text = f"{rounded:.15g} {unit}"
        if rounded >= 1:
            break
    return text


def _rounded(value: float, digits: int) -> float:
    """Return a number with so many digits; as a text Python would write 110 as "1.1e+02"."""
    return float(f"{value:.{digits}g}")


def percent(share: float) -> str:
    """Return a share, from 0 to 1, as a percentage."""
    per_cent = 100 * share
    # Below ten percent one digit is shown, as in "0.3%".
    if share < 0.095:
        return f"{per_cent:.1g}%"
    return f"{per_cent:.0f}%"


def wrapped(text: str, lead: str = "", indent: int = 0, width: int = 96) -> str:
    """Return a text broken into lines of at most `width` characters, at blanks only.

    The first line begins with `lead`, and the others with `indent` blanks.
    """
    return textwrap.fill(
        text,
        width,
        initial_indent=lead,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def html_card(caption: str, rows: Iterable[tuple[str, str]]) -> str | None:
    """Return a small HTML table for a notebook; None without Jinja2.

    It has a caption, and a row for each pair of label and text.
    """
    return fragment("data/templates/card/card", caption, rows)


def marked(text: str) -> str:
    """Escape a text for HTML and set what stands in backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))


def linked(sources: Sequence[str]) -> str:
    """Return sources as HTML: an address becomes a link, the name of a lesson stays text."""
    links = []
    for source in sources:
        link = marked(source)
        if source.startswith("https://"):
            link = f'<a href="{html.escape(source)}">{html.escape(short(source))}</a>'
        links.append(link)
    return "; ".join(links)


def short(address: str) -> str:
    """Return an address without "https://www."; of a long one only the host and the end.

    The end has at most `LONGEST` characters and begins with a whole word.
    """
    text = address.removeprefix("https://").removeprefix("www.").rstrip("/")
    if len(text) <= LONGEST:
        return text
    host = text.partition("/")[0]
    # The rest of a word that was cut is dropped: "ng-way/page" becomes "-way/page".
    ending = re.sub("^[^-/]*(?=[-/])", "", text[len(host) - LONGEST :])
    return f"{host}/…{ending}"


def shown(value) -> str:
    """Return the first 60 characters of a value's repr in one line, for an error message.

    Returns "something of type T" for a value whose repr raises.
    """
    try:
        return " ".join(repr(value).split())[:60]
    except Exception:  # such as a whole number with thousands of digits
        return f"something of type {type(value).__name__}"


def fragment(place: str, *values) -> str | None:
    """Return the HTML that a template's macro makes of values, in one line; None without Jinja2.

    The `place` "data/templates/card/card" is the macro `card` of data/templates/card.html.
    """
    file, _, macro = place.rpartition("/")
    try:
        macros = template(f"{file}.html").module
    except ImportError:
        return None
    text = getattr(macros, macro)(*values)
    return "".join(line.strip() for line in text.split("\n"))


@functools.cache
def template(name: str):
    """Return a template of the package, by its path such as "data/templates/card.html".

    It escapes the values put into it. Raises ImportError without Jinja2.
    """
    import jinja2
    from markupsafe import Markup

    loader = jinja2.PackageLoader("accel_helpers", "")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    # These two escape what they are given by themselves.
    environment.filters["marked"] = lambda text: Markup(marked(text))
    environment.filters["linked"] = lambda sources: Markup(linked(sources))
    return environment.get_template(name)
