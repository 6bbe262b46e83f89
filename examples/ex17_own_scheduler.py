# %% [markdown]
"""A scheduler of your own: a controller that looks ahead with copies of the machine, and decides every 20 ms.

Each decision tries 25 pairs of torques on top of those that hold the five-bar where it is: a copy of the stepper goes
on under each for a moment, and the pair that leads nearest to the goal is applied to the machine itself. The controller
needs no gradients and no linear model, only `Stepper.copy` and `Stepper.step`. An event ends the steps, when the
machine rests near its goal.
"""

# %% From where to where, and what is tried
from itertools import product

import matplotlib.pyplot as plt
import numpy as np

import cmbcontrol as cmb
from cmbcontrol import plants

plant = plants.five_bar()
driven = [0, 2]
start, goal = np.array([2.1, 1.0]), np.array([1.8, 1.25])  # rad
decision, ahead = 0.02, 0.12  # s: from one decision to the next, and how far each looks ahead
tried = list(product((-30.0, -8.0, 0.0, 8.0, 30.0), repeat=2))  # N m


def miss(state):
    """How far a state is from resting at the goal; a speed counts 0.02 s2 of an angle."""
    return sum((state.q[driven] - goal) ** 2) + 0.02 * sum(state.v[driven] ** 2)


def arrived(t, q, v):
    """Below zero within 0.03 rad of the goal, and slower than 0.3 rad/s there."""
    return max(abs(q[driven] - goal).max() / 0.03, abs(v[driven]).max() / 0.3) - 1.0


# %% Look ahead, decide, step
at_goal = cmb.Event(arrived, "at the goal", direction=-1, terminal=True)
q0 = plant.assemble(left=start[0], right=start[1])
stepper = cmb.Stepper(plant, q0, rtol=1e-7, atol=1e-7, events=[at_goal])
times, angles, torques, looks = [0.0], [start], [], []
while stepper.time < 3.0 and not stepper.ended:
    state = stepper.state
    hold = cmb.inverse_dynamics(plant, state.q, np.zeros(plant.nv), np.zeros(plant.nv)).u
    ends = [stepper.copy().step(hold + more, ahead) for more in tried]
    best = min(range(len(tried)), key=lambda i: miss(ends[i]))
    looks.append((state.time, state.q[driven], np.array([end.q[driven] for end in ends])))
    state = stepper.step(hold + tried[best], decision)
    times.append(state.time)
    angles.append(state.q[driven])
    torques.append(hold + tried[best])
times, angles, torques = np.array(times), np.array(angles), np.array(torques)
left_over = abs(angles[-1] - goal).max()
print(f"{len(torques)} decisions; {stepper.ended}")
print(f"at {times[-1]:.3f} s it is {left_over:.4f} rad from the goal")

# %% Angles, what was looked ahead at by every fifth decision (thin), and torques
fig, (angle, torque) = plt.subplots(2, 1, figsize=(7.2, 5.2), layout="constrained", sharex=True)
for k, (name, color) in enumerate({"left": "C0", "right": "C1"}.items()):
    for t, here, ends in looks[::5]:
        angle.plot([t, t + ahead], [np.full(len(ends), here[k]), ends[:, k]], color, linewidth=0.4, alpha=0.5)
    angle.plot(times, angles[:, k], color, label=name)
    angle.axhline(goal[k], color=color, linestyle=":", label=f"{name}, goal")
    torque.step(times[:-1], torques[:, k], color, where="post", label=name)
angle.set(ylabel="angle (rad)")
torque.set(xlabel="time (s)", ylabel="torque (N m)", xlim=(0, times[-1]))
for ax in (angle, torque):
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    ax.grid(alpha=0.3)
fig.savefig("ex17_own_scheduler.png")
