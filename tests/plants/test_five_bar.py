"""Spencer's five-bar: configurations, published angles, cuts."""

import numpy as np
import pytest

from cmbcontrol.dynamics.acceleration import forward_dynamics
from cmbcontrol.plants import five_bar
from cmbcontrol.plants.five_bar import configuration as five_bar_configuration


@pytest.mark.parametrize("closure", ["line", "point", "revolute"])
@pytest.mark.parametrize("cut", ["tip", "right"])
def test_five_bar_poses(cut, closure):
    plant = five_bar(cut, closure)
    for case in ("open", "singular", "second", "asymmetric"):
        q = five_bar_configuration(plant, case)
        assert plant.closure_error(q) < 1e-14
        found = plant.diagnose(q)
        assert (found.dof, found.singular) == ((3, True) if case == "singular" else (2, False))
    assert plant.actuator_names == ("left", "right")
    tip = plant.point(five_bar_configuration(plant, "second"), "left_upper", (1.5, 0, 0))
    assert tip[0] == pytest.approx(0.5, abs=1e-14)


def test_five_bar_published_angles():
    """Absolute angles of the second example: 120, 48.1897, 131.8103 (seen from the right elbow) and 60 degrees."""
    q = np.degrees(five_bar_configuration(five_bar(), "second"))
    assert [q[0], q[0] + q[1], q[2], q[2] + q[3]] == pytest.approx([120.0, 48.1897, 60.0, 131.8103], abs=1e-4)


@pytest.mark.parametrize("closure", ["line", "point", "revolute"])
def test_five_bar_cuts_move_alike(closure):
    tip, right = five_bar("tip", "revolute"), five_bar("right", closure)
    q1, q2 = (five_bar_configuration(p, "asymmetric") for p in (tip, right))
    u = [1.0, -2.0]
    a, b = forward_dynamics(tip, q1, np.zeros(4), u), forward_dynamics(right, q2, np.zeros(4), u)
    assert a[tip.index("left")] == pytest.approx(b[right.index("left")], rel=1e-10)
    assert a[tip.index("elbow_right")] == pytest.approx(-b[right.index("elbow_right")], rel=1e-10)
