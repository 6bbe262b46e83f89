"""Figures that pyplot knows where it shows them, and files of them."""

import os
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

import cmbcontrol as cmb
from cmbcontrol import plants, plot
from cmbcontrol.plot.figure import SUFFIXES, new_figure, png, unregistered


@pytest.fixture(scope="module")
def run():
    plant = plants.pendulum()
    return cmb.simulate(plant, q0=plant.assemble(angle=-1.0), t_end=0.1, output_times=0.05)


@pytest.mark.slow
def test_figures_leave_nothing_behind(run):
    """The backend of the tests is Agg, which shows nothing; pyplot is imported."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(25):  # pyplot warns of more than 20
            assert isinstance(run.plot(), Figure)
    assert pyplot.get_fignums() == []


SCRIPT = """
import sys, threading, multiprocessing
import numpy as np
import cmbcontrol as cmb
from cmbcontrol import plants, plot
from cmbcontrol.plot.figure import unregistered
plant = plants.pendulum()
run = cmb.simulate(plant, q0=plant.assemble(angle=-1.0), t_end=0.1, output_times=0.05)

def figures_of_a_child():
    run.plot()
    import matplotlib.pyplot as plt
    return plt.get_fignums()

run.plot()
assert "matplotlib.pyplot" not in sys.modules  # a script that does not use it
import matplotlib.pyplot as plt
figure = run.plot()
assert plt.get_fignums() == [1] and plt.gcf() is figure and figure._repr_png_() is None
with unregistered():
    run.plot()
thread = threading.Thread(target=run.plot)
thread.start()
thread.join()
assert plt.get_fignums() == [1]
if sys.platform != "win32":
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply(figures_of_a_child) == [1]  # that of its parent
print("good")
"""
WINDOW = "from matplotlib.backends.backend_agg import *\n"


@pytest.mark.slow
def test_a_script_with_windows_and_pyplot_has_its_figures_there(tmp_path):
    """The backend is one of a plugin that draws as Agg; pyplot takes it for one that opens windows."""
    (tmp_path / "fake_window.py").write_text(WINDOW)
    environment = {"MPLBACKEND": "module://fake_window", "PYTHONPATH": str(tmp_path)}
    found = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert found.stdout == "good\n", found.stderr


def test_figures_travel_between_processes():
    figure = new_figure(4.0, 3.0)
    figure.subplots().plot([1.0, 3.0])
    again = pickle.loads(pickle.dumps(figure))
    assert type(again) is type(figure) and again.axes[0].lines[0].get_ydata().tolist() == [1.0, 3.0]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.smoke
def test_files_are_the_same_each_time(run, tmp_path, suffix):
    starts = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
    one = plot.save(run.plot(), tmp_path / f"one{suffix}")
    two = plot.save(run.plot(), str(tmp_path / f"two{suffix.upper()}"))
    content = one.read_bytes()
    assert content.startswith(starts[suffix]) and content == two.read_bytes()
    assert b"Date" not in content and b"<dc:date>" not in content
    assert plot.save(Figure(), tmp_path / f"plain{suffix}").stat().st_size > 500


def test_other_suffixes_are_refused_with_those_that_exist(run, tmp_path):
    with pytest.raises(ValueError, match=r"kept in a \.png, \.svg or \.pdf file, got 'run.jpg'"):
        plot.save(run.plot(), tmp_path / "run.jpg")
    with pytest.raises(TypeError, match="figure"):
        plot.save(run, tmp_path / "run.png")
    with pytest.raises(cmb.errors.FileError, match="make the folder"):
        plot.save(run.plot(), tmp_path / "nowhere" / "run.png")
    assert list(tmp_path.iterdir()) == []


def test_a_picture_as_bytes_has_the_resolution_that_was_asked_for():
    with unregistered():
        figure = new_figure(4.0, 3.0)
    width, height = (int.from_bytes(png(figure, 50.0)[k : k + 4], "big") for k in (16, 20))
    assert (width, height) == (200, 150)
    content, shown = figure._repr_png_()
    assert content[:4] == b"\x89PNG" and shown == {"width": 384, "height": 288}
    np.testing.assert_allclose(figure.get_size_inches(), [4.0, 3.0])
