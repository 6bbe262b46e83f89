"""A plant in symbols: poses and displacements against the judge of random machines, closed loops against numbers."""

import numpy as np
import pytest

from cmbcontrol import plants
from cmbcontrol._jit import JIT_ENABLED
from cmbcontrol.dynamics.acceleration import acceleration
from cmbcontrol.errors import CmbError
from cmbcontrol.model.generated import independent_rows
from cmbcontrol.trace.code import compiled
from cmbcontrol.trace.functions import Function, Tracing
from cmbcontrol.trace.graph import Scalar
from cmbcontrol.trace.machine import Parameters
from cmbcontrol.trace.plant import TracedPlant
from cmbcontrol.trace.symbols import NotTraceable, Symbols
from cmbcontrol.trace.terms import TracedTerms

from ..robustness import judge, machines
from .test_symbols import run_code

needs_jit = pytest.mark.skipif(not JIT_ENABLED, reason="nothing is compiled")

CATALOGUE = ("five-bar", "loader", "stewart", "delta", "three-rrr")


def values(found):
    return np.vectorize(lambda x: x.value if isinstance(x, Scalar) else x, otypes=[float])(np.asarray(found, object))


def traced(plant, q):
    """The plant in symbols, with rows that are independent at a configuration."""
    rows = independent_rows(plant.terms(q, np.zeros(plant.nv)))
    at = Tracing(plant.arrays, Parameters(plant.arrays), rows, q)
    return at, TracedPlant(plant, at)


def code_of(at, *groups):
    """The outputs of machine code as arrays, at other inputs; None where a guard does not hold."""
    parts = [np.array(group, object) for group in groups]
    outputs = [x for part in parts for x in part.ravel()]
    address = compiled(Function(at.graph, at.size, outputs))

    def call(parameters, *inputs):
        y = np.full(len(outputs), np.nan)
        if run_code(address, parameters, np.concatenate(inputs), y) != 0:
            return None
        ends = np.cumsum([part.size for part in parts])[:-1]
        return [
            part.reshape(np.shape(np.asarray(group))) for part, group in zip(np.split(y, ends), groups, strict=True)
        ]

    return call


# -- kinematics, by the judge ------------------------------------------------------------------------------------------


def random_plants(seeds):
    """Machines of the judge, with the plants that they are."""
    for seed in seeds:
        made = machines.machine(seed)
        try:
            plant = machines.build(made)
            plant.terms(made.q, np.zeros(plant.nv))
        except CmbError:
            continue
        yield seed, made, plant


def body_poses(plant, R, p):
    """Of all bodies in the world, out of those of the links that they are part of."""
    for body, link in plant._compiled.link_of.items():
        if link >= 0:
            inside = plant._compiled.frame_of[body]
            rotation = R[link] @ inside.R.T
            yield body, rotation, p[link] - rotation @ inside.p


def moved(made, q, dq):
    """By velocities that are constant in the axes of each body, for a unit of time."""
    there = np.asarray(judge.moved(made, q, dq), float)
    for joint in made.joints:
        iq, iv = made.slices[joint.name]
        # where a body turns and slides, the judge goes straight on
        if joint.kind == "planar":
            x, y, turn = dq[iv]
            s, c = np.sinc(turn / np.pi), np.sin(turn / 2.0) * np.sinc(turn / 2.0 / np.pi)
            angle = q[iq][2]
            frame = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
            there[iq] = [*(q[iq][:2] + frame @ [s * x - c * y, c * x + s * y]), angle + turn]
        if joint.kind == "free":
            K, turn = judge.cross_matrix(dq[iv][:3]), np.linalg.norm(dq[iv][:3])
            third = (turn - np.sin(turn)) / turn**3 if turn > 1e-2 else 1.0 / 6.0 - turn**2 / 120.0
            V = np.eye(3) + 0.5 * np.sinc(turn / 2.0 / np.pi) ** 2 * K + third * K @ K
            there[iq][4:] = q[iq][4:] + judge.rotation_of(q[iq][:4], judge.Plain) @ V @ dq[iv][3:]
    return there


def begin_of(made, plant, rng):
    unit = plant.size / plant.unit_lengths
    return np.asarray(judge.moved(made, made.q, rng.uniform(-1.0, 1.0, plant.nv) * unit), float)


def test_link_poses_and_displacements_of_random_machines():
    kinds = set()
    for seed, made, plant in random_plants(range(60)):
        rng = np.random.default_rng(seed)
        q, dq = begin_of(made, plant, rng), rng.uniform(-1.0, 1.0, plant.nv) * plant.size / plant.unit_lengths
        at, symbolic = traced(plant, q)
        symbols, change = at.inputs(q, dq)

        R, p = (values(x) for x in symbolic.link_poses(symbols))
        expected = judge.poses(made, q, np.zeros((1, made.nv)))
        far = plant.size + np.abs(p).max()
        for body, rotation, origin in body_poses(plant, R, p):
            T = np.asarray(expected[body][0], float).reshape(4, 4)
            np.testing.assert_allclose(rotation, T[:3, :3], atol=1e-12, err_msg=f"{seed} {body}")
            np.testing.assert_allclose(origin, T[:3, 3], atol=1e-12 * far, err_msg=f"{seed} {body}")

        there = symbolic.integrate(symbols, change)
        np.testing.assert_allclose(values(there), moved(made, q, dq), rtol=1e-13, atol=1e-13 * far, err_msg=str(seed))
        back = values(symbolic.difference(symbols, there))
        assert np.abs((back - dq) * plant.unit_lengths).max(initial=0.0) <= 1e-11 * far
        kinds |= {joint.kind for joint in made.joints}
    assert kinds >= {"revolute", "prismatic", "helical", "cylindrical", "universal", "planar", "spherical", "free"}


@needs_jit
@pytest.mark.parametrize("seed", [5, 9, 33])
def test_displacements_in_machine_code(seed):
    """Right, or said not to be trusted: where series of angles are others than at the sample."""
    ((_, made, plant),) = random_plants([seed])
    at, symbolic = traced(plant, np.asarray(made.q, float))
    unit = plant.size / plant.unit_lengths
    q, dq = at.inputs(np.asarray(made.q, float), 0.01 * unit)
    there = symbolic.integrate(q, dq)
    call = code_of(at, there, symbolic.difference(q, there))
    rng, parameters, trusted = np.random.default_rng(seed), Parameters(plant.arrays).values, {}
    for size in (1.0, 0.03, 0.01, 1e-4, 1e-12, 0.0):
        trusted[size] = 0
        for _ in range(10):
            begin, change = begin_of(made, plant, rng), size * rng.uniform(-1.0, 1.0, plant.nv) * unit
            found = call(parameters, begin, change)
            if found is None:
                continue
            trusted[size] += 1
            far = plant.size + np.abs(begin).max()
            np.testing.assert_allclose(found[0], moved(made, begin, change), rtol=1e-13, atol=1e-13 * far)
            assert np.abs((found[1] - change) * plant.unit_lengths).max() <= 1e-12 * (far + plant.unit_lengths.max())
    assert trusted[0.01] >= 4, trusted


def test_terms_are_those_of_the_state():
    plant, q0, _ = plants.catalogue["delta"].start()
    at, symbolic = traced(plant, q0)
    q, v = at.inputs(q0, np.zeros(plant.nv))
    terms = symbolic.terms(q, v)
    assert isinstance(terms, TracedTerms)
    assert symbolic.as_at(terms) is symbolic
    assert terms.plant is symbolic
    np.testing.assert_allclose(values(terms.M), plant.terms(q0, np.zeros(plant.nv)).M, rtol=1e-12, atol=1e-12)
    assert symbolic.terms(q, v, t=3.0, cap=15).t == 3.0
    with pytest.raises(NotTraceable, match="close=True"):
        symbolic.terms(q, v, close=True)


# -- closed loops ------------------------------------------------------------------------------------------------------


def off(plant, q, size, rng):
    """Sensors that are wrong: a part of the size of the machine at each coordinate, of a radian at angles."""
    return plant.integrate(
        q, size * rng.uniform(-1.0, 1.0, plant.nv) * np.minimum(1.0, plant.size / plant.unit_lengths)
    )


def check_closed(plant, measured, speeds, columns, q, v):
    """Loops and velocities are closed, what is held is as it was, and the rest is near."""
    terms = plant.terms(q, v)
    far = plant.size + np.abs(plant.link_poses(q)[1]).max()
    assert np.abs(plant.row_scale * terms.phi).max() <= 2e-12 * far
    name = [plant.velocity_names[k] for k in columns]
    held = [plant.position_names.index(x) for x in name]
    np.testing.assert_array_equal(q[held], measured[held])
    np.testing.assert_array_equal(v[columns], speeds[columns])
    A = plant.row_scale[:, None] * terms.A
    assert np.abs(A @ v).max() <= 1e-12 * (np.abs(A) @ np.abs(v)).max()


@pytest.mark.parametrize("name", CATALOGUE)
def test_closed_with_drives_as_they_are(name):
    plant, q0, _ = plants.catalogue[name].start()
    rng = np.random.default_rng(0)
    at, symbolic = traced(plant, q0)
    columns = symbolic.terms(*at.inputs(q0, np.zeros(plant.nv))).chart().columns
    for size in (1e-3, 1e-5, 0.0):
        measured, speeds = off(plant, q0, size, rng), rng.standard_normal(plant.nv)
        at = Tracing(plant.arrays, Parameters(plant.arrays), at.rows, measured)
        q, v = at.inputs(measured, speeds)
        closed, velocity = (values(x) for x in TracedPlant(plant, at).closed_with(q, v, columns))
        check_closed(plant, measured, speeds, columns, closed, velocity)
        assert np.abs(closed - measured).max() <= 20.0 * size * max(1.0, plant.size) + 1e-12


@needs_jit
@pytest.mark.parametrize("name", ["five-bar", "loader", "three-rrr"])
def test_closed_in_machine_code_or_said_not_to_be(name):
    plant, q0, _ = plants.catalogue[name].start()
    rng, parameters = np.random.default_rng(1), Parameters(plant.arrays).values
    at, symbolic = traced(plant, q0)
    q, v = at.inputs(q0, np.zeros(plant.nv))
    columns = symbolic.terms(q, v).chart().columns
    call = code_of(at, *symbolic.closed_with(q, v, columns))
    done = {}
    for size in (0.0, 1e-6, 1e-3, 1e-2, 0.1, 1.0):
        done[size] = 0
        for _ in range(20):
            begin = plant.close(plant.integrate(q0, 0.05 * rng.standard_normal(plant.nv) * plant.displacement_scale))
            measured, speeds = off(plant, begin, size, rng), rng.standard_normal(plant.nv)
            found = call(parameters, measured, speeds)
            if found is not None:
                check_closed(plant, measured, speeds, columns, *found)
                done[size] += 1
    assert done[0.0] == done[1e-6] == done[1e-3] == 20, done
    assert done[1e-2] >= 12, done
    assert done[1.0] < 10, done


@pytest.mark.first(2)
@needs_jit
@pytest.mark.parametrize("name", CATALOGUE)
def test_nearest_configurations_velocities_and_motions(name):
    """As the plant says with numbers; loops that are open by more than Newton's steps close are told."""
    plant, q0, _ = plants.catalogue[name].start()
    rng, parameters = np.random.default_rng(2), Parameters(plant.arrays).values
    at, symbolic = traced(plant, q0)
    q, v, a, f = at.inputs(q0, np.ones(plant.nv), np.ones(plant.nv), np.ones(plant.nv))
    closed = symbolic.close(q)
    allowed, moving = symbolic.project_velocity(closed, v), symbolic.terms(closed, v, project=True)
    columns = moving.chart().columns
    along = moving.motion_of([*columns, columns[0]], v[[*columns, columns[0]]])
    found = code_of(at, closed, allowed, moving.v, moving.acceleration(f), moving.P @ a, along)
    done = 0
    for _ in range(20):
        near = plant.close(plant.integrate(q0, 0.05 * rng.standard_normal(plant.nv) * plant.displacement_scale))
        open_q = off(plant, near, 1e-3, rng)
        given = rng.standard_normal((3, plant.nv)) / plant.unit_lengths
        said = found(parameters, open_q, *given)
        if said is None:
            continue
        done += 1
        there = said[0]
        assert plant.closure_error(there) < 2e-12 * plant.length_scale(there)
        # nearest to first order: the way there counts from the third power of what was open
        assert np.abs(plant.difference(there, plant.close(open_q)) / plant.displacement_scale).max() < 1e-7
        terms = plant.terms(there, given[0], project=True)
        motions = np.linalg.qr(terms.Z[columns])  # columns[0] counts twice, and says the same
        z = np.linalg.solve(motions[1], motions[0].T @ given[0][columns])
        wanted = there, terms.v, terms.v, acceleration(terms, given[2]), terms.P @ given[1], terms.Z @ z
        for value, right in zip(said, wanted, strict=True):
            np.testing.assert_allclose(value, right, rtol=0.0, atol=1e-9 * max(1.0, np.abs(right).max()))
    assert done >= 18
    far = plant.integrate(q0, np.full(plant.nv, 0.7) / plant.unit_lengths)
    assert found(parameters, far, *np.zeros((3, plant.nv))) is None


def test_loops_that_stay_open_at_the_sample_are_refused():
    plant = plants.five_bar()
    q0 = plant.assemble(left=2.1, right=1.0)
    at, _ = traced(plant, q0)
    at = Tracing(plant.arrays, Parameters(plant.arrays), at.rows, q0 + np.array([0.0, 0.4, 0.0, 0.5]))
    q, v = at.inputs(at.sample, np.zeros(4))
    with pytest.raises(ArithmeticError, match="at the sample"):
        TracedPlant(plant, at).closed_with(q, v, [0, 2])


def test_coordinates_that_do_not_determine_the_others_are_refused():
    plant, q0, _ = plants.catalogue["loader"].start()
    at, symbolic = traced(plant, q0)
    q, v = at.inputs(q0, np.zeros(plant.nv))
    terms = plant.terms(q0, np.zeros(plant.nv))
    pairs = [(i, k) for i in range(8) for k in range(i + 1, 8)]
    least = min(pairs, key=lambda pair: np.linalg.svd(terms.Z[list(pair)] * plant.unit_lengths[list(pair), None])[1][1])
    for columns in ([0], list(least)):
        with pytest.raises(NotTraceable, match="do not determine the motion"):
            symbolic.closed_with(q, v, columns)


# -- what it knows, and what it refuses --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def five_bar():
    plant = plants.five_bar()
    return plant, traced(plant, plant.assemble(left=2.1, right=1.0))[1]


@pytest.mark.parametrize("name", ["nq", "nv", "nu", "name", "position_names", "velocity_names", "row_names"])
def test_names_and_numbers_of_coordinates_are_known(five_bar, name):
    plant, symbolic = five_bar
    assert getattr(symbolic, name) == getattr(plant, name)


def test_reach_and_scale_are_symbols(five_bar):
    plant, symbolic = five_bar
    for name in ("unit_lengths", "row_scale"):
        found = getattr(symbolic, name)
        assert isinstance(found, Symbols)
        np.testing.assert_allclose(values(found), getattr(plant, name), rtol=1e-15)


@pytest.mark.parametrize("name", ["size", "force_scale", "displacement_scale"])
def test_other_numbers_are_refused_by_name(five_bar, name):
    with pytest.raises(NotTraceable, match=f"plant.{name} has no code"):
        getattr(five_bar[1], name)


@pytest.mark.parametrize("name", ["position_rate", "assemble", "residual", "generic_rank"])
def test_other_functions_are_refused_by_name(five_bar, name):
    with pytest.raises(NotTraceable, match=rf"{name}\(\.\.\.\) has no code"):
        getattr(five_bar[1], name)


def test_what_no_plant_has(five_bar):
    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = five_bar[1].nothing_like_it
