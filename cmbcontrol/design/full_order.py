"""H-infinity controllers of full order by SLICOT, and systems in the units and the form that this needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import ActuationError, InputError
from ..linear.balancing import state_scales
from ..linear.generalized_plant import GeneralizedPlant
from ..linear.norms import hinf_norm

if TYPE_CHECKING:
    import control

__all__ = [
    "Regular",
    "append",
    "balanced",
    "closed",
    "least_norm",
    "loaded_slycot",
    "peak",
    "regular",
    "ss",
    "static",
]

Array = NDArray[np.float64]

_SMALL = 1e-4  # of what inputs and outputs do at mid frequency: efforts and noise that are added to singular problems
_SHIFTS = (0.0, 1e-6, 1e-4, 1e-2, 0.1)  # of the unit of frequency: poles are moved off the imaginary axis
_LEAST, _DOUBLINGS = 1e-3, 60  # the first level that is tried, and how often it is doubled
_LOOSE = 1e-3  # of the unit of frequency, by which SLICOT may find poles unstable: they are looked at afterwards


class Regular(NamedTuple):
    """Plant in units that suit it, with small efforts and noise where D12 or D21 had no full rank.

    Units of time, states, u and y do not change norms from w to z (H2 norms by a factor).

    Attributes
    ----------
    system : control.StateSpace
        From (w, u) to (z, y), with what was added behind w and behind z.
    frequency : float
        Its unit of frequency, rad/s.
    u, y : ndarray
        Unit of each effort, and one over that of each measurement.
    remarks : tuple of str
        What was added.
    """

    system: control.StateSpace
    frequency: float
    u: Array
    y: Array
    remarks: tuple[str, ...]

    def controller(self, K: Any) -> control.StateSpace:
        """Controller (matrices A, B, C, D) for this system, in the units of the plant."""
        A, B, C, D = K
        w, u, y = self.frequency, self.u[:, None], self.y
        return balanced(ss(w * A, w * B * y, u * C, u * D * y))


def least_norm(P: Regular, tolerance: float) -> tuple[control.StateSpace, float, tuple[str, ...]]:
    """Controller, for the plant in its own units, within a tolerance of the least H-infinity norm.

    Returns by how much poles were moved to find it, too, in the unit of frequency, and what is to be told.
    """
    slycot = loaded_slycot()
    system, m, k = P.system, len(P.u), len(P.y)
    n, B, C, D = system.nstates, system.B, system.C, system.D
    decays = -np.linalg.eigvals(system.A).real
    slow = float(decays[decays > 0.0].min(initial=1.0))

    def at(gamma: float, shift: float) -> tuple[Array, ...] | None:
        """Controller with a norm below gamma, where there is one."""
        A = system.A + shift * np.eye(n)
        try:
            found = slycot.sb10ad(n, D.shape[1], D.shape[0], m, k, gamma, A, B, C, D, 4, actol=_LOOSE)
        except slycot.exceptions.SlycotArithmeticError:
            return None
        K = found[1:5]
        try:
            return K if peak(closed(system, ss(*K))) <= gamma * (1.0 + 1e-6) else None
        except np.linalg.LinAlgError:  # a pole on the axis
            return None

    for share in _SHIFTS:
        shift = min(share, 0.3 * slow)  # poles that decay keep doing so: none of them need be moved by the controller
        high, found = _LEAST, None
        for _ in range(_DOUBLINGS):
            found = at(high, shift)
            if found is not None:
                break
            high *= 2.0
        if found is None:
            continue
        low = 0.5 * high if high > _LEAST else 0.0
        while high - low > tolerance * high and high > np.finfo(float).tiny:
            middle = 0.5 * (low + high)
            better = at(middle, shift)
            low, high, found = (middle, high, found) if better is None else (low, middle, better)
        told = f"poles on the imaginary axis were moved by {shift * P.frequency:.3g} rad/s for the design"
        return P.controller(found), shift, (*P.remarks, told) if shift else P.remarks
    raise ActuationError(
        f"SLICOT found no stabilising controller for the levels {_LEAST:g} to {high:.3g}: modes that hardly move or "
        "are hardly seen, or weights that are too large to compare. Use weights nearer to 1, with poles nearer to "
        "those of the plant"
    )


def regular(P: control.StateSpace, k: int, m: int) -> Regular:
    """Plant, with k measurements and m controls, in units that suit it, and regular; see `Regular`."""
    P = balanced(P)
    w = (float(np.linalg.norm(P.A, 2)) if P.nstates else 0.0) or 1.0
    A, B, C, D = P.A / w, P.B / np.sqrt(w), P.C / np.sqrt(w), P.D.copy()
    kz, mw = len(D) - k, D.shape[1] - m
    middle = np.abs(C @ np.linalg.solve((1j + 1e-3) * np.eye(len(A)) - A, B) + D)
    u = np.linalg.norm(middle[:kz, mw:], axis=0)
    y = np.linalg.norm(middle[kz:, :mw], axis=1)
    u, y = 1.0 / np.where(u > 0.0, u, 1.0), 1.0 / np.where(y > 0.0, y, 1.0)
    B[:, mw:] *= u
    D[:, mw:] *= u
    C[kz:] *= y[:, None]
    D[kz:] *= y[:, None]
    remarks = []
    if _lacks(D[:kz, mw:]):
        remarks.append(f"some efforts had no weight: all got one of {_SMALL:g} of what they do at {w:.3g} rad/s")
        C = np.vstack([C[:kz], np.zeros((m, len(A))), C[kz:]])
        D = np.vstack([D[:kz], np.hstack([np.zeros((m, mw)), _SMALL * np.eye(m)]), D[kz:]])
        kz += m
    if _lacks(D[kz:, :mw].T):
        remarks.append(f"some measurements had no noise: all got {_SMALL:g} of what they show at {w:.3g} rad/s")
        B = np.hstack([B[:, :mw], np.zeros((len(A), k)), B[:, mw:]])
        D = np.hstack([D[:, :mw], np.vstack([np.zeros((kz, k)), _SMALL * np.eye(k)]), D[:, mw:]])
    return Regular(balanced(ss(A, B, C, D)), w, u, y, tuple(remarks))


def _lacks(D: Array) -> bool:
    """Whether columns are dependent."""
    values = np.linalg.svd(D, compute_uv=False)
    return D.shape[0] < D.shape[1] or bool(values.min(initial=1.0) < _SMALL)


def closed(P: control.StateSpace, K: control.StateSpace) -> control.StateSpace:
    """The loop from w to z of a generalized plant with u = +K y."""
    return ss(*GeneralizedPlant.from_ss(P, K.ninputs, K.noutputs).closed(K)[:4])


def peak(system: control.StateSpace) -> float:
    """H-infinity norm; infinite where the system is not stable."""
    return hinf_norm(system.A, system.B, system.C, None, system.D)


def ss(A: Any, B: Any, C: Any, D: Any, states: Sequence[str] | None = None) -> control.StateSpace:
    """System of python-control in continuous time."""
    import control

    return control.StateSpace(A, B, C, D, 0, **({} if states is None else {"states": list(states)}))


def static(D: Array) -> control.StateSpace:
    """System without states."""
    return ss(np.zeros((0, 0)), np.zeros((0, D.shape[1])), np.zeros((D.shape[0], 0)), D)


def append(*systems: control.StateSpace) -> control.StateSpace:
    """Systems side by side."""
    from scipy.linalg import block_diag

    A, B, C, D = (block_diag(*matrices) for matrices in zip(*((x.A, x.B, x.C, x.D) for x in systems), strict=True))
    return ss(A, B, C, D)


def balanced(P: control.StateSpace) -> control.StateSpace:
    """The system in units of states in which what acts on each is of the size of what it acts on, outputs too."""
    into, out = np.linalg.norm(P.B, axis=1), np.linalg.norm(P.C, axis=0)
    s = state_scales(np.block([[P.A, into[:, None]], [out, np.zeros((1, 1))]]))
    s = s[:-1] / s[-1]
    return ss(P.A * s / s[:, None], P.B / s[:, None], P.C * s, P.D, P.state_labels)


def loaded_slycot() -> Any:
    """The module `slycot`, of the extra ``robust``."""
    try:
        import slycot
    except ImportError as error:
        raise InputError('robust synthesis needs slycot: pip install "cmbcontrol[robust]"') from error
    return slycot
