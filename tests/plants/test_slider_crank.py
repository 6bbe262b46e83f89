"""Aghili's slider-crank: twin, projector, motors."""

import numpy as np
import pytest

from cmbcontrol.dynamics.acceleration import forward_dynamics
from cmbcontrol.model.elements import Actuator, Body, Frame, PointOnPlane, Revolute
from cmbcontrol.model.mechanism import Mechanism
from cmbcontrol.plants import slider_crank


def slider_crank_of_parts(m, l):
    """The same machine made of bodies: point masses at the far ends, the end of the rod in a plane."""
    bodies = [Body("crank", m, (l, 0, 0)), Body("rod", m, (l, 0, 0))]
    joints = [Revolute("q1", "ground", "crank"), Revolute("q2", "crank", "rod", frame=Frame((l, 0, 0)))]
    loop = PointOnPlane("slider", "ground", "rod", point_b=(l, 0, 0), normal=(0, 1, 0))
    return Mechanism("twin", bodies, joints, [loop], actuators=[Actuator("q1")], gravity=(0, -9.81, 0))


@pytest.mark.parametrize("seed", range(5))
def test_slider_crank_twin(seed):
    rng = np.random.default_rng(seed)
    m, l = 1.5, 0.8
    plant, twin = slider_crank(mass=m, length=l), slider_crank_of_parts(m, l)
    crank = rng.uniform(-3.0, 3.0)
    q, v = np.array([crank, -2.0 * crank]), rng.standard_normal() * np.array([1.0, -2.0])
    a, b = plant.terms(q, v), twin.terms(q, v)
    for key in ("M", "h", "phi", "A", "b", "B"):
        assert getattr(a, key) == pytest.approx(getattr(b, key), abs=1e-12), key
    assert a.potential == pytest.approx(b.potential, abs=1e-12)
    u = rng.standard_normal(1)
    expected = forward_dynamics(twin, q, v, u)
    assert forward_dynamics(plant, q, v, u) == pytest.approx(expected, rel=1e-10, abs=1e-10)
    assert a.Cv == pytest.approx([0.0, 0.0], abs=1e-11)  # C = 0 on this branch


def test_slider_crank_projector():
    """Eq. (70) with its cases exchanged, and M_c'' (71) from it."""
    plant = slider_crank(length=0.8)
    P = np.array([[1.0, -2.0], [-2.0, 4.0]]) / 5.0
    for crank in (0.3, 1.5, 0.5 * np.pi - 1e-6, 2.0, -1.0):
        assert pytest.approx(P, abs=1e-9) == plant.terms([crank, -2.0 * crank], [0.0, 0.0]).P
    for crank in (0.5 * np.pi, -0.5 * np.pi):
        assert pytest.approx(np.eye(2), abs=0.0) == plant.terms([crank, -2.0 * crank], [0.0, 0.0]).P
    terms, ml2 = plant.terms([0.3, -0.6], [0.0, 0.0]), 0.8**2
    c2 = np.cos(-0.6)
    printed = ml2 * np.array([[1.0, (1.0 + c2) / 5.0], [0.0, (3.0 - 2.0 * c2) / 5.0]])
    assert terms.P @ terms.M + ml2 * (np.eye(2) - terms.P) == pytest.approx(printed, abs=1e-14)


def test_slider_crank_motors():
    assert slider_crank(actuated=("q1", "q2"), effort=2.0).effort.tolist() == [2.0, 2.0]
    passive = slider_crank(actuated=())
    assert passive.nu == 0 and passive.diagnose([0.3, -0.6]).actuation.verdict == "under-actuated"
    with pytest.raises(ValueError, match="no coordinate 'q3'"):
        slider_crank(actuated=("q3",))
