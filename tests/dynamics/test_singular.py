"""Singular configurations: branches, lock-up, and the exact acceleration there."""

from functools import cache

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import FunctionPlant, plants
from cmbcontrol.dynamics.acceleration import acceleration, forward_dynamics
from cmbcontrol.dynamics.singular import singular_configuration
from cmbcontrol.errors import SingularConfigurationError
from cmbcontrol.papers.formulations import FORMULATIONS, NamedFormulation
from cmbcontrol.plants.five_bar import configuration as five_bar_configuration
from cmbcontrol.plants.n_four_bar import configuration as chain_configuration
from cmbcontrol.plants.n_four_bar import rate as chain_rate
from cmbcontrol.plants.parallel_four_bar import configuration as two_freedoms_configuration
from cmbcontrol.plants.parallelogram import configuration as links_configuration
from cmbcontrol.plants.parallelogram import rate as links_rate

pytestmark = pytest.mark.nojit_slow  # whole runs
FLAT = np.pi / 2.0


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
    pose = singular_configuration(plant, five_bar_configuration(plant, "singular"))
    assert (pose.rank, pose.generic_rank, sorted(pose.signature)) == (1, 2, [1, 2])
    (branch,) = pose.branches
    assert branch.dof == 2 and not branch.linear and pose.bifurcation
    assert all(pose.contains(v) for v in branch.samples.T)
    assert not pose.contains(pose.motions[:, 0] + 0.3 * branch.direction)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 8, 10])
@pytest.mark.parametrize("turn", [0.0, np.pi])
def test_flat_chain_of_rhombs_has_a_branch_for_each_bar_that_may_stay(n, turn):
    """(th_i - th_i-1) th_i-1 = 0: the first k bars stay, the others turn; at th = pi the last ones stay."""
    pose = singular_configuration(plants.n_four_bar(n), chain_configuration(n, turn))
    assert pose.rank == n and len(pose.branches) == n + 1 and pose.complete
    turning = sorted(tuple(np.abs(branch.direction[::2]) > 1e-6) for branch in pose.branches)
    moves = [tuple((i >= k) if turn == 0.0 else (i <= n - k) for i in range(n + 1)) for k in range(n + 1)]
    assert turning == sorted(moves)
    assert pose.contains(chain_rate(n, 1.0))


def test_where_part_of_a_machine_stays_singular_the_branch_is_told():
    """Only the last bar turns: the first rhomb stays flat, and may open at any time."""
    pose = singular_configuration(plants.n_four_bar(2), chain_configuration(2, 0.0))
    regular = {int(np.sum(np.abs(b.direction[::2]) > 1e-6)): b.regular for b in pose.branches}
    assert regular == {3: True, 2: True, 1: False}
    last = next(b for b in pose.branches if not b.regular)
    with pytest.raises(SingularConfigurationError, match="does not regain its rank"):
        pose.acceleration(np.zeros(5), last.direction)


@pytest.mark.parametrize("coordinates", ["cartesian", "planar"])
def test_three_parallel_links_have_one_branch_only(coordinates):
    """The coupler cannot turn: two conditions, y w = 0 and w^2 = y w, leave w = 0."""
    plant = plants.parallelogram(coordinates=coordinates)
    pose = singular_configuration(plant, links_configuration(0.0))
    assert (pose.rank, pose.generic_rank, len(pose.branches)) == (10, 11, 1)
    assert not pose.bifurcation and not pose.locked and pose.complete
    assert pose.infinitesimal.shape[1] == 1 and pose.new_motions.shape[1] == 1
    assert pose.branch_of(links_rate(plant, 0.0, -1.0)) == 0


def test_two_dof_parallelogram_and_antiparallelogram():
    """q2 - q1: on the parallelogram v3 = v1 - v2 and v4 = v2 - v1; each branch is a plane."""
    plant = plants.parallel_four_bar()
    pose = singular_configuration(plant, two_freedoms_configuration(0.7, 0.7))
    assert [branch.dof for branch in pose.branches] == [2, 2] and all(b.linear for b in pose.branches)
    v = np.array([1.0, 0.3, 0.7, -0.7])
    flat = pose.branches[pose.branch_of(v)].motions
    assert flat[2] == pytest.approx(flat[0] - flat[1], abs=1e-12)
    assert flat[3] == pytest.approx(flat[1] - flat[0], abs=1e-12)


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


# -- acceleration -------------------------------------------------------------------------------------


@cache
def cases():
    """Machines at singular configurations in motion, by name."""
    return {name: case for name, *case in _cases()}


def _cases():
    crank, bar, chain, two = plants.slider_crank(), plants.five_bar(), plants.n_four_bar(2), plants.parallel_four_bar()
    yield "crank slides", crank, [FLAT, -np.pi], [1.5, -3.0]
    yield "rod folded", crank, [FLAT, np.pi], [1.5, 0.0]
    q = five_bar_configuration(bar, "singular")
    at = singular_configuration(bar, q)
    for i, v in enumerate(at.branches[0].samples.T[:2]):
        yield f"five-bar {i}", bar, q, v
    three = plants.parallelogram()
    yield "parallelogram", three, links_configuration(0.0), links_rate(three, 0.0, 1.3)
    planar = plants.parallelogram(coordinates="planar")
    yield "planar joints", planar, links_configuration(np.pi), links_rate(planar, np.pi, 1.3)
    yield "chain", chain, chain_configuration(2, 0.0), chain_rate(2, 1.1)
    q = two_freedoms_configuration(0.7, 0.7)
    for i, branch in enumerate(singular_configuration(two, q).branches):
        yield f"two degrees of freedom {i}", two, q, 0.3 * (branch.motions @ [0.6, 0.9])


CASES = (
    *("crank slides", "rod folded", "five-bar 0", "five-bar 1", "parallelogram", "planar joints", "chain"),
    *("two degrees of freedom 0", "two degrees of freedom 1"),
)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("case", CASES)
def test_acceleration_is_the_limit_from_both_sides(case):
    """Regular dynamics at -4 d ... 4 d along the motion, continued to the configuration with order 8."""
    plant, q, v = cases()[case]
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
    q = five_bar_configuration(plant, "singular")
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
    pose = singular_configuration(plant, chain_configuration(1, 0.0))
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


# -- rank with hysteresis -----------------------------------------------------------------------------
