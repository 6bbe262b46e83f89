# %% [markdown]
"""De Falco's overconstrained linkage: why a threshold for the rank fails, and what the default does instead.

Its 12 equations have rank 11. Udwadia and Kalaba's equation copes with that through a pseudoinverse, which has to tell
a singular value that is zero from one that is small. On loops that drift open, the zero one grows past the threshold.
Given the rank, the run lasts longer, but the violation of the redundant equation, left to itself, grows.
The whole tables of the paper: ``cmbcontrol experiment de-falco-tables``.
"""

# %% Three ways to compute it
import matplotlib.pyplot as plt
import numpy as np

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.papers.de_falco import exact_motion, violation
from cmbcontrol.papers.methods import settings
from cmbcontrol.plants.parallelogram import configuration

plant = plants.parallelogram()
start = -np.pi / 6  # rad, at rest: swings to -150 degrees and back, always away from the flat configurations
paper = {"formulation": "udwadia-kalaba", "pseudoinverse": "svd", "method": "vode-adams", "stabilisation": "none"}
ways = {"threshold = tolerance": {**paper, "rank_tolerance": 1e-6}, "rank 11 given": paper, "our default": {}}

# %% 20 s, or as far as it goes
# Loops that have opened may end a run before its time: the part until then comes with the error.
runs = {}
for name, way in ways.items():
    options = settings(rtol=1e-6, atol=1e-6, **way)
    try:
        runs[name] = cmb.simulate(plant, q0=configuration(start), t_end=20.0, output_times=0.05, **options)
    except cmb.errors.SimulationError as error:
        if error.partial is None:
            raise
        runs[name] = error.partial

# %% How long each is right
errors, right_until, violations = {}, {}, {}
for name, run in runs.items():
    angles = run.q.sel(position=["link1_angle", "link2_angle", "link3_angle"]).values
    errors[name] = abs(angles - exact_motion(run.time, start)[0][:, None]).max(axis=1)  # rad
    wrong = np.flatnonzero(errors[name] > 1e-2)
    right_until[name] = run.time[wrong[0] if wrong.size else -1]
    violations[name] = violation(plant, run.q[-1])[0]
    print(f"{name:22} right until {right_until[name]:5.2f} s, largest error {errors[name].max():.1e} rad")
    print(f"{'':22} sum of Psi^2 at the end {violations[name]:.1e} m2, {run.data.attrs['evaluations']} evaluations")

# %% The linkage, errors over time, and how far the loops open
fig, (machine, error, opening) = plt.subplots(
    3, 1, figsize=(7.2, 6.6), layout="constrained", height_ratios=(1.2, 1.0, 1.0)
)
plant.plot(configuration(start), ax=machine)
for (name, run), style in zip(runs.items(), ("-", "--", "-."), strict=True):
    error.semilogy(run.time, np.maximum(errors[name], 1e-9), style, label=name)
    opening.semilogy(run.time, np.maximum(run.drift.max("loop"), 1e-16), style, label=name)
error.set(ylabel="error of the links (rad)")
opening.set(ylabel="loops open by (m)")
for ax in (error, opening):
    ax.set(xlabel="time (s)", xlim=(0, 20))
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    ax.grid(alpha=0.3)
fig.savefig("ex13_de_falco.png")
