"""What the project says about itself agrees with what it is."""

import re
import tomllib
from pathlib import Path

import cmbcontrol

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_version_is_the_same_everywhere():
    assert PROJECT["project"]["version"] == cmbcontrol.__version__
    assert f"version: {cmbcontrol.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_readme_has_two_set_up_commands_of_one_line():
    commands = re.findall(r"^```bash\n(.*?)^```$", README, re.M | re.S)
    assert [c.count("\n") for c in commands] == [1, 1]
    assert all(c.startswith("python3 -m venv .venv && ") for c in commands)
    assert commands[0].rstrip().endswith("cmbcontrol study five-bar")
    assert commands[1].rstrip().endswith("-m pytest -n auto")


def test_wheel_holds_the_typed_package_only():
    assert PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"] == {"packages": ["cmbcontrol"]}
    assert (ROOT / "cmbcontrol" / "py.typed").exists()


def test_short_cuts_lead_into_the_package():
    for name in ("plants", "controllers"):
        assert (ROOT / name).resolve() == ROOT / "cmbcontrol" / name


def test_guide_lists_every_plant():
    guide = (ROOT / "docs" / "plants.md").read_text(encoding="utf-8")
    assert [name for name in cmbcontrol.plants.catalogue if f"| `{name}` |" not in guide] == []
