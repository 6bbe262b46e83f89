"""A valid call for each public function, and the wrong calls that are rightly accepted."""

from __future__ import annotations

import atexit
import contextlib
import functools
import re
import shutil
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import cmbcontrol as cmb
from cmbcontrol import controllers as ctl
from cmbcontrol import design, linear, plants
from cmbcontrol.controllers.actuation import active_force_map, actuation_along
from cmbcontrol.controllers.chain import Chain
from cmbcontrol.controllers.controller import ConstantEffort
from cmbcontrol.controllers.decoupling import cross_coupling, is_decoupled, reachable_forces
from cmbcontrol.controllers.metrics import WeightedProjection, characteristic_length, weighted_norm
from cmbcontrol.design.loop_goals import GoalValue
from cmbcontrol.dynamics.singular import SingularConfiguration
from cmbcontrol.papers.formulations import NamedFormulation
from cmbcontrol.papers.pseudoinverse import pseudoinverse

from .wrong_calls import (
    Call,
    Wrong,
    also,
    any_by_motor,
    but,
    by_motor,
    choice,
    count,
    flag,
    function,
    gains,
    index,
    known,
    law,
    limits,
    mapping,
    matrix,
    metric,
    name,
    names,
    new_names,
    not_negative,
    number,
    optional,
    pair,
    parts,
    path,
    positive,
    positive_gains,
    reference,
    seed,
    share,
    text,
    thing,
    upper,
    vector,
)

JOINTS = ("left", "right")
each_motor = also(by_motor, zero=0.0)


class World:
    """What calls are made with; made once."""

    @functools.cached_property
    def plant(self) -> cmb.Mechanism:
        return plants.five_bar(effort=80.0)

    @functools.cached_property
    def crane(self) -> cmb.Mechanism:
        return cmb.plants.excavator()

    @functools.cached_property
    def loaded(self) -> cmb.Mechanism:
        return self.plant.with_parts(loads=[cmb.Load("wind", "left_upper")])

    @functools.cached_property
    def turning(self) -> cmb.Mechanism:
        bodies = [cmb.Body("hub", 1.0, inertia=(1.0,) * 3), cmb.Body("rod", 1.0, com=(0, 0, -1.0), inertia=(0.1,) * 3)]
        joints = [cmb.Revolute("hub", "ground", "hub"), cmb.Revolute("rod", "hub", "rod", axis=(0, 1, 0))]
        return cmb.Mechanism("governor", bodies, joints)

    @functools.cached_property
    def driven(self) -> cmb.Mechanism:
        return self.plant.with_loops(cmb.JointMotion("drive", "left", position=2.1))

    @functools.cached_property
    def q(self) -> np.ndarray:
        return self.plant.assemble(left=2.1, right=1.0)

    @property
    def v(self) -> np.ndarray:
        return np.zeros(4)

    @property
    def u(self) -> np.ndarray:
        return np.zeros(2)

    @functools.cached_property
    def terms(self) -> cmb.Terms:
        return self.plant.terms(self.q, self.v)

    @functools.cached_property
    def point(self) -> cmb.OperatingPoint:
        return cmb.trim(self.plant, self.q)

    @functools.cached_property
    def lin(self) -> cmb.LinearModel:
        return cmb.linearize(self.plant, self.point, coordinates=JOINTS)

    @functools.cached_property
    def uncertain(self) -> linear.UncertainModel:
        return linear.uncertain_model(self.plant, self.point, {"left_upper_mass": (2.0, 6.0)}, coordinates=JOINTS)

    @functools.cached_property
    def resting(self) -> ctl.PID:
        """PID that holds the configuration of the point."""
        held = [self.q[self.plant.position_names.index(name)] for name in JOINTS]
        return ctl.PID(self.plant, cmb.Constant(held), kp=900.0, ki=300.0, kd=120.0, coordinates=JOINTS)

    @functools.cached_property
    def uncertain_loop(self) -> design.UncertainLoop:
        return design.uncertain_loop(self.uncertain, self.resting)

    @functools.cached_property
    def stability(self) -> Any:
        return self.uncertain_loop.robust_stability(1e-2)

    @functools.cached_property
    def tuned_law(self) -> design.TunedLaw:
        value = GoalValue("decay above 1 1/s", "five-bar", 0.8, False)
        return design.TunedLaw(self.resting, {"kp": 900.0}, 0.8, (value,), np.array([0.8]))

    @functools.cached_property
    def path(self) -> cmb.Sine:
        return cmb.Sine([2.1, 1.0], [0.1, 0.1], 0.5)

    def tunable(self, kp: float) -> ctl.PID:
        """PID with a gain that is free."""
        return ctl.PID(self.plant, self.path, kp=kp, kd=16.0, coordinates=JOINTS, at=self.q)

    @functools.cached_property
    def scheduled(self) -> ctl.GainScheduled:
        """PIDs over one coordinate."""
        laws = [ctl.PID(self.plant, self.path, kp=k, kd=9.0, coordinates=JOINTS, at=self.q) for k in (60.0, 90.0)]
        return ctl.GainScheduled(laws, {"left": [2.0, 2.2]})

    @functools.cached_property
    def law(self) -> ctl.ProjectedInverseDynamics:
        return ctl.ProjectedInverseDynamics(self.plant, JOINTS, self.path, bandwidth=8.0)

    @functools.cached_property
    def rest(self) -> ctl.ProjectedInverseDynamics:
        return ctl.ProjectedInverseDynamics(self.plant, JOINTS, cmb.Constant([2.1, 1.0]), bandwidth=8.0)

    @functools.cached_property
    def force(self) -> ctl.ConstraintForcePI:
        return ctl.ConstraintForcePI(self.arms, [5.0], [self.grip], kp=0.5, ki=2.0)

    @functools.cached_property
    def arms(self) -> cmb.Mechanism:
        return plants.two_arms()

    @functools.cached_property
    def cart(self) -> cmb.Mechanism:
        cart, rod = cmb.Body("cart", 1.0), cmb.Body.rod("rod", 1.0, 1.0)
        rail = cmb.Prismatic("rail", "ground", "cart", axis=(1, 0, 0))
        motors = [cmb.Actuator("rail"), cmb.Actuator("pivot")]
        return cmb.Mechanism(
            "pendulum on a cart", [cart, rod], [rail, cmb.Revolute("pivot", "cart", "rod")], actuators=motors
        )

    @functools.cached_property
    def grip(self) -> str:
        return self.arms.row_names[0]

    @functools.cached_property
    def arms_motion(self) -> ctl.ProjectedInverseDynamics:
        q = self.arms.assemble()
        task = ctl.Coordinates(self.arms, self.arms.velocity_names[:3])
        rest = cmb.Constant(task.value(self.arms.terms(q, np.zeros(self.arms.nv))))
        return ctl.ProjectedInverseDynamics(self.arms, task, rest, bandwidth=8.0)

    @functools.cached_property
    def feedback(self) -> ctl.StateFeedback:
        return design.lqr(self.lin, np.eye(4), np.eye(2))

    @functools.cached_property
    def run(self) -> cmb.Simulation:
        return cmb.simulate(self.plant, self.law, self.q, t_end=0.05, output_times=0.01, rtol=1e-6, atol=1e-6)

    @functools.cached_property
    def chain(self) -> Chain:
        return self.rest | ctl.Saturation()

    @functools.cached_property
    def loop(self) -> cmb.ClosedLoop:
        return cmb.linearize_closed_loop(self.plant, self.rest, self.q)

    @functools.cached_property
    def chart(self) -> Any:
        return linear.TangentSpace().at(self.plant, self.q)

    @functools.cached_property
    def form(self) -> linear.LocalForm:
        return linear.LocalForm(self.plant, q0=self.q, coordinates=JOINTS)

    @functools.cached_property
    def system(self) -> Any:
        return self.plant.to_iosystem(self.point, coordinates=JOINTS)

    @functools.cached_property
    def along(self) -> cmb.linear.LinearSequence:
        return cmb.linearize_along(self.run, coordinates=JOINTS)

    @functools.cached_property
    def branch(self) -> cmb.linear.EquilibriumBranch:
        return cmb.continue_equilibria(self.plant, self.q, 2.1, 2.15, coordinate="left")

    @functools.cached_property
    def crank(self) -> cmb.FunctionPlant:
        return plants.slider_crank()

    @functools.cached_property
    def pose(self) -> SingularConfiguration:
        return cmb.singular_configuration(self.plant, self.plant.assemble(left=np.pi, right=0.0))

    @functools.cached_property
    def locus(self) -> cmb.linear.RootLocus:
        return cmb.root_locus(self.damped, [0.0, 1.0, 2.0])

    @functools.cached_property
    def measured(self) -> Any:
        between, omega = ("left_ref", "left"), [5.0, 20.0]
        return cmb.frequency_response(
            self.plant, self.standing, between=between, omega=omega, excitation="multisine", workers=1
        )

    @functools.cached_property
    def standing(self) -> ctl.ProjectedInverseDynamics:
        return ctl.ProjectedInverseDynamics(self.plant, JOINTS, cmb.Constant([2.1, 1.0]), bandwidth=8.0)

    @functools.cached_property
    def certificate(self) -> design.Certificate:
        region = design.PoleRegion(decay=1.0)
        return design.certify(self.plant, self.feedback, [self.q], region)

    @functools.cached_property
    def tuned(self) -> design.TuneResult:
        return design.tune(self.make, {"bandwidth": (4.0, 10.0)}, design.error_cost(), max_evaluations=3)

    @functools.cached_property
    def folder(self) -> Path:
        folder = tempfile.mkdtemp()
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        return Path(folder)

    @functools.cached_property
    def run_file(self) -> Path:
        return self.run.save(self.folder / "run.nc")

    @functools.cached_property
    def model_file(self) -> Path:
        return self.lin.save(self.folder / "model.json")

    def damped(self, gain: float) -> np.ndarray:
        return np.array([[0.0, 1.0], [-4.0, -gain]])

    def make(self, bandwidth: float) -> dict[str, Any]:
        law = ctl.ProjectedInverseDynamics(self.plant, JOINTS, self.path, bandwidth=bandwidth)
        return {"plant": self.plant, "controller": law, "q0": self.q, "t_end": 0.02, "rtol": 1e-4, "atol": 1e-4}


W = World()


def call(label: str, f: Any, /, *, words: tuple[str, ...] = (), positional: tuple[str, ...] = (), **given: Any) -> Call:
    """A call whose arguments are (value, kind), or a value that stays."""
    arguments = {k: v[0] if _spoilt(v) else v for k, v in given.items()}
    kinds = {k: v[1] for k, v in given.items() if _spoilt(v)}
    return Call(label, f, arguments, kinds, words, positional)


def _spoilt(given: Any) -> bool:
    return isinstance(given, tuple) and len(given) == 2 and callable(given[1]) and not isinstance(given[1], type)


def calls() -> list[Call]:
    """All of them."""
    return [
        *_parts(),
        *_machines(),
        *_plants(),
        *_dynamics(),
        *_simulation(),
        *_linear(),
        *_controllers(),
        *_design(),
        *_studies(),
    ]


# -- parts -------------------------------------------------------------------------------------------------

ENDS = {"parent": ("ground", text), "child": ("arm", text)}
FRAMES = {"frame": (cmb.Frame(), thing), "child_frame": (cmb.Frame(), thing)}
DAMPING = {"damping": (0.1, but(also(not_negative, **{"wrong length": [0.1] * 9}), "pair"))}
BEARING = cmb.characteristics.Friction(1.0)
AXIS = {"axis": ((0.0, 0.0, 1.0), also(vector, zero=(0.0, 0.0, 0.0)))}
BETWEEN = {"a": ("ground", text), "b": ("arm", text)}
POINTS = {"point_a": ((0.0, 0.0, 0.0), vector), "point_b": ((1.0, 0.0, 0.0), vector)}
MOVING = {key: (0.1, number) for key in ("position", "velocity", "acceleration")}
SPRING = {"stiffness": (10.0, number), "rest": (0.5, number), "damping": (0.1, not_negative)}


def many_rates(count: int) -> dict[str, Any]:
    return {key: ([0.1] * count, vector) for key in MOVING}


def _shapes() -> list[Call]:
    ends = {"start": ((0.0, 0.0, 0.0), vector), "end": ((1.0, 0.0, 0.0), vector)}
    looks = {"frame": (cmb.Frame(), thing), "color": ("#ff0000", optional(text))}
    outline = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)]
    corners, faces = [*np.eye(3).tolist(), [0.0, 0.0, 0.0]], [(0, 1, 2), (0, 3, 1)]
    return [
        call("shapes.Box", cmb.shapes.Box, size=((1.0, 1.0, 1.0), also(vector, flat=(1.0, 0.0, 1.0))), **looks),
        call("shapes.Rod", cmb.shapes.Rod, **ends, radius=(0.1, positive), rounded=(True, flag), color=looks["color"]),
        call("shapes.Ball", cmb.shapes.Ball, centre=ends["start"], radius=(0.1, positive), color=looks["color"]),
        call(
            "shapes.Plate",
            cmb.shapes.Plate,
            outline=(outline, also(matrix, crossing=[(0, 0), (1, 1), (1, 0), (0, 1)])),
            thickness=(0.1, positive),
            **looks,
        ),
        call(
            "shapes.Plate.bar",
            cmb.shapes.Plate.bar,
            words=("bar",),
            start=(ends["start"][0], but(vector, "too short")),  # a point of the plane
            end=(ends["end"][0], but(vector, "too short")),
            width=(0.1, positive),
            thickness=(0.1, positive),
            z=(0.1, number),
            color=looks["color"],
        ),
        call(
            "shapes.Mesh",
            cmb.shapes.Mesh,
            vertices=(corners, but(matrix, "one row more")),
            faces=(faces, also(but(matrix, "one row more"), twice=[(0, 0, 1)], beyond=[(0, 1, 4)])),
            smooth=(True, flag),
            color=looks["color"],
        ),
    ]


def _parts() -> list[Call]:
    found = [
        call("Frame", cmb.Frame, p=((1.0, 0.0, 0.0), vector), R=(np.eye(3), also(matrix, mirror=-np.eye(3)))),
        call(
            "Frame.turned",
            cmb.Frame.turned,
            axis=((0.0, 0.0, 1.0), also(vector, zero=(0.0, 0.0, 0.0))),
            angle=(0.3, number),
            p=((0.0, 0.0, 0.0), vector),
        ),
        call(
            "Body",
            cmb.Body,
            words=("inertia",),
            name=("arm", name),
            mass=(1.0, not_negative),
            com=((0.1, 0.0, 0.0), vector),
            inertia=(np.eye(3), also(matrix, negative=-np.eye(3), impossible=(1.0, 1.0, 9.0))),
        ),
        *_shapes(),
        call("Body.rod", cmb.Body.rod, name=("arm", name), mass=(1.0, not_negative), length=(1.0, positive)),
        call(
            "Body.planar",
            cmb.Body.planar,
            words=("body",),
            name=("arm", name),
            mass=(1.0, not_negative),
            com=(0.1, but(number, "pair")),
            inertia=(0.2, not_negative),
        ),
        call("Wrench", cmb.Wrench, body=("arm", text), frame=(cmb.Frame(), thing), name=("tool", but(name, "empty"))),
        call(
            "FrameMotion",
            cmb.FrameMotion,
            body=("arm", text),
            frame=(cmb.Frame(), thing),
            name=("tool", but(name, "empty")),
            positions=(True, flag),
            rates=(True, flag),
        ),
    ]
    one_axis = {"limits": ((-1.0, 1.0), optional(pair)), "armature": (0.2, DAMPING["damping"][1])}
    for joint in (cmb.Revolute, cmb.Prismatic):
        found.append(call(joint.__name__, joint, name=("hinge", name), **ENDS, **FRAMES, **DAMPING, **AXIS, **one_axis))
    found.append(
        call(
            "Helical",
            cmb.Helical,
            name=("screw", name),
            **ENDS,
            **FRAMES,
            **DAMPING,
            **AXIS,
            **one_axis,
            pitch=(0.1, also(number, zero=0.0)),
        )
    )
    many = {"limits": ({"x": (-1.0, 1.0)}, optional(_limits))}
    for joint in (cmb.Planar, cmb.Free):
        axis = AXIS if joint is cmb.Planar else {}
        found.append(call(joint.__name__, joint, name=("joint", name), **ENDS, **FRAMES, **DAMPING, **axis, **many))
    for joint in (cmb.Cylindrical, cmb.Spherical, cmb.Fixed):
        found.append(call(joint.__name__, joint, name=("joint", name), **ENDS, **FRAMES, **DAMPING))
    found.append(
        call(
            "Universal",
            cmb.Universal,
            name=("cross", name),
            **ENDS,
            axis=((1.0, 0.0, 0.0), also(vector, zero=(0.0, 0.0, 0.0))),
            second_axis=((0.0, 1.0, 0.0), also(vector, oblique=(1.0, 1.0, 0.0))),
            words=("second axis",),
        )
    )
    found += [
        call("Point", cmb.Point, name=("loop", name), **BETWEEN, **POINTS),
        call("PointOnLine", cmb.PointOnLine, name=("loop", name), **BETWEEN, **POINTS, **AXIS),
        call(
            "PointOnPlane", cmb.PointOnPlane, name=("loop", name), **BETWEEN, **POINTS, normal=((0.0, 0.0, 1.0), vector)
        ),
        call("Distance", cmb.Distance, name=("loop", name), **BETWEEN, **POINTS, length=(1.0, positive)),
        call(
            "Weld",
            cmb.Weld,
            name=("loop", name),
            **BETWEEN,
            frame_a=(cmb.Frame(), thing),
            frame_b=(cmb.Frame(), thing),
        ),
        call(
            "Coupling",
            cmb.Coupling,
            words=("coupling", "coefficient"),
            name=("gear", name),
            coefficients=({"left": 1.0, "right": 2.0}, but(mapping, "unknown", "misspelt", "number key")),
            offset=(0.1, number),
        ),
        call(
            "Cam",
            cmb.Cam,
            words=("cam",),
            name=("cam", name),
            follower=("right", text),
            cam=("left", text),
            profile=((np.linspace(0.0, 2.0 * np.pi, 5), [0.0, 1.0, 2.0, 1.0, 0.0]), but(thing, "function")),
            offset=(0.1, number),
        ),
        call("JointMotion", cmb.JointMotion, words=("motion",), name=("drive", name), joint=("left", text), **MOVING),
        call(
            "DistanceMotion",
            cmb.DistanceMotion,
            words=("motion",),
            name=("winch", name),
            **BETWEEN,
            **POINTS,
            **(MOVING | {"position": (1.0, positive)}),
            length=(1.0, optional(positive)),
        ),
        call(
            "PointMotion", cmb.PointMotion, words=("motion",), name=("hand", name), **BETWEEN, **POINTS, **many_rates(3)
        ),
        call(
            "PoseMotion",
            cmb.PoseMotion,
            words=("motion",),
            name=("road", name),
            **BETWEEN,
            frame_a=(cmb.Frame(), thing),
            frame_b=(cmb.Frame(), thing),
            **many_rates(6),
        ),
        call(
            "Wheel",
            cmb.Wheel,
            words=("wheel",),
            name=("rim", name),
            **BETWEEN,
            **POINTS,
            normal=((0.0, 0.0, 1.0), vector),
            axis=((0.0, 1.0, 0.0), vector),
            radius=(0.3, positive),
            tube=(0.1, not_negative),
            rollers=(0.5, optional(number)),
        ),
        call(
            "RollingBall",
            cmb.RollingBall,
            words=("ball",),
            name=("ball", name),
            **BETWEEN,
            **POINTS,
            normal=((0.0, 0.0, 1.0), vector),
            radius=(0.3, positive),
        ),
        call(
            "KnifeEdge",
            cmb.KnifeEdge,
            words=("edge",),
            name=("skate", name),
            **BETWEEN,
            point_b=((1.0, 0.0, 0.0), vector),
            across=((0.0, 1.0, 0.0), vector),
        ),
        call("JointSpring", cmb.JointSpring, name=("spring", name), joint=("left", text), **SPRING),
        call("PointSpring", cmb.PointSpring, name=("spring", name), **BETWEEN, **POINTS, **SPRING),
        call(
            "Cylinder",
            cmb.Cylinder,
            name=("lift", name),
            **BETWEEN,
            **POINTS,
            stroke=((1.0, 1.6), also(vector, back=(1.6, 1.0), long=(1.0, 2.5))),
            bore=(0.1, positive),
            rod=(0.05, positive),
            axis=((0.0, 0.0, 1.0), optional(also(vector, zero=(0.0, 0.0, 0.0)))),
            mass=((10.0, 5.0), optional(also(vector, negative=(1.0, -1.0)))),
            pressure=(2e7, upper),
            damping=(1.0, not_negative),
            armature=(2.0, not_negative),
            motor=(True, flag),
        ),
        call(
            "JointForce",
            cmb.JointForce,
            name=("bearing", name),
            joint=("left", text),
            characteristic=(BEARING, but(thing, "function")),
        ),
        call(
            "CouplingForce",
            cmb.CouplingForce,
            name=("belt", name),
            coefficients=({"left": 1.0, "right": 2.0}, but(mapping, "unknown", "misspelt", "number key")),
            characteristic=(BEARING, but(thing, "function")),
        ),
        call(
            "PointForce",
            cmb.PointForce,
            name=("rope", name),
            **BETWEEN,
            **POINTS,
            characteristic=(BEARING, but(thing, "function")),
        ),
        call(
            "Bushing",
            cmb.Bushing,
            name=("mount", name),
            **BETWEEN,
            frame_a=(cmb.Frame(), thing),
            frame_b=(cmb.Frame((0.1, 0.0, 0.0)), thing),
            stiffness=([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], vector),
            damping=([0.1] * 6, vector),
        ),
        call(
            "SlidingFriction",
            cmb.SlidingFriction,
            words=("friction",),
            name=("drag", name),
            on=("tool", text),
            friction=(0.3, but(not_negative, "negative", "text")),
        ),
        call(
            "PinFriction",
            cmb.PinFriction,
            words=("friction",),
            name=("rub", name),
            on=("tip", text),
            friction=(0.3, but(not_negative, "negative", "text")),
            radius=(0.02, positive),
        ),
        call(
            "GearFriction",
            cmb.GearFriction,
            words=("friction",),
            name=("mesh", name),
            on=("gear", text),
            efficiency=(0.9, positive),
            transition_rate=(1e-3, positive),
        ),
        call(
            "Actuator",
            cmb.Actuator,
            words=("actuator",),
            joint=("left", name),
            name=("motor", but(name, "empty")),
            effort=(10.0, upper),
            gear=(2.0, also(number, zero=0.0)),
            bodies=(
                ("ground", "arm"),
                lambda base: {"one": ("arm",), "same": ("arm", "arm"), "numbers": (1, 2), "text": "ab", "number": 3},
            ),
            axis=((0.0, 0.0, 1.0), also(vector, zero=(0.0, 0.0, 0.0))),
            continuous=(5.0, optional(positive)),
            speed=(300.0, optional(positive)),
        ),
        call(
            "Load",
            cmb.Load,
            words=("load",),
            name=("wind", name),
            body=("arm", text),
            frame=(cmb.Frame((1.0, 0.0, 0.0)), thing),
            force=((1.0, 2.0, 3.0), vector),
            moment=((0.1, 0.2, 0.3), vector),
            axes=("frame", choice),
        ),
    ]
    return found


def _limits(base: Any) -> dict[str, Any]:
    wrong = {how: {"x": value} for how, value in pair((-1.0, 1.0)).items()}
    return wrong | {
        "unknown": {"nosuchname": (-1.0, 1.0)},
        "no suffix": (-1.0, 1.0),
        "text all": "x",
        "number all": 3.0,
    }


# -- machines and their methods ----------------------------------------------------------------------------


def _bead(**changed: Any) -> cmb.FunctionPlant:
    given = dict(
        name="bead",
        coordinates=("x", "y"),
        M=lambda q: 2.0 * np.eye(2),
        h=lambda q, v: [0.0, 19.6],
        Phi=lambda q: [q[1] - q[0]],
        A=lambda q: [[-1.0, 1.0]],
        Adot_v=lambda q, v: [0.0],
    )
    return cmb.FunctionPlant(**(given | changed))


def _machines() -> list[Call]:
    plant, crank = W.plant, W.crank
    found = [
        call(
            "Mechanism",
            cmb.Mechanism,
            words=("mechanism",),
            name=("machine", name),
            bodies=(plant.bodies, parts),
            joints=(plant.joints, parts),
            loops=(plant.loops, parts),
            springs=((cmb.JointSpring("spring", "left", 1.0),), parts),
            actuators=(plant.actuators, parts),
            gravity=((0.0, -9.81, 0.0), vector),
            source=("a paper", text),
        ),
        call(
            "FunctionPlant",
            _bead,
            words=("plant",),
            name=("bead", name),
            coordinates=(("x", "y"), but(new_names, "one too many")),
            M=(lambda q: np.eye(2), function),
            h=(lambda q, v: [0.0, 19.6], function),
            Phi=(lambda q: [q[1] - q[0]], function),
            A=(lambda q: [[-1.0, 1.0]], function),
            Adot_v=(lambda q, v: [0.0], function),
            B=(np.eye(2)[:, :1], but(optional(matrix), "one row more")),
            actuators=(("x",), new_names),
            rows=(("line",), optional(new_names)),
            potential=(lambda q: 19.6 * q[1], optional(function)),
            neutral=([0.0, 0.0], optional(vector)),
            units=(("m", "m"), optional(but(new_names, "twice", "empty name", "dot"))),
            row_units=(("m",), optional(but(new_names, "twice", "empty name", "dot"))),
            limits=({"x": (-1.0, 1.0)}, optional(_limits)),
            effort=([5.0], but(optional(vector), "inf", "number")),
            size=(1.0, positive),
            sketch=(lambda q: [q], optional(but(function, "returns None", "returns text", "takes nothing"))),
            source=("a paper", text),
        ),
    ]
    for label, machine, q, v in (("five-bar", plant, W.q, W.v), ("crank", crank, crank.neutral(), np.zeros(crank.nv))):
        u = f"{label}."
        metrics = {"metric": ("mass", choice)}
        found += [
            call(
                u + "terms",
                machine.terms,
                q=(q, vector),
                v=(v, vector),
                t=(0.0, number),
                project=(True, flag),
                close=(True, flag),
                cap=(machine.nv, optional(but(count, "zero"))),
            ),
            call(u + "integrate", machine.integrate, q=(q, vector), dq=(v, vector)),
            call(u + "difference", machine.difference, q0=(q, vector), q1=(q, vector)),
            call(u + "position_rate", machine.position_rate, q=(q, vector), v=(v, vector)),
            call(u + "residual", machine.residual, q=(q, vector)),
            call(u + "jacobian", machine.jacobian, q=(q, vector)),
            call(u + "loop_residuals", machine.loop_residuals, q=(q, vector)),
            call(u + "closure_error", machine.closure_error, q=(q, vector)),
            call(u + "close", machine.close, q=(q, vector), accuracy=(1e-14, optional(positive)), **metrics),
            call(u + "project_velocity", machine.project_velocity, q=(q, vector), v=(v, vector), **metrics),
            call(u + "generic_rank", machine.generic_rank, q=(q, vector)),
            call(u + "rolling_rows", machine.rolling_rows, q=(q, vector)),
            call(u + "diagnose", machine.diagnose, q=(q, vector)),
            call(u + "configuration", machine.configuration, words=("coordinate",), q=(q, but(vector, "mapping"))),
            call(
                u + "pack",
                machine.pack,
                words=(machine.position_names[0], "coordinate"),
                values=({machine.position_names[0]: 0.3}, mapping),
                base=(q, optional(vector)),
            ),
            call(u + "index", machine.index, coordinate=(machine.velocity_names[0], known)),
            call(
                u + "velocity_of",
                machine.velocity_of,
                positions=(
                    [0],
                    lambda base: {
                        "None": None,
                        "text": "left",
                        "texts": ["left"],
                        "number": 0.5,
                        "too large": [99],
                        "negative": [-9],
                        "fraction": [0.5],
                        "bool": [True],
                        "object": UNKNOWN_,
                    },
                ),
            ),
        ]
    guess = {"guess": (W.q, optional(but(vector, "mapping")))}
    found += [
        call("assemble", plant.assemble, words=("q",), **guess, left=(2.1, number), right=(1.0, number)),
        call("link_poses", plant.link_poses, q=(W.q, vector)),
        call("link_index", plant.link_index, body=("left_upper", known)),
        call("pose", plant.pose, q=(W.q, vector), body=("left_upper", known)),
        call("point", plant.point, q=(W.q, vector), body=("left_upper", known), point=((0.1, 0.0, 0.0), vector)),
        call("path_mask", plant.path_mask, link=(3, but(count, "negative", "zero"))),
        call("load_matrix", W.loaded.load_matrix, q=(W.q, vector)),
        call(
            "load_values",
            W.loaded.load_values,
            words=("load",),
            values=({"wind": (1.0, 2.0, 3.0)}, optional(but(mapping, "pair inside"))),
        ),
        call(
            "with_configurations",
            plant.with_configurations,
            words=("configuration",),
            values=({"home": W.q}, but(mapping, "pair inside")),
        ),
        call("with_loads", W.loaded.with_loads, words=("load",), values=({"wind_fx": 2.0}, mapping)),
        call(
            "steady_motion",
            cmb.steady_motion,
            plant=(W.turning, thing),
            q=([0.0, 0.9], vector),
            v=([4.0, 0.0], vector),
            hold=(("hub",), names),
            hold_rates=(("hub",), names),
        ),
        call("standing", W.driven.standing, q=(W.q, vector)),
        call("lying_flat", plant.lying_flat, q=(W.q, vector)),
        call(
            "with_motions", W.driven.with_motions, words=("motion",), values=({"drive": 2.0}, mapping), t=(0.1, number)
        ),
        call("with_motion_values", W.driven.with_motion_values, words=("motion",), values=([[2.1, 0.0, 0.0]], matrix)),
        call(
            "motion_values",
            W.driven.motion_values,
            words=("motion",),
            values=({"drive": 2.0}, optional(mapping)),
            t=(0.1, number),
        ),
        call("motion_entries", W.driven.motion_entries, words=("motion",), name=("drive", known)),
        call(
            "motion_efforts",
            W.driven.motion_efforts,
            multipliers=([1.0, 2.0, 3.0], vector),
            values=([[2.1, 0.0, 0.0]], optional(matrix)),
        ),
        call(
            "with_parameters", plant.with_parameters, words=("parameter",), values=({"left_lower_mass": 2.5}, mapping)
        ),
        call("with_pin_forces", _with_pin_forces, joint=("left", known)),
        call("save", plant.save, path=(W.folder / "machine.yaml", path)),
        call("with_parts", plant.with_parts, gravity=((0.0, -1.6, 0.0), vector), name=("moon", name)),
        call("without", _without, constraint=("tip", known)),
        call("with_loops", _with_loop, words=("mechanism", "part"), loop=(cmb.Coupling("belt", {"left": 1.0}), thing)),
        call(
            "crank.with_loops",
            _crank_with_loop,
            words=("coordinate", "part", "plant"),
            loop=(cmb.Coupling("gear", {crank.velocity_names[0]: 1.0}), thing),
        ),
        call(
            "check_derivatives",
            crank.check_derivatives,
            q=([1.2, -2.4], vector),
            v=([0.3, 0.1], vector),
            tolerance=(1e-6, positive),
        ),
        call(
            "to_iosystem",
            plant.to_iosystem,
            words=("coordinate", "output"),
            point=(W.point, thing),
            coordinates=(JOINTS, optional(names)),
            inputs=(JOINTS, optional(names)),
            outputs=(JOINTS, optional(names)),
            absolute=(False, flag),
            name=("system", optional(text)),
        ),
        call("as_at", plant.as_at, terms=(W.terms, thing)),
    ]
    return found


def _with_pin_forces(joint: Any) -> Any:
    return W.plant.with_pin_forces(joint)


def _without(constraint: Any) -> Any:
    return W.plant.without(constraint)


def _with_loop(loop: Any) -> Any:
    return W.plant.with_loops(loop)


def _crank_with_loop(loop: Any) -> Any:
    return W.crank.with_loops(loop)


UNKNOWN_ = object()


def _plants() -> list[Call]:
    effort = {"effort": (10.0, upper)}
    return [
        call("plants.andrews", plants.andrews, **effort),
        call("plants.bricard", plants.bricard, **effort),
        call("plants.delta", plants.delta, joints=("ball", choice), load=(0.1, not_negative), **effort),
        call("plants.five_bar", plants.five_bar, cut=("tip", choice), closure=("line", choice), **effort),
        call("plants.valve_train", plants.valve_train, stiffness=(2e4, positive), preload=(100.0, not_negative)),
        call("plants.excavator", plants.excavator, pressure=(3e7, upper), damping=(1.0, not_negative)),
        call(
            "plants.governor",
            plants.governor,
            words=("effort",),
            stiffness=(8e5, number),
            damping=(4e4, not_negative),
            motor=(5.0, optional(upper)),
        ),
        call(
            "plants.grasping_arms",
            plants.grasping_arms,
            table=(False, flag),
            object_mass=(6.0, positive),
            effort=((150.0, 80.0, 25.0), but(vector, "inf", "number")),
        ),
        call("plants.biped", plants.biped, **effort),
        call("plants.leg", plants.leg, base=("slider", choice), foot=("stick", choice), **effort),
        call(
            "plants.loader",
            plants.loader,
            words=("effort",),
            closure=("line", choice),
            load=(10.0, not_negative),
            lift_effort=(1e5, upper),
            tilt_effort=(1e5, upper),
        ),
        call("plants.n_four_bar", plants.n_four_bar, n=(2, count), **effort),
        call("plants.parallel_four_bar", plants.parallel_four_bar, **effort),
        call("plants.parallelogram", plants.parallelogram, coordinates=("cartesian", choice), **effort),
        call(
            "plants.particle_on_circle",
            plants.particle_on_circle,
            mass=(1.0, positive),
            radius=(1.0, positive),
            gravity=((0.0, -9.81), vector),
        ),
        call(
            "plants.pendulum",
            plants.pendulum,
            mass=(1.0, positive),
            length=(1.0, positive),
            closure=("revolute", choice),
            **effort,
        ),
        call(
            "plants.slider_crank",
            plants.slider_crank,
            mass=(1.0, positive),
            length=(1.0, positive),
            gravity=(9.81, number),
            actuated=(("q1",), names),
            **effort,
        ),
        call("plants.stewart", plants.stewart, carrier=("leg", choice), **effort),
        call("plants.three_rrr", plants.three_rrr, plane=("horizontal", choice), closure=("line", choice), **effort),
        call(
            "plants.two_arms",
            plants.two_arms,
            closure=("weld", choice),
            object_mass=(6.0, positive),
            effort=((150.0, 80.0, 25.0), but(vector, "inf", "number")),
        ),
    ]


def no_effort(t, terms, state):
    return np.zeros(2)


# -- dynamics ----------------------------------------------------------------------------------------------


def _dynamics() -> list[Call]:
    plant = {"plant": (W.plant, thing)}
    q, v, u = {"q": (W.q, vector)}, {"v": (W.v, vector)}, {"u": (W.u, optional(vector))}
    f = {"f": (np.zeros(4), vector)}
    terms = {"terms": (W.terms, thing)}
    form = {"formulation": (cmb.dynamics.Gauss(), optional(thing))}
    return [
        call("forward_dynamics", cmb.forward_dynamics, **plant, **q, **v, **u, **form),
        call("reactions", cmb.reactions, **plant, **q, v=(W.v, optional(vector)), **u, axes=("world", choice)),
        call("constraint_force", cmb.constraint_force, **plant, **q, **v, **u, **form),
        call(
            "inverse_dynamics",
            cmb.inverse_dynamics,
            **plant,
            **q,
            **v,
            vdot=(W.v, vector),
            weight=(np.eye(2), optional(metric)),
            strict=(False, flag),
        ),
        call(
            "derivatives",
            cmb.dynamics.derivatives,
            **plant,
            **q,
            **v,
            **u,
            a=(W.v, optional(vector)),
            lam=(W.u, optional(vector)),
        ),
        call("acceleration_derivatives", cmb.dynamics.acceleration_derivatives, **plant, **q, **v, **u),
        call("parameters", cmb.dynamics.parameters, **plant),
        call(
            "parameter_derivatives",
            cmb.parameter_derivatives,
            **plant,
            **q,
            **v,
            **u,
            parameters=(("left_lower_mass", "gravity_y"), optional(names)),
        ),
        call(
            "inverse_dynamics_derivatives",
            cmb.dynamics.inverse_dynamics_derivatives,
            **plant,
            **q,
            **v,
            a=(W.v, vector),
        ),
        call(
            "acceleration",
            cmb.dynamics.acceleration,
            **terms,
            **f,
            **form,
            baumgarte=((10.0, 10.0), optional(_gains_of_rows)),
        ),
        call(
            "constrained_motion",
            cmb.dynamics.constrained_motion,
            **terms,
            **f,
            **form,
            baumgarte=((10.0, 10.0), optional(_gains_of_rows)),
        ),
        call("Gauss", cmb.dynamics.Gauss, rank_tolerance=(1e-9, optional(positive))),
        call(
            "NamedFormulation",
            NamedFormulation,
            name=("udwadia-kalaba", choice),
            pseudoinverse=("svd", optional(choice)),
            rank_tolerance=(1e-9, optional(positive)),
        ),
        call(
            "NamedFormulation.motion", NamedFormulation("lagrange").motion, **terms, **f, target=(W.u, optional(vector))
        ),
        call(
            "NamedFormulation.acceleration",
            NamedFormulation("lagrange").acceleration,
            **terms,
            **f,
            target=(W.u, optional(vector)),
        ),
        call("NamedFormulation.at", NamedFormulation("lagrange").at, **terms),
        call(
            "pseudoinverse",
            pseudoinverse,
            A=(np.eye(2, 3), but(matrix, "one row more", "one column more")),
            method=("svd", choice),
            tolerance=(1e-9, optional(not_negative)),
            absolute=(0.0, not_negative),
            cap=(2, optional(but(count, "zero"))),
        ),
        call("impact", cmb.impact, **plant, **q, **v, restitution=(0.5, also(share, wrong={"nosuchname": 0.5}))),
        call(
            "InverseKinematics",
            cmb.InverseKinematics,
            words=("coordinate",),
            plant=(W.plant, thing),
            task=(("left", "right"), thing),
            samples=(2, count),
            seed=(0, but(count, "zero")),
        ),
        call(
            "InverseKinematics.call",
            cmb.InverseKinematics(W.plant, ("left", "right")),
            target=([2.1, 1.0], vector),
            guess=(W.q, optional(vector)),
        ),
        call(
            "singular_configuration",
            cmb.singular_configuration,
            words=("pose",),
            plant=(W.plant, thing),
            q=(W.pose.q, vector),
            v=(W.v, optional(vector)),
            tolerance=(1e-7, positive),
        ),
        call(
            "nearest_singular_configuration",
            cmb.nearest_singular_configuration,
            plant=(W.plant, thing),
            q=(W.pose.q, vector),
            within=(0.1, positive),
        ),
        call(
            "SingularConfiguration.acceleration",
            W.pose.acceleration,
            f=(np.zeros(4), vector),
            v=(W.v, optional(vector)),
            branch=(0, optional(index)),
        ),
        call("SingularConfiguration.branch_of", W.pose.branch_of, v=(W.pose.branches[0].direction, vector)),
        call("SingularConfiguration.contains", W.pose.contains, v=(W.pose.branches[0].direction, vector)),
        call("SingularConfiguration.on_branch", W.pose.on_branch, direction=(W.pose.branches[0].direction, vector)),
        call(
            "SingularConfiguration.toward", W.pose.toward, branch=(0, index), v=(W.pose.branches[0].direction, vector)
        ),
        call("SingularConfiguration.speed", W.pose.speed, v=(W.v, vector)),
        call("SingularConfiguration.terms", W.pose.terms, v=(W.pose.branches[0].direction, vector), t=(0.0, number)),
        call("Constant", cmb.Constant, position=([2.1, 1.0], _free_vector)),
        call(
            "Sine",
            cmb.Sine,
            centre=([2.1, 1.0], _free_vector),
            amplitude=([0.1, 0.1], _broadcast),
            frequency_hz=(0.5, also(_broadcast)),
            phase=(0.0, _broadcast),
        ),
        call(
            "Quintic",
            cmb.Quintic,
            start=([2.1, 1.0], _free_vector),
            goal=([2.0, 0.9], _free_vector),
            duration=(0.6, positive),
            begin=(0.0, number),
        ),
        call(
            "Spline",
            cmb.Spline,
            words=("position",),
            times=([0.0, 0.5, 1.0, 1.5], also(vector, back=[0.0, 1.0, 0.5, 2.0])),
            positions=(np.ones((4, 2)), but(matrix, "one column more")),
            periodic=(False, flag),
            monotone=(False, flag),
        ),
        call(
            "CamProfile",
            cmb.CamProfile,
            words=("position",),
            times=([0.0, 0.5, 1.0, 1.5], also(vector, back=[0.0, 1.0, 0.5, 2.0])),
            positions=(np.ones((4, 2)), but(matrix, "one column more")),
            law=("cycloidal", known),
            periodic=(False, flag),
        ),
        call(
            "JerkLimited",
            cmb.JerkLimited,
            start=([2.1, 1.0], _free_vector),
            goal=([2.0, 0.9], _free_vector),
            velocity=(0.6, but(upper, "pair")),
            acceleration=(2.0, but(upper, "pair")),
            jerk=([20.0, 30.0], but(vector, "number", "inf", "too short")),
            begin=(0.0, number),
            synchronised=(True, flag),
        ),
        call(
            "Joined",
            cmb.Joined,
            words=("pause",),
            motions=([cmb.Quintic([0.0], [0.0], 1.0), 0.5], but(parts, "number inside", "twice")),
            begin=(0.0, number),
            periodic=(False, flag),
        ),
        call(
            "ElectronicCam",
            cmb.ElectronicCam,
            profile=(cmb.Quintic([0.0], [1.0], 1.0), thing),
            master=(cmb.Quintic([0.0], [1.0], 1.0), thing),
        ),
        call(
            "InverseMotion",
            cmb.InverseMotion,
            words=("coordinate", "q"),
            plant=(W.plant, thing),
            task=(JOINTS, names),
            motion=(cmb.CamProfile([0.0, 1.0], [[2.1, 1.0], [2.2, 0.9]]), thing),
            coordinates=(JOINTS, names),
            start=(W.q, optional(vector)),
        ),
    ]


def _gains_of_rows(base: Any) -> dict[str, Any]:
    return {
        "number": 3.0,
        "text": "ab",
        "three": (1.0, 2.0, 3.0),
        "nan": (NAN, 1.0),
        "complex": (1.0j, 1.0),
        "bools": (True, True),
        "negative": (-1.0, 1.0),
        "object": UNKNOWN_,
    }


def _free_vector(base: Any) -> dict[str, Any]:
    """A vector whose length is free."""
    return {k: x for k, x in vector(base).items() if k not in ("number", "too long", "too short")}


def _broadcast(base: Any) -> dict[str, Any]:
    """A number or as many as there are."""
    found = vector(np.resize(base, 2))
    return {k: x for k, x in found.items() if k not in ("number", "too short")} | {"bool": True}


NAN = float("nan")


# -- simulation --------------------------------------------------------------------------------------------


def _no_events(base: Any) -> dict[str, Any]:
    return {"number": 3.0, "text": "level", "numbers": [1.0], "None inside": [None], "None": None}


def _no_direction(base: Any) -> dict[str, Any]:
    return {"text": "up", "None": None, "bool": True, "two": 2, "half": 0.5, "nan": NAN}


def _fmus() -> list[Call]:
    """FMUs, written without a compiler; to read them needs one, and an extra."""
    from cmbcontrol import fmu

    where = {"plant": (W.plant, thing), "path": (W.folder / "machine.fmu", path), "binary": False, "overwrite": True}
    return [
        call(
            "fmu.export",
            fmu.export,
            **where,
            q=(W.q, optional(vector)),
            v=([0.0] * 4, optional(vector)),
            u=([0.0] * 2, optional(vector)),
            version=("3.0", known),
            kind=("ModelExchange", known),
            bodies=(("left_upper",), optional(but(names, "empty"))),
            internal_step=(1e-3, positive),
            stop=(5.0, positive),
        ),
        call("fmu.export with a law", fmu.export, **where, law=(W.law, optional(law)), references=("inside", known)),
    ]


def _files_of_machines() -> list[Call]:
    """Readers and writers of all formats, of files that are there."""
    from cmbcontrol import formats

    found = []
    for kind, suffix in (("", "yaml"), ("_urdf", "urdf"), ("_sdf", "sdf"), ("_mjcf", "mjcf")):
        read, write = getattr(formats, f"read{kind}"), getattr(formats, f"write{kind}")
        file = W.folder / f"machine{kind}.{suffix}"
        write(W.plant, file)
        found.append(call(f"formats.write{kind}", write, machine=(W.plant, thing), path=(file, path)))
        if kind != "_mjcf":  # which needs an extra
            missing = f"nosuchfile.{suffix}"
            found.append(
                call(f"formats.read{kind}", read, words=("cannot be read",), path=(file, also(path, missing=missing)))
            )
    return found


def _simulation() -> list[Call]:
    from cmbcontrol import plot
    from cmbcontrol.scene import has_look, scene

    simulate = functools.partial(
        cmb.simulate, **{"plant": W.plant, "q0": W.q, "t_end": 0.01, "output_times": 0.005, "rtol": 1e-4, "atol": 1e-4}
    )
    in_time = {"t_end": (0.01, positive), "rtol": (1e-4, optional(positive)), "atol": (1e-4, optional(positive))}
    switch = {"name": ("tip", name), "at": (0.01, optional(not_negative))}
    found = [
        call(
            "simulate",
            cmb.simulate,
            plant=(W.plant, thing),
            controller=(W.law, law),
            q0=(W.q, vector),
            v0=(W.v, optional(vector)),
            loads=({}, but(parts_of_none, "None")),
            motions=({}, but(parts_of_none, "None")),
            told=(False, flag),
            output_times=(
                0.005,
                optional(
                    also(
                        positive,
                        late=[0.0, 9.0],
                        back=[0.005, 0.0],
                        before=[-0.1, 0.0],
                        nan_inside=[0.0, NAN],
                        texts=["0.0"],
                    )
                ),
            ),
            **in_time,
        ),
        call(
            "simulate, options",
            simulate,
            words=("constraint",),
            method=("dop853", choice),
            formulation=(cmb.dynamics.Gauss(), optional(thing)),
            stabilisation=("projection", choice),
            switches=((), but(parts_of_none, "None")),
        ),
        call(
            "Integrator",
            cmb.Integrator,
            words=("method",),
            name=("dop853", choice),
            rtol=(1e-9, optional(positive)),
            atol=(1e-9, optional(positive)),
            max_step=(1.0, upper),
            max_steps=(1000, count),
            pass_within=(1e-4, not_negative),
        ),
        call("Integrator, rk4", functools.partial(cmb.Integrator, "rk4"), step=(0.001, positive)),
        call(
            "Stabilisation",
            cmb.Stabilisation,
            kind=("projection", choice),
            metric=("mass", choice),
            energy=(False, flag),
            every=(1, count),
        ),
        call(
            "Stabilisation, gains",
            functools.partial(cmb.Stabilisation, "baumgarte"),
            gains=((10.0, 10.0), but(_gains_of_rows)),
        ),
        call(
            "simulate, local",
            lambda **given: simulate(method=cmb.Integrator("radau", **given)),
            coordinates=(JOINTS, optional(names)),
            parametrization=None,
        ),
        call(
            "Integrator, parametrization",
            functools.partial(cmb.Integrator, "radau"),
            parametrization=("tangent", optional(choice)),
        ),
        call("simulate, progress", simulate, progress=(False, but(flag, "None"))),
        call("Engage", cmb.Engage, words=("time",), **switch, capture=(False, flag), within=(1e-6, positive)),
        call("Release", cmb.Release, words=("time",), **switch),
        call("Lock", cmb.Lock, words=("time",), **switch),
        call("Unlock", cmb.Unlock, words=("time",), **switch),
        call(
            "Release, when",
            functools.partial(cmb.Release, "tip"),
            when=(lambda t, q, v: t, but(function, "returns None", "returns text", "takes nothing", "None")),
        ),
        call(
            "Contact",
            cmb.Contact,
            name=("floor", name),
            normal=((0.0, 1.0, 0.0), optional(but(vector, "too short", "too long"))),
            side=(1, also(number, zero=0, two=2)),
            restitution=(0.1, share),
            rest_speed=(1e-3, not_negative),
            friction=(0.5, optional(not_negative)),
        ),
        call(
            "Event",
            cmb.Event,
            words=("event",),
            function=(lambda t, q, v: t, but(function, "returns None", "returns text", "takes nothing")),
            name=("level", but(name, "empty", "dot", "comma")),
            direction=(1, _no_direction),
            terminal=(False, flag),
        ),
        call(
            "simulate, events",
            simulate,
            events=((), _no_events),
            limits=("warn", choice),
        ),
        call(
            "Stepper",
            cmb.Stepper,
            plant=(W.plant, thing),
            q0=(W.q, vector),
            v0=(W.v, optional(vector)),
            t_end=(0.01, positive),
            method=("auto", choice),
            rtol=(1e-4, optional(positive)),
            atol=(1e-4, optional(positive)),
            events=((), _no_events),
            limits=("warn", choice),
            motions=({}, but(parts_of_none, "None")),
        ),
        call(
            "Stepper.step",
            lambda u, dt: cmb.Stepper(W.plant, W.q).step(u, dt),
            words=("efforts",),
            u=(np.zeros(W.plant.nu), vector),
            dt=(1e-3, positive),
        ),
        *_files_of_machines(),
        *_fmus(),
        call("load_run", cmb.load_run, words=("run",), path=(W.run_file, also(path, missing="nosuchfile.nc"))),
        call("Simulation.save", W.run.save, path=(W.folder / "again.nc", path)),
        call("Simulation.singularities", W.run.singularities, plant=(W.plant, optional(thing))),
        call("plot.responses", plot.responses, run=(W.run, thing), velocities=(False, flag)),
        call("plot.reports", plot.reports, run=(W.run, thing)),
        call("plot.comparison", plot.comparison, runs=({"a": W.run}, mapping)),
        call(
            "plot.profile",
            plot.profile,
            reference=(cmb.Quintic([0.0, 1.0], [1.0, 2.0], 1.0), thing),
            times=([0.0, 0.5, 1.0], optional(but(_free_vector, "row"))),
            names=(("lift", "table"), optional(but(new_names, "dot"))),
            unit=("m", text),
        ),
        call("plot.accuracy", plot.accuracy, run=(W.run, thing)),
        call("plot.forces", plot.forces, run=(W.run, thing)),
        call(
            "plot.mechanism", plot.mechanism, words=("coordinate",), plant=(W.plant, thing), q=(W.q, optional(vector))
        ),
        call("Plant.plot", W.plant.plot, words=("coordinate",), q=(W.q, optional(vector))),
        call("scene.scene", scene, plant=(W.plant, thing)),
        call("scene.has_look", has_look, plant=(W.plant, thing)),
        call(
            "report",
            cmb.report,
            words=("report", "title", "run"),
            subject=(W.run, thing),
            path=(W.folder / "run.html", path),
            title=("run", optional(text)),
        ),
        call(
            "report of a machine",
            cmb.report,
            words=("coordinate", "report"),
            subject=(W.plant, thing),
            path=(W.folder / "machine.html", path),
            q=(W.q, optional(vector)),
        ),
        call("plot.save", plot.save, figure=(plot.poles(W.lin), thing), path=(W.folder / "poles.png", path)),
        call("plot.poles", plot.poles, lin=(W.lin, thing)),
        call(
            "plot.bode",
            plot.bode,
            linear_model=(W.lin, thing),
            omega=(np.array([0.1, 1.0, 10.0]), optional(but(_free_vector, "number"))),
            inputs=(W.lin.inputs[:1], optional(names)),
            outputs=(W.lin.outputs[:1], optional(names)),
            grid=(None, optional(flag)),
            dB=(False, flag),
        ),
        call("plot.effort_over_speed", plot.effort_over_speed, run=(W.run, thing), motors=(["left"], optional(names))),
        call("plot.nyquist", plot.nyquist, loop=(W.loop, thing)),
        call("plot.nichols", plot.nichols, loop=(W.loop, thing)),
        call(
            "plot.modes",
            plot.modes,
            modes=(W.lin, thing),
            which=([0], optional(_indices)),
            amplitude=(0.1, optional(positive)),
        ),
        call("plot.root_locus", plot.root_locus, locus=(W.locus, thing), grid=(True, flag)),
        call(
            "plot.measured_response",
            plot.measured_response,
            found=(W.measured, thing),
            outputs=(["left"], optional(names)),
            dB=(True, flag),
        ),
        call("plot.tuning", plot.tuning, result=(W.tuned, thing)),
        call("plot.goals", plot.goals, tuned=(W.tuned_law, thing)),
        call(
            "plot.sigma",
            plot.sigma,
            words=("what", "input", "output", "limit"),
            what=(W.lin, thing),
            inputs=(W.lin.inputs[:1], optional(names)),
            outputs=(W.lin.outputs[:1], optional(names)),
            omega=(np.array([0.1, 1.0, 10.0]), optional(but(_free_vector, "number"))),
            dB=(False, flag),
            limit=(0.1, optional(positive)),
            machines=(2, but(count, "zero")),
            seed=(0, seed),
        ),
        call(
            "plot.mu",
            plot.mu,
            stability=(W.stability, thing),
            omega=(np.array([0.1, 1.0, 10.0]), optional(but(_free_vector, "number"))),
        ),
        call("plot.pole_sets", plot.pole_sets, certificate=(W.certificate, thing), legend=(True, flag)),
        call(
            "plot.animate",
            plot.animate,
            run=(W.run, thing),
            path=(W.folder / "run.gif", path),
            fps=(25.0, positive),
            speed=(1.0, positive),
            trace=(True, flag),
        ),
        call(
            "plot.animate_mode",
            plot.animate_mode,
            modes=(W.lin, thing),
            mode=(0, index),
            path=(W.folder / "mode.gif", path),
            amplitude=(0.1, optional(positive)),
            cycles=(1, count),
            seconds=(0.1, positive),
            decay=(False, flag),
            fps=(10.0, positive),
            trace=(False, flag),
        ),
        call("plot.actuation", plot.actuation, run=(W.run, thing)),
        call(
            "view",
            cmb.view,
            words=("view",),
            subject=(W.run, thing),
            path=(W.folder / "view.html", optional(path)),
            title=("run", optional(text)),
            trace=([("left_upper", (1.0, 0.0, 0.0))], optional(_traces)),
            speed=(0.5, optional(positive)),
        ),
        call(
            "view of modes",
            cmb.view,
            words=("view",),
            subject=(W.lin, thing),
            path=(W.folder / "modes.html", optional(path)),
            which=([0], optional(_indices)),
            amplitude=(0.1, optional(positive)),
            title=("modes", optional(text)),
        ),
        call(
            "view of a machine",
            cmb.view,
            words=("coordinate", "view"),
            subject=(W.plant, thing),
            q=(W.q, optional(vector)),
            path=(W.folder / "machine.html", optional(path)),
            title=("machine", optional(text)),
        ),
        call("View.save", cmb.view(W.plant, q=W.q).save, path=(W.folder / "view.html", path)),
        call(
            "viewer.live",
            _live,
            words=("coordinate", "machine"),
            plant=(W.plant, thing),
            q=(W.q, optional(vector)),
            host=("127.0.0.1", text),
            port=(8751, count),
        ),
        call("View.frame", cmb.view(W.plant, q=W.q).frame, height=(400, count)),
    ]
    return found


def _live(**options: Any) -> None:
    """A server that ends at once, where its extra is installed."""
    with contextlib.suppress(cmb.errors.MissingExtraError), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the libraries of the server
        cmb.viewer.live(**options).stop()


def _traces(base: Any) -> dict[str, Any]:
    return {
        "text": "left_upper",
        "number": 1.0,
        "one": [3],
        "misspelt": [("left_uper", (0, 0, 0))],
        "short": [("tip",)],
    }


def parts_of_none(base: Any) -> dict[str, Any]:
    return {
        "text": "tip",
        "number": 3,
        "text inside": ["tip"],
        "None inside": [None],
        "object": UNKNOWN_,
        "class inside": [cmb.Lock],
        "unknown": [cmb.Release("nosuchname", at=0.005)],
    }


def _indices(base: Any) -> dict[str, Any]:
    return {
        "text": "first",
        "texts": ["0"],
        "fraction": [0.5],
        "too large": [99],
        "bool": [True],
        "none inside": [None],
        "object": UNKNOWN_,
    }


# -- linear ------------------------------------------------------------------------------------------------


def _linear() -> list[Call]:
    plant, point = {"plant": (W.plant, thing)}, {"point": (W.point, thing)}
    coordinates = {
        "coordinates": (
            JOINTS,
            optional(also(names, matrix=np.ones((2, 3)), nan=np.full((2, 4), NAN), complex=np.ones((2, 4)) * 1.0j)),
        )
    }
    signals = {"inputs": (JOINTS, optional(names)), "outputs": (JOINTS, optional(names))}
    delays = {"delay": (0.01, any_motor_time)}
    y = np.zeros(2)
    return [
        call(
            "trim",
            cmb.trim,
            words=("coordinate",),
            **plant,
            q=(W.q, but(vector, "mapping")),
            u=({"left": 0.0}, optional(mapping)),
            hold=(("right",), optional(names)),
            tolerance=(1e-9, positive),
        ),
        call("trim, u", cmb.trim, plant=W.plant, q=W.q, u=(W.point.u, optional(but(vector, "mapping", "number")))),
        call(
            "trim, preload",
            cmb.trim,
            plant=W.plant,
            q=W.q,
            weight=(np.eye(2), optional(metric)),
            preload=(0.0, optional(also(but(number, "pair"), names={"nosuchname": 1.0}, texts={"left": "1"}))),
        ),
        call(
            "trim, free",
            cmb.trim,
            plant=W.plant,
            q=W.q,
            u={"left": 0.0},
            free=(W.plant.velocity_names, but(names, "None")),
            stable=(False, flag),
            limits=("hold", choice),
        ),
        call(
            "OperatingPoint.at",
            cmb.OperatingPoint.at,
            words=("coordinate",),
            **plant,
            q=(W.q, but(vector, "mapping")),
            u=(W.u, but(vector, "number")),
            v=(W.v, optional(vector)),
        ),
        call("OperatingPoint.to_control", W.point.to_control, model=(W.lin, optional(thing))),
        call(
            "linearize",
            cmb.linearize,
            words=("coordinate", "input", "output"),
            **plant,
            **point,
            **coordinates,
            **signals,
            tolerance=(1e-7, positive),
        ),
        call(
            "affine_approximation",
            cmb.affine_approximation,
            words=("coordinate", "input", "output"),
            **plant,
            **point,
            **coordinates,
            **signals,
        ),
        call(
            "uncertain_model",
            linear.uncertain_model,
            words=("coordinate", "input", "output", "parameter", "interval"),
            **plant,
            **point,
            uncertain=({"left_upper_mass": (2.0, 6.0)}, mapping),
            **coordinates,
            **signals,
        ),
        call("UncertainModel.at", W.uncertain.at, values=({"left_upper_mass": 3.0}, mapping)),
        call("UncertainModel.machine", W.uncertain.machine, values=({"left_upper_mass": 3.0}, mapping)),
        call("UncertainModel.with_delays", W.uncertain.with_delays, longest=({"left_effort": 0.01}, mapping)),
        call("UncertainModel.with_input_uncertainty", W.uncertain.with_input_uncertainty, weights={"left_effort": 0.2}),
        call("underlying_ode", cmb.linear.underlying_ode, words=("coordinate",), **plant, **point, **coordinates),
        call(
            "linearize_along",
            cmb.linearize_along,
            words=("coordinate", "input", "output"),
            run=(W.run, thing),
            **coordinates,
            **signals,
            every=(1, count),
        ),
        call(
            "reduced_model",
            cmb.linear.reduced_model,
            **plant,
            q=(W.q, vector),
            v=(W.v, vector),
            u=(W.u, vector),
            R=(np.eye(4)[[0, 2]], matrix),
            moving=(False, flag),
        ),
        call("preload_directions", cmb.linear.preload_directions, **plant, **point),
        call(
            "continue_equilibria",
            cmb.continue_equilibria,
            words=("coordinate", "effort"),
            **plant,
            q=(W.q, but(vector, "mapping")),
            start=(2.1, number),
            stop=(2.11, number),
            coordinate=("left", optional(known)),
            weight=(np.eye(2), optional(metric)),
            tolerance=(1e-9, positive),
        ),
        call(
            "root_locus",
            cmb.root_locus,
            make=(W.damped, function),
            values=([0.0, 1.0, 2.0], _free_vector),
            parameter=("gain", text),
            unit=("N", text),
            period=(None, lambda b: optional(positive)(0.1)),
            ratio=(0.1, share),
            refine=(True, flag),
        ),
        call(
            "load_linear",
            cmb.load_linear,
            words=("linear model",),
            path=(W.model_file, also(path, missing="nosuchfile.nc")),
            plant=(W.plant, optional(thing)),
        ),
        call("LinearModel.save", W.lin.save, path=(W.folder / "again.json", path)),
        call("LinearModel.to_ss", W.lin.to_ss, name=("model", optional(text)), drift=(False, flag)),
        call(
            "LinearModel.sampled",
            W.lin.sampled,
            period=(0.01, positive),
            drift=(False, flag),
            name=("model", optional(text)),
            **delays,
        ),
        call(
            "LinearModel.delayed",
            W.lin.delayed,
            order=(3, count),
            drift=(False, flag),
            name=("model", optional(text)),
            **delays,
        ),
        call(
            "LinearModel.frequency_response",
            W.lin.frequency_response,
            omega=(np.array([0.1, 1.0]), optional(also(_free_vector, negative=[-1.0, 1.0]))),
            **delays,
        ),
        call("LinearModel.modes", W.lin.modes, tolerance=(1e-10, positive)),
        call("LinearModel.undamped_modes", W.lin.undamped_modes, tolerance=(1e-10, positive)),
        call("undamped_modes", linear.undamped_modes, linear_model=(W.lin, thing), tolerance=(1e-10, positive)),
        call(
            "LinearSequence.propagate",
            W.along.propagate,
            x0=(np.zeros(4), vector),
            du=(np.zeros((6, 2)), optional(matrix)),
        ),
        call("EquilibriumBranch.at", W.branch.at, value=(2.12, number)),
        call(
            "zero_order_hold",
            linear.zero_order_hold,
            A=(W.lin.A, matrix),
            B=(W.lin.B, but(matrix, "one column more")),
            period=(0.01, positive),
            delay=(0.0, but(any_motor_time, "wrong unit", "mapping")),
        ),
        call("TangentSpace", linear.TangentSpace, threshold=(0.4, share)),
        call(
            "CoordinatePartitioning",
            linear.CoordinatePartitioning,
            words=("coordinate",),
            names=(JOINTS, optional(but(names, "unknown", "misspelt"))),
            threshold=(0.4, share),
        ),
        call("CoordinatePartitioning.at", linear.CoordinatePartitioning(JOINTS).at, **plant, q0=(W.q, vector)),
        call(
            "NonlinearParametrization",
            linear.NonlinearParametrization,
            R=(lambda q, y: q[:2] - y, but(function, *_IN_USE)),
            D1R=(lambda q, y: np.eye(4)[:2], but(function, *_IN_USE)),
            D2R=(lambda q, y: -np.eye(2), but(function, *_IN_USE)),
            y0=([2.1, 1.0], optional(but(vector, "too long", "too short"))),
            names=(("a", "b"), optional(but(new_names, "one too many", "text"))),
            threshold=(0.4, share),
        ),
        call(
            "LinearParametrization",
            linear.LinearParametrization,
            R=(np.eye(4)[[0, 2]], but(matrix, "one row more", "one column more")),
            names=(("a", "b"), optional(new_names)),
            threshold=(0.4, share),
        ),
        call("LocalForm", linear.LocalForm, words=("coordinate",), **plant, q0=(W.q, vector), **coordinates),
        call("LocalForm.state", W.form.state, q=(W.q, vector), v=(W.v, vector)),
        call("LocalForm.full", W.form.full, words=("state",), x=(np.zeros(4), vector)),
        call("LocalForm.point", W.form.point, words=("state",), x=(np.zeros(4), vector), t=(0.0, number)),
        call(
            "LocalForm.jacobian", W.form.jacobian, words=("state",), x=(np.zeros(4), vector), u=(W.u, optional(vector))
        ),
        call("LocalForm()", W.form.__call__, words=("state",), x=(np.zeros(4), vector), u=(W.u, optional(vector))),
        call("LocalForm.reparametrize", W.form.reparametrize, q=(W.q, vector)),
        call("Chart.solve", W.chart.solve, y=(y, vector)),
        call("Chart.point", W.chart.point, q=(W.q, vector)),
        call("Chart.rates", W.chart.rates, q=(W.q, vector), v=(W.v, vector)),
        call("Chart.reparametrize", W.chart.reparametrize, q=(W.q, vector)),
        call("PlantSystem.from_plant", W.system.from_plant, q=(W.q, but(vector, "mapping")), v=(W.v, optional(vector))),
        call("PlantSystem.to_plant", W.system.to_plant, words=("state",), x=(np.zeros(4), vector)),
    ]


_IN_USE = ("returns None", "returns text", "takes nothing")  # told when the function is asked


def any_motor_time(base: Any) -> dict[str, Any]:
    return by_motor(base)


# -- controllers -------------------------------------------------------------------------------------------


def _controllers() -> list[Call]:
    plant, law_ = {"plant": (W.plant, thing)}, {"law": (W.rest, law)}
    q = {"q": (W.q, but(vector, "mapping"))}
    weight = {"weight": (np.eye(2), optional(metric))}
    joint_weight = {"weight": (np.eye(4), optional(metric))}
    period = {"period": (0.01, optional(positive))}
    path_ = {"reference": (W.path, reference)}
    task = ctl.Coordinates(W.plant, JOINTS)
    pid = functools.partial(ctl.ProjectedInverseDynamics, W.plant, JOINTS, W.path)
    observer = design.kalman(W.lin, JOINTS, effort_noise=1.0, measurement_noise=0.01)
    return [
        call(
            "ProjectedInverseDynamics",
            ctl.ProjectedInverseDynamics,
            words=("coordinate",),
            **plant,
            **path_,
            coordinates=(JOINTS, names),
            bandwidth=(8.0, optional(positive_gains)),
            damping_ratio=(1.0, positive_gains),
            **weight,
            **period,
            consistent=(False, flag),
            limits=([50.0, 50.0], optional(but(vector, "number", "inf"))),
            saturation=("scale", optional(choice)),
            damped=(0.01, optional(positive)),
        ),
        call("ProjectedInverseDynamics, kp", pid, kp=(60.0, positive_gains), kd=(16.0, positive_gains)),
        call(
            "ComputedTorque",
            ctl.ComputedTorque,
            words=("coordinate",),
            **plant,
            **path_,
            coordinates=(JOINTS, optional(names)),
            bandwidth=(8.0, positive_gains),
        ),
        call(
            "GravityPD",
            ctl.GravityPD,
            words=("coordinate",),
            **plant,
            **path_,
            kp=(60.0, positive_gains),
            kd=(16.0, positive_gains),
            coordinates=(JOINTS, optional(names)),
            **weight,
            **period,
        ),
        call(
            "PID",
            ctl.PID,
            words=("coordinate",),
            **plant,
            **path_,
            kp=(60.0, gains),
            ki=(6.0, gains),
            kd=(16.0, gains),
            coordinates=(JOINTS, optional(names)),
            motors=(JOINTS, optional(names)),
            derivative_time=(0.01, positive_gains),
            set_point_weight=(0.5, gains),
            derivative_weight=(0.5, gains),
            **period,
        ),
        call(
            "GainScheduled",
            functools.partial(ctl.GainScheduled, W.scheduled.laws),
            words=("coordinate",),
            over=({"left": [2.0, 2.2]}, but(mapping, "pair inside", "bool inside")),
            by=("measured", known),
            interpolation=("linear", known),
        ),
        call(
            "Cascade",
            ctl.Cascade,
            words=("coordinate",),
            **plant,
            **path_,
            position_gain=(6.0, positive_gains),
            velocity_gain=(16.0, gains),
            integral_time=(0.1, limits),
            coordinates=(JOINTS, optional(names)),
            motors=(JOINTS, optional(names)),
            velocity_limit=(3.0, limits),
            velocity_feedforward=(0.5, gains),
            **period,
        ),
        call(
            "Impedance",
            ctl.Impedance,
            words=("coordinate",),
            **plant,
            task=(JOINTS, names),
            **path_,
            stiffness=([90.0, 30.0], positive_gains),
            damping=([8.0, 5.0], positive_gains),
            inertia=(np.eye(2), optional(metric)),
            null_damping=(10.0, not_negative),
            **weight,
            **period,
        ),
        call(
            "ConstraintForcePI",
            ctl.ConstraintForcePI,
            words=("component",),
            plant=(W.arms, thing),
            desired=([5.0], but(vector, "number")),
            components=((W.grip,), optional(names)),
            kp=(0.5, _gain_of_one),
            ki=(2.0, _gain_of_one),
            frame=("loop", choice),
            on=("b", choice),
            filter_time=(0.01, optional(positive)),
            **period,
            weight=(np.eye(6), optional(metric)),
            force_weight=None,
            integral_limit=(5.0, optional(_gain_of_one)),
            initial=([0.0], optional(vector)),
            compensate=(True, flag),
        ),
        call("HybridMotionForce", ctl.HybridMotionForce, motion=(W.arms_motion, thing), force=(W.force, thing)),
        call(
            "PassiveJoints",
            ctl.PassiveJoints,
            motion=(W.rest, thing),
            on_loss=("hold", choice),
            margin=(0.01, positive),
            damping=(10.0, not_negative),
            **joint_weight,
            epsilon=(0.1, optional(positive)),
        ),
        call(
            "ConstrainedActuation",
            ctl.ConstrainedActuation,
            words=("contact",),
            motion=(W.rest, thing),
            limits=(50.0, optional(limits)),
            **weight,
            nominal=(W.u, optional(vector)),
            unilateral=(("tip_x",), names),
            slack=("least", choice),
            metric=(np.eye(4), optional(metric)),
            solver=("direct", choice),
        ),
        call("Unilateral", ctl.Unilateral, force=("tip_x", but(text)), minimum=(0.0, number)),
        call(
            "Cone",
            ctl.Cone,
            words=("friction",),
            contact=("tip", text),
            mu=(0.5, but(positive, "pair")),
            normal=((1.0, 0.0), optional(but(vector, "too long", "too short"))),
            minimum=(0.0, number),
        ),
        call(
            "FunctionController",
            ctl.FunctionController,
            function=(no_effort, but(thing, "function")),
            period=(1e-3, optional(positive)),
        ),
        call("compiled_law", ctl.compiled_law, given=(no_effort, but(thing, "function"))),
        call("WithModel", ctl.WithModel, model=(W.plant, thing), **law_),
        call("Coordinates", ctl.Coordinates, words=("coordinate",), **plant, names=(JOINTS, names)),
        call(
            "PointTask",
            ctl.PointTask,
            **plant,
            body=("left_upper", known),
            point=((0.1, 0.0, 0.0), vector),
            axes=("xy", also(text, unknown="xw")),
            relative_to=("ground", known),
            names=(("x1", "y1"), optional(new_names)),
        ),
        call(
            "PoseTask",
            ctl.PoseTask,
            **plant,
            body=("left_upper", known),
            frame=(cmb.Frame(), optional(thing)),
            relative_to=("ground", known),
            other_frame=(cmb.Frame(), optional(thing)),
            axes=(("x", "rz"), names),
            names=(("x1", "r1"), optional(new_names)),
        ),
        call(
            "FunctionTask",
            ctl.FunctionTask,
            words=("task",),
            plant=(W.plant, thing),
            theta=(lambda q: q[:2], but(function, "array")),
            jacobian=(lambda q: np.eye(4)[:2], optional(function)),
            bias=(lambda q, v: np.zeros(2), optional(function)),
            names=(("a", "b"), optional(new_names)),
            units=(("rad", "rad"), optional(but(new_names, "twice", "empty name", "dot"))),
        ),
        call(
            "WeightedProjection",
            WeightedProjection,
            A=(np.eye(2, 3), but(matrix, "one row more", "one column more")),
            W=(np.eye(3), metric),
            rank=(2, optional(but(count, "zero"))),
        ),
        call("TaskStack", _stack, task=(task, thing)),
        *(
            call(
                kind.__name__,
                kind,
                **plant,
                axes=("xy", also(text, unknown="xw")),
                bodies=(("left_upper",), optional(names)),
                names=(("c1", "c2"), optional(new_names)),
            )
            for kind in (ctl.CentreOfMass, ctl.AngularMomentum)
        ),
        call(
            "Tracking",
            ctl.Tracking,
            task=(task, thing),
            **path_,
            bandwidth=(3.0, positive_gains),
            damping_ratio=(1.0, positive_gains),
            weight=(1.0, positive_gains),
        ),
        call(
            "HierarchicalInverseDynamics",
            ctl.HierarchicalInverseDynamics,
            **plant,
            levels=([[ctl.Tracking(task, W.path, 3.0)]], thing),
            rest=(1.0, optional(not_negative)),
            **weight,
            **period,
        ),
        call(
            "PostureTask",
            ctl.PostureTask,
            words=("coordinate",),
            **plant,
            **path_,
            bandwidth=(3.0, positive_gains),
            damping_ratio=(1.0, positive_gains),
            coordinates=(JOINTS, optional(names)),
            rest=(1.0, optional(not_negative)),
        ),
        call(
            "PointTask.error",
            ctl.PointTask(W.plant, "left_upper", axes=("x", "y")).error,
            desired=([0.1, 0.2], vector),
            terms=(W.terms, thing),
        ),
        call("Coordinates.error", task.error, desired=([0.1, 0.2], vector), terms=(W.terms, thing)),
        call("Saturation", _on_chain(ctl.Saturation), limits=(50.0, optional(limits))),
        call(
            "RateLimit",
            _on_chain(ctl.RateLimit),
            rate=(50.0, limits),
            time_constant=(0.01, optional(positive)),
            initial=(0.0, any_by_motor),
        ),
        call("Delay", _on_chain(ctl.Delay), delay=(0.01, by_motor)),
        call(
            "LowPass",
            _on_chain(ctl.LowPass),
            cutoff_hz=(50.0, each_motor),
            order=(2, count),
            initial=(0.0, any_by_motor),
        ),
        call("Notch", _on_chain(ctl.Notch), frequency_hz=(50.0, each_motor), width_hz=(5.0, each_motor)),
        call(
            "LeadLag", _on_chain(ctl.LeadLag), zero=(9.0, each_motor), pole=(90.0, each_motor), gain=(2.0, each_motor)
        ),
        call("LeadLag.with_phase", ctl.LeadLag.with_phase, phase_deg=(30.0, number), frequency=(40.0, positive)),
        call(
            "Filter",
            _on_chain(ctl.Filter),
            system=({"num": [1.0], "den": [1.0, 2.0]}, thing),
            initial=(0.0, any_by_motor),
        ),
        call(
            "FirstOrderActuator",
            _on_chain(ctl.FirstOrderActuator),
            words=("time constant",),
            time_constant=(0.01, also(by_motor, zero=0.0)),
            initial=(0.0, any_by_motor),
        ),
        call(
            "ElectricDrive",
            _on_chain(ctl.ElectricDrive),
            torque_constant=(0.1, also(by_motor, zero=0.0)),
            gear=(50.0, also(by_motor, zero=0.0)),
            time_constant=(0.01, by_motor),
            width=(0.01, positive),
        ),
        call(
            "HydraulicDrive",
            ctl.HydraulicDrive,
            words=("cylinder",),
            plant=(W.crane, thing),
            supply=(2e7, positive),
            rated_flow=(1e-3, positive),
            rated_drop=(3.5e6, positive),
            command=("force", choice),
            bandwidth=(60.0, positive),
            bulk_modulus=(1.4e9, positive),
            dead_volume=(1e-3, optional(positive)),
            leakage=(1e-12, not_negative),
            tank=(1e5, not_negative),
            relief=(3e7, optional(positive)),
        ),
        call(
            "DriveFriction",
            _on_chain(ctl.DriveFriction),
            coulomb=(0.1, by_motor),
            viscous=(0.1, by_motor),
            breakaway=(0.2, optional(by_motor)),
            stribeck_velocity=(0.1, positive),
            width=(0.01, positive),
        ),
        call(
            "Encoder",
            _before_law(ctl.Encoder),
            resolution=(1e-3, by_motor),
            noise=(1e-5, by_motor),
            velocity_noise=(1e-5, by_motor),
            seed=(0, seed),
        ),
        call("Encoder, bits", _before_law(ctl.Encoder), bits=(12, optional(also(count)))),
        call("FilteredDifference", _before_law(ctl.FilteredDifference), time_constant=(0.01, positive)),
        call("FilteredDifference, cutoff_hz", _before_law(ctl.FilteredDifference), cutoff_hz=(60.0, positive)),
        call(
            "ForwardKinematics", _before_law(ctl.ForwardKinematics), words=("coordinate",), coordinates=(JOINTS, names)
        ),
        call(
            "FrictionCompensation",
            _on_chain(ctl.FrictionCompensation),
            friction=(ctl.DriveFriction(0.1), thing),
            velocity=("measured", choice),
            fraction=(0.5, not_negative),
        ),
        call(
            "StateFeedback",
            ctl.StateFeedback,
            model=(W.lin, thing),
            K=(W.feedback.K, matrix),
            reference=(cmb.Constant([2.1, 1.0]), optional(reference)),
            feedforward=("inverse-dynamics", choice),
            limits=(50.0, optional(but(limits, "bool"))),
            **period,
        ),
        call(
            "lqr",
            design.lqr,
            model=(W.lin, thing),
            Q=(np.eye(4), matrix),
            R=(np.eye(2), metric),
            N=(np.zeros((4, 2)), optional(matrix)),
            **period,
            cost=("integral", choice),
        ),
        call(
            "bryson",
            design.bryson,
            words=("state", "input"),
            model=(W.lin, thing),
            states=({"left": 0.1, "right": 0.1, "left_rate": 1.0, "right_rate": 1.0}, mapping),
            inputs=(10.0, positive),
        ),
        call(
            "kalman",
            design.kalman,
            words=("noise", "output"),
            model=(W.lin, thing),
            outputs=(JOINTS, optional(names)),
            effort_noise=(1.0, optional(by_motor)),
            measurement_noise=(0.01, by_motor),
            **period,
        ),
        call(
            "ObserverFeedback",
            ctl.ObserverFeedback,
            feedback=(W.feedback, thing),
            L=(observer, matrix),
            outputs=(JOINTS, optional(names)),
            kind=("predictor", choice),
            estimate=(np.zeros(4), optional(vector)),
        ),
        call(
            "OutputFeedback",
            ctl.OutputFeedback,
            words=("output", "controller"),
            model=(W.lin, thing),
            K=({"A": [[-1.0]], "B": [[1.0, 0.0]], "C": [[1.0], [0.0]], "D": [[0.0, 0.0]] * 2}, thing),
            outputs=(JOINTS, optional(names)),
            reference=(W.path, optional(reference)),
            feedforward=("none", choice),
        ),
        call(
            "LoadObserver",
            ctl.LoadObserver,
            words=("load",),
            law=(_loaded_law(), _outer_law),
            loads=(("wind_fx", "wind_mz"), names),
            bandwidth=(30.0, positive),
            limits=(50.0, optional(but(limits, "bool"))),
        ),
        call(
            "MotionObserver",
            ctl.MotionObserver,
            words=("coordinate",),
            law=(_sampled(), _outer_law),
            outputs=(JOINTS, names),
            bandwidth=(30.0, positive),
            disturbance=(True, flag),
            limits=(50.0, optional(but(limits, "bool"))),
            velocity=(W.v, optional(vector)),
        ),
        call(
            "linearize_closed_loop",
            cmb.linearize_closed_loop,
            words=("coordinate", "output"),
            **plant,
            **law_,
            point=(W.q, optional(but(vector, "mapping"))),
            coordinates=(JOINTS, optional(names)),
            outputs=(JOINTS, optional(names)),
            t=(0.0, number),
            find_equilibrium=(True, flag),
            trace_at=(W.q, optional(vector)),
        ),
        call(
            "margins",
            cmb.margins,
            **plant,
            **law_,
            point=(W.q, optional(but(vector, "mapping"))),
            at=("input", choice),
        ),
        call(
            "closed_loop_equilibrium",
            cmb.closed_loop_equilibrium,
            **plant,
            **law_,
            guess=(W.q, optional(but(vector, "mapping"))),
            t=(0.0, number),
            tolerance=(1e-9, positive),
            trace_at=(W.q, optional(vector)),
        ),
        call("ClosedLoop.loop", W.loop.loop, at=("input", choice), channel=("left", optional(known))),
        call("ClosedLoop.margins", W.loop.margins, at=("input", choice)),
        call("ClosedLoop.modal_controllability", W.loop.modal_controllability, tolerance=(1e-10, positive)),
        call("ClosedLoop.bandwidth", W.loop.bandwidth, coordinate=("left", known)),
        call(
            "law_from_dict",
            cmb.controllers.law_from_dict,
            words=("type", "parameter"),
            description={"type": "Saturation", "limits": "$a"},
            plant=(W.plant, thing),
            values=({"a": 60.0}, mapping),
        ),
        call(
            "law_to_dict",
            cmb.controllers.law_to_dict,
            words=("no file can hold",),
            law=(W.law, but(thing, "number", "array")),
            plant=(W.plant, thing),
        ),
        call(
            "actuation",
            cmb.actuation,
            words=("coordinate",),
            **plant,
            **q,
            **joint_weight,
            epsilon=(0.1, optional(positive)),
        ),
        call(
            "actuation_along",
            actuation_along,
            **plant,
            run=(W.run, thing),
            margin=(0.01, positive),
            **joint_weight,
            epsilon=(0.1, optional(positive)),
        ),
        call("active_force_map", active_force_map, words=("coordinate",), **plant, **q, **joint_weight),
        call("reachable_forces", reachable_forces, words=("coordinate",), **plant, **q),
        call(
            "is_decoupled",
            is_decoupled,
            words=("coordinate",),
            **plant,
            **q,
            tolerance=(1e-9, not_negative),
            metric=(np.eye(4), optional(metric)),
        ),
        call("cross_coupling", cross_coupling, terms=(W.terms, thing), root=(np.eye(4), optional(matrix))),
        call(
            "characteristic_length",
            characteristic_length,
            words=("coordinate",),
            plant=(W.cart, thing),
            q=(W.cart.neutral(), but(vector, "mapping")),
        ),
        call(
            "effort_metric", ctl.effort_metric, **plant, limits=([50.0, 50.0], optional(but(vector, "number", "inf")))
        ),
        call("length_metric", ctl.length_metric, **plant, length=(1.0, optional(positive)), of=("motors", choice)),
        call("weighted_norm", weighted_norm, f=(W.u, _free_vector), W=(np.eye(2), metric)),
        call("ConstantEffort", ConstantEffort, u=(W.u, _free_vector)),
        call("Chain.start", W.chain.start, plant=(W.plant, thing)),
    ]


def _gain_of_one(base: Any) -> dict[str, Any]:
    return {k: x for k, x in positive_gains(base).items() if k not in ("one negative", "too short")}


def _sampled() -> Any:
    return ctl.ProjectedInverseDynamics(W.plant, JOINTS, cmb.Constant([2.1, 1.0]), bandwidth=8.0, period=0.01)


def _loaded_law() -> Any:
    return ctl.ProjectedInverseDynamics(W.loaded, JOINTS, cmb.Constant([2.1, 1.0]), bandwidth=8.0, period=0.01)


def _outer_law(base: Any) -> dict[str, Any]:
    """A law with a plant; what it returns is looked at in runs."""
    return {k: x for k, x in law(base).items() if not k.startswith(("returns", "takes"))}


def _stack(task: Any) -> Any:
    return ctl.TaskStack(task)


def _on_chain(block: Any) -> Any:
    """The block behind a sampled law, where it learns of the motors."""

    def make(**options: Any) -> Any:
        return Chain(_sampled(), block(**options))

    return make


def _before_law(block: Any) -> Any:
    def make(**options: Any) -> Any:
        return Chain(block(**options), _sampled())

    return make


# -- design ------------------------------------------------------------------------------------------------


def _design() -> list[Call]:
    region = design.PoleRegion(decay=0.5)
    lag = {"A": [[-1.0]], "B": [[1.0]], "C": [[1.0]], "D": [[0.0]]}
    noisy = {"A": [[-1.0]], "B": [[1.0, 0.0, 1.0]], "C": [[1.0], [0.0], [1.0]]}
    noisy["D"] = [[0.0, 0.0, 0.0], [0.0, 0.0, 0.1], [0.0, 0.1, 0.0]]
    generalized = {"P": (noisy, but(thing, "function")), "measurements": (1, count), "controls": (1, count)}
    tolerance = {"tolerance": (0.1, positive)}
    return [
        call(
            "mixed_sensitivity",
            design.mixed_sensitivity,
            words=("weight", "plant", "tolerance"),
            plant=(lag, thing),
            error=(lag, but(thing, "number", "list")),
            effort=(0.1, optional(but(positive, "zero", "negative"))),
            output=(0.1, optional(but(positive, "zero", "negative"))),
            **tolerance,
        ),
        call(
            "loop_shaping",
            design.loop_shaping,
            words=("weight", "plant"),
            plant=(lag, thing),
            effort=(10.0, but(positive, "zero", "negative", "None")),
            factor=(1.1, positive),
        ),
        call(
            "optimal_feedback",
            design.optimal_feedback,
            words=("generalized plant",),
            **generalized,
            norm=("hinf", choice),
            **tolerance,
        ),
        call(
            "mu_synthesis",
            design.mu_synthesis,
            words=("generalized plant", "block"),
            **generalized,
            blocks=([1, 1], but(vector, "number")),
            order=(1, but(count, "zero")),
            iterations=(1, count),
            **tolerance,
        ),
        call("pd_gains", design.pd_gains, bandwidth=(8.0, _positive_free), damping_ratio=(1.0, _positive_free)),
        call("pd_gains_from_poles", design.pd_gains_from_poles, poles=([-3.0, -4.0], _poles)),
        call(
            "sampled_pd_gains",
            design.sampled_pd_gains,
            bandwidth=(8.0, optional(_positive_free)),
            damping_ratio=(1.0, _positive_free),
            period=(0.01, positive),
        ),
        call(
            "mismatch",
            functools.partial(
                design.mismatch, W.plant, ctl.PID(W.plant, W.path, kp=60.0, at=W.q, period=1e-3), W.q, t_end=0.01
            ),
            delay=(1e-3, optional(positive)),
            payload=({"left_upper": 1.0}, optional(but(mapping, "pair inside"))),
            friction=({"left": 1.0}, optional(but(mapping, "pair inside"))),
        ),
        call(
            "symmetrical_optimum",
            design.symmetrical_optimum,
            inertia=(2.0, positive),
            lag=(0.005, positive),
            phase_margin=(40.0, positive),
        ),
        call(
            "tune_loops",
            functools.partial(design.tune_loops, W.plant, ctl.Cascade(W.plant, W.path, at=W.q), W.q),
            crossover=(40.0, also(positive_gains, zero=0.0)),
            phase_margin=(45.0, also(positive_gains, zero=0.0)),
        ),
        call(
            "PoleRegion",
            design.PoleRegion,
            decay=(0.5, not_negative),
            damping=(0.3, optional(share)),
            radius=(50.0, optional(positive)),
            center=(0.0, number),
        ),
        call("PoleRegion, frequency", design.PoleRegion, frequency=(9.0, optional(positive))),
        call(
            "Performance",
            design.Performance,
            words=("state", "input"),
            states=({"left": 0.1, "right": 0.1}, but(mapping, "unknown", "misspelt", "number key")),
            inputs=(0.1, but(not_negative, "mapping")),
            disturbance=(1.0, _positive_free),
        ),
        call(
            "Range",
            design.Range,
            words=("range",),
            low=(1.0, number),
            high=(5.0, number),
            log=(False, flag),
            unit=("N", text),
            start=(2.0, optional(also(number, outside=9.0))),
        ),
        call(
            "robust_state_feedback",
            design.robust_state_feedback,
            words=("model",),
            models=([W.lin], but(parts, "one alone", "twice", "mapping")),
            region=(region, optional(thing)),
            period=None,
            solver=(None, lambda b: {"unknown": "NOSUCH", "number": 3}),
            explain=(False, flag),
        ),
        call(
            "certify",
            design.certify,
            words=("pose", "plant"),
            plants=(W.plant, but(thing, "list", "mapping")),
            law=(W.feedback, but(thing, "array")),
            configurations=([W.q], _configurations),
            region=(region, thing),
            delay=(0.0, not_negative),
        ),
        call(
            "model_family",
            design.model_family,
            words=("pose", "plant", "coordinate", "input", "output"),
            plants=(W.plant, but(thing, "list", "mapping")),
            configurations=([W.q], _configurations),
            coordinates=(JOINTS, names),
            inputs=(JOINTS, optional(names)),
            outputs=(JOINTS, optional(names)),
        ),
        call(
            "structured",
            functools.partial(design.structured, W.plant, goals=[design.LoopGoal.decay(0.1)]),
            configurations=([W.q], _configurations),
            words=("pose", "gain", "bound", "goal"),
            law=(W.tunable, but(function, "returns None", "returns text")),
            gains=({"kp": (50.0, 90.0)}, _bounds),
            uncertain={"left_upper_mass": (3.0, 5.0)},
            delay=(0.0, not_negative),
            starts=(1, count),
            seed=(0, seed),
        ),
        call(
            "uncertain_loop",
            design.uncertain_loop,
            words=("motor", "weight"),
            model=(W.uncertain, thing),
            law=(W.resting, but(thing, "array", "None")),
            delay=(0.0, optional(not_negative)),
            efforts={"left": 0.2},
        ),
        call("UncertainLoop.machine", W.uncertain_loop.machine, worst=({"left_upper_mass": 3.0}, mapping)),
        call("UncertainLoop.disk_margin", W.uncertain_loop.disk_margin, tolerance=(1e-2, positive)),
        call(
            "UncertainLoop.robust_stability",
            W.uncertain_loop.robust_stability,
            tolerance=(1e-2, positive),
            branches=(0, but(count, "zero")),
        ),
        call(
            "UncertainLoop.worst_case_gain",
            W.uncertain_loop.worst_case_gain,
            words=("input", "output", "signal"),
            inputs=(["left_disturbance"], names),
            outputs=(["left"], names),
            tolerance=(1e-2, positive),
        ),
        call("LoopGoal", design.LoopGoal.tracking, bandwidth=(6.0, positive), rest=(1e-3, positive)),
        call(
            "linear_grid",
            functools.partial(design.linear_grid, W.plant, {"left": [2.0, 2.2], "right": [0.8, 1.0]}),
            words=("coordinate", "input", "output"),
            coordinates=(JOINTS, names),
            inputs=(JOINTS, optional(names)),
            outputs=(JOINTS, optional(names)),
        ),
        call(
            "check_schedule",
            functools.partial(design.check_schedule, W.plant),
            law=(W.scheduled, but(thing, "array")),
            delay=(0.0, not_negative),
        ),
        call(
            "with_payload",
            design.with_payload,
            words=("body",),
            plant=(W.plant, thing),
            body=("left_upper", known),
            mass=(0.5, positive),
            point=((0.1, 0.0, 0.0), vector),
            inertia=((0.1, 0.1, 0.1), vector),
            name=("heavy", but(name, "empty")),
        ),
        call(
            "error_cost",
            design.error_cost,
            kind=("ISE", choice),
            weight=(1.0, _positive_free),
            after=(0.0, not_negative),
        ),
        call("effort_cost", design.effort_cost, weight=(1.0, _positive_free), rate=(False, flag)),
        call("overshoot_cost", design.overshoot_cost, weight=(1.0, _positive_free)),
        call(
            "weighted_cost",
            design.weighted_cost,
            error=(
                (1.0, design.error_cost()),
                lambda b: {
                    "number": 1.0,
                    "text": "error",
                    "negative": (-1.0, b),
                    "nan": (NAN, b),
                    "no cost": (1.0, 2.0),
                    "text weight": ("1", b),
                    "None": None,
                },
            ),
        ),
        call(
            "tune",
            design.tune,
            words=("gain", "bound"),
            make=(W.make, but(function, "returns None", "returns text")),
            bounds=({"bandwidth": (4.0, 10.0)}, _bounds),
            cost=(design.error_cost(), but(function, "returns None", "returns text", "takes nothing")),
            method=("nelder-mead", choice),
            start=({"bandwidth": 5.0}, optional(mapping)),
            max_evaluations=(2, count),
            combine=("worst", choice),
            workers=(1, count),
            tolerance=(1e-3, positive),
            seed=(0, seed),
            penalty=(10.0, optional(number)),
        ),
    ]


def _positive_free(base: Any) -> dict[str, Any]:
    found = {k: x for k, x in vector(np.resize(base, 2)).items() if k not in ("number", "too long", "too short", "row")}
    return found | {"negative": -1.0, "bool": True}


def _poles(base: Any) -> dict[str, Any]:
    return {
        "None": None,
        "text": "-3",
        "texts": ["-3", "-4"],
        "nan": [NAN, -3.0],
        "three": [-3.0, -4.0, -5.0],
        "unstable": [1.0, -3.0],
        "not a pair": [-3.0 + 1.0j, -3.0 + 2.0j],
        "object": UNKNOWN_,
        "bools": [True, True],
    }


def _configurations(base: Any) -> dict[str, Any]:
    q = base[0]
    return {
        "None": None,
        "number": 3,
        "text": "pose",
        "text inside": ["configuration"],
        "None inside": [None],
        "object": UNKNOWN_,
        "nan": [q * NAN],
        "too short": [q[:-1]],
        "complex": [q + 1.0j],
        "nothing": [],
        "open": [q + 0.3],
    }


def _bounds(base: Any) -> dict[str, Any]:
    wrong = {how: {"bandwidth": value} for how, value in pair((4.0, 10.0)).items()}
    return wrong | {"nothing": {}, "text all": "bandwidth", "list all": [(4.0, 10.0)], "None all": None}


def _motion(a: float) -> dict[str, Any]:
    return {"plant": W.plant, "q0": W.q, "t_end": 0.01 + 0.01 * a, "output_times": 0.005}


def _last(run: Any) -> float:
    return float(run.q.values[-1, 0])


def _product(a: float, b: float) -> dict[str, float]:
    return {"y": a * b, "z": a - b}


def _pairs(base: Any) -> dict[str, Any]:
    """Names to (low, high)."""
    first = next(iter(base))
    inside = {how: {first: value} for how, value in pair((0.0, 1.0)).items()}
    return inside | {"unknown": {"nosuchname": (0.0, 1.0)}, "number key": {3: (0.0, 1.0)}, "a list": [first]}


def _saturation(x: float, rate: float) -> float:
    return min(max(x, -1.0), 1.0)


def _studies() -> list[Call]:
    from cmbcontrol import plot, studies

    vary = {"a": (0.0, 1.0), "b": (0.0, 1.0)}
    found = studies.study(_product, vary, runs=8)
    indices = studies.sobol_indices(_product, vary, "y", runs=8)
    motions = studies.study(_motion, {"a": (0.0, 1.0)}, runs=2, measures={"y": _last})
    return [
        call(
            "studies.study",
            studies.study,
            words=("case", "parameter"),
            case=(_product, thing),
            vary=(
                vary,
                lambda base: {"None": None, "text": "a", "number": 1.0, "empty": {}, "misspelt": {"aq": (0, 1)}},
            ),
            runs=(4, count),
            sampling=("sobol", choice),
            seed=(1, seed),
            time_limit=(10.0, optional(positive)),
            workers=(1, count),
        ),
        call(
            "studies.sobol_indices",
            studies.sobol_indices,
            case=(_product, thing),
            vary=vary,
            measure=("y", known),
            runs=(8, count),
            seed=(1, seed),
            confidence=(0.9, share),
        ),
        call("linear.UncertainBlock", linear.UncertainBlock, kind="real", size=(2, count)),
        call(
            "linear.mu",
            linear.mu,
            M=[[2.0, 2.0], [-1.0, -1.0]],
            blocks=[linear.UncertainBlock("full", 2)],
        ),
        call(
            "linear.robust_stability",
            linear.robust_stability,
            system=([[-1.0]], [[0.5]], [[1.0]], [[0.0]]),
            blocks=[linear.UncertainBlock("real")],
            tolerance=(1e-3, positive),
            branches=(2, seed),
        ),
        call(
            "linear.worst_case_gain",
            linear.worst_case_gain,
            system=([[-1.0]], [[0.5, 1.0]], [[1.0], [1.0]], [[0.0, 0.0], [0.0, 0.0]]),
            blocks=[linear.UncertainBlock("real")],
            tolerance=(1e-3, positive),
        ),
        call(
            "linear.describing_function",
            linear.describing_function,
            element=_saturation,
            amplitude=0.5,
            omega=(2.0, positive),
            centre=(0.1, number),
        ),
        call(
            "frequency_response",
            cmb.frequency_response,
            plant=(W.plant, thing),
            law=W.standing,
            between=("left_ref", "left"),
            omega=[5.0, 20.0],
            excitation=("multisine", choice),
            phases=("random", choice),
            amplitude=1e-5,
            periods=(2, count),
            workers=1,
        ),
        call("studies.Vary", studies.Vary, how=(0.0, 1.0), unit=("kg", text)),
        call(
            "studies.MachineCase",
            studies.MachineCase,
            plant=(W.plant, thing),
            start={"left": 2.1, "right": 1.0},
            knows=(False, flag),
            t_end=0.1,
        ),
        call(
            "studies.LinearCase",
            studies.LinearCase,
            plant=(W.plant, thing),
            start={"left": 2.1, "right": 1.0},
            knows=(False, flag),
        ),
        call("studies.peak_reaction", studies.peak_reaction, joint="tip", what=("force", choice)),
        call("studies.disk_margin", studies.disk_margin, at=("input", choice)),
        call("studies.gain_margin", studies.gain_margin, channel="left", at=("input", choice)),
        call("studies.phase_margin", studies.phase_margin, channel="left", at=("input", choice)),
        call("studies.delay_margin", studies.delay_margin, channel="left", at=("input", choice)),
        call("studies.settling_time", studies.settling_time, within=(1e-3, positive)),
        call("studies.worst_error", studies.worst_error, after=(0.1, not_negative)),
        call("studies.rms_error", studies.rms_error, after=(0.1, not_negative)),
        call("studies.share_at_limits", studies.share_at_limits, tolerance=(1e-6, positive)),
        call("Study.values", found.values, words=("run",), index=(1, index)),
        call("Study.rerun", found.rerun, words=("run",), index=(1, index)),
        call("Study.worst", found.worst, measure=("y", known), count=(2, count), largest=(True, optional(flag))),
        call("Study.statistics", found.statistics, measure=("y", known), confidence=(0.9, share)),
        call("Study.sensitivities", found.sensitivities, measure=("y", known)),
        call(
            "plot.distribution",
            plot.distribution,
            words=("limit",),
            found=(found, thing),
            measure=("y", known),
            low=(0.1, optional(number)),
            high=(0.9, optional(number)),
        ),
        call(
            "plot.scatter",
            plot.scatter,
            words=("parameter or measure",),
            found=(found, thing),
            measures=(["y"], optional(names)),
            parameters=(["a"], optional(names)),
            color=("b", optional(known)),
        ),
        call(
            "view of a study",
            cmb.view,
            words=("view",),
            subject=(motions, thing),
            measure=("y", optional(known)),
            path=(W.folder / "worst.html", optional(path)),
            count=(1, optional(count)),
            largest=(True, optional(flag)),
            title=("worst", optional(text)),
        ),
        call("plot.tornado", plot.tornado, words=("tornado",), indices=(indices, thing)),
        call(
            "report of a study",
            cmb.report,
            words=("report", "study"),
            subject=(found, thing),
            path=(W.folder / "study.html", path),
            limits=({"y": (0.0, 1.0)}, optional(_pairs)),
            title=("study", optional(text)),
        ),
        call("plot.pareto", plot.pareto, words=("measure",), found=(found, thing), x=("y", known), y=("z", known)),
        call(
            "plot.envelope",
            plot.envelope,
            words=("column",),
            runs=([W.run, W.run], lambda base: {"None": None, "run": W.run, "one": [W.run], "objects": [UNKNOWN_, 3]}),
            variable=("u", text),
            name=("left", known),
            share=(0.9, also(share, zero=0.0)),
        ),
    ]


# What functions return; nobody makes these.
RESULTS = frozenset(
    (
        "Synthesis",
        "ActuationStatus",
        "Block",
        "Case",
        "Certificate",
        "ClosedLoop",
        "ConstrainedEffort",
        "Actuation",
        "ContactForce",
        "Controller",
        "CrossCoupling",
        "Decoupling",
        "Drive",
        "EffortBlock",
        "Evaluation",
        "Formulation",
        "MotionLaw",
        "Entry",
        "EquilibriumBranch",
        "ZeroOrderHold",
        "Impact",
        "LinearGrid",
        "LinearModel",
        "LinearSequence",
        "LoopMargins",
        "Margins",
        "Mismatch",
        "ModalControllability",
        "Mode",
        "Modes",
        "ConstrainedMotion",
        "OperatingPoint",
        "Plant",
        "PreloadDirections",
        "ReachableForces",
        "Reduced",
        "Residuals",
        "RestingLoop",
        "RobustFeedback",
        "ScheduleCheck",
        "RootLocus",
        "SensorBlock",
        "Simulation",
        "SingularConfiguration",
        "SingularityEvent",
        "SpecialPoint",
        "Status",
        "Study",
        "TrackingTask",
        "Task",
        "TaskMotion",
        "Terms",
        "TrimReport",
        "TuneResult",
        "TunedLaw",
        "TunedLoops",
        "where_less",  # of numbers, arrays and symbols alike, as numpy.where
    )
)


# -- what is rightly accepted ------------------------------------------------------------------------------

# (label, argument, how) as regular expressions, and why
EXCEPTIONS: tuple[tuple[str, str, str, str], ...] = (
    (
        "GravityPD|ProjectedInverseDynamics, kp",
        "kp|kd",
        "negative|one negative",
        "gains of any sign are gains; that a loop is unstable, linearize_closed_loop tells",
    ),
    ("WithModel", "law", "returns .*", "what a law returns is looked at when it is asked, in a run"),
    ("FilteredDifference", "time_constant", "zero", "no filter, plain differences"),
    (".*_cost", "weight", "mapping", "the names that there are, a run tells; the cost refuses others then"),
    ("certify", "configurations", "open", "a case that fails is part of the certificate, with the reason"),
    (
        "root_locus|tune|FunctionTask",
        "make|theta|jacobian|bias",
        "takes nothing",
        "an error of the user's own function is handed on as it is",
    ),
    ("ConstrainedActuation", "unilateral", "twice", "the same limit twice is the same limit"),
)


def is_exception(wrong: Wrong) -> bool:
    """Whether a call that looks wrong is right."""
    return any(
        re.fullmatch(label, wrong.call.label)
        and re.fullmatch(argument, wrong.argument)
        and re.fullmatch(how, wrong.how)
        for label, argument, how, _ in EXCEPTIONS
    )
