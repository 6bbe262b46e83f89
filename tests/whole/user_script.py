"""A script as a user writes it, with every verb once: it runs, and type checkers find nothing to say (`test_types`).

It writes files into the folder where it is run.
"""

import warnings

import numpy as np
from numpy.typing import NDArray

import cmbcontrol as cmb
from cmbcontrol import characteristics, controllers, design, formats, plot, shapes, studies

Array = NDArray[np.float64]
JOINTS = ("left", "right")
START = {"left": 2.1, "right": 1.0}


def five_bar(stiffness: float = 4.0) -> cmb.Mechanism:
    """Two arms that hold one pin, each driven at its shoulder."""
    look = shapes.Rod((0, 0, 0), (1, 0, 0), radius=0.03, color="#1f77b4")
    end, hip = cmb.Frame((1.0, 0.0, 0.0)), cmb.Frame.turned((0, 0, 1), 0.0, p=[0.8, 0.0, 0.0])
    return cmb.Mechanism(
        "five-bar",
        bodies=[
            cmb.Body("left_lower", 1.0, com=[0.5, 0.0, 0.0], inertia=(0.0, 0.1, 0.1), shapes=[look]),
            *(cmb.Body.rod(name, mass=1.0, length=1.0) for name in ("left_upper", "right_lower", "right_upper")),
        ],
        joints=[
            cmb.Revolute("left", "ground", "left_lower", damping=0.1, limits=(-3.0, 3.0)),
            cmb.Revolute("elbow_left", "left_lower", "left_upper", frame=end),
            cmb.Revolute("right", "ground", "right_lower", frame=hip, damping=[0.1]),
            cmb.Revolute("elbow_right", "right_lower", "right_upper", frame=end),
        ],
        loops=[cmb.PointOnLine("tip", "left_upper", "right_upper", (1, 0, 0), (1, 0, 0))],
        springs=[cmb.JointSpring("spring", "left", stiffness=stiffness, rest=2.0)],
        actuators=[cmb.Actuator(name, effort=60.0) for name in JOINTS],
        loads=[cmb.Load("push", "left_upper", end)],
        forces=[cmb.JointForce("bearing", "right", characteristics.Friction(0.1, viscous=0.05))],
        gravity=(0.0, -9.81, 0.0),
        configurations={"start": START},
    )


def parts(plant: cmb.Mechanism) -> dict[str, object]:
    """What the machine is made of, also after its way through files."""
    plant.save("five_bar.yaml")
    formats.write(plant, "five_bar.xml")
    again, read = cmb.Mechanism.load("five_bar.yaml"), formats.read("five_bar.xml").machine
    stiffer = again.with_parameters({"spring_spring_stiffness": 5.0})
    momentum: Array = plant.bodies[0].inertia @ plant.bodies[0].com + plant.gravity
    return {
        "mass": sum(body.mass for body in plant.bodies),
        "reach": max(float(np.linalg.norm(joint.frame.R @ joint.frame.p)) for joint in plant.joints),
        "stops": [joint.limits[0, 1] for joint in plant.joints if isinstance(joint, cmb.Revolute)],
        "open": [body.name for body in (*plant.without("tip").bodies, *read.bodies)],
        "springs": [spring.stiffness for spring in stiffer.springs],
        "momentum": momentum,
    }


def equations(plant: cmb.Mechanism, q0: Array, v0: Array) -> dict[str, object]:
    """What the equations of motion say of a state."""
    terms, crank = plant.terms(q0, v0), cmb.plants.slider_crank()
    a: Array = cmb.forward_dynamics(plant, q0, v0, [1.0, -1.0])
    tool = controllers.PointTask(plant, "left_upper", (1.0, 0.0, 0.0), axes="xy")
    return {
        "power": float(terms.v @ (terms.B @ np.ones(plant.nu))),
        "diagnosis": str(plant.diagnose(q0)),
        "efforts": cmb.inverse_dynamics(plant, q0, v0, a).u,
        "loops": cmb.constraint_force(plant, q0, v0).multipliers,
        "pins": cmb.reactions(plant, q0).force.sel(axis="x"),
        "after": cmb.impact(plant, q0, v0, restitution=0.5).v - v0,
        "slopes": cmb.parameter_derivatives(plant, q0, v0, parameters=["left_upper_mass"]).a,
        "margin": cmb.actuation(plant, q0).margin,
        "branches": len(cmb.singular_configuration(crank, [np.pi / 2, np.pi]).branches),
        "near": cmb.nearest_singular_configuration(crank, [1.5, 3.1]).round(3),
        "reached": cmb.InverseKinematics(plant, tool)([0.5, 1.6], guess=q0).q,
    }


def linear_models(plant: cmb.Mechanism, point: cmb.OperatingPoint) -> dict[str, object]:
    """Of equilibria, of motions, and over parameters."""
    model = cmb.linearize(plant, point, coordinates=JOINTS, outputs=(*JOINTS, cmb.FrameMotion("left_upper")))
    model.save("model.npz")
    top = cmb.Mechanism(
        "top", [cmb.Body("top", 1.0, inertia=(0.1, 0.1, 0.2))], [cmb.Spherical("pivot", "ground", "top")]
    )
    locus = cmb.root_locus(lambda k: cmb.linearize(five_bar(k), cmb.trim(five_bar(k), point.q)), [1.0, 2.0])
    moving = cmb.OperatingPoint.at(plant, point.q, v=plant.project_velocity(point.q, np.ones(plant.nv)))
    return {
        "slowest": max(mode.eigenvalue.real for mode in model.modes()),
        "frequencies": model.modes().frequency,
        "system": model.to_ss(),
        "poles": cmb.load_linear("model.npz", plant).poles(),
        "branch": cmb.continue_equilibria(plant, point, 0.0, 0.5, effort="left", max_points=5).values,
        "drift": cmb.affine_approximation(plant, moving).drift,
        "spinning": cmb.steady_motion(top, top.neutral(), [0.0, 0.0, 3.0]).v,
        "figures": (plot.bode(model), locus.plot(), model.plot_modes()),
    }


@controllers.compiled_law
def damping(t: float, terms: cmb.Terms, state: Array) -> Array:
    """A law of one's own."""
    return -2.0 * terms.B.T @ terms.v


def tracking(plant: cmb.Plant, bandwidth: float) -> controllers.ProjectedInverseDynamics:
    """From the start to another place."""
    path = cmb.Quintic([2.1, 1.0], [2.0, 1.1], duration=0.2)
    return controllers.ProjectedInverseDynamics(plant, JOINTS, path, bandwidth=bandwidth, period=2e-3)


def loops(plant: cmb.Mechanism, point: cmb.OperatingPoint) -> dict[str, object]:
    """Laws, and what the closed loops are like."""
    holding = controllers.ProjectedInverseDynamics(plant, JOINTS, cmb.Constant([2.1, 1.0]), bandwidth=[8.0, 10.0])
    model = cmb.linearize(plant, point, coordinates=JOINTS)
    Q, R = design.bryson(model, {"left": 0.05, "right": 0.05}, 20.0)
    return {
        "at rest": cmb.closed_loop_equilibrium(plant, holding, point).point.u,
        "stable": cmb.linearize_closed_loop(plant, holding, point).stable,
        "phase": cmb.margins(plant, holding, point).disk_phase,
        "gain": design.lqr(model, Q + np.eye(4), R, period=5e-3, limits=60.0).K,
    }


def low(t: float, q: Array, v: Array) -> float:
    """Zero where the left arm passes 2.08 rad."""
    return float(q[0]) - 2.08


def runs(plant: cmb.Mechanism, q0: Array, v0: Array) -> dict[str, object]:
    """One with a chain of blocks and all that may be had of it, one that is grasped, a contact, step by step."""
    law = tracking(plant, bandwidth=20.0)
    chain = controllers.Encoder(bits=16) | law | controllers.Saturation() | controllers.Delay(1e-3)
    fallen = cmb.Event(low, "low", direction=-1)
    run = cmb.simulate(plant, chain, q0, t_end=0.2, output_times=0.01, rtol=1e-7, events=[fallen], method="dop853")
    run.save("run.nc")
    run.plot().savefig("run.png")
    run.animate("run.gif", fps=10)
    run.view("run.html")
    run.write_report("report.html")
    grasped = cmb.simulate(
        plant,
        damping,
        "start",
        v0=v0,
        t_end=0.1,
        switches=[cmb.Release("tip", at=0.02), cmb.Engage("tip", at=0.04, capture=True), cmb.Lock("left", at=0.06)],
        method=cmb.Integrator("dop853", max_step=0.01),
        stabilisation=cmb.Stabilisation("projection", metric="mass"),
        loads={"push": lambda t: (5.0 * t, 0.0, 0.0)},
        limits="warn",
    )
    ball = cmb.Mechanism(
        "ball",
        [cmb.Body("ball", 2.0, inertia=(0.1, 0.1, 0.1))],
        [cmb.Prismatic("height", "ground", "ball")],
        [cmb.PointOnPlane("floor", "ground", "ball")],
    )
    stepper = cmb.Stepper(plant, q0, v0, t_end=0.1)
    while stepper.time < 0.01:
        stepper.step(law(stepper.time, stepper.terms, None), 2e-3)
    return {
        "left": run.q.sel(position="left").values[-1],
        "energy": float(run.data["energy"][-1]),
        "whole": cmb.load_run("run.nc").status is cmb.Status.COMPLETED,
        "events": [str(event["kind"]) for event in (*run.events(), *grasped.events())],
        "bodies": {body.name: body.mass for body in run.plant.bodies},
        "bounces": cmb.simulate(ball, None, [0.1], t_end=0.3, switches=cmb.Contact("floor", restitution=0.5)).events(),
        "models": len(cmb.linearize_along(run, coordinates=JOINTS, every=10).times),
        "steps": stepper.state.q,
    }


def many_runs(plant: cmb.Mechanism, q0: Array) -> dict[str, object]:
    """A study of other masses, and the best gain."""

    def make(bandwidth: float) -> cmb.Simulation:
        return cmb.simulate(plant, tracking(plant, bandwidth), q0, t_end=0.2)

    masses = studies.study(
        studies.MachineCase(plant, tracking, START, t_end=0.2),
        {"left_upper_scale": (0.8, 1.2), "bandwidth": studies.Vary([10.0, 20.0], "rad/s")},
        runs=2,
        measures={"worst": studies.worst_error()},
    )
    bounds = {"bandwidth": design.Range(5.0, 40.0, log=True)}
    best = design.tune(make, bounds, design.error_cost("ITAE"), max_evaluations=4)
    return {"worst": float(masses.data["worst"].max()), "best": best.gains["bandwidth"]}


def main() -> dict[str, object]:
    """All of it."""
    plant = five_bar()
    q0 = plant.assemble(left=2.1, right=1.0)
    v0 = plant.project_velocity(q0, [0.5, 0.0, -0.5, 0.0])
    point = cmb.trim(plant, q0)
    found = parts(plant) | equations(plant, q0, v0) | linear_models(plant, point) | loops(plant, point)
    warnings.simplefilter("ignore", cmb.errors.SpeedWarning)  # of a law in continuous time that is not told the loads
    return found | runs(plant, q0, v0) | many_runs(plant, q0)


if __name__ == "__main__":
    main()
