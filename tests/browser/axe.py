"""What breaks a rule of WCAG, in a page, by axe-core; which rules, says axe.toml."""

import tomllib
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe

RULES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
# Of the thousands of pieces of coloured code, one of each colour is enough.
PREPARE = """() => { const seen = new Set()
    for (const piece of document.querySelectorAll('.highlight span[class]'))
        seen.has(piece.className) ? piece.remove() : seen.add(piece.className)
    document.querySelectorAll('details').forEach(one => { one.open = true }) }"""


def violations(page, context=None):
    """Give what breaks a rule, with the elements that do; of the whole page, or of a context."""
    found = Axe().run(page, context=context, options=RULES["options"])
    assert len(found.response["passes"]) > 3, "it saw a page"
    return found.response["violations"]
