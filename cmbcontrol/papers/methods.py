"""Integration methods for comparison: Verner's, scipy's and VODE's in all coordinates, DOP853 in independent ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..dynamics.acceleration import Formulation, Gauss
from ..errors import InputTypeError
from ..kernels.runge_kutta import Tableau
from ..sim import local
from ..sim.integrator import Integrator
from ..sim.stabilisation import Stabilisation
from ..sim.tableaux import explicit, lower, quintic
from . import scipy_methods
from .formulations import NamedFormulation

if TYPE_CHECKING:
    from ..sim.run import IntegratorState, Run
    from ..sim.time_loop import Method, TimeLoop

__all__ = ["LOCAL_METHODS", "METHODS", "MULTISTEP", "ComparisonIntegrator", "integrator", "settings", "verner65"]

Array = NDArray[np.float64]

MULTISTEP = ("scipy-bdf", "scipy-lsoda", "vode-adams", "vode-gear")  # a projection would contradict their history


@dataclass(frozen=True, eq=False)
class ComparisonIntegrator(Integrator):
    """An integrator of the literature, or of scipy, for ``simulate(..., method=)``.

    Parameters
    ----------
    name : str
        - ``verner65``: Verner's explicit method of order 6 with step control (DVERK); passes singular configurations;
        - ``scipy-rk45``, ``scipy-dop853``, ``scipy-radau``: scipy's, in all coordinates, with projection;
        - ``scipy-bdf``, ``scipy-lsoda``, ``vode-adams``, ``vode-gear``: multistep methods, whose memory of past states
          a projection would contradict: they take ``stabilisation="baumgarte"`` or ``"none"``;
        - ``local-dop853``: the explicit method in independent coordinates.

    Examples
    --------
    >>> from cmbcontrol import plants, simulate
    >>> plant = plants.five_bar()
    >>> start = plant.assemble(left=2.1, right=1.0)
    >>> run = simulate(plant, None, start, t_end=0.2, method=ComparisonIntegrator("verner65"))
    >>> run.data.attrs["method"]
    'verner65'
    """

    name: str = "verner65"

    NAMES: ClassVar = ("verner65", "local-dop853", *scipy_methods.SCIPY_METHODS)
    LOCAL: ClassVar = ("local-dop853",)
    FIXED: ClassVar = ()
    PASSING: ClassVar = ("verner65",)
    STEPWISE: ClassVar = ("verner65",)

    @property
    def multistep(self) -> bool:
        return self.name in MULTISTEP

    @property
    def default_tolerance(self) -> float:
        return 1e-11

    def tables(self) -> tuple[Tableau, Tableau, Tableau]:
        return (verner65(),) * 3

    def method(self, run: Run, loop: TimeLoop, state: IntegratorState) -> Method | None:
        if self.local:
            return _LocalExplicit(run, state)
        return scipy_methods.ScipyMethod(run, loop, state) if self.name in scipy_methods.SCIPY_METHODS else None


METHODS = (*Integrator.NAMES, *ComparisonIntegrator.NAMES)
LOCAL_METHODS = (*Integrator.LOCAL, *ComparisonIntegrator.LOCAL)


def integrator(name: str, **options: Any) -> Integrator:
    """Integrator by the name of its method, one of `METHODS`: those of the library, and those for comparison.

    Examples
    --------
    >>> type(integrator("radau")).__name__, type(integrator("vode-gear")).__name__
    ('Integrator', 'ComparisonIntegrator')
    """
    kind = ComparisonIntegrator if name in ComparisonIntegrator.NAMES else Integrator
    return kind(name, **options)


def settings(
    *,
    method: str | Integrator = "auto",
    formulation: str | Formulation = "gauss",
    pseudoinverse: str | Callable | None = None,
    rank_tolerance: float | None = None,
    stabilisation: str | Stabilisation = "projection",
    **options: Any,
) -> dict[str, Any]:
    """Arguments of `simulate` from options by name, as tables of runs and the command line have them.

    Parameters
    ----------
    method : str or Integrator
        One of `METHODS`.
    formulation : str or Formulation
        One of `cmbcontrol.papers.formulations.FORMULATIONS`, with `pseudoinverse` and `rank_tolerance`.
    stabilisation : str or Stabilisation
    **options
        Options of `Integrator` and of `Stabilisation`; all others are handed on as they are.

    Examples
    --------
    >>> settings(method="verner65", max_step=0.1, t_end=2.0)["method"].max_step
    0.1
    >>> settings(formulation="aghili", output_times=0.1)["formulation"].name
    'aghili'
    """
    of_method = {name: options.pop(name) for name in _OF_METHOD if name in options}
    of_loops = {name: options.pop(name) for name in _OF_LOOPS if name in options}
    if isinstance(method, str):
        method = integrator(method, **of_method)
    elif of_method:
        raise InputTypeError(f"an Integrator has its options itself; leave out {', '.join(of_method)}")
    if isinstance(stabilisation, str):
        stabilisation = Stabilisation(stabilisation, **of_loops)
    elif of_loops:
        raise InputTypeError(f"a Stabilisation has its options itself; leave out {', '.join(of_loops)}")
    chosen: Formulation | None = None
    if isinstance(formulation, str):
        if formulation != "gauss" or pseudoinverse is not None:
            chosen = NamedFormulation(formulation, pseudoinverse=pseudoinverse, rank_tolerance=rank_tolerance)
        elif rank_tolerance is not None:
            chosen = Gauss(rank_tolerance=rank_tolerance)
    elif pseudoinverse is not None or rank_tolerance is not None:
        raise InputTypeError("a Formulation has its pseudoinverse and rank_tolerance itself; leave them out")
    else:
        chosen = formulation
    return {"method": method, "stabilisation": stabilisation, "formulation": chosen, **options}


_OF_METHOD = tuple(f.name for f in fields(Integrator) if f.name not in ("name", "_"))
_OF_LOOPS = tuple(f.name for f in fields(Stabilisation) if f.name not in ("kind", "_"))


class _LocalExplicit(local.LocalMethod):
    """Steps of DOP853 in independent coordinates; the work of actuators and dampers is integrated with them."""

    working = True

    def _made(self, t: float, y: Array) -> local.ScipyStepper:
        from scipy.integrate import DOP853

        return local.ScipyStepper(DOP853, self.system, t, y, self.h, self.run, self.run.options.rtol)


@cache
def verner65() -> Tableau:
    """Verner's method of order 6 with an error estimate of order 5, 8 stages, dense output of order 5.

    SIAM J. Numer. Anal. 15 (1978) 772, known as DVERK.
    """
    A, b, embedded = _verner65()
    return explicit((A, b, A.sum(axis=1), np.zeros(9), np.append(b - embedded, 0.0), *quintic(b)), 6)


def _verner65() -> tuple[Array, Array, Array]:
    A = [
        [1 / 6],
        [4 / 75, 16 / 75],
        [5 / 6, -8 / 3, 5 / 2],
        [-165 / 64, 55 / 6, -425 / 64, 85 / 96],
        [12 / 5, -8, 4015 / 612, -11 / 36, 88 / 255],
        [-8263 / 15000, 124 / 75, -643 / 680, -81 / 250, 2484 / 10625],
        [3501 / 1720, -300 / 43, 297275 / 52632, -319 / 2322, 24068 / 84065, 0, 3850 / 26703],
    ]
    b = np.array([3 / 40, 0, 875 / 2244, 23 / 72, 264 / 1955, 0, 125 / 11592, 43 / 616])
    embedded = np.array([13 / 160, 0, 2375 / 5984, 5 / 16, 12 / 85, 3 / 44, 0, 0])
    return lower(A, 8), b, embedded
