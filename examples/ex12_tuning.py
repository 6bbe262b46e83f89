# %% [markdown]
"""One gain for nine configurations and three payloads of the five-bar, and PD gains from simulations.

The nominal LQR is designed for the unloaded machine in the middle configuration, the robust gain for 27 linear models
at once. Both are judged on the nonlinear machines, linearized where they come to rest. Then bandwidth and damping ratio
of projected inverse dynamics are searched for a machine with a delay and a payload that the law does not know.
"""

# %% Machines, configurations, and where their poles are to be
import matplotlib.pyplot as plt

import cmbcontrol as cmb
from cmbcontrol import controllers, design, plants, plot

driven = ("left", "right")
tip = (1.5, 0.0, 0.0)  # of the left upper link, m
plant = plants.five_bar()
machines = {f"{m:g} kg": design.with_payload(plant, "left_upper", m, tip) for m in (0.0, 2.0, 4.0)}
poses = {f"({a}, {b})": {"left": a, "right": b} for a in (1.9, 2.3, 2.7) for b in (0.4, 0.8, 1.2)}  # rad
models = design.model_family(machines, poses, coordinates=driven)
region = design.PoleRegion(decay=3.0, damping=0.6, radius=40.0)
inside = design.PoleRegion(decay=3.5, damping=0.6, radius=40.0)  # a loaded machine rests aside of its configuration

# %% A gain for all models, and an LQR for one of them
found = design.robust_state_feedback(models, inside)
robust = found.law(models["2 kg, (2.3, 0.8)"])
lqr = design.lqr(models["0 kg, (2.3, 0.8)"], Q={"left": 100.0, "right": 100.0}, R=0.01)
models_inside = sum(case.inside for case in found.certificate.cases)
print(f"robust gain: {models_inside} of {len(models)} models inside of the region")
print(f"    decay by one Lyapunov matrix {found.common_decay:.2f} 1/s")

# %% Judged on the nonlinear machines
certificates = {
    "LQR of one model": design.certify(machines, lqr, poses, region),
    "one gain for all": design.certify(machines, robust, poses, region),
}
machines_inside = {}
for name, certificate in certificates.items():
    machines_inside[name] = sum(case.inside for case in certificate.cases)
    slowest = max(case.poles.real.max() for case in certificate.cases)
    print(f"{name}: {machines_inside[name]} of {len(certificate.cases)} inside, slowest pole {slowest:.2f} 1/s")

# %% Gains from simulations
# A point-to-point motion, 10 ms late, with a payload of 2 kg that the law does not know.
loaded = machines["2 kg"]
path = cmb.Quintic([2.1, 1.0], [2.4, 0.7], duration=0.6)
q0 = loaded.assemble(left=2.1, right=1.0)


def make(bandwidth, damping_ratio):
    """What is simulated with these gains."""
    law = controllers.ProjectedInverseDynamics(
        plant, driven, path, bandwidth=bandwidth, damping_ratio=damping_ratio, period=0.01
    )
    chain = controllers.WithModel(plant, law) | controllers.Saturation(120.0) | controllers.Delay(0.01)
    how = {"t_end": 1.2, "output_times": 0.01, "rtol": 1e-6, "atol": 1e-6}
    return {"plant": loaded, "controller": chain, "q0": q0, **how}


ranges = {
    "bandwidth": design.Range(2.0, 60.0, log=True, unit="rad/s", start=5.0),
    "damping_ratio": design.Range(0.3, 2.0, unit="1", start=1.0),
}
# A small tracking error; a jerky effort costs, too.
roughness = design.effort_cost(rate=True)
cost = design.weighted_cost(error=(1.0, design.error_cost("ISE")), roughness=(1e-9, roughness))
search = design.tune(make, ranges, cost, max_evaluations=60)
gained = search.cost / float(search.data["cost"][0])
print(f"after {search.evaluations} runs the cost is {gained:.3f} of that of the start, at", search.gains)

# %% Poles of the 27 machines under both laws, and the search
fig = plt.figure(figsize=(7.2, 9.6), layout="constrained")
maps, below = fig.subfigures(2, 1, height_ratios=(1.1, 1.0))
for ax, (name, certificate) in zip(maps.subplots(2, 1, sharex=True, sharey=True), certificates.items(), strict=True):
    plot.pole_sets(certificate, ax=ax, legend=name == "LQR of one model")
    ax.set_title(f"{name}: {machines_inside[name]} of {len(certificate.cases)} inside")
    ax.label_outer()
plot.tuning(search, axes=below.subplots(3, 1, sharex=True))
fig.savefig("ex12_tuning.png")
