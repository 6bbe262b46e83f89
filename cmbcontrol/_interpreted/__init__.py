"""Kernels that first run as Python: a few calls take less time so than their compilation.

The command line asks for it. A program of the user always gets compiled kernels: those of Python differ in the last
digit, since numpy has functions of its own.
"""

from .patience import begin_interpreted

__all__ = ["begin_interpreted"]
