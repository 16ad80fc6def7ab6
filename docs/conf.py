"""Sphinx: the course as pages. `make site` stages what it reads, see tools/make_site.py."""

import sys
from pathlib import Path

import lesson  # of tools

import accel_helpers as ah

sys.path.insert(0, str(Path(__file__).parent))
# The pages name what a learner types, `ah.compare`: for autodoc that is a module, too.
sys.modules["ah.tpu"] = ah.tpu
sys.modules["ah"] = ah

project = html_title = "GPUs and TPUs in Colab"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
extensions += ["terms"]
nb_execution_mode, smartquotes = "off", False  # what is copied from a page must run
nb_merge_streams = True
nb_code_prompt_show, nb_code_prompt_hide = "Show the code", "Hide the code"
myst_enable_extensions = ["colon_fence", "html_image", "deflist"]
myst_heading_anchors = 4
default_role = "code"  # as the docstrings mean it
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the texts say what a parameter takes
autodoc_preserve_defaults = True
nb_render_markdown_format = "myst"  # what a cell says may hold a table
suppress_warnings = ["myst.header"]  # a lesson's questions begin below its title's level
html_theme = "sphinx_book_theme"
html_static_path, html_js_files = ["_static"], ["course.js"]
html_css_files = ["course.css", "print.css"]
html_copy_source = html_use_index = html_show_copyright = html_show_sphinx = False
# The search has its place beside the text, and a page is not to be had as a notebook.
html_theme_options = {"navbar_persistent": [], "toc_title": "On this page"}
html_theme_options |= {"use_download_button": False, "use_fullscreen_button": False}
(stamp, *_) = lesson.badge_stamps(lesson.read(lesson.ROOT / "README.md"))
if stamp != lesson.UNSTAMPED:
    html_theme_options |= {"use_repository_button": True, "use_issues_button": True}
    html_theme_options |= {"repository_url": f"https://github.com/{stamp.repository}"}

author = "the course's authors"
copyright, language, version = "MIT licence", "en", ah.__version__
