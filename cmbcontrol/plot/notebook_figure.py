"""The class of all figures of this package; it imports matplotlib, and so is imported when the first one is made."""

from __future__ import annotations

from matplotlib.figure import Figure

from .figure import inline, png

__all__ = ["NotebookFigure"]

_LEGEND = 1.6  # inches of the width that a legend may take from the curves; for wider ones the figure grows


class NotebookFigure(Figure):
    """A figure that a notebook shows once, be it the last expression of a cell or not.

    Attributes
    ----------
    legend_room : float
        Inches of its width that legends beside the panels have.
    """

    legend_room: float = _LEGEND

    def _ipython_display_(self) -> None:
        """Shown now, by the formatters of the notebook; so the end of the cell has not to show it again."""
        if hasattr(self, "number") and inline():
            from matplotlib import pyplot

            pyplot.close(self)
        raise NotImplementedError  # IPython goes on to the formatters

    def _repr_png_(self) -> tuple[bytes, dict[str, int]] | None:
        """For notebooks that know no pyplot; what pyplot shows in a window is not shown twice."""
        if hasattr(self, "number") and not inline():
            return None
        width, height = (round(96.0 * inches) for inches in self.get_size_inches())  # pixels of a page
        return png(self), {"width": width, "height": height}
