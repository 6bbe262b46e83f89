"""Report on a linear model."""

from __future__ import annotations

from ..linear.model import LinearModel
from ..plot.frequency import bode
from .page import Page, Picture, Text
from .sections import show_controllability, show_machine, show_modes, viewer

__all__ = ["page_of_linear_model"]

_INPUTS = 6  # with a frequency response each


def page_of_linear_model(model: LinearModel, title: str | None) -> Page:
    """Page of a linear model, under the name of its plant unless it has a title."""
    plant, point = model.point.plant, model.point
    count = f"{len(model.states)} states, {len(model.inputs)} inputs, {len(model.outputs)} outputs"
    page = Page(model.name if title is None else title, f"Linear model, {count}")
    with page.section("In short") as section:
        section.parts.append(Text(str(model), plain=True))
    with page.section("Modes") as section:
        show_modes(section, model)
        if plant is not None:
            section.parts.append(viewer(model))
        section.parts.append(Text(str(model.modes()), folded="Modes in full, with participation", plain=True))
    with page.section("What inputs move and outputs see") as section:
        show_controllability(section, model.modal_controllability())
    with page.section("Frequency response") as section:
        for name in model.inputs[:_INPUTS]:
            section.parts.append(Picture.of(lambda name=name: bode(model, inputs=[name]), f"From {name}"))
        if len(model.inputs) > _INPUTS:
            section.parts.append(Text(f"{_INPUTS} of {len(model.inputs)} inputs; plot.bode draws the others."))
    with page.section("Operating point") as section:
        section.parts.append(Text(str(point), plain=True))
    if plant is not None:
        with page.section("Machine") as section:
            show_machine(section, plant, point.q, "at the operating point")
    page.add_versions()
    return page
