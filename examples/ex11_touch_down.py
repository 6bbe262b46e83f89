# %% [markdown]
"""A leg falls, touches down, squats, hops and lands again: one controller, and a foot that only pushes."""

# %% How long the leg is to be, over time
import warnings

import matplotlib.pyplot as plt
import numpy as np

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.controllers import ProjectedInverseDynamics
from cmbcontrol.dynamics.acceleration import acceleration
from cmbcontrol.plants.leg import LINK, angles, configuration

plant = plants.leg()
strokes = [  # m, s
    cmb.Quintic([0.6], [0.6], 0.5, begin=0.0),
    cmb.Quintic([0.6], [0.42], 0.45, begin=0.5),  # squat
    cmb.Quintic([0.42], [0.62], 0.15, begin=0.95),  # hop
    cmb.Quintic([0.62], [0.5], 0.2, begin=1.15),  # draw in
]


def hip_and_knee(t):
    """Angles, rates and accelerations for a leg of this length, 2 LINK cos(knee / 2), with the foot below the hip."""
    stroke = [stroke for stroke in strokes if stroke.begin <= t][-1]
    length, rate, second = (x[0] for x in stroke(t))
    hip, knee = angles(length)
    across = 2 * LINK * np.sin(knee / 2)
    bend = -rate / across
    bend_rate = -(second + length * bend**2) / across
    return np.array([hip, knee]), np.array([-bend, 2 * bend]), np.array([-bend_rate, 2 * bend_rate])


def falls_free(t, terms):
    """What the motors leave alone: the acceleration without them, which in the air is the fall of the trunk."""
    return acceleration(terms, np.zeros(terms.h.size))


# %% From 0.15 m above the ground
law = ProjectedInverseDynamics(
    plant, ("hip", "knee"), hip_and_knee, bandwidth=18.0, consistent=True, posture=falls_free, period=1e-3
)
foot = cmb.Contact("foot", normal=(0, 1, 0), friction=0.8)
run = cmb.simulate(plant, law, configuration(plant, 0.75, 0.6), t_end=2.2, output_times=2e-3, switches=foot)
print(run)

# %% When it lands, what it loses, and how high it hops
landings = [event for event in run.events() if event["kind"] == "impact foot"]
for event in landings:
    print(f"lands at {event['time']:.4f} s and loses {event['loss']:.3f} J")
fall_error = abs(landings[0]["time"] - np.sqrt(2 * 0.15 / 9.81))
sole = np.array([plant.point(q, "shank", (LINK, 0, 0))[1] for q in run.q.values])  # m
hop = sole[run.time > landings[0]["time"]].max()
print(f"off the time of a free fall by {fall_error:.1e} s; hops {hop:.3f} m, foot never below {sole.min():.1e} m")

# %% Stills; heights, force on the foot, and energy; grey while the foot is on the ground
fig = plt.figure(figsize=(7.2, 7.4), layout="constrained")
top, below = fig.subfigures(2, 1, height_ratios=(1.0, 1.7))
for ax, t in zip(top.subplots(1, 5), (0.0, 0.18, 0.9, 1.2, 2.0), strict=True):
    with warnings.catch_warnings(action="ignore", category=cmb.errors.CmbWarning):  # the contact is open in the air
        plant.plot(run.q.sel(time=t, method="nearest"), ax=ax)
    ax.set(xlim=(-0.35, 0.35), ylim=(-0.05, 0.95), title=f"{t:g} s")
    ax.label_outer()
height, force, energy = below.subplots(3, 1, sharex=True)
height.plot(run.time, run.q[:, 0], label="hip")
height.plot(run.time, sole, label="foot")
force.plot(run.time, -run.multipliers[:, 1], label="normal force")
force.plot(run.time, run.multipliers[:, 0], "--", label="sideways")
energy.plot(run.time, run.energy - run.energy[0], label="change of energy")
energy.plot(run.time, run.actuator_work, "--", label="work of the motors")
energy.plot(run.time, run.impact_loss, ":", label="lost in impacts")
energy.set(xlabel="time (s)", xlim=(0, 2.2))
on_ground = run.active[:, 0].values.astype(bool)
for ax, label in ((height, "height (m)"), (force, "force (N)"), (energy, "energy (J)")):
    ax.fill_between(run.time, 0, 1, where=on_ground, color="0.9", transform=ax.get_xaxis_transform())
    ax.set_ylabel(label)
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    ax.grid(alpha=0.3)
fig.savefig("ex11_touch_down.png")
