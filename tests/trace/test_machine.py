"""A machine in symbols says at its sample what its kernels say in numbers."""

import numpy as np
import pytest

from cmbcontrol import Body, Mechanism, plants
from cmbcontrol.trace.graph import Graph, Scalar
from cmbcontrol.trace.machine import Parameters, TracedMachine, places, symbols

MACHINES = ("five-bar", "loader", "stewart", "delta", "governor", "parallelogram", "leg")


def numbers_of(x):
    return np.vectorize(lambda x: x.value if isinstance(x, Scalar) else float(x), otypes=[float])(x)


@pytest.mark.parametrize("name", MACHINES)
def test_equations_at_a_state(name):
    plant, q, _ = plants.catalogue[name].start()
    v = plant.project_velocity(q, np.linspace(-1.0, 1.0, plant.nv))
    graph, parameters = Graph(), Parameters(plant.arrays)
    machine = TracedMachine(parameters.symbolic(graph, plant.arrays), symbols(graph, "x", q))
    machine.weigh()
    machine.drive()
    machine.move(symbols(graph, "v", v))
    terms = plant.terms(q, v)
    for key in ("M", "h", "phi", "A", "b", "B"):
        np.testing.assert_allclose(numbers_of(getattr(machine, key)), getattr(terms, key), rtol=1e-13, atol=1e-13)
    assert machine.energy().value == pytest.approx(terms.energy, rel=1e-13)
    np.testing.assert_allclose(numbers_of(machine.position_rates()), plant.position_rate(q, v), rtol=1e-13)
    away = 1e-3 * np.linspace(-1.0, 1.0, plant.nv)
    np.testing.assert_allclose(
        numbers_of(machine.moved(symbols(graph, "d", away))), plant.integrate(q, away), rtol=1e-14, atol=1e-16
    )


@pytest.mark.parametrize("name", MACHINES)
def test_parameters_are_all_numbers_but_zeros_and_ones(name):
    plant = plants.catalogue[name].factory()
    parameters, graph = Parameters(plant.arrays), Graph()
    model = parameters.symbolic(graph, plant.arrays)
    given = {node[2] for node in graph.nodes if node[0] == "input"}
    assert given == set(np.flatnonzero(~np.isin(parameters.values, (0.0, 1.0, -1.0))))
    for part, symbolic in zip(plant.arrays, vars(model).values(), strict=True):
        if np.asarray(part).dtype.names is None:
            np.testing.assert_array_equal(numbers_of(symbolic), part)
            continue
        for record, fields in zip(part, symbolic, strict=True):
            for key in part.dtype.names:
                np.testing.assert_array_equal(numbers_of(getattr(fields, key)), record[key])


def changed(plant, bodies=None, gravity=None):
    return Mechanism(
        plant.name, plant.bodies if bodies is None else bodies, plant.joints, plant.loops, plant.springs,
        plant.actuators, plant.gravity if gravity is None else gravity,
    )  # fmt: skip


def test_structure_is_that_of_the_machine_and_not_its_numbers():
    plant = plants.loader()
    structure = Parameters(plant.arrays).structure
    first, *others = plant.bodies
    heavier = type(first)(first.name, 1.7 * first.mass, first.com, first.inertia)
    assert Parameters(changed(plant, [heavier, *others]).arrays).structure == structure
    assert Parameters(changed(plant, gravity=0.5 * plant.gravity).arrays).structure == structure
    assert Parameters(changed(plant, gravity=(0.0, 0.0, 0.0)).arrays).structure != structure
    central = type(first)(first.name, first.mass, (0.0, 0.0, 0.0), first.inertia)
    assert Parameters(changed(plant, [central, *others]).arrays).structure != structure
    assert Parameters(plants.five_bar().arrays).structure != structure


def test_places_are_in_the_order_of_the_numbers():
    plant = plants.governor()
    values = Parameters(plant.arrays).values
    found = list(places(plant.arrays))
    assert len(found) == len(set(found)) == len(values)
    for place, value in zip(found, values, strict=True):
        part = np.asarray(getattr(plant.arrays, place.part))
        expected = part[place.record][place.field] if part.dtype.names else part
        assert np.ravel(expected)[place.index] == value


def test_measured_fields_are_inputs_though_they_are_one():
    plant = changed(plants.five_bar(), [Body(b.name, 1.0, b.com, b.inertia) for b in plants.five_bar().bodies])
    plain, measured = Parameters(plant.arrays), Parameters(plant.arrays, ("mass",))
    moved = [p.field for p, a, b in zip(places(plant.arrays), plain.kept, measured.kept, strict=True) if a != b]
    assert moved == ["mass"] * len(plant.bodies)
    assert plain.structure != measured.structure
