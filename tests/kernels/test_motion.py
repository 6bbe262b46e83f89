"""The rate of the state does not depend on how loops are written."""

import importlib

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol._progress import Reporter
from cmbcontrol.controllers.controller import as_controller
from cmbcontrol.kernels import motion
from cmbcontrol.model.terms import RANK_TOLERANCE
from cmbcontrol.sim.control import Control
from cmbcontrol.sim.engine import Engine
from cmbcontrol.sim.run import Run, Standing

pytestmark = pytest.mark.nojit_slow  # whole runs
five_bar, parallelogram = (importlib.import_module(f"cmbcontrol.plants.{n}") for n in ("five_bar", "parallelogram"))


def engine(plant, q, v):
    """Of a run with projection at default tolerances, and its first state."""
    options = motion.Options(
        1e-11, 1e-11, np.inf, 1000, 1.0, RANK_TOLERANCE, plant.generic_rank(q), 1.0, 1e-15, 1e-4
    )  # fmt: skip
    x = np.concatenate([q, v, [0.0, 0.0]])
    run = Run(plant, Control(plant, as_controller(None, plant)), options, "dop853", 1.0, 1000, Reporter(False, ""))
    return Engine(run, Standing(0.0, x, 1e-3)), x


class TestPieces:
    def test_rates_do_not_depend_on_how_the_loops_are_written(self):
        """Off the loops a row along axes of body a and one along axes of body b differ in first order."""
        plant = plants.five_bar()
        (tip,) = plant.loops
        swapped = cmb.Mechanism(
            "swapped",
            plant.bodies,
            plant.joints,
            [cmb.PointOnLine("tip", tip.b, tip.a, tip.point_b, tip.point_a)],
            gravity=(0.0, -9.81, 0.0),
        )
        q = five_bar.pose(plant, "asymmetric") + 1e-6 * np.array([1.0, -2.0, 0.5, 3.0])
        v = plant.project_velocity(q, [1.0, 2.0, 3.0, 4.0])
        rates = []
        for machine in (plant, swapped):
            stands, x = engine(machine, q, v)
            rates.append(stands.derivative(0.0, x))
        assert np.abs(rates[0] - rates[1]).max() < 1e-9
