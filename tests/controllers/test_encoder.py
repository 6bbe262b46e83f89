"""Encoders: resolution and noise."""

import numpy as np
import pytest

from cmbcontrol import plants
from cmbcontrol.controllers import Encoder
from cmbcontrol.model.elements import Body, Free, Prismatic
from cmbcontrol.model.mechanism import Mechanism
from tests.fixtures import PERIOD, Asks, Told, largest, rotor


def test_rounding_is_within_half_a_step():
    plant = plants.five_bar()
    told = Told(plant)
    law = Encoder(bits={"left": 10, "right": 12}, resolution={"elbow_left": 0.01}) | told
    rng, step = np.random.default_rng(1), np.array([2 * np.pi / 1024, 0.01, 2 * np.pi / 4096, 0.0])
    errors = []
    for _ in range(40):
        q = plant.assemble(left=2.1, right=1.0) + 0.01 * rng.standard_normal(4)
        law(0.0, plant.terms(q, np.ones(4)), np.zeros(0))
        read = told.heard[-1][1]
        assert largest(np.remainder(read[:3] + 1e-9, step[:3])) < 2e-9
        errors.append(np.abs(read - q))
        assert told.heard[-1][2] == pytest.approx(np.ones(4))
    worst = np.max(errors, axis=0)
    assert (worst <= 0.5 * step * (1 + 1e-9)).all()
    assert (worst[:3] > 0.4 * step[:3]).all()


def test_noise_is_a_function_of_seed_and_sample():
    plant, told = rotor(), Told(rotor())
    law = Encoder(noise=1e-3, velocity_noise=1e-2, seed=3) | told
    terms = plant.terms([0.5], [0.1])
    for k in (0, 7, 0, 7 + 1e-9, 8):
        law(k * PERIOD, terms, np.zeros(0))
    (_, q0, v0), (_, q7, _), again, near, other = told.heard
    assert again[1] == q0
    assert again[2] == v0
    assert near[1] == q7 != q0
    assert other[1] != q7
    (Encoder(noise=1e-3, seed=4) | told)(0.0, terms, np.zeros(0))
    assert told.heard[-1][1] != q0
    for k in range(2000):
        law(k * PERIOD, terms, np.zeros(0))
    q, v = (np.array([h[i][0] for h in told.heard[-2000:]]) for i in (1, 2))
    assert np.std(q - 0.5) == pytest.approx(1e-3, rel=0.05)
    assert np.std(v - 0.1) == pytest.approx(1e-2, rel=0.05)
    assert abs(np.mean(q - 0.5)) < 1e-4
    assert abs(np.corrcoef(q[1:], q[:-1])[0, 1]) < 0.06


def test_noise_on_a_joint_of_several_axes():
    """A rotation vector of the size asked for; the quaternion stays one."""
    body = Body("body", 1.0, np.zeros(3), np.eye(3))
    plant = Mechanism("free", [body], [Free("float", "ground", "body")])
    names = plant.velocity_names
    told = Told(plant)
    law = Encoder(noise=dict.fromkeys(names[:3], 0.01)) | told
    q = plant.integrate(plant.neutral(), np.arange(1.0, 7.0))
    law(0.0, plant.terms(q, np.zeros(6)), np.zeros(0))
    change = plant.difference(q, told.heard[-1][1])
    assert np.count_nonzero(np.abs(change) > 1e-5) == 3
    assert largest(change) < 0.05
    qw = plant.position_names.index(next(n for n in plant.position_names if n.endswith("_qw")))
    assert np.linalg.norm(told.heard[-1][1][qw : qw + 4]) == pytest.approx(1.0, abs=1e-14)
    with pytest.raises(ValueError, match="belongs to a joint of several axes and is not read by itself"):
        Encoder(resolution={plant.position_names[qw]: 0.1}) | told


def test_wrong_encoders():
    slide = Mechanism(
        "slide", [Body("b", 1.0, np.zeros(3), np.eye(3))], [Prismatic("x", "ground", "b", axis=(1, 0, 0))]
    )
    law = Told(slide)
    with pytest.raises(ValueError, match=r"bits count the steps of a turn, and the coordinate 'x' is in m"):
        Encoder(bits={"x": 10}) | law
    with pytest.raises(ValueError, match="whole number from 1 to 52, got 0"):
        Encoder(bits=0) | Told(rotor())
    with pytest.raises(ValueError, match="both bits and a resolution"):
        Encoder(0.1, bits=10) | Told(rotor())
    with pytest.raises(ValueError, match="finite and >= 0"):
        Encoder(-0.1) | law
    with pytest.raises(ValueError, match=r"whole number >= 0, got 0\.5"):
        Encoder(0.1, seed=0.5)
    with pytest.raises(ValueError, match=r"no coordinate 'axs'; did you mean 'axis'"):
        Encoder({"axs": 0.1}) | Told(rotor())
    with pytest.raises(
        ValueError, match=r"read at samples, and the law Asks works in continuous time: give it a period"
    ):
        Encoder(0.1) | Asks(lambda t: [], None, plant=slide)
