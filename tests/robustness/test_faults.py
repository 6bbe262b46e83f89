"""Ctrl-C, functions of the user that fail, and files on full disks: nothing is lost, and every error has a name."""

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import cmbcontrol as cmb
from cmbcontrol import _files, plants
from cmbcontrol._interrupt import held, let_through
from cmbcontrol.cli import commands, common
from cmbcontrol.controllers import Controller, Drive, Evaluation, FunctionController
from cmbcontrol.errors import CmbError
from cmbcontrol.papers import Experiment, Parts, Report, ResultTable, measure
from cmbcontrol.papers.methods import settings
from cmbcontrol.sim import output, time_loop
from cmbcontrol.sim.events import EventRecorder
from tests.fixtures import crank_passage

pytestmark = pytest.mark.nojit_slow

ROOT = Path(__file__).parents[2]


class Broken(Exception):
    """Nothing that the package knows."""


class Law(Controller):
    """A law of which one method fails after a while."""

    def __init__(self, fails, period=None, at=0.05, drive=None):
        self.fails, self.period, self.at = fails, period, at
        if drive is not None:
            self.drive = drive

    def _ask(self, method, t):
        if method == self.fails and t > self.at:
            raise Broken("no signal")

    def start(self, plant):
        return np.zeros(1)

    def evaluate(self, t, terms, state):
        self._ask("evaluate", t)
        return Evaluation([0.1, 0.0], state if self.period is not None else -state, partial(self._report, t))

    def _report(self, t):
        self._ask("report", t)
        return {"level": 1.0}


class Behind(Drive):
    """A drive that fails after a while."""

    _ask = Law._ask
    fails, at = "evaluate", 0.05

    def start(self, plant):
        return np.zeros(1)

    def evaluate(self, t, terms, command, state):
        self._ask("evaluate", t)
        return Evaluation(command, -state)


@pytest.fixture(scope="module")
def five():
    plant = plants.five_bar()
    return plant, plant.assemble(left=2.1, right=1.0)


METHODS = {
    "interpreted": {},
    "fixed": dict(method="rk4", step=1e-3),
    "scipy": dict(method="scipy-rk45", rtol=1e-6, atol=1e-6),
    "vode": dict(method="vode-adams", stabilisation="none", rtol=1e-6, atol=1e-6),
    "lsoda": dict(method="scipy-lsoda", stabilisation="none", rtol=1e-6, atol=1e-6),
    "radau": dict(method="radau", rtol=1e-5, atol=1e-5),
    "rodas": dict(method="rodas4", rtol=1e-5, atol=1e-5),
}


# -- functions of the user -------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", METHODS.values(), ids=METHODS)
def test_a_law_that_fails_is_named_and_the_run_kept(five, options):
    with pytest.raises(
        cmb.errors.SimulationError, match=r"Law\.evaluate failed at t = 0\.0\d+ s: Broken: no signal"
    ) as caught:
        cmb.simulate(five[0], Law("evaluate"), five[1], t_end=0.1, **settings(**options))
    assert isinstance(caught.value.__cause__, Broken)
    assert "(in Law._ask, test_faults.py)" in str(caught.value)
    run = caught.value.partial
    assert run.status == cmb.Status.CONTROLLER
    assert 0.01 < run.time[-1] <= 0.051
    assert np.isfinite(run.q.values).all()


@pytest.mark.parametrize("method", ["evaluate", "report"])
def test_a_sampled_law_that_fails(five, method):
    with pytest.raises(cmb.errors.SimulationError, match=r"Law\.evaluate failed at t = 0\.06 s: Broken") as caught:
        cmb.simulate(five[0], Law(method, period=0.01), five[1], t_end=0.1)
    assert caught.value.partial.time[-1] == pytest.approx(0.06)
    assert isinstance(caught.value.__cause__, Broken)


def test_a_drive_that_fails(five):
    with pytest.raises(cmb.errors.SimulationError, match=r"Behind\.evaluate failed at t = 0\.0\d+ s: Broken") as caught:
        cmb.simulate(five[0], Law("", period=0.01, drive=Behind()), five[1], t_end=0.1)
    assert 0.01 < caught.value.partial.time[-1] <= 0.051


@pytest.mark.parametrize("options", [{}, METHODS["radau"]], ids=["interpreted", "local"])
def test_a_report_that_fails_in_continuous_time(five, options):
    with pytest.raises(
        cmb.errors.SimulationError, match=r"Law\.evaluate failed at t = 0\.06 s: Broken: no signal"
    ) as caught:
        cmb.simulate(five[0], Law("report"), five[1], t_end=0.1, output_times=0.02, **settings(**options))
    run = caught.value.partial
    assert run.time[-1] == 0.1 and run.status == cmb.Status.CONTROLLER
    assert np.isfinite(run.u.values).all()
    assert run.report.values[:, 0].tolist() == pytest.approx([1.0, 1.0, 1.0, np.nan, np.nan, np.nan], nan_ok=True)


@pytest.mark.parametrize("name", ["reference", "error"])
def test_a_reference_that_fails_in_the_output(five, name):
    def broken(t, *_):
        if t > 0.05:
            raise Broken("the table ends")
        return np.zeros((3 if name == "reference" else 2, 1))

    law = Law("")
    law.coordinates, law.reference, law.error = ("left",), lambda t: np.zeros((3, 1)), lambda t, terms: np.zeros((2, 1))
    setattr(law, name, broken)
    with pytest.raises(
        cmb.errors.SimulationError, match=r"broken failed at t = 0\.06 s: Broken: the table ends"
    ) as caught:
        cmb.simulate(five[0], law, five[1], t_end=0.1, output_times=0.02)
    run = caught.value.partial
    assert run.time[-1] == 0.1
    assert np.isnan(run.data[name].values[:, 0]).tolist() == [False] * 3 + [True] * 3


def circle(key, fails):
    """The particle on a circle, of which a function fails where `fails(q)`."""
    plant = plants.particle_on_circle()
    given = dict(plant._functions)

    def broken(q, *more):
        if fails(q):
            raise KeyError("no entry")
        return given[key](q, *more)

    functions = given | {key: broken}
    return cmb.FunctionPlant("circle", ("q1", "q2"), **functions, neutral=[1.0, 0.0])


@pytest.mark.parametrize("options", [{}, dict(method="rk4", step=5e-3), METHODS["scipy"], METHODS["radau"]])
@pytest.mark.parametrize("key", ["M", "h", "Phi", "A", "Adot_v", "potential"])
@pytest.mark.first(4)
def test_a_function_of_a_plant_that_fails(key, options):
    plant = circle(key, lambda q: q[1] < -0.5)
    match = rf"plant 'circle': {key}\(q.*\) failed at .*KeyError: 'no entry'"
    with pytest.raises(cmb.errors.SimulationError, match=match) as caught:
        cmb.simulate(plant, q0=[1.0, 0.0], t_end=1.0, **settings(**options))
    run = caught.value.partial
    assert 0.2 < run.time[-1] < 0.4  # free fall from rest: y = -0.5 at 0.338 s
    assert run.status == cmb.Status.FAILED
    assert isinstance(caught.value.__cause__.__cause__, KeyError)


def test_a_function_of_a_plant_that_fails_in_the_output(monkeypatch):
    going = []

    def assembling(*arguments, **options):
        going.append(True)
        return assemble(*arguments, **options)

    assemble = output.assemble_result
    monkeypatch.setattr(output, "assemble_result", assembling)
    plant = circle("h", lambda q: going and q[1] < -0.5)
    with pytest.raises(cmb.errors.SimulationError, match=r"plant 'circle': h\(q, v\) failed at .*KeyError") as caught:
        cmb.simulate(plant, q0=[1.0, 0.0], t_end=0.5, output_times=0.1)
    run = caught.value.partial
    assert run.time[-1] == 0.5
    assert np.isfinite(run.q.values).all()
    assert np.isnan(run.a.values).any(axis=1).tolist() == [False] * 4 + [True] * 2


def test_conditions_and_branches_that_fail(five):
    def broken(*_):
        raise Broken("dark")

    block = cmb.Mechanism("block", [cmb.Body("b", 1.0, inertia=(1, 1, 1))], [cmb.Prismatic("z", "ground", "b")])
    for options in METHODS.values():
        if options.get("stabilisation") != "none":
            lock = cmb.Lock("z", when=lambda t, q, v: broken() if t > 0.05 else -1.0)
            with pytest.raises(
                cmb.errors.SimulationError, match=r"when= of Lock\('z'\) failed at t = .*Broken: dark"
            ) as caught:
                cmb.simulate(
                    block, lambda t, terms, s: [], [0.0], [1.0], t_end=0.1, switches=lock, **settings(**options)
                )
            assert caught.value.partial.status == cmb.Status.SWITCHING
            assert isinstance(caught.value.__cause__.__cause__, Broken)
    crank = plants.slider_crank()
    with pytest.raises(cmb.errors.SimulationError, match=r"branch= failed at .* t = 0\.19.*Broken: dark") as caught:
        cmb.simulate(crank, q0=[1.2, -2.4], v0=[2.0, -4.0], t_end=0.5, branch=broken)
    assert caught.value.partial.time[-1] == pytest.approx(crank_passage(), abs=1e-3)


def test_progress_and_pseudoinverses_that_fail(five):
    def tell(fraction):
        if fraction > 0.4:
            raise Broken("window closed")

    def inverse(A, **options):
        inverse.calls += 1
        if inverse.calls > 40:
            raise Broken("no digits")
        return cmb.papers.pseudoinverse.PSEUDOINVERSES["svd"](A, **options)

    inverse.calls = 0
    for options in ({}, METHODS["radau"], dict(formulation="udwadia-kalaba")):
        with pytest.raises(
            cmb.errors.SimulationError, match=r"Broken: window closed \(in .*tell, test_faults"
        ) as caught:
            cmb.simulate(*five[:1], q0=five[1], t_end=0.1, progress=tell, **settings(max_step=0.01, **options))
        assert 0.04 <= caught.value.partial.time[-1] <= 0.1
    with pytest.raises(cmb.errors.SimulationError, match="Broken: no digits") as caught:
        cmb.simulate(five[0], q0=five[1], t_end=1.0, **settings(pseudoinverse=inverse, formulation="udwadia-kalaba"))
    assert caught.value.partial.status == cmb.Status.FAILED


# -- Ctrl-C ----------------------------------------------------------------------------------------------------


def press():
    """Ctrl-C, by the time this returns."""
    signal.raise_signal(signal.SIGINT)


@pytest.fixture
def keyboard():
    """SIGINT as Python has it, then as it was."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler, "the handler was not put back"
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("options", METHODS.values(), ids=METHODS)
def test_ctrl_c_lets_the_step_end(keyboard, five, options):
    """Pressed in the law, it waits until the step is recorded; the run is the beginning of the whole one."""

    def law(t, terms, state):
        if pressing and t > 0.05:
            pressing.clear()
            press()
        return [0.1, 0.0]

    pressing = []
    whole = cmb.simulate(five[0], law, five[1], t_end=0.2, output_times=0.01, **settings(**options))
    pressing.append(True)
    with pytest.raises(cmb.Interrupted, match=r"interrupted at t = 0\.") as caught:
        cmb.simulate(five[0], law, five[1], t_end=0.2, output_times=0.01, **settings(**options))
    run = caught.value.partial
    assert not pressing and run.status == cmb.Status.INTERRUPTED
    k = len(run.time) - 1
    assert 3 <= k < len(whole.time)
    assert np.array_equal(run.q.values[:k], whole.q.values[:k])


def test_a_law_that_raises_it_itself(keyboard, five):
    def law(t, terms, state):
        if t > 0.05:
            raise KeyboardInterrupt
        return [0.0, 0.0]

    for options in METHODS.values():
        with pytest.raises(cmb.Interrupted) as caught:
            cmb.simulate(five[0], law, five[1], t_end=0.2, **settings(**options))
        assert 0.0 < caught.value.partial.time[-1] <= 0.06


def test_loops_over_runs_stop(keyboard, five):
    """What skips failed runs does not skip Ctrl-C."""
    done = []
    with pytest.raises(KeyboardInterrupt):
        for _ in range(3):
            try:
                cmb.simulate(five[0], q0=five[1], t_end=0.5, progress=lambda _: press())
            except Exception as error:
                done.append(error)
    assert done == []


@pytest.mark.parametrize("presses", [1, 2])
def test_ctrl_c_in_the_output(keyboard, five, monkeypatch, presses):
    """The output is finished; a second one ends it."""

    def assembling(*arguments, **options):
        for _ in range(presses):
            press()
        return assemble(*arguments, **options)

    assemble = output.assemble_result
    monkeypatch.setattr(output, "assemble_result", assembling)
    with pytest.raises(cmb.Interrupted, match="the output of the run") as caught:
        cmb.simulate(five[0], q0=five[1], t_end=0.2)
    if presses == 2:
        assert caught.value.partial is None and "None of it is kept" in str(caught.value)
    else:
        assert caught.value.partial.time[-1] == 0.2 and caught.value.partial.status == cmb.Status.COMPLETED


def test_ctrl_c_in_a_run_within_a_run(keyboard, five):
    """A law that predicts by simulation: the outer run is the one that is handed over."""

    def law(t, terms, state):
        cmb.simulate(five[0], q0=five[1], t_end=0.01, progress=lambda _: press() if t > 0.05 else None)
        return [0.0, 0.0]

    with pytest.raises(cmb.Interrupted) as caught:
        cmb.simulate(five[0], FunctionController(law, period=0.02), five[1], t_end=0.2)
    assert caught.value.partial.time[-1] == pytest.approx(0.06)


def test_between_switches(keyboard):
    ball = cmb.Body("ball", 1.0, inertia=(0.1, 0.1, 0.1))
    guide = cmb.Prismatic("height", "ground", "ball", axis=(0, 0, 1))
    plant = cmb.Mechanism("ball", [ball], [guide], [cmb.PointOnPlane("floor", "ground", "ball")])
    with pytest.raises(cmb.Interrupted) as caught:
        cmb.simulate(
            plant, q0=[1.0], t_end=2.0, switches=cmb.Contact("floor", restitution=0.8),
            progress=lambda x: press() if x > 0.5 else None,
        )  # fmt: skip
    run = caught.value.partial
    assert 1.0 <= run.time[-1] < 2.0
    assert {event["kind"] for event in run.events()} == {"impact floor"}
    assert all(event["time"] <= run.time[-1] for event in run.events())


def test_the_compiled_loop_may_come_back_at_any_time(five, monkeypatch):
    """However often it looks at the keyboard, the run is the same, to the last digit."""
    crank = plants.slider_crank()
    cases = [
        ((five[0], None, five[1]), dict(t_end=3.0)),
        ((crank, None, [1.2, -2.4], [2.0, -4.0]), dict(t_end=1.0)),  # through singular configurations
        ((five[0], Law("", period=0.01), five[1]), dict(t_end=0.1)),
        ((crank, None, [1.2, -2.4], [2.0, -4.0]), dict(t_end=0.2, method="rk4", step=1e-3)),
    ]
    for given, options in cases:
        found = []
        for look in (1e9, 0.0):
            monkeypatch.setattr(time_loop, "_LOOK", look)
            found.append(cmb.simulate(*given, **settings(**options)))
        for variable in found[0].data.data_vars:
            assert found[0].data[variable].identical(found[1].data[variable]), variable
        for count in ("steps", "evaluations", "rejected_steps"):
            assert found[0].data.attrs[count] == found[1].data.attrs[count], count


def test_the_compiled_loop_looks_after_few_steps(keyboard, monkeypatch):
    """A machine whose steps take long is not asked for hundreds of them at once."""
    plant, q0, v0 = plants.catalogue["n-four-bar"].start(n=40)
    monkeypatch.setattr(time_loop, "let_through", lambda: (press(), let_through()))
    with pytest.raises(cmb.Interrupted) as caught:
        cmb.simulate(plant, None, q0, v0, t_end=10.0, output_times=[0.0])
    assert 1 <= caught.value.partial.data.attrs["steps"] <= 8


@pytest.mark.parametrize("place", ["first_step", "check_start", "RunHistory"])
def test_none_comes_between_kernels(keyboard, five, monkeypatch, place):
    """Compiled code that returns may not meet an exception: Numba makes a SystemError of it, or the process ends."""
    simulation = sys.modules["cmbcontrol.sim.simulate"]
    before, said = getattr(simulation, place), []

    def pressed(*given):
        press()
        said.append("goes on")
        return before(*given)

    monkeypatch.setattr(simulation, place, pressed)
    with pytest.raises(cmb.Interrupted) as caught:
        cmb.simulate(five[0], q0=five[1], t_end=0.1)
    assert said == ["goes on"]
    partial = caught.value.partial
    if place == "RunHistory":
        assert partial.status == cmb.Status.INTERRUPTED
    else:
        assert partial is None and "before its first step" in str(caught.value)


def test_ctrl_c_in_the_last_line(keyboard, five, monkeypatch):
    """What is done is not lost."""
    monkeypatch.setattr(EventRecorder, "warn", lambda *given, **options: press())
    with pytest.raises(cmb.Interrupted, match="after its end") as caught:
        cmb.simulate(five[0], q0=five[1], t_end=0.1)
    assert caught.value.partial.status == cmb.Status.COMPLETED


def test_it_travels_between_processes(five):
    run = cmb.simulate(five[0], q0=five[1], t_end=0.1)
    run.plant = None
    again = pickle.loads(pickle.dumps(cmb.Interrupted("stopped", run)))
    assert type(again) is cmb.Interrupted and str(again) == "stopped"
    assert again.partial.data.identical(run.data)


def test_held(keyboard):
    said = []
    with pytest.raises(KeyboardInterrupt), held():
        press()
        said.append("waited")
        with held():  # the outer one has it
            said.append("waits on")
        let_through()
        said.append("never")
    with pytest.raises(KeyboardInterrupt), held():
        press()
        press()
        said.append("never")
    with pytest.raises(KeyboardInterrupt), held():
        press()
        raise Broken("which does not swallow it")
    with pytest.raises(Broken), held():
        raise Broken("alone")
    assert said == ["waited", "waits on"]


def test_held_elsewhere(keyboard):
    """Other threads change nothing; who has a handler of his own gets it a little later."""
    said = []

    def elsewhere():
        with held():
            said.append(signal.getsignal(signal.SIGINT))
            let_through()

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert said == [signal.default_int_handler]
    signal.signal(signal.SIGINT, lambda number, frame: said.append(number))
    with held():
        press()
        assert len(said) == 1
        let_through()
        assert said[1:] == [signal.SIGINT]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with held():
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    signal.signal(signal.SIGINT, signal.default_int_handler)


# -- commands --------------------------------------------------------------------------------------------------


def invoke(*words):
    result = CliRunner().invoke(commands.app, [*map(str, words)])
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def pressed(keyboard, monkeypatch):
    """Ctrl-C when a step of a command has come that far."""

    def at(step, fraction):
        def told(self, what):
            telling = steps(self, what)
            if what != step:
                return telling
            telling.__enter__()
            return _Told(lambda x: press() if x >= fraction else None)

        monkeypatch.setattr(common.Bars, "step", told)

    steps = common.Bars.step
    return at


class _Told:
    def __init__(self, tell):
        self.tell = tell

    def __enter__(self):
        return self.tell

    def __exit__(self, *_):
        pass


def test_study_keeps_the_part_of_its_run(pressed, tmp_path):
    pressed("simulation", 0.3)
    code, out, err = invoke("study", "five-bar", "--duration", 0.2, "-o", tmp_path)
    assert code == 130 and "written to" not in out
    assert err.count("\n") == 1 and "interrupted at t = 0." in err and f"also in {tmp_path / 'run.nc'}" in err
    run = cmb.load_run(tmp_path / "run.nc")
    assert run.status == cmb.Status.INTERRUPTED and 0.05 <= run.time[-1] < 0.2
    assert {file.name for file in tmp_path.iterdir()} == {"run.nc", "linear.mat", "linear.json"}


def test_study_keeps_its_run_while_it_draws(pressed, tmp_path):
    pressed("figures", 0.1)
    code, _, err = invoke("study", "five-bar", "--duration", 0.1, "-o", tmp_path)
    assert (code, err) == (130, "error: interrupted\n")
    assert cmb.load_run(tmp_path / "run.nc").time[-1] == 0.1
    assert not list(tmp_path.glob(".*"))


def test_experiments_keep_what_is_done(keyboard, monkeypatch, tmp_path):
    def stops(quick, progress):
        progress.keep([{"method": "ours", "error (m)": 1e-9}])
        progress(0.5)
        progress.keep([{"method": "theirs", "error (m)": None, "steps": 3}])
        press()

    monkeypatch.setattr(
        "cmbcontrol.papers.EXPERIMENTS", {"small": Experiment("small", "a small one", stops, "1 s", "1 s")}
    )
    monkeypatch.setattr(common, "listed", lambda: {"experiments": [{"name": "small"}]})
    code, out, err = invoke("experiment", "small", "--out", tmp_path)
    assert (code, out) == (130, "")
    assert err == f"error: interrupted after 2 parts, which are in {tmp_path / 'parts.csv'}\n"
    assert (tmp_path / "parts.csv").read_text().split() == ["method,error", "(m),steps", "ours,1e-09,", "theirs,,3"]
    code, out, err = invoke("experiment", "small")
    assert code == 130 and "theirs" in out and "with --out they would be kept" in err


def test_experiments_do_not_take_ctrl_c_for_the_end_of_a_run(keyboard, five, monkeypatch):
    """Every measured run stops for it, and what was measured before is kept."""
    parts = Parts()
    problem = measure.Problem(
        five[0], five[1], np.zeros(4), 0.2, np.linspace(0.0, 0.2, 5), lambda run: run.q.values, np.zeros((5, 4))
    )
    stop = {"progress": lambda x: press() if x > 0.5 and parts.done else None}
    with pytest.raises(cmb.Interrupted):
        measure.measure_all([(problem, "first", {}), (problem, "second", stop), (problem, "third", {})], parts, "")
    assert parts.table.column("settings") == ("first",)


# -- files -----------------------------------------------------------------------------------------------------


def test_a_file_is_whole_or_as_it_was(tmp_path, monkeypatch):
    file = _files.write(tmp_path / "a.txt", "old")
    file.chmod(0o640)

    def full(*_):
        raise OSError(28, "No space left on device")

    for where in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, where, full)
            with pytest.raises(
                cmb.errors.FileError, match=r"a\.txt cannot be written: No space left .* is as it was: make room"
            ):
                _files.write(file, "new")
        assert file.read_text() == "old" and len(list(tmp_path.iterdir())) == 1
    with pytest.raises(Broken), _files.writing(file) as beside:
        beside.write_text("half")
        raise Broken
    assert file.read_text() == "old" and len(list(tmp_path.iterdir())) == 1
    _files.write(file, "new")
    assert file.read_text() == "new" and file.stat().st_mode & 0o777 == 0o640


def test_links_pipes_and_folders(tmp_path):
    file, link = _files.write(tmp_path / "a.txt", "old"), tmp_path / "link"
    link.symlink_to(file)
    _files.write(link, "new")
    assert link.is_symlink() and file.read_text() == "new"
    _files.write("/dev/null", "nothing")
    assert Path("/dev/null").is_char_device()
    with pytest.raises(cmb.errors.FileError, match="No space left on device"):
        _files.write("/dev/full", "x" * 10_000)
    with pytest.raises(cmb.errors.FileError, match=r"Nothing was written: make the folder .*gone first"):
        _files.write(tmp_path / "gone" / "a.txt", "x")
    with pytest.raises(cmb.errors.FileError, match="name a file, not a folder"):
        _files.write(tmp_path, "x")
    assert isinstance(cmb.errors.FileError("x"), OSError)


def test_ctrl_c_waits_for_a_file(keyboard, tmp_path):
    with pytest.raises(KeyboardInterrupt), _files.writing(tmp_path / "a.txt") as beside:
        press()
        beside.write_text("whole")
    assert (tmp_path / "a.txt").read_text() == "whole"


@pytest.mark.skipif(os.name != "posix", reason="stands in for ffmpeg with a script")
def test_films_are_whole_or_as_they_were(five, tmp_path, monkeypatch):
    tool = tmp_path / "ffmpeg"
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    run = cmb.simulate(five[0], q0=five[1], t_end=0.1)
    for script, error in (
        ('cat > /dev/null; for last; do :; done; echo film > "$last"', None),
        ("exit 1", cmb.errors.FileError),
    ):
        tool.write_text(f"#!/bin/sh\n{script}\n")
        tool.chmod(0o755)
        film = tmp_path / "a.mp4"
        if error is None:
            assert run.animate(film, fps=20) == film
        else:
            with pytest.raises(error, match=r"a\.mp4 cannot be written.*as it was"):
                run.animate(film, fps=20)
        assert film.read_text() == "film\n"
        assert {file.name for file in tmp_path.iterdir()} == {"ffmpeg", "a.mp4"}


def test_damaged_runs_are_named(five, tmp_path):
    file = cmb.simulate(five[0], q0=five[1], t_end=0.1).save(tmp_path / "run.nc")
    whole = file.read_bytes()
    wrecks = [whole[:n] for n in (0, 7, 40, 100, 5_000, len(whole) // 2, len(whole) - 1)]
    wrecks += [whole[:n] + bytes(len(whole) - n) for n in (100, 5_000, len(whole) // 2)] + [b"x" * 100_000]
    for wreck in wrecks:
        file.write_bytes(wreck)
        with pytest.raises(ValueError, match=r"run\.nc is (damaged|not a run)"):
            cmb.load_run(file)
    file.write_bytes(whole + b"more")
    assert cmb.load_run(file).time[-1] == 0.1


def test_runs_are_saved_by_threads_at_once(five, tmp_path):
    run = cmb.simulate(five[0], q0=five[1], t_end=0.1)
    files = [tmp_path / f"{i}.nc" for i in range(8)]
    with ThreadPoolExecutor(4) as pool:
        again = list(pool.map(lambda file: cmb.load_run(run.save(file)), files))
    assert all(one.data.identical(run.data) for one in again)


def test_damaged_linear_models_are_named(five, tmp_path):
    lin = cmb.linearize(five[0], cmb.trim(*five), coordinates=("left", "right"))
    for name in ("linear.json", "linear.npz", "linear.mat"):
        file = lin.save(tmp_path / name)
        whole = file.read_bytes()
        assert np.array_equal(cmb.load_linear(file).A, lin.A)
        for wreck in (b"", whole[:50], whole[: len(whole) // 2], whole[:-60], b"x" * 500, b"{}", b"[1]"):
            file.write_bytes(wreck)
            with pytest.raises(ValueError, match=rf"{name} (is damaged|holds no linear model)"):
                cmb.load_linear(file)


def test_bytes_of_linear_models_that_are_others(five, tmp_path):
    """A digit of a text may be another digit; whatever else is wrong is told with the name of the file."""
    lin, rng = cmb.linearize(five[0], cmb.trim(*five)), np.random.default_rng(0)
    with pytest.raises(OSError, match=r"missing.json cannot be read: No such file") as error:
        cmb.load_linear(tmp_path / "missing.json")
    assert isinstance(error.value, CmbError)
    for name in ("linear.json", "linear.npz", "linear.mat"):
        file, told = lin.save(tmp_path / name), 0
        whole = file.read_bytes()
        for _ in range(60):
            wreck = bytearray(whole)
            for i in rng.integers(len(whole), size=rng.integers(1, 5)):
                wreck[i] = rng.integers(256)
            file.write_bytes(wreck)
            try:
                cmb.load_linear(file)
            except CmbError as error:
                told += 1
                assert name in str(error) or name == "linear.json"
        assert told >= (10 if name == "linear.json" else 50)
    data = json.loads((lin.save(tmp_path / "linear.json")).read_text())
    (tmp_path / "linear.json").write_text(json.dumps(data | {"machine": data["machine"][:100]}))
    with pytest.raises(ValueError, match=r"linear.json is damaged: JSONDecodeError"):
        cmb.load_linear(tmp_path / "linear.json")


def test_reports_are_written_part_by_part(tmp_path):
    parts = Parts(path=tmp_path / "parts.csv")
    for i in range(3):
        parts.keep([{"case": i}])
        assert len((tmp_path / "parts.csv").read_text().splitlines()) == i + 2
    table = ResultTable("Cost", ("what",), [("x",)])
    names = {file.name for file in Report("A", "b", [table]).save(tmp_path)}
    assert {file.name for file in tmp_path.iterdir()} == names | {"parts.csv"}


# -- at random times -------------------------------------------------------------------------------------------


def faults(*words):
    """What the trials have found, a mapping for each kind."""
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("faults.py"), *map(str, words)], cwd=ROOT, capture_output=True,
        text=True, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


posix = pytest.mark.skipif(not hasattr(os, "fork") or not Path("/proc/self").exists(), reason="needs fork and /proc")


@posix
@pytest.mark.slow
def test_ctrl_c_in_runs():
    (found,) = faults("simulate", "--count", 3)
    assert sum(found["found"].values()) >= 3


@posix
@pytest.mark.slow
def test_disks_and_kills():
    full, read_only, kill = faults("full-disk", "read-only", "kill", "--count", 35, "--seed", 7)
    assert len(full["found"]) == len(read_only["found"]) == 7
    assert sum(full["found"].values()) == 35 and set(read_only["found"].values()) == {1}
    assert sum(kill["found"].values()) >= 35


@pytest.mark.parametrize("error", [ImportError("initialization failed"), SystemError("returned a result")])
def test_an_interrupt_that_arrives_as_another_error_is_one(error, capsys, request):
    """Extension modules that are being loaded, and compiled code that returns, make another exception of Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    with pytest.raises(typer.Exit) as ended, common.in_one_line(False):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise error from None
    assert ended.value.exit_code == 130
    assert capsys.readouterr().err == "error: interrupted\n"
    with pytest.raises(typer.Exit) as ended, common.in_one_line(False):
        raise error
    assert ended.value.exit_code == 1
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
