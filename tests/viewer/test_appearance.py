"""Machines and motions as pages hold them."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from cmbcontrol import FunctionPlant, Mechanism, plants
from cmbcontrol.scene import scene
from cmbcontrol.viewer.appearance import look_of, motion_of, poses_of, quaternions, traces_of
from cmbcontrol.viewer.payload import pack, unpack

from .runs import tracked


def five_bar():
    plant = plants.five_bar()
    return plant, scene(plant), plant.assemble(left=2.1, right=1.0)


def motion(seen, configurations):
    times = np.arange(float(len(configurations)))
    return unpack(pack(motion_of(seen, times, configurations, poses_of(seen, configurations))))


def test_solids_are_those_of_the_scene():
    plant, seen, _ = five_bar()
    look = unpack(pack(look_of(seen)))
    assert look["bodies"] == ["ground", *(b.name for b in plant.bodies)] and look["plane"] == [0, 1]
    assert look["up"] == [0.0, 1.0, 0.0] and look["size"] == seen.size
    assert len(look["solids"]) == len(seen.solids)
    for told, solid in zip(look["solids"], seen.solids, strict=True):
        assert look["bodies"][told["body"]] == solid.body
        assert np.allclose(told["vertices"], solid.vertices, rtol=1e-6)
        assert told["faces"].max() < len(solid.vertices) and len(told["faces"]) % 3 == 0


@pytest.mark.parametrize(
    "gravity", [(0, -9.81, 0), (-9.81, 0, 0), (0, 0, -9.81), (3, -8, 4), (0, 0, 0), (0, 1e-9, -9.81)]
)
def test_planar_machines_are_seen_face_on_whatever_gravity_does(gravity):
    plant = plants.five_bar()
    plant = Mechanism("turned", plant.bodies, plant.joints, plant.loops, gravity=gravity)
    look = look_of(scene(plant))
    up, normal = np.array(look["up"]), np.array([0.0, 0.0, 1.0])
    assert look["plane"] == [0, 1] and abs(up @ normal) < 1e-12 and abs(up @ up - 1.0) < 1e-12
    within = np.array(gravity) * [1, 1, 0]
    wanted = -within if np.abs(within).max() > 1e-3 else np.array([0.0, 1.0, 0.0])
    assert up @ wanted > (1.0 - 1e-12) * np.linalg.norm(wanted)


def test_poses_are_those_of_the_plant():
    plant, seen, q = five_bar()
    told = motion(seen, [q, plant.assemble(left=2.2, right=1.0)])
    frame = plant.pose(q, "left_upper")
    k = seen.bodies.index("left_upper")
    assert np.abs(told["positions"][0, k] - frame.p).max() < 2e-5 * seen.size
    assert np.abs(Rotation.from_quat(told["rotations"][0, k]).as_matrix() - frame.R).max() < 1e-4


def test_up_without_gravity():
    plant = plants.three_rrr()
    look = look_of(scene(plant))
    assert np.linalg.norm(look["up"]) == 1.0


def test_quaternions_do_not_change_sign():
    turns = Rotation.from_rotvec(np.linspace(0.0, 4.0 * np.pi, 200)[:, None] * [0.0, 0.0, 1.0]).as_matrix()[:, None]
    found = quaternions(turns)
    assert np.abs(np.diff(found, axis=0)).max() < 0.04
    assert np.abs(Rotation.from_quat(found[:, 0]).as_matrix() - turns[:, 0]).max() < 1e-12


def drawn(sketch):
    return FunctionPlant(
        "bead", ("x",), M=lambda q: np.eye(1), h=lambda q, v: np.zeros(1), Phi=lambda q: np.zeros(0),
        A=lambda q: np.zeros((0, 1)), Adot_v=lambda q, v: np.zeros(0), rows=(), sketch=sketch, actuators=(),
    )  # fmt: skip


def test_lines_that_come_and_go():
    """A plant given by functions may draw more lines and more points at one configuration than at another."""

    def sketch(q):
        lines = [np.array([[0.0, 0.0], [q[0], 1.0]])]
        return lines if q[0] < 0.5 else [np.array([[0.0, 0.0], [q[0], 1.0], [2.0, 2.0]]), *lines]

    seen = scene(drawn(sketch))
    told = motion(seen, [np.array([0.0]), np.array([1.0])])
    first, second = (line["points"] for line in told["lines"])
    assert first[0].tolist() == [[0, 0, 0], [0, 1, 0], [0, 1, 0]] and first[1].tolist() == [
        [0, 0, 0],
        [1, 1, 0],
        [2, 2, 0],
    ]
    assert np.isnan(second[0]).all() and second[1].tolist() == [[0, 0, 0], [1, 1, 0]]


def test_traces():
    def names(run, trace=None):
        seen = scene(run.plant)
        return [t["name"] for t in traces_of(seen, poses_of(seen, run.q.values), "#000000", trace)]

    assert names(tracked("five-bar", 0.1)) == ["tip"]
    assert names(tracked("delta", 0.2)) == ["platform"] and names(tracked("excavator", 0.5)) == ["bucket"]
    stewart = tracked("stewart", 0.5)
    assert names(stewart, [("upper1", (0, 0, 1))]) == ["upper1"] and names(stewart, []) == []
    seen = scene(drawn(lambda q: [np.zeros((2, 2))]))
    assert traces_of(seen, poses_of(seen, [np.zeros(1)]), "#000000") == []
