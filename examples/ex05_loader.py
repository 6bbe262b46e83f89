# %% [markdown]
"""The wheel loader of Spencer's thesis, section 4.5: linear models in two sets of coordinates.

Without cylinder forces the configuration is no equilibrium, and the eigenvalues belong to the coordinates, as in the
thesis; held by its cylinders it is one, and they belong to the machine. The analytic models are compared with what a
tool has to do that differentiates the nonlinear motion: close the loops, solve for velocity and acceleration, subtract.
"""

# %% The same configuration without efforts, and with those that hold it
import matplotlib.pyplot as plt
import numpy as np

import cmbcontrol as cmb
from cmbcontrol import affine_approximation, plants
from cmbcontrol.plants.loader import configuration

np.set_printoptions(precision=5, suppress=True, linewidth=120)
plant = plants.loader()
q = configuration(plant, boom=0.1, bucket=-0.1)  # rad
points = {"falling": cmb.OperatingPoint.at(plant, q), "held": cmb.trim(plant, q)}
print("cylinder forces that hold it:", points["held"].u / 1e3, "kN")

# %% Models in angles and in cylinder lengths
models = {}
for state, point in points.items():
    for names in (("boom", "bucket"), ("lift", "tilt")):
        model = affine_approximation(plant, point, coordinates=names)
        models[state, names] = model
        print(f"\n{state}, {' and '.join(names)}: A and its eigenvalues")
        print(model.A + 0.0)
        print(np.sort_complex(model.poles()) + 0.0, "1/s")


# %% What differences of the nonlinear motion give
def rate(x, names, u):
    """The rates of the local state x = (y, dy/dt), deviations from q at rest: the nonlinear machine."""
    columns = [plant.index(name) for name in names]
    near = plant.assemble(guess=q, **dict(zip(names, q[columns] + x[:2], strict=True)))
    rows = np.concatenate([np.eye(plant.nv)[columns], plant.jacobian(near)])
    v = np.linalg.solve(rows, np.append(x[2:], np.zeros(len(plant.row_names))))
    return np.append(x[2:], cmb.forward_dynamics(plant, near, v, u)[columns])


schemes = {  # step in rad or m, and weights of the nodes
    "forward": (1e-5, {0: -1, 1: 1}),  # what a linearization block does
    "central": (1e-5, {-1: -1 / 2, 1: 1 / 2}),
    "order 8": (2e-3, {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280, -1: -4 / 5, -2: 1 / 5, -3: -4 / 105, -4: 1 / 280}),
}
errors = {}
for (state, names), model in models.items():
    for scheme, (step, weights) in schemes.items():
        columns = [
            sum(w * rate(k * step * e, names, points[state].u) for k, w in weights.items()) / step for e in np.eye(4)
        ]
        errors[state, names, scheme] = abs(np.array(columns).T - model.A).max()
        print(f"{state}, {' and '.join(names)}, {scheme}: A is off by {errors[state, names, scheme]:.1e}")

# %% The machine, and its eigenvalues in both sets of coordinates
fig, axes = plt.subplots(3, 1, figsize=(7.2, 6.0), layout="constrained", height_ratios=(2.2, 1, 1))
plant.plot(q, ax=axes[0])
for ax, state in zip(axes[1:], points, strict=True):
    for names, mark in {("boom", "bucket"): "x", ("lift", "tilt"): "o"}.items():
        poles = models[state, names].poles()
        ax.plot(poles.real, poles.imag, mark, markersize=8, fillstyle="none", label=" and ".join(names))
    ax.set(title=state, xlabel="real part (1/s)", ylabel="imaginary part\n(rad/s)")
    ax.margins(y=0.3)
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    ax.grid(alpha=0.3)
fig.savefig("ex05_loader.png")
