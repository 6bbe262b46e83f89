"""Machines through files and back: equal to the last digit, or an error that says what and where."""

import copy
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Actuator, Body, Frame, Load, Mechanism, characteristics, plants, shapes
from cmbcontrol.errors import CmbError, ModelError
from cmbcontrol.model import elements
from cmbcontrol.model.machine_file import described, from_description
from cmbcontrol.plants import catalogue

from ..fixtures import MECHANISMS, random_state
from ..formats import mutations
from ..robustness import machines
from ..seeds import rotating


def through_a_file(plant, folder):
    made = Mechanism.load(plant.save(folder / "machine.yaml"))
    assert described(made) == described(plant)
    for name, one, other in zip(plant.arrays._fields, plant.arrays, made.arrays, strict=True):
        if isinstance(one, np.ndarray):
            assert one.tobytes() == other.tobytes(), name
    q, v = random_state(plant, 1)
    try:
        terms = plant.terms(q, v)
    except ModelError:  # without inertia, or where a formula has no value
        return made
    again = made.terms(q, v)
    for key in ("M", "h", "A", "b", "B", "phi"):
        assert np.array_equal(getattr(terms, key), getattr(again, key)), key
    return made


@pytest.mark.parametrize("name", MECHANISMS)
def test_ready_made_machines(name, tmp_path):
    plant = catalogue[name].factory()
    made = through_a_file(plant, tmp_path)
    assert made.source == plant.source and [type(x) for x in made.loops] == [type(x) for x in plant.loops]
    assert [x.effort for x in made.actuators] == [x.effort for x in plant.actuators]


@pytest.mark.rotates
@pytest.mark.parametrize("seed", rotating(100))
def test_random_machines_of_this_commit(seed, tmp_path):
    try:
        plant = machines.build(machines.machine(seed))
    except ModelError as error:  # some have a coordinate without inertia, and are refused
        assert "no inertia" in str(error)
        return
    through_a_file(plant, tmp_path)


@pytest.mark.parametrize("seed", range(0, 200, 20))
def test_some_random_machines(seed, tmp_path):
    through_a_file(machines.build(machines.machine(seed)), tmp_path)


def furnished():
    """A machine with one of everything that is no joint."""
    b, j = (
        [
            Body("cart", 2.0, (0, 0, 0.1), (0.1, 0.2, 0.15)),
            Body.rod("arm", 1.0, 0.8),
            Body("tool", 0.5, (0.1, 0, 0), (1e-3, 2e-3, 2e-3)),
        ],
        [],
    )
    j.append(cmb.Prismatic("x", "ground", "cart", axis=(1, 0, 0.2), limits=(-1.0, 2.0), restitution=0.3, damping=1e-7))
    turned = Frame.turned((1, 2, 3), 0.7, (0.1, 0.2, 1 / 3))
    j.append(cmb.Revolute("hinge", "cart", "arm", frame=turned, axis=(0, 1, 0), armature=0.01))
    j.append(cmb.Universal("wrist", "arm", "tool", frame=Frame((0.8, 0, 0)), damping=(0.1, 0.2),
                           limits={"1": (-1.0, np.inf)}))  # fmt: skip
    x, rate = "x", characteristics
    forces = [
        cmb.JointForce("table", x, rate.SpringTable([-1.0, 0.0, 1.5], [-20.0, 0.0, 90.0])),
        cmb.JointForce("sum", "hinge", rate.Friction(0.2, static=0.3) + rate.SpringDamper(3.0, rest=0.1)),
        cmb.JointForce("function", "hinge", lambda x, rate: 3.0 * np.sin(x) + 0.1 * rate),
        cmb.PointForce("gas", "ground", "arm", rate.GasSpring(0.1, 1e6, 1e-4, 1e-3), (0, 0, -2), (0.5, 0, 0)),
        cmb.PointForce("own", "cart", "tool", rate.FormulaForce("c*x**3", "c*x**4/4", {"c": 7.0}), (0, 0, -2)),
        cmb.Bushing("rubber", "ground", "tool", Frame((0.1, 0, 0)), turned, stiffness=(1, 2, 3, 4, 5, 6.5)),
    ]
    return Mechanism(
        "furnished", b, j, springs=[cmb.JointSpring("spring", "hinge", 5.0, 0.1, 0.2),
                                    cmb.PointSpring("band", "ground", "tool", (0, 0, 2), (0.1, 0, 0), 30.0, 0.5)],
        actuators=[Actuator("x", gear=-3.0, effort=20.0, continuous=8.0, speed=300.0),
                   Actuator("wheel", bodies=("arm", "tool"), axis=(1, 1, 1))],
        loads=[Load("wind", "arm", turned, force=(1, 2, 3), moment=(0, 0, 1e-9), axes="frame")], forces=forces,
        gravity=(0.1, 0.2, -3.7), source="nowhere: an invention, with # and 'quotes'",
    )  # fmt: skip


def test_everything_is_kept(tmp_path):
    plant = furnished()
    made = through_a_file(plant, tmp_path)
    assert made.source == plant.source
    assert made.forces[4].number_names == ("c",) and made.forces[2].characteristic.formula.count("sin") == 1
    through_a_file(plant.with_loads({"wind": (4.0, 0, 0)}), tmp_path)
    numbers = {
        name: 1.01 * x.value for name, x in cmb.dynamics.parameters(plant).items() if not name.startswith("gravity")
    }
    through_a_file(plant.with_parameters({k: x for k, x in numbers.items() if k.endswith("_mass")}), tmp_path)


def test_every_class_of_parts_is_known():
    """What a mechanism may be made of has a name in files: a new class without a place here is a failure."""
    from cmbcontrol.model.machine_file import _SECTIONS, _characteristics, _kinds_of

    known = {name for section in _SECTIONS.values() for name in _kinds_of(section.kinds)} | set(_characteristics())
    known |= set(_kinds_of((elements.Shape,)))
    abstract = {
        "Constraint",
        "CoordinateConstraint",
        "ForceElement",
        "FormulaRows",
        "FrictionOfLoad",
        "Joint",
        "LoopPart",
        "MachinePart",
        "Motion",
        "Shape",
        "Spring",
    }
    others = {"GROUND", "Frame", "Row", "RowOfFormula", "Triangles", "rotation_to"}
    assert set(elements.__all__) - known == abstract | others
    assert set(characteristics.__all__) - known == {"Characteristic"}


@pytest.mark.parametrize(
    "loop",
    [
        cmb.Cam("c", "a", "b", (np.linspace(0, 2 * np.pi, 9), 0.01 * (1 - np.cos(np.linspace(0, 2 * np.pi, 9))))),
        cmb.Cam("c", "a", "b", lambda angle: 0.01 * np.cos(3 * angle), offset=0.1),
        cmb.Coupling("c", {"a": 1.0, "b": -1 / 3}, 0.1),
        cmb.JointMotion("c", "a", position=0.3, velocity=1 / 7),
    ],
)
def test_constraints_of_coordinates(loop, tmp_path):
    bodies = [Body.rod("one", 1.0, 1.0), Body.rod("two", 1.0, 1.0)]
    joints = [cmb.Revolute("a", "ground", "one", axis=(0, 1, 0)), cmb.Revolute("b", "one", "two", axis=(0, 1, 0))]
    through_a_file(Mechanism("pair", bodies, joints, [loop]), tmp_path)


def test_cylinders_stay_cylinders(tmp_path):
    beam = Body.planar("beam", 50.0, 0.5, 10.0)
    ram = cmb.Cylinder("ram", "ground", "beam", (0.2, -0.3, 0), (0.5, 0, 0), stroke=(0.3, 0.55), bore=0.05, rod=0.03)
    pivot = cmb.Revolute("pivot", "ground", "beam")
    plant = Mechanism("crane", [beam], [pivot], cylinders=[ram], gravity=(0, -9.81, 0))
    made = through_a_file(plant, tmp_path)
    assert [x.name for x in made.cylinders] == ["ram"] and made.cylinders[0].bore == 0.05
    text = (tmp_path / "machine.yaml").read_text()
    assert "ram_barrel" not in text
    heavier = plant.with_parameters({"ram_barrel_mass": 9.0})  # no longer as the cylinder makes it
    assert through_a_file(heavier, tmp_path).bodies[1].mass == 9.0


def test_what_is_taken_out_stays_out(tmp_path):
    made = through_a_file(plants.five_bar().without("tip"), tmp_path)
    assert made.row_names == () and made.absent == plants.five_bar().without("tip").absent


def test_a_file_by_hand(tmp_path):
    path = tmp_path / "pendulum.yaml"
    path.write_text(
        """
        # weights from the drawing of 12 March
        format: cmbcontrol machine 1
        name: pendulum
        bodies:
          rod: {mass: 1, com: [0.5, 0, 0], inertia: [0, 1e-1, 1e-1]}  # thin
        joints:
          pivot: {type: Revolute, parent: ground, child: rod, axis: [0, 1, 0], frame: {axis: [1, 0, 0], angle: 0.1}}
        forces:
          stop: {type: JointForce, joint: pivot, characteristic: {type: FormulaForce, formula: "50*max(x - 1, 0)"}}
        """
    )
    plant = Mechanism.load(path)
    assert plant.gravity.tolist() == [0.0, 0.0, -9.81]
    assert plant.terms([1.5], [0.0]).h[0] - plant.with_parts(forces=()).terms([1.5], [0.0]).h[0] == pytest.approx(25.0)
    assert np.allclose(plant.joints[0].frame.R, Frame.turned((1, 0, 0), 0.1).R)


@cache
def loader():
    return described(plants.loader())


def changed(*keys, to):
    """Makes the loader's description with one entry changed, or taken out."""
    *path, last = keys

    def make():
        inner = data = copy.deepcopy(loader())
        for key in path:
            inner = inner[key]
        if to is None:
            del inner[last]
        else:
            inner[last] = to
        return data

    return make


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (changed("format", to="cmbcontrol machine 9"), ["begins with", "machine 9"]),
        (changed("bodys", to={}), ["'bodys'", "bodies"]),
        (changed("joints", to=None), ["needs 'joints'"]),
        (changed("joints", "boom", "type", to="Revolut"), ["'Revolut'", "Revolute"]),
        (changed("joints", "boom", "type", to=None), ["joint 'boom' needs a type"]),
        (changed("joints", "boom", "parent", to="grund"), ["grund"]),
        (changed("joints", "boom", "parent", to=None), ["joint 'boom' needs 'parent'"]),
        (changed("joints", "boom", "limit", to=[0, 1]), ["'limit'", "limits"]),
        (changed("joints", "boom", "limits", to=[1, 0]), ["lower limit"]),
        (changed("joints", "boom", "limits", to="wide"), ["limits"]),
        (changed("joints", "boom", "axis", to=[0, 0, 0]), ["axis", "zero"]),
        (changed("joints", "boom", "axis", to={"x": 1}), ["axis", "mapping"]),
        (changed("joints", "boom", "frame", to={"p": [0, 0]}), ["origin"]),
        (changed("joints", "boom", "frame", to={"q": [0, 0, 0]}), ["'q'"]),
        (changed("bodies", "boom", "mass", to=-1.0), ["mass"]),
        (changed("bodies", "boom", "mass", to="heavy"), ["mass", "heavy"]),
        (changed("bodies", "boom", "mass", to=float("nan")), ["mass"]),
        (changed("bodies", "boom", to=[1, 2]), ["boom"]),
        (changed("loops", "lift_pin", "type", to="__import__"), ["__import__"]),
        (changed("without", to=["nothing"]), ["nothing"]),
        (changed("name", to=3), ["mechanism"]),
        (list, ["machine file"]),
        (lambda: None, ["machine file"]),
    ],
)
def test_mistakes_are_told(make, words):
    with pytest.raises(CmbError) as told:
        from_description(make())
    assert all(word in str(told.value) for word in words), told.value


def test_mistakes_are_told_with_their_line(tmp_path):
    path = plants.loader().save(tmp_path / "loader.yaml")
    text = path.read_text()
    line = 1 + text[: text.index("parent: boom")].count("\n")
    path.write_text(text.replace("mass: 1550", "mass: x1550", 1).replace("parent: boom", "parnt: boom", 1))
    with pytest.raises(CmbError, match=r"loader.yaml, line \d+: .*('x1550'|parnt)"):
        Mechanism.load(path)
    path.write_text(text.replace("parent: boom", "parnt: boom", 1))
    with pytest.raises(CmbError, match=rf"loader.yaml, line {line}: .*'parnt'.*parent"):
        Mechanism.load(path)


REFERENCES = """\
format: cmbcontrol machine 1
name: m
bodies:
  a: {mass: 1.0, inertia: [1, 1, 1]}
  b: {mass: 1.0, inertia: [1, 1, 1]}
joints:
  j1: {type: Revolute, parent: ground, child: a}
  j2:
    type: Revolute
    parent: a
    child: b
loops:
  pin: {type: PointOnLine, a: ground, b: b, axis: [1, 0, 0]}
  gear:
    type: Coupling
    coefficients: {j1: 1.0, j2: -2.0}
springs:
  s: {type: JointSpring, joint: j2, stiffness: 1.0}
actuators:
  m1: {joint: j1}
loads:
  l: {body: b}
forces:
  f: {type: JointForce, joint: j2, characteristic: {type: SpringDamper, damping: 1.0}}
configurations:
  home: {j1: 0.2}
"""


@pytest.mark.parametrize(("old", "new", "line"), [
    ("parent: a", "parent: aa", 10),
    ("child: b", "child: bb", 11),
    ("b: b, axis", "b: bb, axis", 13),
    ("{j1: 1.0, j2", "{jx: 1.0, j2", 16),
    ("joint: j2, stiffness", "joint: jx, stiffness", 18),
    ("{joint: j1}", "{joint: jx}", 20),
    ("{body: b}", "{body: x}", 22),
    ("joint: j2, char", "joint: jx, char", 24),
    ("home: {j1", "home: {jx", 26),
    ("child: a}", "child: b}", 7),
    ("inertia: [1, 1, 1]}\\n  b", "inertia: [1, 1, 9]}\\n  b", 4),
])  # fmt: skip
def test_references_are_told_at_their_line(old, new, line, tmp_path):
    """What one part says of another one is wrong where it says so, and not in line 1."""
    old, new = (text.replace("\\n", "\n") for text in (old, new))
    assert old in REFERENCES
    path = tmp_path / "m.yaml"
    path.write_text(REFERENCES)
    assert Mechanism.load(path).nv == 2
    path.write_text(REFERENCES.replace(old, new, 1))
    with pytest.raises(CmbError, match=rf"m\.yaml, line {line}: "):
        Mechanism.load(path)


@pytest.mark.parametrize("suffix", ["urdf", "sdf", "yaml"])
def test_a_file_of_another_format_is_told_with_what_reads_it(suffix, tmp_path):
    path = tmp_path / f"arm.{suffix}"
    path.write_text("\ufeff\n <?xml version='1.0'?><robot name='arm'><link name='a'/></robot>", encoding="utf-8")
    with pytest.raises(CmbError, match=rf"is XML, .* cmbcontrol\.formats\.read\('arm\.{suffix}'\) reads URDF"):
        Mechanism.load(path)


def test_what_no_file_can_hold(tmp_path):
    def steps(x, rate):
        return 1.0 if x > 0.3 else 0.0

    class Odd(cmb.Revolute):
        pass

    bodies = [Body.rod("rod", 1.0, 1.0)]
    plant = Mechanism("odd", bodies, [Odd("pivot", "ground", "rod", axis=(0, 1, 0))])
    with pytest.raises(ModelError, match="class of your own"):
        plant.save(tmp_path / "odd.yaml")
    assert not list(tmp_path.iterdir())


def test_zeros_have_no_sign(tmp_path):
    """Directions and forces are products, and some of these are -0.0."""
    rod = Body("rod", 1.0, (0.5, -0.0, 0.0), (1.0, 1.0, 1.0))
    pivot = cmb.Revolute("pivot", "ground", "rod", axis=(-0.0, 1.0, 0.0), frame=Frame((-0.0, 0.0, 0.0)))
    load = Load("push", "rod", force=(-0.0, 0.0, 1.0), moment=(-0.0, 0.0, 0.0))
    plant = Mechanism("rod", [rod], [pivot], loads=[load], gravity=(-0.0, 0.0, -9.81))
    made = Mechanism.load(plant.save(tmp_path / "rod.yaml"))
    assert np.array_equal(made.terms([0.3], [0.2]).h, plant.terms([0.3], [0.2]).h)


@pytest.mark.parametrize("name", ["1e3", "null", "two words", "ü", "-x", "a:b", "#x", "~", "[x]", "'x'", "true"])
def test_names_are_texts(name, tmp_path):
    rod = Body(name, 1.0, (0.5, 0.0, 0.0), (1.0, 1.0, 1.0))
    plant = Mechanism(name, [rod], [cmb.Revolute(name, "ground", name)], source=f"\n {name}:\t#\r\n ")
    made = through_a_file(plant, tmp_path)
    assert (made.name, made.source, made.position_names) == (name, plant.source, (name,))


# -- files that are spoiled ------------------------------------------------------------------------------------------


def spoil(folder, monkeypatch, seeds):
    """How many can be read all the same; the others are told, with nothing run and no wait (see `mutations`)."""
    monkeypatch.chdir(folder)
    whole = [
        p.save("whole.yaml").read_text()
        for p in (furnished(), plants.excavator(), plants.delta(), plants.valve_train())
    ]
    read = 0
    for seed in seeds:
        Path("spoiled.yaml").write_bytes(mutations.yaml(whole[seed % len(whole)], seed))
        read += isinstance(mutations.answer(Mechanism.load, "spoiled.yaml"), Mechanism)
    return read


# Seeds that found something, each with what it was.
PINNED = {1398: "a word of 10,000 characters was in a message"}


def test_some_spoiled_files(tmp_path, monkeypatch):
    spoil(tmp_path, monkeypatch, [*range(60), *PINNED])


@pytest.mark.rotates
def test_spoiled_files_of_this_commit(tmp_path, monkeypatch):
    seeds = rotating(100)
    assert 0.05 < spoil(tmp_path, monkeypatch, seeds) / len(seeds) < 0.95


# -- shapes ------------------------------------------------------------------------------------------------------------


def shaped():
    ball = shapes.Ball((0, 0, 1 / 3), 0.1)
    looks = [
        shapes.Box((1, 2, 3), Frame.turned((1, 2, 3), 0.7, (0.1, 0.2, 1 / 3)), color="#ff0000"),
        shapes.Rod((0, 0, 0), (0, 0.1, 1 / 3), 0.05, rounded=True),
        ball,
        shapes.Plate([(0, 0), (1, 0), (1, 1 / 3), (0.5, 0.1), (0, 1)], 0.02, Frame((0, 0, 0.1))),
        shapes.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2), (0, 2, 1)], smooth=True),
        shapes.Mesh(*ball.triangles(), color="#00ff00"),  # a large one
    ]
    hinge, rod = cmb.Revolute("hinge", "ground", "arm"), Body.rod("arm", 1.0, 0.8, shapes=looks)
    base = Body("a base / with 'a name'", shapes=[shapes.Mesh(*ball.triangles())])
    return Mechanism("shaped", [rod, base], [hinge, cmb.Fixed("base", "ground", base.name)])


def test_shapes_are_kept_and_large_meshes_are_files_beside(tmp_path):
    plant = shaped()
    made = through_a_file(plant, tmp_path)
    assert [type(s) for s in made.bodies[0].shapes] == [type(s) for s in plant.bodies[0].shapes]
    for one, other in zip(plant.bodies[0].shapes, made.bodies[0].shapes, strict=True):
        assert one.color == other.color
        for x, y in zip(one.triangles(), other.triangles(), strict=True):
            assert np.array_equal(x, y)
    names = sorted(file.name for file in (tmp_path / "machine_meshes").iterdir())
    assert names == ["1_arm.obj", "2_a_base_with_a_name_.obj"]
    text = (tmp_path / "machine.yaml").read_text()
    assert "path: machine_meshes/1_arm.obj" in text and len(text) < 4000
    assert from_description(described(plant)).bodies[1].shapes[0].faces.shape == plant.bodies[1].shapes[0].faces.shape


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(CmbError, match="make the folder"):
        shaped().save(tmp_path / "none" / "machine.yaml")
    (tmp_path / "machine_meshes").write_text("a file in its place")
    with pytest.raises(CmbError, match="cannot be written"):
        shaped().save(tmp_path / "machine.yaml")


def test_shapes_by_hand(tmp_path):
    (tmp_path / "wedge.obj").write_text("v 0 0 0\nv 1000 0 0\nv 0 1000 0\nf 1 2 3\n")
    (tmp_path / "gate.yaml").write_text("""
format: cmbcontrol machine 1
name: gate
bodies:
  wing:
    type: Body.rod
    mass: 3
    length: 2
    shapes:
      - {type: Plate.bar, start: [0, 0], end: [2, 0], width: 0.2, thickness: 0.05, color: '#aabbcc'}
      - {type: Mesh.from_file, path: wedge.obj, scale: 0.001, frame: {p: [0, 0, 1]}}
      - {type: Box, size: [1, 1, 1], frame: {axis: [0, 0, 1], angle: 0.5}}
joints:
  hinge: {type: Revolute, parent: ground, child: wing}
""")
    bar, wedge, box = Mechanism.load(tmp_path / "gate.yaml").bodies[0].shapes
    assert bar.color == "#aabbcc" and wedge.vertices.max() == 1.0 and box.frame.R[0, 0] == pytest.approx(np.cos(0.5))


WRONG_SHAPES = [
    ("{type: Bocks, size: [1, 1, 1]}", "'Bocks'.*'Box'"),
    ("{size: [1, 1, 1]}", "shape 0 of body 'wing' needs a type: Ball, Box"),
    ("{type: Box}", "needs 'size'"),
    ("{type: Box, size: [1, 1, 1], colour: red}", "did you mean 'color'"),
    ("{type: Box, size: [1, 1, 1], color: red}", "'#RRGGBB'"),
    ("{type: Box, size: [1, 1]}", "size of a box"),
    ("{type: Rod, start: [0, 0, 0], end: [0, 0, 0], radius: 1}", "two different points"),
    ("{type: Plate, outline: [[0, 0], [1, 1], [1, 0], [0, 1]], thickness: 1}", "crosses or touches"),
    ("{type: Plate.bar, start: [0, 0], width: 1, thickness: 1}", "needs 'end'"),
    ("{type: Plate.bar, start: [0, 0], end: [1, 0], width: 1, thickness: 1, name: a}", "'name'"),
    ("{type: Mesh.from_file, path: none.stl}", "put the file there, or take the shape out"),
    ("{type: Mesh.from_file, path: ../none.stl}", "leads out of the folder"),
    ("{type: Mesh.from_file, path: /etc/passwd}", "leads out of the folder"),
    ("{type: Mesh.from_file, path: 3}", "name of a file"),
    ("{type: Mesh, vertices: [[0, 0, 0]], faces: [[0, 1, 2]]}", "face 0"),
    ("3", "mapping"),
]


@pytest.mark.parametrize(("shape", "words"), WRONG_SHAPES)
def test_wrong_shapes_are_told_with_their_line(shape, words, tmp_path):
    (tmp_path / "gate.yaml").write_text(f"""format: cmbcontrol machine 1
name: gate
bodies:
  wing:
    mass: 3
    shapes:
      - {shape}
joints:
  hinge: {{type: Revolute, parent: ground, child: wing}}
""")
    with pytest.raises(CmbError, match=r"(?s)gate.yaml, line 7: .*" + words):
        Mechanism.load(tmp_path / "gate.yaml")


def test_meshes_in_data_need_a_folder():
    data = described(shaped())
    data["bodies"]["arm"]["shapes"] = [{"type": "Mesh.from_file", "path": "a.stl"}]
    with pytest.raises(CmbError, match="no folder to take it from"):
        from_description(data)
    for wrong in (3, "box", {"type": "Box"}):
        data["bodies"]["arm"]["shapes"] = wrong
        with pytest.raises(CmbError, match="shapes of body 'arm'"):
            from_description(data)
