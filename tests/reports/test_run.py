"""Reports of runs: what they say is what the run says, and nothing that a run may be stops them."""

import json
import re
from functools import cache

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import controllers, plants, report
from cmbcontrol.errors import InputError, InputTypeError, SimulationError

from ..viewer import runs
from ..viewer.conftest import browser as browser
from .reading import read

ALWAYS = [
    "In short",
    "Control law",
    "Signals",
    "Events",
    "Accuracy",
    "Linear model",
    "Closed loop",
    "Settings and versions",
]


def sections(run, folder, **options):
    return read(report(run, folder / "run.html", **options)).sections


def falling_mass():
    """A plant given by functions, without constraints and without a look."""
    none = np.zeros((0, 1))
    return cmb.FunctionPlant(
        "mass", ["z"], lambda q: np.eye(1), lambda q, v: np.full(1, 9.81), lambda q: none[:, 0], lambda q: none,
        lambda q, v: none[:, 0],
    )  # fmt: skip


@pytest.fixture(scope="module")
def tracked():
    plant = plants.five_bar(effort=80.0)
    goal = cmb.Constant([2.1, 1.0])
    law = controllers.ProjectedInverseDynamics(plant, ("left", "right"), goal, bandwidth=8.0, period=1e-3)
    return cmb.simulate(plant, law, plant.assemble(left=2.2, right=0.95), t_end=0.5)


@pytest.fixture(scope="module")
def told(tracked, tmp_path_factory):
    """What the report of it says."""
    return sections(tracked, tmp_path_factory.mktemp("tracked"), title="my robot")


@pytest.fixture
def undrawn(monkeypatch):
    """Reports with pictures that are empty."""
    monkeypatch.setattr("cmbcontrol.reports.page.svg", lambda figure: "")


def test_a_run_under_a_law(tracked, told):
    found = told
    assert [*found] == ["In short", "In motion", "Machine", *ALWAYS[1:]]
    assert found["In motion"]["frames"] == 1
    assert f"{tracked.max_drift:.1e} m" in found["In short"]["text"]
    assert "bandwidth: 8" in found["Control law"]["text"]
    assert [found[name]["pictures"] for name in ("Machine", "Signals", "Accuracy", "Linear model")] == [1, 4, 1, 1]
    masses = [float(row[-1]) for row in found["Machine"]["rows"] if row[0] in ("left_lower", "right_upper")]
    assert masses == [b.mass for b in tracked.plant.bodies if b.name in ("left_lower", "right_upper")]
    model = cmb.linearize(tracked.plant, cmb.trim(tracked.plant, tracked.q.values[-1]))
    poles = sorted(float(row[2].split()[0]) for row in found["Linear model"]["rows"] if row[0].isdigit())
    np.testing.assert_allclose(poles, sorted(model.poles().real), rtol=1e-4)
    loop = cmb.linearize_closed_loop(tracked.plant, tracked.provenance.call({})["controller"], tracked.q.values[-1])
    assert str(loop.margins()) in found["Closed loop"]["text"]
    assert cmb.__version__ in found["Settings and versions"]["text"]
    assert "t_end" in found["Settings and versions"]["text"]


@pytest.mark.slow
def test_the_machine_in_the_page_is_the_machine(tracked, told, tmp_path):
    text = re.search(r"(?s)name: five-bar.*", told["Machine"]["text"]).group()
    whole = re.search(r"(?s)format: cmbcontrol machine 1.*", told["Machine"]["text"]).group()
    assert text in whole
    (tmp_path / "again.yaml").write_text(whole)
    again = cmb.Mechanism.load(tmp_path / "again.yaml")
    q, v = tracked.q.values[3], tracked.v.values[3]
    np.testing.assert_array_equal(again.terms(q, v).M, tracked.plant.terms(q, v).M)


@pytest.mark.slow
def test_a_run_from_a_file_says_the_same(tracked, told, tmp_path, undrawn):
    loaded = cmb.load_run(tracked.save(tmp_path / "run.nc"))
    other = sections(loaded, tmp_path, title="my robot")
    assert {name: x["text"] for name, x in told.items()} == {name: x["text"] for name, x in other.items()}


@pytest.mark.slow
def test_a_reference_that_moves_leaves_the_loop_frozen(tmp_path, undrawn):
    plant = plants.five_bar()
    path = cmb.Sine([2.1, 1.0], 0.2, 0.5)
    law = controllers.ProjectedInverseDynamics(plant, ("left", "right"), path, bandwidth=8.0)
    run = cmb.simulate(plant, law, plant.assemble(left=2.1, right=1.0), t_end=0.2)
    text = sections(run, tmp_path)["Closed loop"]["text"]
    assert "as if it stood still" in text
    poles = [float(x) for x in re.findall(r"^\s+(-\d[\d.]*) ", text, re.M)]
    assert len(poles) >= 2 and np.abs(np.add(poles, 8.0)).max() < 1e-2  # double poles split by the root of rounding


@pytest.mark.slow
@pytest.mark.parametrize("make", ["free", "held", "function", "own plant", "singular", "contact"])
def test_all_kinds_of_runs(make, tmp_path):
    plant = plants.five_bar()
    q0 = plant.assemble(left=2.1, right=1.0)
    if make == "free":
        run = cmb.simulate(plant, q0=q0, t_end=0.1)
    elif make == "held":
        run = cmb.simulate(plant, cmb.trim(plant, q0).u, q0, t_end=0.1)
    elif make == "function":
        run = cmb.simulate(plant, lambda t, terms, state: [np.sin(t), 0.0], q0, t_end=0.1)
    elif make == "own plant":
        run = cmb.simulate(falling_mass(), q0=[0.0], t_end=0.1)
    elif make == "singular":
        run = cmb.simulate(plants.slider_crank(), q0=[1.2, -2.4], v0=[2.0, -4.0], t_end=0.5)
    else:
        leg, q, v = plants.catalogue["leg"].start() if "leg" in plants.catalogue else (plant, q0, np.zeros(4))
        run = cmb.simulate(leg, q0=q, v0=v, t_end=0.05)
    found = sections(run, tmp_path)
    assert set(ALWAYS) <= set(found)
    if make == "singular":
        told = [(row[0][:5], row[1].partition(", conditioning ")[0]) for row in found["Events"]["rows"]]
        assert ("0.197", "singular passage") in told
        assert "Singular configuration at 0.197" in found["Events"]["text"]
    if make == "function":
        assert "cannot be written down" in found["Control law"]["text"]
    assert json.dumps(found)  # all of it is text


@pytest.mark.slow
def test_what_was_computed_of_a_run_that_failed(tmp_path, undrawn):
    plant = plants.five_bar()

    def fails(t, terms, state):
        if t > 0.05:
            raise RuntimeError("no more")
        return [0.0, 0.0]

    with pytest.raises(SimulationError) as caught:
        cmb.simulate(plant, fails, plant.assemble(left=2.1, right=1.0), t_end=0.1)
    found = sections(caught.value.partial, tmp_path)
    heading, text = found["In short"]["rows"][0]
    assert heading == "failed" and "RuntimeError: no more" in text


@pytest.mark.smoke
def test_refusals(tracked, tmp_path):
    with pytest.raises(InputError, match="a report is a page"):
        report(tracked, tmp_path / "run.pdf")
    with pytest.raises((InputTypeError, InputError)):
        report(tracked.data, tmp_path / "run.html")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_method(tracked, tmp_path, undrawn):
    assert "other" in tracked.write_report(tmp_path / "a.html", title="other").read_text()


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    """Of a name, the machine and the report of its run."""

    @cache
    def written(name):
        run = {"leg": runs.touch_down, "singular": runs.singular}.get(name, lambda: runs.tracked(name, 2.0))()
        return run.plant, report(run, tmp_path_factory.mktemp(name) / "run.html")

    return written


@pytest.mark.slow
@pytest.mark.nojit_slow
@pytest.mark.parametrize("name", [*runs.TASKS, "leg", "singular"])
@pytest.mark.parametrize("width", [1280, 390])
def test_in_a_browser_without_a_network(browser, reported, name, width):
    """No error, all pictures there, nothing to scroll sideways, and the machine in it moves."""
    plant, path = reported(name)
    assert path.stat().st_size < 4e6
    context = browser.new_context(viewport={"width": width, "height": 900})
    context.set_offline(True)
    page, errors = context.new_page(), []
    page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(path.as_uri())
    viewer = page.frame_locator("iframe")
    viewer.locator("input.slider").wait_for(timeout=60000)
    viewer.locator("html[data-ready]").wait_for(timeout=60000)
    images = page.evaluate("[...document.images].map((x) => [x.complete, x.naturalWidth])")
    assert len(images) >= 4 and all(done and wide > 0 for done, wide in images)
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    frame = page.frames[1]
    body = plant.bodies[-1].name
    before = frame.evaluate(f"viewer.pose({body!r})")
    viewer.locator("input.slider").evaluate(
        "(x) => { x.value = 0.37 * x.max; x.dispatchEvent(new Event('input', {bubbles: true})); }"
    )
    assert frame.evaluate(f"viewer.pose({body!r})") != before
    context.close()
    assert not errors
