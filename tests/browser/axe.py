"""What axe-core, the checker of web pages for accessibility, finds in a page.

The rules are those of the Web Content Accessibility Guidelines 2.0 to 2.2, levels A and AA.
"""

from axe_playwright_python.sync_playwright import Axe

LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
# In JupyterLab only what the course puts there is looked at: the text of a lesson and the outputs
# of its cells. Menus, tabs, toolbars, editors and prompts are JupyterLab's own. Pictures, too, are
# drawn by JupyterLab: the course sends a description with each, and JupyterLab 4.6 leaves it out.
# The pages of the report have it, and are looked at whole.
OURS = {
    "include": [[".jp-RenderedMarkdown"], [".jp-OutputArea-output"]],
    "exclude": [[".jp-RenderedImage img"]],
}
# The folded hints of a lesson are Markdown. How high such a line is, 22.4 pixels where the rule
# asks for 24, is settled by JupyterLab's style, and the rule excuses what an author left as it is.
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
    """Give what breaks a rule in the texts and outputs of the lesson that is open in JupyterLab.

    axe-core leaves out what it takes for hidden. So the page is made so high that nothing has to
    be scrolled, and its body, which is 0 pixels high there, is told not to hide what it holds.
    """
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
