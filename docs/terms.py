"""Sphinx: a term's first use in a lesson leads to its glossary entry and shows how that begins."""

import re

from docutils import nodes

GLOSSARY, LESSON, STEP = "docs/glossary", "notebooks/", "term-training-step"
# Lessons in which a word means something else than the glossary says.
ELSEWHERE = {"06_inside_a_tpu": {STEP, "term-stream"}, "07_inside_a_gpu": {"term-crossing"}}
ELSEWHERE |= dict.fromkeys(["01_enable_the_gpu", "10_build_and_refine", "11_exam_review"], {STEP})
# Headings, links, code and what code has put out are left alone.
QUIET = (nodes.title, nodes.reference, nodes.literal, nodes.FixedTextElement, nodes.container)
QUIET += (nodes.raw, nodes.term)


class term_link(nodes.reference):
    """A link to the glossary, with the first sentence of the entry."""

    def html(self, node):
        """Write the beginning of the link."""
        said = {"href": node["refuri"], "class": "term", "data-tip": node["tip"]}
        self.body.append(self.starttag(node, "a", "", **said))


def link(part, known, page, done):
    """Link the first use below a heading of every term that is not done yet."""
    # A term in the plural, too, and in any case if it has no capitals.
    either = (
        f"({'(?i:' * name.islower() or '(?:'}{re.escape(name)}(?:e?s)?))" for name, *_ in known
    )
    names = re.compile(rf"(?<![\w.-])(?:{'|'.join(either)})(?![\w-])".replace(r"\ ", r"\s+"))
    for text in list(part.findall(nodes.Text)):
        above, at, pieces = [text.parent], 0, []
        while above[-1].parent:
            above.append(above[-1].parent)
        below = sum(isinstance(node, nodes.section) for node in above) > 1
        quiet = any(isinstance(node, QUIET) for node in above)
        for match in names.finditer(text) if below and not quiet else ():
            _, anchor, tip = known[match.lastindex - 1]
            if anchor not in done:
                done.add(anchor)
                to = term_link("", match[0], refuri=f"{page}#{anchor}", tip=tip)
                pieces += [nodes.Text(text[at : match.start()]), to]
                at = match.end()
        text.parent.replace(text, [*pieces, nodes.Text(text[at:])])


def resolved(app, doctree, docname):
    """Link the terms of a lesson, and in the glossary those of every entry."""
    known, page = [], app.builder.get_relative_uri(docname, GLOSSARY)
    for item in app.env.get_doctree(GLOSSARY).findall(nodes.definition_list_item):
        tip = re.match(r".*?[.?](?=\s|$)", item[-1].astext(), re.S)[0]
        known += [(n.astext(), item[0]["ids"][0], tip) for n in item.findall(nodes.term)]
    known.sort(key=lambda entry: -len(entry[0]))
    if docname.startswith(LESSON):
        link(doctree, known, page, set(ELSEWHERE.get(docname.removeprefix(LESSON), ())))
    for item in doctree.findall(nodes.definition_list_item) if docname == GLOSSARY else ():
        link(item, known, page, {item[0]["ids"][0]})


def setup(app):
    """Tell Sphinx."""
    app.add_node(term_link, html=(term_link.html, lambda self, node: self.body.append("</a>")))
    app.add_css_file("terms.css")
    app.connect("doctree-resolved", resolved)
