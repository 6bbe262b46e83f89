"""Characteristics of force elements: force as a function of a displacement and its rate.

A characteristic gives the force against a growing x, as of a spring: ``force(x, rate)``. One that stores energy also
gives this: ``energy(x)``. Written with numpy's functions, they become part of the compiled machine, and their
derivatives are taken by the package.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import field, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from . import _check
from ._frozen import Frozen, Held, HeldArray, frozen, frozen_family, held, set_fields
from .errors import InputError
from .trace.expression import Expression
from .trace.symbols import where_less

__all__ = [
    "Characteristic",
    "DamperTable",
    "FormulaForce",
    "Friction",
    "GasSpring",
    "KineticFriction",
    "Rope",
    "SpringDamper",
    "SpringTable",
    "Strut",
]

Array = NDArray[np.float64]

# Where a stored energy is compared with its force: displacements of all sizes that machines have, off round numbers,
# where formulas have their corners; and besides, such parts of their own numbers.
_SIZES, _PARTS = np.outer(10.0 ** np.arange(-6, 4), (1.7, 4.3)).ravel(), (0.137, 0.571, 0.913, 1.372, 2.917)
_STEP = 1e-4  # of the displacement: for differences of order 4, which leave 1e-12 of the energy over it
_CREEP = 1e-9  # rate at which what jumps with the sign of the rate is on one of its sides
_SAME = 1e-6  # of force and slope: what differs by more is another formula


class Characteristic(Frozen, ABC):
    """Force law against a displacement x (m or rad) and its rate (m/s or rad/s), N or N m.

    A class of the user is a dataclass with `force`, and `energy` if it stores energy. Its fields that are numbers are
    parameters of the machine: with other ones nothing is compiled again. Without `energy` all work counts as
    dissipated. Several act together as a sum, ``SpringDamper(100.0) + Friction(2.0)``.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Cubic(Characteristic):
    ...     c: float
    ...     def force(self, x, rate):
    ...         return self.c * x**3
    ...     def energy(self, x):
    ...         return self.c * x**4 / 4
    >>> Cubic(2.0).force(3.0, 0.0)
    54.0
    """

    symbol = "spring"  # how pictures show what has it between two points: "spring", "damper" or "rope"

    @abstractmethod
    def force(self, x: Any, rate: Any) -> Any:
        """Force against a growing x, N or N m."""

    def energy(self, x: Any) -> Any:
        """Stored energy, J; zero unless a subclass defines it."""
        return 0.0

    @property
    def number_names(self) -> tuple[str, ...]:
        """Names of the numbers of the characteristic."""
        return tuple(f.name for f in fields(self) if type(getattr(self, f.name)) in (float, int))

    @property
    def numbers(self) -> tuple[float, ...]:
        """Numbers of the characteristic, which may change without a new compilation."""
        return tuple(float(getattr(self, name)) for name in self.number_names)

    @property
    def dry_rate(self) -> float:
        """Rate within which dry friction is smooth; 0 without dry friction."""
        return 0.0

    def without_dry_friction(self) -> Characteristic:
        """Characteristic without its dry friction, as it is at the slowest motion."""
        return self

    def with_numbers(self, numbers: Sequence[Any]) -> Self:
        """Characteristic with other numbers, unchecked; they are symbols while it is traced."""
        made = copy.copy(self)
        for name, value in zip(self.number_names, numbers, strict=True):
            object.__setattr__(made, name, value)
        return made

    def __add__(self, other: Characteristic) -> Characteristic:
        return Sum((self, other)) if isinstance(other, Characteristic) else NotImplemented

    def _require(self, **signs: bool) -> None:
        """Check numbers: those with True must be above zero, those with False not below it."""
        for name, above in signs.items():
            what = f"{name} of {type(self).__name__}"
            set_fields(self, **{name: _check.positive(getattr(self, name), what, zero=not above)})


def require_stored(law: Characteristic, what: str, sides: Sequence[float] = (1.0, -1.0)) -> None:
    """Raise an error for a stored energy whose slope is not the force at rest, at displacements to these sides.

    Such an element would create energy, and the balance of a run would not show it: work that is not stored counts as
    dissipated. At displacements for which a formula has no value nothing is compared.

    Raises
    ------
    ValueError
    """
    if type(law).energy is Characteristic.energy or (isinstance(law, FormulaForce) and not law.stored):
        return  # it stores none
    own = [abs(x) for x in law.numbers if 1e-9 < abs(x) < 1e9][:16]
    sizes = np.concatenate([_SIZES, np.outer(own, _PARTS).ravel()])
    for x in (float(side * size) for size in sizes for side in sides):
        off = _slope_and_force(law, x)
        if off is None:
            continue
        beside = [_slope_and_force(law, s * x) for s in (0.997, 1.0 + 1e-9, 1.003)]  # perhaps it was a corner
        if all(beside):
            raise InputError(
                f"the stored energy of {what} is not the integral of its force: at x = {x:.6g} its slope is "
                f"{off[0]:.6g}, and the force at rest {off[1]:.6g}. Give the energy whose derivative by x is the "
                "force, or none, and all work counts as dissipated"
            )


def _slope_and_force(law: Characteristic, x: float) -> tuple[float, float] | None:
    """Slope of the energy and force at rest, if they differ; None if they agree, or have no value."""
    h = _STEP * abs(x)
    try:
        with np.errstate(all="ignore"):
            ahead, behind, far, back = (float(law.energy(x + k * h)) for k in (1.0, -1.0, 2.0, -2.0))
            forces = [float(law.force(x, rate)) for rate in (0.0, _CREEP, -_CREEP)]
    except (ArithmeticError, TypeError, ValueError):  # a power of a negative number is complex, and no number
        return None
    slope = (8.0 * (ahead - behind) - (far - back)) / (12.0 * h)
    least, most = min(forces), max(forces)
    if not np.isfinite([slope, least, most]).all():
        return None
    size = max(abs(slope), abs(least), abs(most))
    allowed = _SAME * size + 1e-14 * max(abs(ahead), abs(behind), abs(far), abs(back)) / h
    return None if least - allowed <= slope <= most + allowed else (slope, forces[0])


@frozen
class Sum(Characteristic):
    """Sum of several characteristics."""

    parts: tuple[Characteristic, ...]

    @property
    def symbol(self) -> str:  # type: ignore[override]
        """How pictures show it: a rope, if it has one, a damper, if it has nothing else."""
        kinds = {part.symbol for part in self.parts}
        return next((kind for kind in ("rope", "spring") if kind in kinds), "damper")

    def force(self, x: Any, rate: Any) -> Any:
        return sum(part.force(x, rate) for part in self.parts)

    def energy(self, x: Any) -> Any:
        return sum(part.energy(x) for part in self.parts)

    @property
    def number_names(self) -> tuple[str, ...]:
        return tuple(f"{i}_{name}" for i, part in enumerate(self.parts) for name in part.number_names)

    @property
    def numbers(self) -> tuple[float, ...]:
        return tuple(x for part in self.parts for x in part.numbers)

    @property
    def dry_rate(self) -> float:
        return max((part.dry_rate for part in self.parts), default=0.0)

    def without_dry_friction(self) -> Characteristic:
        return type(self)(tuple(part.without_dry_friction() for part in self.parts))

    def with_numbers(self, numbers: Sequence[Any]) -> Self:
        parts, at = [], 0
        for part in self.parts:
            count = len(part.number_names)
            parts.append(part.with_numbers(numbers[at : at + count]))
            at += count
        return type(self)(tuple(parts))


@frozen
class SpringDamper(Characteristic):
    """Spring and damper: stiffness (x - rest) + damping rate.

    Examples
    --------
    >>> SpringDamper(100.0, rest=0.5, damping=2.0).force(0.6, 1.0)
    12.0
    """

    stiffness: float = 0.0
    rest: float = 0.0
    damping: float = 0.0

    @property
    def symbol(self) -> str:  # type: ignore[override]
        """How pictures show it."""
        return "spring" if self.stiffness else "damper"

    def __post_init__(self) -> None:
        for name in ("stiffness", "rest"):
            set_fields(self, **{name: _check.number(getattr(self, name), f"{name} of SpringDamper")})
        self._require(damping=False)

    def force(self, x: Any, rate: Any) -> Any:
        return self.stiffness * (x - self.rest) + self.damping * rate

    def energy(self, x: Any) -> Any:
        return 0.5 * self.stiffness * (x - self.rest) ** 2


class _Curve:
    """Smooth curve through points, with straight lines beyond them, and its integral; for numbers and symbols."""

    def __init__(self, x: Array, y: Array) -> None:
        from scipy.interpolate import PchipInterpolator

        curve = PchipInterpolator(x, y)
        self.x, self.c, self.integral = x, curve.c, curve.antiderivative().c
        self.slopes, self.y = curve.derivative()(x[[0, -1]]), y
        self.total = float(curve.antiderivative()(x[-1]))

    def _piece(self, coefficients: Array, s: Any) -> Any:
        """Value of the polynomial of the interval in which s is."""
        low, chosen = self.x[-2], list(coefficients[:, -1])
        for k in range(len(self.x) - 2, 0, -1):
            before = coefficients[:, k - 1]
            chosen = [where_less(s, self.x[k], a, b) for a, b in zip(before, chosen, strict=True)]
            low = where_less(s, self.x[k], self.x[k - 1], low)
        value: Any = 0.0
        for c in chosen:
            value = value * (s - low) + c
        return value

    def value(self, s: Any) -> Any:
        """Ordinate of the curve at s."""
        below, above = np.minimum(s - self.x[0], 0.0), np.maximum(s - self.x[-1], 0.0)
        return self._piece(self.c, s - below - above) + self.slopes[0] * below + self.slopes[1] * above

    def area(self, s: Any) -> Any:
        """Integral of the curve from the first point to s."""
        below, above = np.minimum(s - self.x[0], 0.0), np.maximum(s - self.x[-1], 0.0)
        ends = self.y[0] * below + self.y[-1] * above + 0.5 * (self.slopes[0] * below**2 + self.slopes[1] * above**2)
        return self._piece(self.integral, s - below - above) + ends


@frozen_family
class SpringTable(Characteristic):
    """Spring by points: smooth between them, without overshoot, and on straight lines beyond the ends.

    Parameters
    ----------
    x : array_like
        Displacements, m or rad, increasing.
    y : array_like
        Forces against them, N or N m.

    Examples
    --------
    >>> float(SpringTable([0.0, 0.1, 0.2], [0.0, 50.0, 400.0]).force(0.1, 0.0))
    50.0
    """

    x: HeldArray
    y: HeldArray

    def __post_init__(self) -> None:
        what = type(self).__name__
        given = {key: _check.numbers(getattr(self, key), f"{key} of {what}") for key in ("x", "y")}
        x = _check.vector(given["x"], given["x"].size, f"x of {what}")
        y = _check.vector(given["y"], x.size, f"y of {what}")
        if x.size < 2 or (np.diff(x) <= 0.0).any():
            raise InputError(f"x of {what} must be two or more numbers that increase, got {_check.shown(x.tolist())}")
        set_fields(self, x=x, y=y)
        object.__setattr__(self, "_curve", _Curve(x, y))

    def force(self, x: Any, rate: Any) -> Any:
        return self._curve.value(x)  # type: ignore[attr-defined]

    def energy(self, x: Any) -> Any:
        return self._curve.area(x)  # type: ignore[attr-defined]


@frozen_family
class DamperTable(SpringTable):
    """Damper by points, of rates in place of displacements.

    Parameters
    ----------
    x : array_like
        Rates, m/s or rad/s, increasing.
    y : array_like
        Forces against them, N or N m; positive at positive rates.

    Examples
    --------
    >>> float(DamperTable([-1.0, 0.0, 1.0], [-300.0, 0.0, 100.0]).force(0.0, 0.0))
    0.0
    """

    symbol = "damper"

    def force(self, x: Any, rate: Any) -> Any:
        return self._curve.value(rate)  # type: ignore[attr-defined]

    def energy(self, x: Any) -> Any:
        return 0.0


@frozen
class Rope(Characteristic):
    """Rope, which pulls where it is longer than its length, and never pushes.

    Parameters
    ----------
    length : float
        m (rad).
    stiffness : float
        N/m (N m/rad).
    damping : float
        N s/m, while it is taut; it does not push either.

    Examples
    --------
    >>> rope = Rope(2.0, stiffness=1000.0)
    >>> float(rope.force(2.01, 0.0).round(9)), float(rope.force(1.9, 0.0))
    (10.0, 0.0)
    """

    length: float
    stiffness: float
    damping: float = 0.0

    symbol = "rope"

    def __post_init__(self) -> None:
        self._require(length=False, stiffness=True, damping=False)

    def force(self, x: Any, rate: Any) -> Any:
        stretch = x - self.length
        pull = np.maximum(self.stiffness * stretch + self.damping * rate, 0.0)
        return where_less(0.0, stretch, pull, 0.0)

    def energy(self, x: Any) -> Any:
        return 0.5 * self.stiffness * np.maximum(x - self.length, 0.0) ** 2


@frozen
class Strut(Characteristic):
    """Strut or buffer, which pushes where it is shorter than its length, and never pulls.

    Parameters
    ----------
    length : float
        m (rad).
    stiffness : float
        N/m (N m/rad).
    damping : float
        N s/m, while it is pressed; it does not pull either.

    Examples
    --------
    >>> float(Strut(0.1, stiffness=1000.0).force(0.09, 0.0).round(9))
    -10.0
    """

    length: float
    stiffness: float
    damping: float = 0.0

    symbol = "damper"

    def __post_init__(self) -> None:
        set_fields(self, length=_check.number(self.length, "length of Strut"))
        self._require(stiffness=True, damping=False)

    def force(self, x: Any, rate: Any) -> Any:
        pressed = self.length - x
        push = np.maximum(self.stiffness * pressed - self.damping * rate, 0.0)
        return -where_less(0.0, pressed, push, 0.0)

    def energy(self, x: Any) -> Any:
        return 0.5 * self.stiffness * np.maximum(self.length - x, 0.0) ** 2


@frozen
class GasSpring(Characteristic):
    """Gas spring: p V^n of the gas behind a piston is constant, and the volume grows as the spring extends.

    Parameters
    ----------
    length : float
        Length at which pressure and volume are given, m.
    pressure : float
        Absolute pressure of the gas at this length, Pa.
    area : float
        Area of the piston (of the rod, where the gas is on both sides), m2.
    volume : float
        Volume of the gas at this length, m3.
    exponent : float
        1 for slow motion, at constant temperature; 1.4 for fast motion of air and nitrogen.
    ambient : float
        Pressure outside, Pa.

    Examples
    --------
    >>> spring = GasSpring(0.5, pressure=1e6, area=1e-3, volume=2e-4, ambient=1e5)
    >>> float(round(spring.force(0.5, 0.0), 9))  # it pushes
    -900.0
    """

    length: float
    pressure: float
    area: float
    volume: float
    exponent: float = 1.4
    ambient: float = 101325.0

    symbol = "damper"

    def __post_init__(self) -> None:
        self._require(length=False, pressure=True, area=True, volume=True, exponent=True, ambient=False)

    def _volume(self, x: Any) -> Any:
        return self.volume + self.area * (x - self.length)

    def force(self, x: Any, rate: Any) -> Any:
        ratio = self.volume / self._volume(x)
        return self.area * (self.ambient - self.pressure * np.exp(self.exponent * np.log(ratio)))

    def energy(self, x: Any) -> Any:
        """Energy of the gas, compressed from its volume at `length`, and of the ambient air that it displaces, J."""
        growth = np.log(self._volume(x) / self.volume)
        # work p V ((V/V0)^(1 - n) - 1) / (1 - n), which is p V log(V/V0) where n = 1: growth (exp(e) - 1) / e
        e = (1.0 - self.exponent) * growth
        half = np.tanh(0.5 * e)  # has all digits of a small e
        far = 2.0 * half / ((1.0 - half) * where_less(abs(e), 1e-5, 1.0, e))
        work = growth * where_less(abs(e), 1e-5, 1.0 + e / 2.0 + e * e / 6.0, far)
        return -self.pressure * self.volume * work + self.ambient * (self._volume(x) - self.volume)


def _static_part(rate: Any, stribeck_rate: Any) -> Any:
    """Remaining fraction of the static part of friction at a rate, from 1 to 0."""
    falls = rate / where_less(0.0, stribeck_rate, stribeck_rate, 1.0)
    return where_less(0.0, stribeck_rate, np.exp(-falls * falls), 0.0)


@frozen
class Friction(Characteristic):
    """Coulomb friction with Stribeck's static part and a viscous one, smooth in the rate.

    ``(coulomb + (static - coulomb) exp(-(rate / stribeck_rate)^2)) tanh(rate / transition_rate) + viscous rate``

    Parameters
    ----------
    coulomb : float
        Friction while it slides, N or N m.
    static : float, optional
        Friction at the begin of sliding; defaults to `coulomb`.
    viscous : float
        N s/m or N m s/rad.
    transition_rate : float
        Within about this rate it counts as at rest, m/s or rad/s: a joint that sticks creeps by no more. Smaller is
        stiffer, and slower to simulate.
    stribeck_rate : float, optional
        Rate over which the static part falls off; defaults to ten times `transition_rate`. With 0 it falls off at once:
        then only runs with exact friction know the static part.

    Examples
    --------
    >>> bearing = Friction(2.0, viscous=0.1)
    >>> float(bearing.force(0.0, 1.0)), float(bearing.force(0.0, 0.0))
    (2.1, 0.0)
    """

    coulomb: float
    static: Held[float | None, float] = held(None)
    viscous: float = 0.0
    transition_rate: float = 1e-3
    stribeck_rate: Held[float | None, float] = held(None)

    symbol = "damper"

    def __post_init__(self) -> None:
        if self.static is None:
            set_fields(self, static=self.coulomb)
        if self.stribeck_rate is None:
            set_fields(self, stribeck_rate=10.0 * _check.positive(self.transition_rate, "transition_rate of Friction"))
        self._require(coulomb=False, static=False, viscous=False, transition_rate=True, stribeck_rate=False)
        if self.static < self.coulomb:
            raise InputError(
                f"static friction must not be below that of sliding, got static={self.static} and coulomb="
                f"{self.coulomb}"
            )

    @property
    def dry_rate(self) -> float:
        return self.transition_rate if self.static > 0.0 else 0.0

    def without_dry_friction(self) -> Characteristic:
        return SpringDamper(damping=self.viscous)

    def level(self, rate: Any) -> Any:
        """Size of the dry part while it slides, N or N m."""
        rise = self.static - self.coulomb
        return self.coulomb + rise * _static_part(rate, self.stribeck_rate)

    def force(self, x: Any, rate: Any) -> Any:
        return self.level(rate) * np.tanh(rate / self.transition_rate) + self.viscous * rate


@frozen
class FormulaForce(Characteristic):
    """Characteristic by formulas that are texts, as in a file.

    Parameters
    ----------
    formula : str
        The force, of ``x``, ``rate`` and the names of `values`; see `cmbcontrol.trace.expression.Expression`.
    stored : str
        The stored energy, J, of ``x`` and the same names. Without it all work counts as dissipated.
    values : mapping of str to float
        Numbers of the formulas, which are parameters of the machine.

    Raises
    ------
    ValueError
        Where a text is no formula of these names, or the stored energy is not the integral of the force at rest.

    Examples
    --------
    >>> FormulaForce("c * x**3", "c * x**4 / 4", {"c": 2.0}).force(3.0, 0.0)
    54.0
    """

    formula: str
    stored: str = ""
    values: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        given = _check.mapping(self.values, "values of FormulaForce", "names to numbers")
        values = {_check.name(n, "value"): _check.number(x, f"the value of {n!r}") for n, x in given.items()}
        for name in ("x", "rate"):
            if name in values:
                raise InputError(f"a value of FormulaForce is called {name!r}, which is the displacement or its rate")
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "_force", Expression(self.formula, ("x", "rate", *values)))
        object.__setattr__(self, "_energy", Expression(self.stored, ("x", *values)) if self.stored else None)
        require_stored(self, f"FormulaForce({self.formula!r})", sides=(1.0,))  # of distances there are no others

    @property
    def number_names(self) -> tuple[str, ...]:
        return tuple(self.values)

    @property
    def numbers(self) -> tuple[float, ...]:
        return tuple(self.values.values())

    def with_numbers(self, numbers: Sequence[Any]) -> Self:
        made = copy.copy(self)
        object.__setattr__(made, "values", dict(zip(self.values, numbers, strict=True)))
        return made

    def force(self, x: Any, rate: Any) -> Any:
        return self._force(x, rate, *self.values.values())  # type: ignore[attr-defined]

    def energy(self, x: Any) -> Any:
        return 0.0 if self._energy is None else self._energy(x, *self.values.values())  # type: ignore[attr-defined]


@frozen
class KineticFriction(Characteristic):
    """Dry friction of sliding to a given side: as `Friction`, but with this sign whatever the rate is.

    Runs with exact friction use it between the begin and the end of sliding. Its level does not depend on the sign of
    the rate, so it goes on smoothly where sliding ends.

    Parameters
    ----------
    drag : float
        Coulomb friction, N or N m, with the sign of the rate.
    rise : float
        Excess of static friction over it, with the same sign.
    viscous, stribeck_rate : float
        Numbers as of `Friction`.

    Examples
    --------
    >>> float(KineticFriction.of(Friction(2.0, viscous=0.5), -1.0).force(0.0, -1.0))
    -2.5
    """

    drag: float
    rise: float
    viscous: float
    stribeck_rate: float

    @classmethod
    def of(cls, law: Friction, side: float) -> KineticFriction:
        """Make it from a `Friction` for the side 1 or -1; side 0 gives no friction."""
        rise = law.static - law.coulomb
        return cls(float(side * law.coulomb), float(side * rise), law.viscous, law.stribeck_rate)

    def force(self, x: Any, rate: Any) -> Any:
        return self.drag + self.rise * _static_part(rate, self.stribeck_rate) + self.viscous * rate
