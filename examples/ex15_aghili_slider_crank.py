# %% [markdown]
"""Aghili's slider-crank (section 8): its closed forms, and what the threshold of (70) costs on the way.

Example 8 drives the same machine with a threshold in the law alone. Here the model has it, too, as in the paper. The
whole, with the loop (39) every k steps and all three formulations: `cmbcontrol experiment aghili-slider-crank`.
"""

# %% The closed forms of the paper
import matplotlib.pyplot as plt
import numpy as np

from cmbcontrol.papers.aghili import closed_forms, closed_loop, condition_numbers, virtual_work

closed_form_error = max(closed_forms(50).column("largest difference"))
print(f"closed forms differ by {closed_form_error:.1e} at most")

# %% Condition numbers on the way to the singular pose, and beside it
angles = np.linspace(0.1, 3.0, 301)  # rad, of the crank
away, near = condition_numbers(angles), condition_numbers([np.pi / 2 - 1e-6])
for name in away:
    print(f"condition number of {name}: up to {away[name].max():.4g}, 1e-6 rad from the pose {near[name][0]:.4g}")

# %% The paper's way without and with a threshold of 0.2 m, and ours, 1.3 s
runs = closed_loop(quick=True)[0]
tracking = {}
for run in runs:
    angle, torque = virtual_work(run.time)
    tracking[run.label] = abs(run.q[:, 0] - angle).max()
    print(f"{run.label}: {run.evaluations} evaluations")
    print(f"    tracking error          {tracking[run.label]:.1e} rad")
    print(f"    torque off virtual work {abs(run.u[:, 0] - torque)[run.outside].max():.1e} N m")
    print(f"    loop open               {run.opening.max():.1e} m")

# %% Condition numbers over the angle; torque and opening of the loop over time
fig, (condition, torque, opening) = plt.subplots(3, 1, figsize=(7.2, 6.4), layout="constrained")
for k, (name, values) in enumerate(away.items()):  # some are equal: the first ones are wider
    condition.semilogy(angles, values, linewidth=5 - 0.7 * k, label=name)
for run in runs:
    name = run.label.split(", (39)")[0]
    torque.plot(run.time, run.u[:, 0], label=name)
    opening.semilogy(run.time, np.maximum(run.opening, 1e-16), label=name)
torque.plot(run.time, virtual_work(run.time)[1], "k--", linewidth=0.9, label="virtual work")
condition.set(xlabel="angle of the crank (rad)", ylabel="condition number (1)")
torque.set(xlabel="time (s)", ylabel="torque (N m)", xlim=(0, 1.3))
opening.set(xlabel="time (s)", ylabel="loop open by (m)", xlim=(0, 1.3))
for ax in (condition, torque, opening):
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    ax.grid(alpha=0.3)
fig.savefig("ex15_aghili_slider_crank.png")
