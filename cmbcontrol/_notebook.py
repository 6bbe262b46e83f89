"""Notebook display of machines, runs, linear models, operating points and studies."""

from __future__ import annotations

from typing import Any

__all__ = ["Shown"]


class Shown:
    """Base of classes that notebooks show as tables with a picture."""

    def _repr_html_(self) -> str:
        from .plot.html import html

        return html(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """HTML page, and its picture for viewers without HTML, as when a notebook becomes a PDF."""
        from .plot.html import bundle

        return bundle(self)
