# %% [markdown]
"""Describe a machine of your own, and ask what it can do.

A slider-crank: crank, rod, and a slider in a guide. The tree is cut at the slider's pin; closed by
a full 3D revolute joint, it is redundant, and moves all the same.
"""

# %% The machine
import matplotlib.pyplot as plt

import cmbcontrol as cmb
from cmbcontrol import plot

bodies = [
    cmb.Body.rod("crank", mass=0.2, length=0.1),  # kg, m
    cmb.Body.rod("rod", mass=0.4, length=0.3),
    cmb.Body("slider", mass=0.5, inertia=(1e-3, 1e-3, 1e-3)),
]
joints = [
    cmb.Revolute("crank_angle", "ground", "crank"),
    cmb.Revolute("rod_angle", "crank", "rod", frame=cmb.Frame((0.1, 0.0, 0.0))),
    cmb.Prismatic("travel", "ground", "slider", axis=(1, 0, 0), damping=2.0),
]
pin = cmb.Revolute("pin", "rod", "slider", frame=cmb.Frame((0.3, 0.0, 0.0)))  # closes the loop
motor = cmb.Actuator("crank_angle", effort=5.0)  # N m
plant = cmb.Mechanism("my slider-crank", bodies, joints, [pin], actuators=[motor], gravity=(0, -9.81, 0))
print(plant)

# %% How it closes, how it can move, and what holds it
# The loop closes in two ways: the guess says which.
q0 = plant.assemble(crank_angle=1.0, guess={"crank_angle": 1.0, "rod_angle": -1.3, "travel": 0.35})
found = plant.diagnose(q0)
print(found)
hold = cmb.trim(plant, q0)
print(f"torque that holds it: {hold.u[0]:.3f} N m")

# %% Let go of, it falls
run = cmb.simulate(plant, q0=q0, t_end=1.0)
print(run)

# %% The same machine without redundant rows
# Two rows keep the pin on its line, where the revolute joint has five.
line = cmb.PointOnLine("pin", "rod", "slider", point_a=(0.3, 0.0, 0.0))
twin = cmb.Mechanism("its twin", bodies, joints, [line], actuators=[motor], gravity=(0, -9.81, 0))
twin_run = cmb.simulate(twin, q0=q0, t_end=1.0)
difference = float(abs(run.q.values - twin_run.q.values).max())
print(f"they differ by {difference:.1e} rad")

# %% Three moments of the fall, and the joints over time
fig = plt.figure(figsize=(7.2, 5.2), layout="constrained")
top, below = fig.subfigures(2, 1, height_ratios=(1.0, 2.2))
for ax, t in zip(top.subplots(1, 3), (0.0, 0.3, 0.6), strict=True):
    plant.plot(run.q.sel(time=t, method="nearest"), ax=ax)
    ax.set(xlim=(-0.15, 0.5), ylim=(-0.15, 0.15), title=f"{t:g} s")
    ax.label_outer()
plot.responses(run, axes=below.subplots(2, 1, sharex=True))
fig.savefig("ex01_own_machine.png")
