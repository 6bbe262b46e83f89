"""The verb `report`: one page with all about a machine, a run, a linear model, a closed loop or a study."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from numpy.typing import ArrayLike

from .. import _check
from ..controllers.closed_loop import ClosedLoop
from ..linear.model import LinearModel
from ..linear.modes import Modes
from ..linear.operating import OperatingPoint
from ..model.plant import Plant
from ..sim.result import Simulation
from ..studies import Study
from ..viewer.page import require_page
from .linear import page_of_linear_model
from .loop import page_of_loop
from .machine import page_of_machine, page_of_point
from .page import Page
from .run import page_of_run
from .study import page_of_study

__all__ = ["report"]


def report(
    subject: Plant | OperatingPoint | Simulation | LinearModel | Modes | ClosedLoop | Study,
    path: str | Path,
    *,
    title: str | None = None,
    q: ArrayLike | Mapping[str, float] | None = None,
    limits: Mapping[str, tuple[float, float]] | None = None,
) -> Path:
    """Write a report: one page with all about a machine, run, linear model, loop or study, to send to a colleague.

    It needs no network and no other file. What cannot be shown (such as a linear model where nothing rests) is named
    with its reason.

    Parameters
    ----------
    subject : Plant, OperatingPoint, Simulation, LinearModel, Modes, ClosedLoop or Study
        * A run, also one that was loaded from a file, or the part of a failed one (``error.partial``): the machine and
          its diagnosis, the law with its gains, the viewer, plots, events, closure and energy errors, the linear model
          with poles and margins, settings and versions.
        * A machine at `q`, or an operating point: its parts, mobility and file, the viewer, the linear model.
        * A linear model, or its modes: modes, poles, frequency response, operating point, machine.
        * A closed loop: margins, open loop and sensitivities, Nyquist and Nichols curves, responses to steps of
          references and disturbances, noise of sensors at the motors, modes.
        * A study, also an interrupted one: what varied, statistics with confidence intervals, failures by kind,
          distributions, sensitivities, scatter, and for studies of runs the worst run of the first measure.
    path : str or Path
        Path of the page, ``.html``.
    title : str, optional
        The name of the plant unless given.
    q : array_like, shape (nq,), or mapping of position name to value, optional
        Of a machine: its configuration, rad and m; its start, or as `assemble` closes it, unless given.
    limits : mapping of measure to (low, high), optional
        Of a study: limits to mark in the distributions; the report gives the yield within them.

    Returns
    -------
    Path

    Raises
    ------
    ValueError, TypeError
        For another suffix, what cannot be reported on, options of another kind of thing, and limits of measures that
        there are not.
    FileError
        Where the file cannot be written; nothing is left of it then.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from cmbcontrol import plants, simulate
    >>> plant = plants.five_bar()
    >>> run = simulate(plant, q0=plant.assemble(left=2.1, right=1.0), t_end=0.1)
    >>> with TemporaryDirectory() as folder:
    ...     report(run, folder + "/run.html").stat().st_size > 100_000
    True
    """
    path = require_page(path, "a report")
    options = {name: value for name, value in {"q": q, "limits": limits}.items() if value is not None}
    kind = _check.kind_of(subject, _KINDS, "report", options)
    page: Page = kind.make(subject, None if title is None else _check.text(title, "title"), **options)
    return page.save(path)


_KINDS = (
    _check.SubjectKind("a run", Simulation, (), page_of_run),
    _check.SubjectKind("a linear model", LinearModel, (), page_of_linear_model),
    _check.SubjectKind("modes", Modes, (), lambda modes, title: page_of_linear_model(modes.linear_model, title)),
    _check.SubjectKind("a closed loop", ClosedLoop, (), page_of_loop),
    _check.SubjectKind("a study", Study, ("limits",), page_of_study),
    _check.SubjectKind("an operating point", OperatingPoint, (), page_of_point),
    _check.SubjectKind("a machine", Plant, ("q",), page_of_machine),
)
