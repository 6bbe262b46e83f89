"""The registry of experiments."""

from pkgutil import resolve_name

import pytest

from cmbcontrol import papers
from cmbcontrol.papers import EXPERIMENTS


def test_every_experiment_is_ready():
    for name, entry in EXPERIMENTS.items():
        assert entry.name == name == name.lower()
        assert callable(resolve_name(f"cmbcontrol.papers.{entry.function.args[0]}"))
        assert entry.text and "\n" not in entry.text and entry.takes and entry.takes_quick


def test_an_unknown_experiment():
    with pytest.raises(ValueError, match="no experiment 'de-falco-table'; did you mean 'de-falco-tables'"):
        papers.run("de-falco-table")
