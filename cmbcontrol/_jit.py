"""The only place that imports numba.

Every kernel is compiled for one target (CPU, float64) and kept in numba's disk cache. That
cache is indexed by the file of the *calling* function alone, so a kernel whose callee in another
file has changed would silently run the old code (numba issue 1833). The guard below makes the
cache of all kernels one unit: when the source of any kernel file changes, all of it is dropped.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable
from pathlib import Path

import numba

__all__ = ["JIT_ENABLED", "kernel", "kernels", "needs_compilation"]

JIT_ENABLED = not numba.config.DISABLE_JIT

_KERNEL_FOLDER = Path(__file__).parent / "kernels"
_registry: list[Callable] = []
_guarded: set[Path] = set()


def _fingerprint() -> str:
    """Hash of the source of every kernel file, and of this one."""
    digest = hashlib.sha256()
    for path in [Path(__file__), *sorted(_KERNEL_FOLDER.glob("*.py"))]:
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _drop_stale_cache(folder: Path) -> None:
    """Empty numba's cache `folder` unless it was made from the present sources."""
    stamp = folder / f"kernels-{_fingerprint()}.stamp"
    if stamp.exists():
        return
    # A folder that cannot be written can hold no cache of an older source either.
    with contextlib.suppress(OSError):
        for pattern in ("*.nbi", "*.nbc", "kernels-*.stamp"):
            for path in folder.glob(pattern):
                path.unlink(missing_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        stamp.touch()


def kernel(function: Callable | None = None, *, inline: bool = False) -> Callable:
    """Compile `function` on first use; keep the machine code on disk for the next process.

    With `inline` it becomes part of its callers instead of a unit of its own: less to compile
    for functions that are called from one place.
    """
    if function is None:
        return lambda f: kernel(f, inline=inline)
    compiled = numba.njit(cache=True, error_model="numpy", nogil=True, inline="always" if inline else "never")(function)
    if JIT_ENABLED:
        folder = Path(compiled.stats.cache_path)
        if folder not in _guarded:
            _guarded.add(folder)
            _drop_stale_cache(folder)
        _registry.append(compiled)
    return compiled


def kernels() -> tuple[Callable, ...]:
    """All compiled kernels that have been imported so far."""
    return tuple(_registry)


def needs_compilation(last: str = "record.output_quantities") -> bool:
    """True where a kernel (the last that a simulation needs) is not on disk yet: the first run takes a while."""
    return JIT_ENABLED and not any(next(folder.glob(f"{last}*.nbc"), None) for folder in _guarded)
