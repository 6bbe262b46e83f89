"""HTML for notebooks of a machine, a run, a linear model, an operating point, a study: tables and a picture."""

from __future__ import annotations

import base64
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import AssemblyError
from ..linear.model import LinearModel
from ..linear.operating import OperatingPoint
from ..model.assembly import start_configuration
from ..model.diagnosis import Diagnosis
from ..model.plant import Plant
from ..model.units import effort_units, in_unit
from ..sim.result import Simulation
from ..sim.summary import kind_of_run, run_lines
from ..studies.study import Study
from ..studies.summary import HEAD, measure_lines
from .figure import png, unregistered

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["MODE_HEAD", "bundle", "html", "mode_rows"]

_DPI = 80.0  # of pictures inside of a page: they are 400 to 600 pixels wide
_ROWS = 24  # of a table; longer ones say how many more there are, and where
_MEASURES = 6  # of a study, with a distribution each

# Colours and fonts are those of the page, dark or light; a picture brings its white ground along.
_PLACE = "display:flex;flex-wrap:wrap;gap:1.2em;align-items:flex-start"
_CELL = "padding:0.1em 0.7em 0.1em 0;text-align:{};vertical-align:top;background:none"
_TABLES = "<div style='flex:1 1 22em;min-width:0'>"
_PICTURE = "max-width:100%;background:#ffffff"


def html(thing: Any) -> str:
    """Plain HTML without scripts and style sheets; the text of `print` if it cannot be made."""
    try:
        with warnings.catch_warnings(), unregistered():
            warnings.simplefilter("ignore")  # whoever looks at a thing has not asked for anything
            title, parts = _PAGES[next(kind for kind in _PAGES if isinstance(thing, kind))](thing)
        return f"<div><b>{escape(title)}</b><div style='{_PLACE}'>{''.join(parts)}</div></div>"
    except Exception:
        return f"<pre>{escape(_text(thing))}</pre>"


def bundle(thing: Any) -> dict[str, str]:
    """HTML page, and its first picture by itself, by MIME type."""
    page = html(thing)
    picture = re.search(r"data:image/png;base64,([^']+)", page)
    return {"text/html": page} | ({"image/png": picture[1]} if picture else {})


def _text(thing: Any) -> str:
    """Text of an object by str or repr, or the name of its type."""
    for words in (str, repr):
        try:
            return words(thing)
        except Exception:
            continue
    return f"<{type(thing).__name__}>"


# -- the kinds of things ----------------------------------------------------------------------------------


def _machine(plant: Plant) -> tuple[str, list[str]]:
    q = _start(plant)
    found = None if q is None else plant.diagnose(q)
    about = [("coordinates", str(plant.nv)), ("constraint rows", str(len(plant.row_names)))]
    if hasattr(plant, "bodies"):
        about.insert(0, ("bodies", str(len(plant.bodies))))
    about += _mobility(found) if found is not None else [("degrees of freedom", "the loops were not closed")]
    if plant.source:
        about.append(("source", plant.source))
    limits = [in_unit(x, u) if np.isfinite(x) else "none" for x, u in zip(*_limits(plant), strict=True)]
    joints = {a.name: a.joint or " and ".join(a.bodies) for a in getattr(plant, "actuators", ())}
    motors = [(name, joints.get(name, name), limit) for name, limit in zip(plant.actuator_names, limits, strict=True)]
    parts = [_pairs(about), _table(("motor", "on", "limit"), motors, "no motors", "print(plant)")]
    return plant.name, [*_machine_picture(plant, q), _TABLES, *parts, "</div>"]


def _mobility(found: Diagnosis) -> list[tuple[str, str]]:
    redundant = ", ".join(f"{n} in {loop}" for loop, n in found.redundant.items() if n) or "none"
    lines = [("degrees of freedom", str(found.dof)), ("redundant rows", redundant)]
    if found.singular:
        lines.append(("singular", f"rank {found.rank} here, {found.generic_rank} nearby"))
    return [*lines, ("conditioning", f"{found.conditioning:.3g} (1 best, 0 singular)")]


def _run(run: Simulation) -> tuple[str, list[str]]:
    from .time import responses

    title = f"{run.data.attrs['plant']}: {kind_of_run(run)}"
    return title, [_picture(lambda: responses(run)), _TABLES, _pairs(run_lines(run)), "</div>"]


def _linear(lin: LinearModel) -> tuple[str, list[str]]:
    from .poles import poles

    about = [
        (what, ", ".join(f"{n} ({u})" if u else n for n, u in zip(names, units, strict=True)) or "none")
        for what, names, units in (
            ("states", lin.states, lin.state_units),
            ("inputs", lin.inputs, lin.input_units),
            ("outputs", lin.outputs, lin.output_units),
        )
    ]
    table = _table(MODE_HEAD, mode_rows(lin), "no modes", "print(lin)", right=4)
    return f"linear model of {lin.name}", [_picture(lambda: poles(lin)), _TABLES, table, _pairs(about), "</div>"]


MODE_HEAD = ("mode", "kind", "poles (1/s)", "frequency (rad/s)", "damping ratio", "time constant (s)")


def mode_rows(lin: LinearModel) -> list[tuple[str, ...]]:
    """Rows of a table of modes below `MODE_HEAD`; the last four columns hold numbers."""
    rows: list[tuple[str, ...]] = []
    for i, mode in enumerate(lin.damping()):
        value = mode.eigenvalue
        pair = f" ± {value.imag:.5g}j" if value.imag else ""
        numbers = (f"{value.real + 0.0:.5g}{pair}", f"{mode.frequency:.5g}", f"{mode.damping + 0.0:.4g}")
        rows.append((str(i), mode.kind, *numbers, f"{mode.time_constant:.4g}"))
    return rows


def _point(point: OperatingPoint) -> tuple[str, list[str]]:
    plant = point.plant
    if plant is None:
        names, units = [f"q{k}" for k in range(point.q.size)], [""] * point.q.size
        motors, of_motors, limits = [f"u{k}" for k in range(point.u.size)], [""] * point.u.size, [np.inf] * point.u.size
    else:
        names, units, motors = plant.position_names, plant.position_units, plant.actuator_names
        limits, of_motors = _limits(plant)
    rows = [(n, f"{x:.6g}", u) for n, x, u in zip(names, point.q, units, strict=True)]
    efforts = [
        (n, f"{x:.6g}", u, f"{100.0 * abs(x) / limit:.0f} % of its limit" if np.isfinite(limit) else "")
        for n, x, u, limit in zip(motors, point.u, of_motors, limits, strict=True)
    ]
    r = point.residuals
    about = [("loops open by at most", f"{r.position:.1e} m"), ("forces unbalanced by", f"{r.balance:.1e} N or N m")]
    if point.v.any():
        about.append(("moves", f"largest rate {np.abs(point.v).max():.4g}"))
    if point.report is not None and point.report.at_limit:
        about.append(("at their limits", ", ".join(point.report.at_limit)))
    tables = [
        _table(("motor", "effort", "", ""), efforts, "no motors", "print(point)"),
        _table(("coordinate", "value", ""), rows, "no coordinates", "print(point)"),
        _pairs(about),
    ]
    title = "operating point" + (f" of {plant.name}" if plant is not None else "")
    return title, [*([] if plant is None else _machine_picture(plant, point.q)), _TABLES, *tables, "</div>"]


def _study(found: Study) -> tuple[str, list[str]]:
    lines = measure_lines(found)
    rows = [(name, *numbers, str(run), unit) for name, unit, numbers, (run,) in lines]
    about = [("runs", f"{len(found.rows)} of {found.table.runs}"), ("parameters", ", ".join(found.parameters))]
    about += [(kind, str(count)) for kind, count in found.kinds.items()]
    head = ("measure", *HEAD, "in run", "unit")
    parts = [_pairs(about), _table(head, rows, "no measures", "print(found)")]
    if lines:
        parts.append(_picture(lambda: _distributions(found, [line.name for line in lines[:_MEASURES]])))
    return f"study of {found.table.runs} runs", parts


def _distributions(found: Study, measures: Sequence[str]) -> Figure:
    from .figure import new_figure
    from .studies import distribution

    columns = min(len(measures), 3)
    rows = -(-len(measures) // columns)
    figure = new_figure(3.4 * columns, 2.4 * rows)
    for k, measure in enumerate(measures):
        distribution(found, measure, axes=figure.add_subplot(rows, columns, k + 1))
    return figure


_PAGES: dict[type, Callable[[Any], tuple[str, list[str]]]] = {
    Plant: _machine,
    Simulation: _run,
    LinearModel: _linear,
    OperatingPoint: _point,
    Study: _study,
}


# -- parts --------------------------------------------------------------------------------------------------


def _start(plant: Plant) -> Any:
    """Configuration at which a machine is shown; None where its loops cannot be closed."""
    try:
        return start_configuration(plant)
    except AssemblyError:
        return None


def _limits(plant: Plant) -> tuple[Any, tuple[str, ...]]:
    return plant.effort, effort_units(plant)


def _machine_picture(plant: Plant, q: Any) -> list[str]:
    """Drawing of the machine as HTML; empty where there is nothing to draw."""
    from .machine import mechanism

    try:
        return [_picture(lambda: mechanism(plant, q))]
    except Exception:  # plants of functions without a sketch: the tables stand alone
        return []


def _picture(make: Callable[[], Figure]) -> str:
    data = base64.b64encode(png(make(), dpi=_DPI)).decode()
    return f"<img alt='' style='{_PICTURE}' src='data:image/png;base64,{data}'>"


def _pairs(lines: Iterable[tuple[str, str]]) -> str:
    return _table((), list(lines), "", "")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], none: str, more: str, right: int = 0) -> str:
    """HTML table; the last `right` columns hold numbers."""
    if not rows:
        return f"<p>{escape(none)}</p>" if none else ""
    shown = rows if not head or len(rows) <= _ROWS else rows[: _ROWS - 1]

    def line(cells: Sequence[str], tag: str) -> str:
        first = len(cells) - right
        styled = ((_CELL.format("left" if k < first else "right"), escape(text)) for k, text in enumerate(cells))
        return "<tr>" + "".join(f"<{tag} style='{look}'>{text}</{tag}>" for look, text in styled) + "</tr>"

    body = [line(head, "th")] if head else []
    body += [line(cells, "td") for cells in shown]
    if len(shown) < len(rows):
        body.append(line([f"{len(rows) - len(shown)} more: {more}", *[""] * (len(head) - 1)], "td"))
    return f"<table style='border-collapse:collapse;margin:0.4em 0'>{''.join(body)}</table>"
