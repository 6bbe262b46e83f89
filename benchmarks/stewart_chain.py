"""A chain of Stewart platforms: a large spatial machine whose loops are local, six degrees of freedom a stage."""

from __future__ import annotations

from importlib import import_module

import numpy as np
from numpy.typing import NDArray

import cmbcontrol as cmb

stage = import_module("cmbcontrol.plants.stewart")

Array = NDArray[np.float64]

_MASS, _INERTIA = 200.0, (22.0, 22.0, 42.0)  # of a platform, as `plants.stewart`
_SPRING, _DAMPER = 2e5, 2e3  # of a leg, N/m and N s/m: what stands on it deflects it by millimetres
_EXTENSION = 0.25  # of a leg at home, m


def stewart_chain(n: int) -> tuple[cmb.Mechanism, Array, Array]:
    """Platforms on top of each other, each carried by six sprung legs of the one below; and a motion from home.

    A stage has 24 coordinates and 18 rows, of which none is redundant: platforms have free joints, so that a stage
    touches its neighbours only. Their springs carry what is above them at home.
    """
    bodies, joints, loops, springs = [], [], [], []
    below = "ground"
    for k in range(1, n + 1):
        platform = f"platform{k}"
        bodies.append(cmb.Body(platform, _MASS, (0.0, 0.0, 0.10), _INERTIA))
        joints.append(cmb.Free(platform, "ground", platform, frame=cmb.Frame(k * stage.HOME)))
        rest = _EXTENSION + (n - k + 1) * (_MASS + 6 * 17.0) * 9.81 / 6.0 / _SPRING
        for i in range(6):
            leg, mount = f"{k}_{i + 1}", stage._mount(i)
            bodies.append(cmb.Body(f"lower{leg}", 12.0, (0, 0, 0.30), stage._thin(12.0, 0.60)))
            bodies.append(cmb.Body(f"upper{leg}", 5.0, (0, 0, -0.35), stage._thin(5.0, 0.70)))
            joints.append(cmb.Universal(f"mount{leg}", below, f"lower{leg}", frame=mount))
            end = cmb.Frame((0, 0, stage.CLOSED))
            joints.append(cmb.Prismatic(f"leg{leg}", f"lower{leg}", f"upper{leg}", frame=end))
            springs.append(cmb.JointSpring(f"spring{leg}", f"leg{leg}", _SPRING, rest, _DAMPER))
            level, top = cmb.Frame(R=mount.R.T), cmb.Frame(stage.PLATFORM[i])
            loops.append(cmb.Spherical(f"ball{leg}", f"upper{leg}", platform, frame=level, child_frame=top))
        below = platform
    actuators = [cmb.Actuator(f"leg{k}_{i + 1}") for k in range(1, n + 1) for i in range(6)]
    plant = cmb.Mechanism("stewart-chain", bodies, joints, loops, springs, actuators=actuators)
    legs = {f"leg{k}_{i + 1}": _EXTENSION for k in range(1, n + 1) for i in range(6)}
    q = plant.close(plant.pack(legs))
    v = np.zeros(plant.nv)
    for i in range(6):  # the lowest platform rises and leans
        v[plant.index(f"leg1_{i + 1}")] = 0.1 * (1.0 + i / 6.0)
    v = plant.project_velocity(q, v)
    return plant, q, v
