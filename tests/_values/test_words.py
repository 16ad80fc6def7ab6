"""What is shown to people."""

import sys

from accel_helpers._values import words


def test_a_card_has_its_text_form_only_where_there_is_no_jinja2(monkeypatch):
    assert "<table" in words.html_card("Sizes", [("a", "b")])
    monkeypatch.setitem(sys.modules, "jinja2", None)
    words.template.cache_clear()
    assert words.html_card("Sizes", [("a", "b")]) is None
