"""Rows of all parts: what they hold at zero, from the poses of their bodies."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import Body, Frame, Free, Mechanism
from cmbcontrol.errors import ModelError
from cmbcontrol.kernels import layout

RNG = np.random.default_rng(3)


def direction():
    x = RNG.standard_normal(3)
    return x / np.linalg.norm(x)


def frame():
    return Frame.turned(direction(), RNG.uniform(-3.0, 3.0), RNG.standard_normal(3))


def points():
    return {"point_a": RNG.standard_normal(3), "point_b": RNG.standard_normal(3)}


def joint(kind, **options):
    return kind("loop", "one", "two", frame=frame(), child_frame=frame(), **options)


PARTS = [
    joint(cmb.Revolute, axis=direction()),
    joint(cmb.Prismatic, axis=direction()),
    joint(cmb.Helical, axis=direction(), pitch=0.3),
    joint(cmb.Cylindrical, axis=direction()),
    joint(cmb.Planar, axis=direction()),
    joint(cmb.Spherical),
    joint(cmb.Universal, axis=(0.6, 0.8, 0.0), second_axis=(-0.8, 0.6, 0.0)),
    joint(cmb.Fixed),
    cmb.Point("loop", "one", "two", **points()),
    cmb.PointOnLine("loop", "one", "two", **points(), axis=direction()),
    cmb.PointOnPlane("loop", "one", "two", **points(), normal=direction()),
    cmb.Distance("loop", "one", "two", **points(), length=1.7),
    cmb.Weld("loop", "one", "two", frame(), frame()),
    cmb.DistanceMotion("loop", "one", "two", **points(), position=1.3, length=1.3),
    cmb.PointMotion("loop", "one", "two", **points()),
    cmb.PoseMotion("loop", "one", "two", frame(), frame()),
]


def residual(row, pose_a, pose_b):
    """Value of a row by its own text, from the poses of its bodies."""
    u, x, w = pose_a.R @ row.u, pose_a.R @ row.x, pose_b.R @ row.w
    apart = pose_b.p + pose_b.R @ row.pb - pose_a.p - pose_a.R @ row.pa
    if row.kind == layout.ROW_OFFSET:
        return apart @ u
    if row.kind == layout.ROW_ALIGN:
        return u @ w
    if row.kind == layout.ROW_DISTANCE:
        return (apart @ apart - row.value**2) / (2.0 * row.value)
    assert row.kind == layout.ROW_SCREW
    turns = (apart @ u / row.value - np.arctan2(np.cross(x, w) @ u, x @ w)) / (2.0 * np.pi)
    return 2.0 * np.pi * row.value * (turns - np.rint(turns))  # of all turns that nearest to the travel counts


@pytest.mark.parametrize("part", PARTS, ids=lambda part: type(part).__name__)
def test_rows_are_what_the_machine_holds(part):
    bodies = [Body(name, 1.0, inertia=(1.0, 1.0, 1.0)) for name in ("one", "two")]
    plant = Mechanism("pair", bodies, [Free("j1", "ground", "one"), Free("j2", "one", "two")], [part], precision=0.0)
    q = plant.neutral()
    for start in (0, 7):
        turn = RNG.standard_normal(4)
        q[start : start + 4], q[start + 4 : start + 7] = turn / np.linalg.norm(turn), RNG.standard_normal(3)
    rows = part.rows()
    expected = [residual(row, plant.pose(q, row.a), plant.pose(q, row.b)) for row in rows]
    targets = part.targets(part.value)[:, 0] if isinstance(part, cmb.model.elements.Motion) else 0.0
    np.testing.assert_allclose(plant.terms(q, np.zeros(plant.nv)).phi, np.array(expected) - targets, atol=1e-12)
    assert plant.row_names == tuple(f"loop_{row.label}" for row in rows)
    assert plant.row_units == tuple(row.unit for row in rows)
    assert part.ends == ("one", "two") and part.coordinates == ()


def test_rows_of_coordinates():
    gear = cmb.Coupling("gear", {"motor": 1.0, "arm": -50.0}, 0.2)
    (row,) = gear.rows()
    assert row.coefficients == gear.coefficients and row.value == 0.2 and gear.ends == ()
    assert gear.coordinates == ("motor", "arm")
    assert cmb.Cam("cam", "valve", "shaft", np.cos).coordinates == ("valve", "shaft")
    assert cmb.JointMotion("drive", "shaft").rows()[0].coefficients == {"shaft": 1.0}


def test_a_free_joint_holds_nothing():
    with pytest.raises(ModelError, match="a cut Free joint holds nothing"):
        joint(Free).rows()
