"""Choice of the branch on which a run goes on at singular configurations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..dynamics.singular import SingularConfiguration
from ..errors import InputError, InputTypeError, SwitchingError

__all__ = ["BranchSelector", "velocity_on_branch"]

Array = NDArray[np.float64]
Choice = int | ArrayLike | None


class BranchSelector:
    """The branch that a run takes at singular configurations.

    Parameters
    ----------
    branch : None, int, array_like (nv,), mapping or callable
        See `simulate`.
    passing : bool
        Whether the run passes singular configurations.
    way : str
        Method and stabilisation of the run, for the error message.

    Raises
    ------
    TypeError
        Where the run does not pass singular configurations.
    """

    def __init__(self, branch: Any = None, passing: bool = True, way: str = "") -> None:
        self.branch = branch
        self.passages = 0
        if branch is not None and not passing:
            raise InputTypeError(
                "branch= steers runs that pass singular configurations: method 'auto' or 'dop853' with stabilisation "
                f"'projection', not {way}"
            )
        if isinstance(branch, Mapping):
            for number in branch:
                if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < 0:
                    raise InputError(
                        f"branch= maps the number of a passage, 0 for the start, to a choice, got {number!r}"
                    )
        elif isinstance(branch, (bool, str)):
            raise InputTypeError(f"branch= takes a number, a direction, a mapping or a function, got {branch!r}")

    @property
    def active(self) -> bool:
        """Whether the user chooses branches at all."""
        return self.branch is not None

    def choose(self, configuration: SingularConfiguration, t: float, v: Array) -> Choice:
        """Chosen branch at a singular configuration that the run passes."""
        if callable(self.branch):
            try:
                return self.branch(configuration, t, v.copy())
            except Exception as error:
                raise SwitchingError(
                    f"branch= failed at the singular configuration at t = {t:.9g} s: {type(error).__name__}: {error}"
                ) from error
        return self.branch.get(self.passages) if isinstance(self.branch, Mapping) else self.branch


def velocity_on_branch(configuration: SingularConfiguration, v: Array, choice: Choice) -> Array:
    """Velocity on the chosen branch with the same kinetic energy; a branch chosen by number is taken forwards."""
    if choice is None:
        return v
    try:
        return configuration.speed(v) * _direction(configuration, v, choice)
    except (TypeError, ValueError) as error:
        raise SwitchingError(f"branch= chose what the singular configuration does not have: {error}") from error


def _direction(configuration: SingularConfiguration, v: Array, choice: Choice) -> Array:
    if isinstance(choice, (int, np.integer)) and not isinstance(choice, bool):
        direction = configuration.toward(int(choice), v)
        return direction if direction @ configuration.M @ v >= 0.0 else -direction
    return configuration.on_branch(
        _check.vector(choice, configuration.plant.nv, "the direction", configuration.plant.velocity_names)
    )
