# %% [markdown]
"""Spencer's five-bar through its singular configuration (thesis, section 3.2): where many tools leave the branch.

In the singular configuration all links are flat, and the machine has one degree of freedom more for that instant.
Both of Spencer's examples run for 5 s with default settings.
"""

# %% Two starts
import matplotlib.pyplot as plt
import numpy as np

import cmbcontrol as cmb
from cmbcontrol import plants, plot

plant = plants.five_bar()
elbow = np.arccos(1.0 / 1.5)
starts = {
    "from the singular configuration": [np.pi, -np.pi, 0.0, np.pi],
    "second example": [
        2 * np.pi / 3,
        elbow - 2 * np.pi / 3,
        np.pi / 3,
        2 * np.pi / 3 - elbow,
    ],  # links at 120 and 48.19 deg
}
runs = {name: cmb.simulate(plant, q0=q0, t_end=5.0) for name, q0 in starts.items()}

# %% Do they stay on the branch?
# Both motions are mirror symmetric: left + right = pi, and the elbows are opposite. What is off that is an error.
mirror = {}
for name, run in runs.items():
    left, elbow_left, right, elbow_right = run.q.values.T
    off = np.array([left + right - np.pi, elbow_left + elbow_right])
    mirror[name] = np.abs((off + np.pi) % (2 * np.pi) - np.pi).max(axis=0)
    print(name)
    print("    passages    ", ", ".join(f"{event['time']:.4f}" for event in run.events()), "s")
    print(f"    mirror error {mirror[name].max():.1e} rad")
    print(f"    loops open   {run.max_drift:.1e} m")
    print(f"    energy error {run.max_energy_error:.1e} J")
    print(f"    evaluations  {run.data.attrs['evaluations']}")

# %% The second example at some times, its angles with the passages, and the mirror errors of both
run = runs["second example"]
fig = plt.figure(figsize=(7.2, 6.4), layout="constrained")
top, below = fig.subfigures(2, 1, height_ratios=(1.0, 2.4))
for ax, t in zip(top.subplots(1, 4), (0.0, 0.4, run.events()[0]["time"], 0.9), strict=True):
    plant.plot(run.q.sel(time=t, method="nearest"), ax=ax)
    ax.set(xlim=(-1.8, 2.8), ylim=(-2.3, 2.7), title=f"{t:.3g} s")
    ax.label_outer()
angle, error = below.subplots(2, 1, sharex=True)
plot.responses(run, axes=angle)
for name, values in mirror.items():
    error.semilogy(runs[name].time, np.maximum(values, 1e-15), label=name)
angle.set_xlabel("")
error.set(xlabel="time (s)", ylabel="mirror error (rad)", xlim=(0, 5))
error.legend(loc="upper left", bbox_to_anchor=(1, 1))
error.grid(alpha=0.3)
fig.savefig("ex03_singular_poses.png")
