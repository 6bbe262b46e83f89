"""The record of the equations of motion at a state: projectors and pseudoinverses by their conditions, and copies."""

import dataclasses

import numpy as np
import pytest

from cmbcontrol import plants
from tests.fixtures import Coupling, Distance, Weld, closed_machine, driven_state, largest

MACHINES = {
    "independent rows": lambda: closed_machine(2, (Distance, Coupling)),
    "rows written twice": lambda: closed_machine(2, (Distance, Coupling), twice=True),
    "six rows": lambda: closed_machine(8, (Weld,)),
}


@pytest.fixture(params=MACHINES)
def moving(request):
    plant, q = MACHINES[request.param]()
    q, v, _ = driven_state(plant, q, 3)
    return plant.terms(q, v, 0.7)


def test_projector_and_basis(moving):
    A, Z, P = moving.A, moving.Z, moving.P
    scale = largest(A)
    assert Z.shape == (moving.h.size, moving.dof) and moving.dof == moving.h.size - moving.rank
    assert largest(Z.T @ Z - np.eye(moving.dof)) < 1e-13 and largest(A @ Z) < 1e-12 * scale
    assert largest(P @ P - P) < 1e-13 and largest(P - P.T) < 1e-14
    assert np.trace(P) == pytest.approx(moving.dof, abs=1e-12)


def test_pseudoinverse_by_its_four_conditions(moving):
    A, X = moving.A, moving.A_pinv
    for found, wanted in ((A @ X @ A, A), (X @ A @ X, X), ((A @ X).T, A @ X), ((X @ A).T, X @ A)):
        assert largest(found - wanted) < 1e-11 * max(1.0, largest(wanted))


def test_what_the_loops_demand(moving):
    """A c + b = 0 with c across N(A): the smallest such acceleration."""
    assert largest(moving.A @ moving.Cv + moving.b) < 1e-11 * max(1.0, largest(moving.b))
    assert largest(moving.Z.T @ moving.Cv) < 1e-11 * max(1.0, largest(moving.Cv))
    assert moving.kinetic == pytest.approx(0.5 * moving.v @ moving.M @ moving.v, rel=1e-14)
    assert moving.energy == pytest.approx(moving.kinetic + moving.potential, rel=1e-14)


def test_conditioning_is_a_ratio_of_singular_values_where_mass_is_one():
    """A particle of 1 kg on a circle of 1 m: one row, so that its conditioning is 1 wherever it is."""
    terms = plants.particle_on_circle(mass=1.0).terms([0.6, 0.8], [0.0, 0.0])
    assert terms.conditioning == pytest.approx(1.0) and terms.singular_values == pytest.approx(
        [np.linalg.norm(terms.A)]
    )


def test_unit_motions_are_a_basis_where_coordinates_count_by_their_reach(moving):
    N = moving.unit_motions
    metres = moving.unit_lengths[:, None] * N
    assert largest(metres.T @ metres - np.eye(moving.dof)) < 1e-11
    assert largest(moving.A @ N) < 1e-11 * largest(moving.A) * max(1.0, largest(N))


def test_rows_by_name():
    terms = plants.five_bar().terms(plants.five_bar().assemble(left=2.1, right=1.0), np.zeros(4))
    S = np.array([[1.0, 2.0, 3.0]])
    known = (terms.row_names[1], "a row of another plant", terms.row_names[0])
    np.testing.assert_array_equal(terms.in_present_rows(S, known), [[3.0, 1.0]])
    assert terms.in_present_rows(S, terms.row_names) is S


def test_a_copy_may_be_written_into(moving):
    P, measured = moving.P, moving.with_force(np.ones(moving.h.size))
    assert moving.force is None and measured.P is P  # what was computed is kept
    before = {f.name: np.copy(getattr(moving, f.name)) for f in dataclasses.fields(moving) if f.name not in ("force",)}
    copied = measured.copied()
    for name in ("q", "v", "M", "h", "A", "b", "B"):
        getattr(copied, name)[...] = np.nan
    copied.force[:] = np.nan
    assert measured.force.tolist() == [1.0] * moving.h.size
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(moving, name), value)


def test_terms_are_no_vector_of_positions():
    plant = plants.five_bar()
    terms = plant.terms(plant.assemble(left=2.1, right=1.0), np.zeros(4))
    with pytest.raises(TypeError, match=r"\(t, terms, state\), with positions terms\.q"):
        terms[[0, 2]]
