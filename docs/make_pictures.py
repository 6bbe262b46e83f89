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
* **the first page**: ``digging.svg``, which moves.
* **plants**: some machines of the catalogue each, ``plants-GROUP.png``.

Nothing in a picture depends on the day or on the folder; the same version of matplotlib makes the same bytes.
"""

from __future__ import annotations

import argparse
import ast
import re
import runpy
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import chdir, redirect_stdout
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from cmbcontrol import Frame, Mechanism, Sine, papers, plants, simulate
from cmbcontrol.controllers import PoseTask, ProjectedInverseDynamics
from cmbcontrol.errors import CmbWarning
from cmbcontrol.plot.figure import new_figure, unregistered
from cmbcontrol.plot.silhouette import silhouette
from cmbcontrol.scene import scene

DOCS = Path(__file__).resolve().parent
PICTURES = DOCS / "pictures"
EXAMPLES = DOCS.parent / "examples"

# Two pixels for each of a page (96 an inch): sharp on screens with small pixels.
DPI = 192
# A palette of as many colours makes a picture a third as large. It covers colours of small spots, too.
COLORS, PALETTE = 192, Image.Quantize.MAXCOVERAGE

# The moving picture: seconds of one turn, and frames of it.
TURN, FRAMES = 5.0, 60

# Pictures of the catalogue.
CATALOGUE = {
    "plants-plane": (
        *("five-bar", "three-rrr", "two-arms", "grasping-arms"),
        *("leg", "biped", "loader", "excavator"),
    ),
    "plants-space": ("stewart", "delta", "bricard", "governor"),
    "plants-books": (
        *("pendulum", "particle", "slider-crank", "parallel-four-bar"),
        *("parallelogram", "n-four-bar", "andrews", "valve-train"),
    ),
}

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
    elsewhere = {*examples(), *CATALOGUE}
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


def make_catalogue(name: str) -> list[Path]:
    """Make a picture of some machines of the catalogue, each where its motion starts."""
    names = CATALOGUE[name]
    seen = {plant: plants.catalogue[plant].start()[:2] for plant in names}
    flat = {
        plant: scene(machine).plane is not None for plant, (machine, _) in seen.items()
    }
    columns = 4 if all(flat.values()) else 2  # those in space need more room
    rows = -(-len(names) // columns)
    with unregistered():
        drawn = new_figure(7.2, (1.75 if columns == 4 else 2.7) * rows)
        for i, (plant, (machine, q)) in enumerate(seen.items(), 1):
            ax = drawn.add_subplot(
                rows, columns, i, projection=None if flat[plant] else "3d"
            )
            with warnings.catch_warnings(
                action="ignore", category=CmbWarning
            ):  # contacts open by intent
                machine.plot(q, ax=ax)
            ax.set_axis_off()
            ax.set_title(plant, fontsize=9)
        return [save(drawn, name)]


def make_digging() -> list[Path]:
    """Make the moving picture of the first page: one turn of an excavator whose teeth go round an ellipse."""
    machine, q0, _ = plants.catalogue["excavator"].start()
    teeth = Frame((1.45, 0.0, 0.0))
    task = PoseTask(machine, "bucket", teeth, axes=("x", "y", "rz"))
    here = task.value(machine.terms(q0, np.zeros(machine.nv)))
    turn = Sine(
        here - [0.9, 0.0, 0.0], [0.9, 0.5, 0.5], 1.0 / TURN, [np.pi / 2, np.pi, np.pi]
    )
    law = ProjectedInverseDynamics(machine, task, turn, bandwidth=6.0)
    run = simulate(
        machine, law, q0, t_end=2.0 * TURN, output_times=TURN / FRAMES, rtol=1e-8
    )
    title = "An excavator whose teeth go round an ellipse, moved by its three cylinders"
    path = PICTURES / "digging.svg"
    path.write_text(
        moving(machine, run.q.values[FRAMES:], "bucket", teeth.p, title),
        encoding="utf-8",
    )
    return [path]


def moving(
    machine: Mechanism,
    frames: np.ndarray,
    body: str,
    point: Sequence[float],
    title: str,
) -> str:
    """A planar machine that moves through configurations (frames, nq) again and again, as SVG with a point's path.

    Each shape is drawn once, in the axes of its body turned as in the first frame; CSS moves it. It is for the
    text of a page, not for an image: so readers who asked for less motion see the first frame.
    """
    seen = scene(machine)
    plane = list(seen.plane)
    eye = np.cross(*np.eye(3)[plane])
    poses = [seen.poses(q) for q in frames]
    places = np.array([p[:, plane] for p, _ in poses])
    starts = poses[0][1]
    turned = np.array([R @ np.swapaxes(starts, 1, 2) for _, R in poses])
    angles = np.unwrap(
        np.arctan2(turned[..., plane[1], plane[0]], turned[..., plane[0], plane[0]]),
        axis=0,
    )
    index = {name: i for i, name in enumerate(seen.bodies)}
    shapes = []
    for solid in seen.solids:
        i = index[solid.body]
        vertices, faces = np.asarray(solid.vertices), np.asarray(solid.faces)
        height = float((vertices @ starts[i].T @ eye).max() + poses[0][0][i] @ eye)
        loops = silhouette(vertices, faces, starts[i].T @ eye)
        outline = "".join(
            "M" + "L".join(f"{x:.3f} {y:.3f}" for x, y in loop @ starts[i].T[:, plane])
            + "Z"
            for loop in loops
        )  # fmt: skip
        shapes.append(
            (height, f'<path class="b{i}" fill="{solid.color}" d="{outline}"/>')
        )
    traced = np.array([
        machine.point(q, body, point)[plane] for q in frames
    ])  # fmt: skip
    corners = np.concatenate([seen.points(q)[:, plane] for q in frames])
    (left, low), (right, high) = corners.min(axis=0) - 0.2, corners.max(axis=0) + 0.2
    rules = []
    for i in sorted({index[solid.body] for solid in seen.solids}):
        steps = [
            f"translate({x:.3f}px,{y:.3f}px) rotate({a:.4f}rad)"
            for (x, y), a in zip(places[:, i], angles[:, i], strict=True)
        ]
        rules.append(f"#digging .b{i}{{transform:{steps[0]}}}")
        if len(set(steps)) > 1:
            keys = "".join(
                f"{100 * k / (len(steps) - 1):.4g}%{{transform:{step}}}"
                for k, step in enumerate(steps)
            )
            rules.append(
                f"#digging .b{i}{{animation:b{i} {TURN:g}s linear infinite}}@keyframes b{i}{{{keys}}}"
            )
    rules.append(
        "@media (prefers-reduced-motion:reduce){#digging path{animation:none!important}}"
    )
    parts = "\n".join(text for _, text in sorted(shapes, key=lambda shape: shape[0]))
    way = "L".join(f"{x:.3f} {y:.3f}" for x, y in traced)
    wide, tall = right - left, high - low
    box = f"{left:.3f} {-high:.3f} {wide:.3f} {tall:.3f}"
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" id="digging" role="img">
<title>{title}</title>
<style>{"".join(rules)}</style>
<g transform="scale(1 -1)" stroke="#222" stroke-width=".015" stroke-linejoin="round">
<path d="M{way}" fill="none" stroke="#888" stroke-width=".03" stroke-dasharray=".1 .08"/>
{parts}
</g>
</svg>
"""


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
        help="pages, examples, experiments, digging, groups of plants; all unless given",
    )
    parser.add_argument(
        "--outputs", action="store_true", help="write what blocks print into the pages"
    )
    given = parser.parse_args(arguments)
    shown = {picture for page in pages() for picture in pictures_of(page)}
    experiments = sorted({picture.split(".")[0] for picture in shown if "." in picture})
    for name in given.names or [
        "digging",
        *CATALOGUE,
        *examples(),
        *pages(),
        *experiments,
    ]:
        if name == "digging":
            made = make_digging()
        elif name in CATALOGUE:
            made = make_catalogue(name)
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
