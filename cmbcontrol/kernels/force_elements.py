"""Force elements: forces that are any function of positions and rates, measured as constraint rows measure them.

An element has some measures z, which are rows like those of constraints (`constraint_rows`): a coordinate, a distance,
the displacement of a frame. It resists with forces F(z, dz/dt), one for each, so it stands on the left of the equations
of motion like the constraint forces, h += A' F with A the Jacobian of its measures. It stores the energy E(z).

F, E and their derivatives are sections of a tape; see `tapes`. Elements with a load are friction: see `friction`.
"""

from __future__ import annotations

from .._jit import kernel, scratch
from .constraint_rows import measured, path_projection, rate_of_measure
from .layout import MEASURES, PLAIN, ROW_COUPLING
from .tapes import SLOTS, run

__all__ = [
    "OUTPUTS",
    "SLOPES",
    "add_element_force",
    "add_element_forces",
    "element_energy",
    "element_loss",
]

# Outputs of the sections of an element: two for each measure; by each measure and rate.
OUTPUTS, SLOPES = 2 * MEASURES, 2 * MEASURES * MEASURES


@kernel
def add_element_forces(model, q, v, R, p, S, V, h):
    """h += forces of all force elements without a load."""
    for i in range(model.elements.shape[0]):
        if model.elements[i].kind == PLAIN:
            add_element_force(model, model.elements[i], q, v, R, p, S, V, h)


@kernel
def add_element_force(model, element, q, v, R, p, S, V, h):
    """h += forces of one force element; of an element with a load, the forces of a unit load."""
    e, T = scratch((5, 3)), scratch(6)
    g, value, out = scratch((MEASURES, 6)), scratch(SLOTS), scratch(OUTPUTS)
    m = element.count
    for k in range(m):
        row = model.measures[element.first + k]
        value[k] = measured(model, row, q, R, p, e, g[k])
        value[m + k] = rate_of_measure(model, row, v, V, T, g[k])
    run(model.tape, model.numbers, element.force, element.slope, value, 2 * m, out)
    for k in range(m):
        row = model.measures[element.first + k]
        if row.kind == ROW_COUPLING:
            for c in range(h.shape[0]):
                h[c] += model.couplings_v[row.coupling, c] * out[k]
        else:
            for c in range(6):
                T[c] = out[k] * g[k, c]
            path_projection(model.links, row.a, row.b, T, S, h)


@kernel
def element_loss(model, q, v, R, p, V):
    """Power that force elements without a load take and do not store, watts: the power of F, less that of dE/dz."""
    loss = 0.0
    if model.elements.shape[0] > 0:
        e, T, g = scratch((5, 3)), scratch(6), scratch(6)
        value, out = scratch(SLOTS), scratch(OUTPUTS)
        for i in range(model.elements.shape[0]):
            element = model.elements[i]
            if element.kind != PLAIN:
                continue
            m = element.count
            for k in range(m):
                row = model.measures[element.first + k]
                value[k] = measured(model, row, q, R, p, e, g)
                value[m + k] = rate_of_measure(model, row, v, V, T, g)
            run(model.tape, model.numbers, element.force, element.slope, value, 2 * m, out)
            for k in range(m):
                loss += (out[k] - out[m + k]) * value[m + k]
    return loss


@kernel
def element_energy(model, q, R, p):
    """Energy that the force elements store, joules."""
    stored = 0.0
    if model.elements.shape[0] > 0:
        e, g = scratch((5, 3)), scratch(6)
        value, out = scratch(SLOTS), scratch(1)
        for i in range(model.elements.shape[0]):
            element = model.elements[i]
            if element.kind != PLAIN:
                continue
            m = element.count
            for k in range(m):
                value[k] = measured(model, model.measures[element.first + k], q, R, p, e, g)
                value[m + k] = 0.0
            run(model.tape, model.numbers, element.energy, element.force, value, 2 * m, out)
            stored += out[0]
    return stored
