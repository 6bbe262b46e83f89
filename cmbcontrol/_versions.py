"""Versions of the software with which results were made."""

from __future__ import annotations

import platform
import sys
from datetime import UTC, datetime
from functools import cache

__all__ = ["now", "version", "versions"]


def version() -> str:
    """Version of this package."""
    return sys.modules[__name__.partition(".")[0]].__version__


@cache
def versions() -> dict[str, str]:
    """Versions of this package and of what its numbers depend on, and the platform.

    Examples
    --------
    >>> list(versions())
    ['cmbcontrol', 'python', 'numpy', 'scipy', 'numba', 'platform']
    """
    found = {name: _version(name) for name in ("cmbcontrol", "python", "numpy", "scipy", "numba")}
    return found | {"platform": f"{platform.system()} {platform.machine()}"}


def _version(name: str) -> str:
    if name == "python":
        return platform.python_version()
    if name == "cmbcontrol":
        return version()
    from importlib import metadata  # which takes as long to import as all that a help needs

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:  # installed without its description
        return "unknown"


def now() -> str:
    """Present time, UTC, to the second, in ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")
