# %% [markdown]
"""Track a sine on the five-bar with its two ground motors, in continuous and in sampled time.

The start is 0.05 rad off the path. The error decays with the bandwidth asked for, as far as the motors can.
"""

# %% Machine and path
import matplotlib.pyplot as plt

import cmbcontrol as cmb
from cmbcontrol import controllers, plants

plant = plants.five_bar(effort=80.0)  # N m
path = cmb.Sine(centre=[2.1, 1.0], amplitude=[0.3, 0.2], frequency_hz=0.5)  # rad, Hz
q0 = plant.assemble(left=2.15, right=0.95)

# %% One law, twice
runs = {}
for name, period in {"continuous": None, "1 kHz": 1e-3}.items():
    law = controllers.ProjectedInverseDynamics(plant, ("left", "right"), path, bandwidth=8.0, period=period)
    limited = law | controllers.Saturation(plant=plant)
    runs[name] = cmb.simulate(plant, limited, q0, t_end=3.0, rtol=1e-8, atol=1e-8)

# %% What is left of the error
for name, run in runs.items():
    error = abs(run.error).max("controlled")
    print(name)
    print(f"    error after 1 s  {float(error.sel(time=1.0, method='nearest')):.2e} rad")
    print(f"    error at the end {float(error[-1]):.2e} rad")
    print(f"    largest torque   {float(abs(run.u).max()):.1f} N m")
    print(f"    energy error     {run.max_energy_error:.1e} J")

# %% Angles with their references, and errors
fig, (angle, error) = plt.subplots(2, 1, figsize=(7.2, 4.6), layout="constrained", sharex=True)
exact, sampled = runs.values()
for name, color in {"left": "C0", "right": "C1"}.items():
    angle.plot(exact.time, exact.q.sel(position=name), color, label=name)
    error.semilogy(exact.time, abs(exact.error.sel(controlled=name)), color, label=name)
    error.semilogy(sampled.time, abs(sampled.error.sel(controlled=name)), "k:", linewidth=1, label=f"{name}, 1 kHz")
angle.plot(exact.time, exact.reference, "k--", linewidth=1, label=["reference", None])
angle.set_ylabel("angle (rad)")
error.set(ylabel="error (rad)", xlabel="time (s)", xlim=(0, 3))
for ax in (angle, error):
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    ax.grid(alpha=0.3)
fig.savefig("ex02_tracking.png")
