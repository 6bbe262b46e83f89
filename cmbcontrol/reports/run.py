"""Report on a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from .. import _yaml
from .._versions import version
from ..controllers.closed_loop import linearize_closed_loop
from ..controllers.controller import Controller
from ..errors import CmbError, InputError, ModelError
from ..model.plant import Plant
from ..plot.duty import effort_over_speed
from ..plot.time import accuracy, forces, reports, responses
from ..sim.result import Simulation
from ..sim.summary import ALARMS, event_words, kind_of_run, run_lines
from .page import Page, Picture, Section, Table, Text, pairs
from .sections import show_equilibrium, show_machine, viewer

__all__ = ["page_of_run"]

_EVENTS = 60  # rows of the table of events


def page_of_run(run: Simulation, title: str | None) -> Page:
    """Page of a run, under the name of its plant unless it has a title."""
    return _Report(run, str(run.data.attrs["plant"]) if title is None else title).page()


class _Report:
    """Run whose report is being made."""

    def __init__(self, run: Simulation, title: str) -> None:
        self.run, self.title = run, title

    def page(self) -> Page:
        page = Page(self.title, self._subtitle())
        with page.section("In short") as section:
            section.parts.append(pairs(run_lines(self.run), alarms=ALARMS))
        if self.run.plant is not None:
            with page.section("In motion") as section:
                section.parts.append(viewer(self.run))
            with page.section("Machine") as section:
                show_machine(section, self.run.plant, self.run.data["q"].values[0], "at the start")
        with page.section("Control law") as section:
            section.parts += self._law()
        with page.section("Signals") as section:
            self._signals(section)
        with page.section("Events") as section:
            section.parts += self._events()
        with page.section("Accuracy") as section:
            self._accuracy(section)
        with page.section("Linear model") as section:
            self._linear(section)
        with page.section("Closed loop") as section:
            self._closed_loop(section)
        with page.section("Settings and versions") as section:
            section.parts += self._settings()
        return page

    def _subtitle(self) -> str:
        kind, times = kind_of_run(self.run), self.run.time
        made = self.run.provenance.date if self.run.provenance is not None else ""
        when = f"{times[0]:.6g} s to {times[-1]:.6g} s{f', made {made}' if made else ''}"
        return f"{kind[0].upper()}{kind[1:]}, {when}"

    # -- the law ----------------------------------------------------------------------------------------------

    def _law(self) -> Iterator[Text]:
        kept = self.run.provenance
        if str(self.run.data.attrs["controller"]) == "none":
            yield Text("No law: the motors give nothing.")
        elif kept is None:
            yield Text("The file of this run does not hold its law.")
        elif "controller" in kept.missing:
            yield Text(f"The law cannot be written down: {kept.missing['controller']}")
        else:
            yield Text(_yaml.text(kept.law) if isinstance(kept.law, (Mapping, list)) else str(kept.law), plain=True)

    # -- what happened ----------------------------------------------------------------------------------------

    def _signals(self, section: Section) -> None:
        run = self.run
        section.parts.append(Picture.of(lambda: responses(run), "Positions, references and efforts"))
        if run.plant is not None and run.data.sizes["actuator"] and str(run.data.attrs["controller"]) != "none":
            section.parts.append(Picture.of(lambda: effort_over_speed(run), "Efforts of the motors over their speeds"))
        if run.data.sizes.get("row", 0):
            section.parts.append(Picture.of(lambda: forces(run), "Forces of the constraints"))
        if run.data.sizes.get("quantity", 0):
            section.parts.append(Picture.of(lambda: reports(run), "What the law reports"))

    def _events(self) -> Iterator[Table | Text]:
        events = self.run.events()
        if not events:
            yield Text("None: no singular configuration, no switch, no limit, no event.")
            return
        rows = [(f"{event['time']:.6g}", event_words(event)) for event in events[:_EVENTS]]
        more = f"the first {_EVENTS} of {len(events)} events" if len(events) > _EVENTS else ""
        yield Table(("time (s)", "event"), rows, caption=more)
        if self.run.plant is not None and any("singular" in str(e["kind"]) for e in events):
            for event in self.run.singularities()[:3]:
                yield Text(str(event.configuration), folded=f"Singular configuration at {event.time:.6g} s")

    def _accuracy(self, section: Section) -> None:
        attrs = self.run.data.attrs
        section.parts.append(Picture.of(lambda: accuracy(self.run), "Closure, energy and rank along the run"))
        asked = (
            ("method", "method"), ("rtol", "relative tolerance"), ("atol", "absolute tolerance"),
            ("stabilisation", "loops kept closed by"), ("formulation", "formulation"), ("steps", "steps"),
            ("rejected_steps", "rejected steps"), ("evaluations", "evaluations"),
            ("machine_code", "code of the machine"), ("law_code", "code of the law"), ("wall_time_s", "wall time (s)"),
        )  # fmt: skip
        section.parts.append(pairs((name, _number(attrs[key])) for key, name in asked if key in attrs))

    # -- to first order ---------------------------------------------------------------------------------------

    @cached_property
    def _arguments(self) -> dict[str, Any]:
        """Arguments of `simulate` for this run: from the call, or from its file."""
        kept = self.run.provenance
        if kept is None:
            raise InputError("the file of this run does not hold its law")
        return kept.call({})

    @property
    def _plant(self) -> Plant:
        if self.run.plant is None:
            raise ModelError("the file of this run does not hold its plant")
        return self.run.plant

    def _linear(self, section: Section) -> None:
        q = self.run.data["q"].values
        show_equilibrium(section, self._plant, {"at the end of the run": q[-1], "at the start of the run": q[0]})

    def _closed_loop(self, section: Section) -> None:
        if str(self.run.data.attrs["controller"]) == "none":
            section.parts.append(Text("No law: see the linear model."))
            return
        given = self._arguments
        law, plant = given["controller"], self._plant
        if not isinstance(law, Controller):
            section.parts.append(Text("The efforts are held, or a function of Python: there is no loop to linearize."))
            return
        q, t = self.run.data["q"].values[-1], float(self.run.time[-1])
        try:
            loop = linearize_closed_loop(plant, law, q, t=t)
            where = f"where both rest, with the reference of {t:.6g} s"
        except CmbError as error:
            loop = linearize_closed_loop(plant, law, q, t=t, find_equilibrium=False)
            where = f"at the last configuration, as if it stood still there. It does not rest: {error}"
        section.parts.append(Text(f"The machine under its law, {where}"))
        section.parts.append(Text(str(loop), plain=True))
        section.parts.append(Text(str(loop.margins()), plain=True))

    # -- how it was made --------------------------------------------------------------------------------------

    def _settings(self) -> Iterator[Table | Text]:
        kept = self.run.provenance
        if kept is None:
            yield Text("The file of this run does not say how it was made.")
            return
        # a scalar by itself ends with the marker of the end of a document
        rows = [(name, _yaml.text(value).removesuffix("...\n").strip()) for name, value in kept.arguments.items()]
        yield pairs(rows, "arguments of simulate that are not as by default")
        if kept.missing:
            yield pairs(list(kept.missing.items()), "what cannot be written down, and why")
        yield pairs([*kept.versions.items(), ("date", kept.date)], "made with")
        if kept.versions.get("cmbcontrol") != version():
            yield Text(f"This page was made by cmbcontrol {version()}.")
        if not kept.missing:
            yield Text('After run.save("run.nc"), cmb.load_run("run.nc").rerun() makes the run again.')


def _number(x: Any) -> str:
    return f"{x:.4g}" if isinstance(x, (float, np.floating)) else str(x)
