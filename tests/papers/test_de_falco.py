"""De Falco's experiments: the exact motion that judges them, the printed tables, and the cells that are rerun."""

import numpy as np
import pytest

from cmbcontrol import papers
from cmbcontrol.papers import de_falco


@pytest.mark.parametrize("angle", [*de_falco.STARTS.values(), -np.pi / 2, 1.5, -4.6])
def test_exact_motion_keeps_its_energy_and_solves_the_equation(angle):
    times = np.linspace(0.0, 20.0, 4001)
    th, speed = de_falco.exact_motion(times, angle)
    assert th[0] == pytest.approx(angle, abs=1e-14) and speed[0] == 0.0
    energy = 0.5 * de_falco.INERTIA * speed**2 + de_falco.WEIGHT * np.sin(th)
    assert np.ptp(energy) < 1e-11 * de_falco.WEIGHT
    # Hermite's quadrature of the speed from speeds and accelerations, error h^4/720 of its fourth derivative
    h, a = times[1], -de_falco.WEIGHT * np.cos(th) / de_falco.INERTIA
    steps = h * (speed[:-1] + speed[1:]) / 2.0 + h**2 * (a[:-1] - a[1:]) / 12.0
    assert np.abs(np.diff(th) - steps).max() < 1e-9


def test_exact_motion_against_an_integrator():
    from scipy.integrate import solve_ivp

    angle = np.pi / 3.0
    rate = de_falco.WEIGHT / de_falco.INERTIA
    times = np.linspace(0.0, 20.0, 41)
    found = solve_ivp(
        lambda t, x: (x[1], -rate * np.cos(x[0])), (0.0, 20.0), (angle, 0.0), "DOP853", times, rtol=1e-13, atol=1e-13
    )  # fmt: skip
    assert np.abs(found.y - de_falco.exact_motion(times, angle)).max() < 1e-10


@pytest.mark.parametrize("angle", [np.pi / 2, -3 * np.pi / 2, 2.0, np.nan])
def test_exact_motion_refuses_starts_that_balance(angle):
    with pytest.raises(ValueError, match="angle"):
        de_falco.exact_motion(1.0, angle)


def test_the_papers_tables_are_whole():
    assert list(de_falco.PRINTED) == [2, 3, 4, 5, 6, 7]
    for number, printed in de_falco.PRINTED.items():
        assert tuple(printed.rows) == de_falco.METHODS
        assert printed.stabilised == (number > 4)
        assert printed.tolerance == de_falco.TOLERANCES[(number - 2) % 3]
        for row in printed.rows.values():  # a run that fails has no cost
            assert (
                row.result.startswith("fails") == (row.evaluations is None) == (row.cpu is None) == (row.steps is None)
            )


def test_violation_is_that_of_the_pins():
    plant = de_falco.parallelogram()
    q = de_falco.configuration(0.4)
    moved = q.copy()
    moved[plant.position_names.index("coupler_x")] += 0.1  # all three pins open by 0.1 m
    assert de_falco.violation(plant, [q, moved]) == pytest.approx([0.0, 0.03], abs=1e-15)
    assert de_falco.violation(plant, q).shape == (1,)


def test_exact_acceleration_is_that_of_the_machine():
    from cmbcontrol.dynamics.acceleration import forward_dynamics

    plant = de_falco.parallelogram()
    for angle, speed in ((0.3, 2.0), (-2.0, -1.0)):
        ours = forward_dynamics(plant, de_falco.configuration(angle), de_falco.rate(plant, angle, speed))
        assert ours == pytest.approx(de_falco._exact_acceleration(plant, angle, speed), abs=1e-10)


def solved(**changes):
    """A run of the tables and what came of it, 2 s."""
    setup = de_falco._Setup(**{"tolerance": 1e-6, "stabilised": False, "start": "-30 deg"} | changes)
    return de_falco._solve(de_falco.parallelogram(), setup, 2.0)


@pytest.mark.nojit_slow
def test_a_cell_of_the_tables():
    found = solved(pseudoinverse="greville")
    assert found.result == "correct" and found.correct_until == 2.0 and found.rank == "11"
    assert found.times.size == 201 and 50 < found.evaluations < 2000
    assert 1e-12 < found.psi[-1] < 1e-7  # it drifts
    assert len(found.row()) == len(de_falco._COLUMNS)


@pytest.mark.nojit_slow
def test_beyond_its_threshold_the_redundant_equation_locks_the_linkage():
    """A drift of 1e-6 m, seen by a threshold of 1e-10: rank 12 of 12, and nothing accelerates."""
    rows = [de_falco._off_loops(de_falco.parallelogram(), 1e-6, tolerance) for tolerance in (1e-10, 1e-6)]
    assert [row["rank"] for row in rows] == [12, 11]
    for name in de_falco.METHODS:
        assert rows[0][name] > 0.9 and rows[1][name] < 1e-5


@pytest.mark.nojit_slow
def test_a_run_that_ends_early_is_told_with_what_it_did(monkeypatch):
    monkeypatch.setitem(de_falco.MAX_STEPS, False, 20)
    found = solved(pseudoinverse="svd")
    assert not found.ended and found.steps == 20
    assert found.result.startswith("correct; ends at 0.") and found.result.endswith("too many steps")


@pytest.mark.nojit_slow
@pytest.mark.parametrize("start", de_falco.STARTS)
def test_our_default_in_the_tables(start):
    found = solved(default=True, start=start)
    assert found.result == "correct" and found.error.max() < 1e-5
    assert found.psi.max() <= 1e-24 and found.evaluations < 1000


@pytest.mark.slow
@pytest.mark.parametrize("start", de_falco.STARTS)
@pytest.mark.parametrize("tolerance", de_falco.TOLERANCES)
def test_our_default_beats_every_row(start, tolerance):
    setup = de_falco._Setup(tolerance, False, start, default=True)
    found = de_falco._solve(de_falco.parallelogram(), setup, de_falco.DURATION)
    assert found.result == "correct" and found.error.max() <= 10.0 * tolerance
    assert found.psi.max() <= 1e-24 and found.evaluations <= 50_000


@pytest.mark.slow
def test_the_tables_in_short(monkeypatch):
    """In very short: with Baumgarte's terms, a second takes four thousand evaluations."""
    monkeypatch.setattr(de_falco, "QUICK", 0.1)
    told = []
    report = papers.run("de-falco-tables", quick=True, progress=told.append)
    assert [table.title[:7] for table in report.tables] == ["Table 4", "Table 7"]
    assert told[-1] == 1.0 and told == sorted(told)
    for table in report.tables:
        theirs = [row for row in table.rows if row[1] == "the paper's"]
        assert len(theirs) == 5 and {row[1] for row in table.rows} == {"the paper's", *de_falco.STARTS}
    defaults = [run for runs in report.data.values() for run in runs if run["default"]]
    assert len(defaults) == 4 and all(run["correct_until"] == 0.1 for run in defaults)


@pytest.mark.slow
def test_figure_2_in_short(tmp_path, monkeypatch):
    monkeypatch.setattr(de_falco, "QUICK", 0.7)
    report = papers.run("de-falco-figure-2", quick=True)
    assert (report.save(tmp_path)[-1]).name == "violation.png"
    without, stabilised = report.data["a"], report.data["b"]
    assert stabilised["greville, TOL = 1e-06"][-1] < 1e-3 * without["greville, TOL = 1e-06"][-1]
    assert without["our default, TOL = 1e-06"].max() < 1e-24


@pytest.mark.nojit_slow
def test_pseudoinverses_in_short(tmp_path):
    report = papers.run("udwadia-kalaba-pseudoinverses", quick=True)
    closed, opened = report.data["closed"], report.data["open"]
    assert {row["rank"] for row in closed} == {11}
    worst = {row["angle to the flat configuration (rad)"]: row["Moore-Penrose conditions within"] for row in closed}
    assert all(gap < 1e-14 / angle for angle, gap in worst.items())
    assert all(row["svd"] < 1e-6 for row in opened if row["rank"] == 11)
    report.figures["drift-and-rank"]().savefig(tmp_path / "x.png")
