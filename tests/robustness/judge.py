"""What is true of a machine, by plain numpy: an independent judge of the package, with which it shares nothing.

A machine is plain data (`Machine`). Configurations are carried along with their first and second derivatives with
respect to time (jets), joint by joint, so that Jacobians, accelerations and bias terms are derivatives of the one text
that says how a joint moves. The mass matrix is the sum of J'MJ over the bodies, and accelerations are those of Gauss'
principle by least squares, all in the extended precision of `numpy.longdouble`; ranks are counted by singular values
with a gap. The same text runs in mpmath (`Exact`).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np

REAL = np.longdouble  # 64 bits of mantissa on x86; elsewhere it may be double, and the judge is as exact as its judged
GAP = 1e-6, 1e-12  # of the largest: larger singular values count, smaller ones are rounding, and between is undecided

COORDINATES = {  # positions and velocities of each joint
    "revolute": (1, 1),
    "prismatic": (1, 1),
    "helical": (1, 1),
    "cylindrical": (2, 2),
    "universal": (2, 2),
    "planar": (3, 3),
    "spherical": (4, 3),
    "free": (7, 6),
    "fixed": (0, 0),
}


@dataclass
class Joint:
    """A joint, or a cut joint among the loops; frames are 4 x 4 on parent and child."""

    kind: str
    name: str
    parent: str
    child: str
    fa: Any
    fb: Any
    axis: Any = (0.0, 0.0, 1.0)
    axis2: Any = (0.0, 1.0, 0.0)
    pitch: float = 0.0
    damping: float = 0.0


@dataclass
class Tie:
    """Another loop: point, line, plane, distance or weld between a and b, or a coupling of coordinates."""

    kind: str
    name: str
    a: str = ""
    b: str = ""
    fa: Any = None
    fb: Any = None
    pa: Any = (0.0, 0.0, 0.0)
    pb: Any = (0.0, 0.0, 0.0)
    axis: Any = (0.0, 0.0, 1.0)
    length: float = 0.0
    coefficients: dict = field(default_factory=dict)  # (joint, which of its coordinates): coefficient
    offset: float = 0.0


@dataclass
class Spring:
    """Between two points, or on a coordinate (joint, which)."""

    stiffness: float
    rest: float
    damping: float
    a: str = ""
    b: str = ""
    pa: Any = None
    pb: Any = None
    at: tuple | None = None


@dataclass
class Motor:
    """On a coordinate (joint, which), along the axis of a cut joint, or a torque between bodies (a, b, axis in a)."""

    gear: float
    at: tuple | None = None
    cut: str = ""
    bodies: tuple = ()
    axis: Any = (0.0, 0.0, 1.0)


@dataclass
class Machine:
    """Plain data of a machine with a closed configuration and a velocity; lengths in units of `k`, and so on."""

    name: str
    bodies: dict  # name: (mass, com, inertia)
    joints: list
    loops: list
    springs: list = field(default_factory=list)
    motors: list = field(default_factory=list)
    gravity: Any = (0.0, 0.0, -9.81)
    k: float = 1.0  # metres
    mass: float = 1.0  # kg
    time: float = 1.0  # s
    q: Any = None
    v: Any = None
    label: str = ""  # what it is by construction, where that is known
    note: str = ""

    @property
    def slices(self):
        """Position and velocity coordinates of each joint."""
        found, nq, nv = {}, 0, 0
        for j in self.joints:
            a, b = COORDINATES[j.kind]
            found[j.name] = slice(nq, nq + a), slice(nv, nv + b)
            nq, nv = nq + a, nv + b
        return found

    @property
    def nv(self):
        return sum(COORDINATES[j.kind][1] for j in self.joints)

    @property
    def nq(self):
        return sum(COORDINATES[j.kind][0] for j in self.joints)

    def metres(self):
        """What makes each velocity coordinate a number of order one: its unit, for travels."""
        turns, travels = [1.0], [self.k]
        units = {
            "prismatic": travels,
            "cylindrical": turns + travels,
            "planar": travels * 2 + turns,
            "free": turns * 3 + travels * 3,
        }
        return np.array([u for j in self.joints for u in units.get(j.kind, turns * COORDINATES[j.kind][1])])


# -- numbers: the same text for longdouble and for mpmath ---------------------------------------------


class Plain:
    """Functions of numpy's numbers."""

    sin, cos, atan2, sqrt = np.sin, np.cos, np.arctan2, np.sqrt

    @staticmethod
    def array(x):
        return np.asarray(x, dtype=REAL)

    @staticmethod
    def zeros(shape):
        return np.zeros(shape, REAL)


class Exact:
    """Functions of mpmath's numbers, in arrays of objects."""

    def __init__(self, digits=50):
        import mpmath

        self.mp = mpmath.mp.clone()
        self.mp.dps = digits
        self.sin, self.cos, self.atan2, self.sqrt = self.mp.sin, self.mp.cos, self.mp.atan2, self.mp.sqrt

    def array(self, x):
        x = np.asarray(x)
        flat = [
            v if isinstance(v, self.mp.mpf) else self.mp.mpf(str(v) if isinstance(v, REAL) else float(v))
            for v in x.flat
        ]
        out = np.empty(x.size, dtype=object)
        out[:] = flat
        return out.reshape(x.shape)

    def zeros(self, shape):
        return np.full(shape, self.mp.mpf(0), dtype=object)


# -- jets: (value, first derivatives (B, ...), second derivatives (B, ...)) ---------------------------


def times(X, Y):
    """Product of two jets of matrices."""
    x0, x1, x2 = X
    y0, y1, y2 = Y
    return x0 @ y0, x1 @ y0 + x0 @ y1, x2 @ y0 + 2 * (x1 @ y1) + x0 @ y2


def mult(x, y):
    """Product of two jets of numbers."""
    return x[0] * y[0], x[1] * y[0] + x[0] * y[1], x[2] * y[0] + 2 * x[1] * y[1] + x[0] * y[2]


def plus(x, y, factor=1):
    return tuple(a + factor * b for a, b in zip(x, y, strict=True))


def constant(T, batch, lib):
    T = lib.array(T)
    return T, lib.zeros((batch, *T.shape)), lib.zeros((batch, *T.shape))


def inverse(X):
    """Of a jet of rigid configurations."""
    R = tuple(np.swapaxes(x[..., :3, :3], -1, -2) for x in X)
    p = tuple(x[..., :3, 3:] for x in X)
    moved = times(R, p)
    out = []
    for order, (r, d) in enumerate(zip(R, moved, strict=True)):
        T = np.zeros((*r.shape[:-2], 4, 4), r.dtype) + 0 * r.flat[0]
        T[..., :3, :3], T[..., :3, 3:] = r, -d
        if order == 0:
            T[3, 3] = T[3, 3] + 1
        out.append(T)
    return tuple(out)


def cross_matrix(w):
    w = np.asarray(w)
    K = np.zeros((*w.shape[:-1], 3, 3), w.dtype) + 0 * w.flat[0]
    K[..., 0, 1], K[..., 0, 2], K[..., 1, 2] = -w[..., 2], w[..., 1], -w[..., 0]
    K[..., 1, 0], K[..., 2, 0], K[..., 2, 1] = w[..., 2], -w[..., 1], w[..., 0]
    return K


def pose(R, p):
    T = np.zeros((4, 4), np.asarray(R).dtype) + 0 * np.asarray(R).flat[0]
    T[:3, :3], T[:3, 3] = R, p
    T[3, 3] = T[3, 3] + 1
    return T


def turn(axis, angle, rate, lib):
    """Jet of a rotation about a fixed unit axis at constant rates (B,)."""
    K = cross_matrix(axis)
    s, c = lib.sin(angle), lib.cos(angle)
    eye = lib.array(np.eye(3))
    R = eye + s * K + (1 - c) * (K @ K)
    d, dd = c * K + s * (K @ K), -s * K + c * (K @ K)
    return R, rate[:, None, None] * d, (rate**2)[:, None, None] * dd


def unit(axis, lib):
    a = lib.array(axis)
    return a / lib.sqrt(a @ a)


def plane_axes(axis, lib):
    """The shortest rotation of z to the axis (Rodrigues): in it, a planar joint counts x and y."""
    a = unit(axis, lib)
    z = lib.array([0.0, 0.0, 1.0])
    K = cross_matrix(np.array([z[1] * a[2] - z[2] * a[1], z[2] * a[0] - z[0] * a[2], z[0] * a[1] - z[1] * a[0]]))
    return lib.array(np.eye(3)) + K + K @ K / (1 + a[2])


def rotation_of(x, lib):
    """Of a quaternion (w, x, y, z)."""
    w, x, y, z = x / lib.sqrt(x @ x)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def joint_motion(j, x, rates, lib=Plain):
    """Jet of the child side of a joint in its frame on the parent: positions x, rates (B, nv), no accelerations."""
    batch = len(rates)
    R = constant(np.eye(3), batch, lib)
    p = constant(np.zeros(3), batch, lib)
    match j.kind:
        case "revolute":
            R = turn(unit(j.axis, lib), x[0], rates[:, 0], lib)
        case "prismatic":
            a = unit(j.axis, lib)
            p = x[0] * a, rates[:, :1] * a, p[2]
        case "helical":
            a = unit(j.axis, lib)
            R = turn(a, x[0], rates[:, 0], lib)
            pitch = lib.array(j.pitch)[()]
            p = pitch * x[0] * a, pitch * rates[:, :1] * a, p[2]
        case "cylindrical":
            a = unit(j.axis, lib)
            R = turn(a, x[0], rates[:, 0], lib)
            p = x[1] * a, rates[:, 1:] * a, p[2]
        case "universal":
            first = turn(unit(j.axis, lib), x[0], rates[:, 0], lib)
            R = times(first, turn(unit(j.axis2, lib), x[1], rates[:, 1], lib))
        case "planar":
            E = plane_axes(j.axis, lib)
            R = turn(unit(j.axis, lib), x[2], rates[:, 2], lib)
            along = rates[:, :2] @ E[:, :2].T  # velocity in the child's axes
            p = E[:, :2] @ x[:2], along @ R[0].T, (R[1] @ along[:, :, None])[:, :, 0]
        case "spherical" | "free":
            R0, K = rotation_of(x[:4], lib), cross_matrix(rates[:, :3])
            R = R0, R0 @ K, R0 @ K @ K
            if j.kind == "free":
                p = x[4:], rates[:, 3:] @ R0.T, (R[1] @ rates[:, 3:, None])[:, :, 0]
    out = []
    for order, (r, d) in enumerate(zip(R, p, strict=True)):
        T = lib.zeros((*r.shape[:-2], 4, 4))
        T[..., :3, :3], T[..., :3, 3] = r, d
        if order == 0:
            T[3, 3] = T[3, 3] + 1
        out.append(T)
    return tuple(out)


def poses(m, q, rates, lib=Plain):
    """Jets of all bodies at q with velocities `rates` (B, nv) and zero joint accelerations."""
    q, rates = lib.array(q), lib.array(rates)
    found = {"ground": constant(np.eye(4), len(rates), lib)}
    slices, waiting = m.slices, list(m.joints)
    while waiting:
        for j in [j for j in waiting if j.parent in found]:
            iq, iv = slices[j.name]
            fixed_a, fixed_b = lib.array(j.fa), inverse((lib.array(j.fb),) * 3)[0]
            X = joint_motion(j, q[iq], rates[:, iv], lib)
            X = tuple(fixed_a @ x @ fixed_b for x in X)
            found[j.child] = X if j.parent == "ground" else times(found[j.parent], X)
        waiting = [j for j in waiting if j.child not in found]
    return found


def moved(m, q, dq, lib=Plain):
    """q moved by dq (nv,)."""
    q, dq = lib.array(q).copy(), lib.array(dq)
    for j in m.joints:
        iq, iv = m.slices[j.name]
        x, d = q[iq], dq[iv]
        if j.kind in ("spherical", "free"):
            angle = lib.sqrt(d[:3] @ d[:3])
            w = lib.cos(angle / 2)
            e = d[:3] * (lib.sin(angle / 2) / angle if angle != 0 else 0)
            a, r = x[0], x[1:4]
            cross = np.array([r[1] * e[2] - r[2] * e[1], r[2] * e[0] - r[0] * e[2], r[0] * e[1] - r[1] * e[0]])
            turned = np.concatenate([[a * w - r @ e], a * e + w * r + cross])
            if j.kind == "free":
                x[4:] = x[4:] + rotation_of(x[:4], lib) @ d[3:]
            x[:4] = turned / lib.sqrt(turned @ turned)
        elif j.kind == "planar":
            c, s = lib.cos(x[2]), lib.sin(x[2])
            x[:2] = x[0] + c * d[0] - s * d[1], x[1] + s * d[0] + c * d[1]
            x[2] = x[2] + d[2]
        else:
            x[:] = x + d
    return q


# -- loops --------------------------------------------------------------------------------------------


def rows_of(m, loop, at, q, rates, lib=Plain):
    """Jets of the rows of a loop, travels in metres and turns in radians, and the unit of each."""
    if loop.kind == "coupling":
        value, rate = -lib.array(loop.offset)[()], 0 * rates[:, 0]
        for (joint, which), c in loop.coefficients.items():
            iq, iv = m.slices[joint]
            value = value + lib.array(c)[()] * q[iq.start + which]
            rate = rate + lib.array(c)[()] * rates[:, iv.start + which]
        size = np.sqrt(sum((c * m.metres()[m.slices[j][1].start + i]) ** 2 for (j, i), c in loop.coefficients.items()))
        return [((value, rate, 0 * rate), float(size))]
    if isinstance(loop, Joint):
        a, b, fa, fb = loop.parent, loop.child, loop.fa, loop.fb
    else:
        a, b = loop.a, loop.b
        fa = loop.fa if loop.fa is not None else pose(np.eye(3), np.asarray(loop.pa, float))
        fb = loop.fb if loop.fb is not None else pose(np.eye(3), np.asarray(loop.pb, float))
    fa, fb = lib.array(fa), lib.array(fb)
    D = times(inverse(tuple(x @ fa for x in at[a])), tuple(x @ fb for x in at[b]))
    p = tuple(x[..., :3, 3] for x in D)
    R = tuple(x[..., :3, :3] for x in D)

    def along(u):
        u = lib.array(u)
        return tuple(x @ u for x in p)

    def between(u, w):
        u, w = lib.array(u), lib.array(w)
        return tuple((x @ w) @ u for x in R)

    k = m.k
    point = [(along(e), k) for e in np.eye(3)]
    full = [(plus(between(e, f), between(f, e), -1), 1.0) for e, f in itertools.combinations(np.eye(3), 2)]
    if loop.kind in ("point", "spherical"):
        return point
    if loop.kind in ("weld", "fixed"):
        return point + full
    if loop.kind == "distance":
        square = mult(along([1, 0, 0]), along([1, 0, 0]))
        for e in np.eye(3)[1:]:
            square = plus(square, mult(along(e), along(e)))
        length = lib.array(loop.length)[()]
        return [(((square[0] - length**2) / (2 * length), square[1] / (2 * length), square[2] / (2 * length)), k)]
    if loop.kind == "universal":
        return [*point, (between(unit(loop.axis, lib), unit(loop.axis2, lib)), 1.0)]
    axis = unit(loop.axis, lib)
    e1, e2 = across(axis, lib)
    if loop.kind == "plane":
        return [(along(axis), k)]
    if loop.kind == "line":
        return [(along(e1), k), (along(e2), k)]
    tilt = [(between(e1, axis), 1.0), (between(e2, axis), 1.0)]
    if loop.kind == "revolute":
        return [*point, *tilt]
    if loop.kind == "planar":
        return [(along(axis), k), *tilt]
    rest = [(along(e1), k), (along(e2), k)]
    if loop.kind == "cylindrical":
        return [*rest, *tilt]
    if loop.kind == "prismatic":
        return [*rest, *full]
    if loop.kind == "helical":
        x = plus(between(e1, e1), between(e2, e2))
        y = plus(between(e2, e1), between(e1, e2), -1)
        n, dn = x[0] ** 2 + y[0] ** 2, 2 * (x[0] * x[1] + y[0] * y[1])
        cross = x[0] * y[1] - y[0] * x[1]
        angle = lib.atan2(y[0], x[0])
        travel, pitch = along(axis), lib.array(loop.pitch)[()]
        circle = 8 * lib.atan2(lib.array(1.0)[()], lib.array(1.0)[()])
        turns = round(float((travel[0] / pitch - angle) / circle))
        angle = angle + turns * circle
        second = (x[0] * y[2] - y[0] * x[2]) / n - cross * dn / n**2
        return [*rest, *tilt, (plus(travel, (angle, cross / n, second), -pitch), k)]
    raise ValueError(loop.kind)


def across(axis, lib):
    """Two unit vectors across a unit axis."""
    a = np.asarray(axis, dtype=float)
    e = np.eye(3)[int(np.argmin(np.abs(a)))]
    first = lib.array(e)
    first = unit(first - (first @ axis) * axis, lib)
    second = np.array([axis[1] * first[2] - axis[2] * first[1], axis[2] * first[0] - axis[0] * first[2],
                       axis[0] * first[1] - axis[1] * first[0]])  # fmt: skip
    return first, second


def residual(m, q, lib=Plain):
    """Residuals of all rows, in units of the machine's size."""
    q, rates = lib.array(q), lib.zeros((1, m.nv))
    at = poses(m, q, rates, lib)
    rows = [r for loop in m.loops for r in rows_of(m, loop, at, q, rates, lib)]
    return np.array([jet[0] / size for jet, size in rows])


# -- equations of motion -----------------------------------------------------------------------------------


@dataclass
class Terms:
    """M a + h = B u on A a = -b; A and b in units of the machine's size."""

    M: Any
    h: Any
    B: Any
    A: Any
    b: Any
    phi: Any
    kinetic: float
    potential: float
    weight: float  # the largest potential energy of any part, as a scale


def terms(m, q, v):
    """All terms at a state, in extended precision."""
    lib, n = Plain, m.nv
    q, v = lib.array(q), lib.array(v)
    rates = np.concatenate([np.eye(n, dtype=REAL), v[None]])
    at = poses(m, q, rates)
    M, h, g = np.zeros((n, n), REAL), np.zeros(n, REAL), lib.array(m.gravity)
    potential, weight = REAL(0), REAL(0)
    for name, (mass, com, inertia) in m.bodies.items():
        if mass == 0.0:
            continue
        T = at[name]
        c = lib.array([*com, 1.0])
        x, dx, ddx = T[0] @ c, T[1] @ c, T[2] @ c
        R, dR, ddR = T[0][:3, :3], T[1][:, :3, :3], T[2][:, :3, :3]
        W = dR @ R.T  # cross matrices of the angular velocities
        w = np.stack([W[:, 2, 1], W[:, 0, 2], W[:, 1, 0]], axis=-1)
        Wd = ddR[-1] @ R.T + dR[-1] @ dR[-1].T
        wd = np.array([Wd[2, 1], Wd[0, 2], Wd[1, 0]])
        I = R @ lib.array(inertia) @ R.T
        Jc, Jw, J_mass = dx[:n, :3], w[:n], REAL(mass)
        M += J_mass * Jc @ Jc.T + Jw @ I @ Jw.T
        gyro = I @ wd + np.cross(w[n], I @ w[n])
        h += Jc @ (J_mass * (ddx[n, :3] - g)) + Jw @ gyro
        potential -= J_mass * g @ x[:3]
        weight = max(weight, abs(J_mass * g @ x[:3]))
    for s in m.springs:
        if s.at is not None:
            iq, iv = (m.slices[s.at[0]][i].start + s.at[1] for i in (0, 1))
            h[iv] += REAL(s.stiffness) * (q[iq] - REAL(s.rest)) + REAL(s.damping) * v[iv]
            energy = REAL(s.stiffness) * (q[iq] - REAL(s.rest)) ** 2 / 2
        else:
            A, B = at[s.a], at[s.b]
            pa, pb = lib.array([*s.pa, 1.0]), lib.array([*s.pb, 1.0])
            d, dd = (B[0] @ pb - A[0] @ pa)[:3], (B[1] @ pb - A[1] @ pa)[:, :3]
            length = np.sqrt(d @ d)
            rate = dd @ d / length
            tension = REAL(s.stiffness) * (length - REAL(s.rest)) + REAL(s.damping) * rate[n]
            h += tension * rate[:n]
            energy = REAL(s.stiffness) * (length - REAL(s.rest)) ** 2 / 2
        potential += energy
        weight = max(weight, abs(energy))
    for j in m.joints:
        iv = m.slices[j.name][1]
        h[iv] += REAL(j.damping) * v[iv]
    B = np.zeros((n, len(m.motors)), REAL)
    for i, motor in enumerate(m.motors):
        B[:, i] = motor_column(m, motor, at, n)
    rows = [r for loop in m.loops for r in rows_of(m, loop, at, q, rates)]
    A = np.array([jet[1][:n] / REAL(size) for jet, size in rows]).reshape(len(rows), n)
    b = np.array([jet[2][n] / REAL(size) for jet, size in rows])
    phi = np.array([jet[0] / REAL(size) for jet, size in rows])
    return Terms(M, h, B, A, b, phi, v @ M @ v / 2, potential, float(weight))


def motor_column(m, motor, at, n):
    """Generalised force of a unit of effort: the rate of what it drives."""
    gear = REAL(motor.gear)
    if motor.at is not None:
        column = np.zeros(n, REAL)
        column[m.slices[motor.at[0]][1].start + motor.at[1]] = gear
        return column
    if motor.cut:
        j = next(x for x in m.loops if x.name == motor.cut)
        a, b, frame = j.parent, j.child, Plain.array(j.fa)
        axis, slide = frame[:3, :3] @ unit(j.axis, Plain), j.kind == "prismatic"
    else:
        (a, b), axis, slide, frame = motor.bodies, unit(motor.axis, Plain), False, None
    D = times(inverse(at[a]), at[b])  # b seen from a
    if slide:  # the point of b that lies at the frame's origin
        point = inverse((D[0],) * 3)[0] @ frame[:, 3]
        return gear * (D[1][:n] @ point)[:, :3] @ axis
    W = D[1][:n, :3, :3] @ D[0][:3, :3].T
    return gear * np.stack([W[:, 2, 1], W[:, 0, 2], W[:, 1, 0]], axis=-1) @ axis


def jacobian(m, q):
    """A (rows, nv), in units of the machine's size, and residual."""
    n = m.nv
    q, rates = Plain.array(q), np.eye(n, dtype=REAL)
    at = poses(m, q, rates)
    rows = [r for loop in m.loops for r in rows_of(m, loop, at, q, rates)]
    A = np.array([jet[1] / REAL(size) for jet, size in rows]).reshape(-1, n)
    return A, np.array([jet[0] / REAL(size) for jet, size in rows])


# -- linear algebra in extended precision ---------------------------------------------------------------------


def cholesky(M):
    """Lower factor, or None; in extended precision, on a matrix scaled to a unit diagonal."""
    n = len(M)
    d = np.sqrt(np.abs(np.diagonal(M)))
    if n and not d.min() > 0:
        return None
    S, L = M / np.outer(d, d), np.zeros_like(M)
    for i in range(n):
        L[i, :i] = L[i, :i]
        for j in range(i + 1):
            s = S[i, j] - L[i, :j] @ L[j, :j]
            if i > j:
                L[i, j] = s / L[j, j]
            elif s > 1e-9:  # lighter than this beside its neighbours: not judged
                L[i, i] = np.sqrt(s)
            else:
                return None
    return d[:, None] * L


def solve_lower(L, X):
    X = np.array(X, dtype=L.dtype)
    for i in range(len(L)):
        X[i] = (X[i] - L[i, :i] @ X[:i]) / L[i, i]
    return X


def solve_upper(U, X):
    X = np.array(X, dtype=U.dtype)
    for i in range(len(U) - 1, -1, -1):
        X[i] = (X[i] - U[i, i + 1 :] @ X[i + 1 :]) / U[i, i]
    return X


def singular_values(G):
    return np.linalg.svd(np.asarray(G, dtype=float), compute_uv=False) if min(G.shape) else np.zeros(0)


@dataclass
class Rank:
    """A number of independent rows, and whether a gap in the singular values decides it."""

    value: int
    decided: bool
    conditioning: float


def rank_of(G, scale=1.0):
    """By a gap in the singular values, relative to the largest; below rounding of `scale` there is none."""
    s = singular_values(G)
    if not len(s) or s[0] < GAP[1] * scale:
        return Rank(0, True, 1.0)
    value = int(np.count_nonzero(s > np.sqrt(GAP[0] * GAP[1]) * s[0]))
    decided = s[value - 1] > GAP[0] * s[0] and (value == len(s) or s[value] < GAP[1] * s[0])
    return Rank(value, bool(decided), float(s[value - 1] / s[0]))


def row_space(G, rank):
    """Orthonormal columns that span the first `rank` pivoted rows of G, R with G[order] = R Q', and the order."""
    X, order = np.array(G, dtype=REAL), []
    Q = np.zeros((G.shape[1], rank), REAL)
    for k in range(rank):
        sizes = (X * X).sum(axis=1)
        i = int(np.argmax(sizes))
        x = X[i].copy()
        for _ in range(2):  # orthogonal to rounding
            x -= Q[:, :k] @ (Q[:, :k].T @ x)
        x /= np.sqrt(x @ x)
        Q[:, k] = x
        X -= np.outer(X @ x, x)
        X[i] = 0
        order.append(i)
    return Q, np.asarray(G, dtype=REAL)[order] @ Q, order


@dataclass
class Split:
    """The motions that the loops leave at a state, in the metric of M."""

    L: Any
    Q: Any  # rows' side, in mass coordinates
    R: Any
    order: list
    Z: Any  # admissible velocities, orthonormal in M
    rank: Rank  # in the metric of M and in plain units alike


def split(t, m, rank=None):
    """Of terms; None where the mass matrix is not clearly positive."""
    L = cholesky(t.M)
    if L is None:
        return None
    n = len(t.M)
    G = solve_lower(L, t.A.T).T
    inside, plain = rank_of(G, singular_values(solve_lower(L, np.diag(1.0 / m.metres())))[0]), rank_of(t.A * m.metres())
    found = Rank(inside.value, inside.decided and plain.decided and inside.value == plain.value,
                 min(inside.conditioning, plain.conditioning))  # fmt: skip
    r = found.value if rank is None else rank
    Q, R, order = row_space(G, r)
    full = (
        np.linalg.qr(np.concatenate([np.asarray(Q, float), np.eye(n)], axis=1))[0][:, r:] if r < n else np.zeros((n, 0))
    )
    full = full.astype(REAL)
    for _ in range(2):
        full = full - Q @ (Q.T @ full)
        for k in range(full.shape[1]):
            full[:, k] -= full[:, :k] @ (full[:, :k].T @ full[:, k])
            full[:, k] /= np.sqrt(full[:, k] @ full[:, k])
    return Split(L, Q, R, order, solve_upper(L.T, full), found)


def acceleration(t, s, force):
    """That of Gauss' principle under a joint force (nv,): the nearest to the free one that the loops allow."""
    free = solve_lower(s.L, force - t.h)  # in mass coordinates
    head = solve_lower(s.R, -t.b[s.order]) if len(s.order) else np.zeros(0, REAL)
    return solve_upper(s.L.T, free - s.Q @ (s.Q.T @ free) + s.Q @ head)


def size_of(t, x):
    """Length of a joint rate or acceleration in the metric of M."""
    return float(np.sqrt(abs(x @ t.M @ x)))


# -- the manifold ----------------------------------------------------------------------------------------------


def close(m, q, held=(), steps=60, rcond=1e-9, went=None):
    """The closed configuration by Newton's method with least steps in plain units; None where it does not arrive.

    The steps are added to `went` (nv,), where it is given.
    """
    unit, q = m.metres(), Plain.array(q)
    free = np.array([i for i in range(m.nv) if i not in set(held)], dtype=int)
    best = np.inf
    for _ in range(steps):
        A, phi = jacobian(m, q)
        size = float(np.abs(phi).max(initial=0.0))
        if size < 3e-17 or (size < 1e-14 and size > 0.3 * best):
            return q
        best = min(best, size)
        U, s, Vt = np.linalg.svd(np.asarray(A, float)[:, free] * unit[free], full_matrices=False)
        part = (U.T @ -np.asarray(phi, float)) / np.where(s > rcond, s, np.inf)
        step = Vt.T @ part
        largest = np.abs(step).max(initial=0.0)
        if not np.isfinite(largest):
            return None
        dq = np.zeros(m.nv)
        dq[free] = unit[free] * step * min(1.0, 0.5 / max(largest, 1e-300))
        if went is not None:
            went += dq
        q = moved(m, q, dq)
    return q if best < 1e-12 else None


def distance(m, p, q):
    """Largest difference of two configurations by body: travels in sizes, turns in radians."""
    a, b = (poses(m, x, np.zeros((1, m.nv))) for x in (p, q))
    return max((float(np.abs(a[n][0] - b[n][0])[:3, 3].max() / m.k) + float(np.abs(a[n][0] - b[n][0])[:3, :3].max())
                for n in m.bodies), default=0.0)  # fmt: skip


@dataclass
class Verdict:
    """What a configuration is: regular, singular, rigid (nothing moves to first order), locked (only to first order).

    Singular: the rank is lower than nearby. Locked: first-order degrees of freedom lead nowhere, all or some of them.
    """

    what: str
    rank: int
    generic: int
    conditioning: float
    why: str = ""


def verdict(m, q, tries=4, reach=0.02, seed=0):
    """Of a closed pose."""
    rng = np.random.default_rng(seed)
    unit = m.metres()
    t = terms(m, q, np.zeros(m.nv))
    if float(np.abs(t.phi).max(initial=0.0)) > 1e-14:
        return Verdict("undecided", 0, 0, 0.0, "open")
    s = split(t, m)
    if s is None:
        return Verdict("undecided", 0, 0, 0.0, "mass")
    r = s.rank
    if not r.decided:
        return Verdict("undecided", r.value, r.value, r.conditioning, "no gap")
    if r.value == m.nv:
        return Verdict("rigid", r.value, r.value, r.conditioning)
    if r.value == len(t.A):  # independent rows: the implicit function theorem
        return Verdict("regular", r.value, r.value, r.conditioning)
    null = np.linalg.svd(np.asarray(t.A, float) * unit)[2][r.value :]
    ranks, moves, led = [], [], []  # led: how far the loops lead away from a first-order freedom
    for i in range(tries):
        way = rng.standard_normal(len(null)) @ null
        far = reach * (1 + i % 3)
        way *= far / np.abs(way).max()
        went = unit * way
        near = close(m, moved(m, q, went), went=went)
        if near is None:
            continue
        moves.append(distance(m, q, near) / far)
        led.append(float(np.linalg.norm(null @ (went / unit - way)) / np.linalg.norm(way)))
        if 0.05 < moves[-1] < 20.0:
            A = jacobian(m, near)[0]
            ranks.append(rank_of(A * unit))
        same = len({(x.decided, x.value) for x in ranks}) == 1 and ranks[0].decided
        if i >= 1 and same and len(ranks) == i + 1 and (max(led) < 0.3 or ranks[0].value > r.value):
            break
    generic = max([x.value for x in ranks if x.decided], default=0)
    stuck = not ranks or max(led) > 0.3
    if (
        generic <= r.value and ranks and stuck
    ):  # a strong curvature leads away, too, but less the nearer it is looked at
        nearer = []
        for _ in range(3):
            way = rng.standard_normal(len(null)) @ null
            way *= 0.02 * reach / np.abs(way).max()
            went = unit * way
            if close(m, moved(m, q, went), went=went) is not None:
                nearer.append(float(np.linalg.norm(null @ (went / unit - way)) / np.linalg.norm(way)))
        stuck = not nearer or max(nearer) > 0.3
    if generic <= r.value and stuck:
        # Newton's method may have come back from the side of a branch: each coordinate in turn is held off its value
        for i in np.flatnonzero(np.abs(null).max(axis=0) > 1e-6):
            for _ in range(3):
                way = rng.standard_normal(len(null)) @ null
                if abs(way[i]) < 1e-3 * np.abs(way).max():
                    continue
                near = close(m, moved(m, q, unit * way * reach / abs(way[i])), held=[i])
                if near is not None and reach / 20.0 < distance(m, q, near) < 1.0:
                    ranks.append(rank_of(jacobian(m, near)[0] * unit))
                    if ranks[-1].decided and ranks[-1].value > r.value:
                        break
        generic = max([x.value for x in ranks if x.decided], default=0)
    if generic > r.value:
        return Verdict("singular", r.value, generic, r.conditioning)
    if not ranks and (not moves or max(moves) > 1e-3):
        return Verdict("undecided", r.value, r.value, r.conditioning, "no neighbours")
    if not ranks:
        return Verdict("locked", r.value, m.nv, r.conditioning)
    if stuck:  # where all first-order degrees of freedom are motions, they lead away to second order only
        return Verdict("locked", r.value, generic, r.conditioning, "partly")
    if not all(x.decided and x.value == r.value for x in ranks):
        return Verdict("undecided", r.value, generic, r.conditioning, "no gap nearby")
    return Verdict("regular", r.value, generic, r.conditioning)
