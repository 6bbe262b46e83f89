"""What notebooks show: tables with names and units, a picture, and never an error."""

import base64
from html.parser import HTMLParser
from io import BytesIO

import numpy as np
import pytest
from matplotlib import pyplot
from PIL import Image

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.plot import html as module
from cmbcontrol.studies import study
from tests.fixtures import wire_bead


class Page(HTMLParser):
    """Texts of cells, pictures, and whether every tag is closed."""

    def __init__(self, text):
        super().__init__()
        self.cells, self.pictures, self.open, self.tags = [], [], [], set()
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag == "img":
            self.pictures.append(dict(attrs)["src"])
        else:
            self.open.append(tag)
            if tag in ("td", "th"):
                self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.cells[-1] += data


@pytest.fixture(scope="module")
def five_bar():
    plant = plants.five_bar(effort=80.0)
    return plant, cmb.trim(plant, plant.assemble(left=2.1, right=1.0))


def page(thing):
    text = thing._repr_html_()
    assert text.startswith("<div>")
    found = Page(text)
    assert found.tags <= {"div", "b", "table", "tr", "td", "th", "img", "p"}  # plain: it reads in any theme
    assert "color:" not in text.replace("background:#ffffff", "")
    return found


def test_a_machine_shows_its_mobility_motors_and_drawing(five_bar):
    found = page(five_bar[0])
    assert found.pictures and found.pictures[0].startswith("data:image/png;base64,")
    for cell in ("degrees of freedom", "2", "redundant rows", "none", "left", "80 N m"):
        assert cell in found.cells


def test_a_plant_of_functions_shows_its_tables():
    found = page(wire_bead())
    assert "coordinates" in found.cells


def test_a_run_shows_its_summary_and_a_plot(five_bar):
    plant, point = five_bar
    run = cmb.simulate(plant, [100.0, 0.0], point.q, t_end=0.1, output_times=0.05)
    found = page(run)
    assert len(found.pictures) == 1
    assert any("asks up to 100 N m of motor 'left' (limit 80 N m)" in cell for cell in found.cells)
    assert page(cmb.Simulation(run.data)).cells  # from a file, without a plant


def test_a_linear_model_shows_its_poles(five_bar):
    plant, point = five_bar
    lin = cmb.linearize(plant, point, coordinates=("left", "right"))
    found = page(lin)
    assert {"frequency (rad/s)", "damping ratio", "left (rad), right (rad)"} <= set(found.cells)
    values = [f"{mode.eigenvalue.real:.5g}" for mode in lin.damping()]
    assert set(values) <= set(found.cells) and found.pictures


def test_an_operating_point_shows_values_with_units(five_bar):
    _, point = five_bar
    found = page(point)
    assert found.pictures and {"left", f"{point.u[0]:.6g}", "N m", "39 % of its limit", "rad"} <= set(found.cells)
    bare = type(point)(None, point.q, point.v, point.u, point.lam, point.residuals)
    assert not page(bare).pictures


def test_a_study_shows_quantiles_failures_and_distributions():
    def case(x):
        if x > 0.9:
            raise ValueError("too large")
        return {"y": x, "<script>": 2.0 * x}

    found = study(case, {"x": (0.0, 1.0)}, runs=40)
    shown = page(found)
    assert {"measure", "y", "median", "40 of 40", "<script>"} <= set(shown.cells)  # escaped, or it would be a tag
    assert len(shown.pictures) == 1 and str(found.kinds["completed"]) in shown.cells
    assert page(study(lambda x: {"y": np.nan}, {"x": (0.0, 1.0)}, runs=3)).pictures == []


def test_long_tables_say_what_they_leave_out():
    plant, q0, v0 = plants.catalogue["n-four-bar"].start(n=40)
    found = page(cmb.OperatingPoint.at(plant, q0, v=v0))
    assert any("more: print(point)" in cell for cell in found.cells)


def test_names_are_escaped():
    rod = cmb.Body.rod("rod", 1.0, 1.0)
    joints = [cmb.Revolute("<b>&pivot", "ground", "rod")]
    plant = cmb.Mechanism("<i>rod", [rod], joints, actuators=[cmb.Actuator("<b>&pivot")])
    text = plant._repr_html_()
    assert "<i>" not in text and "&lt;b&gt;&amp;pivot" in text


def test_nothing_is_raised_warned_or_left_behind(five_bar, monkeypatch):
    plant, point = five_bar

    def fails(*_, **__):
        raise RuntimeError("broken")

    monkeypatch.setattr("cmbcontrol.linear.model.LinearModel.damping", fails)
    lin = cmb.linearize(plant, point)
    assert lin._repr_html_().startswith("<pre>LinearModel(name=&#x27;five-bar")
    assert module.html(object()).startswith("<pre>&lt;object")
    assert pyplot.get_fignums() == []


def test_the_picture_stands_alone_where_no_pages_are_shown(five_bar):
    """As when a notebook becomes a PDF; what has no picture has none."""
    plant, point = five_bar
    run = cmb.simulate(plant, None, point.q, t_end=0.05)
    for thing in (plant, point, run, cmb.linearize(plant, point)):
        shown = thing._repr_mimebundle_()
        assert set(shown) == {"text/html", "image/png"} and shown["image/png"] in shown["text/html"]
        with Image.open(BytesIO(base64.b64decode(shown["image/png"]))) as image:
            assert min(image.size) > 100
    found = study(lambda a: {}, {"a": [1.0, 2.0]})
    assert set(found._repr_mimebundle_()) == {"text/html"}
