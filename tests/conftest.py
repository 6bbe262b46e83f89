"""What holds for the whole run of the suite."""

import os

import pytest

# Each worker of the suite has one core. Small matrices wait for threads of BLAS where cores are busy, ten times as long
# as they are worked on. Before numpy is imported.
for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Workers get the tests of a file together, where nothing else is asked for: what they share is made once."""
    if config.option.dist == "load":  # that of -n alone
        from xdist.scheduler import WorkStealingScheduling

        return WorkStealingScheduling(config, log)
    return None


def pytest_collection_modifyitems(items):
    """Tests marked `last` look back on the whole run."""
    items.sort(key=lambda item: item.get_closest_marker("last") is not None)
