"""Certificate of one law for many machines: closed-loop poles and their margins in a region."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._tolerance import ROUNDING
from ..controllers.closed_loop import linearize_closed_loop
from ..controllers.controller import Controller
from ..controllers.references import Constant
from ..errors import CmbError, InputError, InputTypeError
from ..linear.controllability import slowest_decay
from ..linear.operating import OperatingPoint
from ..model.plant import Plant
from .family import Configuration, configuration_of, labelled_configurations, labelled_plants
from .regions import PoleRegion

__all__ = ["Case", "Certificate", "certify"]

Array = NDArray[np.float64]


class Case(NamedTuple):
    """Poles and margins of one machine under the law.

    Attributes
    ----------
    label : str
    poles : ndarray of complex, shape (n,)
        Poles, 1/s; log(z) / period in sampled time.
    margins : dict of str to float
        Margins inside of each part of the region, see `PoleRegion.margins`.
    inside : bool
    h2, hinf : float
        Norms from disturbance to performance, nan where there are none.
    point : OperatingPoint or None
        Equilibrium of the machine under the law.
    failure : str
        Message where the machine comes to no rest; else empty.
    """

    label: str
    poles: NDArray[np.complex128]
    margins: dict[str, float]
    inside: bool
    h2: float = float("nan")
    hinf: float = float("nan")
    point: OperatingPoint | None = None
    failure: str = ""


@dataclass(frozen=True, eq=False)
class Certificate:
    """Result of `certify`: all cases, and the required region.

    Attributes
    ----------
    region : PoleRegion
    cases : tuple of Case
    """

    region: PoleRegion
    cases: tuple[Case, ...]

    @property
    def valid(self) -> bool:
        """Whether all poles of all cases are inside."""
        return all(case.inside for case in self.cases)

    @property
    def outside(self) -> tuple[str, ...]:
        """Labels of cases with poles outside."""
        return tuple(case.label for case in self.cases if not case.inside)

    @property
    def stable(self) -> tuple[bool, ...]:
        """Whether each case is stable, by more than the rounding of its poles."""
        finite = (case.poles[np.isfinite(case.poles)] for case in self.cases)
        decays = [slowest_decay(poles, None) > ROUNDING for poles in finite]
        return tuple(not case.failure and one for case, one in zip(self.cases, decays, strict=True))

    @property
    def worst(self) -> dict[str, float]:
        """Smallest margin of each part of the region, over all cases; negative outside, nan where a case failed."""
        names = self.region.margins([-1.0])
        if any(case.failure for case in self.cases):
            return dict.fromkeys(names, float("nan"))
        return {name: min(case.margins[name] for case in self.cases) for name in names}

    def __str__(self) -> str:
        width = max(len(case.label) for case in self.cases)
        inside = sum(case.inside for case in self.cases)
        lines = [f"{self.region}: {inside} of {len(self.cases)} inside"]
        norms = any(np.isfinite([case.h2, case.hinf]).any() for case in self.cases)
        lines.append(
            f"  {'':{width}}  slowest [1/s]  damping  fastest [1/s]" + ("  H2        H-infinity" if norms else "")
        )
        for case in self.cases:
            if case.failure:
                lines.append(f"  {case.label:{width}}  {case.failure}")
                continue
            finite = case.poles[np.isfinite(case.poles)]
            ratio = float((-finite.real / np.maximum(np.abs(finite), 1e-300)).min(initial=1.0))
            text = (
                f"  {case.label:{width}}  {case.poles.real.max():<13.4g}  {ratio:<7.3f}  {np.abs(finite).max():<13.4g}"
            )
            lines.append(
                text + (f"  {case.h2:<8.4g}  {case.hinf:<8.4g}" if norms else "") + ("" if case.inside else "  outside")
            )
        return "\n".join(lines)


def certify(
    plants: Plant | Mapping[str, Plant] | Sequence[Plant],
    law: Any,
    configurations: Mapping[str, Configuration] | Sequence[Configuration],
    region: PoleRegion,
    *,
    delay: float = 0.0,
) -> Certificate:
    """Poles of a law on nonlinear plants, linearized where each comes to rest under it.

    The law is asked to hold each configuration in turn. Where a plant carries another payload than the law knows, it
    rests aside of the configuration, and is linearized there.

    Parameters
    ----------
    plants : Plant, or several, or mapping of label to plant
    law : Controller
        Law with a ``reference`` that can be replaced, and ``coordinates``: a `StateFeedback`, `ObserverFeedback`,
        `ProjectedInverseDynamics`, ..., continuous or sampled.
    configurations : sequence, or mapping of label to configuration
        As in `model_family`.
    region : PoleRegion
    delay : float
        Delay as in `linearize_closed_loop`, s.

    Returns
    -------
    Certificate
        A plant that comes to no rest is a case with a ``failure``, outside.

    Examples
    --------
    >>> from cmbcontrol import linearize, plants, trim
    >>> from cmbcontrol.design import lqr
    >>> plant = plants.five_bar()
    >>> lin = linearize(plant, trim(plant, plant.assemble(left=2.1, right=1.0)), coordinates=("left", "right"))
    >>> law = lqr(lin, Q={"left": 4e4, "right": 4e4}, R=0.01)
    >>> certify(plant, law, {"up": {"left": 2.1, "right": 1.0}}, PoleRegion(decay=2.0)).valid
    True
    """
    delay = _check.positive(delay, "delay", zero=True)
    if not isinstance(region, PoleRegion):
        raise InputTypeError(f"region must be a PoleRegion, got {region!r}")
    names = law.coordinates if isinstance(law, Controller) else None
    if names is None or law.reference is None:
        raise InputTypeError(
            "law must be a controller with coordinates and a reference, which say what configuration to hold, "
            f"got {law!r}"
        )
    cases = []
    for machine, plant in labelled_plants(plants).items():
        for where, configuration in labelled_configurations(configurations).items():
            q = configuration_of(plant, configuration)
            held = law.with_reference(Constant([q[plant.position_names.index(name)] for name in names]))
            cases.append(_case(f"{machine}, {where}", plant, held, q, region, delay))
    return Certificate(region, tuple(cases))


def _case(label: str, plant: Plant, law: Any, q: Array, region: PoleRegion, delay: float) -> Case:
    """Case with the equilibrium of the plant under the law, and the poles there; or with the failure."""
    try:
        loop = linearize_closed_loop(plant, law, q, delay=delay)
    except (InputError, InputTypeError):  # a mistake in a call, which another try does not mend
        raise
    except CmbError as error:
        return Case(label, np.zeros(0, dtype=complex), {}, False, failure=str(error))
    poles = loop.continuous_poles()
    return Case(label, poles, region.margins(poles), region.contains(poles), point=loop.point)
