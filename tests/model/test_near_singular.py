"""Closing at and beside singular configurations: all digits, against exact configurations."""

import mpmath
import numpy as np
import pytest

from cmbcontrol import plants, simulate
from cmbcontrol.errors import AssemblyError
from tests.fixtures import crank_and_slider


@pytest.mark.nojit_slow
def test_assembly_lands_on_the_singular_pose_it_is_asked_for():
    for plant, held, flat in (
        (plants.five_bar(), {"left": np.pi, "right": 0.0}, np.pi),
        (plants.n_four_bar(1), {"bar0": np.pi}, np.pi),
        (plants.n_four_bar(3), {"bar0": np.pi}, np.pi),
        (plants.slider_crank(), {"q1": 0.5 * np.pi}, 0.5 * np.pi),
    ):
        q = plant.assemble(**held)
        assert np.abs(q - flat * np.round(q / flat)).max() < 1e-15
        if plant.nv < 5:
            assert simulate(plant, q0=q, t_end=0.05).max_energy_error < 1e-8 * plant.force_scale * plant.size


def exact_elbows(left, right, near_elbows):
    """Elbow angles of the five-bar that are nearest to some, to 40 digits."""
    with mpmath.workdps(40):
        L, R = mpmath.mpf(left), mpmath.mpf(right)
        a, b = (mpmath.cos(L), mpmath.sin(L)), (1 + mpmath.cos(R), mpmath.sin(R))
        dx, dy = b[0] - a[0], b[1] - a[1]
        ways = []
        for side in (1, -1):
            h = side * mpmath.sqrt(mpmath.mpf(2.25) / (dx * dx + dy * dy) - mpmath.mpf(0.25))
            tip = a[0] + dx / 2 - h * dy, a[1] + dy / 2 + h * dx
            elbows = [mpmath.atan2(tip[1] - x[1], tip[0] - x[0]) - x0 for x, x0 in ((a, L), (b, R))]
            ways.append(
                max(abs(mpmath.sin((mpmath.mpf(q) - e) / 2)) * 2 for q, e in zip(near_elbows, elbows, strict=True))
            )
        return float(min(ways))


@pytest.mark.nojit_slow
@pytest.mark.parametrize("off", [1e-15, 1e-10, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3])
def test_assembly_beside_a_singular_pose_has_all_digits(off):
    """The residual alone would leave errors of 1e-16 / off: 5e-8 at 1e-8."""
    plant = plants.five_bar()
    for dl, dr in ((off, -off), (off, off), (off, -0.5 * off), (off, 0.0)):
        q = plant.assemble(left=np.pi - dl, right=-dr)
        assert (q[0], q[2]) == (np.pi - dl, -dr)
        assert exact_elbows(q[0], q[2], q[[1, 3]]) < (1e-15 if off < 1e-3 else 1e-13)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("off", [1e-10, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4])
def test_close_beside_a_singular_pose_has_all_digits(off):
    plant = plants.five_bar()
    singular = plant.assemble(left=np.pi, right=0.0)
    for seed in range(3):
        guess = singular + off * np.random.default_rng(seed).uniform(-1.0, 1.0, 4)
        q = plant.close(guess)
        assert np.abs(q - guess).max() < 2.0 * off
        assert exact_elbows(q[0], q[2], q[[1, 3]]) < 3e-15
        assert simulate(plant, q0=q, t_end=0.05).max_energy_error < 1e-8 * plant.force_scale * plant.size


def test_a_turning_point_is_met_exactly():
    """The slider at its farthest: the loops are regular, but what is held does not tell the crank to first order."""
    plant = crank_and_slider()
    q = plant.assemble(guess={"crank": 0.3, "knee": -0.2}, slide=3.0)
    np.testing.assert_allclose(q, [0.0, 0.0, 3.0], rtol=0.0, atol=1e-15)
    assert plant.diagnose(q).rank == 2
    q = plant.assemble(guess={"crank": 0.3, "knee": -0.5}, slide=3.0 - 1e-8)
    assert q[0] == pytest.approx(np.sqrt(2e-8 / 1.5), rel=1e-6)  # cos(crank) + 2 cos(rod) with 2 sin(rod) = sin(crank)
    with pytest.raises(AssemblyError, match="'pin' open by"):
        plant.assemble(slide=3.0 + 1e-3)


def test_values_beside_those_of_a_singular_pose_are_kept():
    plant = plants.n_four_bar(1)
    q = plant.assemble(bar0=np.pi - 1e-6)
    assert q[0] == np.pi - 1e-6
    assert np.abs(np.sin(q)).max() < 1.1e-6
    assert plant.terms(q, np.zeros(3)).conditioning > 1e-7
