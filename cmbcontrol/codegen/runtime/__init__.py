"""The C that is the same for all machines: what contacts and end stops do in a step."""

from __future__ import annotations

from importlib import resources

__all__ = ["text"]


def text(name: str, prefix: str) -> str:
    """A file, with the names of a machine: ``machine_`` and ``MACHINE_`` stand for its prefix.

    Examples
    --------
    >>> "static int gripper_contact_step_body(" in text("contacts.c", "gripper")
    True
    """
    found = (resources.files(__name__) / name).read_text(encoding="utf-8")
    return found.replace("machine_", f"{prefix}_").replace("MACHINE_", f"{prefix.upper()}_").rstrip("\n")
