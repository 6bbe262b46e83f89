"""Runs know how they were made, and files of them make them again."""

import json
import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import _netcdf, controllers, plants
from cmbcontrol.errors import InputError, SimulationError
from cmbcontrol.sim.provenance import Provenance

pytestmark = pytest.mark.nojit_slow  # whole runs, twice


def tracking(plant, **options):
    path = cmb.Sine([2.1, 1.0], [0.2, 0.1], 0.5)
    return controllers.ProjectedInverseDynamics(plant, ("left", "right"), path, bandwidth=8.0, **options)


def cases():
    """Calls of `simulate` of all sorts, by name."""
    five, ball = plants.five_bar(), cmb.Body("ball", 1.0, inertia=(0.1, 0.1, 0.1))
    start = five.assemble(left=2.0, right=1.0)
    floor, guide = (
        cmb.PointOnPlane("floor", "ground", "ball"),
        cmb.Prismatic("height", "ground", "ball", axis=(0, 0, 1)),
    )
    bouncing = cmb.Mechanism("bouncing", [ball], [guide], loops=[floor])
    noisy = controllers.Encoder(noise=1e-5, seed=3) | controllers.FilteredDifference(0.002)
    noisy = noisy | tracking(five, period=1e-3) | controllers.Saturation(50.0) | controllers.Delay(1e-3)
    loaded = five.with_parts(loads=[cmb.Load("tip", "left_upper", cmb.Frame((1.5, 0, 0)), force=(1.0, 2.0, 0.0))])
    excavator, flat, _ = plants.catalogue["excavator"].start()
    return {
        "free": dict(plant=five, q0=start, t_end=0.3),
        "by name": dict(plant=five.with_configurations({"home": start}), q0="home", t_end=0.1),
        "mapping": dict(plant=five, q0=dict(zip(five.position_names, start, strict=True)), t_end=0.1, rtol=1e-7),
        "sampled": dict(plant=five, controller=noisy, q0=start, t_end=0.3, output_times=0.01),
        "continuous": dict(plant=five, controller=tracking(five), q0=start, t_end=0.2, method="radau"),
        "methods": dict(
            plant=five, q0=start, t_end=0.2, method=cmb.Integrator("rk4", step=1e-3),
            stabilisation=cmb.Stabilisation("baumgarte", gains=(20.0, 20.0)),
        ),
        "loads": dict(plant=loaded, q0=start, t_end=0.1, loads={"tip_fx": 5.0}),
        "load along a path": dict(plant=loaded, q0=start, t_end=0.1, loads={"tip_fx": ([0.0, 0.2], [0.0, 5.0])}),
        "switches": dict(plant=bouncing, q0=[1.0], t_end=1.0, switches=[cmb.Contact("floor", restitution=0.8)]),
        "effort": dict(plant=excavator, controller=np.zeros(excavator.nu), q0=flat, t_end=0.02),
    }  # fmt: skip


NAMES = ["free", "by name", "mapping", "sampled", "continuous", "methods", "loads", "load along a path", "switches"]
NAMES += ["effort"]


def same(a, b):
    """Whether runs have the same numbers, to the last bit."""
    assert set(a.data.data_vars) == set(b.data.data_vars)
    return [n for n in a.data.data_vars if not a.data[n].equals(b.data[n])]


def test_all_cases():
    assert list(cases()) == NAMES


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.first(3)
def test_a_file_makes_the_run_again(name, tmp_path):
    given = cases()[name]
    run = cmb.simulate(**given)
    loaded = cmb.load_run(run.save(tmp_path / "run.nc"))
    assert loaded.data.identical(run.data) and not loaded.provenance.missing
    assert same(loaded.rerun(), run) == [] and same(run.rerun(), run) == []
    assert cmb.load_run(loaded.save(tmp_path / "again.nc")).provenance == loaded.provenance


@pytest.mark.slow
def test_another_process_makes_it_again(tmp_path):
    """From the file alone."""
    run = cmb.simulate(**cases()["sampled"])
    run.save(tmp_path / "run.nc")
    code = "import cmbcontrol as cmb; cmb.load_run('run.nc').rerun().save('again.nc')"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    assert same(cmb.load_run(tmp_path / "again.nc"), run) == []


def test_what_it_tells():
    run = cmb.simulate(**cases()["sampled"])
    text = str(run.provenance)
    for words in ("machine   'five-bar'", '"seed": 3', "t_end     0.3", f"cmbcontrol {cmb.__version__}", "numpy"):
        assert words in text
    assert run.provenance.versions["python"] == sys.version.split()[0]
    assert abs((np.datetime64("now") - np.datetime64(run.provenance.date[:19])).astype(int)) < 600


def test_changes():
    run = cmb.simulate(**cases()["free"])
    longer = run.rerun(t_end=0.6, output_times=run.time[1])
    assert np.allclose(longer.q.values[: len(run.time)], run.q.values, atol=1e-9) and longer.time[-1] == 0.6
    other = run.rerun(plant=run.plant.with_parts(gravity=(0, 0, 0)))
    assert not other.q.equals(run.q)


def test_functions_are_asked_for_again(tmp_path):
    five = plants.five_bar()
    start = five.assemble(left=2.0, right=1.0)

    def law(t, terms, state):
        return [np.sin(t), 0.0]

    run = cmb.simulate(five, law, start, t_end=0.05, events=[cmb.Event(lambda t, q, v: q[0] - 3.0, "high")])
    assert same(run.rerun(), run) == []  # here they are at hand
    loaded = cmb.load_run(run.save(tmp_path / "run.nc"))
    assert set(loaded.provenance.missing) == {"controller", "events"}
    with pytest.raises(InputError, match=r"controller: .* is a function.*run.rerun\(controller=..., events=...\)"):
        loaded.rerun()
    assert same(loaded.rerun(controller=law, events=()), run) == []
    circle = plants.particle_on_circle()
    run = cmb.simulate(circle, None, circle.assemble(q2=0.0), t_end=0.1)
    loaded = cmb.load_run(run.save(tmp_path / "run.nc"))
    assert loaded.plant is None
    with pytest.raises(InputError, match="is given by functions"):
        loaded.rerun()
    assert same(loaded.rerun(plant=circle), run) == []


def test_a_law_that_was_changed_is_not_told_as_it_was():
    five = plants.five_bar()
    law = tracking(five)
    law.kp = law.kp * 2.0
    run = cmb.simulate(five, law, five.assemble(left=2.0, right=1.0), t_end=0.02)
    assert "'kp' of " in run.provenance.missing["controller"]
    assert "was changed after it had been made" in run.provenance.missing["controller"]


def test_a_loaded_run_is_like_the_one_that_was_saved(tmp_path):
    run = cmb.simulate(**cases()["sampled"])
    loaded = cmb.load_run(run.save(tmp_path / "run.nc"))
    assert repr(loaded) == repr(run)
    assert loaded.reactions().equals(run.reactions())
    for figure in (run.plot(), loaded.plot()):
        assert len(figure.axes) >= 2
    assert loaded.animate(tmp_path / "run.gif", fps=5).exists()


def test_a_run_that_failed_knows_it_too(tmp_path):
    five = plants.five_bar()

    def law(t, terms, state):
        if t > 0.05:
            raise RuntimeError("no signal")
        return [0.0, 0.0]

    with pytest.raises(SimulationError) as failed:
        cmb.simulate(five, law, five.assemble(left=2.0, right=1.0), t_end=0.1)
    assert failed.value.partial.provenance.arguments["t_end"] == 0.1
    with pytest.raises(SimulationError):
        failed.value.partial.rerun()


def test_it_travels_between_processes():
    run = cmb.simulate(**cases()["sampled"])
    assert same(pickle.loads(pickle.dumps(run)).rerun(), run) == []
    five = plants.five_bar()
    run = cmb.simulate(five, lambda t, terms, state: [0.0, 0.0], five.assemble(left=2.0, right=1.0), t_end=0.02)
    again = pickle.loads(pickle.dumps(run))
    assert set(again.provenance.missing) == {"controller"} and again.plant.name == "five-bar"


def test_files_of_older_versions_and_damaged_ones(tmp_path):
    run = cmb.simulate(**cases()["free"])
    for text, words in ((None, "older version"), ("{", "damaged"), ("[]", "format"), ("{}", "format")):
        file, attributes = tmp_path / "run.nc", {} if text is None else {"provenance": text}
        file.write_bytes(_netcdf.encoded(run.data.assign_attrs(attributes)))
        with pytest.raises(InputError, match=words):
            cmb.load_run(file).rerun()
    text = json.loads(run.provenance.text())
    with pytest.raises(InputError, match="must have"):
        Provenance.from_text(json.dumps(text | {"more": 1}))
    assert replace(run.provenance, law=3) != run.provenance


def test_linear_models_hold_their_machine(tmp_path):
    five = plants.five_bar()
    lin = cmb.linearize(five, cmb.trim(five, five.assemble(left=2.1, right=1.0)), coordinates=("left", "right"))
    for suffix in ("json", "npz", "mat"):
        again = cmb.load_linear(lin.save(tmp_path / f"linear.{suffix}"))
        assert again.point.plant.name == "five-bar" and np.array_equal(again.A, lin.A)
        point = cmb.trim(again.point.plant, again.point.q)
        assert np.array_equal(cmb.linearize(again.point.plant, point, coordinates=("left", "right")).A, lin.A)
