"""The work of ``cmbcontrol linearize``: the operating point that options ask for, its report, its files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..errors import EquilibriumError, InputError
from . import common
from .matrices import matrix_lines
from .tables import bold, table, width, wrapped

if TYPE_CHECKING:
    import control

    from ..linear.model import LinearModel
    from ..linear.operating import OperatingPoint

__all__ = ["Files", "Wish", "held_for", "moved_and_seen", "needs_compilation", "report", "sampled_numbers"]

Array = NDArray[np.float64]

_SMALL = 12  # states of a model that is printed
_AS_IT_STANDS = "--affine linearizes it where it stands"


def needs_compilation() -> bool:
    """Whether the kernels of the derivatives still have to be compiled."""
    from .. import _jit

    return _jit.needs_compilation("derivatives.local_terms")


# -- what is asked for -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Wish:
    """Operating point that the options ask for."""

    held: bool | None
    stable: bool
    stops: bool
    affine: bool
    effort: dict[str, float]

    def __post_init__(self) -> None:
        if self.affine and (self.held is not None or self.stable or self.stops):
            raise InputError(
                "--affine takes the configuration as it stands; leave out --held, --free, --stable and --stops"
            )
        if self.held and self.stable:
            raise InputError("--stable lets the machine go, --held does not; give one of them")

    def point(self, plant: Any, q: Array, where: str) -> tuple[OperatingPoint, str]:
        """Operating point at or near q, and a text on how it was found."""
        from ..linear.operating import OperatingPoint, trim

        u, refused, limits = self._efforts(plant), "", "hold" if self.stops else "stop"
        off = ", with the efforts given" if self.effort else ", motors off" if plant.nu else ""
        if self.affine:
            return OperatingPoint.at(plant, q, u), f"as it stands {where}{off}"
        if self.held or (self.held is None and not self.stable and plant.nu):
            try:
                return trim(plant, q, u=self.effort or None, limits=limits), f"held {where}"
            except EquilibriumError as error:
                if self.held:
                    raise EquilibriumError(f"{error} --free lets it go, {_AS_IT_STANDS}.") from error
                refused = str(error)
        try:
            point = trim(plant, q, u=u, free="all", stable=self.stable, limits=limits)
        except EquilibriumError as error:
            story = f"{refused} When it is let go: {error}" if refused else str(error)
            raise EquilibriumError(f"{story} {_AS_IT_STANDS}.") from error
        how = f"let go {where} to {'a stable' if self.stable else 'the nearest'} equilibrium{off}"
        return point, f"{how}\n  the motors cannot hold that configuration: {refused}" if refused else how

    def _efforts(self, plant: Any) -> Array:
        """Efforts of all motors, zero unless given."""
        u = np.zeros(plant.nu)
        for name, value in self.effort.items():
            u[plant.actuator_names.index(_check.one_of(name, plant.actuator_names, "motor"))] = value
        return u


def held_for(sampled: float | None, delay: list[str] | None) -> tuple[float, float | dict[str, float]] | None:
    """Period and delays of the sampled model; None where no period is given."""
    if sampled is None:
        if delay:
            raise InputError("--delay needs --sampled SECONDS")
        return None
    period = _check.positive(sampled, "--sampled")
    if delay is None or len(delay) > 1 or "=" in delay[0]:
        return period, common.numbers(delay, "--delay", "left=0.002") or 0.0
    late = common.number(delay[0])
    if late is None:
        raise InputError(f"--delay takes a time in seconds, or name=time, got {delay[0]!r}")
    return period, _check.positive(late, "--delay", zero=True)


class Files:
    """Paths of the output files, and those that were written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.placed: set[Path] = set()
        self.written: list[Path] = []

    def place(self, text: str, suffixes: tuple[str, ...]) -> Path:
        """Path of a file, in the output folder if it has no folder of its own."""
        path = Path(text)
        if path.suffix.lower() not in suffixes:
            raise InputError(f"the name of this file must end in {' or '.join(suffixes)}, got {text!r}")
        path = self.folder / path if text == path.name else path
        if path in self.placed:
            raise InputError(f"{path} is to be written twice")
        self.placed.add(path)
        return path

    def write(self, path: Path, save: Callable[[Path], Any]) -> None:
        """Write a file by `save`, in a folder that is made if needed."""
        common.made_folder(path.parent)
        save(path)
        self.written.append(path)


# -- what is shown -----------------------------------------------------------------------------------------


def report(lin: LinearModel, digital: control.StateSpace | None) -> Iterator[str]:
    """Lines of the report, without the first one."""
    yield from str(lin.point).splitlines()
    yield ""
    n = lin.dof
    yield f"linear model, {2 * n} states: the coordinates and their rates"
    yield f"  coordinates   {_listed(lin.states[:n], lin.state_units[:n])}"
    yield f"  conditioning  {lin.conditioning:.3g} (1 is best, 0 is dependent)"
    yield f"  inputs        {_listed(lin.inputs, lin.input_units)}"
    yield f"  outputs       {_listed(lin.outputs, lin.output_units)}"
    yield from _matrices(lin, lin.states, lin.inputs, lin.outputs)
    if lin.drift.any():
        rates = [(f"{unit}/s" if unit else "").replace("/s/s", "/s2") for unit in lin.state_units]
        labels = [f"{name} [{rate}]" if rate else name for name, rate in zip(lin.states, rates, strict=True)]
        yield ""
        yield from matrix_lines("drift", lin.drift[:, None], labels, [""])
    yield ""
    yield from _modes(lin)
    yield ""
    yield from moved_and_seen(lin)
    if digital is not None:
        yield ""
        yield f"sampled every {digital.dt:g} s: x(k+1) = A x(k) + B u(k), {digital.nstates} states"
        yield from _matrices(digital, digital.state_labels, digital.input_labels, digital.output_labels)
        yield ""
        yield from _sampled_poles(np.asarray(digital.poles()))


def _modes(lin: LinearModel) -> Iterator[str]:
    """Lines with the modes, and with the coordinates that take part most."""
    modes = lin.modes()
    title, *_ = str(modes).splitlines()
    yield bold(title)
    if not len(modes):
        yield "  no degree of freedom, no modes"
        return
    rows = []
    for i, mode in enumerate(modes):
        value, several = mode.eigenvalue, f"x{mode.multiplicity}" if mode.multiplicity > 1 else ""
        several += ", defective" if mode.geometric_multiplicity < mode.multiplicity else ""
        text = f"{value.real + 0.0: .6g} +- {value.imag:.6g}j" if value.imag else f"{value.real + 0.0: .6g}"
        numbers = f"{mode.frequency:.6g}", f"{mode.damping + 0.0:.4g}", f"{mode.time_constant:.5g}"
        rows.append([str(i), mode.kind, text, *numbers, several])
    headings = ["mode", "kind", " eigenvalue\n 1/s", "frequency\nrad/s", "damping", "time constant\ns", ""]
    if not any(row[-1] for row in rows):
        headings, rows = headings[:-1], [row[:-1] for row in rows]
    yield from table(headings, rows, width(), (0, 1, 2, 6), indent=2)
    yield from str(modes).splitlines()[-len(modes) - 1 :]  # the participation


def moved_and_seen(lin: LinearModel, indent: int = 0) -> Iterator[str]:
    """Lines on which modes the inputs move and the outputs see; nothing for a model without modes, inputs, outputs."""
    found = lin.modal_controllability()
    if not found.order:
        return
    for title, head, rows in found.tables():
        if len(head) > 2:
            yield bold(" " * indent + f"modes {title} (cosines: 1 wholly, 0 not at all)")
            yield from table(head, rows, width(), (0, 1), indent=indent + 2)
    for text in found.remarks():
        yield from wrapped(" " * (indent + 2) + text, width(), indent + 4)


def sampled_numbers(digital: control.StateSpace | None) -> dict[str, Any] | None:
    """Matrices of the sampled model by name; None without one."""
    if digital is None:
        return None
    labels = {"states": digital.state_labels, "inputs": digital.input_labels, "outputs": digital.output_labels}
    return {"period_s": digital.dt, **labels, **{key: np.asarray(getattr(digital, key)) for key in "ABCD"}}


def _listed(names: Sequence[str], units: Sequence[str]) -> str:
    return ", ".join(f"{n} [{u}]" if u else n for n, u in zip(names, units, strict=True)) or "none"


def _matrices(system: Any, states: Sequence[str], inputs: Sequence[str], outputs: Sequence[str]) -> Iterator[str]:
    """Lines with A, B, C and D of a small model; for a large one their sizes."""
    shown = {"A": (states, states), "B": (states, inputs), "C": (outputs, states), "D": (outputs, inputs)}
    if len(states) > _SMALL:
        sizes = ", ".join(f"{key} {len(rows)} x {len(columns)}" for key, (rows, columns) in shown.items())
        yield f"  {sizes}: more than {_SMALL} states are not printed; --save model.mat keeps them"
        return
    for key, (rows, columns) in shown.items():
        yield ""
        yield from matrix_lines(key, np.asarray(getattr(system, key)), rows, columns, width())


def _sampled_poles(values: NDArray[np.complex128]) -> Iterator[str]:
    """Lines with eigenvalues z, the largest first; of pairs the upper ones."""
    outside = int(np.count_nonzero(np.abs(values) > 1.0 + 1e-9))
    yield f"eigenvalues of the sampled model: {outside} of {len(values)} outside the unit circle"
    yield f"  {'eigenvalue z':<28}  abs(z)"
    for z in sorted(values, key=abs, reverse=True):
        pair = abs(z.imag) > 1e-6 * abs(z)
        if z.imag >= 0.0 or not pair:
            yield f"  {f'{z.real: .6g} +- {z.imag:.6g}j' if pair else f'{z.real + 0.0: .6g}':<28}  {abs(z):.6g}"
