# %% [markdown]
"""Two arms grasp an object, carry it, and put it down: one controller, whose loops come and go."""

# %% What is wanted when: hands to the object, object over to the other side, hands off
import warnings

import matplotlib.pyplot as plt
import numpy as np

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.controllers import ProjectedInverseDynamics
from cmbcontrol.plants.grasping_arms import TABLE, configuration

plant = plants.grasping_arms(table=True)
take, put, end = 1.1, 2.8, 4.0  # s
reach = cmb.Quintic([0.1], [0.0], 0.9)  # m, clearance of the hands
over = cmb.Quintic([0.0], [1.0], 1.5, begin=1.2)  # part of the way
back_off = cmb.Quintic([0.0], [0.1], 0.9, begin=2.9)

times = np.linspace(0.0, end, 801)
poses = []
for t in times:
    part = over(t)[0][0]
    lift = np.sin(np.pi * part) ** 2
    clearance = (reach if t < 2.0 else back_off)(t)[0][0]
    poses.append(configuration(plant, TABLE[0] + 0.3 * part, TABLE[1] + 0.12 * lift, 0.25 * lift, clearance=clearance))
poses = np.array(poses)
joints = plant.position_names[:6]
path = cmb.Spline(times, poses[:, :6])

# %% Both hands grasp as the table lets go, and the other way round
grasps = ("left_grasp", "right_grasp")
switches = [
    *(cmb.Engage(name, at=take, capture=True) for name in grasps),
    cmb.Release("table", at=take),
    cmb.Engage("table", at=put, capture=True),
    *(cmb.Release(name, at=put) for name in grasps),
]


def carry(off, bandwidth):
    """The whole task, from hands that are `off` rad beside where they should be."""
    law = ProjectedInverseDynamics(plant, joints, path, bandwidth=bandwidth, consistent=True, period=2e-3)
    q0 = poses[0] + off * (np.arange(plant.nq) < 6)
    return cmb.simulate(plant, law, q0, t_end=end, output_times=0.01, switches=switches)


# %% A law that is stiff enough, and one so soft that the hands are not yet there, and not at rest, when they grasp
run = carry(off=0.0, bandwidth=15.0)
soft = carry(off=0.02, bandwidth=4.0)
error, late = (abs(x.error).max("controlled") for x in (run, soft))
beside = np.hypot(*(run.q.values[-1, 6:8] - [TABLE[0] + 0.3, TABLE[1]]))
print(run)
print(f"joint error at most {float(error.max()):.1e} rad, object beside its place by {beside:.1e} m")
print(f"energy lost at the switches {float(run.impact_loss[-1]):.1e} J")
at_grasp = float(late.sel(time=take, method="nearest"))
print(f"soft: error {at_grasp:.1e} rad at the grasp, {float(late[-1]):.1e} rad at the end")
print(f"soft: energy lost at the switches {float(soft.impact_loss[-1]):.1e} J")

# %% Stills of the machine; joint errors, grasp forces, and energy over time
fig = plt.figure(figsize=(7.2, 8.8), layout="constrained")
top, below = fig.subfigures(2, 1, height_ratios=(1.0, 1.4))
stills = (0.0, "reach"), (take, "grasp"), (1.95, "carry"), (end, "back off")
for ax, (t, what) in zip(top.subplots(2, 2).flat, stills, strict=True):
    with warnings.catch_warnings(action="ignore", category=cmb.errors.CmbWarning):  # loops that are open by intent
        plant.plot(run.q.sel(time=t, method="nearest"), ax=ax)
    ax.set(xlim=(-1.0, 1.0), ylim=(-0.1, 0.8), xticks=(-0.8, -0.4, 0.0, 0.4, 0.8), title=f"{what}, {t:g} s")
    ax.label_outer()
axes = below.subplots(3, 1, sharex=True)
for k, name in enumerate(joints):
    axes[0].plot(run.time, 1e3 * run.error[:, k], f"C{k % 3}", linestyle="-" if k < 3 else "--", label=name)
for name in (*grasps, "table"):
    push = np.hypot(*run.multipliers.sel(row=[f"{name}_x", f"{name}_y"]).values.T)
    axes[1].plot(run.time, np.where(run.active.sel(loop=name), push, np.nan), label=name)
axes[2].plot(run.time, run.energy - run.energy[0], label="change of energy")
axes[2].plot(run.time, run.actuator_work, "--", label="work of the motors")
axes[2].set(xlabel="time (s)", xlim=(0, end))
for ax, label in zip(axes, ("error (mrad)", "force (N)", "energy (J)"), strict=True):
    ax.set_ylabel(label)
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    ax.grid(alpha=0.3)
    for t in (take, put):
        ax.axvline(t, color="0.7", zorder=0)
fig.savefig("ex10_grasp.png")
