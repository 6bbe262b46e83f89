"""Aghili's particle on a circle (section 5.4), given by functions."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..model.functions import FunctionPlant
from .entry import Entry, Study

__all__ = ["particle_on_circle"]

SOURCE = "F. Aghili, projection-operator formulation, section 5.4 (eqs. 33-37 and figure 2)"


def particle_on_circle(mass: float = 1.0, radius: float = 1.0, gravity: ArrayLike = (0.0, -9.81)) -> FunctionPlant:
    """A particle on a circle, in Cartesian coordinates ``q1``, ``q2``.

    Phi(q) = |q| - radius, with A = q'/|q| (printed with radius in place of |q|: the same on the
    circle). With the unit vectors ep (along the circle) and en (outwards),

        P = ep ep',   C v = -|v|^2/radius en,   m dv/dt across N(A) = f_parallel,
        F = A' lam = f_normal + m |v|^2/radius en.

    The centre is the only pose where the functions are not defined; no pose on the circle is singular.

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
    weight = mass * _check.vector(gravity, 2, "gravity")

    def Adot_v(q: np.ndarray, v: np.ndarray) -> list[float]:
        length = np.linalg.norm(q)
        along = q @ v / length
        return [(v @ v - along * along) / length]

    return FunctionPlant(
        "particle",
        ("q1", "q2"),
        M=lambda q: mass * np.eye(2),
        h=lambda q, v: -weight,
        Phi=lambda q: [np.linalg.norm(q) - radius],
        A=lambda q: [q / np.linalg.norm(q)],
        Adot_v=Adot_v,
        B=np.eye(2),
        actuators=("f1", "f2"),
        rows={"circle": ("circle",)},
        potential=lambda q: -weight @ q,
        neutral=(radius, 0.0),
        units=("m", "m"),
        size=radius,
        sketch=lambda q: [[[0.0, 0.0], q]],
        source=SOURCE,
    )


def start(plant: FunctionPlant) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """At rest, level with the centre on the right."""
    return plant.neutral(), np.zeros(plant.nv)


ENTRY = Entry(
    "particle",
    particle_on_circle,
    "particle on a circle with an external force in the plane (1 freedom, over-actuated)",
    SOURCE,
    start,
    Study(("q2",), (0.0,), (0.4,), 0.5, (0.0,), 8.0, 5.0),
)
