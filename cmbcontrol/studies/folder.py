"""The folder of a study: a manifest that says what it is, parts with rows of runs, a lock while one writes into it."""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

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
        """Within, no other study writes here; one that was killed does not count."""
        lock = self.path / _LOCK
        own = {"pid": os.getpid(), "host": socket.gethostname()}
        for _ in range(2):
            try:
                file = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
            except FileExistsError:
                if not self._is_stale(lock):
                    raise FileError(
                        f"another study is writing into {self.path} ({_read(lock)}): wait for it, or name another "
                        f"folder. If there is none, remove {lock.name} there"
                    ) from None
                lock.unlink(missing_ok=True)
                continue
            except OSError as error:
                raise FileError(f"{self.path} cannot be written: {error.strerror or error}") from error
            with os.fdopen(file, "w") as stream:
                json.dump(own, stream)
            break
        try:
            self._begin()
            yield
        finally:
            lock.unlink(missing_ok=True)

    @staticmethod
    def _is_stale(lock: Path) -> bool:
        """Whether the process that has made the lock is gone; processes of other machines cannot be asked."""
        known = _read(lock)
        if not known or known.get("host") != socket.gethostname():
            return False
        try:
            os.kill(int(known["pid"]), 0)
        except (ProcessLookupError, ValueError):
            return True
        except PermissionError:
            return False
        return int(known["pid"]) == os.getpid()

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
