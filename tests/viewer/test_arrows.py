"""Forces as arrows: those that Python computes, where they act."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.scene import scene
from cmbcontrol.viewer.arrows import NO_ARROWS, arrows_of, contacts_of

from .runs import touch_down, tracked


def arrows(run):
    seen = scene(run.plant)
    origins, rotations = (np.array(x) for x in zip(*(seen.poses(q) for q in run.q.values), strict=True))
    told = arrows_of(run, seen.bodies, rotations)
    labels = [group["label"] for group in told["groups"]]
    return {(labels[item["group"]], item["name"]): item for item in told["items"]}, told, seen, (origins, rotations)


def test_reactions_of_constraints_and_joints():
    run = tracked("five-bar", 0.2)
    found, told, seen, (origins, rotations) = arrows(run)
    forces = run.reactions(axes="world").force
    item = found["constraint forces", "tip, force"]
    assert np.allclose(item["values"].values, forces.sel(joint="tip"))
    assert np.allclose(found["joint forces", "left, force"]["values"].values, forces.sel(joint="left"))
    k = item["body"]  # where it acts: the tip
    at = origins[:, k] + rotations[:, k] @ np.array(item["point"])
    drawn = seen.points(run.q.values[0])
    assert np.linalg.norm(drawn - at[0], axis=1).min() < 0.1 * seen.size
    norm = np.linalg.norm(forces.sel(joint="tip").values, axis=1)
    sizes = {group["label"]: group["size"] for group in told["groups"]}
    assert 0.45 * np.quantile(norm, 0.98) <= sizes["constraint forces"] <= norm.max()
    on = {group["label"]: group["on"] for group in told["groups"]}
    assert on["constraint forces"] and not on["joint forces"]


def test_torques_of_motors_are_about_their_axes():
    run = tracked("five-bar", 0.2)
    item = arrows(run)[0]["motor torques", "left"]
    assert np.allclose(item["values"].values, run.u.sel(actuator="left").values[:, None] * [0.0, 0.0, 1.0])
    assert item["unit"] == "N m"


def test_forces_of_cylinders_are_along_them():
    run = tracked("stewart", 0.1)
    found, _, seen, (origins, _) = arrows(run)
    values = found["motor forces", "leg1"]["values"].values
    lower, upper = (seen.bodies.index(name) for name in ("lower1", "upper1"))
    ends = origins[:, upper] - origins[:, lower]
    along = np.abs(np.sum(values * ends, axis=1)) / np.linalg.norm(values, axis=1) / np.linalg.norm(ends, axis=1)
    assert np.allclose(np.linalg.norm(values, axis=1), np.abs(run.u.sel(actuator="leg1")))
    assert np.allclose(along, 1.0, atol=1e-6)


@pytest.mark.parametrize("axes", ["world", "frame"])
def test_loads(axes):
    plant = plants.five_bar().with_parts(loads=[cmb.Load("push", "left_upper", force=(3.0, 4.0, 0.0), axes=axes)])
    run = cmb.simulate(plant, q0=plant.assemble(left=2.1, right=1.0), t_end=0.05)
    found, _, seen, (_, rotations) = arrows(run)
    R = rotations[:, seen.bodies.index("left_upper")] if axes == "frame" else np.eye(3)
    values = found["loads", "push"]["values"].values
    assert np.allclose(values, R @ np.array([3.0, 4.0, 0.0]))


@pytest.mark.filterwarnings("ignore:a law runs in Python")
def test_contacts_come_and_go():
    run = touch_down()
    assert contacts_of(run) == {"foot"}
    item = arrows(run)[0]["contact forces", "foot, force"]
    assert not item["values"].values[run.time < 0.17].any()
    assert item["values"].values[-1, 1] == pytest.approx(float(sum(b.mass for b in run.plant.bodies)) * 9.81, rel=0.05)


def test_weights():
    run = tracked("five-bar", 0.05)
    item = arrows(run)[0]["weights", "weight of left_lower"]
    body = run.plant.bodies[0]
    assert np.allclose(item["values"].values, body.mass * run.plant.gravity)


def test_forces_that_redundant_constraints_share_are_told():
    plant, q, v = plants.catalogue["parallel-four-bar"].start()
    run = cmb.simulate(plant, q0=q, v0=v, t_end=0.05)
    if isinstance(plant, cmb.Mechanism) and not run.reactions().unique.values.all():
        assert any("shared" in item["note"] for item in arrows(run)[0].values())


def test_plants_of_functions_have_none():
    plant, q, v = plants.catalogue["particle"].start()
    run = cmb.simulate(plant, q0=q, v0=v, t_end=0.05)
    if not isinstance(plant, cmb.Mechanism):
        assert arrows_of(run, ("ground",), np.zeros((1, 1, 3, 3))) is NO_ARROWS
