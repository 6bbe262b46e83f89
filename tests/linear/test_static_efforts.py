"""Motor efforts that hold a configuration: given, limited, wished, preloaded."""

import dataclasses
import re

import numpy as np
import pytest

from cmbcontrol import plants, trim
from cmbcontrol.dynamics.forces import constraint_force
from cmbcontrol.errors import EquilibriumError
from cmbcontrol.model.elements import Actuator, Body, Prismatic
from cmbcontrol.model.mechanism import Mechanism
from cmbcontrol.plants.five_bar import configuration
from tests.fixtures import five_bar_potential, held_box, largest, motorised_five_bar, slope

# -- holding a configuration -----------------------------------------------------------------------------------


def test_weight_chooses_among_holding_efforts():
    """With a motor on every joint: u' W^-1 u is smallest on the plane of efforts that hold the pose."""
    plant = motorised_five_bar(*map(Actuator, ("left", "elbow_left", "right", "elbow_right")))
    q = configuration(plant, "open")
    terms = plant.terms(q, np.zeros(4))
    rng = np.random.default_rng(0)
    root = rng.standard_normal((4, 4))
    for weight in (None, np.array([1.0, 4.0, 9.0, 0.5]), root @ root.T):
        u = trim(plant, q, weight=weight).u
        W = np.eye(4) if weight is None else np.diag(weight) if weight.ndim == 1 else weight
        assert largest(terms.Z.T @ (terms.h - u)) < 1e-10
        away = np.linalg.svd(terms.Z.T @ terms.B)[2][2:].T  # efforts that hold nothing
        assert largest(away.T @ np.linalg.solve(W, u)) < 1e-9
    with pytest.raises(ValueError, match="positive definite"):
        trim(plant, q, weight=-np.eye(4))


def test_limits_move_the_load_to_other_motors():
    """Smallest efforts within the limits: checked by the conditions of optimality."""
    free = trim(
        motorised_five_bar(*map(Actuator, ("left", "elbow_left", "right", "elbow_right"))),
        configuration(motorised_five_bar(), "open"),
    )
    motors = [
        Actuator("left", effort=0.8 * abs(free.u[0])),
        Actuator("elbow_left"),
        Actuator("right", effort=0.9 * abs(free.u[2])),
        Actuator("elbow_right", effort=1.05 * abs(free.u[3])),
    ]
    plant = motorised_five_bar(*motors)
    for weight in (np.eye(4), np.diag([1.0, 0.1, 2.0, 3.0])):
        u = trim(plant, configuration(plant, "open"), weight=weight).u
        terms = plant.terms(configuration(plant, "open"), np.zeros(4))
        assert np.all(np.abs(u) <= plant.effort * (1 + 1e-12))
        assert largest(terms.Z.T @ (terms.h - terms.B @ u)) < 1e-9
        # W^-1 u = (Z'B)' nu - mu, where mu pulls inwards at limits and is zero elsewhere
        at_limit = np.abs(u) > plant.effort * (1 - 1e-9)
        assert at_limit.any()
        gradient = np.linalg.solve(weight, u)
        unknowns = np.column_stack([terms.B.T @ terms.Z, np.eye(4)[:, at_limit]])
        x, *_ = np.linalg.lstsq(unknowns, gradient, rcond=None)
        assert largest(unknowns @ x - gradient) < 1e-8
        assert np.all(x[2:] * np.sign(u[at_limit]) <= 1e-9)


def test_too_weak_motors_are_named():
    plant = plants.five_bar(effort=32.0)
    need = slope(lambda s: five_bar_potential(2.1, 1.0 + s))  # by virtual work
    with pytest.raises(EquilibriumError, match=re.escape(f"'right' needs {need:.4g} N m and has 32 N m")):
        trim(plant, configuration(plant, "open"))
    assert trim(plants.five_bar(effort=33.0), configuration(plant, "open")).u[1] == pytest.approx(need, rel=1e-10)
    with pytest.raises(EquilibriumError, match="'left' needs 40 N m and has 32 N m"):
        trim(plant, configuration(plant, "open"), u=[40.0, 0.0])
    # with more motors than degrees of freedom, none of which can take the load: the most loaded one when it is spread
    # evenly
    motors = [Actuator(n, effort=5.0) for n in ("left", "elbow_left", "right", "elbow_right")]
    with pytest.raises(EquilibriumError, match=r"'\w+' needs (\S+) N m and has 5 N m") as error:
        trim(motorised_five_bar(*motors), configuration(plant, "open"))
    need = float(str(error.value).split("needs ")[1].split()[0])
    trim(
        motorised_five_bar(*(dataclasses.replace(m, effort=1.001 * need) for m in motors)), configuration(plant, "open")
    )
    with pytest.raises(EquilibriumError):
        trim(
            motorised_five_bar(*(dataclasses.replace(m, effort=0.999 * need) for m in motors)),
            configuration(plant, "open"),
        )
    slide = Mechanism(
        "lift", [Body("load", 10.0)], [Prismatic("lift", "ground", "load")], actuators=[Actuator("lift", "jack", 50.0)]
    )
    with pytest.raises(EquilibriumError, match=r"'jack' needs 98\.1 N and has 50 N\."):
        trim(slide, [0.0])


def test_too_few_motors():
    """The force that is left is told by coordinate; it is what would have to be added."""
    plant = motorised_five_bar(Actuator("left"))
    with pytest.raises(EquilibriumError, match=r"cannot hold 'five-bar'.*'right' -?[\d.]+ N m.*free=") as error:
        trim(plant, configuration(plant, "open"))
    assert "'elbow_left'" in str(error.value)
    with pytest.raises(EquilibriumError, match="not in equilibrium with the given u"):
        trim(plants.five_bar(), configuration(plant, "open"), u=[1.0, 2.0])
    with pytest.raises(EquilibriumError, match="cannot hold"):
        trim(motorised_five_bar(), configuration(plant, "open"))


def test_given_efforts():
    plant = plants.five_bar()
    u = trim(plant, configuration(plant, "open")).u
    assert np.array_equal(trim(plant, configuration(plant, "open"), u=u).u, u)
    with pytest.raises(ValueError, match=r"u must have shape \(2,\) \(in the order left, right\)"):
        trim(plant, configuration(plant, "open"), u=[1.0])
    with pytest.raises(ValueError, match="finite"):
        trim(plant, configuration(plant, "open"), u=np.nan)


# -- some efforts given, some coordinates held --------------------------------------------------------


def test_single_efforts_are_given():
    """The motors named keep their efforts, the others are the smallest that hold the configuration with them."""
    plant, q = held_box()
    given = {"left_shoulder": 0.0, "right_wrist": -3.0}
    for weight in (None, np.arange(1.0, 7.0), np.diag(np.arange(1.0, 7.0)) + 0.3):
        point = trim(plant, q, u=given, weight=weight)
        assert point.u[0] == 0.0
        assert point.u[5] == -3.0
        assert point.report.given == ("left_shoulder", "right_wrist")
        assert point.report.preload == 1
        terms = plant.terms(q, np.zeros(6))
        assert largest(terms.Z.T @ (terms.h - terms.B @ point.u)) < 1e-9
        # the gradient of u' W^-1 u vanishes along efforts that hold nothing and leave the given ones
        W = np.eye(6) if weight is None else np.diag(weight) if np.ndim(weight) == 1 else weight
        fixed = np.eye(6)[[0, 5]]
        away = np.linalg.svd(np.vstack([terms.Z.T @ terms.B, fixed]))[2][5:].T
        assert away.shape == (6, 1)
        assert largest(away.T @ np.linalg.solve(W, point.u)) < 1e-9
        assert point.report.effort_norm == pytest.approx(np.sqrt(point.u @ np.linalg.solve(W, point.u)))
    nothing = trim(plant, q, u={})
    assert largest(nothing.u - trim(plant, q).u) < 1e-12


def test_given_efforts_and_free_coordinates_together():
    """A motor that is off, and an arm that stays: the other arm goes where that balances."""
    plant = plants.five_bar()
    q = configuration(plant, "asymmetric")
    point = trim(plant, q, u={"left": 0.0}, hold=("right",))
    named = trim(plant, q, u={"left": 0.0}, free=("left", "elbow_left", "elbow_right"))
    assert largest(point.q - named.q) < 1e-12
    assert point.u[0] == 0.0
    assert abs(point.u[1]) > 0.1
    assert point.q[2] == q[2]
    assert point.report.family == 0
    assert point.report.free == ("left", "elbow_left", "elbow_right")
    twin = motorised_five_bar(Actuator("right"))
    assert largest(trim(twin, q, hold=("right",)).q - point.q) < 1e-9
    # both are free: one equation, two degrees of freedom; the nearest of a family
    family = trim(plant, q, u={"left": 0.0}, free="all")
    assert family.report.family == 1
    assert np.linalg.norm(family.q - q) < np.linalg.norm(point.q - q)
    rest = np.zeros(4)
    for p in (point, family):
        assert largest(constraint_force(plant, p.q, rest, p.u).acceleration) < 1e-9


def test_limits_choose_among_poses():
    """A family of equilibria: the configuration moves as far as the limits of motors and joints ask, and no further."""
    plant = motorised_five_bar(Actuator("left", effort=28.0), Actuator("right", effort=31.0))
    q = configuration(plant, "open")
    point = trim(plant, q, free="all")
    assert np.all(np.abs(point.u) <= plant.effort)
    assert point.report.at_limit
    assert point.report.family == 2
    assert largest(point.q - q) > 1e-3
    unlimited = motorised_five_bar(Actuator("left"), Actuator("right"))
    assert np.any(np.abs(trim(unlimited, q).u) > plant.effort)
    # a joint limit on the way: the other arm goes instead, as far as it must
    q = configuration(plant, "asymmetric")
    off = trim(unlimited, q, u={"left": 0.0}, free="all")
    assert off.q[0] < -1.36
    narrow = motorised_five_bar(Actuator("left"), Actuator("right"), left={"limits": (-1.34, 0.0)})
    inside = trim(narrow, q, u={"left": 0.0}, free="all")
    assert inside.q[0] == pytest.approx(-1.34, abs=1e-9)
    at_limit = trim(narrow, off.q + 0.0, u={"left": 0.0}, hold={"left": -1.34})
    assert largest(inside.q - at_limit.q) < 1e-7
    assert inside.u[0] == 0.0
    assert largest(constraint_force(narrow, inside.q, np.zeros(4), inside.u).acceleration) < 1e-8
    with pytest.raises(EquilibriumError, match="needs"):
        trim(motorised_five_bar(Actuator("left", effort=28.0), Actuator("right", effort=31.0)), q)


# -- preload --------------------------------------------------------------------------------------------


def test_wished_efforts_are_approached():
    """The nearest of all efforts that hold the configuration, in the metric; a number counts for all motors."""
    plant, q = held_box()
    terms = plant.terms(q, np.zeros(6))
    away = np.linalg.svd(terms.Z.T @ terms.B)[2][3:].T
    wish = np.array([5.0, -4.0, 3.0, 2.0, 1.0, 0.5])
    for weight in (None, np.arange(1.0, 7.0)):
        u = trim(plant, q, preload=wish, weight=weight).u
        W = np.eye(6) if weight is None else np.diag(weight)
        assert largest(terms.Z.T @ (terms.h - u)) < 1e-9
        assert largest(away.T @ np.linalg.solve(W, u - wish)) < 1e-9
    assert largest(trim(plant, q, preload=2.0).u - trim(plant, q, preload=np.full(6, 2.0)).u) < 1e-12
    named = {"left_elbow": -4.0, "right_elbow": 4.0}
    vector = np.array([0.0, -4.0, 0.0, 0.0, 4.0, 0.0])
    assert largest(trim(plant, q, preload=named).u - trim(plant, q, preload=vector).u) < 1e-12
    # what holds the configuration is kept
    kept = trim(plant, q, preload=trim(plant, q, preload=wish).u).u
    assert largest(kept - trim(plant, q, preload=wish).u) < 1e-9
    # within the limits
    weak, _ = held_box(effort=12.0)
    pressed = trim(weak, q, preload=100.0)
    assert np.all(np.abs(pressed.u) <= 12.0)
    assert pressed.report.at_limit


def test_a_constraint_force_is_prescribed():
    """Squeeze the box: the multiplier is met exactly, by the smallest efforts that do."""
    plant, q = held_box()
    plain = trim(plant, q)
    row = plant.row_names.index("grasp_x")
    terms = plant.terms(q, np.zeros(6))
    lift = (terms.A_pinv.T @ terms.B)[row]
    for weight in (None, np.arange(1.0, 7.0)):
        point = trim(plant, q, preload={"grasp_x": 40.0}, weight=weight)
        assert point.lam[row] == pytest.approx(40.0, abs=1e-9)
        assert point.residuals.balance < 1e-9
        W = np.eye(6) if weight is None else np.diag(weight)
        away = np.linalg.svd(np.vstack([terms.Z.T @ terms.B, lift]))[2][4:].T
        assert largest(away.T @ np.linalg.solve(W, point.u)) < 1e-8
    same = trim(plant, q, preload={"grasp_x": plain.lam[row]})
    assert largest(same.u - plain.u) < 1e-9
    # all three at once leave no choice; the row of a loop with one row goes by the loop's name
    wanted = {"grasp_x": 40.0, plant.row_names[row + 1]: -10.0, "grasp_angle": 2.0}
    point = trim(plant, q, preload=wanted)
    assert point.lam[[plant.row_names.index(n) for n in wanted]] == pytest.approx(list(wanted.values()))
    # a range: no more than is needed
    ranged = trim(plant, q, preload={"grasp_x": (30.0, 60.0)})
    nearest = np.clip(plain.lam[row], 30.0, 60.0)
    assert ranged.lam[row] == pytest.approx(nearest)
    assert largest(trim(plant, q, preload={"grasp_x": (-np.inf, np.inf)}).u - plain.u) < 1e-9
    # with a range of an effort besides, and limits
    both = trim(plant, q, preload={"grasp_x": 40.0, "left_wrist": (1.0, 5.0)})
    assert both.lam[row] == pytest.approx(40.0)
    assert 1.0 - 1e-9 <= both.u[2] <= 5.0 + 1e-9
    freed = trim(plant, q, preload={"grasp_x": 40.0}, u={"left_shoulder": 0.0})
    assert freed.u[0] == 0.0
    assert freed.lam[row] == pytest.approx(40.0)


def test_preload_that_cannot_be_had():
    plant, q = held_box(effort=15.0)
    with pytest.raises(EquilibriumError, match=r"'grasp_x' can be from (\S+) to (\S+) N, demanded is 1e\+04") as error:
        trim(plant, q, preload={"grasp_x": 1e4})
    low, high = (float(x) for x in str(error.value).split("can be from ")[1].split(" N,")[0].split(" to "))
    row = plant.row_names.index("grasp_x")
    for edge, inward in ((low, 1.0), (high, -1.0)):  # what the message says is true
        inside = edge + inward * 1e-3 * (high - low)
        assert trim(plant, q, preload={"grasp_x": inside}).lam[row] == pytest.approx(inside)
        with pytest.raises(EquilibriumError):
            trim(plant, q, preload={"grasp_x": edge - inward * 1e-2 * (high - low)})
    five = plants.five_bar()
    here = configuration(five, "open")
    lam = trim(five, here).lam
    name = five.row_names[0]
    with pytest.raises(
        EquilibriumError, match=rf"'{name}' is \S+ N whatever the preload, demanded is {lam[0] + 5:.4g}"
    ):
        trim(five, here, preload={name: lam[0] + 5.0})
    assert largest(trim(five, here, preload={name: lam[0]}).u - trim(five, here).u) < 1e-9
    with pytest.raises(EquilibriumError, match="each alone, not together"):
        trim(plant, q, preload={"grasp_x": high - 1.0, "left_wrist": (14.9, 15.0)})
    with pytest.raises(EquilibriumError, match=r"demands .* of actuator 'left_wrist', whose effort limit is 15"):
        trim(plant, q, preload={"left_wrist": (20.0, 30.0)})


def test_preload_that_says_nothing_clear():
    plant, q = held_box()
    for preload, message in (
        ({"left_rist": 1.0}, "did you mean 'left_wrist'"),
        ({"left_wrist": np.nan}, "must be finite"),
        ({"grasp_x": np.nan}, r"number or \(low, high\)"),
        ({"grasp_x": (2.0, 1.0)}, r"number or \(low, high\)"),
        ({"grasp_x": (1.0, 2.0, 3.0)}, r"number or \(low, high\)"),
        ([1.0], "preload must have shape"),
    ):
        with pytest.raises(ValueError, match=message):
            trim(plant, q, preload=preload)
    with pytest.raises(TypeError, match="preload must be a number, got 'grasp_x'"):
        trim(plant, q, preload="grasp_x")
    with pytest.raises(ValueError, match="none is left for preload="):
        trim(plant, q, u=0.0, preload=1.0)
    with pytest.raises(ValueError, match="'left_wrist' is given with u=, so that it has no preload"):
        trim(plant, q, u={"left_wrist": 0.0}, preload={"left_wrist": 1.0})
    cut = plants.five_bar("right", "revolute")
    with pytest.raises(ValueError, match=r"'right_tilt_x' are not unique, .* unique are: 'right_x', 'right_y'"):
        trim(cut, configuration(cut, "open"), preload={"right_tilt_x": 1.0})


def test_cables_stay_tight():
    """A pair of cables pulls at a slider from both sides: ranges of efforts, the smallest that hold."""
    bodies = [Body("slider", 1.0)]
    joints = [Prismatic("x", "ground", "slider", axis=(1, 0, 0))]
    plant = Mechanism("cables", bodies, joints, actuators=[Actuator("x", "a"), Actuator("x", "b", gear=-1.0)])
    point = trim(plant, [0.0], preload={"a": (5.0, np.inf), "b": (2.0, np.inf)})
    assert point.u == pytest.approx([5.0, 5.0])
