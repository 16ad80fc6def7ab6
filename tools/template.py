"""The templates in tools/templates/, filled in."""

from pathlib import Path

import jinja2

FOLDER = Path(__file__).with_name("templates")
MADE = jinja2.Environment(
    loader=jinja2.FileSystemLoader(FOLDER),
    autoescape=jinja2.select_autoescape(["html.j2"]),
    trim_blocks=True,
    lstrip_blocks=True,
)


def fill(name: str, **given) -> str:
    """Give the text of a template, such as "chips.md.j2"; what is HTML escapes what it is given."""
    return MADE.get_template(name).render(given)
