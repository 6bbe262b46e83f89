"""The call: what it takes, what it refuses, what it writes."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.codegen import export
from cmbcontrol.codegen.entries import FUNCTIONS
from cmbcontrol.errors import ActuationError, FileError, InputError, InputTypeError
from cmbcontrol.plants.five_bar import configuration


def test_all_that_the_machine_can_have(tmp_path):
    made = export(plants.five_bar(), tmp_path / "new" / "folder", states=1)
    assert made.functions == tuple(f"five_bar_{name}" for name in FUNCTIONS if name != "linear")
    assert made.left_out == {}
    assert sorted(path.name for path in made.folder.iterdir()) == sorted(path.name for path in made.files)
    assert made.parameters["clear"] == 1e-4


def test_a_singular_configuration_is_left(tmp_path):
    plant = plants.five_bar()
    made = export(plant, tmp_path, configuration(plant, "singular"), functions=["terms"], states=1)
    terms = plant.terms(made.q, np.zeros(4))
    assert terms.rank == 2 and plant.closure_error(made.q) < 1e-14


def test_names_that_begin_with_a_prefix(tmp_path):
    made = export(plants.pendulum(), tmp_path, prefix="my arm", functions=["forward"], states=1)
    assert made.functions == ("my_arm_forward",)
    assert "int my_arm_forward(const double *p" in (tmp_path / "my_arm.h").read_text()


def test_the_same_call_writes_the_same_files(tmp_path):
    texts = []
    for folder in ("a", "b"):
        made = export(plants.loader(), tmp_path / folder, seed=5, states=2)
        texts.append([path.read_text() for path in made.files])
    assert texts[0] == texts[1]


def test_files_are_overwritten_only_if_allowed(tmp_path):
    plant = plants.pendulum()
    export(plant, tmp_path, states=1)
    with pytest.raises(FileError, match=r"pendulum\.h, .* would be overwritten; .*overwrite=True"):
        export(plant, tmp_path, states=1)
    export(plant, tmp_path, states=1, overwrite=True)
    (tmp_path / "taken").write_text("")
    with pytest.raises(FileError, match="cannot be made"):
        export(plant, tmp_path / "taken", states=1)


def test_plants_of_functions_are_refused(tmp_path):
    with pytest.raises(
        InputTypeError, match="'slider-crank' cannot be exported: its M, h, Phi, A and Adot_v are functions"
    ):
        export(plants.slider_crank(), tmp_path)
    assert list(tmp_path.iterdir()) == []


def under_actuated():
    bodies = [cmb.Body(name, 1.0, com=(0.5, 0.0, 0.0), inertia=(0.1, 0.1, 0.1)) for name in ("a", "b")]
    joints = [cmb.Revolute("one", "ground", "a", axis=(0, 0, 1)), cmb.Revolute("two", "a", "b", axis=(0, 0, 1))]
    return cmb.Mechanism("acrobot", bodies, joints, actuators=[cmb.Actuator("two")])


def test_efforts_that_do_not_exist_are_refused_where_they_are_asked_for(tmp_path):
    with pytest.raises(ActuationError, match="reach 1 of 2 degrees of freedom"):
        export(under_actuated(), tmp_path, functions=["inverse"])
    made = export(under_actuated(), tmp_path, states=1)
    assert "acrobot_inverse" not in made.functions and "reach 1 of 2" in made.left_out["inverse"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"functions": ["forwards"]}, "did you mean 'forward'"),
        ({"functions": []}, "at least one"),
        ({"functions": "terms"}, "sequence"),
        ({"functions": ["linear"]}, "2 degrees of freedom, got 0 coordinates"),
        ({"coordinates": ["left"]}, "2 degrees of freedom, got 1 coordinates"),
        ({"coordinates": ["left", "up"]}, "there is no coordinate 'up'"),
        ({"functions": ["terms"], "coordinates": ["left", "right"]}, "those of the function 'linear'"),
        ({"states": 0}, "states"),
        ({"prefix": 3}, "prefix must be a string"),
        ({"prefix": "selftest"}, "give another prefix"),
        ({"overwrite": "no"}, "overwrite must be True or False"),
        ({"q": [0.0]}, "q must have shape"),
    ],
)
def test_wrong_calls(tmp_path, options, message):
    with pytest.raises((InputError, InputTypeError), match=message):
        export(plants.five_bar(), tmp_path, **options)
    assert list(tmp_path.iterdir()) == []
