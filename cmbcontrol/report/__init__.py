"""Reports on a run or a study: one page, in a file that needs nothing else."""

from .run import report_run as report_run
from .study import report_study as report_study

__all__ = ["report_run", "report_study"]
