"""modelDescription.xml: what it says of each variable, in both versions."""

from xml.etree import ElementTree as ET

import numpy as np
import pytest

from cmbcontrol import plants
from cmbcontrol.fmu.description import build_description, model_description, value_references
from cmbcontrol.fmu.model import model_of


@pytest.fixture(scope="module")
def model():
    plant = plants.excavator()
    q = plant.close(plant.assemble())
    return model_of(plant, q, np.zeros(plant.nv), np.zeros(plant.nu), None, "inside", ["bucket"], 1e-3, "0")


def test_variables_are_the_same_in_both_versions(model):
    """Names, units, start values, derivatives; references are places, and indices begin with 1."""
    three = ET.fromstring(model_description(model, "3.0", ("ModelExchange",), "m", 5.0))
    two = ET.fromstring(model_description(model, "2.0", ("ModelExchange",), "m", 5.0))
    of_three, of_two = three.findall("ModelVariables/Float64"), two.findall("ModelVariables/ScalarVariable")
    known = value_references(model)
    assert len(of_three) == len(of_two) == len(known)
    for i, (a, b) in enumerate(zip(of_three, of_two, strict=True)):
        real = b.find("Real")
        for name in ("name", "valueReference", "description", "causality", "variability", "initial"):
            assert a.get(name) == b.get(name)
        assert known[a.get("name")] == int(a.get("valueReference")) == i
        assert a.get("unit") == real.get("unit") and a.get("start") == real.get("start")
        rate = a.get("derivative")
        assert real.get("derivative") == (None if rate is None else str(int(rate) + 1))


def test_structure_lists_outputs_rates_and_the_event(model):
    root = ET.fromstring(model_description(model, "3.0", ("ModelExchange", "CoSimulation"), "m", 5.0))
    names = {int(x.get("valueReference")): x.get("name") for x in root.iter("Float64")}
    found = {tag: [names[int(x.get("valueReference"))] for x in root.iter(tag)] for tag in
             ("Output", "ContinuousStateDerivative", "EventIndicator")}  # fmt: skip
    assert found["Output"] == [x.name for x in model.outputs]
    assert found["ContinuousStateDerivative"] == [f"der({name})" for name in model.state_names]
    assert found["EventIndicator"] == ["margin"]
    assert [root.find(k).get("providesDirectionalDerivatives") for k in ("ModelExchange", "CoSimulation")] == [
        "true"
    ] * 2


def test_co_simulation_alone_has_no_events(model):
    root = ET.fromstring(model_description(model, "2.0", ("CoSimulation",), "m", 5.0))
    assert root.get("numberOfEventIndicators") is None
    assert root.find("ModelExchange") is None
    assert [x.get("name") for x in root.iter("File")] == ["fmu.c"]


def test_units_are_those_of_the_base(model):
    root = ET.fromstring(model_description(model, "3.0", ("CoSimulation",), "m", 5.0))
    units = {x.get("name"): x.find("BaseUnit").attrib for x in root.iter("Unit")}
    assert units["N m"] == {"kg": "1", "m": "2", "s": "-2"}
    assert {x.get("unit") for x in root.iter("Float64")} - {None} <= set(units)


def test_the_build_description_names_one_file():
    root = ET.fromstring(build_description("m"))
    assert [x.get("name") for x in root.iter("SourceFile")] == ["fmu.c"]
    assert root.find("BuildConfiguration").get("modelIdentifier") == "m"
