"""Cases of studies: a function of parameters by name, or a machine under a law, whose parameters have names."""

from __future__ import annotations

import functools
import hashlib
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..controllers.closed_loop import ClosedLoop, linearize_closed_loop
from ..controllers.controller import Controller, regular_terms
from ..controllers.with_model import WithModel
from ..errors import InputError, InputTypeError
from ..linear.linearize import linearize
from ..linear.model import LinearModel
from ..linear.operating import trim
from ..model.mechanism import Mechanism
from ..model.parameters import parameters as parameters_of
from ..sim.simulate import simulate

__all__ = ["LinearCase", "MachineCase", "check_case", "identity", "takes_random", "units_of"]


def check_case(case: Any, names: Sequence[str]) -> None:
    """Raise an error for an object that is no case or does not take the parameters, before thousands of runs fail.

    Raises
    ------
    TypeError, ValueError
    """
    if not callable(case) or isinstance(case, type):
        raise InputTypeError(f"case must be a function of the parameters, got {_check.shown(case)}")
    if isinstance(case, _Machine):
        case.check(names)
        return
    try:
        signature = inspect.signature(case)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(**dict.fromkeys(names), **({"rng": None} if "rng" in signature.parameters else {}))
    except TypeError as error:
        raise InputTypeError(f"the case does not take the parameters {', '.join(map(repr, names))}: {error}") from error


def units_of(case: Any, names: Sequence[str]) -> dict[str, str]:
    """Units of parameters, if the case knows them."""
    return {name: case.unit(name) for name in names} if isinstance(case, _Machine) else {}


def takes_random(case: Callable[..., Any]) -> bool:
    """Whether a case has an argument for random numbers."""
    if isinstance(case, _Machine):
        return False
    try:
        return "rng" in inspect.signature(case).parameters
    except (TypeError, ValueError):
        return False


def identity(function: Callable[..., Any]) -> str:
    """Text that identifies a function, by its name and its source if available; the same in every process."""
    name = f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', type(function).__name__)}"
    described = getattr(function, "described", None)
    if callable(described):
        source = described()
    elif isinstance(function, functools.partial):
        source = f"{identity(function.func)} {function.args} {function.keywords}"
    else:
        try:
            source = inspect.getsource(function)
        except (OSError, TypeError):
            source = repr(getattr(function, "__dict__", ""))
    source = re.sub(r" at 0x[0-9a-fA-F]+", "", source)  # places in memory differ from process to process
    return f"{name} {hashlib.sha256(source.encode()).hexdigest()[:16]}"


class _Machine:
    """Machine under a law, with named parameters: common base of both cases of machines."""

    def __init__(
        self,
        plant: Mechanism,
        controller: Any,
        start: Mapping[str, float] | ArrayLike | None,
        knows: bool,
        options: Mapping[str, Any],
    ) -> None:
        if not isinstance(plant, Mechanism):
            raise InputTypeError(f"the plant of a {type(self).__name__} must be a Mechanism, got {_check.shown(plant)}")
        self.plant, self.controller, self.options = plant, controller, dict(options)
        self.start = dict(start) if isinstance(start, Mapping) else start
        self.knows = _check.flag(knows, "knows")
        self._last: tuple[dict[str, float], Mechanism] = {}, plant

    def _require_options(self, function: Callable[..., Any]) -> None:
        """Raise an error for options that the called function does not take."""
        own = ("plant", "controller", "law", "q0", "point", "trace_at")
        known = [name for name in inspect.signature(function).parameters if name not in own]
        for name in self.options:
            if name not in known:
                raise InputTypeError(_check.unknown(name, known, f"option of {function.__name__}"))

    def check(self, names: Iterable[str]) -> None:
        """Raise an error for names that are no parameters.

        Raises
        ------
        ValueError
        """
        for name in names:
            known = [*self._known(), *self._gains]
            joint = str(name).removeprefix("start_")
            if name not in known and joint != name and joint in self.plant.position_names:
                raise InputError(
                    f"{name!r} varies where the machine starts, but the start does not say where {joint!r} is: give "
                    f"its nominal value, start={{{joint!r}: ...}}"
                )
            _check.one_of(name, known, "parameter")

    def described(self) -> str:
        """Text with everything that distinguishes this case from others."""
        numbers = {name: number.value for name, number in self._parameters.items()}
        parts = [part.name for key in ("bodies", "joints", "loops", "actuators") for part in getattr(self.plant, key)]
        law = identity(self.controller) if callable(self.controller) else repr(self.controller)
        return f"{self.plant.name} {parts} {numbers} {law} {self.start} {self.knows} {sorted(self.options.items())}"

    def _known(self) -> list[str]:
        starts = [f"start_{joint}" for joint in self.start] if isinstance(self.start, dict) else []
        return [*self._parameters, *(f"{body.name}_scale" for body in self.plant.bodies), *starts]

    def unit(self, name: str) -> str:
        """Unit of a parameter of the machine or of its start; empty for gains, whose units only the law knows."""
        if name in self._parameters:
            return self._parameters[name].unit
        if name.startswith("start_") and name in self._known():
            return self.plant.position_units[self.plant.position_names.index(name.removeprefix("start_"))]
        return "1" if name in self._known() else ""

    @functools.cached_property
    def _gains(self) -> list[str]:
        """Arguments of the function that makes the law."""
        if not self._makes_law():
            return []
        return [name for name in inspect.signature(self.controller).parameters][1:]

    def _makes_law(self) -> bool:
        return callable(self.controller) and not isinstance(self.controller, Controller)

    @functools.cached_property
    def nominal(self) -> NDArray[np.float64]:
        """Configuration of the nominal machine at the nominal start."""
        if self.start is None or isinstance(self.start, dict):
            return self.plant.assemble(**(self.start or {}))
        return self.plant.configuration(self.start)

    def _parts(self, values: Mapping[str, Any]) -> tuple[Mechanism, Any, Any]:
        """Machine of a run, its law, and its start."""
        self.check(values)
        plant, gains = self._machine(values), self._gains
        law = self.controller
        if self._makes_law():
            law = law(plant if self.knows else self.plant, **{n: x for n, x in values.items() if n in gains})
        if isinstance(law, Controller) and plant is not self.plant and not self.knows:
            law = WithModel(self.plant, law)  # else it would be told the machine of the run
        start = self.start
        if isinstance(start, dict):
            moved = {joint: float(values.get(f"start_{joint}", x)) for joint, x in start.items()}
            start = plant.assemble(guess=self.nominal, **moved)  # in the assembly mode of the nominal start
        return plant, law, start

    def _machine(self, values: Mapping[str, Any]) -> Mechanism:
        """Machine with given parameter values; the last one is kept, since successive runs often share it."""
        known = self._parameters
        numbers = {name: x for name, x in values.items() if name in known}
        for body in self.plant.bodies:
            scale = values.get(f"{body.name}_scale")
            if scale is not None:
                scale = _check.positive(scale, f"parameter '{body.name}_scale'")
                own = [n for n in known if n == f"{body.name}_mass" or n.startswith(f"{body.name}_inertia_")]
                numbers |= {n: scale * numbers.get(n, known[n].value) for n in own}
        if numbers != self._last[0]:
            regular_terms(self.plant)  # laws look for a configuration of each machine, which then begins there
            self._last = numbers, self.plant.with_parameters(numbers) if numbers else self.plant
        return self._last[1]

    @functools.cached_property
    def _parameters(self) -> Mapping[str, Any]:
        return parameters_of(self.plant)


class MachineCase(_Machine):
    """Case of a study: a run of a machine under a law, with parameters by name.

    Parameters
    ----------
    plant : Mechanism
        Its numbers are parameters by the names of `cmbcontrol.dynamics.parameters`, such as ``left_lower_mass``, and
        ``<body>_scale``, by which mass and inertia of a body are multiplied.
    controller : optional
        Controller as in `simulate`; or a function ``controller(plant, **gains)`` that makes it, whose arguments are
        parameters. The plant that it gets is the nominal one, unless the law `knows` the true one.
    start : mapping of str to float, or array_like
        Joint values from which the machine is assembled, which are parameters ``start_<joint>``, near the nominal
        start; or a configuration.
    knows : bool
        Whether the law computes with the true machine of each run; else with the nominal one, by `WithModel`. Blocks of
        a chain in continuous time then take the nominal one, too.
    **options
        Arguments of `simulate`, such as ``t_end``.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> from cmbcontrol.studies import study
    >>> case = MachineCase(plants.five_bar(), None, {"left": 2.1, "right": 1.0}, t_end=0.1, output_times=0.05)
    >>> vary = {"left_lower_mass": (1.8, 2.2), "start_left": [2.0, 2.1]}
    >>> found = study(case, vary, runs=2, measures={"end": lambda run: run.q.values[-1, 0]})
    >>> found.data.sizes["run"], found.failures
    (4, 0)
    """

    def __init__(
        self,
        plant: Mechanism,
        controller: Any = None,
        start: Mapping[str, float] | ArrayLike | None = None,
        *,
        knows: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(plant, controller, start, knows, options)
        self._require_options(simulate)
        if "t_end" not in options:
            raise InputTypeError("a MachineCase needs t_end=, as simulate does")

    def __call__(self, **values: Any) -> dict[str, Any]:
        """Arguments of `simulate` for parameter values."""
        plant, law, start = self._parts(values)
        return {"plant": plant, "controller": law, "q0": start, **self.options}


class LinearCase(_Machine):
    """Case of a study: linear model of a machine at rest, alone or under a law, with parameters by name.

    Some milliseconds a case: derivatives of the law come from generated code, where it can be traced. Measures are
    those of linear models: `slowest_pole`, `damping`, `bandwidth`, `disk_margin` and so on.

    Parameters
    ----------
    plant, controller, start, knows
        As of `MachineCase`. Where the law has a goal that moves with the start, the function that makes it takes
        ``start_<joint>`` as an argument, too.
    **options
        Arguments of `linearize`, or with a controller of `linearize_closed_loop`, such as ``coordinates``.

    Examples
    --------
    >>> from cmbcontrol import Constant, plants
    >>> from cmbcontrol.controllers import ProjectedInverseDynamics
    >>> from cmbcontrol.studies import disk_margin, slowest_pole, study
    >>> def law(plant, start_left, bandwidth):
    ...     goal = Constant([start_left, 1.0])
    ...     return ProjectedInverseDynamics(plant, ("left", "right"), goal, bandwidth=bandwidth, period=1e-3)
    >>> case = LinearCase(plants.five_bar(), law, {"left": 2.1, "right": 1.0})
    >>> vary = {"start_left": (2.0, 2.2), "bandwidth": [8.0], "left_lower_scale": (0.9, 1.1)}
    >>> found = study(case, vary, runs=3, measures={"pole": slowest_pole(), "disk": disk_margin()})
    >>> bool((found.data["pole"] < -5.0).all()), bool((found.data["disk"] > 0.8).all())
    (True, True)
    """

    def __init__(
        self,
        plant: Mechanism,
        controller: Any = None,
        start: Mapping[str, float] | ArrayLike | None = None,
        *,
        knows: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(plant, controller, start, knows, options)
        self._require_options(linearize if controller is None else linearize_closed_loop)

    def __call__(self, **values: Any) -> LinearModel | ClosedLoop:
        """Linear model for parameter values."""
        plant, law, start = self._parts(values)
        if law is None:
            return linearize(plant, trim(plant, self.nominal if start is None else start), **self.options)
        return linearize_closed_loop(plant, law, start, trace_at=self.nominal, **self.options)
