"""What holds for the whole run of the suite."""

import os

# Each worker of the suite has one core. Small matrices wait for threads of BLAS where cores are busy, ten times as long
# as they are worked on. Before numpy is imported.
for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")


def pytest_collection_modifyitems(items):
    """Tests marked `last` look back on the whole run."""
    items.sort(key=lambda item: item.get_closest_marker("last") is not None)
