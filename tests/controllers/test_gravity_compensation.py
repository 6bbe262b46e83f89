"""Gravity compensation with PD: rest, poles, energy."""

import numpy as np
import pytest

from cmbcontrol import Constant, closed_loop_equilibrium, linearize, linearize_closed_loop, plants, simulate, trim
from cmbcontrol.controllers import GravityPD, Saturation, WithModel
from cmbcontrol.errors import ActuationError
from cmbcontrol.model.mechanism import Mechanism
from tests.fixtures import five_bar, largest, matched, open_arm, second_order

# -- gravity compensation and PD ---------------------------------------------------------------------------


def test_it_holds_the_weight_as_trim_does():
    plant = plants.five_bar()
    q = plant.assemble(left=2.1, right=1.0)
    law = GravityPD(plant, Constant([2.1, 1.0]), kp=50.0, kd=5.0)
    assert law(0.0, plant.terms(q, np.zeros(4)), np.zeros(0)) == pytest.approx(trim(plant, q).u, rel=1e-10)
    rest = closed_loop_equilibrium(plant, law)
    assert rest.point.q == pytest.approx(q, abs=1e-10)


@pytest.mark.parametrize("options", [{}, {"closure": "revolute"}])
def test_poles_are_those_of_springs_and_dampers(options):
    """M_Z e'' + K_D e' + (K_P + what the weights leave) e = 0; with the weights compensated nothing is left but K_P."""
    plant = plants.five_bar(**options)
    kp, kd = np.array([[200.0, 20.0], [20.0, 150.0]]), np.diag([30.0, 20.0])
    law = GravityPD(plant, Constant([2.1, 1.0]), kp=kp, kd=kd)
    loop = linearize_closed_loop(plant, law)
    K = loop.plant.K
    M = K.T @ plant.terms(loop.point.q, np.zeros(4)).M @ K
    assert matched(loop.poles(), second_order(M, kd, kp)) < 1e-7


def test_energy_falls_and_it_comes_to_rest_far_away():
    """v'Mv/2 + e'K_P e/2 falls with e'K_D e'."""
    plant = plants.five_bar()
    kp, kd = np.diag([60.0, 40.0]), np.diag([12.0, 9.0])
    law = GravityPD(plant, Constant([1.8, 1.2]), kp=kp, kd=kd)
    q = plant.assemble(left=2.3, right=0.7)
    run = simulate(plant, law, q, t_end=8.0, output_times=0.05, rtol=1e-9, atol=1e-9)

    def stored(q, v):
        e = np.array([1.8, 1.2]) - q[[0, 2]]
        return plant.terms(q, v).kinetic + 0.5 * e @ kp @ e

    V = np.array([stored(a, b) for a, b in zip(run.q.values, run.v.values, strict=True)])
    lost = np.array([v[[0, 2]] @ kd @ v[[0, 2]] for v in run.v.values])
    assert (np.diff(V) <= 1e-9).all()
    # by Simpson's rule over pairs of steps
    simpson = 0.05 / 3.0 * (lost[0:-2:2] + 4.0 * lost[1:-1:2] + lost[2::2])
    assert largest(V[:-2:2] - V[2::2] - simpson) < 1e-3 * V[0]
    assert run.q.values[-1][[0, 2]] == pytest.approx([1.8, 1.2], abs=1e-3)


def test_wrong_weights_shift_the_rest():
    """K_P e = the weight that is missing, with a model given to the law or by WithModel alike."""
    plant, model = five_bar(0.2), five_bar()
    gains = {"kp": 300.0, "kd": 30.0}
    laws = [
        GravityPD(model, Constant([2.1, 1.0]), **gains),
        WithModel(model, GravityPD(plant, Constant([2.1, 1.0]), **gains)),
        WithModel(model, GravityPD(plant, Constant([2.1, 1.0]), **gains) | Saturation(1e6)),
    ]
    rests = [closed_loop_equilibrium(plant, law) for law in laws]
    for rest in rests:
        assert rest.point.q == pytest.approx(rests[0].point.q, abs=1e-10)
    e = np.array([2.1, 1.0]) - rests[0].point.q[[0, 2]]
    terms, known = (x.terms(rests[0].point.q, np.zeros(4)) for x in (plant, model))
    S = np.eye(4)[[0, 2]]
    assert terms.Z.T @ S.T @ (300.0 * e) == pytest.approx(terms.Z.T @ (terms.h - known.h), abs=1e-9)
    assert largest(e) > 1e-3


def test_gears_and_shared_work():
    """A gear changes efforts, not motion; with too many motors the efforts are the smallest ones."""
    q, v = np.array([0.3, -0.5, 0.7]), np.array([1.0, 2.0, -1.0])
    law = [GravityPD(open_arm(gear=g), Constant(np.zeros(3)), kp=[9.0, 8.0, 7.0], kd=2.0) for g in (1.0, 20.0)]
    u = [x(0.0, x.plant.terms(q, v), np.zeros(0)) for x in law]
    assert 20.0 * u[1] == pytest.approx(u[0])
    assert u[0] == pytest.approx(open_arm().terms(q, np.zeros(3)).h - np.array([9.0, 8.0, 7.0]) * q - 2.0 * v)
    plant = plants.two_arms()
    at = plants.catalogue["two-arms"].initial(plant)[0]
    terms = plant.terms(at, np.zeros(plant.nv))
    names = [n for n in plant.actuator_names if n in plant.position_names]
    reference = Constant([at[plant.position_names.index(n)] for n in names])
    for weight in (None, np.arange(1.0, plant.nu + 1.0)):
        law = GravityPD(plant, reference, kp=10.0, kd=1.0, coordinates=names, weight=weight)
        u = law(0.0, terms, np.zeros(0))
        assert terms.Z.T @ terms.B @ u == pytest.approx(terms.Z.T @ terms.h, abs=1e-9)
        W = np.eye(plant.nu) if weight is None else np.diag(weight)
        free = np.linalg.svd(terms.Z.T @ terms.B)[2][terms.dof :]
        assert free @ np.linalg.solve(W, u) == pytest.approx(np.zeros(len(free)), abs=1e-9)


def test_wrong_gravity_compensation():
    plant = plants.five_bar()
    at = {"kp": 1.0, "kd": 1.0}
    with pytest.raises(ValueError, match="did you mean 'left'"):
        GravityPD(plant, Constant([2.1]), coordinates="lefft", **at)
    with pytest.raises(ValueError, match=r"shape \(2,\) each"):
        GravityPD(plant, Constant([2.1]), **at)
    with pytest.raises(TypeError, match="callable with the time"):
        GravityPD(plant, [2.1, 1.0], **at)
    with pytest.raises(ValueError, match=r"kp must have shape \(2,\)"):
        GravityPD(plant, Constant([2.1, 1.0]), kp=[1.0, 2.0, 3.0], kd=1.0)
    with pytest.raises(ValueError, match="the motors right of plant 'five-bar' do not drive single one-axis joints"):
        GravityPD(plants.five_bar(cut="right"), Constant([2.1, 1.0]), **at)
    one = Mechanism(
        plant.name, plant.bodies, plant.joints, plant.loops, actuators=plant.actuators[:1], gravity=plant.gravity
    )
    weak = GravityPD(one, Constant([2.1]), **at)
    with pytest.raises(ActuationError, match=r"the motors reach 1 of 2 degrees of freedom"):
        weak(0.0, one.terms(plant.assemble(left=2.1, right=1.0), np.zeros(4)), np.zeros(0))


# -- impedance ----------------------------------------------------------------------------------------------


def test_linear_weights_need_no_linearization():
    """The plant alone is unstable at this configuration, so that the tests above mean something."""
    plant = plants.five_bar()
    point = trim(plant, plant.assemble(left=2.1, right=1.0))
    assert linearize(plant, point, coordinates=("left", "right")).poles().real.max() > 1.0
