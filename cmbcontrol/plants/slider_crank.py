"""Aghili's slider-crank (section 8, eqs. 65 to 69), given by functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..model.functions import FunctionPlant
from .entry import Entry, TrackingTask

__all__ = ["slider_crank"]

Array = NDArray[np.float64]

SOURCE = "F. Aghili, projection-operator formulation, section 8 (eqs. 66-69)"


@dataclass(frozen=True)
class _Crank:
    """Functions of the plant, as methods, so that they can be pickled."""

    l: float
    ml2: float
    mgl: float

    def M(self, q: Array) -> list[list[float]]:
        c2 = math.cos(q[1])
        return [[self.ml2 * (3.0 + 2.0 * c2), self.ml2 * (1.0 + c2)], [self.ml2 * (1.0 + c2), self.ml2]]

    def h(self, q: Array, v: Array) -> list[float]:
        s2, c1, c12 = math.sin(q[1]), math.cos(q[0]), math.cos(q[0] + q[1])
        return [
            -self.ml2 * s2 * (v[1] ** 2 + 2.0 * v[0] * v[1]) + self.mgl * (c12 + 2.0 * c1),
            self.ml2 * s2 * v[0] ** 2 + self.mgl * c12,
        ]

    def Phi(self, q: Array) -> list[float]:
        return [self.l * (math.sin(q[0]) + math.sin(q[0] + q[1]))]

    def A(self, q: Array) -> list[list[float]]:
        c1, c12 = math.cos(q[0]), math.cos(q[0] + q[1])
        return [[self.l * (c1 + c12), self.l * c12]]

    def Adot_v(self, q: Array, v: Array) -> list[float]:
        return [-self.l * (math.sin(q[0]) * v[0] ** 2 + math.sin(q[0] + q[1]) * (v[0] + v[1]) ** 2)]

    def potential(self, q: Array) -> float:
        return self.mgl * (2.0 * math.sin(q[0]) + math.sin(q[0] + q[1]))

    def sketch(self, q: Array) -> list[list[list[float]]]:
        joint = [self.l * math.cos(q[0]), self.l * math.sin(q[0])]
        end = [joint[0] + self.l * math.cos(q[0] + q[1]), joint[1] + self.l * math.sin(q[0] + q[1])]
        return [[[0.0, 0.0], joint], [joint, end]]


def slider_crank(
    mass: float = 1.0,
    length: float = 1.0,
    gravity: float = 9.81,
    actuated: Sequence[str] = ("q1",),
    effort: float = math.inf,
) -> FunctionPlant:
    """Crank and connecting rod of the same length, with a point mass at the far end of each.

    Coordinates: ``q1``, the crank's angle from the x axis, and ``q2``, the angle of the rod relative to
    the crank. The loop ``slider`` holds the rod's end C on the x axis: Phi = l (s1 + s12) = 0. The slider
    itself is the point mass at C. Gravity acts along -y.

    The loop has two branches: q2 = -2 q1, where C slides (dq2 = -2 dq1, so that C v = 0), and q2 = pi, the
    rod folded onto the crank, with C at rest on the ground pivot. They cross at the singular configurations
    q1 = pi/2 + k pi (printed as n pi/2 in eq. 65), where A = 0.

    Parameters
    ----------
    mass, length : float
        m of each point mass, kg, and l of each link, m.
    gravity : float
        m/s2.
    actuated : sequence of str
        Joints with a motor, of ``"q1"`` and ``"q2"``.
    effort : float
        Torque limit of the motors, N m.

    Notes
    -----
    The two cases of P in eq. (70) are exchanged in print: P = [1/5 -2/5; -2/5 4/5] away from the
    singular configurations, and P = I at them.

    Examples
    --------
    >>> plant = slider_crank()
    >>> plant.assemble(guess={"q1": 0.5, "q2": -1.0}, q1=0.5)
    array([ 0.5, -1. ])
    """
    actuated = (actuated,) if isinstance(actuated, str) else actuated
    actuated = _check.names(actuated, "actuated", ("q1", "q2"), "coordinate")
    m, l = _check.positive(mass, "mass"), _check.positive(length, "length")
    crank = _Crank(l, m * l * l, m * _check.number(gravity, "gravity") * l)
    return FunctionPlant(
        "slider-crank",
        ("q1", "q2"),
        M=crank.M,
        h=crank.h,
        Phi=crank.Phi,
        A=crank.A,
        Adot_v=crank.Adot_v,
        actuators=actuated,
        rows={"slider": ("slider",)},
        potential=crank.potential,
        units=("rad", "rad"),
        effort=[_check.positive(effort, "effort", infinite=True)] * len(actuated),
        size=l,
        sketch=crank.sketch,
        source=SOURCE,
    )


def start(plant: FunctionPlant) -> tuple[Array, Array]:
    """Start (q, v) at rest at q1 = 0.6, on the branch where the slider slides."""
    return np.array([0.6, -1.2]), np.zeros(plant.nv)


ENTRY = Entry(
    "slider-crank",
    slider_crank,
    "slider-crank with a motor on the crank (1 degree of freedom)",
    SOURCE,
    start,
    TrackingTask(("q1",), (0.6,), (0.4,), 0.5, (0.0,), 8.0, 5.0),
)
