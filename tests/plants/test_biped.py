"""The biped: configurations by triangles, cranks as knees, standing by virtual work, landing on four points."""

import warnings

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants, trim
from cmbcontrol.controllers import Cone, ConstrainedActuation, ProjectedInverseDynamics
from cmbcontrol.plants.biped import HEEL, LEGS, LINK, SOLE, SOLES, TOE, stand

CONTACTS = [cmb.Contact(name, normal=(0.0, 1.0, 0.0), friction=0.8) for name in SOLES]


@pytest.mark.parametrize("height", [0.4, 0.6, 0.8, 0.86])
@pytest.mark.parametrize("above", [0.0, 0.2])
def test_soles_are_flat_and_below_the_hips(height, above):
    plant = plants.biped()
    q = stand(plant, height, above)
    assert plant.without(*SOLES).closure_error(q) < 1e-15
    for leg, beside in LEGS.items():
        np.testing.assert_allclose(plant.point(q, f"foot_{leg}", (0.0, SOLE, 0.0)), [0.0, above, beside], atol=1e-14)
        heel, toe = (plant.point(q, f"foot_{leg}", (x, SOLE, 0.0)) for x in (HEEL, TOE))
        assert heel[:2] == pytest.approx([HEEL, above]) and toe[:2] == pytest.approx([TOE, above])
        knee = plant.point(q, f"thigh_{leg}", (LINK, 0.0, 0.0))
        assert knee[0] > 0.0 and knee[1] - above == pytest.approx(0.5 * (height - SOLE), abs=1e-12)


def test_heights_out_of_reach():
    plant = plants.biped()
    for height in (0.3, 0.88):
        with pytest.raises(ValueError, match=r"the hips stand 0\.360 to 0\.870 m above the soles"):
            stand(plant, height)


def test_cranks_turn_as_knees_do():
    """A parallelogram, also while the machine moves."""
    plant = plants.biped()
    run = cmb.simulate(plant, None, stand(plant, 0.7, 0.3), t_end=0.2, switches=CONTACTS)
    for leg in LEGS:
        knee, crank = (run.q.values[:, plant.position_names.index(f"{n}_{leg}")] for n in ("knee", "crank"))
        np.testing.assert_allclose(crank, knee, atol=1e-11)


def test_motors_at_rest_by_virtual_work():
    """In a half squat the weights' work over a small rise, by differences of their heights."""
    plant, h = plants.biped(), 1e-5
    q, up, down = (stand(plant, x) for x in (0.7, 0.7 + h, 0.7 - h))
    held = trim(plant, q)

    def potential(q):
        return plant.terms(q, np.zeros(plant.nv)).potential

    turned = plant.difference(down, up)
    work = sum(u * turned[plant.velocity_names.index(n)] for n, u in zip(plant.actuator_names, held.u, strict=True))
    assert work == pytest.approx(potential(up) - potential(down), rel=1e-7)


def test_a_landing_stays_on_flat_feet_for_a_moment():
    plant = plants.biped()
    run = cmb.simulate(plant, None, stand(plant, 0.8, 0.1), t_end=0.2, switches=CONTACTS)
    struck = [e for e in run.events() if e["kind"].startswith("impact")]
    assert len(struck) == 4 and struck[0]["time"] == pytest.approx(np.sqrt(0.2 / 9.81), abs=1e-9)
    assert run.max_energy_error < 1e-8


class TestUnderALaw:
    """Standing by a whole-body program on contacts that only push, with friction."""

    def law(self, plant, target):
        leg = ("hip_left", "knee_left", "ankle_left")
        at = [target[plant.position_names.index(name)] for name in leg]
        hold = ProjectedInverseDynamics(plant, leg, cmb.Constant(at), bandwidth=12.0, period=2e-3)
        return ConstrainedActuation(hold, cones=[Cone(name, 0.7, (0.0, 1.0, 0.0), minimum=5.0) for name in SOLES])

    def pushed(self, force, t_end, told):
        plant = plants.biped().with_parts(loads=[cmb.Load("push", "trunk", cmb.Frame((0.0, 0.2, 0.0)))])
        q0 = stand(plant, 0.75)
        push = {"push_fx": lambda t: force if 0.1 < t < 0.3 else 0.0}
        with warnings.catch_warnings():  # the law iterates, for which there is no code
            warnings.simplefilter("ignore", cmb.errors.SpeedWarning)
            return cmb.simulate(
                plant, self.law(plant, q0), q0, t_end=t_end, switches=CONTACTS, loads=push, told=told, rtol=1e-8
            )

    def test_a_push_that_it_is_told_does_not_move_it(self):
        run = self.pushed(20.0, 0.35, told=True)
        assert {e["kind"].split()[0] for e in run.events()} == {"engaged", "sticks"}
        assert np.abs(run.q.values - run.q.values[0]).max() < 1e-3
        assert float(run.data["report"].sel(quantity="friction_use").max()) < 0.7

    def test_a_push_that_tips_it_is_carried_on(self):
        """Heels lift, feet slide: the run goes on, with the energy in balance."""
        run = self.pushed(120.0, 0.5, told=False)
        kinds = {e["kind"] for e in run.events()}
        assert "released heel_left" in kinds and run.q.values[-1][0] > 0.1
        assert run.max_energy_error < 1e-5
