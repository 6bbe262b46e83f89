"""Linear model of a machine, with its operating point, for python-control and files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check, _files
from .._notebook import Shown
from .._versions import versions
from ..errors import CmbError, FileError, InputError, ModelError
from ..model.machine_file import from_description, wholly_described
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from . import modes as modal
from . import sampled as sampling
from .controllability import ModalControllability, modal_controllability
from .modes import Mode, Modes
from .operating import OperatingPoint, Residuals

if TYPE_CHECKING:
    import control
    from matplotlib.figure import Figure


__all__ = ["LinearModel", "Mode", "load_linear"]

Array = NDArray[np.float64]

_MATRICES = ("A", "B", "C", "D", "K")
_LATER = ("drift", "N", "K_rates")  # not in all files of version 1
_NAMES = ("states", "inputs", "outputs", "state_units", "input_units", "output_units", "coordinates")
_POINT = ("q", "v", "u", "lam")
_FORMAT = "cmbcontrol linear model 2"


@dataclass(frozen=True, eq=False)
class LinearModel(Shown):
    """Linear model dx/dt = drift + A x + B u, y = C x + D u, in deviations from an operating point.

    Attributes
    ----------
    name : str
        Name of the plant.
    A, B, C, D : ndarray
        A is [A11, 1; A21, A22]. A11 is zero but for joints of several axes at states with velocity.
    states, inputs, outputs : tuple of str
        States are the independent coordinates, then their rates.
    state_units, input_units, output_units : tuple of str
    K : ndarray, shape (nv, dof)
        Map from independent to all velocity coordinates: delta = K y. Machines that roll have n > dof positions y, so K
        and N are (nv, n), and there are n + dof states.
    coordinates : tuple of str
        Names of all velocity coordinates, the rows of K.
    point : OperatingPoint
        Operating point, from which the deviations are measured.
    drift : ndarray, shape (2 dof,)
        Rate of the states at the operating point itself: zero (the default) at an equilibrium.
    N : ndarray, shape (nv, dof)
        The velocities deviate by K_rates y_v + N y, with y_v the states behind y; N = dK/dt is zero (the default) at
        rest.
    K_rates : ndarray, shape (nv, dof), or None
        Map of the rates, of machines that roll; else None, which stands for K.
    conditioning : float
        Conditioning of the independent coordinates on the admissible velocities: 1 at best, 0 where they are
        dependent, or where it is not known. It does not depend on units.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> from cmbcontrol import linearize, trim
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
    drift: Array = None  # type: ignore[assignment]  # zeros
    N: Array = None  # type: ignore[assignment]  # zeros
    conditioning: float = 0.0
    K_rates: Array | None = None

    def __post_init__(self) -> None:
        if self.drift is None:
            object.__setattr__(self, "drift", np.zeros(len(self.A)))
        if self.N is None:
            object.__setattr__(self, "N", np.zeros_like(self.K))
        if self.drift.shape != (len(self.A),) or self.N.shape != self.K.shape:
            raise InputError(
                f"drift must have shape {(len(self.A),)} and N {self.K.shape}, "
                f"got {self.drift.shape} and {self.N.shape}"
            )

    @property
    def dof(self) -> int:
        """Degrees of freedom, half the number of states where the machine does not roll."""
        return self.rate_map.shape[1]

    @property
    def rate_map(self) -> Array:
        """Map (nv, dof) from the rates among the states to all velocities: K, or K_rates of machines that roll."""
        return self.K if self.K_rates is None else self.K_rates

    # -- python-control ---------------------------------------------------------------------------

    def to_ss(self, name: str | None = None, *, drift: bool = False) -> control.StateSpace:
        """Convert the model for python-control, with named signals.

        Its signals are deviations from ``point`` (away from an equilibrium: from the motion through it). With
        ``drift=True`` it has one more input, ``"drift"``, that is to be held at 1.
        To linearize a feedback system, linearize the plant first, then interconnect: python-control
        differentiates an interconnection numerically.

        Examples
        --------
        >>> from cmbcontrol import plants
        >>> from cmbcontrol import linearize, trim
        >>> plant = plants.five_bar()
        >>> lin = linearize(plant, trim(plant, plant.assemble(left=2.1, right=1.0)), coordinates=("left", "right"))
        >>> lin.to_ss().state_labels
        ['left', 'right', 'left_rate', 'right_rate']
        """
        return sampling.delayed(self, 0.0, drift=drift, name=name)

    def sampled(
        self,
        period: float,
        delay: float | ArrayLike | Mapping[str, float] = 0.0,
        *,
        drift: bool = False,
        name: str | None = None,
    ) -> control.StateSpace:
        """Convert the model to sampled time, as a computer sees it: see `cmbcontrol.linear.sampled.sampled`."""
        return sampling.sampled(self, period, delay, drift=drift, name=name)

    def delayed(
        self,
        delay: float | ArrayLike | Mapping[str, float],
        order: int = 4,
        *,
        drift: bool = False,
        name: str | None = None,
    ) -> control.StateSpace:
        """Convert the model to one with Pade approximations of delays: see `cmbcontrol.linear.sampled.delayed`."""
        return sampling.delayed(self, delay, order, drift=drift, name=name)

    def frequency_response(
        self, omega: ArrayLike | None = None, delay: float | ArrayLike | Mapping[str, float] = 0.0
    ) -> control.FrequencyResponseData:
        """Response to sines of omega (rad/s, defaults to a sensible range); ``.plot()`` of it is the Bode diagram.

        Delays of the inputs (s, as in `sampled`) are exact: factors exp(-j omega delay).
        """
        if omega is not None:
            omega = sampling.frequencies(omega)
        import control  # imported where used: it takes 1.1 s

        response = control.frequency_response(self.to_ss(), omega)
        late = sampling.input_delays(self, delay)
        if not late.any():
            return response
        data = response.frdata * np.exp(-1j * late[:, None] * response.frequency)
        return control.frd(
            data,
            response.frequency,
            name=self.name,
            inputs=list(self.inputs),
            outputs=list(self.outputs),
        )

    # -- modes --------------------------------------------------------------------------------------

    def poles(self) -> NDArray[np.complex128]:
        """Poles, the eigenvalues of A (2 dof,), 1/s, by real, then by imaginary part."""
        return np.sort_complex(np.linalg.eigvals(self.A).astype(complex))

    def damping(self) -> list[Mode]:
        """Natural frequencies, damping ratios and shapes as a list, slowest first; `modes` has more."""
        return modal.mode_list(self)

    def modes(self, tolerance: float = 1e-10) -> Modes:
        """Modes with shapes, participation and energies, labelled: see `cmbcontrol.linear.modes.modes`."""
        return modal.modes(self, tolerance)

    def undamped_modes(self, tolerance: float = 1e-10) -> Modes:
        """Modes without damping, real: see `cmbcontrol.linear.modes.undamped_modes`."""
        return modal.undamped_modes(self, tolerance)

    def modal_controllability(self, tolerance: float = 1e-10) -> ModalControllability:
        """How much of each mode the inputs move and the outputs see: see `cmbcontrol.linear.ModalControllability`.

        Examples
        --------
        >>> from cmbcontrol import linearize, plants, trim
        >>> plant = plants.five_bar()
        >>> lin = linearize(plant, trim(plant, plant.assemble(left=2.1, right=1.0)), inputs=["left"])
        >>> lin.modal_controllability().minimal_order
        4
        """
        parts = (self.A, self.B, self.C, self.D, self.inputs, self.outputs)
        return modal_controllability(self.name, *parts, plant=self, tolerance=tolerance)

    def plot_modes(self, **options: Any) -> Figure:
        """Draw the mode shapes on the machine; see `cmbcontrol.plot.modes`."""
        from ..plot import modes

        return modes(self, **options)

    def animate_mode(self, mode: int, path: str | Path, **options: Any) -> Path:
        """Write an animation of a mode (0 is the slowest) on the closed machine; see `cmbcontrol.plot.animate_mode`."""
        from ..plot import animate_mode

        return animate_mode(self, mode, path, **options)

    # -- in words, and as a file ------------------------------------------------------------------

    def __str__(self) -> str:
        def listed(names: tuple[str, ...], units: tuple[str, ...]) -> str:
            return ", ".join(f"{n} [{u}]" if u else n for n, u in zip(names, units, strict=True)) or "none"

        lines = [
            f"linear model of {self.name}, {len(self.states)} states",
            f"  states   {listed(self.states, self.state_units)}",
            f"  inputs   {listed(self.inputs, self.input_units)}",
            f"  outputs  {listed(self.outputs, self.output_units)}",
        ]
        if self.drift.any():
            rates = (f"{unit}/s" if unit else "" for unit in self.state_units)
            parts = (f"{n} {x:.6g} {r}".rstrip() for n, x, r in zip(self.states, self.drift, rates, strict=True) if x)
            lines.append(f"  drift    {', '.join(parts)}")
        steep = self.smoothed_friction
        if steep:
            lines.append(
                f"  friction of {', '.join(steep)} is dry: at rest it is the slope of its smooth form, a steep damper; "
                "linearize(..., dry_friction=False) leaves it out"
            )
        if self.point.on_border:
            lines.append(f"  on the border of {', '.join(self.point.on_border)}: the model holds to one side only")
        return "\n".join([*lines, *modal.mode_table(self.damping())])

    @property
    def smoothed_friction(self) -> tuple[str, ...]:
        """Names of force elements whose dry friction is a steep damper here; see `Mechanism.smoothed_friction`."""
        plant = self.point.plant
        return plant.smoothed_friction(self.point.v) if isinstance(plant, Mechanism) else ()

    def to_data(self) -> dict[str, Any]:
        """Model as plain data for `from_data`: with its operating point, and with its machine if that can be described.

        Examples
        --------
        >>> import cmbcontrol as cmb
        >>> plant = cmb.plants.five_bar()
        >>> lin = cmb.linearize(plant, cmb.trim(plant, plant.assemble(left=2.1, right=1.0)))
        >>> LinearModel.from_data(lin.to_data()).point.plant.name
        'five-bar'
        """
        plain = {k: x.tolist() if isinstance(x, np.ndarray) else x for k, x in self._entries().items()}
        return {k: list(x) if isinstance(x, tuple) else x for k, x in plain.items()}

    def _entries(self) -> dict[str, Any]:
        """Entries of a file of the model: numbers, arrays, texts, tuples of texts."""
        data: dict[str, Any] = {"format": _FORMAT, "name": self.name}
        data |= {key: getattr(self, key) for key in (*_MATRICES, *_LATER, *_NAMES) if getattr(self, key) is not None}
        data |= {key: getattr(self.point, key) for key in _POINT} | self.point.residuals._asdict()
        data["conditioning"] = self.conditioning
        if isinstance(self.point.plant, Mechanism):
            with suppress(ModelError):  # functions and classes of a user: then it is made without its machine
                data["machine"] = json.dumps(wholly_described(self.point.plant))
        return data | {"made_with": json.dumps(versions())}

    @classmethod
    def from_data(cls, data: Mapping[str, Any], plant: Plant | None = None) -> LinearModel:
        """Make the model that `to_data` describes, for a plant or for the machine that the data hold.

        Raises
        ------
        ValueError
            Where the data are not those of a model.
        """
        if not str(data.get("format", "")).startswith("cmbcontrol linear model"):
            raise InputError("these are no data of a linear model of cmbcontrol")
        names = {key: tuple(str(x) for x in data[key]) for key in _NAMES}
        n, m, p, nv = len(names["states"]), len(names["inputs"]), len(names["outputs"]), len(names["coordinates"])
        shapes = {"A": (n, n), "B": (n, m), "C": (p, n), "D": (p, m), "drift": (n,)}
        shapes |= {key: (nv, np.size(data[key]) // max(nv, 1)) for key in ("K", "N", "K_rates") if key in data}
        present = [*_MATRICES, *(key for key in _LATER if key in data)]  # files of version 1 are about equilibria
        matrices: dict[str, Any] = {key: np.array(data[key], dtype=np.float64).reshape(shapes[key]) for key in present}
        vectors: dict[str, Any] = {key: np.array(data[key], dtype=np.float64).reshape(-1) for key in _POINT}
        residuals = Residuals(*(float(np.squeeze(data[key])) for key in Residuals._fields))
        if plant is None and "machine" in data:
            plant = from_description(json.loads(str(data["machine"])))
        return cls(
            name=str(data["name"]),
            **matrices,
            **names,
            point=OperatingPoint(plant, **vectors, residuals=residuals),
            conditioning=float(np.squeeze(data.get("conditioning", 0.0))),
        )

    def save(self, path: str | Path) -> Path:
        """Write the model to a ``.mat`` (Matlab), ``.npz`` (numpy) or ``.json`` file, by its suffix.

        All numbers are kept to the last bit, and with them the operating point and the machine, as in a machine file
        (not where it has functions of a user), and the versions of what the model was made with.

        Returns
        -------
        path : Path

        See Also
        --------
        load_linear
        """
        path = _check.path(path)
        data, content = self._entries(), BytesIO()
        match _suffix(path):
            case ".json":
                return _files.write(path, json.dumps(self.to_data(), indent=1) + "\n")
            case ".npz":
                arrays: dict[str, Any] = {
                    k: np.array(x, dtype=str) if isinstance(x, tuple) else x for k, x in data.items()
                }
                np.savez(content, **arrays)
            case _:
                from scipy.io import savemat  # imported where used

                cells = {k: np.array(x, dtype=object) if isinstance(x, tuple) else x for k, x in data.items()}
                savemat(content, cells, oned_as="column")
                return _files.write(path, _with_checksum(content.getvalue()))
        return _files.write(path, content.getvalue())


def _suffix(path: Path) -> str:
    if path.suffix not in (".npz", ".mat", ".json"):
        raise InputError(f"a linear model is kept in a .npz, .mat or .json file, got {path.name!r}")
    return path.suffix


def load_linear(path: str | Path, plant: Plant | None = None) -> LinearModel:
    """Read a model that `LinearModel.save` wrote.

    Parameters
    ----------
    path : str or Path
    plant : Plant, optional
        For the operating point, so that it can be used again: the one that the model was made for. Without it, the
        machine that the file holds.

    Raises
    ------
    ValueError
        If the file is damaged, of another kind, or made for another plant.
    FileError
        If it cannot be read.
    """
    path = _check.path(path)
    if plant is not None:
        _check.plant(plant)
    path = Path(path)
    _suffix(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}") from error
    try:
        data = _read(path.suffix, content)
        if not str(data.get("format", "")).startswith("cmbcontrol linear model"):
            raise InputError(f"{path} holds no linear model of cmbcontrol")
        model = LinearModel.from_data(data, plant)
    except CmbError:
        raise
    except Exception as error:  # of json, zipfile, numpy, scipy, and of entries that are missing
        said = f"{type(error).__name__}: {error}"
        raise InputError(f"{path} is damaged: {said}. Take a copy, or linearize again.") from error
    if plant is not None:
        _require_made_for(plant, model, path)
    return model


def _require_made_for(plant: Plant, model: LinearModel, path: Path) -> None:
    """Raise an error for a plant other than that of the model: in its coordinates, loops, forces or masses."""
    why = _difference(plant, model)
    if why:
        raise InputError(f"the linear model in {path} was made for {model.name!r}, not for {plant.name!r}: {why}")


def _difference(plant: Plant, model: LinearModel) -> str:
    """Text with a difference between a plant and that of a model; "" if none is found."""
    point = model.point
    if model.coordinates != plant.velocity_names or point.q.size != plant.nq:
        return f"{plant.name!r} has the coordinates {', '.join(plant.velocity_names)}"
    if point.u.size != plant.nu or point.lam.size != len(plant.row_names):
        return f"{plant.name!r} has {plant.nu} motors and {len(plant.row_names)} loop rows"
    now = OperatingPoint.at(plant, point.q, point.u, point.v).residuals
    if now.position > point.residuals.position + 1e-9 * plant.size:
        return f"at its operating point the loops are open by {now.position:.3g} m"
    K, terms, n = model.rate_map, plant.terms(point.q, point.v), model.K.shape[1]
    largest = max(plant.force_scale, *(float(np.abs(x).max(initial=0.0)) for x in (terms.h, point.u, point.lam)))
    if not point.v.any() and abs(now.balance - point.residuals.balance) > 1e-6 * largest:
        return f"at its operating point forces of {now.balance:.3g} N or N m are not balanced"
    # an effort accelerates the coordinates by B = M_y^-1 K' B_u, with M_y = K' M K: so masses show without weight, too
    motors = [f"{name}_effort" for name in plant.actuator_names]
    for j, name in enumerate(model.inputs):
        if name in motors:
            push = K.T @ terms.B[:, motors.index(name)]
            scale = (np.abs(K.T) @ np.abs(terms.B[:, motors.index(name)])).max(initial=0.0)
            if np.abs(K.T @ terms.M @ K @ model.B[n:, j] - push).max(initial=0.0) > 1e-6 * scale:
                return "it has other masses"
    return ""


def _read(suffix: str, content: bytes) -> dict[str, Any]:
    """Entries of a file."""
    match suffix:
        case ".json":
            return dict(json.loads(content))
        case ".npz":
            with np.load(BytesIO(content), allow_pickle=False) as entries:
                return dict(entries)
        case _:
            from scipy.io import loadmat

            if _with_checksum(content)[:_HEAD] != content[:_HEAD] and content.startswith(_WRITTEN_BY):
                raise ValueError("its checksum is another one")  # scipy's reader ends the process on some damage
            return {k: _from_matlab(x) for k, x in loadmat(BytesIO(content)).items() if not k.startswith("__")}


# A .mat file begins with so many characters that say where it is from.
_HEAD, _WRITTEN_BY = 116, b"MATLAB 5.0 MAT-file, written by cmbcontrol, sha256 of the rest: "


def _with_checksum(content: bytes) -> bytes:
    """Content of a .mat file, with a checksum of the rest in its header."""
    digest = hashlib.sha256(content[_HEAD:]).hexdigest()[:32].encode()
    return (_WRITTEN_BY + digest).ljust(_HEAD) + content[_HEAD:]


def _from_matlab(x: Any) -> Any:
    """Value from a .mat file: cells of strings as a list, a string as itself, numbers as they are."""
    if not isinstance(x, np.ndarray):
        return x
    if x.dtype == object:
        return ["".join(cell.reshape(-1)) for cell in x.reshape(-1)]
    return str(x.reshape(-1)[0]) if x.dtype.kind == "U" and x.size else x
