"""Describing functions against their closed forms (Gelb and Vander Velde 1968, appendix B)."""

import numpy as np
import pytest

from cmbcontrol.characteristics import Friction, SpringDamper
from cmbcontrol.errors import InputError, InputTypeError
from cmbcontrol.linear import describing_function

A = np.array([0.3, 1.1, 2.0, 7.0])
CLOSE = 1e-9  # of each value: corners anywhere are found by bisection


def of_saturation(width):
    """Gain of a unit slope that ends at +-width."""
    part = np.minimum(width / A, 1.0)
    return 2.0 / np.pi * (np.arcsin(part) + part * np.sqrt(1.0 - part**2))


def test_coulomb_friction():
    found = describing_function(lambda x, rate: 3.0 * np.sign(rate), A, omega=5.0)
    assert found == pytest.approx(4j * 3.0 / (np.pi * A), rel=CLOSE)


def test_saturation():
    found = describing_function(lambda x, rate: min(max(x, -0.7), 0.7), A)
    assert found == pytest.approx(of_saturation(0.7) + 0j, rel=CLOSE)


def test_play_with_a_stiffness_is_what_saturation_leaves():
    found = describing_function(lambda x, rate: 50.0 * (max(x - 0.7, 0.0) + min(x + 0.7, 0.0)), A)
    assert found == pytest.approx(50.0 * (1.0 - of_saturation(0.7)) + 0j, rel=CLOSE, abs=1e-12)


@pytest.mark.parametrize("size", [1.1, 2.0, 7.0])
def test_backlash(size):
    """Play b of a driven part that stays where it is left: of an amplitude it is a function of x and the direction."""
    b = 0.4

    def driven(x, rate):
        return max(x - b, -size + b) if rate > 0.0 else min(x + b, size - b)

    s = 1.0 - 2.0 * b / size
    real = 0.5 + (np.arcsin(s) + s * np.sqrt(1.0 - s * s)) / np.pi
    imaginary = -4.0 * b / (np.pi * size) * (1.0 - b / size)
    assert describing_function(driven, size) == pytest.approx(real + 1j * imaginary, rel=CLOSE)


def test_linear_elements_are_themselves():
    found = describing_function(SpringDamper(40.0, rest=0.2, damping=3.0), A, omega=2.0, centre=0.5)
    assert found == pytest.approx(np.full(4, 40.0 + 6j), rel=1e-12)


def test_friction_of_the_package_tends_to_coulomb_friction():
    """Smooth within 1e-4 of the rate: the fundamental lacks the square of that, 4/pi (pi^2/24)(1e-4)^2."""
    law = Friction(2.0, transition_rate=1e-4 * A[2] * 5.0)
    assert describing_function(law, A[2], omega=5.0) == pytest.approx(8j / (np.pi * A[2]), rel=1e-7)


def test_what_is_refused():
    with pytest.raises(InputError, match="above zero"):
        describing_function(SpringDamper(1.0), [1.0, 0.0])
    with pytest.raises(InputTypeError, match="Characteristic"):
        describing_function(3.0, 1.0)
    with pytest.raises(InputError, match="is known to"):
        describing_function(lambda x, rate: 1.0 / rate if rate else 0.0, 1.0)
