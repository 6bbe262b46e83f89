"""Machines, runs, linear models, operating points, loops and studies as notebooks show them, and as pages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .viewer import View

__all__ = ["Reported", "Shown"]


class Reported:
    """Base of classes that have a report."""

    def write_report(self, path: str | Path, **options: Any) -> Path:
        """Write all about it on one page; see `cmbcontrol.report`."""
        from .reports.subjects import report

        return report(self, path, **options)  # type: ignore[arg-type]  # each class of this kind is one of these


class Shown(Reported):
    """Base of classes that notebooks show as tables with a picture, and of which there are pages."""

    def view(self, path: str | Path | None = None, **options: Any) -> View | Path:
        """Show it in three dimensions, on one page; see `cmbcontrol.view`."""
        from .viewer.subjects import view

        return view(self, path, **options)  # type: ignore[arg-type]  # each class of this kind is one of these

    def _repr_html_(self) -> str:
        from .plot.html import html

        return html(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """HTML page, and its picture for viewers without HTML, as when a notebook becomes a PDF."""
        from .plot.html import bundle

        return bundle(self)
