"""Motions that the motors reach at a configuration, and along a run; the map I + H. See `model.actuation`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .. import _tolerance as tolerance
from .._tolerance import DEPENDENT, UNREACHED
from ..errors import InputError
from ..kernels import linear_algebra
from ..model.actuation import Actuation, Metric, actuation_at
from ..model.closing import require_closed
from ..model.efforts import weight_root
from ..model.plant import Plant
from ..model.terms import Terms

if TYPE_CHECKING:
    import xarray

__all__ = [
    "MARGIN",
    "active_force_map",
    "actuation",
    "actuation_along",
    "metric_of",
    "metric_root",
]

Array = NDArray[np.float64]

MARGIN = 0.01  # below it motors need more than a hundred times the force of the motion that they hardly reach
_GONE = 1e-5  # singular values of A below this part of the largest vanish at a singular passage, logged within 1e-6


def metric_root(plant: Plant, weight: ArrayLike | None = None, what: str = "weight") -> Array:
    """Factor L (nv, nv) of the metric W = L L', which the user gives as W, (nv,) or (nv, nv).

    By default, a radian counts as ``plant.size`` metres (Aghili, eq. 50): W is a number where all joints are of one
    kind.
    """
    if weight is not None:
        return weight_root(weight, plant.nv, what)
    return np.diag(plant.unit_lengths)


def metric_of(plant: Plant, weight: ArrayLike | None = None) -> Metric:
    """Metric of joint velocities that the user gives, or the default one; see `metric_root`."""
    L = metric_root(plant, weight)
    return Metric(L, np.linalg.inv(L))


def actuation(
    plant: Plant,
    q: ArrayLike | Mapping[str, float] | Terms,
    *,
    weight: ArrayLike | None = None,
    epsilon: float | None = None,
) -> Actuation:
    """Whether the motors can produce every admissible motion at a configuration (Aghili, eq. 64), and how well.

    They can where N(A) and B-perp, the forces that no motor gives, have only zero in common, which is where Z'B has
    full row rank.

    Parameters
    ----------
    plant : Plant
    q : array_like, mapping or Terms
        Configuration, or the terms at it.
    weight : array_like, shape (nv,) or (nv, nv), optional
        Metric W of joint velocities, in which angles are measured. By default, a radian counts as ``plant.size``
        metres, so that units do not decide the margin. The verdict does not depend on it.
    epsilon : float, optional
        Singular values of A below it count as zero, as in Aghili's section 8: the constraint is dropped there, the
        machine gains degrees of freedom, and needs motors for them. In the units of A. By default, the rank is that of
        the terms.

    Returns
    -------
    Actuation

    Examples
    --------
    The crank of a slider-crank moves the machine, but not where rod and crank point the same way: there the rod may
    turn by itself.

    >>> from cmbcontrol import plants
    >>> from cmbcontrol import actuation
    >>> plant = plants.slider_crank()
    >>> print(actuation(plant, [0.6, -1.2]))
    fully-actuated: 1 of 1 degrees of freedom reached, margin 0.447 (1 best, 0 lost); least reached: q2 1, q1 -0.5
    >>> print(actuation(plant, [np.pi / 2, -np.pi]))
    under-actuated: 1 of 2 degrees of freedom reached, margin 0 (1 best, 0 lost); least reached: q2 1
    """
    _check.plant(plant)
    terms = _terms_at(plant, q)
    return actuation_at(terms, plant.velocity_names, metric_of(plant, weight), checked_epsilon(epsilon))


def _terms_at(plant: Plant, q: ArrayLike | Mapping[str, float] | Terms) -> Terms:
    """Equations of motion at rest at a configuration, which must close the loops; terms are returned as given."""
    if isinstance(q, Terms):
        return q
    closed = plant.configuration(q)
    require_closed(plant, closed, given=q)
    return plant.terms(closed, np.zeros(plant.nv))


def checked_epsilon(epsilon: float | None) -> float:
    """Threshold of the singular values of A, checked; 0, for None, leaves the rank as it is."""
    return 0.0 if epsilon is None else _check.positive(epsilon, "epsilon")


def active_force_map(
    plant: Plant, q: ArrayLike | Mapping[str, float] | Terms, *, weight: ArrayLike | None = None
) -> Array:
    """Map I + H (Aghili, eqs. 57 to 62) for any actuation matrix B: gears, motors on several joints or between bodies.

    The projector diag(I, 0) on the active joints (55) is B B^+ in general. With P, and with f_parallel = P f,

        Q = I - B B^+ - P + B B^+ P,    H = -(I - P) Q^+ (I - B B^+),    f^c = (I + H) f_parallel

    moves the machine as f does, and is in R(B) where the motors reach every motion (64).

    Parameters
    ----------
    plant, q, weight
        See `actuation`. In the metric W, matrices and forces are taken in scaled coordinates and brought back.

    Returns
    -------
    map : ndarray, shape (nv, nv)
        To be applied to f_parallel, which is P f with joints of one kind and no `weight`, and
        ``WeightedProjection(A, W).force(f)`` in general.

    Notes
    -----
    Of all forces of the motors that move the machine alike, f^c is the smallest in f' W^-1 f (7.4.1): the norm of
    *joint forces*. `dynamics.motor_effort` takes the smallest *efforts* u' W_u^-1 u. Both are one where each motor acts
    on one joint with one gear for all, and in general for W_u^-1 = B' W^-1 B, where the columns of B are independent.

    The law `PassiveJoints` uses `Actuation.effort`, the same by singular values.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> from cmbcontrol.controllers.actuation import active_force_map
    >>> plant = plants.five_bar()
    >>> terms = plant.terms(plant.assemble(left=2.1, right=1.0), [0.0] * 4)
    >>> (active_force_map(plant, terms) @ terms.P @ terms.h + 0.0).round(2)  # what holds it against its weight
    array([-31.49,   0.  ,  32.91,   0.  ])
    """
    _check.plant(plant)
    terms = _terms_at(plant, q)
    L, inverse = metric_of(plant, weight)
    Z = np.linalg.qr(L.T @ terms.Z)[0]
    U, _ = linear_algebra.active_subspace(inverse @ terms.B, DEPENDENT)
    I, P, active = np.eye(len(L)), Z @ Z.T, U @ U.T
    Q = I - active - P + active @ P
    H = -(I - P) @ tolerance.pinv(Q, 1.0, UNREACHED) @ (I - active)
    return L @ (I + H) @ inverse


# -- along a motion --------------------------------------------------------------------------------


def actuation_along(
    plant: Plant,
    run: Any,
    *,
    margin: float = MARGIN,
    weight: ArrayLike | None = None,
    epsilon: float | None = None,
) -> xarray.Dataset:
    """Actuation condition (Aghili, eq. 64) along the motion of a run, and the stretches where it is lost.

    Parameters
    ----------
    plant : Plant
        Plant of the run, or the same with other motors.
    run : Simulation
    margin : float
        A loss is a stretch of time with a margin below it.
    weight, epsilon
        See `actuation`.

    Returns
    -------
    xarray.Dataset
        Over ``time``: ``margin``, ``rank``, ``dof``. For each ``loss``: ``loss_time`` (where the margin is least),
        ``loss_begin``, ``loss_end``, ``loss_margin``, ``loss_rank``, ``loss_dof``, ``loss_joint``, ``loss_kind``
        (``"singular configuration"``, where the loops lose their rank, or ``"actuation singularity"``), ``loss_q``.

    Notes
    -----
    Between output times the path is the cubic through positions and velocities; minima are looked for there, so a loss
    that falls between two times is found. At the singular passages that the run has logged, the machine has more
    degrees of freedom for an instant: the margin is that at the rank there.

    Examples
    --------
    >>> from cmbcontrol import plants, simulate
    >>> from cmbcontrol.controllers.actuation import actuation_along
    >>> plant = plants.slider_crank()
    >>> run = simulate(plant, q0=[1.2, -2.4], v0=[1.0, -2.0], t_end=1.0)
    >>> losses = actuation_along(plant, run)
    >>> losses["loss_joint"].values.tolist(), losses["loss_kind"].values.tolist()
    (['q2'], ['singular configuration'])
    """
    _check.run(run)
    _check.plant(plant)
    import xarray

    margin = _check.positive(margin, "margin")
    path = _Path(plant, run, metric_of(plant, weight), checked_epsilon(epsilon))
    measures = [path.measure(t) for t in run.time]
    extra = path.singular_passages() + path.minima(run.time, np.array([c.margin for c in measures]), margin)
    samples = sorted([*zip(run.time.tolist(), measures, strict=True), *extra], key=lambda sample: sample[0])
    losses = path.losses(samples, margin)
    unit = {"units": "1"}
    data: dict[str, Any] = {
        "margin": ("time", [c.margin for c in measures], {**unit, "long_name": "actuation margin (1 best, 0 lost)"}),
        "rank": ("time", [c.rank for c in measures], {**unit, "long_name": "degrees of freedom that the motors reach"}),
        "dof": ("time", [c.dof for c in measures], {**unit, "long_name": "degrees of freedom"}),
    }
    for key, units, kind in _LOSS:
        data[f"loss_{key}"] = ("loss", np.array([loss[key] for loss in losses], dtype=kind), {"units": units})
    losing = np.array([loss["q"] for loss in losses]).reshape(len(losses), plant.nq)
    data["loss_q"] = (("loss", "position"), losing, {"long_name": "configuration of the loss"})
    coords = {"time": ("time", run.time, {"units": "s"}), "position": list(plant.position_names)}
    return xarray.Dataset(data, coords, {"plant": plant.name, "threshold": margin, "epsilon": path.epsilon})


_LOSS = (
    ("time", "s", float),
    ("begin", "s", float),
    ("end", "s", float),
    ("margin", "1", float),
    ("rank", "1", int),
    ("dof", "1", int),
    ("joint", "", str),
    ("kind", "", str),
)


class _Path:
    """Motion of a run as a curve, with the motions that the motors reach on it."""

    def __init__(self, plant: Plant, run: Any, metric: Metric, epsilon: float) -> None:
        data = run.data
        names = tuple(str(n) for n in data["position"].values)
        if names != plant.position_names:
            raise InputError(
                f"the run is of a plant with the coordinates {', '.join(names)}; {plant.name!r} has "
                f"{', '.join(plant.position_names)}"
            )
        self.plant, self.data, self.metric, self.epsilon = plant, data, metric, epsilon
        self.t, self.q, self.v = run.time, data["q"].values, data["v"].values
        self.cap = int(data.attrs["generic_rank"])

    def configuration(self, t: float) -> Array:
        """Configuration (nq,) at a time, s, interpolated between output times."""
        i = int(np.clip(np.searchsorted(self.t, t, side="right") - 1, 0, len(self.t) - 1))
        if t == self.t[i] or i + 1 == len(self.t):
            return self.q[i].copy()
        h = self.t[i + 1] - self.t[i]
        s = (t - self.t[i]) / h
        whole = self.plant.difference(self.q[i], self.q[i + 1])
        step = s * s * (3.0 - 2.0 * s) * whole + h * s * (1.0 - s) * ((1.0 - s) * self.v[i] - s * self.v[i + 1])
        return self.plant.integrate(self.q[i], step)

    def measure(self, t: float) -> Actuation:
        """Actuation of the plant at a time, s."""
        return self.measure_at(self.configuration(t))

    def measure_at(self, q: Array, rank: int | None = None) -> Actuation:
        """Actuation of the plant at a configuration (nq,)."""
        terms = self.plant.terms(q, np.zeros(self.plant.nv), cap=self.cap)
        return actuation_at(terms, self.plant.velocity_names, self.metric, self.epsilon, rank)

    def singular_passages(self) -> list[tuple[float, Actuation]]:
        """Times of the singular passages that the run has logged, s, with the actuation at the rank there."""
        kinds, finite = self.data["event_kind"].values, np.isfinite(self.data["event_conditioning"].values)
        passages = [k for k, kind in enumerate(kinds) if finite[k] and str(kind).startswith("singular")]
        if not passages:
            return []
        largest = max(self.gradients(q)[0] for q in self.q)
        samples = []
        for k in passages:
            q = self.data["event_q"].values[k].copy()
            rank = int(np.count_nonzero(self.gradients(q) > _GONE * largest))
            samples.append((float(self.data["event_time"].values[k]), self.measure_at(q, min(rank, self.cap))))
        return samples

    def gradients(self, q: Array) -> Array:
        """Singular values of A with rows in metres and scaled velocities."""
        A = self.plant.row_scale[:, None] * self.plant.jacobian(q.copy())
        return np.linalg.svd(self.metric.inverse @ A.T, compute_uv=False)

    def minima(self, times: Array, margins: Array, threshold: float) -> list[tuple[float, Actuation]]:
        """Times of least margins between the given times, where these may lie below the threshold, with actuation."""
        from scipy.optimize import minimize_scalar

        minima = []
        for i in range(1, len(times) - 1):
            previous, margin, following = margins[i - 1 : i + 2]
            steepest = max(previous - margin, following - margin)
            if not (margin <= previous and margin < following and margin - steepest < threshold):
                continue
            a, b = times[i - 1], times[i + 1]
            least = minimize_scalar(
                lambda t: self.measure(t).margin, bounds=(a, b), method="bounded", options={"xatol": 1e-9 * (b - a)}
            )
            minima.append((float(least.x), self.measure(float(least.x))))
        return minima

    def losses(self, samples: list[tuple[float, Actuation]], threshold: float) -> list[dict]:
        """Stretches of samples below the threshold, each with its limits and its worst instant."""
        below = np.array([c.margin < threshold for _, c in samples])
        edges = np.flatnonzero(np.diff(np.concatenate([[False], below, [False]]).astype(int)))
        losses = []
        for first, behind in zip(edges[::2], edges[1::2], strict=True):
            stretch = samples[first:behind]
            least = min(c.margin for _, c in stretch)
            worst = [sample for sample in stretch if sample[1].margin <= least + UNREACHED]
            t, at = worst[len(worst) // 2]  # the middle of a stretch of zeros
            begin = stretch[0][0] if first == 0 else self._border(samples[first - 1][0], stretch[0][0], threshold)
            end = (
                stretch[-1][0]
                if behind == len(samples)
                else self._border(samples[behind][0], stretch[-1][0], threshold)
            )
            kind = "singular configuration" if at.dof > self.plant.nv - self.cap else "actuation singularity"
            losses.append(
                {"time": t, "begin": begin, "end": end, "margin": at.margin, "rank": at.rank, "dof": at.dof,
                 "joint": at.joint, "kind": kind, "q": at.q}
            )  # fmt: skip
        return losses

    def _border(self, outside: float, inside: float, threshold: float) -> float:
        """Time at which the margin crosses the threshold, s, by bisection, since the margin may jump."""
        for _ in range(40):
            middle = 0.5 * (outside + inside)
            if self.measure(middle).margin < threshold:
                inside = middle
            else:
                outside = middle
        return inside
