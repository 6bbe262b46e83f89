"""The numbers that a machine is described with: their names, values and units."""

import numpy as np
import pytest

from cmbcontrol import Coupling, PointSpring, plants
from cmbcontrol.kernels import layout
from cmbcontrol.model.mechanism import Mechanism
from cmbcontrol.model.parameters import parameters
from cmbcontrol.trace.machine import Parameters, places
from tests import fixtures


@pytest.mark.parametrize("name", ["five-bar", "loader", "delta", "stewart", "governor", "parallelogram"])
def test_values_are_those_of_the_parts(name):
    plant = plants.catalogue[name].factory()
    found = parameters(plant)
    for body in plant.bodies:
        assert found[f"{body.name}_mass"][:2] == (body.mass, "kg")
        assert [found[f"{body.name}_com_{c}"].value for c in "xyz"] == body.com.tolist()
        assert found[f"{body.name}_inertia_yz"][:2] == (body.inertia[1, 2], "kg m2")
    for joint in plant.joints:
        assert [found[f"{joint.name}_frame_{c}"].value for c in "xyz"] == joint.frame.p.tolist()
        assert [found[f"{joint.name}_child_{c}"].value for c in "xyz"] == joint.child_frame.p.tolist()
        assert found[f"{joint.name}_frame_turn_x"][:2] == (0.0, "rad")
    assert [found[f"gravity_{c}"].value for c in "xyz"] == plant.gravity.tolist()
    for motor in plant.actuators:
        assert found[f"motor_{motor.name}_gear"].value == motor.gear


@pytest.mark.parametrize("closure", fixtures.CLOSURES, ids=fixtures.closure_name)
@pytest.mark.first(2)
def test_numbers_of_the_arrays_follow(closure):
    """All but those that decide about rank, and vectors that a row does not have; as of machines built anew."""
    plant, _ = fixtures.sprung_machine(*closure)
    found = parameters(plant)

    def is_read(place):
        if place.part != "rows":
            return place.part not in ("scale", "unit_lengths", "size")
        kind = plant.arrays.rows[place.record]["kind"]
        vectors = {"u", "x", "pa", "w", "pb"}
        read = {layout.ROW_OFFSET: {"u", "pa", "pb"}, layout.ROW_ALIGN: {"u", "w"}, layout.ROW_DISTANCE: {"pa", "pb"}}
        read |= {layout.ROW_COUPLING: set(), layout.ROW_SCREW: vectors}
        return place.field not in vectors - read[kind]

    followed = np.array([is_read(place) for place in places(plant.arrays)])
    names = np.random.default_rng(0).choice(list(found), 20, replace=False)
    for name in names:
        if "_axis_turn_" in name:
            continue  # the rows of a line are chosen anew

        def at(s, name=name):
            return Parameters(fixtures.changed_machine(plant, name, s).arrays).values[followed]

        rates = np.zeros(len(followed))
        rates[list(found[name].moves)] = list(found[name].moves.values())
        truth = fixtures.slope(at, 1e-3)
        assert np.abs(rates[followed] - truth).max() < 1e-10 * np.abs(at(0.0)).max(), name


def test_units_of_springs_are_those_of_what_they_act_on():
    plant = fixtures.sprung_machine(0, ())[0]
    found = parameters(plant)
    for spring in plant.springs:
        turns = not isinstance(spring, PointSpring) and plant.position_units[plant.position_names.index(spring.joint)]
        expected = ("N m/rad", "rad", "N m s/rad") if turns == "rad" else ("N/m", "m", "N s/m")
        assert tuple(found[f"spring_{spring.name}_{key}"].unit for key in ("stiffness", "rest", "damping")) == expected
        assert found[f"spring_{spring.name}_stiffness"].value == spring.stiffness


def test_coupled_joints():
    plant = plants.five_bar().with_loops(Coupling("belt", {"left": 0.5, "right": 2.0}, offset=3.1))
    found = parameters(plant)
    assert found["belt_of_left"].value == 0.5 and found["belt_of_right"].value == 2.0
    assert found["belt_offset"][:2] == (3.1, "rad")
    assert len(found["belt_of_left"].moves) == 2  # for positions and for velocities


def test_names_hold_for_the_parts_that_are_there():
    plant = plants.five_bar()
    assert "tip_point_a_x" in parameters(plant)
    assert "tip_point_a_x" not in parameters(plant.without("tip"))
    again = Mechanism(
        plant.name, plant.bodies, plant.joints, plant.loops, actuators=plant.actuators, gravity=plant.gravity
    )
    assert dict(parameters(again)) == dict(parameters(plant))
