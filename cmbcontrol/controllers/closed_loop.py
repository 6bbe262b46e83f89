"""The linear model of a plant under a control law, and its margins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._notebook import Reported
from .._tolerance import ROUNDING
from ..errors import InputError
from ..linear.controllability import ModalControllability, modal_controllability
from ..linear.linearize import affine_approximation
from ..linear.model import LinearModel
from ..linear.norms import Response, border_unit, growth, response
from ..linear.operating import OperatingPoint
from ..linear.sampled import hold_until, input_delays, pade_delays, zero_order_hold
from ..linear.signals import Wrench
from ..model.plant import Plant
from ..model.units import effort_units
from .chain import different, names_of_states
from .controller import as_controller
from .law_gains import FrozenLaw, Gains, HeldCommand, Ways, law_gains
from .loop_margins import BrokenLoop, Margins, bandwidth, loop_margins
from .resting import Guess, RestingLoop, equilibrium_of, given_state

if TYPE_CHECKING:
    import control

__all__ = ["ClosedLoop", "linearize_closed_loop", "margins"]

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

_MOST_SECTIONS = 20  # of a delay in continuous time, 160 states: ten turns of phase where the loop still acts


@dataclass(frozen=True, eq=False)
class ClosedLoop(Reported):
    """Linear model of a plant under a law: dx/dt = drift + A x + B w, z = C x + D w; x(k+1) = ... for a sampled law.

    Attributes
    ----------
    name : str
        Name of the plant and the law.
    A, B, C, D : ndarray
    dt : float
        Sample time, s; 0 in continuous time.
    states : tuple of str
        The plant's independent coordinates and their rates, states of the drives, states of the law (``law_1``, ...,
        unless it names them), and past efforts that are still under way (``<actuator>_effort[k-1]``, ...).
    inputs : tuple of str
        ``<actuator>_disturbance``, efforts added at the motors, then outside wrenches (both held for a period where the
        law is sampled); and where the law has a reference ``<coordinate>_ref``, ``<coordinate>_rate_ref`` and
        ``<coordinate>_acceleration_ref``.
    outputs : tuple of str
        Signals of the plant, and ``<actuator>_effort``, the efforts that the law asks for.
    state_units, input_units, output_units : tuple of str
    drift : ndarray, shape (n,)
        Rate (or step) of the states at the state itself: zero where the loop rests.
    rest : RestingLoop
        State that the deviations are measured from.
    plant : LinearModel
        The plant alone.
    """

    name: str
    A: Array
    B: Array
    C: Array
    D: Array
    dt: float
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    state_units: tuple[str, ...]
    input_units: tuple[str, ...]
    output_units: tuple[str, ...]
    drift: Array
    rest: RestingLoop
    plant: LinearModel
    _parts: _Parts

    @property
    def point(self) -> OperatingPoint:
        """The plant's part of ``rest``."""
        return self.rest.point

    @property
    def motors(self) -> tuple[str, ...]:
        """Names of the motors."""
        return tuple(name.removesuffix("_effort") for name in self.plant.inputs)

    def to_ss(self, name: str | None = None) -> control.StateSpace:
        """The model for python-control, with named signals; in sampled time where the law is sampled."""
        return _state_space(self, self.A, self.B, self.C, self.D, self.inputs, self.outputs, name or self.name)

    def poles(self) -> Complex:
        """Eigenvalues of A, by real, then by imaginary part: 1/s, or per sample where the law is sampled."""
        return self._eigenvalues.copy()

    @cached_property
    def _eigenvalues(self) -> Complex:
        return np.sort_complex(np.linalg.eigvals(self.A).astype(complex))

    def continuous_poles(self) -> Complex:
        """Poles in continuous time, log(z)/dt where the law is sampled, 1/s; -inf for a pole at z = 0."""
        values = self.poles()
        if self.dt:
            with np.errstate(divide="ignore"):
                values = np.log(np.abs(values)) / self.dt + 1j * (np.angle(values) / self.dt)
        return np.sort_complex(values)

    @property
    def stable(self) -> bool:
        """Whether all eigenvalues are on the stable side, by more than their rounding."""
        return bool((growth(self._eigenvalues, self.dt) < -ROUNDING * border_unit(self._eigenvalues, self.dt)).all())

    def loop(self, at: str = "input", channel: str | None = None) -> control.StateSpace:
        """Loop transfer L, broken at the motors or at the plant's states; the loop is 1 + L = 0 (negative feedback).

        Parameters
        ----------
        at : {"input", "output"}
            At the motor efforts, or at the plant's states as the law gets them.
        channel : str, optional
            One motor, or one state, with all other channels closed; defaults to all channels at once.

        Returns
        -------
        control.StateSpace
        """
        broken = self._broken(at) if channel is None else self._broken(at).only(channel)
        names = broken.channels
        D, returned = np.zeros((len(names), len(names))), tuple(f"{n}_returned" for n in names)
        title = f"{self.name}, loop at the plant {at}"
        return _state_space(self, broken.opened, broken.entry, -broken.exit, D, names, returned, title)

    def response(self, channel: str, frequency: float) -> complex:
        """Loop transfer L of one motor at one frequency, with the loops of all other motors closed; see `loop`.

        Parameters
        ----------
        channel : str
            A motor.
        frequency : float
            rad/s.

        Raises
        ------
        ValueError
            For an unknown motor.

        Examples
        --------
        >>> from cmbcontrol import Constant, plants
        >>> from cmbcontrol.controllers import ProjectedInverseDynamics
        >>> plant = plants.five_bar()
        >>> law = ProjectedInverseDynamics(plant, ("left", "right"), Constant([2.1, 1.0]), bandwidth=8.0)
        >>> round(abs(linearize_closed_loop(plant, law).response("left", 16.5)), 2)
        1.0
        """
        broken, frequency = self._broken("input").only(channel), _check.positive(frequency, "frequency")
        at = np.exp(1j * frequency * self.dt) if self.dt else 1j * frequency
        shifted = at * np.eye(len(broken.A)) - broken.opened
        return complex(-(broken.exit @ np.linalg.solve(shifted, broken.entry))[0, 0])

    def _broken(self, at: str) -> BrokenLoop:
        """Loop with the signals at which it is broken: motor efforts, or states of the plant."""
        parts, states = self._parts, self.plant.states
        if _check.one_of(at, ("input", "output"), "place to break the loop", "at") == "input":
            return BrokenLoop(self.name, at, self.dt, self.A, parts.entry, parts.effort, self.motors)
        entry = parts.entry @ parts.gains.u_x + parts.law @ parts.gains.c_x
        return BrokenLoop(self.name, at, self.dt, self.A, entry, np.eye(len(states), len(self.A)), states)

    def entrance(self, name: str) -> Entrance:
        """Way by which a signal enters the loop: an input, or one that is added inside of it.

        Parameters
        ----------
        name : str
            One of `inputs`; ``<actuator>_command``, added to the effort that the law asks for, before delays and
            drives; or ``<state>_measurement``, added to a state of the plant as the law reads it.

        Returns
        -------
        Entrance

        Raises
        ------
        ValueError
            For another name.
        """
        parts, readings = self._parts, [f"{x}_measurement" for x in self.plant.states]
        commands = [n.removesuffix("_effort") + "_command" for n in self.plant.inputs]
        _check.one_of(name, [*self.inputs, *commands, *readings], "signal that enters the loop")
        told = np.zeros(len(commands))
        if name in self.inputs:
            k = self.inputs.index(name)
            j = k - len(self.inputs) + parts.gains.u_r.shape[1]
            told = parts.gains.u_r[:, j] if j >= 0 else told
            return Entrance(name, self.input_units[k], self.B[:, k], self.D[:, k], told)
        if name in commands:
            i = commands.index(name)
            asked, B, unit = np.eye(len(told))[i], parts.entry[:, i], self.plant.input_units[i]
        else:
            i = readings.index(name)
            asked = told = parts.gains.u_x[:, i]
            B, unit = parts.entry @ asked + parts.law @ parts.gains.c_x[:, i], self.plant.state_units[i]
        model = self.plant if parts.held is None else parts.held.model
        acting = asked if parts.held is None else asked * (parts.held.delays == 0.0)
        rows = dict(zip(model.outputs, model.D @ acting, strict=True))
        efforts = dict(zip(self.plant.inputs, told, strict=True))
        return Entrance(name, unit, B, np.array([efforts.get(n, rows.get(n, 0.0)) for n in self.outputs]), told)

    def sensitivity(self, motor: str) -> Response:
        """Sensitivity 1 / (1 + L) at one motor, with all other motors' loops closed; see `loop_margins.response`."""
        return self._broken("input").only(motor).sensitivity()

    def noise_system(self) -> tuple[Array, Array, Array, Array]:
        """A, B, C, D from noise of the plant's states as the law gets them to the efforts that the law asks for."""
        broken = self._broken("output")
        return self.A, broken.entry, self._parts.effort, self._parts.gains.u_x

    def margins(self, at: str = "input") -> Margins:
        """Gain, phase and delay margins of the loop; see `margins`."""
        known: dict[str, Margins] = vars(self).setdefault("_margins", {})
        broken = self._broken(at)
        if at not in known:
            known[at] = loop_margins(broken, self._later_input if at == "input" else self._later_output)
        return known[at]

    def _behind_delays(self, at: str, delays: Array) -> BrokenLoop:
        """Loop in continuous time with delays (nu,) of the efforts, s, by Pade approximations one after the other.

        Each is of order 8, for less than 3 rad of phase, so that its error is below 1e-10 where the open loop is above
        a hundredth.
        """
        broken, (entry, effort) = self._broken("input"), (self._parts.entry, self._parts.effort)
        values = np.abs(np.linalg.eigvals(broken.opened))
        omega = np.geomspace(max(values[values > 0.0].min(initial=1.0), 1e-9) * 0.1, 1e6 / delays.max(), 400)
        shifted = 1j * omega[:, None, None] * np.eye(len(self.A)) - broken.opened
        sizes = np.linalg.norm(effort @ np.linalg.solve(shifted, entry[None].astype(complex)), axis=(1, 2))
        highest = omega[sizes > 0.01].max(initial=0.0)
        sections = 1 + int(highest * delays.max() / 3.0)
        if sections > _MOST_SECTIONS:
            raise InputError(
                f"a delay of {delays.max():.6g} s is {highest * delays.max() / (2.0 * np.pi):.0f} periods of "
                f"{highest:.6g} rad/s, up to where the loop {self.name} acts; is it in seconds?"
            )
        late = pade_delays(delays, 8, sections)
        n, m = len(self.A), len(late.A)
        opened = np.block([[self.A - entry @ effort, entry @ late.C], [np.zeros((m, n + m))]])
        opened[n:, n:] = late.A
        entry = np.vstack([entry @ late.D, late.B])
        wide = [np.hstack([x, np.zeros((len(x), m))]) for x in (effort, np.eye(len(self.plant.states), n))]
        A = opened + entry @ wide[0]
        if at == "input":
            return broken._replace(A=A, entry=entry, exit=wide[0])
        law = np.vstack([self._parts.law, np.zeros((m, self._parts.law.shape[1]))])
        entry = entry @ self._parts.gains.u_x + law @ self._parts.gains.c_x
        return self._broken("output")._replace(A=A, entry=entry, exit=wide[1])

    def _later_input(self, motor: int, part: float) -> BrokenLoop:
        """Sampled loop broken at the motors, of which one is delayed by a part of a period, s."""
        held, gains = self._parts.held, self._parts.inner
        delays = held.delays + part * (np.arange(len(held.delays)) == motor)  # type: ignore[union-attr]
        frame = _hold(held._replace(delays=delays), gains, self.dt)  # type: ignore[union-attr]
        A, effort, _ = _closed(frame, gains)
        return BrokenLoop(self.name, "input", self.dt, A, frame.entry, effort, self._broken("input").channels)

    def _later_output(self, k: int, part: float) -> BrokenLoop:
        """Sampled loop broken at the plant's states, of which the law reads one late by a part of a period, s.

        That reading is a state of its own, x_k (T - part) after the sample before.
        """
        broken, held, n = self._broken("output"), self._parts.held, len(self.A)
        plant, delays = held.model, held.delays  # type: ignore[union-attr]
        hold = zero_order_hold(plant.A, plant.B, self.dt, delays)
        early, now, before = hold_until(plant.A, plant.B, self.dt - part, delays - hold.whole * self.dt)
        row, u = np.zeros(n), np.zeros(plant.B.shape[1])  # of the states, and of the present efforts
        row[: len(early)] = early[k]
        past = n - int(hold.past.sum())  # where past efforts stand
        for i in range(len(u)):
            for age, gain in ((hold.whole[i], now[k, i]), (hold.whole[i] + 1, before[k, i])):
                if age == 0:
                    u[i] += gain
                elif age <= hold.past[i]:
                    row[past + age - 1] += gain
            past += int(hold.past[i])
        # the law hears the reading in place of the state
        A = np.zeros((n + 1, n + 1))
        told = np.eye(len(broken.exit), n + 1)
        told[k] = np.eye(n + 1)[n]
        u_x, own = self._parts.gains.u_x, self._parts.effort.copy()
        own[:, : len(told)] = 0.0
        entry = np.vstack([broken.entry, u @ u_x])
        A[:n, :n], A[n, :n] = broken.opened, row + u @ own
        return broken._replace(A=A + entry @ told, entry=entry, exit=told)

    def modal_controllability(self, tolerance: float = 1e-8) -> ModalControllability:
        """How much of each mode of the loop its inputs move and its outputs see; as of a linear model.

        The law is differentiated by differences, so that the tolerance is larger than there. In sampled time
        eigenvalues are those per sample.
        """
        parts = (self.A, self.B, self.C, self.D, self.inputs, self.outputs)
        return modal_controllability(self.name, *parts, plant=self.plant, dt=self.dt, tolerance=tolerance)

    def bandwidth(self, coordinate: str) -> float:
        """Frequency up to which a coordinate follows its reference, within 3 dB of the response at rest, rad/s.

        Inf where it follows at all frequencies.

        Raises
        ------
        ValueError
            For a loop that is not stable, and a coordinate without a reference.

        Examples
        --------
        >>> from cmbcontrol import Constant, plants
        >>> from cmbcontrol.controllers import ProjectedInverseDynamics
        >>> plant = plants.five_bar()
        >>> law = ProjectedInverseDynamics(plant, ("left", "right"), Constant([2.1, 1.0]), bandwidth=8.0)
        >>> round(linearize_closed_loop(plant, law).bandwidth("left"), 2)
        5.15
        """
        followed = [name.removesuffix("_ref") for name in self.inputs if name.endswith("_ref")]
        followed = [name for name in followed if name in self.outputs]
        _check.one_of(coordinate, followed, "coordinate with a reference")
        i, j = self.outputs.index(coordinate), self.inputs.index(f"{coordinate}_ref")
        way = BrokenLoop(self.name, "", self.dt, self.A, self.B[:, [j]], self.C[[i]], ()).without_hidden()[0]
        values = np.linalg.eigvals(way.A)
        if not (growth(values, self.dt) < 0.0).all():
            raise InputError(f"{self.name} is not stable, so that it has no bandwidth")
        return bandwidth(response(way.A, way.entry, way.exit, self.D[[i]][:, [j]], self.dt))

    def __str__(self) -> str:
        lines = [f"{self.name}, {len(self.A)} states" + (f", {self.dt:g} s a sample" if self.dt else "")]
        for what, names, units in (
            ("states ", self.states, self.state_units),
            ("inputs ", self.inputs, self.input_units),
            ("outputs", self.outputs, self.output_units),
        ):
            listed = ", ".join(f"{n} [{u}]" if u else n for n, u in zip(names, units, strict=True))
            lines.append(f"  {what}  {listed or 'none'}")
        lines.append("  pole [1/s]                  frequency [rad/s]  damping ratio")
        for value in self.continuous_poles():
            if value.imag >= 0.0:
                text = f"{value.real: .6g} +- {value.imag:.6g}j" if value.imag else f"{value.real: .6g}"
                ratio = -value.real / abs(value) if np.isfinite(value) and value else float(np.sign(-value.real))
                lines.append(f"  {text:<26}  {abs(value):<17.6g}  {ratio: .4g}")
        return "\n".join(lines)


class Entrance(NamedTuple):
    """Way of one signal into a closed loop.

    Attributes
    ----------
    name, unit : str
    B, D : ndarray, shape (n,) and (outputs,)
        Columns of the model.
    effort : ndarray, shape (nu,)
        What the law asks for at once, for one unit of the signal.
    """

    name: str
    unit: str
    B: Array
    D: Array
    effort: Array


class _Parts(NamedTuple):
    """Matrices that the closed loop is put together from: A = open + entry @ effort."""

    gains: Gains
    entry: Array  # (n, nu) what a motor effort asked for does to the states
    effort: Array  # (nu, n) efforts that the law asks for
    law: Array  # (n, states of the law) where its states stand
    inner: Gains  # on the plant with its drives
    held: _Held | None  # of a sampled loop


class _Held(NamedTuple):
    """Parts of a sampled loop from which it is built again with other delays."""

    model: LinearModel  # of the plant with its drives
    push: Array  # what disturbances do to the rates
    whole: Array  # what these, and the drift, do over a period
    moved: Array
    delays: Array
    motors: Array  # efforts at the motors by the states of the model, and by the commands


def _state_space(loop: ClosedLoop, A, B, C, D, inputs, outputs, name: str) -> control.StateSpace:
    import control  # imported where used: it takes 1.1 s

    labels = {"states": list(loop.states), "inputs": list(inputs), "outputs": list(outputs)}
    return control.ss(A, B, C, D, loop.dt, name=name.replace(".", "_"), **labels)


def linearize_closed_loop(
    plant: Plant,
    law: Any,
    point: Guess = None,
    *,
    state: ArrayLike | None = None,
    coordinates: Sequence[str] | ArrayLike | None = None,
    outputs: Sequence[str] | None = None,
    t: float = 0.0,
    delay: float | ArrayLike | Mapping[str, float] | None = None,
    disturbances: Sequence[str | Wrench] = (),
    find_equilibrium: bool = True,
    trace_at: ArrayLike | None = None,
) -> ClosedLoop:
    """Linear model of a plant under a law, with the law's own states.

    The plant is differentiated analytically (see `affine_approximation`); the law, which may be any Python code, by
    differences of order 8 along the manifold, with steps that are checked. A sampled law meets the plant behind an
    exact zero-order hold.

    Parameters
    ----------
    plant : Plant
        The true plant. The law may compute with another model of it, see `WithModel`.
    law : Controller
        Continuous, or sampled if it has a period; numbers count as constant efforts.
    point : OperatingPoint, RestingLoop, array_like (nq,) or mapping, optional
        State at which the loop is linearized. Unless ``find_equilibrium=False``, only the start of the search for the
        equilibrium.
    state : array_like, optional
        States of the law there; defaults to those of ``law.start(plant)``.
    coordinates : sequence of str, or array_like, shape (dof, nv), optional
        As in `linearize`; defaults to those of the law, where it has any.
    outputs : sequence of str, optional
        As in `linearize`, and ``<actuator>_effort``; defaults to the coordinates and the efforts.
    t : float
        Time at which the law and its reference are frozen, s.
    delay : float, array_like (nu,), or mapping of motor name to float
        Time from a sample to when the motors feel the effort computed from it, s. Sampled laws only; defaults to that
        of the law itself (such as a chain with a `Delay`).
    disturbances : sequence of str or Wrench
        Further inputs, outside moments and forces: loads of the plant or their components by name,
        ``<body>_wrench``, or a `Wrench`, as in `linearize`. The law does not know them.
    find_equilibrium : bool
        Search for the equilibrium of the loop first (`closed_loop_equilibrium`). Without it the loop is linearized at
        the state given, at rest or not; ``drift`` is the rate of its states there.
    trace_at : array_like, shape (nq,), optional
        A closed configuration. Given one, derivatives of the law come from generated code that is traced there: exact,
        and a hundred times faster, after some seconds of compilation for each structure of law and machine. What cannot
        be traced (a law that measures forces, a drive behind the hold) is done by differences all the same.

    Returns
    -------
    ClosedLoop

    Raises
    ------
    EquilibriumError
        Where the loop comes to no rest.
    ValueError
        Where the law has a corner or a jump at the state (saturation, dry friction, an encoder), for unknown names, and
        for a delay of a law in continuous time, or of one that has a delay of its own.

    Notes
    -----
    With u = u_x x + u_c c + u_r r and the law's dc/dt = c_x x + c_c c + c_r r,

        A = [A_p + B_p u_x, B_p u_c; c_x, c_c],    B = [B_p u_r, B_p; c_r, 0].

    Where the law measures the constraint force, which depends on the efforts that act, dc/dt has a term c_u u, too. A
    sampled law then has the efforts before the sample as states. The drive behind the held efforts of a sampled law (a
    chain with a `FirstOrderActuator`, say) is part of what the hold is exact for: its states stand with the plant's,
    and the loop is broken at its entrance.

    Examples
    --------
    >>> from cmbcontrol import Constant, plants
    >>> from cmbcontrol.controllers import ProjectedInverseDynamics
    >>> plant = plants.five_bar()
    >>> law = ProjectedInverseDynamics(plant, ("left", "right"), Constant([2.1, 1.0]), kp=[40, 80], kd=[14, 18])
    >>> linearize_closed_loop(plant, law).poles().real.round(6)
    array([-10., -10.,  -8.,  -4.])
    """
    find_equilibrium = _check.flag(find_equilibrium, "find_equilibrium")
    _check.plant(plant)
    sample = None if trace_at is None else _check.vector(trace_at, plant.nq, "trace_at", plant.position_names)
    frozen_law = FrozenLaw(plant, law, _check.number(t, "t"), trace_at=sample)
    _require_known_force(frozen_law, disturbances)
    find = equilibrium_of if find_equilibrium else given_state
    rest = find(frozen_law, point, state)
    coordinates = _coordinates_for(frozen_law, rest.point) if coordinates is None else coordinates
    efforts = tuple(f"{n}_effort" for n in plant.actuator_names)
    names = (outputs,) if isinstance(outputs, str) else outputs
    if names is not None:
        names = _check.sequence(names, "outputs", "names")
    of_plant = None if names is None else tuple(n for n in names if n not in efforts)
    model = affine_approximation(plant, rest.point, coordinates=coordinates, outputs=of_plant)
    pushed = _pushed(plant, model, coordinates, disturbances, of_plant)
    delays = _delays(frozen_law, model, delay)
    controller = frozen_law.without_drive(sample)
    # the efforts before the sample, where a law measures the force that they cause
    before = rest.point.u[: controller.start.size - rest.state.size]
    state_of_law = np.concatenate([rest.state, before])
    gains = law_gains(controller, Ways.of(model), state_of_law)
    if not (gains.u_r.any() or gains.c_r.any()):  # what is called a reference has no effect on the law
        controller.reference, gains = None, gains._replace(u_r=gains.u_r[:, :0], c_r=gains.c_r[:, :0])
    command, moved = controller(plant.terms(rest.point.q, rest.point.v, frozen_law.t), state_of_law)
    moved = controller.still(state_of_law, moved)
    changes = gains.changing(controller) | (moved != 0.0)
    gains, moved = gains.of_states(changes), moved[changes]
    controller.free, controller.sampled = controller.free[changes], controller.sampled[changes]
    own_motors = np.eye(len(model.A) + plant.nu)[len(model.A) :]
    driven = _Driven(model, pushed.B, gains.u_x, gains.c_x, own_motors)
    if frozen_law.drive is not None:
        driven = _behind_drive(frozen_law, driven, np.concatenate([rest.drive, command]))
    inner = gains._replace(u_x=driven.u_x, c_x=driven.c_x)
    held = None
    if frozen_law.period is None:
        frame = _continuous(driven.model, driven.push, inner, moved)
    else:
        pushed_and_drift = np.column_stack([driven.push, driven.model.drift])
        whole = zero_order_hold(driven.model.A, pushed_and_drift, frozen_law.period).B
        held = _Held(driven.model, driven.push, whole, moved, delays, driven.motors)
        frame = _hold(held, inner, frozen_law.period)
    return _assemble(driven.model, pushed, controller, rest, frame, inner, names, efforts, model, gains, held)


def _delays(law: FrozenLaw, model: LinearModel, given: Any) -> Array:
    """Delay of each motor (nu,), s: that of the law, or the one given."""
    own = law.law.delay
    if own is not None and np.any(own):
        if given is not None:
            raise InputError(
                f"{law.name} has a delay of its own, {np.max(own):.6g} s, so that delay= would be a second one; leave "
                "it out, or take the Delay from the chain"
            )
        given = own
    delays = input_delays(model, 0.0 if given is None else given)
    if law.period is None and delays.any():
        raise InputError(
            f"{law.name} works in continuous time, where a delay has no finite number of states. Give it a period, "
            "or use margins(..., delay=...)."
        )
    if law.measures_force and law.period is not None and (delays >= law.period * (1.0 - 1e-9)).any():
        raise _unknown_force(law, f"a delay of a period or more ({delays.max():.6g} s)")
    return delays


def _require_known_force(law: FrozenLaw, disturbances: Any) -> None:
    """Refuse drives and disturbances under a law that measures forces: their effect on the force is not modelled."""
    if not law.measures_force:
        return
    if law.drive is not None:
        raise _unknown_force(law, "a drive between the law and the motors")
    if disturbances:
        raise _unknown_force(law, "wrenches as disturbances")


def _unknown_force(law: FrozenLaw, what: str) -> ValueError:
    return InputError(
        f"{law.name} measures the constraint force, and how that answers {what} is not part of the linear model; "
        "leave it out, or take differences of simulate(...)"
    )


class _Driven(NamedTuple):
    """Linear model of a plant (with its drives), with inputs of disturbances and the law's gains on its states."""

    model: LinearModel
    push: Array
    u_x: Array
    c_x: Array
    motors: Array


def _behind_drive(law: FrozenLaw, plain: _Driven, state: Array) -> _Driven:
    """Plant with the drive's states after its own, and the drive's command as the effort."""
    model, plant = plain.model, law.plant
    held = FrozenLaw(plant, HeldCommand(law.drive), law.t)
    g = law_gains(held, Ways.of(model), state)
    n = state.size - plant.nu
    rate = held(plant.terms(model.point.q, model.point.v, law.t), state)[1][:n]
    names = [*model.states, *names_of_states(law.drive, plant, "drive")]
    motors = dict(zip(plant.actuator_names, effort_units(plant), strict=True))
    units = [motors.get(name.rpartition("_")[0], "") for name in names[len(model.states) :]]
    driven = replace(
        model,
        A=np.block([[model.A + model.B @ g.u_x, model.B @ g.u_c[:, :n]], [g.c_x[:n], g.c_c[:n, :n]]]),
        B=np.vstack([model.B @ g.u_c[:, n:], g.c_c[:n, n:]]),
        C=np.hstack([model.C + model.D @ g.u_x, model.D @ g.u_c[:, :n]]),
        D=model.D @ g.u_c[:, n:],
        states=tuple(names),
        state_units=(*model.state_units, *units),
        drift=np.append(model.drift, rate),
    )
    u_x, c_x = (np.hstack([x, np.zeros((len(x), n))]) for x in (plain.u_x, plain.c_x))
    push = np.vstack([plain.push, np.zeros((n, plain.push.shape[1]))])
    return _Driven(driven, push, u_x, c_x, np.hstack([g.u_x, g.u_c]))


def margins(
    plant: Plant,
    law: Any,
    point: Guess = None,
    *,
    at: str = "input",
    **options: Any,
) -> Margins:
    """Gain, phase and delay margins of a loop: classical ones, and those for all channels at once.

    Parameters
    ----------
    plant, law, point
        As in `linearize_closed_loop`.
    at : {"input", "output"}
        Where the loop is broken: at the motor efforts, or at the plant's states as the law gets them.
    **options
        Further arguments of `linearize_closed_loop`, such as ``delay``: of a law in continuous time, too.

    Returns
    -------
    Margins
        For a loop that is not stable, the changes of gain and phase that bring it to the border; phases are negative.

    Raises
    ------
    ValueError
        Where a mode that is not stable is no part of the loop, and where the loop is on the border of stability.

    Notes
    -----
    No grid of frequencies is needed: frequencies at which the loop is real, or of size 1, are zeros of systems with
    twice its poles, and largest values are those that no frequency exceeds by more than 1e-8, as eigenvalues of
    Hamiltonian matrices show. The disk margin of all channels is 1 / max mu(S - 1/2) with the sensitivity
    S = (1 + L)^-1 (Seiler, Packard and Gahinet, "An introduction to disk margins", 2020). The structured singular value
    mu is bounded from above by the largest singular value, minimized over diagonal scalings: exact for up to three
    channels, else on the safe side.

    Examples
    --------
    >>> from cmbcontrol import Constant, plants
    >>> from cmbcontrol.controllers import ProjectedInverseDynamics
    >>> plant = plants.five_bar()
    >>> law = ProjectedInverseDynamics(plant, ("left", "right"), Constant([2.1, 1.0]), bandwidth=8.0)
    >>> found = margins(plant, law)
    >>> found.loops[0].phase > 60.0, found.disk_gain > 6.0
    (True, True)
    """
    _check.plant(plant)
    delay = options.get("delay")
    if delay is None or as_controller(law, plant).period is not None:
        return linearize_closed_loop(plant, law, point, **options).margins(at)
    loop = linearize_closed_loop(plant, law, point, **(options | {"delay": None}))
    _check.one_of(at, ("input", "output"), "place to break the loop", "at")
    delays = input_delays(loop.plant, delay)
    return loop_margins(loop._behind_delays(at, delays)) if delays.any() else loop.margins(at)


def _pushed(
    plant: Plant, model: LinearModel, coordinates: Any, disturbances: Sequence[str | Wrench], outputs: Any
) -> LinearModel:
    """Linear model of the plant with outside wrenches and loads as inputs after the motors."""
    given = (disturbances,) if isinstance(disturbances, (str, Wrench)) else tuple(disturbances)
    loads = [*(load.name for load in getattr(plant, "loads", ())), *getattr(plant, "load_names", ())]
    for item in given:
        if not isinstance(item, Wrench) and not item.endswith("_wrench") and item not in loads:
            known = f" (loads: {', '.join(loads)})" if loads else ""
            raise InputError(
                f"a disturbance is a load of the plant{known}, a Wrench or '<body>_wrench', got {item!r}; motors have "
                "theirs anyway"
            )
    if not given:
        return model
    inputs = (*plant.actuator_names, *given)
    return affine_approximation(plant, model.point, coordinates=coordinates, inputs=inputs, outputs=outputs)


def _coordinates_for(law: FrozenLaw, point: OperatingPoint) -> tuple[str, ...] | None:
    """Coordinates of the law, if they are as many as the degrees of freedom; else None."""
    names = law.coordinates
    return names if names is not None and len(names) == law.plant.terms(point.q, point.v).dof else None


class _Frame(NamedTuple):
    """Plant with its hold, and rows for the states of the law: x' = drift + open x + entry u + disturbed d."""

    open: Array
    entry: Array
    disturbed: Array
    applied: Array  # (nu, states): efforts that act right after a sample, where they come from past samples
    direct: Array  # (nu,) 1 where the present effort acts
    drift: Array
    past: tuple[str, ...]
    past_of: tuple[int, ...]  # motor of each past effort
    period: float


def _continuous(model: LinearModel, push: Array, gains: Gains, moved: Array) -> _Frame:
    """Plant in continuous time, with rows for the states of the law."""
    n, m, nu = len(model.A), gains.c_c.shape[0], model.B.shape[1]
    opened = np.zeros((n + m, n + m))
    opened[:n, :n] = model.A
    disturbed = np.vstack([push, _felt(gains, push)])
    none = np.zeros((nu, n + m))
    entry = np.vstack([model.B, gains.c_u])
    return _Frame(opened, entry, disturbed, none, np.ones(nu), np.append(model.drift, moved), (), (), 0.0)


def _felt(gains: Gains, push: Array) -> Array:
    """Gain (m, inputs) of disturbances on the m states of a law that measures the force: of motor efforts alone."""
    return np.hstack([gains.c_u, np.zeros((len(gains.c_u), push.shape[1] - gains.c_u.shape[1]))])


def _hold(held: _Held, gains: Gains, period: float) -> _Frame:
    """Plant behind a zero-order hold with delays, exact, with rows for the states of the law."""
    model, push, whole, moved, delays, _ = held
    n, m, nu = len(model.A), gains.c_c.shape[0], model.B.shape[1]
    hold = zero_order_hold(model.A, model.B, period, delays)
    size = n + m + int(hold.past.sum())
    opened, entry, applied = np.zeros((size, size)), np.zeros((size, nu)), np.zeros((nu, size))
    opened[:n, :n] = hold.A
    names, motors, first = [], [], n + m
    for i in range(nu):
        older = first + np.arange(hold.past[i])  # states that hold u(k-1), u(k-2), ...
        for age, column in ((hold.whole[i], hold.B[:, i]), (hold.whole[i] + 1, hold.B_before[:, i])):
            if age == 0:
                entry[:n, i] += column
            elif age <= hold.past[i]:
                opened[:n, older[age - 1]] += column
        if older.size:
            entry[older[0], i] = 1.0
            opened[older[1:], older[:-1]] = 1.0
            applied[i, older[-1]] = 1.0
        names += [f"{model.inputs[i]}[k-{j + 1}]" for j in range(hold.past[i])]
        motors += [i] * int(hold.past[i])
        first += int(hold.past[i])
    entry[n : n + m] += gains.c_u
    disturbed = np.vstack([whole[:, :-1], _felt(gains, push), np.zeros((size - n - m, push.shape[1]))])
    drift = np.concatenate([whole[:, -1], moved, np.zeros(size - n - m)])
    direct = (hold.past == 0).astype(float)
    return _Frame(opened, entry, disturbed, applied, direct, drift, tuple(names), tuple(motors), period)


def _assemble(
    model: LinearModel,
    pushed: LinearModel,
    law: FrozenLaw,
    rest: RestingLoop,
    frame: _Frame,
    gains: Gains,
    names: Sequence[str] | None,
    efforts: tuple[str, ...],
    bare: LinearModel,
    own: Gains,
    held: _Held | None,
) -> ClosedLoop:
    """Close the loop over the plant with its hold; `bare` is the plant without drives, and `own` the gains on it."""
    m, size, nu = gains.c_c.shape[0], len(frame.open), len(efforts)
    A, effort, at = _closed(frame, gains)
    B = np.hstack([frame.disturbed, frame.entry @ gains.u_r + at @ gains.c_r])
    # outputs of the plant see the efforts that act, those of the law what it asks for
    of_plant = np.zeros((len(model.C), size))
    of_plant[:, : len(model.A)] = model.C
    direct = frame.direct[:, None]
    C = np.vstack([of_plant + model.D @ (frame.applied + direct * effort), effort])
    none = np.zeros((nu, len(pushed.inputs)))
    D = np.block([[pushed.D, model.D @ (direct * gains.u_r)], [none, gains.u_r]])
    available = (*model.outputs, *efforts)
    order = list(range(len(available))) if names is None else _order(names, model.outputs, efforts)
    units = effort_units(law.plant)
    signals, signal_units = _reference_signals(law)
    return ClosedLoop(
        name=f"{law.plant.name} with {law.name}",
        A=A,
        B=B,
        C=C[order],
        D=D[order],
        dt=frame.period,
        states=tuple(different([*model.states, *law.state_names, *frame.past])),
        inputs=(*(f"{n}_disturbance" for n in law.plant.actuator_names), *pushed.inputs[nu:], *signals),
        outputs=tuple(available[k] for k in order),
        state_units=(*model.state_units, *("",) * m, *(units[i] for i in frame.past_of)),
        input_units=(*pushed.input_units, *signal_units),
        output_units=tuple((*model.output_units, *units)[k] for k in order),
        drift=frame.drift,
        rest=rest,
        plant=bare,
        _parts=_Parts(own, frame.entry, effort, at, gains, held),
    )


def _closed(frame: _Frame, gains: Gains) -> tuple[Array, Array, Array]:
    """A of the closed loop, gains (nu, n) of the law's efforts, and columns (n, m) of I that place its m states."""
    n, m, size = gains.u_x.shape[1], gains.c_c.shape[0], len(frame.open)
    at = np.eye(size)[:, n : n + m]
    effort, moved = np.zeros((len(gains.u_x), size)), np.zeros((m, size))
    effort[:, :n], effort[:, n : n + m] = gains.u_x, gains.u_c
    moved[:, :n], moved[:, n : n + m] = gains.c_x, gains.c_c
    return frame.open + frame.entry @ effort + at @ moved, effort, at


def _order(names: Sequence[str], of_plant: Sequence[str], efforts: Sequence[str]) -> list[int]:
    """Rows of C: those of the plant, then the efforts asked for."""
    return [*range(len(of_plant)), *(len(of_plant) + efforts.index(n) for n in names if n in efforts)]


def _reference_signals(law: FrozenLaw) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names and units of the reference's position, velocity and acceleration."""
    ends = (("", ""), ("_rate", "/s"), ("_acceleration", "/s2"))
    signals = [(f"{n}{end}_ref", unit and unit + per) for end, per in ends for n, unit in law.signals]
    return tuple(n for n, _ in signals), tuple(u for _, u in signals)
