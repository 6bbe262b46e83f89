"""Coefficients of integration methods; the coefficients of DOP853 are scipy's (Hairer, Norsett, Wanner)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..kernels.runge_kutta import Tableau

__all__ = ["Rosenbrock", "Sdirk", "explicit", "lower", "quintic", "rosenbrock", "sdirk4", "tableau"]

Array = NDArray[np.float64]


@cache
def tableau(method: str) -> Tableau:
    """Coefficients of an explicit method by name.

    ``"dop853"``: order 8 with error estimates of order 5 and 3, dense output of order 7.
    ``"rk4"``: the classical method of order 4 with a fixed step, cubic Hermite output.
    ``"rk43"``: ``rk4`` with an error estimate of order 3 from the rate at its end, which the next step needs anyway,
    and dense output of order 5.
    ``"dp54"``: Dormand and Prince's method of order 5 with an error estimate of order 4, dense output of order 5.
    """
    _check.one_of(method, ("dop853", "rk4", "rk43", "dp54"), "explicit method")
    if method in ("rk4", "rk43"):
        A = lower([[0.5], [0.0, 0.5], [0.0, 0.0, 1.0]], 4)
        # (1, 2, 2, 0, 1) / 6 is of order 3: it meets all conditions of it
        errors = [np.zeros(0)] * 2 if method == "rk4" else [np.zeros(5), np.array([0, 0, 0, 1, -1]) / 6.0]
        b = np.array([1, 2, 2, 1]) / 6.0
        dense: Any = _NO_DENSE if method == "rk4" else quintic(b)
        return explicit((A, b, A.sum(axis=1), errors[0], errors[1], *dense), 4)
    if method == "dp54":
        from scipy.integrate import RK45

        parts = (np.hstack([RK45.A, np.zeros((6, 1))]), RK45.B, RK45.C, np.zeros(7), RK45.E)
        return explicit((*(np.ascontiguousarray(p, dtype=np.float64) for p in parts), *quintic(RK45.B)), 5)
    from scipy.integrate import DOP853

    parts = (
        DOP853.A[:12, :12],
        DOP853.B,
        DOP853.C[:12],
        DOP853.E3,
        DOP853.E5,
        DOP853.A_EXTRA,
        DOP853.C_EXTRA,
        DOP853.D,
    )
    return explicit((np.ascontiguousarray(p, dtype=np.float64) for p in parts), 8)


def explicit(coefficients: Iterable[Any], order: int) -> Tableau:
    """Explicit method with these A, b, c, E3, E5, A_extra, c_extra, D, and this order of its step control."""
    A, b, c, E3, E5, A_extra, c_extra, D = coefficients
    at = np.sort(np.concatenate((c, c_extra)))
    widest = int(np.argmax(np.diff(at)))
    return Tableau(A, b, c, E3, E5, A_extra, c_extra, D, order, float(0.5 * (at[widest] + at[widest + 1])))


_NO_DENSE = (np.zeros((0, 0)), np.zeros(0), np.zeros((0, 0)))  # A_extra, c_extra, D


def lower(rows: list[list[float]], stages: int) -> Array:
    """Strictly lower triangular matrix from its rows."""
    matrix = np.zeros((stages, stages))
    for i, row in enumerate(rows, start=1):
        matrix[i, : len(row)] = row
    return matrix


def quintic(b: Array) -> tuple[Array, Array, Array]:
    """Coefficients A_extra, c_extra and D of a quintic dense output for any method with weights b.

    The cubic through both ends gives a state, and by one more evaluation a slope, within the step; the quartic that has
    this slope is more accurate by one order and gives two more slopes, which make the quintic.
    """
    m = b.size
    k, d = np.eye(m + 4), np.append(b, np.zeros(4))  # slopes of the stages; (x1 - x0) / h
    bends = (k[0] - d, 2.0 * d - k[0] - k[m])

    def cubic(s: float) -> Array:
        return s * (d + (1.0 - s) * (bends[0] + s * bends[1]))

    def its_slope(s: float) -> Array:
        return d + (1.0 - 2.0 * s) * bends[0] + (2.0 * s - 3.0 * s**2) * bends[1]

    def bump(s: float) -> tuple[float, float]:  # slopes of s^2 (1-s)^2 and of s^3 (1-s)^2
        return 2.0 * s * (1.0 - s) * (1.0 - 2.0 * s), s**2 * (1.0 - s) * (3.0 - 5.0 * s)

    c = np.array([0.25, 0.2, 0.5])  # where the bumps tell slopes apart best
    quartic = (k[m + 1] - its_slope(c[0])) / bump(c[0])[0]
    A_extra = np.stack([cubic(c[0]), *(cubic(s) + (s * (1.0 - s)) ** 2 * quartic for s in c[1:])])
    coefficients = np.linalg.solve([bump(s) for s in c[1:]], [k[m + 1 + i] - its_slope(c[i]) for i in (1, 2)])
    return A_extra, c, np.vstack([coefficients, np.zeros_like(coefficients)])


class Sdirk(NamedTuple):
    """A singly diagonally implicit Runge-Kutta method, stiffly accurate: the last row of A is b.

    Attributes
    ----------
    A, b, c : ndarray
        Coefficients; gamma is the diagonal of A.
    error : ndarray, shape (stages,)
        b less the embedded method of order 3.
    dense : ndarray, shape (4, stages)
        Weights of the powers s, s^2, s^3, s^4 of the continuous method of order 3.
    guess : ndarray, shape (stages, stages)
        Row i continues the slopes of the stages before i to c_i.
    """

    A: Array
    b: Array
    c: Array
    error: Array
    dense: Array
    guess: Array


@cache
def sdirk4() -> Sdirk:
    """The L-stable method of order 4 with 5 stages, gamma = 1/4 (Hairer and Wanner II, table IV.6.5)."""
    A = np.array(
        [
            [1 / 4, 0, 0, 0, 0],
            [1 / 2, 1 / 4, 0, 0, 0],
            [17 / 50, -1 / 25, 1 / 4, 0, 0],
            [371 / 1360, -137 / 2720, 15 / 544, 1 / 4, 0],
            [25 / 24, -49 / 48, 125 / 16, -85 / 12, 1 / 4],
        ]
    )
    b, c = A[-1], A.sum(axis=1)
    embedded = np.array([59 / 48, -17 / 96, 225 / 32, -85 / 12, 0])
    # b(s) meets the conditions of order 3 at every s, and that of c^3: five conditions, which b(1) = b meets too
    conditions = np.stack([np.ones(5), c, c**2, A @ c, c**3])
    powers = np.zeros((5, 4))
    powers[[0, 1, 2, 3, 4], [0, 1, 2, 2, 3]] = 1.0, 1 / 2, 1 / 3, 1 / 6, 1 / 4
    dense = np.linalg.solve(conditions, powers).T
    guess = np.zeros((5, 5))
    for i in range(1, 5):
        for j in range(i):
            others = [k for k in range(i) if k != j]
            guess[i, j] = np.prod([(c[i] - c[k]) / (c[j] - c[k]) for k in others])
    return Sdirk(A, b, c, b - embedded, dense, guess)


class Rosenbrock(NamedTuple):
    """A Rosenbrock method in the variables that spare products with the Jacobian (Hairer and Wanner II, IV.7).

    (1/(h gamma) - J) u_i = f(t + c_i h, x + sum a_ij u_j) + sum C_ij u_j / h + h d_i df/dt. Stiffly accurate: the
    last stage starts from the embedded solution, and u of the last stage is the estimate of its error.

    Attributes
    ----------
    order : int
    gamma : float
    A, C : ndarray, shape (stages, stages)
    c, d : ndarray, shape (stages,)
    dense : ndarray, shape (2 or 3, stages)
        x(s) = (1-s) x0 + s (x1 + (1-s) (D1 + s (D2 + s D3))), with D_k = sum dense_kj u_j.
    """

    order: int
    gamma: float
    A: Array
    C: Array
    c: Array
    d: Array
    dense: Array


@cache
def rosenbrock(method: str) -> Rosenbrock:
    """Coefficients of a Rosenbrock method by name.

    ``"rodas4"``: RODAS of Hairer and Wanner II, order 4(3), 6 stages.
    ``"rodas5p"``: Rodas5P of Steinebach, BIT Numer. Math. 63 (2023) 27, order 5(4), 8 stages.
    """
    return _rodas4() if _check.one_of(method, ("rodas4", "rodas5p"), "Rosenbrock method") == "rodas4" else _rodas5p()


def _rodas4() -> Rosenbrock:
    last = [1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950]
    A = [
        [1.544],
        [0.9466785280815826, 0.2557011698983284],
        [3.314825187068521, 2.896124015972201, 0.9986419139977817],
        last,
        [*last, 1.0],
    ]
    C = [
        [-5.6688],
        [-2.430093356833875, -0.2063599157091915],
        [-0.1073529058151375, -9.594562251023355, -20.47028614809616],
        [7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160],
        [8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054],
    ]
    dense = [
        [10.12623508344586, -7.487995877610167, -34.80091861555747, -7.992771707568823, 1.025137723295662, 0.0],
        [-0.6762803392801253, 6.087714651680015, 16.43084320892478, 24.76722511418386, -6.594389125716872, 0.0],
    ]
    return Rosenbrock(
        4,
        0.25,
        lower(A, 6),
        lower(C, 6),
        np.array([0.0, 0.386, 0.21, 0.63, 1.0, 1.0]),
        np.array([0.25, -0.1043, 0.1035, -0.03620000000000023, 0.0, 0.0]),
        np.array(dense),
    )


def _rodas5p() -> Rosenbrock:
    gamma = 0.21193756319429014
    last = [-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946]
    A = [
        [3.0],
        [2.849394379747939, 0.45842242204463923],
        [-6.954028509809101, 2.489845061869568, -10.358996098473584],
        [2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641],
        last,
        [*last, 1.0],
        [*last, 1.0, 1.0],
    ]
    C = [
        [-14.155112264123755],
        [-17.97296035885952, -2.859693295451294],
        [147.12150275711716, -1.41221402718213, 71.68940251302358],
        [165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306],
        [24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125, -0.6610691825249471],
        [30.91273214028599, -3.1208243349937974, 77.79954646070892, 34.28646028294783, -19.097331116725623,
         -28.087943162872662],
        [37.80277123390563, -3.2571969029072276, 112.26918849496327, 66.9347231244047, -40.06618937091002,
         -54.66780262877968, -9.48861652309627],
    ]  # fmt: skip
    dense = [
        [25.948786856663858, -2.5579724845846235, 10.433815404888879, -2.3679251022685204, 0.524948541321073,
         1.1241088310450404, 0.4272876194431874, -0.17202221070155493],
        [-9.91568850695171, -0.9689944594115154, 3.0438037242978453, -24.495224566215796, 20.176138334709044,
         15.98066361424651, -6.789040303419874, -6.710236069923372],
        [11.419903575922262, 2.8879645146136994, 72.92137995996029, 80.12511834622643, -52.072871366152654,
         -59.78993625266729, -0.15582684282751913, 4.883087185713722],
    ]  # fmt: skip
    return Rosenbrock(
        5,
        gamma,
        lower(A, 8),
        lower(C, 8),
        np.array([0.0, 0.6358126895828704, 0.4095798393397535, 0.9769306725060716, 0.4288403609558664, 1.0, 1.0, 1.0]),
        np.array(
            [gamma, -0.42387512638858027, -0.3384627126235924, 1.8046452872882734, 2.325825639765069, 0.0, 0.0, 0.0]
        ),
        np.array(dense),
    )
