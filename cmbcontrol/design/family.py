"""Sets of linear models: one machine at several configurations with several payloads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputError, InputTypeError
from ..linear.linearize import linearize
from ..linear.model import LinearModel
from ..linear.operating import trim
from ..model.elements import Body
from ..model.mechanism import Mechanism
from ..model.plant import Plant

__all__ = ["model_family", "with_payload"]

Array = NDArray[np.float64]

Configuration = ArrayLike | Mapping[str, float]


def with_payload(
    plant: Mechanism,
    body: str,
    mass: float,
    point: ArrayLike = (0.0, 0.0, 0.0),
    inertia: ArrayLike = (0.0, 0.0, 0.0),
    name: str = "",
) -> Mechanism:
    """Copy of a machine with a payload fixed to a body.

    Parameters
    ----------
    plant : Mechanism
    body : str
        Body that carries the payload.
    mass : float
        Mass of the payload, kg; 0 for none.
    point : array_like, shape (3,)
        Centre of mass of the payload, in the body's axes, m.
    inertia : array_like, shape (3,) or (3, 3)
        Inertia of the payload about its centre of mass, kg m2; defaults to a point mass.
    name : str
        Name of the new machine; defaults to that of the plant with the mass.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> loaded = with_payload(plants.five_bar(), "left_upper", 2.0, (1.5, 0.0, 0.0))
    >>> loaded.name, [b.mass for b in loaded.bodies if b.name == "left_upper"]
    ('five-bar with 2 kg', [5.0])
    """
    if not isinstance(plant, Mechanism):
        raise InputTypeError(
            f"a payload needs a Mechanism, got {type(plant).__name__}; build the loaded plant yourself"
        )
    _check.one_of(body, [b.name for b in plant.bodies], "body")
    point = _check.point(point, "point")
    load = Body("payload", _check.positive(mass, "mass", zero=True), point, inertia)
    bodies = [_joined(b, load) if b.name == body else b for b in plant.bodies]
    return plant.with_parts(
        name=_check.text(name, "name") or f"{plant.name} with {mass:g} kg".replace(".", "_"), bodies=bodies
    )


def _joined(body: Body, load: Body) -> Body:
    """Two bodies as one: masses add up, inertias about the common centre (Huygens, Steiner)."""
    total = body.mass + load.mass
    if load.mass == 0.0:
        return body
    com = (body.mass * np.asarray(body.com) + load.mass * np.asarray(load.com)) / total
    inertia = np.zeros((3, 3))
    for part in (body, load):
        r = np.asarray(part.com) - com
        inertia += np.asarray(part.inertia) + part.mass * (r @ r * np.eye(3) - np.outer(r, r))
    return replace(body, mass=total, com=com, inertia=inertia)


def model_family(
    plants: Plant | Mapping[str, Plant] | Sequence[Plant],
    configurations: Mapping[str, Configuration] | Sequence[Configuration],
    *,
    coordinates: Sequence[str],
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
) -> dict[str, LinearModel]:
    """Linear models of every plant at every configuration, each about its own equilibrium.

    Parameters
    ----------
    plants : Plant, or several, or mapping of label to plant
        Such as one machine `with_payload` of several masses: the same coordinates and motors.
    configurations : sequence, or mapping of label to configuration
        Configurations (nq,) with closed loops, or mappings of joint values, from which the machine is assembled.
    coordinates : sequence of str
        Independent coordinates of all models.
    inputs, outputs : sequence of str, optional
        As in `linearize`.

    Returns
    -------
    models : dict of str to LinearModel
        Labels "plant, configuration".

    Raises
    ------
    AssemblyError, EquilibriumError, ValueError
        Where a configuration is not closed, not held by the motors, or singular.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> machines = {f"{m} kg": with_payload(plants.five_bar(), "left_upper", m, (1.5, 0.0, 0.0)) for m in (0, 2)}
    >>> configurations = {"up": {"left": 2.1, "right": 1.0}, "low": {"left": 2.6, "right": 0.5}}
    >>> list(model_family(machines, configurations, coordinates=("left", "right")))
    ['0 kg, up', '0 kg, low', '2 kg, up', '2 kg, low']
    """
    coordinates = _check.names((coordinates,) if isinstance(coordinates, str) else coordinates, "coordinates")
    machines, at = labelled_plants(plants), labelled_configurations(configurations)
    return {
        f"{machine}, {where}": linearize(
            plant,
            trim(plant, configuration_of(plant, configuration)),
            coordinates=coordinates,
            inputs=inputs,
            outputs=outputs,
        )
        for machine, plant in machines.items()
        for where, configuration in at.items()
    }


def labelled_plants(plants: Any) -> dict[str, Plant]:
    """Plants by label; those without one are called by their names."""
    if isinstance(plants, Plant):
        plants = [plants]
    if not isinstance(plants, Mapping):
        plants = _numbered([(_check.plant(p, "plants").name, p) for p in _check.sequence(plants, "plants", "plants")])
    found = {label: _check.plant(p, f"plants, {label!r},") for label, p in plants.items()}
    if not found:
        raise InputError("give at least one plant")
    return found


def labelled_configurations(configurations: Any) -> dict[str, Configuration]:
    """Configurations by label; those without one are numbered."""
    whole = isinstance(configurations, Mapping) and not all(
        np.ndim(x) == 0 and not isinstance(x, Mapping) for x in configurations.values()
    )
    if isinstance(configurations, Mapping) and not whole:
        configurations = [configurations]  # one configuration, by joint values
    elif not whole and not len(_check.sequence(configurations, "configurations", "configurations")):
        raise InputError("give at least one configuration")
    elif (
        not whole
        and np.ndim(configurations[0] if len(configurations) else 0.0) == 0
        and not isinstance(configurations[0], Mapping)
    ):
        configurations = [configurations]
    found = (
        dict(configurations)
        if whole
        else {f"configuration {i + 1}": configuration for i, configuration in enumerate(configurations)}
    )
    if not found:
        raise InputError("give at least one configuration")
    return found


def configuration_of(plant: Plant, configuration: Configuration) -> Array:
    """Closed configuration (nq,) from joint values, or the one given."""
    if isinstance(configuration, Mapping):
        return plant.assemble(**configuration)
    return _check.vector(configuration, plant.nq, "a configuration", plant.position_names)


def labelled_models(models: Any) -> dict[str, LinearModel]:
    """Linear models by label, all with the same states and inputs."""
    if isinstance(models, LinearModel):
        models = [models]
    if not isinstance(models, Mapping):
        listed = _check.sequence(models, "models", "linear models")
        models = _numbered([(getattr(m, "name", ""), m) for m in listed])
    found = {k: _check.instance(m, LinearModel, f"models, {k!r},", "from linearize") for k, m in models.items()}
    if not found:
        raise InputError("give at least one linear model")
    return found


def _numbered(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Mapping from pairs of name and value, with numbers added to names that repeat."""
    pairs = list(pairs)
    names = [name for name, _ in pairs]
    return {f"{n} {i + 1}" if names.count(n) > 1 else n: x for i, (n, x) in enumerate(pairs)}
