"""Regions of the complex plane for closed-loop poles, as linear matrix inequalities."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from ..errors import InputError

__all__ = ["PoleRegion"]

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]


class RegionPart(NamedTuple):
    """Inequality L (x) X + U (x) (A X) + U' (x) (A X)' < 0 for one part {z: L + z U + conj(z) U' < 0} of a region."""

    name: str
    L: Array
    U: Array


@dataclass(frozen=True)
class PoleRegion:
    """Region for closed-loop poles, given by any of these bounds together (Chilali and Gahinet, 1996).

    Parameters
    ----------
    decay : float
        Slowest decay, 1/s: real parts at most -decay.
    damping : float, optional
        Smallest damping ratio, in (0, 1): a sector about the negative real axis.
    radius : float, optional
        Largest distance from `center`, 1/s: keeps gains and bandwidth down.
    center : float
        Centre of that disk, on the real axis, 1/s.
    frequency : float, optional
        Largest imaginary part, rad/s.

    Notes
    -----
    In sampled time the region is that of log(z) / period; `contains` and `margins` take it as it is. For the design,
    decay is a disk and frequency a sector of z, exactly. The images of the other two are replaced by smaller ones: the
    disk that touches from inside where poles are fastest, and the sector from z = 1 that stays within the spirals of
    the damping ratio as far out as the radius allows (1 / period, where none is given).

    Examples
    --------
    >>> region = PoleRegion(decay=2.0, damping=0.5)
    >>> region.contains([-3.0 + 1.0j, -3.0 - 1.0j]), region.contains([-1.0])
    (True, False)
    """

    decay: float = 0.0
    damping: float | None = None
    radius: float | None = None
    center: float = 0.0
    frequency: float | None = None

    def __post_init__(self) -> None:
        _check.positive(self.decay, "decay", zero=True)
        _check.number(self.center, "center")
        for name in ("damping", "radius", "frequency"):
            value = getattr(self, name)
            if value is not None:
                _check.positive(value, name)
        if self.damping is not None and not self.damping < 1.0:
            raise InputError(
                f"damping is a ratio below 1, got {self.damping}; poles on the real axis alone are no region"
            )
        if self.radius is not None and self.center - self.radius >= -self.decay:
            raise InputError(
                f"the region is empty: the disk about {self.center:g} with radius {self.radius:g} 1/s holds nothing "
                f"that decays faster than {self.decay:g} 1/s"
            )

    @property
    def asked(self) -> dict[str, float]:
        """Bounds of the region that are given, by name; ``decay`` always."""
        names = ("decay", "damping", "radius", "frequency")
        return {n: x for n in names if (x := getattr(self, n)) is not None and (x > 0.0 or n == "decay")}

    def without(self, name: str) -> PoleRegion:
        """Copy of the region without one of its parts (decay: at least stable)."""
        return replace(self, **{name: 0.0 if name == "decay" else None})

    # -- poles -----------------------------------------------------------------------------------------

    def margins(self, poles: ArrayLike) -> dict[str, float]:
        """Smallest margin of poles (1/s) in each part of the region: at least 0 inside; 1/s, damping as a ratio."""
        s = np.atleast_1d(np.asarray(poles, dtype=complex))
        s = np.where(np.isneginf(s.real), -1e300, s)  # what is forgotten at once, z = 0
        found = {"decay": float((-s.real - self.decay).min(initial=np.inf))}
        if self.damping is not None:
            size = np.abs(s)
            ratio = np.divide(-s.real, size, out=np.zeros(len(s)), where=size > 0.0)
            found["damping"] = float((ratio - self.damping).min(initial=np.inf))
        if self.radius is not None:
            found["radius"] = float((self.radius - np.abs(s - self.center)).min(initial=np.inf))
        if self.frequency is not None:
            found["frequency"] = float((self.frequency - np.abs(s.imag)).min(initial=np.inf))
        return found

    def contains(self, poles: ArrayLike) -> bool:
        """Whether all poles (1/s) lie inside of the region, border included."""
        return all(margin >= 0.0 for margin in self.margins(poles).values())

    # -- matrix inequalities ------------------------------------------------------------------------------

    def inequalities(self, period: float | None = None) -> list[RegionPart]:
        """Matrix inequalities of the region; in sampled time those of disks and sectors in z."""
        return list(self._continuous() if period is None else self._sampled(period))

    def _continuous(self) -> Iterator[RegionPart]:
        yield RegionPart("decay", np.array([[2.0 * self.decay]]), np.array([[1.0]]))
        if self.damping is not None:
            yield _sector("damping", 0.0, math.acos(self.damping), 1.0)
        if self.radius is not None:
            yield _disk("radius", self.center, self.radius)
        if self.frequency is not None:
            yield RegionPart("frequency", -2.0 * self.frequency * np.eye(2), np.array([[0.0, 1.0], [-1.0, 0.0]]))

    def _sampled(self, period: float) -> Iterator[RegionPart]:
        yield _disk("decay", 0.0, math.exp(-self.decay * period))
        if self.frequency is not None:
            angle = self.frequency * period
            if not angle < 0.5 * math.pi:
                raise InputError(
                    f"a frequency of {self.frequency:g} rad/s is more than a quarter of the sampling at {period:g} s; "
                    f"leave it out, or ask for less than {0.5 * math.pi / period:.4g} rad/s"
                )
            yield _sector("frequency", 0.0, angle, -1.0)
        if self.radius is not None or self.damping is not None:
            radius = 1.0 / period if self.radius is None else self.radius
            center = 0.0 if self.radius is None else self.center
            yield _disk("radius", *_disk_in_z(center * period, radius * period))
        if self.damping is not None:
            w = np.linspace(1e-3, 1.0, 500) * (abs(center) + radius) * period  # how far out the disk lets the poles
            z = np.exp(w * (-self.damping + 1j * math.sqrt(1.0 - self.damping**2)))
            yield _sector("damping", 1.0, float(np.arctan2(z.imag, 1.0 - z.real).min()), 1.0)

    def tightened(self, share: float) -> PoleRegion:
        """Region inside of this one, with each bound stricter by a share."""
        return replace(
            self,
            decay=self.decay * (1.0 + share),
            damping=None if self.damping is None else self.damping + share * (1.0 - self.damping),
            radius=None if self.radius is None else self.radius * (1.0 - share),
            frequency=None if self.frequency is None else self.frequency * (1.0 - share),
        )

    def scaled(self, rate: float) -> PoleRegion:
        """Copy of the region with time counted in 1/rate."""
        return replace(
            self,
            decay=self.decay / rate,
            center=self.center / rate,
            radius=None if self.radius is None else self.radius / rate,
            frequency=None if self.frequency is None else self.frequency / rate,
        )

    def outline(self, low: float, high: float, top: float, count: int = 400) -> Complex:
        """Upper border of the region in s within a window, from left to right; empty where nothing is inside."""
        left, right = low, min(high, -self.decay)
        if self.radius is not None:
            left, right = max(left, self.center - self.radius), min(right, self.center + self.radius)
        x = np.linspace(left, right, count)
        if x[0] >= x[-1]:
            return np.zeros(0, dtype=complex)
        y = np.full(count, top)
        if self.damping is not None:
            y = np.minimum(y, np.maximum(-x, 0.0) * math.sqrt(1.0 - self.damping**2) / self.damping)
        if self.radius is not None:
            y = np.minimum(y, np.sqrt(np.maximum(self.radius**2 - (x - self.center) ** 2, 0.0)))
        if self.frequency is not None:
            y = np.minimum(y, self.frequency)
        return x + 1j * y

    def __str__(self) -> str:
        words = {
            "decay": "decay >= {:g} 1/s",
            "damping": "damping ratio >= {:g}",
            "radius": "distance <= {:g} 1/s" + (f" from {self.center:g}" if self.center else ""),
            "frequency": "frequency <= {:g} rad/s",
        }
        return ", ".join(words[name].format(value) for name, value in self.asked.items())


def _disk(name: str, center: float, radius: float) -> RegionPart:
    """Inequality of a disk, abs(z - center) < radius."""
    return RegionPart(name, np.array([[-radius, -center], [-center, -radius]]), np.array([[0.0, 1.0], [0.0, 0.0]]))


def _sector(name: str, apex: float, angle: float, side: float) -> RegionPart:
    """Inequality of a sector: within an angle of the real axis, from a point on it to the left (1) or right (-1)."""
    s, c = math.sin(angle), math.cos(angle)
    return RegionPart(name, -2.0 * side * apex * s * np.eye(2), side * np.array([[s, c], [-c, s]]))


def _disk_in_z(center: float, radius: float) -> tuple[float, float]:
    """Centre and radius of a disk in z that touches the image of abs(s - center) < radius from inside, on the left."""
    s = center + radius * np.exp(1j * np.linspace(0.0, math.pi, 2001))
    s = np.concatenate([s[np.abs(s.imag) < math.pi], np.linspace(s.real.min(), s.real.max(), 2001) + 1j * math.pi])
    inside = np.abs(s - center) <= radius * (1.0 + 1e-12)  # of the last, where sampling folds
    left = math.exp(center - radius)
    way = np.exp(s[inside]) - left
    ahead = way.real > 1e-12
    size = float((np.abs(way[ahead]) ** 2 / (2.0 * way.real[ahead])).min())
    return left + size, size


def inequality(part: RegionPart, X: Any, M: Any, kron: Callable = np.kron) -> Any:
    """Left side L (x) X + U (x) M + U' (x) M' of an inequality, M = A X: for numbers or variables of an optimizer."""
    return kron(part.L, X) + kron(part.U, M) + kron(part.U.T, M.T)
