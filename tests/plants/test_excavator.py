"""The excavator: levelling and digging with the figures that its page states."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.controllers import Delay, PoseTask, ProjectedInverseDynamics, Saturation, WithModel
from cmbcontrol.design import with_payload
from cmbcontrol.plants.excavator import TEETH, configuration

G = 9.81


@pytest.fixture(scope="module")
def machine():
    plant = plants.excavator()
    return plant, configuration(plant, 0.3, -1.6, -0.6)


def test_cylinders_hold_a_digging_force_within_their_limits(machine):
    plant, q = machine
    digging = plant.with_loads({"digging": (-30e3, 20e3, 0.0)})
    point, idle = cmb.trim(digging, q), cmb.trim(plant, q)
    assert (np.abs(point.u) < plant.effort).all() and np.abs(point.u - idle.u).max() > 5e3
    # virtual work of the teeth on each cylinder
    for k, name in enumerate(plant.actuator_names):
        Z = plant.terms(q, np.zeros(plant.nv)).Z
        W = plant.load_matrix(q)[:, :2]
        lengths = [plant.velocity_names.index(n) for n in plant.actuator_names]
        rates = np.linalg.solve(Z[lengths], np.eye(3))  # motions of a unit of one cylinder each
        expected = -(W.T @ Z @ rates)[:, k] @ [-30e3, 20e3]
        assert (point.u - idle.u)[k] == pytest.approx(expected, rel=1e-9), name


def test_pins_carry_what_a_free_body_says(machine):
    """The bucket by hand: pin and link balance weight and digging force, and the link has two pins and a weight."""
    plant, q = machine
    force = np.array([-30e3, 20e3, 0.0])
    found = cmb.trim(plant.with_loads({"digging": force}), q).reactions(axes="world")

    def cross(r, f):
        return r[0] * f[1] - r[1] * f[0]

    teeth, pin, end = plant.point(q, "bucket", TEETH), plant.point(q, "bucket"), plant.point(q, "link", (0.6, 0, 0))
    centre, start = plant.point(q, "bucket", plant.bodies[2].com), plant.point(q, "link")
    middle, down = plant.point(q, "link", (0.3, 0, 0)), np.array([0.0, -G, 0.0])
    # unknown: force of the link on the bucket. Moments about the bucket's pin, and of the link about its other pin
    A = np.array([[-(end - pin)[1], (end - pin)[0]], [-(end - start)[1], (end - start)[0]]])
    b = np.array([-cross(teeth - pin, force) - cross(centre - pin, 750.0 * down), cross(middle - start, 60.0 * down)])
    on_bucket = np.append(np.linalg.solve(A, b), 0.0)
    expected = {
        "link_pin": -on_bucket,  # of the bucket on the link
        "bucket": -on_bucket - force - 750.0 * down,
        "link": on_bucket - 60.0 * down,
    }
    for name, value in expected.items():
        np.testing.assert_allclose(found.force.sel(joint=name), value, atol=1e-9 * np.linalg.norm(force), err_msg=name)
    assert found.unique.all()


def levelling(plant, integral=None, period=None):
    """The teeth along the ground, the bucket at a constant angle."""
    task = PoseTask(plant, "bucket", cmb.Frame(TEETH), axes=("x", "y", "rz"))
    terms = plant.terms(configuration(plant, 0.3, -1.6, -0.6), np.zeros(plant.nv))
    here = task.value(terms)
    path = cmb.Quintic(here, here - [1.5, 0.0, 0.0], 3.0)
    return ProjectedInverseDynamics(plant, task, path, bandwidth=6.0, integral=integral, period=period)


@pytest.mark.nojit_slow
def test_levelling_with_a_payload_that_nobody_told():
    """A fifth more in the bucket: the teeth sag as theory says, and with integral action not at all."""
    plant = plants.excavator()
    q = configuration(plant, 0.3, -1.6, -0.6)
    heavy = with_payload(plant, "bucket", 150.0, (0.65, 0.25, 0.0))
    run = cmb.simulate(heavy, WithModel(plant, levelling(plant)), q, t_end=8.0)
    end, rest = run.data.q.values[-1], np.zeros(plant.nv)
    law = levelling(plant)
    terms = plant.terms(end, rest)
    u = run.data.u.values[-1]
    miss = law.task.jacobian(terms) @ cmb.forward_dynamics(plant, end, rest, u)  # what the model takes for it
    np.testing.assert_allclose(run.data.error.values[-1], miss / 36.0, rtol=1e-4, atol=1e-9)
    assert np.abs(miss[:2] / 36.0).max() > 5e-3
    run = cmb.simulate(heavy, WithModel(plant, levelling(plant, integral=2.0)), q, t_end=12.0)
    assert np.abs(run.data.error.values[-1]).max() < 1e-6
    assert run.max_energy_error < 1e-8 * plant.force_scale * plant.size


@pytest.mark.nojit_slow
def test_a_chain_at_200_hz():
    plant = plants.excavator()
    q = configuration(plant, 0.3, -1.6, -0.6)
    law = levelling(plant, integral=2.0, period=5e-3) | Saturation() | Delay(5e-3)
    run = cmb.simulate(plant, law, q, t_end=4.0, loads={"digging": lambda t: [-8e3 * np.sin(t) ** 2, 2e3, 0.0]})
    assert np.abs(run.data.error.values[:, :2]).max() < 0.3
    assert (np.abs(run.u.values) <= plant.effort + 1e-6).all()
    assert run.max_energy_error < 1e-8 * plant.force_scale * plant.size


@pytest.mark.nojit_slow
def test_the_boom_falls_on_its_stop(machine):
    plant, q = machine
    run = cmb.simulate(plant.with_parts(joints=plant.joints), None, q, t_end=6.0)
    kinds = [event["kind"] for event in run.events()]
    assert any(kind.startswith("impact") for kind in kinds)
    low, high = plant.limits.T
    assert (run.q.values >= low - 1e-8).all() and (run.q.values <= high + 1e-8).all()
