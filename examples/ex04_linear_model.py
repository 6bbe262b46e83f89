# %% [markdown]
"""A linear model of a closed chain for python-control: poles, coordinates, LQR."""

# %% Where it stands, and what holds it there
import control as ct
import matplotlib.pyplot as plt
import numpy as np

import cmbcontrol as cmb
from cmbcontrol import plants

plant = plants.five_bar()
q0 = plant.assemble(left=2.1, right=1.0)
point = cmb.trim(plant, q0)
print(point)

# %% Models in two sets of coordinates
# They are two descriptions of one machine: its poles are the same.
motors = cmb.linearize(plant, point, coordinates=("left", "right"))
elbows = cmb.linearize(plant, point, coordinates=("elbow_left", "elbow_right"))
poles, same = np.sort_complex(motors.poles()), np.sort_complex(elbows.poles())
difference = abs(poles - same).max()
print("poles:", poles.round(3), "rad/s")
print(f"in the other coordinates they differ by {difference:.1e} rad/s")

# %% An LQR on the nonlinear machine
K, _, closed = ct.lqr(motors.to_ss(), np.diag([100.0, 100.0, 1.0, 1.0]), np.eye(2))
print("poles under the LQR:", closed.round(3), "rad/s")


def law(t, terms, state):
    """State feedback about the operating point: a function is a controller."""
    angles = terms.q[[0, 2]] - q0[[0, 2]]
    return point.u - K @ np.append(angles, terms.v[[0, 2]])


run = cmb.simulate(plant, law, plant.assemble(left=2.15, right=0.97), t_end=3.0, rtol=1e-8, atol=1e-8)
left_over = abs(run.q.values[-1] - q0).max()
print(f"off the equilibrium after 3 s: {left_over:.4f} rad")

# %% Poles, and the way back
fig, (plane, angle) = plt.subplots(2, 1, figsize=(7.2, 5.0), layout="constrained")
plane.plot(poles.real, poles.imag, "x", label="open loop")
plane.plot(same.real, same.imag, "o", fillstyle="none", label="by the elbows")
plane.plot(closed.real, closed.imag, "s", label="LQR")
plane.set(xlabel="real part (1/s)", ylabel="imaginary part (rad/s)")
angle.plot(run.time, run.q - q0, label=plant.position_names)
angle.set(xlabel="time (s)", ylabel="off the equilibrium (rad)", xlim=(0, 3))
for ax in (plane, angle):
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    ax.grid(alpha=0.3)
fig.savefig("ex04_linear_model.png")
