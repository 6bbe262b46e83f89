"""Data of a page as one text: a header in JSON and all arrays behind each other, deflated, in base64."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Compact", "pack", "unpack"]

Array = NDArray[np.float64]

_TYPES = {"float32": "f4", "float64": "f8", "int16": "i2", "uint16": "u2", "uint32": "u4"}
_STEPS = 65534  # of a range of numbers in 16 bits: what is in its middle is met exactly
_LEVEL = 9  # of deflate: pages are written once and sent often


@dataclass(frozen=True)
class Compact:
    """Numbers for a picture: in 16 bits if their range allows it, else in 32.

    Attributes
    ----------
    values : ndarray
        Rows that follow each other in time.
    within : float
        Largest error that does not matter.
    """

    values: Array
    within: float


def pack(data: Any) -> str:
    """Text with dictionaries, lists, numbers, texts and arrays; `payload.js` reads it.

    Numbers that JSON does not know (nan, inf) become null outside arrays.

    Examples
    --------
    >>> text = pack({"times": np.array([0.0, 0.5]), "name": "five-bar"})
    >>> unpack(text)["times"]
    array([0. , 0.5])
    """
    blobs: list[bytes] = []
    size = 0

    def put(x: NDArray[Any], **more: float) -> dict[str, Any]:
        nonlocal size
        told = {"at": size, "type": _TYPES[x.dtype.name], "shape": list(x.shape), **more}
        content = np.ascontiguousarray(x).astype(x.dtype.newbyteorder("<")).tobytes()
        blobs.append(content + bytes(-len(content) % 8))
        size += len(blobs[-1])
        return {"array": told}

    def plain(x: Any) -> Any:
        if isinstance(x, Compact):
            return _compact(x, put)
        if isinstance(x, np.ndarray):
            return put(x)
        if isinstance(x, dict):
            return {str(key): plain(value) for key, value in x.items()}
        if isinstance(x, (list, tuple)):
            return [plain(value) for value in x]
        if isinstance(x, (float, np.floating)):
            return float(x) if np.isfinite(x) else None
        if isinstance(x, (bool, np.bool_)):
            return bool(x)
        return int(x) if isinstance(x, np.integer) else x

    header = json.dumps(plain(data), separators=(",", ":")).encode()
    header += b" " * (-(4 + len(header)) % 8)  # arrays begin where their numbers may
    content = len(header).to_bytes(4, "little") + header + b"".join(blobs)
    return base64.b64encode(zlib.compress(content, _LEVEL)).decode()


def _compact(x: Compact, put: Any) -> dict[str, Any]:
    values = np.asarray(x.values, dtype=np.float64)
    finite = np.isfinite(values)
    low, high = (float(f(values)) for f in (np.min, np.max)) if values.size and finite.all() else (0.0, np.inf)
    scale = (high - low) / _STEPS
    if not scale <= 2.0 * x.within:
        return put(values.astype(np.float32))
    shift = low + scale * (_STEPS // 2)
    steps = np.rint((values - shift) / (scale or 1.0)).astype(np.int32)
    rows = np.concatenate([steps[:1], np.diff(steps, axis=0)])  # small numbers, which deflate well
    wrapped = (rows & 0xFFFF).astype(np.uint16).view(np.int16)
    return put(wrapped, scale=scale, shift=shift)


def unpack(text: str) -> Any:
    """Data from a text of `pack`, with arrays of float64 for numbers that are not whole."""
    content = zlib.decompress(base64.b64decode(text))
    length = int.from_bytes(content[:4], "little")
    types = {name: np.dtype(kind).newbyteorder("<") for kind, name in _TYPES.items()}

    def array(value: dict[str, Any]) -> Any:
        if "array" not in value:
            return value
        told = value["array"]
        count = int(np.prod(told["shape"]))
        raw = np.frombuffer(content, types[told["type"]], count, 4 + length + told["at"]).reshape(told["shape"])
        if "scale" in told:
            steps = np.cumsum(raw.astype(np.int64), axis=0).astype(np.uint16).view(np.int16)
            return told["shift"] + told["scale"] * steps
        return raw.astype(np.float64) if raw.dtype.kind == "f" else raw

    return json.loads(content[4 : 4 + length].decode(), object_hook=array)
