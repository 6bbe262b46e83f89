"""What notebooks show of a machine, a run, a linear model, an operating point or a study."""

from __future__ import annotations

from typing import Any

__all__ = ["Shown"]


class Shown:
    """A base of what notebooks show as tables with a picture."""

    def _repr_html_(self) -> str:
        from .plot.html import html

        return html(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """The page, and its picture for what shows no pages, as when a notebook becomes a PDF."""
        from .plot.html import bundle

        return bundle(self)
