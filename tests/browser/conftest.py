"""The lesson that several tests use, open and run once; and a picture of every failure."""

from pathlib import Path

import lab
import pytest

LESSON = Path(__file__).resolve().parents[2] / "notebooks" / "03_time_a_keras_model.ipynb"


@pytest.fixture(scope="module")
def lesson(tmp_path_factory):
    """Open lesson 03 in JupyterLab and run all of it."""
    with lab.ran(LESSON, tmp_path_factory.mktemp("browser")) as lesson:
        yield lesson


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
