"""Reading and writing of whole netCDF files; none of them stays open."""

from __future__ import annotations

import secrets
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import InputError

if TYPE_CHECKING:
    import xarray

__all__ = ["encoded", "read"]

# netCDF's library works in memory, and files are read and written here: on a full disk it leaves wrecks and open
# objects, and may end the process where it reads wrecks. It is for one thread at a time, and for one file of a name.
_LIBRARY = threading.Lock()


def encoded(data: xarray.Dataset) -> bytes:
    """Content of a netCDF file, as bytes."""
    import netCDF4
    from xarray.backends import NetCDF4DataStore

    with _LIBRARY:
        file = netCDF4.Dataset(secrets.token_hex(8), "w", memory=data.nbytes)
        try:
            data.dump_to_store(NetCDF4DataStore(file))
        finally:
            content = bytes(file.close())
    return content[: _length(content)]


def read(path: Path, what: str) -> xarray.Dataset:
    """Dataset of a netCDF file; `what` names the expected content in messages.

    Raises
    ------
    ValueError
        Where the file is damaged, or no netCDF-4 file at all.
    """
    import netCDF4
    import xarray
    from xarray.backends import NetCDF4DataStore

    content = path.read_bytes()
    length = _length(content)
    if length is None:
        raise InputError(f"{path} is not {what}: it is no netCDF-4 file, or its beginning is missing")
    if len(content) < length:
        raise InputError(
            f"{path} is damaged: {len(content):,} bytes are left of {length:,}. Take a copy, or run again."
        )
    try:
        with _LIBRARY, netCDF4.Dataset(secrets.token_hex(8), memory=content) as file:
            data = xarray.open_dataset(NetCDF4DataStore(file)).load()
            data.set_close(None)  # all of it is in memory: nothing is left open, and it can be pickled
            return data
    except Exception as error:
        raise InputError(f"{path} is damaged: {error}. Take a copy, or run again.") from error


def _length(content: bytes) -> int | None:
    """Length of an HDF5 file by its own head; None where there is no such head, or only a part of it."""
    if content[:8] != b"\x89HDF\r\n\x1a\n" or len(content) < 64:
        return None
    size, at = (content[13], 24) if content[8] < 2 else (content[9], 12)  # version 0 or 1, or later
    at += 2 * size  # base address, another one, end of file
    return int.from_bytes(content[at : at + size], "little")
