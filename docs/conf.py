"""Sphinx: the course as pages. `make site` stages what it reads, see tools/make_site.py."""

import sys
from pathlib import Path

import accel_helpers as ah

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
# The pages name what a learner types, `ah.timing.compare`; autodoc asks Python's own importer.
sys.modules["ah"] = ah
sys.modules |= {f"ah.{name}": getattr(ah, name) for name in ah.__all__ if name != "__version__"}

project = "GPUs and TPUs in Colab: is it worth it for your model?"
html_title = "GPUs and TPUs in Colab"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
extensions += ["terms", "book"]
nb_execution_mode = "off"
nb_merge_streams = True
nb_number_source_lines = False
myst_enable_extensions = ["colon_fence", "html_image", "deflist"]
myst_heading_anchors = 4
myst_links_external_new_tab = False
default_role = "code"  # as the docstrings mean it
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the texts say what a parameter takes
napoleon_google_docstring = False
copybutton_exclude = ".linenos, .gp, .go"
suppress_warnings = [
    "myst.header",  # a lesson's questions begin below its title's level
    "mystnb.unknown_mime_type",
]
html_theme = "sphinx_book_theme"
html_static_path = ["_static"]
html_css_files = ["course.css", "print.css"]
html_js_files = ["failures.js"]
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
html_theme_options = {
    "use_download_button": False,
    "use_fullscreen_button": False,
    "show_navbar_depth": 1,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "toc_title": "On this page",
}

author = epub_publisher = "the course's authors"
copyright, language, version = "MIT licence", "en", ah.__version__
epub_basename, epub_title = "course", project
epub_identifier = epub_uid = "gpus-and-tpus-in-colab"
epub_cover = ("_images/is-it-worth-it.png", "epub-cover.html")
epub_show_urls, epub_tocdepth, epub_tocscope = "no", 2, "includehidden"
epub_use_index = html_use_index = False
epub_exclude_files = ["_static/print.css", "_static/failures.js"]
