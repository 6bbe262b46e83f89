"""Prescribed motions: against closed forms, and of any machine against differences along a motion that follows them."""

import copy
import pickle

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import cmbcontrol as cmb
from cmbcontrol import (
    Body,
    Coupling,
    Distance,
    DistanceMotion,
    Frame,
    JointMotion,
    Mechanism,
    Point,
    PointMotion,
    PoseMotion,
    Prismatic,
    Revolute,
    Spherical,
    plants,
)
from cmbcontrol.errors import EquilibriumError, ModelError
from cmbcontrol.model.elements.motions import _right_jacobian
from cmbcontrol.model.parameters import parameters
from cmbcontrol.trace.code import why_not
from tests.fixtures import (
    admissible_state,
    closed_machine,
    crank_and_slider,
    every_closure,
    external_loads,
    force_elements,
    linear_coordinates,
    motion_at,
    refuses,
    slope,
    springs,
    tree_parts,
)

G, LENGTH, MASS = 9.81, 0.6, 1.3
KINDS = (JointMotion, DistanceMotion, PointMotion, PoseMotion)


def pendulum_on_a_cart(axis=(0, 0, 1)):
    """A rod on a support that moves along an axis; at zero it stands upright, and z is up."""
    support = Body("support", 0.4, (0, 0, 0), 0.01 * np.eye(3))
    rod = Body("rod", MASS, (0.0, 0.0, 0.5 * LENGTH), (MASS * LENGTH**2 / 12.0,) * 2 + (1e-4,))
    joints = [Prismatic("way", "ground", "support", axis=axis), Revolute("angle", "support", "rod", axis=(0, 1, 0))]
    return Mechanism("pendulum", [support, rod], joints, [JointMotion("shake", "way")])


def pendulum_judge(acceleration, start, times):
    """Angle from upright of a rod whose support is accelerated (x, z)."""
    length = 2.0 * LENGTH / 3.0  # of the mathematical pendulum

    def rate(t, y):
        x, z = acceleration(t)
        return [y[1], ((G + z) * np.sin(y[0]) - x * np.cos(y[0])) / length]

    options = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-13, "t_eval": times}
    return solve_ivp(rate, (0.0, times[-1]), start, **options).y


# -- closed forms ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", ["code", "kernels"])
@pytest.mark.parametrize("axis", [(0, 0, 1), (1, 0, 0)])
def test_a_pendulum_on_a_shaken_support(axis, code, monkeypatch):
    if code == "kernels":
        monkeypatch.setattr("cmbcontrol.trace.code.CHOICE", "kernels")
    a, w = 0.08, 21.0
    run = cmb.simulate(
        pendulum_on_a_cart(axis), None, [a, 0.4], t_end=2.0, motions={"shake": lambda t: a * np.cos(w * t)}
    )
    moved = pendulum_judge(lambda t: -a * w * w * np.cos(w * t) * np.array(axis)[[0, 2]], [0.4, 0.0], run.time)
    assert np.abs(run.q.values[:, 1] - moved[0]).max() < 1e-8
    assert np.abs(run.q.values[:, 0] - a * np.cos(w * run.time)).max() < 1e-14
    assert np.abs(run.v.values[:, 0] + a * w * np.sin(w * run.time)).max() < 1e-12
    assert run.data.attrs["machine_code"].startswith("generated" if code == "code" and not why_not() else "none")
    work = np.abs(run.motion_work.values).max()
    assert work > 0.1 and run.max_energy_error < 1e-8 * work


@pytest.mark.nojit_slow
def test_kapitzas_pendulum_stands_above_a_speed():
    """The upright pendulum on a support that shakes fast stands where a w > sqrt(2 g l) (Kapitza 1951).

    The bound is that of small a / l and large w; Mathieu's equation has it at once: the multipliers of a period.
    """
    a, length = 0.01, 2.0 * LENGTH / 3.0

    def multipliers(w):
        plant, period = pendulum_on_a_cart(), 2.0 * np.pi / w
        ends = []
        for start in ([1e-6, 0.0], [0.0, 1e-6 * w]):
            run = cmb.simulate(
                plant, None, [a, start[0]], [0.0, start[1]], t_end=period, output_times=period,
                motions={"shake": lambda t: a * np.cos(w * t)},
            )  # fmt: skip
            ends.append([run.q.values[-1, 1], run.v.values[-1, 1] / w])
        return np.abs(np.linalg.eigvals(np.array(ends).T / 1e-6))

    low, high = 100.0, 600.0
    for _ in range(18):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if multipliers(middle).max() < 1.0 + 1e-7 else (middle, high)
    averaged = np.sqrt(2.0 * G * length) / a
    assert high == pytest.approx(averaged, rel=2.0 * a / length)
    w0 = np.sqrt(G / length)
    delta, epsilon = -((w0 / high) ** 2), a / length  # x'' + (delta + epsilon cos t) x = 0
    assert np.abs(np.array(_mathieu(delta, epsilon))).max() == pytest.approx(1.0, abs=2e-5)


def _mathieu(delta, epsilon):
    """Multipliers of x'' + (delta + epsilon cos t) x = 0."""

    def rate(t, y):
        return np.concatenate([y[2:], -(delta + epsilon * np.cos(t)) * y[:2]])

    end = solve_ivp(rate, (0.0, 2.0 * np.pi), np.eye(2).ravel(), method="DOP853", rtol=1e-12, atol=1e-14).y[:, -1]
    return np.linalg.eigvals(end.reshape(2, 2))


def test_a_winch_lifts_a_mass_that_swings():
    """A mass on a rope whose length is told: L a'' + 2 L' a' + g sin a = 0, in polar coordinates about the drum."""
    rate, start = -0.3, 2.0
    ball = Body("ball", MASS, (0, 0, 0), 1e-3 * np.eye(3))
    joints = [Prismatic("x", "ground", "rider", axis=(1, 0, 0)), Prismatic("z", "rider", "ball", axis=(0, 0, 1))]
    rider = Body("rider", 1e-6, (0, 0, 0), 1e-9 * np.eye(3))
    winch = DistanceMotion("winch", "ground", "ball", position=start, velocity=rate)
    plant = Mechanism("winch", [rider, ball], joints, [winch])
    angle = 0.5
    q0 = np.array([np.sin(angle), -np.cos(angle)]) * start
    run = cmb.simulate(plant, None, q0, t_end=2.0)

    def moved(t, y):
        length = start + rate * t
        return [y[1], -(G * np.sin(y[0]) + 2.0 * rate * y[1]) / length]

    judge = solve_ivp(moved, (0.0, 2.0), [angle, 0.0], method="DOP853", rtol=1e-13, atol=1e-13, t_eval=run.time).y
    length = start + rate * run.time
    light = 1e-6 / MASS  # what the rider weighs
    way = np.stack([np.sin(judge[0]), -np.cos(judge[0])], axis=1) * length[:, None]
    assert np.abs(run.q.values - way).max() < max(1e-8, 10.0 * light)
    pull = MASS * (length * judge[1] ** 2 + G * np.cos(judge[0]))
    np.testing.assert_allclose(run.motion_effort.values[:, 0], -pull, rtol=1e-5)
    assert run.motion_power.values == pytest.approx(-pull * rate, rel=1e-5)
    assert run.max_energy_error < 1e-8 * abs(run.motion_work.values[-1])


def test_a_body_in_a_frame_that_turns():
    """A rod on a pivot on a table that turns: a'' = -w^2 d sin a / l in the field of its centrifugal force."""
    w, d = 3.0, 0.9
    table, rod = Body("table", 2.0, (0, 0, 0), np.eye(3)), Body.rod("rod", mass=MASS, length=LENGTH)
    joints = [
        cmb.Free("table", "ground", "table"),
        Revolute("angle", "table", "rod", frame=Frame((d, 0, 0)), axis=(0, 0, 1)),
    ]
    turn = PoseMotion("turn", "ground", "table", velocity=(0.2, -0.1, 0.4, 0.0, 0.0, w))
    plant = Mechanism("table", [table, rod], joints, [turn], gravity=(0, 0, 0))
    q0 = plant.neutral()
    q0[plant.position_names.index("angle")] = 0.7
    v0 = plant.project_velocity(q0, np.zeros(7))
    v0[plant.velocity_names.index("angle")] = 0.0
    run = cmb.simulate(plant, None, q0, v0, t_end=3.0)
    length = 2.0 * LENGTH / 3.0
    judge = solve_ivp(
        lambda t, y: [y[1], -w * w * d * np.sin(y[0]) / length], (0.0, 3.0), [0.7, 0.0], method="DOP853", rtol=1e-13,
        atol=1e-13, t_eval=run.time,
    ).y  # fmt: skip
    assert np.abs(run.q.sel(position="angle").values - judge[0]).max() < 1e-8
    at = run.motions.values
    np.testing.assert_allclose(at, run.time[:, None] * [0.2, -0.1, 0.4, 0.0, 0.0, w], atol=1e-12)
    torque = run.motion_effort.sel(motion="turn_rz").values
    angle, rate, acceleration = (
        run.data[x].sel({y: "angle"}).values for x, y in (("q", "position"), ("v", "velocity"), ("a", "velocity"))
    )
    # rate of the angular momentum about the origin of the table, a frame that moves uniformly
    turned = d * (0.5 * acceleration * np.cos(angle) - (w * rate + 0.5 * rate**2) * np.sin(angle))
    spin = MASS * LENGTH * (turned + LENGTH / 3.0 * acceleration)
    np.testing.assert_allclose(torque, spin, atol=1e-9 * np.abs(spin).max())
    assert run.max_energy_error < 1e-9 * np.ptp(run.motion_work.values)


def test_a_crank_that_turns_at_a_given_speed():
    """The slider of a crank goes as the loop says, through both dead centres; the torque is that of its power."""
    free = crank_and_slider()
    crank, slider = free.position_names[0], free.position_names[-1]
    q0 = free.assemble(**{crank: 1.2})
    plant = free.with_loops(JointMotion("drive", crank, position=q0[0], velocity=4.0))
    run = cmb.simulate(plant, None, q0, t_end=4.0)
    np.testing.assert_allclose(run.q.sel(position=crank), q0[0] + 4.0 * run.time, atol=1e-12)
    assert np.ptp(run.q.sel(position=slider).values) > 0.1
    for i in (50, 333, 500):
        q, v, a = (run.data[name].values[i] for name in ("q", "v", "a"))
        terms = free.terms(q, v)
        np.testing.assert_allclose(terms.A @ a + terms.b, 0.0, atol=1e-9)
        power = v @ (terms.M @ a + terms.h)
        assert run.motion_power.values[i] == pytest.approx(power, abs=1e-8)
        assert run.motion_effort.values[i, 0] * 4.0 == pytest.approx(power, abs=1e-8)
    assert run.max_energy_error < 1e-8 and run.max_drift < 1e-12


# -- any machine -------------------------------------------------------------------------------------------------------


def driven(closure, kind):
    """A closed random machine with a motion of this kind, and a state that follows it; None where there is none."""
    seed, loops = closure
    parts = tree_parts(seed, 6)
    more = {
        "springs": springs(parts, seed),
        "loads": external_loads(parts, seed),
        "forces": force_elements(parts, seed),
    }
    plant, q = closed_machine(seed, loops, **more)
    rng = np.random.default_rng([seed, 61])
    held = {n for loop in plant.loops for n in getattr(loop, "coefficients", {})}
    if kind is JointMotion and not set(linear_coordinates({"joints": plant.joints})) - held:
        return None
    plant = plant.with_loops(motion_at(plant, q, kind, rng))
    v = plant.project_velocity(q, rng.uniform(-1.0, 1.0, plant.nv))
    missed = plant.row_scale * (plant.jacobian(q) @ v - plant.row_rates)
    return (plant, q, v) if np.abs(missed).max() < 1e-10 else None


every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


@every_closure
@every_kind
@pytest.mark.first(4)
def test_the_motion_follows_what_is_prescribed(closure, kind):
    """Along q(t) with the velocity and acceleration that the equations say, the rows stay closed to second order."""
    found = driven(closure, kind)
    if found is None:  # the loops leave no such motion
        return
    plant, q, v = found
    terms = plant.terms(q, v)
    assert np.abs(terms.row_scale * terms.row_rate).max() < 1e-10
    a = cmb.forward_dynamics(plant, q, v, [])
    start = plant.motion_values()
    names = plant.motion_names

    def residual(t):
        value = np.stack([start[:, 0] + start[:, 1] * t + 0.5 * start[:, 2] * t * t, *start.T[1:]], axis=1)
        moved = plant.with_motion_values(value)
        assert moved.motion_names == names
        return moved.row_scale * moved.residual(plant.integrate(q, v * t + 0.5 * a * t * t))

    fast = max(1.0, np.abs(v).max(), np.sqrt(np.abs(a).max()))  # light bodies are: in its time the motion is smooth
    step = 3e-3 / fast
    assert np.abs(residual(0.0)).max() < 1e-12
    assert np.abs(slope(residual, step)).max() < 1e-9 * fast
    consistent = np.abs(terms.row_scale * (terms.A @ a + terms.b)).max() < 1e-9
    second = slope(lambda t: slope(lambda s: residual(t + s), step), step)
    assert not consistent or np.abs(second).max() < 1e-7 * fast**2


@every_closure
@every_kind
@pytest.mark.first(6)
def test_efforts_of_motions_are_those_of_their_power(closure, kind):
    """Constraint forces have no other power than that of what prescribes the motions."""
    found = driven(closure, kind)
    if found is None:
        return
    plant, q, v = found
    terms = plant.terms(q, v)
    a = cmb.forward_dynamics(plant, q, v, [])
    lam = terms.A_pinv.T @ (-terms.h - terms.M @ a)
    efforts, rates = plant.motion_efforts(lam), plant.motion_values()[:, 1]
    force = -terms.A.T @ lam
    if np.abs(terms.M @ a + terms.h - force).max() > 1e-9 * np.abs(force).max():
        return  # loops that the motion opens to second order
    assert efforts @ rates == pytest.approx(force @ v, rel=1e-9, abs=1e-9)


@every_closure
@every_kind
@pytest.mark.first(6)
def test_code_and_kernels_and_differences_agree(closure, kind, monkeypatch):
    found = driven(closure, kind)
    if found is None:
        return
    plant, q, v = found
    partials = cmb.dynamics.derivatives(plant, q, v, np.zeros(plant.nu))

    def balance(delta, dv):
        terms = plant.terms(plant.integrate(q, delta), v + dv)
        force = terms.M @ partials.a + terms.h + terms.A.T @ partials.lam
        return np.concatenate([force, terms.A @ partials.a + terms.b])

    for k in range(plant.nv):
        e = np.eye(plant.nv)[k]
        by_q = slope(lambda d, e=e: balance(d * e, 0.0 * e), 3e-3)
        by_v = slope(lambda d, e=e: balance(0.0 * e, d * e), 3e-3)
        size = 1.0 + np.abs(by_q).max() + np.abs(by_v).max()
        np.testing.assert_allclose(np.concatenate([partials.force_q, partials.accel_q])[:, k], by_q, atol=1e-7 * size)
        np.testing.assert_allclose(np.concatenate([partials.force_v, partials.accel_v])[:, k], by_v, atol=1e-7 * size)


def test_a_rotation_vector_and_its_rates():
    rng = np.random.default_rng(7)
    for size in (0.0, 1e-6, 0.3, 3.0):
        p, rate = size * rng.uniform(-1.0, 1.0, 3), rng.uniform(-1.0, 1.0, 3)
        turned = Rotation.from_rotvec(p)
        spin = slope(
            lambda s, p=p, rate=rate, turned=turned: (turned.inv() * Rotation.from_rotvec(p + s * rate)).as_rotvec(),
            1e-2,
        )
        np.testing.assert_allclose(_right_jacobian(p) @ rate, spin, atol=1e-10)


# -- the machine with other motions ------------------------------------------------------------------------------------


def test_with_motions_is_the_machine_built_with_them():
    plant, other = (
        pendulum_on_a_cart(),
        pendulum_on_a_cart().with_loops(JointMotion("shake", "way", position=0.1, velocity=2.0)),
    )
    told = plant.with_motions({"shake": (0.1, 2.0, 0.0)})
    assert told.motions[0].velocity == 2.0 and plant.motions[0].velocity == 0.0
    np.testing.assert_array_equal(told.arrays.targets, other.arrays.targets)
    for made in (told, copy.deepcopy(told), pickle.loads(pickle.dumps(told)), told.with_parts(gravity=(0, 0, 0))):
        np.testing.assert_array_equal(made.motion_values(), [[0.1, 2.0, 0.0]])
        np.testing.assert_array_equal(made.arrays.targets, told.arrays.targets)
    assert plant.with_motions({"shake": 0.3}).assemble(angle=0.2) == pytest.approx([0.3, 0.2])
    sine = plant.with_motions({"shake": cmb.Sine([0.0], [0.1], 2.0)}, t=0.125)
    np.testing.assert_allclose(sine.motion_values(), [[0.1, 0.0, -0.1 * (4.0 * np.pi) ** 2]], atol=1e-12)
    assert not told.without("shake").row_rates.size and told.row_rates == pytest.approx(2.0)


def test_parameters_of_motions_move_the_machine():
    rng = np.random.default_rng(4)
    plant, q = closed_machine(3, ())
    plant = plant.with_loops(motion_at(plant, q, PoseMotion, rng))
    known = parameters(plant)
    name = plant.motion_names[4]
    value = plant.motion_values()[4]
    assert [known[f"{name}_{kind}"].value for kind in ("position", "velocity", "acceleration")] == value.tolist()
    _ = q


def test_an_equilibrium_of_what_is_held():
    """A motion that stands is a lock: the trim holds it, and its effort is what a motor would give."""
    plant = pendulum_on_a_cart().with_motions({"shake": 0.2})
    point = cmb.trim(plant, {"way": 0.2, "angle": np.pi}, free=("angle",))
    assert plant.motion_efforts(point.lam) == pytest.approx([(MASS + 0.4) * G])
    poles = cmb.linearize(plant, point).poles()
    assert np.abs(poles) == pytest.approx(np.sqrt(1.5 * G / LENGTH), rel=1e-12)
    moving = plant.with_motions({"shake": (0.2, 0.7, 0.0)})
    refuses(
        lambda: cmb.trim(moving, {"way": 0.2, "angle": np.pi}),
        "'shake'",
        "0.7 m/s",
        "with_motions",
        kind=EquilibriumError,
    )


# -- refusals ----------------------------------------------------------------------------------------------------------


def test_bad_motions_are_refused_by_name():
    plant = pendulum_on_a_cart()
    refuses(lambda: JointMotion("shake", "way", velocity="fast"), "velocity", "'shake'", kind=TypeError)
    refuses(lambda: JointMotion("shake", "way", position=np.nan), "position", "'shake'", kind=ValueError)
    refuses(lambda: DistanceMotion("winch", "ground", "rod"), "'winch'", "above zero", "PointMotion", kind=ModelError)
    refuses(lambda: PointMotion("hand", "ground", "ground"), "'hand'", "with itself", kind=ModelError)
    refuses(lambda: plant.with_loops(JointMotion("other", "wag")), "'wag'", "way", kind=ModelError)
    refuses(lambda: plant.with_loops(JointMotion("other", "way")), "'shake'", "'other'", "'way'", kind=ModelError)
    refuses(lambda: plant.with_motions({"shaker": 0.1}), "'shaker'", "shake", kind=ValueError)
    refuses(
        lambda: plants.five_bar().with_motions({"shake": 0.1}), "no prescribed motion", "JointMotion", kind=ValueError
    )
    refuses(lambda: plant.with_motions({"shake": [0.1, 0.2]}), "'shake'", "finite number", kind=ValueError)
    refuses(lambda: plant.with_motions({"shake": lambda t: 0.1 / t}), "'shake'", "t = 0", kind=ValueError)
    refuses(
        lambda: plant.with_motions({"shake": lambda t: 0.1 if t < 1.0 else 0.2}),
        "'shake'",
        "comparison",
        "Sine",
        kind=ValueError,
    )
    refuses(
        lambda: plant.with_motions({"shake": lambda t: (0.1, np.inf, 0.0)}),
        "'shake'",
        "velocity",
        "inf",
        kind=ValueError,
    )
    refuses(lambda: plant.with_motions({"shake": lambda: 0.1}), "'shake'", kind=TypeError)
    winch = DistanceMotion("winch", "ground", "rod", position=1.0)
    hung = plant.with_loops(winch)
    refuses(lambda: hung.with_motions({"winch": -1.0}), "'winch'", "-1 m", kind=ModelError)


def test_conflicts_are_told_at_the_start():
    plant = pendulum_on_a_cart()
    refuses(
        lambda: cmb.simulate(plant, None, [0.1, 0.2], t_end=0.1),
        "'shake'",
        "shake = 0 m",
        "with_motions",
        kind=ValueError,
    )
    jerked = cmb.simulate(plant, None, [0.0, 0.2], t_end=0.1, motions={"shake": (0.0, 0.5, 0.0)})
    momentum = plant.terms([0.0, 0.2], [0.0, 0.0]).M[1]  # about the pivot: the impulse of the motion leaves it at zero
    assert jerked.v.values[0, 0] == pytest.approx(0.5) and abs(momentum @ jerked.v.values[0]) < 1e-12
    refuses(
        lambda: cmb.simulate(plant, None, [0.0, 0.2], [0.0, 0.0], t_end=0.1, motions={"shake": (0.0, 0.5, 0.0)}),
        "v0", "'way'", kind=ValueError,
    )  # fmt: skip
    gear = plant.with_loops(JointMotion("turn", "angle", velocity=1.0), Coupling("gear", {"way": 1.0, "angle": -0.1}))
    refuses(
        lambda: cmb.simulate(gear, None, [0.0, 0.0], t_end=0.1, motions={"shake": (0.0, 0.5, 0.0)}),
        "no velocity", "m/s", "leave one of them out", kind=ValueError,
    )  # fmt: skip
    fits = cmb.simulate(gear, None, [0.0, 0.0], t_end=0.1, motions={"shake": (0.0, 0.1, 0.0)})
    assert fits.q.values[-1] == pytest.approx([0.01, 0.1], abs=1e-12)
    rod = cmb.simulate(
        plant.with_loops(Distance("rod", "ground", "rod", length=0.1)).without("rod"), None, [0, 0], t_end=0.01
    )
    assert rod.status == cmb.Status.COMPLETED


class TestContradictions:
    """More motions than can move: they agree, or it is told wherever the machine is asked for its motion."""

    ASKED = (
        lambda plant, q, v: plant.assemble(guess=q),
        lambda plant, q, v: cmb.forward_dynamics(plant, q, v),
        lambda plant, q, v: cmb.inverse_dynamics(plant, q, v, np.zeros(plant.nv), strict=False),
        lambda plant, q, v: cmb.constraint_force(plant, q, v),
        lambda plant, q, v: cmb.reactions(plant, q, v),
        lambda plant, q, v: cmb.trim(plant, q),
        lambda plant, q, v: cmb.steady_motion(plant, q, v),
        lambda plant, q, v: cmb.linearize(plant, cmb.OperatingPoint.at(plant, q, v=v)),
        lambda plant, q, v: cmb.simulate(plant, None, q, t_end=0.01),
    )

    @staticmethod
    def driven(plant, q, v, a, names):
        at = [plant.position_names.index(n) for n in names]
        to = [plant.velocity_names.index(n) for n in names]
        motions = [
            JointMotion(f"drive_{n}", n, position=q[i], velocity=v[k], acceleration=a[k])
            for n, i, k in zip(names, at, to, strict=True)
        ]
        return plant.with_parts(loops=[*plant.loops, *motions], precision=0.0)  # its loops agree: seen once

    @pytest.mark.parametrize("which", ["velocity", "acceleration"])
    def test_both_cranks_of_a_four_bar(self, which):
        plant = plants.n_four_bar(1)
        q, names = plant.assemble(bar0=1.0), ("bar0", "bar1")
        v, a = np.array([1.0, -1.0, 1.0]), np.zeros(3)
        agreed = self.driven(plant, q, v, a, names)
        assert cmb.forward_dynamics(agreed, q, v) == pytest.approx(a, abs=1e-12)
        cmb.simulate(agreed, None, q, t_end=0.1)
        assert agreed.assemble() == pytest.approx(q, abs=1e-12)
        more = np.array([0.0, 0.0, 1.0])
        changed = (v + more, a) if which == "velocity" else (v, a + 3.0 * more)
        apart = self.driven(plant, q, *changed, names)
        for ask in self.ASKED:
            refuses(lambda ask=ask: ask(apart, q, v), f"no {which}", "'drive_bar1'", "contradict", kind=ValueError)

    @pytest.mark.first(1)
    @pytest.mark.parametrize("kinds", [(Revolute,), (Prismatic,), (Spherical,), (Point, Distance)], ids=str)
    def test_of_random_machines(self, kinds):
        """Motions of all joints, as a machine of hinges and slides moves; then one of them is changed.

        Whether they contradict each other then is a question of linear equations.
        """
        told = 0
        for seed in range(8):
            plant, q = closed_machine(seed, kinds, bodies=7, kinds=(Revolute, Prismatic))
            q, v = admissible_state(plant, q, seed)
            rng, names = np.random.default_rng([seed, 61]), linear_coordinates({"joints": plant.joints})
            terms = plant.terms(q, v)
            a = cmb.forward_dynamics(plant, q, v) + terms.Z @ rng.standard_normal(terms.dof)
            found = cmb.forward_dynamics(self.driven(plant, q, v, a, names), q, v)
            assert found == pytest.approx(a, abs=1e-9 * (1.0 + np.abs(a).max()))
            rows = np.vstack([terms.A, np.eye(plant.nv)])
            for of_velocity in (True, False):
                k = int(rng.integers(plant.nv))
                other = np.where(np.arange(plant.nv) == k, 1e-3, 0.0)
                wanted = np.concatenate([np.zeros(len(terms.A)), other])
                missed = np.abs(rows @ np.linalg.lstsq(rows, wanted, rcond=1e-10)[0] - wanted).max()
                changed = self.driven(plant, q, v + other * of_velocity, a + other * (not of_velocity), names)
                if missed > 1e-6:
                    told += 1
                    with pytest.raises(cmb.errors.InputError, match="contradict"):
                        cmb.forward_dynamics(changed, q, v)
        assert told >= 5
