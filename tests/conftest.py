"""What holds for the whole run of the suite, and fixtures that several folders of it share."""

import os
import sys

import pytest

# Each worker of the suite has one core. Small matrices wait for threads of BLAS where cores are busy, ten times as long
# as they are worked on. Before numpy is imported.
for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

pytest.register_assert_rewrite("tests.fixtures")

# What the extra `dev` has and the extra `test` has not: the outside judges.
JUDGES = ("mujoco", "pinocchio", "exudyn", "ruckig", "sympy", "playwright", "nbclient", "ipykernel", "viser", "mypy")


def pytest_addoption(parser):
    parser.addoption("--smoke", action="store_true", help="one quick test of each file")
    parser.addoption("--bare", action="store_true", help="as where the packages of the extra `dev` are not installed")


def pytest_configure(config):
    if config.option.bare:
        sys.modules |= dict.fromkeys(JUDGES)


def pytest_report_header(config):
    return f"random tests: seeds of {seeds.SEED:07x}, {seeds.TIMES} times (CMB_SEED, CMB_TIMES)"


import cmbcontrol as cmb  # noqa: E402
from cmbcontrol import plants  # noqa: E402
from cmbcontrol._jit import kernels  # noqa: E402
from tests import seeds  # noqa: E402
from tests.fixtures import crank_law  # noqa: E402

# Folders whose tests are left out where nothing is compiled: they ask for whole runs; kernels have tests of their own.
COMPILED = ("cli", "codegen", "design", "fmu", "formats", "papers", "plot", "reports", "scene", "studies", "viewer")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Workers get the tests of a file together, where nothing else is asked for: what they share is made once."""
    if config.option.dist == "load":  # that of -n alone
        from xdist.scheduler import WorkStealingScheduling

        return WorkStealingScheduling(config, log)
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Of tests marked `first`, all cases but so many are slow; tests marked `last` look back on the whole run.

    Those of some folders are about files, processes and generated code: kernels as Python tell nothing new there.
    """
    seen: dict[str, int] = {}
    for item in items:
        if item.path.parent.name in COMPILED:
            item.add_marker(pytest.mark.nojit_slow)
        marker = item.get_closest_marker("first")
        if marker is not None:
            name = item.nodeid.partition("[")[0]
            seen[name] = seen.get(name, 0) + 1
            if seen[name] > marker.args[0]:
                item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("rotates"):
            item.add_marker(pytest.mark.slow)
    if config.option.smoke:
        items[:] = smoke(items)
    items.sort(key=lambda item: item.get_closest_marker("last") is not None)


def smoke(items):
    """Of each file the tests marked `smoke`, or else the first quick one."""
    files: dict[str, list] = {}
    for item in items:
        if not item.get_closest_marker("slow"):
            files.setdefault(item.nodeid.partition("::")[0], []).append(item)
    for file, found in files.items():
        if file.startswith("tests"):  # the modules' own examples are left out
            marked = [item for item in found if item.get_closest_marker("smoke")]
            yield from marked or found[:1]


def pytest_collection_finish(session):
    """Tests build machines, collecting does not: every worker would compile at once, and so would who only looks."""
    ran = [kernel.__name__ for kernel in kernels() if getattr(kernel, "overloads", None)]
    if ran:
        raise pytest.UsageError(f"collecting the tests ran compiled kernels: {', '.join(ran[:5])}")


@pytest.fixture(scope="module")
def plant():
    """The five-bar, where a test needs some plant."""
    return plants.five_bar()


@pytest.fixture(scope="module")
def terms(plant):
    """Of the five-bar, moving."""
    q = plant.assemble(left=2.1, right=1.0)
    return plant.terms(q, plant.project_velocity(q, [0.3, 0.1, 0.2, 0.5]), 0.3)


@pytest.fixture(scope="module")
def lin(plant):
    """The five-bar to first order about a configuration that its motors hold."""
    point = cmb.trim(plant, plant.assemble(left=2.1, right=1.0))
    return cmb.linearize(plant, point, coordinates=("left", "right"))


@pytest.fixture(scope="module")
def free_five_bar():
    """The five-bar, a start, and half a second of its free motion."""
    plant = plants.five_bar()
    q0 = plant.assemble(left=2.1, right=1.0)
    return plant, q0, cmb.simulate(plant, q0=q0, t_end=0.5)


@pytest.fixture(scope="module")
def passage():
    """The slider-crank, driven through q1 = pi/2 by its crank alone."""
    plant = plants.slider_crank()
    return plant, cmb.simulate(plant, crank_law(plant), [0.6, -1.2], t_end=2.5)
