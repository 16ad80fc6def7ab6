"""What breaks a rule of WCAG 2.0 to 2.2, levels A and AA, in a page, by axe-core."""

from axe_playwright_python.sync_playwright import Axe

LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
# In JupyterLab only what the course puts there: the text of a lesson, the outputs of its cells. The
# course sends a description with each picture, and JupyterLab 4.6 leaves it out.
OURS = {
    "include": [[".jp-RenderedMarkdown"], [".jp-OutputArea-output"]],
    "exclude": [[".jp-RenderedImage img"]],
}
# How high a line of Markdown is, 22.4 pixels where the rule asks for 24, is JupyterLab's affair.
HINT = "target-size: <summary>Hint "


def violations(page, context=None):
    """Give what breaks a rule, one line for each element; of the whole page, or of a context."""
    options = {"runOnly": {"type": "tag", "values": LEVELS}}
    found = Axe().run(page, context=context, options=options).response
    texts = [
        node["html"]
        for rule in (*found["passes"], *found["violations"])
        for node in rule["nodes"]
        if rule["id"] == "color-contrast" and not node["html"].startswith("<input")
    ]
    assert len(texts) > 10, f"the texts were looked at, and not only {texts}"
    return [
        f"{rule['id']}: {node['html'][:200]}: {node['failureSummary'][:300]}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]


def violations_in_the_lab(page):
    """Give what breaks a rule in the texts and outputs of the lesson that is open in JupyterLab."""
    # axe-core leaves out what it takes for hidden: the page is made so high that nothing has to be
    # scrolled, and its body, which is 0 pixels high there, is told not to hide what it holds.
    before = page.viewport_size
    needed = page.evaluate("""() => {
        document.body.style.overflow = 'visible'
        return document.querySelector('.jp-WindowedPanel-outer').scrollHeight
    }""")
    try:
        page.set_viewport_size({**before, "height": needed + 200})
        page.wait_for_timeout(300)
        return [line for line in violations(page, OURS) if not line.startswith(HINT)]
    finally:
        page.set_viewport_size(before)
        page.evaluate("document.body.style.overflow = ''")
