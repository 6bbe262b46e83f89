# %% [markdown]
"""Passive joints: a five-bar with motors on the ground alone, and a crank that drives through a singular configuration.

The slider-crank is that of Aghili's section 8. Where rod and crank point the same way, the rod may turn by itself: for
that instant there are two degrees of freedom and one motor. The machine passes, and the loss is reported.
"""

# %% The five-bar: two sines with the ground motors, from 0.05 rad off them
import matplotlib.pyplot as plt
import numpy as np

import cmbcontrol as cmb
from cmbcontrol import plants, plot
from cmbcontrol.controllers import PassiveJoints, ProjectedInverseDynamics
from cmbcontrol.controllers.actuation import actuation_along

plant = plants.five_bar()
path = cmb.Sine(centre=[2.1, 1.0], amplitude=[0.3, 0.2], frequency_hz=[0.5, 0.7])
law = PassiveJoints(ProjectedInverseDynamics(plant, ("left", "right"), path, bandwidth=8.0))
linkage = cmb.simulate(plant, law, plant.assemble(left=2.15, right=0.95), t_end=3.0, rtol=1e-9, atol=1e-9)

states = zip(linkage.q.values, linkage.v.values, linkage.u.values, strict=True)
torques = np.array([plant.terms(q, v).B @ u for q, v, u in states])  # N m, on each joint: B u
passive = abs(torques[:, [1, 3]]).max()
error = abs(linkage.error).max("controlled")
print(f"five-bar: largest torque on a passive joint {passive:g} N m")
print(f"    error {float(error[0]):.3f} rad at the start, {float(error[-1]):.1e} rad at the end")
print(f"    least margin {float(actuation_along(plant, linkage).margin.min()):.3f}")

# %% The slider-crank: from one side of the singular configuration to the other
plant = plants.slider_crank()
law = PassiveJoints(ProjectedInverseDynamics(plant, "q1", cmb.Quintic([0.6], [2.5], duration=2.0), bandwidth=8.0))
crank = cmb.simulate(plant, law, [0.6, -1.2], t_end=2.5)
crank_error = float(abs(crank.error).max())

# By virtual work along (1, -2), mass and length 1, with I = 3 - 2 cos 2 q1: I q1'' + I'/2 q1'^2 + g cos q1
q, v, a = crank.q[:, 0], crank.v[:, 0], crank.data.a[:, 0]
exact = (3 - 2 * np.cos(2 * q.values)) * a.values + 2 * np.sin(2 * q.values) * v.values**2 + 9.81 * np.cos(q.values)
away = abs(q.values - np.pi / 2) > 0.01
torque_error = abs(crank.u.values[:, 0] - exact)[away].max()
print(f"slider-crank: largest error {crank_error:.1e} rad, torque off virtual work {torque_error:.1e} N m")

# %% Where control is lost
# Exactly in the pose; in the paper wherever a singular value of A is below epsilon.
epsilon = 0.2
lost, window = actuation_along(plant, crank), actuation_along(plant, crank, epsilon=epsilon)
begin = np.interp(window.loss_begin[0], crank.time, q)
print(f"    {lost.sizes['loss']} loss at {float(lost.loss_time[0]):.4f} s, margin {float(lost.loss_margin[0]):g} there")
print(f"    the window begins at {begin:.4f} rad; by eq. (70) at {np.arccos(epsilon / np.sqrt(5)):.4f} rad")

# %% Torques on all joints of the five-bar; angle, torque and margin of the slider-crank
fig, axes = plt.subplots(4, 1, figsize=(7.2, 8.0), layout="constrained")
for k, name in enumerate(linkage.plant.velocity_names):
    axes[0].plot(linkage.time, torques[:, k], "--" if k == 3 else "-", label=name)
axes[0].set(title="five-bar", ylabel="torque on joint (N m)", xlim=(0, 3))
axes[1].plot(crank.time, q, label="q1")
axes[1].plot(crank.time, crank.reference, "k:", label="reference")
axes[1].axhline(np.pi / 2, color="0.6", linewidth=0.8, label="singular configuration")
axes[1].set(title="slider-crank", ylabel="angle (rad)", xlim=(0, 2.5))
axes[2].plot(crank.time, crank.u[:, 0], label="motor")
axes[2].plot(crank.time, exact, "k:", label="virtual work")
axes[2].set(ylabel="torque (N m)", xlim=(0, 2.5))
plot.actuation(crank, ax=axes[3])
axes[3].plot(window.time, window.margin, "k:", linewidth=1, label=f"with epsilon = {epsilon:g}")
axes[0].set_xlabel("time (s)")
for ax in axes[1:3]:
    ax.tick_params(labelbottom=False)
for ax in axes:
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    ax.grid(alpha=0.3)
fig.savefig("ex08_passive_joints.png")
