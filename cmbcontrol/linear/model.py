"""The linear model as python-control takes it, with what it belongs to."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..model.base import PlantBase
from .operating import OperatingPoint, Residuals

if TYPE_CHECKING:
    import control

__all__ = ["LinearModel", "Mode", "load_linear"]

Array = NDArray[np.float64]

_MATRICES = ("A", "B", "C", "D", "K")
_NAMES = ("states", "inputs", "outputs", "state_units", "input_units", "output_units", "coordinates")
_POINT = ("q", "v", "u", "lam")


class Mode(NamedTuple):
    """An eigenvalue of a linear model (of a complex pair, the upper one).

    Attributes
    ----------
    eigenvalue : complex
        1/s.
    frequency : float
        Natural frequency, abs(eigenvalue), rad/s.
    damping : float
        Damping ratio, -real part / frequency: 1 for a decay, -1 for a growth, 0 for an eigenvalue zero.
    shape : ndarray, shape (nv,)
        Motion of all velocity coordinates, complex, the largest entry 1.
    """

    eigenvalue: complex
    frequency: float
    damping: float
    shape: NDArray[np.complex128]


@dataclass(frozen=True, eq=False)
class LinearModel:
    """dx/dt = A x + B u, y = C x + D u, in deviations from an operating point.

    Attributes
    ----------
    name : str
        Of the plant.
    A, B, C, D : ndarray
    states, inputs, outputs : tuple of str
        States are the independent coordinates, then their rates.
    state_units, input_units, output_units : tuple of str
    K : ndarray, shape (nv, dof)
        From independent to all velocity coordinates: delta = K y, v = K dy/dt.
    coordinates : tuple of str
        Names of all velocity coordinates, the rows of K.
    point : OperatingPoint
        What the deviations are measured from.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> from cmbcontrol.linear import linearize, trim
    >>> plant = plants.pendulum()
    >>> lin = linearize(plant, trim(plant, plant.assemble(angle=-np.pi / 2)), coordinates=("angle",))
    >>> lin.damping()[0].frequency, (1.5 * 9.81) ** 0.5
    (3.83601, 3.83601)
    """

    name: str
    A: Array
    B: Array
    C: Array
    D: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    state_units: tuple[str, ...]
    input_units: tuple[str, ...]
    output_units: tuple[str, ...]
    K: Array
    coordinates: tuple[str, ...]
    point: OperatingPoint

    @property
    def dof(self) -> int:
        """Degrees of freedom, half the number of states."""
        return self.K.shape[1]

    def to_ss(self, name: str | None = None) -> control.StateSpace:
        """The model for python-control, with named signals.

        Its signals are deviations from ``point``. To linearize a feedback system, linearize the plant first,
        then interconnect: python-control differentiates an interconnection numerically.
        """
        import control  # imported where used: it takes 1.1 s

        return control.ss(
            self.A,
            self.B,
            self.C,
            self.D,
            name=self.name if name is None else name,
            states=list(self.states),
            inputs=list(self.inputs),
            outputs=list(self.outputs),
        )

    def frequency_response(self, omega: ArrayLike | None = None) -> control.FrequencyResponseData:
        """Response to sines of omega (rad/s, a sensible range unless given); ``.plot()`` of it is the Bode diagram."""
        import control

        return control.frequency_response(self.to_ss(), omega)

    def eigenvalues(self) -> NDArray[np.complex128]:
        """Eigenvalues of A (2 dof,), 1/s, by real, then by imaginary part."""
        return np.sort_complex(np.linalg.eigvals(self.A).astype(complex))

    def damping(self) -> list[Mode]:
        """Natural frequencies, damping ratios and shapes, slowest first."""
        values, vectors = np.linalg.eig(self.A)
        modes = []
        for value, vector in zip(values.astype(complex), vectors.T, strict=True):
            if value.imag < 0.0:
                continue
            shape = self.K @ vector[: self.dof].astype(complex)
            largest = shape[np.argmax(np.abs(shape))]
            frequency = abs(value)
            ratio = -value.real / frequency if frequency > 0.0 else 0.0
            modes.append(Mode(complex(value), float(frequency), float(ratio), shape / largest if largest else shape))
        return sorted(modes, key=lambda mode: (mode.frequency, mode.eigenvalue.real))

    def __str__(self) -> str:
        def listed(names: tuple[str, ...], units: tuple[str, ...]) -> str:
            return ", ".join(f"{n} [{u}]" if u else n for n, u in zip(names, units, strict=True)) or "none"

        lines = [
            f"linear model of {self.name}, {2 * self.dof} states",
            f"  states   {listed(self.states, self.state_units)}",
            f"  inputs   {listed(self.inputs, self.input_units)}",
            f"  outputs  {listed(self.outputs, self.output_units)}",
            "  eigenvalue [1/s]            frequency [rad/s]  damping ratio",
        ]
        for mode in self.damping():
            value = mode.eigenvalue
            text = f"{value.real: .6g} +- {value.imag:.6g}j" if value.imag else f"{value.real: .6g}"
            lines.append(f"  {text:<26}  {mode.frequency:<17.6g}  {mode.damping: .4g}")
        return "\n".join(lines)

    def save(self, path: str | Path) -> Path:
        """Write the model to a ``.mat`` (Matlab) or ``.json`` file, by its suffix.

        Returns
        -------
        path : Path

        See Also
        --------
        load_linear
        """
        path = Path(path)
        data: dict[str, Any] = {"format": "cmbcontrol linear model 1", "name": self.name}
        data |= {key: getattr(self, key) for key in (*_MATRICES, *_NAMES)}
        data |= {key: getattr(self.point, key) for key in _POINT} | self.point.residuals._asdict()
        if _suffix(path) == ".json":
            plain = {k: x.tolist() if isinstance(x, np.ndarray) else x for k, x in data.items()}
            path.write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")
        else:
            from scipy.io import savemat  # imported where used

            cells = {k: np.array(x, dtype=object) if isinstance(x, tuple) else x for k, x in data.items()}
            savemat(path, cells, oned_as="column")
        return path


def _suffix(path: Path) -> str:
    if path.suffix not in (".mat", ".json"):
        raise ValueError(f"a linear model is kept in a .mat or .json file, got {path.name!r}")
    return path.suffix


def load_linear(path: str | Path, plant: PlantBase | None = None) -> LinearModel:
    """Read what `LinearModel.save` wrote.

    Parameters
    ----------
    path : str or Path
    plant : Mechanism or FunctionPlant, optional
        For the operating point, so that it can be used again.

    Raises
    ------
    ValueError
        Where the file is of another kind.
    """
    path = Path(path)
    if _suffix(path) == ".json":
        data = json.loads(path.read_text(encoding="utf-8"))
    else:
        from scipy.io import loadmat

        data = loadmat(path)
        data = {k: _from_matlab(x) for k, x in data.items() if not k.startswith("__")}
    if not str(data.get("format", "")).startswith("cmbcontrol linear model"):
        raise ValueError(f"{path} holds no linear model of cmbcontrol")
    names = {key: tuple(str(x) for x in data[key]) for key in _NAMES}
    n, m, p, nv = len(names["states"]), len(names["inputs"]), len(names["outputs"]), len(names["coordinates"])
    shapes = {"A": (n, n), "B": (n, m), "C": (p, n), "D": (p, m), "K": (nv, n // 2)}
    matrices = {key: np.array(data[key], dtype=np.float64).reshape(shapes[key]) for key in _MATRICES}
    vectors = {key: np.array(data[key], dtype=np.float64).reshape(-1) for key in _POINT}
    residuals = Residuals(*(float(np.squeeze(data[key])) for key in Residuals._fields))
    return LinearModel(
        name=str(data["name"]), **matrices, **names, point=OperatingPoint(plant, **vectors, residuals=residuals)
    )


def _from_matlab(x: Any) -> Any:
    """Cells of strings as a list, a string as itself, numbers as they are."""
    if not isinstance(x, np.ndarray):
        return x
    if x.dtype == object:
        return ["".join(cell.reshape(-1)) for cell in x.reshape(-1)]
    return str(x.reshape(-1)[0]) if x.dtype.kind == "U" and x.size else x
