"""Panels of a run: every number that it has, once, in its unit."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants, plot
from cmbcontrol.controllers import ProjectedInverseDynamics
from cmbcontrol.sim.panels import Scales, panels_of
from cmbcontrol.viewer.curves import curves_of


@pytest.fixture(scope="module")
def stewart():
    """A free run of a machine whose joints turn and slide."""
    plant, q0, _ = plants.catalogue["stewart"].start()
    return cmb.simulate(plant, q0=q0, t_end=0.05, output_times=0.01)


def tracked(kind):
    """A run of a five-bar under a law of a kind."""
    plant = plants.five_bar()
    law = kind(plant, ("left", "right"), cmb.Constant([2.0, 1.0]), bandwidth=8.0)
    return cmb.simulate(plant, law, plant.assemble(left=2.1, right=1.0), t_end=0.05, output_times=0.01)


def test_signals_of_a_unit_share_a_panel(stewart):
    found = panels_of(stewart, "q", "v")
    told = [(panel.label, panel.unit) for panel in found]
    assert len(told) == len(set(told)) and ("joint angle", "rad") in told and ("joint speed", "m/s") in told
    positions = {name: y for panel in found if panel.kind == "q" for name, y in panel.signals.items()}
    assert set(positions) == set(stewart.plant.position_names)
    for name, y in positions.items():
        np.testing.assert_array_equal(y, stewart.q.sel(position=name))


def test_what_a_run_has_not_has_no_panel(stewart):
    assert panels_of(stewart, "reference", "error", "u", "command", "report", "loads") == []
    found = {panel.kind: panel for panel in panels_of(tracked(ProjectedInverseDynamics))}
    assert [*found][:5] == ["reference", "error", "q", "v", "u"] and "command" not in found
    assert list(found["energy"].signals) == ["kinetic", "potential", "total", "actuator work"]


class Silent(ProjectedInverseDynamics):
    """A law that follows a reference and does not say how well."""

    def error(self, t, terms):
        return None


def test_a_law_that_does_not_tell_its_error_is_shown():
    run = tracked(Silent)
    assert "error" not in run.data
    (error,) = panels_of(run, "error")
    np.testing.assert_array_equal(error.signals["left"], 2.0 - run.q.sel(position="left"))
    assert "tracking error (rad)" in [ax.get_ylabel() for ax in plot.responses(run).axes]
    assert curves_of(run)["groups"][0]["label"] == "tracking, reference dotted"


def test_scales_are_those_of_the_machine(stewart):
    scales, size = Scales(stewart), stewart.plant.size
    assert (scales.of("m"), scales.of("m/s"), scales.of("m/s2"), scales.of("rad"), scales.of("")) == (size,) * 3 + (
        1.0,
        1.0,
    )
    assert scales.of("N m") == pytest.approx(scales.of("N") * size)
    assert scales.of("J") >= np.abs(stewart.potential.values).max()
    assert Scales(cmb.Simulation(stewart.data)).size > 0.0  # from a file, without a plant
