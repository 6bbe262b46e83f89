"""Experiments and comparisons of the papers, with their reference methods. The library never imports this package.

``cmbcontrol experiment NAME`` reruns an experiment, ``EXPERIMENTS[name].run()`` gives the numbers.

Each experiment lives in a module of its own, which is imported when it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pkgutil import resolve_name
from types import MappingProxyType

from .. import _check
from .._progress import Progress
from .report import Parts, Report, ResultTable

__all__ = ["EXPERIMENTS", "Experiment", "Parts", "Report", "ResultTable", "run"]


@dataclass(frozen=True)
class Experiment:
    """An experiment that can be run by its name.

    Attributes
    ----------
    name : str
        Name on the command line.
    text : str
        Description in a line.
    function : callable
        (quick, progress) -> Report.
    takes, takes_quick : str
        Approximate duration of the whole and of the quick run, in words: ``"2 min"``.
    """

    name: str
    text: str
    function: Callable[[bool, Progress], Report]
    takes: str
    takes_quick: str

    def run(self, quick: bool = False, progress: Progress = False) -> Report:
        """Run the experiment; `quick` is a reduced set, `progress` a bar, a function of the fraction, or `Parts`."""
        return self.function(bool(quick), progress)


def run(name: str, *, quick: bool = False, progress: Progress = False) -> Report:
    """Run an experiment of the papers by its name.

    Parameters
    ----------
    name : str
        A key of `EXPERIMENTS`.
    quick : bool
        A reduced set: seconds instead of minutes.
    progress : bool or callable
        Show a progress bar, or call with the fraction that is done. `Parts` keep the finished parts.

    Returns
    -------
    report : Report

    Raises
    ------
    ValueError
        Where there is no such experiment; it names the nearest one.

    Examples
    --------
    >>> from cmbcontrol import papers
    >>> report = papers.run("udwadia-kalaba-pseudoinverses", quick=True)
    >>> sorted(set(report.tables[0].column("pseudoinverse")))
    ['gram-schmidt', 'greville', 'householder', 'svd', 'varga']
    """
    return EXPERIMENTS[_check.one_of(name, EXPERIMENTS, "experiment")].run(quick, progress)


def _run_later(where: str, quick: bool, progress: Progress) -> Report:
    return resolve_name(f"{__name__}.{where}")(quick, progress)


def _later(where: str) -> Callable[[bool, Progress], Report]:
    """Function that runs an experiment ``module:function``; the module is imported then, so that listing is quick."""
    return partial(_run_later, where)


EXPERIMENTS: Mapping[str, Experiment] = MappingProxyType(
    {
        entry.name: entry
        for entry in (
            Experiment(
                "de-falco-tables",
                "de Falco, Pennestri, Vita, tables 2-7: five pseudoinverses, three tolerances, Baumgarte or none",
                _later("de_falco:tables"),
                "30 min",
                "20 s",
            ),
            Experiment(
                "de-falco-figure-2",
                "de Falco, Pennestri, Vita, figure 2: violation of the constraints over time",
                _later("de_falco:figure_2"),
                "4 min",
                "10 s",
            ),
            Experiment(
                "udwadia-kalaba-pseudoinverses",
                "cost and accuracy of the five pseudoinverses on the linkage's own matrices, up to where it is flat",
                _later("de_falco:pseudoinverses"),
                "5 s",
                "1 s",
            ),
            Experiment(
                "spencer-five-bar-1",
                "Spencer, figures 3.3 to 3.6: the five-bar from its singular configuration, without stabilisation",
                _later("spencer:first_example"),
                "10 s",
                "5 s",
            ),
            Experiment(
                "spencer-five-bar-2",
                "Spencer, figures 3.7 to 3.10: the five-bar through its singular configuration, multipliers against "
                "null space",
                _later("spencer:second_example"),
                "1 min",
                "5 s",
            ),
            Experiment(
                "aghili-slider-crank",
                "Aghili, section 8: the slider-crank through its singular configuration, threshold of (70), loop (39)",
                _later("aghili:slider_crank_experiment"),
                "30 s",
                "5 s",
            ),
            Experiment(
                "iftomm-a01",
                "IFToMM A01, simple pendulum: against the exact solution over 10, 100 and 2000 s",
                _later("iftomm:a01"),
                "1 min",
                "20 s",
            ),
            Experiment(
                "iftomm-a02",
                "IFToMM A02, N four-bar mechanism, N = 2, 10, 40: through flat ones, against the exact solution",
                _later("iftomm:a02"),
                "1 min",
                "5 s",
            ),
            Experiment(
                "iftomm-a03",
                "IFToMM A03, Andrews' squeezing mechanism: the values of the test set for initial value problems",
                _later("iftomm:a03"),
                "1 min",
                "15 s",
            ),
            Experiment(
                "iftomm-a04",
                "IFToMM A04, rectangular Bricard mechanism: the published curve, and the energy over 100 s",
                _later("iftomm:a04"),
                "1 min",
                "15 s",
            ),
            Experiment(
                "iftomm-a05",
                "IFToMM A05, stiff flyball governor: explicit and implicit methods",
                _later("iftomm:a05"),
                "2 min",
                "10 s",
            ),
            Experiment(
                "formulations",
                "cost, accuracy and conditioning of all formulations on all plants, and near a singular configuration",
                _later("comparison:formulations"),
                "30 s",
                "3 s",
            ),
            Experiment(
                "stabilisations",
                "cost and effect of every stabilisation on three machines, at equal steps and at equal tolerance",
                _later("comparison:stabilisations"),
                "2 min",
                "20 s",
            ),
            Experiment(
                "integrators",
                "all integrators on three machines: cost, accuracy, closure and energy of each",
                _later("integrators:integrators"),
                "3 min",
                "30 s",
            ),
        )
    }
)
