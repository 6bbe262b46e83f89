"""Two machines that should be one: coordinates of one in terms of the other, and what is compared."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from cmbcontrol.model.elements import Free, Planar, Spherical


@dataclass
class Matched:
    """A state of the other machine; its velocities are T v, and their rates T dv/dt + Tdot_v."""

    q: np.ndarray
    v: np.ndarray
    T: np.ndarray
    Tdot_v: np.ndarray


def matched(plant, made, q, v, start=None):
    """The state of a machine that was read, by the names of coordinates.

    `start` is where the file has its links, if its coordinates are zero there (SDF); without it, coordinates are the
    same, and planar joints and bodies that float stay as they are (URDF).
    """
    T, extra, qm = np.zeros((made.nv, plant.nv)), np.zeros(made.nv), made.neutral()
    row = {name: i for i, name in enumerate(made.velocity_names)}
    at = {name: i for i, name in enumerate(made.position_names)}
    iq = iv = 0
    for joint in plant.joints:
        nq, nv = len(joint.position_suffixes), len(joint.velocity_suffixes)
        x, w = q[iq : iq + nq], v[iv : iv + nv]
        x0 = None if start is None else start[iq : iq + nq]
        if start is not None and isinstance(joint, Planar):
            c, s = np.cos(x[2]), np.sin(x[2])
            rows = [row[f"{joint.name}_{suffix}"] for suffix in ("x", "y", "angle")]
            T[np.ix_(rows, range(iv, iv + 3))] = [[c, -s, 0], [s, c, 0], [0, 0, 1]]
            extra[rows[:2]] = w[2] * np.array([-s * w[0] - c * w[1], c * w[0] - s * w[1]])
            qm[[at[f"{joint.name}_{suffix}"] for suffix in ("x", "y", "angle")]] = x - x0
        elif start is not None and isinstance(joint, Free):
            # velocities of the joint's frame on the body, from those of the body's own frame
            name = f"{made_body(made, joint)}_free"
            R, p = joint.child_frame.R.T, -joint.child_frame.R.T @ joint.child_frame.p
            rows = [row[f"{name}_{s}"] for s in joint.velocity_suffixes]
            block = np.block([[R.T, np.zeros((3, 3))], [np.cross(-R.T @ p, R.T, axis=0) * 1.0, R.T]])
            T[np.ix_(rows, range(iv, iv + 6))] = block
            there, here = (plant.pose(z, joint.child) for z in (start, q))
            seen = there.inverse() @ here
            qm[[at[f"{name}_{s}"] for s in joint.position_suffixes]] = [*quaternion(seen.R), *seen.p]
        else:
            T[[row[n] for n in joint.velocity_names], range(iv, iv + nv)] = 1.0
            if start is None:
                qm[[at[n] for n in joint.position_names]] = x
            elif isinstance(joint, Spherical):
                turned = matrix(x0).T @ matrix(x)
                qm[[at[n] for n in joint.position_names]] = quaternion(turned)
            else:
                qm[[at[n] for n in joint.position_names]] = x - x0
        iq, iv = iq + nq, iv + nv
    return Matched(qm, T @ v, T, extra)


def made_body(made, joint):
    """The name that a body has in the machine that was read."""
    names = {body.name for body in made.bodies}
    return joint.child if joint.child in names else f"{joint.child}_link"


def matrix(q):
    return Rotation.from_quat(np.roll(q, -1)).as_matrix()


def quaternion(R):
    return np.roll(Rotation.from_matrix(R).as_quat(), 1)


def differences(plant, made, q, v, start=None):
    """Relative differences of M and h, and the distance of the spaces of velocities that the loops allow."""
    m = matched(plant, made, q, v, start)
    ours, theirs = plant.terms(q, v, check=False), made.terms(m.q, m.v, check=False)
    M = m.T.T @ theirs.M @ m.T
    h = m.T.T @ (theirs.h + theirs.M @ m.Tdot_v)
    scale = np.abs(ours.M).max()
    size_h = max(np.abs(ours.h).max(), scale * np.abs(v).max() ** 2 * 1e-3, 1e-300)
    (own, sharp), (other, _) = allowed(plant, ours.A), allowed(made, theirs.A)
    return {
        "M": np.abs(M - ours.M).max() / scale,
        "h": np.abs(h - ours.h).max() / size_h,
        "closure": made.closure_error(m.q) / made.length_scale(m.q) if made.row_names else 0.0,
        "space": distance(m.T @ own, other) * (sharp > 1e-4),  # near singular configurations, rounding decides
    }


def allowed(plant, A):
    """A basis of the velocities that the rows allow, and the smallest singular value of the rows that count."""
    if not A.shape[0]:
        return np.eye(A.shape[1]), 1.0
    _, values, Vt = np.linalg.svd(A * plant.row_scale[:, None] / plant.unit_lengths)
    rank = int((values > 1e-7).sum())  # of numbers without units
    return Vt[rank:].T / plant.unit_lengths[:, None], values[rank - 1] if rank else 1.0


def distance(X, Y):
    """Sine of the largest angle between the spaces of the columns; 1 where they have different dimensions."""
    if X.shape != Y.shape:
        return 1.0
    X, Y = np.linalg.qr(X)[0], np.linalg.qr(Y)[0]
    return float(np.linalg.norm(X - Y @ (Y.T @ X), 2)) if X.size else 0.0


def closed_state(plant, seed):
    """A random configuration with closed loops, and a velocity that they allow."""
    rng = np.random.default_rng([seed, 7])
    guess = plant.integrate(plant.neutral(), 0.3 * plant.displacement_scale * rng.uniform(-1, 1, plant.nv))
    q = guess
    if plant.row_names:
        q = plant.close(guess)
    v = rng.uniform(-1.5, 1.5, plant.nv)
    return q, plant.project_velocity(q, v) if plant.row_names else v
