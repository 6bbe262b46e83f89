"""The machines of `benchmarks.contacts` in MuJoCo, with contacts between geoms and a plane."""

from __future__ import annotations

import mujoco
import numpy as np

from .common import clock

_FLOOR = '<geom name="floor" type="plane" size="0 0 1" pos="0 0 0" zaxis="0 1 0" friction="{mu} 0 0" condim="3"/>'
_PLANAR = (
    '<joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>'
    '<joint name="angle" type="hinge" axis="0 0 1"/>'
)
_LEG = """<body name="thigh_{s}"><joint name="hip_{s}" axis="0 0 1" damping="0.5"/>
  <inertial mass="2" pos="0.2 0 0" diaginertia="1e-9 {i2} {i2}"/>
  <body name="shank_{s}" pos="0.4 0 0"><joint name="knee_{s}" axis="0 0 1" damping="0.5"/>
    <inertial mass="1" pos="0.2 0 0" diaginertia="1e-9 {i1} {i1}"/>
    <geom name="foot_{s}" type="sphere" size="0.001" pos="0.4 0 0" mass="0" friction="{mu} 0 0" condim="3"/>
  </body></body>"""


def _file(gravity: str, mu: float, bodies: str, step: float, actuators: str = "") -> str:
    return (
        f'<mujoco><compiler angle="radian"/><option gravity="{gravity}" timestep="{step}"/><worldbody>'
        f"{_FLOOR.format(mu=mu)}{bodies}</worldbody><actuator>{actuators}</actuator></mujoco>"
    )


def _points(mu: float, y: float, half: float) -> str:
    return "".join(
        f'<geom type="sphere" size="0.001" pos="{x} {y} 0" mass="0" friction="{mu} 0 0" condim="3"/>'
        for x in (-half, half)
    )


def _biped() -> str:
    legs = "".join(_LEG.format(s=s, mu=0.6, i2=2 * 0.16 / 12, i1=0.16 / 12) for s in "lr")
    trunk = f'<body>{_PLANAR}<inertial mass="20" pos="0 0.15 0" diaginertia="0.6 0.6 0.6"/>{legs}</body>'
    motors = "".join(
        f'<general joint="{j}_{s}" biastype="affine" gainprm="300" biasprm="0 -300 -15" forcerange="-150 150"/>'
        for s in "lr"
        for j in ("hip", "knee")
    )
    return _file("0 -9.81 0", 0.6, trunk, 1e-3, motors)


def _rod() -> str:
    inertia = f'<inertial mass="1" pos="0 0 0" diaginertia="{3 * f"{1 / 12} "}"/>'
    return _file("0 -9.81 0", 0.4, f"<body>{_PLANAR}{inertia}{_points(0.4, 0.0, 0.5)}</body>", 2e-3)


def _block() -> str:
    tilt = np.deg2rad(20.0)
    gravity = f"{9.81 * np.sin(tilt)} {-9.81 * np.cos(tilt)} 0"
    inertia = '<inertial mass="1" pos="0 0 0" diaginertia="0.01 0.01 0.01"/>'
    return _file(gravity, 0.3, f"<body>{_PLANAR}{inertia}{_points(0.3, -0.1, 0.1)}</body>", 2e-3)


_MADE = {"biped": _biped, "rod": _rod, "block": _block}
_START = {
    "biped": [0.0, 0.7888, -0.08163885, -1.4633, -0.4588, -1.4915, -0.5129],
    "rod": [0.0, 0.601, 0.5],
    "block": [0.0, 0.151, 0.0],
}


def time(name: str) -> float:
    """Milliseconds of one second, the best of five."""
    model = mujoco.MjModel.from_xml_string(_MADE[name]())
    data, best = mujoco.MjData(model), np.inf
    count = round(1.0 / model.opt.timestep)
    for _ in range(5):
        mujoco.mj_resetData(model, data)
        data.qpos[:] = _START[name]
        data.ctrl[:] = data.qpos[3:]
        begin = clock()
        mujoco.mj_step(model, data, nstep=count)
        best = min(best, clock() - begin)
    return 1e3 * best
