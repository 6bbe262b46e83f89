"""Stabilisation of closed loops in a run: projections after steps, or Baumgarte's terms in the equations of motion."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..dynamics.derivatives import derivatives
from ..errors import AssemblyError, InputError, InputTypeError
from ..kernels import motion
from ..model.plant import Plant

__all__ = ["STABILISATIONS", "Stabilisation", "project_all_at_once"]

Array = NDArray[np.float64]

STABILISATIONS = ("projection", "all-at-once", "baumgarte", "none")

_ITERATIONS = 20


@_check.knows_its_keywords
@dataclass(frozen=True)
class Stabilisation:
    """Method that keeps the loops closed during a run, with its options.

    ``simulate(..., stabilisation="baumgarte")`` is short for ``stabilisation=Stabilisation("baumgarte")``.

    Parameters
    ----------
    kind : {"projection", "all-at-once", "baumgarte", "none"}
        ``projection``: bring first position, then velocity back onto the loops after each step. ``all-at-once``:
        bring position, velocity and energy back together (Spencer, section 3.1.3). ``baumgarte``: add
        2 alpha phi' + beta^2 phi to the constraint (Spencer, eq. 3.8). ``none``: let the loops drift open.
    metric : {"mass", "euclidean"}
        Metric of projections.
    energy : bool
        Scale the velocity to the energy balance after each projection, too.
    every : int
        Accepted steps from one projection to the next (Aghili, eq. 39, "once every few time steps").
    gains : (float, float) or "adaptive"
        Baumgarte's alpha and beta, 1/s; or those that follow from the step h, 1/(2 h) and (2 - sqrt 2)/h, held
        through it: see `kernels.motion.step_gains`.

    Raises
    ------
    ValueError, TypeError
        Where a name is unknown, a number out of range, or an option does not apply.

    Examples
    --------
    >>> from cmbcontrol import plants, simulate
    >>> plant = plants.five_bar()
    >>> start = plant.assemble(left=2.1, right=1.0)
    >>> run = simulate(plant, None, start, t_end=0.5, stabilisation=Stabilisation("baumgarte", gains=(20.0, 20.0)))
    >>> bool(1e-14 < run.max_drift < 1e-8)
    True
    """

    kind: str = "projection"
    _: KW_ONLY
    metric: str = "mass"
    energy: bool = False
    every: int = 1
    gains: tuple[float, float] | str = (10.0, 10.0)

    def __post_init__(self) -> None:
        kind = _check.one_of(self.kind, STABILISATIONS, "stabilisation", "kind")
        _check.one_of(self.metric, ("mass", "euclidean"), "metric")
        energy, every = _check.flag(self.energy, "energy"), _check.count(self.every, "every")
        if isinstance(self.gains, str):
            _check.one_of(self.gains, ("adaptive",), "gains")
        else:
            gains = tuple(float(g) for g in _check.vector(self.gains, 2, "gains", ("alpha", "beta")))
            if min(gains) < 0.0:
                raise InputError(f"gains must not be negative, got alpha, beta = {gains}")
            object.__setattr__(self, "gains", gains)
        if kind in ("baumgarte", "none"):
            for name, given in (("energy", energy), ("every", every != 1)):
                if given:
                    raise InputTypeError(f"stabilisation {kind!r} projects nothing; {name}= goes with a projection")
        if kind == "all-at-once" and energy:
            raise InputTypeError("stabilisation 'all-at-once' restores the energy already; leave energy= out")

    @classmethod
    def of(cls, given: str | Stabilisation) -> Stabilisation:
        """Make a stabilisation from its name, or take one as it is."""
        if not isinstance(given, (str, Stabilisation)):
            raise InputTypeError(f"stabilisation must be a name or a Stabilisation, got {_check.shown(given)}")
        return cls(given) if isinstance(given, str) else given

    @property
    def adaptive(self) -> bool:
        """Whether Baumgarte's gains follow from the step."""
        return self.gains == "adaptive"

    @property
    def projects(self) -> bool:
        """Whether states are projected after steps."""
        return self.kind in ("projection", "all-at-once")

    @property
    def passes(self) -> bool:
        """Whether steps may go across singular configurations: all of them land on the closed loops."""
        return self.projects and self.every == 1

    @property
    def stages(self) -> bool:
        """Whether the stages of a step are evaluated at projected velocities, too (see docs/decisions/rank.md)."""
        return self.kind == "projection" and self.every == 1

    @property
    def code(self) -> int:
        """Number of the method for the kernels."""
        if self.projects:
            return motion.PROJECT
        return motion.BAUMGARTE if self.kind == "baumgarte" else motion.NONE

    def correction(self, rate: Array, phi: Array, step: float | None = None) -> Array:
        """Baumgarte's terms, to be added to A dv/dt (Spencer, eq. 3.8; de Falco, eq. 30).

        Gains that follow from the step are those of `kernels.motion.step_gains`.
        """
        gains: Any = motion.step_gains(step) if self.adaptive else self.gains
        alpha, beta = gains
        return -2.0 * alpha * rate - beta**2 * phi


def project_all_at_once(
    plant: Plant, q: Array, v: Array, energy: float | None, *, metric: str = "euclidean", accuracy: float = 1e-15
) -> tuple[Array, Array]:
    """Nearest state with closed loops, admissible velocity and a given energy (Spencer, section 3.1.3).

    The smallest (dq, dv) with phi = 0, A v = 0 and T + V = energy together, by Gauss-Newton steps with the
    pseudoinverse of all their gradients; A v = dr/dt on rows of prescribed motions. With the metric of M, dq counts
    as M dq^2 / s^2.

    Parameters
    ----------
    plant : Plant
    q, v : ndarray, shape (nq,) and (nv,)
    energy : float or None
        J; None leaves it alone.
    metric : {"euclidean", "mass"}
    accuracy : float
        Accuracy of the loops, in units of the size of the plant.

    Raises
    ------
    AssemblyError
        Where no such state is found.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> q = plant.assemble(left=2.1, right=1.0)
    >>> q1, v1 = project_all_at_once(plant, q + 1e-3, np.ones(4), 40.0)
    >>> round(float(plant.terms(q1, v1).energy), 9)
    40.0
    """
    n, size = plant.nv, plant.size
    best = np.inf
    for _ in range(_ITERATIONS):
        terms = plant.terms(q, v)
        scale = terms.row_scale
        off = np.concatenate([scale * terms.phi, scale * terms.row_rate])
        J = np.zeros((off.size + 1, 2 * n))
        rows = scale.size
        J[:rows, :n] = scale[:, None] * terms.A
        J[rows : 2 * rows, :n] = scale[:, None] * derivatives(plant, q, v).rate_q
        J[rows : 2 * rows, n:] = J[:rows, :n]
        wrong = 0.0
        if energy is not None and np.isfinite(terms.energy):
            J[-1] = _energy_gradient(plant, q, v, terms.M @ v)
            norm = float(np.linalg.norm(J[-1] / np.tile(terms.unit_lengths, 2)))  # J a metre, and a metre a second
            norm = norm if norm > 0.0 else 1.0
            J[-1], wrong = J[-1] / norm, (terms.energy - energy) / norm
        residual = np.append(off, wrong)
        worst = float(np.abs(residual).max())
        if worst <= accuracy * size or not worst < 0.5 * best:
            break
        best = worst
        root = np.kron(np.eye(2), np.linalg.cholesky(terms.M)) if metric == "mass" else np.eye(2 * n)
        scaled = np.linalg.solve(root, J.T).T
        step = np.linalg.solve(root.T, np.linalg.lstsq(scaled, -residual, rcond=1e-10)[0])
        q, v = plant.integrate(q, step[:n]), v + step[n:]
    if not min(worst, best) <= 1e-6 * size:
        raise AssemblyError(
            f"loops, velocity and energy of {plant.name!r} cannot be restored together: {worst:.2e} is left, in metres",
            {"all": worst},
            q,
        )
    return q, v


def _energy_gradient(plant: Plant, q: Array, v: Array, momentum: Array) -> Array:
    """Gradient (2 nv,) of the kinetic and potential energy.

    By q: v' dM v / 2 + dV. Inverse dynamics at rest, M a + dV, has the derivative dM a + d dV; with a = v and with a
    = 0, their difference gives v' dM v.
    """
    rest, none, rows = np.zeros(plant.nv), np.zeros(plant.nu), np.zeros(len(plant.row_names))
    second = derivatives(plant, q, rest, none, a=v, lam=rows)
    straight = derivatives(plant, q, rest, none, a=rest, lam=rows)
    return np.concatenate([0.5 * v @ (second.force_q - straight.force_q) + straight.h, momentum])
