"""One way in and one way out, by suffix."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.errors import FileError, InputError, InputTypeError
from cmbcontrol.formats import read, write


@pytest.mark.parametrize("suffix", [".yaml", ".json", ".YML", ".urdf", ".sdf", ".mjcf", ".xml"])
def test_there_and_back(suffix, tmp_path):
    """Names of coordinates, and the masses that they move, wherever a format is read without other packages."""
    if suffix in (".mjcf", ".xml"):
        pytest.importorskip("mujoco")
    plant = plants.loader()
    q = plants.catalogue["loader"].start()[1]
    made = write(plant, tmp_path / f"loader{suffix}")
    assert made.path.exists() and made.machine is plant
    again = read(made.path)
    assert again.path == made.path and again.format == made.format
    assert set(again.machine.position_names) <= {*plant.position_names, *(loop.name for loop in plant.loops)}
    total = [sum(body.mass for body in x.bodies) for x in (plant, again.machine)]
    np.testing.assert_allclose(*total, rtol=1e-12)
    assert again.machine.diagnose(again.machine.assemble()).dof == plant.diagnose(q).dof


def test_the_first_element_tells_what_an_xml_file_is(tmp_path):
    for root, suffix in (("robot", "urdf"), ("sdf", "sdf")):
        made = write(plants.pendulum(), tmp_path / f"pendulum.{suffix}")
        text = made.path.read_text()
        (tmp_path / f"{root}.xml").write_text(text)
        assert read(tmp_path / f"{root}.xml").format == made.format
    (tmp_path / "html.xml").write_text("<html/>")
    with pytest.raises(InputError, match=r"no first element of .*html.xml 'html'"):
        read(tmp_path / "html.xml")


def test_what_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"ends in .yaml, .*, got 'a.step'"):
        read(tmp_path / "a.step")
    with pytest.raises(InputError, match=r"got 'a.step'"):
        write(plants.pendulum(), tmp_path / "a.step")
    with pytest.raises(FileError, match="cannot be read"):
        read(tmp_path / "none.urdf")
    with pytest.raises(InputTypeError, match="machine"):
        write(plants.particle_on_circle(), tmp_path / "a.yaml")
    assert cmb.formats.read is read
