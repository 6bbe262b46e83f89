"""Machines as FMUs of the FMI standard, and FMUs as blocks of a chain."""

from .block import FmuBlock as FmuBlock
from .export import FmuExport as FmuExport
from .export import export as export

__all__ = ["FmuBlock", "FmuExport", "export"]
