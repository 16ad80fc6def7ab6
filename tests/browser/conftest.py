"""A picture of the page for every failure."""

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.when == "call" and report.failed:
        for given in getattr(item, "funcargs", {}).values():
            page = getattr(getattr(given, "lesson", given), "page", None)
            if page is not None:
                path = item.config._tmp_path_factory.mktemp("failure") / "page.png"
                page.screenshot(path=path)
                report.sections.append(("The page when it failed", str(path)))
                break
    return report
