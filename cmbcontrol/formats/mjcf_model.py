"""Conversion of a compiled model of MuJoCo into a machine.

MuJoCo applies the joints of a body in their order, each about its own anchor p and axis a, given in the body's axes at
the reference: T <- T Trans(p) Rot(a, q - ref) Trans(-p). So each but the last carries a body of its own here, without
mass. Connects and welds are compiled into points and frames on both bodies; joints' equalities are polynomials of
displacements from the reference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..characteristics import FormulaForce, Friction, Rope
from ..errors import InputError
from ..model.elements import (
    GROUND,
    Actuator,
    Ball,
    Body,
    Box,
    Cam,
    Constraint,
    CoordinateConstraint,
    Coupling,
    Cylindrical,
    Distance,
    Fixed,
    ForceElement,
    Frame,
    Free,
    Helical,
    Joint,
    JointForce,
    JointSpring,
    Load,
    Mesh,
    Planar,
    Point,
    PointForce,
    PointOnLine,
    PointOnPlane,
    PointSpring,
    Prismatic,
    Revolute,
    Rod,
    Shape,
    Spherical,
    Universal,
    Weld,
    rotation_to,
)
from ..model.mechanism import Mechanism
from ..trace.expression import Expression
from .conversion import Remarks, Servo, built
from .mjcf_document import SHOWN, STAND_IN
from .visuals import color_of, ellipsoid

__all__ = ["UNLIMITED", "machine_of"]

Array = NDArray[np.float64]

UNLIMITED = 1e10  # MuJoCo takes what is larger for an error in a state: no limit is beyond
_GREY = np.array([0.5, 0.5, 0.5, 1.0], dtype=np.float32)  # what has no color of its own
SAME = 1e-9  # axes and lengths nearer than this, relative, are the same: what MuJoCo's and our normalisation leave


def machine_of(
    model: Any, name: str, source: str, remarks: Remarks, meshes: Mapping[str, Mesh]
) -> tuple[Mechanism, tuple[Servo, ...]]:
    """Machine of a compiled model, and the servos of its motors.

    Parameters
    ----------
    model : mujoco.MjModel
    name, source : str
        Name of the machine, and its source.
    remarks : Remarks
        Collector, to which remarks are added.
    meshes : mapping of str to Mesh
        Meshes of the geoms of these names.
    """
    reader = _Reader(model, remarks, meshes)
    reader.read()
    made = built(
        remarks,
        reader.names.made("mechanism", "model", name),
        reader.bodies,
        reader.joints,
        reader.loops,
        reader.springs,
        reader.actuators,
        reader.gravity,
        source,
        loads=reader.loads,
        forces=reader.forces,
        configurations=reader.configurations(),
    )
    return (made.without(*reader.inactive) if reader.inactive else made), tuple(reader.servos)


class _Names:
    """Table of names that are allowed and distinct within a kind of parts."""

    def __init__(self, remarks: Remarks) -> None:
        self.remarks = remarks
        self.taken: dict[str, set[str]] = {"body": {GROUND}}
        self.last: dict[tuple[str, str], int] = {}  # the number that a name has been given behind it

    def made(
        self,
        kind: str,
        word: str,
        given: str | None,
        otherwise: str = "",
        with_it: Callable[[str], Iterable[str]] = lambda name: (),
    ) -> str:
        """Name for a part; `with_it` gives the names of its coordinates, which are of the same kind."""
        wanted = (given or otherwise).replace(".", "_").replace(",", "_")
        wanted = wanted if wanted.strip() else "unnamed"
        taken = self.taken.setdefault(kind, set())
        name, k = wanted, self.last.get((kind, wanted), 1)
        while not taken.isdisjoint({name, *with_it(name)}):
            k += 1
            name = f"{wanted}_{k}"
        self.last[kind, wanted] = k
        taken.update({name, *with_it(name)})
        if not given:
            self.remarks.assumed(f"{word} {name!r}", "has no name in the file")
        elif name != given:
            self.remarks.changed(f"{word} {given!r}", f"is called {name!r} here")
        return name


@dataclass
class _Piece:
    """One joint of MuJoCo."""

    index: int
    kind: str
    name: str
    axis: Array
    anchor: Array
    ref: float
    limits: tuple[float, float] | None
    damping: float
    armature: float
    bare: bool  # nothing but damping acts on its coordinate
    several: int  # joints from here on that are one joint of ours, as our own files tell


@dataclass
class _Group:
    """Joints of MuJoCo that become one joint of the machine."""

    name: str
    pieces: list[_Piece]
    make: Callable[..., Joint]  # (name, parent, child, frame=, **options)


class _Reader:
    def __init__(self, model: Any, remarks: Remarks, meshes: Mapping[str, Mesh]) -> None:
        import mujoco

        self.meshes = meshes
        kinds = ("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf")
        self.kind_of_geom = {int(getattr(mujoco.mjtGeom, f"mjGEOM_{kind.upper()}")): kind for kind in kinds}
        self.m, self.mujoco, self.remarks, self.names = model, mujoco, remarks, _Names(remarks)
        trn = mujoco.mjtTrn
        self.on_joints = int(trn.mjTRN_JOINT), int(trn.mjTRN_JOINTINPARENT)
        self.joint_equality, self.sum_part = int(mujoco.mjtEq.mjEQ_JOINT), int(mujoco.mjtWrap.mjWRAP_JOINT)
        self.bodies: list[Body] = []
        self.joints: list[Joint] = []
        self.loops: list[Joint | Constraint | CoordinateConstraint] = []
        self.springs: list[JointSpring | PointSpring] = []
        self.actuators: list[Actuator] = []
        self.loads: list[Load] = []
        self.forces: list[ForceElement] = []
        self.servos: list[Servo] = []
        self.inactive: list[str] = []
        self.body: dict[int, str] = {0: GROUND}
        self.coordinate: dict[int, str] = {}  # of joints of one axis
        self.balls: dict[int, str] = {}  # and of those with quaternions
        self.screws: dict[int, tuple[int, float]] = {}  # slide -> hinge, pitch
        self.used_sites: set[int] = set()

    # -- small things ------------------------------------------------------------------------------

    def _given(self, kind: str, index: int) -> str:
        return self.mujoco.mj_id2name(self.m, getattr(self.mujoco.mjtObj, f"mjOBJ_{kind}"), index) or ""

    def _rotation(self, quat: Array) -> Array:
        """Rotation matrix of a quaternion, whose length is one to rounding."""
        w, *v = np.asarray(quat, dtype=np.float64) / np.linalg.norm(quat)
        x, y, z = v
        K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        return np.eye(3) + 2.0 * (w * K + K @ K)

    def _off(self, flag: str) -> bool:
        return bool(self.m.opt.disableflags & getattr(self.mujoco.mjtDisableBit, f"mjDSBL_{flag}"))

    @property
    def gravity(self) -> Array:
        return np.zeros(3) if self._off("GRAVITY") else np.array(self.m.opt.gravity, dtype=np.float64)

    def read(self) -> None:
        m = self.m
        for b in range(1, m.nbody):
            self.body[b] = self.names.made("body", "body", self._given("BODY", b), f"body_{b}")
        self._name_joints()
        self._find_screws()
        for b in range(1, m.nbody):
            self._read_body(b)
        if looks := self._shapes(0):
            name = self.names.made("body", "body", "world_shapes")
            self.bodies.append(Body(name, shapes=looks))
            self.joints.append(Fixed(self._fixed_name(name), GROUND, name))
            self.remarks.changed("geoms of the world", f"are shapes of {name!r}, a body without mass on the ground")
        if not self._off("CONSTRAINT"):
            for e in range(m.neq):
                self._read_equality(e)
        elif m.neq:
            self.remarks.left_out("equalities", "the file switches constraints off")
        self._join_points()
        for t in range(m.ntendon):
            self._tendon_forces(t)
        for a in range(len(m.actuator_trntype)):
            self._read_actuator(a)
        self._read_sites()
        self._say_what_is_left_out()

    def _say_what_is_left_out(self) -> None:
        m, opt = self.m, self.m.opt
        if np.any(m.geom_contype) or np.any(m.geom_conaffinity):
            self.remarks.left_out("geoms", "contacts are not kept; their shapes and masses are")
        if m.neq:
            self.remarks.changed("equalities", "solref and solimp make them soft in MuJoCo; constraints are exact here")
        if opt.density or opt.viscosity:
            self.remarks.left_out("the medium", "forces of air and water are not kept")

    # -- joints ------------------------------------------------------------------------------------

    def _name_joints(self) -> None:
        m = self.m
        self.pieces: dict[int, _Piece] = {}
        kinds = {
            int(getattr(self.mujoco.mjtJoint, f"mjJNT_{k.upper()}")): k for k in ("free", "ball", "slide", "hinge")
        }
        self._find_used_joints()
        for j in range(m.njnt):
            kind, b, dof = kinds[int(m.jnt_type[j])], int(m.jnt_bodyid[j]), int(m.jnt_dofadr[j])
            plain = kind in ("hinge", "slide")
            suffixes: tuple[str, ...] = ()
            if not plain:
                suffixes = Free.position_suffixes + Free.velocity_suffixes
                suffixes = suffixes if kind == "free" else Spherical.position_suffixes + Spherical.velocity_suffixes
            otherwise = self.body[b] if m.body_jntnum[b] == 1 else f"{self.body[b]}_{j - int(m.body_jntadr[b]) + 1}"
            name = self.names.made(
                "joint", "joint", self._given("JOINT", j), otherwise,
                lambda name, suffixes=suffixes: [f"{name}_{s}" for s in suffixes],
            )  # fmt: skip
            (self.coordinate if plain else self.balls)[j] = name
            friction, armature, damping = (x[dof] for x in (m.dof_frictionloss, m.dof_armature, m.dof_damping))
            rough = j in self.coupled or friction or np.any(m.jnt_stiffnesspoly[j]) or np.any(m.dof_dampingpoly[dof])
            self.pieces[j] = _Piece(
                j, kind, name, np.array(m.jnt_axis[j]), np.array(m.jnt_pos[j]),
                float(m.qpos0[m.jnt_qposadr[j]]) if plain else 0.0, self._limits(j, kind, name),
                0.0 if self._off("DAMPER") else float(damping), float(armature),
                not (rough or j in self.driven or m.jnt_stiffness[j]),
                int(m.jnt_user[j][0]) if m.nuser_jnt else 0,
            )  # fmt: skip
        self._add_rotors()

    def _find_used_joints(self) -> None:
        """Find the joints that equalities and tendons refer to (with repetitions), and those that actuators drive."""
        m = self.m
        ends = zip(m.eq_type, m.eq_obj1id, m.eq_obj2id, strict=True)
        self.coupled = [int(j) for kind, *both in ends if int(kind) == self.joint_equality for j in both]
        parts = zip(m.wrap_objid, m.wrap_type, strict=True)
        self.coupled += [int(j) for j, kind in parts if int(kind) == self.sum_part]
        driven = zip(m.actuator_trnid, m.actuator_trntype, strict=True)
        self.driven = [int(x[0]) for x, kind in driven if int(kind) in self.on_joints]

    def _add_rotors(self) -> None:
        """Add armature and damping of actuators to the joints that they drive, times the square of their gear."""
        m = self.m
        for a in range(len(m.actuator_trntype)):
            if int(m.actuator_trntype[a]) not in self.on_joints:
                continue
            j, ratio = int(m.actuator_trnid[a][0]), float(m.actuator_gear[a][0]) ** 2
            if m.actuator_armature[a] or m.actuator_damping[a]:
                if j in self.balls:
                    self.remarks.left_out(f"actuator {self._given('ACTUATOR', a)!r}", "its armature and damping")
                    continue
                self.pieces[j].armature += ratio * float(m.actuator_armature[a])
                self.pieces[j].damping += ratio * float(m.actuator_damping[a])
            if np.any(m.actuator_dampingpoly[a]):
                self.remarks.left_out(f"actuator {self._given('ACTUATOR', a)!r}", "damping that is not linear")

    def _limits(self, j: int, kind: str, name: str) -> tuple[float, float] | None:
        m = self.m
        if not m.jnt_limited[j] or self._off("LIMIT") or self._off("CONSTRAINT"):
            return None
        if kind == "ball":
            self.remarks.left_out(f"the range of joint {name!r}", "ball joints have no limits")
            return None
        low, high = (float(x) if abs(x) < UNLIMITED else float(np.sign(x) * np.inf) for x in m.jnt_range[j])
        return low, high

    def _find_screws(self) -> None:
        """Find screws: slides that follow the hinge before them in proportion, with names as in our own files."""
        m = self.m
        for e in range(m.neq):
            slide, hinge, c = int(m.eq_obj1id[e]), int(m.eq_obj2id[e]), m.eq_data[e]
            if int(m.eq_type[e]) != self.joint_equality or hinge != slide - 1 or hinge < 0:
                continue
            a, b = self.pieces[hinge], self.pieces[slide]
            told = a.several == 2 and b.name == f"{a.name}_travel" and m.jnt_bodyid[hinge] == m.jnt_bodyid[slide]
            linear = bool(m.eq_active0[e] and c[1] and not c[0] and not any(c[2:5])) and not self._off("EQUALITY")
            bare = not (b.damping or b.armature or b.limits or b.ref or a.ref or self._acted_on(slide))
            one = max(np.abs(a.axis - b.axis).max(), np.abs(a.anchor - b.anchor).max()) < SAME
            if told and linear and bare and one and (a.kind, b.kind) == ("hinge", "slide"):
                self.screws[slide] = hinge, float(c[1])

    def _acted_on(self, j: int) -> bool:
        """Whether more than one equality, an actuator or a force acts on a joint."""
        m, dof = self.m, int(self.m.jnt_dofadr[j])
        forces = (m.jnt_stiffness[j], m.dof_frictionloss[dof], *m.jnt_stiffnesspoly[j], *m.dof_dampingpoly[dof])
        return j in self.driven or self.coupled.count(j) > 1 or any(forces)

    def _groups(self, pieces: list[_Piece]) -> list[_Group]:
        """Joints of a body, where those written for one joint of several axes become one again."""
        found, at = [], 0
        while at < len(pieces):
            size = pieces[at].several
            group = self._several(pieces[at : at + size]) if 1 < size <= len(pieces) - at else None
            group = group or self._single(pieces[at])
            found.append(group)
            at += len(group.pieces)
        return found

    def _single(self, piece: _Piece) -> _Group:
        def make(name: str, parent: str, child: str, frame: Frame, **options: Any) -> Joint:
            at = Frame(piece.anchor)
            match piece.kind:
                case "hinge":
                    start = Frame.turned(piece.axis, -piece.ref, piece.anchor) if piece.ref else at
                    return Revolute(
                        name, parent, child, frame=frame @ start, child_frame=at, axis=piece.axis, **options
                    )
                case "slide":
                    start = Frame(-piece.ref * piece.axis)
                    return Prismatic(name, parent, child, frame=frame @ start, axis=piece.axis, **options)
                case "ball":
                    return Spherical(name, parent, child, frame=frame @ at, child_frame=at, **options)
            return Free(name, parent, child, **options)  # its coordinates are in the world

        return _Group(piece.name, [piece], make)

    def _several(self, pieces: list[_Piece]) -> _Group | None:
        """Group of joints that are one joint here, if names and axes are as our files write them; else None."""
        kinds, names = tuple(p.kind for p in pieces), [p.name for p in pieces]
        if any(p.ref for p in pieces) or max(float(np.abs(p.anchor - pieces[0].anchor).max()) for p in pieces) > SAME:
            return None
        at = Frame(pieces[0].anchor)
        axes = [p.axis for p in pieces]
        last = pieces[-1]
        if len(pieces) == 2 and last.index in self.screws and self.screws[last.index][0] == pieces[0].index:
            more = {"axis": axes[0], "pitch": self.screws[last.index][1], "child_frame": at}
            return _Group(names[0], pieces, _maker(Helical, at, more))
        stem = names[0].rpartition("_")[0]
        if not stem or any(p.kind in ("ball", "free") for p in pieces[:-1]):
            return None
        if kinds == ("hinge", "hinge") and names == [f"{stem}_1", f"{stem}_2"] and abs(axes[0] @ axes[1]) < SAME:
            more = {"axis": axes[0], "second_axis": axes[1], "child_frame": at}
            return _Group(stem, pieces, _maker(Universal, at, more))
        if kinds == ("hinge", "slide") and names == [f"{stem}_angle", f"{stem}_travel"]:
            if np.abs(axes[0] - axes[1]).max() < SAME:
                return _Group(stem, pieces, _maker(Cylindrical, at, {"axis": axes[0], "child_frame": at}))
            return None
        if not all(p.bare for p in pieces) or any(p.armature for p in pieces):
            return None
        if len({p.damping for p in pieces[:-1]}) > 1:
            return None
        if kinds == ("slide", "slide", "hinge") and names == [f"{stem}_x", f"{stem}_y", f"{stem}_angle"]:
            R = np.column_stack(axes)
            if np.abs(R.T @ R - np.eye(3)).max() < SAME and np.linalg.det(R) > 0.0:
                turned = Frame(at.p, R)
                return _Group(stem, pieces, _maker(Planar, turned, {"child_frame": turned}))
        if kinds == ("slide",) * 3 + ("ball",) and names == [*(f"{stem}_{x}" for x in "xyz"), stem]:
            straight = np.array_equal(np.column_stack(axes[:3]), np.eye(3))
            if straight and not any(p.limits for p in pieces):
                return _Group(stem, pieces, _maker(Free, at, {"child_frame": at}))
        return None

    def _read_body(self, b: int) -> None:
        m, name = self.m, self.body[b]
        R = self._rotation(m.body_iquat[b])
        inertia = R @ np.diag(m.body_inertia[b]) @ R.T
        mass, com = float(m.body_mass[b]), np.array(m.body_ipos[b])
        self.bodies.append(Body(name, mass, com, 0.5 * (inertia + inertia.T), self._shapes(b)))
        parent, place = self.body[int(m.body_parentid[b])], Frame(m.body_pos[b], self._rotation(m.body_quat[b]))
        if m.body_mocapid[b] >= 0:
            self.remarks.changed(f"body {name!r}", "is moved by a motion capture in MuJoCo, and is fixed here")
        first = int(m.body_jntadr[b])
        pieces = [self.pieces[j] for j in range(first, first + int(m.body_jntnum[b]))]
        if not pieces:
            self.joints.append(Fixed(self._fixed_name(name), parent, name, frame=place))
        groups = self._groups(pieces)
        for k, group in enumerate(groups):
            child = name
            if k < len(groups) - 1:
                child = self.names.made("body", "body", f"{group.name}_link")
                self.bodies.append(Body(child))
                self.remarks.changed(f"body {name!r}", "has several joints; bodies without mass are between them here")
            options = self._options(group)
            self.joints.append(group.make(group.name, parent, child, frame=place, **options))
            parent, place = child, Frame()
        for piece in pieces:
            if piece.index not in self.screws:
                self._read_passive(piece)
        compensated = float(m.body_gravcomp[b])
        if compensated and m.body_weldid[b] and m.body_mass[b]:  # of one that is held by the ground, it moves nothing
            force = -compensated * float(m.body_mass[b]) * self.gravity
            load = self.names.made("load", "load", f"{name}_gravcomp")
            self.loads.append(Load(load, name, Frame(m.body_ipos[b]), force=force))
            self.remarks.changed(
                f"gravcomp of body {name!r}", "is a load here, of constant force at its centre of mass"
            )

    def _shapes(self, b: int) -> list[Shape]:
        """Shapes of a body: the geoms that the viewer of MuJoCo shows by default."""
        m = self.m
        found: list[Shape] = []
        for g in range(int(m.body_geomadr[b]), int(m.body_geomadr[b]) + int(m.body_geomnum[b])):
            if m.geom_group[g] > SHOWN or m.geom_rgba[g][3] == 0.0:
                what = f"geoms of groups above {SHOWN}, or transparent ones, are no shapes: MuJoCo does not show them"
                self.remarks.left_out("geoms", what)
                continue
            size, frame = np.array(m.geom_size[g]), Frame(m.geom_pos[g], self._rotation(m.geom_quat[g]))
            color = None if np.array_equal(m.geom_rgba[g], _GREY) else color_of(m.geom_rgba[g])
            given = self._given("GEOM", g)
            if given.startswith(STAND_IN) and (mesh := self.meshes.get(f"{given.partition('/')[0]}/")):
                found.append(replace(mesh, color=color).moved(frame))
                continue
            match self.kind_of_geom[int(m.geom_type[g])]:
                case "box":
                    found.append(Box(2.0 * size, frame, color=color))
                case "sphere":
                    found.append(Ball(frame.p, float(size[0]), color=color))
                case "ellipsoid":
                    found.append(ellipsoid(size, frame, color))
                case "cylinder" | "capsule" as kind:
                    start, end = (frame.p + z * size[1] * frame.R[:, 2] for z in (-1.0, 1.0))
                    found.append(Rod(start, end, float(size[0]), kind == "capsule", color=color))
                case kind:
                    self.remarks.left_out(f"geoms of type {kind}", "have no end, and are no shapes")
        return found

    def _fixed_name(self, body: str) -> str:
        return self.names.made("joint", "joint", f"{body}_fixed")

    def _options(self, group: _Group) -> dict[str, Any]:
        """Damping, armature and limits of a joint, as arguments."""
        pieces = [p for p in group.pieces if p.index not in self.screws]
        last = pieces[-1]
        if last.kind in ("ball", "free"):
            if last.armature:
                self.remarks.left_out(f"the armature of joint {last.name!r}", "joints without an axis have none")
            slides = [p.damping for p in pieces[:-1]] or [last.damping] * (3 if last.kind == "free" else 0)
            return {"damping": [last.damping] * 3 + slides}
        damping, armature = [p.damping for p in pieces], [p.armature for p in pieces]
        options: dict[str, Any] = {"damping": damping}
        if any(armature):
            options["armature"] = armature
        limits = {p.name.removeprefix(group.name).removeprefix("_"): p.limits for p in pieces if p.limits is not None}
        if limits:
            options["limits"] = limits if len(group.pieces) > 1 and "" not in limits else limits.popitem()[1]
        return options

    def _read_passive(self, p: _Piece) -> None:
        """Read springs and dry friction of a joint; add remarks on those that are not linear."""
        m, j, name = self.m, p.index, p.name
        dof, adr = int(m.jnt_dofadr[j]), int(m.jnt_qposadr[j])
        stiffness, poly = float(m.jnt_stiffness[j]), np.array(m.jnt_stiffnesspoly[j])
        if self._off("SPRING"):
            stiffness, poly = 0.0, np.zeros(2)
        friction = 0.0 if self._off("FRICTIONLOSS") or self._off("CONSTRAINT") else float(m.dof_frictionloss[dof])
        damping = np.zeros(2) if self._off("DAMPER") else np.array(m.dof_dampingpoly[dof])
        if p.kind in ("ball", "free"):
            given = {
                "spring": stiffness or poly.any(),
                "dry friction": friction,
                "damping that is not linear": damping.any(),
            }
            for what in (w for w, there in given.items() if there):
                self.remarks.left_out(f"{what} of joint {name!r}", "joints without an axis have none here")
            return
        if m.jnt_springyield[j]:
            self.remarks.left_out(f"the yield of the spring of joint {name!r}", "springs are elastic")
        rest = float(m.qpos_spring[adr])
        if stiffness:
            self.springs.append(JointSpring(self._made("spring", f"{name}_spring"), name, stiffness, rest))
        if poly.any():
            law = FormulaForce(
                "s = x - rest\nb*s**2 + c*s**3",
                "s = x - rest\nb*s**3/3 + c*s**4/4",
                {"b": float(poly[0]), "c": float(poly[1]), "rest": rest},
            )
            self.forces.append(JointForce(self._made("force", f"{name}_spring"), name, law))
        if damping.any():
            drag = FormulaForce("b*rate*abs(rate) + c*rate**3", "", {"b": float(damping[0]), "c": float(damping[1])})
            self.forces.append(JointForce(self._made("force", f"{name}_damper"), name, drag))
        if friction:
            dry = Friction(friction)
            self.forces.append(JointForce(self._made("force", f"{name}_friction"), name, dry))
            self.remarks.changed(
                f"the dry friction of joint {name!r}",
                f"is smooth within {dry.transition_rate:g} rad/s or m/s; exact in runs with friction='exact'",
            )

    def _made(self, kind: str, name: str) -> str:
        return self.names.made(kind, kind, name)

    # -- equalities --------------------------------------------------------------------------------

    def _read_equality(self, e: int) -> None:
        m, kinds = self.m, self.mujoco.mjtEq
        kind = int(m.eq_type[e])
        words = {int(kinds.mjEQ_CONNECT): "connect", int(kinds.mjEQ_WELD): "weld", self.joint_equality: "joint",
                 int(kinds.mjEQ_TENDON): "tendon"}  # fmt: skip
        given, word = self._given("EQUALITY", e), words.get(kind)
        if word is None:
            return self.remarks.left_out(f"equality {given!r}", "there is no constraint of this kind")
        if word == "joint" and int(m.eq_obj1id[e]) in self.screws:
            return None
        makers: dict[str, Callable[[int, str], Any]] = {
            "connect": self._connect,
            "weld": self._weld,
            "joint": self._joint_equality,
            "tendon": self._tendon_equality,
        }
        try:
            name = self.names.made("joint", f"{word} equality", given, f"{word}_{e + 1}")
            made = makers[word](e, name)
        except InputError as error:
            raise InputError(f"{word} equality {given or name!r}: {error}") from error
        if made is None:
            return None
        self.loops.append(made)
        if not m.eq_active0[e] or self._off("EQUALITY"):
            self.inactive.append(made.name)
            self.remarks.changed(
                f"{word} equality {made.name!r}", "is not active: it is taken out, as by Mechanism.without"
            )
        return None

    def _ends(self, e: int) -> tuple[str, Frame, str, Frame] | None:
        """Bodies of an equality between sites, and frames on them; None where it is between bodies."""
        if int(self.m.eq_objtype[e]) != int(self.mujoco.mjtObj.mjOBJ_SITE):
            return None
        sites = int(self.m.eq_obj1id[e]), int(self.m.eq_obj2id[e])
        (a, fa), (b, fb) = (self._site(s) for s in sites)
        return a, fa, b, fb

    def _site(self, s: int) -> tuple[str, Frame]:
        self.used_sites.add(s)
        body = self.body[int(self.m.site_bodyid[s])]
        return body, Frame(np.array(self.m.site_pos[s]), self._rotation(self.m.site_quat[s]))

    def _connect(self, e: int, name: str) -> Point:
        m, d = self.m, self.m.eq_data[e]
        if (ends := self._ends(e)) is not None:
            a, fa, b, fb = ends
            return Point(name, a, b, fa.p, fb.p)
        a, b = self.body[int(m.eq_obj1id[e])], self.body[int(m.eq_obj2id[e])]
        return Point(name, a, b, np.array(d[0:3]), np.array(d[3:6]))

    def _weld(self, e: int, name: str) -> Weld | Point:
        m, d = self.m, self.m.eq_data[e]
        if (ends := self._ends(e)) is not None:
            a, fa, b, fb = ends
        else:
            a, b = self.body[int(m.eq_obj1id[e])], self.body[int(m.eq_obj2id[e])]
            fa, fb = Frame(np.array(d[3:6]), self._rotation(d[6:10])), Frame(np.array(d[0:3]))
        if d[10] == 0.0:  # torquescale
            self.remarks.changed(f"weld equality {name!r}", "does not hold angles (torquescale is 0): it is a point")
            return Point(name, a, b, fa.p, fb.p)
        return Weld(name, a, b, fa, fb)

    def _joint_equality(self, e: int, name: str) -> Coupling | Cam | None:
        m, c = self.m, [float(x) for x in self.m.eq_data[e][:5]]
        j, k = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
        y0 = self.pieces[j].ref
        if k < 0:
            return Coupling(name, {self.coordinate[j]: 1.0}, y0 + c[0])
        x0 = self.pieces[k].ref
        if not any(c[2:]):
            coefficients = {self.coordinate[j]: 1.0, self.coordinate[k]: -c[1]} if c[1] else {self.coordinate[j]: 1.0}
            return Coupling(name, coefficients, y0 + c[0] - c[1] * x0)
        return Cam(name, self.coordinate[j], self.coordinate[k], _polynomial(c, x0), offset=y0)

    def _add_sum(self, t: int, scale: float, into: dict[str, float]) -> float:
        """Add the coefficients of a tendon that is a sum of coordinates; returns its value at the reference."""
        m, at = self.m, 0.0
        for w in range(int(m.tendon_adr[t]), int(m.tendon_adr[t]) + int(m.tendon_num[t])):
            j, c = int(m.wrap_objid[w]), scale * float(m.wrap_prm[w])
            into[self.coordinate[j]] = into.get(self.coordinate[j], 0.0) + c
            at += c * self.pieces[j].ref
        return at

    def _is_sum(self, t: int) -> bool:
        return int(self.m.wrap_type[int(self.m.tendon_adr[t])]) == self.sum_part

    def _tendon_equality(self, e: int, name: str) -> Coupling | Distance | PointOnPlane | None:
        m, c = self.m, [float(x) for x in self.m.eq_data[e][:5]]
        first, second = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
        tendons = [first] if second < 0 else [first, second]
        if all(map(self._is_sum, tendons)) and (second < 0 or not any(c[2:])):
            coefficients: dict[str, float] = {}
            offset = c[0] + self._add_sum(first, 1.0, coefficients)
            if second >= 0:
                offset += self._add_sum(second, -c[1], coefficients)
            return Coupling(name, coefficients, offset)
        if second < 0 and not self._is_sum(first):
            a, pa, b, pb = self._line(first)
            return Distance(name, a, b, pa, pb, float(m.tendon_length0[first]) + c[0])
        if second >= 0 and not any(map(self._is_sum, tendons)) and c[1:] == [1.0, 0.0, 0.0, 0.0]:
            difference = c[0] + float(m.tendon_length0[first]) - float(m.tendon_length0[second])
            if (plane := self._plane(first, second, difference, name)) is not None:
                return plane
        self.remarks.left_out(
            f"tendon equality {name!r}", "it is no coupling, no distance, and holds no point in a plane"
        )
        return None

    def _plane(self, first: int, second: int, difference: float, name: str) -> PointOnPlane | None:
        """Point on the plane midway between two points of another body, from two tendons of equal length; else None."""
        a, pa, b, pb = self._line(first)
        c, pc, d, pd = self._line(second)
        beside = pa - pc
        size = float(np.linalg.norm(beside))
        if (a, b) != (c, d) or np.abs(pb - pd).max() > SAME * size or abs(difference) > SAME * size:
            return None
        return PointOnPlane(name, a, b, 0.5 * (pa + pc), pb, beside / size)

    def _line(self, t: int) -> tuple[str, Array, str, Array]:
        w = int(self.m.tendon_adr[t])
        (a, fa), (b, fb) = (self._site(int(self.m.wrap_objid[i])) for i in (w, w + 1))
        return a, fa.p, b, fb.p

    def _join_points(self) -> None:
        """Join pairs of points (on an axis), or of planes, named as in our own files, into one constraint again."""
        by_name = {loop.name: loop for loop in self.loops}
        for loop in list(self.loops):
            made: Joint | Constraint | None = None
            for suffix, kind, join in (("_axis", Point, _hinge), ("_plane", PointOnPlane, _line)):
                other = by_name.get(f"{loop.name}{suffix}")
                if isinstance(loop, kind) and isinstance(other, kind) and (loop.a, loop.b) == (other.a, other.b):
                    alike = (loop.name in self.inactive) == (other.name in self.inactive)
                    made = join(loop, other) if alike else None
                    if made is not None:
                        self.loops[self.loops.index(loop)] = made
                        self.loops.remove(other)
                        self.inactive = [n for n in self.inactive if n != other.name]

    # -- tendons -----------------------------------------------------------------------------------

    def _tendon_forces(self, t: int) -> None:
        m, given = self.m, self._given("TENDON", t) or f"tendon_{t + 1}"
        what = f"tendon {given!r}"
        stiffness, damping = float(m.tendon_stiffness[t]), float(m.tendon_damping[t])
        low, high = (float(x) for x in m.tendon_lengthspring[t])
        more = {
            "range": m.tendon_limited[t], "armature": m.tendon_armature[t], "dry friction": m.tendon_frictionloss[t],
            "spring that is not linear": np.any(m.tendon_stiffnesspoly[t]), "yield": m.tendon_springyield[t],
            "damping that is not linear": np.any(m.tendon_dampingpoly[t]),
        }  # fmt: skip
        for word in (w for w, there in more.items() if there):
            self.remarks.left_out(f"the {word} of {what}", "tendons have none here")
        if not (stiffness or damping):
            return
        if self._is_sum(t):
            self.remarks.left_out(f"the spring and damper of {what}", "no spring here acts on a sum of coordinates")
            return
        a, pa, b, pb = self._line(t)
        if low == high or not stiffness:
            name = self.names.made("spring", "tendon", given)
            self.springs.append(PointSpring(name, a, b, pa, pb, stiffness, low, damping))
        elif low == 0.0 and not damping:
            name = self.names.made("force", "tendon", given)
            self.forces.append(PointForce(name, a, b, Rope(high, stiffness), pa, pb))
        else:
            self.remarks.left_out(what, "a spring with play is kept as a rope only, from length 0, and without damping")

    # -- actuators ---------------------------------------------------------------------------------

    def _read_actuator(self, a: int) -> None:
        m, e = self.m, self.mujoco
        given = self._given("ACTUATOR", a)
        what = f"actuator {given or a + 1!r}"
        if self._off("ACTUATION") or m.opt.disableactuator & (1 << int(m.actuator_group[a])):
            return self.remarks.left_out(what, "the file switches it off")
        target = self._target(a)
        if target is None:
            return self.remarks.left_out(what, "no actuator here acts as it does")
        gear, gain, options, coordinate = target
        fixed = int(m.actuator_gaintype[a]) == int(e.mjtGain.mjGAIN_FIXED)
        if int(m.actuator_dyntype[a]) != int(e.mjtDyn.mjDYN_NONE):
            word = e.mjtDyn(int(m.actuator_dyntype[a])).name.removeprefix("mjDYN_").lower()
            self.remarks.left_out(
                f"the activation of {what}",
                f"{word}, {float(m.actuator_dynprm[a][0]):g}; see `cmbcontrol.controllers.FirstOrderActuator`",
            )
        bias = [float(x) for x in m.actuator_biasprm[a][:3]]
        affine = int(m.actuator_biastype[a]) == int(e.mjtBias.mjBIAS_AFFINE) and any(bias)
        direct = fixed and not affine
        bounds = [(-np.inf, np.inf)]
        scale = gain if direct else 1.0  # of the effort here, in MuJoCo's force of the actuator
        if direct and m.actuator_ctrllimited[a] and not self._off("CLAMPCTRL"):
            bounds.append(tuple(m.actuator_ctrlrange[a]))
        if m.actuator_forcelimited[a]:
            bounds.append(_scaled(m.actuator_forcerange[a], scale))
        if coordinate is not None and m.jnt_actfrclimited[coordinate]:
            bounds.append(_scaled(m.jnt_actfrcrange[coordinate], scale * gear))
        low, high = max(x[0] for x in bounds), min(x[1] for x in bounds)
        effort = float(max(abs(low), abs(high)))
        if not gear * scale or effort == 0.0 or low > high:
            return self.remarks.left_out(what, "it cannot exert any force")
        otherwise = self.coordinate[coordinate] if coordinate is not None else f"actuator_{a + 1}"
        name = self.names.made("actuator", "actuator", given, otherwise)
        if low != -high:
            self.remarks.changed(
                f"the limits of {what}", f"efforts from {low:g} to {high:g} are within {effort:g} here"
            )
        on = self.coordinate[coordinate] if coordinate is not None else name
        self.actuators.append(Actuator(on, name, effort, gear * scale, **options))
        if not direct:
            self._read_servo(a, name, coordinate, gear, bias, gain if fixed else None)
        return None

    def _read_servo(
        self, a: int, name: str, coordinate: int | None, gear: float, bias: list[float], gain: float | None
    ) -> None:
        m = self.m
        if gain is None or coordinate is None:
            self.remarks.changed(
                f"actuator {name!r}",
                f"is a servo in MuJoCo (kp {-bias[1]:g}, kv {-bias[2]:g}), and a motor here: give it a controller",
            )
            return
        limited = m.actuator_ctrllimited[a] and not self._off("CLAMPCTRL")
        low, high = (float(x) for x in m.actuator_ctrlrange[a]) if limited else (-np.inf, np.inf)
        servo = Servo(name, self.coordinate[coordinate], gear, gain, *bias, (low, high))
        self.servos.append(servo)
        self.remarks.changed(f"actuator {name!r}", f"is a motor here; `servos` has its law: {servo}")

    def _target(self, a: int) -> tuple[float, float, dict[str, Any], int | None] | None:
        """Gear, gain, further arguments and driven one-axis joint of an actuator; None where no actuator here fits."""
        m, e = self.m, self.mujoco
        kind, (first, second) = int(m.actuator_trntype[a]), (int(x) for x in m.actuator_trnid[a])
        gears, gain = np.array(m.actuator_gear[a]), float(m.actuator_gainprm[a][0])
        turn = gears[3:6]
        if kind in self.on_joints and first in self.coordinate and first not in self.screws:
            return float(gears[0]), gain, {}, first
        if kind == self.on_joints[0] and first in self.balls:
            ball = self.pieces[first].kind == "ball"
            turn = gears[:3] if ball else turn
            if not turn.any() or (not ball and gears[:3].any()):
                return None
            child = self.body[int(m.jnt_bodyid[first])]
            parent = self.body[int(m.body_parentid[int(m.jnt_bodyid[first])])]
            return -_length(turn), gain, _between(child, parent, turn), None
        if kind == int(e.mjtTrn.mjTRN_SITE) and turn.any() and not gears[:3].any():
            body, frame = self._site(first)
            if second < 0:  # the axis is on the site
                turn = frame.R @ turn
                return (None if body == GROUND else
                        (-_length(turn), gain, _between(body, GROUND, turn), None))  # fmt: skip
            base, reference = self._site(second)
            turn = reference.R @ turn
            return None if base == body else (_length(turn), gain, _between(base, body, turn), None)
        return None

    # -- frames and configurations -----------------------------------------------------------------

    def _read_sites(self) -> None:
        """Make bodies without mass from sites that are frames of their own."""
        m = self.m
        for s in range(m.nsite):
            given = self._given("SITE", s)
            body = self.body[int(m.site_bodyid[s])]
            if not given:
                self.remarks.left_out(f"a site on body {body!r}", "it has no name")
                continue
            if s in self.used_sites:
                self.remarks.changed(f"site {given!r}", "is a place of a constraint, a spring or a motor, and no frame")
                continue
            name = self.names.made("body", "site", given)
            frame = Frame(np.array(m.site_pos[s]), self._rotation(m.site_quat[s]))
            self.bodies.append(Body(name))
            self.joints.append(Fixed(self._fixed_name(name), body, name, frame=frame))

    def configurations(self) -> dict[str, dict[str, float]]:
        m, found = self.m, {}
        for k in range(m.nkey):
            name = self.names.made("configuration", "keyframe", self._given("KEY", k), f"key_{k + 1}")
            found[name] = self._configuration(m.key_qpos[k])
        start = self._configuration(m.qpos0)
        if any(x != (1.0 if n.endswith("_qw") else 0.0) for n, x in start.items()) and "start" not in found:
            found["start"] = start
        return found

    def _configuration(self, qpos: Sequence[float]) -> dict[str, float]:
        """Values of a configuration by our names. Free joints have the position first in MuJoCo."""
        values: dict[str, float] = {}
        for j, piece in self.pieces.items():
            at = int(self.m.jnt_qposadr[j])
            if j in self.screws:
                continue
            if piece.kind in ("hinge", "slide"):
                values[piece.name] = float(qpos[at])
                continue
            if piece.kind == "free":
                values |= {f"{piece.name}_{x}": float(qpos[at + i]) for i, x in enumerate("xyz")}
                at += 3
            values |= {f"{piece.name}_{s}": float(qpos[at + i]) for i, s in enumerate(Spherical.position_suffixes)}
        return values


def _hinge(one: Point, other: Point) -> Revolute | None:
    """Cut joint through two points on its axis; None where their distances on the two bodies differ."""
    ways = [np.subtract(getattr(other, key), getattr(one, key)) for key in ("point_a", "point_b")]
    lengths = [float(np.linalg.norm(way)) for way in ways]
    if lengths[0] == 0.0 or abs(lengths[1] - lengths[0]) > SAME * lengths[0]:
        return None
    frames = [
        Frame(p, rotation_to(way / length))
        for p, way, length in zip((one.point_a, one.point_b), ways, lengths, strict=True)
    ]
    return Revolute(one.name, one.a, one.b, frame=frames[0], child_frame=frames[1])


def _line(one: PointOnPlane, other: PointOnPlane) -> PointOnLine | None:
    """Constraint on the line in which two planes meet; None if they are not perpendicular or points differ."""
    n, m = np.asarray(one.normal), np.asarray(other.normal)
    apart = max(np.abs(np.subtract(getattr(one, key), getattr(other, key))).max() for key in ("point_a", "point_b"))
    if abs(n @ m) > SAME or apart > SAME * max(1e-3, float(np.abs(one.point_a).max())):
        return None
    return PointOnLine(one.name, one.a, one.b, one.point_a, one.point_b, np.cross(n, m))


def _maker(kind: Any, place: Frame, more: dict[str, Any]) -> Callable[..., Joint]:
    def make(name: str, parent: str, child: str, frame: Frame, **options: Any) -> Joint:
        return kind(name, parent, child, frame=frame @ place, **more, **options)

    return make


def _polynomial(c: list[float], x0: float) -> Expression:
    """Expression of the sum of c_k (angle - x0)^k, by Horner's rule."""
    return Expression(
        f"s = angle - {x0!r}\n{c[0]!r} + s*({c[1]!r} + s*({c[2]!r} + s*({c[3]!r} + s*{c[4]!r})))", ["angle"]
    )


def _scaled(pair: Iterable[float], by: float) -> tuple[float, float]:
    low, high = sorted(float(x) / by for x in pair) if by else (0.0, 0.0)
    return low, high


def _length(x: Array) -> float:
    return float(np.linalg.norm(x))


def _between(first: str, second: str, turn: Array) -> dict[str, Any]:
    """Arguments of an actuator with a torque on the second body about an axis of the first."""
    return {"bodies": (first, second), "axis": turn / np.linalg.norm(turn)}
