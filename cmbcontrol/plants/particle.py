"""Aghili's particle on a circle (section 5.4, eqs. 33 to 37), given by functions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..model.functions import FunctionPlant
from .entry import Entry, TrackingTask

__all__ = ["particle_on_circle"]

Array = NDArray[np.float64]

SOURCE = "F. Aghili, projection-operator formulation, section 5.4 (eqs. 33-37 and figure 2)"


@dataclass(frozen=True, eq=False)
class _Bead:
    """Functions of the plant, as methods, so that they can be pickled."""

    mass: float
    radius: float
    weight: Array

    def M(self, q: Array) -> Array:
        return self.mass * np.eye(2)

    def h(self, q: Array, v: Array) -> Array:
        return -self.weight

    def Phi(self, q: Array) -> list[float]:
        return [np.linalg.norm(q) - self.radius]

    def A(self, q: Array) -> list[Array]:
        return [q / np.linalg.norm(q)]

    def Adot_v(self, q: Array, v: Array) -> list[float]:
        length = np.linalg.norm(q)
        along = q @ v / length
        return [(v @ v - along * along) / length]

    def potential(self, q: Array) -> float:
        return -self.weight @ q

    def sketch(self, q: Array) -> list[list]:
        return [[[0.0, 0.0], q]]


def particle_on_circle(mass: float = 1.0, radius: float = 1.0, gravity: ArrayLike = (0.0, -9.81)) -> FunctionPlant:
    """Particle on a circle, in Cartesian coordinates ``q1``, ``q2``.

    Phi(q) = |q| - radius, with A = q'/|q| (printed with radius in place of |q|: the same on the
    circle). With the unit vectors ep (along the circle) and en (outwards),

        P = ep ep',   C v = -|v|^2/radius en,   m dv/dt across N(A) = f_parallel,
        F = A' lam = f_normal + m |v|^2/radius en.

    The centre is the only configuration where the functions are not defined; no configuration on the circle is
    singular.

    Parameters
    ----------
    mass, radius : float
        kg, m.
    gravity : array_like, shape (2,)
        m/s2, along q1 and q2.

    Notes
    -----
    The actuators ``f1`` and ``f2`` are the external force f of the paper, in N: one more than the
    particle needs, so that only the tangential part of f moves it.

    Examples
    --------
    >>> plant = particle_on_circle(radius=2.0)
    >>> plant.assemble(q2=0.0)
    array([2., 0.])
    """
    mass, radius = _check.positive(mass, "mass"), _check.positive(radius, "radius")
    bead = _Bead(mass, radius, mass * _check.vector(gravity, 2, "gravity"))
    return FunctionPlant(
        "particle",
        ("q1", "q2"),
        M=bead.M,
        h=bead.h,
        Phi=bead.Phi,
        A=bead.A,
        Adot_v=bead.Adot_v,
        B=np.eye(2),
        actuators=("f1", "f2"),
        rows={"circle": ("circle",)},
        potential=bead.potential,
        neutral=(radius, 0.0),
        units=("m", "m"),
        size=radius,
        sketch=bead.sketch,
        source=SOURCE,
    )


def start(plant: FunctionPlant) -> tuple[Array, Array]:
    """Start (q, v) at rest, level with the centre on the right."""
    return plant.neutral(), np.zeros(plant.nv)


ENTRY = Entry(
    "particle",
    particle_on_circle,
    "particle on a circle with an external force in the plane (1 degree of freedom, over-actuated)",
    SOURCE,
    start,
    TrackingTask(("q2",), (0.0,), (0.4,), 0.5, (0.0,), 8.0, 5.0),
)
