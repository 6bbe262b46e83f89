"""Writing of files as a whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ._interrupt import held
from .errors import FileError

__all__ = ["write", "writing"]


def write(path: str | Path, content: bytes | str) -> Path:
    r"""Write content to a file, in place of its old content; texts in UTF-8.

    Raises
    ------
    FileError
        Where it cannot be written; the old content is then still there.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write(Path(folder, "gains.txt"), "kp 64\n").read_text()
    'kp 64\n'
    """
    with writing(path) as beside:
        beside.write_bytes(content.encode() if isinstance(content, str) else content)
    return Path(path)


@contextmanager
def writing(path: str | Path) -> Iterator[Path]:
    """Context with a temporary file that replaces the one at `path` at the end of the block, when it is on the disk.

    Where anything fails, or is interrupted, it is removed, and the file at `path` stays as it was. Only a process that
    is killed may leave it behind: its name begins with a dot and ends in ``.part``. Ctrl-C waits until the block ends.

    Raises
    ------
    FileError
        Where it cannot be written.
    """
    path = Path(path)
    target = Path(os.path.realpath(path))  # a link stays one
    no_file = target.exists() and not target.is_file() and not target.is_dir()  # a pipe, a terminal, /dev/null
    beside = target if no_file else target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.part")
    with held():
        try:
            yield beside
            if no_file:
                return
            with beside.open("rb+") as file:
                os.fsync(file.fileno())
            if target.exists():
                shutil.copymode(target, beside)
            os.replace(beside, target)
        except OSError as error:
            raise FileError(f"{path} cannot be written: {error.strerror or error}. {_remedy(error, target)}") from error
        finally:
            if not no_file:
                with suppress(OSError):  # where it could not be made, or is in its place
                    beside.unlink(missing_ok=True)


def _remedy(error: OSError, target: Path) -> str:
    """Text on the state of the file after an error, and on the remedy."""
    kept = "The file that was there is as it was" if target.is_file() else "Nothing was written"
    if not target.parent.is_dir():
        return f"{kept}: make the folder {target.parent} first."
    if target.is_dir():
        return f"{kept}: name a file, not a folder."
    if isinstance(error, PermissionError):
        return f"{kept}: name a place where files may be written."
    return f"{kept}: make room, or name another place."
