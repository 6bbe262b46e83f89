"""Sampling of a law in sampled time: its samples, and efforts on their way to the motors.

See `cmbcontrol.controllers.traced`. The arrays are those of `sim.control.Control`: where the law has no generated code,
or that cannot be trusted at a sample, Python takes the sample and goes on with the same arrays.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import bundle, call, execute, kernel
from .arrays import copy
from .generated import HUGE

__all__ = ["Sampled", "arrive", "held", "next_change", "sampled_by_code", "take"]

# Entries of `Sampled.count`.
SAMPLES, FIRST, ROWS, BY_CODE, SHOWN = range(5)

# Of a period: arrivals that agree to it are one, and one at a sample is exactly there.
DIGITS = 1e9


@bundle
class Sampled(NamedTuple):
    """State of a sampled law during a run: its code, samples, held efforts and reports."""

    address: int  # of its code: x is t, q, v, states, held efforts where it measures a force, signals; 0 for none
    period: float  # s
    measures: bool
    p: np.ndarray
    given: np.ndarray
    found: np.ndarray
    state: np.ndarray  # (n,)
    delay: np.ndarray  # (nu,) s
    initial: np.ndarray  # (nu,) efforts before the first one arrives; no numbers for those of the first sample
    efforts: np.ndarray  # (room, nu) of the last samples; sample k is in row k modulo the room
    command: np.ndarray  # (nu,) that are held at present
    signals: np.ndarray  # (block, m) functions of time, at samples from count[FIRST] on
    shown: np.ndarray  # (k,) numbers of the samples whose report is kept
    reports: np.ndarray  # (k, 1 + m) time and report
    arrived: np.ndarray  # (nu,) how many efforts of each motor have arrived
    count: np.ndarray


def held(period, state, delay, initial, command, shown):
    """State of a law that has taken no sample yet, without code; period 0 for a law that takes none."""
    room = int(np.ceil(delay.max(initial=0.0) / period)) + 2 if period else 0
    none = np.zeros(0)
    return Sampled(
        address=0,
        period=period,
        measures=False,
        p=none,
        given=none.copy(),
        found=none.copy(),
        state=state,
        delay=delay,
        initial=initial,
        efforts=np.zeros((room, command.shape[0])),
        command=command,
        signals=np.zeros((0, 0)),
        shown=shown,
        reports=np.zeros((shown.shape[0], 1)),
        arrived=np.zeros(command.shape[0], np.int64),
        count=np.zeros(5, np.int64),
    )


@kernel
def arrival(law, k, motor):
    """Time at which the effort of sample k acts on a motor, s."""
    return np.rint((k + law.delay[motor] / law.period) * DIGITS) / DIGITS * law.period


@kernel
def next_change(law):
    """Time at which the held efforts may change next, s."""
    k = law.count[SAMPLES]
    t = k * law.period
    for motor in range(law.command.shape[0]):
        if law.arrived[motor] < k:
            t = min(t, arrival(law, law.arrived[motor], motor))
    return t


@kernel
def arrive(law, t):
    """Set the held efforts to those that have arrived by time t."""
    room, k = law.efforts.shape[0], law.count[SAMPLES]
    for motor in range(law.command.shape[0]):
        while law.arrived[motor] < k and arrival(law, law.arrived[motor], motor) <= t:
            law.command[motor] = law.efforts[law.arrived[motor] % room, motor]
            law.arrived[motor] += 1


@kernel
def take(law, u):
    """Record a sample that has been taken, with its efforts u, which are under way."""
    k = law.count[SAMPLES]
    copy(u, law.efforts[k % law.efforts.shape[0]])
    if k == 0:
        for motor in range(law.command.shape[0]):
            law.command[motor] = u[motor] if np.isnan(law.initial[motor]) else law.initial[motor]
    law.count[SAMPLES] = k + 1


@kernel
def sampled_by_code(law, ask, question, t, x, nq, nv):
    """Take a sample by generated code; False where that is left to Python. `question` is the request for signals."""
    k = law.count[SAMPLES]
    if law.address == 0 or (law.measures and k == 0):
        return False
    given, found, n, nu = law.given, law.found, law.state.shape[0], law.command.shape[0]
    given[0] = t
    copy(x[: nq + nv], given[1 : 1 + nq + nv])
    at = 1 + nq + nv
    copy(law.state, given[at : at + n])
    at += n
    if law.measures:
        copy(law.command, given[at : at + nu])
        at += nu
    if at < given.shape[0]:
        if k - law.count[FIRST] >= law.count[ROWS] and call(ask, question, t) != 0:
            return False
        if k - law.count[FIRST] >= law.count[ROWS]:
            return False
        copy(law.signals[k - law.count[FIRST]], given[at:])
    if execute(law.address, law.p, given, found) != 0:
        return False
    for i in range(found.shape[0]):
        if not abs(found[i]) < HUGE:
            return False
    copy(found[nu : nu + n], law.state)
    row = law.count[SHOWN]
    if row < law.shown.shape[0] and law.shown[row] == k:
        law.reports[row, 0] = t
        copy(found[nu + n :], law.reports[row, 1:])
        law.count[SHOWN] = row + 1
    law.count[BY_CODE] += 1
    take(law, found[:nu])
    return True
