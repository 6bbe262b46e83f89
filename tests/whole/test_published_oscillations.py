"""Forced oscillations with friction, and limit cycles of a relay: closed forms, and their harmonic balance."""

import numpy as np
import pytest
from scipy.optimize import brentq

import cmbcontrol as cmb
from cmbcontrol import Actuator, Body, JointForce, Mechanism, Prismatic
from cmbcontrol.characteristics import Friction, SpringDamper
from cmbcontrol.linear import describing_function

F = 0.3  # friction over the amplitude of the force


def oscillator():
    """A mass of 1 kg on a spring of 1 N/m that rubs with F, and a motor that pushes it."""
    forces = [JointForce("spring", "x", SpringDamper(1.0)), JointForce("friction", "x", Friction(F))]
    rail = Prismatic("x", "ground", "mass", axis=(1, 0, 0))
    return Mechanism("oscillator", [Body("mass", 1.0)], [rail], forces=forces, actuators=[Actuator("x")])


def den_hartog(r):
    """Amplitude of x'' + x + f sgn x' = cos(r t) where it does not stop (Den Hartog, 1931)."""
    V, H = 1.0 / (1.0 - r * r), np.sin(np.pi / r) / (r * (1.0 + np.cos(np.pi / r)))
    return float(np.sqrt(V * V - (F * H) ** 2))


@pytest.mark.slow
@pytest.mark.nojit_slow
@pytest.mark.parametrize(("r", "amplitude", "balanced"), [(0.8, 2.6261048757, 2.5671498697),
                                                          (1.2, 2.072384268, 2.1003953479)])  # fmt: skip
def test_den_hartogs_oscillator(r, amplitude, balanced):
    """Runs reach the exact amplitude; the describing function of the friction gives that of one harmonic."""

    def push(t, terms, state):
        return [np.cos(r * t)]

    period = 2.0 * np.pi / r
    run = cmb.simulate(oscillator(), push, [0.0], t_end=80.0 * period, friction="exact", output_times=period / 400.0)
    last = run.q.values[-801:, 0]
    assert np.abs(last).max() == pytest.approx(den_hartog(r), rel=2e-5)  # between two times: (pi/400)^2/2 at most
    assert den_hartog(r) == pytest.approx(amplitude, rel=1e-9)

    def beyond(A):
        N = complex(describing_function(lambda x, rate: F * np.sign(rate), A, omega=r))
        return abs((1.0 - r * r + N) * A) - 1.0

    assert brentq(beyond, 0.5, 20.0, xtol=1e-13) == pytest.approx(balanced, rel=1e-9)
