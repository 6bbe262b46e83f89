"""Sphinx settings."""

import os
import sys
from pathlib import Path

os.environ["NUMBA_DISABLE_JIT"] = (
    "1"  # kernels as plain functions, with their signatures
)
sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import cmbcontrol

project = "cmbcontrol"
author = "The cmbcontrol developers"
copyright = f"2026, {author}"
release = version = cmbcontrol.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    # our own, in _ext
    "back_links",
    "equation_map",
    "mathml",
    "names",
    "notebooks",
    "picture",
    "sharp",
]
exclude_patterns = ["_build", "_inventories"]
html_theme = "furo"
html_theme_options = {  # furo chooses between them: by the reader's system, by hand, and light on paper
    "light_css_variables": {"picture-edge": "0"},
    "dark_css_variables": {"picture-edge": "min(0.7rem, 1.5vw)"},
}
html_title = f"cmbcontrol {release}"
html_static_path = ["_static"]
html_css_files = ["cmbcontrol.css"]
html_math_renderer = "mathml"
html_show_search_summary = False  # browsers do not let a page of a disk read the others

myst_enable_extensions = ["attrs_block", "colon_fence", "dollarmath"]
myst_heading_anchors = 3

autodoc_default_options = {"members": True}
autosummary_generate = False  # tables of entries that have their page already
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings say types and shapes
python_maximum_signature_line_length = 88  # one argument a line where all do not fit
suppress_warnings = [
    "ref.python"
]  # shapes such as (nq,) in docstrings are no references
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

viewcode_line_numbers = True
copybutton_exclude = (
    ".linenos, .gp, .go"  # of doctests and consoles the input alone, without prompts
)

# Lists of what we name there: the build needs no network (see _inventories/README.md).
intersphinx_mapping = {
    "control": (
        "https://python-control.readthedocs.io/en/stable/",
        "_inventories/control.txt",
    ),
    "matplotlib": ("https://matplotlib.org/stable/", "_inventories/matplotlib.txt"),
    "numpy": ("https://numpy.org/doc/stable/", "_inventories/numpy.txt"),
    "scipy": ("https://docs.scipy.org/doc/scipy/", "_inventories/scipy.txt"),
    "xarray": ("https://docs.xarray.dev/en/stable/", "_inventories/xarray.txt"),
}

linkcheck_ignore = [
    r"https?://"
]  # other hosts come and go; what is in these pages is checked


def bars_are_bars(app, what, name, obj, options, lines):
    """|x| in a docstring is an absolute value, not a substitution of reStructuredText."""
    lines[:] = [line.replace("|", r"\|") for line in lines]


def setup(app):
    """Sphinx calls this."""
    app.connect("autodoc-process-docstring", bars_are_bars)
