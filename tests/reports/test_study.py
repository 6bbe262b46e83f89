"""Reports of studies."""

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants, report
from cmbcontrol.errors import InputError, Interrupted
from cmbcontrol.studies import study

from .reading import read


def sections(found, folder, **options):
    return read(report(found, folder / "study.html", **options)).sections


def squares(a, b):
    if a > 0.9:
        raise ValueError(f"a = {a} is too <large>")
    return {"square": a * a + 0.1 * b, "other": b}


def test_numbers(tmp_path):
    found = study(squares, {"a": (0.0, 1.0), "b": (0.0, 1.0)}, runs=50, seed=3)
    told = sections(found, tmp_path, limits={"square": (0.0, 0.5)}, title="squares")
    assert [*told] == ["Measures", "What varies", "Failures", "square", "other", "All against all", "Versions"]
    row = next(row for row in told["Measures"]["rows"] if row[0] == "square")
    values = found.data.square.values
    np.testing.assert_allclose(
        [float(x) for x in row[3:7]], [*np.nanquantile(values, [0.05, 0.5, 0.95]), np.nanmax(values)], rtol=1e-4
    )
    share = np.mean(np.nan_to_num(values, nan=np.inf) <= 0.5)
    assert f"{share:.1%} of the runs" in told["Measures"]["text"]
    assert found.failures > 0 and "is too <large>" in told["Failures"]["text"]
    assert told["square"]["pictures"] == 2 and told["All against all"]["pictures"] == 1


def falling(angle):
    plant = plants.pendulum()
    return {"plant": plant, "q0": plant.assemble(angle=angle), "t_end": 0.2}


@pytest.mark.slow
def test_the_worst_run_is_seen(tmp_path):
    found = study(falling, {"angle": [0.1, 0.2, 0.3]}, measures={"end": lambda run: run.q.values[-1, 2]})
    told = sections(found, tmp_path)
    assert told["The worst run"]["frames"] == 1 and f"Run {found.worst('end')[0]} has" in told["The worst run"]["text"]
    assert "pendulum" in told["Machine"]["text"]
    assert found.write_report(tmp_path / "again.html").exists()


def test_nothing_to_measure(tmp_path):
    told = sections(study(lambda name: {"x": np.nan}, {"name": ["a", "b"]}), tmp_path)
    assert told["Measures"]["rows"][1][:3] == ["x", "", "none"]
    assert told["What varies"]["rows"][1][:3] == ["name", "", "a, b"]


def test_all_have_failed(tmp_path):
    told = sections(study(squares, {"a": [1.0, 2.0], "b": [0.0]}), tmp_path)
    assert "too <large>" in told["Failures"]["text"] and "Versions" in told


def test_one_that_was_interrupted(tmp_path):
    def stops(a):
        if a == 2:
            raise KeyboardInterrupt
        return {"x": a}

    with pytest.raises(Interrupted) as caught:
        study(stops, {"a": [0, 1, 2, 3]})
    text = report(caught.value.partial, tmp_path / "study.html").read_text()
    assert "of 4 runs" in text


def test_refusals(tmp_path):
    found = study(squares, {"a": [0.1, 0.2], "b": [0.0]})
    with pytest.raises(InputError, match="no measure"):
        report(found, tmp_path / "study.html", limits={"squar": (0.0, 1.0)})
    with pytest.raises(InputError, match="a report is a page"):
        report(found, tmp_path / "study.txt")
    with pytest.raises(TypeError):
        report(cmb, tmp_path / "study.html")
    assert not list(tmp_path.iterdir())
