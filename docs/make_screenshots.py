"""Pictures of the viewer for these pages: ``python -m docs.make_screenshots`` from the folder of the project.

It opens the pages of runs in Chromium without a network, as tests/viewer does, with the same code, and writes
docs/pictures/viewer/*.png. It needs playwright and Chromium.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

import cmbcontrol as cmb
from cmbcontrol import controllers, plants
from tests.viewer.conftest import FLAGS, NAMES, Page
from tests.viewer.runs import singular, touch_down, tracked

PICTURES = Path(__file__).parent / "pictures" / "viewer"
SIZE = (1200, 700)


def modes() -> cmb.LinearModel:
    """A five-bar that stands on springs."""
    springs = [
        cmb.JointSpring(f"{joint}_spring", joint, stiffness=400.0, rest=at)
        for joint, at in JOINTS
    ]
    plant = plants.five_bar().with_parts(springs=springs)
    point = cmb.trim(plant, plant.assemble(left=2.1, right=1.0))
    return cmb.linearize(plant, point, coordinates=("left", "right"))


def report() -> cmb.Simulation:
    """The run of the page on reports."""
    plant = plants.five_bar(effort=80.0)
    goal = cmb.Quintic([2.1, 1.0], [1.8, 1.3], duration=1.0)
    law = controllers.ProjectedInverseDynamics(
        plant, ("left", "right"), goal, bandwidth=8.0, period=1e-3
    )
    return cmb.simulate(plant, law, plant.assemble(left=2.15, right=0.95), t_end=1.5)


JOINTS = (("left", 2.1), ("right", 1.0))

# name: (what is shown, time in s, colour scheme)
SHOWN = {
    "five-bar": (lambda: tracked("five-bar", 4.0), 1.3, "light"),
    "loader": (lambda: tracked("loader", 4.0), 0.8, "light"),
    "delta": (lambda: tracked("delta", 4.0), 1.3, "light"),
    "stewart": (lambda: tracked("stewart", 10.0), 3.1, "light"),
    "two-arms": (lambda: tracked("two-arms", 4.0), 1.3, "light"),
    "excavator": (lambda: tracked("excavator", 4.0), 2.2, "light"),
    "leg": (touch_down, 0.25, "light"),
    "singular": (singular, 0.6, "dark"),
    "modes": (modes, 0.03, "light"),
}


def main(names: list[str]) -> None:
    """Make all pictures, or those named."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    path = next(filter(None, map(shutil.which, NAMES)))
    with sync_playwright() as driver, tempfile.TemporaryDirectory() as folder:
        browser = driver.chromium.launch(executable_path=path, args=list(FLAGS))
        if not names or "report" in names:
            file = Path(folder, "report.html")
            report().write_report(file)
            page = browser.new_page(viewport={"width": 1000, "height": 1100})
            page.goto(file.as_uri())
            page.wait_for_timeout(3000)  # until the machine is drawn
            picture = page.screenshot(path=PICTURES / "report.png")
            print(f"report.png: {len(picture) // 1000} kB")
        for name in [name for name in names or SHOWN if name != "report"]:
            make, t, scheme = SHOWN[name]
            thing, file = make(), Path(folder, f"{name}.html")
            cmb.view(thing, file)
            context = browser.new_context(
                viewport={"width": SIZE[0], "height": SIZE[1]}, color_scheme=scheme
            )
            context.set_offline(True)
            page = Page(context.new_page()).open(file)
            page.slide(t)
            page.page.wait_for_timeout(300)  # until it is drawn
            image = Image.open(BytesIO(page.page.screenshot())).convert("RGB")
            image.save(PICTURES / f"{name}.png", optimize=True)
            told = f"{file.stat().st_size / 1e6:.2f} MB, {page('document.documentElement.dataset.ready')} ms"
            print(f"{name}.png: page {told}, errors: {page.errors or 'none'}")
            context.close()
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
