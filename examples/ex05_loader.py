"""The wheel loader of Spencer's thesis, section 4.5: linear models in two sets of coordinates.

Without cylinder forces the configuration is no equilibrium, and the eigenvalues belong to the coordinates, as in the
thesis; held by its cylinders it is one, and they belong to the machine. The analytic models are compared with what a
tool has to do that differentiates the nonlinear motion: close the loops, solve for velocity and acceleration, subtract.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.figure import Figure

import cmbcontrol as cmb
from cmbcontrol import affine_approximation, plants, plot
from cmbcontrol.plants.loader import configuration
from cmbcontrol.plot.figure import new_figure
from cmbcontrol.plot.style import COLORS, beside, dress

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


def points(plant: cmb.Mechanism) -> dict[str, cmb.OperatingPoint]:
    """The same configuration without efforts, and with those that hold it."""
    q = configuration(plant, boom=0.1, bucket=-0.1)
    return {"falling": cmb.OperatingPoint.at(plant, q), "held": cmb.trim(plant, q)}


def main() -> dict[str, object]:
    """Models of the falling and of the held machine, and the largest error in A of each way to difference."""
    plant = plants.loader()
    states = points(plant)
    q = states["held"].q
    found: dict[str, object] = {"cylinder forces that hold it, kN": states["held"].u / 1e3}
    for state, point in states.items():
        for names in (ANGLES, CYLINDERS):
            model = affine_approximation(plant, point, coordinates=names)
            case = f"{state}, {' and '.join(names)}"
            found[f"{case}: A"] = model.A + 0.0
            found[f"{case}: eigenvalues, 1/s"] = np.sort_complex(model.poles()) + 0.0
            f = motion(plant, q, names, point.u)
            for scheme, (step, weights) in SCHEMES.items():
                found[f"{case}: error of {scheme}"] = float(np.abs(differences(f, step, weights) - model.A).max())
    return found


def figure() -> Figure:
    """The machine, and its eigenvalues in both sets of coordinates, falling and held."""
    plant = plants.loader()
    drawn = new_figure(7.2, 6.0)
    machine, *maps = drawn.subplots(3, 1, height_ratios=(2.2, 1.0, 1.0))
    plant.plot(points(plant)["held"].q, ax=machine)
    for ax, (state, point) in zip(maps, points(plant).items(), strict=True):
        for names, mark, color in ((ANGLES, "x", COLORS[0]), (CYLINDERS, "o", COLORS[1])):
            poles = affine_approximation(plant, point, coordinates=names).poles()
            style = {"color": color, "markersize": 8, "fillstyle": "none"}
            ax.plot(poles.real, poles.imag, mark, label=" and ".join(names), **style)
        dress(ax, "imaginary part\n(rad/s)")
        ax.set_title(state, fontsize=9)
        ax.margins(y=0.3)
        ax.set_xlabel("real part (1/s)", fontsize=9)
        beside(ax)
    return drawn


if __name__ == "__main__":
    np.set_printoptions(precision=5, suppress=True, linewidth=120)
    for name, value in main().items():
        print(f"{name}\n{value}" if np.ndim(value) else f"{name:60} {value:.1e}")
    print("drawn:", plot.save(figure(), "ex05_loader.png"))
