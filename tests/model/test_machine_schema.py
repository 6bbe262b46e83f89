"""The schema of machine files says what the reader takes."""

import json
from pathlib import Path

import pytest

from cmbcontrol import plants
from cmbcontrol.errors import CmbError
from cmbcontrol.model.machine_file import described, from_description
from cmbcontrol.model.machine_schema import machine_schema
from tests.fixtures import MECHANISMS
from tests.model.test_machine_file import furnished, shaped

jsonschema = pytest.importorskip("jsonschema")
PUBLISHED = Path(__file__).parents[2] / "docs" / "machine.schema.json"


@pytest.fixture(scope="module")
def judge():
    jsonschema.Draft202012Validator.check_schema(machine_schema())
    return jsonschema.Draft202012Validator(machine_schema())


def test_the_published_one_is_this_one():
    assert json.loads(PUBLISHED.read_text()) == machine_schema(), "python docs/make_schema.py writes it"


@pytest.mark.parametrize("name", MECHANISMS)
def test_ready_made_machines_are_valid(judge, name):
    judge.validate(described(plants.catalogue[name].start()[0]))


def test_a_furnished_is_valid(judge):
    judge.validate(described(furnished()))


def test_shapes_are_valid(judge):
    judge.validate(described(shaped()))


def gate(**changes):
    data = {
        "format": "cmbcontrol machine 1",
        "name": "gate",
        "bodies": {"wing": {"mass": 80, "com": [1.5, 0, 0], "inertia": [30, 30, 60]}},
        "joints": {"hinge": {"type": "Revolute", "parent": "ground", "child": "wing", "limits": [-0.1, 1.4]}},
    }
    return data | changes


@pytest.mark.parametrize(
    "change",
    [
        {"format": "other"},
        {"bodys": {}},
        {"bodies": {"wing": {"mas": 80}}},
        {"bodies": {"wing": {"mass": "heavy"}}},
        {"bodies": {"wing": {"mass": 1, "shapes": [{"type": "Bocks", "size": [1, 1, 1]}]}}},
        {"bodies": {"wing": {"mass": 1, "shapes": [{"type": "Box"}]}}},
        {"joints": {"hinge": {"type": "Revolut", "parent": "ground", "child": "wing"}}},
        {"joints": {"hinge": {"type": "Revolute", "parent": "ground"}}},
        {"joints": {"hinge": {"parent": "ground", "child": "wing"}}},
        {"cuts": 3},
        {"configurations": {"home": {"hinge": "up"}}},
    ],
)
def test_mistakes_are_found_by_both(judge, change):
    assert judge.is_valid(gate()) and from_description(gate()).nv == 1
    assert not judge.is_valid(gate(**change))
    with pytest.raises(CmbError):
        from_description(gate(**change))


def test_bodies_of_fewer_numbers(judge):
    data = gate(bodies={"wing": {"type": "Body.planar", "mass": 80, "com": [1.5, 0], "inertia": 60}})
    judge.validate(data)
    assert from_description(data).bodies[0].inertia[2, 2] == 60.0
    data = gate(bodies={"wing": {"type": "Body.rod", "mass": 80, "length": 3.0}})
    judge.validate(data)
    assert from_description(data).bodies[0].com[0] == 1.5
    for wrong, words in (
        ({"type": "Body.rod", "mass": 80}, "needs 'length'"),
        ({"type": "Body.rod", "mas": 1}, "'mass'"),
    ):
        with pytest.raises(CmbError, match=words):
            from_description(gate(bodies={"wing": wrong}))
        assert not judge.is_valid(gate(bodies={"wing": wrong}))
