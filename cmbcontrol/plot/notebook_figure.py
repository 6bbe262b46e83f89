"""Class of all figures of this package; it imports matplotlib, and is imported when the first figure is made."""

from __future__ import annotations

from matplotlib.figure import Figure

from .figure import inline, png

__all__ = ["NotebookFigure"]

_LEGEND = 1.6  # inches of the width that a legend may take from the curves; for wider ones the figure grows


class NotebookFigure(Figure):
    """Figure that a notebook shows once, whether it is the last expression of a cell or not.

    Attributes
    ----------
    legend_room : float
        Width of the legends beside the panels, inches.
    """

    legend_room: float = _LEGEND

    def _ipython_display_(self) -> None:
        """Show the figure now, by the formatters of the notebook, and not again at the end of the cell."""
        if hasattr(self, "number") and inline():
            from matplotlib import pyplot

            pyplot.close(self)
        raise NotImplementedError  # IPython goes on to the formatters

    def _repr_png_(self) -> tuple[bytes, dict[str, int]] | None:
        """PNG and size for notebooks without pyplot; None where pyplot shows the figure already."""
        if hasattr(self, "number") and not inline():
            return None
        width, height = (round(96.0 * inches) for inches in self.get_size_inches())  # pixels of a page
        return png(self), {"width": width, "height": height}
