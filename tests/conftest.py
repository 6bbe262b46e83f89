"""What holds for the whole run of the suite, and fixtures that several folders of it share."""

import os

import pytest

# Each worker of the suite has one core. Small matrices wait for threads of BLAS where cores are busy, ten times as long
# as they are worked on. Before numpy is imported.
for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

pytest.register_assert_rewrite("tests.fixtures")

import cmbcontrol as cmb  # noqa: E402
from cmbcontrol import plants  # noqa: E402
from tests.fixtures import crank_law  # noqa: E402

# Folders whose tests are left out where nothing is compiled: they ask for whole runs; kernels have tests of their own.
COMPILED = ("cli", "codegen", "design", "fmu", "formats", "papers", "plot", "report", "scene", "studies", "view")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Workers get the tests of a file together, where nothing else is asked for: what they share is made once."""
    if config.option.dist == "load":  # that of -n alone
        from xdist.scheduler import WorkStealingScheduling

        return WorkStealingScheduling(config, log)
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
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
    items.sort(key=lambda item: item.get_closest_marker("last") is not None)


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
