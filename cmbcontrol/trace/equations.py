"""What a law may ask of the equations of motion at a state, whether these are numbers or symbols."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

__all__ = ["USUAL", "EquationsOfMotion", "NullSpaceMotion"]

# Of how far the coordinates of a machine go: tasks of machines in use go about as far, or up to ten times less.
USUAL = 0.1

_T = TypeVar("_T")


class NullSpaceMotion(NamedTuple):
    """Motion that is wanted where a task leaves motion free: an acceleration, or a second task.

    Attributes
    ----------
    vdot : ndarray, shape (nv,)
        Acceleration to come near to, in the metric of M.
    J, target : ndarray, shape (m, nv) and (m,), optional
        A second task, J a = target, that is more important than `vdot`.
    """

    vdot: Any
    J: Any = None
    target: Any = None


class EquationsOfMotion(ABC):
    """Operations of M dv/dt + h = B u - A' lam, A dv/dt = -b, at one state: those that laws need.

    A law is written once. Python calls it with numbers (`Terms`), and it is traced with symbols (`TracedTerms`), which
    become its code. It never asks which it has: what numbers and symbols solve in different ways is an operation here.
    Numbers are solved in orthonormal bases with pivots, symbols in independent coordinates. Where symbols have no
    solution, an operation raises `NotTraceable`, and the law is left to Python.

    Some operations return a closeness beside their result: the smallest pivot over the largest, 0 where the result
    means nothing. For symbols it is 1: where it would be small, a guard of the code fails, and Python is called.
    """

    # -- accelerations ---------------------------------------------------------------------------------------

    @abstractmethod
    def acceleration(self, f: Any) -> Any:
        """Acceleration (nv,) under joint forces f (nv,), N or N m, by the least constraint."""

    @abstractmethod
    def response(self, f: Any) -> Any:
        """Acceleration Z (Z'M Z)^-1 Z'f (nv,) that joint forces f (nv,) add in the closed machine."""

    @abstractmethod
    def free_acceleration(self, f: Any) -> Any:
        """Acceleration M^-1 f (nv,) of the machine with its loops cut."""

    @abstractmethod
    def only_acceleration(self, J: Any, target: Any, unit: float = 1.0) -> tuple[Any, float]:
        """Acceleration a (nv,) with A a = -b and J a = target, J (dof, nv), where there is only one; and its closeness.

        Of a task whose unit counts as `unit` metres, rows of the size of rounding do not count.
        """

    @abstractmethod
    def nearest_acceleration(self, J: Any, target: Any, free: NullSpaceMotion) -> tuple[Any, float]:
        """Acceleration a (nv,) with A a = -b and J a = target, nearest to the motion that is wanted; and its closeness.

        It is nearest in the metric of M, as in Gauss' principle.
        """

    @abstractmethod
    def least_squares_acceleration(
        self,
        J: Any,
        target: Any,
        free: NullSpaceMotion,
        *,
        gauss: bool = False,
        damped: float | None = None,
        unit: float = 1.0,
    ) -> Any:
        """Acceleration a (nv,) with A a = -b and the smallest J a - target; of several, that nearest to a wanted one.

        Parameters
        ----------
        J : array, shape (k, nv)
        target : array, shape (k,)
        free : NullSpaceMotion
        gauss : bool
            Measure J a - target in the metric (J M^-1 J')^-1, as Gauss' principle does where J = 1; else plainly.
        damped : float, optional
            Singular values sigma below this part of the largest, tau, count with sigma/tau^2 in place of 1/sigma. The
            largest counts as no smaller than a tenth of that of the coordinates themselves, so that a task of one value
            has a threshold, too.
        unit : float
            Metres that a unit of the task counts as.
        """

    @abstractmethod
    def determined_by(self, columns: Sequence[int]) -> bool:
        """Whether these velocity coordinates determine all admissible motions."""

    @abstractmethod
    def motion_of(self, columns: Sequence[int], change: Any) -> Any:
        """Admissible motion (nv,) nearest to changes of some coordinates, which determine the motion."""

    @abstractmethod
    def independence(self, mobility: Any, J: Any) -> float:
        """Smallest eigenvalue of a mobility (k, k) of rows J (k, nv), each over its own mobility without the loops.

        It is 1 at most, and 0 where some combination of the rows moves nothing.
        """

    # -- efforts ---------------------------------------------------------------------------------------------

    @abstractmethod
    def smallest_effort(self, vdot: Any, root: Any = None, nominal: Any = None, *, strict: bool = True) -> Any:
        """Motor efforts u (nu,) with Z'B u = Z'(M vdot + h), nearest to nominal ones (zero), in the metric R R'.

        Friction in proportion to what constraints carry is a part of h that follows from the efforts. Unless this is
        `strict`, the nearest efforts where the motors cannot produce the motion.

        Raises
        ------
        ActuationError
            Where the motors cannot produce the motion.
        """

    @abstractmethod
    def effort_with_force(self, C: Any, f: Any, force: Any, root: Any = None) -> tuple[Any, bool]:
        """Smallest efforts with Z'(B u - f) = 0 and C B u = force, in the metric R R'; and whether motors reach both.

        They reach both where they do so for any f (nv,) and force (k,), C (k, nv).
        """

    @abstractmethod
    def with_friction_of_loads(self, vdot: Any, effort: Callable[[Any, Any], Any], given: Any = None) -> Any:
        """Equations of motion with friction in proportion to loads as a part of h, for efforts that give vdot.

        Parameters
        ----------
        vdot : array, shape (nv,)
        effort : callable, (terms, vdot) -> (nu,)
            Efforts that a law gives for an acceleration, linear in h and vdot.
        given : array, shape (nu,), optional
            Efforts that the law adds, independent of h and vdot.
        """

    @abstractmethod
    def actuation(self, names: tuple[str, ...], metric: Any, epsilon: float = 0.0) -> Any:
        """`Actuation` at the state: the admissible motions that the motors reach."""

    # -- constraint forces -----------------------------------------------------------------------------------

    @abstractmethod
    def in_present_rows(self, S: Any, row_names: tuple[str, ...]) -> Any:
        """Columns of S (k, rows) for the rows that hold here, from those for the rows of a plant with these names.

        A row that does not hold has no multiplier; one that the plant does not know has a zero column in S.
        """

    @abstractmethod
    def determines(self, S: Any) -> Any:
        """Mask (k,) of combinations S lam, S (k, rows), that the motion determines: redundant rows share the others."""

    @abstractmethod
    def force_rows(self, S: Any) -> Any:
        """Smallest C (k, nv) with C A' lam = S lam for all lam, where the motion determines S lam."""

    # -- cases -----------------------------------------------------------------------------------------------

    @abstractmethod
    def at_first_sample(self, flag: Any) -> bool:
        """Whether a flag in the states of a law, 0 before the first sample and 1 after it, says that this is the first.

        Code is for all samples but the first, which is left to Python.
        """

    @abstractmethod
    def by_program(self, program: Callable[[], _T], regular: Callable[[], _T]) -> _T:
        """Result of a program that iterates; code has what it finds in its regular case only.

        Parameters
        ----------
        program : callable
            Computes the result with numbers, in all cases.
        regular : callable
            Computes the same in the regular case, in which it is a formula, and says by `assume_less` which case that
            is.
        """

    @abstractmethod
    def assume_less(self, a: Any, b: Any) -> None:
        """Add to the code the condition a < b of the case that a law computes; in other cases Python is called."""
