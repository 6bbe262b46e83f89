"""Cases of studies that other processes can find: functions of a module."""

import os
import signal
import time
from functools import cache

import numpy as np

import cmbcontrol as cmb
from cmbcontrol import plants


@cache
def pendulum():
    return plants.pendulum()


def frequency(length, mass, gravity):
    """Of a pendulum that is a point on a rod: the mass does nothing."""
    return {"frequency": np.sqrt(gravity / length) + 0.0 * mass}


def noisy(amplitude, rng):
    return {"noise": amplitude * rng.standard_normal(), "again": rng.uniform()}


def swing(start):
    """A run of the pendulum."""
    q0 = pendulum().assemble(angle=start)
    return {"plant": pendulum(), "q0": q0, "t_end": 0.3, "output_times": 0.05}


def sometimes(number):
    """Every tenth run fails, each in another way; the others give their number."""
    kind = int(number) % 50
    if kind == 0:
        raise ValueError(f"no run {number:g}")
    if kind == 10:  # loops open
        return {"plant": plants.five_bar(), "q0": [2.1, 0.0, 1.0, 0.0], "t_end": 0.1}
    if kind == 20:  # a law that raises on the way

        def law(t, terms, state):
            if t > 0.05:
                raise RuntimeError("the law gives up")
            return np.zeros(2)

        plant = plants.five_bar()
        return {"plant": plant, "controller": law, "q0": plant.assemble(left=2.1, right=1.0), "t_end": 0.1}
    if kind == 30:
        time.sleep(30.0)
    if kind == 40:
        return {"value": np.nan, "text": "no number"}
    return {"value": number}


def deadly(number, victim):
    """One of them kills its process."""
    if number == victim:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"square": number**2}


def slow(number):
    time.sleep(0.05)
    return {"square": number**2}


def model(stiffness):
    """A linear model of a mass on a spring and damper."""
    body, rail = cmb.Body("block", 2.0), cmb.Prismatic("x", "ground", "block", axis=(1, 0, 0))
    spring = cmb.JointSpring("spring", "x", stiffness, 0.0, 1.0)
    plant = cmb.Mechanism("block", [body], [rail], springs=[spring], gravity=(0, 0, 0))
    return cmb.linearize(plant, cmb.trim(plant, [0.0]))


@cache
def loader():
    return plants.loader(load=3000.0)


def follows(plant, start_boom, start_bucket):
    """A sampled law of the loader that holds it where it starts."""
    goal = cmb.Constant([start_boom, start_bucket])
    return cmb.controllers.ProjectedInverseDynamics(plant, ("boom", "bucket"), goal, bandwidth=6.0, period=5e-3)


def sometimes_named(number):
    """Numbers by name, of which a failed run has none."""
    if number % 10 == 5:
        raise ValueError("no")
    return {"value": number**2}


def grows(number):
    """Rows that take more room from the hundredth on."""
    return {f"m{i}": number for i in range(1 if number < 100 else 400)}


def counts(seconds):
    """Busy in Python for so long."""
    end = time.perf_counter() + seconds
    number = 0
    while time.perf_counter() < end:
        number += 1
    return {"counted": number}


def long_run(t_end):
    """A run of the pendulum that may take for ever."""
    return {"plant": pendulum(), "q0": pendulum().assemble(angle=0.5), "t_end": t_end, "output_times": 0.01}
