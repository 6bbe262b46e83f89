"""Linear models of the planar machines from MuJoCo's differences of its time step."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from . import planar
from .planar import GROUND, TURN, Array, Link, Machine

SETTINGS = {
    "model": "a joint a link, connect equality between sites at the cuts; soft by design",
    "mjd_transitionFD": "centred differences of one step; poles of the continuous machine are log(eigenvalues)/step; "
    "taken where MuJoCo itself is at rest, which is near the equilibrium of the rigid machine",
    "default": "solref 0.02 1, solimp 0.9 0.95 0.001, Euler, step 2 ms: what a model file without options has",
    "stiff": "solref in its direct form, -1e8 and -2e4 (natural frequency 1e4 rad/s), solimp 0.9999, step 2e-5 s",
}

_DEFAULT: dict[str, Any] = {"step": 2e-3, "hard": ""}
_STIFF: dict[str, Any] = {"step": 2e-5, "hard": 'solref="-1e8 -2e4" solimp="0.9999 0.9999 0.001"'}


def available() -> bool:
    """Tell whether MuJoCo can be imported."""
    return find_spec("mujoco") is not None


def version() -> str:
    """Return the version."""
    import mujoco

    return str(mujoco.__version__)


def poles(machine: Machine, q: Array) -> dict[str, Array]:
    """Return all poles, those of the soft loops included."""
    return {
        "mjd_transitionFD, default solref": transition(machine, q, **_DEFAULT),
        "mjd_transitionFD, stiff solref": transition(machine, q, **_STIFF),
    }


def transition(machine: Machine, q: Array, step: float, hard: str) -> Array:
    """Poles log(eig)/step of the linearized time step."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(_xml(machine, step, hard))
    data = mujoco.MjData(model)
    data.qpos[:] = _at_rest(model, q)
    n = model.nv
    A = np.empty((2 * n, 2 * n))
    mujoco.mjd_transitionFD(model, data, 1e-6, True, A, None, None, None)
    return np.log(np.linalg.eigvals(A).astype(complex)) / step


def _acceleration(model: Any, q: Array) -> Array:
    import mujoco

    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_forward(model, data)
    return data.qacc.copy()


def _at_rest(model: Any, q: Array) -> Array:
    """The configuration where MuJoCo's own acceleration vanishes (Newton with differences)."""
    q, h = q.copy(), 1e-6
    for _ in range(30):
        slope = [(_acceleration(model, q + h * e) - _acceleration(model, q - h * e)) / (2 * h) for e in np.eye(len(q))]
        dq = np.linalg.lstsq(np.array(slope).T, -_acceleration(model, q))[0]
        q += dq
        if np.abs(dq).max() < 1e-12:
            break
    return q


def _xml(machine: Machine, step: float, hard: str) -> str:
    cuts = "".join(f'<connect site1="one{i}" site2="other{i}" {hard}/>' for i in range(len(machine.loops)))
    trees = "".join(_body(machine, i) for i, link in enumerate(machine.links) if link.parent == GROUND)
    return (
        f'<mujoco><compiler angle="radian"/><option timestep="{step!r}" gravity="0 {-planar.GRAVITY} 0" '
        f'solver="Newton" iterations="100" tolerance="0"><flag contact="disable" warmstart="disable"/></option>'
        f"<worldbody>{_sites(machine, GROUND)}{trees}</worldbody><equality>{cuts}</equality></mujoco>"
    )


def _body(machine: Machine, i: int) -> str:
    link, (x, y) = machine.links[i], machine.links[i].pivot
    carried = "".join(_body(machine, k) for k, other in enumerate(machine.links) if other.parent == i)
    return f'<body pos="{x} {y} 0">{_joint(link)}{_inertial(link)}{_sites(machine, i)}{carried}</body>'


def _joint(link: Link) -> str:
    kind = "hinge" if link.joint == TURN else "slide"
    axis = {TURN: "0 0 1", planar.SLIDE_X: "1 0 0", planar.SLIDE_Y: "0 1 0"}[link.joint]
    return (
        f'<joint type="{kind}" axis="{axis}" stiffness="{link.stiffness}" springref="{link.rest}" '
        f'damping="{link.damping}"/>'
    )


def _inertial(link: Link) -> str:
    mass, spin = link.mass or 1e-12, link.inertia or 1e-12  # slides have no mass of their own; MuJoCo wants some
    return f'<inertial pos="{link.com} 0 0" mass="{mass!r}" diaginertia="{spin!r} {spin!r} {spin!r}"/>'


def _sites(machine: Machine, i: int) -> str:
    sites = ""
    for k, loop in enumerate(machine.loops):
        for end, link, (x, y) in (("one", loop.one, loop.point_one), ("other", loop.other, loop.point_other)):
            sites += f'<site name="{end}{k}" pos="{x} {y} 0"/>' if link == i else ""
    return sites
