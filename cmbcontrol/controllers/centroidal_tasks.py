"""Tasks on the machine as a whole: the position of its centre of mass, and the angular momentum about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputError, InputTypeError
from ..model.mechanism import Mechanism
from ..model.terms import Terms
from .tasks import Desired, Task, TaskMotion, value_names

__all__ = ["AngularMomentum", "CentreOfMass"]

Array = NDArray[np.float64]

_AXES = ("x", "y", "z")


class _Centroidal(Task):
    """Base class of tasks on the whole machine, with the axes and the bodies that count."""

    _what: str
    _unit: str
    plant: Mechanism

    def __init__(
        self,
        plant: Mechanism,
        axes: str | Sequence[str] = _AXES,
        bodies: str | Sequence[str] | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        kind = type(self).__name__
        if not isinstance(plant, Mechanism):
            raise InputTypeError(
                f"{kind} needs a plant with bodies, a Mechanism, and {getattr(plant, 'name', plant)!r} has none; give "
                "theta(q) with FunctionTask"
            )
        self.plant = plant
        self.axes = _check.sequence(tuple(axes) if isinstance(axes, str) else axes, "axes", "names")
        for axis in self.axes:
            _check.one_of(axis, _AXES, f"axis of {kind}", "axes")
        if not self.axes or len(set(self.axes)) < len(self.axes):
            raise InputError(f"give one axis or more of x, y, z, all different, got {self.axes}")
        self._rows = np.array([_AXES.index(axis) for axis in self.axes], dtype=np.int64)
        self.names = value_names(names, [f"{self._what}_{axis}" for axis in self.axes], plant)
        self.units = (self._unit,) * len(self.axes)
        known = [body.name for body in plant.bodies]
        given = known if bodies is None else _check.names((bodies,) if isinstance(bodies, str) else bodies, "bodies")
        self._links = self._counted([_check.one_of(name, known, "body", "bodies") for name in given])

    def _counted(self, bodies: Sequence[str]) -> NDArray[np.void]:
        """Links of the kernels, a copy in which only those of the given bodies have a mass."""
        plant = self.plant
        counted = {plant.link_index(name) for name in bodies} - {-1}
        shared = [b.name for b in plant.bodies if b.name not in bodies and plant.link_index(b.name) in counted]
        if shared:
            raise InputError(
                f"no joint moves {', '.join(map(repr, shared))} against the bodies {', '.join(map(repr, bodies))}; "
                "name all of them, or none"
            )
        links = plant.arrays.links.copy()
        links["mass"][[i for i in range(len(links)) if i not in counted]] = 0.0
        links["inertia"][[i for i in range(len(links)) if i not in counted]] = 0.0
        if not links["mass"].sum() > 0.0:
            raise InputError(f"{type(self).__name__}: no mass moves with the bodies {', '.join(map(repr, bodies))}")
        links.setflags(write=False)  # as kernels know them
        return links

    def _kinematics(self, terms: Terms) -> tuple[Any, Any, Any, Any]:
        """Mass, centre of mass (3,), and Jacobian (6, nv) and bias (6,) of the momentum about it."""
        return self.plant.centroidal_motion(terms.q, terms.v, self._links)


class CentreOfMass(_Centroidal):
    """The centre of mass of the machine, or of some of its bodies, in the axes of the ground.

    Parameters
    ----------
    plant : Mechanism
    axes : str
        Axes of the ground, of x, y and z, such as ``"xy"`` in a plane.
    bodies : sequence of str, optional
        Bodies that count; defaults to all that move.
    names : sequence of str, optional
        Names of the values; defaults to ``com_<axis>``.

    Raises
    ------
    ValueError
        For unknown bodies and axes, or bodies without mass.

    Notes
    -----
    J v is the linear momentum over the mass (Orin, Goswami and Lee, Centroidal dynamics of a humanoid robot, 2013).

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> from cmbcontrol.plants.biped import stand
    >>> plant = plants.biped()
    >>> task = CentreOfMass(plant, axes="xy")
    >>> task.value(plant.terms(stand(plant), [0.0] * plant.nv)).round(4)
    array([0.0241, 0.7697])
    """

    _what, _unit = "com", "m"

    def value(self, terms: Terms) -> Array:
        return self._kinematics(terms)[1][self._rows]

    def jacobian(self, terms: Terms) -> Array:
        mass, _, J, _ = self._kinematics(terms)
        return np.ascontiguousarray(J[3 + self._rows]) / mass

    def bias(self, terms: Terms) -> Array:
        mass, _, _, bias = self._kinematics(terms)
        return bias[3 + self._rows] / mass

    def motion(self, desired: Desired, terms: Terms) -> TaskMotion:
        position, velocity, acceleration = desired
        mass, centre, J, bias = self._kinematics(terms)
        rows = 3 + self._rows
        J, bias = J[rows] / mass, bias[rows] / mass
        return TaskMotion(position - centre[self._rows], velocity - J @ terms.v, J, bias, acceleration)


class AngularMomentum(_Centroidal):
    """The angular momentum of the machine, or of some of its bodies, about their centre of mass, in axes of the ground.

    The angular momentum is not the rate of any function of the positions, so the task has only a rate, J v: its values
    and errors are zero, the velocity of a reference is the desired momentum, N m s, its acceleration the rate of that,
    and of the gains only the damping acts. Rotors (``armature``) do not count.

    Parameters
    ----------
    plant, axes, bodies
        As in `CentreOfMass`.
    names : sequence of str, optional
        Names of the values; defaults to ``spin_<axis>``.

    Raises
    ------
    ValueError
        As in `CentreOfMass`.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.biped()
    >>> spin = AngularMomentum(plant, axes="z")
    >>> spin.names, spin.jacobian(plant.terms(plants.catalogue["biped"].initial(plant)[0], [0.0] * plant.nv)).shape
    (('spin_z',), (1, 13))
    """

    _what, _unit = "spin", "N m s2"  # of the integral of a momentum

    def value(self, terms: Terms) -> Array:
        return np.zeros(len(self.axes))

    def jacobian(self, terms: Terms) -> Array:
        return np.ascontiguousarray(self._kinematics(terms)[2][self._rows])

    def bias(self, terms: Terms) -> Array:
        return self._kinematics(terms)[3][self._rows]

    def error(self, desired: ArrayLike, terms: Terms) -> Array:
        """Errors (k,), all zero: momentum has no position."""
        _check.vector(desired, len(self.names), "desired", self.names)
        return np.zeros(len(self.axes))

    def motion(self, desired: Desired, terms: Terms) -> TaskMotion:
        _, momentum, rate = desired
        J, bias = (x[self._rows] for x in self._kinematics(terms)[2:])
        return TaskMotion(np.zeros(len(self.axes)), momentum - J @ terms.v, J, bias, rate)
