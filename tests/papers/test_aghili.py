"""Aghili's slider-crank: what the experiment shows."""

import numpy as np
import pytest

from cmbcontrol.papers import EXPERIMENTS, aghili


def test_closed_forms():
    table = aghili.closed_forms(20)
    assert len(table.rows) == 9 and max(table.column("largest difference")) < 1e-13


def test_condition_numbers():
    found = aghili.condition_numbers([0.3, 1.2, 0.5 * np.pi - 1e-6, 2.8])
    best = found["M_c'' (29), gamma = best"]
    for label, values in found.items():
        if "(29)" in label:
            assert (best <= values * (1.0 + 1e-6)).all()
    assert found["KKT matrix"][2] > 1e10 and found["M_c (23)"][2] == pytest.approx(1.0, abs=1e-4)


@pytest.mark.slow
@pytest.mark.nojit_slow
def test_quick_experiment():
    report = EXPERIMENTS["aghili-slider-crank"].run(quick=True)
    data = report.data
    assert data["tracking error: default, rad"] < 1e-9
    assert 1e-5 < data["tracking error: epsilon 0.2, rad"] < 1e-3
    assert data["torque off virtual work: default, N m"] < 1e-6
    assert data["error without a motor: default, rad"] < 1e-8
    assert data["opening: default, m"] < 1e-14
    assert data["branches"] == ["slides"] * 3
    assert set(report.figures) == {"free", "closed-loop", "condition-numbers"}
    assert len(report.figures["closed-loop"]().axes) == 4


@pytest.mark.slow
def test_a_threshold_in_the_model_alone_loses_the_branch(monkeypatch):
    """A moment after the singular configuration; later the lost ones go round. The others take coarser steps."""
    by_paper = aghili._by_paper

    def coarse(label, *args, **options):
        return by_paper(label, *args, **options | ({} if "model alone" in label else {"step": 4e-3}))

    monkeypatch.setattr(aghili, "_by_paper", coarse)
    monkeypatch.setattr(aghili, "T_END", 1.2)
    report = EXPERIMENTS["aghili-slider-crank"].run()
    after = dict(
        zip(
            *(report.table("Closed loop").column(c) for c in ("method", "after the singular configuration")),
            strict=True,
        )
    )
    assert len(after) == 9 and all((way == "slides") == ("model alone" not in name) for name, way in after.items())
