"""C for the controller's own computer: functions of a machine as files of C99, with a header and a self-test."""

from .export import Export as Export
from .export import export as export

__all__ = ["Export", "export"]
