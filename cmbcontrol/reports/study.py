"""Report on a study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from .. import _check
from ..errors import CmbError
from ..model.units import plain
from ..plot.studies import figures_of
from ..plot.time import responses
from ..sim.result import Simulation
from ..sim.summary import ALARMS, run_lines
from ..studies.study import Study
from ..studies.summary import HEAD, measure_lines, setting_lines, yield_line
from .page import Page, Picture, Table, Text, pairs
from .sections import show_machine, viewer

__all__ = ["page_of_study"]

_FAILURES = 20  # runs that are named of those that failed
_WORST = 3  # of each measure
_SCATTERED = 6  # measures and parameters in a picture of all against all: more are too small to read


def page_of_study(found: Study, title: str | None, limits: Any = None) -> Page:
    """Page of a study, with the yield within limits of its measures where these are given."""
    return _page(found, _checked(limits, found.measures), "study" if title is None else title)


def _checked(limits: Any, measures: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Limits by measure, each (low, high), either of which may be infinite."""
    checked = {}
    given = {} if limits is None else _check.mapping(limits, "limits", "measures to (low, high)")
    for name, pair in given.items():
        _check.one_of(name, measures, "measure", "limits")
        checked[name] = _check.interval(pair, f"the limits of {name!r}")
    return checked


def _page(found: Study, limits: Mapping[str, tuple[float, float]], title: str) -> Page:
    done, planned = len(found.rows), found.table.runs
    whole = f"{done} runs" if done == planned else f"{done} of {planned} runs"
    page = Page(title, f"{whole}, {found.failures} failed, sampling {found.table.sampling}, seed {found.table.seed}")
    with page.section("Measures") as section:
        section.parts += _measures(found, limits)
    with page.section("What varies") as section:
        section.parts.append(_parameters(found))
    if found.failures:
        with page.section("Failures") as section:
            section.parts += _failures(found)
    made = list(figures_of(found, limits, _SCATTERED))
    for heading, pictures in groupby(made, key=lambda figure: figure[0]):
        with page.section(heading) as section:
            section.parts += (Picture.of(make, caption) for *_, caption, make in pictures)
    if made:
        _worst_run(page, found, made[0][0])
    page.add_versions()
    return page


def _measures(found: Study, limits: Mapping[str, tuple[float, float]]) -> Iterator[Table | Text]:
    lines = {line.name: line for line in measure_lines(found, _WORST)}
    rows = []
    for name in found.measures:
        if name not in lines:
            rows.append((name, "", *["none"] * 5, ""))
            continue
        _, unit, numbers, runs = lines[name]
        mean = numbers[1]  # of a single value
        if len(runs) > 1:
            of = found.statistics(name)
            mean, low, high = (plain(float(of[key]), 5) for key in ("mean", "mean_low", "mean_high"))
            mean = f"{mean} ({low} to {high})"
        rows.append((name, unit, mean, *numbers, ", ".join(map(str, runs))))
    yield Table(("measure", "unit", "mean (95 % confidence)", *HEAD, "in runs"), rows, numbers=6)
    if limits:
        told = yield_line(found, limits)
        yield Text(f"{told[0].upper()}{told[1:]}. Runs that failed count as outside.")


def _parameters(found: Study) -> Table:
    rows = []
    for name in found.parameters:
        values, unit = found.data[name].values, str(found.data[name].attrs.get("units", ""))
        if values.dtype.kind == "f" and values.size:
            rows.append((name, unit, f"{values.min():.5g}", f"{np.median(values):.5g}", f"{values.max():.5g}"))
        else:
            kinds = dict.fromkeys(map(str, values))
            rows.append((name, unit, ", ".join([*kinds][:8]) + (", ..." if len(kinds) > 8 else ""), "", ""))
    return Table(("parameter", "unit", "smallest", "median", "largest"), rows, numbers=3)


def _failures(found: Study) -> Iterator[Table]:
    failed = [kind for kind in found.kinds if kind != "completed"]
    yield pairs([(kind, str(count)) for kind, count in found.kinds.items()], "how the runs ended", failed)
    rows: list[tuple[str, ...]] = []
    for row in sorted(found.rows.values(), key=lambda row: row.index):
        if row.status != "completed" and len(rows) < _FAILURES:
            rows.append((str(row.index), row.status, _settings(found, row.index), row.message))
    caption = f"the first {_FAILURES} of {found.failures}" if found.failures > _FAILURES else ""
    yield Table(("run", "kind", "parameters", "message"), rows, caption=caption)


def _settings(found: Study, index: int) -> str:
    return ", ".join(f"{name} = {value}" for name, value in setting_lines(found, index))


def _worst_run(page: Page, found: Study, measure: str) -> None:
    """Add the worst run, simulated again, where the study is of runs."""
    index = found.worst(measure)[0]
    try:
        run = found.rerun(index)
    except CmbError as error:
        run = getattr(error, "partial", None)
    if not isinstance(run, Simulation):
        return
    with page.section("The worst run") as section:
        title = f"largest {measure}"
        told = f"Run {index} has the largest {measure}: {_settings(found, index)}. Beside it, the run in the middle."
        section.parts.append(Text(told))
        section.parts.append(viewer(found, title, measure=measure))
        section.parts.append(pairs(run_lines(run), f"run {index}", ALARMS))
        section.parts.append(Picture.of(lambda: responses(run), f"Positions, references and efforts of run {index}"))
    if run.plant is not None:
        with page.section("Machine") as section:
            show_machine(section, run.plant, run.data["q"].values[0], f"at the start of run {index}")
