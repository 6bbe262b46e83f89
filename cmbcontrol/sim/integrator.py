"""Methods of integration in time, and their options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from ..errors import InputError, InputTypeError
from ..kernels.runge_kutta import Tableau
from ..linear.parametrization import Parametrization, as_parametrization
from .tableaux import tableau

if TYPE_CHECKING:
    from ..controllers.controller import Controller
    from ..model.plant import Plant
    from .run import IntegratorState, Run
    from .time_loop import Method, TimeLoop

__all__ = ["Integrator", "require_reachable"]

_LEAST_RTOL = 1e-16  # half of what rounding changes a number by
_STIFF_TOLERANCE = 1e-9  # of a step: at 1e-11 a method of order 5 takes 2.2 times as many


@_check.knows_its_keywords
@dataclass(frozen=True, eq=False)
class Integrator:
    """A method of integration with its options.

    ``simulate(..., method="radau")`` is short for ``method=Integrator("radau")``.

    Parameters
    ----------
    name : str
        ``auto`` is ``dop853``; under a sampled law, each held interval takes the one of three methods, of order 4, 5
        and 8, that needs the fewest evaluations. The attribute ``method`` of the run names it. Where the motion is
        stiff, as in joints that stick with smooth friction, ``radau`` goes on (attribute ``implicit_steps``) until the
        motion is stiff no more.

        In all coordinates, with projection after each step:

        - ``dop853``: explicit Runge-Kutta of order 8 with step control; passes singular configurations;
        - ``rk4``: the classical method of order 4 with a fixed `step`.

        In independent coordinates (the local state-space form, Spencer, eqs. 2.16 and 4.8), with closed loops by
        construction:

        - ``radau``: Radau IIA of order 5, implicit; the first choice for stiff machines;
        - ``rodas5p``, ``rodas4``: Rosenbrock methods of order 5 and 4, one exact Jacobian per step, no iteration;
        - ``sdirk4``: diagonally implicit Runge-Kutta of order 4.

        Others, for comparison, are in `cmbcontrol.papers.methods`.
    rtol, atol : float, optional
        Error allowed per step, relative and absolute (rad, m, rad/s, m/s); defaults to 1e-11, to 1e-8 with ``auto``
        under a sampled law with noise or steps in its signals (``rough``), to 1e-9 where ``auto`` goes on with
        ``radau``, and to 1e-7 for implicit methods with step control.
    step : float, optional
        Fixed step, s: needed for ``rk4``, possible for ``sdirk4``, ``rodas4`` and ``rodas5p``.
    max_step, max_steps : float, int
        Longest step, s; number of steps after which a run gives up.
    pass_within : float
        Motion that comes this near to a singular configuration (as a fraction of the regular constraint
        gradient) passes straight through it; 0 never does. See the guide on singular configurations. Independent
        coordinates end at singular configurations: the methods in them stop there with an error.
    coordinates : sequence of str, or array_like, shape (dof, nv), optional
        Independent coordinates, by name or as a matrix R; by default chosen as the motion needs them.
    parametrization : {"tangent", "partitioning"} or Parametrization, optional
        Choice of independent coordinates; defaults to tangent space.

    Raises
    ------
    ValueError
        If a name is unknown or a number out of range.
    TypeError
        If an option does not apply to the method.

    Examples
    --------
    >>> from cmbcontrol import plants, simulate
    >>> plant = plants.five_bar()
    >>> run = simulate(plant, None, plant.assemble(left=2.1, right=1.0), t_end=0.5, method=Integrator("rk4", step=1e-3))
    >>> int(run.data.attrs["steps"])
    500
    """

    name: str = "auto"
    _: KW_ONLY
    rtol: float | None = None
    atol: float | None = None
    step: float | None = None
    max_step: float = np.inf
    max_steps: int = 1_000_000
    pass_within: float = 1e-4
    coordinates: Sequence[str] | ArrayLike | None = None
    parametrization: str | Parametrization | None = None

    NAMES: ClassVar[tuple[str, ...]] = ("auto", "dop853", "rk4", "sdirk4", "rodas4", "rodas5p", "radau")
    LOCAL: ClassVar[tuple[str, ...]] = ("sdirk4", "rodas4", "rodas5p", "radau")  # in the local state-space form
    FIXED: ClassVar[tuple[str, ...]] = ("rk4", "sdirk4", "rodas4", "rodas5p")  # that may have a fixed step
    PASSING: ClassVar[tuple[str, ...]] = ("auto", "dop853")  # that pass singular configurations
    LADDER: ClassVar[tuple[str, str, str]] = ("rk43", "dp54", "dop853")  # which "auto" chooses from
    STEPWISE: ClassVar[tuple[str, ...]] = ("auto", "dop853")  # for a `Stepper`

    def __post_init__(self) -> None:
        try:
            name = _check.one_of(self.name, self.NAMES, "method")
        except ValueError as error:
            raise InputError(f"{error}; others, for comparison, are in cmbcontrol.papers.methods") from None
        for what in ("rtol", "atol", "step"):
            if getattr(self, what) is not None:
                _check.positive(getattr(self, what), what)
        if self.rtol is not None and not _LEAST_RTOL <= self.rtol < 1.0:
            raise InputError(
                f"rtol must be from {_LEAST_RTOL:g}, which is rounding, to below 1, got {self.rtol:g}: steps that are "
                "to be right to less than rounding have no end. atol= bounds errors of what is small"
            )
        _check.positive(self.max_step, "max_step", infinite=True)
        _check.count(self.max_steps, "max_steps")
        _check.positive(self.pass_within, "pass_within", zero=True)
        if name == "rk4" and self.step is None:
            raise InputTypeError(
                "method 'rk4' needs step= (s): Integrator('rk4', step=1e-3); the others choose it themselves"
            )
        if self.step is not None and name not in self.FIXED:
            raise InputTypeError(
                f"method {name!r} chooses its step itself; a fixed step= (s) goes with {', '.join(self.FIXED)}"
            )
        if self.local:
            self.independent()  # refuses what is no parametrization
        elif self.parametrization is not None or self.coordinates is not None:
            raise InputTypeError(
                f"method {name!r} integrates all coordinates; parametrization= and coordinates= go with "
                + ", ".join((*Integrator.LOCAL, *self.LOCAL))
            )

    @classmethod
    def of(cls, given: str | Integrator, rtol: float | None, atol: float | None) -> Integrator:
        """Make an integrator from its name, or take one as it is; the given tolerances are used where it has none."""
        if not isinstance(given, (str, Integrator)):
            raise InputTypeError(f"method must be a name or an Integrator, got {_check.shown(given)}")
        made = cls(given) if isinstance(given, str) else given
        for name, value in (("rtol", rtol), ("atol", atol)):
            if value is not None and getattr(made, name) is not None:
                raise InputTypeError(f"{name}= is given twice: the Integrator has its own, {getattr(made, name):g}")
        tolerances: dict[str, Any] = {
            name: value for name, value in (("rtol", rtol), ("atol", atol)) if value is not None
        }
        return replace(made, **tolerances) if tolerances else made

    # -- what it is ---------------------------------------------------------------------------------

    @property
    def local(self) -> bool:
        """Whether it integrates independent coordinates."""
        return self.name in self.LOCAL

    @property
    def fixed(self) -> bool:
        """Whether its step is fixed."""
        return self.step is not None

    @property
    def passes(self) -> bool:
        """Whether it can pass singular configurations."""
        return self.name in self.PASSING

    @property
    def multistep(self) -> bool:
        """Whether it is a multistep method, which a projection of the state would disturb."""
        return False

    @property
    def ladder(self) -> bool:
        """Whether each held interval takes one of three explicit methods (``auto``)."""
        return self.name == "auto"

    @property
    def label(self) -> str:
        """Name of the method in results."""
        return f"auto ({', '.join(self.LADDER)})" if self.ladder else self.name

    @property
    def default_tolerance(self) -> float:
        """Default tolerance of a step."""
        return 1e-7 if self.local and not self.fixed else 1e-11

    def independent(self) -> Parametrization | None:
        """Choice of the independent coordinates of a local method; None for others."""
        return as_parametrization(self.parametrization, self.coordinates) if self.local else None

    def under(self, law: Controller) -> Self:
        """Integrator with open choices made for a law: the method of "auto", and the tolerances that were not given."""
        sampled = law.period is not None
        tolerance = 1e-8 if law.rough and self.ladder else self.default_tolerance
        return replace(
            self,
            name="dop853" if self.ladder and not sampled else self.name,
            rtol=tolerance if self.rtol is None else self.rtol,
            atol=tolerance if self.atol is None else self.atol,
        )

    def where_stiff(self) -> Integrator:
        """Implicit integrator ("radau") that goes on for "auto" where the motion is stiff, with its tolerances."""
        rtol, atol = (_STIFF_TOLERANCE if given is None else given for given in (self.rtol, self.atol))
        return Integrator("radau", rtol=rtol, atol=atol, max_step=self.max_step, max_steps=self.max_steps)

    # -- how it steps -------------------------------------------------------------------------------

    def tables(self) -> tuple[Tableau, Tableau, Tableau]:
        """Explicit methods that the loop chooses from (three); the same one three times where it has no choice."""
        names = self.LADDER if self.ladder else (self.name,) * 3
        return tuple(tableau(name) for name in names)  # type: ignore[return-value]

    def method(self, run: Run, loop: TimeLoop, state: IntegratorState) -> Method | None:
        """Method that takes the steps in place of the time loop; None for explicit methods of the loop."""
        if not self.local:
            return None
        from . import local  # scipy.integrate takes 0.2 s

        return local.LocalMethod(run, state)


def require_reachable(plant: Plant, integrator: Integrator) -> None:
    """Raise an error for an absolute tolerance below the rounding of all coordinates, which no step reaches.

    Raises
    ------
    ValueError
    """
    least = _LEAST_RTOL * min(1.0, float(plant.displacement_scale.min(initial=1.0)))
    if integrator.atol is not None and integrator.atol < least:
        raise InputError(
            f"atol must be {least:g} or more for {plant.name!r}, which is rounding of its smallest size, got "
            f"{integrator.atol:g}: steps that are to be right to less have no end"
        )
