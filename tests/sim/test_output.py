"""From steps to a result: the rank along a run."""

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.controllers import ProjectedInverseDynamics


def test_the_rank_is_told_where_all_rows_vanish_together():
    plant = plants.slider_crank()
    law = ProjectedInverseDynamics(plant, ("q1",), cmb.Quintic([1.0], [2.2], 1.0), bandwidth=8.0)
    run = cmb.simulate(plant, law, plant.assemble(q1=1.0), t_end=1.0)
    assert [(event["kind"], event["rank"]) for event in run.events()] == [("singular passage", 0)]
