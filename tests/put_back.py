"""Faults that were really found and mended here, put back one by one: the test that catches each must fail.

    python -m tests.put_back [names...]    put these faults back, or all, and run their tests
    python -m tests.put_back --check       only see whether each fault still fits the sources
    python -m tests.put_back --sound       run the tests of all without a fault, which must pass

A fault is a piece of a file as it is now, and what stands in its place in a copy of the tree. There its one test runs
and must fail; a test that passes, is skipped or cannot be collected has caught nothing.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
_LEFT_OUT = ("*.pyc", ".*_cache", ".git", ".hypothesis", ".venv", "_build", "build", "dist", "node_modules", "study-*")
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")  # as tests/viewer looks for them
_FAILED = 1  # exit code of pytest where a test has failed; others are of runs without tests
_LONGEST = 1200.0  # s: a run that takes longer hangs, and has caught nothing


class Fault(NamedTuple):
    """A fault of the past.

    Attributes
    ----------
    name : str
    why : str
        What was wrong then.
    file : str
    old, new : str
        A piece of the file, which is there once, and the faulty one.
    test : str
        A test that catches it, or a file of tests.
    mode : str
        How it must be run, of the words "slow" (it is marked so), "interpreted" (kernels as Python), "browser" (it
        needs a Chromium).
    """

    name: str
    why: str
    file: str
    old: str
    new: str
    test: str
    mode: str = ""


FAULTS = (
    # kernels
    Fault(
        "rank-of-rows",
        "row sizes were not updated where a reflection leaves a row as it is: wrong ranks, wrong accelerations",
        "cmbcontrol/kernels/split.py",
        "            if s != 0.0:  # else the reflection leaves the row as it is; its head counts all the same\n",
        "            if s == 0.0:\n                i = after[i]\n                continue\n            if s != 0.0:\n",
        "tests/robustness/test_factor_rows.py::test_ranks_of_integer_matrices",
    ),
    Fault(
        "closeness-of-other-rows",
        "closeness of generated code was compared with that of pivoted rows: a step of length zero",
        "cmbcontrol/kernels/passages.py",
        "near < 0.5 * min(now, first)",
        "near < 0.5 * now",
        "tests/robustness/test_random_machines.py::test_machines_that_found_something",
        "slow",
    ),
    Fault(
        "look-beyond-the-last",
        "the last look of a search read the one after it, which compiled code does without a word",
        "cmbcontrol/kernels/passages.py",
        "(i == looks or c <= near[i + 1])",
        "(c <= near[i + 1] or i == looks)",
        "tests/whole/test_interpreted.py::test_steps_of_ones_own_through_a_singular_pose",
        "interpreted",
    ),
    Fault(
        "cost-beyond-the-last",
        "a list that moved up read beyond its end where it was full; only checked indices show it",
        "cmbcontrol/kernels/conic.py",
        "            for k in range(out, q - 1):\n                cost[k] = cost[k + 1]\n",
        "            for k in range(out, q):\n                cost[k] = cost[k + 1]\n",
        "tests/kernels/test_conic.py::test_polyhedra_of_all_sizes[1e-06]",
        "interpreted",
    ),
    Fault(
        "sums-of-long-runs",
        "sums of many short steps lost the digits that a state cannot hold",
        "cmbcontrol/kernels/runge_kutta.py",
        "        low_out[i] = rise - (out[i] - x[i]) if abs(x[i]) >= abs(rise) else x[i] - (out[i] - rise)\n",
        "        low_out[i] = 0.0\n",
        "tests/kernels/test_runge_kutta.py::test_the_digits_that_a_state_cannot_hold_are_kept",
    ),
    Fault(
        "damaged-kernels",
        "a damaged file of a compiled kernel was a traceback at every start",
        "cmbcontrol/_jit.py",
        "            with contextlib.suppress(Exception):\n                found, needs,",
        "            if data:\n                found, needs,",
        "tests/test_jit.py::test_a_damaged_file_is_compiled_again",
    ),
    # generated code
    Fault(
        "equal-numbers",
        "an == of numbers in a law was always false in its generated code",
        "cmbcontrol/trace/graph.py",
        "        return not self < other and not self > other\n",
        "        return False\n",
        "tests/controllers/test_traced.py::test_a_law_that_compares_numbers",
    ),
    Fault(
        "lever-arms",
        "lever arms that are zero but for rounding had no derivatives: motors at dead centres",
        "cmbcontrol/trace/tangents.py",
        "    at.model.unit_lengths = -np.ones(at.nv)\n",
        "",
        "tests/dynamics/test_parameter_derivatives.py::test_a_cylinder_at_its_dead_centre",
    ),
    Fault(
        "code-of-old-constraints",
        "generated code of a sampled law went on with the constraints that a run began with",
        "cmbcontrol/sim/control.py",
        "            if told is self._code_of:\n                return\n",
        "            if self._code_of is not None:\n                return\n",
        "tests/model/test_end_stops.py::test_a_sampled_law_follows_the_constraints_that_hold",
    ),
    # machines and their files
    Fault(
        "axes-near-minus-z",
        "axes near -z gave rotations that were not orthogonal",
        "cmbcontrol/model/elements/frames.py",
        "    if z >= 0.0:\n        f = 1.0 / (1.0 + z)\n",
        "    if z > -1.0:\n        f = 1.0 / (1.0 + z)\n",
        "tests/model/test_mechanism.py::test_a_four_bar_turns_about_any_axis_near_minus_z",
    ),
    Fault(
        "light-parts",
        "light parts of heavy machines were refused as having no inertia",
        "cmbcontrol/model/mechanism.py",
        "            weak, least = int(np.argmin(own / np.maximum(rounding, 1e-300))), 0.0\n",
        (
            "            rounding = np.full_like(own, 1e-9 * own.max())\n"
            "            weak, least = int(np.argmin(own)), 0.0\n"
        ),
        "tests/robustness/test_units.py::test_a_machine_is_told_the_same_in_all_units",
    ),
    Fault(
        "axes-reversed",
        "welds and cut joints closed with their axes reversed",
        "cmbcontrol/model/closing.py",
        "        return turns(self.plant)\n",
        "        return []\n",
        "tests/model/test_closing.py::test_a_cut_joint_with_its_axis_reversed_is_no_assembly",
    ),
    Fault(
        "straight-machines",
        "regular machines were refused as locked where terms of second order vanish",
        "cmbcontrol/dynamics/singular.py",
        "    size = max(float(np.abs(B * plant.row_scale).max(initial=0.0)), _STRAIGHT * turning**2 * plant.size)\n",
        "    size = float(np.abs(B * plant.row_scale).max(initial=0.0))\n",
        "tests/robustness/test_random_machines.py::test_random_machines_of_this_commit",
        "slow",
    ),
    Fault(
        "inertia-by-rounding",
        "robots were refused for inertia that is off by the rounding of four digits",
        "cmbcontrol/formats/links.py",
        "_ROUNDED = 1.5e-3\n",
        "_ROUNDED = 1e-12\n",
        "tests/formats/test_urdf.py::test_an_inertia_that_is_off_by_rounding_is_repaired",
    ),
    Fault(
        "numbers-beyond",
        "numbers beyond those of any machine were told by numpy, from inside, and not by the reader of the file",
        "cmbcontrol/formats/links.py",
        "    if abs(x) > _LARGEST:\n",
        "    if abs(x) == np.inf:\n",
        "tests/formats/test_sdf.py::test_some_spoiled_files",
    ),
    # runs
    Fault(
        "stepper-after-failure",
        "a stepper could not go on after the function of an event had failed once",
        "cmbcontrol/sim/time_loop.py",
        "        stopping, self._stopping, self._refused, self._raised = self._stopping, False, None, None",
        "        stopping = self._stopping",
        "tests/sim/test_stepper.py::test_an_event_that_fails_once_does_not_end_the_steps",
    ),
    Fault(
        "loads-unchecked",
        "six Newton steps were taken for the loads of friction, which then drove where the steps cycle",
        "cmbcontrol/kernels/friction.py",
        "    return missing <= UNSOLVED and all_positive(pivot)\n",
        "    return all_positive(pivot)\n",
        "tests/model/elements/test_load_friction.py::TestParadox::test_the_floor_that_holds_a_rod_both_ways[kernels]",
    ),
    Fault(
        "reactions-of-cut-joints",
        "what a cut joint carries was told without its motor and its friction",
        "cmbcontrol/dynamics/reactions.py",
        "        self.acting = {name: acting_in(plant, name) for name in self.names}\n",
        "        self.acting = {name: ([], []) for name in self.names}\n",
        "tests/dynamics/test_reactions.py::test_the_motor_of_a_hinge_is_in_its_moment_whichever_joint_is_cut",
    ),
    Fault(
        "rank-nearby-once",
        "flat chains of five bars and more were looked at from one place, from which most ways out are singular, too",
        "cmbcontrol/model/generic_rank.py",
        "failed < (_FAILURES if seed > failed else 1)",
        "seed < 1",
        "tests/sim/test_singular_start.py::test_flat_chains_of_many_loops_fall_as_one_bar",
    ),
    Fault(
        "work-of-motors",
        "work of motors that bear exactly what an element does was not under step control",
        "cmbcontrol/kernels/time_loop.py",
        "        for work in range(moving, moving + WORKS):\n",
        "        for work in (moving + 1, moving + 3):\n",
        "tests/model/elements/test_force_elements.py::test_work_at_corners_that_the_motion_does_not_show[element]",
    ),
    Fault(
        "work-of-dampers",
        "the work that dampers with kinks take was not under step control",
        "cmbcontrol/sim/start.py",
        "        work_scale=_work_scale(plant),\n",
        "        work_scale=0.0,\n",
        "tests/model/elements/test_force_elements.py::test_energy_balance_with_all_of_them[dop853]",
    ),
    Fault(
        "branch-of-nothing",
        "at a singular start, branch= was ignored where no first effort moves anything",
        "cmbcontrol/sim/singular_start.py",
        "    if branch is not None and not leads_on(plant, v, run.t_end, rate[nq:n]):\n",
        "    if branch is not None and not rate.size:\n",
        "tests/sim/test_branch_selection.py::test_a_branch_that_nothing_moves_along_is_refused",
    ),
    Fault(
        "interrupt-between-kernels",
        "Ctrl-C between two kernels could end the process: simulate held it back in the loop alone",
        "cmbcontrol/sim/simulate.py",
        "            with held():\n                try:\n                    call =",
        "            if parameters:\n                try:\n                    call =",
        "tests/robustness/test_faults.py::test_none_comes_between_kernels",
    ),
    Fault(
        "half-written-files",
        "a kill or a full disk during a save destroyed the file that was there",
        "cmbcontrol/_files.py",
        "    beside = target if no_file else target.with_name(",
        "    beside = target if target else target.with_name(",
        "tests/robustness/test_faults.py::test_a_file_is_whole_or_as_it_was",
    ),
    # linear models, laws and their design
    Fault(
        "rolling-rows",
        "linear models in independent coordinates lost positions of machines that roll, without a word",
        "cmbcontrol/linear/statics.py",
        "    rolling = plant.rolling_rows(q)\n    if rolling:\n",
        "    rolling = ()\n    if rolling:\n",
        "tests/model/test_consistency.py::test_what_would_lose_states_is_refused",
    ),
    Fault(
        "whole-turns",
        "phases of Bode diagrams were off by whole turns",
        "cmbcontrol/linear/channels.py",
        "        quarters = quarters if -3 <= quarters <= 1 else -(-quarters % 4)\n",
        "        quarters = quarters if -3 <= quarters <= 1 else quarters - 4\n",
        "tests/linear/test_channels.py::test_integrators",
    ),
    Fault(
        "delayed-effort",
        "until the first delayed effort arrived none acted, where that of the first sample should",
        "cmbcontrol/sim/control.py",
        "        initial = np.full(plant.nu, np.nan) if self._initial is None else self._initial\n",
        "        initial = np.zeros(plant.nu) if self._initial is None else self._initial\n",
        "tests/sim/test_control.py::test_until_the_first_effort_arrives_the_first_one_acts",
    ),
    Fault(
        "costs-of-tasks",
        "costs of errors failed for laws on tasks, whose names are no joints",
        "cmbcontrol/design/costs.py",
        '    if "error" in run.data:\n        return run.error.values\n',
        "",
        "tests/design/test_costs.py::test_costs_of_a_law_on_a_task",
    ),
    # studies
    Fault(
        "names-with-places",
        "identities of cases held places in memory, so a study in a folder was another one in the next process",
        "cmbcontrol/studies/case.py",
        "        law = identity(self.controller) if callable(self.controller) else repr(self.controller)\n",
        "        law = repr(self.controller)\n",
        "tests/studies/test_study.py::test_identity_is_the_same_in_every_process",
    ),
    Fault(
        "two-in-a-folder",
        "two studies in one process wrote into one folder",
        "cmbcontrol/studies/folder.py",
        "            lock.acquire(blocking=False)\n",
        "            pass\n",
        "tests/studies/test_study.py::test_two_studies_do_not_write_into_one_folder",
    ),
    Fault(
        "lost-workers",
        "a run that killed its worker ended the whole study, where it should be a row of it",
        "cmbcontrol/studies/execution.py",
        "        except BrokenProcessPool:\n",
        "        except ZeroDivisionError:\n",
        "tests/studies/test_study.py::test_a_run_that_kills_its_worker_is_a_row",
        "slow",
    ),
    # figures, pages and documentation
    Fault(
        "limits-without-unit",
        "limits of motors were written without a unit, and large ones as powers of ten",
        "cmbcontrol/plot/time.py",
        "{name} (limit {in_unit(limit, panel.unit)})",
        "{name} (limit {limit:.4g})",
        "tests/plot/test_time.py::test_limits_are_written_as_one_reads_them",
    ),
    Fault(
        "one-on-another",
        "of constants that differ by rounding one hid the other's colour in figures",
        "cmbcontrol/plot/style.py",
        "    hidden = max(_HIDDEN * (high - low), CONSTANT * max(abs(low), abs(high)))",
        "    hidden = _HIDDEN * (high - low)",
        "tests/plot/test_style.py::test_constants_that_differ_by_rounding_take_turns",
    ),
    Fault(
        "figures-stay",
        "figures stayed with pyplot where nothing shows them",
        "cmbcontrol/plot/figure.py",
        "    if not _appears():\n",
        "    if _unregistered.get():\n",
        "tests/plot/test_figure.py::test_figures_leave_nothing_behind",
        "slow",
    ),
    Fault(
        "errors-not-shown",
        "a report took errors of programming for parts that cannot be shown",
        "cmbcontrol/reports/page.py",
        "        except (CmbError, ValueError) as error:  # ValueError: linear algebra that fails\n",
        "        except Exception as error:\n",
        "tests/reports/test_page.py::test_programming_errors_are_not_swallowed",
    ),
    Fault(
        "pages-too-wide",
        "tables of a report made its page scroll sideways on a phone",
        "cmbcontrol/reports/page.html",
        ".wide { overflow-x: auto; }\n",
        "",
        "tests/reports/test_run.py::test_in_a_browser_without_a_network[390-five-bar]",
        "slow browser",
    ),
    Fault(
        "old-names-in-docs",
        "a page of the documentation called functions by their old names",
        "docs/plants.md",
        "q = configuration(plant, position=(0.0, 0.1, 0.05))",
        "q = pose(plant, position=(0.0, 0.1, 0.05))",
        "tests/whole/test_docs.py::test_page_runs[plants.md]",
        "slow",
    ),
    # commands and exports
    Fault(
        "interrupt-as-another-error",
        "Ctrl-C that arrived as an error of a library ended a command with exit code 1",
        "cmbcontrol/cli/common.py",
        "        if interrupted():\n",
        "        if interrupted() and isinstance(error, KeyboardInterrupt):\n",
        "tests/robustness/test_faults.py::test_an_interrupt_that_arrives_as_another_error_is_one",
    ),
    Fault(
        "first-measured-force",
        "FMUs took the force under zero efforts for measured at the first sample: a quarter off",
        "cmbcontrol/fmu/runtime/machine.c",
        "s->samples == 0.0 ? model_first_law : model_law",
        "s->samples < 0.0 ? model_first_law : model_law",
        "tests/fmu/test_law.py::test_laws_that_measure_the_constraint_force[True-3.0]",
        "slow",
    ),
)


def unfit(fault: Fault, root: Path = ROOT) -> str:
    """Why a fault does not fit the sources; empty where it does."""
    file, test = root / fault.file, root / fault.test.partition("::")[0]
    if not file.is_file():
        return f"there is no file {fault.file}"
    if (count := file.read_text(encoding="utf-8").count(fault.old)) != 1:
        return f"its text is in {fault.file} {count} times"
    if fault.old == fault.new:
        return "it changes nothing"
    return "" if test.is_file() else f"there is no file {test.relative_to(root)}"


def put_back(fault: Fault, tree: Path) -> tuple[bool, str]:
    """Whether the test of a fault fails with it in this copy of the tree, and what the run has said."""
    file = tree / fault.file
    whole = file.read_text(encoding="utf-8")
    try:
        file.write_text(whole.replace(fault.old, fault.new), encoding="utf-8")
        code, said = run(fault, tree)
    finally:
        file.write_text(whole, encoding="utf-8")
    return code == _FAILED, said


def passes(fault: Fault, tree: Path) -> tuple[bool, str]:
    """Whether the test of a fault passes in a tree without it, and is not skipped."""
    code, said = run(fault, tree)
    return code == 0 and " passed" in said, said


def run(fault: Fault, tree: Path) -> tuple[int | None, str]:
    """Run the test of a fault in a tree; the exit code of pytest, None where it hangs, and what it has said."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--tb=short", fault.test]
    # a file that is edited twice within a second must not be taken for its bytecode of before
    environment = os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    environment |= {"NUMBA_CACHE_DIR": str(tree.parent / "kernels"), "CMB_SEED": "1"}  # the same seeds each time
    if "slow" in fault.mode:
        command += ["-m", "slow or not slow"]
    if "interpreted" in fault.mode:
        environment["NUMBA_DISABLE_JIT"] = "1"
    with tempfile.TemporaryFile("w+", encoding="utf-8") as told:  # no pipe, which processes that are left would hold
        where = {"cwd": tree, "env": environment, "stdout": told, "stderr": subprocess.STDOUT}
        try:
            code = subprocess.run(command, timeout=_LONGEST, check=False, **where).returncode
        except subprocess.TimeoutExpired:
            code = None
        told.seek(0)
        return code, told.read()


def check() -> int:
    """How many faults do not fit, each told."""
    wrong = [(fault.name, reason) for fault in FAULTS if (reason := unfit(fault))]
    names = [fault.name for fault in FAULTS]
    wrong += [(name, "two faults have this name") for name in sorted({n for n in names if names.count(n) > 1})]
    for name, reason in wrong:
        print(f"{name}: {reason}")
    return len(wrong)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.put_back", description="Put faults of the past back.")
    parser.add_argument("names", nargs="*", help="faults, all unless given")
    parser.add_argument("--check", action="store_true", help="only see whether the faults fit the sources")
    parser.add_argument("--sound", action="store_true", help="run the tests without the faults: they must pass")
    parser.add_argument("--stop", action="store_true", help="stop at the first one that is not caught")
    given = parser.parse_args(arguments)
    known = {fault.name: fault for fault in FAULTS}
    for name in given.names:
        if name not in known:
            parser.error(f"there is no fault {name!r}; there are {', '.join(known)}")
    if check():
        return 1
    if given.check:
        print(f"{len(FAULTS)} faults fit the sources")
        return 0
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "tree")
        shutil.copytree(ROOT, tree, symlinks=True, ignore=shutil.ignore_patterns(*_LEFT_OUT))
        print("name | file | caught by | seconds", flush=True)
        for name in given.names or known:
            fault = known[name]
            if "browser" in fault.mode and not any(map(shutil.which, _BROWSERS)):
                print(f"{name} | {fault.file} | not run: no Chromium is installed | 0", flush=True)
                continue
            begin = time.monotonic()
            good, said = passes(fault, tree) if given.sound else put_back(fault, tree)
            by = fault.test if good else f"{'FAILS WITHOUT IT' if given.sound else 'NOT CAUGHT'}: {fault.test}"
            print(f"{name} | {fault.file} | {by} | {time.monotonic() - begin:.0f}", flush=True)
            if not good:
                missed += 1
                print("\n".join(f"    {line}" for line in said.splitlines()[-12:]), flush=True)
                if given.stop:
                    break
    right = "all tests pass without the faults" if given.sound else "all that were put back are caught"
    print(f"{missed} are not as they should be" if missed else right)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
