"""Measurements against other tools; ``python -m benchmarks`` prints them.

Linear algebra runs on one thread, for all tools alike: at these sizes more threads gain nothing, and on a busy
machine they wait for each other (a hundredfold for an SVD of 80 rows). It must be said before numpy is loaded.
"""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
