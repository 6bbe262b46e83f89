"""Structured arrays that describe a machine to the kernels: one record for each link, row, spring, drive or load."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import bundle

__all__ = [
    "CYLINDRICAL",
    "DISSIPATED",
    "DRIVE_DTYPE",
    "ELEMENT_DTYPE",
    "FIXED",
    "FORMULA_DTYPE",
    "FREE",
    "HELICAL",
    "LINK_DTYPE",
    "LOADED",
    "LOADS",
    "LOAD_DTYPE",
    "MEASURES",
    "MOTIONS",
    "MOTORS",
    "PLAIN",
    "PLANAR",
    "PRISMATIC",
    "RESTING",
    "REVOLUTE",
    "ROW_ALIGN",
    "ROW_COUPLING",
    "ROW_DISTANCE",
    "ROW_DTYPE",
    "ROW_FORMULA",
    "ROW_OFFSET",
    "ROW_SCREW",
    "SPHERICAL",
    "SPRING_DTYPE",
    "SPRING_JOINT",
    "SPRING_POINT",
    "WORKS",
    "Model",
]

# Joint kinds. The motion of a one-axis joint is about or along z of its frame.
FIXED, REVOLUTE, PRISMATIC, HELICAL, CYLINDRICAL, PLANAR, SPHERICAL, FREE = range(8)

# Kinds of constraint rows; see `constraint_rows.row_wrench`.
ROW_OFFSET, ROW_ALIGN, ROW_DISTANCE, ROW_SCREW, ROW_COUPLING, ROW_FORMULA = range(6)

SPRING_JOINT, SPRING_POINT = range(2)

# A link is a moving body with the joint that carries it. Links stand in topological order.
LINK_DTYPE = np.dtype(
    [
        ("kind", np.int64),
        ("parent", np.int64),  # -1 is the ground
        ("iq", np.int64),  # first position coordinate
        ("nq", np.int64),
        ("iv", np.int64),  # first velocity coordinate
        ("nv", np.int64),
        ("R", np.float64, (3, 3)),  # joint frame in the parent link's frame
        ("p", np.float64, (3,)),
        ("pitch", np.float64),  # helical joints, metres per radian
        ("mass", np.float64),
        ("com", np.float64, (3,)),  # in the link's frame
        ("inertia", np.float64, (3, 3)),  # about the centre of mass, in the link's frame
    ],
    align=True,
)

# A row constrains link b relative to link a: a direction and a point fixed on each of them.
ROW_DTYPE = np.dtype(
    [
        ("kind", np.int64),
        ("a", np.int64),
        ("b", np.int64),
        ("u", np.float64, (3,)),  # direction on link a
        ("x", np.float64, (3,)),  # second direction on link a (screw rows: where the angle is zero)
        ("pa", np.float64, (3,)),  # point on link a
        ("w", np.float64, (3,)),  # direction on link b
        ("pb", np.float64, (3,)),  # point on link b
        ("value", np.float64),  # length of a distance row, pitch of a screw row, offset of a coupling
        ("coupling", np.int64),  # which line of the coupling matrices
        ("formula", np.int64),  # which formula of measures it is; -1 is none
        ("level", np.int64),  # 0 binds positions, 1 velocities only
        ("target", np.int64),  # which line of the targets, of a prescribed motion; -1 is none
    ],
    align=True,
)

SPRING_DTYPE = np.dtype(
    [
        ("kind", np.int64),
        ("a", np.int64),  # link (point springs)
        ("b", np.int64),
        ("iq", np.int64),  # coordinate (joint springs)
        ("iv", np.int64),
        ("pa", np.float64, (3,)),
        ("pb", np.float64, (3,)),
        ("stiffness", np.float64),
        ("damping", np.float64),
        ("rest", np.float64),
    ],
    align=True,
)

# Measures that an element or a formula has at most: those of two frames, three offsets and nine cosines.
MEASURES = 12

# A force element resists some measures, which are rows as those of constraints: positions z, rates dz/dt. Sections of
# the tape compute its energy, its forces and their slopes; see `force_elements`. Of one that is LOADED these are the
# forces of a unit of its load, which is the push (side 1 or -1) or the size (0) of the multipliers of some rows; see
# `friction`. One that is RESTING does nothing: its load is gone.
PLAIN, LOADED, RESTING = range(3)
ELEMENT_DTYPE = np.dtype(
    [
        ("first", np.int64),  # of its measures
        ("count", np.int64),
        ("number", np.int64),  # first of the numbers in its formula
        ("energy", np.int64),  # where the sections begin
        ("force", np.int64),
        ("slope", np.int64),
        ("end", np.int64),
        ("kind", np.int64),
        ("row", np.int64),  # first row of its load
        ("rows", np.int64),
        ("side", np.int64),
    ],
    align=True,
)

# A row that is a formula of measures z: phi(z), or f(z) . dz/dt of a row that binds velocities. Sections of the tape
# compute phi, f, what is left of the second rate without d2z/dt2, and derivatives; see `constraint_rows`.
FORMULA_DTYPE = np.dtype(
    [
        ("first", np.int64),  # of its measures
        ("count", np.int64),
        ("residual", np.int64),  # where the sections begin
        ("rate", np.int64),
        ("bias", np.int64),
        ("slope", np.int64),
        ("end", np.int64),
    ],
    align=True,
)

# A drive acts on a tree coordinate (iv >= 0), or as a wrench between two links (a cut joint).
DRIVE_DTYPE = np.dtype(
    [
        ("iv", np.int64),
        ("a", np.int64),
        ("b", np.int64),
        ("gear", np.float64),
        ("angular", np.float64, (3,)),  # torque direction on link a
        ("linear", np.float64, (3,)),  # force direction on link a, through `pa`
        ("pa", np.float64, (3,)),
    ],
    align=True,
)

# An external force, through `point`, and moment on a link, in axes of the world or of its frame on the link.
LOAD_DTYPE = np.dtype(
    [
        ("link", np.int64),
        ("turning", np.int64),  # 1 in axes that turn with the link, 0 in those of the world
        ("point", np.float64, (3,)),
        ("axes", np.float64, (3, 3)),  # of the frame on the link
        ("value", np.float64, (6,)),  # force, N, and moment, N m
    ],
    align=True,
)


# Works that a run integrates behind q and v: of the motors, what dampers and friction take, of the loads, of what
# prescribes motions.
MOTORS, DISSIPATED, LOADS, MOTIONS = range(4)
WORKS = 4


@bundle
class Model(NamedTuple):
    """Everything the kernels know of a machine; all arrays are read-only and C-contiguous.

    Links, rows, springs, drives and loads are records; `couplings_q` and `couplings_v` have a line for each linear
    coupling of joints (in position and in velocity coordinates).
    """

    links: np.ndarray
    rows: np.ndarray
    scale: np.ndarray  # (rows,) brings rows of different units to metres, for decisions about rank
    spans: np.ndarray  # (rows, 2) columns between which each row may have entries: the second is one past the last one
    envelope: np.ndarray  # (nv,) column from which on each row of the mass matrix may have entries
    unit_lengths: np.ndarray  # (nv,) metres that a unit of each velocity coordinate is: the size of the machine for rad
    size: float  # characteristic length, metres
    springs: np.ndarray
    drives: np.ndarray
    loads: np.ndarray
    measures: np.ndarray  # of force elements and of rows that are formulas, records like rows
    elements: np.ndarray
    formulas: np.ndarray  # of rows
    tape: np.ndarray  # (lines, 5) of whole numbers: operation and operands
    numbers: np.ndarray  # (n,) in the formulas of force elements and rows
    targets: np.ndarray  # (n, 3) what rows of prescribed motions are to be, and its first and second rate
    couplings_q: np.ndarray  # (couplings, nq), those of the measures after those of the rows
    couplings_v: np.ndarray  # (couplings, nv)
    armature: np.ndarray  # (nv,) inertia of rotors that turn with the joints, kg or kg m2
    damping: np.ndarray  # (nv,) viscous friction of the joints, N s/m or N m s/rad
    gravity: np.ndarray  # (3,) m/s2, world axes
