"""Efforts and multipliers of machines on contacts, against programs of their own in cvxpy."""

import cvxpy as cp
import numpy as np
import pytest

from cmbcontrol import Actuator, Body, Contact, Frame, Free, Mechanism, Planar, Point, Revolute, plants, trim
from cmbcontrol.errors import EquilibriumError
from cmbcontrol.plants.biped import SOLES, stand

UP = (0.0, 1.0, 0.0)


def least(plant, q, feet, mu, up=1, weight=None, limits=None):
    """(efforts, multipliers) of the least u'W^-1 u in cvxpy, and how far all forces can be inside, N; rows by name."""
    terms = plant.terms(q, np.zeros(plant.nv))
    u, lam, margin = cp.Variable(plant.nu), cp.Variable(len(plant.row_names)), cp.Variable()
    limits = plant.effort if limits is None else limits
    rules = [terms.h + terms.A.T @ lam == terms.B @ u, cp.abs(u) <= limits, margin <= 1e3]
    for name in feet:
        force = -lam[plant.row_slices[name]]
        across = [force[i] for i in range(3) if i != up]
        rules.append(cp.norm(cp.hstack(across)) <= mu * (force[up] - margin))
    cp.Problem(cp.Maximize(margin), rules).solve(solver="CLARABEL")
    inside = -np.inf if margin.value is None else float(margin.value)
    W = np.eye(plant.nu) if weight is None else np.diag(weight)
    exact = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}
    if inside > 0.0:
        cp.Problem(cp.Minimize(cp.quad_form(u, np.linalg.inv(W))), [*rules, margin == 0.0]).solve(
            solver="CLARABEL", **exact
        )
    return u.value, lam.value, inside


@pytest.mark.parametrize("height", [0.7, 0.8])
@pytest.mark.parametrize("lean", [-0.15, 0.0, 0.12])
@pytest.mark.parametrize("limit", [200.0, 23.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_biped_on_two_flat_feet(height, lean, limit, weighted):
    """The trunk leans, so heels or toes carry more; limited motors and forces between the feet are chosen together."""
    plant = plants.biped(limit)
    q = stand(plant, height)
    hips = [plant.position_names.index(f"hip_{side}") for side in ("left", "right")]
    q[plant.position_names.index("trunk_angle")], q[hips] = lean, q[hips] - lean
    mu, weight = 0.6, np.array([1.0, 4.0, 0.25, 2.0, 1.0, 0.5]) if weighted else None
    u, _, inside = least(plant, q, SOLES, mu, weight=weight)
    feet = [Contact(name, normal=UP, friction=mu) for name in SOLES]
    if inside < 0.0:
        with pytest.raises(EquilibriumError, match="cannot rest"):
            trim(plant, q, contacts=feet, weight=weight)
        return
    point = trim(plant, q, contacts=feet, weight=weight)
    np.testing.assert_allclose(point.u, u, atol=1e-5)
    for contact in point.report.contacts:
        assert contact.push >= -1e-9 and contact.friction <= mu * contact.push + 1e-7
    balance = plant.terms(q, np.zeros(plant.nv))
    left = balance.h + balance.A.T @ point.lam - balance.B @ point.u
    assert np.abs(left).max() < 1e-10


def spider(rng):
    """A body in space on three legs of two joints, on ground of any slope, with motors on all joints; and contacts."""
    bodies = [Body("trunk", 10.0, (0.05, 0.0, 0.0), (0.4,) * 3)]
    joints, motors, places, values = [Free("base", "ground", "trunk")], [], [], {}
    down = Frame.turned((0, 1, 0), np.pi / 2)
    for i in range(3):
        turn = 2.0 * np.pi * i / 3
        hip = Frame((0.3 * np.cos(turn), 0.3 * np.sin(turn), 0.0)) @ Frame.turned((0, 0, 1), turn) @ down
        bodies += [Body.rod(f"thigh{i}", 1.0, 0.4), Body.rod(f"shank{i}", 1.0, 0.4)]
        joints += [
            Revolute(f"hip{i}", "trunk", f"thigh{i}", frame=hip, axis=UP),
            Revolute(f"knee{i}", f"thigh{i}", f"shank{i}", frame=Frame((0.4, 0, 0)), axis=UP),
        ]
        motors += [Actuator(f"hip{i}", effort=60.0), Actuator(f"knee{i}", effort=60.0)]
        values |= {f"hip{i}": float(rng.uniform(-0.8, 0.0)), f"knee{i}": float(rng.uniform(0.0, 0.8))}
        places.append((f"foot{i}", f"shank{i}"))
    bare = Mechanism("spider", bodies, joints, actuators=motors)
    q = bare.pack(values)
    feet = []
    for name, body in places:
        pose = bare.pose(q, body)
        feet.append(Point(name, "ground", body, pose.p + pose.R @ np.array((0.4, 0, 0)), (0.4, 0, 0)))
    return bare.with_loops(*feet), q, [point.name for point in feet]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("mu", [0.15, 0.4])
def test_a_spider_on_cones(seed, mu):
    """Second-order cones: least efforts are on the border of several of them, and their forces balance each other."""
    plant, q, feet = spider(np.random.default_rng(seed))
    u, _, inside = least(plant, q, feet, mu, up=2)
    contacts = [Contact(name, friction=mu) for name in feet]
    if inside < 0.0:
        with pytest.raises(EquilibriumError, match="cannot rest"):
            trim(plant, q, contacts=contacts)
        return
    point = trim(plant, q, contacts=contacts)
    np.testing.assert_allclose(point.u, u, atol=2e-5)
    np.testing.assert_allclose(sum(c.push for c in point.report.contacts), 9.81 * 16.0, rtol=1e-9)


def test_prescribed_multipliers_are_among_the_limits():
    """Forces between the feet: the left heel holds 20 N along the floor, which the toe holds back."""
    plant = plants.biped()
    feet = [Contact(name, normal=UP, friction=0.6) for name in SOLES]
    point = trim(plant, stand(plant), contacts=feet, preload={"heel_left_x": 20.0})
    lam = dict(zip(plant.row_names, point.lam, strict=True))
    assert lam["heel_left_x"] == pytest.approx(20.0) and lam["toe_left_x"] == pytest.approx(-20.0)
    least_push = trim(plant, stand(plant), contacts=feet, preload={"heel_left_y": (-np.inf, -90.0)})
    lam = dict(zip(plant.row_names, least_push.lam, strict=True))
    assert lam["heel_left_y"] == pytest.approx(-90.0)
    with pytest.raises(EquilibriumError, match=r"would have to hold 200 N by friction|would have to pull"):
        trim(plant, stand(plant), contacts=feet, preload={"heel_left_x": 200.0})


def test_the_nearest_forces_are_told():
    """A foot of 10 N with its weight 0.1 m ahead of the toe, 0.2 m from the heel: the heel would have to pull.

    With both to miss by e: toe + heel = 10, 0.3 * 10 = 0.2 toe, so that the toe has 15 and the heel -5.
    """
    body = Body("foot", 10.0 / 9.81, (0.3, 0.1, 0), (0.1,) * 3)
    loops = [Point("heel", "ground", "foot"), Point("toe", "ground", "foot", (0.2, 0, 0), (0.2, 0, 0))]
    plant = Mechanism("foot", [body], [Planar("base", "ground", "foot")], loops, gravity=(0, -9.81, 0))
    feet = [Contact(name, normal=UP, friction=0.5) for name in ("heel", "toe")]
    with pytest.raises(EquilibriumError, match=r"'heel' would have to pull with 5 N\. "):
        trim(plant, plant.neutral(), contacts=feet)
