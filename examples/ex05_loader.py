"""The wheel loader of Spencer's thesis, section 4.5: linear models in two sets of coordinates.

Without cylinder forces the configuration is no equilibrium, and the eigenvalues belong to the coordinates, as in the
thesis; held by its cylinders it is one, and they belong to the machine. The analytic models are compared with what a
tool has to do that differentiates the nonlinear motion: close the loops, solve for velocity and acceleration, subtract.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import cmbcontrol as cmb
from cmbcontrol import affine_approximation, plants
from cmbcontrol.plants.loader import configuration

ANGLES, CYLINDERS = ("boom", "bucket"), ("lift", "tilt")
ORDER_8 = {s * k: s * w for k, w in ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280)) for s in (1, -1)}
SCHEMES = {  # step in rad or m, weights by node
    "forward differences": (1e-5, {0: -1.0, 1: 1.0}),  # what a linearization block does
    "central differences": (1e-5, {-1: -0.5, 1: 0.5}),
    "differences of order 8": (2e-3, ORDER_8),
}


def motion(plant: cmb.Mechanism, q0: np.ndarray, names: tuple[str, str], u: np.ndarray) -> Callable:
    """The local state-space form f(x), x = (y, dy/dt), as a function of deviations from q0 at rest."""
    columns = [plant.index(name) for name in names]

    def f(x: np.ndarray) -> np.ndarray:
        y = dict(zip(names, q0[columns] + x[:2], strict=True))
        q = plant.assemble(guess=q0, **y)
        R = np.eye(plant.nv)[columns]
        v = np.linalg.solve(np.concatenate([R, plant.jacobian(q)]), np.append(x[2:], np.zeros(len(plant.row_names))))
        return np.append(x[2:], cmb.forward_dynamics(plant, q, v, u)[columns])

    return f


def differences(f: Callable, step: float, weights: dict[int, float]) -> np.ndarray:
    """Jacobian of f at zero, and of four states."""
    return np.array([sum(w * f(k * step * e) for k, w in weights.items()) / step for e in np.eye(4)]).T


def main() -> dict[str, object]:
    """Models of the falling and of the held machine, and the largest error in A of each way to difference."""
    plant = plants.loader()
    q = configuration(plant, boom=0.1, bucket=-0.1)
    falling, held = cmb.OperatingPoint.at(plant, q), cmb.trim(plant, q)
    found: dict[str, object] = {"cylinder forces that hold it, kN": held.u / 1e3}
    for state, point in (("falling", falling), ("held", held)):
        for names in (ANGLES, CYLINDERS):
            model = affine_approximation(plant, point, coordinates=names)
            case = f"{state}, {' and '.join(names)}"
            found[f"{case}: A"] = model.A + 0.0
            found[f"{case}: eigenvalues, 1/s"] = np.sort_complex(model.poles()) + 0.0
            f = motion(plant, q, names, point.u)
            for scheme, (step, weights) in SCHEMES.items():
                found[f"{case}: error of {scheme}"] = float(np.abs(differences(f, step, weights) - model.A).max())
    return found


if __name__ == "__main__":
    np.set_printoptions(precision=5, suppress=True, linewidth=120)
    for name, value in main().items():
        print(f"{name}\n{value}" if np.ndim(value) else f"{name:60} {value:.1e}")
