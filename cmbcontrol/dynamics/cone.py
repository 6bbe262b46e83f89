"""Real solutions of s' Q_i s = 0: a cone, and the linear pieces and curved families that it consists of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Component", "complement", "components", "nearest", "piece_at", "residual"]

Array = NDArray[np.float64]

_ZERO = 1e-6  # relative: eigenvalues, tangents and distances below it count as zero
_SEEDS = 256
_WORK = 4e6  # seeds times the size of a step, at most
_SAMPLES = 8  # of a curved piece
_MOST = 128  # spans that are compared with each other: some tenths of a second
_STEPS = 80  # double solutions are met at half the distance a step
_ROUGH, _BEST = 4, 8  # alternations, and starts of Newton's method, towards the nearest point


class Component(NamedTuple):
    """Piece of the cone: a linear span, or a curved family.

    Attributes
    ----------
    s : ndarray, shape (d,)
        A unit vector on it.
    tangent : ndarray, shape (d, e)
        Orthonormal tangents of the cone there; s is one of them.
    linear : bool
        Whether the piece is the whole span of the tangents.
    double : bool
        Whether the gradients of the forms leave more directions free than the piece has tangents.
    samples : ndarray, shape (d, k)
        Unit vectors on it: the tangents where it is linear.
    """

    s: Array
    tangent: Array
    linear: bool
    double: bool
    samples: Array


def complement(X: Array) -> Array:
    """Orthonormal basis (d, d - r) of the orthogonal complement of the columns of X (d, k)."""
    U, sigma, _ = np.linalg.svd(X)
    return U[:, int(np.count_nonzero(sigma > _ZERO)) :]


def residual(forms: Array, s: Array) -> float:
    """Largest |s'Qs| of the forms, relative to Q: zero on the cone."""
    if not len(forms):
        return 0.0
    return float((np.abs(s @ forms @ s) / _sizes(forms)).max())


def _sizes(forms: Array) -> Array:
    return np.abs(forms).max(axis=(1, 2)) + 1e-300


def piece_at(forms: Array, s: Array) -> Component | None:
    """Piece of the cone that a unit vector on it belongs to; None where pieces cross there."""
    if not len(forms):
        return components(forms)[0][0]
    piece = _piece(forms, s)
    return piece and _judged(forms, piece)


def _judged(forms: Array, piece: Component) -> Component:
    """Piece with `double` set by the rank of the gradients."""
    return piece._replace(double=_rank(forms, piece.s) < forms.shape[1] - piece.tangent.shape[1])


def components(forms: Array, starts: Sequence[Array] = ()) -> tuple[list[Component], bool]:
    """Pieces of the cone, smaller ones first, and whether these are proven to be all.

    Parameters
    ----------
    forms : ndarray, shape (p, d, d)
        Symmetric and independent.
    starts : sequence of ndarray, shape (d,)
        Starting points of the search, besides many fixed ones.
    """
    d = forms.shape[1]
    if not d:
        return [], True
    if not len(forms):
        return [Component(_first(np.eye(d)), np.eye(d), True, False, np.eye(d))], True
    basis = _face(forms)  # where a form is semidefinite, the cone lies in its kernel
    if not basis.shape[1]:
        return [], True
    pieces: list[Component] = []
    spans, complete = _spans(basis.T @ forms @ basis)
    for span, rest in spans:
        own = basis @ span
        if not len(rest):
            found, sure = [Component(_first(own), own, True, False, own)], True
        else:
            found, sure = _single(rest[0]) if len(rest) == 1 else _search(rest, [own.T @ s for s in starts])
            found = [c._replace(s=own @ c.s, tangent=own @ c.tangent, samples=own @ c.samples) for c in found]
        pieces += found
        complete = complete and sure
    if len(spans) > 1:
        pieces = _largest(pieces)
    return sorted((_judged(forms, c) for c in pieces), key=lambda c: c.tangent.shape[1]), complete


def _spans(forms: Array) -> tuple[list[tuple[Array, Array]], bool]:
    """Spans (d, e) that together hold the cone, each with the independent forms (k, e, e) that are left on it.

    Returned with them: whether all ranks were clear, since an eigenvalue that is neither zero nor well above it may be
    of two planes that nearly agree.

    A form of rank two is the product of two linear ones, so the cone lies in two planes; on each of them the others
    have lower ranks. Two forms of three variables have a combination of rank two. That is exact, and where no form is
    left the cone is known for sure. Spans within others are left out at each form, so that a chain of loops leaves as
    many as it has.
    """
    d = forms.shape[1]
    alone = _independent(forms)
    if len(alone) <= 1:
        return [(np.eye(d), alone)], True
    scaled = forms / _sizes(forms)[:, None, None]
    spans, clear = [np.eye(d)], True
    while True:
        before = [span.shape[1] for span in spans]
        for Q in scaled:
            restricted = [span.T @ Q @ span for span in spans]
            clear = clear and all(map(_is_clear, restricted))
            spans = _outermost(
                [span @ part for span, own in zip(spans, restricted, strict=True) for part in _parts(own)]
            )
            if len(spans) > _MOST:
                break
        spans = _outermost([span @ part for span in spans for part in _pencil(span.T @ scaled @ span)])
        if len(spans) > _MOST:
            return [(np.eye(d), alone)], False
        if [span.shape[1] for span in spans] == before:
            break
    found = []
    for span in spans:
        rest = _independent(span.T @ scaled @ span)
        if not len(rest):
            found.append((span, rest))
        elif (own := _face(rest)).shape[1]:
            found.append((span @ own, _independent(own.T @ rest @ own)))
    return found, clear


def _is_clear(Q: Array) -> bool:
    """Whether each eigenvalue of a form is clearly zero or clearly not."""
    values = np.abs(np.linalg.eigvalsh(Q))
    return not ((values > 1e-3 * _ZERO) & (values < 1e2 * _ZERO)).any()


def _parts(Q: Array) -> list[Array]:
    """Spans of the zeros of a form: all if it is zero, the kernel if it is semidefinite, two planes; else all."""
    n = len(Q)
    if not n or np.abs(Q).max() <= _ZERO:
        return [np.eye(n)] if n else []
    values, vectors = np.linalg.eigh(Q)
    keep = np.abs(values) > _ZERO * np.abs(values).max()
    if values[keep].min() > 0.0 or values[keep].max() < 0.0:
        return [vectors[:, ~keep]] if (~keep).any() else []
    if keep.sum() > 2:
        return [np.eye(n)]
    low, high = vectors[:, 0] * np.sqrt(-values[0]), vectors[:, -1] * np.sqrt(values[-1])
    return [complement((high + sign * low)[:, None]) for sign in (1.0, -1.0)]


def _pencil(forms: Array) -> list[Array]:
    """Spans of the zeros of a singular combination of forms of three variables; all where there is none."""
    from scipy.linalg import eig

    rest = _independent(forms) if forms.shape[1] == 3 else forms[:0]
    if len(rest) < 2:
        return [np.eye(forms.shape[1])]
    a, b = eig(rest[0], rest[1], right=False, homogeneous_eigvals=True)
    real = np.abs((a * b.conj()).imag) <= _ZERO * (np.abs(a) ** 2 + np.abs(b) ** 2)
    for x, y in zip(a[real], b[real], strict=True):
        turn = np.conj(y if abs(y) > abs(x) else x)
        x, y = (turn * x).real, (turn * y).real
        C = (y * rest[0] - x * rest[1]) / max(np.hypot(x, y), 1e-300)
        size = np.abs(C).max()
        if size > _ZERO and np.abs(np.linalg.eigvalsh(C)).min() <= _ZERO * size:
            return _parts(C / size)
    return [np.eye(3)]


def _outermost(spans: list[Array]) -> list[Array]:
    """Spans that do not lie within others."""
    kept: list[Array] = []
    for span in sorted((x for x in spans if x.shape[1]), key=lambda x: -x.shape[1]):
        if not any(np.abs(span - big @ (big.T @ span)).max() < _ZERO for big in kept):
            kept.append(span)
    return kept


def _largest(pieces: list[Component]) -> list[Component]:
    """Pieces that do not lie within others; planes have some in common."""
    kept: list[Component] = []
    for piece in sorted(pieces, key=lambda c: -c.tangent.shape[1]):
        within = (c.tangent @ (c.tangent.T @ piece.samples) for c in kept if c.linear)
        if not any(np.abs(piece.samples - part).max() < 1e-5 for part in within):
            kept.append(piece)
    return sorted(kept, key=lambda c: tuple(-np.abs(c.s).round(6)))


def _rank(forms: Array, s: Array) -> int:
    """Rank of the gradients of the forms at s."""
    J = forms @ s / _sizes(forms)[:, None]
    return int(np.count_nonzero(np.linalg.svd(J, compute_uv=False) > _ZERO))


def _first(basis: Array) -> Array:
    """Unit vector of a span, independent of its basis: the projection of the coordinate axis nearest to the span."""
    P = basis @ basis.T
    s = P[:, int(np.argmax(P.diagonal() > 0.999 * P.diagonal().max()))]
    return s / np.linalg.norm(s)


def _independent(forms: Array) -> Array:
    """Independent combinations of forms; empty where all vanish."""
    flat = forms.reshape(len(forms), -1)
    _, sigma, Vt = np.linalg.svd(flat, full_matrices=False)
    p = int(np.count_nonzero(sigma > _ZERO * max(sigma.max(initial=0.0), 1e-3)))
    return Vt[:p].reshape(p, *forms.shape[1:])


def _face(forms: Array) -> Array:
    """Basis (d, e) of the kernel of semidefinite forms, one after the other; empty where a combination is definite."""
    basis = np.eye(forms.shape[1])
    rest = forms / _sizes(forms)[:, None, None]
    while basis.shape[1] and len(rest):
        for Q in rest:
            values, vectors = np.linalg.eigh(Q)
            small = _ZERO * np.abs(values).max()
            if values[0] > -small or values[-1] < small:
                kernel = vectors[:, np.abs(values) <= small]
                basis = basis @ kernel
                rest = kernel.T @ rest @ kernel
                rest = rest[np.abs(rest).max(axis=(1, 2), initial=0.0) > _ZERO]
                break
        else:
            return basis[:, :0] if len(rest) > 1 and _definite(rest) else basis
    return basis


def _definite(forms: Array) -> bool:
    """Whether a definite combination of forms is found: its smallest eigenvalue is concave in the weights."""
    c = np.trace(forms, axis1=1, axis2=2)
    for k in range(100):
        c = c / max(float(np.linalg.norm(c)), 1e-300)
        values, vectors = np.linalg.eigh(np.tensordot(c, forms, 1))
        if values[0] > 1e-3:
            return True
        c = c + 0.5 / (k + 1.0) * (vectors[:, 0] @ forms @ vectors[:, 0])
    return False


def _single(Q: Array) -> tuple[list[Component], bool]:
    """Cone of one form: the kernel of a semidefinite one, two hyperplanes for rank 2, else a curved family."""
    values, vectors = np.linalg.eigh(Q)
    keep = np.abs(values) > _ZERO * np.abs(values).max()
    if values[keep].min() > 0.0 or values[keep].max() < 0.0:  # as a combination of several may come out
        kernel = vectors[:, ~keep]
        return [Component(_first(kernel), kernel, True, False, kernel)] if kernel.size else [], True
    if keep.sum() == 2:
        low, high = vectors[:, 0] * np.sqrt(-values[0]), vectors[:, -1] * np.sqrt(values[-1])
        planes = [complement((high + sign * low)[:, None]) for sign in (1.0, -1.0)]
        planes.sort(key=lambda T: tuple(-np.abs(_first(T)).round(6)))
        return [Component(_first(T), T, True, False, T) for T in planes], True
    samples = np.column_stack(_on_cone(values * keep, vectors, _seeds(len(Q), 32))[:_SAMPLES])
    return [Component(samples[:, 0], complement(Q @ samples[:, :1]), False, False, samples)], True


def _on_cone(values: Array, vectors: Array, near: Array) -> list[Array]:
    """Unit vectors s with s'Qs = 0, near some vectors (k, d), of a Q with eigenvalues of both signs.

    Q is given by its eigenvalues. The parts of s along positive and negative eigenvalues are made equally strong. Steps
    on the sphere would not do: where one eigenvalue is much smaller than the others, the cone is narrow, and its
    gradients are small.
    """
    directions = []
    for r in near @ vectors:
        ahead, behind = (float(np.sqrt((np.maximum(sign * values, 0.0) * r**2).sum())) for sign in (1.0, -1.0))
        if min(ahead, behind) <= 1e-6 * max(ahead, behind):
            continue
        s = vectors @ (r / np.where(values > 0.0, ahead, np.where(values < 0.0, behind, max(ahead, behind))))
        directions.append(s / np.linalg.norm(s))
    return directions


def _seeds(d: int, count: int) -> Array:
    """Points on the unit sphere, the same at every call: corners of the axes, then random ones."""
    pairs = [np.eye(d)[i] + sign * np.eye(d)[j] for i in range(min(d, 8)) for j in range(i) for sign in (1.0, -1.0)]
    S = np.vstack([np.eye(d), *pairs, np.random.default_rng(0).standard_normal((count, d))])[: max(count, 2 * d)]
    return S / np.linalg.norm(S, axis=1, keepdims=True)


def _newton(forms: Array, starts: Array) -> Array:
    """Unit vectors (k, d) on the cone from starts (k, d), by the smallest steps; those that fail are left out."""
    forms = forms / _sizes(forms)[:, None, None]
    S = starts.copy()
    open_ = np.arange(len(S))
    for _ in range(_STEPS):
        s = S[open_]
        J = np.einsum("pij,kj->kpi", forms, s)
        r = np.einsum("kpi,ki->kp", J, s)
        off = np.abs(r).max(axis=1, initial=0.0) >= 1e-16
        open_, s, J, r = open_[off], s[off], J[off], r[off]
        if not open_.size:
            break
        across = 2.0 * (J - r[:, :, None] * s[:, None, :])  # along the sphere: lengths say nothing
        step = np.einsum("kip,kp->ki", np.linalg.pinv(across, rcond=1e-9), r)
        length = np.linalg.norm(step, axis=1, keepdims=True)
        s = s - step * np.minimum(1.0, 0.5 / np.maximum(length, 1e-300))
        S[open_] = s / np.linalg.norm(s, axis=1, keepdims=True)
    return S[np.abs(((S @ forms) * S).sum(axis=2)).max(axis=0, initial=0.0) < 1e-12]


def _search(forms: Array, starts: Sequence[Array]) -> tuple[list[Component], bool]:
    """Pieces found from many starts, and whether they are proven to be all.

    They are if they are as many lines as p = d - 1 quadrics can have in common.

    By Bezout's theorem these meet in 2^p complex lines, if in a finite number; lines at which gradients are independent
    count once.
    """
    p, d = forms.shape[:2]
    count = int(np.clip(_WORK / (p * d * min(p, d) * _STEPS), 16, _SEEDS))
    own = [s / np.linalg.norm(s) for s in starts if np.linalg.norm(s) > 0.0]
    pieces: list[Component] = []
    for s in _newton(forms, np.vstack([*own, _seeds(d, count)])):
        matches = [
            i for i, c in enumerate(pieces) if c.linear and np.linalg.norm(s - c.tangent @ (c.tangent.T @ s)) < 1e-5
        ]
        if matches:
            continue
        piece = _piece(forms, s)
        if piece is None:  # pieces cross there
            continue
        same = [
            i for i, c in enumerate(pieces) if not (c.linear or piece.linear) and c.tangent.shape == piece.tangent.shape
        ]
        if same:  # curved pieces of one dimension cannot be told apart
            i = same[0]
            pieces[i] = pieces[i]._replace(samples=np.column_stack([pieces[i].samples, s])[:, :_SAMPLES])
        else:
            pieces.append(piece)
    order = sorted(range(len(pieces)), key=lambda i: tuple(-np.abs(pieces[i].s).round(6)))
    lines = [c for c in pieces if c.tangent.shape[1] == 1 and not _judged(forms, c).double]
    return [pieces[i] for i in order], p == d - 1 and len(lines) == len(pieces) == 2**p


def _piece(forms: Array, s: Array) -> Component | None:
    """Piece that a solution belongs to; None at points where pieces cross."""
    scaled = forms / _sizes(forms)[:, None, None]
    U, sigma, Vt = np.linalg.svd(scaled @ s)
    r = int(np.count_nonzero(sigma > 1e-5))
    T = Vt[r:].T
    unseen = np.tensordot(U[:, r:], T.T @ scaled @ T, (0, 0))  # what the gradients leave open
    if np.abs(unseen).max(initial=0.0) > 1e-5:
        T = _span_near(scaled, s, T)
        if np.abs(T.T @ scaled @ T).max() > 1e-5:
            return None
    linear = bool(np.abs(T.T @ scaled @ T).max() < 1e-5)
    s = T @ (T.T @ s)
    s = s / np.linalg.norm(s)
    return Component(_first(T) if linear and T.shape[1] > 1 else s, T, linear, False, T if linear else s[:, None])


def _span_near(forms: Array, s: Array, T: Array) -> Array:
    """Span (d, e) of the solutions next to s, from starts along its tangents T, where gradients do not determine it."""
    reach = 1e-2
    away = np.random.default_rng(1).standard_normal((T.shape[1] + 4, T.shape[1])) @ T.T
    around = s + reach * away / np.linalg.norm(away, axis=1, keepdims=True)
    near = _newton(forms, around / np.linalg.norm(around, axis=1, keepdims=True))
    near = near[np.linalg.norm(near - s, axis=1) < 3.0 * reach]
    U, sigma, _ = np.linalg.svd(np.column_stack([s, (near - s).T / reach]))
    return U[:, : int(np.count_nonzero(sigma > 1e-3))]


def nearest(forms: Array, g: Array, starts: Sequence[Array]) -> Array:
    """Nearest point of the cone to g (d,): from many starts, a few alternations, then Newton's method."""
    size = float(np.linalg.norm(g))
    if size == 0.0 or residual(forms, g / size) < 1e-15:
        return g
    forms, g = forms / _sizes(forms)[:, None, None], g / size
    S = _alternated(forms, g, _newton(forms, np.vstack([g, *starts, _seeds(len(g), 16)])), _ROUGH)
    different = np.unique(-np.abs(S @ g).round(4), return_index=True)[1]  # farthest first
    rough, refined = _longest(S, g), _longest(_stationary(forms, g, S[np.sort(different[:_BEST])]), g)
    if refined @ g < rough @ g - 1e-12:  # as where gradients vanish
        refined = _longest(_alternated(forms, g, S, 300), g)
    return refined * size


def _longest(S: Array, g: Array) -> Array:
    """Longest projection of a unit vector g on unit vectors S (k, d): the first of equal ones."""
    reach = S @ g
    best = np.flatnonzero(np.abs(reach) > np.abs(reach).max(initial=0.0) - 1e-12)[:1]
    return S[best[0]] * reach[best[0]] if best.size else np.zeros(len(g))


def _alternated(forms: Array, g: Array, S: Array, count: int) -> Array:
    """Unit vectors (k, d) on the cone nearer to g: its projection on their tangents is brought back onto the cone.

    This is repeated up to `count` times.
    """
    for _ in range(count if len(S) else 0):
        J = np.einsum("pij,kj->kpi", forms, S)
        ahead = g - np.einsum("kip,kp->ki", np.linalg.pinv(J, rcond=1e-9), J @ g)
        length = np.linalg.norm(ahead, axis=1)
        keep = length > 1e-12
        moved = _newton(forms, ahead[keep] / length[keep, None])
        still = len(moved) == len(S) and np.abs(moved - S).max() < 1e-14
        S = moved
        if still or not len(S):
            break
    return S


def _stationary(forms: Array, g: Array, S: Array) -> Array:
    """Unit vectors on the cone, near S (k, d), from which the distance to g is stationary; failures are left out.

    Newton's method for s and the multipliers mu in s - g + 2 sum mu Q s = 0 and s'Qs = 0.
    """
    d = len(g)
    X = S * (S @ g)[:, None]
    J = 2.0 * np.einsum("pij,kj->kpi", forms, X)
    mu = np.einsum("kpi,ki->kp", np.linalg.pinv(J.transpose(0, 2, 1), rcond=1e-9), g - X)
    K = np.zeros((len(X), d + len(forms), d + len(forms)))
    for _ in range(20):
        J = 2.0 * np.einsum("pij,kj->kpi", forms, X)
        off = np.hstack([X - g + np.einsum("kpi,kp->ki", J, mu), 0.5 * np.einsum("kpi,ki->kp", J, X)])
        K[:, :d, :d] = np.eye(d) + 2.0 * np.einsum("kp,pij->kij", mu, forms)
        K[:, d:, :d], K[:, :d, d:] = J, J.transpose(0, 2, 1)
        step = np.einsum("kij,kj->ki", np.linalg.pinv(K, rcond=1e-12), off)
        length = np.linalg.norm(step[:, :d], axis=1, keepdims=True)
        step *= np.minimum(1.0, 1.0 / np.maximum(length, 1e-300))
        X, mu = X - step[:, :d], mu - step[:, d:]
        if length.max(initial=0.0) < 1e-15:
            break
    good = (np.abs(off).max(axis=1) < 1e-12) & (np.linalg.norm(X, axis=1) > 1e-9)
    return _newton(forms, X[good] / np.linalg.norm(X[good], axis=1, keepdims=True))
