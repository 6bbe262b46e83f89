"""Actuation: the admissible motions that the motors reach (Aghili, section 7.4).

In scaled coordinates L'v and L^-1 f, with the metric W = L L' of the velocities (section 7.2), let Z span the
admissible motions N(A) and U the active subspace R(B), both orthonormal. The singular values of

    Z' U = X S Y'

are the cosines of the angles between the two. Motion i, Z x_i, is moved by force i, U y_i, with the lever s_i, and the
map from the force that a motion needs to one that the motors can give is

    (I + H) f_parallel = U Y S^-1 X' Z' f_parallel,                                    (62)

which exists where s_dof, the *margin*, is not zero (64).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .. import _tolerance as tolerance
from .._tolerance import DEPENDENT, ROUNDING, UNREACHED
from ..kernels import linear_algebra

if TYPE_CHECKING:
    from .terms import Terms

__all__ = ["Actuation", "Metric", "actuation_at"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Actuation:
    """Admissible motions that the motors reach at a configuration, with their margin (Aghili, section 7.4).

    Attributes
    ----------
    margin : float
        Cosine of the largest angle between N(A) and R(B), condition (64): 1 best, 0 where a motion is lost, no unit.
        Efforts grow as 1/margin. Angles are measured in the metric W, in which a radian counts as the size of the
        machine unless another one is given.
    rank : int
        Number of degrees of freedom that the motors reach.
    dof : int
        Number of degrees of freedom.
    verdict : str
        ``"fully-actuated"``, ``"under-actuated"`` or ``"over-actuated"`` (more motors than degrees of freedom).
    joint : str
        Joint that moves most in the motion that the motors reach least; empty without degrees of freedom.
    q : ndarray, shape (nq,)
    names : tuple of str
        Names of the velocity coordinates.
    singular_values : ndarray, shape (dof,)
        Cosines of all angles, largest first.
    motions : ndarray, shape (nv, dof)
        Admissible velocities, a column for each singular value, of length 1 in the metric W.
    forces : ndarray, shape (nv, dof)
        Joint forces in R(B) that move them, of length 1 in the metric W^-1; zero where no motor moves them.
    efforts : ndarray, shape (nu, dof)
        Smallest motor efforts that give these forces.
    """

    margin: float
    rank: int
    dof: int
    verdict: str
    joint: str
    q: Array
    names: tuple[str, ...]
    singular_values: Array
    motions: Array
    forces: Array
    efforts: Array

    @property
    def complete(self) -> bool:
        """Whether the motors reach every admissible motion, condition (64)."""
        return self.rank == self.dof

    def within(self, margin: float) -> bool:
        """Whether every admissible motion is reached with this margin at least."""
        return self.margin >= margin

    @property
    def lost(self) -> Array:
        """Basis (nv, dof - rank) of the admissible velocities that no motor moves."""
        return self.motions[:, self.rank :]

    @property
    def weakest(self) -> dict[str, float]:
        """Motion that the motors reach least, as joint velocities: `joint` moves at 1 (rad/s or m/s)."""
        if not self.dof:
            return dict.fromkeys(self.names, 0.0)
        v = self.motions[:, -1] / self.motions[self.names.index(self.joint), -1]
        return dict(zip(self.names, v.tolist(), strict=True))

    def active_force(self, force: ArrayLike, margin: float = 0.0) -> Array:
        """Smallest joint force (I + H) P force (62) of the motors that moves the machine as `force` does.

        Motions with a singular value s below `margin` get s^2/margin^2 of their force: continuous in s, nothing at
        s = 0, and never more than 1/margin times the force that is needed.

        Parameters
        ----------
        force : array_like, shape (nv,)
            Such as M a + h for the acceleration a.
        margin : float
            With 0, lost motions get nothing, and all others get all of their force.
        """
        return self.forces @ self._shares(force, margin)

    def effort(self, force: ArrayLike, margin: float = 0.0) -> Array:
        """Smallest motor efforts u (nu,) with B u = `active_force(force, margin)`."""
        return self.efforts @ self._shares(force, margin)

    def _shares(self, force: ArrayLike, margin: float) -> Array:
        """Factor of each column of `forces` (dof,), of which the active force is the sum."""
        force = _check.vector(force, len(self.names), "force", self.names)
        s = self.singular_values
        return np.where(s > UNREACHED, s / np.maximum(s, max(margin, UNREACHED)) ** 2, 0.0) * force.dot(self.motions)

    def __str__(self) -> str:
        text = f"{self.verdict}: {self.rank} of {self.dof} degrees of freedom reached, "
        text += f"margin {self.margin:.3g} (1 best, 0 lost)"
        return text if not self.dof else f"{text}; least reached: {self.describe_weakest()}"

    def describe_weakest(self) -> str:
        """Text of the weakest motion, the joint that moves most first."""
        rates = {n: r for n, r in self.weakest.items() if abs(r) > 5e-4}
        order = sorted(rates, key=lambda n: n != self.joint)
        return ", ".join(f"{n} {rates[n]:.3g}" for n in order)


class Metric(NamedTuple):
    """Metric W = L L' of joint velocities (Aghili, section 7.2): scaled velocities are L'v, scaled forces L^-1 f."""

    L: Array
    inverse: Array


def actuation_at(
    terms: Terms,
    names: tuple[str, ...] = (),
    metric: Metric | None = None,
    epsilon: float = 0.0,
    rank: int | None = None,
) -> Actuation:
    """Actuation at a state: rank, margin, and weakest motion; see `cmbcontrol.actuation`.

    Singular values of A below `epsilon` count as zero; with `rank`, A counts as of this rank.
    """
    if metric is None:
        metric = Metric(np.diag(terms.unit_lengths), np.diag(1.0 / terms.unit_lengths))
    s, scaled, motions, forces, efforts = linear_algebra.reached_motions(
        *metric, _admissible(terms, epsilon, rank), terms.B, DEPENDENT, ROUNDING
    )
    dof, reached = s.size, tolerance.rank(s, 1.0, UNREACHED)
    return Actuation(
        margin=float(s[-1]) if dof else 1.0,
        rank=reached,
        dof=dof,
        verdict=verdict(reached, dof, terms.B.shape[1]),
        joint=_largest(scaled[:, -1], names) if dof and names else "",
        q=terms.q,
        names=names,
        singular_values=s,
        motions=motions,
        forces=forces,
        efforts=efforts,
    )


def _largest(motion: Array, names: tuple[str, ...]) -> str:
    """Joint that moves most; the first of those within a twentieth of the largest motion."""
    size = [abs(x) for x in motion.tolist()]
    least = 0.95 * max(size)
    return next(name for name, x in zip(names, size, strict=True) if x >= least)


def _admissible(terms: Terms, epsilon: float, rank: int | None) -> Array:
    """Basis of N(A), where singular values below epsilon, or beyond the rank, count as zero."""
    if rank is None:
        rank = min(terms.rank, int(np.count_nonzero(terms.singular_values >= epsilon))) if epsilon else terms.rank
    if rank == terms.rank:
        return terms.unit_motions
    return np.ascontiguousarray(np.linalg.svd(terms.A)[2][rank:].T)


def verdict(reached: int, dof: int, motors: int) -> str:
    """Verdict on the actuation, such as "under-actuated", from the number of reached motions and of motors."""
    if reached < dof:
        return "under-actuated"
    return "over-actuated" if motors > dof else "fully-actuated"
