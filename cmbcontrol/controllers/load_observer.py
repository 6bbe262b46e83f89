"""Observer of loads that the model does not know: it estimates them from the motion, and the law gets them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import ActuationError, InputError, InputTypeError
from ..model.mechanism import Mechanism
from ..model.plant import Plant
from ..model.terms import Terms
from .around import AroundLaw
from .chain import names_of_states
from .controller import Evaluation, as_controller, evaluated, moved, require_same_signals, start_of
from .motion_observer import foreseen
from .state_feedback import effort_limits

__all__ = ["LoadObserver"]

Array = NDArray[np.float64]

_SEEN = 1e-6  # of what a load does in the metric of M: what two loads do alike is not told apart


class LoadObserver(AroundLaw):
    """A sampled law that gets loads which an observer estimates: a digging force, a payload, the push of a person.

    At each sample the velocity is compared with its prediction by the model at the sample before, under the effort and
    the load assumed there. The difference e comes from an unknown load:

        d <- d + (1 - exp(-bandwidth T)) (W'G W)^-1 W' e / T

    with W the joint forces of a unit of each component, and G f the acceleration that forces f make within the loops.
    A constant load is found with the pole exp(-bandwidth T), whatever the machine does; the law gets the equations of
    motion with it.

    Parameters
    ----------
    law : Controller
        Sampled law, with a plant that is a `Mechanism`.
    loads : sequence of str
        Names of loads of the plant, or of their components, such as ``"digging_fx"``. They have to move the machine,
        each in a way of its own: at most as many as it has degrees of freedom.
    bandwidth : float
        Rate at which an estimate follows, 1/s.
    plant : Mechanism, optional
        Model; defaults to that of the law.
    limits : bool or array_like (nu,), optional
        Efforts that the machine really gets, as in `MotionObserver`.

    Raises
    ------
    ValueError
        For a law in continuous time, and names that are no loads.
    ActuationError
        In a call, where the motion does not distinguish the loads.

    Notes
    -----
    The observer of generalized momentum (De Luca and Mattone 2003), within loops and in sampled time.

    Examples
    --------
    >>> from cmbcontrol import Constant, Frame, Load, plants, simulate
    >>> from cmbcontrol.controllers import ProjectedInverseDynamics
    >>> plant = plants.five_bar().with_parts(loads=[Load("pull", "left_upper", Frame((1.5, 0, 0)))])
    >>> law = ProjectedInverseDynamics(plant, ("left", "right"), Constant([2.1, 1.0]), bandwidth=8.0, period=2e-3)
    >>> seen = LoadObserver(law, ["pull_fx", "pull_fy"], bandwidth=30.0)
    >>> run = simulate(plant, seen, plant.assemble(left=2.1, right=1.0), t_end=1.5, loads={"pull": (-9.0, 4.0, 0.0)})
    >>> run.report.sel(quantity=["pull_fx_estimate", "pull_fy_estimate"])[-1].values.round(6)
    array([-9.,  4.])
    """

    plant: Mechanism
    period: float

    def __init__(
        self,
        law: Any,
        loads: Sequence[str],
        bandwidth: float,
        *,
        plant: Mechanism | None = None,
        limits: bool | ArrayLike | None = None,
    ) -> None:
        if not callable(law) or isinstance(law, type):
            raise InputTypeError(f"the law must be a controller, got {_check.shown(law)}")
        law = as_controller(law)
        given = law.plant if plant is None else plant
        if not isinstance(given, Mechanism):
            raise InputTypeError(
                f"{law.name} has no plant with loads; give LoadObserver(..., plant=plant), with a Mechanism"
            )
        self.plant, self.law = given, as_controller(law, given)
        if self.law.period is None:
            raise InputError(f"LoadObserver compares samples; give {law.name} a period")
        self.loads = _components(given, loads)
        self._columns = [given.load_names.index(name) for name in self.loads]
        self.bandwidth = _check.positive(bandwidth, "bandwidth")
        self.gain = 1.0 - float(np.exp(-self.bandwidth * self.period))
        self.limits = effort_limits(given, limits)

    def with_model(self, model: Plant) -> LoadObserver:
        """Copy of the observer and its law that computes with another model; see `WithModel`."""
        other = self._around(self.law.with_model(model))
        other.plant = model
        return other

    # states: whether a velocity is foreseen (0 or 1), the velocity, the loads; then those of the law

    @property
    def _own_states(self) -> int:  # type: ignore[override]
        return 1 + self.plant.nv + len(self.loads)

    def start(self, plant: Plant) -> Array:
        """Initial states: no load, and those of the law; refuses a plant with other coordinates than the model."""
        require_same_signals(self.plant, plant)
        return np.concatenate([np.zeros(self._own_states), start_of(self.law, self.plant)])

    def begun(self, start: Array, after: Array, terms: Terms) -> Array:
        n = self._own_states
        return np.concatenate([after[:n], self.law.begun(start[n:], after[n:], terms)])

    def state_names(self, plant: Plant) -> list[str]:
        """Names of the states of the observer and of the law."""
        foreseen_rates = [f"{n}_rate_foreseen" for n in plant.velocity_names]
        estimates = [f"{n}_estimate" for n in self.loads]
        return ["estimate_begun", *foreseen_rates, *estimates, *names_of_states(self.law, plant)]

    def estimate(self, t: float, terms: Terms, state: Array) -> Array:
        """Estimated loads (k,) that the law gets, N or N m."""
        return self._estimated(terms, np.asarray(state, dtype=np.float64))[1]

    def _estimated(self, terms: Any, state: Array) -> tuple[Array, Array, Array]:
        """Joint forces W (nv, k) of unit loads, estimated loads (k,), and the acceleration (nv,) that these cause."""
        nv = self.plant.nv
        W = self.plant.as_at(terms).load_matrix(terms.q)[:, self._columns]
        at_rest = terms.acceleration(terms.h)
        moved_by = [terms.acceleration(terms.h + column) - at_rest for column in W.T]
        G = np.stack(moved_by, axis=1)  # G W
        seen = W.T @ G
        d = state[1 + nv : self._own_states]
        self._require_told_apart(terms, seen, W)
        if not terms.at_first_sample(state[0]):
            left = terms.v - state[1 : 1 + nv]
            d = d + self.gain / self.period * np.linalg.solve(seen, W.T @ left)
        return W, d, G @ d

    def _require_told_apart(self, terms: Terms, seen: Array, W: Array) -> None:
        """Refuse loads that do not move the machine, or of which several move it in the same way."""
        if not terms.independence(seen, W.T) > _SEEN**2:
            raise ActuationError(
                f"the loads {', '.join(self.loads)} cannot be told from the motion of {self.plant.name!r} at t = "
                f"{terms.t:.6g} s, q = {np.round(terms.q, 6).tolist()}: some of them, or some combination, move "
                "nothing within the loops. Estimate fewer components"
            )

    def evaluate(self, t: float, terms: Terms, state: Array) -> Evaluation:
        """Efforts of the law under the estimated loads, and the next states, with the velocity predicted for then.

        The report has the numbers of the law, and ``<component>_estimate``.
        """
        plant, own = self.plant.as_at(terms), state[self._own_states :]
        W, d, response = self._estimated(terms, state)
        of_law = evaluated(self.law, t, terms.with_bias(terms.h - W @ d), own)
        u = np.clip(of_law.effort, -self.limits, self.limits)
        ahead = foreseen(plant, terms.q, terms.v, u, self.period, response)[1]
        states = np.concatenate([np.concatenate([[1.0], ahead, d]), moved(of_law, own, True)])

        def report() -> Mapping[str, float]:
            return of_law.reported() | {f"{n}_estimate": x for n, x in zip(self.loads, d, strict=True)}

        return Evaluation(of_law.effort, states, report)

    def report_units(self) -> Mapping[str, str]:
        units = {f"{name}_estimate": "N" if name[-2] == "f" else "N m" for name in self.loads}
        return {**self.law.report_units(), **units}


def _components(plant: Mechanism, names: Sequence[str]) -> tuple[str, ...]:
    """Names of load components, from names of loads or of components; refuses unknown and repeated ones."""
    whole = {load.name: load.component_names for load in plant.loads}
    listed = (names,) if isinstance(names, str) else _check.sequence(names, "loads", "names of loads")
    given = _check.names(listed, "loads", [*whole, *plant.load_names], "load")
    found = [component for name in given for component in whole.get(name, (name,))]
    if not found or len(set(found)) < len(found):
        raise InputError(
            f"give the components of loads that are estimated, each once, got {', '.join(given) or 'none'}"
        )
    return tuple(found)
