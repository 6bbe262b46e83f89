"""Shapes through the files of others: where they were, of the same size and color; and the motion stays as it is."""

from dataclasses import replace

import numpy as np
import pytest

from cmbcontrol import Body, Fixed, Frame, Mechanism, Revolute, Spherical, formats, plants, shapes
from cmbcontrol.errors import InputError
from cmbcontrol.formats.conversion import Remarks
from cmbcontrol.formats.visuals import color_of, mesh_path, rgba_of, scaled
from cmbcontrol.model.elements.mesh_files import obj_text

from ..fixtures import random_state
from ..model.elements.test_shapes import require_closed, volume

TURNED = Frame.turned((1.0, 2.0, 3.0), 0.8, (0.1, -0.2, 0.3))
OFF = Frame.turned((1.0, 0.0, 0.0), 0.3, (0.05, 0.0, 0.0))
LOOKS = [
    shapes.Box((0.4, 0.1, 0.2), TURNED, color="#ff8000"),
    shapes.Rod((0.1, 0.2, 0.3), (0.5, -0.1, 0.2), 0.05, color="#00ff00"),
    shapes.Rod((0.1, 0.0, 0.0), (0.4, 0.0, 0.1), 0.04, rounded=True),
    shapes.Ball((0.3, 0.2, 0.1), 0.07, color="#0000ff"),
    shapes.Plate([(0, 0), (0.4, 0), (0.4, 0.2), (0.2, 0.1), (0, 0.2)], 0.03, TURNED, color="#123456"),
    shapes.Mesh([(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)], [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)]),
]
FORMATS = ["robot.xml", "robot.urdf", "robot.sdf", "robot.yaml"]


def needs(file):
    if file.endswith(".xml"):
        pytest.importorskip("mujoco")


def machine():
    """A base, an arm whose joint is off its origin and turned, and a frame on it that has a look."""
    return Mechanism(
        "seen",
        [
            Body("base", shapes=[shapes.Box((1.0, 1.0, 0.1))]),
            Body("arm", 2.0, (0.2, 0.1, 0), (0.1, 0.2, 0.25), LOOKS),
            Body("lamp", shapes=[shapes.Ball((0, 0, 0.1), 0.05, color="#ffffff")]),
            Body("wrist", 1.0, (0, 0, 0.1), (0.01, 0.02, 0.025), [shapes.Rod((0, 0, 0), (0, 0, 0.2), 0.02)]),
        ],
        [
            Fixed("base", "ground", "base", frame=Frame((0, 0, -0.5))),
            Revolute("arm", "ground", "arm", axis=(0, 1, 0), frame=TURNED, child_frame=OFF),
            Fixed("lamp", "arm", "lamp", frame=Frame.turned((0, 0, 1), 0.5, (0.5, 0, 0))),
            Spherical("ball", "arm", "wrist", frame=Frame((0.5, 0, 0)), child_frame=Frame.turned((0, 1, 0), 0.4)),
        ],
    )  # fmt: skip


def in_the_world(plant, q):
    """Volume, centre and color of every surface, in the world; balls of a capsule in URDF are surfaces of their own."""
    found = []
    for body in plant.bodies:
        pose = plant.pose(q, body.name)
        for shape in body.shapes:
            vertices, faces, _ = shape.moved(pose).triangles()
            a, b, c = vertices[faces].transpose(1, 0, 2)
            parts = (a * np.cross(b, c)).sum(axis=1) / 6.0
            found.append((parts.sum(), *(parts @ (a + b + c) / 4.0 / parts.sum()), shape.color or ""))
    return found


@pytest.mark.parametrize("file", FORMATS)
def test_shapes_come_back_where_they_were(file, tmp_path):
    needs(file)
    plant = machine()
    formats.write(plant, tmp_path / file)
    found = formats.read(tmp_path / file)
    back = found.machine
    q, v = random_state(plant, 2)
    q2 = q
    if file == "robot.sdf":  # whose zero is that of the written configuration, which is zero here
        assert back.position_names == plant.position_names
    one, other = plant.terms(q, v), back.terms(q2, v)
    if file != "robot.urdf":  # which makes a hinge of a ball, without the file beside
        assert np.abs(one.M - other.M).max() < 1e-12 and np.abs(one.h - other.h).max() < 1e-12
    at = plant.neutral()
    mine, theirs = in_the_world(plant, at), in_the_world(back, back.neutral())
    if file == "robot.urdf":  # a capsule is a cylinder and two balls
        mine = [x for x in mine if not np.isclose(x[0], volume(LOOKS[2]))]
        theirs = [x for x in theirs if x[4] or x[0] != pytest.approx(volume(shapes.Ball((0, 0, 0), 0.04)), rel=1e-6)]
        theirs = [x for x in theirs if x[0] != pytest.approx(volume(replace(LOOKS[2], rounded=False)), rel=1e-6)]
    assert len(mine) == len(theirs)
    for a, b in zip(sorted(mine), sorted(theirs), strict=True):
        assert a[4] == b[4] and np.allclose(a[:4], b[:4], rtol=1e-9, atol=1e-9)
    assert not [x for x in found.remarks if "visual" in x.what or "mesh" in x.what]


@pytest.mark.parametrize("file", FORMATS)
@pytest.mark.parametrize("name", ["excavator", "stewart", "leg"])
def test_machines_of_the_catalogue(file, name, tmp_path):
    needs(file)
    plant = plants.catalogue[name].factory()
    formats.write(plant, tmp_path / file)
    back = formats.read(tmp_path / file).machine
    for body in plant.bodies:
        again = next(b for b in back.bodies if b.name in (body.name, f"{body.name}_link"))
        assert len(again.shapes) >= len(body.shapes)
        assert again.mass == pytest.approx(body.mass, abs=3e-15)


def test_kinds_and_colors_survive_where_the_format_knows_them(tmp_path):
    pytest.importorskip("mujoco")
    formats.write(machine(), tmp_path / "robot.xml")
    arm = next(b for b in formats.read(tmp_path / "robot.xml").machine.bodies if b.name == "arm")
    kinds = ["Box", "Rod", "Rod", "Ball", "Mesh", "Mesh"]
    assert [type(s).__name__ for s in arm.shapes] == kinds and arm.shapes[2].rounded and not arm.shapes[1].rounded
    assert [s.color for s in arm.shapes] == [s.color for s in LOOKS]


# -- MJCF --------------------------------------------------------------------------------------------------------------

GEOMS = """<mujoco model="seen"><compiler angle="radian" meshdir="meshes"/>
<default><default class="red"><geom rgba="1 0 0 1"/></default></default>
<asset><material name="blue" rgba="0 0 1 1"/><mesh name="wedge" file="wedge.obj" scale="2 2 2"/>
<mesh name="gone" file="gone.stl"/><mesh name="out" file="../../secret.stl"/></asset>
<worldbody><geom type="plane" size="1 1 1"/>
<geom type="box" size="0.5 0.5 0.05" pos="0 0 -1" contype="0" conaffinity="0"/>
<body name="arm" pos="0 0 1"><joint name="hinge" axis="0 1 0"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
<geom class="red" type="capsule" fromto="0 0 0 1 0 0" size="0.05"/>
<geom type="cylinder" size="0.1 0.2" pos="1 0 0" euler="1.5707963267948966 0 0" material="blue"/>
<geom type="ellipsoid" size="0.1 0.2 0.3" pos="0 0 0.5"/>
<geom type="sphere" size="0.1" rgba="0 1 0 0"/><geom type="sphere" size="0.1" group="3"/>
<geom type="mesh" mesh="wedge" pos="0 1 0" class="red"/><geom type="mesh" mesh="gone"/><geom type="mesh" mesh="out"/>
</body></worldbody></mujoco>"""


def test_geoms_of_mujoco(tmp_path):
    pytest.importorskip("mujoco")
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "wedge.obj").write_text(obj_text(LOOKS[5].vertices, LOOKS[5].faces))
    (tmp_path / "robot.xml").write_text(GEOMS)
    found = formats.read(tmp_path / "robot.xml")
    bodies = {body.name: body for body in found.machine.bodies}
    capsule, cylinder, ellipsoid, wedge = bodies["arm"].shapes
    assert capsule.rounded and capsule.color == "#ff0000" and cylinder.color == "#0000ff"
    ends = sorted([capsule.start.round(12).tolist(), capsule.end.round(12).tolist()])
    assert np.allclose(ends, [[0, 0, 0], [1, 0, 0]]) and capsule.radius == 0.05
    assert np.allclose(np.sort([cylinder.start[1], cylinder.end[1]]), [-0.2, 0.2]) and cylinder.start[0] == 1.0
    assert np.allclose(np.ptp(ellipsoid.vertices, axis=0), [0.2, 0.4, 0.6]) and ellipsoid.smooth
    assert wedge.color == "#ff0000" and np.allclose(wedge.vertices, 2.0 * LOOKS[5].vertices + (0, 1, 0))
    assert bodies["world_shapes"].shapes[0].size.tolist() == [1.0, 1.0, 0.1]
    told = str(found)
    for words in ("type plane", "groups above 2", "gone.stl cannot be read", "leads out of the folder", "contacts"):
        assert words in told, words


# -- URDF and SDF ------------------------------------------------------------------------------------------------------

URDF = """<robot name="r"><material name="steel"><color rgba="0.5 0.5 0.5 1"/></material>
<link name="base"/><link name="arm"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><origin xyz="0 0 0.5" rpy="0 1.5707963267948966 0"/><geometry><cylinder radius="0.1" length="2"/></geometry>
<material name="steel"/></visual>
<visual><geometry><mesh filename="{mesh}" scale="1 -2 1"/></geometry></visual>
<visual><geometry><sphere radius="-1"/></geometry></visual><visual/>
<collision><geometry><box size="1 1 1"/></geometry></collision></link>
<joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint></robot>"""


@pytest.mark.parametrize("uri", ["package://robots/meshes/wedge.obj", "../meshes/wedge.obj", "../meshes/gone.obj"])
def test_visuals_of_urdf(uri, tmp_path):
    package = tmp_path / "robots"
    for folder in ("urdf", "meshes"):
        (package / folder).mkdir(parents=True)
    (package / "package.xml").write_text("<package/>")
    (package / "meshes" / "wedge.obj").write_text(obj_text(LOOKS[5].vertices, LOOKS[5].faces))
    (package / "urdf" / "r.urdf").write_text(URDF.format(mesh=uri))
    found = formats.read(package / "urdf" / "r.urdf")
    seen = {b.name: b for b in found.machine.bodies}["arm"].shapes
    assert seen[0].color == "#808080" and np.allclose(np.sort([seen[0].start[0], seen[0].end[0]]), [-1, 1])
    told = str(found)
    assert "radius" in told and "no <geometry>" in told and "collision" in told
    assert ("is not there" in told) == ("gone" in uri) == (len(seen) == 1)
    if len(seen) == 2:
        require_closed(seen[1])
        assert volume(seen[1]) == pytest.approx(2.0 * volume(LOOKS[5])) and seen[1].vertices[:, 1].min() == -0.2


def test_paths_of_meshes_stay_in_the_package(tmp_path):
    package = tmp_path / "robots"
    (package / "urdf").mkdir(parents=True)
    (tmp_path / "secret.stl").write_text("solid")
    file = package / "urdf" / "r.urdf"
    for uri in ("../../secret.stl", str(tmp_path / "secret.stl"), "package://../secret.stl", "package://robots/../secret.stl",
                "file:///etc/passwd", "http://somewhere/a.stl", "", "package://"):  # fmt: skip
        with pytest.raises((InputError, TypeError)):
            mesh_path(file, uri)
    (package / "package.xml").write_text("<package/>")
    (package / "a.stl").write_text("solid")
    (package / "urdf" / "b.stl").write_text("solid")
    assert mesh_path(file, "package:///b.stl").name == "b.stl"
    assert mesh_path(file, "../a.stl").name == "a.stl" == mesh_path(file, "package://robots/a.stl").name


def test_shapes_of_sdf(tmp_path):
    geometry = "<capsule><radius>0.1</radius><length>0.4</length></capsule>"
    more = "<ellipsoid><radii>0.1 0.2 0.3</radii></ellipsoid>"
    visual = "<visual name='{0}'><pose>{1} 0 0 0 0 0</pose><geometry>{2}</geometry>{3}</visual>"
    color = "<material><diffuse>1 0 0 1</diffuse></material>"
    text = f"""<sdf version="1.9"><model name="m"><link name="arm">{visual.format("a", 1, geometry, color)}
        {visual.format("b", 2, more, "")}{visual.format("c", 0, "<plane><normal>0 0 1</normal></plane>", "")}</link>
        <joint name="j" type="revolute"><parent>world</parent><child>arm</child><axis><xyz>0 1 0</xyz></axis></joint>
        </model></sdf>"""
    (tmp_path / "m.sdf").write_text(text)
    found = formats.read(tmp_path / "m.sdf")
    capsule, ellipsoid = found.machine.bodies[0].shapes
    assert capsule.rounded and capsule.color == "#ff0000" and capsule.start.tolist() == [1.0, 0.0, -0.2]
    assert np.allclose(ellipsoid.vertices.mean(axis=0), [2, 0, 0], atol=1e-12)
    assert any("plane" in x.what for x in found.of_kind("left out"))


def test_small_things():
    for color in ("#000000", "#ffffff", "#1f77b4"):
        assert color_of([float(x) for x in rgba_of(color).split()]) == color
    assert color_of((2.0, -1.0, 0.5)) == "#ff0080"
    with pytest.raises(InputError, match="scale"):
        scaled(LOOKS[5], (1, 0, 1))
    assert Remarks().said == []
