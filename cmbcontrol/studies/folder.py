"""The folder of a study: a manifest that says what it is, parts with rows of runs, a lock while one writes into it."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import filelock
import numpy as np

from .. import _files
from ..errors import FileError, InputError
from .running import Row

__all__ = ["Folder"]

_MANIFEST, _LOCK = "study.json", "study.lock"


class Folder:
    """Where a study is kept.

    Parameters
    ----------
    path : path
    manifest : dict
        What the study is: a folder with another manifest is refused.
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
        """Within, no other study writes here. The lock is that of the system: it goes with a process that is killed."""
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
        """Compare with the manifest that is here, or write the first one."""
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

    def write(self, rows: Sequence[Row]) -> None:
        """A part with some rows, completely or not at all."""
        import xarray

        names = list(dict.fromkeys(name for row in rows for name in row.measures))
        data = {
            "index": ("run", np.array([row.index for row in rows], dtype=np.int64)),
            "status": ("run", np.array([row.status for row in rows], dtype=str)),
            "message": ("run", np.array([row.message for row in rows], dtype=str)),
            "reached": ("run", np.array([row.reached for row in rows])),
            "wall": ("run", np.array([row.wall for row in rows])),
            "measures": (
                ("run", "measure"),
                np.array([[row.measures.get(n, np.nan) for n in names] for row in rows]).reshape(len(rows), len(names)),
            ),
        }
        part = xarray.Dataset(data, {"measure": np.array(names, dtype=str)})
        with _files.writing(self.path / "parts" / f"part-{rows[0].index:08d}-{len(rows):06d}.nc") as beside:
            part.to_netcdf(beside, engine="netcdf4")

    def rows(self) -> list[Row]:
        """The rows of all parts that are whole."""
        import xarray

        found: dict[int, Row] = {}
        for file in sorted((self.path / "parts").glob("part-*.nc")):
            try:
                with xarray.open_dataset(file, engine="netcdf4") as part:
                    part.load()
            except Exception as error:
                raise FileError(f"{file} cannot be read: {error}. Remove it, and its runs are done anew") from error
            names = [str(name) for name in part["measure"].values]
            for i, index in enumerate(part["index"].values):
                measures = dict(zip(names, part["measures"].values[i].tolist(), strict=True))
                found[int(index)] = Row(
                    int(index),
                    measures,
                    str(part["status"].values[i]),
                    str(part["message"].values[i]),
                    float(part["reached"].values[i]),
                    float(part["wall"].values[i]),
                )
        return [found[index] for index in sorted(found)]


def _read(file: Path) -> dict[str, Any] | None:
    try:
        return json.loads(file.read_text())
    except (OSError, ValueError):
        return None


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
