# %% [markdown]
"""Four IFToMM benchmark problems at default settings: how far from published and exact solutions they end."""

# %% Four problems, 10 s each
import matplotlib.pyplot as plt

from cmbcontrol.papers import iftomm

problems = {
    "A01, pendulum": iftomm.pendulum_problem(10.0),
    "A02, N = 2": iftomm.four_bar_problem(2, 10.0),
    "A02, N = 10": iftomm.four_bar_problem(10, 10.0),
    "A04, Bricard": iftomm.bricard_problem(),  # published, with six digits
}
results = {name: problem.measure("default") for name, problem in problems.items()}

# %% Errors, energy drift, and cost
for name, result in results.items():
    print(f"{name:14} error {result.largest:.1e} m, energy off by {result.run.max_energy_error:.1e} J")
    print(f"{'':14} {len(result.run.events())} flat configurations passed, {result.count('evaluations')} evaluations")

# %% The Bricard mechanism, and errors of the observed coordinates over time
bricard = results["A04, Bricard"].run
fig = plt.figure(figsize=(7.2, 6.4), layout="constrained")
top, below = fig.subfigures(2, 1, height_ratios=(1.5, 1.0))
for i, t in enumerate((0.0, 2.0), 1):
    ax = top.add_subplot(1, 2, i, projection="3d")
    bricard.plant.plot(bricard.q.sel(time=t, method="nearest"), ax=ax)
    ax.set_title(f"A04, {t:g} s", y=0.93)
ax = below.subplots()
for name, result in results.items():
    ax.semilogy(result.problem.times, result.error.max(axis=1).clip(1e-17), label=name)
ax.set(xlabel="time (s)", ylabel="error of observed point (m)", xlim=(0, 10))
ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
ax.grid(alpha=0.3)
fig.savefig("ex16_benchmarks.png")
