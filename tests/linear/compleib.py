"""Plants of COMPl_eib 1.1 (F. Leibfritz, 2005), with gains that others found and what these attain."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmbcontrol.linear.generalized_plant import GeneralizedPlant

_DATA = json.loads((Path(__file__).parent / "data" / "compleib.json").read_text())
TRAPS = _DATA["hinf_norm_traps"]
# (plant, order of the controller, "hinf", "h2" or "absc"): {"value": ..., "K": ...}
BEST: dict[tuple[str, int, str], dict[str, Any]] = {
    (name, int(order), measure): found
    for name, item in _DATA["items"].items()
    for order, measures in item["best"].items()
    for measure, found in measures.items()
}


def _matrix(given: Any) -> NDArray[np.float64]:
    if isinstance(given, str):
        kind, size = re.fullmatch(r"(eye|zeros)\(([\d,]+)\)", given).groups()
        return getattr(np, kind)(int(size) if kind == "eye" else tuple(map(int, size.split(","))))
    return np.array(given, dtype=float)


def compleib(name: str) -> GeneralizedPlant:
    """Plant by its name."""
    X = {key: _matrix(value) for key, value in _DATA["items"][name]["plant"].items() if key[0] in "ABCD"}
    return GeneralizedPlant(X["A"], X["B1"], X["B"], X["C1"], X["C"], X["D11"], X["D12"], X["D21"])
