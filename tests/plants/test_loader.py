"""The loader: virtual work, Spencer's coordinates."""

import numpy as np
import pytest

from cmbcontrol import OperatingPoint, affine_approximation, linearize, trim
from cmbcontrol.dynamics.acceleration import forward_dynamics
from cmbcontrol.dynamics.forces import inverse_dynamics
from cmbcontrol.plants import catalogue, loader
from cmbcontrol.plants.loader import configuration as loader_configuration
from cmbcontrol.plants.loader import edge, start
from tests.fixtures import gradient

G = 9.81


def loader_height(boom, bucket, load):
    """Sum of mass times height of the loader's parts (kg m), from its pins, in complex numbers; and both lengths."""
    turn = np.exp(1j * boom)
    hinge = 2.9 * turn
    floor = np.exp(1j * (boom + bucket))
    lever_pin, link_pin = (1.80 + 0.46j) * turn, hinge + (-0.15 + 0.30j) * floor
    # where the circles about the two pins of lever and link meet, below
    across = link_pin - lever_pin
    along = (abs(across) ** 2 + 0.92**2 - 0.52**2) / (2.0 * abs(across))
    meet = lever_pin + (along - 1j * np.sqrt(0.92**2 - along**2)) * across / abs(across)
    lower = (meet - lever_pin) / 0.92
    top = lever_pin + 0.60 * lower * np.exp(1j * np.radians(202.0))
    moments = [1500 * (1.40 + 0.10j) * turn, 2000 * (hinge + (0.42 + 0.38j) * floor)]
    moments += [350 * (lever_pin + (0.15 + 0.05j) * lower), 80 * 0.5 * (meet + link_pin)]
    moments += [load * (hinge + (0.50 + 0.45j) * floor)]
    lengths = []
    for base, end, barrel, rod, centre, behind in (
        (-0.15 - 0.65j, (1.65 - 0.15j) * turn, 220, 150, 0.55, 0.55),
        (0.28 + 0.10j, top, 160, 100, 0.38, 0.36),
    ):
        axis = (end - base) / abs(end - base)
        moments += [barrel * (base + centre * axis), rod * (end - behind * axis)]
        lengths.append(abs(end - base))
    return sum(moments).imag, np.array(lengths)


@pytest.mark.parametrize("load", [0.0, 5000.0])
@pytest.mark.parametrize(("boom", "bucket"), [(-0.72, 0.72), (0.0, 0.3), (0.6, -0.9)])
def test_loader_cylinder_forces_by_virtual_work(boom, bucket, load):
    """The cylinders' forces do the work that lifts the weights: dV = F_lift d(lift) + F_tilt d(tilt)."""
    plant = loader(load=load)
    at = np.array([boom, bucket])
    weight = G * gradient(lambda x: loader_height(*x, load)[0], at)
    arms = gradient(lambda x: loader_height(*x, load)[1], at)
    q = loader_configuration(plant, boom, bucket)
    expected = np.linalg.solve(arms.T, weight)
    assert trim(plant, q).u == pytest.approx(expected, rel=1e-8)
    assert inverse_dynamics(plant, q, np.zeros(plant.nv), np.zeros(plant.nv)).u == pytest.approx(expected, rel=1e-8)
    closed = q[[plant.position_names.index(n) for n in ("lift", "tilt")]] + [1.36, 0.92]
    assert closed == pytest.approx(loader_height(boom, bucket, load)[1], abs=1e-14)


@pytest.mark.parametrize("closure", ["line", "revolute"])
def test_loader_in_both_of_spencers_coordinates(closure):
    """Angles of boom and bucket, or displacements of the cylinders: at an equilibrium the same eigenvalues."""
    plant = loader(closure)
    point = trim(plant, start(plant)[0])
    angles = linearize(plant, point, coordinates=("boom", "bucket"))
    travels = linearize(plant, point, coordinates=("lift", "tilt"))
    arms = gradient(lambda x: loader_height(*x, 0.0)[1], np.array([-0.72, 0.72]))
    assert travels.A[2:, :2] == pytest.approx(arms @ angles.A[2:, :2] @ np.linalg.inv(arms), rel=1e-8)
    # the cylinders' mobility is symmetric in their own coordinates
    assert travels.B[2, 1] == pytest.approx(travels.B[3, 0], rel=1e-9)
    assert np.linalg.eigvalsh(travels.B[2:])[0] > 0.0


def test_loader_in_spencers_position_depends_on_the_coordinates():
    """Bucket lowered, no cylinder forces, no equilibrium: section 4.5 finds other eigenvalues in other coordinates.

    With s = s(y), J = ds/dy and the acceleration a of y: A21 in s = (J A21 + d(J a)/dy) J^-1.
    """
    plant, q, _ = catalogue["loader"].start()
    point = OperatingPoint.at(plant, q)
    angles = affine_approximation(plant, point, coordinates=("boom", "bucket"))
    travels = affine_approximation(plant, point, coordinates=("lift", "tilt"))
    at, a = np.array([-0.72, 0.72]), angles.drift[2:]

    def arms(x):
        return gradient(lambda y: loader_height(*y, 0.0)[1], x, 1e-3)

    J = arms(at)
    bent = gradient(lambda x: arms(x) @ a, at, 1e-3)
    assert travels.drift[2:] == pytest.approx(J @ a, rel=1e-9, abs=1e-9)
    assert travels.A[2:, :2] == pytest.approx((J @ angles.A[2:, :2] + bent) @ np.linalg.inv(J), rel=1e-6)
    growth = [np.linalg.eigvals(model.A).real.max() for model in (angles, travels)]
    assert growth[0] > 1.5 * growth[1] > 0.0  # as printed: 0.546 and 0.376 1/s


def test_loader_falls_without_cylinder_forces():
    """Spencer's position is no equilibrium."""
    plant, q, v = catalogue["loader"].start()
    vdot = forward_dynamics(plant, q, v, [0.0, 0.0])
    assert vdot[plant.index("boom")] < -1.0
    assert v.tolist() == [0.0] * 8 and edge(plant, q)[1] == pytest.approx(2.9 * np.sin(-0.72), abs=1e-14)


def test_loader_reaches_from_the_ground_to_the_dump_height():
    """Level all the way up, dumped by 40 degrees on top, curled by 34 degrees below: within strokes and limits."""
    plant = loader()
    low, high = plant.limits.T
    for boom in np.linspace(-0.78, 0.78, 9):
        q = loader_configuration(plant, boom, -boom)
        assert np.all((q > low) & (q < high))
        assert np.all(np.abs(trim(loader(load=6000.0), q).u) < plant.effort)
    for boom, floor in ((0.78, -0.70), (-0.78, 0.60)):
        q = loader_configuration(plant, boom, floor - boom)
        assert np.all((q > low) & (q < high))
    longer = np.diff([loader_configuration(plant, 0.0, b)[7] for b in np.linspace(-0.7, 0.7, 9)])
    assert np.all(longer > 0.0)  # it curls
