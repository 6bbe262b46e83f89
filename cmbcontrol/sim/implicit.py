"""Implicit methods for dx/dt = f(t, x) with a Jacobian: step control, Newton's method, dense output.

A stepper knows nothing of machines. The system it is given raises `OutOfReach` where a stage cannot be evaluated.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .tableaux import rosenbrock, sdirk4

__all__ = [
    "ImplicitStep",
    "ImplicitStepper",
    "OutOfReach",
    "RosenbrockStepper",
    "SdirkStepper",
    "StepTooSmall",
    "System",
]

Array = NDArray[np.float64]

_ITERATIONS = 10  # of Newton's method in a stage
_ACCURACY = 0.01  # of a stage, in units of the tolerance
_KEEP = 1e-3  # contraction below which a Jacobian serves another step


class OutOfReach(Exception):
    """Raised where a stage lies where the system cannot be evaluated."""


class StepTooSmall(Exception):
    """Raised where no step is small enough; `finite` is False where values were not finite."""

    def __init__(self, finite: bool = True) -> None:
        super().__init__()
        self.finite = finite


class System(Protocol):
    """System dx/dt = f(t, x) that a stepper integrates."""

    def rate(self, t: float, x: Array) -> Array:
        """Rate f(t, x)."""

    def jacobian(self, t: float, x: Array) -> tuple[Array, Array]:
        """Derivatives df/dx and df/dt."""


class ImplicitStep(NamedTuple):
    """Accepted step; `dense(t)` is the state within it."""

    t0: float
    t1: float
    x1: Array
    dense: Callable[[float], Array]


class ImplicitStepper(ABC):
    """Stepper of one method from (t, x), with step control or with a fixed step.

    Attributes
    ----------
    t, x, h : float, ndarray, float
        Present time and state, and the next step size.
    rejections, factorizations : int
    """

    order: int

    def __init__(
        self, system: System, t: float, x: Array, h: float, rtol: float, atol: float, max_step: float, fixed: bool
    ) -> None:
        self.system, self.t, self.x, self.h = system, t, x, h
        self.rtol, self.atol, self.max_step, self.fixed = rtol, atol, max_step, fixed
        self.rejections = self.factorizations = 0
        self._rejected = False
        self._accepted: tuple[float, float] | None = None  # size and error of the last accepted step

    def advance(self, until: float) -> ImplicitStep:
        """Take the next accepted step, at most to `until`.

        Raises
        ------
        OutOfReach
            Where the system cannot be evaluated within the step; a smaller `h` may do.
        StepTooSmall
        """
        while True:
            h = min(self.h, self.max_step)
            last = self.t + h * (1.0 + 1e-9) >= until
            step = until - self.t if last else h
            if step < 4e-16 * max(abs(self.t), 1e-3 * until):
                raise StepTooSmall
            try:
                x1, error, dense = self._attempt(step)
            except OutOfReach:
                self.rejections += 1
                self.h, self._rejected = 0.25 * step, True
                raise
            proposal = step if self.fixed else self._next(step, error)
            if self.fixed and not np.isfinite(error):
                raise StepTooSmall(bool(np.isfinite(x1).all()))
            if self.fixed or error < 1.0:
                break
            self.rejections += 1
            self.h, self._rejected = proposal, True
            if proposal < 4e-16 * max(abs(self.t), 1e-3 * until):
                raise StepTooSmall(bool(np.isfinite(x1).all()))
        t0, self.t, self.x = self.t, (until if last else self.t + step), x1
        # a step that was cut at the end says little about the next
        self.h = (max(self.h, proposal) if last else proposal) if not self.fixed else self.h
        self._rejected = False
        return ImplicitStep(t0, self.t, x1, dense)

    def norm(self, e: Array, x1: Array) -> float:
        """Root mean square of an error in units of the tolerance."""
        scale = self.atol + self.rtol * np.maximum(np.abs(self.x), np.abs(x1))
        return float(np.sqrt(np.mean((e / scale) ** 2))) if e.size else 0.0

    def _next(self, step: float, error: float) -> float:
        """Step size after a try with this error; after an accepted one, with the trend (Gustafsson)."""
        if not np.isfinite(error):
            return 0.1 * step
        error = max(error, 1e-10)
        factor = 0.9 * error ** (-1.0 / self.order)
        if error < 1.0:
            before, was = self._accepted or (step, error)
            factor = min(factor, factor * step / before * (was / error) ** (1.0 / self.order))
            self._accepted = step, max(error, 1e-2)
        return step * min(1.0 if self._rejected else 5.0, max(0.2, factor))

    @abstractmethod
    def _attempt(self, h: float) -> tuple[Array, float, Callable[[float], Array]]:
        """New state, error in units of the tolerance (above 1: reject), and dense output of a step of length h."""

    @abstractmethod
    def forget(self) -> None:
        """Drop the Jacobian and what else is kept of past steps: the system has changed."""


class RosenbrockStepper(ImplicitStepper):
    """Stepper of RODAS4 and Rodas5P: one Jacobian and one factorization a step, no iteration."""

    def __init__(self, method: str, *arguments) -> None:
        super().__init__(*arguments)
        self.tableau = rosenbrock(method)
        self.order = self.tableau.order
        self._linear: tuple[Array, Array] | None = None
        self._rate: Array | None = None

    def forget(self) -> None:
        self._linear = self._rate = None

    def advance(self, until: float) -> ImplicitStep:
        step = super().advance(until)
        self.forget()
        return step

    def _attempt(self, h: float) -> tuple[Array, float, Callable[[float], Array]]:
        from scipy.linalg import lu_factor, lu_solve

        tab, x0, t0 = self.tableau, self.x, self.t
        if self._linear is None:
            self._rate, self._linear = self.system.rate(t0, x0), self.system.jacobian(t0, x0)
        J, rate_t = self._linear
        W = lu_factor(np.eye(x0.size) / (h * tab.gamma) - J, check_finite=False)
        self.factorizations += 1
        u = np.zeros((tab.c.size, x0.size))
        for i in range(tab.c.size):
            stage = x0 + tab.A[i, :i] @ u[:i]
            if not np.isfinite(stage).all():
                return stage, np.inf, lambda t: x0
            f = self.system.rate(t0 + tab.c[i] * h, stage) if i else self._rate
            u[i] = lu_solve(W, f + tab.C[i, :i] @ u[:i] / h + h * tab.d[i] * rate_t, check_finite=False)
        x1 = stage + u[-1]
        D = tab.dense @ u

        def dense(t: float) -> Array:
            s = (t - t0) / h
            bend = D[-1]
            for k in range(len(D) - 2, -1, -1):
                bend = D[k] + s * bend
            return (1.0 - s) * x0 + s * (x1 + (1.0 - s) * bend)

        return x1, self.norm(u[-1], x1), dense


class SdirkStepper(ImplicitStepper):
    """SDIRK4 with simplified Newton: I - h gamma J is factored once for all stages and kept while it works."""

    order = 4

    def __init__(self, *arguments) -> None:
        super().__init__(*arguments)
        self.tableau = sdirk4()
        self._J: Array | None = None
        self._fresh = False  # the Jacobian is that of the present state
        self._factors: tuple[float, tuple] | None = None
        self._slopes: tuple[float, Array] | None = None  # step size and slopes of the last step
        self._eta, self._contraction = 1.0, 0.0

    def forget(self) -> None:
        self._J = self._factors = self._slopes = None

    def advance(self, until: float) -> ImplicitStep:
        step = super().advance(until)
        self._fresh = False
        if self._contraction > _KEEP:
            self._J = self._factors = None
        return step

    def _next(self, step: float, error: float) -> float:
        """Step size after a try; changes below a fifth are left out, as they are not worth a factorization."""
        h = super()._next(step, error)
        return step if error < 1.0 and 1.0 <= h / step <= 1.2 else h

    def _attempt(self, h: float) -> tuple[Array, float, Callable[[float], Array]]:
        from scipy.linalg import lu_solve

        while True:
            factors = self._factored(h)
            k = self._stages(h, factors)
            if k is not None:
                break
            if self._fresh:
                return self.x, np.inf, lambda t: self.x
            self._J = self._factors = None
        tab, x0, t0 = self.tableau, self.x, self.t
        x1 = x0 + h * (tab.b @ k)
        error = lu_solve(factors, h * (tab.error @ k), check_finite=False)
        self._slopes = (h, k)

        def dense(t: float) -> Array:
            s = (t - t0) / h
            return x0 + h * ((s ** np.arange(1, 5)) @ tab.dense @ k)

        return x1, self.norm(error, x1), dense

    def _factored(self, h: float) -> tuple:
        """Factors of I - h gamma J."""
        from scipy.linalg import lu_factor

        if self._J is None:
            self._J, _ = self.system.jacobian(self.t, self.x)
            self._fresh, self._factors = True, None
        if self._factors is None or self._factors[0] != h:
            gamma = self.tableau.A[0, 0]
            self._factors = h, lu_factor(np.eye(self.x.size) - h * gamma * self._J, check_finite=False)
            self.factorizations += 1
        return self._factors[1]

    def _stages(self, h: float, factors: tuple) -> Array | None:
        """Slopes of all stages, or None where Newton's method does not converge."""
        tab, n = self.tableau, self.x.size
        k = np.zeros((tab.c.size, n))
        self._contraction = 0.0
        for i in range(tab.c.size):
            increment = h * (tab.A[i, :i] @ k[:i])
            guess = tab.guess[i, :i] @ k[:i] if i else self._first_slope(h)
            k_i = self._newton(self.t + tab.c[i] * h, increment, guess, h * tab.A[i, i], factors)
            if k_i is None:
                return None
            k[i] = k_i
        return k

    def _first_slope(self, h: float) -> Array:
        """The slope at the first stage, continued from the last step."""
        if self._slopes is None:
            return self.system.rate(self.t, self.x)
        before, k = self._slopes
        s = 1.0 + self.tableau.c[0] * h / before
        if s > 1.5:
            return k[-1]
        return (np.arange(1, 5) * s ** np.arange(4)) @ self.tableau.dense @ k

    def _newton(self, t: float, increment: Array, slope: Array, hg: float, factors: tuple) -> Array | None:
        """Solve Z = known + h gamma f(t, x + Z) by simplified Newton steps; returns the slope (Z - known) / h gamma."""
        from scipy.linalg import lu_solve

        Z = increment + hg * slope
        before, eta = np.inf, max(self._eta, 1e-16) ** 0.8
        for count in range(_ITERATIONS):
            residual = increment - Z + hg * self.system.rate(t, self.x + Z)
            dZ = lu_solve(factors, residual, check_finite=False)
            size = self.norm(dZ, self.x + Z)
            if not np.isfinite(size):
                return None
            if count:
                theta = size / before if before else 0.0
                if theta < 1.0:
                    self._contraction = max(self._contraction, theta)
                    eta = theta / (1.0 - theta)
                elif size < 0.1:  # rounding: no step helps any more
                    return (Z - increment) / hg
                else:
                    return None
            Z = Z + dZ
            before = size
            if eta * size <= _ACCURACY or size == 0.0:
                self._eta = eta
                return (Z - increment) / hg
        return None
