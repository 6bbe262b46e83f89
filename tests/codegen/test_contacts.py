"""Steps with contacts, end stops and dry friction in C, against runs with exact events and against closed forms."""

import ctypes
from types import SimpleNamespace

import numpy as np
import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.plants.biped import SOLES, stand


class Stepping:
    """Steps of a compiled machine, with all that they tell."""

    def __init__(self, found):
        self.found, self.entry = found, found.entries["contact_step"]
        self.sizes = {a.name: a.size for a in (*self.entry.inputs, *self.entry.outputs)}
        self.door = getattr(found.library, f"{found.prefix}_contact_step")

    def run(self, q, v, dt, count, u=None):
        """Trajectories, and the status of each step; effort is a constant, or a function of (t, q, v)."""
        arrays = {name: np.zeros(n) for name, n in self.sizes.items()}
        arrays["q"][:], arrays["v"][:], arrays["dt"][:] = q, v, dt
        given = [a.name for a in (*self.entry.inputs, *self.entry.outputs) if a.size]
        pointers = [self.found.p.ctypes.data, *(arrays[name].ctypes.data for name in given)]
        pointers = [ctypes.c_void_p(x) for x in pointers]
        told = ("q_next", "v_next", "push_next", "gap", "report")
        rows = {name: np.empty((count, arrays[name].size)) for name in told}
        status = np.empty(count, int)
        for k in range(count):
            if u is not None:
                arrays["u"][:] = u(k * dt, arrays["q"], arrays["v"]) if callable(u) else u
            status[k] = self.door(*pointers)
            for name, row in rows.items():
                row[k] = arrays[name]
            if np.isnan(arrays["q_next"]).any():
                break
            for name in ("q", "v", "push"):
                arrays[name][:] = arrays[f"{name}_next"]
        return SimpleNamespace(q=rows["q_next"][: k + 1], v=rows["v_next"][: k + 1], push=rows["push_next"][: k + 1],
                               gap=rows["gap"][: k + 1], status=status[: k + 1],
                               **dict(zip(("sweeps", "residual", "corrections", "open", "work"),
                                          rows["report"][: k + 1].T, strict=True)))  # fmt: skip

