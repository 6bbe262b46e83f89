"""Names in the prose become links: `simulate(...)`, `cmb.Body`, `ct.lqr`."""

from docutils import nodes
from sphinx.ext.intersphinx import InventoryAdapter

_SHORT = {
    "ct": "control",
    "np": "numpy",
    "xr": "xarray",
}  # as in the examples of the pages
_KINDS = ("class", "exception", "function", "data")


def _own_entries(env) -> dict[str, list]:
    """Entries of the reference by every ending of their address."""
    entries: dict[str, list] = {}
    for name, entry in env.domains["py"].objects.items():
        if entry.objtype in _KINDS and not entry.aliased:
            parts = name.split(".")
            for i in range(len(parts)):
                entries.setdefault(".".join(parts[i:]), []).append(entry)
    return entries


def _elsewhere(env, name: str) -> str | None:
    """The page of another library that describes this name."""
    first, _, rest = name.partition(".")
    name = f"{_SHORT.get(first, first)}.{rest}"
    for kind in (*_KINDS, "module"):
        item = InventoryAdapter(env).main_inventory.get(f"py:{kind}", {}).get(name)
        if item:
            return item.uri
    return None


def _of_others(literal) -> bool:
    """Whether a name stands in a column of names of another tool, headed ``there``."""
    cell = literal.parent
    while cell is not None and not isinstance(cell, nodes.entry):
        cell = cell.parent
    if cell is None:
        return False
    table = cell.parent.parent.parent  # of the row, of the body
    head = next(table.findall(nodes.thead), None)
    column = cell.parent.index(cell)
    return head is not None and head[0][column].astext() == "there"


def link_names(app, doctree, page):
    """Link names in literals to their one entry in the reference, or to the documentation of other libraries.

    A name that two entries share (`modes`) has to be written with its module (`plot.modes`).
    """
    if page.startswith("reference/"):
        return
    entries = _own_entries(app.env)
    for literal in list(doctree.findall(nodes.literal)):
        if isinstance(literal.parent, nodes.reference):
            continue
        name = literal.astext().partition("(")[0].removeprefix("cmb.")
        found = entries.get(name, [])
        if len(found) == 1 and not _of_others(literal):
            target = (
                app.builder.get_relative_uri(page, found[0].docname)
                + "#"
                + found[0].node_id
            )
            literal.replace_self(
                nodes.reference(
                    "", "", literal.deepcopy(), internal=True, refuri=target
                )
            )
        elif "." in name and (target := _elsewhere(app.env, name)):
            literal.replace_self(
                nodes.reference(
                    "", "", literal.deepcopy(), internal=False, refuri=target
                )
            )


def setup(app):
    """Sphinx calls this."""
    app.connect("doctree-resolved", link_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
