"""Plants given by functions: contract, errors, and agreement with the same machine made of parts."""

from types import SimpleNamespace

import numpy as np
import pytest

from cmbcontrol import plants
from cmbcontrol.dynamics.acceleration import forward_dynamics
from cmbcontrol.errors import AssemblyError, ModelError
from cmbcontrol.model.elements import Coupling, Point
from cmbcontrol.model.functions import FunctionPlant
from cmbcontrol.model.plant import Plant
from tests.fixtures import bead


def test_contract_of_plants():
    for entry in plants.catalogue.values():
        plant = entry.factory()
        assert isinstance(plant, Plant), entry.name
        with pytest.raises(AttributeError, match="frozen"):
            plant.name = "other"


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
    with pytest.raises(TypeError, match="FunctionPlant has no argument 'colour'"):
        bead(colour="red")


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


def test_modes_of_functions():
    particle = plants.particle_on_circle()
    q, v = np.array([0.6, 0.8]), np.array([0.3, -0.4])
    free = particle.without("circle")
    assert free.terms(q, v).A.shape == (0, 2) and free.terms(q, v).rank == 0 and free.row_slices == {}
    both = particle.with_loops(Coupling("level", {"q2": 2.0}, 1.6))
    terms = both.terms(q, v)
    assert pytest.approx(np.array([[0.6, 0.8], [0.0, 2.0]])) == terms.A and terms.phi == pytest.approx([0.0, 0.0])
    assert both.without("circle").row_names == ("level",) and both.row_scale == pytest.approx([1.0, 0.5])
    both.check_derivatives(q, v)
    assert both.with_loops(Coupling("level", {"q1": 1.0})).row_names == both.row_names
    with pytest.raises(TypeError, match="only a Coupling"):
        particle.with_loops(Point("p", "ground", "b"))
    with pytest.raises(ValueError, match="coordinate 'q3'"):
        particle.with_loops(Coupling("level", {"q3": 1.0}))
