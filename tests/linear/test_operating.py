"""Operating points: what trim finds and refuses, and what a point is worth."""

import dataclasses

import numpy as np
import pytest

from cmbcontrol import OperatingPoint, linearize, plants, trim
from cmbcontrol.dynamics.forces import constraint_force, inverse_dynamics
from cmbcontrol.errors import AssemblyError, EquilibriumError
from cmbcontrol.model.elements import Actuator, Body, Frame, JointSpring, Prismatic, Revolute
from cmbcontrol.model.mechanism import Mechanism
from cmbcontrol.plants.five_bar import configuration
from tests.fixtures import largest

# -- holding a configuration -----------------------------------------------------------------------------------


@pytest.mark.parametrize("case", ["open", "asymmetric"])
@pytest.mark.parametrize(("cut", "closure"), [("tip", "line"), ("tip", "revolute"), ("right", "revolute")])
def test_the_motors_hold_the_five_bar(case, cut, closure):
    plant = plants.five_bar(cut, closure)
    q = configuration(plant, case)
    point = trim(plant, q)
    rest = np.zeros(4)
    assert np.array_equal(point.q, q)
    assert largest(point.u - inverse_dynamics(plant, q, rest, rest).u) < 1e-12
    assert largest(point.u - trim(plants.five_bar(), configuration(plants.five_bar(), case)).u) < 1e-9
    found = constraint_force(plant, q, rest, point.u)
    assert largest(found.acceleration) < 1e-12
    assert largest(found.multipliers - point.lam) < 1e-9
    terms = plant.terms(q, rest)
    assert largest(terms.h + terms.A.T @ point.lam - terms.B @ point.u) < 1e-10
    assert largest(point.lam - terms.A_pinv.T @ (terms.A.T @ point.lam)) < 1e-9  # minimum norm
    assert point.residuals.position < 1e-12
    assert point.residuals.velocity == 0.0
    assert point.residuals.balance < 1e-10


# -- configurations that settle --------------------------------------------------------------------------------


def cart(*loops):
    """A pole on a driven cart."""
    bodies = [Body("cart", 1.0), Body.rod("pole", 0.5, 1.2)]
    joints = [
        Prismatic("cart", "ground", "cart", axis=(1, 0, 0)),
        Revolute("pole", "cart", "pole", axis=(0, -1, 0)),
    ]
    return Mechanism("cart-pole", bodies, joints, loops, actuators=[Actuator("cart")])


def test_upright_pole_on_a_cart():
    plant = cart()
    point = trim(plant, [0.3, 1.3], free=("pole",))
    assert point.q == pytest.approx([0.3, 0.5 * np.pi], abs=1e-12)
    assert point.u == pytest.approx([0.0], abs=1e-12)
    assert linearize(plant, point).poles().real.max() > 1.0
    with pytest.raises(EquilibriumError, match="cannot hold"):
        trim(plant, [0.3, 1.3])


# -- what is refused ------------------------------------------------------------------------------------


def test_open_loops():
    plant = plants.five_bar()
    with pytest.raises(AssemblyError, match=r"'tip' open by .* m\. .*plant\.assemble\(left=2\.1, right=1\)") as error:
        trim(plant, {"left": 2.1, "right": 1.0})
    assert error.value.residuals["tip"] > 0.1
    with pytest.raises(ValueError, match=r"q must have shape \(4,\)"):
        trim(plant, [0.0, 0.0])


def test_unknown_names_and_bad_numbers():
    plant = plants.five_bar()
    q = configuration(plant, "open")
    with pytest.raises(ValueError, match="no coordinate to free 'rigth'; did you mean 'right'"):
        trim(plant, q, free=("rigth",))
    with pytest.raises(ValueError, match="tolerance must be > 0"):
        trim(plant, q, tolerance=0.0)
    with pytest.raises(TypeError):
        trim(plant, q, fre=("left",))


def test_operating_point_at_any_state():
    plant = plants.five_bar()
    q = configuration(plant, "open")
    v = plant.project_velocity(q, np.ones(4))
    point = OperatingPoint.at(plant, q, u=1.0, v=v)
    assert point.u.tolist() == [1.0, 1.0]
    assert point.residuals.velocity < 1e-12
    assert point.residuals.balance > 1.0
    open_point = OperatingPoint.at(plant, q + 0.01, v=np.ones(4))
    assert open_point.residuals.position > 1e-3
    assert open_point.residuals.velocity > 0.1
    with pytest.raises(dataclasses.FrozenInstanceError):
        point.q = q
    text = str(point)
    assert "operating point of five-bar" in text
    assert "motor left" in text
    assert "motor 0 " in str(dataclasses.replace(point, plant=None))  # as from a file


def test_springs_count_in_what_is_small():
    """A mass between two strong springs that cancel: rounding is no imbalance, a shift of a micron is."""
    bodies = [Body("mass", 1.0)]
    joints = [Prismatic("x", "ground", "mass", axis=(1, 0, 0))]
    springs = [JointSpring("left", "x", 1e7, -1.0), JointSpring("right", "x", 1e7, 1.0 / 3.0)]
    plant = Mechanism("mass", bodies, joints, springs=springs, gravity=(0, 0, 0))
    middle = -1.0 / 3.0
    assert trim(plant, [middle]).residuals.balance < 1e-7
    with pytest.raises(EquilibriumError, match="'x'"):
        trim(plant, [middle + 1e-6])
    assert trim(plant, [0.4], free="all").q[0] == pytest.approx(middle, abs=1e-14)


def test_frame_of_the_ground_does_not_matter():
    """The five-bar turned and shifted in space, gravity with it: the same torques."""
    turn = Frame.turned((1.0, 2.0, 3.0), 1.0, (3.0, -2.0, 1.0))
    plain = plants.five_bar()
    joints = [dataclasses.replace(j, frame=turn @ j.frame) if j.parent == "ground" else j for j in plain.joints]
    loops = [dataclasses.replace(plain.loops[0], axis=(0, 0, 1))]
    moved = Mechanism("moved", plain.bodies, joints, loops, actuators=plain.actuators, gravity=turn.R @ plain.gravity)
    q = configuration(plain, "open")
    assert largest(trim(moved, q).u - trim(plain, q).u) < 1e-9
    models = [linearize(p, trim(p, q), coordinates=("left", "right")) for p in (plain, moved)]
    assert largest(models[0].A - models[1].A) < 1e-9


# -- some efforts given, some coordinates held --------------------------------------------------------


def test_what_cannot_be_balanced_is_named():
    plant = plants.five_bar()
    q = configuration(plant, "open")
    with pytest.raises(
        EquilibriumError, match=r"with the efforts of 'left' given, 'right' cannot hold 'five-bar'.*'left' -?[\d.]+ N m"
    ):
        trim(plant, q, u={"left": 0.0})
    with pytest.raises(EquilibriumError, match=r"no equilibrium .* with the efforts of 'motor' given|no equilibrium"):
        pendulum = plants.pendulum()
        trim(pendulum, pendulum.assemble(angle=0.3), u={"motor": 30.0}, free="all")
    with pytest.raises(EquilibriumError, match=r"'left' needs 50 N m and has 40 N m"):
        trim(plants.five_bar(effort=40.0), q, u={"left": 50.0})
    with pytest.raises(ValueError, match="no actuator 'lefft'; did you mean 'left'"):
        trim(plant, q, u={"lefft": 0.0})
    with pytest.raises(ValueError, match="the effort of 'left' in u must be finite"):
        trim(plant, q, u={"left": np.nan})
    flat = plants.n_four_bar()
    with pytest.raises(EquilibriumError, match="a singular configuration, with"):
        trim(flat, flat.assemble(guess=np.zeros(5), bar0=0.0))


# -- every machine ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(plants.catalogue))
def test_catalogue_is_held(name):
    """Where the motors can hold the start, nothing accelerates; the efforts are the smallest."""
    plant, q, _ = plants.catalogue[name].start()
    if name == "governor":  # it has no motor
        with pytest.raises(EquilibriumError, match="cannot hold 'governor'"):
            trim(plant, q)
        return
    point = trim(plant, q)
    rest = np.zeros(plant.nv)
    scale = 1.0 + largest(plant.terms(q, rest).h)
    assert largest(constraint_force(plant, q, rest, point.u).acceleration) < 1e-9 * scale
    assert largest(point.u - inverse_dynamics(plant, q, rest, rest).u) < 1e-9 * scale
    assert point.report.preload == max(plant.nu - plant.terms(q, rest).dof, 0)
    assert not point.report.singular
    assert "efforts: norm" in str(point)
    given = trim(plant, q, u=dict(zip(plant.actuator_names, point.u, strict=True)))
    assert np.array_equal(given.u, point.u)


# -- python-control ---------------------------------------------------------------------------------------


def test_operating_point_for_control():
    import control

    plant = plants.five_bar()
    point = trim(plant, configuration(plant, "open"))
    full = point.to_control()
    assert isinstance(full, control.OperatingPoint)
    assert np.array_equal(full.states, np.concatenate([point.q, point.v]))
    assert np.array_equal(full.inputs, point.u)
    lin = linearize(plant, point, coordinates=("left", "right"), outputs=("left",))
    states, inputs = lin_point = point.to_control(lin)
    assert not states.any()
    assert states.shape == (4,)
    assert inputs.shape == (2,)
    assert lin_point.outputs.shape == (1,)
    again = control.linearize(lin.to_ss(), lin_point)
    assert largest(again.A - lin.A) < 1e-5
    other = trim(plant, configuration(plant, "asymmetric"))
    with pytest.raises(ValueError, match="another operating point"):
        other.to_control(lin)
    with pytest.raises(TypeError, match="must be from linearize"):
        point.to_control(lin.to_ss())


@pytest.mark.parametrize("absolute", [False, True])
def test_operating_point_of_a_system(absolute):
    plant = plants.five_bar()
    point = trim(plant, configuration(plant, "open"))
    system = plant.to_iosystem(point, coordinates=("left", "right"), absolute=absolute)
    found = point.to_control(system)
    elsewhere = trim(plant, plant.assemble(guess=point.q, left=2.2, right=1.05))
    other = elsewhere.to_control(system)  # a rest of the same system
    assert largest(other.states) > 0.01
    assert largest(np.asarray(system.dynamics(0.0, other.states, other.inputs))) < 1e-8
    assert largest(np.asarray(system.dynamics(0.0, found.states, found.inputs))) < 1e-9
    assert largest(found.inputs - (point.u if absolute else 0.0)) == 0.0
    assert largest(np.asarray(system.output(0.0, found.states, found.inputs)) - found.outputs) == 0.0


def test_the_effort_that_is_missing_is_named():
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    needed = trim(plant, q).u[0]
    words = rf"at left = 2\.1, .*'left' would have to give {needed:.6g} N m: leave it out of u="
    with pytest.raises(EquilibriumError, match=words):
        trim(plant, q, u={"left": 0.0})


def test_joints_that_a_mapping_does_not_name_are_told_of():
    with pytest.raises(AssemblyError, match=r"does not name are at 0; plant\.assemble\(left=2\.1\)"):
        trim(plants.five_bar(), {"left": 2.1})


def test_the_point_tells_units_and_shares_of_the_limits():
    plant = plants.five_bar(effort=100.0)
    point = trim(plant, plant.assemble(left=2.1, right=1.0))
    share = 100.0 * abs(point.u[0]) / 100.0
    assert f"{point.u[0]:.6g} N m, {share:.0f} % of its limit" in str(point)
    assert f"efforts: norm {point.report.effort_norm:.6g} N m" in str(point)


def test_an_unstable_equilibrium_outside_the_limits_hints_at_a_stable_one():
    rod = Body.planar("rod", 1.0, 0.5, 0.1)
    joint = Revolute("pivot", "ground", "rod", limits=(-2.0, 1.0))
    plant = Mechanism("pendulum", [rod], [joint], gravity=(0, -9.81, 0))
    with pytest.raises(EquilibriumError, match=r"outside its limits.*stable=True"):
        trim(plant, [0.9], free="all")
    assert trim(plant, [0.9], free="all", stable=True).q[0] == pytest.approx(-np.pi / 2.0)
