"""Sphinx settings."""

import os

os.environ["NUMBA_DISABLE_JIT"] = "1"  # kernels as plain functions, with their signatures

import cmbcontrol

project = "cmbcontrol"
author = "The cmbcontrol developers"
copyright = f"2026, {author}"
release = version = cmbcontrol.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"cmbcontrol {release}"

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

autodoc_default_options = {"members": True}
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings say types and shapes
suppress_warnings = ["ref.python"]  # shapes such as (nq,) in docstrings are no references
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False


def bars_are_bars(app, what, name, obj, options, lines):
    """|x| in a docstring is an absolute value, not a substitution of reStructuredText."""
    lines[:] = [line.replace("|", r"\|") for line in lines]


def setup(app):
    """Sphinx calls this."""
    app.connect("autodoc-process-docstring", bars_are_bars)
