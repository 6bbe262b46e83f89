"""The delta robot against its Lagrangian."""

import dataclasses

import numpy as np
import pytest

from cmbcontrol.dynamics.acceleration import forward_dynamics
from cmbcontrol.model.elements import Distance, Frame, Free, Spherical
from cmbcontrol.model.functions import FunctionPlant
from cmbcontrol.model.mechanism import Mechanism
from cmbcontrol.plants import delta
from cmbcontrol.plants.delta import ARM, PLATFORM, ROD, ROD_MASS
from cmbcontrol.plants.delta import configuration as delta_configuration
from tests.fixtures import nearly_massless

G = 9.81


def lagrangian_delta(load):
    """The delta robot in x, y, z and the arms' angles, from the kinetic energy of thin rods; pairs count as one.

    A thin rod whose ends move at va and vb has the energy m (va'va + va'vb + vb'vb) / 6.
    """
    spin = [np.array([np.cos(a), np.sin(a), 0.0]) for a in np.radians([0.0, 120.0, 240.0])]
    up, m = np.array([0.0, 0.0, 1.0]), 2.0 * ROD_MASS
    moved = 0.5 + load
    about_motor = 0.012 + 1.0 * 0.12**2

    def ends(q):
        elbows = [(0.20 + ARM * np.cos(t)) * e - ARM * np.sin(t) * up for e, t in zip(spin, q[3:], strict=True)]
        slopes = [-ARM * np.sin(t) * e - ARM * np.cos(t) * up for e, t in zip(spin, q[3:], strict=True)]
        return elbows, slopes, [q[:3] + PLATFORM * e - p for e, p in zip(spin, elbows, strict=True)]

    def M(q):
        out = np.zeros((6, 6))
        out[:3, :3] = (moved + 3.0 * m / 3.0) * np.eye(3)
        for i, w in enumerate(ends(q)[1]):
            out[3 + i, 3 + i] = about_motor + m / 3.0 * ARM**2
            out[:3, 3 + i] = out[3 + i, :3] = m / 6.0 * w
        return out

    def h(q, v):
        out = np.zeros(6)
        out[2] = G * (moved + 1.5 * m)
        for i, (e, t) in enumerate(zip(spin, q[3:], strict=True)):
            bent = -ARM * np.cos(t) * e + ARM * np.sin(t) * up
            out[:3] += m / 6.0 * bent * v[3 + i] ** 2  # the other terms cancel: |w| is constant
            out[3 + i] = -G * np.cos(t) * (1.0 * 0.12 + 0.5 * m * ARM)
        return out

    def A(q):
        out = np.zeros((3, 6))
        for i, (w, d) in enumerate(zip(*ends(q)[1:], strict=True)):
            out[i, :3], out[i, 3 + i] = d, -d @ w
        return out

    def Adot_v(q, v):
        out = np.zeros(3)
        for i, (e, t, w, d) in enumerate(zip(spin, q[3:], *ends(q)[1:], strict=True)):
            bent = -ARM * np.cos(t) * e + ARM * np.sin(t) * up
            rate = v[:3] - w * v[3 + i]
            out[i] = rate @ rate - d @ bent * v[3 + i] ** 2
        return out

    return FunctionPlant(
        "twin",
        ("x", "y", "z", "arm1", "arm2", "arm3"),
        M=M,
        h=h,
        Phi=lambda q: [0.5 * (d @ d - ROD**2) for d in ends(q)[2]],
        A=A,
        Adot_v=Adot_v,
        actuators=("arm1", "arm2", "arm3"),
    )


@pytest.mark.parametrize("joints", ["ball", "universal"])
@pytest.mark.parametrize("place", [(0.0, 0.0, -0.75), (0.15, -0.1, -0.65), (-0.2, 0.2, -0.8)])
@pytest.mark.parametrize("load", [0.0, 1.5])
def test_delta_is_the_lagrangian_one(joints, place, load):
    plant, twin = delta(joints, load), lagrangian_delta(load)
    q = delta_configuration(plant, *place)
    arms = [plant.index(f"arm{n}") for n in (1, 2, 3)]
    at = np.array([*place, *q[[plant.position_names.index(f"arm{n}") for n in (1, 2, 3)]]])
    assert np.abs(twin.residual(at)).max() < 1e-15
    rates = np.array([2.0, -1.0, 1.5])
    v, w = (Z @ np.linalg.solve(Z[rows], rates) for Z, rows in (
        (plant.terms(q, np.zeros(plant.nv)).Z, arms), (twin.terms(at, np.zeros(6)).Z, [3, 4, 5])))  # fmt: skip
    u = np.array([3.0, -4.0, 5.0])
    expected = forward_dynamics(twin, at, w, u)
    assert forward_dynamics(plant, q, v, u)[arms] == pytest.approx(expected[3:], rel=1e-9)
    assert plant.terms(q, v).kinetic == pytest.approx(twin.terms(at, w).kinetic, rel=1e-12)


@pytest.mark.parametrize("joints", ["ball", "universal"])
def test_delta_platform_does_not_turn(joints):
    plant = delta(joints)
    q = delta_configuration(plant, 0.1, 0.05, -0.7)
    terms = plant.terms(q, np.zeros(plant.nv))
    for z in terms.Z.T:
        moved = plant.pose(plant.close(plant.integrate(q, 0.05 * z)), "platform")
        assert pytest.approx(np.eye(3), abs=1e-12) == moved.R
    assert plant.pose(q, "platform").p == pytest.approx([0.1, 0.05, -0.7], abs=1e-14)


def test_delta_neutral_is_arms_level():
    for joints in ("ball", "universal"):
        plant = delta(joints)
        assert plant.closure_error(plant.neutral()) < 1e-15
        level = plant.pose(plant.neutral(), "platform")
        assert pytest.approx(np.eye(3), abs=1e-15) == level.R
        assert np.abs(plant.difference(plant.neutral(), delta_configuration(plant, *level.p))).max() < 1e-7


def test_delta_rods_on_ball_joints_would_spin():
    """Why the rods hang on universal joints: with ball joints on both ends there are six more degrees of freedom."""
    plant = delta()
    thick = [dataclasses.replace(b, inertia=b.inertia + np.diag([0, 0, 1e-5])) for b in plant.bodies]
    tree = [
        Spherical(j.name, j.parent, j.child, frame=j.frame, child_frame=j.child_frame) if "rod" in j.name else j
        for j in plant.joints
    ]
    loose = Mechanism("loose", thick, tree, plant.loops)
    assert loose.diagnose(loose.neutral()).dof == 9


def test_delta_without_mass_in_the_rods_has_distance_rows():
    plant = delta()
    bodies = [b for b in plant.bodies if "rod" not in b.name]
    tree = [j for j in plant.joints if j.name.startswith("arm")]
    tree.append(Free("platform", "ground", "platform", frame=Frame((0, 0, -0.75))))
    rods = []
    for n, angle in enumerate(np.radians([0.0, 120.0, 240.0]), start=1):
        out = Frame.turned((0, 0, 1), angle)
        for name, side in ((f"rod{n}a", -0.06), (f"rod{n}b", 0.06)):
            end = (out @ Frame((PLATFORM, side, 0))).p
            rods.append(Distance(name, f"arm{n}", "platform", (ARM, side, 0), end, ROD))
    massless = Mechanism("massless", bodies, tree, rods, actuators=plant.actuators)
    thin = nearly_massless(plant, ("arm1", "arm2", "arm3", "platform"))
    q1, q2 = (
        massless.pack({f"arm{n}": delta_configuration(plant, 0, 0, -0.75)[0] for n in (1, 2, 3)}),
        delta_configuration(thin, 0, 0, -0.75),
    )
    found = massless.diagnose(q1)
    assert massless.closure_error(q1) < 1e-15
    assert (found.rows, found.dof, found.singular) == (6, 3, False)
    u = [3.0, 1.0, -2.0]
    a, b = (forward_dynamics(p, q, np.zeros(p.nv), u) for p, q in ((massless, q1), (thin, q2)))
    assert [b[thin.index(f"arm{n}")] for n in (1, 2, 3)] == pytest.approx(a[:3], rel=1e-6)
