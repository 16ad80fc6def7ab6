"""What is shown to people: numbers with three digits and a unit, texts and cards as HTML.

>>> percent(0.123), format_bytes(512), format_bytes(3_156_000), format_rate(123_456_000_000, "B/s")
('12 %', '512 B', '3.16 MB', '123 GB/s')
>>> [format_count(count) for count in (512, 13_090_816, 2.811e12)]
['512', '13.1 million', '2.81 trillion']
>>> format_range(0.0123, 0.0145), format_range(0.0009, 0.0011), format_range(49.01e-5, 49.02e-5)
('12.3 to 14.5 ms', '900 µs to 1.1 ms', '490.1 to 490.2 µs')
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
SECONDS = {"s": 1, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}
PREFIXES = {"P": 1e15, "T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3, "": 1}
WORDS = {"trillion": 1e12, "billion": 1e9, "million": 1e6}


def format_seconds(seconds: float) -> str:
    """A time with three digits and the unit that suits it.

    >>> [format_seconds(s) for s in (0, 0.00000123, 0.0456, 1.5, 999.7)]
    ['0 s', '1.23 µs', '45.6 ms', '1.5 s', '1000 s']
    """
    if seconds == 0:
        return "0 s"
    return _scaled(seconds, SECONDS)


def format_duration(seconds: float) -> str:
    """How long a person waits: minutes and hours, once there are two of them.

    >>> [format_duration(s) for s in (0, 3.21, 300, 6_660, 10_000, float("inf"))]
    ['0 s', '3.21 s', '5 minutes', '110 minutes', '2.8 hours', 'any length']
    """
    if seconds == float("inf"):
        return "any length"
    if seconds < 120:
        return format_seconds(seconds)
    minutes = float(f"{seconds / 60:.2g}")  # as "110", and not as "1.1e+02"
    return f"{minutes:g} minutes" if seconds < 7200 else f"{seconds / 3600:.2g} hours"


def spanned(low: str, high: str) -> str:
    """Two texts with their unit once.

    >>> spanned("5 minutes", "15 minutes"), spanned("50 s", "2 minutes")
    ('5 to 15 minutes', '50 s to 2 minutes')
    """
    alike = low.split()[1:] == high.split()[1:]
    return f"{low.split()[0] if alike else low} to {high}"


def format_range(low: float, high: float) -> str:
    """Two times with one unit where they share it, and more digits where these would be alike."""
    (start, unit), (end, last) = (format_seconds(each).split() for each in (low, high))
    if unit != last:
        return f"{start} {unit} to {end} {last}"
    if start == end and low != high:
        start, end = (f"{each / SECONDS[unit]:.5g}" for each in (low, high))
    return f"{start} to {end} {unit}"


def times(factor: float) -> str:
    """A factor, or a price, with two digits and no exponent.

    >>> [times(factor) for factor in (0.6402, 2.07, 99.7, 187.3, 24_440)]
    ['0.64', '2.1', '100', '190', '24,000']
    """
    if factor == float("inf"):
        return "any number of"
    rounded = float(f"{factor:.2g}")  # "{:.2g}" alone writes 190 as 1.9e+02
    return f"{rounded:,.0f}" if abs(rounded) >= 10 else f"{rounded:g}"


def format_bytes(count: float) -> str:
    """A number of bytes with three digits and the unit that suits it."""
    return format_rate(round(count), "B")


def format_rate(value: float, unit: str) -> str:
    """A rate with three digits and the prefix that suits it."""
    return _scaled(value, PREFIXES) + unit


def format_count(count: float) -> str:
    """A large count with three digits and the word for its size; a billion has nine zeros."""
    return _scaled(count, WORDS) if count >= 999_500 else f"{count:,.0f}"


def _scaled(value: float, units: dict[str, float]) -> str:
    """A value in the first unit that it fills, or else in the last, with three digits."""
    unit = next((unit for unit, size in units.items() if value / size >= 0.9995), [*units][-1])
    value /= units[unit]
    return f"{value:.3g} {unit}" if value < 999.5 else f"{value:.0f} {unit}"


def percent(share: float) -> str:
    """A share as a percentage, with the blank before the sign."""
    return f"{100 * share:.0f} %" if share >= 0.095 else f"{100 * share:.1g} %"


def wrapped(text: str, lead: str = "", indent: int = 0, width: int = 96) -> str:
    """A text in lines, the first behind a lead and the others indented; words stay whole."""
    fill = textwrap.TextWrapper(width, lead, " " * indent)
    fill.break_long_words = fill.break_on_hyphens = False
    return fill.fill(text)


def html_card(caption: str, rows: Iterable[tuple[str, str]]) -> str | None:
    """A small table for a notebook: a caption, and a row for each pair of label and text."""
    return fragment(
        "data/templates/card/card",
        caption,
        [(label, " ".join(text.split())) for label, text in rows],
    )


def marked(text: str) -> str:
    """Escape a text for HTML and set what stands in backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))


def linked(sources: Sequence[str]) -> str:
    """Sources as HTML: what is an address becomes a link, the name of a lesson stays text."""
    return "; ".join(
        f'<a href="{html.escape(source)}">{html.escape(short(source))}</a>'
        if source.startswith("https://")
        else marked(source)
        for source in sources
    )


def short(address: str) -> str:
    """An address as a person reads it: a long one by its host and by how it ends."""
    text = address.removeprefix("https://").removeprefix("www.").rstrip("/")
    if len(text) <= LONGEST:
        return text
    host = text.partition("/")[0]
    end = text[len(host) - LONGEST :]
    return f"{host}/…{re.sub('^[^-/]*(?=[-/])', '', end)}"  # from the beginning of a word on


def shown(value) -> str:
    """The beginning of a value in one line, also where it cannot be printed."""
    try:
        return f"{' '.join(repr(value).split()):.60}"
    except Exception:  # such as a whole number with thousands of digits
        return f"something of type {type(value).__name__}"


def fragment(place: str, *values) -> str | None:
    """The HTML that a macro, "folder/file/macro", makes of values; None without Jinja2."""
    name, _, macro = place.rpartition("/")
    try:
        found = template(f"{name}.html")
    except ImportError:
        return None
    return "".join(line.strip() for line in getattr(found.module, macro)(*values).split("\n"))


@functools.cache
def template(name: str):
    """A template of the package, by its path; it escapes values. ImportError without Jinja2."""
    import jinja2
    from markupsafe import Markup

    loader = jinja2.PackageLoader("accel_helpers", "")
    made = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    made.filters["marked"] = lambda text: Markup(marked(text))
    made.filters["linked"] = lambda sources: Markup(linked(sources))
    return made.get_template(name)
