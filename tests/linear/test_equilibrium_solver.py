"""Equilibria near a configuration, where coordinates are free: closed forms, stability, families, limits."""

import itertools

import numpy as np
import pytest

from cmbcontrol import linearize, plants, trim
from cmbcontrol.dynamics.forces import constraint_force
from cmbcontrol.errors import AssemblyError, EquilibriumError, SingularConfigurationError
from cmbcontrol.model.elements import Actuator, PointSpring
from cmbcontrol.model.mechanism import Mechanism
from cmbcontrol.plants.five_bar import configuration
from tests import fixtures
from tests.fixtures import largest, motorised_five_bar

# -- configurations that settle --------------------------------------------------------------------------------


@pytest.mark.parametrize("closure", ["line", "point", "revolute"])
@pytest.mark.parametrize(("start", "found"), [(-1.0, -0.5), (-3.0, -0.5), (1.2, 0.5), (0.0, -0.5)])
def test_pendulum_goes_to_the_nearest_equilibrium(closure, start, found):
    """Held level there is none in any direction: it goes downhill. In multiples of pi."""
    plant = plants.pendulum(closure=closure)
    point = trim(plant, plant.assemble(angle=start), free="all", u=0.0)
    assert point.q[2] == pytest.approx(found * np.pi, abs=1e-12)
    assert plant.closure_error(point.q) < 1e-13


def test_stable_equilibria_are_found_from_unstable_ones():
    plant = plants.pendulum()
    upright = plant.assemble(angle=0.5 * np.pi)
    assert trim(plant, upright, free="all", u=0.0).q[2] == pytest.approx(0.5 * np.pi)
    assert np.sin(trim(plant, upright, free="all", u=0.0, stable=True).q[2]) == pytest.approx(-1.0)
    nearest, settled = (
        trim(plants.five_bar(), configuration(plants.five_bar(), "asymmetric"), free="all", u=0.0, stable=s)
        for s in (0, 1)
    )
    growth = [linearize(p.plant, p).poles().real.max() for p in (nearest, settled)]
    assert growth[0] > 1.0
    assert growth[1] < 1e-9


@pytest.mark.nojit_slow
def test_pendulum_against_a_given_torque():
    plant = plants.pendulum(2.0, 0.7)
    point = trim(plant, plant.assemble(angle=-1.0), free="all", u=3.0)
    assert 2.0 * 9.81 * 0.35 * np.cos(point.q[2]) == pytest.approx(3.0, rel=1e-12)
    with pytest.raises(EquilibriumError, match=r"no equilibrium of 'pendulum' was found.*'angle' -?\d"):
        trim(plant, plant.assemble(angle=-1.0), free="all", u=30.0)


@pytest.mark.parametrize(("cut", "closure"), list(itertools.product(("tip", "right"), ("line", "point", "revolute"))))
def test_hanging_five_bar_is_the_same_however_it_is_cut(cut, closure):
    plant = plants.five_bar(cut, closure)
    point = trim(plant, configuration(plant, "asymmetric"), free="all", u=0.0, stable=True)
    tip = plant.point(point.q, "left_upper", (1.5, 0.0, 0.0))
    truth = plants.five_bar()
    reference = trim(truth, configuration(truth, "asymmetric"), free="all", u=0.0, stable=True)
    assert largest(tip - truth.point(reference.q, "left_upper", (1.5, 0.0, 0.0))) < 1e-9
    assert tip[0] == pytest.approx(0.5, abs=1e-10)  # symmetric
    assert linearize(plant, point).poles().real.max() < 1e-9  # stable
    # a minimum of the potential energy on the manifold
    rng = np.random.default_rng(0)
    lowest = plant.terms(point.q, np.zeros(4)).potential
    for _ in range(10):
        q = plant.close(plant.integrate(point.q, 0.05 * rng.standard_normal(4)))
        assert plant.terms(q, np.zeros(4)).potential > lowest


def test_held_coordinates_stay_and_motors_hold_them():
    """One motor: the other arm goes where it needs none, while the driven joint stays."""
    plant = motorised_five_bar(Actuator("right"))
    q = configuration(plant, "asymmetric")
    point = trim(plant, q, free=("left", "elbow_left", "elbow_right"))
    right = plant.index("right")
    assert point.q[right] == q[right]
    assert abs(point.u[0]) > 1.0
    assert largest(point.q - q) > 0.05
    assert plant.closure_error(point.q) < 1e-12
    rest = np.zeros(4)
    assert largest(constraint_force(plant, point.q, rest, point.u).acceleration) < 1e-9
    with pytest.raises(EquilibriumError, match="with 'right', 'elbow_right' held, the constraints allow no motion"):
        trim(plant, q, free=("left", "elbow_left"))


@pytest.mark.nojit_slow
def test_machine_on_springs_settles_to_rest():
    """Multi-axis joints and loops: where it settles, nothing accelerates."""
    kinds = (fixtures.Spherical, fixtures.Universal, fixtures.Planar)
    for seed in range(4):
        parts = fixtures.tree_parts(seed, 4, kinds)
        stays = [PointSpring(f"s{i}", "ground", f"body{i}", (0.5, i, 0), (0.2, 0, 0), 60.0, 0.3) for i in range(4)]
        plant, q = fixtures.close_parts(parts, seed, (fixtures.Distance, fixtures.PointOnPlane), springs=stays)
        point = trim(plant, q, free="all", u=0.0)
        rest = np.zeros(plant.nv)
        assert largest(constraint_force(plant, point.q, rest).acceleration) < 1e-9
        assert point.residuals.balance < 1e-9
        assert plant.closure_error(point.q) < 1e-12
        assert largest(plant.terms(point.q, rest).A.T @ point.lam) > 1e-3


def test_particle_given_by_functions_settles():
    plant = plants.particle_on_circle(radius=0.5)
    point = trim(plant, plant.assemble(q2=0.0), free="all", u=0.0)
    assert point.q == pytest.approx([0.0, -0.5], abs=1e-9)
    assert trim(plant, plant.assemble(q2=0.0)).u == pytest.approx([0.0, 9.81])


def test_joint_limits():
    plant = motorised_five_bar(left={"limits": (-1.4, 3.0)})
    q = configuration(plant, "asymmetric")
    with pytest.raises(EquilibriumError, match=r"left = -1\.468.*outside its limits \[-1\.4, 3\.0\]"):
        trim(plant, q, free="all", u=0.0, stable=True)


def test_joints_are_freed_by_name():
    bodies = [fixtures.body(np.random.default_rng(0), "body")]
    plant = Mechanism("ball", bodies, [fixtures.Spherical("ball", "ground", "body")])
    every = trim(plant, plant.neutral(), free="all")
    by_joint = trim(plant, plant.neutral(), free=("ball",))
    by_coordinate = trim(plant, plant.neutral(), free=plant.velocity_names)
    assert largest(every.q - by_joint.q) == largest(every.q - by_coordinate.q) == 0.0
    below = plant.point(every.q, "body", bodies[0].com)
    assert np.hypot(*below[:2]) < 1e-9


# -- some efforts given, some coordinates held --------------------------------------------------------


def test_held_at_given_values():
    """The coordinates are brought there first; the loops of q may be open."""
    plant = plants.five_bar()
    point = trim(plant, {"left": 2.0, "right": 1.1}, u={"left": 0.0}, hold={"right": 0.8})
    assert point.q[2] == pytest.approx(0.8, abs=1e-12)
    assert point.u[0] == 0.0
    assert plant.closure_error(point.q) < 1e-12
    with pytest.raises(ValueError, match="give one of them"):
        trim(plant, point.q, free=("left",), hold=("right",))
    with pytest.raises(ValueError, match="did you mean 'right'"):
        trim(plant, point.q, hold=("rigth",))
    with pytest.raises(ValueError, match="joint coordinate 'rigth'"):
        trim(plant, point.q, hold={"rigth": 1.0})
    with pytest.raises(AssemblyError):
        trim(plant, point.q, hold={"right": 1.0, "elbow_right": 0.0, "left": 0.0})


# -- every machine ----------------------------------------------------------------------------------------


@pytest.mark.nojit_slow
@pytest.mark.parametrize("name", list(plants.catalogue))
def test_catalogue_settles(name):
    """Motors off: a lowest point of the potential energy on the loops, or words for why there is none."""
    plant, q, _ = plants.catalogue[name].start()
    try:
        point = trim(plant, q, free="all", u=0.0, stable=True)
    except EquilibriumError as error:  # ends of cylinders, of knees; the legs of the platform have none
        assert name in ("loader", "stewart", "excavator", "biped"), error
        return
    rest = np.zeros(plant.nv)
    assert plant.closure_error(point.q) < 1e-10
    lowest = plant.terms(point.q, rest).potential
    rng = np.random.default_rng(0)
    unit = np.array([1.0 if u == "rad/s" else plant.size for u in plant.velocity_units])
    for _ in range(20):
        way = plant.terms(point.q, rest).P @ (0.02 * unit * rng.standard_normal(plant.nv))
        beside = plant.close(plant.integrate(point.q, way))
        assert plant.terms(beside, rest).potential >= lowest - 1e-9 * abs(lowest)


@pytest.mark.parametrize(("name", "dof"), [("parallel-four-bar", 3), ("slider-crank", 2)])
def test_machines_that_hang_in_a_singular_pose(name, dof):
    """All bars hang in line, where another branch crosses: it is the lowest point on both, and the tool says so."""
    plant, q, _ = plants.catalogue[name].start()
    point = trim(plant, q, free="all", u=0.0, stable=True)
    assert point.report.singular
    assert plant.terms(point.q, np.zeros(plant.nv)).dof == dof
    assert "singular configuration: the constraints lose rank" in str(point)
    with pytest.raises(SingularConfigurationError, match="singular configuration"):
        linearize(plant, point)
    upright = trim(plant, q, free="all", u=0.0)
    assert upright.report.singular
    again = trim(plant, upright.q, free="all", u=0.0, stable=True)
    assert plant.terms(again.q, np.zeros(plant.nv)).potential < plant.terms(upright.q, np.zeros(plant.nv)).potential


def test_the_squeezer_leaves_its_dead_point():
    """The start of Andrews' mechanism is a dead point, highest in energy; it settles in the other one."""
    plant, q, _ = plants.catalogue["andrews"].start()
    top = trim(plant, q, free="all", u=0.0)
    assert largest(top.q - q) < 1e-12
    settled = trim(plant, q, free="all", u=0.0, stable=True)
    assert abs(settled.q[plant.position_names.index("Theta")]) == pytest.approx(np.pi, abs=1e-9)
    growth = [linearize(plant, p).poles().real.max() for p in (top, settled)]
    assert growth[0] > 10.0
    assert growth[1] < 1e-6


@pytest.mark.nojit_slow
@pytest.mark.parametrize("seed", range(4))
def test_random_machines_with_springs_and_motors(seed):
    """Some motors given, all coordinates free, redundant rows: the same with and without them."""
    parts = fixtures.tree_parts(seed, 4, (fixtures.Revolute, fixtures.Prismatic, fixtures.Spherical))
    stays = [PointSpring(f"s{i}", "ground", f"body{i}", (0.5, i, 0), (0.2, 0, 0), 60.0, 0.3) for i in range(4)]
    motors = fixtures.actuators(parts, seed)
    found = []
    for twice in (False, True):
        plant, q = fixtures.close_parts(parts, seed, (fixtures.Distance,), twice, springs=stays, actuators=motors)
        given = {plant.actuator_names[0]: 0.7}
        point = trim(plant, q, u=given, free="all")
        off = trim(plant, q, u=0.3, free="all")
        for p in (point, off):
            assert largest(constraint_force(plant, p.q, np.zeros(plant.nv), p.u).acceleration) < 1e-8
            assert plant.closure_error(p.q) < 1e-11
        assert point.u[0] == 0.7
        assert off.report.family == 0
        found.append((point, off))
    for once, again in zip(*found, strict=True):
        assert largest(once.q - again.q) < 1e-6
        assert largest(once.u - again.u) < 1e-6
