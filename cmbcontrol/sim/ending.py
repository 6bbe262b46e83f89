"""Texts that describe where and why a run ended."""

from __future__ import annotations

from pathlib import Path
from traceback import walk_tb

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..controllers.controller import Controller, FunctionController
from ..dynamics.nearest_singular import nearest_singular_configuration
from ..dynamics.singular import singular_configuration
from ..errors import (
    AssemblyError,
    ModelError,
    PainleveError,
    ParametrizationError,
    SimulationError,
    SingularConfigurationError,
    Status,
)
from ..model.accelerations import solved
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from .failures import LawFailed
from .run import Record

__all__ = ["ended", "near_the_end", "not_begun", "when", "why_ended"]

Array = NDArray[np.float64]

_THAT_AN_ERROR_WAS_RAISED = (Status.CONTROLLER, Status.FAILED)  # and no more: the error itself says why
_AHEAD = np.logspace(-14.0, -2.0, 13)  # radians or sizes: from the end of a run to where its next step would have led


def when(t: float) -> str:
    """Text with a time."""
    return f"at t = {t:.9g} s"


def ended(plant: Plant, t: float, x: Array, why: str) -> str:
    """Text with a time, the cause, and the configuration of a state."""
    return f"{when(t)}: {why.rstrip('.')}. It was at {_check.values_by_name(plant.position_names, x)}."


def near_the_end(plant: Plant, q: Array) -> str:
    """Text with the singular configuration near which a run ended; empty if there is none."""
    try:
        configuration = singular_configuration(plant, nearest_singular_configuration(plant, q, within=1e-2))
    except (AssemblyError, ModelError, SingularConfigurationError, np.linalg.LinAlgError):
        return ""
    return f"A singular configuration is near: {configuration}" if configuration.few else ""


def _flat_at_the_end(plant: Plant, q: Array) -> str:
    """Text with the wheels that have fallen over; empty if there are none."""
    flat = plant.lying_flat(q) if isinstance(plant, Mechanism) else ()
    if not flat:
        return ""
    return f"Wheel {flat[0]!r} has fallen flat on its plane, where it touches everywhere at once."


def _paradox_at_the_end(plant: Plant, record: Record) -> str:
    """Text with the friction that allows no acceleration just after the last kept state (Painleve); else empty."""
    x, efforts = record.end[1], [u for u in record.U if len(u)]
    q, v = x[: plant.nq].copy(), x[plant.nq : plant.nq + plant.nv].copy()
    u = efforts[-1][-1] if efforts else np.zeros(plant.nu)
    pace = float(np.abs(v / plant.displacement_scale).max(initial=0.0))
    for way in _AHEAD if pace > 0.0 else ():
        try:
            ahead = plant.close(plant.integrate(q, way / pace * v))
            terms = plant.terms(ahead, plant.project_velocity(ahead, v))
            solved(terms, terms.B @ u - terms.h)
        except PainleveError as error:
            return f"{error}."
        except (AssemblyError, ModelError, np.linalg.LinAlgError):
            break
    return ""


def not_begun(plant: Plant, law: Controller, failed: LawFailed) -> SimulationError:
    """Error for a function of the user that fails at the start of a run."""
    cause = failed.__cause__
    hint = ""
    called = "(t, terms, state)" in str(cause)  # it is said already
    if (
        isinstance(law, FunctionController)
        and isinstance(cause, (AttributeError, IndexError, TypeError))
        and not called
    ):
        hint = " A controller is called as (t, terms, state), with positions terms.q and velocities terms.v."
    return SimulationError(f"the run of {plant.name!r} did not begin. {_cause(cause, str(failed))}{hint}")


def why_ended(plant: Plant, record: Record, grown: str = "") -> str:
    """Text with the reasons why a run could go no further; `grown` is that of efforts that grew without bounds."""
    causes = [_cause(record.error, record.where)] if record.error is not None else []
    if record.status in (Status.STEP_TOO_SMALL, Status.PROJECTION, Status.NOT_FINITE, Status.MASS_MATRIX):
        grown = grown or _flat_at_the_end(plant, record.end[1][: plant.nq])
    says_all = isinstance(record.error, (ModelError, SingularConfigurationError, ParametrizationError))
    if grown:
        causes.insert(0, grown)
    elif not causes or not (says_all or record.status in _THAT_AN_ERROR_WAS_RAISED):
        causes.insert(0, record.status.message)
    if record.status == Status.PAINLEVE and record.error is None:
        causes += filter(None, [_paradox_at_the_end(plant, record)])
    if record.status in (Status.STEP_TOO_SMALL, Status.PROJECTION):
        causes += filter(None, [near_the_end(plant, record.end[1][: plant.nq])])
    return " ".join(causes)


def _cause(error: BaseException, where: str) -> str:
    """Text of an exception, with its origin, and with the function it was raised in if that is outside this package."""
    home = Path(__file__).parents[1]
    codes = [frame.f_code for frame, _ in walk_tb(error.__traceback__)]
    inner = next((code for code in reversed(codes) if home not in Path(code.co_filename).parents), None)
    place = "" if inner is None else f" (in {inner.co_qualname}, {Path(inner.co_filename).name})."
    text = str(error)
    place = place or ("" if text.endswith((".", "!", "?")) else ".")
    return f"{where}{': ' if where else ''}{type(error).__name__}{': ' if text else ''}{text}{place}"
