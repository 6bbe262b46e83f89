"""Folder of a study: a manifest that identifies it, parts with rows of runs, and a lock while a study writes to it."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import filelock

from .. import _files, _netcdf
from ..errors import FileError, InputError
from .rows import rows_of_dataset
from .running import StudyRow

if TYPE_CHECKING:
    import xarray

__all__ = ["Folder", "open_rows"]

_MANIFEST, _LOCK = "study.json", "study.lock"


class Folder:
    """Folder in which a study is kept.

    Parameters
    ----------
    path : path
    manifest : dict
        Description of the study: a folder with another manifest is refused.
    """

    def __init__(self, path: str | Path, manifest: dict[str, Any]) -> None:
        self.path, self.manifest = Path(path), manifest
        try:
            (self.path / "parts").mkdir(parents=True, exist_ok=True)
            (self.path / "runs").mkdir(exist_ok=True)
        except OSError as error:
            raise FileError(
                f"the folder {self.path} cannot be made: {error.strerror or error}. Name a place where files may be "
                "written"
            ) from error

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Context in which no other study writes here, by a lock of the system, which ends with the process."""
        lock = filelock.FileLock(self.path / _LOCK)
        try:
            lock.acquire(blocking=False)
        except filelock.Timeout:
            raise FileError(f"another study is writing into {self.path}: wait for it, or name another folder") from None
        except (OSError, NotImplementedError) as error:
            told = getattr(error, "strerror", None) or error
            raise FileError(f"{self.path / _LOCK} cannot be written and locked: {told}. Name another folder") from error
        try:
            self._begin()
            yield
        finally:
            lock.release()

    def _begin(self) -> None:
        """Compare the manifest with the one that is here, or write the first one."""
        file = self.path / _MANIFEST
        if not file.exists():
            if any((self.path / "parts").iterdir()):
                raise FileError(f"{self.path} has parts of a study, and no {_MANIFEST}: name another folder")
            _files.write(file, json.dumps(self.manifest, indent=1, sort_keys=True))
            return
        known = _read(file)
        if known is None:
            raise FileError(f"{file} cannot be read: name another folder")
        for key, value in self.manifest.items():
            if known.get(key) != value:
                raise InputError(
                    f"{self.path} holds another study: its {key} is {_short(known.get(key))}, and that of this one "
                    f"{_short(value)}. Name another folder, or make the study as it was to go on with it"
                )

    def write(self, rows: xarray.Dataset) -> None:
        """Write a part with some rows, completely or not at all."""
        index = rows["run"].values
        _files.write(self.path / "parts" / f"part-{index[0]:08d}-{len(index):06d}.nc", _netcdf.encoded(rows))

    def rows(self) -> list[StudyRow]:
        """Rows of all parts that are complete."""
        found: dict[int, StudyRow] = {}
        for file in sorted((self.path / "parts").glob("part-*.nc")):
            try:
                rows = rows_of_dataset(_netcdf.read(file, "a part of a study"))
            except Exception as error:
                raise FileError(f"{file} cannot be read: {error} Remove it, and its runs are done anew") from error
            found |= {row.index: row for row in rows}
        return [found[index] for index in sorted(found)]


def open_rows(folder: str | Path) -> xarray.Dataset:
    """Open the rows of a study in a folder lazily: for more runs than fit in memory (the extra ``dask``).

    Parameters
    ----------
    folder : path
        Folder of `study`, finished or not.

    Returns
    -------
    xarray.Dataset
        As `Study.data`, its variables read from the parts when they are used; in the order of the parts.

    Raises
    ------
    FileError
        Where there is no study.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from cmbcontrol.studies import study
    >>> with TemporaryDirectory() as folder:
    ...     _ = study(lambda a: {"b": 2.0 * a}, {"a": [1.0, 2.0, 3.0]}, folder=folder)
    ...     with open_rows(folder) as rows:
    ...         print(float(rows["b"].mean()))
    4.0
    """
    import xarray

    parts = sorted((Path(folder) / "parts").glob("part-*.nc"))
    if not parts:
        raise FileError(f"there are no rows of a study in {folder}")
    try:
        import dask  # noqa: F401
    except ImportError as error:
        raise InputError('rows are opened lazily with Dask: pip install "cmbcontrol[dask]"') from error
    how: Any = {"combine": "nested", "concat_dim": "run", "data_vars": "all", "coords": "minimal", "compat": "override"}
    return xarray.open_mfdataset(parts, engine="netcdf4", combine_attrs="override", **how)


def _read(file: Path) -> dict[str, Any] | None:
    try:
        return json.loads(file.read_text())
    except (OSError, ValueError):
        return None


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
