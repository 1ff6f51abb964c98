"""The site of `make docs`: these pages, and a reference made from the docstrings."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "site"))

from sphinx.application import Sphinx

import qten_gen

project = "qten-gen"
author = "the qten-gen authors"
copyright = author
version = release = qten_gen.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "llms", "playground", "torch_links"]
exclude_patterns = ["site"]
root_doc = "index"

html_theme = "furo"
html_title = "qten-gen"
# The theme's own choice underlines names of classes and modules, as if they were links.
pygments_dark_style = "monokai"
html_static_path = ["site/static"]
html_css_files = ["pages.css"]
# Readers of the sources have the repository.
html_copy_source = False
html_show_sourcelink = False

# Headings are linked to as they are on the pages of a repository.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "attrs_inline"]

# `name` in a docstring is code.
default_role = "code"
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False

# Sessions show errors and shortened output, which the highlighter takes for mistakes.
suppress_warnings = ["misc.highlighting_failure"]


def setup(app: Sphinx) -> None:
    app.connect("source-read", link_inside_the_site)


def link_inside_the_site(app: Sphinx, page: str, source: list[str]) -> None:
    """Pages link to files as they lie in the repository; one of them lies elsewhere in the site."""
    source[0] = source[0].replace("](../CONTRIBUTING.md)", "](contributing.md)")
