"""C files that are the same for all machines: the solution of contacts and end stops in a step."""

from __future__ import annotations

from importlib import resources

__all__ = ["text"]


def text(name: str, prefix: str) -> str:
    """Text of a C file for a machine: ``machine_`` and ``MACHINE_`` become its prefix.

    Examples
    --------
    >>> "static int gripper_contact_step_body(" in text("contacts.c", "gripper")
    True
    """
    found = (resources.files(__name__) / name).read_text(encoding="utf-8")
    return found.replace("machine_", f"{prefix}_").replace("MACHINE_", f"{prefix.upper()}_").rstrip("\n")
