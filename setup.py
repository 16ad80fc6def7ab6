"""The package's page. Everything else about the package is in pyproject.toml.

README.md leads to its neighbours by paths, which the page of a package index cannot follow. So
they become addresses here, once `make stamp` has written into pyproject.toml where this copy lives.
"""

import re
import tomllib
from pathlib import Path

from setuptools import setup

HERE = Path(__file__).resolve().parent
# A Markdown link or picture, or an <img>, that leads to a file of the repository.
PATH = re.compile(r'(?P<before>\]\(|src=")(?!https?:|#)(?P<path>[^)"\s]+)')


def package_page():
    """Give the README with addresses in place of its paths; without a stamp, as it is."""
    text = (HERE / "README.md").read_text("utf-8")
    metadata = tomllib.loads((HERE / "pyproject.toml").read_text("utf-8"))
    urls = metadata["project"].get("urls")
    if urls is None:
        return text
    # .../blob/main/CHANGELOG.md; a picture is shown by its raw file alone
    root = urls["Changelog"].removesuffix("CHANGELOG.md")

    def addressed(found):
        address = root + found["path"]
        if found["path"].endswith(".png"):
            address += "?raw=true"
        return found["before"] + address

    return PATH.sub(addressed, text)


setup(long_description=package_page(), long_description_content_type="text/markdown")
