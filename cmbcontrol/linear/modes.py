"""Modes of a linear model: eigenvalues with their multiplicity, shapes, participation, shares of the kinetic energy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._tolerance import floored
from ..errors import EquilibriumError, InputTypeError, ModelError
from ..kernels import tree
from ..model.mechanism import Mechanism
from .invariant_subspaces import SLOW, cleaned, clusters, invariant_subspaces, mean_of, spectrum

if TYPE_CHECKING:
    import xarray

    from .model import LinearModel

__all__ = ["Mode", "Modes", "mode_list", "modes", "undamped_modes"]

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]


class Mode(NamedTuple):
    """Mode of a linear model: an eigenvalue (of a complex pair, the upper one) and how the machine moves with it.

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
    kind : str
        ``"oscillation"`` (growing where the damping ratio is negative), ``"decay"``, ``"growth"``, or
        ``"rigid-body"`` for an eigenvalue zero: no force brings the machine back.
    time_constant : float
        -1 / real part, s, of the envelope of an oscillation: negative where the motion grows, infinite where
        it does neither.
    multiplicity, geometric_multiplicity : int
        Algebraic multiplicity of the eigenvalue, and its number of independent eigenvectors; where these are fewer,
        the eigenvalue is defective and the motion grows like a power of time.
    vector : ndarray, shape (2 dof,)
        Eigenvector in the states, scaled as `shape`.
    rate_shape : ndarray, shape (nv,)
        Velocities of all coordinates that go with `shape`: ``eigenvalue * shape`` at an equilibrium.
    participation : ndarray, shape (2 dof,)
        Participation factors of the states, which sum to one; see `modes`.
    """

    eigenvalue: complex
    frequency: float
    damping: float
    shape: Complex
    kind: str
    time_constant: float
    multiplicity: int
    geometric_multiplicity: int
    vector: Complex
    rate_shape: Complex
    participation: Array


class Modes:
    """Modes of a linear model, slowest first.

    Attributes
    ----------
    data : xarray.Dataset
        Dimensions mode (0, 1, ...), state, independent_coordinate, coordinate, and where the plant
        is known body. Variables, with units in their attrs: ``eigenvalue``, ``frequency``, ``damping``,
        ``damped_frequency``, ``period``, ``time_constant``, ``kind``, ``multiplicity``, ``geometric_multiplicity``;
        ``shape`` (mode, coordinate) and ``rate_shape``, complex; ``vector`` and ``participation`` (mode, state);
        ``coordinate_participation`` (mode, independent_coordinate); ``coordinate_energy`` and ``body_energy``, shares
        of the kinetic energy. `undamped_modes` adds ``modal_mass`` and ``modal_stiffness``.
    linear_model : LinearModel
        The model whose modes they are.

    Notes
    -----
    ``modes.frequency`` is short for ``modes.data["frequency"]``; ``modes[0]`` is the first `Mode`, and
    ``print(modes)`` a table.
    """

    def __init__(self, data: xarray.Dataset, sequence: list[Mode], linear_model: LinearModel) -> None:
        self.data = data
        self.linear_model = linear_model
        self._modes = sequence

    def __getattr__(self, name: str) -> xarray.DataArray:
        if name.startswith("_") or name == "data" or name not in self.data:
            known = ", ".join(map(str, self.data.data_vars)) if "data" in self.__dict__ else ""
            raise AttributeError(f"modes have no {name!r} (variables: {known})")
        return self.data[name]

    def __len__(self) -> int:
        return len(self._modes)

    def __iter__(self) -> Iterator[Mode]:
        return iter(self._modes)

    def __getitem__(self, i: int) -> Mode:
        return self._modes[i]

    def __str__(self) -> str:
        return "\n".join([self.data.attrs["title"], *mode_table(self._modes), *self._carriers()])

    def _carriers(self) -> list[str]:
        """Lines with the degrees of freedom that take part most, one for each mode."""
        lines, shares = [], self.data["coordinate_participation"].values
        for i, share in enumerate(shares):
            most = [k for k in np.argsort(-share.round(6), kind="stable")[:4] if share[k] > 0.01]
            parts = ", ".join(f"{self.data['independent_coordinate'].values[k]} {100.0 * share[k]:.0f} %" for k in most)
            lines.append(f"  mode {i}: {parts}")
        return ["  participation of the independent coordinates", *lines] if lines else []

    def __repr__(self) -> str:
        return f"<{self.data.attrs['title']}: {len(self)} modes>"


def mode_table(sequence: list[Mode]) -> list[str]:
    """Lines of a table of modes, with a heading."""
    if not sequence:
        return ["  no degree of freedom, no modes"]
    lines = ["  mode  kind         eigenvalue [1/s]            frequency [rad/s]  damping ratio  time constant [s]"]
    for i, mode in enumerate(sequence):
        value, ratio = mode.eigenvalue, mode.damping + 0.0
        text = f"{value.real + 0.0: .6g} +- {value.imag:.6g}j" if value.imag else f"{value.real + 0.0: .6g}"
        repeated = f"  x{mode.multiplicity}" if mode.multiplicity > 1 else ""
        repeated += ", defective" if mode.geometric_multiplicity < mode.multiplicity else ""
        lines.append(
            f"  {i:<4}  {mode.kind:<11}  {text:<26}  {mode.frequency:<17.6g}  {ratio:<13.4g}  "
            f"{mode.time_constant:<.5g}{repeated}"
        )
    return lines


def modes(linear_model: LinearModel, tolerance: float = 1e-10) -> Modes:
    """Natural frequencies, damping ratios, shapes in all coordinates, participation, shares of kinetic energy.

    Parameters
    ----------
    linear_model : LinearModel
    tolerance : float
        Relative accuracy of the entries of A. Eigenvalues that an error of this size can make equal count as one
        that is repeated; real parts that it can make vanish, and natural frequencies below sqrt(tolerance) rad/s,
        count as zero.

    Returns
    -------
    Modes

    Raises
    ------
    ValueError
        For a tolerance that is not positive.

    Notes
    -----
    The participation factor of state k in mode i is abs(w_ki v_ki) with left and right eigenvectors w, v,
    normalised so that the sum over the states is one (Perez-Arriaga, Verghese and Schweppe, 1982). It does not
    depend on units. For an eigenvalue that is repeated, eigenvectors are arbitrary within their space: there
    w v' is replaced by the projector on the space, which is not, and the modes of one eigenvalue share their factors.

    Shapes of a repeated eigenvalue are a basis in which each has a coordinate of its own. For a defective one
    (a free rotor: a double zero with a single eigenvector) the shapes of the missing eigenvectors are those of the
    motions that grow like t exp(lambda t).

    The shares of kinetic energy are those of a motion along the shape s: conj(s_k) (M s)_k / (s^H M s) for coordinate
    k, negative where it moves against the inertia that the others load it with; those of bodies are never negative.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> from cmbcontrol import linearize, trim
    >>> plant = plants.pendulum()
    >>> found = modes(linearize(plant, trim(plant, plant.assemble(angle=-np.pi / 2)), coordinates=("angle",)))
    >>> float(found.frequency[0]), found.participation.values[0]
    (3.83601, array([0.5, 0.5]))
    """
    return _labelled(linear_model, mode_list(linear_model, tolerance), f"modes of {linear_model.name}")


def undamped_modes(linear_model: LinearModel, tolerance: float = 1e-10) -> Modes:
    """Modes without damping, from the symmetric pencil (K'MK, K'KK): real shapes, orthogonal in M.

    Parameters
    ----------
    linear_model : LinearModel
        About an equilibrium; its damping is left out.
    tolerance : float
        Natural frequencies below sqrt(tolerance) rad/s count as zero.

    Returns
    -------
    Modes
        A mode for each degree of freedom, with ``modal_mass`` s'Ms and ``modal_stiffness`` for shapes s with largest
        entry 1. A mode whose stiffness is negative is a ``"growth"``; it stands for the decay at the same rate too.

    Raises
    ------
    ModelError
        Where the model was loaded from a file without its plant, which has the mass matrix.
    EquilibriumError
        Away from an equilibrium, and where the stiffness is not symmetric (forces that follow the motion).

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> from cmbcontrol import linearize, trim
    >>> plant = plants.pendulum()
    >>> lin = linearize(plant, trim(plant, plant.assemble(angle=-np.pi / 2)))
    >>> undamped_modes(lin).eigenvalue.values
    array([0.+3.83601j])
    """
    if not hasattr(linear_model, "states") or not hasattr(linear_model, "point") or isinstance(linear_model, type):
        raise InputTypeError(f"linear_model must be a LinearModel, from linearize, got {_check.shown(linear_model)}")
    from scipy.linalg import eigh

    _check.positive(tolerance, "tolerance")
    M, K, n = _mass_matrix(linear_model), linear_model.K, linear_model.dof
    _require_rest(linear_model)
    if K.shape[1] != n:
        raise EquilibriumError(
            f"{linear_model.name!r} rolls: it has more positions than velocities, and no undamped modes. Use modes()."
        )
    mass = K.T @ M @ K
    stiffness = -mass @ linear_model.A[n:, :n]
    unit = np.sqrt(np.outer(mass.diagonal(), mass.diagonal()))  # so that stiffnesses are squares of frequencies
    skew = float(np.abs((stiffness - stiffness.T) / unit).max(initial=0.0))
    if skew > 1e-6 * floored(np.abs(stiffness / unit).max(initial=0.0), SLOW**2, 1e-6):
        raise EquilibriumError(
            f"the stiffness of {linear_model.name!r} is not symmetric (by {skew:.3g} 1/s2): some forces follow the "
            "motion, so that undamped modes are not those of a conservative machine. Use modes()."
        )
    squares, vectors = eigh(0.5 * (stiffness + stiffness.T), mass) if n else (np.zeros(0), np.zeros((0, 0)))
    sequence = []
    for square, y in zip(squares, vectors.T, strict=True):
        square = 0.0 if abs(square) <= tolerance * SLOW**2 else float(square)
        value = complex(np.sqrt(complex(-square)))
        share = np.abs(y * (mass @ y)) / np.abs(y * (mass @ y)).sum()
        multiplicity = int(np.count_nonzero(np.abs(squares - square) <= tolerance * (abs(square) + SLOW**2)))
        vector = np.concatenate([y, value * y])
        sequence.append(
            _mode(linear_model, value, vector, np.concatenate([share, share]) / 2.0, multiplicity, multiplicity)
        )
    sequence = _ordered(sequence)
    result = _labelled(linear_model, sequence, f"undamped modes of {linear_model.name}")
    shapes = result.data["shape"].values.real
    masses = np.einsum("ik,kl,il->i", shapes, M, shapes)
    squares = -(result.data["eigenvalue"].values ** 2).real
    result.data["modal_mass"] = ("mode", masses, {"units": "kg or kg m2", "long_name": "modal mass"})
    result.data["modal_stiffness"] = ("mode", masses * squares, {"units": "N/m or N m", "long_name": "modal stiffness"})
    return result


def mode_list(linear_model: LinearModel, tolerance: float = 1e-10) -> list[Mode]:
    """List of the modes, slowest first; see `modes`."""
    _check.positive(tolerance, "tolerance")
    if not linear_model.A.size:
        return []
    sequence = []
    for space in _eigenspaces(linear_model.A, tolerance, linear_model.dof):
        share, geometric, missing = np.abs(space.diagonal), space.vectors.shape[1], space.growing.shape[1]
        share = share / share.sum()
        for x in (*_basis(linear_model.K, space.vectors), *_basis(linear_model.K, space.growing)):
            sequence.append(_mode(linear_model, space.eigenvalue, x, share, geometric + missing, geometric))
    return _ordered(sequence)


def _ordered(modes: list[Mode]) -> list[Mode]:
    """Modes sorted by frequency, and by real part where frequencies are equal but for rounding (decay and growth)."""
    groups: list[list[Mode]] = []
    for mode in sorted(modes, key=lambda mode: mode.frequency):
        if groups and mode.frequency <= groups[-1][0].frequency * (1.0 + 1e-9):
            groups[-1].append(mode)
        else:
            groups.append([mode])
    return [mode for group in groups for mode in sorted(group, key=lambda mode: mode.eigenvalue.real)]


def _mode(
    lin: LinearModel, value: complex, x: Complex, participation: Array, multiplicity: int, geometric: int
) -> Mode:
    """Make a mode from an eigenvector of A."""
    n = lin.K.shape[1]
    x = x.astype(complex)
    shape = lin.K @ x[:n]
    largest = shape[np.argmax(np.abs(shape))] if shape.any() else 1.0
    shape, x = shape / largest, x / largest
    frequency, growth = abs(value), value.real
    kind = "oscillation" if value.imag else "decay" if growth < 0.0 else "growth"
    return Mode(
        eigenvalue=value,
        frequency=float(frequency),
        damping=float(-growth / frequency) if frequency else 0.0,
        shape=shape,
        kind=kind if frequency else "rigid-body",
        time_constant=float(-1.0 / growth) if growth else float("inf"),
        multiplicity=multiplicity,
        geometric_multiplicity=geometric,
        vector=x,
        rate_shape=lin.rate_map @ x[n:] + lin.N @ x[:n],
        participation=participation,
    )


# -- eigenspaces -------------------------------------------------------------------


class _Eigenspace(NamedTuple):
    """Eigenvalue with its eigenspace.

    Attributes
    ----------
    eigenvalue : complex
    vectors : ndarray, shape (n, geometric multiplicity)
        Eigenvectors.
    growing : ndarray, shape (n, multiplicity - geometric multiplicity)
        Where the eigenvalue is defective: directions of the motions that grow like t exp(lambda t).
    diagonal : ndarray, shape (n,)
        Diagonal of the projector on the invariant subspace, along all others.
    accuracy : float
        Distance by which errors of the given relative size move the eigenvalue (or the mean of several that count as
        one).
    """

    eigenvalue: complex
    vectors: Complex
    growing: Complex
    diagonal: Complex
    accuracy: float


def _eigenspaces(A: Array, tolerance: float, dof: int) -> list[_Eigenspace]:
    """Eigenspaces of A; of complex pairs the upper half."""
    from scipy.linalg import matrix_balance

    # entries that vanish but for rounding must not decide the scale: x = scale * (x of the balanced matrix)
    scale = matrix_balance(np.abs(A) + _floor(np.ones(len(A)), dof), permute=False, separate=True)[1][0]
    A = A / scale[:, None] * scale
    error = tolerance * (np.abs(A) + _floor(scale, dof))
    found, spaces = spectrum(A, error), []
    for members in clusters(found, tolerance):
        if members.sum() == 1:
            (i,) = np.flatnonzero(members)
            vectors = found.right[:, members]
            diagonal = found.left[:, i].conj() * found.right[:, i] / found.products[i]
            space = _Eigenspace(complex(found.values[i]), vectors, vectors[:, :0], diagonal, float(found.shift[i]))
        else:
            space = _repeated(A, found.values, members, error, tolerance)
        value = cleaned(space.eigenvalue, space.accuracy, tolerance)
        vectors, growing = scale[:, None] * space.vectors, scale[:, None] * space.growing
        spaces.append(space._replace(eigenvalue=value, vectors=vectors, growing=growing))
    return spaces


def _floor(scale: Array, dof: int) -> Array:
    """Lowest sizes of entries of A, where these are zero: (1 rad/s)^2 times the inertia of each degree of freedom."""
    n = len(scale) - dof
    floor = np.zeros((n + dof, n + dof))
    floor[n:, :dof] = np.diag(SLOW**2 * scale[:dof] / scale[n:])
    return floor


def _repeated(A: Array, values: Complex, members: NDArray[np.bool_], error: Array, tolerance: float) -> _Eigenspace:
    """Eigenspace of several eigenvalues that count as one."""
    X, T, Y, *_ = invariant_subspaces(A, values, members)
    value, projector = mean_of(T), X @ Y
    # on the subspace A is value + L with L nilpotent: its null space are eigenvectors, its range what grows
    U, sigma, Vh = np.linalg.svd(T - value * np.eye(len(T)))
    nonzero = sigma > np.sqrt(tolerance) * (abs(value) + SLOW)
    accuracy = float((np.abs(projector.T) * error).sum()) / len(T)
    return _Eigenspace(value, X @ Vh[~nonzero].conj().T, X @ U[:, nonzero], projector.diagonal(), accuracy)


def _basis(K: Array, X: Complex) -> Complex:
    """Basis vectors (k, n) of the span of the columns of X (n, k), each with a coordinate of the machine of its own."""
    if X.shape[1] < 2:
        return X.T
    from scipy.linalg import qr

    shapes = K @ X[: K.shape[1]]
    pivots = np.sort(qr(shapes.conj().T, pivoting=True, mode="r")[1][: X.shape[1]])
    return (X @ np.linalg.pinv(shapes[pivots])).T


# -- masses and energies ---------------------------------------------------------------------------------


def _mass_matrix(lin: LinearModel) -> Array:
    """Mass matrix M at the operating point."""
    plant = lin.point.plant
    if plant is None:
        raise ModelError(
            f"the linear model of {lin.name!r} was loaded without its plant, which has the masses: "
            "use load_linear(path, plant)"
        )
    return plant.terms(lin.point.q, lin.point.v).M


def _require_rest(lin: LinearModel) -> None:
    speed = np.abs(lin.point.v).max(initial=0.0)
    length = lin.point.plant.displacement_scale
    n = lin.K.shape[1]
    parts = np.stack([lin.K @ lin.drift[:n], lin.rate_map @ lin.drift[n:]])
    drift = np.abs(parts / length).max(initial=0.0)  # sizes of the machine
    if speed > 0.0 or drift > 1e-6 * SLOW:
        raise EquilibriumError(
            f"the linear model of {lin.name!r} is not about an equilibrium (largest velocity {speed:.3g}, largest "
            f"drift {drift:.3g}); undamped modes need one. Use trim(plant, q), or modes()."
        )


def _coordinate_energy(M: Array, shapes: Complex) -> Array:
    """Shares (modes, nv) of the coordinates in conj(s) M s."""
    share = (shapes.conj() * (shapes @ M)).real
    return share / share.sum(axis=1, keepdims=True)


def _body_energy(plant: Mechanism, q: Array, shapes: Complex) -> Array:
    """Shares (modes, bodies) of the kinetic energy of motions along the shapes; rotors count with what they turn."""
    R, p = plant.link_poses(q)
    S, V = np.empty((plant.nv, 6)), np.empty((len(plant.arrays.links), 6))
    tree.joint_screws(plant.arrays.links, R, p, S)
    energy = np.zeros((len(shapes), len(plant.bodies)))
    frames = [plant.pose(q, body.name) for body in plant.bodies]
    links = [plant._compiled.link_of[body.name] for body in plant.bodies]
    number = {body.name: k for k, body in enumerate(plant.bodies)}
    carried = {name: number[joint.child] for joint in plant.joints for name in joint.velocity_names}
    turned = [(i, carried[name]) for i, name in enumerate(plant.velocity_names) if plant.arrays.armature[i]]
    for i, shape in enumerate(shapes):
        for part in (shape.real.copy(), shape.imag.copy()):
            tree.twists(plant.arrays.links, S, part, V)
            for k, (body, frame, link) in enumerate(zip(plant.bodies, frames, links, strict=True)):
                omega = V[link, :3]
                v = V[link, 3:] + np.cross(omega, frame.p + frame.R @ body.com)
                spin = frame.R.T @ omega
                energy[i, k] += body.mass * (v @ v) + spin @ body.inertia @ spin
            for coordinate, k in turned:
                energy[i, k] += plant.arrays.armature[coordinate] * part[coordinate] ** 2
    return energy / energy.sum(axis=1, keepdims=True)


# -- labels -----------------------------------------------------------------------------------------------


def _labelled(lin: LinearModel, sequence: list[Mode], title: str) -> Modes:
    """Modes as a labelled data set."""
    import xarray

    def stacked(field: str, width: int) -> NDArray[Any]:
        return np.array([getattr(mode, field) for mode in sequence]).reshape(len(sequence), width)

    def counts(field: str) -> NDArray[Any]:
        return np.array([getattr(mode, field) for mode in sequence], dtype=int)

    plant, (nv, n) = lin.point.plant, lin.K.shape
    values = np.array([mode.eigenvalue for mode in sequence], dtype=complex)
    shapes, share = stacked("shape", nv).astype(complex), stacked("participation", len(lin.states))
    with np.errstate(divide="ignore"):
        period = 2.0 * np.pi / values.imag
    columns = {
        "eigenvalue": (("mode",), values, "1/s", "eigenvalue"),
        "frequency": (("mode",), np.abs(values), "rad/s", "natural frequency"),
        "damping": (("mode",), np.array([mode.damping for mode in sequence]), "1", "damping ratio"),
        "damped_frequency": (("mode",), values.imag, "rad/s", "frequency of the oscillation"),
        "period": (("mode",), period, "s", "period of the oscillation"),
        "time_constant": (
            ("mode",),
            np.array([m.time_constant for m in sequence]),
            "s",
            "time constant (of the envelope)",
        ),
        "kind": (("mode",), np.array([mode.kind for mode in sequence], dtype=str), "", "kind of motion"),
        "multiplicity": (
            ("mode",),
            np.array([m.multiplicity for m in sequence], dtype=int),
            "1",
            "algebraic multiplicity",
        ),
        "geometric_multiplicity": (
            ("mode",),
            np.array([m.geometric_multiplicity for m in sequence], dtype=int),
            "1",
            "eigenvectors",
        ),
        "shape": (("mode", "coordinate"), shapes, "as coordinate_unit", "motion of all coordinates"),
        "rate_shape": (
            ("mode", "coordinate"),
            stacked("rate_shape", nv),
            "as coordinate_unit, per second",
            "velocities",
        ),
        "vector": (("mode", "state"), stacked("vector", len(lin.states)), "as state_unit", "eigenvector"),
        "participation": (("mode", "state"), share, "1", "participation factors, sum 1"),
        "coordinate_participation": (
            ("mode", "independent_coordinate"),
            share[:, :n] + np.pad(share[:, n:], ((0, 0), (0, n - lin.dof))),
            "1",
            "participation factors of a coordinate and its rate, sum 1",
        ),
    }
    coords: dict[str, Any] = {
        "mode": ("mode", np.arange(len(sequence))),
        "state": ("state", np.array(lin.states, dtype=str)),
        "state_unit": ("state", np.array(lin.state_units, dtype=str)),
        "independent_coordinate": ("independent_coordinate", np.array(lin.states[:n], dtype=str)),
        "coordinate": ("coordinate", np.array(lin.coordinates, dtype=str)),
    }
    if plant is not None:
        units = [unit.removesuffix("/s") for unit in plant.velocity_units]
        coords["coordinate_unit"] = ("coordinate", np.array(units, dtype=str))
        energy = _coordinate_energy(_mass_matrix(lin), shapes)
        columns["coordinate_energy"] = (("mode", "coordinate"), energy, "1", "share of the kinetic energy, sum 1")
    if isinstance(plant, Mechanism):
        coords["body"] = ("body", np.array([body.name for body in plant.bodies], dtype=str))
        energy = _body_energy(plant, lin.point.q, shapes)
        columns["body_energy"] = (("mode", "body"), energy, "1", "share of the kinetic energy, sum 1")
    variables = {k: (dims, x, {"units": unit, "long_name": what}) for k, (dims, x, unit, what) in columns.items()}
    return Modes(xarray.Dataset(variables, coords, {"title": title, "plant": lin.name}), sequence, lin)
