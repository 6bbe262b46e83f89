"""Efforts that a motion needs, from the exact model along a reference."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..dynamics.forces import motor_effort
from ..errors import InputError, ParametrizationError
from ..linear.branch import follow
from ..linear.chart import Chart, ChartPoint
from ..linear.parametrization import LinearParametrization
from .references import Reference
from .tasks import Coordinates

__all__ = ["EffortsAlong", "ReferenceEfforts"]

Array = NDArray[np.float64]
Cell = tuple[int, ...]

_WIDTH = 0.25  # of a cell, in radians or sizes of the machine: Newton's method ends in a few steps within it
_CHARTS = 64  # that are kept; a cycle of a crank passes through 25 cells, which are found again from their base points


class ReferenceEfforts:
    """Motor efforts for positions, rates and accelerations of independent coordinates, through the closed loops.

    The configuration of a position is that on the branch through a base point, along the straight line from there. The
    way is cut into cells, each with a chart of its own that begins at the cell before it: what is found depends on the
    position alone, whatever was asked for earlier, and a crank that goes on turning needs no longer ways.

    Parameters
    ----------
    task : Coordinates
        As many as degrees of freedom.
    at : array_like (nq,), optional
        Base point, with closed loops; by default as the plant is assembled.

    Raises
    ------
    InputError
        For coordinates that do not determine the motion at the base point.
    """

    def __init__(self, task: Coordinates, at: ArrayLike | None = None) -> None:
        plant = task.plant
        q0 = plant.assemble() if at is None else plant.configuration(at)
        terms = plant.terms(q0, np.zeros(plant.nv))
        self._kind = LinearParametrization(task.jacobian(terms), task.names)
        try:
            chart = self._kind.at(plant, q0)
        except ParametrizationError as error:
            raise InputError(
                f"the efforts of a motion need coordinates that determine it. {error} Choose other ones, or leave "
                "these efforts out: feedforward='none'."
            ) from error
        self.plant, self._rank, self._origin = plant, chart.rank, task.value(terms)
        self._width = _WIDTH * np.abs(task.jacobian(terms)) @ plant.displacement_scale
        self._bases: dict[Cell, Array] = {(0,) * len(self._origin): q0}
        self._charts: dict[Cell, Chart] = {}

    def along(self, reference: Reference) -> EffortsAlong:
        """Efforts of a reference over time; of the same one as before, the same object."""
        last = vars(self).get("_last")
        if last is None or last.reference is not reference:
            last = self._last = EffortsAlong(self, reference)
        return last

    def at(self, position: Array, velocity: Array, acceleration: Array) -> Array:
        """Efforts (nu,), the smallest ones, or nearest ones where the motors cannot give the motion."""
        point = self.point(position)
        v = point.K @ velocity
        terms = self.plant.terms(point.q, v)
        Z, c, R = terms.Z, terms.Cv, point.V
        a = c + Z @ np.linalg.solve(R @ Z, acceleration - R @ c)
        return motor_effort(terms, a, strict=False).u

    def __getstate__(self) -> dict[str, Any]:
        # the reference of the last one may be a function that nobody can pickle
        return {name: x for name, x in vars(self).items() if name != "_last"}

    def point(self, position: Array) -> ChartPoint:
        """Point of the manifold at which the coordinates have a position.

        Raises
        ------
        AssemblyError
            Where the branch ends before.
        """
        y = np.asarray(position, dtype=np.float64) - self._origin
        if self._rank == 0:  # without loops the coordinates are the configuration, however far they are
            chart = self._chart((0,) * len(y))
            return chart.solve(chart.y0 + y)
        cell = tuple(int(n) for n in np.rint(y / self._width))
        return follow(self._chart(cell), y - self._width * cell)

    def _chart(self, cell: Cell) -> Chart:
        """Chart at the middle of a cell; the last ones are kept."""
        if cell not in self._charts:
            if len(self._charts) >= _CHARTS:
                del self._charts[next(iter(self._charts))]
            self._charts[cell] = self._made(cell)
        return self._charts[cell]

    def _made(self, cell: Cell) -> Chart:
        way = [cell]
        while way[-1] not in self._bases:
            way.append(_nearer(way[-1]))
        before = way.pop()
        while way:
            chart, cell = self._kind.at(self.plant, self._bases[before], rank=self._rank), way.pop()
            self._bases[cell] = follow(chart, self._width * np.subtract(cell, before)).q
            before = cell
        return self._kind.at(self.plant, self._bases[before], rank=self._rank)


class EffortsAlong:
    """Function of time: efforts (nu,) of the motion that a reference describes.

    Laws that follow one reference with one model share it, as those of a schedule: of an instant it is computed once.

    Attributes
    ----------
    efforts : ReferenceEfforts
    reference : callable
    """

    def __init__(self, efforts: ReferenceEfforts, reference: Reference) -> None:
        self.efforts, self.reference = efforts, reference
        self._known: tuple[float, Array] = (np.nan, np.zeros(0))

    def __call__(self, t: float) -> Array:
        known = self._known
        if known[0] != t:
            known = self._known = t, self.efforts.at(*self.reference(t))
        return known[1].copy()

    def over(self, times: ArrayLike) -> Array:
        """Efforts, a row (nu,) for each time."""
        return np.array([self.efforts.at(*self.reference(float(t))) for t in np.asarray(times, dtype=float)])


def _nearer(cell: Cell) -> Cell:
    """Next cell on the straight way to the first one."""
    most = max(abs(n) for n in cell)
    return tuple(round(n * (most - 1) / most) for n in cell)
