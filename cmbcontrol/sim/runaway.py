"""Message for a run that ended because its efforts grew without bounds."""

from __future__ import annotations

import numpy as np

from ..controllers.actuation import Actuation, actuation
from ..errors import CmbError
from ..model.plant import Plant
from ..model.units import effort_units
from .result import Simulation

__all__ = ["runaway"]

_FAR = 1e3  # times all that a machine could use: no law means that
_QUICK = 1e-2  # of a run: nothing is asked to move a radian in less, but for efforts a thousand times as large
_LAST = 3  # output times that count as the end
_LOST = 0.05  # margin of actuation below which efforts may grow because of it


def runaway(plant: Plant, run: Simulation) -> str:
    """Message that efforts of a run had grown without bounds, and where the motors lost control; else empty.

    This is so where the forces of the motors were a thousand times those of the start, and a thousand times what moves
    the machine by a radian (or its size) in a thousandth of the run.
    """
    finite = np.flatnonzero(np.isfinite(run.u.values).all(axis=1) & np.isfinite(run.q.values).all(axis=1))
    if plant.nu == 0 or finite.size < 2:
        return ""
    u, q, v = (column.values[finite] for column in (run.u, run.q, run.v))
    try:
        start, last = plant.terms(q[0], v[0]), [plant.terms(x, np.zeros(plant.nv)) for x in q[1:][-_LAST:]]
        margins = [actuation(plant, terms) for terms in (start, *last)]
    except (CmbError, np.linalg.LinAlgError):
        return ""
    unit_lengths = np.array([1.0 if unit == "rad/s" else plant.size for unit in plant.velocity_units])
    efforts = np.abs(u[1:][-_LAST:])
    force = max(float((unit_lengths * (np.abs(terms.B) @ x)).max()) for terms, x in zip(last, efforts, strict=True))
    usual = max(float(np.abs(unit_lengths * x).max()) for x in (start.B @ u[0], start.h))
    quick = float((unit_lengths**2 * np.diagonal(start.M)).max()) / (_QUICK * float(run.time[-1])) ** 2
    if not force > _FAR * max(usual, quick):
        return ""
    motor = int(efforts.max(axis=0).argmax())
    largest = f"{efforts.max():.3g} {effort_units(plant)[motor]} of {plant.actuator_names[motor]!r}"
    text = f"The efforts grew without bounds: {run.data.attrs['controller']} asked for {largest}."
    end: Actuation = min(margins[1:], key=lambda margin: margin.margin)
    if end.margin < min(_LOST, 0.1 * margins[0].margin):
        text += (
            " The motors lose hold of the machine here, and the law divides by what is left: a margin of actuation of "
            f"{end.margin:.2g} ({margins[0].margin:.2g} at the start, 1 is best), least for the motion "
            f"{end.describe_weakest()}. Keep away from such configurations, or let PassiveJoints lead through them."
        )
    return text + " Limit the efforts (Saturation, ConstrainedActuation)."
