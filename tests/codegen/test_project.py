"""The folder builds and tests itself."""

import re
import shutil
import subprocess

import pytest

from cmbcontrol import plants
from cmbcontrol.codegen import export


@pytest.mark.skipif(shutil.which("cmake") is None or shutil.which("cc") is None, reason="no cmake, or no C compiler")
@pytest.mark.slow
def test_cmake_and_ctest(tmp_path):
    plant, q, _ = plants.catalogue["loader"].start()
    export(plant, tmp_path, q)
    readme = (tmp_path / "README.md").read_text()
    (command,) = re.findall(r"^```bash\n(.*)\n```$", readme, re.M)
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-1000:]
    assert "100% tests passed" in done.stdout


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler")
def test_the_example_of_the_page_compiles(tmp_path):
    plant, q, _ = plants.catalogue["leg"].start()
    export(plant, tmp_path, q)
    (example,) = re.findall(r"^```c\n(.*?)^```$", (tmp_path / "README.md").read_text(), re.M | re.S)
    include, rest = example.split("\n\n", 1)
    (tmp_path / "main.c").write_text(f"{include}\nint main(void)\n{{\n{rest}return 0;\n}}\n")
    done = subprocess.run(
        ["gcc", "-std=c99", "-c", "main.c"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_page_says_what_is_missing_and_why(tmp_path):
    export(plants.governor(), tmp_path, states=1)
    readme = (tmp_path / "README.md").read_text()
    assert "`inverse` is not here: 'governor' has no motor" in readme
    assert "| 3 | `GOVERNOR_STATUS_NEAR_SINGULAR` |" in readme
