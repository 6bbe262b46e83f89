"""Ctrl-C, kills and full disks at random times: ``python tests/robustness/faults.py KIND ... --count 100 --seed 1``.

Each trial is a process of its own, forked from this one, which has loaded everything. A line of JSON tells the
findings; what may not be raises at once, and names the trial.
"""

import argparse
import contextlib
import csv
import faulthandler
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np

import cmbcontrol as cmb
from cmbcontrol import _files, cli, plants
from cmbcontrol.controllers import Controller, Evaluation, ProjectedInverseDynamics
from cmbcontrol.papers import Parts, ResultTable
from cmbcontrol.papers.methods import settings

NOBODY = 65534


# -- processes -------------------------------------------------------------------------------------------------


def forked(function, folder):
    """The id of a process that calls a function now; its output goes to files, its exit code is that of the function.

    A signal to it comes to the function, and not to what is done here before.
    """
    sys.stdout.flush()
    streams = {1: folder / "out", 2: folder / "err"}
    for path in streams.values():  # nothing of an earlier one is left
        path.write_text("")
    begun, begins = os.pipe()
    pid = os.fork()
    if pid:
        os.close(begins)
        os.read(begun, 1)
        os.close(begun)
        return pid
    code = 99
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for stream, path in streams.items():
            os.dup2(os.open(path, os.O_WRONLY), stream)
        faulthandler.enable(2)  # where a process crashed is told with its exit code
        os.write(begins, b".")
        code = function() or 0
    except SystemExit as end:
        code = end.code or 0
    except KeyboardInterrupt:
        code = 98  # not told by the package
        traceback.print_exc()
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def ended(pid, within=60.0):
    """Exit code (of a signal, negative) and CPU time, s; it is killed where it goes on for too long."""
    until = time.monotonic() + within
    while time.monotonic() < until:
        done, status, used = os.wait4(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime
        time.sleep(0.002)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    raise AssertionError(f"still running {within:g} s after the signal")


def interrupted(function, folder, delay):
    """Exit code, and seconds from Ctrl-C to the end, by the clock and of the CPU; None where it was done before."""
    pid = forked(function, folder)
    time.sleep(delay)
    done, status = os.waitpid(pid, os.WNOHANG)
    if done:
        return os.waitstatus_to_exitcode(status), None
    sent = time.monotonic()
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    before = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    os.kill(pid, signal.SIGINT)
    code, used = ended(pid)
    return code, (time.monotonic() - sent, used - before)


def require(true, *said):
    if not true:
        raise AssertionError(" ".join(map(str, said)))


# -- runs ------------------------------------------------------------------------------------------------------


class Swinging(Controller):
    """A law in continuous time, or sampled, with a state and a report."""

    def __init__(self, period=None):
        self.period = period

    def start(self, plant):
        return np.zeros(1)

    def evaluate(self, t, terms, state):
        return Evaluation(
            self._effort(t, terms, state),
            self._moved(t, terms, state),
            self._report(t, terms, state),
        )

    def _effort(self, t, terms, state):
        return [np.sin(3.0 * t), state[0]]

    def _derivative(self, t, terms, state):
        return np.cos(t) - state

    def _moved(self, t, terms, state):
        return self._derivative(t, terms, state) if self.period is None else self._update(t, terms, state)

    def _update(self, t, terms, state):
        return 0.9 * state + 0.1 * np.cos(t)

    def _report(self, t, terms, state):
        return {"filtered": state[0]}


def runs():
    """Arguments of `simulate` by name: every loop, each about a second."""
    five = plants.five_bar()
    start = five.assemble(left=2.1, right=1.0)
    forty = plants.catalogue["n-four-bar"].start(n=40)
    ball = cmb.Body("ball", 1.0, inertia=(0.1, 0.1, 0.1))
    floor = cmb.PointOnPlane("floor", "ground", "ball")
    guide = cmb.Prismatic("height", "ground", "ball", axis=(0, 0, 1))
    bouncing = cmb.Mechanism("bouncing", [ball], [guide], loops=[floor])
    circle = plants.particle_on_circle()
    path = cmb.Sine(centre=[2.1, 1.0], amplitude=[0.2, 0.1], frequency_hz=0.5)
    tracking = ProjectedInverseDynamics(five, ("left", "right"), path, bandwidth=8.0)
    dt = 0.01
    return {
        "compiled": ((five, None, start), dict(t_end=60.0, output_times=dt)),
        "compiled, long steps": ((forty[0], None, *forty[1:]), dict(t_end=2.0, output_times=dt)),
        "sampled": ((five, Swinging(1e-3), start), dict(t_end=1.0, output_times=dt)),
        "continuous": ((five, Swinging(), start), dict(t_end=1.0, output_times=dt)),
        "tracking": ((five, tracking, start), dict(t_end=1.0, output_times=dt)),
        "functions": ((circle, None, circle.assemble(q2=0.0)), dict(t_end=2.0, output_times=dt)),
        "local": ((five, Swinging(), start), dict(t_end=1.0, output_times=dt, method="radau", rtol=1e-6)),
        "scipy": ((five, None, start), dict(t_end=1.0, output_times=dt, method="scipy-rk45", rtol=1e-6)),
        "formulation": ((five, None, start), dict(t_end=0.5, output_times=dt, formulation="lagrange")),
        "switching": (
            (bouncing, None, [1.0]),
            dict(t_end=3.0, output_times=dt, switches=[cmb.Contact("floor", restitution=0.8)]),
        ),
    }


def interrupts_in_simulate(rng, count, folder):
    """The run is the beginning of the one that was not interrupted, and a KeyboardInterrupt carries it."""
    told, waits = Counter(), []
    cases = []
    for name, (given, options) in list(runs().items())[:count]:
        begin = time.monotonic()
        whole = cmb.simulate(*given, **settings(**options))
        cases.append((name, given, options, whole, time.monotonic() - begin))
    for i in range(count):
        name, given, options, whole, length = cases[i % len(cases)]
        file = folder / "part.nc"
        file.unlink(missing_ok=True)

        def trial(given=given, options=options, file=file):
            try:
                cmb.simulate(*given, **settings(**options))
            except cmb.Interrupted as stopped:
                if stopped.partial is not None:
                    stopped.partial.save(file)
                return 130

        code, wait = interrupted(trial, folder, rng.uniform(0.0, 1.05 * length))
        where = f"trial {i}, {name}:"
        if wait is None or code == 0:
            require(code == 0, where, "exit code", code, (folder / "err").read_text())
            told["done before"] += 1
            continue
        if code == 98 and not file.exists():  # before simulate was called, or after it had returned
            told["outside"] += 1
            continue
        require(code == 130, where, "exit code", code, (folder / "err").read_text())
        waits.append(wait)
        if not file.exists():
            told["before the first step"] += 1
            continue
        part = cmb.load_run(file)
        k = len(part.time) - 1  # the last is where the run was stopped
        for variable in ("q", "v", "u", "energy_balance"):
            same = np.array_equal(part.data[variable].values[:k], whole.data[variable].values[:k], equal_nan=True)
            require(same, where, variable, "differs from the whole run")
        require(k < len(whole.time) and part.max_drift <= 1e-6, where, "drift", part.max_drift)
        told["part" if part.status == cmb.Status.INTERRUPTED else "whole run, while its output was made"] += 1
    return told, waits


# -- commands --------------------------------------------------------------------------------------------------


def commanded(*words):
    """The command line, as a function."""

    def run():
        sys.argv = ["cmbcontrol", *map(str, words)]
        return cli.main()

    return run


def interrupts_in_command(rng, count, folder, words, judge):
    """Exit code 130; what is left is judged."""
    told, waits = Counter(), []
    begin = time.monotonic()
    require(ended(forked(commanded(*words, folder / "whole"), folder), 600.0)[0] == 0, (folder / "err").read_text())
    length = time.monotonic() - begin
    for i in range(count):
        into = folder / f"into{i}"
        code, wait = interrupted(commanded(*words, into), folder, rng.uniform(0.0, length))
        err = (folder / "err").read_text()
        if wait is None or code == 0:
            require(code == 0, "trial", i, "exit code", code, err)
            told["done before"] += 1
            continue
        if code == 98 and "/cmbcontrol/cli/" not in err:  # before the command was called
            told["outside"] += 1
            continue
        require(code == 130, "trial", i, "exit code", code, err)
        require("Traceback" not in err and err.count("\n") <= 2, "trial", i, err)
        require(not list(into.glob(".*")) if into.exists() else True, "trial", i, "leaves", into)
        waits.append(wait)
        told[judge(into, (folder / "out").read_text())] += 1
    return told, waits


def study_left(into, out):
    """Which files there are, all of them whole."""
    require("written to" not in out, "a study that was interrupted tells what a whole one does")
    if not (into / "run.nc").exists():
        return "no run yet"
    run = cmb.load_run(into / "run.nc")
    require(len(run.time) >= 1 and run.max_drift < 1e-9, run)
    return "part of the run" if run.status == cmb.Status.INTERRUPTED else "the run, not all figures"


def experiment_left(into, out):
    """How many parts there are."""
    if (into / "report.md").exists():
        return "all parts, not all figures"
    require("written to" not in out and "(s)" not in out, "a table that is not whole")
    if not (into / "parts.csv").exists():
        return "no part yet"
    with (into / "parts.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    require(len(rows) >= 2 and all(len(row) == len(rows[0]) >= 6 for row in rows), rows)
    return "some parts"


def interrupts_in_study(rng, count, folder):
    """Ctrl-C in ``cmbcontrol study``."""
    words = "study", "five-bar", "--duration", "2", "-o"
    return interrupts_in_command(rng, count, folder, words, study_left)


def interrupts_in_experiment(rng, count, folder):
    """Ctrl-C in ``cmbcontrol experiment``."""
    words = "experiment", "aghili-slider-crank", "--quick", "--out"
    return interrupts_in_command(rng, count, folder, words, experiment_left)


# -- files -----------------------------------------------------------------------------------------------------


@cache
def writers():
    """What writes a file, by the name of the file: functions of the path."""
    plant = plants.five_bar()
    q0 = plant.assemble(left=2.1, right=1.0)
    run = cmb.simulate(plant, q0=q0, t_end=0.2)
    lin = cmb.linearize(plant, cmb.trim(plant, q0), coordinates=("left", "right"))
    parts = Parts()
    parts.keep([{"method": "x" * 5000, "error": 1.0}])
    return {
        "run.nc": run.save,
        "linear.json": lin.save,
        "linear.npz": lin.save,
        "linear.mat": lin.save,
        "table.csv": ResultTable("Cost", ("what", "s"), [("x" * 5000, 1.0)]).to_csv,
        "parts.csv": parts.table.to_csv,
        "small.gif": lambda path: run.animate(path, fps=5),
    }


def kills_while_writing(rng, count, folder):
    """The file holds one of two contents at any time."""
    told, both = Counter(), [bytes([k]) * 300_000 for k in range(2)]
    file = _files.write(folder / "file", both[0])
    for i in range(count):
        ready, begun = os.pipe()

        def trial(begun=begun):
            while True:
                for content in both:
                    _files.write(file, content)
                    os.write(begun, b".")

        begin = time.monotonic()
        pid = forked(trial, folder)
        os.read(ready, 1)
        time.sleep(rng.uniform(0.0, 3.0 * (time.monotonic() - begin)))
        os.kill(pid, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os.close(ready)
        os.close(begun)
        require(code == -signal.SIGKILL, "trial", i, "ended by itself", (folder / "err").read_text())
        found = file.read_bytes()
        require(found in both, "trial", i, "holds neither content")
        told[f"content {found[0]}"] += 1
    told["left beside"] = len(list(folder.glob(".*.part")))
    return told, []


def full_disk(rng, count, folder):
    """A named error, and the old file, whatever is written."""
    told, cases = Counter(), list(writers().items())
    for name, write in cases:
        write(folder / name)
    for i in range(count):
        name, write = cases[i % len(cases)]
        file = folder / name
        before = file.read_bytes()
        limit = rng.randrange(len(before))

        def trial(write=write, file=file, limit=limit):
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            try:
                write(file)
            except cmb.errors.FileError as error:
                return 0 if str(file) in str(error) and "as it was: make room" in str(error) else 97

        code, _ = ended(forked(trial, folder))
        require(code == 0, "trial", i, name, "exit code", code, (folder / "err").read_text())
        require(file.read_bytes() == before, "trial", i, name, "has changed")
        require(not list(folder.glob(".*")), "trial", i, name, "leaves something")
        told[name] += 1
    return told, []


def read_only(rng, count, folder):
    """A named error, and nothing is left; once of each kind of file, since nothing is random."""
    told, cases = Counter(), list(writers().items())
    place = folder / "place"
    place.mkdir()
    os.chmod(folder, 0o755)
    os.chmod(place, 0o555)
    for i, (name, write) in enumerate(cases[:count]):

        def trial(write=write, file=place / name, before=folder / name):
            write(before)  # all that is needed is loaded: fonts, too, which a fork forgets
            if os.geteuid() == 0:  # who may write anywhere
                os.setuid(NOBODY)
            try:
                write(file)
            except cmb.errors.FileError as error:
                return 0 if str(file) in str(error) and "Permission denied. Nothing was written" in str(error) else 97

        code, _ = ended(forked(trial, folder))
        require(code == 0, "trial", i, name, "exit code", code, (folder / "err").read_text())
        require(not list(place.iterdir()), "trial", i, name, "leaves something")
        told[name] += 1
    return told, []


KINDS = {
    "simulate": interrupts_in_simulate,
    "study": interrupts_in_study,
    "experiment": interrupts_in_experiment,
    "kill": kills_while_writing,
    "full-disk": full_disk,
    "read-only": read_only,
}


def main():
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", choices=KINDS, nargs="+")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    for kind in given.kinds:
        with tempfile.TemporaryDirectory() as folder:
            told, waits = KINDS[kind](random.Random(given.seed), given.count, Path(folder))
        found = {"kind": kind, "trials": given.count, "found": dict(told)}
        if waits:
            clock, cpu = np.array(waits).T
            found |= {"stops": len(waits), "waits (s), longest": clock.max(), "mean": clock.mean(), "CPU": cpu.max()}
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
