"""Figures of ``cmbcontrol linearize``: each takes the model, and what a computer sees of it if that was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..linear.model import LinearModel

if TYPE_CHECKING:
    import control
    from matplotlib.figure import Figure

__all__ = ["bode", "modes", "poles"]


def bode(lin: LinearModel, digital: control.StateSpace | None = None) -> Figure:
    """Frequency response, in continuous time."""
    from .. import plot

    return plot.bode(lin)


def modes(lin: LinearModel, digital: control.StateSpace | None = None) -> Figure:
    """Mode shapes on the machine."""
    return lin.plot_modes()


def poles(lin: LinearModel, digital: control.StateSpace | None = None) -> Figure:
    """Eigenvalues in the complex plane; of the sampled model where there is one."""
    from .. import plot

    return plot.poles(lin, digital)
