"""The directive ``equation-map``: a table of a paper's equations and the functions that have them."""

import equations
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective


def _short(address: str) -> str:
    """`Terms.P`, `constraint_force`: without the packages and modules around."""
    *around, last = address.split(".")
    kind = around[-1] if around[-1][0].isupper() else ""
    return f"{kind}.{last}" if kind else last


def rows(paper: str) -> list[tuple[str, str, list[str]]]:
    """Number, what it says, and the addresses of functions or the reason why there are none."""
    found = equations.by_equation()
    named = {
        number: addresses
        for (author, number), addresses in found.items()
        if author == paper
    }
    results = equations.table()[paper]["results"]
    unknown = [
        n
        for n in named
        if n not in results and not n.startswith(("section", "appendix"))
    ]
    if unknown:
        raise ExtensionError(
            f"docstrings name {paper}, {', '.join(unknown)}: say what they are in {equations.TABLE.name}"
        )
    made = []
    for number in sorted(results, key=equations.order):
        functions = [
            f"{{py:obj}}`{_short(address)} <{address}>`"
            for address in sorted(named.get(number, []), key=_short)
        ]
        made.append(
            (
                number,
                results[number]["is"],
                functions or [results[number].get("why", "")],
            )
        )
    return made


class EquationMap(SphinxDirective):
    """``equation-map`` with the name of a paper."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self):
        paper = self.arguments[0]
        lines = [
            f"{equations.table()[paper]['work']}.",
            "",
            "| | equation | here |",
            "|---|---|---|",
        ]
        for number, text, here in rows(paper):
            label = number.capitalize() if " " in number else f"({number})"
            lines.append(f"| {label} | {text} | {'; '.join(here)} |")
        self.env.note_reread()  # docstrings may have changed
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app):
    """Sphinx calls this."""
    app.add_directive("equation-map", EquationMap)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
