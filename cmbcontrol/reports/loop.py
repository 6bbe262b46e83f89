"""Report on a closed loop."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..controllers.closed_loop import ClosedLoop
from ..controllers.loop_margins import LoopMargins
from ..design.loop_responses import StepResponse, followed, noise_gains, ratio_of_units, step_response
from ..errors import CmbError
from ..plot.loops import loop_gains, nichols, noise, nyquist, steps
from .page import Page, Picture, Section, Table, Text, pairs
from .sections import show_controllability, show_machine

__all__ = ["page_of_loop"]

_ALARMS = ("not stable",)


def page_of_loop(loop: ClosedLoop, title: str | None) -> Page:
    """Page of a closed loop, under its name unless it has a title."""
    sampled = f", sampled every {loop.dt:g} s" if loop.dt else ", in continuous time"
    page = Page(loop.name if title is None else title, f"Closed loop, {len(loop.A)} states{sampled}")
    with page.section("In short") as section:
        section.parts.append(pairs(_in_short(loop), alarms=_ALARMS))
        section.parts.append(Text(str(loop), folded="States, inputs, outputs and poles"))
    with page.section("Margins") as section:
        section.parts += _margins(loop)
    with page.section("Open loop and sensitivities") as section:
        caption = "At each motor, with the loops of all other motors closed"
        caption += "; dashed: half the sample frequency" if loop.dt else ""
        section.parts.append(Picture.of(lambda: loop_gains(loop), caption))
    with page.section("Nyquist and Nichols") as section:
        marks = "rings where phase margins are, squares where gain margins are"
        section.parts.append(Picture.of(lambda: nyquist(loop), f"Nyquist curves and the largest free disk; {marks}"))
        section.parts.append(Picture.of(lambda: nichols(loop), f"Nichols curves, with the same disk; {marks}"))
    with page.section("Steps of the reference") as section:
        _references(section, loop)
    with page.section("Steps of disturbances") as section:
        _disturbances(section, loop)
    with page.section("Noise of the sensors") as section:
        _noise(section, loop)
    with page.section("What inputs move and outputs see") as section:
        show_controllability(section, loop.modal_controllability())
    point = loop.point
    with page.section("Operating point") as section:
        section.parts.append(Text(str(point), plain=True))
    if point.plant is not None:
        with page.section("Machine") as section:
            show_machine(section, point.plant, point.q, "where the loop rests")
    page.add_versions()
    return page


def _in_short(loop: ClosedLoop) -> Iterator[tuple[str, str]]:
    poles = loop.continuous_poles()
    finite = poles[np.isfinite(poles)]
    if loop.stable:
        slowest = finite[np.argmax(finite.real)] if finite.size else 0.0
        yield "stable", f"the slowest mode decays at {-slowest.real:.4g} 1/s"
    else:
        yield "not stable", f"{int(np.count_nonzero(finite.real >= 0.0))} poles do not decay"
    try:
        margins = loop.margins()
    except CmbError as error:
        yield "margins", str(error)
        return
    if margins.stable:
        yield "phase margin", f"{min(m.phase for m in margins.loops):.4g} deg, a motor at a time"
        yield "delay margin", f"{min(m.delay for m in margins.loops):.4g} s, a motor at a time"
        yield "largest sensitivity", f"{1.0 / min(m.modulus for m in margins.loops):.4g}, a motor at a time"
        at_once = f"±{margins.disk_gain:.3g} dB or ±{margins.disk_phase:.3g} deg, disk margin {margins.disk:.3g}"
        yield "all motors at once", at_once
    for name in followed(loop) if margins.stable else ():
        try:
            yield f"bandwidth of {name}", f"{loop.bandwidth(name):.4g} rad/s"
        except CmbError as error:
            yield f"bandwidth of {name}", str(error)


def _margins(loop: ClosedLoop) -> Iterator[Table | Text]:
    found = loop.margins()
    head = ("motor", "gain (dB)", "at (rad/s)", "phase (deg)", "at (rad/s)", "delay (s)", "modulus", "at (rad/s)")
    yield Table(head, [_row(m) for m in found.loops], numbers=7, caption="A motor at a time, all others closed")
    yield Text(str(found), folded="In words, with all motors at once")


def _row(m: LoopMargins) -> tuple[str, ...]:
    gain = " / ".join(f"{x:+.3g}" if np.isfinite(x) else ("∞" if x > 0.0 else "-∞") for x in (m.gain_down, m.gain_up))
    numbers = (m.gain_frequency, m.phase, m.phase_frequency, m.delay, m.modulus, m.modulus_frequency)
    return (m.channel, gain, *map(_number, numbers))


def _number(x: float) -> str:
    """Text of a number; a dash for one that there is not."""
    return "-" if np.isnan(x) else f"{x:.4g}".replace("inf", "∞")


def _references(section: Section, loop: ClosedLoop) -> None:
    names = followed(loop)
    if not names:
        section.parts.append(Text("The law has no reference of a coordinate that is among the outputs."))
        return
    found = [step_response(loop, f"{name}_ref", names) for name in names]
    rows = []
    for k, (name, x) in enumerate(zip(names, found, strict=True)):
        numbers = (x.final[k], x.overshoot[k], x.rise[k], x.settling[k])
        others = np.abs(np.delete(x.values, k, axis=1)).max(initial=0.0) if len(set(x.output_units)) == 1 else np.nan
        rows.append((name, *map(_number, (*numbers, others))))
    section.parts.append(Picture.of(lambda: steps(found), "The position of one reference jumps by 1, its rate stays 0"))
    head = ("coordinate", "final value", "overshoot (%)", "10 to 90 % (s)", "within 2 % (s)", "largest of others")
    section.parts.append(Table(head, rows, numbers=5))


def _disturbances(section: Section, loop: ClosedLoop) -> None:
    efforts = {f"{motor}_effort" for motor in loop.motors}
    outputs = [name for name in loop.outputs if name not in efforts]
    inputs = [name for name in loop.inputs if not name.endswith("_ref")]
    if not outputs or not inputs:
        section.parts.append(Text("The loop has no outputs beside the efforts."))
        return
    found = [step_response(loop, name, outputs) for name in inputs]
    section.parts.append(Picture.of(lambda: steps(found), "An effort or force of 1 is added at one place, and stays"))
    head = ("by", "output", "largest", "at rest", "unit")
    section.parts.append(Table(head, [row for x in found for row in _deviations(x)], numbers=3))


def _deviations(x: StepResponse) -> Iterator[tuple[str, ...]]:
    for k, name in enumerate(x.outputs):
        rest = x.final[k] if abs(x.final[k]) > 1e-9 * abs(x.peak[k]) else 0.0
        unit = ratio_of_units(x.output_units[k], x.unit)
        yield x.input.removesuffix("_disturbance"), name, f"{x.peak[k]:.3g}", f"{rest:.3g}", unit


def _noise(section: Section, loop: ClosedLoop) -> None:
    found = noise_gains(loop)
    if not found:
        section.parts.append(Text("The law hears nothing of the plant's states."))
        return
    section.parts.append(Picture.of(lambda: noise(loop), "From the readings of one unit to the effort of each motor"))
    kind = "RMS of the effort over that of white noise at the samples" if loop.dt else (
        "RMS of the effort for white noise of density 1/√Hz; ∞ where the effort follows noise of any frequency"
    )  # fmt: skip
    head = ("reading", "motor", "RMS", "largest gain", "at (rad/s)", "unit")
    rows = [(x.reading, x.motor, _number(x.rms), _number(x.peak), _number(x.frequency), x.unit) for x in found]
    section.parts.append(Table(head, rows, numbers=4, caption=kind))
