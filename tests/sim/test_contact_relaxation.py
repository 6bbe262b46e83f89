"""Relaxation of contacts: against Coulomb's law itself, for random impacts of boxes."""

import numpy as np
import pytest

from cmbcontrol import Body, Contact, Free, Mechanism, Point
from cmbcontrol.sim.contact_relaxation import relaxed
from cmbcontrol.sim.contact_states import ContactProblem, Touch
from cmbcontrol.sim.dry_friction import rubs_of_contacts


def falling_box(seed):
    """An impact of a box on 1 to 4 of its corners: (problem, velocity before)."""
    rng = np.random.default_rng([34, seed])
    a, b, c = rng.uniform(0.2, 0.6, 3)
    count = int(rng.integers(1, 5))
    corners = [(x * a, y * b, -c) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))][:count]
    inertia = np.array([b * b + c * c, a * a + c * c, a * a + b * b]) / 3.0
    plant = Mechanism(
        "box",
        [Body("box", 1.0, (0, 0, 0), inertia)],
        [Free("base", "ground", "box")],
        [Point(f"corner{i}", "ground", "box", (0, 0, 0), corner) for i, corner in enumerate(corners)],
    )
    contacts = [Contact(f"corner{i}", normal=(0, 0, 1), friction=float(rng.uniform(0.1, 1.0))) for i in range(count)]
    whole, rubs = rubs_of_contacts(plant, contacts)
    sticking = whole.without(*(name for rub in rubs for name in rub.sliding - rub.sticking))
    q, v = plant.neutral(), rng.standard_normal(6)
    q[plant.position_names.index("base_z")] = c
    v[plant.velocity_names.index("base_vz")] = -float(rng.uniform(2.0, 4.0))
    terms = sticking.terms(q, v)
    touches = []
    for rub, contact in zip(rubs, contacts, strict=True):
        rows = sticking.row_slices[contact.constraint]
        normal, tangents = np.zeros(len(terms.A)), np.zeros((2, len(terms.A)))
        normal[rows], tangents[:, rows] = rub.normal, rub.tangents
        touches.append(Touch(rub.name, normal, tangents, contact, rub, np.zeros(2)))
    return ContactProblem(terms, touches, terms.M @ v, np.zeros(len(terms.A)), {}, 1e-9, 1e-9), v


@pytest.mark.parametrize("seed", range(20))
def test_what_is_found_fulfils_coulombs_law(seed):
    problem, v = falling_box(seed)
    states, directions, shares, _, _ = relaxed(problem)
    terms, force = problem.terms, np.zeros_like(v)
    for touch in problem.touches:
        force -= terms.A.T @ (shares[touch.name] @ np.vstack([touch.normal, touch.tangents]))
    after = np.linalg.solve(terms.M, terms.M @ v + force)
    motion = terms.A @ after
    assert 0.5 * after @ terms.M @ after <= 0.5 * v @ terms.M @ v
    for touch, state in zip(problem.touches, states, strict=True):
        push, *held = -shares[touch.name]
        mu, slip, opening = touch.coefficient, touch.tangents @ motion, touch.normal @ motion
        assert push >= 0.0 and np.linalg.norm(held) <= mu * push * (1.0 + 1e-9)
        assert opening > -1e-6 and push * opening < 1e-5
        if state == "sticks":
            assert np.linalg.norm(slip) < 1e-5
        if state == "slides":
            np.testing.assert_allclose(held, -mu * push * directions[touch.name], atol=1e-4 * push)


def test_exchanges_and_relaxation_find_the_same():
    """Of up to three corners, whose pushes are unique: four that slide may share them in several ways."""
    for seed in range(20):
        problem, v = falling_box(seed)
        if len(problem.touches) == 4:
            continue
        _, found = problem.found()
        shares = relaxed(problem).shares
        terms, force = problem.terms, np.zeros_like(v)
        for touch in problem.touches:
            force -= terms.A.T @ (shares[touch.name] @ np.vstack([touch.normal, touch.tangents]))
        np.testing.assert_allclose(np.linalg.solve(terms.M, terms.M @ v + force), found.x, atol=1e-4)
