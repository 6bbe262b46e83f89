"""FMU as a block of a chain: a drive, a gear, a load at the motors."""

from __future__ import annotations

import copy
import ctypes
import shutil
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ..controllers.chain import EffortBlock, Setting, require_one_each
from ..errors import FileError, InputError, MissingExtraError, ModelError
from ..model.plant import Plant
from ..model.terms import Terms
from ..trace.symbols import NotTraceable

__all__ = ["FmuBlock"]

Array = NDArray[np.float64]

_SIGNALS = ("u", "q", "v")  # efforts that are handed on, positions, velocities
_BYTES = 6  # of a saved state in a number: whole numbers below 2^53 are exact


@dataclass(frozen=True, eq=False)
class FmuBlock(EffortBlock):
    """FMU as a block between a law and the machine: it gets efforts, positions and velocities, and returns efforts.

    One of Model Exchange is part of the machine, in continuous time: its states are those of the chain. One of
    Co-Simulation takes a step from sample to sample of the law, and its effort is held in between; its states are its
    saved state, as numbers. Either way the block keeps nothing: steps can be tried, repeated and taken back.

    Parameters
    ----------
    path : str or Path
        A file ``.fmu`` of FMI 2.0 or 3.0 with a library for this system.
    inputs : mapping of str to str
        Inputs of the FMU (of type Float64 or Real) and their sources: ``"u.left"`` is the effort from the law for the
        motor left, N or N m, ``"q.left"`` and ``"v.left"`` a position and a velocity, ``"t"`` the time, s.
    outputs : mapping of str to str
        Variables of the FMU, and the motors whose efforts they are, N or N m. Other motors get the efforts of the law.
    parameters : mapping of str to float, optional
        Values of its parameters in place of its own.
    adds : bool
        Whether its outputs are added to the efforts (a load), and do not replace them (a drive).
    kind : {"ModelExchange", "CoSimulation"}, optional
        By default the first of them that the FMU has and that can be used.
    plant : Plant, optional
        Plant for the names, where the law has no plant of its own.

    Raises
    ------
    MissingExtraError
        Without fmpy.
    FileError
        Where the file cannot be read, or has no library for this system.
    InputError
        For unknown names, and an FMU that cannot be used: one of Model Exchange with events, one of Co-Simulation whose
        state cannot be saved.

    Notes
    -----
    FMI 3.0.2 and 2.0.5, https://fmi-standard.org.

    Examples
    --------
    >>> from cmbcontrol import plants
    >>> block = FmuBlock("motor.fmu", {"command": "u.left", "speed": "v.left"}, {"torque": "left"})  # doctest: +SKIP
    >>> chain = law | block  # doctest: +SKIP
    """

    path: str | Path
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    parameters: Mapping[str, float] = field(default_factory=dict)
    adds: bool = False
    kind: str | None = None
    plant: Plant | None = field(default=None, kw_only=True, repr=False)
    _setting: Setting | None = field(default=None, init=False, repr=False)
    _known: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    untraced = ("plant", "_setting", "_known")  # nothing of it can be written as symbols

    def __post_init__(self) -> None:
        path = _check.path(self.path, "the path of an FmuBlock")
        for name, what in (("inputs", "signals"), ("outputs", "motors")):
            given = _check.mapping(getattr(self, name), f"{name} of FmuBlock {path.name}", f"variables to {what}")
            made = {_check.text(k, f"a name in {name}"): _check.text(x, f"{name}[{k!r}]") for k, x in given.items()}
            object.__setattr__(self, name, made)
        if not self.outputs:
            raise InputError(f"FmuBlock {path.name} has no outputs, so it does nothing; name one: {{variable: motor}}")
        for variable, signal in self.inputs.items():
            kind, _, name = signal.partition(".")
            if signal != "t" and (kind not in _SIGNALS or not name):
                raise InputError(
                    f"inputs[{variable!r}] of FmuBlock {path.name} must be 't', 'u.MOTOR', 'q.COORDINATE' or "
                    f"'v.COORDINATE', got {signal!r}"
                )
        values = _check.mapping(self.parameters, f"parameters of FmuBlock {path.name}", "names to numbers")
        values = {name: _check.number(x, f"parameter {name!r} of FmuBlock {path.name}") for name, x in values.items()}
        object.__setattr__(self, "path", path)
        object.__setattr__(self, "parameters", values)
        object.__setattr__(self, "adds", _check.flag(self.adds, "adds"))
        if self.kind is not None:
            _check.option(self.kind, ("ModelExchange", "CoSimulation"), "kind")
        found = _Fmu(path, self.kind, self.inputs, self.outputs, values)
        object.__setattr__(self, "kind", found.kind)
        self._known["fmu"] = found

    def __getstate__(self) -> dict[str, Any]:
        """State for pickling, without instances of this process."""
        return vars(self) | {"_known": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)

    @property
    def no_code(self) -> str:  # type: ignore[override]
        """Reason why the block cannot be compiled: an FMU gives results, but not its equations."""
        return f"the FMU {Path(self.path).name}, whose equations are not known"

    @property
    def _fmu(self) -> _Fmu:
        if "_known" not in vars(self):  # a copy to be traced
            raise NotTraceable(self.no_code)
        if "fmu" not in self._known:
            self._known["fmu"] = _Fmu(Path(self.path), self.kind, self.inputs, self.outputs, self.parameters)
        return self._known["fmu"]

    @property
    def place(self) -> str:  # type: ignore[override]
        """Place of the block in the chain: "machine" or "controller"."""
        return "machine" if self.kind == "ModelExchange" else "controller"

    def bound(self, setting: Setting) -> Self:
        plant = setting.known(self, "for names of motors and coordinates")
        if self.kind == "CoSimulation" and setting.period is None:
            raise InputError(
                f"FmuBlock {Path(self.path).name} is one of Co-Simulation, which steps from sample to sample, and "
                f"{setting.law.name} works in continuous time; give the law a period, or use kind='ModelExchange'"
            )
        names = {"u": plant.actuator_names, "q": plant.position_names, "v": plant.velocity_names}
        for variable, signal in self.inputs.items():
            kind, _, name = signal.partition(".")
            if signal == "t":
                continue
            _check.one_of(name, names[kind], "motor" if kind == "u" else "coordinate", f"inputs[{variable!r}]")
        for variable, motor in self.outputs.items():
            _check.one_of(motor, plant.actuator_names, "motor", f"outputs[{variable!r}]")
        made = copy.copy(self)  # and no second instance of the FMU
        object.__setattr__(made, "_setting", setting._replace(plant=plant))
        object.__setattr__(made, "_known", self._known)
        return made

    # -- states ----------------------------------------------------------------------------------------------------

    def start(self, plant: Plant) -> Array:
        require_one_each(np.zeros(plant.nu), plant, "the efforts of FmuBlock")
        return self._fmu.start.copy()

    def count(self, terms: Terms) -> int:
        return self._fmu.start.size

    def state_names(self, plant: Plant) -> Sequence[str]:
        return [f"{Path(self.path).stem}_{name}" for name in self._fmu.state_names]

    # -- what goes through -------------------------------------------------------------------------------------------

    def effort(self, t: float, terms: Terms, u: Array, state: Array) -> Array:
        given = self._fmu.outputs(t, state, self._signals(t, terms, u))
        made = np.array(u, dtype=np.float64)
        for i, x in zip(self._motors, given, strict=True):
            made[i] = made[i] + x if self.adds else x
        return made

    def derivative(self, t: float, terms: Terms, u: Array, state: Array) -> Array:
        return self._fmu.rates(t, state, self._signals(t, terms, u))

    def update(self, t: float, terms: Terms, u: Array, state: Array) -> Array:
        signals = self._signals(t, terms, u)
        return self._fmu.stepped(t, self._setting.period, state, signals)  # type: ignore[union-attr,arg-type]

    @property
    def _motors(self) -> list[int]:
        names = self._setting.plant.actuator_names  # type: ignore[union-attr]
        return [names.index(motor) for motor in self.outputs.values()]

    def _signals(self, t: float, terms: Terms, u: Array) -> list[float]:
        """Values of the inputs of the FMU."""
        plant = self._setting.plant  # type: ignore[union-attr]
        places = {
            "u": (plant.actuator_names, u),  # type: ignore[union-attr]
            "q": (plant.position_names, terms.q),  # type: ignore[union-attr]
            "v": (plant.velocity_names, terms.v),  # type: ignore[union-attr]
        }
        made = []
        for signal in self.inputs.values():
            kind, _, name = signal.partition(".")
            made.append(float(t) if signal == "t" else float(places[kind][1][places[kind][0].index(name)]))
        return made

    def __str__(self) -> str:
        return f"FmuBlock({Path(self.path).name})"


class _Fmu:
    """Instance of an FMU in this process; its state is set before each evaluation."""

    def __init__(
        self,
        path: Path,
        kind: str | None,
        inputs: Mapping[str, str],
        outputs: Mapping[str, str],
        parameters: Mapping[str, float],
    ) -> None:
        fmpy = _fmpy()
        self.path, self.messages = path, list[str]()
        if not path.is_file():
            raise FileError(f"there is no FMU {path}; check the path")
        try:
            folder = fmpy.extract(str(path))
        except Exception as error:
            raise FileError(f"{path} cannot be unzipped: {error}; it may be no FMU") from error
        weakref.finalize(self, shutil.rmtree, folder, True)
        try:
            described = fmpy.read_model_description(folder)
        except Exception as error:
            raise FileError(f"the description in {path} cannot be read: {error}") from error
        self.version = described.fmiVersion.partition(".")[0]
        if self.version not in ("2", "3"):
            raise FileError(f"{path} is of FMI {described.fmiVersion}; 2.0 and 3.0 can be used")
        self.kind = kind or self._usable(described)
        self._require(described)
        variables = {x.name: x for x in described.modelVariables}
        self._inputs = [self._reference(variables, name, "input", ("input",)) for name in inputs]
        self._outputs = [self._reference(variables, name, "output", None) for name in outputs]
        settings = {
            self._reference(variables, name, "parameter", ("parameter", "local")): x for name, x in parameters.items()
        }
        self._instance = self._open(fmpy, folder, described)
        weakref.finalize(self, _freed, self._instance)
        self._initialize(settings)
        states = [x.derivative.name for x in described.modelVariables if x.derivative is not None]
        if self.kind == "ModelExchange":
            n = described.numberOfContinuousStates
            self._x = (ctypes.c_double * n)()
            self._dx = (ctypes.c_double * n)()
            if n:
                self._call("getContinuousStates", self._x, n)
            self.start = np.array(self._x, dtype=np.float64)
            self.state_names = states if len(states) == n else [f"state_{i + 1}" for i in range(n)]
        else:
            self.start = self._saved()
            self.state_names = [f"saved_{i + 1}" for i in range(self.start.size)]

    def _usable(self, described: Any) -> str:
        """Kind that can be used; Model Exchange if both can."""
        exchange = described.modelExchange is not None and not described.numberOfEventIndicators
        return "ModelExchange" if exchange or described.coSimulation is None else "CoSimulation"

    def _require(self, described: Any) -> None:
        """Raise an error for an FMU that cannot be a block."""
        name = self.path.name
        part = described.modelExchange if self.kind == "ModelExchange" else described.coSimulation
        if part is None:
            raise InputError(f"FMU {name} has no {self.kind}; leave out kind")
        if self.kind == "ModelExchange" and described.numberOfEventIndicators:
            raise InputError(
                f"FMU {name} has {described.numberOfEventIndicators} event indicators, and a block in continuous time "
                "has no events; use one of Co-Simulation, kind='CoSimulation'"
            )
        if self.kind == "CoSimulation" and not (part.canGetAndSetFMUstate and part.canSerializeFMUstate):
            raise InputError(
                f"the state of FMU {name} cannot be saved (canSerializeFMUState), and a block hands its states in and "
                "out; export it with that, or for Model Exchange"
            )

    def _reference(self, variables: Mapping[str, Any], name: str, what: str, causalities: Sequence[str] | None) -> int:
        """Value reference of a real variable."""
        fitting = [n for n, x in variables.items() if causalities is None or x.causality in causalities]
        _check.one_of(name, fitting, what, f"FMU {self.path.name}")
        variable = variables[name]
        if variable.type not in ("Real", "Float64") or variable.dimensions:
            raise InputError(
                f"variable {name!r} of FMU {self.path.name} is of type {variable.type}; single numbers of type Float64 "
                "or Real can be connected"
            )
        return variable.valueReference

    def _open(self, fmpy: Any, folder: str, described: Any) -> Any:
        """Instance of the FMU; its last messages are kept for errors."""
        messages = self.messages  # and not self, which could never be freed

        def tell(*given: Any) -> None:
            messages.append(given[-1].decode("utf-8", "replace"))
            del messages[:-5]

        try:
            return fmpy.instantiate_fmu(folder, described, self.kind, logger=tell)
        except Exception as error:
            raise FileError(
                f"FMU {self.path.name} cannot be started: {error}{self._told()}; it may have no library for this "
                "system: compile it from its sources (fmpy compile)"
            ) from error

    def _told(self) -> str:
        return f" ({'; '.join(self.messages)})" if self.messages else ""

    def _call(self, name: str, *arguments: Any) -> Any:
        try:
            return getattr(self._instance, name)(*arguments)
        except Exception as error:
            raise ModelError(f"FMU {self.path.name} failed in {name}: {error}{self._told()}") from error

    def _initialize(self, settings: Mapping[int, float]) -> None:
        if self.version == "2":
            self._call("setupExperiment")
        if settings:
            self._set(list(settings), list(settings.values()))
        self._call("enterInitializationMode")
        self._call("exitInitializationMode")
        if self.kind != "ModelExchange":
            return
        again, timed = True, False
        while again:
            again, _, _, _, timed, _ = self._call(
                "newDiscreteStates" if self.version == "2" else "updateDiscreteStates"
            )
        if timed:
            raise InputError(
                f"FMU {self.path.name} has time events, and a block in continuous time has none; use one of "
                "Co-Simulation, kind='CoSimulation'"
            )
        self._call("enterContinuousTimeMode")

    def _set(self, references: list[int], values: Sequence[float]) -> None:
        if references:
            self._call("setReal" if self.version == "2" else "setFloat64", references, values)

    def _get(self, references: list[int]) -> list[float]:
        return self._call("getReal" if self.version == "2" else "getFloat64", references)

    # -- Model Exchange ------------------------------------------------------------------------------------------

    def _at(self, t: float, state: Array, signals: Sequence[float]) -> None:
        if self.kind == "ModelExchange":
            self._call("setTime", float(t))
            if len(state):
                self._x[:] = state.tolist()
                self._call("setContinuousStates", self._x, len(state))
        else:
            self._load(state)
        self._set(self._inputs, signals)

    def outputs(self, t: float, state: Array, signals: Sequence[float]) -> list[float]:
        """Outputs at a state."""
        self._at(t, state, signals)
        return self._get(self._outputs)

    def rates(self, t: float, state: Array, signals: Sequence[float]) -> Array:
        """Rates of the states."""
        if not len(state):
            return np.zeros(0)
        self._at(t, state, signals)
        name = "getDerivatives" if self.version == "2" else "getContinuousStateDerivatives"
        self._call(name, self._dx, len(state))
        return np.array(self._dx, dtype=np.float64)

    # -- Co-Simulation -------------------------------------------------------------------------------------------

    def stepped(self, t: float, period: float, state: Array, signals: Sequence[float]) -> Array:
        """Saved state after a step."""
        self._at(t, state, signals)
        self._call("doStep", float(t), float(period))
        return self._saved()

    @property
    def _word(self) -> str:
        return "FMUstate" if self.version == "2" else "FMUState"

    def _saved(self) -> Array:
        """Saved state as numbers: its length in bytes, and then whole numbers of some bytes each."""
        held = self._call(f"get{self._word}")
        content = bytes(self._call(f"serialize{self._word}", held))
        self._call(f"free{self._word}", held)
        padded = np.frombuffer(content + bytes(-len(content) % _BYTES), np.uint8).reshape(-1, _BYTES)
        return np.concatenate([[float(len(content))], padded.astype(np.float64) @ 256.0 ** np.arange(_BYTES)])

    def _load(self, state: Array) -> None:
        whole = state[1:].astype(np.int64)
        padded = (whole[:, None] >> (8 * np.arange(_BYTES))) & 255
        content = padded.astype(np.uint8).tobytes()[: int(state[0])]
        held = self._call("deSerializeFMUstate" if self.version == "2" else "deserializeFMUState", content)
        self._call(f"set{self._word}", held)
        self._call(f"free{self._word}", held)


def _freed(instance: Any) -> None:
    """Free an instance; at the end of a process its library may be gone, which is ignored."""
    try:
        instance.terminate()
        instance.freeInstance()
    except Exception:
        return


def _fmpy() -> Any:
    try:
        import fmpy
    except ImportError as error:
        raise MissingExtraError('FMUs are run by fmpy; install it: pip install "cmbcontrol[fmu]"') from error
    return fmpy
