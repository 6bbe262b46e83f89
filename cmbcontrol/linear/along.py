"""Linear models along a motion: a linear system that varies with time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..dynamics.derivatives import derivatives
from ..errors import InputError
from .model import LinearModel
from .operating import OperatingPoint
from .reduced import MOVING
from .signals import FrameMotion, LinearizedEquations, Output, Wrench, best_coordinates
from .statics import require_holonomic

if TYPE_CHECKING:
    import xarray

__all__ = ["LinearSequence", "linearize_along"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LinearSequence:
    """Linear system of deviations from a motion: dx/dt = A(t) x + B(t) du, y = C(t) x + D(t) du.

    Attributes
    ----------
    times : ndarray, shape (T,)
        s.
    A, B, C, D : ndarray, shape (T, ...)
    K, N : ndarray, shape (T, nv, dof)
        delta = K y and dv = K y_v + N y.
    q, v, u : ndarray, shape (T, ...)
        The motion.
    states, inputs, outputs : tuple of str
    state_units, input_units, output_units : tuple of str
    conditioning : ndarray, shape (T,)
        Conditioning of the independent coordinates, 1 at best.
    plant : Plant
    """

    times: Array
    A: Array
    B: Array
    C: Array
    D: Array
    K: Array
    N: Array
    q: Array
    v: Array
    u: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    state_units: tuple[str, ...]
    input_units: tuple[str, ...]
    output_units: tuple[str, ...]
    conditioning: Array
    plant: Any

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, i: int) -> LinearModel:
        """Linear model at one time, with matrices that are constant."""
        fields = {key: getattr(self, key)[i] for key in ("A", "B", "C", "D", "K", "N")}
        names = ("states", "inputs", "outputs", "state_units", "input_units", "output_units")
        return LinearModel(
            name=self.plant.name,
            **fields,
            **{key: getattr(self, key) for key in names},
            coordinates=self.plant.velocity_names,
            point=OperatingPoint.at(self.plant, self.q[i], self.u[i], self.v[i]),
            conditioning=float(self.conditioning[i]),
        )

    def propagate(self, x0: ArrayLike, du: ArrayLike | None = None) -> Array:
        """Deviations (T, 2 dof) from the start x0 (2 dof,), under deviations of the inputs du (T, inputs).

        The matrices and du are interpolated by cubic splines between the times.

        Raises
        ------
        ValueError
            Where A changes too quickly from time to time for that; it names the time.

        Examples
        --------
        >>> import cmbcontrol as cmb
        >>> plant = cmb.plants.five_bar()
        >>> run = cmb.simulate(plant, q0=plant.assemble(left=2.1, right=1.0), t_end=0.5)
        >>> sequence = linearize_along(run, coordinates=("left", "right"))
        >>> sequence.propagate([1e-3, 0.0, 0.0, 0.0]).shape
        (501, 4)
        """
        from scipy.integrate import solve_ivp  # imported where used
        from scipy.interpolate import CubicSpline

        x0 = _check.vector(x0, len(self.states), "x0", self.states)
        self._require_smooth()
        T, m = self.B.shape[0], self.B.shape[2]
        du = np.zeros((T, m)) if du is None else _check.matrix(du, (T, m), "du")
        A, forced = CubicSpline(self.times, self.A), CubicSpline(self.times, np.einsum("tij,tj->ti", self.B, du))
        span = (self.times[0], self.times[-1])
        solution = solve_ivp(
            lambda t, x: A(t) @ x + forced(t), span, x0, "DOP853", t_eval=self.times, rtol=1e-10, atol=1e-14
        )
        return solution.y.T

    def _require_smooth(self) -> None:
        """Raise an error unless splines through every other time meet the times between (16 times the error of all)."""
        from scipy.interpolate import CubicSpline

        if len(self) < 5:
            return
        between = slice(1, len(self) - 1, 2)
        missed = CubicSpline(self.times[::2], self.A[::2])(self.times[between]) - self.A[between]
        size = np.abs(self.A).max(axis=(1, 2))
        off = np.abs(missed).max(axis=(1, 2)) / size[between]
        if off.max() > 0.05:
            t = self.times[between][int(off.argmax())]
            raise InputError(
                f"A changes too quickly near t = {t:.6g} s for {len(self)} times: every other one misses it by "
                f"{100 * off.max():.0f} %. Simulate with finer output_times."
            )

    def to_dataset(self) -> xarray.Dataset:
        """Sequence with names and units, as an `xarray.Dataset`."""
        import xarray

        names = {
            "independent_coordinate": list(self.states[: len(self.states) // 2]),
            "state": list(self.states),
            "input": list(self.inputs),
            "output": list(self.outputs),
        }
        names |= {"coordinate": list(self.plant.velocity_names), "state_in": list(self.states)}
        return xarray.Dataset(
            {
                "A": (("time", "state", "state_in"), self.A),
                "B": (("time", "state", "input"), self.B),
                "C": (("time", "output", "state_in"), self.C),
                "D": (("time", "output", "input"), self.D),
                "K": (("time", "coordinate", "independent_coordinate"), self.K),
                "N": (("time", "coordinate", "independent_coordinate"), self.N),
                "conditioning": ("time", self.conditioning),
            },
            coords={"time": ("time", self.times, {"units": "s"}), **names},
            attrs={
                "plant": self.plant.name,
                "state_units": list(self.state_units),
                "input_units": list(self.input_units),
                "output_units": list(self.output_units),
            },
        )


def linearize_along(
    run: Any,
    *,
    coordinates: Sequence[str] | ArrayLike | None = None,
    inputs: Sequence[str | Wrench] | None = None,
    outputs: Sequence[str | FrameMotion] | None = None,
    every: int = 1,
) -> LinearSequence:
    """Linear system, varying with time, of small deviations from a simulated motion.

    Parameters
    ----------
    run : Simulation
    coordinates, inputs, outputs
        As in `linearize`; the same along the whole motion. Coordinates default to those best conditioned at mid-time.
    every : int
        Take every so many output times of the run.

    Returns
    -------
    LinearSequence

    Raises
    ------
    ValueError
        Where the coordinates become dependent, or the freedom changes, naming the time.

    Notes
    -----
    As in `affine_approximation`, but deviations are from the moving state, so that the drift cancels and for joints
    of several axes dy/dt = y_v - R ad_v K y. Efforts of a controller in the run count as given functions of
    time: for the closed loop add its feedback.

    Examples
    --------
    >>> import cmbcontrol as cmb
    >>> plant = cmb.plants.five_bar()
    >>> run = cmb.simulate(plant, q0=plant.assemble(left=2.1, right=1.0), t_end=0.5, output_times=0.1)
    >>> linearize_along(run, coordinates=("left", "right")).A.shape
    (6, 4, 4)
    """
    _check.run(run)
    every = _check.count(every, "every")
    plant, data = run.plant, run.data
    require_holonomic(plant, np.asarray(data["q"].values[0], dtype=np.float64))
    step = slice(None, None, every)
    times, q, v, u = (np.ascontiguousarray(data[key].values[step], dtype=np.float64) for key in ("time", "q", "v", "u"))
    if coordinates is None:
        middle = len(times) // 2
        coordinates = best_coordinates(plant, derivatives(plant, q[middle], v[middle], u[middle]).Z)
    models: list[tuple[LinearizedEquations, list[Output]]] = []
    for t, *state in zip(times, q, v, u, strict=True):
        try:
            linearized = LinearizedEquations(plant, derivatives(plant, *state), coordinates, inputs, MOVING)
            models.append((linearized, linearized.outputs(outputs)))
        except ValueError as error:
            raise InputError(f"{error} (t = {t:.6g} s)") from None
    C, D = zip(*(linearized.output_matrices(rows) for linearized, rows in models), strict=True)
    first, signals = models[0]
    return LinearSequence(
        times=times,
        **{
            key: np.array([getattr(linearized, key) for linearized, _ in models])
            for key in ("A", "B", "K", "N", "conditioning")
        },
        C=np.array(C),
        D=np.array(D),
        q=q,
        v=v,
        u=u,
        **first.labels(signals),
        plant=plant,
    )
