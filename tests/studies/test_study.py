"""Studies as a whole: rows whatever happens, the same everywhere, resumption, and what is told of them."""

import functools
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import filelock
import numpy as np
import pytest
from scipy import stats

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.errors import FileError, Interrupted
from cmbcontrol.studies import (
    LinearCase,
    MachineCase,
    damping,
    disk_margin,
    execution,
    final_error,
    gain_margin,
    open_rows,
    slowest_pole,
    study,
)
from cmbcontrol.studies.case import identity
from tests.fixtures import refuses

from . import cases

ROOT = Path(__file__).parents[2]


def alike(a, b):
    """The same rows, to the last bit."""
    assert a.data.sizes == b.data.sizes
    for name in (*a.parameters, *a.measures, "status", "message"):
        x, y = a.data[name].values, b.data[name].values
        assert np.array_equal(x, y, equal_nan=x.dtype.kind == "f"), name


def test_rows_with_parameters_and_measures():
    found = study(cases.frequency, {"length": (0.5, 1.0), "mass": [1.0, 2.0], "gravity": [9.81]}, runs=10, seed=1)
    assert found.data.sizes["run"] == 20 and found.failures == 0
    expected = np.sqrt(9.81 / found.data.length.values)
    np.testing.assert_array_equal(found.data.frequency.values, expected)
    assert found.data.length.attrs["kind"] == "parameter" and found.data.frequency.attrs["kind"] == "measure"
    assert found.values(3)["mass"] == found.data.mass.values[3]
    assert "20 done, 0 of them failed" in str(found) and "frequency: median" in str(found)


def test_runs_and_linear_models():
    runs = study(cases.swing, {"start": [0.1, 0.5]}, measures={"end": lambda run: float(run.q.values[-1, 2])})
    direct = [cmb.simulate(**cases.swing(x)).q.values[-1, 2] for x in (0.1, 0.5)]
    assert runs.data.end.values.tolist() == direct
    assert runs.data.reached.values.tolist() == [0.3, 0.3]
    again = runs.rerun(1)
    assert again.q.values[-1, 2] == direct[1]
    models = study(cases.model, {"stiffness": [8.0, 50.0]}, measures={"slowest": slowest_pole(), "damping": damping()})
    assert models.data.slowest.values == pytest.approx([-0.25, -0.25])
    assert models.data.damping.values == pytest.approx([0.5 / np.sqrt(2 * 8.0), 0.5 / np.sqrt(2 * 50.0)])
    assert models.data.slowest.attrs["units"] == "1/s"


@pytest.mark.nojit_slow
@pytest.mark.slow
def test_every_tenth_run_fails_and_is_a_row():
    for number in (10, 20):  # kernels are loaded before the clock runs
        study(cases.sometimes, {"number": [number]})
    found = study(cases.sometimes, {"number": list(range(100))}, time_limit=4.0)
    assert found.data.sizes["run"] == 100 and found.failures == 10
    kinds = [str(status) for status in found.data.status.values]
    assert kinds[50] == "ValueError" and "no run 50" in str(found.data.message.values[50])
    assert kinds[60] == "InputError" and "open" in str(found.data.message.values[60])
    assert kinds[70] == "controller" and "gives up" in str(found.data.message.values[70])
    assert 0.0 < found.data.reached.values[70] <= 0.06
    assert kinds[80] == "time limit" and kinds[90] == "measure"
    good = found.data.status.values == "completed"
    assert good.sum() == 90


@pytest.mark.slow
def test_the_same_on_cores_and_in_another_order(tmp_path):
    vary = {"amplitude": (0.5, 2.0)}
    one = study(cases.noisy, vary, runs=37, seed=4)
    alike(one, study(cases.noisy, vary, runs=37, seed=4, workers=2))
    alike(one, study(cases.noisy, vary, runs=37, seed=4, workers=2, folder=tmp_path / "a"))
    alike(one, study(cases.noisy, vary, runs=37, seed=4, folder=tmp_path / "a"))  # read from there
    local = study(lambda amplitude, rng: cases.noisy(amplitude, rng), vary, runs=37, seed=4, workers=2)
    alike(one, local)


@pytest.mark.slow
def test_a_run_that_kills_its_worker_is_a_row():
    found = study(cases.deadly, {"number": list(range(40)), "victim": [13.0]}, workers=2)
    assert found.data.sizes["run"] == 40
    assert found.data.status.values[13] == "worker died" and found.failures == 1
    good = np.delete(np.arange(40.0), 13)
    np.testing.assert_array_equal(np.delete(found.data.square.values, 13), good**2)


SCRIPT = """
import sys
sys.path.insert(0, {root!r})
from cmbcontrol.studies import study
from tests.studies import cases
study(cases.slow, {{"number": list(range(60))}}, folder={folder!r}, workers={workers})
print("done")
"""


@pytest.mark.nojit_slow
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.slow
def test_a_study_that_is_killed_goes_on(tmp_path, workers):
    folder = str(tmp_path / "kept")
    command = [sys.executable, "-c", SCRIPT.format(root=str(ROOT), folder=folder, workers=workers)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    parts = Path(folder, "parts")
    while process.poll() is None and len(list(parts.glob("part-*.nc"))) < 3:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    told, _ = process.communicate()
    before = len(list(parts.glob("part-*.nc")))
    assert before >= 3 and "done" not in told
    found = study(cases.slow, {"number": list(range(60))}, folder=folder)
    alike(found, study(cases.slow, {"number": list(range(60))}))
    assert len(list(parts.glob("part-*.nc"))) > before


def test_ctrl_c_keeps_what_is_done(tmp_path):
    def case(number):
        if number == 20:
            raise KeyboardInterrupt
        return {"x": number}

    with pytest.raises(Interrupted, match=r"interrupted after \d+ of 40 runs.*folder=") as caught:
        study(case, {"number": list(range(40))}, folder=tmp_path / "k")
    kept = caught.value.partial
    assert 0 < kept.data.sizes["run"] < 40 and kept.failures == 0


def test_another_study_is_not_mixed_in(tmp_path):
    folder = tmp_path / "kept"
    study(cases.frequency, {"length": (0.5, 1.0), "mass": [1.0], "gravity": [9.81]}, runs=4, folder=folder)
    for changed, word in (
        ({"runs": 5}, "runs"),
        ({"seed": 1}, "seed"),
        ({"vary": {"length": (0.5, 1.1), "mass": [1.0], "gravity": [9.81]}}, "values"),
        ({"measures": {"f": np.sum}}, "measures"),
    ):
        options = {"vary": {"length": (0.5, 1.0), "mass": [1.0], "gravity": [9.81]}, "runs": 4, "folder": folder}
        refuses(lambda o=options | changed: study(cases.frequency, **o), "another study", word, kind=ValueError)
    refuses(
        lambda: study(lambda length, mass, gravity: {"x": 1.0}, options["vary"], runs=4, folder=folder),
        "another study", "case", kind=ValueError,
    )  # fmt: skip
    assert study(cases.frequency, options["vary"], runs=4, folder=folder).data.sizes["run"] == 4


def test_two_studies_do_not_write_into_one_folder(tmp_path):
    folder = tmp_path / "kept"
    folder.mkdir()
    again = lambda: study(cases.slow, {"number": [1.0]}, folder=folder)  # noqa: E731
    with filelock.FileLock(folder / "study.lock"):
        refuses(again, "another study is writing", kind=FileError)
        code = (
            "from tests.studies import cases\nfrom cmbcontrol.studies import study\n"
            f"study(cases.slow, {{'number': [1.0]}}, folder={str(folder)!r})"
        )
        other = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
        assert other.returncode and "another study is writing" in other.stderr
    assert again().data.sizes["run"] == 1


def test_folders_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    refuses(lambda: study(cases.slow, {"number": [1.0]}, folder=tmp_path / "file" / "x"), "file", kind=FileError)
    import errno

    from cmbcontrol.studies import folder as folder_module

    full = OSError(errno.ENOSPC, "No space left on device")

    def no_room(path):
        raise FileError(f"{path} cannot be written: {full.strerror}")

    monkeypatch.setattr(folder_module._files, "writing", no_room)
    refuses(
        lambda: study(cases.slow, {"number": [1.0, 2.0]}, folder=tmp_path / "full"), "No space left", kind=FileError
    )
    monkeypatch.undo()
    assert study(cases.slow, {"number": [1.0, 2.0]}, folder=tmp_path / "full").data.sizes["run"] == 2


def make_law(plant, bandwidth):
    path = cmb.Constant([2.1, 1.0])
    return cmb.controllers.ProjectedInverseDynamics(plant, ("left", "right"), path, bandwidth=bandwidth, period=5e-3)


def test_cases_of_a_machine_with_parameters_by_name():
    """Masses, starts and gains; the law knows the nominal machine, or the true one, which it then follows exactly."""
    nominal = cmb.plants.five_bar()
    vary = {"left_lower_scale": [1.5], "start_left": [2.2], "bandwidth": [10.0], "right_upper_mass": [3.5]}
    errors = []
    for knows in (False, True):
        case = MachineCase(nominal, make_law, {"left": 2.1, "right": 1.0}, knows=knows, t_end=0.4)
        found = study(case, vary, measures={"error": final_error()})
        assert found.failures == 0, found.data.message.values
        errors.append(float(found.data.error.values[0]))
        made = case(**found.values(0))
        assert made["plant"].bodies[0].mass == 1.5 * nominal.bodies[0].mass
        np.testing.assert_allclose(made["plant"].bodies[0].inertia, 1.5 * np.asarray(nominal.bodies[0].inertia))
        assert made["q0"][0] == pytest.approx(2.2)
    assert errors[0] > 1.5 * errors[1]
    refuses(lambda: study(case, {"left_lower_mas": [1.0]}), "did you mean", "left_lower_mass", kind=ValueError)
    free = MachineCase(nominal, t_end=0.1)
    refuses(lambda: study(free, {"start_left": [2.2]}), "nominal value", "start={'left': ...}", kind=ValueError)
    refuses(lambda: MachineCase(nominal, make_law), "t_end", kind=TypeError)
    refuses(lambda: MachineCase("five-bar", t_end=1.0), "Mechanism", kind=TypeError)
    refuses(lambda: MachineCase(nominal, t_end=1.0, t_ned=2.0), "t_ned", "did you mean", kind=TypeError)


def test_identity_is_the_same_in_every_process():
    nominal = cmb.plants.five_bar()

    def law(plant, bandwidth):
        return None

    def other(plant, bandwidth):
        return 1.0

    def made(make, plant=nominal, t_end=1.0):
        return identity(MachineCase(plant, make, {"left": 2.1, "right": 1.0}, t_end=t_end))

    assert made(law) == made(law, cmb.plants.five_bar())
    assert "0x" not in MachineCase(nominal, law, t_end=1.0).described()
    heavier = nominal.with_parameters({"left_lower_mass": 2.5})
    assert len({made(law), made(other), made(law, heavier), made(law, t_end=2.0)}) == 4
    assert identity(functools.partial(law, bandwidth=1.0)) != identity(functools.partial(law, bandwidth=2.0))


def test_whole_runs_are_kept(tmp_path):
    found = study(cases.swing, {"start": [0.1, 0.5, 0.9]}, folder=tmp_path, keep=[1])
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["run-00000001.nc"]
    assert found.rerun(1).q.values[-1, 2] == cmb.simulate(**cases.swing(0.5)).q.values[-1, 2]
    assert found.rerun(2).q.values[-1, 2] == cmb.simulate(**cases.swing(0.9)).q.values[-1, 2]


def test_progress():
    told = []
    study(cases.frequency, {"length": (0.5, 1.0), "mass": [1.0], "gravity": [9.81]}, runs=32, progress=told.append)
    assert told[0] == 0.0 and told[-1] == 1.0 and told == sorted(told)


@pytest.mark.slow
def test_dask(monkeypatch):
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:
        found = study(cases.noisy, {"amplitude": (0.5, 2.0)}, runs=37, seed=4, workers=client)
        alike(found, study(cases.noisy, {"amplitude": (0.5, 2.0)}, runs=37, seed=4))
    monkeypatch.setattr(execution, "_COMING", 0.1)
    cluster = distributed.LocalCluster(n_workers=0, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:
        refuses(lambda: study(cases.slow, {"number": [1.0]}, workers=client), "no workers", kind=ValueError)


@pytest.mark.slow
def test_workers_of_a_cluster_die():
    distributed = pytest.importorskip("distributed")
    vary = {"number": [float(i) for i in range(60)]}
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:
        victim = next(iter(cluster.workers.values())).pid
        told = []

        def kill_at_first_rows(fraction):
            if not told:
                os.kill(victim, signal.SIGKILL)
            told.append(fraction)

        alike(study(cases.slow, vary, workers=client, progress=kill_at_first_rows), study(cases.slow, vary))
        assert told and victim not in [worker.pid for worker in cluster.workers.values()]
        deadly = study(cases.deadly, vary | {"victim": [17.0]}, workers=client)
    assert deadly.data.status.values[17] == "worker died" and deadly.failures == 1
    assert deadly.data.square.values[18] == 18.0**2


def test_what_is_refused():
    vary = {"number": [1.0, 2.0]}
    refuses(lambda: study("case", vary), "case", "'case'", kind=TypeError)
    refuses(lambda: study(cases.frequency, vary), "'number'", "length", kind=TypeError)
    refuses(lambda: study(cases.slow, vary, keep=True), "folder=", kind=TypeError)
    refuses(lambda: study(cases.slow, vary, keep=[7], folder="unused"), "run 7", kind=ValueError)
    refuses(lambda: study(cases.slow, vary, memory_limit=1e9), "workers=2", kind=TypeError)
    refuses(lambda: study(cases.slow, vary, time_limit=0.0), "time_limit", kind=ValueError)
    refuses(lambda: study(cases.slow, vary, workers="some"), "workers", kind=(TypeError, ValueError))
    refuses(lambda: study(cases.slow, vary, measures={"m": 3.0}), "'m'", kind=TypeError)
    refuses(lambda: study(lambda number: {"number": 1.0}, vary), "'number'", "rename", kind=ValueError)
    refuses(lambda: study(cases.slow, vary, measures={"number": np.sum}), "'number'", "rename", kind=ValueError)
    lock = __import__("threading").Lock()
    refuses(lambda: study(lambda number: {"x": lock.locked()}, vary, workers=2), "other processes", kind=TypeError)
    found = study(cases.slow, vary)
    refuses(lambda: found.worst("x"), "'x'", "square", kind=ValueError)
    refuses(lambda: found.values(2), "2", kind=ValueError)


@pytest.mark.slow
def test_memory_of_the_parent_is_bounded():
    resource = pytest.importorskip("resource")
    study(cases.noisy, {"amplitude": (0.5, 2.0)}, runs=1000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = study(cases.noisy, {"amplitude": (0.5, 2.0)}, runs=20_000, workers=2)
    assert found.failures == 0
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 100_000  # KiB


def test_normal_distribution_of_the_mean():
    """Confidence intervals hold the mean as often as they say."""
    inside = 0
    for seed in range(200):
        found = study(lambda x: {"y": x}, {"x": stats.norm(3.0, 2.0)}, runs=40, seed=seed)
        told = found.statistics("y", confidence=0.9)
        inside += float(told.mean_low) <= 3.0 <= float(told.mean_high)
    assert stats.binomtest(inside, 200, 0.9).pvalue > 1e-4


@pytest.mark.slow
@pytest.mark.nojit_slow
def test_time_limits_in_threads():
    """As workers of Dask have them: whatever is under way in Python, and in runs; and nothing comes late."""
    found = []

    def work():
        study(cases.long_run, {"t_end": [0.05]})  # kernels are loaded before the clock runs
        found.append(study(cases.counts, {"seconds": [0.0, 60.0, 0.0, 60.0, 0.0]}, time_limit=2.0))
        found.append(study(cases.long_run, {"t_end": [0.05, 1e5, 0.05]}, time_limit=3.0))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    for rows, kinds in zip(found, (["completed", "time limit"] * 2 + ["completed"],
                                   ["completed", "time limit", "completed"]), strict=True):  # fmt: skip
        assert rows.data.status.values.tolist() == kinds
        assert all("took longer than" in m for m in rows.data.message.values[1::2])
    assert found[1].data.reached.values[1] > 0.05


# -- linear models ---------------------------------------------------------------------------------------------------


def linear_case(knows=False):
    return LinearCase(cases.loader(), cases.follows, {"boom": 0.1, "bucket": -0.2}, knows=knows)


LOADED = {"start_boom": (-0.5, 0.6), "start_bucket": (-0.5, 0.4), "load_scale": (0.2, 1.8)}
MARGINS = {"pole": slowest_pole(), "disk": disk_margin(), "gain": gain_margin()}


@pytest.mark.nojit_slow
@pytest.mark.parametrize("knows", [False, True])
def test_linear_cases_are_the_models_by_hand(knows):
    found = study(linear_case(knows), LOADED, runs=6, seed=3, measures=MARGINS)
    assert found.failures == 0
    for i in (0, 3, 5):
        x = found.values(i)
        numbers = cmb.dynamics.parameters(cases.loader())
        own = {n: number.value for n, number in numbers.items() if n.startswith("load_")}
        scaled = {n: x["load_scale"] * v for n, v in own.items() if "mass" in n or "inertia" in n}
        plant = cases.loader().with_parameters(scaled)
        law = cases.follows(plant if knows else cases.loader(), x["start_boom"], x["start_bucket"])
        law = law if knows else cmb.controllers.WithModel(cases.loader(), law)
        loop = cmb.linearize_closed_loop(plant, law)
        assert found.data.pole.values[i] == pytest.approx(loop.continuous_poles().real.max(), rel=1e-6)
        assert found.data.disk.values[i] == pytest.approx(loop.margins().disk, rel=1e-6)


@pytest.mark.slow
@pytest.mark.nojit_slow
def test_linear_cases_give_the_same_bits_everywhere(tmp_path):
    here = study(linear_case(), LOADED, runs=40, seed=4, measures=MARGINS)
    alike(here, study(linear_case(), LOADED, runs=40, seed=4, measures=MARGINS, workers=2))
    kept = study(linear_case(), LOADED, runs=40, seed=4, measures=MARGINS, folder=tmp_path)
    for part in sorted((tmp_path / "parts").iterdir())[::2]:
        part.unlink()
    again = study(linear_case(), LOADED, runs=40, seed=4, measures=MARGINS, folder=tmp_path)
    alike(here, kept)
    alike(here, again)


def test_open_loop_linear_cases():
    case = LinearCase(plants.five_bar(), None, {"left": 2.1, "right": 1.0}, coordinates=("left", "right"))
    found = study(
        case, {"start_left": [2.0, 2.1], "left_lower_mass": (1.0, 3.0)}, runs=2, measures={"p": slowest_pole()}
    )
    plant = plants.five_bar().with_parameters({"left_lower_mass": found.values(3)["left_lower_mass"]})
    q = plant.assemble(left=2.1, right=1.0)
    assert found.data.p.values[3] == pytest.approx(cmb.linearize(plant, cmb.trim(plant, q)).poles().real.max())
    with pytest.raises(TypeError, match="did you mean 'coordinates'"):
        LinearCase(plants.five_bar(), None, coordinate=("left",))


# -- on disk -----------------------------------------------------------------------------------------------------------


def test_rows_opened_lazily(tmp_path):
    found = study(cases.sometimes_named, {"number": [float(i) for i in range(50)]}, folder=tmp_path)
    with open_rows(tmp_path) as rows:
        assert rows.chunks
        assert rows.sizes["run"] == 50
        ordered = rows.sortby("run")
        np.testing.assert_array_equal(ordered["value"].values, found.data["value"].values)
        np.testing.assert_array_equal(ordered["number"].values, found.data["number"].values)
        assert ordered["status"].values.astype(str).tolist() == found.data["status"].values.tolist()
    with pytest.raises(FileError, match="there are no rows"):
        open_rows(tmp_path / "none")


def test_saved_rows(tmp_path):
    import xarray

    found = study(cases.sometimes_named, {"number": [1.0, 2.0]})
    with xarray.open_dataset(found.save(tmp_path / "rows.nc")) as rows:
        np.testing.assert_array_equal(rows["value"].values, found.data["value"].values)


@pytest.mark.slow
def test_a_full_disk_ends_the_study_and_loses_nothing(tmp_path):
    """Parts that were written are there, and the same call goes on once there is room."""
    script = f"""
import resource, signal, sys
from cmbcontrol.errors import FileError
from cmbcontrol.studies import study
from tests.studies import cases
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    study(cases.grows, {{"number": [float(i) for i in range(160)]}}, folder={str(tmp_path / "full")!r})
except FileError as error:
    assert "cannot be written: File too large" in str(error) and "make room" in str(error), error
    sys.exit(7)
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 7, done.stderr
    parts = sorted((tmp_path / "full" / "parts").iterdir())
    assert len(parts) == 10 and not any(part.name.startswith(".") for part in parts)
    before = [part.read_bytes() for part in parts]
    found = study(cases.grows, {"number": [float(i) for i in range(160)]}, folder=tmp_path / "full")
    assert found.data.sizes["run"] == 160 and found.failures == 0
    assert [part.read_bytes() for part in parts] == before


def test_units_of_parameters_are_those_of_the_machine():
    """As far as it has them: gains have the units that they are given."""
    plant = plants.five_bar()

    def law(plant, bandwidth):
        goal = cmb.Constant([2.1, 1.0])
        return cmb.controllers.ProjectedInverseDynamics(plant, ("left", "right"), goal, bandwidth=bandwidth)

    case = MachineCase(plant, law, {"left": 2.1, "right": 1.0}, t_end=0.01)
    vary = {"left_lower_mass": [1.0], "left_upper_scale": [1.0], "start_left": [2.1], "bandwidth": [5.0]}
    units = [study(case, vary).data[name].attrs["units"] for name in vary]
    assert units == ["kg", "1", "rad", ""]
    given = vary | {"bandwidth": cmb.studies.Vary([5.0], "rad/s"), "start_left": cmb.studies.Vary([2.1], "radians")}
    units = [study(case, given).data[name].attrs["units"] for name in vary]
    assert units == ["kg", "1", "radians", "rad/s"]
