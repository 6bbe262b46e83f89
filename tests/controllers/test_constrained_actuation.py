"""Motor efforts within limits: against quadratic programs and other solvers, and how a law degrades."""

import warnings
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import lsq_linear

import cmbcontrol as cmb
from cmbcontrol import FunctionPlant, linearize_closed_loop, plants
from cmbcontrol.controllers import Cone, ConstrainedActuation, ProjectedInverseDynamics, Unilateral, WithModel
from cmbcontrol.controllers.constrained_actuation import ActuationStatus
from cmbcontrol.dynamics.forces import motor_effort
from cmbcontrol.model.elements import Coupling, Distance, Point, PointOnLine, PointOnPlane, Revolute, Spherical, Weld
from cmbcontrol.plants.five_bar import configuration as five_bar_configuration
from tests.fixtures import (
    actuators,
    allowed_acceleration,
    close_parts,
    largest,
    limited,
    moving_terms,
    stance,
    tree_parts,
    two_arms_at_start,
)
from tests.seeds import many

OPTIMAL, DEGRADED, CONTACT_LOST, SOLVER_FAILED = ActuationStatus
LOOPS = ((Point,), (Revolute,), (Weld,), (PointOnPlane, Distance), (Spherical,), (PointOnLine,), (Coupling,))


def gauss(terms, wanted):
    """R and n with |R u - n| the slack in the metric of M, by another way than that of the law."""
    K = np.linalg.inv(np.linalg.cholesky(terms.Z.T @ terms.M @ terms.Z)) @ terms.Z.T
    return K @ terms.B, K @ (terms.M @ wanted + terms.h)


def scaled_difference(law, a, b):
    """Difference of efforts, each over its limit."""
    size = np.maximum(np.abs(law.lower), np.abs(law.upper))
    size = np.where(np.isfinite(size), size, max(largest(b), 1.0))
    return largest((a - b) / np.where(size > 0.0, size, 1.0))


class TestWithoutActiveLimits:
    @pytest.mark.parametrize(
        "name", ["five-bar", "two-arms", "loader", "stewart", "delta", "three-rrr", "slider-crank"]
    )
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.slow
    def test_the_efforts_are_those_of_motor_effort(self, name, weighted):
        plant, q, _ = plants.catalogue[name].start()
        terms, rng = moving_terms(plant, q, 1), np.random.default_rng(1)
        weight = rng.uniform(0.5, 2.0, plant.nu) if weighted else None
        wanted = allowed_acceleration(terms, rng)
        found = limited(plant, limits=np.inf, weight=weight).solve(terms, wanted)
        assert found.status == OPTIMAL and found.scale == 1.0
        expected = motor_effort(terms, wanted, weight).u
        assert largest(found.u - expected) <= 1e-9 * max(1.0, largest(expected))
        assert found.slack_norm <= 1e-8 * (1.0 + largest(wanted))

    def test_the_solver_agrees_where_limits_are_just_met(self):
        plant, q = two_arms_at_start()
        terms = moving_terms(plant, q, 1)
        wanted = allowed_acceleration(terms, np.random.default_rng(2))
        expected = motor_effort(terms, wanted).u
        for factor in (1.0 + 1e-9, 1.0 - 1e-9):  # the short cut, and the program
            found = limited(plant, limits=np.abs(expected) * factor).solve(terms, wanted)
            assert found.status == OPTIMAL
            assert largest(found.u - expected) <= 1e-6 * largest(expected)

    def test_nominal_efforts_are_what_is_deviated_from(self):
        plant, q = two_arms_at_start()
        terms, rng = moving_terms(plant, q, 1), np.random.default_rng(3)
        wanted, nominal = allowed_acceleration(terms, rng), rng.uniform(-20.0, 20.0, plant.nu)
        R, n = gauss(terms, wanted)
        found = limited(plant, nominal=nominal).solve(terms, wanted)
        assert largest(found.u - (nominal + np.linalg.pinv(R) @ (n - R @ nominal))) < 1e-9

    def test_the_loop_closes_to_first_order(self):
        plant = plants.five_bar(effort=100.0)
        motion = ProjectedInverseDynamics(plant, ("left", "right"), cmb.Constant([2.1, 1.0]), kp=[40, 80], kd=[14, 18])
        loop = linearize_closed_loop(plant, WithModel(plant, ConstrainedActuation(motion)))
        assert loop.poles().real == pytest.approx([-10.0, -10.0, -8.0, -4.0], abs=1e-5)


class TestAgainstJudges:
    """Answers of other solvers to the same question in unscaled numbers."""

    @pytest.mark.parametrize("seed", range(12))
    def test_nearest_motion_of_a_five_bar(self, seed):
        plant = plants.five_bar()
        terms, rng = moving_terms(plant, plant.assemble(left=2.1, right=1.0), seed), np.random.default_rng(seed)
        wanted, limit = allowed_acceleration(terms, rng, 30.0), rng.uniform(5.0, 60.0, 2)
        R, n = gauss(terms, wanted)
        exact = lsq_linear(R, n, (-limit, limit), method="bvls", tol=1e-14)
        found = limited(plant, limits=limit).solve(terms, wanted)
        assert largest((found.u - exact.x) / limit) < 1e-7
        assert found.slack_norm == pytest.approx(np.linalg.norm(exact.fun), abs=1e-6)
        assert found.status == (DEGRADED if np.linalg.norm(exact.fun) > 1e-6 else OPTIMAL)

    @pytest.mark.parametrize("seed", range(6))
    @pytest.mark.parametrize("size", [2.0, 80.0])
    def test_least_efforts_and_nearest_motion_of_two_arms(self, seed, size):
        import cvxpy as cp

        plant, q = two_arms_at_start()
        terms, rng = moving_terms(plant, q, seed), np.random.default_rng(seed)
        wanted, limit = allowed_acceleration(terms, rng, size), np.array([20.0, 12.0, 6.0, 16.0, 14.0, 5.0])
        weight = limit**2
        R, n = gauss(terms, wanted)
        nearest = lsq_linear(R * limit, n, (-1.0, 1.0), method="bvls", tol=1e-14)
        x = cp.Variable(6)
        rules = [(R * limit) @ x == (R * limit) @ nearest.x, cp.abs(x) <= 1.0 + 1e-9]
        cp.Problem(cp.Minimize(cp.sum_squares(x)), rules).solve(
            solver=cp.OSQP, eps_abs=1e-10, eps_rel=1e-10, max_iter=200_000, polishing=True
        )
        found = limited(plant, limits=limit, weight=weight).solve(terms, wanted)
        assert found.slack_norm == pytest.approx(np.linalg.norm(nearest.fun), abs=1e-5)
        assert found.status == (DEGRADED if np.linalg.norm(nearest.fun) > 1e-5 else OPTIMAL)
        assert largest(found.u / limit - x.value) < 1e-5

    @pytest.mark.parametrize("mu", [0.3, 1.0, 2.5])
    @pytest.mark.parametrize("load", [(1.0, 2.0), (30.0, 4.0), (-7.0, 2.0), (1.0, -3.0), (40.0, -3.0), (0.0, 5.0)])
    def test_projection_on_a_cone(self, mu, load):
        """A held particle: the contact carries p = load - u, and the least u brings p to the nearest of the cone."""
        plant = held_particle(load)
        law = limited(plant, cones=[Cone("tip_y", mu, tangential=["tip_x"])])
        found = law.solve(plant.terms([0.0, 0.0], [0.0, 0.0]), [0.0, 0.0])
        edge = np.array([np.copysign(mu, load[0]), 1.0]) / np.hypot(mu, 1.0)
        inside = abs(load[0]) <= mu * load[1]
        nearest = np.array(load) if inside else max(edge @ load, 0.0) * edge
        assert largest(found.u - (load - nearest)) < 1e-6 * largest(np.array(load))
        assert found.status == OPTIMAL and found.violation < 1e-6

    @pytest.mark.slow
    def test_direct_and_modelled_agree(self):
        """On the plants of the catalogue and random machines, with all kinds of limits."""
        machines, rng, compared = list(some_machines(14)), np.random.default_rng(11), 0
        for _ in range(90):
            plant, q = machines[rng.integers(len(machines))]
            terms, wanted, options = random_request(plant, q, rng)
            direct = limited(plant, **options)
            a = direct.solve(terms, wanted)
            b = limited(plant, solver="cvxpy", **options).solve(terms, wanted)
            assert a.status == b.status
            if a.status == CONTACT_LOST:
                assert a.violation == pytest.approx(b.violation, rel=1e-5, abs=1e-5)
                continue
            compared += 1
            assert scaled_difference(direct, a.u, b.u) < 1e-6, (plant.name, options)
        assert compared > 30

    def test_active_sets_and_programs_that_are_solved_whole_agree(self):
        """With the same solver for both, as far as active sets leave anything to it."""
        machines, rng, left = list(some_machines(28)), np.random.default_rng(12), 0
        for _ in range(300):
            plant, q = machines[rng.integers(len(machines))]
            terms, wanted, options = random_request(plant, q, rng)
            law = limited(plant, **options)
            asked = count_programs(law)
            staged = law.solve(terms, wanted)
            if asked:
                left += 1
                continue
            law._staging = False
            whole = law.solve(terms, wanted)
            assert staged.status == whole.status, (plant.name, options)
            assert staged.violation <= whole.violation + 1e-5 * (1.0 + whole.violation), (plant.name, options)
            if staged.status != CONTACT_LOST:
                assert scaled_difference(law, staged.u, whole.u) < 1e-5, (plant.name, options)
        assert left <= 7  # 12 of 1,500 are: 2.4 of 300, and three standard deviations; which they are, rounding tells

    @pytest.mark.parametrize("unit", [1e-6, 1e-3, 1e6])
    def test_the_unit_of_the_efforts_does_not_matter(self, unit):
        """Efforts of motors in other units are the same efforts where limits are."""
        machines, rng = list(some_machines(7)), np.random.default_rng(13)
        for _ in range(60):
            plant, q = machines[rng.integers(len(machines))]
            terms, wanted, options = random_request(plant, q, rng)
            one = limited(plant, **options)
            other = limited(plant, **options | {"limits": np.array([one.lower, one.upper]) / unit})
            a, b = one.solve(terms, wanted), other.solve(replace(terms, B=unit * terms.B), wanted)
            assert a.status == b.status, (plant.name, options)
            if a.status != CONTACT_LOST:
                assert scaled_difference(one, unit * b.u, a.u) < 1e-5, (plant.name, options)


def count_programs(law):
    """A list that grows with each program that a law leaves to its solver."""
    asked, solve = [], law._solve_for

    def counted(program, costs):
        asked.append(costs)
        return solve(program, costs)

    law._solve_for = counted
    return asked


def held_particle(load):
    """A particle of 1 kg held in both directions, under a load; lam is what the holder takes."""
    return FunctionPlant(
        "held",
        ("x", "y"),
        M=lambda q: np.eye(2),
        h=lambda q, v: np.array(load),
        Phi=lambda q: q,
        A=lambda q: np.eye(2),
        Adot_v=lambda q, v: [0.0, 0.0],
        actuators=("x", "y"),
        rows={"tip": ("tip_x", "tip_y")},
        units=("m", "m"),
    )


def some_machines(count):
    """Plants of the catalogue, then random ones: with doubled rows, few motors, none at all."""
    for entry in plants.catalogue.values():
        plant, q, _ = entry.start()
        yield plant, q
    five_bar = plants.five_bar(closure="revolute")
    yield five_bar, five_bar_configuration(five_bar, "singular")
    for seed in range(count):
        parts = tree_parts(seed, 5)
        parts["actuators"] = actuators(parts, seed)[: seed % 5]
        yield close_parts(parts, seed, LOOPS[seed % len(LOOPS)], twice=seed % 3 == 0)


def random_request(plant, q, rng):
    """Terms, a wanted acceleration that is sometimes much too large, and limits of all kinds."""
    terms = plant.terms(q, plant.project_velocity(q, rng.uniform(-1.0, 1.0, plant.nv)))
    size = 10.0 ** rng.uniform(-1.0, 2.0, plant.nu)
    kind = rng.integers(6)
    if kind == 0:
        size = np.array([-size * rng.uniform(0.0, 1.0, plant.nu), size])
    elif kind < 3:
        size[rng.random(plant.nu) < 0.4] = (0.0, np.inf)[kind - 1]
    options = {"limits": size}
    if rng.random() < 0.3:
        options["weight"] = rng.uniform(0.2, 4.0, plant.nu)
    rows = len(plant.row_names)
    if rows and rng.random() < 0.5:
        chosen = rng.choice(rows, min(rows, rng.integers(1, 3)), replace=False)
        options["unilateral"] = {plant.row_names[i]: rng.choice([0.0, 5.0]) for i in chosen}
    forces = {
        loop: sum(plant.row_units[i] != "rad" for i in range(s.start, s.stop)) for loop, s in plant.row_slices.items()
    }
    loops = [loop for loop, count in forces.items() if count > 1]
    if loops and rng.random() < 0.5:
        loop = loops[rng.integers(len(loops))]
        options["cones"] = [Cone(loop, rng.uniform(0.2, 1.0), normal=rng.standard_normal(forces[loop]))]
    if rng.random() < 0.25:
        options["slack"] = "scale"
    wanted = allowed_acceleration(terms, rng, 10.0 ** rng.uniform(-1.0, 2.0))
    if rng.random() < 0.5:  # what some efforts within the limits do
        law = limited(plant, limits=size)
        u = rng.uniform(np.maximum(law.lower, -50.0), np.minimum(law.upper, 50.0))
        wanted = _produced(terms, u)
    return terms, wanted, options


def _produced(terms, u):
    """The acceleration under efforts."""
    inertia = terms.Z.T @ terms.M @ terms.Z
    return terms.Cv + terms.Z @ np.linalg.solve(inertia, terms.Z.T @ (terms.B @ u - terms.h - terms.M @ terms.Cv))


def check_random_states(count, seed):
    """Limits hold, contacts hold unless lost, nothing raises; returns how often each status came up."""
    machines, rng = list(some_machines(28)), np.random.default_rng(seed)
    counts = dict.fromkeys(ActuationStatus, 0)
    for _ in range(count):
        plant, q = machines[rng.integers(len(machines))]
        terms, wanted, options = random_request(plant, q, rng)
        law = limited(plant, **options)
        found = law.solve(terms, wanted)
        counts[found.status] += 1
        assert np.isfinite(found.u).all()
        assert np.all(found.u <= law.upper) and np.all(found.u >= law.lower)
        assert found.status != SOLVER_FAILED, (plant.name, options)
        if found.status != CONTACT_LOST:
            # of the forces at hand, which may cancel
            scale = max(1.0, largest(found.multipliers), largest(terms.A_pinv.T @ terms.B @ found.u))
            assert found.violation <= 1e-6 * scale, (plant.name, options)
            assert np.all(law.limits.F @ -found.multipliers >= law.limits.minimum - 1e-6 * scale)
        if found.status == OPTIMAL:
            R, n = gauss(terms, wanted)
            assert largest(R @ found.u - n) <= 1e-5 * max(largest(R * np.abs(found.u)), largest(n), 1e-3)
    return counts


class TestRandomStates:
    @pytest.mark.nojit_slow
    def test_five_hundred(self):
        counts = check_random_states(500, 0)
        assert min(counts[OPTIMAL], counts[DEGRADED], counts[CONTACT_LOST]) > 20

    @pytest.mark.slow
    def test_a_thousand(self):
        counts = check_random_states(many(1000), 1)
        assert counts[SOLVER_FAILED] == 0 and sum(counts.values()) == many(1000)


class TestDegrading:
    def test_slack_is_zero_where_it_can_be(self):
        plant, q = two_arms_at_start()
        terms = moving_terms(plant, q, 0)
        reachable = 0.99 * np.array([20.0, 12.0, 6.0, -16.0, -14.0, 5.0])
        R, _ = gauss(terms, terms.Cv)
        found = limited(plant, limits=[20.0, 12.0, 6.0, 16.0, 14.0, 5.0]).solve(terms, _produced(terms, reachable))
        assert found.status == OPTIMAL and found.slack_norm < 1e-6
        assert np.linalg.norm(found.u) < np.linalg.norm(reachable)
        assert largest(R @ (found.u - reachable)) < 1e-6

    @pytest.mark.parametrize("solver", ["direct", "cvxpy"])
    def test_scaling_keeps_the_direction(self, solver):
        plant = plants.five_bar()
        terms = moving_terms(plant, plant.assemble(left=2.1, right=1.0), 3)
        wanted = allowed_acceleration(terms, np.random.default_rng(3), 10.0)
        found = limited(plant, limits=60.0, slack="scale", solver=solver).solve(terms, wanted)
        assert found.status == DEGRADED and 0.05 < found.scale < 0.95
        assert largest(found.acceleration - terms.Cv - found.scale * (wanted - terms.Cv)) < 1e-5
        least = limited(plant, limits=60.0, solver=solver).solve(terms, wanted)
        assert least.slack_norm < found.slack_norm
        enough = limited(plant, limits=1e4, slack="scale", solver=solver).solve(terms, wanted)
        assert enough.status == OPTIMAL and enough.scale == 1.0

    def test_scaling_where_not_even_rest_can_be_had(self):
        plant = plants.five_bar()
        terms = plant.terms(plant.assemble(left=2.1, right=1.0), np.zeros(4))
        found = limited(plant, limits=5.0, slack="scale").solve(terms, terms.Z @ [1.0, 1.0])
        assert found.status == DEGRADED and largest(found.u) <= 5.0

    def test_a_metric_says_where_the_motion_counts(self):
        plant = plants.five_bar()
        terms = plant.terms(plant.assemble(left=2.1, right=1.0), np.zeros(4))
        slacks = []
        for weights in ([1e4, 1.0, 1.0, 1.0], [1.0, 1.0, 1e4, 1.0]):
            found = limited(plant, limits=[100.0, 25.0], metric=weights).solve(terms, np.zeros(4))
            R = np.sqrt(weights)[:, None] * terms.Z @ np.linalg.solve(terms.Z.T @ terms.M @ terms.Z, terms.Z.T)
            exact = lsq_linear(R @ terms.B, R @ terms.h, ([-100.0, -25.0], [100.0, 25.0]), method="bvls", tol=1e-14)
            assert largest(found.u - exact.x) < 1e-5
            slacks.append(np.abs(found.slack[[0, 2]]))
        assert slacks[0][0] < slacks[1][0] and slacks[1][1] < slacks[0][1]

    def test_a_motor_alone(self):
        plant, q, _ = plants.catalogue["slider-crank"].start()
        terms = moving_terms(plant, q, 0)
        for sign in (-1.0, 1.0):
            wanted = terms.Cv + terms.Z[:, 0] * sign * 1e4
            found = limited(plant, limits=[[-2.0], [3.0]]).solve(terms, wanted)
            assert found.status == DEGRADED
            assert found.u[0] in (pytest.approx(-2.0), pytest.approx(3.0))

    def test_no_motors(self):
        plant, q, _ = plants.catalogue["governor"].start()
        terms = moving_terms(plant, q, 0)
        free = cmb.forward_dynamics(plant, terms.q, terms.v)
        law = limited(plant)
        assert law.solve(terms, free).status == OPTIMAL
        assert law.solve(terms, free + terms.Z[:, 0]).status == DEGRADED
        assert law.solve(terms, free).u.shape == (0,)

    def test_given_efforts(self):
        """Limits that leave no choice are kept, and what is left to the other motor is what it can do best."""
        plant = plants.five_bar()
        terms = plant.terms(plant.assemble(left=2.1, right=1.0), np.zeros(4))
        found = limited(plant, limits={"left": (7.0, 7.0)}).solve(terms, np.zeros(4))
        R, n = gauss(terms, np.zeros(4))
        assert found.u[0] == 7.0 and found.status == DEGRADED
        assert found.u[1] == pytest.approx(R[:, 1] @ (n - 7.0 * R[:, 0]) / (R[:, 1] @ R[:, 1]), rel=1e-6)
        both = limited(plant, limits=[[7.0, -3.0], [7.0, -3.0]]).solve(terms, np.zeros(4))
        assert both.u.tolist() == [7.0, -3.0] and both.status == DEGRADED

    def test_far_too_much(self):
        """The efforts for a million times what is possible are those that push hardest that way."""
        plant = plants.five_bar()
        terms = plant.terms(plant.assemble(left=2.1, right=1.0), np.zeros(4))
        for size in (1e2, 1e6, 1e12):
            found = limited(plant, limits=20.0).solve(terms, size * terms.Z[:, 0])
            assert found.status == DEGRADED and largest(found.u) <= 20.0
            assert found.slack @ terms.M @ terms.Z[:, 0] < 0.0

    def test_singular_pose_and_doubled_rows(self):
        efforts = []
        for closure in ("line", "point", "revolute"):
            plant = plants.five_bar(closure=closure)
            terms = moving_terms(plant, plant.assemble(left=2.1, right=1.0), 5)
            wanted = cmb.forward_dynamics(plant, terms.q, terms.v, [90.0, -70.0])
            efforts.append(limited(plant, limits=[60.0, 80.0]).solve(terms, wanted).u)
            singular = plant.terms(five_bar_configuration(plant, "singular"), np.zeros(4))
            found = limited(plant, limits=60.0).solve(singular, singular.Z @ np.full(singular.dof, 50.0))
            assert found.status == DEGRADED and largest(found.u) <= 60.0
        assert max(largest(u - efforts[0]) for u in efforts) < 1e-5


class TestFailures:
    def law(self, **options):
        plant = plants.five_bar(effort=20.0)
        return limited(plant, **options), plant.terms(plant.assemble(left=2.1, right=1.0), np.zeros(4))

    @pytest.mark.parametrize("solver", ["direct", "cvxpy"])
    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    def test_numbers_that_are_not_finite(self, solver, bad):
        law, terms = self.law(solver=solver, unilateral=["tip_y"], nominal=[30.0, -5.0])
        found = law.solve(terms, [0.0, bad, 0.0, 0.0])
        assert found.status == SOLVER_FAILED and found.u.tolist() == [20.0, -5.0]
        assert law.solve(replace(terms, h=np.full(4, bad)), np.zeros(4)).status == SOLVER_FAILED
        assert law.solve(replace(terms, A=terms.A * bad), np.zeros(4)).u.tolist() == [20.0, -5.0]
        assert isinstance(found.message, str)

    def test_a_solver_that_gives_up(self):
        law, terms = self.law(unilateral=["tip_y"])
        law._staging = False  # active sets leave it to the solver
        law._solve_for = lambda program, costs: None
        found = law.solve(terms, terms.Z @ [50.0, 50.0])
        assert found.status == SOLVER_FAILED
        exact = motor_effort(terms, terms.Z @ [50.0, 50.0]).u
        assert found.u == pytest.approx(np.clip(exact, -20.0, 20.0))
        assert "clipped" in found.message

    def test_huge_and_tiny_numbers(self):
        law, terms = self.law()
        for size in (1e-300, 1e-30, 1e30, 1e150, 1e300):
            found = law.solve(terms, np.full(4, size))
            assert np.isfinite(found.u).all() and largest(found.u) <= 20.0

    def test_every_status_says_what_to_do(self):
        assert all(len(status.message) > 40 for status in ActuationStatus)


class TestInput:
    @pytest.fixture(autouse=True)
    def five_bar(self, plant):
        self.plant = plant

    @pytest.mark.parametrize(
        ("options", "error", "words"),
        [
            ({"limits": [1.0, 2.0, 3.0]}, ValueError, "left, right"),
            ({"limits": [1.0, -2.0]}, ValueError, "'right'"),
            ({"limits": [np.nan, 1.0]}, ValueError, "'left'"),
            ({"limits": [[1.0, 1.0], [0.0, 2.0]]}, ValueError, "lower <= upper"),
            ({"limits": {"lift": 1.0}}, ValueError, "no motor 'lift'"),
            ({"weight": [1.0, -1.0]}, ValueError, "positive definite"),
            ({"nominal": [1.0]}, ValueError, "nominal"),
            ({"metric": [1.0, -1.0, 1.0, 1.0]}, ValueError, "metric must be"),
            ({"metric": np.zeros(4)}, ValueError, "metric"),
            ({"slack": "most"}, ValueError, "slack"),
            ({"solver": "quick"}, ValueError, "solver"),
            ({"unilateral": ["tip_z"]}, ValueError, "did you mean"),
            ({"unilateral": ["tip"]}, ValueError, "tip_x, tip_y"),
            ({"unilateral": [3.0]}, TypeError, "Unilateral"),
            ({"unilateral": [Unilateral({})]}, ValueError, "empty"),
            ({"unilateral": {"tip_x": np.nan}}, ValueError, "tip_x"),
            ({"cones": ["tip"]}, TypeError, "Cone"),
            ({"cones": [Cone("tip", 0.5)]}, TypeError, "normal="),
            ({"cones": [Cone("tip", 0.5, normal=(1.0, 0.0), tangential=("tip_x",))]}, TypeError, "either"),
            ({"cones": [Cone("tip", (0.5, 0.5), normal=(1.0, 0.0))]}, ValueError, "one number or 1"),
            ({"cones": [Cone("tip", 0.5, normal=(1.0, 0.0, 0.0))]}, ValueError, "tip_x, tip_y"),
            ({"cones": [Cone("tip", 0.5, normal=(0.0, 0.0))]}, ValueError, "zero"),
            ({"cones": [Cone("tap", 0.5, normal=(1.0, 0.0))]}, ValueError, "'tip'"),
            ({"cones": [Cone("tip_x", 0.5, tangential=("tip_x",))]}, ValueError, "different"),
        ],
    )
    def test_refused_with_words(self, options, error, words):
        with pytest.raises(error) as raised:
            limited(self.plant, **options)
        assert words in str(raised.value)

    @pytest.mark.parametrize("mu", [0.0, -0.5, np.nan, (0.5, 0.0)])
    def test_a_cone_needs_friction(self, mu):
        with pytest.raises(ValueError, match="mu of the cone at 'tip' must be > 0"):
            Cone("tip", mu, normal=(1.0, 0.0))

    def test_what_is_no_motion_law(self):
        with pytest.raises(TypeError, match="motion law"):
            ConstrainedActuation(lambda t, terms, state: np.zeros(2))
        with pytest.raises(ValueError, match="desired"):
            limited(self.plant).solve(self.plant.terms(self.plant.assemble(), np.zeros(4)), [0.0])

    def test_a_cone_needs_tangential_rows(self):
        plant = plants.catalogue["particle"].start()[0]
        with pytest.raises(ValueError, match="no tangential force"):
            limited(plant, cones=[Cone("circle", 0.5, normal=(1.0,))])

    def test_other_plants_are_refused(self):
        law = limited(self.plant, unilateral=["tip_y"])
        assert law.start(plants.five_bar()).size == 0
        with pytest.raises(ValueError, match="coordinates"):
            law.start(plants.catalogue["slider-crank"].start()[0])
        bar = self.plant
        renamed = [replace(loop, name="top") for loop in bar.loops]
        other = cmb.Mechanism("other", bar.bodies, bar.joints, renamed, actuators=bar.actuators, gravity=bar.gravity)
        with pytest.raises(ValueError, match="contacts were named"):
            law.start(other)
        assert limited(self.plant).start(other).size == 0
        assert law.start(plants.five_bar(closure="revolute")).size == 0  # rows go by their names
        assert law.start(bar.without("tip")).size == 0  # a loop that does not hold at present

    def test_what_the_motion_law_knows_is_handed_on(self):
        motion = ProjectedInverseDynamics(
            self.plant, ("left", "right"), cmb.Constant([2.1, 1.0]), bandwidth=8.0, period=0.01
        )
        law = ConstrainedActuation(motion)
        assert (law.period, law.coordinates, law.plant) == (0.01, ("left", "right"), self.plant)
        law = law.with_reference(cmb.Constant([2.0, 1.1]))
        assert motion.reference(0.0)[0].tolist() == [2.1, 1.0] and law.reference(0.0)[0].tolist() == [2.0, 1.1]


class TestTracking:
    """A move of the five-bar that needs 1.5 times what the motors can give."""

    start, goal = np.array([2.1, 1.0]), np.array([1.6, 0.8])

    def run(self, limit, **options):
        plant = plants.five_bar()
        path = cmb.Quintic(self.start, self.goal, 0.5)
        motion = ProjectedInverseDynamics(plant, ("left", "right"), path, bandwidth=10.0, period=5e-3)
        law = ConstrainedActuation(motion, limits=limit, **options)
        q0 = plant.assemble(left=self.start[0], right=self.start[1])
        return law, cmb.simulate(plant, law, q0, t_end=2.0, rtol=1e-7, atol=1e-7, output_times=5e-3)

    @pytest.mark.nojit_slow
    @pytest.mark.parametrize("slack", ["least", "scale"])
    @pytest.mark.filterwarnings("ignore:.*has code, which has left:cmbcontrol.errors.SpeedWarning")
    def test_degrades_gracefully(self, slack):
        _, free = self.run(np.inf)
        limit = np.abs(free.u.values).max(axis=0) / 1.5
        law, run = self.run(limit, slack=slack)
        y = run.q.values[:, [0, 2]]
        error = np.abs([law.reference(t)[0] for t in run.time] - y).max(axis=1)
        assert np.abs(run.u.values / limit).max() <= 1.0 + 1e-9
        assert 0.05 < error.max() < 0.25  # of a move of 0.5 rad
        assert error[-1] < 1e-3
        way = (self.goal - self.start) / np.linalg.norm(self.goal - self.start)
        aside = np.abs((y - self.start) @ [-way[1], way[0]]).max()
        assert aside < 5e-3 if slack == "scale" else aside > 0.05
        status = [law.evaluate(t, law.plant.terms(q, v), np.zeros(0)).reported() for t, q, v in self.samples(run)]
        assert {int(x["status"]) for x in status} == {OPTIMAL, DEGRADED}
        assert all(x["limit_use"] <= 1.0 + 1e-9 for x in status)
        assert all((x["motion_slack"] > 1e-3) == (x["status"] == DEGRADED) for x in status)
        assert status[-1]["status"] == OPTIMAL

    def samples(self, run):
        return zip(run.time[::20], run.q.values[::20], run.v.values[::20], strict=True)


def test_reports_have_what_the_law_has():
    plant, q = two_arms_at_start()
    terms = plant.terms(q, np.zeros(6))
    keys = {"status", "motion_slack", "limit_use"}
    assert set(limited(plant).evaluate(0.0, terms, np.zeros(0)).reported()) == keys
    cone = Cone("grasp", 0.5, normal=(1.0, 0.0), minimum=10.0)
    report = limited(plant, cones=[cone], slack="scale").evaluate(0.0, terms, np.zeros(0)).reported()
    assert set(report) == {*keys, "motion_scale", "contact_force", "friction_use"}
    assert report["contact_force"] >= 10.0 - 1e-6 and report["friction_use"] <= 1.0 + 1e-6
    assert limited(plant, limits=np.inf).limit_use(np.ones(6)) == 0.0


# -- flat feet: how contacts share forces is an unknown ------------------------------------------------------------


def least_slack(terms, plant, wanted, cones, mu):
    """The smallest slack in the metric of M, with the forces of all rows as unknowns."""
    a, p, u = cp.Variable(plant.nv), cp.Variable(len(terms.b)), cp.Variable(plant.nu)
    L = np.linalg.cholesky(terms.M)
    held = [terms.M @ a + terms.h == terms.B @ u + terms.A.T @ p, terms.A @ a == -terms.b, cp.abs(u) <= plant.effort]
    for name in cones:
        s = plant.row_slices[name]
        x, y, z = p[s.start], p[s.start + 1], p[s.start + 2]
        held.append(cp.norm(cp.hstack([x, z])) <= mu * y)
    problem = cp.Problem(cp.Minimize(cp.norm(L.T @ (a - wanted))), held)
    with warnings.catch_warnings():  # that it is not as exact as it is asked to be
        warnings.simplefilter("ignore", UserWarning)
        problem.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return np.inf if problem.status == cp.INFEASIBLE else problem.value


def asked_of_a_stance(seed):
    """Terms, what the law has found, and the least slack."""
    plant, q, rng = stance(seed)
    dof, mu = plant.diagnose(q).dof, rng.uniform(0.3, 1.0)
    motion = ProjectedInverseDynamics(plant, plant.actuator_names[:dof], cmb.Constant(np.zeros(dof)), bandwidth=5.0)
    feet = list(plant.row_slices)
    law = ConstrainedActuation(motion, cones=[Cone(name, mu, normal=(0.0, 1.0, 0.0)) for name in feet])
    terms = plant.terms(q, plant.project_velocity(q, 0.3 * rng.standard_normal(plant.nv)))
    wanted = terms.Cv + terms.Z @ (rng.uniform(0.1, 5.0) * rng.standard_normal(dof))
    return terms, law.solve(terms, wanted), least_slack(terms, plant, wanted, feet, mu)


def require_least_slack(seeds):
    statuses = []
    for seed in seeds:
        terms, found, least = asked_of_a_stance(seed)
        assert np.linalg.norm(terms.A.T @ found.shared) <= 1e-9 * (1.0 + np.linalg.norm(found.shared))
        if found.status == CONTACT_LOST:
            assert not np.isfinite(least), seed
        else:
            assert found.violation <= 1e-6 * (1.0 + largest(found.multipliers)), seed
            assert abs(found.slack_norm - least) <= 1e-6 * (1.0 + least), seed
            assert found.friction_use <= 1.0 + 1e-5, seed
        statuses.append(found.status)
    return statuses


class TestSharedForces:
    def test_heel_and_toe_do_what_a_program_with_free_forces_does(self):
        statuses = require_least_slack(range(16))
        assert statuses.count(OPTIMAL) >= 4 and statuses.count(DEGRADED) >= 4

    @pytest.mark.slow
    def test_more_stances(self):
        statuses = require_least_slack(range(1000, 1000 + many(60)))
        assert statuses.count(CONTACT_LOST) < 0.2 * len(statuses)

    def test_the_smallest_multipliers_where_these_keep_the_contacts(self):
        for seed in range(40):
            terms, found, _ = asked_of_a_stance(seed)
            if found.status == OPTIMAL and not found.shared.any():
                smallest = np.linalg.pinv(terms.A.T, rcond=1e-9) @ (
                    terms.B @ found.u - terms.h - terms.M @ found.acceleration
                )
                np.testing.assert_allclose(found.multipliers, smallest, atol=1e-8 * largest(smallest))
                return
        raise AssertionError("no stance whose smallest multipliers are in the cones")

    def test_the_program_taken_whole_finds_the_same(self):
        for seed in (1, 4, 5):
            plant, q, rng = stance(seed)
            dof = plant.diagnose(q).dof
            motion = ProjectedInverseDynamics(
                plant, plant.actuator_names[:dof], cmb.Constant(np.zeros(dof)), bandwidth=5.0
            )
            cones = [Cone(name, 0.6, normal=(0.0, 1.0, 0.0)) for name in plant.row_slices]
            terms = plant.terms(q, np.zeros(plant.nv))
            wanted = terms.Cv + terms.Z @ (2.0 * rng.standard_normal(dof))
            by_stages, whole = (
                ConstrainedActuation(motion, cones=cones, solver=solver).solve(terms, wanted)
                for solver in ("direct", "cvxpy")
            )
            assert by_stages.status == whole.status
            assert by_stages.slack_norm == pytest.approx(whole.slack_norm, rel=1e-4, abs=1e-5)
