"""What breaks a rule of WCAG 2.0 to 2.2, levels A and AA, in a page, by axe-core."""

from axe_playwright_python.sync_playwright import Axe

RULES = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
# In JupyterLab only what the course puts there: the text of a lesson, the outputs of its cells. The
# course sends a description with each picture, and JupyterLab 4.6 leaves it out.
IN_THE_LAB = {
    "include": [[".jp-RenderedMarkdown"], [".jp-OutputArea-output"]],
    # How high a line of Markdown is, 22.4 pixels where a rule asks for 24, is JupyterLab's affair.
    "exclude": [[".jp-RenderedImage img"], [".jp-RenderedMarkdown summary"]],
}
# Of the thousands of pieces of coloured code, one of each colour is enough.
PREPARE = """() => { const seen = new Set()
    for (const piece of document.querySelectorAll('.highlight span[class]'))
        seen.has(piece.className) ? piece.remove() : seen.add(piece.className)
    document.querySelectorAll('details').forEach(one => { one.open = true }) }"""


def violations(page, context=None):
    """Give what breaks a rule, one line for each element; of the whole page, or of a context."""
    found = Axe().run(page, context=context, options={"runOnly": RULES}).response
    assert len(found["passes"]) > 3, "it saw a page"
    return [
        f"{rule['id']}: {node['html'][:200]}: {node['failureSummary'][:300]}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]
