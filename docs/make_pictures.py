"""Make the pictures of the documentation, and fill in what the blocks of its pages print.

Usage::

    python docs/make_pictures.py                             # everything: about ten minutes
    python docs/make_pictures.py tutorial ex03_singular_poses spencer-five-bar-2
    python docs/make_pictures.py tutorial --outputs          # and write into the page what it prints

A picture has the name of what it is made from, and belongs to what shows it:

* **pages**: the Python blocks of a page run in order, in one namespace. A line ``![...](pictures/NAME.png)`` behind a
  block shows the figure that is the last expression of the block, and a fence ``text`` right behind it what the block
  prints. Blocks behind the last of both are not run.
* **the gallery**: its blocks run each by itself; what they draw is a card, ``pictures/NAME-card.png``.
* **examples**: ``fig`` of ``examples/NAME.py``, when it has run, is ``pictures/NAME.png``.
* **experiments**: ``pictures/EXPERIMENT.FIGURE.png`` in a page is a figure of ``cmbcontrol experiment EXPERIMENT``.
* **the first page**: some machines of the catalogue, ``landing.png``.

Nothing in a picture depends on the day or on the folder; the same version of matplotlib makes the same bytes.
"""

from __future__ import annotations

import argparse
import ast
import re
import runpy
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import chdir, redirect_stdout
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
from matplotlib.figure import Figure
from PIL import Image

from cmbcontrol import papers, plants
from cmbcontrol.plot.figure import new_figure, unregistered
from cmbcontrol.scene import scene

DOCS = Path(__file__).resolve().parent
PICTURES = DOCS / "pictures"
EXAMPLES = DOCS.parent / "examples"

# Two pixels for each of a page (96 an inch): sharp on screens with small pixels.
DPI = 192
# A palette of as many colours makes a picture a third as large. It covers colours of small spots, too.
COLORS, PALETTE = 256, Image.Quantize.MAXCOVERAGE

# Pages whose blocks are each to run by itself, as a reader copies one of them.
APART = ("gallery",)

# What counts in a page: blocks, and behind them what they print and draw. Pictures may be in a directive, too.
PART = re.compile(
    r"^```python\n(?P<block>.*?)^```$"
    r"|^```text\n(?P<output>.*?)^```$"
    r"|^(?:!\[[^\]]*\]\(|:*`*\{(?:picture|figure|image)\} )pictures/(?P<picture>[\w.-]+)\.png[^\n]*$",
    re.M | re.S,
)


class Ran(NamedTuple):
    """What a block printed, and the value of its last expression."""

    printed: str
    value: Any


def pages() -> list[str]:
    """Names of all pages."""
    return sorted(path.stem for path in DOCS.glob("*.md"))


def examples() -> list[str]:
    """Names of all examples."""
    return sorted(path.stem for path in EXAMPLES.glob("ex*.py"))


def pictures_of(page: str) -> list[str]:
    """Names of the pictures that a page shows, in order."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    return [part["picture"] for part in PART.finditer(text) if part["picture"]]


def run_block(block: str, names: dict[str, Any], page: str) -> Ran:
    """Run a block in a namespace."""
    tree = ast.parse(block)
    last = (
        tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    )
    with redirect_stdout(StringIO()) as printed:
        exec(compile(tree, page, "exec"), names)
        value = (
            None
            if last is None
            else eval(compile(ast.Expression(last.value), page, "eval"), names)
        )
    return Ran(printed.getvalue(), value)


def parts_of(page: str) -> Iterator[re.Match[str]]:
    """Blocks of a page with their outputs and pictures, in order; without what is made from something else."""
    elsewhere = {*examples(), "landing"}
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    end = -1  # of the block and what belongs to it
    for part in PART.finditer(text):
        if part["picture"]:
            if part["picture"] in elsewhere or "." in part["picture"]:
                continue
        elif part["output"] is not None and (
            end < 0 or text[end : part.start()].strip()
        ):
            continue  # behind words: some other text
        end = part.end()
        yield part


def run_page(page: str) -> Iterator[tuple[re.Match[str], Ran]]:
    """Each picture and output of a page, with what the block before it made."""
    parts = list(parts_of(page))
    while parts and parts[-1]["block"] is not None:
        parts.pop()
    names: dict[str, Any] = {"__name__": "page"}
    ran = Ran("", None)
    for part in parts:
        if part["block"] is None:
            yield part, ran
        else:
            if page in APART:
                names = {"__name__": "page"}
            ran = run_block(part["block"], names, f"{page}.md")


def make_page(page: str, outputs: bool) -> list[Path]:
    """Make the pictures of a page; with `outputs`, write what it prints into it."""
    made, text, at = [], [], 0
    source = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    with (
        tempfile.TemporaryDirectory() as folder,
        chdir(folder),
        unregistered(),
    ):  # blocks write files
        for part, ran in run_page(page):
            if part["picture"]:
                if not isinstance(ran.value, Figure):
                    raise SystemExit(
                        f"{page}.md: the block before {part['picture']} does not end with a figure"
                    )
                made.append(save(ran.value, part["picture"]))
            else:
                text += [source[at : part.start("output")], ran.printed]
                at = part.end("output")
    if outputs and at:
        (DOCS / f"{page}.md").write_text("".join(text) + source[at:], encoding="utf-8")
    return made


def make_example(name: str) -> list[Path]:
    """Make the picture of an example: its figure, when it has run."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        return [save(runpy.run_path(str(EXAMPLES / f"{name}.py"))["fig"], name)]


def make_experiment(name: str) -> list[Path]:
    """Make the pictures of an experiment that pages show."""
    shown = [
        picture.split(".")
        for page in pages()
        for picture in pictures_of(page)
        if "." in picture
    ]
    report = papers.run(name)
    with unregistered():
        return [
            save(report.figures[figure](), f"{name}.{figure}")
            for whose, figure in shown
            if whose == name
        ]


def make_landing() -> list[Path]:
    """Make the picture of the first page."""
    with unregistered():
        return [save(landing(), "landing")]


def landing() -> Figure:
    """Some machines of the catalogue."""
    drawn = new_figure(7.2, 4.4)
    # Those in space, in the lower row, need more room.
    places = drawn.add_gridspec(2, 3, height_ratios=(1.0, 1.5))
    for i, name in enumerate(
        ("excavator", "loader", "two-arms", "delta", "stewart", "bricard")
    ):
        plant, q, _ = plants.catalogue[name].start()
        flat = scene(plant).plane is not None
        ax = drawn.add_subplot(places[divmod(i, 3)], projection=None if flat else "3d")
        plant.plot(q, ax=ax)
        ax.set_axis_off()
        ax.set_anchor("N")
        ax.set_title(name, fontsize=9)
    return drawn


def save(figure: Figure, name: str) -> Path:
    """Write a figure with a palette, without dates and versions."""
    stream = BytesIO()
    figure.savefig(stream, format="png", dpi=DPI, metadata={"Software": None})
    picture = (
        Image.open(stream)
        .convert("RGB")
        .quantize(COLORS, PALETTE, dither=Image.Dither.NONE)
    )
    PICTURES.mkdir(exist_ok=True)
    path = PICTURES / f"{name}.png"
    picture.save(path, optimize=True, dpi=(DPI, DPI))
    return path


def main(arguments: Sequence[str] | None = None) -> None:
    """Make what is named, or everything."""
    matplotlib.use("agg")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "names",
        nargs="*",
        help="pages, examples, experiments, landing; all unless given",
    )
    parser.add_argument(
        "--outputs", action="store_true", help="write what blocks print into the pages"
    )
    given = parser.parse_args(arguments)
    shown = {picture for page in pages() for picture in pictures_of(page)}
    experiments = sorted({picture.split(".")[0] for picture in shown if "." in picture})
    for name in given.names or ["landing", *examples(), *pages(), *experiments]:
        if name == "landing":
            made = make_landing()
        elif name in examples():
            made = make_example(name)
        elif name in papers.EXPERIMENTS:
            made = make_experiment(name)
        elif name in pages():
            made = make_page(name, given.outputs)
        else:
            raise SystemExit(f"there is no page, example or experiment {name!r}")
        for path in made:
            print(f"{path.relative_to(DOCS)}  {path.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
