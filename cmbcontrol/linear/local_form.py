"""Local state-space form of a plant: its motion as an ordinary differential equation in independent states.

With x = (y, y_v) in a chart (Spencer, eqs. 2.16 and 4.8),

    dy/dt = W K y_v,        dy_v/dt = V a(q, v, u) + dV/dt v,        q = Psi(y), v = K y_v,

where W and V are those of `chart.ChartPoint`. Solutions lie on the manifold whatever the error of the
integration (eq. 2.17).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputTypeError, ModelError
from ..model.accelerations import solved
from ..model.plant import Plant
from ..model.terms import FAILED, Terms
from .chart import Chart, ChartPoint
from .parametrization import as_parametrization
from .reduced import reduced_model

__all__ = ["LocalForm", "LocalPoint"]

Array = NDArray[np.float64]


class LocalPoint(NamedTuple):
    """State of the local form, with the equations of motion there."""

    chart_point: ChartPoint
    terms: Terms


class LocalForm:
    """Local form dx/dt = fhat(x, u) with x = (y, y_v), and its exact Jacobian (Spencer, eqs. 2.16, 4.8).

    Parameters
    ----------
    plant : Plant
    parametrization : {"partitioning", "tangent"} or Parametrization, optional
        Defaults to tangent space.
    q0 : array_like, shape (nq,)
        Base point, with closed loops.
    coordinates : sequence of str, or array_like, shape (dof, nv), optional
        Independent coordinates by name, or a matrix R, in place of a parametrization.
    chart : Chart, optional
        Chart in place of parametrization and q0.

    Attributes
    ----------
    plant, chart
    dof : int
    names : tuple of str
        Names of the states, y and then their velocities.

    Raises
    ------
    SingularConfigurationError
    ParametrizationError
        Where coordinates are not independent.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> plant = plants.five_bar()
    >>> q0 = plant.assemble(left=2.1, right=1.0)
    >>> form = LocalForm(plant, q0=q0, coordinates=("left", "right"))
    >>> A, B = form.jacobian(form.state(q0, np.zeros(4)), u=[0.0, 0.0])
    >>> A.shape, B.shape, form(form.state(q0, np.zeros(4))).round(3)
    ((4, 4), (4, 2), array([ 0.   ,  0.   ,  5.457, -5.662]))
    """

    def __init__(
        self,
        plant: Plant,
        parametrization: Any = None,
        q0: ArrayLike | None = None,
        *,
        coordinates: Any = None,
        chart: Chart | None = None,
    ) -> None:
        if (chart is None) == (q0 is None):
            raise InputTypeError("LocalForm needs either a base point q0 or a chart")
        self.plant = plant
        self.chart = as_parametrization(parametrization, coordinates).at(plant, q0) if chart is None else chart
        self.dof = self.chart.dof
        self.names = (*self.chart.names, *(f"{name}_rate" for name in self.chart.names))

    # -- states ---------------------------------------------------------------------------------------

    def state(self, q: ArrayLike, v: ArrayLike, near: Array | None = None) -> Array:
        """State x = (y, y_v) (2 dof,) of (q, v) on the manifold; `near` is a guess of y, where R is nonlinear in y."""
        q = self.plant.configuration(q)
        y = self.chart.coordinates(q, near)
        return np.concatenate([y, self.chart.rates(q, v, y)])

    def full(self, x: ArrayLike, near: ChartPoint | None = None) -> tuple[Array, Array]:
        """Positions and velocities (q, v) of a state x: q = Psi(y), v = K y_v."""
        y, rates = self._split(x)
        local = self.chart.solve(y, near)
        return local.q, local.K @ rates

    def point(self, x: ArrayLike, t: float = 0.0, near: ChartPoint | None = None) -> LocalPoint:
        """Configuration and equations of motion at a state."""
        t = _check.number(t, "t")
        y, rates = self._split(x)
        local = self.chart.solve(y, near)
        return LocalPoint(local, self.plant.terms(local.q, local.K @ rates, t, cap=self.chart.rank))

    def reparametrize(self, q: ArrayLike, y: Array | None = None) -> LocalForm:
        """Local form in a chart of the same kind at another base point."""
        return LocalForm(self.plant, chart=self.chart.reparametrize(q, y))

    # -- the equation -----------------------------------------------------------------------------------

    def __call__(self, x: ArrayLike, u: ArrayLike | None = None, near: ChartPoint | None = None) -> Array:
        """Rate fhat(x, u) (2 dof,)."""
        return self.rate(self.point(x, near=near), self._efforts(u))

    def acceleration(self, point: LocalPoint, u: Array) -> Array:
        """Acceleration dv/dt (nv,) at a point."""
        terms = point.terms
        found = solved(terms, terms.B @ u - terms.h, cap=self.chart.rank)
        if found.rank == FAILED:
            raise ModelError(
                f"the mass matrix of {self.plant.name!r} is not positive definite at q = {terms.q.tolist()}"
            )
        return found.vdot

    def rate(self, point: LocalPoint, u: Array) -> Array:
        """Rate fhat at an evaluated point."""
        local, v = point.chart_point, point.terms.v
        return np.concatenate(
            [local.W @ v, local.V @ self.acceleration(point, u) + self.chart.bias(local.q, local.y, v)]
        )

    def jacobian(self, x: ArrayLike, u: ArrayLike | None = None, near: ChartPoint | None = None) -> tuple[Array, Array]:
        """Jacobians Ahat = d fhat / dx (2 dof, 2 dof) and Bhat = d fhat / du (2 dof, nu)."""
        u = self._efforts(u)
        return self.jacobian_at(self.point(x, near=near), u)

    def jacobian_at(self, point: LocalPoint, u: Array) -> tuple[Array, Array]:
        """Jacobians at an evaluated point: those of `reduced_model`, transformed into this chart.

        The reduced model has coordinates eta with d(eta) = V delta and rates y_v; here d(eta) = V T dy.
        """
        local, v, chart, p = point.chart_point, point.terms.v, self.chart, self.dof
        reduced = reduced_model(self.plant, local.q, v, u, local.V)
        A21, A22 = reduced.A[p:, :p], reduced.A[p:, p:]
        N = self._velocity_slope(point, reduced.N)
        A = np.empty((2 * p, 2 * p))
        A[:p, :p] = chart.slope_W(local, v) + local.W @ N
        A[:p, p:] = local.W @ local.K
        A[p:, :p] = A21 @ local.V @ local.T - A22 @ chart.slope_V(local, v)
        A[p:, :p] += chart.slope_V(local, reduced.a) + chart.slope_bias(local, v, local.T, N)
        A[p:, p:] = A22 + chart.slope_bias(local, v, np.zeros_like(local.K), local.K)
        return A, reduced.B

    def derivative(self, point: LocalPoint) -> Array:
        """Derivative D Psi of (q [+] ., v) by (y, y_v), shape (2 nv, 2 dof): [[T, 0], [dv/dy, K]] (eq. 2.40)."""
        local = point.chart_point
        N = reduced_model(self.plant, local.q, point.terms.v, np.zeros(self.plant.nu), local.V).N
        return np.block([[local.T, np.zeros_like(local.K)], [self._velocity_slope(point, N), local.K]])

    def _velocity_slope(self, point: LocalPoint, N: Array) -> Array:
        """Derivative dv/dy (nv, dof) at constant y_v, from that of the reduced model: N V T - K d(V v)/dy."""
        local = point.chart_point
        return N @ (local.V @ local.T) - local.K @ self.chart.slope_V(local, point.terms.v)

    # -- pieces -----------------------------------------------------------------------------------------

    def _split(self, x: ArrayLike) -> tuple[Array, Array]:
        """Parts y and y_v of a state."""
        x = _check.vector(x, 2 * self.dof, "x", self.names)
        return x[: self.dof], x[self.dof :]

    def _efforts(self, u: ArrayLike | None) -> Array:
        """Motor efforts as a vector."""
        if u is None:
            return np.zeros(self.plant.nu)
        return _check.vector(u, self.plant.nu, "u", self.plant.actuator_names)
