"""Modal controllability and observability: how much of each mode inputs move, and outputs see; minimal realisations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._tolerance import UNREACHED
from .balancing import balanced, state_scales
from .invariant_subspaces import SLOW, Decoupled, cleaned, clusters, invariant_subspaces, mean_of, spectrum

if TYPE_CHECKING:
    import control

    from .model import LinearModel

__all__ = [
    "ModalControllability",
    "in_energy",
    "modal_controllability",
    "reached",
    "slowest_decay",
    "unmoved",
]

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

# Of the size of the balanced A: a mode that decays slower does not. Eigenvalues of defective modes, as of free motions,
# are right to 1e-8 of it.
_NOTHING = 1e-9
_SWEEPS = 30  # of scaling; each is a step towards the best scales, and few are needed
_SAFETY = 10.0  # first-order bounds of what an error does are exceeded by little where it is small


def reached(rows: NDArray[Any], A: NDArray[Any], tolerance: float) -> NDArray[Any]:
    """Orthonormal basis (n, r) of the space that rows, rows A, rows A^2, ... span: what is seen of a system.

    With B' and A' it is what is moved. Directions with less than `tolerance` of the size 1 that rows have are left out.

    Examples
    --------
    >>> reached(np.array([[1.0, 0.0, 0.0]]), np.diag([1.0, 0.0], k=1), 1e-9).shape
    (3, 2)
    """
    n, unit, seen = len(A), float(np.linalg.norm(A, 2)) if len(A) else 1.0, [rows]
    for _ in range(n - 1):
        seen.append(seen[-1] @ A / (unit or 1.0))
    _, values, Vh = np.linalg.svd(np.concatenate(seen), full_matrices=False)
    return Vh[values > tolerance].T


def unmoved(A: Array, B: Array, period: float | None = None) -> complex | None:
    """Eigenvalue of a mode that does not decay and that B does not move; None where there is none.

    The test is the rank of [s - A, B] at the eigenvalues of A (Popov, Belevitch, Hautus), in balanced coordinates and
    with inputs of unit size, so that units do not matter. With A' and C' it is a mode that C does not show.

    Parameters
    ----------
    A, B : ndarray, shape (n, n) and (n, m)
    period : float, optional
        Sample time of a sampled model, s.

    Examples
    --------
    >>> A = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
    >>> unmoved(A, np.array([[0.0], [1.0], [0.0]])) is None
    True
    >>> abs(unmoved(A, np.array([[1.0], [0.0], [0.0]])))
    0.0
    """
    A, B, _ = balanced(A, B, np.zeros((0, len(A))))
    size = float(np.linalg.norm(A, 2)) or 1.0
    lengths = np.linalg.norm(B, axis=0)
    B = size * B / np.where(lengths > 0.0, lengths, 1.0)
    for value in np.linalg.eigvals(A):
        decay = -value.real / size if period is None else 1.0 - abs(value)
        if decay > _NOTHING:
            continue
        left = np.linalg.svd(np.hstack([value * np.eye(len(A)) - A, B]), compute_uv=False)
        if left[-1] < _NOTHING * size:
            return complex(value)
    return None


def slowest_decay(values: NDArray[Any], period: float | None) -> float:
    """Decay of the slowest of some modes, as a part of the largest rate; not above zero where one does not decay."""
    if period is not None:
        return float(1.0 - np.abs(values).max(initial=0.0))
    return float(-values.real.max(initial=-np.inf) / max(np.abs(values).max(initial=0.0), 1e-300))


# -- all modes, by how much ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ModalControllability:
    """How much of each mode of a linear system its inputs move and its outputs see; see `modal_controllability`.

    Attributes
    ----------
    name : str
    dt : float
        Sample time, s; 0 in continuous time.
    inputs, outputs : tuple of str
    eigenvalues : ndarray, shape (modes,)
        Complex, slowest first: 1/s, or per sample. One of a complex pair, and one for all that are equal.
    multiplicity : ndarray of int, shape (modes,)
    moved : ndarray, shape (modes, inputs)
        Cosines between 0 and 1: of the angle between the effect of an input and the left invariant subspace.
    seen : ndarray, shape (modes, outputs)
        Cosines of the angles between an output and the right invariant subspace.
    moved_by, seen_by : ndarray of int, shapes (modes, inputs) and (modes, outputs)
        Number of the motions of a mode (of `multiplicity`) that each input moves, and each output sees.
    controllable, observable, minimal : ndarray of int, shape (modes,)
        Number of the motions that all inputs together move, all outputs see, and both: what a minimal realisation has.
    hankel : ndarray, shape (n,), or None
        Hankel singular values over the largest, with inputs and outputs of unit size; None where not all modes decay.
    tolerance : float
        Relative accuracy of A, B and C, from which it follows which cosines count as zero.
    """

    name: str
    dt: float
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    eigenvalues: Complex
    multiplicity: NDArray[np.int64]
    moved: Array
    seen: Array
    moved_by: NDArray[np.int64]
    seen_by: NDArray[np.int64]
    controllable: NDArray[np.int64]
    observable: NDArray[np.int64]
    minimal: NDArray[np.int64]
    hankel: Array | None
    tolerance: float
    _blocks: tuple[tuple[NDArray[Any], NDArray[Any], NDArray[Any]], ...]
    _D: Array

    @property
    def order(self) -> int:
        """Number of states."""
        return int(self._weights @ self.multiplicity)

    @property
    def minimal_order(self) -> int:
        """Number of states of a minimal realisation."""
        return int(self._weights @ self.minimal)

    @property
    def _weights(self) -> NDArray[np.int64]:
        return np.where(self.eigenvalues.imag != 0.0, 2, 1)

    @property
    def labels(self) -> tuple[str, ...]:
        """Numbers of the modes as `LinearModel.modes` counts them: those of one eigenvalue together, as "1-2"."""
        ends = np.cumsum(self.multiplicity)
        return tuple(str(e - 1) if m == 1 else f"{e - m}-{e - 1}" for m, e in zip(self.multiplicity, ends, strict=True))

    def minimal_realization(self) -> control.StateSpace:
        """Minimal realisation: the motions that are both moved and seen, in modal states, with the same response.

        Returns
        -------
        control.StateSpace
        """
        import control
        from scipy.linalg import block_diag

        A, B, C = [], [np.zeros((0, len(self.inputs)))], [np.zeros((len(self.outputs), 0))]
        for value, (T, rows, columns) in zip(self.eigenvalues, self._blocks, strict=True):
            if value.imag == 0.0:
                A, B, C = [*A, T.real], [*B, rows.real], [*C, columns.real]
                continue
            A.append(np.block([[T.real, -T.imag], [T.imag, T.real]]))
            B.append(np.vstack([rows.real, rows.imag]))
            C.append(2.0 * np.hstack([columns.real, -columns.imag]))
        labels = {"inputs": list(self.inputs), "outputs": list(self.outputs)}
        whole = block_diag(*A) if A else np.zeros((0, 0))
        made = (whole, np.vstack(B), np.hstack(C), self._D, self.dt)
        return control.ss(*made, name=f"{self.name}_minimal".replace(".", "_"), remove_useless_states=False, **labels)

    def tables(self) -> Iterator[tuple[str, tuple[str, ...], list[tuple[str, ...]]]]:
        """Two tables of cosines, as title, heading and rows: what inputs move, and what outputs see."""
        unit, values = "per sample" if self.dt else "1/s", []
        for value, m in zip(self.eigenvalues, self.multiplicity, strict=True):
            text = f"{value.real + 0.0: .5g}" + (f" +- {value.imag:.5g}j" if value.imag else "")
            values.append(text + (f"  x{m}" if m > 1 else ""))
        for title, names, cosines, counts in (
            ("moved by the inputs", self.inputs, self.moved, self.moved_by),
            ("seen by the outputs", self.outputs, self.seen, self.seen_by),
        ):
            cells = [
                [_cell(x, n, self.multiplicity[i]) for x, n in zip(cosines[i], counts[i], strict=True)]
                for i in range(len(values))
            ]
            rows = [(label, text, *row) for label, text, row in zip(self.labels, values, cells, strict=True)]
            yield title, ("mode", f"eigenvalue ({unit})", *names), rows

    def to_data(self) -> dict[str, Any]:
        """Numbers as plain data, by name; of eigenvalues the real and imaginary parts."""
        plain: dict[str, Any] = {"inputs": list(self.inputs), "outputs": list(self.outputs)}
        plain["eigenvalues"] = [[x.real, x.imag] for x in self.eigenvalues.tolist()]
        names = ("multiplicity", "moved", "seen", "moved_by", "seen_by", "controllable", "observable", "minimal")
        plain |= {name: getattr(self, name).tolist() for name in names}
        plain |= {"hankel": None if self.hankel is None else self.hankel.tolist(), "minimal_order": self.minimal_order}
        return plain | {"order": self.order, "tolerance": self.tolerance}

    def remarks(self) -> list[str]:
        """Sentences on modes that are not moved, or not seen, and on what a minimal realisation leaves out."""
        lines = []
        for what, counts in (("moved by no input", self.controllable), ("seen by no output", self.observable)):
            rows = zip(self.labels, counts, self.multiplicity, strict=True)
            names = [f"mode {k}" + (f" ({m - n} of {m})" if m > 1 else "") for k, n, m in rows if n < m]
            lines += [f"{what}: {', '.join(names)}"] if names else []
        cut = self.order - self.minimal_order
        kept = f"{self.minimal_order} of {self.order} states, with A, B and C right to {self.tolerance:.0e}"
        lines.append(f"minimal realisation: {kept}" if cut else f"the realisation is minimal: {self.order} states")
        if self.hankel is not None and self.hankel.size:
            lines.append("Hankel singular values over the largest: " + ", ".join(f"{x:.2g}" for x in self.hankel))
        return lines

    def __str__(self) -> str:
        lines = [f"controllability and observability of the modes of {self.name} (cosines: 1 wholly, 0 not at all)"]
        for title, head, rows in self.tables():
            widths = [max(len(row[k]) for row in (head, *rows)) for k in range(len(head))]
            table = ("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in (head, *rows))
            lines += [f"  {title}", *(f"    {line}" for line in table)]
        return "\n".join([*lines, *(f"  {text}" for text in self.remarks())])


def _cell(x: float, count: int, multiplicity: int) -> str:
    """Text of a cosine; of a repeated mode of which a part is moved with the number of its motions that are."""
    if not count:
        return "0"
    return f"{x:.3g}" + (f" ({count} of {multiplicity})" if count < multiplicity else "")


class _Weighed(NamedTuple):
    """System in coordinates whose sum of squares is an energy, where it is known."""

    A: Array
    B: Array
    C: Array
    positions: NDArray[np.bool_]  # states that a frequency makes energies of
    floor: Array  # sizes of entries of A below which errors are not relative


def in_energy(
    model: LinearModel | None, A: Array, B: Array, C: Array
) -> tuple[Array, Array, Array, NDArray[np.bool_], Array]:
    """System in coordinates x = F xi in which the kinetic energy of the plant is half the sum of squares of its rates.

    The plant's states stand first. Its positions are weighed by the same mass matrix: at a frequency w, with w^2 times
    it. States behind them, of a law or a drive, and all states of a plant that is not known, have units in which rows
    and columns of A are of like size.

    Returns
    -------
    A, B, C : ndarray
    positions : ndarray of bool, shape (n,)
        Which states are positions of the plant, in units of the root of an energy over a frequency.
    floor : ndarray, shape (n, n)
        Sizes of entries of A, below which its errors are not relative to them: 1 rad/s.
    """
    n = len(A)
    positions, floor = np.zeros(n, dtype=bool), np.zeros((n, n))
    roots = None if model is None else _mass_roots(model)
    if roots is None:
        s = state_scales(A)
        return A * s / s[:, None], B / s[:, None], C * s, positions, floor
    F, back = np.eye(n), np.eye(n)
    first = 0
    for L in roots:
        part = slice(first, first + len(L))
        F[part, part], back[part, part] = L.T, np.linalg.inv(L.T)
        first += len(L)
    k, dof = len(roots[0]), len(roots[1])
    positions[:k] = True
    floor[k : k + dof, : min(k, dof)] = SLOW**2 * np.eye(dof, min(k, dof))
    A, B, C = F @ A @ back, F @ B, C @ back
    s = np.ones(n)
    for _ in range(_SWEEPS):  # Osborne's balancing, of the states that have no energy
        for i in range(first, n):
            row, column = (np.delete(x, i) for x in (A[i] * s / s[i], A[:, i] * s[i] / s))
            sizes = np.abs(row).max(initial=0.0), np.abs(column).max(initial=0.0)
            if min(sizes) > 0.0:
                s[i] *= np.sqrt(sizes[0] / sizes[1])
    return A * s / s[:, None], B / s[:, None], C * s, positions, floor


def _mass_roots(model: LinearModel) -> tuple[Array, Array] | None:
    """Cholesky factors of the masses of positions and rates; None where the plant, or a mass, is not there."""
    plant = model.point.plant
    if plant is None or not len(model.A):
        return None
    M = plant.terms(model.point.q, model.point.v).M
    try:
        return tuple(np.linalg.cholesky(K.T @ M @ K) for K in (model.K, model.rate_map))  # type: ignore[return-value]
    except np.linalg.LinAlgError:
        return None


def modal_controllability(
    name: str,
    A: Array,
    B: Array,
    C: Array,
    D: Array,
    inputs: Sequence[str],
    outputs: Sequence[str],
    *,
    plant: LinearModel | None = None,
    dt: float = 0.0,
    tolerance: float = 1e-10,
) -> ModalControllability:
    """How much of each mode inputs move and outputs see, in the metric of energy; `LinearModel` has it as a method.

    Parameters
    ----------
    name : str
    A, B, C, D : ndarray
    inputs, outputs : sequence of str
    plant : LinearModel, optional
        Model of the plant whose states are the first ones, and which has the masses.
    dt : float
        Sample time, s; 0 in continuous time.
    tolerance : float
        Relative accuracy of the entries of A, B and C. Eigenvalues that an error of this size can make equal count as
        one that is repeated, and cosines that it can make vanish (or below 1e-9) as zero.

    Notes
    -----
    The measures are those of Hamdan and Nayfeh (1989), with angles in the metric of energy, so that no unit matters: an
    input is measured by the cosine of the angle between its column b and the left eigenvectors of the mode, an output
    by the angle between its row c and the right ones. Positions count at the frequency of the mode. So for a machine
    without damping the square of the cosine is the part of the energy of a push at the motor that goes to this mode,
    and these parts sum to one; a sensor has the same numbers as a motor at its place.

    Instead of eigenvectors, invariant subspaces are taken: of a complex pair, of equal eigenvalues and of defective
    ones together. How many of the motions of such a mode are moved is the rank of the test of Popov, Belevitch and
    Hautus, taken within the subspace.
    """
    _check.positive(tolerance, "tolerance")
    weighed = _Weighed(*in_energy(plant, A, B, C))
    groups = _groups(weighed, dt, tolerance) if len(A) else []
    groups.sort(key=lambda g: (round(_frequency(g.value, dt), 9), g.value.real))
    found = [_measured(g, weighed, dt, tolerance) for g in groups]

    def stacked(k: int, kind: type, *shape: int) -> NDArray[Any]:
        return np.array([x[k] for x in found], dtype=kind).reshape(len(found), *shape)

    m, p = len(inputs), len(outputs)
    return ModalControllability(
        name=name,
        dt=dt,
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        eigenvalues=np.array([g.value for g in groups], dtype=complex),
        multiplicity=np.array([len(g.parts.T) for g in groups], dtype=int),
        moved=stacked(0, float, m),
        seen=stacked(3, float, p),
        moved_by=stacked(1, int, m),
        seen_by=stacked(4, int, p),
        controllable=stacked(2, int),
        observable=stacked(5, int),
        minimal=np.array([len(x[6][0]) for x in found], dtype=int),
        hankel=_hankel(weighed, dt),
        tolerance=tolerance,
        _blocks=tuple(x[6] for x in found),
        _D=D,
    )


class _Group(NamedTuple):
    """Eigenvalue (of a pair the upper one, of equal ones their mean) with its invariant subspaces."""

    value: complex
    parts: Decoupled


def _groups(weighed: _Weighed, dt: float, tolerance: float) -> list[_Group]:
    """Eigenvalues that an error of the given relative size does not make equal, each with its subspaces."""
    A, found = weighed.A, []
    error = tolerance * (np.abs(A) + weighed.floor)
    every = spectrum(A, error)
    for members in clusters(every, tolerance):
        parts = invariant_subspaces(A, every.values, members)
        accuracy = float((np.abs((parts.X @ parts.Y).T) * error).sum()) / len(parts.T)
        value = mean_of(parts.T)
        if not (every.values[members].imag > 0.0).all():  # of a real eigenvalue, in real numbers
            value, parts = complex(value.real), _real(parts)
        if not dt:
            tidy = cleaned(value, accuracy, tolerance)
            value = tidy if tidy.imag or not value.imag else complex(tidy.real, value.imag)
        found.append(_Group(value, parts))
    return found


def _real(parts: Decoupled) -> Decoupled:
    """Invariant subspace that is its own conjugate in a real basis."""
    m = len(parts.T)
    X = np.linalg.svd(np.hstack([parts.X.real, parts.X.imag]), full_matrices=False)[0][:, :m]
    turn = parts.Y @ X  # the real basis in coordinates of the other
    back = np.linalg.inv(turn)
    return parts._replace(X=X, T=(back @ parts.T @ turn).real, Y=(back @ parts.Y).real)


def _frequency(value: complex, dt: float) -> float:
    """Frequency of an eigenvalue, rad/s, at most half that of the samples where there are such."""
    if not dt:
        return abs(value)
    return min(abs(np.log(value)) / dt, np.pi / dt) if value else np.pi / dt


class _Side(NamedTuple):
    """What inputs move of a mode; of the transposed system, what outputs see."""

    cosines: Array  # (inputs,)
    counts: NDArray[np.int64]  # (inputs,) of motions
    basis: NDArray[Any]  # (multiplicity, r) of the motions that all inputs move, in the coordinates of the subspace


def _moved(group: _Group, A: Array, B: Array, floor: Array, weights: Array, tolerance: float) -> _Side:
    """What the columns of B move of a mode, with states in units that make them energies at its frequency.

    An error E of A turns the left eigenvectors Y by Y E (value - A)^-1 on all other modes, and with them the angles.
    """
    value, parts = group
    m, n = len(parts.T), len(A)
    Y, effects = parts.Y / weights, weights[:, None] * B
    sizes = np.linalg.norm(effects, axis=0)
    effects = effects / np.where(sizes > 0.0, sizes, 1.0)
    real = np.vstack([Y.real, Y.imag]) if value.imag else Y.real
    span = np.linalg.svd(real, full_matrices=False)[2][: 2 * m if value.imag else m]
    cosines = np.linalg.norm(span @ effects, axis=0)
    R = np.linalg.qr(Y.conj().T)[1].conj().T  # Y = R times orthonormal rows
    rows = np.linalg.solve(R, Y)
    T = np.linalg.solve(R, parts.T @ R)
    error = tolerance * (np.abs(weights[:, None] * A / weights) + weights[:, None] * floor / weights)
    others = np.zeros((n, B.shape[1]), dtype=complex)
    if m < n:
        shifted = value * np.eye(n - m) - parts.T_rest
        others = (weights[:, None] * parts.X_rest) @ np.linalg.solve(shifted, parts.Y_rest / weights @ effects)
    lost = np.abs(rows) @ (error @ np.abs(others) + tolerance * np.abs(effects))
    zero = np.maximum(_SAFETY * lost.max(axis=0, initial=0.0), UNREACHED)
    nilpotent = _nilpotent(T - value * np.eye(m), np.sqrt(tolerance) * (abs(value) + SLOW))
    pushes = rows @ effects
    pushes[:, (np.abs(pushes) <= zero).all(axis=0)] = 0.0
    counts = [reached(pushes[:, [j]].T, nilpotent.T, zero[j]).shape[1] for j in range(B.shape[1])]
    least = float(zero[pushes.any(axis=0)].max(initial=UNREACHED))
    basis = reached(pushes.T, nilpotent.T, least) if pushes.size else np.zeros((m, 0))
    return _Side(cosines, np.array(counts, dtype=int), np.linalg.qr(R @ basis)[0])


def _nilpotent(N: NDArray[Any], smallest: float) -> NDArray[Any]:
    """Nilpotent part without what is rounding."""
    U, sigma, Vh = np.linalg.svd(N)
    return (U * np.where(sigma > smallest, sigma, 0.0)) @ Vh


def _measured(group: _Group, weighed: _Weighed, dt: float, tolerance: float) -> tuple[Any, ...]:
    """What is moved and seen of a mode: cosines, counts, and the number by all; and its part of a minimal realisation.

    Of what is moved, that which is seen is the minimal part.
    """
    value, parts = group
    A, B, C, positions, floor = weighed
    weights = np.where(positions, max(_frequency(value, dt), SLOW), 1.0)
    moved = _moved(group, A, B, floor, weights, tolerance)
    X, T, Y, X_rest, T_rest, Y_rest = parts
    other = _Group(value, Decoupled(Y.T, T.T, X.T, Y_rest.T, T_rest.T, X_rest.T))
    seen = _moved(other, A.T, C.T, floor.T, 1.0 / weights, tolerance)
    V = moved.basis
    T, rows, columns = V.conj().T @ T @ V, V.conj().T @ (Y @ B), C @ X @ V
    # what is not seen of the motions that are moved: it is in the null space of the rows that outputs see
    U, sigma, _ = np.linalg.svd(V.T @ seen.basis, full_matrices=False) if V.size and seen.basis.size else (V.T, (), ())
    kept = U[:, : int(np.count_nonzero(np.asarray(sigma) > np.sqrt(tolerance)))].conj()
    block = (kept.conj().T @ T @ kept, kept.conj().T @ rows, columns @ kept)
    sizes = moved.basis.shape[1], seen.basis.shape[1]
    return moved.cosines, moved.counts, sizes[0], seen.cosines, seen.counts, sizes[1], block


def _hankel(weighed: _Weighed, dt: float) -> Array | None:
    """Hankel singular values over the largest, with inputs and outputs of unit size; None where a mode stays."""
    from scipy.linalg import solve_continuous_lyapunov, solve_discrete_lyapunov

    A, B, C = weighed[:3]
    if not len(A) or slowest_decay(np.linalg.eigvals(A), dt or None) <= _NOTHING:
        return None
    B, C = (x / np.where((s := np.linalg.norm(x, axis=k, keepdims=True)) > 0.0, s, 1.0) for k, x in ((0, B), (1, C)))
    if dt:
        P, Q = (solve_discrete_lyapunov(M, W @ W.T) for M, W in ((A, B), (A.T, C.T)))
    else:
        P, Q = (solve_continuous_lyapunov(M, -W @ W.T) for M, W in ((A, B), (A.T, C.T)))
    squares = np.linalg.eigvals(P @ Q).real
    sizes = np.sort(np.sqrt(np.maximum(squares, 0.0)))[::-1]
    return sizes / sizes[0] if sizes[0] else sizes
