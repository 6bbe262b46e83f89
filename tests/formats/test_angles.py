"""Angles of files as they are meant."""

import numpy as np
import pytest

from cmbcontrol import formats, simulate
from cmbcontrol.formats.angles import meant
from tests.fixtures import four_bar_sdf, largest


@pytest.mark.parametrize("k", [1, 2, 3, 4, 6, 8, 12, -3, -6, 18])
def test_multiples_of_fifteen_degrees(k):
    exact = k * np.pi / 12.0
    for decimals in range(2, 13):
        for word in (f"{exact:.{decimals}f}", cut(exact, decimals)):
            assert float(meant(word)) == exact
    for word in ("0", "0.0", "1.5", "3.1", "0.1", "0.7", "1e-3", "1.5709", "0.52", "0.5235"):
        assert (meant(word) == word) == (word not in ("0.52", "0.5235"))


def cut(x, decimals):
    whole, _, digits = f"{x:.15f}".partition(".")
    return f"{whole}.{digits[:decimals]}"


def urdf(angle):
    def link(name, x):
        inertia = 'ixx="0.001" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"'
        inertial = f'<inertial><origin xyz="{x} 0 0"/><mass value="1"/><inertia {inertia}/></inertial>'
        return f'<link name="{name}">{inertial}</link>'

    def joint(name, parent, child, xyz, rpy):
        ends = f'<parent link="{parent}"/><child link="{child}"/><axis xyz="0 0 1"/>'
        return f'<joint name="{name}" type="continuous"><origin xyz="{xyz}" rpy="{rpy}"/>{ends}</joint>'

    def fixed(name, parent, child, xyz):
        ends = f'<parent link="{parent}"/><child link="{child}"/>'
        return f'<joint name="{name}" type="fixed"><origin xyz="{xyz}"/>{ends}</joint><link name="{child}"/>'

    parts = [
        '<link name="base"/>',
        link("crank", 0.1),
        link("coupler", 0.25),
        link("rocker", 0.1),
        joint("A", "base", "crank", "0 0 0", f"{angle} 0 0"),
        joint("B", "crank", "coupler", "0.2 0 0", "0 0 0"),
        joint("D", "base", "rocker", "0.5 0 0", "1.5707963267948966 0 0"),
        fixed("c1", "coupler", "p1", "0.5 0 0"),
        fixed("c2", "rocker", "p2", "0.2 0 0"),
    ]
    return f'<robot name="m">{"".join(parts)}</robot>'


@pytest.mark.first(2)
@pytest.mark.parametrize("kind", ["3d", "revolute"])
@pytest.mark.parametrize("angle", ["1.5708", "1.570796", "1.57", "1.57079633"])
def test_a_planar_machine_in_urdf(tmp_path, angle, kind):
    """A four-bar whose links are turned by right angles of few digits moves as that with all digits."""

    def moved(angle):
        (tmp_path / "m.urdf").write_text(urdf(angle))
        (tmp_path / "m.yaml").write_text(f"closed_loop: [[p1, p2]]\ntype: [{kind}]\n")
        read = formats.read_urdf(tmp_path / "m.urdf")
        plant = read.machine
        q = plant.assemble(A=0.9, guess={"B": -0.9, "D": 0.9})
        assert plant.diagnose(q).dof == 1
        return read, simulate(plant, None, q, t_end=0.5).q.values[-1]

    read, q = moved(angle)
    assert largest(q - moved(repr(0.5 * np.pi))[1]) < 1e-9
    assert any("multiples of 15 deg" in remark.what for remark in read.remarks)


def test_an_angle_that_no_loop_speaks_of_stays(tmp_path):
    """Without loops nothing tells what was meant."""
    text = urdf("1.5708")
    (tmp_path / "open.urdf").write_text(text)
    read = formats.read_urdf(tmp_path / "open.urdf", loops=False)
    assert (
        largest(
            next(x for x in read.machine.joints if x.name == "A").frame.R[1:, 1:]
            - [[np.cos(1.5708), -np.sin(1.5708)], [np.sin(1.5708), np.cos(1.5708)]]
        )
        < 1e-15
    )
    assert not any("15 deg" in remark.what for remark in read.remarks)


@pytest.mark.parametrize(("a", "b"), [("1.5708", "1.5708"), ("1.5707963267948966", "1.5708"), ("1.570796", "1.57")])
def test_a_planar_machine_in_sdf(tmp_path, a, b):
    (tmp_path / "m.sdf").write_text(four_bar_sdf(a, b))
    plant = formats.read_sdf(tmp_path / "m.sdf").machine
    q = plant.assemble()
    assert plant.diagnose(q).dof == 1
    assert largest(simulate(plant, None, q, t_end=0.5).q.values[-1] - q) > 0.1
