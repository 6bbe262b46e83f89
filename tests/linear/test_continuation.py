"""Branches of equilibria: folds and branch points in closed form, stability, ends, and what is refused."""

import numpy as np
import pytest
from scipy.optimize import fsolve

from cmbcontrol import linearize, plants, trim
from cmbcontrol.dynamics.forces import constraint_force
from cmbcontrol.errors import ContinuationError, EquilibriumError, Interrupted
from cmbcontrol.linear.continuation import continue_equilibria
from cmbcontrol.model.elements import (
    Actuator,
    Body,
    Frame,
    JointSpring,
    PointOnLine,
    PointSpring,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from cmbcontrol.model.mechanism import Mechanism
from tests import fixtures
from tests.fixtures import five_bar_potential, gradient, jacobian, largest

K, B = 100.0, 1.0  # N/m of each leg, half the span in m, of the truss


def truss(length, legs="loops"):
    """Von Mises truss: two elastic legs from (-1, 0) and (1, 0) to an apex, which a motor pushes along y.

    The legs are springs between points, or telescopes closed to the apex by loops.
    """
    bodies = [Body("carriage", 0.1), Body("apex", 1.0)]
    joints = [
        Prismatic("x", "ground", "carriage", axis=(1, 0, 0)),
        Prismatic("y", "carriage", "apex", axis=(0, 1, 0)),
    ]
    springs, loops = [], []
    for name, side in (("left", -B), ("right", B)):
        if legs == "points":
            springs.append(PointSpring(name, "ground", "apex", (side, 0, 0), stiffness=K, rest=length))
            continue
        bodies += [Body.rod(f"{name}_tube", 0.2, 2.0), Body.rod(f"{name}_rod", 0.2, 2.0)]
        joints += [
            Revolute(f"{name}_turn", "ground", f"{name}_tube", frame=Frame((side, 0, 0))),
            Prismatic(f"{name}_slide", f"{name}_tube", f"{name}_rod", axis=(1, 0, 0)),
        ]
        springs.append(JointSpring(name, f"{name}_slide", K, length))
        loops.append(PointOnLine(f"{name}_pin", "apex", f"{name}_rod"))
    return Mechanism("truss", bodies, joints, loops, springs, [Actuator("y", "load")], gravity=(0, 0, 0))


def apex_at(plant, y, x=0.0):
    """Configuration of the truss with the apex at (x, y)."""
    values = {"x": x, "y": y}
    if "left_turn" in plant.position_names:
        for name, side in (("left", -B), ("right", B)):
            values |= {f"{name}_turn": np.arctan2(y, x - side), f"{name}_slide": np.hypot(y, x - side)}
    return plant.pack(values)


def load_at(y, length):
    """Force along y that holds the symmetric truss."""
    leg = np.hypot(B, y)
    return -2.0 * K * y * (length / leg - 1.0)


def snap(length):
    """Height and load of the upper fold: L^3 = L0 b^2."""
    y = np.sqrt((length * B**2) ** (2 / 3) - B**2)
    return y, load_at(y, length)


@pytest.mark.parametrize("legs", ["loops", "points"])
def test_a_shallow_truss_snaps_through(legs):
    """Two folds in closed form; stable, unstable, stable."""
    plant, length = truss(1.1, legs), 1.1
    y, load = snap(length)
    branch = continue_equilibria(plant, apex_at(plant, 0.5), -1.5 * load, 1.5 * load, effort="load")
    assert [s.kind for s in branch.special] == ["fold", "fold"]
    assert branch.ended == f"reached {1.5 * load:.6g}"
    for fold, sign in zip(branch.folds, (1.0, -1.0), strict=True):
        assert abs(fold.value - sign * load) < 1e-10
        assert abs(fold.point.q[1] - sign * y) < 1e-7
        assert abs(fold.point.q[0]) < 1e-9
    heights = np.array([p.q[1] for p in branch.points])
    assert np.all(np.diff(heights) < 0.0)
    assert largest(branch.values - load_at(heights, length)) < 1e-9
    assert np.array_equal(branch.stable, np.abs(heights) > y)
    assert branch.values[-1] == 1.5 * load
    # against the linear model at a few points
    for i in (0, len(branch) // 2, len(branch) - 1):
        lin = linearize(plant, branch.points[i])
        assert largest(np.poly(lin.poles()) - np.poly(branch.eigenvalues[i])) < 1e-6 * 101.5**2
    middle = branch.at(0.5 * load)
    assert len(middle) == 3
    assert all(p.u[0] == 0.5 * load and p.residuals.balance < 1e-10 for p in middle)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("legs", ["loops", "points"])
def test_a_tall_truss_buckles_sideways(legs):
    """A branch point before the fold: L^3 - L0 L^2 + L0 b^2 = 0. The crossing branch leans, and is unstable."""
    length = 3.0
    plant = truss(length, legs)
    leg = max(np.roots([1.0, -length, 0.0, length * B**2]).real)
    y = np.sqrt(leg**2 - B**2)
    upright = np.sqrt(length**2 - B**2)
    branch = continue_equilibria(plant, apex_at(plant, upright), 0.0, 1.2 * snap(length)[1], effort="load")
    first = branch.special[0]
    assert first.kind == "branch point"
    assert abs(first.value - load_at(y, length)) < 1e-6
    assert abs(branch.folds[0].value - snap(length)[1]) < 1e-8
    before = branch.arclength < first.arclength
    assert branch.stable[before].all()
    assert not branch.stable[~before].any()
    sides = [branch.switch(first, sign=s) for s in (1, -1)]
    for side in sides:
        leaning = np.array([p.q[0] for p in side.points])
        assert abs(leaning[-1]) > 0.3
        assert all(p.residuals.balance < 1e-8 for p in side.points)
    assert sides[0].points[3].q[0] * sides[1].points[3].q[0] < 0.0
    with pytest.raises(ValueError, match="branch_points"):
        branch.switch(branch.folds[0])
    with pytest.raises(ValueError, match="sign"):
        branch.switch(first, sign=2)


def test_displacement_control_has_no_folds():
    """The height as the parameter: the motor's effort passes through both extremes of the load."""
    plant = truss(1.1)
    y, load = snap(1.1)
    branch = continue_equilibria(plant, apex_at(plant, 0.4), 0.4, -0.4, coordinate="y")
    heights = np.array([p.q[1] for p in branch.points])
    assert branch.special == ()
    assert largest(np.array([p.u[0] for p in branch.points]) - load_at(heights, 1.1)) < 1e-9
    assert largest(branch.values - heights) == 0.0
    assert branch.stable.all()  # held at its height, the shallow truss is stable sideways
    assert branch.stiffness.shape == (len(branch), 1)
    assert branch.at(y)[0].u[0] == pytest.approx(load, abs=1e-10)
    tall = truss(3.0, "points")
    held = continue_equilibria(tall, apex_at(tall, 2.5), 2.5, 0.5, coordinate="y")
    leg = max(np.roots([1.0, -3.0, 0.0, 3.0]).real)
    assert held.branch_points[0].value == pytest.approx(np.sqrt(leg**2 - 1.0), abs=1e-5)


def toggle(mass, k=400.0, r=0.5, rest=0.7):
    """Crank and rod of length r, a slider with a spring, and all weight at the pin between them."""
    bodies = [
        Body("crank", 0.5 * mass, (r, 0, 0), (1e-3, 1e-3, 1e-3)),
        Body("rod", 0.5 * mass, (0, 0, 0), (1e-3, 1e-3, 1e-3)),
        Body("slider", 0.3),
    ]
    joints = [
        Revolute("crank", "ground", "crank"),
        Revolute("rod", "crank", "rod", frame=Frame((r, 0, 0))),
        Prismatic("slider", "ground", "slider", axis=(1, 0, 0)),
    ]
    return Mechanism(
        "toggle",
        bodies,
        joints,
        [Revolute("pin", "rod", "slider", frame=Frame((r, 0, 0)))],
        [JointSpring("spring", "slider", k, rest)],
        gravity=(0, -9.81, 0),
    )


@pytest.mark.slow
@pytest.mark.nojit_slow
def test_a_toggle_folds_at_its_payload():
    """Slider-crank over centre: m g = 2 k (2 r sin - x0 tan), greatest at cos^3 = x0/2r; rows are redundant."""
    k, r, rest = 400.0, 0.5, 0.7
    angle = np.arccos((rest / (2 * r)) ** (1 / 3))
    limit = 2 * k * (2 * r * np.sin(angle) - rest * np.tan(angle)) / 9.81
    light = toggle(0.1)
    q = light.assemble(guess={"crank": 0.75, "rod": -1.5, "slider": 0.73}, crank=0.75)
    branch = continue_equilibria(toggle, trim(light, q, free="all"), 0.1, 2.0 * limit)
    assert branch.parameter == "toggle"
    (fold,) = branch.folds
    assert abs(fold.value - limit) < 1e-8 * limit
    assert abs(fold.point.q[0] - angle) < 1e-6
    angles = np.array([p.q[0] for p in branch.points])
    assert largest(branch.values * 9.81 - 2 * k * (2 * r * np.sin(angles) - rest * np.tan(angles))) < 1e-7
    assert np.array_equal(branch.stable, angles > angle)
    assert branch.points[5].plant.bodies[0].mass == 0.5 * branch.values[5]


def inverted(mass, joint="one", k=30.0, l=0.8):
    """A mass on a rod that springs hold upright: they give way at m = k/(g l)."""
    two = joint == "two"
    part = (
        Universal("base", "ground", "rod", axis=(1, 0, 0), second_axis=(0, 1, 0))
        if two
        else Revolute("base", "ground", "rod", axis=(1, 0, 0))
    )
    springs = [JointSpring(f"spring_{n}", n, k) for n in part.position_names]
    inertia = (1e-2, 1e-2, 1e-2)
    return Mechanism("inverted", [Body("rod", mass, (0, 0, l), inertia)], [part], springs=springs)


def test_an_upright_rod_buckles():
    limit = 30.0 / (9.81 * 0.8)
    branch = continue_equilibria(inverted, [0.0], 0.5 * limit, 1.5 * limit)
    (point,) = branch.special
    assert point.kind == "branch point"
    assert abs(point.value - limit) < 1e-9
    assert np.array_equal(branch.stable, branch.values < limit)
    leaning = branch.switch(point)
    angles = np.array([p.q[0] for p in leaning.points[1:]])
    assert largest(30.0 * angles - leaning.values[1:] * 9.81 * 0.8 * np.sin(angles)) < 1e-8
    assert leaning.stable[1:].all()
    assert leaning.ended.startswith("reached")


def test_two_modes_that_soften_together():
    """On a universal joint with equal springs both stiffnesses vanish at once, and no determinant changes its sign."""
    limit = 30.0 / (9.81 * 0.8)
    branch = continue_equilibria(lambda m: inverted(m, "two"), [0.0, 0.0], 0.5 * limit, 1.5 * limit)
    assert [s.kind for s in branch.special] == ["branch point"]
    assert abs(branch.special[0].value - limit) < 1e-7


@pytest.mark.parametrize("closure", ["line", "point", "revolute"])
def test_pendulum_against_a_torque(closure):
    """The rod hangs on a cut joint: all its stiffness is that of the constraint forces. Fold at m g l / 2."""
    plant = plants.pendulum(2.0, 0.7, closure=closure)
    limit = 2.0 * 9.81 * 0.35
    hanging = plant.assemble(angle=-0.5 * np.pi)
    branch = continue_equilibria(plant, hanging, 0.0, 2.0 * limit, effort="motor")
    assert abs(branch.folds[0].value - limit) < 1e-12
    assert abs(branch.folds[0].point.q[2]) < 1e-7
    assert branch.ended == "back at 0"
    assert branch.points[-1].q[2] == pytest.approx(0.5 * np.pi, abs=1e-9)
    assert branch.stable.sum() > 10
    assert np.array_equal(branch.stable, np.array([p.q[2] for p in branch.points]) < 0.0)
    frequency = np.sqrt(branch.stiffness[0, 0])
    assert frequency == pytest.approx(np.sqrt(1.5 * 9.81 / 0.7))
    both = continue_equilibria(plant, hanging, 0.9 * limit, -2.0 * limit, effort="motor")
    assert both.folds[0].value == pytest.approx(-limit, abs=1e-12)


@pytest.mark.nojit_slow
def test_a_closed_branch_comes_round():
    """Torques never reach the ends of the range: whole turns close the branch."""
    plant = plants.pendulum()
    branch = continue_equilibria(
        plant, plant.assemble(angle=-0.5), 0.0, 1.0, effort="motor", within=(-10.0, 10.0), step=0.2
    )
    assert branch.ended.startswith("closed")
    assert [round(s.value, 9) for s in branch.folds] == [4.905, -4.905]


# -- loops ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "coordinate", "stop", "at"),
    [
        ("parallel-four-bar", "q2", 3.0, 2.0),
        ("slider-crank", "q1", 3.0, 0.5 * np.pi),
        ("n-four-bar", "bar0", -1.0, 0.0),  # two ranks at once
    ],
)
def test_singular_poses_are_passed_and_flagged(name, coordinate, stop, at):
    plant, q, _ = plants.catalogue[name].start()
    start = q[plant.position_names.index(coordinate)]
    hold = ("q1",) if name == "parallel-four-bar" else None
    branch = continue_equilibria(plant, q, start, stop, coordinate=coordinate, hold=hold)
    (pose,) = branch.singular_configurations
    assert branch.special == (pose,)
    assert abs(pose.value - at) < 1e-5
    assert branch.ended.startswith("reached")
    assert max(plant.closure_error(p.q) for p in branch.points) < 1e-12
    efforts = np.array([p.u for p in branch.points])
    assert largest(np.diff(efforts, axis=0)) < 5.0  # straight on


def test_a_branch_agrees_with_trim():
    """The left arm goes round while the right one stays: the same efforts as trim at each pose."""
    plant = plants.five_bar()
    branch = continue_equilibria(
        plant, plant.assemble(left=2.1, right=1.0), 2.1, 3.1, coordinate="left", hold=("right",)
    )
    for p in branch.points[::5]:
        again = trim(plant, p.q)
        assert largest(again.u - p.u) < 1e-9
        assert p.q[2] == 1.0
    (middle,) = branch.at(2.5)
    assert largest(trim(plant, plant.assemble(guess=middle.q, left=2.5, right=1.0)).u - middle.u) < 1e-8


def test_motor_torque_on_the_hanging_five_bar():
    """The fold is where the stiffness of the loops is singular; stability is that of the linear model."""
    plant = plants.five_bar()
    hanging = trim(plant, plant.assemble(left=2.1, right=1.0), free="all", u=0.0, stable=True)
    branch = continue_equilibria(plant, hanging, 0.0, 100.0, effort="left")
    (fold,) = branch.folds
    for p in branch.points[::9]:
        growth = linearize(plant, p).poles().real.max()
        assert (growth < 1e-6) == branch.stable[[x is p for x in branch.points].index(True)]
    eigenvalues = linearize(plant, fold.point).poles()
    assert np.abs(eigenvalues).min() < 1e-4 * np.abs(eigenvalues).max()
    assert len(branch.at(0.5 * fold.value)) == 2


@pytest.mark.parametrize("cut", ["tip", "right"])
def test_folds_do_not_depend_on_where_the_loop_is_cut(cut):
    plant = plants.five_bar(cut, "revolute")
    hanging = trim(plant, plants.catalogue["five-bar"].initial(plant)[0], free="all", u=0.0, stable=True)
    branch = continue_equilibria(plant, hanging, 0.0, 100.0, effort="left", step=0.2)

    def torques(x):  # at the inner links, by virtual work
        return jacobian(lambda d: five_bar_potential(*(x + d), side=-1.0), 2)

    # where the right one vanishes and the stiffness is singular
    fold = fsolve(lambda x: [torques(x)[1], np.linalg.det(gradient(torques, x))], [6.1, -0.8], xtol=1e-12)
    assert branch.folds[0].value == pytest.approx(torques(fold)[0], abs=1e-8)


def test_a_length_as_the_parameter_moves_the_loops():
    """The rod's own length changes where the loop closes: angle from m g l/2 cos = u."""
    plant = plants.pendulum()
    branch = continue_equilibria(
        lambda length: plants.pendulum(length=length),
        plant.assemble(angle=-0.5 * np.pi),
        1.0,
        2.0,
        u=3.0,
        name="length",
        unit="m",
    )
    assert "along 'length' [m]" in str(branch)
    for p, length in zip(branch.points, branch.values, strict=True):
        assert np.cos(p.q[2]) == pytest.approx(3.0 / (0.5 * 9.81 * length), abs=1e-10)
        assert p.plant.closure_error(p.q) < 1e-12


def test_without_given_efforts_nothing_moves():
    """All motors are found: the configuration stays as the payload grows, the efforts follow."""
    plant = plants.two_arms()
    q = plants.catalogue["two-arms"].initial(plant)[0]
    branch = continue_equilibria(lambda m: plants.two_arms(object_mass=m), q, 6.0, 20.0, u={}, step=0.5)
    assert largest(np.array([p.q for p in branch.points]) - q) < 1e-9
    assert largest(branch.points[-1].u - trim(plants.two_arms(object_mass=20.0), q).u) < 1e-9


@pytest.mark.nojit_slow
@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_random_machines_on_springs(seed, twice):
    """Multi-axis joints, loops of several kinds, redundant rows: every point is at rest, and told stable rightly."""
    parts = fixtures.tree_parts(seed, 4, (fixtures.Spherical, fixtures.Revolute, fixtures.Universal))
    stays = [PointSpring(f"s{i}", "ground", f"body{i}", (0.5, i, 0), (0.2, 0, 0), 60.0, 0.3) for i in range(4)]
    motors = fixtures.actuators(parts, seed)[:1]
    kinds = (fixtures.Distance, fixtures.PointOnPlane)
    plant, q = fixtures.close_parts(parts, seed, kinds, twice, springs=stays, actuators=motors)
    start = trim(plant, q, free="all", u=0.0, stable=True)
    branch = continue_equilibria(plant, start, 0.0, 8.0, effort=motors[0].name, step=0.3)
    rest = np.zeros(plant.nv)
    for i, p in enumerate(branch.points):
        assert largest(constraint_force(plant, p.q, rest, p.u).acceleration) < 1e-7
        assert plant.closure_error(p.q) < 1e-11
        poles = linearize(plant, p).poles()
        assert largest(np.sort(np.abs(poles)) - np.sort(np.abs(branch.eigenvalues[i]))) < 1e-5
    assert branch.stable[0]
    again = trim(plant, branch.points[-1].q, u=branch.points[-1].u, free="all")
    assert largest(plant.difference(again.q, branch.points[-1].q)) < 1e-7


# -- ends, failures, records ------------------------------------------------------------------------------


def test_limits_end_a_branch():
    plant, q, _ = plants.catalogue["loader"].start()
    branch = continue_equilibria(plant, q, q[0], 5.0, coordinate="boom")
    assert branch.ended == "joint limit of 'boom', [-0.8, 0.85]"
    assert branch.values[-1] == pytest.approx(0.85, abs=1e-6)
    weak = plants.five_bar(effort=12.0)
    hanging = trim(weak, weak.assemble(left=2.1, right=1.0), free="all", u=0.0, stable=True)
    pushed = continue_equilibria(weak, hanging, 0.0, 10.0, effort="left", within=(-50.0, 50.0))
    assert "'left' needs" in pushed.ended
    assert "has 12 N m" in pushed.ended
    assert pushed.values[-1] == pytest.approx(12.0, abs=1e-6)
    held = continue_equilibria(
        plants.five_bar(effort=40.0), weak.assemble(left=2.1, right=1.0), 2.1, 3.5, coordinate="left", hold=("right",)
    )
    assert "needs" in held.ended
    assert largest(held.points[-1].u) == pytest.approx(40.0, abs=1e-5)
    short = continue_equilibria(weak, hanging, 0.0, 10.0, effort="left", max_points=4)
    assert len(short) == 4
    assert short.ended == "max_points = 4 reached"


def test_what_was_found_is_kept():
    def payload(mass):
        if mass > 1.0:
            raise RuntimeError("no such machine")
        return inverted(mass)

    with pytest.raises(ContinuationError, match=r"cannot be built at .*: no such machine after payload = ") as error:
        continue_equilibria(payload, [0.0], 0.5, 3.0)
    part = error.value.partial
    assert len(part) > 1
    assert part.values[-1] <= 1.0
    assert "no such machine" in part.ended

    def stop(fraction):
        if fraction > 0.3:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted, match="interrupted after") as error:
        continue_equilibria(inverted, [0.0], 0.5, 3.0, progress=stop)
    assert len(error.value.partial) > 2
    with pytest.raises(ContinuationError, match="same position_names"):
        continue_equilibria(lambda m: inverted(m) if m < 1 else toggle(m), [0.0], 0.5, 3.0)


def test_progress_is_told():
    told = []
    continue_equilibria(inverted, [0.0], 0.5, 3.0, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0
    continue_equilibria(inverted, [0.0], 0.5, 0.6, progress=True)


def test_dataset():
    plant = truss(1.1, "points")
    load = snap(1.1)[1]
    branch = continue_equilibria(plant, apex_at(plant, 0.5), -1.5 * load, 1.5 * load, effort="load")
    data = branch.to_dataset()
    assert dict(data.sizes) | {"point": 0} == {
        "point": 0, "position": 2, "actuator": 1, "row": 0, "mode": 2, "pole": 4, "special": 2
    }  # fmt: skip
    assert np.array_equal(data.q.sel(position="y"), [p.q[1] for p in branch.points])
    assert np.array_equal(data.u.sel(actuator="load"), branch.values)
    assert data.special_kind.values.tolist() == ["fold", "fold"]
    assert data.parameter.attrs == {"units": "N", "long_name": "load"}
    assert np.array_equal(data.stable, branch.stable)
    assert data.attrs["ended"].startswith("reached")


def test_what_is_refused():
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    for more, message in (
        ({}, "the parameter: give one of effort="),
        ({"effort": "left", "coordinate": "left"}, "the parameter: give one of effort="),
        ({"effort": "lefft"}, "no actuator 'lefft'; did you mean 'left'"),
        ({"coordinate": "lefft"}, "no position coordinate 'lefft'"),
        ({"coordinate": "left", "u": 0.0}, "no motor can hold 'left'"),
        ({"effort": "left", "name": "load"}, "this parameter has its own"),
        ({"effort": "left", "step": 0.0}, "step must be > 0"),
        ({"effort": "left", "max_points": 1}, "max_points"),
        ({"effort": "left", "hold": plant.velocity_names}, "no coordinate is free to move"),
        ({"effort": "left", "within": (2.0, 3.0)}, "within must be"),
        ({"effort": "left", "free": ("rigth",)}, "did you mean 'right'"),
    ):
        with pytest.raises(ValueError, match=message):
            continue_equilibria(plant, q, 0.0, 10.0, **more)
    with pytest.raises(ValueError, match="start and stop must differ"):
        continue_equilibria(plant, q, 1.0, 1.0, effort="left")
    with pytest.raises(ValueError, match="leave out effort="):
        continue_equilibria(inverted, [0.0], 0.5, 3.0, effort="left")
    with pytest.raises(TypeError, match="plant or a function"):
        continue_equilibria("five-bar", q, 0.0, 1.0)
    with pytest.raises(TypeError, match="must return a plant"):
        continue_equilibria(lambda m: None, q, 0.0, 1.0)
    with pytest.raises(EquilibriumError, match="'left' needs 50 N m and has 20 N m"):
        continue_equilibria(plants.five_bar(effort=20.0), q, 0.0, 50.0, effort="left")
    with pytest.raises(EquilibriumError, match="no equilibrium"):
        continue_equilibria(plants.pendulum(), plants.pendulum().assemble(angle=-1.0), 30.0, 40.0, effort="motor")
    with pytest.raises(ValueError, match="several axes"):
        ball = Mechanism("ball", [Body("b", 1.0, (0, 0, -1), (1, 1, 1))], [Spherical("ball", "ground", "b")])
        continue_equilibria(ball, ball.neutral(), 0.0, 0.1, coordinate="ball_qx")
    level, q, _ = plants.catalogue["three-rrr"].start()  # no gravity: any torque moves it
    with pytest.raises(EquilibriumError, match="no equilibrium beside drive1 = 0: it has a family of equilibria"):
        continue_equilibria(level, q, 0.0, 1.0, effort=level.actuator_names[0])
