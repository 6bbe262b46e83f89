# %% [markdown]
"""Spencer's second five-bar example (thesis, section 3.2): multipliers against ours, beside the exact motion.

The whole of it, with the null space form and figures 3.3 to 3.10: `cmbcontrol experiment spencer-five-bar-1` and `-2`.
"""

# %% The thesis's first method, ours, and the exact motion
import matplotlib.pyplot as plt
import numpy as np

from cmbcontrol.papers.spencer import GAINS, STEP, SymmetricMotion, machine, simulated

t_end = 4.2  # s, beyond the third passage
his = {"formulation": "lagrange", "stabilisation": "baumgarte", "gains": GAINS, "method": "rk4", "step": STEP}
lagrange = simulated("Lagrange, Baumgarte", "second", t_end, pass_within=0.0, **his)
ours = simulated("default", "second", t_end)
exact = SymmetricMotion(machine(), "second", t_end)
print("passages:", ", ".join(f"{t:.4f}" for t in exact.passages), "s")

# %% Energy, closure, multipliers, and the error against the exact motion
for course in (lagrange, ours):
    print(f"{course.label}: {course.evaluations} evaluations")
    print(f"    energy error           {course.energy_error:.1e} J")
    print(f"    loop open              {course.violation.max():.1e} m")
    print(f"    mirror error           {course.mirror.max():.1e} rad")
    print(f"    error before passage 3 {course.error(exact, 3.9):.1e} rad")
    print(f"    largest multiplier     {abs(course.multipliers).max():.4g} N")
exact_multipliers = exact.multipliers(ours.time)
print(f"largest exact multiplier at the same times: {abs(exact_multipliers).max():.4g} N")

# %% Link angles, change of the energy, and multipliers
fig, (angle, energy, multiplier) = plt.subplots(3, 1, figsize=(7.2, 6.0), layout="constrained", sharex=True)
angle.plot(ours.time, ours.angles, label=[f"link {k}, default" for k in (1, 2, 3, 4)])
for course, color in ((lagrange, "C4"), (ours, "C5")):
    energy.semilogy(course.time, np.maximum(abs(course.energy_change), 1e-15), color, label=course.label)
    multiplier.semilogy(course.time, np.linalg.norm(course.multipliers, axis=1), color, label=course.label)
multiplier.semilogy(ours.time, np.linalg.norm(exact_multipliers, axis=1), "k--", linewidth=0.8, label="exact")
angle.set_ylabel("link angle (rad)")
energy.set_ylabel("change of energy (J)")
multiplier.set(ylabel="size of multipliers (N)", xlabel="time (s)", xlim=(0, t_end))
for ax in (angle, energy, multiplier):
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    ax.grid(alpha=0.3)
fig.savefig("ex14_spencer_five_bar.png")
