"""What is folded away in a page, opened as a reader opens it."""


def opened_by_a_click(page, within="body"):
    """Click every folding of a page open; each must be closed, and hold its text and no other."""
    foldings = page.locator(f"{within} details")
    for place in range(foldings.count()):
        folding = foldings.nth(place)
        summary, text = folding.locator("> summary"), folding.locator("> :not(summary)").first
        what = summary.text_content()
        assert folding.get_attribute("open") is None, f"{what!r} is closed at first"
        assert text.count() == 1, f"{what!r} has its text inside"
        assert not text.is_visible(), f"{what!r} shows nothing before the click"
        summary.click()
        assert text.is_visible(), f"{what!r} shows its text after the click"
    return foldings.count()
