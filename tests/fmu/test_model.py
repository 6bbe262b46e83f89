"""What an FMU holds: independent coordinates, names, tokens."""

import dataclasses

import numpy as np
import pytest

from cmbcontrol import Mechanism, plants
from cmbcontrol.fmu.model import model_of

from ..fixtures import CLOSURES, closed_at_random, closure_name


def model(plant, q=None, law=None):
    q = plant.close(plant.assemble() if q is None else q)
    return model_of(plant, q, np.zeros(plant.nv), np.zeros(plant.nu), law, "inside", [], 1e-3, "0")


@pytest.mark.parametrize("closure", CLOSURES, ids=closure_name)
@pytest.mark.first(2)
def test_no_coordinate_is_fast_beside_the_kept_ones(closure):
    """Entries of K, in metres by metres, are 1.5 at most: of positions, too, with quaternions among them."""
    plant, q, _ = closed_at_random(closure, forces=False)
    made, terms = model(plant, q), plant.terms(q, np.zeros(plant.nv))
    Z = terms.unit_motions
    K = Z @ np.linalg.inv(Z[made.kept_v])
    assert len(made.kept_v) == len(made.kept_q) == terms.dof
    assert np.abs(K).max(initial=0.0) <= 1.5 + 1e-9
    h = 1e-6
    moved = [
        (plant.integrate(q, h * z / plant.unit_lengths) - plant.integrate(q, -h * z / plant.unit_lengths)) / (2.0 * h)
        for z in Z.T
    ]
    moved = np.array(moved).reshape(-1, plant.nq).T * np.array(made.q_reach)[:, None]
    if moved.size:
        assert np.abs(moved @ np.linalg.inv(moved[made.kept_q])).max() <= 1.5 + 1e-6


def test_names_are_those_of_structured_variables():
    """Signs that cannot be in a name are quoted, or replaced; names stay different."""
    plant = plants.five_bar()
    renamed = {
        "left_lower": "Gelenk 1 östlich",
        "right_lower": "Gelenk 1 üstlich",
        "left_upper": "it's",
        "right_upper": "a-b",
    }
    bodies = [dataclasses.replace(b, name=renamed[b.name]) for b in plant.bodies]

    def at(x, names):
        return dataclasses.replace(x, **{n: renamed.get(getattr(x, n), getattr(x, n)) for n in names})

    joints = [at(j, ("parent", "child")) for j in plant.joints]
    loops = [at(x, ("parent", "child") if hasattr(x, "parent") else ("a", "b")) for x in plant.loops]
    odd = Mechanism("odd names", bodies, joints, loops=loops, actuators=plant.actuators, gravity=plant.gravity)
    made = model_of(odd, odd.assemble(left=2.1, right=1.0), np.zeros(4), np.zeros(2), None, "inside",
                    [b.name for b in bodies], 1e-3, "0")  # fmt: skip
    names = [x.name for x in made.outputs]
    assert len(set(names)) == len(names)
    assert all(n.isascii() for n in [*names, *made.parameter_names])
    assert "frame.'a-b'.x" in names and "frame.'Gelenk 1 _stlich'.x" in names


def test_the_token_tells_machines_apart():
    plant = plants.five_bar()
    same, heavier = plants.five_bar(), plants.five_bar()
    bodies = [dataclasses.replace(b, mass=2.0 * b.mass) for b in plant.bodies]
    heavier = Mechanism(plant.name, bodies, plant.joints, loops=plant.loops, actuators=plant.actuators)
    assert model(plant).token == model(same).token != model(heavier).token
