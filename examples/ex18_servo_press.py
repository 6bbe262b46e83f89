# %% [markdown]
"""A servo press under a cascade: cycle, gains, margins, measured responses, and what friction and payload change.

A motor turns a crank by a gear of 60, and a toggle linkage moves the ram. Its cycle is asked of the ram, with a dwell
of 4 mm; the motor's part of it follows from the closed loops. The machine has friction, losses in its gear and a ram
that is a fifth too heavy; the law knows none of it.
"""

# %% The machine
import matplotlib.pyplot as plt
import numpy as np

import cmbcontrol as cmb
from cmbcontrol import Body, Frame, PointOnLine, Prismatic, Revolute, design
from cmbcontrol.characteristics import FormulaForce, Friction
from cmbcontrol.controllers import Cascade, FirstOrderActuator, Notch, Saturation

bodies = [
    Body("rotor", 40.0, inertia=(0.12, 0.12, 0.12)),
    Body("crank", 180.0, (0.03, 0, 0), inertia=(3.0, 3.0, 5.0)),
    Body.rod("rod", 110.0, 0.66),
    Body.rod("upper", 90.0, 0.40),
    Body.rod("lower", 100.0, 0.50),
    Body("ram", 800.0, (0, -0.15, 0), inertia=(40.0, 40.0, 40.0)),
]
joints = [
    Revolute("motor", "ground", "rotor", frame=Frame((-0.78, -0.02, 0))),
    Revolute("crank", "ground", "crank", frame=Frame((-0.78, -0.42, 0)), damping=20.0),
    Revolute("rod", "crank", "rod", frame=Frame((0.12, 0, 0))),
    Revolute("upper", "ground", "upper"),
    Revolute("lower", "upper", "lower", frame=Frame((0.40, 0, 0))),
    Prismatic("ram", "ground", "ram", axis=(0, 1, 0), frame=Frame((0, -0.9, 0))),
]
loops = [
    PointOnLine("knee", "upper", "rod", (0.40, 0, 0), (0.66, 0, 0)),
    PointOnLine("pin", "ram", "lower", (0, 0, 0), (0.50, 0, 0)),
    cmb.Coupling("gear", {"motor": 1.0, "crank": -60.0}),
]
work = FormulaForce("-k * max(h - x, 0)", "k * max(h - x, 0)**2 / 2", {"k": 5e7, "h": 0.006})  # N/m, m
press = cmb.Mechanism(
    "servo press",
    bodies,
    joints,
    loops,
    actuators=[cmb.Actuator("motor", effort=900.0)],
    gravity=(0, -9.81, 0),
    forces=[cmb.JointForce("work", "ram", work)],
)
start = {"motor": 172.0, "crank": 2.87, "rod": -2.8, "upper": -2.2, "lower": 1.1, "ram": 0.14}
friction = cmb.JointForce("guide", "ram", Friction(800.0, viscous=2500.0, transition_rate=2e-3))
losses = cmb.GearFriction("mesh", "gear", efficiency=0.95)
heavier = [*bodies[:-1], Body("ram", 960.0, (0, -0.15, 0), inertia=(48.0, 48.0, 48.0))]
real = press.with_parts(bodies=heavier, forces=[*press.forces, friction, losses])

# %% A cycle of the ram, and the motor's part of it
stroke = {"velocity": 0.3, "acceleration": 0.8, "jerk": 10.0}  # m/s, m/s2, m/s3
down, up = cmb.JerkLimited([0.14], [0.01], **stroke), cmb.JerkLimited([0.004], [0.14], **stroke)
cycle = cmb.Joined([down, cmb.CamProfile([0.0, 0.5], [0.01, 0.004], "modified sine"), 0.3, up], periodic=True)
motor = cmb.InverseMotion(press, "ram", cycle, "motor", start=start)

# %% A cascade for 40 rad/s and 45 degrees
law = Cascade(press, motor, coordinates="motor", at=motor.q0, period=1e-3)
chain = law | Notch(frequency_hz=120.0, width_hz=20.0) | Saturation() | FirstOrderActuator(1e-3)
tuned = design.tune_loops(press, chain, motor.q0, crossover=40.0, phase_margin=45.0)
print(tuned)

# %% Two cycles on the machine that the law knows, and on the real one
machines = {"as the law knows it": press, "real": real}
errors, dwells = {}, {}
for name, machine in machines.items():
    run = cmb.simulate(machine, tuned.law, motor.q0, t_end=2 * cycle.period)
    asked, height = cycle.over(run.time)[:, 0], run.q.sel(position="ram").values
    errors[name] = 1e3 * (height - asked)  # mm
    dwells[name] = 1e3 * height[np.abs(asked - 0.004) < 1e-9]
    largest = np.abs(run.u.values).max()
    print(f"{name}: dwell {dwells[name].min():.3f} to {dwells[name].max():.3f} mm, {largest:.0f} of 900 N m")

# %% The loop at the motor, measured beside its linear model
# In small motions they agree to nine digits. Friction holds the real ram until it moves: there the loop has less gain.
at_rest = tuned.law.with_reference(cmb.Constant(motor(0.0)[0]))
linear = cmb.linearize_closed_loop(press, at_rest, motor.q0, outputs=("motor_effort",))
omega = np.geomspace(4.0, 160.0, 6)  # rad/s
loops_measured = {}
for (name, machine), amplitude in zip(machines.items(), (None, 150.0), strict=True):  # N m; None is small
    found = cmb.frequency_response(
        machine, at_rest, motor.q0, between=("motor_command", "motor_effort"), omega=omega, amplitude=amplitude,
        linear=linear, workers=1,
    )  # fmt: skip
    loops_measured[name] = found.loop()
    print(f"{name}: at most {float(loops_measured[name].deviation().max()):.1e} of the response from the linear model")

# %% Drawn
fig, axes = plt.subplots(2, 2, figsize=(9.0, 5.6), layout="constrained", sharex="col")
axes[0, 0].plot(run.time, 1e3 * asked)
axes[0, 0].set(ylabel="ram asked for (mm)")
for (name, error), style in zip(errors.items(), ("-", "--"), strict=True):
    axes[1, 0].plot(run.time, error, style, label=name)
axes[1, 0].set(xlabel="time (s)", ylabel="error of the ram (mm)", ylim=(-0.07, 0.05))
fine = np.geomspace(4.0, 160.0, 300)
parts = (np.abs, lambda L: np.degrees(np.unwrap(np.angle(L))) - 360.0)
for ax, part in zip(axes[:, 1], parts, strict=True):
    ax.semilogx(fine, part([tuned.loop.response("motor", w) for w in fine]), label="linear model")
    for (name, found), mark in zip(loops_measured.items(), "os", strict=True):
        ax.semilogx(found.omega, part(found.data["response"].values[0, :, 0]), mark, label=f"measured, {name}")
axes[0, 1].set(ylabel="gain of the loop (1)", yscale="log")
axes[1, 1].set(xlabel="frequency (rad/s)", ylabel="phase (deg)")
axes[1, 0].legend(loc="lower right")
axes[0, 1].legend()
fig.savefig("ex18_servo_press.png")
