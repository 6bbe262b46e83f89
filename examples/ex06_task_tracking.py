# %% [markdown]
"""Tools that follow paths: a planar parallel robot, and two arms with one degree of freedom to spare.

The platform of a 3-RRR robot goes round an ellipse without turning. Two arms carry an object along a line, which takes
two of its three degrees of freedom; how far the object turns is left over: it is damped, or a posture brings it back to
level. Both start beside the path, and their errors obey e'' + G_D e' + G_P e = 0.
"""

# %% The platform round an ellipse in 2 s, its angle held
import matplotlib.pyplot as plt
import numpy as np

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.controllers import PointTask, PoseTask, PostureTask, ProjectedInverseDynamics
from cmbcontrol.plants.three_rrr import configuration as robot_at
from cmbcontrol.plants.two_arms import configuration as arms_at

bandwidth = 12.0  # rad/s
how = {"t_end": 2.0, "output_times": 0.01, "rtol": 1e-8, "atol": 1e-8}
cases = {}  # runs and their laws

robot = plants.three_rrr(plane="vertical")
tool = PoseTask(robot, "platform", axes=("x", "y", "rz"))
ellipse = cmb.Sine([0, 0, 0], [0.10, 0.06, 0], frequency_hz=0.5, phase=[np.pi / 2, 0, 0])
law = ProjectedInverseDynamics(robot, tool, ellipse, bandwidth=bandwidth)
q0 = robot_at(robot, x=0.13, y=-0.02, angle=0.1)
cases["platform"] = cmb.simulate(robot, law, q0, **how), law

# %% The object's centre along a line; its turning damped, or brought back to level
arms = plants.two_arms()
centre = PointTask(arms, "object", axes="xy")
line = cmb.Quintic([-0.15, 0.45], [0.15, 0.60], duration=2.0)
level = PostureTask(arms, cmb.Constant([0.0]), bandwidth=6.0, coordinates=PoseTask(arms, "object", axes=("rz",)))
q0 = arms_at(arms, -0.12, 0.52, 0.3)
for name, posture in {"object, damped": None, "object, posture": level}.items():
    law = ProjectedInverseDynamics(arms, centre, line, bandwidth=bandwidth, posture=posture)
    cases[name] = cmb.simulate(arms, law, q0, **how), law

# %% Do the errors obey their equation?
# Its solution from the start is exp(-w t) (e0 + (e0' + w e0) t), with w the bandwidth.
misses, ends, paths, told = {}, {}, {}, {}
for name, (run, law) in cases.items():
    terms = [law.plant.terms(q, v) for q, v in zip(run.q.values, run.v.values, strict=True)]
    paths[name] = np.array([law.task.value(x) for x in terms])
    both = [law.error(t, x) for t, x in zip(run.time, terms, strict=True)]
    error, slope = (np.array(x) for x in zip(*both, strict=True))
    t = run.time[:, None]
    exact = np.exp(-bandwidth * t) * (error[0] + (slope[0] + bandwidth * error[0]) * t)
    misses[name] = abs(error - exact).max() / abs(error[0]).max()
    told[name] = [str(x) for x in run.report["quantity"].values if str(x).startswith("tracking_error")]
    ends[name] = float(run.report.sel(quantity=told[name])[-1].max())  # the platform's is told in m and in rad
    print(f"{name}: off the equation by {misses[name]:.1e} of the start, error at the end {ends[name]:.1e}")

# %% What becomes of the freedom that is left over?
apart = abs(paths["object, damped"] - paths["object, posture"]).max()
turned = {name: run.q[:, :3].sum("position") for name, (run, _) in cases.items() if name != "platform"}  # rad
print(f"paths of the object differ by {apart:.1e} m")
print("turned at the end:", {name: round(float(angle[-1]), 4) for name, angle in turned.items()}, "rad")

# %% Both machines with their paths, errors, and the angle that is left over
fig, axes = plt.subplot_mosaic("ra;ee;tt", figsize=(7.2, 7.2), layout="constrained", height_ratios=(1.7, 1, 1))
for ax, name in ((axes["r"], "platform"), (axes["a"], "object, damped")):
    run, law = cases[name]
    run.plant.plot(run.q[0], ax=ax)
    wanted = np.array([law.reference(t)[0] for t in run.time])
    ax.plot(wanted[:, 0], wanted[:, 1], color="0.7", linewidth=4, zorder=8, label="wanted")
    ax.plot(*paths[name][:, :2].T, "k", linewidth=1.2, zorder=8, label="taken")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.25), ncols=2)
for (name, (run, _)), style in zip(cases.items(), ("-", "-", "--"), strict=True):
    axes["e"].semilogy(run.time, run.report.sel(quantity=told[name][0]), style, label=name)  # of the position
for (name, angle), color in zip(turned.items(), ("C1", "C2"), strict=True):
    axes["t"].plot(angle.time, angle, color, label=name)
axes["e"].set(ylabel="error (m)", xlim=(0, 2))
axes["t"].set(xlabel="time (s)", ylabel="object turned by (rad)", xlim=(0, 2))
axes["e"].set_xlabel("time (s)")
for ax in (axes["e"], axes["t"]):
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    ax.grid(alpha=0.3)
fig.savefig("ex06_task_tracking.png")
