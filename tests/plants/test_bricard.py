"""Bricard's mechanism: its rank, its start."""

import json

import numpy as np
import pytest

from cmbcontrol.papers.measure import DATA
from cmbcontrol.plants import bricard, catalogue
from cmbcontrol.plants.bricard import observed


def test_bricard_rank_along_the_motion():
    plant = bricard()
    q = plant.neutral()
    for angle in np.linspace(0.0, 2.0, 21)[1:]:
        q = plant.assemble(guess=q, hinge0=angle)
        assert q[[2, 4]] == pytest.approx([angle, angle], abs=1e-11) and q[1] == pytest.approx(q[3], abs=1e-11)
        assert (1.0 + np.sin(q[0])) * (1.0 + np.sin(q[1])) == pytest.approx(1.0, abs=1e-11)
        terms = plant.terms(q, np.zeros(5))
        assert plant.closure_error(q) < 1e-12 and (terms.A.shape[0], terms.rank) == (5, 4)
        assert terms.singular_values[3] > 0.5 and terms.singular_values[4] < 1e-12
    for i in range(5):  # rods are as long as they should be
        ends = plant.point(q, f"rod{i + 1}"), plant.point(q, f"rod{i + 2}") if i < 4 else np.array([0, 0, 1.0])
        assert np.linalg.norm(ends[1] - ends[0]) == pytest.approx(1.0, abs=1e-11)


def test_bricard_starts_on_the_cube():
    plant, q, _ = catalogue["bricard"].start()
    assert observed(plant, q).tolist() == [1.0, -1.0, 0.0]
    data = json.loads((DATA / "iftomm.json").read_text())["A04"]["points"]
    for i in range(1, 5):
        key = next(k for k in data if k.startswith(f"P{i}"))
        assert plant.point(q, f"rod{i + 1}").tolist() == data[key]
