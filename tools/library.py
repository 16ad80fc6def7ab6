"""Writes docs/library.md, every public name in a line, from the docstrings; --check compares."""

import inspect
import sys
from pathlib import Path

import accel_helpers as ah

PAGE = Path(__file__).resolve().parents[1] / "docs" / "library.md"
HEAD = """# Every public name

`import accel_helpers as ah`, then `ah.timing.compare`: made from the docstrings by
`.venv/bin/python tools/library.py`, and held by `make lint`. `help(ah.timing.compare)` says more.
What is not named here may change without notice.
"""


def page() -> str:
    """The page as the docstrings have it now."""
    lines = [HEAD]
    for module in ah.__all__:
        if module != "__version__":
            home = getattr(ah, module)
            lines += [f"## {module}", *(row(module, home, name) for name in home.__all__), ""]
    return "\n".join(lines).rstrip() + "\n"


def row(module: str, home, name: str) -> str:
    """A public name and the first line of its docstring; a constant says its type."""
    value = getattr(home, name)
    constant = f"A constant, of type {type(value).__name__}."
    said = inspect.getdoc(value).splitlines()[0] if callable(value) else constant
    return f"* `{module}.{name}`: {said}"


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        if PAGE.read_text("utf-8") != page():
            sys.exit("docs/library.md is not what the docstrings say: run tools/library.py")
    else:
        PAGE.write_text(page(), "utf-8")
