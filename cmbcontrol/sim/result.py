"""Result of a run: labelled arrays with units, and the errors that show how accurate they are."""

from __future__ import annotations

import copy
import json
import pickle
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import _check, _files, _netcdf
from .._notebook import Shown
from ..errors import InputError, InputTypeError, Status
from ..model.plant import Plant
from ..model.units import effort_units, row_force_units
from .motor_duty import motor_table
from .motor_limits import MotorAtLimit, motors_at_limits
from .provenance import Call, Provenance
from .singularities import SingularityEvent, singularities
from .summary import summary

if TYPE_CHECKING:
    import pandas
    import xarray
    from matplotlib.figure import Figure


__all__ = ["RunData", "Simulation", "build_dataset", "labelled", "load_run"]

Array = NDArray[np.float64]

_PROVENANCE = "provenance"  # attribute of files
_EVENT_FIELDS = ("event_time", "event_conditioning", "event_rank", "event_loss")


class RunData(Protocol):
    """Source of the data of a run, which computes them when they are read.

    Attributes
    ----------
    times : ndarray
    settings : dict
        What the attributes of the data say beside what the steps do.
    """

    times: Array
    settings: dict[str, Any]

    def variable(self, name: str) -> xarray.DataArray:
        """Positions "q", velocities "v" or efforts "u" alone."""

    def dataset(self) -> xarray.Dataset:
        """All data."""


class Simulation(Shown):
    """Result of a run: its data with units, how it ended, and how accurate it is.

    Attributes
    ----------
    data : xarray.Dataset
        Dimensions time, position, velocity, actuator, row, loop, event. Variables, each with units
        in its attrs: ``q``, ``v``, ``a``, ``u`` (efforts that act at the joints, behind the drives), ``command``
        (what the controller asks of the motors; the same without drives), ``effort_limit`` (of each motor),
        ``constraint_force`` (A' lam), ``multipliers``,
        ``drift`` (how far each loop is open), ``kinetic``, ``potential``, ``energy``,
        ``actuator_work``, ``dissipated_work``, ``load_work``, ``motion_work``, ``impact_loss``,
        ``energy_balance`` (the energy less what they have added, less that at the start: zero in truth), ``active``
        (which loops hold), ``actuator_power``, ``load_power``, ``motion_power``, ``motion_effort`` (of what prescribes
        motions), ``constraint_power`` (of all other constraints; zero in truth),
        ``rank``, ``conditioning``, and for each singular passage ``event_time``, ``event_kind``,
        ``event_conditioning``, ``event_rank``, ``event_q``, ``event_v``, ``event_v_after`` (which differ where the run
        took another branch), ``event_loss`` (energy lost, J). With a tracking
        controller also ``reference`` and ``error``; with one that reports, ``report`` by ``quantity``. With a
        formulation by name, accelerations and forces are those it gives, and ``formulation_conditioning`` is its own.
    plant : Plant or None
        None where the run was loaded from a file that cannot hold it, or came from another process and it cannot be
        pickled.
    provenance : Provenance or None
        Machine, law, settings, versions and date, as files keep them.
    status : Status

    Notes
    -----
    ``run.q``, ``run.u`` and so on are short for ``run.data["q"]``.
    """

    def __init__(self, data: xarray.Dataset | RunData, plant: Plant | None = None) -> None:
        if hasattr(data, "dataset"):
            self._output = data
        else:
            self.data = data
        if plant is not None:
            self.plant = plant
        self.call: Call | None = None

    @cached_property
    def plant(self) -> Any:  # a Plant, of whatever class; None of a file that does not hold it
        """Plant of the run; built again from a file when it is first read."""
        return None if self.provenance is None else self.provenance.plant()

    @cached_property
    def provenance(self) -> Provenance | None:
        """Machine, law, settings, versions and date; written down when first read."""
        return None if self.call is None else Provenance.of(self.call)

    def rerun(self, **changes: Any) -> Simulation:
        """Make the run again, to the last bit on the same platform, or with some arguments of `simulate` changed.

        Parameters
        ----------
        **changes
            Arguments of `simulate` by name, in place of those of the run.

        Raises
        ------
        ValueError
            Where a file does not hold what the run was made with, such as functions of a user; give these again.

        Examples
        --------
        >>> from cmbcontrol import plants, simulate
        >>> plant = plants.five_bar()
        >>> run = simulate(plant, q0=plant.assemble(left=2.1, right=1.0), t_end=0.1)
        >>> bool((run.rerun().q == run.q).all()), run.rerun(t_end=0.2).time[-1]
        (True, np.float64(0.2))
        """
        from .simulate import simulate

        if self.call is not None:
            return simulate(**dict(self.call.arguments) | changes)
        if self.provenance is None:
            raise InputError("the run does not know how it was made: its file was saved by an older version")
        return simulate(**self.provenance.call(changes))

    @cached_property
    def data(self) -> xarray.Dataset:
        """Data of the run; computed when they are first read, since often only the motion is wanted, or its end."""
        data = self._output.dataset()
        del self._output  # and the steps with it
        return data

    def explain(self, why: str) -> None:
        """Say why the run failed, in place of its message; data that nobody has read yet are not made for it."""
        if "data" in vars(self):
            self.data.attrs["message"] = why
        else:
            self._output.settings = self._output.settings | {"message": why}

    def __getstate__(self) -> dict[str, Any]:
        """State for pickling: without a plant that cannot be pickled, and with all numbers."""
        state = {"data": self.data, "plant": self.plant, "call": self.call}
        for name in ("plant", "call"):
            try:
                pickle.dumps(state[name])
            except Exception:  # whatever the functions of a user raise
                state[name] = None
        if state["call"] is None:
            state["provenance"] = self.provenance
        return state

    def __copy__(self) -> Simulation:
        return self._with(self.data)

    def __deepcopy__(self, memo: dict) -> Simulation:
        return self._with(copy.deepcopy(self.data, memo))

    def _with(self, data: xarray.Dataset) -> Simulation:
        other = Simulation(data, vars(self).get("plant"))  # one of a file is built when it is asked for
        other.call = self.call
        if self.call is None:
            vars(other)["provenance"] = self.provenance
        return other

    def __getattr__(self, name: str) -> xarray.DataArray:
        if name in ("q", "v", "u") and "data" not in vars(self):
            return self._output.variable(name)
        if name.startswith("_") or name not in self.data:
            names = "" if name.startswith("_") else ", ".join(map(str, self.data.data_vars))
            told = "; no law reported anything. write_report(path) writes a report" if name == "report" else ""
            raise AttributeError(f"a run has no {name!r} (variables: {names}){told}")
        return self.data[name]

    @property
    def time(self) -> Array:
        """Output times, s."""
        return self.data["time"].values if "data" in vars(self) else self._output.times

    @property
    def status(self) -> Status:
        """Status with which the run ended."""
        return Status(int(self.data.attrs["status"]))

    @property
    def message(self) -> str:
        """Message that describes how the run ended."""
        return str(self.data.attrs["message"])

    @property
    def max_drift(self) -> float:
        """Largest opening of any loop at any output time, m."""
        return float(self.data["drift"].max()) if self.data["drift"].size else 0.0

    @property
    def max_energy_error(self) -> float:
        """Largest deviation of the energy balance, J."""
        return float(np.abs(self.data["energy_balance"]).max())

    def events(self) -> list[dict[str, Any]]:
        """Singular passages and changes of the loops: time (s), kind, conditioning, rank, energy lost (J), in order."""
        kinds = [str(k) for k in self.data["event_kind"].values]
        columns = [self.data[f].values.tolist() for f in _EVENT_FIELDS]
        return [
            {"time": t, "kind": k, "conditioning": c, "rank": int(r), "loss": loss}
            for k, t, c, r, loss in zip(kinds, *columns, strict=True)
        ]

    def motors_at_limits(self) -> list[MotorAtLimit]:
        """Motors that the run takes to their limits, and how much more the law asks for.

        A run gives the motors what the law asks for, whatever their limits: `controllers.Saturation` cuts it off, laws
        with limits keep within them. The summary, ``print(run)``, has these lines, too.

        Returns
        -------
        list of MotorAtLimit
            In the order of the motors: ``motor``, ``joint``, ``unit``, ``limit``, ``asked`` (N or N m), ``time`` (s),
            ``share`` of the time at the limit or above, ``beyond`` (whether more was asked than the motor has).

        Examples
        --------
        >>> from cmbcontrol import plants, simulate
        >>> plant = plants.five_bar(effort=20.0)
        >>> run = simulate(plant, [-30.0, 15.0], plant.assemble(left=2.1, right=1.0), t_end=0.1)
        >>> print(*run.motors_at_limits())
        the law asks up to 30 N m of motor 'left' (limit 20 N m) at t = 0 s, above its limit for 100 % of the time
        """
        return motors_at_limits(self)

    def motors(self) -> pandas.DataFrame:
        """Table of what the run asks of each motor: RMS and peak efforts, speeds and powers, beside the ratings.

        Efforts are those that act at the joints, behind the drives; speeds are of the motors themselves, gear times
        that of the joint. RMS values are over the time of the run: for heat, take whole cycles of the machine.

        Returns
        -------
        pandas.DataFrame
            A row for each motor, by name: ``unit`` (of efforts), ``rms``, ``peak``, ``peak_time`` (s), ``limit``,
            ``continuous`` (`Actuator.continuous`), ``share`` (RMS over continuous effort), ``speed_unit``,
            ``rms_speed``, ``peak_speed``, ``peak_speed_time``, ``speed_limit`` (`Actuator.speed`), ``peak_power`` (W),
            ``peak_power_time``. Peaks are sizes at output times. What is not known is nan: RMS values of a single
            time, ratings that motors have not, speeds where the run does not know its plant.

        Examples
        --------
        >>> from cmbcontrol import plants, simulate
        >>> plant = plants.five_bar()
        >>> run = simulate(plant, [-30.0, 15.0], plant.assemble(left=2.1, right=1.0), t_end=0.1)
        >>> run.motors()[["unit", "rms", "peak"]].round(6).values.tolist()
        [['N m', 30.0, 30.0], ['N m', 15.0, 15.0]]
        """
        return motor_table(self)

    def reactions(self, *, axes: str = "joint") -> xarray.Dataset:
        """Forces and moments that the joints and constraints carry, at the times of the run; see `reactions`.

        Raises
        ------
        TypeError
            For plants that are given by functions, and runs that do not know their plant.

        Examples
        --------
        >>> from cmbcontrol import plants, simulate
        >>> plant = plants.five_bar()
        >>> run = simulate(plant, q0=plant.assemble(left=2.1, right=1.0), t_end=0.1)
        >>> dict(run.reactions().force.sizes)
        {'time': 501, 'joint': 5, 'axis': 3}
        """
        from ..dynamics.reactions import reactions_along

        if self.plant is None:
            raise InputTypeError("the file of this run does not hold its plant: use reactions(plant, q, v, u)")
        plant, data = self.plant, self.data
        states = {name: data[name].values for name in ("q", "v", "a", "u", "time")} | {"lam": data.multipliers.values}
        if "loads" in data and data.sizes["load_component"]:
            states["loads"] = data.loads.values
        counts = [rows.stop - rows.start for rows in plant.row_slices.values()]
        states["active"] = np.repeat(data.active.values, counts, axis=1)
        return reactions_along(plant, states, axes=axes)  # type: ignore[arg-type]

    def singularities(self, plant: Plant | None = None) -> list[SingularityEvent]:
        """Singular configurations that the run met, each with its branches, its lost rows and the branch taken.

        Parameters
        ----------
        plant : Plant, optional
            Needed where the run was loaded from a file that does not hold it.

        Examples
        --------
        >>> from cmbcontrol import plants, simulate
        >>> crank = plants.slider_crank()
        >>> run = simulate(crank, q0=[1.2, -2.4], v0=[2.0, -4.0], t_end=0.5)
        >>> (event,) = run.singularities()
        >>> round(event.time, 3), event.rank, event.taken, event.configuration.bifurcation
        (0.197, 0, 1, True)
        """
        if plant is not None:
            _check.plant(plant)
        plant = self.plant if plant is None else plant
        if plant is None:
            raise InputTypeError("the file of this run does not hold its plant: give it, run.singularities(plant)")
        if "event_v" not in self.data:
            raise InputError("the run was saved by an older version, which did not keep the velocity of events")
        return singularities(plant, self.data)

    def save(self, path: str | Path) -> Path:
        """Write the run as a netCDF file, ``.nc``; read it back with `load_run`.

        The file is written as a whole or not at all: what was there stays until the new one is on the disk.

        Raises
        ------
        FileError
            If it cannot be written.
        ValueError
            If the name has another suffix.
        """
        path = _check.path(path)
        if path.suffix != ".nc":
            raise InputError(f"a run is kept in a .nc file (netCDF), got {path.name!r}")
        data = self.data
        if self.provenance is not None:
            data = data.assign_attrs({_PROVENANCE: self.provenance.text()})
        return _files.write(path, _netcdf.encoded(data))

    def to_control(self) -> Any:
        """Run as `control.TimeResponseData`: motor efforts in, positions and velocities out."""
        import control

        outputs = np.vstack([self.data["q"].values.T, self.data["v"].values.T])
        labels = [str(n) for n in self.data["position"].values]
        labels += [f"{n}_rate" for n in self.data["velocity"].values]
        return control.TimeResponseData(
            self.time,
            outputs,
            None,
            self.data["u"].values.T if self.data.sizes["actuator"] else None,
            output_labels=labels,
            input_labels=[f"{n}_effort" for n in self.data["actuator"].values] or None,
            title=str(self.data.attrs["plant"]),
            issiso=False,
        )

    def plot(self, **options: Any) -> Figure:
        """Plot joints, references and torques over time; see `cmbcontrol.plot.responses`."""
        from ..plot import responses

        return responses(self, **options)

    def animate(self, path: str | Path, **options: Any) -> Path:
        """Write an animation of the machine; see `cmbcontrol.plot.animate`."""
        from ..plot import animate

        return animate(self, path, **options)

    def __str__(self) -> str:
        return summary(self)

    def __repr__(self) -> str:
        d = self.data
        beyond = sum(motor.beyond for motor in motors_at_limits(self))
        asked = f"; {beyond} motor{'s' if beyond > 1 else ''} asked for more than the limit" if beyond else ""
        return (
            f"<Simulation of {d.attrs['plant']!r}: {d.sizes['time']} times to {self.time[-1]:.6g} s, "
            f"{d.attrs['steps']} steps, {d.attrs['evaluations']} evaluations, drift {self.max_drift:.1e} m, "
            f"energy error {self.max_energy_error:.1e} J, {d.sizes['event']} events; {self.message}{asked}>"
        )


def load_run(path: str | Path) -> Simulation:
    """Read a run that `Simulation.save` wrote.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is damaged, or not a run.
    """
    path = _check.path(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no run at {path}")
    data = _netcdf.read(path, "a run of cmbcontrol")
    if "status" not in data.attrs or "energy_balance" not in data:
        raise InputError(f"{path} is not a run of cmbcontrol: it lacks the status and the energy balance")
    text = data.attrs.pop(_PROVENANCE, None)
    run = Simulation(data)
    if text is not None:
        vars(run)["provenance"] = Provenance.from_text(str(text))
    return run


def units(names: tuple[str, ...]) -> str:
    """Units of several columns, as one attribute that files can keep."""
    return json.dumps(list(names))


def labelled(plant: Plant, times: Array, name: str, values: Array) -> xarray.DataArray:
    """Positions "q", velocities "v" or efforts "u" as they are in the data of a run."""
    import xarray

    dimension, names, unit, words = {
        "q": ("position", plant.position_names, units(plant.position_units), "joint positions"),
        "v": ("velocity", plant.velocity_names, units(plant.velocity_units), "joint velocities"),
        "u": ("actuator", plant.actuator_names, units(effort_units(plant)), "efforts that act at the joints"),
    }[name]
    coords = {"time": ("time", times, {"units": "s"}), dimension: (dimension, np.array(names, dtype=str))}
    attributes = {"units": unit, "long_name": words}
    return xarray.DataArray(values, coords, ("time", dimension), name, attributes)


def build_dataset(plant: Plant, times: Array, columns: dict[str, Array], events: list[dict], attrs: dict[str, Any]):
    """Dataset of a run, from its arrays."""
    import xarray

    effort = tuple("N m" if u == "rad/s" else "N" for u in plant.velocity_units)
    efforts_of_motions = tuple("N m" if u == "rad" else "N" for u in plant.motion_units)
    of_loads = tuple("N" if name[-2] == "f" else "N m" for name in getattr(plant, "load_names", ()))
    controlled, reported = units(columns.pop("controlled_units", ())), units(columns.pop("quantity_units", ()))
    layout = {
        "q": (("time", "position"), units(plant.position_units), "joint positions"),
        "v": (("time", "velocity"), units(plant.velocity_units), "joint velocities"),
        "a": (("time", "velocity"), units(tuple(f"{u}2" for u in plant.velocity_units)), "joint accelerations"),
        "u": (("time", "actuator"), units(effort_units(plant)), "efforts that act at the joints"),
        "command": (("time", "actuator"), units(effort_units(plant)), "efforts that the controller commands"),
        "constraint_force": (("time", "velocity"), units(effort), "constraint force A' lam"),
        "multipliers": (("time", "row"), units(row_force_units(plant)), "smallest multipliers"),
        "drift": (("time", "loop"), "m", "opening of the loops"),
        "kinetic": (("time",), "J", "kinetic energy"),
        "potential": (("time",), "J", "potential energy"),
        "energy": (("time",), "J", "total energy"),
        "actuator_work": (("time",), "J", "work of the actuators"),
        "dissipated_work": (("time",), "J", "energy dissipated in friction and dampers"),
        "load_work": (("time",), "J", "work of the loads"),
        "motion_work": (("time",), "J", "work of what prescribes motions"),
        "impact_loss": (("time",), "J", "energy lost in impacts"),
        "energy_balance": (("time",), "J", "energy - work since the start; zero in exact motion"),
        "actuator_power": (("time",), "W", "power of the actuators"),
        "dissipated_power": (("time",), "W", "power dissipated"),
        "load_power": (("time",), "W", "power of the loads"),
        "motion_power": (("time",), "W", "power of what prescribes motions"),
        "motion_effort": (("time", "motion"), units(efforts_of_motions), "efforts of what prescribes motions"),
        "motions": (("time", "motion"), units(plant.motion_units), "prescribed positions"),
        "loads": (("time", "load_component"), units(of_loads), "forces and moments of the loads"),
        "constraint_power": (("time",), "W", "power of the constraint force (zero in truth)"),
        "rank": (("time",), "1", "rank of the constraint Jacobian"),
        "conditioning": (("time",), "1", "smallest over largest pivot of the constraint gradients"),
        "formulation_conditioning": (("time",), "1", "condition number of what the formulation solves with"),
        "active": (("time", "loop"), "", "loops that hold"),
        "reference": (("time", "controlled"), controlled, "reference of the controlled coordinates"),
        "error": (("time", "controlled"), controlled, "tracking error, reference less value"),
        "report": (("time", "quantity"), reported, "what the controller reports"),
    }
    coords: dict[str, Any] = {
        "time": ("time", times, {"units": "s"}),
        "position": ("position", np.array(plant.position_names, dtype=str)),
        "velocity": ("velocity", np.array(plant.velocity_names, dtype=str)),
        "actuator": ("actuator", np.array(plant.actuator_names, dtype=str)),
        "row": ("row", np.array(plant.row_names, dtype=str)),
        "loop": ("loop", np.array(tuple(plant.row_slices), dtype=str)),
        "load_component": ("load_component", np.array(getattr(plant, "load_names", ()), dtype=str)),
        "motion": ("motion", np.array(plant.motion_names, dtype=str)),
    }
    for name in ("controlled", "quantity"):
        if name in columns:
            coords[name] = (name, np.array(columns.pop(name), dtype=str))
    variables: dict[str, Any] = {
        name: (layout[name][0], values, {"units": layout[name][1], "long_name": layout[name][2]})
        for name, values in columns.items()
    }
    limits = {"units": units(effort_units(plant)), "long_name": "largest efforts of the motors"}
    variables["effort_limit"] = ("actuator", np.array(plant.effort, dtype=float), limits)
    variables["event_time"] = ("event", np.array([e["time"] for e in events]), {"units": "s"})
    variables["event_kind"] = ("event", np.array([e["kind"] for e in events], dtype=str))
    variables["event_conditioning"] = (
        "event",
        np.array([e["conditioning"] for e in events], dtype=float),
        {"units": "1"},
    )
    variables["event_loss"] = ("event", np.array([e.get("loss", 0.0) for e in events], dtype=float), {"units": "J"})
    variables["event_rank"] = ("event", np.array([e["rank"] for e in events], dtype=np.int64), {"units": "1"})
    q = np.array([e["q"] for e in events]).reshape(len(events), plant.nq)
    for name, key, words in (
        ("event_v", "v", "velocity at the event"),
        ("event_v_after", "v_after", "velocity after it, where a run took another branch"),
    ):
        v = np.array([e.get(key, np.full(plant.nv, np.nan)) for e in events]).reshape(len(events), plant.nv)
        attributes = {"units": units(plant.velocity_units), "long_name": words}
        variables[name] = (("event", "velocity"), v, attributes)
    variables["event_q"] = (("event", "position"), q, {"units": units(plant.position_units)})
    return xarray.Dataset(variables, coords, attrs)
