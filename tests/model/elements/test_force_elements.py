"""Force elements: against springs, closed forms, and the energy that they take."""

import dataclasses

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.spatial.transform import Rotation

import cmbcontrol as cmb
from cmbcontrol import (
    Body,
    Bushing,
    Frame,
    Free,
    JointForce,
    JointSpring,
    Mechanism,
    PointForce,
    Prismatic,
    Revolute,
    plants,
)
from cmbcontrol.characteristics import (
    DamperTable,
    FormulaForce,
    Friction,
    GasSpring,
    Rope,
    SpringDamper,
    SpringTable,
    Strut,
)
from tests.fixtures import closed_at_random, every_closure, random_state, refuses, slope

MASS = 2.0


def block(*forces, gravity=0.0):
    """A mass on a rail."""
    body, rail = Body("block", MASS), Prismatic("x", "ground", "block", axis=(1, 0, 0))
    return Mechanism("block", [body], [rail], forces=forces, gravity=(gravity, 0.0, 0.0))


def without_forces(plant):
    return plant.with_parts(forces=())


@every_closure
def test_linear_ones_are_springs(closure):
    """In the equations of motion and their derivatives, to the last digits."""
    plant, q, v = closed_at_random(closure)
    elements, springs = [], []
    for i, spring in enumerate(plant.springs):
        law = SpringDamper(spring.stiffness, spring.rest, spring.damping)
        if isinstance(spring, JointSpring):
            elements.append(JointForce(spring.name, spring.joint, law))
        else:
            ends = spring.a, spring.b
            elements.append(PointForce(spring.name, *ends, law, spring.point_a, spring.point_b))
        springs.append(i)
    first = plant.with_parts(forces=())
    other = first.with_parts(springs=(), forces=elements)
    a, b = first.terms(q, v), other.terms(q, v)
    scale = np.abs(a.h).max()
    np.testing.assert_allclose(b.h, a.h, atol=1e-13 * scale)
    assert b.potential == pytest.approx(a.potential, rel=1e-13)
    u = np.zeros(plant.nu)
    one, two = (cmb.dynamics.acceleration_derivatives(m, q, v, u) for m in (first, other))
    for x, y in ((getattr(one, key), getattr(two, key)) for key in ("a", "a_q", "a_v", "lam_q")):
        np.testing.assert_allclose(y, x, atol=1e-10 * max(1.0, np.abs(x).max(initial=0.0)))


@every_closure
def test_static_forces_are_the_gradient_of_the_energy(closure):
    plant, q, _ = closed_at_random(closure)
    plain, rest = without_forces(plant), np.zeros(plant.nv)

    def energy(at):  # of the machine with those that store some
        return plant.terms(at, rest).potential - plain.terms(at, rest).potential

    laws = {f.name: type(getattr(f, "characteristic", None)).__name__ for f in plant.forces}
    plant = plant.with_parts(forces=[f for f in plant.forces if laws[f.name] not in ("Friction", "_Function", "Sum")])
    found = plant.terms(q, rest).h - plain.terms(q, rest).h
    own = [slope(lambda s, e=e: energy(plant.integrate(q, s * e)), 1e-3) for e in np.eye(plant.nv)]
    np.testing.assert_allclose(found, own, atol=1e-7 * max(1.0, np.abs(own).max()))


def test_a_bushing_holds_a_body():
    """Against springs along its axes for displacements, and sin(angle) for turns; forces where the frame is."""
    stiffness = np.array([100.0, 200.0, 300.0, 4.0, 5.0, 6.0])
    at = Frame((0.3, -0.2, 0.1), Rotation.from_euler("xyz", [0.3, 0.5, -0.4]).as_matrix())
    on = Frame((0.1, 0.0, 0.05))
    mount = Bushing("mount", "ground", "body", at, on, stiffness=stiffness, damping=0.1 * stiffness)
    body = Body("body", MASS, (0.0, 0.0, 0.0), np.diag([0.1, 0.2, 0.3]))
    plant = Mechanism("held", [body], [Free("free", "ground", "body")], forces=[mount], gravity=(0, 0, 0))
    turn = Rotation.from_rotvec([0.0, 0.0, 0.2])
    shift = np.array([0.01, -0.02, 0.03])
    R = at.R @ turn.as_matrix()
    p = at.p + at.R @ shift - R @ on.p
    x, y, z, w = Rotation.from_matrix(R).as_quat()
    q = (
        np.concatenate([p, [w, x, y, z]])
        if plant.position_names[0].endswith("x")
        else np.concatenate([[w, x, y, z], p])
    )
    assert plant.pose(q, "body").p == pytest.approx(p)
    force = -at.R @ (stiffness[:3] * shift)
    moment = -at.R @ np.array([0.0, 0.0, 6.0 * np.sin(0.2) * np.cos(0.2)])  # slope of 6 sin(a)^2 / 2
    vdot = cmb.forward_dynamics(plant, q, np.zeros(6), [])
    lever = p + R @ on.p - p
    expected = R.T @ (moment + np.cross(lever, force))
    by_name = dict(zip(plant.velocity_names, vdot, strict=True))
    omega = np.array([value for name, value in by_name.items() if "omega" in name or "_w" in name])
    np.testing.assert_allclose(omega, np.linalg.solve(body.inertia, expected), rtol=1e-10)
    energy = 0.5 * stiffness[:3] @ shift**2 + 0.5 * 6.0 * np.sin(0.2) ** 2
    assert plant.terms(q, np.zeros(6)).potential == pytest.approx(energy)
    run = cmb.simulate(plant, None, q, t_end=1.0)
    assert run.max_energy_error < 1e-9
    assert float(run.data.energy[-1]) < 0.9 * energy


def test_a_sliding_block_stops_by_coulomb_friction():
    plant = block(JointForce("friction", "x", Friction(3.0, transition_rate=1e-4)))
    run = cmb.simulate(plant, None, [0.0], [0.6], t_end=1.0)
    stop = 0.6 * MASS / 3.0
    x = 0.6 * stop - 0.5 * 3.0 / MASS * stop**2
    assert float(run.q[-1, 0]) == pytest.approx(x, rel=1e-3)
    at = run.time < 0.9 * stop
    np.testing.assert_allclose(run.v[at, 0], 0.6 - 3.0 / MASS * run.time[at], atol=1e-9)
    assert float(run.data.dissipated_work[-1]) == pytest.approx(0.5 * MASS * 0.36, abs=1e-9)


def test_sticking_and_sliding_have_their_linear_models():
    """At rest as stiff as a damper of coulomb / transition_rate, while it slides as the viscous part and no more."""
    law = Friction(3.0, viscous=0.4, transition_rate=0.01)
    plant = block(JointForce("friction", "x", law))
    rest = cmb.dynamics.acceleration_derivatives(plant, [0.0], [0.0], [])
    slides = cmb.dynamics.acceleration_derivatives(plant, [0.0], [1.0], [])
    assert rest.a_v[0, 0] == pytest.approx(-(3.0 / 0.01 + 0.4) / MASS)
    assert slides.a_v[0, 0] == pytest.approx(-0.4 / MASS)


def test_a_mass_on_gas():
    """Its frequency at the equilibrium is that of n p A^2 / V; a large oscillation keeps its energy."""
    gas = GasSpring(0.5, pressure=3e5, area=1e-3, volume=5e-4, exponent=1.3, ambient=0.0)
    weight = 1e-3 * 3e5  # N: in balance where the gas is given
    plant = block(PointForce("gas", "ground", "block", gas), gravity=-weight / MASS)
    point = cmb.trim(plant, [0.52], free=("x",))
    assert point.q[0] == pytest.approx(0.5, abs=1e-12)
    poles = cmb.linearize(plant, point).poles()
    assert abs(poles[0]) == pytest.approx(np.sqrt(1.3 * 3e5 * 1e-6 / 5e-4 / MASS), rel=1e-10)
    run = cmb.simulate(plant, None, [0.4], t_end=2.0)
    assert run.max_energy_error < 1e-8 * weight * 0.5


def test_a_period_on_a_nonlinear_spring():
    """Of x + x^3: an integral, from one turning point to the other."""
    plant = block(JointForce("spring", "x", lambda x, rate: MASS * (x + x**3)))
    quarter = quad(lambda s: 1.0 / np.sqrt(1.0 + 0.5 * (1.0 + np.sin(s) ** 2)), 0.0, np.pi / 2.0, epsabs=1e-13)[0]
    run = cmb.simulate(plant, None, [1.0], t_end=4.0 * quarter)
    assert float(run.q[-1, 0]) == pytest.approx(1.0, abs=1e-9)
    assert float(run.v[-1, 0]) == pytest.approx(0.0, abs=1e-8)


def test_a_rope_that_goes_slack():
    """A mass falls freely, is caught and thrown up again: times and speeds of a spring that only pulls."""
    k, g = 4000.0, 9.81
    plant = block(PointForce("rope", "ground", "block", Rope(1.0, stiffness=k)), gravity=g)
    run = cmb.simulate(plant, None, [0.2], t_end=0.7, output_times=np.linspace(0.0, 0.7, 7001))
    fall = np.sqrt(2.0 * 0.8 / g)
    speed, w = g * fall, np.sqrt(k / MASS)
    sag = MASS * g / k
    taut = 2.0 / w * (np.pi - np.arctan(speed / (sag * w)))
    t = run.time
    free = t < fall
    np.testing.assert_allclose(run.q[free, 0], 0.2 + 0.5 * g * t[free] ** 2, atol=1e-9)
    lowest = float(run.q.max())
    assert lowest == pytest.approx(1.0 + sag + np.hypot(sag, speed / w), abs=1e-7)
    back = t[(run.q[:, 0] < 1.0) & (t > fall + 0.5 * taut)][0]
    assert back == pytest.approx(fall + taut, abs=2e-4)
    assert run.max_energy_error < 1e-8


@pytest.mark.nojit_slow
@pytest.mark.parametrize("method", ["dop853", "radau", "rodas5p"])
@pytest.mark.first(1)
def test_energy_balance_with_all_of_them(method):
    plant = plants.five_bar()
    forces = [
        JointForce("bearing", "left", Friction(1.0, static=1.5, transition_rate=0.05)),
        JointForce(
            "cushion", "right", SpringTable([0.0, 0.5, 1.5], [-20.0, 0.0, 5.0]) + DamperTable([-1, 0, 1], [-2, 0, 1])
        ),
        PointForce("rope", "ground", "left_upper", Rope(0.7, 300.0, 5.0), point_b=(0.5, 0.0, 0.0)),
        PointForce("buffer", "left_lower", "right_lower", Strut(0.6, 100.0), (0.3, 0, 0), (0.3, 0, 0)),
        PointForce("gas", "ground", "right_lower", GasSpring(0.9, 3e5, 2e-4, 4e-4), (2.0, 0, 0), (0.5, 0, 0)),
        Bushing("mount", "left_lower", "right_lower", stiffness=[3, 4, 5, 6, 7, 8], damping=[0.3] * 6),
    ]
    plant = plant.with_parts(forces=forces)
    q = plant.assemble(left=2.1, right=1.0)
    tolerance = 1e-11 if method == "dop853" else 1e-9
    run = cmb.simulate(plant, None, q, t_end=1.0, method=method, rtol=tolerance, atol=tolerance)
    scale = plant.force_scale * plant.size
    assert run.max_energy_error < (1e-9 if method == "dop853" else 1e-6) * scale
    assert float(run.data.dissipated_work[-1]) > 0.5


@pytest.mark.first(1)
@pytest.mark.nojit_slow
@pytest.mark.parametrize("by", ["element", "load"])
def test_work_at_corners_that_the_motion_does_not_show(by):
    """An exact law bears what a workpiece, or a load that begins, does: its power has a corner, the motion none.

    The ram is as heavy as it moves; the energy error falls with the tolerance, as without the corner.
    """
    ref = cmb.Spline([0.0, 0.6, 1.2, 2.0], [[0.14], [0.04], [0.004], [0.14]])
    work = FormulaForce("-k*max(h0 - x, 0)", "k*max(h0 - x, 0)**2/2", {"k": 3.4e7, "h0": 0.03})
    more = {"forces": [JointForce("work", "x", work)]} if by == "element" else {"loads": [cmb.Load("push", "ram")]}
    plant = Mechanism(
        "ram", [Body("ram", 800.0)], [Prismatic("x", "ground", "ram", axis=(0, 1, 0))], actuators=[cmb.Actuator("x")],
        gravity=(0, -9.81, 0), **more,
    )  # fmt: skip
    law = cmb.controllers.ProjectedInverseDynamics(plant, "x", ref, bandwidth=40.0)
    pushed = {"loads": {"push": lambda t: [0.0, 1e6 * max(t - 0.7, 0.0), 0.0]}, "told": True} if by == "load" else {}
    errors = []
    for tolerance in (1e-6, 1e-8, 1e-10, 1e-12):
        run = cmb.simulate(plant, law, [0.14], t_end=2.0, rtol=tolerance, atol=tolerance, **pushed)
        errors.append(run.max_energy_error)
        assert np.abs(run.error.values).max() < 1e-6
    scale = np.abs(run.data.actuator_work.values).max()
    assert (np.array(errors) < np.array([1e-3, 1e-5, 1e-7, 1e-9]) * scale).all()


def test_other_numbers_compile_nothing_again(monkeypatch):
    q = [0.3]
    run = cmb.simulate(block(JointForce("f", "x", Friction(1.1, transition_rate=0.2))), None, q, [0.1], t_end=0.1)
    again = cmb.simulate(block(JointForce("f", "x", Friction(2.2, transition_rate=0.3))), None, q, [0.1], t_end=0.1)
    assert run.data.attrs["machine_code"] == again.data.attrs["machine_code"]
    assert again.data.attrs["compile_time_s"] < 0.05


def test_copies_and_modes_keep_them():
    plant = plants.five_bar().with_parts(forces=[JointForce("bearing", "left", Friction(1.0))])
    q = plant.assemble(left=2.1, right=1.0)
    v = plant.project_velocity(q, np.ones(4))
    for other in (plant.with_loops(), plant.without("tip").with_loops(*plant.loops), plant.with_loads({})):
        np.testing.assert_allclose(other.terms(q, v).h, plant.terms(q, v).h, atol=1e-12)
    assert "bearing" in str(plant)


def stops(x, rate):
    return x if x > 0.0 else 0.0


def endless(x, rate):
    for _ in range(2000):
        x = np.sin(x) + rate
    return x


@pytest.mark.parametrize(("make", "words", "kind"), [
    (lambda: JointForce("f", "x", 3.0), ("characteristic", "3.0"), TypeError),
    (lambda: JointForce("f", "x", Friction), ("characteristic",), TypeError),
    (lambda: block(JointForce("f", "y", Friction(1.0))), ("'f'", "'y'", "coordinate"), ValueError),
    (lambda: block(PointForce("f", "ground", "blok", Rope(1.0, 1.0))), ("'blok'", "did you mean 'block'"), ValueError),
    (lambda: PointForce("f", "block", "block", Rope(1.0, 1.0)), ("itself",), ValueError),
    (lambda: block(JointForce("f", "x", stops)), ("'f'", "comparison", "where_less"), ValueError),
    (lambda: block(JointForce("f", "x", endless)), ("'f'", "operations"), ValueError),
    (lambda: block(JointForce("f", "x", lambda x, rate: undefined)), ("'f'", "NameError"), ValueError),  # noqa: F821
    (lambda: block(JointForce("f", "x", lambda x: x)), ("'f'", "TypeError"), ValueError),
    (lambda: block(JointForce("f", "x", lambda x, rate: np.exp2(x))), ("'f'", "exp2"), ValueError),
    (lambda: block(JointForce("f", "x", lambda x, rate: [x, rate])), ("'f'",), ValueError),
    (lambda: Bushing("f", "ground", "block", stiffness=[1.0, 2.0]), ("stiffness of force element 'f'",), ValueError),
    (lambda: Bushing("f", "ground", "block", stiffness=np.triu(np.ones((6, 6)))), ("symmetric",), ValueError),
    (lambda: Bushing("f", "ground", "block", damping=[1, 1, 1, 1, 1, -1]), ("take energy",), ValueError),
    (lambda: Bushing("f", "ground", "block", (0, 0, 0)), ("frame_a", "Frame"), TypeError),
    (lambda: block(Revolute("r", "ground", "block")), ("force element",), TypeError),
    (lambda: block(*[JointForce("f", "x", Friction(1.0))] * 2), ("called 'f'",), ValueError),
])  # fmt: skip
def test_wrong_ones_are_told(make, words, kind):
    refuses(make, *words, kind=kind)


def test_they_are_frozen():
    element = PointForce("f", "ground", "block", SpringDamper(1.0))
    with pytest.raises(dataclasses.FrozenInstanceError):
        element.a = "other"
    with pytest.raises(ValueError, match="read-only"):
        element.point_a[0] = 1.0


@pytest.mark.parametrize("seed", range(3))
def test_states_of_trees(seed):
    """Kernels and generated code on open chains, too."""
    from tests.fixtures import force_elements, tree_parts

    parts = tree_parts(seed, 5)
    plant = Mechanism(**parts, forces=force_elements(parts, seed))
    q, v = random_state(plant, seed)
    run = cmb.simulate(plant, None, q, v, t_end=0.2)
    assert run.max_energy_error < 1e-7
