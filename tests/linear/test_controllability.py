"""Which modes inputs move and outputs see, by how much, whatever the units and the scale."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import design, linearize, plants, trim
from cmbcontrol.controllers import StateFeedback
from cmbcontrol.errors import ActuationError
from cmbcontrol.linear.controllability import modal_controllability, reached, slowest_decay, unmoved

control = pytest.importorskip("control")


# -- the test of Popov, Belevitch and Hautus ---------------------------------------------------------------------


def random_system(seed):
    """A stable part, and two undamped modes of which inputs move the first; states in units far apart."""
    rng = np.random.default_rng(seed)
    omega = 10.0 ** rng.uniform(-2, 4)
    A = np.zeros((6, 6))
    A[:2, :2] = omega * np.array([[0, 1.0], [-1.0, 0]])
    A[2:4, 2:4] = 1.7 * omega * np.array([[0, 1.0], [-1.0, 0]])
    A[4:, 4:] = -omega * np.diag(rng.uniform(0.1, 2.0, 2))
    B = rng.standard_normal((6, 2)) * 10.0 ** rng.uniform(-3, 3)
    B[2:4] = 0.0
    T = np.linalg.qr(rng.standard_normal((6, 6)))[0] * 10.0 ** rng.uniform(-2, 2, (6, 1))
    return T @ A @ np.linalg.inv(T), T @ B, omega


@pytest.mark.parametrize("seed", range(30))
def test_the_mode_is_told(seed):
    A, B, omega = random_system(seed)
    found = unmoved(A, B)
    assert found is not None and abs(abs(found.imag) - 1.7 * omega) < 1e-6 * omega
    assert unmoved(A, np.hstack([B, np.linalg.eig(A)[1].real.sum(axis=1, keepdims=True)])) is None
    shift = A - 0.01 * omega * np.eye(6)
    assert unmoved(shift, B) is None  # all modes decay


def test_in_sampled_time():
    A = np.diag([1.0, 0.5, 0.9])
    assert unmoved(A, np.array([[0.0], [1.0], [1.0]]), period=0.1) == 1.0
    assert unmoved(A, np.array([[1e-3], [0.0], [1.0]]), period=0.1) is None
    assert slowest_decay(np.array([0.5, -0.9]), 0.1) == pytest.approx(0.1)
    assert slowest_decay(np.array([-2.0, -0.5 + 1j]), None) == pytest.approx(0.25)


def test_a_mode_that_one_arm_of_a_delta_robot_does_not_show():
    """Hanging, two of its modes are alike, and a combination of them leaves each arm at rest."""
    plant = plants.delta()
    lin = linearize(plant, trim(plant, plants.catalogue["delta"].initial(plant)[0]))
    with pytest.raises(ActuationError, match=r"the measurements arm1 of 'delta' do not show the mode at .*3\.74"):
        design.kalman(lin, ("arm1",), effort_noise=1.0, state_noise=0.01, measurement_noise=1e-4)
    one = linearize(plant, lin.point, inputs=["arm1"])
    for period in (None, 0.01):
        with pytest.raises(ActuationError, match=r"the inputs arm1.* of 'delta' do not move the mode at .*3\.74"):
            design.lqr(one, 1.0, 0.01, period=period)
    found = linearize(plant, lin.point, inputs=["arm1"], outputs=["arm1"]).modal_controllability()
    assert found.controllable.tolist() == found.observable.tolist() == [1, 1] and found.multiplicity.tolist() == [1, 2]
    assert lin.modal_controllability().controllable.tolist() == [1, 2]


# -- how much of a mode is moved and seen ------------------------------------------------------------------------


def pendulums_on_a_cart(k=1.0, m=1.0, lengths=(1.0, 1.0)):
    """Two pendulums on a cart with a motor and a spring; lengths times k, masses times m, times are kept."""
    bodies = [cmb.Body("cart", 3.0 * m, (0, 0, 0), (m * k * k,) * 3)]
    joints = [cmb.Prismatic("cart", "ground", "cart", axis=(1, 0, 0))]
    for name, x, length in zip("ab", (-1.0, 1.0), lengths, strict=True):
        inertia = (0.01 * m * k * k,) * 3
        bodies.append(cmb.Body(name, 1.5 * m, (0, -length * k, 0), inertia))
        joints.append(cmb.Revolute(name, "cart", name, frame=cmb.Frame((x * k, 0, 0))))
    springs = [cmb.JointSpring("mount", "cart", stiffness=200.0 * m)]
    motors = [cmb.Actuator("cart", effort=50.0 * m * k), cmb.Actuator("a", effort=5.0 * m * k * k)]
    plant = cmb.Mechanism("pair", bodies, joints, springs=springs, actuators=motors, gravity=(0, -9.81 * k, 0))
    return linearize(plant, trim(plant, np.zeros(3), u=np.zeros(2), free="all"), coordinates=("cart", "a", "b"))


def test_the_mode_of_two_equal_pendulums_against_each_other_is_moved_by_one_of_them_only():
    """The cart does not feel it, so that it neither moves nor shows it; its frequency is that of one pendulum."""
    lin = pendulums_on_a_cart()
    found = lin.modal_controllability()
    alone = np.sqrt(1.5 * 9.81 / (1.5 + 0.01))
    k = int(np.argmin(np.abs(np.abs(found.eigenvalues) - alone)))
    assert abs(found.eigenvalues[k]) == pytest.approx(alone, rel=1e-12)
    assert found.moved_by[k].tolist() == [0, 1] and found.seen_by[k].tolist() == [0, 1, 1]
    assert (np.delete(found.moved_by, k, axis=0) == 1).all() and found.minimal_order == 6
    # half of the energy of a push at one pendulum, were the cart held; the cart's mass adds a part of its own
    cart = linearize(lin.point.plant, lin.point, coordinates=lin.states[:3], inputs=["cart"])
    only = cart.modal_controllability()
    assert only.minimal_order == 4 and "moved by no input: mode" in str(only)
    assert only.minimal_realization().nstates == 4


def test_cosines_of_pushes_are_shares_of_energy():
    """Without damping: (shape . effort)^2 / (modal mass * effort' M^-1 effort), from the pencil of M and K."""
    lin = pendulums_on_a_cart(lengths=(1.0, 0.6))
    found, modes = lin.modal_controllability(), lin.undamped_modes()
    M = lin.point.plant.terms(lin.point.q, lin.point.v).M
    pushes = lin.point.plant.terms(lin.point.q, lin.point.v).B
    shapes, masses = modes.shape.values.real, modes.modal_mass.values
    shares = (shapes @ pushes) ** 2 / masses[:, None] / np.einsum("kj,kj->j", pushes, np.linalg.solve(M, pushes))
    assert np.abs(found.moved**2 - shares).max() < 1e-9
    assert np.abs((found.moved**2).sum(axis=0) - 1.0).max() < 1e-9
    assert np.abs(found.seen[:, :2] - found.moved).max() < 1e-9  # outputs at the places of the motors


@pytest.mark.parametrize("lengths", [(1.0, 1.0), (1.0, 1.0 + 1e-6), (1.0, 0.3)])
def test_no_unit_changes_a_number(lengths):
    """g for kg, mm for m, and machines of micrometres: neither verdicts nor cosines change."""
    first = pendulums_on_a_cart(lengths=lengths).modal_controllability()
    for k, m in ((1e3, 1.0), (1.0, 1e3), (1e3, 1e3), (1e-6, 1e6)):
        other = pendulums_on_a_cart(k, m, lengths).modal_controllability()
        for name in ("multiplicity", "moved_by", "seen_by", "controllable", "observable", "minimal"):
            assert (getattr(first, name) == getattr(other, name)).all(), (name, k, m)
        # two eigenvalues 1e-6 apart turn their vectors by rounding over the distance
        assert np.abs(first.moved - other.moved).max() < 1e-8 and np.abs(first.seen - other.seen).max() < 1e-8


def random_blocks(rng):
    """A system with a Jordan form of its own: which of its blocks inputs move and outputs see is drawn, and known."""
    blocks, moved, seen = [], [], []
    # rates apart, so that powers of A tell the blocks from one another
    kinds = rng.permutation(["real", "pair", "double", "equal", "free"])[:3]
    for kind, rate in zip(kinds, (-0.5, -1.7, -4.0), strict=True):
        rate, turn = rate * rng.uniform(0.9, 1.1), rng.uniform(0.5, 5.0)
        block = {
            "real": [[rate]],
            "pair": [[rate, turn], [-turn, rate]],
            "double": [[rate, 1.0], [0.0, rate]],
            "equal": [[rate, 0.0], [0.0, rate]],
            "free": [[0.0, 1.0], [0.0, 0.0]],
        }[kind]
        n, hit, heard = len(block), rng.random() < 0.6, rng.random() < 0.6
        blocks.append(np.array(block))
        # the last state of a Jordan block moves the first; the first shows the last
        moved.append(np.full(n, 1.0 if hit else 0.0) * rng.uniform(0.5, 2.0, n))
        seen.append(np.full(n, 1.0 if heard else 0.0) * rng.uniform(0.5, 2.0, n))
    from scipy.linalg import block_diag

    A, B, C = block_diag(*blocks), np.concatenate(moved)[:, None], np.concatenate(seen)[None]
    T = np.linalg.qr(rng.standard_normal(A.shape))[0] * 10.0 ** rng.uniform(-2, 2, (len(A), 1))
    return T @ A @ np.linalg.inv(T), T @ B, C @ np.linalg.inv(T), (A, B, C)


@pytest.mark.parametrize("seed", range(60))
def test_orders_are_the_ranks_that_python_control_finds(seed):
    """Repeated, defective and free modes: ranks of ctrb and obsv in the coordinates in which they are well scaled."""
    A, B, C, plain = random_blocks(np.random.default_rng(seed))
    found = modal_controllability("drawn", A, B, C, np.zeros((1, 1)), ("u",), ("y",))
    rank = np.linalg.matrix_rank
    reach, view = control.ctrb(*plain[:2]), control.obsv(plain[0], plain[2])
    assert found.order == len(A)
    assert found.controllable.sum() + found.controllable[found.eigenvalues.imag != 0].sum() == rank(reach, tol=1e-6)
    assert found.observable.sum() + found.observable[found.eigenvalues.imag != 0].sum() == rank(view, tol=1e-6)
    small = found.minimal_realization()
    assert small.nstates == found.minimal_order == rank(view @ reach, tol=1e-6)  # the rank of the Hankel matrix
    for s in (0.7j, 3.0 + 1.0j):
        exact = plain[2] @ np.linalg.solve(s * np.eye(len(A)) - plain[0], plain[1])
        assert abs(small(s) - exact[0, 0]) < 1e-6 * (1.0 + abs(exact[0, 0]))


def test_hankel_singular_values_are_those_of_gramians_by_kronecker_sums():
    lin = pendulums_on_a_cart(lengths=(1.0, 0.6))
    A = lin.A - 0.3 * np.eye(6)  # all motions decay
    names = (lin.inputs, lin.outputs)
    found = modal_controllability("damped", A, lin.B, lin.C, lin.D, *names)
    assert found.hankel is not None and lin.modal_controllability().hankel is None
    # scale of inputs and outputs as the result has it: unit size where rows and columns of A are balanced
    from cmbcontrol.linear.balancing import balanced

    A, B, C = balanced(A, lin.B, lin.C)
    B, C = B / np.linalg.norm(B, axis=0), C / np.linalg.norm(C, axis=1, keepdims=True)
    eye = np.eye(6)

    def gramian(A, B):
        """From the Kronecker sum."""
        return np.linalg.solve(np.kron(A, eye) + np.kron(eye, A), -(B @ B.T).ravel()).reshape(6, 6)

    P, Q = gramian(A, B), gramian(A.T, C.T)
    values = np.sort(np.sqrt(np.linalg.eigvals(P @ Q).real))[::-1]
    assert np.abs(found.hankel - values / values[0]).max() < 1e-9


@pytest.mark.parametrize("sampled", [{}, {"period": 0.01, "delay": 0.004}])
def test_a_loop_of_one_motor_of_two(sampled):
    """Two pendulums that share nothing: the law of the first neither moves nor shows the second."""
    bodies = [cmb.Body(name, 1.0, (0.0, -0.5, 0.0), (0.1, 0.1, 0.1)) for name in "ab"]
    joints = [cmb.Revolute(name, "ground", name, damping=0.2) for name in "ab"]
    plant = cmb.Mechanism("two", bodies, joints, actuators=[cmb.Actuator("a")], gravity=(0, -9.81, 0))
    model = linearize(plant, trim(plant, np.zeros(2)), coordinates=("a", "b"))
    law = StateFeedback(model, [[6.0, 0.0, 1.0, 0.0]], period=sampled.get("period"))
    loop = cmb.linearize_closed_loop(plant, law, np.zeros(2), delay=sampled.get("delay"))
    found = loop.modal_controllability()
    alone = np.roots([1.0, 0.2 / 0.35, 0.5 * 9.81 / 0.35])  # of the second, with its inertia about the joint
    alone = np.exp(alone * loop.dt) if loop.dt else alone
    k = int(np.argmin(np.abs(found.eigenvalues - alone[alone.imag > 0.0])))
    assert abs(found.eigenvalues[k] - alone[alone.imag > 0.0][0]) < 1e-8
    assert not found.moved_by[k].any() and dict(zip(loop.outputs, found.seen_by[k], strict=True)) == {
        "a": 0, "b": 1, "a_effort": 0,
    }  # fmt: skip
    assert found.controllable.sum() == len(found.eigenvalues) - 1
    assert found.minimal_order == len(loop.A) - 2 and found.dt == loop.dt
    small, whole = found.minimal_realization(), loop.to_ss()
    s = np.exp(0.03j) if loop.dt else 3.0j
    assert np.abs(small(s) - whole(s)).max() < 1e-9 * np.abs(whole(s)).max()


def test_reached_counts_directions_by_their_size():
    A = np.diag([1.0, 1.0], k=1)
    assert reached(np.array([[1.0, 0.0, 0.0]]), A, 1e-9).shape == (3, 3)
    assert reached(np.array([[0.0, 1.0, 0.0]]), A, 1e-9).shape == (3, 2)
    assert reached(np.array([[1e-12, 1.0, 0.0]]), A, 1e-9).shape == (3, 2)
