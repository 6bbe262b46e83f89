"""The equations of motion in symbols, and what laws solve with them, against dense linear algebra in numbers.

Coordinates count in metres (by their reach), rows in metres too: so that angles and lengths can be compared.
"""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol._jit import JIT_ENABLED
from cmbcontrol.model.generated import independent_rows
from cmbcontrol.trace.code import compiled
from cmbcontrol.trace.equations import NullSpaceMotion
from cmbcontrol.trace.functions import Function, Tracing
from cmbcontrol.trace.graph import Scalar
from cmbcontrol.trace.machine import Parameters, TracedMachine
from cmbcontrol.trace.symbols import NotTraceable, Symbols
from cmbcontrol.trace.terms import TracedTerms

from ..seeds import many, rotating
from .test_functions import random_machine
from .test_symbols import run_code

needs_jit = pytest.mark.skipif(not JIT_ENABLED, reason="nothing is compiled")

CATALOGUE = ("five-bar", "loader", "stewart", "delta", "three-rrr")


def tracing_of(plant, q):
    rows = independent_rows(plant.terms(q, np.zeros(plant.nv)))
    return Tracing(plant.arrays, Parameters(plant.arrays), rows, q)


def start(plant, q, v):
    """A tracing at a state, and its terms."""
    at = tracing_of(plant, q)
    t, q, v = at.inputs(np.zeros(1), q, v)
    return at, TracedTerms(at, None, t[0], q, v)


def values(found):
    """At the sample."""
    return np.vectorize(lambda x: x.value if isinstance(x, Scalar) else x, otypes=[float])(np.asarray(found, object))


class Dense:
    """Kept rows G in metres of gap a metre of motion, motions Z of a metre, and solutions by singular values."""

    def __init__(self, plant, q, v, rows):
        self.terms = terms = plant.terms(q, v)
        self.unit_lengths = plant.unit_lengths
        self.G = plant.row_scale[rows, None] * terms.A[rows] / self.unit_lengths
        U, s, Vt = np.linalg.svd(self.G)
        self.rank = len(rows)
        self.s = s
        self.Z = Vt[self.rank :].T / self.unit_lengths[:, None]
        self.across = Vt[: self.rank]
        self.b = plant.row_scale[rows] * terms.b[rows]
        self.phi = plant.row_scale[rows] * terms.phi[rows]
        self.inverse = (Vt[: self.rank].T / s) @ U.T
        self.c = -self.inverse @ self.b / self.unit_lengths
        self.L = np.linalg.cholesky(terms.M)
        self.dof = plant.nv - self.rank

    def size(self, x):
        """In the metric of M."""
        return np.linalg.norm(self.L.T @ x)

    def metres(self, x):
        return np.linalg.norm(self.unit_lengths * x)

    def free(self, f):
        return np.linalg.solve(self.L.T, np.linalg.solve(self.L, f))

    def admissible(self, a, wish):
        """a + Z z that is nearest to a wish in the metric of M, by least squares in mass coordinates."""
        return a + self.Z @ np.linalg.lstsq(self.L.T @ self.Z, self.L.T @ (wish - a), rcond=None)[0]


class Question:
    """Numbers to solve with, of the size that is usual at a machine."""

    def __init__(self, plant, dense, rng):
        speed = 9.81
        self.vdot = speed * rng.standard_normal(plant.nv) / plant.unit_lengths
        self.f = plant.force_scale * rng.standard_normal(plant.nv) * plant.unit_lengths
        k = dense.dof
        turned = np.linalg.qr(rng.standard_normal((k, k)))[0]
        motions = (dense.Z.T * plant.unit_lengths) * plant.unit_lengths  # of a metre, as rows
        self.J = turned @ motions + 0.3 * rng.standard_normal((k, dense.rank)) @ (dense.across * plant.unit_lengths)
        self.target = speed * rng.standard_normal(k)
        self.few = max(1, k // 2) if k else 0
        self.root = np.eye(plant.nu) + 0.3 * rng.standard_normal((plant.nu, plant.nu)) / max(1, plant.nu)


def read(terms):
    """What a law reads."""
    names = ("M", "h", "b", "A", "phi", "B", "Cv", "kinetic", "potential", "energy")
    return {name: getattr(terms, name) for name in names}


def solved(terms, ask, efforts=True):
    """What a law solves."""
    found = {
        "only": terms.only_acceleration(ask.J, ask.target)[0],
        "nearest": terms.nearest_acceleration(ask.J[: ask.few], ask.target[: ask.few], NullSpaceMotion(ask.vdot))[0],
        "response": terms.response(ask.f),
        "acceleration": terms.acceleration(ask.f),
        "free": terms.free_acceleration(ask.f),
    }
    if efforts:
        found["effort"] = terms.smallest_effort(ask.vdot)
        found["weighed effort"] = terms.smallest_effort(ask.vdot, ask.root)
        nominal = ask.root[0]
        found["effort near one"] = terms.smallest_effort(ask.vdot, ask.root, nominal)
    return found


def chart_of(terms):
    return {"K": terms.chart().K, "c": terms.chart().c}


def check_read(plant, dense, found):
    terms, reach = dense.terms, plant.unit_lengths
    for name in ("A", "B"):
        expected = getattr(terms, name)
        scale = np.abs(expected).max(axis=0, initial=1e-300)
        np.testing.assert_allclose(found[name] / scale, expected / scale, rtol=0.0, atol=1e-12, err_msg=name)
    far = plant.size + np.abs(plant.link_poses(terms.q)[1]).max()
    assert np.abs(plant.row_scale * (found["phi"] - terms.phi)).max(initial=0.0) <= 1e-14 * far
    root = np.sqrt(np.diag(terms.M))
    np.testing.assert_allclose(found["M"] / np.outer(root, root), terms.M / np.outer(root, root), atol=1e-12)
    push = np.abs(np.append(terms.h / reach, plant.force_scale)).max()
    assert np.abs((found["h"] - terms.h) / reach).max() <= 1e-12 * push
    speed = dense.metres(terms.v)
    gap = np.abs(plant.row_scale * terms.b).max(initial=0.0) + speed**2 / plant.size
    assert np.abs(plant.row_scale * (found["b"] - terms.b)).max(initial=0.0) <= 1e-12 * gap
    # the smallest in radians and metres as they are
    rows = plant.row_scale[:, None] * terms.A
    G, b = rows[dense.kept], dense.b
    expected = -np.linalg.pinv(G) @ b if dense.rank else np.zeros(plant.nv)
    weight = np.linalg.cond(G) ** 2 if dense.rank else 1.0
    error = np.linalg.norm(found["Cv"] - expected)
    most = np.linalg.norm(np.linalg.pinv(G), 2) * (np.linalg.norm(b) + gap) if dense.rank else 0.0
    assert error <= 1e-14 * weight * most + 1e-13 * np.linalg.norm(expected)
    kinetic = 0.5 * terms.v @ terms.M @ terms.v
    assert found["kinetic"] == pytest.approx(kinetic, rel=1e-12)
    height = plant.force_scale * far
    assert abs(found["potential"] - terms.potential) <= 1e-13 * (height + abs(terms.potential))
    assert abs(found["energy"] - kinetic - terms.potential) <= 1e-12 * (kinetic + height + abs(terms.potential))


def part(error, size):
    """Of a size that may be zero, where there is nothing."""
    return error / size if error > 0.0 else 0.0


def check_solved(plant, dense, ask, found, accuracy):
    """Each error is a part of the size of what goes into the result."""
    terms, Z, c = dense.terms, dense.Z, dense.c
    errors = {}
    moved = dense.metres(c) + dense.metres(terms.v) ** 2 / plant.size

    a = c + Z @ np.linalg.solve(ask.J @ Z, ask.target - ask.J @ c)
    errors["only"] = part(dense.metres(found["only"] - a), dense.metres(a) + moved)

    J, target = ask.J[: ask.few], ask.target[: ask.few]
    near = dense.admissible(c, ask.vdot)
    mobile = Z @ np.linalg.solve(Z.T @ terms.M @ Z, Z.T)
    a = near + mobile @ J.T @ np.linalg.solve(J @ mobile @ J.T, target - J @ near)
    size = dense.size(a) + dense.size(near) + dense.size(c) + dense.size(ask.vdot)
    errors["nearest"] = part(dense.size(found["nearest"] - a), size)

    a = mobile @ ask.f
    errors["response"] = part(dense.size(found["response"] - a), dense.size(dense.free(ask.f)))

    free = dense.free(ask.f - terms.h)
    a = dense.admissible(c, free)
    size = dense.size(free) + dense.size(dense.free(ask.f)) + dense.size(c) + dense.size(a)
    errors["acceleration"] = part(dense.size(found["acceleration"] - a), size)
    free = dense.free(ask.f)
    errors["free"] = part(dense.size(found["free"] - free), dense.size(free))

    columns = dense.columns if "K" in found else []
    if len(columns):
        check_chart(dense, found, columns, moved, errors)
    if "effort" in found:
        need = Z.T @ (terms.M @ ask.vdot + terms.h)
        size = np.linalg.norm(np.abs(Z.T) @ (np.abs(terms.M) @ np.abs(ask.vdot) + np.abs(terms.h)))
        for name, root in (("effort", np.eye(plant.nu)), ("weighed effort", ask.root)):
            inverse = np.linalg.pinv(Z.T @ terms.B @ root)
            gain = np.linalg.norm(root, 2) * np.linalg.norm(inverse, 2)
            errors[name] = part(np.linalg.norm(found[name] - root @ (inverse @ need)), gain * size)
        given = ask.root[0]  # nearest to it in the last metric
        u = given + root @ (inverse @ (need - Z.T @ terms.B @ given))
        errors["effort near one"] = part(
            np.linalg.norm(found["effort near one"] - u), gain * size + (1.0 + gain) * np.linalg.norm(given)
        )
    assert max(errors.values()) <= accuracy, errors
    return errors


def check_chart(dense, found, columns, moved, errors):
    Z, c, reach = dense.Z, dense.c, dense.unit_lengths
    expected = Z @ np.linalg.inv(Z[columns])
    grown = np.linalg.norm(reach[:, None] * expected / reach[columns])
    error = np.linalg.norm(reach[:, None] * (found["K"] - expected) / reach[columns])
    errors["K"] = part(error, grown)
    np.testing.assert_array_equal(found["K"][columns], np.eye(dense.dof))
    expected = c - Z @ np.linalg.solve(Z[columns], c[columns])
    errors["c"] = part(dense.metres(found["c"] - expected), moved * (1.0 + grown))
    np.testing.assert_array_equal(found["c"][columns], 0.0)


def prepare(plant, q, seed):
    rng = np.random.default_rng(seed)
    at = tracing_of(plant, q)
    dense = Dense(plant, q, np.zeros(plant.nv), at.rows)
    v = dense.Z @ rng.standard_normal(dense.dof) * np.sqrt(9.81 * plant.size)
    dense = Dense(plant, q, v, at.rows)
    dense.kept = list(at.rows)
    return dense, v, Question(plant, dense, rng)


def regular(name):
    plant, q, _ = plants.catalogue[name].start()
    return plant, q


def unit_rows(plant, columns):
    return np.eye(plant.nv)[list(columns)]


@pytest.mark.parametrize("name", CATALOGUE)
def test_at_the_sample(name):
    plant, q = regular(name)
    dense, v, ask = prepare(plant, q, seed=1)
    at, terms = start(plant, q, v)
    assert (terms.rank, terms.dof) == (dense.rank, dense.dof)
    np.testing.assert_allclose(values(terms.row_scale), plant.row_scale, rtol=1e-15)
    np.testing.assert_allclose(values(terms.unit_lengths), plant.unit_lengths, rtol=1e-15)
    check_read(plant, dense, {key: values(x)[()] for key, x in read(terms).items()})
    found = {key: values(x) for key, x in (solved(terms, ask) | chart_of(terms)).items()}
    dense.columns = terms.chart().columns
    check_solved(plant, dense, ask, found, 1e-13)
    assert all(at.graph.guards.values())


@pytest.mark.parametrize("name", CATALOGUE)
def test_numbers_are_solved_as_symbols(name):
    plant, q = regular(name)
    dense, v, ask = prepare(plant, q, seed=1)
    check_solved(plant, dense, ask, solved(plant.terms(q, v), ask), 1e-13)


def check_random(seeds):
    """How many machines, and how many of them with motors for all motions."""
    done = driven = 0
    for seed in seeds:
        made = random_machine(seed)
        if made is None:
            continue
        plant, q = made
        dense, v, ask = prepare(plant, q, seed)
        _, terms = start(plant, q, v)
        efforts = dense.dof > 0 and margin(plant, dense) > 0.05
        try:
            found = {key: values(x) for key, x in (solved(terms, ask, efforts) | chart_of(terms)).items()}
            read_in = {key: values(x)[()] for key, x in read(terms).items()}
        except NotTraceable as refusal:
            assert "do not determine the motion" in str(refusal)  # too near to where something is singular
            continue
        dense.columns = terms.chart().columns
        in_numbers = plant.terms(q, v).of_independent_rows()
        Z, M = in_numbers.Z, in_numbers.M  # what their bases lose by unlike masses
        lost = sum(np.sqrt(np.linalg.cond(X)) for X in (np.linalg.matrix_power(Z.T @ M @ Z, 2), M) if X.size)
        accuracy = 1e-11 + 1e-15 * lost
        if in_numbers.rank == dense.rank:  # else rows are too near to being dependent for the ones that code keeps
            check_solved(plant, dense, ask, solved(in_numbers, ask, efforts), accuracy)
        check_solved(plant, dense, ask, found, 1e-11)  # 2500 times rounding, and conditioning of the machine
        check_read(plant, dense, read_in)
        done, driven = done + 1, driven + efforts
    return done, driven


def margin(plant, dense):
    """How well the motors reach the motion that they reach least, beside the others."""
    B = dense.terms.B / np.maximum(np.linalg.norm(dense.terms.B / plant.unit_lengths[:, None], axis=0), 1e-300)
    return np.linalg.svd(dense.Z.T @ B)[1].min(initial=1.0) if plant.nu >= dense.dof else 0.0


def test_some_random_machines():
    done, driven = check_random(range(60))
    assert done >= 40
    assert driven >= 5


@pytest.mark.rotates
def test_random_machines():
    done, driven = check_random(rotating(150))
    assert done >= 0.5 * many(150)
    assert driven >= 2


@needs_jit
@pytest.mark.parametrize("name", CATALOGUE)
def test_elsewhere_in_machine_code(name):
    """What is chosen at the sample is solved elsewhere."""
    plant, q0 = regular(name)
    rng = np.random.default_rng(2)
    _, _, ask = prepare(plant, q0, seed=2)
    at, terms = start(plant, q0, np.zeros(plant.nv))
    groups = read(terms) | solved(terms, ask)
    outputs = [x for group in groups.values() for x in np.ravel(np.asarray(group, object))]
    address = compiled(Function(at.graph, at.size, outputs))
    parameters = Parameters(plant.arrays).values
    for _ in range(4):
        q = plant.close(plant.integrate(q0, 0.1 * rng.standard_normal(plant.nv) * plant.displacement_scale))
        dense = Dense(plant, q, np.zeros(plant.nv), at.rows)
        v = dense.Z @ rng.standard_normal(dense.dof) * np.sqrt(9.81 * plant.size)
        dense = Dense(plant, q, v, at.rows)
        dense.kept, dense.columns = list(at.rows), terms.chart().columns
        y = np.full(len(outputs), np.nan)
        assert run_code(address, parameters, np.concatenate([[0.0], q, v]), y) == 0
        found, begin = {}, 0
        for key, group in groups.items():
            shape = getattr(group, "shape", ())
            found[key] = y[begin : begin + int(np.prod(shape))].reshape(shape)[()]
            begin += int(np.prod(shape))
        check_read(plant, dense, found)
        check_solved(plant, dense, ask, found, 1e-12)


# -- independent coordinates -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CATALOGUE)
def test_driven_coordinates_are_taken_where_they_determine_the_motion(name):
    plant, q = regular(name)
    _, terms = start(plant, q, np.zeros(plant.nv))
    dense, *_ = prepare(plant, q, seed=0)
    driven = np.flatnonzero(np.abs(dense.terms.B).sum(axis=1))
    columns = terms.chart().columns
    assert len(columns) == dense.dof
    moves = dense.Z * plant.unit_lengths[:, None]  # orthonormal
    assert np.linalg.svd(moves[columns])[1][-1] > 0.03
    if len(driven) == dense.dof and np.linalg.svd(moves[driven])[1][-1] > 0.3:
        assert columns == driven.tolist()


@pytest.mark.parametrize("wanted", [(0, 1), (1, 0), (2, 3), (3, 1)])
def test_coordinates_that_are_wanted_are_taken(wanted):
    """Accelerations of plain coordinates, in any order, are those asked for, whatever has been solved before."""
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    dense, v, ask = prepare(plant, q, seed=3)
    J = unit_rows(plant, wanted)
    expected = dense.c + dense.Z @ np.linalg.solve(J @ dense.Z, ask.target - J @ dense.c)
    for before in (None, (), (0, 2)):
        _, terms = start(plant, q, v)
        if before is not None:
            terms.chart(before)
        found = values(terms.only_acceleration(J, ask.target)[0])
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())
        if before is None:
            assert terms.chart().columns == list(wanted)
            np.testing.assert_array_equal(found[list(wanted)], ask.target)


def crank(driven="slide"):
    """A crank, a rod of two metres, and a slider: one row, which does not depend on the crank at its dead point."""
    bodies = [cmb.Body("crank", 1.0, (0.5, 0.0, 0.0), (0.01, 0.1, 0.1)), cmb.Body("block", 2.0)]
    joints = [
        cmb.Revolute("crank", "ground", "crank"),
        cmb.Prismatic("slide", "ground", "block", axis=(1.0, 0.0, 0.0)),
    ]
    rod = cmb.Distance("rod", "crank", "block", (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), 2.0)
    plant = cmb.Mechanism("crank", bodies, joints, [rod], actuators=[cmb.Actuator(driven)], gravity=(0.0, -9.81, 0.0))
    return plant, lambda angle: np.array([angle, np.cos(angle) + np.sqrt(4.0 - np.sin(angle) ** 2)])


def test_a_coordinate_that_does_not_determine_the_motion_is_not_taken():
    plant, at_angle = crank()
    _, terms = start(plant, at_angle(1.0), np.zeros(2))
    assert terms.chart().columns == [1]
    for wanted in ((), (1,)):
        _, terms = start(plant, at_angle(0.01), np.zeros(2))
        assert terms.chart(wanted).columns == [0]
    _, terms = start(plant, at_angle(0.01), np.zeros(2))
    with pytest.raises(NotTraceable, match="do not determine the motion"):
        terms.step_onto_loops([1])


def dead_points(plant, others, rng):
    """Closed configurations where the other coordinates do not follow, by Newton's method with differences."""

    def left(q):
        terms = plant.terms(q, np.zeros(4))
        return np.append(terms.phi, np.linalg.det(terms.A[:, others]))

    found = []
    for _ in range(20):
        q = rng.uniform(-3.0, 3.0, 4)
        for _ in range(30):
            slopes = np.array([(left(q + d) - left(q - d)) / 2e-6 for d in 1e-6 * np.eye(4)]).T
            step = np.linalg.lstsq(slopes, -left(q), rcond=None)[0]
            q = q + step / max(1.0, np.abs(step).max())
        if np.abs(left(q)).max() < 1e-9:
            found.append(q)
    assert len(found) >= 4
    return found


def near_dead_points(driven):
    """Five-bars driven at two joints, some of them near dead points: closeness to one, status, error of the code."""
    plant = plants.five_bar()
    q0 = plant.assemble(left=2.1, right=1.0)
    wanted = [plant.velocity_names.index(name) for name in driven]
    others = [k for k in range(4) if k not in wanted]
    at, terms = start(plant, q0, np.zeros(4))
    target = np.array([3.0, -2.0])
    function = Function(at.graph, at.size, terms.only_acceleration(unit_rows(plant, wanted), target)[0])
    assert terms.chart().columns == wanted
    address, parameters = compiled(function), Parameters(plant.arrays).values
    rng, found = np.random.default_rng(0), []
    singular = dead_points(plant, others, rng)
    for i in range(200):
        begin, off = (q0, 2.0) if i < 100 else (singular[i % len(singular)], 0.1 ** rng.uniform(0.0, 6.0))
        try:
            q = plant.close(begin + off * rng.uniform(-1.0, 1.0, 4))
        except cmb.CmbError:
            continue
        A = plant.terms(q, np.zeros(4)).A
        sizes = np.linalg.svd(A[:, others])[1]
        y = np.full(4, np.nan)
        status = run_code(address, parameters, np.concatenate([[0.0], q, np.zeros(4)]), y)
        expected = np.zeros(4)
        expected[wanted] = target
        expected[others] = -np.linalg.solve(A[:, others], A[:, wanted] @ target)
        found.append((sizes[1] / sizes[0], status, np.abs(y - expected).max() / np.abs(expected).max()))
    return found


MOTORS = [("left", "right"), ("elbow_left", "elbow_right")]


@needs_jit
@pytest.mark.parametrize("driven", MOTORS)
def test_near_dead_points_code_is_right_to_the_conditioning(driven):
    found = near_dead_points(driven)
    for closeness, status, error in found:
        assert status == 0 or closeness < 0.2
        assert status > 0 or error <= 1e-14 / closeness
    assert sum(closeness > 0.2 for closeness, *_ in found) > 50
    assert sum(closeness < 1e-3 for closeness, *_ in found) > 20


@needs_jit
@pytest.mark.parametrize("driven", MOTORS)
def test_where_it_loses_digits_code_says_so(driven):
    """Near dead points a row may depend on the driven coordinates alone, but for little that has few digits."""
    found = near_dead_points(driven)
    assert sum(status > 0 for _, status, _ in found) > 20
    assert all(error <= 1e-12 for _, status, error in found if status == 0)


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_step_onto_the_loops(name):
    plant, q0 = regular(name)
    rng = np.random.default_rng(4)
    _, terms = start(plant, q0, np.zeros(plant.nv))
    columns = terms.chart().columns
    q = plant.integrate(q0, 1e-3 * rng.standard_normal(plant.nv) * plant.size / plant.unit_lengths)
    at = Tracing(plant.arrays, Parameters(plant.arrays), tracing_of(plant, q0).rows, q)
    t, symbols, v = at.inputs(np.zeros(1), q, np.zeros(plant.nv))
    terms = TracedTerms(at, None, t[0], symbols, v)
    found = values(terms.step_onto_loops(columns))
    dense = Dense(plant, q, np.zeros(plant.nv), at.rows)
    others = [k for k in range(plant.nv) if k not in columns]
    expected = np.zeros(plant.nv)
    expected[others] = -np.linalg.solve(dense.G[:, others], dense.phi) / plant.unit_lengths[others]
    assert dense.metres(found - expected) <= 1e-12 * dense.metres(expected)
    np.testing.assert_array_equal(found[columns], 0.0)
    after = plant.terms(plant.integrate(q, found), np.zeros(plant.nv)).phi * plant.row_scale
    assert np.abs(after).max() < 0.05 * np.abs(dense.phi).max()
    with pytest.raises(NotTraceable, match="do not determine"):
        terms.step_onto_loops(others[: len(columns)])  # the terms have their coordinates already


# -- without loops, without motions, without motors --------------------------------------------------------------------


def tree():
    bodies = [cmb.Body(name, 1.0 + i, (0.3, 0.1, 0.0), (0.1, 0.1, 0.1)) for i, name in enumerate("abc")]
    joints = [
        cmb.Revolute("first", "ground", "a", axis=(0.0, 1.0, 0.0)),
        cmb.Prismatic("second", "a", "b", axis=(1.0, 0.0, 0.0)),
        cmb.Spherical("third", "b", "c", frame=cmb.Frame((0.5, 0.0, 0.0))),
    ]
    return bodies, joints


def test_a_tree_has_all_its_coordinates():
    plant = cmb.Mechanism("tree", *tree(), actuators=[cmb.Actuator("first"), cmb.Actuator("second")])
    q = plant.integrate(plant.assemble(), np.linspace(-0.5, 0.7, plant.nv))
    rng = np.random.default_rng(0)
    v, f = rng.standard_normal((2, plant.nv))
    _, terms = start(plant, q, v)
    expected = plant.terms(q, v)
    assert (terms.rank, terms.dof) == (0, plant.nv)
    a = np.linalg.solve(expected.M, f - expected.h)
    np.testing.assert_allclose(values(terms.acceleration(f)), a, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(values(terms.free_acceleration(f)), np.linalg.solve(expected.M, f), rtol=1e-12)
    np.testing.assert_array_equal(values(terms.Cv), np.zeros(plant.nv))
    np.testing.assert_array_equal(values(terms.only_acceleration(np.eye(plant.nv), f)[0]), f)
    with pytest.raises(NotTraceable, match="2 motors and 5 degrees of freedom"):
        terms.smallest_effort(v)


def test_a_structure_has_one_acceleration():
    """No degree of freedom: three bars of a triangle. What the constraints demand is all there is."""
    plant = cmb.Mechanism(
        "triangle",
        [cmb.Body(x, 1.0, (0.5, 0.0, 0.0), (0.01, 0.1, 0.1)) for x in "ab"],
        [cmb.Revolute("a", "ground", "a"), cmb.Revolute("b", "ground", "b", frame=cmb.Frame((1.5, 0.0, 0.0)))],
        [cmb.PointOnLine("tip", "a", "b", (1.0, 0.0, 0.0), (1.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))],
    )
    q = plant.close([0.7, np.pi - 0.7])
    _, terms = start(plant, q, np.array([0.3, -0.2]))
    dense = Dense(plant, q, np.array([0.3, -0.2]), list(terms.at.rows))
    assert terms.dof == 0
    assert terms.chart().columns == []
    f = np.array([1.0, 2.0])
    for found in (terms.acceleration(f), terms.only_acceleration(np.zeros((0, 2)), [])[0], terms.Cv):
        np.testing.assert_allclose(values(found), dense.c, rtol=1e-12)
    np.testing.assert_array_equal(values(terms.response(f)), 0.0)


def test_motors_that_leave_a_motion_out_are_refused():
    bodies = [cmb.Body(name, 1.0) for name in "ab"]
    joints = [cmb.Prismatic("x", "ground", "a"), cmb.Prismatic("y", "ground", "b")]
    plant = cmb.Mechanism("two", bodies, joints, actuators=[cmb.Actuator("x"), cmb.Actuator("x", name="more")])
    _, terms = start(plant, np.zeros(2), np.zeros(2))
    with pytest.raises(NotTraceable, match="do not determine the motion"):
        terms.smallest_effort(np.zeros(2))


@needs_jit
def test_one_row_that_vanishes_is_seen():
    """A slider drives a crank at its dead point: no effort of it reaches the motion."""
    plant, at_angle = crank()
    at, terms = start(plant, at_angle(1.0), np.zeros(2))
    function = Function(at.graph, at.size, terms.smallest_effort(np.zeros(2)))
    y = np.zeros(1)
    address, parameters = compiled(function), Parameters(plant.arrays).values
    assert run_code(address, parameters, np.concatenate([[0.0], at_angle(0.5), [0.0, 0.0]]), y) == 0
    assert run_code(address, parameters, np.concatenate([[0.0], at_angle(1e-12), [0.0, 0.0]]), y) > 0


# -- the record --------------------------------------------------------------------------------------------------------


def test_terms_of_a_machine_that_moves_already():
    plant, q = regular("three-rrr")
    dense, v, ask = prepare(plant, q, seed=5)
    at = tracing_of(plant, q)
    t, symbols, speeds = at.inputs(np.zeros(1), q, v)
    machine = TracedMachine(at.model, symbols)
    machine.weigh()
    machine.drive()
    machine.move(speeds)
    terms = TracedTerms.of_machine(at, t[0], machine)
    check_read(plant, dense, {key: values(x)[()] for key, x in read(terms).items()})
    dense.columns = terms.chart().columns
    check_solved(plant, dense, ask, {key: values(x) for key, x in solved(terms, ask).items()}, 1e-13)


def test_a_measured_force_goes_with_the_same_terms():
    plant, q = regular("five-bar")
    _, terms = start(plant, q, np.zeros(plant.nv))
    M = terms.M
    force = Symbols(np.ones(4))
    other = terms.with_force(force)
    assert other.force is force
    assert terms.force is None
    assert other.M is M


def test_what_terms_do_not_have_is_refused():
    plant, q = regular("five-bar")
    _, terms = start(plant, q, np.zeros(plant.nv))
    for name in ("Z", "A_pinv", "pivots", "conditioning"):
        with pytest.raises(AttributeError, match=name):
            getattr(terms, name)
    assert not hasattr(terms, "force_scale")
    with pytest.raises(NotTraceable, match="do not determine the motion"):
        terms.only_acceleration(np.array([[1.0, 1.0, 0.0, 0.0], [2.0, 2.0, 0.0, 0.0]]), np.zeros(2))
