"""The self-test tells right code from wrong code."""

import subprocess

import numpy as np
import pytest

from cmbcontrol import plants
from cmbcontrol.codegen import export
from cmbcontrol.codegen.entries import ExportedMachine
from cmbcontrol.codegen.selftest import nearness, states
from cmbcontrol.errors import ModelError

from ..model.elements.test_load_friction import gear, wedge
from .conftest import COMPILER, STRICT


def run(folder):
    sources = [str(path) for path in folder.glob("*.c")]
    done = subprocess.run([COMPILER, *STRICT, *sources, "-o", "t", "-lm"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:1000]
    return subprocess.run(["./t"], cwd=folder, capture_output=True, text=True)


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
def test_it_passes_and_says_so_in_a_line(tmp_path):
    plant = plants.five_bar()
    export(plant, tmp_path, plant.assemble(left=2.1, right=1.0), coordinates=("left", "right"))
    done = run(tmp_path)
    assert (done.returncode, done.stderr, done.stdout.count("\n")) == (0, "", 1)
    assert done.stdout.startswith("five_bar: 6 functions at 10 states: largest error ")


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("1.5, /* left_lower_mass */", "1.5000001, /* left_lower_mass */"),
        ("status = FIVE_BAR_STATUS_NOT_FINITE;", "status = FIVE_BAR_STATUS_OK;"),
        ("!(y[0] > 0.0)", "!(y[0] > 1.0)"),
    ],
)
def test_it_fails_where_code_is_wrong(tmp_path, old, new):
    plant = plants.five_bar()
    export(plant, tmp_path, plant.assemble(left=2.1, right=1.0), functions=["forward"])
    source = tmp_path / "five_bar.c"
    text = source.read_text()
    if "left_lower_mass" in old:  # whatever it is
        (line,) = [line for line in text.splitlines() if "left_lower_mass" in line]
        value = float(line.split(",")[0])
        old, new = line, line.replace(repr(value), repr(value * (1.0 + 1e-7)))
    assert old in text
    source.write_text(text.replace(old, new))
    assert run(tmp_path).returncode == 1


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
@pytest.mark.parametrize("machine", ["wedge", "gear"])
def test_friction_in_proportion_to_loads_is_in_the_code(tmp_path, machine):
    plant = wedge(0.3, 0.5) if machine == "wedge" else gear(0.8, transition=0.01)
    made = export(plant, tmp_path, np.zeros(2), functions=["forward", "linear"], coordinates=[plant.velocity_names[0]])
    assert any(name.endswith("coulomb") for name in made.parameters)
    done = run(tmp_path)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_states_are_closed_regular_and_repeat():
    plant, q, _ = plants.catalogue["loader"].start()
    machine = ExportedMachine(plant, q)
    found, again = states(machine, 20, 3, True), states(machine, 20, 3, True)
    for state, same in zip(found, again, strict=True):
        t = state.terms
        np.testing.assert_array_equal(t.q, same.terms.q)
        assert plant.closure_error(t.q) < 1e-14 * plant.length_scale(t.q)
        assert np.abs(t.row_scale * (t.A @ t.v)).max() < 1e-13 * plant.length_scale(t.q) * max(1.0, np.abs(t.v).max())
        assert nearness(machine, t, True) > 0.02
    assert np.ptp([state.terms.q for state in found], axis=0).max() > 0.1


def test_machines_that_are_singular_everywhere_are_refused(monkeypatch):
    plant, q, _ = plants.catalogue["loader"].start()
    monkeypatch.setattr("cmbcontrol.codegen.selftest.nearness", lambda *_: 0.0)
    monkeypatch.setattr("cmbcontrol.codegen.selftest._TRIES", 2)
    with pytest.raises(ModelError, match="only 0 of 3 states"):
        states(ExportedMachine(plant, q), 3, 0, False)
