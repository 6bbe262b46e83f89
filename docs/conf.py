"""Sphinx settings."""

import os

os.environ["NUMBA_DISABLE_JIT"] = "1"  # kernels as plain functions, with their signatures

from docutils import nodes

import cmbcontrol

project = "cmbcontrol"
author = "The cmbcontrol developers"
copyright = f"2026, {author}"
release = version = cmbcontrol.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"cmbcontrol {release}"

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

autodoc_default_options = {"members": True}
autosummary_generate = False  # tables of entries that have their page already
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings say types and shapes
suppress_warnings = ["ref.python"]  # shapes such as (nq,) in docstrings are no references
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False


def bars_are_bars(app, what, name, obj, options, lines):
    """|x| in a docstring is an absolute value, not a substitution of reStructuredText."""
    lines[:] = [line.replace("|", r"\|") for line in lines]


def link_names(app, doctree, page):
    """Link `simulate`, `cmb.simulate` or `simulate(...)` in the prose to the reference.

    A name links to its one entry; a name that two entries share (`modes`) has to be written with its module
    (`plot.modes`).
    """
    if page.startswith("reference/"):
        return
    entries: dict[str, list] = {}
    for name, entry in app.env.domains["py"].objects.items():
        if entry.objtype in ("class", "exception", "function", "data") and not entry.aliased:
            parts = name.split(".")
            for i in range(len(parts)):
                entries.setdefault(".".join(parts[i:]), []).append(entry)
    for literal in list(doctree.findall(nodes.literal)):
        name = literal.astext().partition("(")[0].removeprefix("cmb.")
        found = entries.get(name, [])
        if len(found) == 1 and not isinstance(literal.parent, nodes.reference):
            target = app.builder.get_relative_uri(page, found[0].docname) + "#" + found[0].node_id
            link = nodes.reference("", "", literal.deepcopy(), internal=True, refuri=target)
            literal.replace_self(link)


def setup(app):
    """Sphinx calls this."""
    app.connect("autodoc-process-docstring", bars_are_bars)
    app.connect("doctree-resolved", link_names)
