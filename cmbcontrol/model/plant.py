"""What dynamics, controllers and simulation ask of a plant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .terms import Terms

__all__ = ["Plant"]

Array = NDArray[np.float64]


@runtime_checkable
class Plant(Protocol):
    """A constrained machine: `Mechanism`, `FunctionPlant`, or one of your own with these members."""

    name: str
    position_names: tuple[str, ...]
    velocity_names: tuple[str, ...]
    position_units: tuple[str, ...]
    velocity_units: tuple[str, ...]
    actuator_names: tuple[str, ...]
    row_names: tuple[str, ...]
    row_slices: Mapping[str, slice]
    row_scale: Array
    reach: Array
    effort: Array

    @property
    def nq(self) -> int:
        """Number of position coordinates."""

    @property
    def nv(self) -> int:
        """Number of velocity coordinates."""

    @property
    def nu(self) -> int:
        """Number of actuators."""

    def terms(
        self,
        q: ArrayLike,
        v: ArrayLike,
        t: float = 0.0,
        *,
        project: bool = False,
        close: bool = False,
        cap: int | None = None,
    ) -> Terms:
        """The equations of motion at a state; with `project`, v is first brought onto the loops, with `close`, q."""

    def integrate(self, q: ArrayLike, dq: ArrayLike) -> Array:
        """q [+] dq."""

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Array:
        """dq such that integrate(q0, dq) is q1."""

    def position_rate(self, q: ArrayLike, v: ArrayLike) -> Array:
        """dq/dt at velocity v."""

    def residual(self, q: ArrayLike) -> Array:
        """Residual of the loops."""

    def close(self, q: ArrayLike, *, metric: str = "mass", accuracy: float = 1e-14) -> Array:
        """The nearest configuration with closed loops."""

    def project_velocity(self, q: ArrayLike, v: ArrayLike, *, metric: str = "mass") -> Array:
        """The nearest velocity that the loops allow."""

    def generic_rank(self, q: ArrayLike) -> int:
        """Rank of A at poses near q."""
