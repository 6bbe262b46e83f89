"""Full-order synthesis: published norms, laws in the nonlinear machine, bounds of reduction, wrong calls.

Reference values: Skogestad and Postlethwaite, Multivariable Feedback Control (2005), examples 2.17, 5.9, 9.3,
computed to more digits than printed; SLICOT's examples of SB10AD and SB10HD; closed forms.
"""

import builtins

import control
import numpy as np
import pytest
from scipy.linalg import expm

import cmbcontrol as cmb
from cmbcontrol import linearize, linearize_closed_loop, plants, trim
from cmbcontrol.design import loop_shaping, mixed_sensitivity, optimal_feedback
from tests.fixtures import matched

pytest.importorskip("slycot", reason="the extra 'robust' is not installed")

s = control.tf("s")
LAG = 200 / ((10 * s + 1) * (0.05 * s + 1) ** 2)
NAMES = ("left", "right")

A = [[-1, 0, 4, 5, -3, -2], [-2, 4, -7, -2, 0, 3], [-6, 9, -5, 0, 2, -1], [-8, 4, 7, -1, -3, 0], [2, 5, 8, -9, 1, -4]]
A += [[3, -5, 8, 0, 2, -6]]
B = [[-3, -4, -2, 1, 0], [2, 0, 1, -5, 2], [-5, -7, 0, 7, -2], [4, -6, 1, 1, -2], [-3, 9, -8, 0, 5], [1, -2, 3, -6, -2]]
C = [[1, -1, 2, -4, 0, -3], [-3, 0, 5, -1, 1, 1], [-7, 5, 0, -8, 2, -2], [9, -3, 4, 0, 3, 7], [0, 1, -2, 1, -6, -2]]
D_HINF = [[1, -2, -3, 0, 0], [0, 4, 0, 1, 0], [5, -3, -4, 0, 1], [0, 1, 0, 1, -3], [0, 0, 1, 7, 1]]
D_H2 = [[0, 0, 0, -4, -1], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1], [3, 1, 0, 1, -3], [-2, 0, 1, 7, 1]]


@pytest.mark.parametrize(
    ("plant", "error", "gamma"),
    [
        (LAG, (s / 1.5 + 10) / (s + 1e-3), 1.365925),
        (LAG, (s / 1.5**0.5 + 10) ** 2 / (s + 0.1) ** 2, 2.184106),
        ((s - 4) / ((s - 1) * (0.1 * s + 1)), (s / 2 + 1) / (s + 1e-8), 1.890355),
    ],
    ids=["2.17, first", "2.17, second", "5.9"],
)
def test_mixed_sensitivity_of_the_textbook(plant, error, gamma):
    """To the tolerance asked for: found above the least norm, and not by more."""
    for tolerance in (1e-4, 1e-2):
        found = mixed_sensitivity(plant, error=error, effort=1.0, tolerance=tolerance)
        assert gamma * (1.0 - 1e-6) < found.gamma < gamma * (1.0 + tolerance + 1e-6)  # 7 digits are known
    omega = np.geomspace(1e-10, 1e6, 2000)
    L = (plant * found.controller)(1j * omega)
    S, KS = 1.0 / (1.0 + L), found.controller(1j * omega) / (1.0 + L)
    seen = np.sqrt(np.abs(error(1j * omega) * S) ** 2 + np.abs(KS) ** 2).max()
    assert 0.999 * found.gamma < seen < found.gamma * (1.0 + 1e-6)  # by another formula, on a grid


@pytest.mark.parametrize(("D", "norm", "gamma"), [(D_HINF, "hinf", 10.184256), (D_H2, "h2", 35.182617)])
def test_examples_of_slicot(D, norm, gamma):
    P = control.ss(A, B, C, D)
    found = optimal_feedback(P, 2, 2, norm=norm, tolerance=1e-6)
    assert found.gamma == pytest.approx(gamma, rel=2e-6)
    units = np.diag([1e4, 1.0, 1e-3, 1.0, 1e5, 1.0])  # of states, and of efforts and measurements
    last = np.diag([1.0, 1.0, 1.0, 1e-4, 1e3])
    P = control.ss(units @ A @ np.linalg.inv(units), units @ B @ last, last @ C @ np.linalg.inv(units), last @ D @ last)
    assert optimal_feedback(P, 2, 2, norm=norm, tolerance=1e-6).gamma == pytest.approx(gamma, rel=2e-6)


@pytest.mark.parametrize(
    ("plant", "weight", "least"),
    [
        (LAG, (s + 2) / s, 2.338767),
        (1 / s, 1.0, 2.0**0.5),
        (1 / s**2, 1.0, (4.0 + 2.0 * 2.0**0.5) ** 0.5),
        (1 / (s - 1), 1.0, (4.0 + 2.0 * 2.0**0.5) ** 0.5),
    ],
    ids=["9.3", "1/s", "1/s^2", "1/(s-1)"],
)
def test_coprime_factors(plant, weight, least):
    """The least norm is told; the controller is above it, and below factor times it."""
    found = loop_shaping(plant, weight, factor=1.0001)
    assert float(found.remarks[0].split()[2].rstrip(",")) == pytest.approx(least, rel=1e-5)
    assert least * (1.0 - 1e-5) < found.gamma < 1.00011 * least
    assert found.gamma < loop_shaping(plant, weight).gamma < 1.1 * least * (1.0 + 1e-5)


def test_coprime_factors_of_a_plant_that_acts_at_once():
    """SLICOT's example of SB10ID: D is not zero."""
    P = control.ss(A, np.array(B)[:, :2], np.array(C)[:3], [[1, -2], [0, 4], [5, -3]])
    assert loop_shaping(P, factor=1.0001).gamma == pytest.approx(3.320916, rel=2e-4)


def test_singular_problems_are_told():
    """Without a weight of efforts, and with a double integrator at the output."""
    found = mixed_sensitivity(1 / s**2, error=(s / 2 + 1) / (s + 1e-4))
    assert "no weight" in found.remarks[0] and "moved" in found.remarks[1]
    # 1/2 is the least: S is 1 where the frequency is infinite
    assert 0.5 < found.gamma < 0.53
    assert np.linalg.eigvals(found.loop.A).real.max() < 0.0


@pytest.mark.parametrize("method", ["truncation", "residualization"])
def test_reduction_stays_within_its_bound(method):
    full = mixed_sensitivity(LAG, error=(s / 1.5**0.5 + 10) ** 2 / (s + 0.1) ** 2, effort=1.0, tolerance=0.05)
    reduced = full.reduced(3, method)
    bound = float(reduced.remarks[-1].split("at most ")[1].split()[0])
    omega = np.geomspace(1e-6, 1e7, 3000)
    change = np.abs(full.controller(1j * omega) - reduced.controller(1j * omega)).max()
    assert reduced.controller.nstates == 3
    # one state counts of the two that are left out: of one, the bound is attained. It is told to 4 digits
    assert change == pytest.approx(bound, rel=1e-3)
    assert reduced.gamma >= 2.184106
    if method == "residualization":
        assert reduced.controller.dcgain() == pytest.approx(full.controller.dcgain(), rel=1e-6)


@pytest.mark.parametrize("way", ["mixed sensitivity", "loop shaping"])
def test_law_of_the_five_bar(plant, lin, way):
    """Poles of the machine with the law are those of the design; a small motion is that of the linear model."""
    if way == "mixed sensitivity":
        found = mixed_sensitivity(lin, error=(s / 2 + 10) / (s + 0.01), effort=1 / 300, outputs=NAMES)
    else:
        found = loop_shaping(lin, effort=300 * (s + 3) / s, outputs=NAMES)
    law = found.law()
    K = found.controller
    both = np.block([[lin.A - lin.B @ K.D @ law.C, lin.B @ K.C], [-K.B @ law.C, K.A]])
    loop = linearize_closed_loop(plant, law)
    # entry by entry: some poles are double, and found to the root of rounding only
    assert np.abs(loop.A - both).max() < 1e-9 * np.abs(both).max()
    assert loop.stable
    start = plant.assemble(left=2.101, right=1.0005)
    run = cmb.simulate(plant, law, start, t_end=1.0, output_times=0.05, rtol=1e-9, atol=1e-10)
    error = run.data.q.values[:, [0, 2]] - lin.point.q[[0, 2]]
    x0 = np.zeros(len(both))
    x0[:2] = error[0]
    linear = np.array([(expm(both * t) @ x0)[:2] for t in run.data.time.values])
    assert np.abs(error - linear).max() < 1e-3 * np.abs(error).max()  # of second order in 1e-3 rad
    sampled = found.law(period=1e-3)
    assert sampled.period == 1e-3 and linearize_closed_loop(plant, sampled).stable


def test_law_of_the_excavator():
    plant = plants.excavator()
    lin = linearize(plant, trim(plant, plant.assemble()))
    joints = lin.states[: lin.dof]
    found = mixed_sensitivity(lin, error=(s / 2 + 5) / (s + 0.005), effort=1e-6, outputs=joints)
    law = found.law()
    both = control.feedback(control.ss(lin.A, lin.B, law.C, 0), found.controller)
    assert both.poles().real.max() < 0.0
    assert matched(linearize_closed_loop(plant, law).poles(), both.poles()) < 1e-6


def test_wrong_calls(lin, monkeypatch):
    with pytest.raises(ValueError, match="the efforts do not move the mode at 1"):
        mixed_sensitivity(control.ss(np.diag([1.0, -1.0]), [[0], [1]], [[1, 1]], 0), error=1.0, effort=1.0)
    with pytest.raises(ValueError, match="the measurements do not show the mode at 1"):
        loop_shaping(control.ss(np.diag([1.0, -1.0]), [[1], [1]], [[0, 1]], 0))
    with pytest.raises(ValueError, match="weight of error is improper"):
        mixed_sensitivity(LAG, error=s + 1)
    with pytest.raises(ValueError, match=r"the weight of error has the pole .*behind the loop"):
        mixed_sensitivity(LAG, error=1 / s)
    with pytest.raises(ValueError, match=r"has 3 systems for 2 signals \(left, right\)"):
        mixed_sensitivity(lin, error=[1.0, 1.0, 1.0], outputs=NAMES)
    with pytest.raises(ValueError, match="did you mean 'left'"):
        mixed_sensitivity(lin, error={"lefd": 1.0}, outputs=NAMES)
    with pytest.raises(ValueError, match="sampled time"):
        loop_shaping(control.ss(0.5, 1, 1, 0, 0.1))
    with pytest.raises(ValueError, match="leave no z or no w"):
        optimal_feedback(control.ss(A, B, C, D_H2), 5, 2)
    with pytest.raises(ValueError, match="D11 is not zero"):
        optimal_feedback(control.ss(A, B, C, D_HINF), 2, 2, norm="h2")
    with pytest.raises(ValueError, match="knows no machine"):
        loop_shaping(LAG).law()
    with pytest.raises(ValueError, match="factor must be above 1"):
        loop_shaping(LAG, factor=1.0)
    known = builtins.__import__
    absent = {"slycot"}
    monkeypatch.delitem(__import__("sys").modules, "slycot")

    def without(name, *rest):
        if name in absent:
            raise ImportError(name)
        return known(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ValueError, match=r"pip install \"cmbcontrol\[robust\]\""):
        mixed_sensitivity(LAG, error=1.0)
