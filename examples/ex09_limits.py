# %% [markdown]
"""Limits: a five-bar whose motors are too weak for the move, and a grasp of two arms that must only push.

The move of the five-bar needs 1.5 times the torque that there is. Clipped torques leave the path; a scaled request
stays on it and takes longer. The arms hold an object between two flat hands with friction: the least torques that move
it pull at it, and would lose it; with friction cones as limits the same motion keeps the grasp.
"""

# %% The five-bar: what the move takes, and what there is
import matplotlib.pyplot as plt
import numpy as np

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.controllers import Cone, ConstrainedActuation, ProjectedInverseDynamics, Saturation, Unilateral
from cmbcontrol.plants.grasping_arms import configuration

period = 4e-3  # s
start, goal = np.array([2.1, 1.0]), np.array([1.6, 0.8])  # rad
plant = plants.five_bar()
q0 = plant.assemble(left=start[0], right=start[1])
path = cmb.Quintic(start, goal, duration=0.5)
motion = ProjectedInverseDynamics(plant, ("left", "right"), path, bandwidth=10.0, period=period)
how = {"rtol": 1e-7, "atol": 1e-7, "output_times": period}
free = cmb.simulate(plant, motion, q0, t_end=1.6, **how)
limits = abs(free.u).max("time").values / 1.5  # N m

# %% Three ways to live with it
laws = {
    "clipped": motion | Saturation(limits),
    "nearest": ConstrainedActuation(motion, limits=limits),
    "scaled": ConstrainedActuation(motion, limits=limits, slack="scale"),
}
moves = {"without limits": free}
for name, law in laws.items():
    moves[name] = cmb.simulate(plant, law, q0, t_end=1.6, **how)

# %% How far they leave the straight way from start to goal
across = np.array([start[1] - goal[1], goal[0] - start[0]]) / np.linalg.norm(goal - start)
aside, ends, uses = {}, {}, {}
for name, run in moves.items():
    angles = run.q.sel(position=["left", "right"]).values
    aside[name] = abs((angles - start) @ across).max()
    ends[name] = abs(angles[-1] - goal).max()
    uses[name] = abs(run.u.values / limits).max()
    print(f"{name:15} aside {aside[name]:.4f} rad, off at the end {ends[name]:.1e} rad, {uses[name]:.2f} of the limits")

# %% The arms: each hand pushes with 20 N at least, within the friction cone, its pressure within the flat of the hand
arms = plants.grasping_arms()
carry = cmb.Quintic([-0.08, 0.45, 0.0], [0.10, 0.60, 0.3], 0.8)
pose = ("object_x", "object_y", "object_angle")
motion = ProjectedInverseDynamics(arms, pose, carry, bandwidth=8.0, period=period)
friction, squeeze, half_hand = 0.5, 20.0, 0.04  # 1, N, m
counted_on = 0.9 * friction  # torques are held, and forces move on, between samples
hands = ("left", "right")
cones = [Cone(f"{hand}_grasp_x", counted_on, tangential=[f"{hand}_grasp_y"], minimum=squeeze) for hand in hands]
flat = [
    Unilateral({f"{hand}_grasp_x": half_hand, f"{hand}_grasp_twist": sign}) for hand in hands for sign in (1.0, -1.0)
]
grasps = {}
laws = {"least efforts": motion, "contacts kept": ConstrainedActuation(motion, unilateral=flat, cones=cones)}
for name, law in laws.items():
    grasps[name] = cmb.simulate(arms, law, configuration(arms, -0.08, 0.45, 0.0), t_end=1.2, **how)

# %% What the contacts bear
# Multipliers of redundant rows are not unique: the smallest ones, which balance the motion, by the pseudoinverse of A.
columns = [[arms.row_names.index(f"{hand}_grasp_{axis}") for axis in "xy"] for hand in hands]
contacts, friction_used, carry_errors = {}, {}, {}
for name, run in grasps.items():
    forces = []
    for q, v, u in zip(run.q.values, run.v.values, run.u.values, strict=True):
        x = arms.terms(q, v)
        multipliers = x.A_pinv.T @ (x.B @ u - x.h - x.M @ cmb.forward_dynamics(arms, q, v, u))
        forces.append(-multipliers[columns])
    contacts[name] = np.array(forces)  # N: times, hands, normal and tangential
    normal, tangential = contacts[name][..., 0], abs(contacts[name][..., 1])
    pushes = normal > 0.0
    used = np.divide(tangential, friction * normal, where=pushes, out=np.full_like(normal, np.inf))
    friction_used[name] = used.max()
    carry_errors[name] = float(abs(run.error).max())
    print(f"{name:15} least push {normal.min():.2f} N, {friction_used[name]:.3f} of the friction")
    print(f"{'':15} error {carry_errors[name]:.1e} m or rad, torques up to {float(abs(run.u).max()):.0f} N m")

# %% Path and torques of the five-bar; the arms, and the forces of their hands in the friction cone
fig, (way, torque, machine, cone) = plt.subplots(4, 1, figsize=(7.2, 9.4), layout="constrained")
for (name, run), style in zip(moves.items(), ("k:", "-", "--", "-"), strict=True):
    way.plot(run.q.sel(position="left"), run.q.sel(position="right"), style, label=name)
way.set(title="five-bar: the driven angles", xlabel="left (rad)", ylabel="right (rad)")
for k, (motor, color) in enumerate({"left": "C0", "right": "C1"}.items()):
    torque.plot(free.time, free.u[:, k], color, linestyle=":", label=f"{motor}, without limits")
    torque.plot(moves["scaled"].time, moves["scaled"].u[:, k], color, label=f"{motor}, scaled")
    for limit in (-limits[k], limits[k]):
        torque.axhline(limit, color=color, linewidth=0.8, linestyle="--")
torque.set(xlabel="time (s)", ylabel="torque (N m)", xlim=(0, 1))
arms.plot(grasps["contacts kept"].q[0], ax=machine)
reach = 1.1 * max(forces[..., 0].max() for forces in contacts.values())
cone.fill([0, reach, reach], [0, friction * reach, -friction * reach], color="#E8F0E8", label="friction cone")
for (name, forces), style in zip(contacts.items(), (":", "-"), strict=True):
    for k, hand in enumerate(hands):
        cone.plot(*forces[:, k].T, f"C{k}", linestyle=style, label=f"{hand} hand, {name}")
cone.axvline(squeeze, color="0.6", linewidth=0.8, linestyle="--", label=f"least push, {squeeze:g} N")
cone.set(title="arms: contact forces", xlabel="normal force (N)", ylabel="tangential force (N)")
for ax in (way, torque, cone):
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    ax.grid(alpha=0.3)
fig.savefig("ex09_limits.png")
