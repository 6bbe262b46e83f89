"""Data that become one text and arrays again."""

import json
import shutil
import subprocess
from importlib.resources import files

import numpy as np
import pytest

from cmbcontrol.viewer.payload import Compact, pack, unpack

ANGLES = np.linspace(0.0, 20.0, 400)
SOME = {
    "text": 'a "b" </script> ü',
    "none": None,
    "truth": np.bool_(True),
    "count": np.int64(3),
    "odd": float("nan"),
    "rows": np.arange(6.0).reshape(2, 3),
    "short": np.array([1.5, -2.25], dtype=np.float32),
    "faces": np.array([[0, 1, 2]], dtype=np.uint16),
    "none of them": np.zeros((0, 3)),
    "motion": Compact(np.stack([np.sin(ANGLES), 1e3 + np.cos(ANGLES)], axis=1), 1e-2),
}


def test_numbers_come_back():
    found = unpack(pack(SOME))
    assert found["text"] == SOME["text"] and found["none"] is None and found["truth"] is True and found["count"] == 3
    assert found["odd"] is None
    assert np.array_equal(found["rows"], SOME["rows"]) and found["none of them"].shape == (0, 3)
    assert np.array_equal(found["short"], [1.5, -2.25]) and found["faces"].tolist() == [[0, 1, 2]]
    assert np.abs(found["motion"] - SOME["motion"].values).max() <= 1e-2


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_compact_numbers_are_as_exact_as_asked(scale):
    values = scale * np.random.default_rng(0).normal(size=(50, 4, 3))
    for within in (1e-3 * scale, 1e-9 * scale):  # in 16 bits, and in 32
        assert np.abs(unpack(pack([Compact(values, within)]))[0] - values).max() <= max(within, 6e-8 * 5.0 * scale)


def test_compact_numbers_are_small():
    """A motion takes less than two characters a number; as numbers of 32 bits it would take more than five."""
    values = np.sin(np.outer(np.linspace(0.0, 10.0, 600), np.linspace(1.0, 3.0, 100)))
    assert len(pack(Compact(values, 1e-3))) < 2.1 * values.size


def test_what_is_not_finite_is_kept():
    values = np.array([[0.0, np.nan], [np.inf, 1.0]])
    assert np.array_equal(unpack(pack([Compact(values, 1e-3)]))[0], values, equal_nan=True)
    assert np.array_equal(unpack(pack([Compact(np.full((3, 1), 7.25), 1e-3)]))[0], np.full((3, 1), 7.25))


def test_javascript_reads_the_same(tmp_path):
    """The module of the page, run by node."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    module = tmp_path / "payload.mjs"
    module.write_text((files("cmbcontrol.viewer") / "app" / "src" / "payload.js").read_text(encoding="utf-8"))
    program = (
        f"import {{ unpack }} from {json.dumps(module.as_uri())};"
        f"const x = await unpack({json.dumps(pack(SOME))});"
        "console.log(JSON.stringify(x, (_, v) => (ArrayBuffer.isView(v) ? [...v] : v)));"
    )
    told = subprocess.run([node, "--input-type=module", "-e", program], capture_output=True, text=True, check=True)
    read, here = json.loads(told.stdout), unpack(pack(SOME))
    for name in ("rows", "short", "faces", "none of them", "motion"):
        assert read[name]["shape"] == list(here[name].shape)
        assert read[name]["data"] == pytest.approx(here[name].ravel().tolist(), rel=1e-6)
    assert read["text"] == SOME["text"]
