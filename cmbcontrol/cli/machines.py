"""``cmbcontrol list`` and ``cmbcontrol diagnose``: the plants of the catalogue, and the mobility of a plant."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..errors import CmbError, EquilibriumError
from . import common
from .common import AsJson, At, Debug, Factory, NamedConfiguration, Notes, PlantName
from .tables import table, width, wrapped
from .words import spoken

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..linear.model import LinearModel
    from ..model.plant import Plant

__all__ = ["diagnose", "list_plants"]


def list_plants(as_json: AsJson = False, debug: Debug = False) -> None:
    """List the ready-made plants."""
    with common.in_one_line(debug):
        plants = common.listed()["plants"]
        if as_json:
            common.show_json("plants", {"plants": plants})
            return
        rows = [[row[key] for key in ("name", "dof", "coordinates", "loops", "motors")] for row in plants]
        below = [
            [row["description"], row["source"], *([f"--with {row['options']}"] if row["options"] else [])]
            for row in plants
        ]
        common.show(table(("plant", "DOF", "coordinates", "loops", "motors"), rows, width(), below=below))


def diagnose(
    plant: PlantName,
    at: At = None,
    factory: Factory = None,
    notes: Notes = False,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Show the mobility table of a plant, and its freedom, redundancy and actuation at a configuration."""
    with common.in_one_line(debug):
        common.check_given(plant, factory)
        place = NamedConfiguration.of(at)
        from ..dynamics.singular import singular_configuration
        from . import entries
        from .linear_report import needs_compilation

        entries.begin(needs_compilation, quick=True)
        entry = entries.entry_of(plant, notes)
        options = entries.factory_options(entry, factory)
        machine, q0, _ = entry.start(**options)
        q, where = entries.configuration(machine, q0, place)
        if as_json:
            common.show_json("diagnosis", _numbers(machine, q))
            return
        common.say(str(machine))
        common.say(f"  {where}:")
        longest = max(16, *map(len, machine.position_names))
        for name, value, unit in zip(machine.position_names, q, machine.position_units, strict=True):
            common.say(f"    {name:<{longest}} {value: .6g} {unit}".rstrip())
        common.say(textwrap.indent(str(machine.diagnose(q)), "    "))
        found = singular_configuration(machine, q)
        if found.singular:
            common.say("  how it can move on from there:")
            told = " ".join((str(found) if found.few else found.outline).split())
            common.show(wrapped(f"    {told}", min(width(), 104), 4))
        if machine.nu and len(machine.row_names):
            common.say("  constraint forces that the motors can set there:")
            for line in _of_motors(machine, q):
                common.say(f"    {line}")
        if machine.nu:
            common.show(_modes(machine, q))


def _numbers(machine: Plant, q: NDArray) -> dict[str, Any]:
    """What is known of a plant at a configuration, by name; SI units."""
    found = machine.diagnose(q)
    names = "rows", "rank", "generic_rank", "dof", "singular", "redundant", "conditioning", "singular_values"
    return {
        "plant": machine.name,
        "q": dict(zip(machine.position_names, q.tolist(), strict=True)),
        "units": dict(zip(machine.position_names, machine.position_units, strict=True)),
        **{name: getattr(found, name) for name in names},
        "unique_multipliers": found.unique_multipliers,
        "open_m": found.residuals,
        "actuation": {name: getattr(found.actuation, name) for name in ("verdict", "margin", "rank")},
        "modes": _modes_in_numbers(machine, q),
    }


def _linear(machine: Plant, q: NDArray) -> tuple[LinearModel, str]:
    """Linear model where the motors hold the configuration, or else as it stands with motors off; in words, too."""
    from ..linear.linearize import affine_approximation
    from ..linear.operating import OperatingPoint, trim

    try:
        return affine_approximation(machine, trim(machine, q)), "held there"
    except EquilibriumError:
        return affine_approximation(machine, OperatingPoint.at(machine, q)), "as it stands there, motors off"


def _modes(machine: Plant, q: NDArray) -> Iterator[str]:
    """Lines on which modes the motors move, and the coordinates show; without a linear model, why there is none."""
    from .linear_report import moved_and_seen

    try:
        model, how = _linear(machine, q)
    except CmbError as error:
        reason = " ".join(spoken(str(error)).split()).partition(" Choose another")[0]
        yield from wrapped(f"  no linear model there: {reason}", width(), 4)
        return
    yield f"  what motors move and coordinates show of the linear model, {how}:"
    yield from moved_and_seen(model, indent=4)


def _modes_in_numbers(machine: Plant, q: NDArray) -> dict[str, Any] | None:
    """What motors move and coordinates show of each mode; None without a linear model."""
    try:
        model, how = _linear(machine, q)
    except CmbError:
        return None
    return {"how": how, **model.modal_controllability().to_data()}


def _of_motors(plant: Plant, q: NDArray) -> list[str]:
    """Lines with the constraint forces that the motors can set."""
    from ..controllers.decoupling import is_decoupled, reachable_forces

    forces = reachable_forces(plant, q)
    lines = str(forces).splitlines() if forces.dimension else str(forces).splitlines()[:1]
    return [*(line for line in lines if not line.startswith("  row")), str(is_decoupled(plant, q))]
