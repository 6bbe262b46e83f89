"""Machines whose joints form loops: the same machine, wherever it is cut."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import cmbcontrol as cmb
from cmbcontrol import Actuator, Body, Frame, JointSpring, Mechanism, Prismatic, Revolute
from cmbcontrol.errors import InputError, InputTypeError, ModelError
from cmbcontrol.model.cutting import cut_loops
from cmbcontrol.model.elements import Cylindrical, Fixed, Free, Helical, Planar, Spherical, Universal


def rods(count):
    return [Body.rod(f"rod{i}", mass=1.0 + i, length=1.0) for i in range(count)]


def ring(count, **options):
    """Joints of a polygon of rods of length one, all angles at the pins open: zero is no closed configuration."""
    ends = ["ground", *(f"rod{i}" for i in range(count)), "ground"]
    pins = []
    for i in range(count + 1):
        frame, far = Frame((0.0, 0.0, 0.0) if i == 0 else (1.0, 0.0, 0.0)), Frame((1.7, 0.0, 0.0))
        far = far if i == count else Frame()
        pins.append(Revolute(f"pin{i}", ends[i], ends[i + 1], frame=frame, child_frame=far, **options))
    return pins


def placed(rng, count, planar=False):
    """Frames of bodies in the world, at random."""
    frames = [Frame()]
    for _ in range(count):
        turn = Rotation.from_rotvec((0, 0, rng.normal()) if planar else rng.normal(size=3)).as_matrix()
        frames.append(Frame((*rng.normal(size=2), 0.0 if planar else rng.normal()), turn))
    return frames


def random_graph(rng, bodies=6, more=3):
    """A machine with loops, closed where all joints are at zero: joints at random points between placed bodies."""
    names, frames = ["ground", *(f"body{i}" for i in range(bodies))], placed(rng, bodies)
    parts = []
    for name in names[1:]:
        a = rng.normal(size=(3, 3))
        parts.append(
            Body(name, rng.uniform(0.5, 3.0), rng.normal(size=3), a @ a.T + 3.0 * np.trace(a @ a.T) * np.eye(3))
        )
    pairs = [(int(rng.integers(i)), i) for i in range(1, bodies + 1)]
    while len(pairs) < bodies + more:
        i, k = rng.choice(bodies + 1, 2, replace=False)
        pairs.append((int(i), int(k)))
    joints = []
    for n, (i, k) in enumerate(pairs):
        point = Frame(rng.normal(size=3), Rotation.from_rotvec(rng.normal(size=3)).as_matrix())
        kind = rng.choice([Revolute, Prismatic, Spherical, Cylindrical, Universal, Helical, Planar])
        options = {"pitch": 0.3} if kind is Helical else {}
        i, k = (i, k) if rng.random() < 0.5 else (k, i)
        frame, far = (frames[end].inverse() @ point for end in (i, k))
        joints.append(kind(f"joint{n}", names[i], names[k], frame=frame, child_frame=far, **options))
    order = rng.permutation(len(joints))
    return parts, [joints[n] for n in order]


def accelerations(plant):
    """Of all bodies from rest where all joints are at zero: of their centres, and angular (m/s2, rad/s2), world axes.

    By the poses a little later: x(t) = x0 + a t2 / 2, so the judge needs no coordinates.
    """
    q, v = plant.neutral(), np.zeros(plant.nv)
    a = cmb.forward_dynamics(plant, q, v)
    found, step = [], 1e-3
    late, early = (plant.integrate(q, s * a) for s in (step, -step))
    for body in plant.bodies:
        there, back = (plant.pose(x, body.name) for x in (late, early))
        found.append((there.p - back.p) / (2 * step))
        found.append((Rotation.from_matrix(there.R @ back.R.T).as_rotvec()) / (2 * step))
    return np.array(found)


@pytest.mark.first(3)
@pytest.mark.parametrize("seed", range(12))
def test_the_machine_is_the_same_wherever_it_is_cut(seed):
    rng = np.random.default_rng(seed)
    bodies, joints = random_graph(rng)
    plant = Mechanism.from_graph("graph", bodies, joints)
    assert np.abs(plant.residual(plant.neutral())).max() < 1e-12
    want = accelerations(plant)
    for _ in range(3):
        tree, todo = set(), list(rng.permutation(len(joints)))
        known = {"ground"}
        while len(known) <= len(bodies):  # a random spanning tree
            for n in todo:
                ends = {joints[n].parent, joints[n].child}
                if len(ends & known) == 1:
                    tree.add(joints[n].name)
                    known |= ends
                    break
        cuts = [joint.name for joint in joints if joint.name not in tree]
        other = Mechanism.from_graph("graph", bodies, joints, cuts=cuts, precision=0.0)  # numbers agree: seen once
        assert {joint.name for joint in other.loops} == set(cuts)
        assert np.abs(accelerations(other) - want).max() < 1e-5 * max(1.0, np.abs(want).max())


def test_motors_and_springs_stay_in_the_tree():
    pins = ring(3)
    made = cut_loops(rods(3), pins, actuators=[Actuator("pin2")], springs=[JointSpring("spring", "pin1", 10.0)])
    assert made.loops[0].name in ("pin0", "pin3")
    limited = [*pins[:3], Revolute("pin3", "ground", "rod2", frame=Frame((1.7, 0, 0)), limits=(-1, 1))]
    made = cut_loops(rods(3), limited, actuators=[Actuator("pin2"), Actuator("pin1")])
    assert [joint.name for joint in made.loops] == ["pin0"]


def test_a_joint_of_more_freedom_is_cut():
    """Rows are fewer: 3 instead of 5, and 3 coordinates less."""
    joints = [*ring(3)[:3], Spherical("ball", "rod2", "ground", frame=Frame((1, 0, 0)), child_frame=Frame((1.7, 0, 0)))]
    plant = Mechanism.from_graph("ring", rods(3), joints)
    assert [joint.name for joint in plant.loops] == ["ball"] and len(plant.row_names) == 3


def ladder(count):
    bodies, joints = [], []
    for side in "ab":
        bodies += [Body.rod(f"{side}{i}", mass=1.0, length=1.0) for i in range(count)]
        ends = ["ground", *(f"{side}{i}" for i in range(count))]
        joints += [Revolute(f"{side}{i}", ends[i], ends[i + 1], frame=Frame((1, 0, 0))) for i in range(count)]
    return bodies, [*joints, *(Revolute(f"rung{i}", f"a{i}", f"b{i}") for i in range(count))]


def test_large_machines_are_cut_too():
    """With fewer looks at other trees: there are as many cuts as loops, and a tree in the order of the joints."""
    made = cut_loops(*ladder(150))
    assert len(made.joints) == 300 and len(made.loops) == 150
    known = {"ground"}
    for joint in made.joints:
        assert joint.parent in known and joint.child not in known
        known.add(joint.child)


def test_loops_are_short():
    """A ladder of six loops: none is longer than it must be, though the rungs alone would make long ones."""
    made = cut_loops(*ladder(6))
    lengths = [word.count("'") // 2 - 1 for word in made.words if "is cut" in word]
    assert sorted(lengths) == [3, 4, 4, 4, 4, 4]  # the least that there is


def test_it_says_what_it_does():
    pins = ring(3)
    pins[1] = pins[1].reversed()
    made = cut_loops(rods(3), pins, cuts=["pin3"])
    assert str(made).splitlines() == [
        "'pin1' is turned round, and leads from 'rod0' to 'rod1': its coordinates are the same",
        "'pin3' is cut: the loop 'pin0', 'pin1', 'pin2', 'pin3' is closed by its constraint rows",
    ]
    assert str(cut_loops(rods(3), pins[:3])) == (
        "'pin1' is turned round, and leads from 'rod0' to 'rod1': its coordinates are the same"
    )
    assert str(cut_loops(rods(1), pins[:1])) == "the joints are a tree: nothing is cut"


@pytest.mark.parametrize(
    "joint",
    [
        Revolute(
            "j", "a", "b", axis=(1, 2, 3), frame=Frame.turned((1, 0, 0), 0.3, (1, 2, 3)), damping=2.0, limits=(-1, 2)
        ),
        Prismatic("j", "a", "b", axis=(1, 2, 3), child_frame=Frame.turned((0, 1, 0), 0.3, (1, 2, 3)), armature=2.0),
        Helical("j", "a", "b", pitch=0.3, child_frame=Frame((1, 2, 3))),
        Cylindrical("j", "a", "b", axis=(1, 2, 3), damping=(1, 2), limits={"travel": (0, 1)}),
        Universal("j", "a", "b", damping=(1, 2), limits={"2": (0, 1)}, frame=Frame.turned((1, 1, 0), 0.3)),
        Fixed("j", "a", "b", frame=Frame.turned((1, 1, 0), 0.3)),
    ],
)
def test_joints_turned_round(joint):
    """The pose of b in a is the inverse of the pose of a in b at the same coordinates, up to the order of two."""
    a, b = (Body(name, 1.0, inertia=(1, 1, 1)) for name in "ab")
    turned = joint.reversed()
    one = Mechanism("one", [a, b], [Fixed("base", "ground", "a"), joint])
    other = Mechanism("other", [a, b], [Fixed("base", "ground", "b"), turned])
    q = np.random.default_rng(1).normal(size=one.nq)
    there = other.pose(q[::-1] if isinstance(joint, Universal) else q, "a")
    here = one.pose(q, "b").inverse()
    np.testing.assert_allclose(there.p, here.p, atol=1e-14)
    np.testing.assert_allclose(there.R, here.R, atol=1e-14)
    back = turned.reversed()
    assert back.position_names == joint.position_names and np.array_equal(back.limits, joint.limits)
    assert np.array_equal(back.damping, joint.damping) and np.array_equal(back.armature, joint.armature)


def test_joints_that_cannot_be_turned_round():
    for joint in (
        Planar("j", "a", "b", damping=(1, 2, 3)),
        Planar("j", "a", "b", limits={"x": (0, 1)}),
        Free("j", "a", "b", limits={"z": (0, 1)}),
    ):
        with pytest.raises(ModelError, match="write it from 'b' to 'a'"):
            joint.reversed()
    assert Spherical("j", "a", "b", damping=2.0).reversed().damping.tolist() == [2.0] * 3


def test_what_is_refused():
    pins = ring(3)
    with pytest.raises(ModelError, match="no joint connects 'rod2' with the ground; give a joint, or Free"):
        cut_loops(rods(3), pins[:2])
    with pytest.raises(ModelError, match="'pin0', 'pin1', 'pin2', 'pin3' still form a loop: cut 1 joint more"):
        cut_loops(rods(3), pins, cuts=[])
    with pytest.raises(
        ModelError, match="where 'pin1', 'pin2' are cut, no joint of the tree carries 'rod1'; cut fewer"
    ):
        cut_loops(rods(3), pins, cuts=["pin1", "pin2"])
    with pytest.raises(InputError, match="no joint to cut 'pin9'"):
        cut_loops(rods(3), pins, cuts=["pin9"])
    with pytest.raises(ModelError, match="joint 'pin0': there is no body 'rood'"):
        cut_loops(rods(3), [Revolute("pin0", "ground", "rood")])
    with pytest.raises(InputTypeError, match="is not a joint"):
        cut_loops(rods(1), [rods(1)[0]])


def test_conditions_decide_between_equal_cuts():
    """A loop of bars of which two are nearly in line where it is drawn: to cut there makes poor rows."""
    bodies, joints = random_graph(np.random.default_rng(3), bodies=3, more=1)
    joints = [Revolute(j.name, j.parent, j.child, frame=j.frame, child_frame=j.child_frame) for j in joints]

    def condition(cut):
        plant = Mechanism.from_graph("x", bodies, joints, cuts=[cut])
        A = plant.jacobian(plant.neutral()) * plant.row_scale[:, None] / plant.unit_lengths
        return np.linalg.cond(A)

    made = cut_loops(bodies, joints)
    chosen = made.loops[0].name
    loop = [joint.name for joint in joints if repr(joint.name) in str(made).splitlines()[-1]]
    conditions = {name: condition(name) for name in loop}
    assert conditions[chosen] <= 1.2 * min(conditions.values())


def test_bodies_without_mass_are_no_ends_of_branches():
    """A universal joint as two hinges and a body without mass: either of them stays, whatever is fixed to the body."""
    cross, pins = Body("cross"), ring(3)
    bodies = [*rods(2), Body("rod2", 3.0, (0.5, 0, 0), (0.1, 0.2, 0.2)), cross]
    hinges = [
        Revolute("pin2", "rod1", "cross", frame=Frame((1, 0, 0))),
        Revolute("tilt", "cross", "rod2", axis=(1, 0, 0)),
    ]
    plant = Mechanism.from_graph("ring", bodies, [pins[0], pins[1], *hinges, pins[3]])
    assert plant.loops[0].name in ("pin0", "pin1", "pin3")
    plate = Fixed("weld", "rod2", "cross")  # now it is part of a body that has mass
    made = cut_loops(bodies, [pins[0], pins[1], hinges[0], plate, pins[3]])
    assert "weld" not in [joint.name for joint in made.loops]
