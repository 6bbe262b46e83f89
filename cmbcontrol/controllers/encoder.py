"""Encoders: resolution and noise of the positions and velocities that a law gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._frozen import Held, frozen, held
from ..errors import InputError
from ..model.plant import Plant
from .chain import SensorBlock, Setting
from .references import at_time

__all__ = ["Encoder"]

Array = NDArray[np.float64]


@frozen
class Encoder(SensorBlock):
    """Positions as encoders give them: noise first, then rounding to whole steps.

    The velocity is handed on as it is (plus its own noise, as of a tachometer): where it comes from the positions, a
    `FilteredDifference` follows. Positions that are rounded one by one leave the loops open by up to a step; the law
    sees that, unless `ForwardKinematics` follows.

    Parameters
    ----------
    resolution : float, array_like (nq,), or mapping of coordinate to float, optional
        Size of a step, rad or m; 0 rounds nothing. A number serves all joints of one axis.
    bits : int, or mapping of coordinate to int, optional
        Resolution in steps per turn, 2 pi / 2^bits rad. A number serves all joints with an angle of their own.
    noise : float, array_like (nv,), or mapping of velocity coordinate to float
        Standard deviation of white Gaussian noise on positions, rad or m; on joints of several axes it turns and
        shifts the body in its own axes.
    velocity_noise : float, array_like (nv,), or mapping
        Standard deviation of such noise on velocities, rad/s or m/s.
    seed : int
        Seed of the noise, which is a function of the seed and the number of the sample, round(t / period), so that
        repeated calls agree.
    plant : Plant, optional
        Plant that has names and joints of the machine, where the law has no plant of its own.

    Raises
    ------
    ValueError
        For coordinates that do not exist or have no step of their own (quaternions), negative values, and in
        continuous time.

    Examples
    --------
    >>> from cmbcontrol import Constant, plants
    >>> from cmbcontrol.controllers import ProjectedInverseDynamics
    >>> plant = plants.five_bar()
    >>> law = ProjectedInverseDynamics(plant, ("left", "right"), Constant([2.1, 1.0]), bandwidth=8.0, period=1e-3)
    >>> chain = Encoder(bits=12) | law
    >>> chain.sensors[0].measured(0.0, np.array([0.1, 0.2, 0.3, 0.4]), np.zeros(4), np.zeros(0))[0].round(4)
    array([0.0997, 0.1994, 0.3007, 0.4004])
    """

    resolution: Held[ArrayLike | Mapping[str, float], Any] = held(0.0)
    bits: Held[int | Mapping[str, int] | None, Any] = held(None)
    noise: Held[ArrayLike | Mapping[str, float], Any] = held(0.0)
    velocity_noise: Held[ArrayLike | Mapping[str, float], Any] = held(0.0)
    seed: int = 0
    plant: Plant | None = field(default=None, kw_only=True, repr=False)
    _setting: Held[Setting | None, Setting] = field(default=held(None), init=False, repr=False)
    # positions with a step
    _rounded: Held[NDArray[np.int64] | None, NDArray[np.int64]] = field(default=held(None), init=False, repr=False)
    _noisy: bool = field(default=False, init=False, repr=False)

    @property
    def rough(self) -> bool:  # type: ignore[override]
        """Whether the encoder rounds or adds noise."""
        return any(np.any(x) for x in (self.resolution, self.noise, self.velocity_noise)) or self.bits is not None

    def __post_init__(self) -> None:
        _check.count(self.seed, "the seed of an Encoder", 0)
        for name in ("resolution", "noise", "velocity_noise"):  # the coordinates are known when it is bound
            given, what = getattr(self, name), f"the {name} of an Encoder"
            for value in given.values() if isinstance(given, Mapping) else (given,):
                _require_possible(_check.numbers(value, what), what)

    def bound(self, setting: Setting) -> Self:
        require_samples(self, setting)
        plant = setting.known(self, "for its joints")
        single = plain_positions(plant)
        steps = _values(self.resolution, plant.position_names, "the resolution of an Encoder", only=single)
        if self.bits is not None:
            steps = self._steps_of_bits(plant, steps, single)
        noise: dict[str, Any] = {
            name: _values(getattr(self, name), plant.velocity_names, f"the {name} of an Encoder")
            for name in ("noise", "velocity_noise")
        }
        block = replace(self, resolution=steps, bits=None, **noise)
        values = {"_setting": setting, "_rounded": np.flatnonzero(steps), "_noisy": any(map(np.any, noise.values()))}
        for key, value in values.items():
            object.__setattr__(block, key, value)
        return block

    def _steps_of_bits(self, plant: Plant, steps: Array, single: Sequence[int]) -> Array:
        """Sizes (nq,) of the steps, with those that are given as bits per turn."""
        turning = [plant.position_names[i] for i in single if plant.position_units[i] == "rad"]
        bits = self.bits if isinstance(self.bits, Mapping) else dict.fromkeys(turning, self.bits)
        steps = steps.copy()
        for name, n in bits.items():
            i = plant.position_names.index(_check.one_of(name, plant.position_names, "coordinate", "bits"))
            if name not in turning:
                raise InputError(
                    f"bits count the steps of a turn, and the coordinate {name!r} is in {plant.position_units[i]}; "
                    "give its resolution"
                )
            _check.count(n, f"the bits of an Encoder for {name!r}", 1, 52)
            if steps[i]:
                raise InputError(f"the Encoder of {name!r} has both bits and a resolution; give one")
            steps[i] = 2.0 * np.pi / 2.0**n
        return steps

    def measured(self, t: float, q: Array, v: Array, state: Array) -> tuple[Array, Array]:
        if self._noisy:
            plant = self._setting.plant
            white = at_time(self._white, t)
            q, v = plant.integrate(q, self.noise * white[0]), v + self.velocity_noise * white[1]  # type: ignore[union-attr]
        rounded = self._rounded
        if rounded.size:
            q, step = q.copy(), self.resolution[rounded]
            q[rounded] = np.rint(q[rounded] / step) * step
        return q, v

    def _white(self, t: float) -> Array:
        """White noise (2, nv) of the sample at t, of deviation 1: for positions and for velocities."""
        k = round(t / self._setting.period)  # type: ignore[operator]
        return np.random.default_rng([self.seed, max(k, 0)]).standard_normal((2, len(self.noise)))


def require_samples(block: SensorBlock, setting: Setting) -> None:
    """Refuse a law in continuous time, which has no samples at which a sensor is read."""
    if setting.period is None:
        raise InputError(
            f"{block!r} is read at samples, and the law {type(setting.law).__name__} works in continuous time: give it "
            "a period"
        )


def plain_positions(plant: Plant) -> list[int]:
    """Indices of positions that are plain numbers with a rate of their own."""
    return [i for i, _ in plant.paired]


def _values(given, names: Sequence[str], what: str, only: Sequence[int] | None = None) -> Array:
    """Values >= 0 of the coordinates, from one number (for those in `only`), from all, or by name."""
    allowed = range(len(names)) if only is None else only
    if isinstance(given, Mapping):
        for name in given:
            _check.one_of(name, names, "coordinate", what)
        x = np.array([_check.number(given.get(name, 0.0), f"{what} of {name!r}") for name in names])
    elif _check.single(given):
        x = np.where(np.isin(np.arange(len(names)), allowed), _check.number(given, what), 0.0)
    else:
        x = _check.vector(given, len(names), what, names).copy()
    _require_possible(x, what)
    for i in np.flatnonzero(x):
        if i not in allowed:
            raise InputError(
                f"{what}: coordinate {names[i]!r} belongs to a joint of several axes and is not read by itself; leave "
                "it out, or give the joint noise"
            )
    return x


def _require_possible(x: Array, what: str) -> None:
    if not np.isfinite(x).all() or (x < 0.0).any():
        raise InputError(f"{what} must be finite and >= 0, got {x.tolist()}")
