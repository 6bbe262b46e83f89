"""C files that are the same for all machines: least squares, independent coordinates, and the two versions of FMI."""

from __future__ import annotations

from importlib import resources

__all__ = ["texts"]


def texts(version: str) -> dict[str, str]:
    """Texts of the files by name, in the order in which they are included.

    Parameters
    ----------
    version : {"3.0", "2.0"}
        Version of FMI.

    Examples
    --------
    >>> list(texts("3.0"))
    ['linear.c', 'machine.c', 'interface.c', 'fmi3.c']
    """
    names = ("linear.c", "machine.c", "interface.c", f"fmi{version[0]}.c")
    folder = resources.files(__name__)
    return {name: (folder / name).read_text(encoding="utf-8") for name in names}
