# %% [markdown]
"""Two arms carry an object and squeeze it: its motion and the forces inside it are controlled together.

The object swings through an arc and turns. The right hand presses on it along its axis with 20 N, then with 60 N, then
with 30 N, carries half of its weight and does not bend it. The plant is coupled: acceleration loads the grasp. The
same law without the term for that (mu of Aghili's eq. 51) lets the motion into the force; the motion does not change.
"""

# %% What is wanted
import matplotlib.pyplot as plt
import numpy as np

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.controllers import ConstraintForcePI, HybridMotionForce, PoseTask, ProjectedInverseDynamics
from cmbcontrol.controllers.decoupling import is_decoupled
from cmbcontrol.plants.two_arms import configuration

period = 4e-3  # s
weight = 6.0 * 9.81  # N
path = cmb.Sine([0.0, 0.55, 0.0], [0.15, 0.05, 0.25], frequency_hz=[0.75, 1.5, 0.75], phase=[0.0, np.pi / 2, 0.0])


def wanted(t):
    """Force (N) and moment (N m) of the right hand on the object, in its axes: a ramp, then a step."""
    squeeze = np.interp(t, [0.4, 0.8], [20.0, 60.0]) if t < 1.4 else 30.0
    return np.array([-squeeze, weight / 2, 0.0])


# %% Start on the path, at its velocity
plant = plants.two_arms()
pose = PoseTask(plant, "object", axes=("x", "y", "rz"))
q0 = configuration(plant, *path(0.0)[0])
terms = plant.terms(q0, np.zeros(plant.nv))
v0 = terms.Z @ np.linalg.solve(pose.jacobian(terms) @ terms.Z, path(0.0)[1])
coupling = is_decoupled(plant, q0).coupling
print(f"coupling of motion and force at the start: {coupling:.3f}")

# %% With the coupling compensated, and with it ignored
components = ("grasp_fx", "grasp_fy", "grasp_mz")
runs, forces, path_errors = {}, {}, {}
for name, compensate in {"compensated": True, "coupling ignored": False}.items():
    motion = ProjectedInverseDynamics(plant, pose, path, bandwidth=15.0, period=period)
    force = ConstraintForcePI(
        plant, wanted, components, kp=0.3, ki=60.0, frame="object", on="a", period=period, compensate=compensate
    )
    law = HybridMotionForce(motion, force)
    run = cmb.simulate(plant, law, q0, v0, t_end=2.0, output_times=0.004, rtol=1e-8, atol=1e-8)
    states = [plant.terms(q, v) for q, v in zip(run.q.values, run.v.values, strict=True)]
    loads = zip(states, run.constraint_force.values, strict=True)
    off = np.array([motion.error(t, x)[0] for t, x in zip(run.time, states, strict=True)])
    runs[name] = run
    forces[name] = np.array([force.components.matrix(x) @ load for x, load in loads])
    path_errors[name] = np.hypot(off[:, 0], off[:, 1])

# %% How well both are followed
time = run.time
targets = np.array([wanted(t) for t in time])
settled = (time > 0.1) & (abs(time - 1.4) > 0.1)  # away from the start and from the step
force_errors = {name: abs(actual - targets)[settled].max(axis=0) for name, actual in forces.items()}
for name, (fx, fy, mz) in force_errors.items():
    print(f"{name}: force error {max(fx, fy):.2f} N, moment error {mz:.3f} N m")
    print(f"    path error {1e3 * path_errors[name].max():.3f} mm")
along = run.report.sel(quantity="coupling")
print(f"coupling along the path: {float(along.min()):.3f} to {float(along.max()):.3f}")

# %% The machine, forces, and the errors of the path
fig, axes = plt.subplots(4, 1, figsize=(7.2, 7.6), layout="constrained", height_ratios=(1.6, 1, 1, 0.7))
plant.plot(q0, ax=axes[0])
for ax, (name, actual) in zip(axes[1:], forces.items(), strict=False):
    ax.plot(time, targets[:, :2] * [-1, 1], color="0.8", linewidth=4, label=["wanted", None])
    ax.plot(time, actual[:, :2] * [-1, 1], label=["squeeze", "lift"])
    ax.set(title=name, ylabel="force (N)", xlim=(0, 2), ylim=(0, 85))
    ax.tick_params(labelbottom=False)
for (name, error), style in zip(path_errors.items(), ("-", "--"), strict=True):
    axes[3].plot(time, 1e3 * error, style, label=name)
axes[3].set(ylabel="path error (mm)", xlabel="time (s)", xlim=(0, 2))
for ax in axes[1:]:
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    ax.grid(alpha=0.3)
fig.savefig("ex07_force_control.png")
