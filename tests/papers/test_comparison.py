"""The tables of the formulation guide: what they say must hold."""

import math
from fractions import Fraction

import numpy as np
import pytest

from cmbcontrol import papers, plants
from cmbcontrol.papers import comparison
from cmbcontrol.papers.formulations import FORMULATIONS


@pytest.fixture(scope="module")
def formulations():
    return papers.run("formulations", quick=True)


class TestFormulations:
    def test_one_line_for_each_with_all_numbers(self, formulations):
        summary = formulations.table("All formulations")
        assert set(FORMULATIONS) < set(summary.column("formulation"))
        assert len(formulations.data["error"]["five-bar"]) == len(FORMULATIONS) + 1

    def test_all_are_exact_to_rounding_at_regular_states(self, formulations):
        for plant in ("five-bar", "slider-crank", "bricard", "parallelogram"):
            assert max(formulations.data["error"][plant].values()) < 1e-13

    def test_near_a_singular_pose_multipliers_lose_twice_the_digits(self, formulations):
        error, condition = (formulations.data[key]["1e-05, rows turned"] for key in ("error", "conditioning"))
        assert min(error["lagrange"], error["augmented"]) > 1e2 * max(error["gauss"], error["aghili"])
        assert condition["lagrange"] == pytest.approx(condition["gauss"] ** 2, rel=1e-2)
        assert condition["aghili"] < 100.0

    @pytest.mark.nojit_slow
    def test_the_default_is_the_cheapest(self, formulations):
        for row in formulations.data["seconds"].values():
            assert min(row, key=row.get) == "gauss"

    def test_figure(self, formulations, tmp_path):
        files = formulations.save(tmp_path)
        assert (tmp_path / "formulations-near-singular.png") in files

    @pytest.mark.parametrize("name", ["five-bar", "bricard", "particle"])
    def test_the_reference_solves_the_equations_in_rational_numbers(self, name):
        plant, q, v = plants.catalogue[name].start()
        state = comparison.ExactState.at(plant, q, v)
        terms = state.terms
        left = [Fraction(float(x)) for x in terms.h - state.f]
        for i, row in enumerate(terms.M):
            left[i] += sum(Fraction(float(m)) * Fraction(float(a)) for m, a in zip(row, state.vdot, strict=True))
        along = terms.Z.T @ np.array([float(x) for x in left])
        assert np.abs(along).max() < 1e-13 * len(left) * np.abs(state.f).max()
        assert np.abs(terms.A @ state.vdot + terms.b).max() < 1e-13 * (1.0 + np.abs(terms.b).max())


@pytest.mark.slow
@pytest.mark.nojit_slow
def test_stabilisations():
    """Projections close the loops to rounding; without, they drift."""
    report = papers.run("stabilisations", quick=True)
    assert len(report.table("All stabilisations").rows) == 2 * len(comparison.KINDS)
    for name, found in report.data.items():
        for kind in ("projection, mass (default)", "projection, Euclidean", "all at once, mass"):
            assert found["open"][kind] < 1e-14 and found["rate"][kind] < 1e-13, (name, kind)
        if "rk4" in name:
            assert found["drift"]["projection and energy"] < 1e-12 and found["drift"]["all at once, mass"] < 1e-12
        if "A02" not in name:
            assert found["open"]["none"] > 1e-13
        assert all(math.isfinite(x) for x in found["error"].values())
