"""Entry of the catalogue of plants: how to build a plant, its start, and the task of its study."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.plant import Plant

__all__ = ["Entry", "TrackingTask"]

Array = NDArray[np.float64]
State = tuple[Array, Array]


@dataclass(frozen=True)
class TrackingTask:
    """Tracking task that a plant's motors can do: a sine in independent coordinates.

    Attributes
    ----------
    coordinates : tuple of str
        Controlled coordinates, as many as the plant has degrees of freedom.
    centre, amplitude : tuple of float
        rad or m; centre + amplitude * sin(2 pi frequency_hz t + phase).
    frequency_hz : float
        Hz.
    phase : tuple of float
        rad.
    bandwidth : float
        Bandwidth of the tracking error, rad/s.
    t_end : float
        s.
    """

    coordinates: tuple[str, ...]
    centre: tuple[float, ...]
    amplitude: tuple[float, ...]
    frequency_hz: float
    phase: tuple[float, ...]
    bandwidth: float
    t_end: float


@dataclass(frozen=True)
class Entry:
    """Entry of the catalogue: a ready-made plant with its start, source and study.

    Attributes
    ----------
    name : str
        Name on the command line.
    factory : callable
        Function that builds the plant; its docstring describes it.
    description, source : str
    initial : callable
        plant -> (q0, v0).
    study : Study or None
        None where the plant has no motor.
    effort : mapping of actuator name to float
        Constant efforts that belong to the published motion, N or N m; zero unless named.
    """

    name: str
    factory: Callable[..., Plant]
    description: str
    source: str
    initial: Callable[[Any], State]
    study: TrackingTask | None = None
    effort: Mapping[str, float] = field(default_factory=dict)

    def start(self, **options: Any) -> tuple[Plant, Array, Array]:
        """Build the plant with the factory's options; returns it with its start (plant, q0, v0), loops closed to 1e-12.

        Examples
        --------
        >>> from cmbcontrol import plants
        >>> plant, q0, v0 = plants.catalogue["n-four-bar"].start(n=3)
        >>> plant.nv, len(q0), v0[0]
        (7, 7, np.float64(-1.0))
        """
        plant = self.factory(**options)
        return plant, *self.initial(plant)
