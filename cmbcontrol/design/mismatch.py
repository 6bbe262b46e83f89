"""What a law does on a machine that is not quite the one it knows: friction, payload, losses of gears, a delay."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from ..characteristics import Characteristic, Friction
from ..controllers.chain import Chain
from ..controllers.controller import as_controller
from ..controllers.delay import Delay
from ..controllers.with_model import WithModel
from ..errors import InputError, InputTypeError
from ..model.elements import GearFriction, JointForce
from ..model.mechanism import Mechanism
from ..sim.motor_duty import rms
from ..sim.result import Simulation
from ..sim.simulate import simulate
from .family import with_payload

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

__all__ = ["Mismatch", "mismatch"]


class Mismatch(NamedTuple):
    """Runs of a law on the machine that it knows, and on one that differs.

    Attributes
    ----------
    ideal, real : Simulation
    plant : Mechanism
        The machine that differs.
    law : Controller
        The law on it, which goes on computing with the machine that it knows.
    differences : tuple of str
        What differs, in words.
    """

    ideal: Simulation
    real: Simulation
    plant: Mechanism
    law: Any
    differences: tuple[str, ...]

    def table(self) -> pandas.DataFrame:
        """Largest and RMS values of errors and efforts in both runs, a row for each coordinate and motor."""
        import pandas

        rows = {}
        for what, name, of in (("error", "error", "controlled"), ("effort", "u", "actuator")):
            if name not in self.ideal.data:
                continue
            units = json.loads(self.ideal.data[name].attrs["units"])
            for k, label in enumerate(self.ideal.data[of].values):
                row: dict[str, Any] = {"unit": units[k]}
                for which, run in (("ideal", self.ideal), ("real", self.real)):
                    values = run.data[name].values
                    row[f"{which} largest"] = float(np.abs(values[:, k]).max())
                    row[f"{which} RMS"] = float(rms(run.time, values)[k])
                rows[f"{what} {label}"] = row
        return pandas.DataFrame.from_dict(rows, orient="index")

    def plot(self, **options: Any) -> Figure:
        """Draw errors and efforts of both runs; options as of `plot.comparison`."""
        from ..plot.comparison import comparison

        return comparison({"ideal": self.ideal, "real": self.real}, **options)

    def __str__(self) -> str:
        return "\n".join([f"{self.ideal.data.attrs['plant']} with {', '.join(self.differences)}", str(self.table())])


def mismatch(
    plant: Mechanism,
    law: Any,
    q0: ArrayLike,
    v0: ArrayLike | None = None,
    *,
    t_end: float,
    payload: Mapping[str, Any] | None = None,
    friction: Mapping[str, Characteristic | float] | None = None,
    efficiency: Mapping[str, float] | None = None,
    delay: float | None = None,
    **options: Any,
) -> Mismatch:
    """Run a law on the machine that it knows, and on one with friction, payload, losses or a delay that it does not.

    Parameters
    ----------
    plant : Mechanism
        The machine as the law knows it.
    law : Controller
        Also a chain.
    q0, v0 : array_like
        Start of both runs.
    t_end : float
        s.
    payload : mapping of body name to float or (float, array_like (3,)), optional
        Masses fixed to bodies, kg: at the body's centre of mass, or at a point in its axes, m.
    friction : mapping of joint name to float or Characteristic, optional
        Coulomb friction of joints, N or N m, or a characteristic of their rate, such as `Friction`.
    efficiency : mapping of coupling name to float, optional
        Efficiency of gears, which are couplings of two joints, see `GearFriction`.
    delay : float, optional
        Delay of the efforts of a sampled law, s, beside those that its chain has.
    **options
        As of `simulate`, for both runs.

    Returns
    -------
    Mismatch

    Raises
    ------
    InputError
        For unknown names, and where nothing differs.

    Examples
    --------
    >>> from cmbcontrol import Constant, plants
    >>> from cmbcontrol.controllers import ProjectedInverseDynamics
    >>> plant = plants.five_bar()
    >>> q0 = plant.assemble(left=2.1, right=1.0)
    >>> law = ProjectedInverseDynamics(plant, ("left", "right"), Constant([2.1, 1.0]), bandwidth=8.0, period=1e-3)
    >>> found = mismatch(plant, law, q0, t_end=1.0, payload={"left_upper": 2.0}, delay=2e-3)
    >>> found.differences
    ('2 kg more on left_upper', 'efforts 2 ms later')
    >>> found.table()[["ideal largest", "real largest"]].loc["error left"].round(4).tolist()
    [0.0, 0.031]
    """
    if not isinstance(plant, Mechanism):
        raise InputTypeError(
            f"parts are added to a Mechanism, got {type(plant).__name__}; build the other plant yourself"
        )
    real, told = plant, []
    for body, given in _given(payload, "payload", "bodies to masses").items():
        _check.one_of(body, [x.name for x in plant.bodies], "body", "payload")
        own = next(x for x in plant.bodies if x.name == body)
        mass, point = given if isinstance(given, (tuple, list)) else (given, own.com)
        real = with_payload(real, body, _check.positive(mass, f"the payload of {body!r}"), point, name=plant.name)
        told.append(f"{float(mass):g} kg more on {body}")
    forces = list(real.forces)
    for joint, given in _given(friction, "friction", "joints to friction").items():
        _check.one_of(joint, [x.name for x in plant.joints], "joint", "friction")
        kind = given if isinstance(given, Characteristic) else Friction(_check.number(given, f"friction of {joint!r}"))
        forces.append(JointForce(_new(f"{joint}_friction", forces), joint, kind))
        told.append(f"friction of {joint}")
    for gear, share in _given(efficiency, "efficiency", "couplings to efficiencies").items():
        _check.one_of(gear, [x.name for x in plant.loops], "coupling", "efficiency")
        forces.append(GearFriction(_new(f"{gear}_losses", forces), gear, efficiency=share))
        told.append(f"an efficiency of {share:g} of {gear}")
    real = real.with_parts(forces=forces)
    late: Any = as_controller(law, plant)
    if delay is not None:
        late = _delayed(late, _check.positive(delay, "delay"))
        told.append(f"efforts {1e3 * delay:g} ms later")
    if not told:
        raise InputError("nothing differs: give payload=, friction=, efficiency= or delay=")
    late = WithModel(plant, late)
    ideal, other = (simulate(machine, x, q0, v0, t_end=t_end, **options) for machine, x in ((plant, law), (real, late)))
    return Mismatch(ideal, other, real, late, tuple(told))


def _given(x: Any, what: str, of: str) -> Mapping[str, Any]:
    return {} if x is None else _check.mapping(x, what, of)


def _new(name: str, forces: list[Any]) -> str:
    """A name that no other force has."""
    known = {x.name for x in forces}
    return next(n for k in range(len(known) + 1) if (n := name if k == 0 else f"{name}_{k + 1}") not in known)


def _delayed(law: Any, delay: float) -> Chain:
    """Chain of a law with a delay right behind it, before all that belongs to the machine."""
    parts = list(law.parts) if isinstance(law, Chain) else [law]
    at = parts.index(law.law) if isinstance(law, Chain) else 0
    return Chain(*parts[: at + 1], Delay(delay), *parts[at + 1 :])
