"""Forward kinematics: the motion of all joints from the joints with encoders, by the loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._frozen import Held, frozen, held
from ..errors import InputError
from ..model.plant import Plant
from .chain import SensorBlock, Setting
from .encoder import plain_positions, require_samples

__all__ = ["ForwardKinematics"]

Array = NDArray[np.float64]


@frozen
class ForwardKinematics(SensorBlock):
    """All positions and velocities from those of the measured joints, by closing the loops of the controller's model.

    It stands after `Encoder` and `FilteredDifference`: their values of the other joints only choose the branch (elbow
    up or down), which is the nearest.

    Parameters
    ----------
    coordinates : sequence of str
        Joints that are measured: of one axis, and as many as determine the motion.
    plant : Plant, optional
        Model of the controller, where the law has no plant of its own.

    Raises
    ------
    ValueError
        For unknown coordinates, those of joints of several axes, and in continuous time.
    AssemblyError
        In a call, where the loops do not close with the positions measured.
    ActuationError
        In a call, where the measured joints do not determine the motion.

    Examples
    --------
    >>> from cmbcontrol import Constant, plants
    >>> from cmbcontrol.controllers import Encoder, ProjectedInverseDynamics
    >>> plant = plants.five_bar()
    >>> law = ProjectedInverseDynamics(plant, ("left", "right"), Constant([2.1, 1.0]), bandwidth=8.0, period=1e-3)
    >>> chain = Encoder(bits=10) | ForwardKinematics(("left", "right")) | law
    >>> kinematics = chain.sensors[1]
    >>> q, v = kinematics.measured(0.0, np.round(plant.assemble(left=2.1, right=1.0), 2), np.ones(4), np.zeros(0))
    >>> plant.closure_error(q) < 1e-12, q[[0, 2]], v[[0, 2]]
    (True, array([2.1, 1. ]), array([1., 1.]))
    """

    coordinates: Sequence[str]
    plant: Plant | None = field(default=None, kw_only=True, repr=False)
    _setting: Held[Setting | None, Setting] = field(default=held(None), init=False, repr=False)

    def __post_init__(self) -> None:
        given = (self.coordinates,) if isinstance(self.coordinates, str) else self.coordinates
        names = _check.names(given, "coordinates")
        object.__setattr__(self, "coordinates", names)

    def bound(self, setting: Setting) -> Self:
        require_samples(self, setting)
        plant = setting.known(self, "for its loops")
        single = {plant.position_names[i] for i in plain_positions(plant)} & set(plant.velocity_names)
        for name in self.coordinates:
            _check.one_of(name, plant.position_names, "coordinate")
            if name not in single:
                raise InputError(
                    f"coordinate {name!r} belongs to a joint of several axes and is not measured by itself; choose "
                    "joints of one axis"
                )
        block = replace(self)
        object.__setattr__(block, "_setting", setting)
        return block

    def measured(self, t: float, q: Array, v: Array, state: Array) -> tuple[Array, Array]:
        plant = self._setting.plant
        rows = [plant.velocity_names.index(name) for name in self.coordinates]  # type: ignore[union-attr]
        return plant.closed_with(q, v, rows)  # type: ignore[union-attr]
