"""The Python blocks of the documentation run, page by page."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGES = (
    *("controller-chains.md", "control.md", "designing-gains.md", "experiments.md"),
    *("formulations.md", "linear.md", "python-control.md", "singular-configurations.md", "trim.md"),
)  # others are run where they are tested
LONG = ("controller-chains.md", "designing-gains.md")


@pytest.mark.nojit_slow
@pytest.mark.parametrize("page", [pytest.param(p, marks=[pytest.mark.slow] * (p in LONG)) for p in PAGES])
def test_page_runs(page, tmp_path, monkeypatch):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    blocks = re.findall(r"^```python\n(.*?)^```$", (DOCS / page).read_text(encoding="utf-8"), re.M | re.S)
    assert blocks
    monkeypatch.chdir(tmp_path)
    names: dict = {"__name__": "page"}
    try:
        for block in blocks:
            exec(compile(block, page, "exec"), names)
    finally:
        plt.close("all")
