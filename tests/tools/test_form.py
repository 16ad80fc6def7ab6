"""The lessons are in form; each slip that authors make is found, and mended if it can be."""

import form
import lesson
import pytest
import repair
from example import PIXEL, cell, displayed, printed
from nbformat.v4 import new_output

PATH = next(lesson.LESSONS.glob("03_*.ipynb"))
STDERR = new_output("stream", name="stderr", text="W0000 oneDNN\n")
ERROR = new_output("error", ename="ValueError", evalue="no", traceback=["no"])
FIGURE = displayed({"image/png": PIXEL, "text/plain": "<Figure size 64x48>"})
BADGE = lesson.badge(lesson.Stamp("a/b", "main"), PATH.name)
# What may go wrong, by the cell: a measuring one, one that does not, and prose.
MENDED = [
    ("quiz", {"id": "a4abbe1d"}),
    ("quiz", {"metadata": {"execution": {"iopub.status.busy": "2026"}}}),
    ("a4887b72", {"source": lesson.setup_source(lesson.UNSTAMPED, "07")}),
    ("op-intro", {"source": BADGE}),
]
LEFT = [
    ("87992873", {"source": "# A title, and none of its lines"}),
    ("a4887b72", {"metadata": {}}),
    ("a4abbe1d", {"outputs": [ERROR]}),
    ("a4abbe1d", {"outputs": [STDERR]}),
    ("a4abbe1d", {"execution_count": 9}),
    ("a4abbe1d", {"source": "print(1)\n" * 11}),
    ("a4abbe1d", {"source": f"print({'1' * 80})"}),
    ("a4abbe1d", {"outputs": [FIGURE]}),
    ("op-twice", {"outputs": [printed("by hand")]}),
    ("measured", {"source": "No line of the machine."}),
    ("op-intro", {"source": "![](a.png)"}),
    ("op-intro", {"source": '<img src="a.png">'}),
    ("op-intro", {"source": "Too many words. " * 400}),
    ("5047d71b", {"source": "No hint."}),
    ("7cfd6fd0", {"source": "answer = ..."}),
    ("take-away", {"metadata": {}}),
    ("take-away", {"source": "import accel_helpers"}),
]


@pytest.mark.parametrize(("name", "slip"), MENDED + LEFT)
def test_a_slip_is_found_and_mended_where_that_needs_no_author(name, slip):
    text = lesson.read(PATH)
    assert form.check(text, PATH) == []
    nb = lesson.parse(text)
    cell(nb, name).update(slip)
    assert form.check(lesson.dump(nb), PATH)
    mended = repair.fix(lesson.dump(nb), PATH)
    assert (form.check(mended, PATH) == []) == ((name, slip) in MENDED)
