"""Singular configurations: the cone of motions, the exact acceleration there, branches, lock-up, and runs."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Body, Frame, FunctionPlant, Mechanism, PointOnLine, Revolute, plants
from cmbcontrol.controllers import Controller, Evaluation
from cmbcontrol.dynamics import cone
from cmbcontrol.dynamics.acceleration import acceleration, forward_dynamics
from cmbcontrol.dynamics.nearest_singular import nearest_singular_configuration
from cmbcontrol.dynamics.singular import singular_configuration
from cmbcontrol.errors import SingularConfigurationError
from cmbcontrol.papers.formulations import FORMULATIONS, NamedFormulation
from cmbcontrol.papers.methods import settings
from cmbcontrol.plants.five_bar import pose as five_bar_pose
from cmbcontrol.plants.n_four_bar import pose as chain_pose
from cmbcontrol.plants.n_four_bar import rate as chain_rate
from cmbcontrol.plants.parallel_four_bar import pose as two_freedoms_pose
from cmbcontrol.plants.parallelogram import pose as links_pose
from cmbcontrol.plants.parallelogram import rate as links_rate
from cmbcontrol.sim.ending import near_the_end
from cmbcontrol.sim.singularities import hysteresis_rank

pytestmark = pytest.mark.nojit_slow  # whole runs

FLAT = np.pi / 2.0


def bars(base, gravity=(0.0, -9.81, 0.0), crank=0.5):
    """A four-bar with bars of 1, 2 and `crank` on a base."""
    bodies = [Body.rod("a", 1.0, 1.0), Body.rod("b", 1.0, 2.0), Body.rod("c", 1.0, crank)]
    joints = [
        Revolute("a", "ground", "a"),
        Revolute("b", "a", "b", frame=Frame((1.0, 0, 0))),
        Revolute("c", "ground", "c", frame=Frame((base, 0, 0))),
    ]
    return Mechanism(
        "bars", bodies, joints, [PointOnLine("pin", "c", "b", (crank, 0, 0), (2.0, 0, 0))], gravity=gravity
    )


def triangle(base):
    """Bars of 1 and 2 m on a base: a structure, or with base = 3 m a flat one."""
    bodies = [Body.rod("a", 1.0, 1.0), Body.rod("b", 1.0, 2.0)]
    joints = [Revolute("a", "ground", "a"), Revolute("b", "a", "b", frame=Frame((1.0, 0, 0)))]
    loop = PointOnLine("pin", "ground", "b", (base, 0, 0), (2.0, 0, 0))
    return Mechanism("triangle", bodies, joints, [loop])


def without_gravity(plant):
    """The same machine, weightless."""
    return Mechanism(plant.name, plant.bodies, plant.joints, plant.loops, actuators=plant.actuators, gravity=(0, 0, 0))


# -- the cone -----------------------------------------------------------------------------------------


def test_slider_crank_has_two_branches():
    """q2 = pi and q2 = -2 q1 (Aghili, section 8)."""
    pose = singular_configuration(plants.slider_crank(), [FLAT, np.pi])
    assert (pose.rank, pose.generic_rank, pose.signature) == (0, 1, (1, 1))
    assert pose.bifurcation and pose.complete and not pose.locked
    slopes = [branch.direction[1] / branch.direction[0] for branch in pose.branches]
    assert slopes == pytest.approx([0.0, -2.0], abs=1e-12)
    assert [pose.branch_of([2.0, 0.0]), pose.branch_of([-1.0, 2.0])] == [0, 1]
    assert pose.lost_rows == ({"slider": 1.0},)


def test_five_bar_has_a_double_cone():
    """Three degrees of freedom, one form: both elbow pairs press the tip in opposite ways (signature 1, 2)."""
    plant = plants.five_bar()
    pose = singular_configuration(plant, five_bar_pose(plant, "singular"))
    assert (pose.rank, pose.generic_rank, sorted(pose.signature)) == (1, 2, [1, 2])
    (branch,) = pose.branches
    assert branch.dof == 2 and not branch.linear and pose.bifurcation
    assert all(pose.contains(v) for v in branch.samples.T)
    assert not pose.contains(pose.motions[:, 0] + 0.3 * branch.direction)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("turn", [0.0, np.pi])
def test_flat_chain_of_rhombs_has_a_branch_for_each_bar_that_may_stay(n, turn):
    """(th_i - th_i-1) th_i-1 = 0: the first k bars stay, the others turn; at th = pi the last ones stay."""
    pose = singular_configuration(plants.n_four_bar(n), chain_pose(n, turn))
    assert pose.rank == n and len(pose.branches) == n + 1 and pose.complete
    turning = sorted(tuple(np.abs(branch.direction[::2]) > 1e-6) for branch in pose.branches)
    moves = [tuple((i >= k) if turn == 0.0 else (i <= n - k) for i in range(n + 1)) for k in range(n + 1)]
    assert turning == sorted(moves)
    assert pose.contains(chain_rate(n, 1.0))


def test_where_part_of_a_machine_stays_singular_the_branch_is_told():
    """Only the last bar turns: the first rhomb stays flat, and may open at any time."""
    pose = singular_configuration(plants.n_four_bar(2), chain_pose(2, 0.0))
    regular = {int(np.sum(np.abs(b.direction[::2]) > 1e-6)): b.regular for b in pose.branches}
    assert regular == {3: True, 2: True, 1: False}
    last = next(b for b in pose.branches if not b.regular)
    with pytest.raises(SingularConfigurationError, match="does not regain its rank"):
        pose.acceleration(np.zeros(5), last.direction)


@pytest.mark.parametrize("coordinates", ["cartesian", "planar"])
def test_three_parallel_links_have_one_branch_only(coordinates):
    """The coupler cannot turn: two conditions, y w = 0 and w^2 = y w, leave w = 0."""
    plant = plants.parallelogram(coordinates=coordinates)
    pose = singular_configuration(plant, links_pose(0.0))
    assert (pose.rank, pose.generic_rank, len(pose.branches)) == (10, 11, 1)
    assert not pose.bifurcation and not pose.locked and pose.complete
    assert pose.infinitesimal.shape[1] == 1 and pose.new_motions.shape[1] == 1
    assert pose.branch_of(links_rate(plant, 0.0, -1.0)) == 0


def test_two_dof_parallelogram_and_antiparallelogram():
    """q2 - q1: on the parallelogram v3 = v1 - v2 and v4 = v2 - v1; each branch is a plane."""
    plant = plants.parallel_four_bar()
    pose = singular_configuration(plant, two_freedoms_pose(0.7, 0.7))
    assert [branch.dof for branch in pose.branches] == [2, 2] and all(b.linear for b in pose.branches)
    v = np.array([1.0, 0.3, 0.7, -0.7])
    flat = pose.branches[pose.branch_of(v)].motions
    assert flat[2] == pytest.approx(flat[0] - flat[1], abs=1e-12)
    assert flat[3] == pytest.approx(flat[1] - flat[0], abs=1e-12)


@pytest.mark.parametrize(
    ("plant", "q", "mobilities"),
    [(triangle(3.0), [0.0, 0.0], 1), (bars(3.5), [0.0, 0.0, np.pi], 2)],
    ids=["three", "four"],
)
def test_a_bar_as_long_as_the_others_together_is_locked(plant, q, mobilities):
    pose = singular_configuration(plant, q)
    assert pose.locked and not pose.bifurcation and pose.motions.shape[1] == mobilities
    assert pose.generic_rank == plant.nv and pose.infinitesimal.shape[1] == mobilities
    assert "rigid: " in str(pose)
    with pytest.raises(SingularConfigurationError, match="It is rigid: "):
        cmb.simulate(plant, q0=q, t_end=1.0)
    with pytest.raises(SingularConfigurationError, match="cannot go on"):
        cmb.simulate(plant, q0=q, v0=pose.motions[:, 0], t_end=1.0)


@pytest.mark.nojit_slow
def test_a_little_shorter_it_swings_in_the_play():
    """Bars of 1, 2 and 0.5 m on a base shorter than 3.5 m by g: angles stay below about sqrt(2 g / 0.5)."""
    plant = bars(3.5 - 1e-4)
    q = plant.close([1e-2, -1e-2, np.pi + 1e-2])
    run = cmb.simulate(plant, q0=q, t_end=1.0)
    assert np.abs(run.q.values - [0.0, 0.0, np.pi]).max() < 0.03
    assert run.max_energy_error < 1e-9 and run.events() == []


def test_a_cusp_and_a_regular_pose_are_told():
    cusp = FunctionPlant(
        "cusp",
        ("x", "y"),
        M=lambda q: np.eye(2),
        h=lambda q, v: [0.0, 0.0],
        Phi=lambda q: [q[0] ** 2 - q[1] ** 3],
        A=lambda q: [[2.0 * q[0], -3.0 * q[1] ** 2]],
        Adot_v=lambda q, v: [2.0 * v[0] ** 2 - 6.0 * q[1] * v[1] ** 2],
        units=("m", "m"),
    )
    pose = singular_configuration(cusp, [0.0, 0.0])
    assert [branch.regular for branch in pose.branches] == [False] and pose.infinitesimal.shape[1] == 1
    assert np.abs(pose.branches[0].direction) == pytest.approx([0.0, 1.0])
    regular = singular_configuration(cusp, [1.0, 1.0])
    assert not regular.singular and not regular.bifurcation and "not singular" in str(regular)
    v = np.array([3.0, 2.0])
    assert regular.acceleration(np.ones(2), v) == pytest.approx(acceleration(cusp.terms([1.0, 1.0], v), np.ones(2)))
    with pytest.raises(cmb.errors.AssemblyError, match="open by"):
        singular_configuration(cusp, [1.0, 0.5])


@pytest.mark.parametrize("seed", range(5))
def test_cone_of_products_is_their_planes(seed):
    """(a.s)(b.s) = 0 and (a.s)(c.s) = 0: the plane a and the line where b and c meet, in any basis."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.standard_normal((3, 3))
    forms = np.array([np.outer(a, b) + np.outer(b, a), np.outer(a, c) + np.outer(c, a)])
    found, complete = cone.components(forms)
    assert complete and [piece.tangent.shape[1] for piece in found] == [1, 2]
    assert abs(found[0].s @ np.cross(b, c)) == pytest.approx(np.linalg.norm(np.cross(b, c)))
    assert np.abs(a @ found[1].tangent).max() < 1e-9


def test_cone_of_a_definite_combination_is_its_tip():
    forms = np.array([np.diag([1.0, -1.0, 0.5]), np.diag([-0.5, 1.0, 0.1])])
    assert cone.components(forms) == ([], True)


@pytest.mark.parametrize("seed", range(4))
def test_nearest_point_of_a_cone(seed):
    """To rounding: what is left, g - s, is along the gradients; no point of a dense search is nearer."""
    rng = np.random.default_rng(seed)
    Q = np.diag([1.0, -2.0, 0.7]) + 0.2 * rng.standard_normal((3, 3))
    Q, g = Q + Q.T, rng.standard_normal(3)
    s = cone.nearest(Q[None], g, [])
    assert s @ Q @ s == pytest.approx(0.0, abs=1e-14)
    assert np.linalg.norm(np.cross(g - s, Q @ s)) < 1e-13
    values, vectors = np.linalg.eigh(Q if np.linalg.det(Q) < 0.0 else -Q)  # signs -, +, +
    turn = np.linspace(0.0, 2.0 * np.pi, 4001)
    w = np.sqrt(-values[0]) * np.array([np.cos(turn), np.sin(turn)]) / np.sqrt(values[1:, None])
    S = vectors @ np.vstack([np.ones(turn.size), w])
    reach = np.abs(g @ S) / np.linalg.norm(S, axis=0)
    assert reach.max() <= np.linalg.norm(s) + 1e-12 and reach.max() > np.linalg.norm(s) - 1e-5
    assert cone.nearest(Q[None], s, []) == pytest.approx(s, abs=1e-14)


@pytest.mark.parametrize("seed", range(4))
def test_nearest_point_where_gradients_vanish(seed):
    """(a.s)^2 = (b.s)^2 = 0 is a line without multipliers: the projection on it."""
    a, b, g = np.random.default_rng(seed).standard_normal((3, 3))
    line = np.cross(a, b) / np.linalg.norm(np.cross(a, b))
    s = cone.nearest(np.array([np.outer(a, a), np.outer(b, b)]), g, [line])
    assert s == pytest.approx(line * (line @ g), abs=1e-6)


# -- acceleration -------------------------------------------------------------------------------------


def _cases():
    crank, bar, chain, two = plants.slider_crank(), plants.five_bar(), plants.n_four_bar(2), plants.parallel_four_bar()
    yield "crank slides", crank, [FLAT, -np.pi], [1.5, -3.0]
    yield "rod folded", crank, [FLAT, np.pi], [1.5, 0.0]
    q = five_bar_pose(bar, "singular")
    at = singular_configuration(bar, q)
    for i, v in enumerate(at.branches[0].samples.T[:2]):
        yield f"five-bar {i}", bar, q, v
    three = plants.parallelogram()
    yield "parallelogram", three, links_pose(0.0), links_rate(three, 0.0, 1.3)
    planar = plants.parallelogram(coordinates="planar")
    yield "planar joints", planar, links_pose(np.pi), links_rate(planar, np.pi, 1.3)
    yield "chain", chain, chain_pose(2, 0.0), chain_rate(2, 1.1)
    q = two_freedoms_pose(0.7, 0.7)
    for i, branch in enumerate(singular_configuration(two, q).branches):
        yield f"two degrees of freedom {i}", two, q, 0.3 * (branch.motions @ [0.6, 0.9])


@pytest.mark.nojit_slow
@pytest.mark.parametrize(("plant", "q", "v"), [pytest.param(*case[1:], id=case[0]) for case in _cases()])
def test_acceleration_is_the_limit_from_both_sides(plant, q, v):
    """Regular dynamics at -4 d ... 4 d along the motion, continued to the pose with order 8."""
    q, v = np.array(q), np.array(v)
    u = np.linspace(0.7, -0.4, plant.nu)
    pose = singular_configuration(plant, q, v)
    found = pose.acceleration(plant.terms(q, v).B @ u, v)
    d = 0.002

    def beside(sign):
        run = cmb.simulate(plant, u if plant.nu else None, q, sign * v, t_end=4 * d, output_times=d)
        states = zip(run.q.values[1:], run.v.values[1:], strict=True)
        return np.array([forward_dynamics(plant, a, sign * b, u) for a, b in states])

    limit = np.array([0.8, -0.4, 4.0 / 35.0, -1.0 / 70.0]) @ (beside(1.0) + beside(-1.0))
    assert found == pytest.approx(limit, rel=2e-7, abs=2e-7)


def test_every_formulation_has_the_rows_of_the_branch():
    plant = plants.five_bar()
    q = five_bar_pose(plant, "singular")
    pose = singular_configuration(plant, q)
    v = 2.0 * pose.branches[0].direction
    terms, f = pose.terms(v), np.array([1.0, 0.0, -2.0, 0.0])
    gauss = pose.acceleration(f, v)
    assert terms.rank == 2 and terms.row_names[-1] == "lost_1"
    for name in FORMULATIONS:
        if name not in ("lagrange", "augmented"):  # these refuse the row that vanishes
            assert acceleration(terms, f, formulation=NamedFormulation(name)) == pytest.approx(gauss, rel=1e-9), name
    motion = pose.motion(f, v)
    assert motion.vdot == pytest.approx(gauss) and motion.rank == 2
    assert motion.force @ v == pytest.approx(0.0, abs=1e-12)
    assert motion.force == pytest.approx(terms.A.T @ motion.multipliers)


def test_at_rest_gauss_chooses_and_a_branch_can_be_asked_for():
    """Folded: bar1 and the coupler fall as one bar, 3/2 g. Level: I th'' = -g G, I = 2/3 + 1, G = 2 (IFToMM A02)."""
    plant = plants.n_four_bar(1)
    pose = singular_configuration(plant, chain_pose(1, 0.0))
    fold = pose.branch_of([0.0, 1.0, 1.0])
    level = pose.branch_of([1.0, -1.0, 1.0])
    a = pose.acceleration(np.zeros(3), branch=fold)
    assert a == pytest.approx(-1.5 * 9.81 * np.array([0.0, 1.0, 1.0]))
    b = pose.acceleration(np.zeros(3), branch=level)
    assert b == pytest.approx(-9.81 * 2.0 / (5.0 / 3.0) * np.array([1.0, -1.0, 1.0]))
    free = pose.acceleration(np.zeros(3))
    assert free == pytest.approx(b)  # the nearer one: it gains energy faster
    assert pose.acceleration(np.zeros(3), np.zeros(3)) == pytest.approx(free)


def test_wrong_velocities_are_refused_in_words():
    plant = plants.slider_crank()
    pose = singular_configuration(plant, [FLAT, np.pi])
    assert not pose.contains([1.0, 1.0])
    with pytest.raises(
        SingularConfigurationError, match=r"not that of a motion through this configuration. Branches: 0: \(q1 \+1\)"
    ):
        pose.acceleration(np.zeros(2), [1.0, 1.0])
    with pytest.raises(SingularConfigurationError, match="is zero"):
        pose.branch_of([0.0, 0.0])
    with pytest.raises(ValueError, match="no branch 2"):
        pose.toward(2, [1.0, 0.0])
    with pytest.raises(SingularConfigurationError, match="Branches"):
        cmb.simulate(plant, q0=[FLAT, np.pi], v0=[1.0, 1.0], t_end=1.0)


# -- where ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plant", "exact"),
    [
        (plants.slider_crank(), np.array([FLAT, -np.pi])),
        (plants.five_bar(), five_bar_pose(plants.five_bar(), "singular")),
        (plants.five_bar(closure="revolute"), five_bar_pose(plants.five_bar(), "singular")),
        (plants.n_four_bar(3), chain_pose(3, np.pi)),
        (plants.parallelogram(), links_pose(0.0)),
        (triangle(3.0), np.zeros(2)),
    ],
    ids=["crank", "five-bar", "redundant", "chain", "parallelogram", "locked"],
)
def test_nearest_singular_pose_is_exact(plant, exact):
    for size in (0.0, 1e-8, 1e-3, 1e-2):
        if plant.name == "triangle" and size > 0.0:
            continue  # there are no closed poses beside it
        beside = exact + size * np.sin(1.0 + np.arange(exact.size))
        found = nearest_singular_configuration(plant, beside)
        assert found == pytest.approx(exact, abs=1e-13)


def test_nearest_of_a_family_is_found():
    plant = plants.parallel_four_bar()
    found = nearest_singular_configuration(plant, two_freedoms_pose(1.23, 1.2))
    assert found[0] == pytest.approx(found[1], abs=1e-13) and 1.19 < found[0] < 1.24
    assert singular_configuration(plant, found).rank == 1


def test_far_and_missed_poses_are_refused():
    plant = plants.parallelogram()
    with pytest.raises(SingularConfigurationError, match="no singular configuration"):
        nearest_singular_configuration(plant, links_pose(1.0))
    longer = bars(2.5 - 1e-6)
    with pytest.raises(SingularConfigurationError, match="passes near a singular configuration, not through it"):
        nearest_singular_configuration(longer, longer.close([1e-3, -2e-3, 1e-3]))


def test_the_end_of_a_run_names_a_singular_pose_near_by():
    plant = plants.five_bar()
    q = five_bar_pose(plant, "singular")
    assert "singular. 1 of 2 rows" in near_the_end(plant, q + 1e-4)
    assert near_the_end(plant, five_bar_pose(plant, "open")) == ""


def test_the_command_line_tells_branches_and_lock_up():
    from typer.testing import CliRunner

    from cmbcontrol.cli import app

    flat = "bar0=0,coupler1=0,bar1=0,coupler2=0,bar2=0"
    said = CliRunner().invoke(app, ["diagnose", "n-four-bar", "--at", flat])
    assert said.exit_code == 0 and "how it can move on from there" in said.output and "Branches: 0:" in said.output


# -- rank with hysteresis -----------------------------------------------------------------------------


def test_rank_does_not_flicker_with_noise():
    rng = np.random.default_rng(3)
    t = np.linspace(-1.0, 1.0, 2001)
    ratio = np.abs(t) * 10.0 ** rng.uniform(-0.5, 0.5, t.size)
    ratios = np.stack([np.ones(t.size), ratio], axis=1)
    plain = (ratios > 0.03).sum(axis=1)
    steady = hysteresis_rank(ratios, 0.01, 0.1)
    assert np.abs(np.diff(plain)).sum() > 20
    assert np.abs(np.diff(steady)).sum() == 2 and steady[[0, 1000, -1]].tolist() == [2, 1, 2]
    with pytest.raises(ValueError, match="low must not be above high"):
        hysteresis_rank(ratios, 0.1, 0.01)


# -- runs ----------------------------------------------------------------------------------------------


@pytest.mark.nojit_slow
@pytest.mark.parametrize(("coordinates", "times"), [("cartesian", 100), ("planar", 20)])
def test_parallelogram_passes_its_flat_pose_many_times(coordinates, times):
    plant = without_gravity(plants.parallelogram(coordinates=coordinates))
    v = links_rate(plant, 1.0, 1.0)
    run = cmb.simulate(plant, q0=links_pose(1.0), v0=v, t_end=times * np.pi)
    speed = run.v.values[:, [2, 5, 8]]
    assert np.abs(speed - 1.0).max() < 1e-8
    passages = run.events()
    assert [e["kind"] for e in passages] == ["singular passage"] * times
    assert [e["time"] for e in passages] == pytest.approx(np.pi * np.arange(1, times + 1) - 1.0, abs=1e-6)
    assert {e.taken for e in run.singularities()[::10]} == {0}


@pytest.mark.nojit_slow
def test_rhomb_stays_on_its_branch_and_is_steered_to_the_other():
    """Kinetic energy 5/6 W^2 level, 1/3 W^2 folded: steered, it turns sqrt(5/2) times as fast."""
    plant = without_gravity(plants.n_four_bar(1))
    q, v = chain_pose(1, 1.0), chain_rate(1, 1.0)
    run = cmb.simulate(plant, q0=q, v0=v, t_end=8.0, **settings(max_step=1.0))
    assert np.abs(run.v.values - [1.0, -1.0, 1.0]).max() < 1e-8
    fold = [1.0, 0.0, 0.0]  # at pi, the second bar stays
    steered = cmb.simulate(plant, q0=q, v0=v, t_end=4.0, branch={1: fold})
    (met,) = steered.singularities()
    assert met.time == pytest.approx(np.pi - 1.0, abs=1e-9) and met.configuration.branch_of(fold) == met.taken
    after = steered.time > met.time
    assert np.abs(steered.v.values[after] - np.sqrt(2.5) * np.array(fold)).max() < 1e-8
    assert np.abs(steered.q.values[after, 2] - np.pi).max() < 1e-9
    assert steered.max_energy_error < 1e-10


@pytest.mark.nojit_slow
def test_ways_to_choose_are_the_same():
    plant = plants.slider_crank()

    def at_first(pose, t, v):
        return pose.branch_of([-1.0, 0.0]) if t < 0.5 else None

    start = {"q0": [1.2, -2.4], "v0": [2.0, -4.0], "t_end": 0.8}
    runs = [cmb.simulate(plant, branch=b, **settings(**start)) for b in (at_first, {1: 0}, {1: [1.0, 0.0]})]
    for run in runs:
        assert run.singularities()[0].taken == 0
        assert np.abs(run.q.values[-1, 1] + np.pi) < 1e-9  # folded
        assert run.q.values[-1] == pytest.approx(runs[0].q.values[-1], abs=1e-10)
        assert run.max_energy_error < 1e-8
    kept = cmb.simulate(plant, branch=lambda pose, t, v: None, **settings(**start))
    plain = cmb.simulate(plant, **settings(**start))
    assert kept.q.values[-1] == pytest.approx(plain.q.values[-1], abs=1e-8)
    assert kept.singularities()[0].taken == 1
    back = cmb.simulate(plant, branch={1: [-1.0, 0.0]}, **settings(**start))
    assert back.q.values[-1, 0] < FLAT  # a direction has its own sense


@pytest.mark.nojit_slow
def test_five_bar_energy_does_not_jump():
    plant = plants.five_bar()
    for branch in (None, lambda pose, t, v: None):
        run = cmb.simulate(plant, q0=five_bar_pose(plant, "second"), t_end=2.0, output_times=0.002, branch=branch)
        for event in run.singularities():
            near = np.abs(run.time - event.time) < 0.05
            assert np.ptp(run.energy_balance.values[near]) < 1e-8
            assert event.taken == 0 and event.rank == 1 and event.new_motions.shape == (4, 1)
            assert "singular passage" in str(event) and "went on on branch 0" in str(event)


@pytest.mark.parametrize("branch", [None, 0])
def test_start_at_a_singular_pose_is_as_exact_as_the_method(branch):
    """The level rhomb falls as th'' = -2 g cos th / (5/3): from th = 0 with 1 rad/s and from rest."""
    from scipy.integrate import solve_ivp

    plant = plants.n_four_bar(1)
    for speed in (1.3, 0.0):
        exact = solve_ivp(
            lambda t, x: [x[1], -1.2 * 9.81 * np.cos(x[0])],
            (0, 0.15),
            [0.0, speed],
            rtol=1e-13,
            atol=1e-14,
            method="DOP853",
        ).y[:, -1]
        run = cmb.simulate(plant, q0=chain_pose(1, 0.0), v0=chain_rate(1, speed), t_end=0.15, branch=branch)
        assert run.q.values[-1] == pytest.approx(exact[0] * np.array([1.0, -1.0, 1.0]), abs=2e-11)
        assert run.v.values[-1] == pytest.approx(exact[1] * np.array([1.0, -1.0, 1.0]), abs=2e-10)


def test_start_at_rest_on_another_branch():
    """Folded, bar1 and the coupler are one pendulum: th'' = -3/2 g cos th."""
    plant = plants.n_four_bar(1)
    run = cmb.simulate(plant, q0=chain_pose(1, 0.0), t_end=0.3, branch=[0.0, -1.0, -1.0])
    assert np.abs(run.q.values[:, 0]).max() < 1e-12
    energy = 0.5 * (2.0 / 3.0) * run.v.values[:, 2] ** 2 + 9.81 * np.sin(run.q.values[:, 2])
    assert np.abs(energy).max() < 1e-9 and run.q.values[-1, 2] < -0.5


class Torque(Controller):
    """A law in continuous time."""

    period = None

    def start(self, plant):
        return np.zeros(0)

    def evaluate(self, t, terms, state):
        return Evaluation(self._effort(t, terms, state), self._derivative(t, terms, state))

    def _effort(self, t, terms, state):
        return np.array([0.3 * np.cos(terms.q[0])])

    def _derivative(self, t, terms, state):
        return np.zeros(0)


@pytest.mark.nojit_slow
def test_laws_in_continuous_time_and_samples_are_steered_too():
    plant = plants.n_four_bar(1)
    q, v = chain_pose(1, 0.3), chain_rate(1, -1.0)
    run = cmb.simulate(plant, Torque(), q, v, t_end=0.4, branch={1: [0.0, -1.0, -1.0]})
    assert run.singularities()[0].taken == 1
    assert np.abs(run.q.values[run.time > 0.35, 0]).max() < 1e-9
    assert run.max_energy_error < 1e-9


@pytest.mark.nojit_slow
def test_events_survive_a_file(tmp_path):
    plant = plants.slider_crank()
    run = cmb.simulate(plant, q0=[1.2, -2.4], v0=[2.0, -4.0], t_end=0.5, branch={1: 0})
    again = cmb.load_run(run.save(tmp_path / "run.nc"))
    with pytest.raises(TypeError, match="does not know its plant"):
        again.singularities()
    (here,), (there,) = run.singularities(), again.singularities(plant)
    assert (here.time, here.taken, here.kind) == (there.time, there.taken, there.kind)
    assert there.v == pytest.approx(here.v) and here.branches and not here.locked and here.lost_rows
    assert run.data["event_v_after"].values[0, 1] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.nojit_slow
def test_near_misses_have_no_pose():
    """A base shorter by 1e-9 m: the flat pose is missed by about 3e-5."""
    plant = bars(2.5 - 1e-9, gravity=(0, 0, 0))
    q = plant.assemble(guess={"a": 0.5, "b": -1.0, "c": -0.5}, a=0.5)
    v = plant.terms(q, np.zeros(3)).Z[:, 0]
    run = cmb.simulate(plant, q0=q, v0=np.sign(-v[0]) * v, t_end=1.5, **settings(pass_within=1e-6))
    (event,) = run.singularities()
    assert event.kind == "near-singular passage" and event.configuration is None and event.taken is None
    assert "misses" in str(event) and event.branches == () and event.new_motions.shape == (3, 0)


@pytest.mark.parametrize(
    ("branch", "error", "says"),
    [
        (True, TypeError, "branch= takes"),
        ("0", TypeError, "branch= takes"),
        ({"a": 1}, ValueError, "number of a passage"),
        ({1: 7}, cmb.errors.SimulationError, "no branch 7"),
        ([1.0, 2.0, 3.0], cmb.errors.SimulationError, r"shape \(2,\)"),
        (lambda pose, t, v: 1 / 0, cmb.errors.SimulationError, "ZeroDivisionError"),
    ],
)
def test_choices_that_say_nothing_are_refused(branch, error, says):
    with pytest.raises(error, match=says):
        cmb.simulate(plants.slider_crank(), q0=[1.2, -2.4], v0=[2.0, -4.0], t_end=0.5, branch=branch)


def test_methods_that_end_at_singular_poses_cannot_be_steered():
    with pytest.raises(TypeError, match="branch= steers runs that pass singular configurations"):
        cmb.simulate(
            plants.five_bar(), q0=five_bar_pose(plants.five_bar(), "second"), t_end=1.0, method="radau", branch=0
        )


def test_a_branch_that_nothing_moves_along_is_refused():
    """At rest without efforts there is nothing to follow it with; unless a branch is asked for, the run waits there."""
    crank, start = plants.slider_crank(), [np.pi / 2, -np.pi]

    def later(t, terms, state):
        return [float(t > 0.05)]

    with pytest.raises(cmb.errors.SimulationError, match="nothing moves there under the first efforts"):
        cmb.simulate(crank, later, start, t_end=0.1, branch=1)
    run = cmb.simulate(crank, later, start, t_end=0.1, output_times=0.05)
    # The last step of the wait may reach beyond 0.05 s; it is as accurate as the run (5e-9). The effort moves 1e-3.
    assert np.abs(run.q.values[1] - start).max() < 1e-7 < 1e-4 < np.abs(run.q.values[2] - start).max()
