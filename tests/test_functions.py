"""Plants given by functions: contract, errors, and agreement with the same machine made of parts."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from cmbcontrol import plants
from cmbcontrol.dynamics.acceleration import acceleration, forward_dynamics
from cmbcontrol.errors import AssemblyError, ModelError
from cmbcontrol.model.elements import Coupling
from cmbcontrol.model.functions import FunctionPlant
from cmbcontrol.model.plant import Plant
from cmbcontrol.papers.formulations import FORMULATIONS, NamedFormulation

BEAD = {
    "coordinates": ("x", "y"),
    "M": lambda q: np.diag([2.0, 2.0]),
    "h": lambda q, v: [0.0, 19.62],
    "Phi": lambda q: [q[1] - q[0] ** 2],
    "A": lambda q: [[-2.0 * q[0], 1.0]],
    "Adot_v": lambda q, v: [-2.0 * v[0] ** 2],
    "potential": lambda q: 19.62 * q[1],
    "units": ("m", "m"),
}


def bead(**changes):
    """A bead on the parabola y = x^2."""
    return FunctionPlant("bead", **{**BEAD, **changes})


def twice(times=2, **changes):
    """The bead, its row written more than once."""
    return bead(
        Phi=lambda q: [q[1] - q[0] ** 2] * times,
        A=lambda q: [[-2.0 * q[0], 1.0]] * times,
        Adot_v=lambda q, v: [-2.0 * v[0] ** 2] * times,
        **changes,
    )


def test_contract_of_plants():
    for entry in plants.catalogue.values():
        plant = entry.factory()
        assert isinstance(plant, Plant), entry.name
        with pytest.raises(AttributeError, match="frozen"):
            plant.name = "other"


def test_names_units_and_defaults():
    plant = bead(actuators=("y",), rows={"rail": ("rail_normal",)}, effort=[3.0], limits={"x": (-1.0, 2.0)})
    assert (plant.nq, plant.nv, plant.nu) == (2, 2, 1)
    assert plant.position_names == plant.velocity_names == ("x", "y")
    assert plant.velocity_units == ("m/s", "m/s")
    assert plant.row_slices == {"rail": slice(0, 1)} and plant.row_names == ("rail_normal",)
    assert plant.effort.tolist() == [3.0] and plant.limits[0].tolist() == [-1.0, 2.0]
    assert plant.terms([1.0, 1.0], [0.0, 0.0]).B.tolist() == [[0.0], [1.0]]
    assert plant.index("y") == 1 and plant.pack({"y": 2.0}).tolist() == [0.0, 2.0]
    assert bead().row_names == ("loop",) and twice().row_names == ("loop_1", "loop_2")
    assert "bead" in repr(plant) and "rail_normal" in str(plant) and "limit 3" in str(plant)


def test_drive_that_depends_on_the_pose():
    plant = bead(actuators=("pull",), B=lambda q: [[1.0], [2.0 * q[0]]])
    assert plant.terms([3.0, 9.0], [0.0, 0.0]).B.tolist() == [[1.0], [6.0]]
    fixed = bead(actuators=("pull",), B=[[1.0], [0.5]])
    fixed.terms([0.0, 0.0], [0.0, 0.0]).B[:] = 7.0  # a record of one state: no way back into the plant
    assert fixed.terms([0.0, 0.0], [0.0, 0.0]).B.tolist() == [[1.0], [0.5]]


def test_motion_of_the_bead():
    """Lagrange's equation of x alone: (1 + 4 x^2) x'' + 4 x x'^2 + 2 g x = u_x / m."""
    plant = bead(actuators=("x",))
    x, rate, u = 0.7, -1.3, 5.0
    vdot = forward_dynamics(plant, [x, x * x], [rate, 2 * x * rate], [u])
    expected = (u / 2.0 - 4.0 * x * rate**2 - 2.0 * 9.81 * x) / (1.0 + 4.0 * x * x)
    assert vdot == pytest.approx([expected, 2 * x * expected + 2 * rate**2], rel=1e-12)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_duplicated_rows_change_nothing(formulation):
    q, v = np.array([0.7, 0.49]), np.array([1.0, 1.4])
    once, more = bead().terms(q, v), twice(3).terms(q, v)
    assert (once.rank, more.rank, more.A.shape) == (1, 1, (3, 2))
    f = np.array([1.0, -2.0])
    expected = acceleration(once, f)
    inverse = "svd" if formulation in ("lagrange", "augmented") else None  # they need independent rows
    found = acceleration(more, f, formulation=NamedFormulation(formulation, pseudoinverse=inverse))
    assert found == pytest.approx(expected, rel=1e-12)
    found = twice(3).diagnose(q)
    assert found.redundant == {"loop": 2} and not any(found.unique_multipliers.values())


@pytest.mark.parametrize("metric", ["mass", "euclidean"])
@pytest.mark.parametrize("times", [1, 2])
def test_projections(metric, times):
    """Closing moves across the loop in the metric: M (q - q0) is a combination of the rows."""
    heavy = np.array([[5.0, 1.0], [1.0, 2.0]])
    plant = twice(times, M=lambda q: heavy)
    W = heavy if metric == "mass" else np.eye(2)
    start = np.array([0.7, 0.49 + 1e-7])
    q = plant.close(start, metric=metric)
    assert plant.closure_error(q) < 1e-14
    tangent = np.array([1.0, 2.0 * q[0]])
    assert abs(tangent @ W @ (q - start)) < 1e-13
    v0 = np.array([1.0, -3.0])
    v = plant.project_velocity(q, v0, metric=metric)
    assert np.abs(plant.jacobian(q) @ v).max() < 1e-13
    assert abs(tangent @ W @ (v - v0)) < 1e-12
    if metric == "mass":
        assert plant.terms(q, v0, project=True).v == pytest.approx(v, abs=1e-14)


def test_close_far_away_gives_up_with_numbers():
    never = bead(
        Phi=lambda q: [1.0 + q[0] ** 2], A=lambda q: [[2.0 * q[0], 0.0]], Adot_v=lambda q, v: [2.0 * v[0] ** 2]
    )
    with pytest.raises(AssemblyError, match=r"'loop' stays open by 1\.") as caught:
        never.close([0.3, 0.0])
    assert caught.value.residuals["loop"] >= 1.0


def test_assembly():
    plant = bead(limits={"x": (-1.0, 5.0)})
    assert plant.assemble(y=4.0) == pytest.approx([2.0, 4.0], abs=1e-12)
    assert plant.assemble(guess={"x": -0.9}, y=0.25) == pytest.approx([-0.5, 0.25], abs=1e-12)
    with pytest.raises(AssemblyError, match="'loop' open by"):
        plant.assemble(y=-1.0)
    with pytest.raises(ValueError, match="did you mean"):
        plant.assemble(xx=1.0)


def test_singular_pose_where_all_gradients_vanish():
    """Rounding errors are no row: rank 0 at the pose, 1 nearby."""
    plant = plants.slider_crank()
    found = plant.diagnose([0.5 * np.pi, -np.pi])
    assert (found.rank, found.generic_rank, found.dof, found.singular) == (0, 1, 2, True)


def test_generic_rank_of_crossing_branches():
    """(y - x)(y + x) = 0 at the origin, and a cusp."""
    cross = bead(
        Phi=lambda q: [q[1] ** 2 - q[0] ** 2],
        A=lambda q: [[-2.0 * q[0], 2.0 * q[1]]],
        Adot_v=lambda q, v: [2.0 * v[1] ** 2 - 2.0 * v[0] ** 2],
    )
    assert cross.terms([0.0, 0.0], [0.0, 0.0]).rank == 0
    assert cross.generic_rank([0.0, 0.0]) == 1


def test_unknown_energy_is_not_a_number():
    functions = {k: v for k, v in BEAD.items() if k != "potential"}
    terms = FunctionPlant("bead", **functions).terms([0.0, 0.0], [1.0, 0.0])
    assert math.isnan(terms.potential) and math.isnan(terms.energy) and terms.kinetic == 1.0


def test_mass_matrix_that_fails_away_from_the_neutral_pose():
    plant = bead(M=lambda q: np.diag([2.0, 1.0 - q[0]]))
    for call in (
        lambda: plant.terms([1.5, 0.0], [0.0, 0.0]),
        lambda: plant.project_velocity([1.5, 0.0], [0.0, 0.0]),
        lambda: plant.close([1.5, 0.0]),
    ):
        with pytest.raises(ModelError, match="not positive definite"):
            call()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"M": lambda q: np.eye(3)}, r"M must return shape \(2, 2\), got \(3, 3\)"),
        ({"h": lambda q, v: 1.0}, r"h must return shape \(2,\), got \(\)"),
        ({"A": lambda q: [1.0, 0.0]}, r"A must return shape \(1, 2\)"),
        ({"Adot_v": lambda q, v: [[0.0]]}, r"Adot_v must return shape \(1,\)"),
        ({"potential": lambda q: [0.0]}, r"potential must return shape \(\), got \(1,\)"),
        ({"B": lambda q: np.eye(2)}, r"B must return shape \(2, 0\)"),
        ({"B": np.eye(2)}, r"B of plant 'bead' .* must have shape \(2, 0\)"),
        ({"M": lambda q: [[1.0, 0.5], [0.0, 1.0]]}, "M must be symmetric"),
        ({"M": lambda q: [[1.0, 2.0], [2.0, 1.0]]}, "M must be positive definite"),
        ({"h": lambda q, v: [np.nan, 0.0]}, "h is not finite"),
        ({"Phi": lambda q: q[5]}, r"Phi\(q\) failed"),
        ({"rows": ("a", "b")}, r"Phi\(q\) has 1 rows, but 2 are named"),
        ({"coordinates": ("x", "x")}, "2 coordinates are called 'x'"),
        ({"units": ("m",)}, "units must have 2 entries"),
        ({"effort": [1.0]}, "effort must have 0 entries"),
        ({"limits": {"x": (1.0, 0.0)}}, "lower limit"),
        ({"limits": {"z": (0.0, 1.0)}}, "no coordinate 'z'"),
        ({"actuators": ("z",)}, "no coordinate 'z'"),
        ({"neutral": [0.0]}, "neutral must have shape"),
        ({"size": 0.0}, "size of a plant must be > 0"),
    ],
)
def test_bad_functions_are_named(changes, message):
    with pytest.raises(ValueError, match=message):
        bead(**changes)


def test_bad_types_are_named():
    with pytest.raises(TypeError, match="h must be a function"):
        bead(h=[0.0, 1.0])
    with pytest.raises(TypeError, match="must be a sequence of names"):
        bead(coordinates="xy")
    with pytest.raises(TypeError, match="unexpected keyword"):
        bead(colour="red")


@pytest.mark.parametrize("name", ["particle", "slider-crank"])
def test_published_functions_are_consistent(name):
    plant = plants.catalogue[name].factory()
    rng = np.random.default_rng(3)
    for _ in range(5):
        plant.check_derivatives(plant.neutral() + rng.uniform(-0.4, 0.4, 2), rng.standard_normal(2))


@pytest.mark.parametrize(
    ("changes", "culprit"),
    [
        ({"A": lambda q: [[2.0 * q[0], 1.0]]}, "A disagrees with the gradient of Phi"),
        ({"Adot_v": lambda q, v: [2.0 * v[0] ** 2]}, "Adot_v disagrees with the rate of A"),
        ({"M": lambda q: np.diag([2.0 + q[1] ** 2, 2.0])}, "h disagrees with the Coriolis forces"),
        ({"potential": lambda q: -19.62 * q[1]}, "h disagrees with the gradient of the potential"),
    ],
)
def test_check_derivatives_names_the_culprit(changes, culprit):
    bead().check_derivatives([0.3, 0.4], [1.0, -2.0])
    with pytest.raises(ModelError, match=culprit):
        bead(**changes).check_derivatives([0.3, 0.4], [1.0, -2.0])


@pytest.mark.parametrize("length", [1e-6, 1.0, 1e4])
@pytest.mark.parametrize("speed", [0.0, 1e-6, 1.0, 150.0, 1e5])
def test_neither_speed_nor_size_matters_to_differences(length, speed):
    """They step through configurations; along v by the time, they would step round the circle at 150 rad/s."""
    crank = plants.slider_crank(length=length)
    crank.check_derivatives([1.0, -2.0], [speed, -2.0 * speed])
    bead = plants.particle_on_circle(radius=length)
    bead.check_derivatives([0.6 * length, 0.8 * length], [-0.8 * speed * length, 0.6 * speed * length])
    functions = crank._functions | {"Adot_v": lambda q, v: 1.001 * np.array(crank._functions["Adot_v"](q, v))}
    potential = functions.pop("potential")
    names = {"actuators": ("q1",), "rows": ("slider",), "units": ("rad", "rad"), "size": length}
    wrong = FunctionPlant("wrong", ("q1", "q2"), **functions, **names)
    if speed:
        with pytest.raises(ModelError, match="Adot_v disagrees with the rate of A along v"):
            wrong.check_derivatives([1.0, -1.0], [speed, speed])
    functions = crank._functions | {"potential": lambda q: 1.001 * potential(q)}
    with pytest.raises(ModelError, match="h disagrees with the gradient of the potential"):
        FunctionPlant("wrong", ("q1", "q2"), **functions, **names).check_derivatives([1.0, -2.0], [speed, -2.0 * speed])


def test_friction_is_no_inconsistency():
    bead(h=lambda q, v: [0.3 * v[0], 19.62 + 0.2 * np.sign(v[1])]).check_derivatives([0.3, 0.4], [1.0, -2.0])


def test_functions_from_a_mechanism():
    """The terms of a mechanism, handed in as functions, give back the same record."""
    machine = plants.five_bar(closure="point")
    zero = np.zeros(4)
    terms = SimpleNamespace(at=lambda q, v=zero: machine.terms(np.array(q), np.array(v)))
    plant = FunctionPlant(
        "copy",
        machine.position_names,
        M=lambda q: terms.at(q).M,
        h=lambda q, v: terms.at(q, v).h,
        Phi=lambda q: terms.at(q).phi,
        A=lambda q: terms.at(q).A,
        Adot_v=lambda q, v: terms.at(q, v).b,
        B=lambda q: terms.at(q).B,
        actuators=machine.actuator_names,
        potential=lambda q: terms.at(q).potential,
        units=machine.position_units,
    )
    rng = np.random.default_rng(0)
    q = plant.assemble(guess=machine.assemble(left=2.1, right=1.0), left=2.2)
    v = machine.project_velocity(q, rng.standard_normal(4))
    plant.check_derivatives(q, v)
    u = [1.0, 2.0]
    assert plant.terms(q, v).rank == machine.terms(q, v).rank == 2
    assert forward_dynamics(plant, q, v, u) == pytest.approx(forward_dynamics(machine, q, v, u), rel=1e-11)
    assert plant.project_velocity(q, [1.0, 2.0, 3.0, 4.0]) == pytest.approx(
        machine.project_velocity(q, [1.0, 2.0, 3.0, 4.0]), abs=1e-12
    )
    off = q + 1e-4 * rng.standard_normal(4)
    assert plant.close(off) == pytest.approx(machine.close(off), abs=1e-11)


def test_rows_and_coordinates_have_names_of_their_own():
    given = dict(M=lambda q: np.eye(2), h=lambda q, v: [0, 0], A=lambda q: [[1, 0]], Adot_v=lambda q, v: [0])
    with pytest.raises(ModelError, match=r"coordinate 'x' and a row of the constraint 'loop' are both called 'x'"):
        FunctionPlant("p", ("x", "y"), Phi=lambda q: [q[0]], rows=("x",), **given)
    plant = FunctionPlant("p", ("x", "y"), Phi=lambda q: [q[0]], rows={"wall": ("stop",)}, **given)
    with pytest.raises(ModelError, match="row called 'stop'"):
        plant.with_loops(Coupling("stop", {"y": 1.0}))
