"""Header and source: names, comments, other compilers."""

import re
import shutil
import subprocess

import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from cmbcontrol.codegen import export
from cmbcontrol.codegen.source import in_comment

from .conftest import STRICT


def text(made, suffix):
    return next(path for path in made.files if path.suffix == suffix).read_text()


def test_the_header_names_every_index(tmp_path):
    plant = plants.five_bar()
    header = text(export(plant, tmp_path, states=1), ".h")
    for group, names in (("Q", plant.position_names), ("V", plant.velocity_names), ("ROW", plant.row_names)):
        for i, name in enumerate(names):
            assert f"FIVE_BAR_{group}_{name.upper()} = {i}" in header
    assert '#define FIVE_BAR_VERSION "cmbcontrol' in header
    assert "FIVE_BAR_U_RIGHT = 1 /* N m */" in header
    assert "FIVE_BAR_P_CLEAR" in header and 'extern "C"' in header


def awkward():
    """Names that are no identifiers, that become alike, or that end comments."""
    bodies = [cmb.Body(name, 1.5, com=(0.5, 0.0, 0.0), inertia=(0.1, 0.2, 0.3)) for name in ("1 */ x", "1-x", "größe")]
    joints = [
        cmb.Revolute("int", "ground", "1 */ x", axis=(0, 0, 1)),
        cmb.Revolute("Int", "1 */ x", "1-x", axis=(0, 0, 1)),
        cmb.Revolute("??/", "1-x", "größe", axis=(0, 0, 1)),
    ]
    motors = [cmb.Actuator("int"), cmb.Actuator("Int"), cmb.Actuator("??/")]
    return cmb.Mechanism("3 /* größe \\", bodies, joints, actuators=motors, gravity=(0.0, -9.81, 0.0))


def test_any_names_compile_and_are_distinct(in_c):
    found = in_c(awkward())
    assert found.call("terms", [0.1, 0.2, 0.3], [0.0] * 3)[0] == 0
    header = text(found.made, ".h")
    assert header.isascii()
    defined = re.findall(r"^ +([A-Z]\w*) = ", header, re.M)
    assert len(set(defined)) == len(defined)


def test_comments_end_where_they_should():
    assert in_comment("a */ b /* c ??/ \\ d\ne") == "a * / b / * c ? ?/ / d e"
    assert in_comment("größe").isascii()


@pytest.mark.parametrize("name", ["five-bar", "governor"])
def test_a_program_in_cpp_can_use_the_header(tmp_path, name):
    compiler, c_compiler = shutil.which("g++"), shutil.which("gcc")
    if compiler is None or c_compiler is None:
        pytest.skip("no compiler of C++")
    plant, q, _ = plants.catalogue[name].start()
    made = export(plant, tmp_path, q, functions=["terms"], prefix="m", states=1)
    positions, of_loops = ", ".join(map(repr, q.tolist())), bool(plant.nu)
    (tmp_path / "main.cpp").write_text(
        '#include "m.h"\n'
        f"int main() {{ double q[M_NQ] = {{{positions}}}, v[M_NV] = {{}}, M[M_NV * M_NV], h[M_NV], energy[2];\n"
        f"{'double phi[M_ROWS], A[M_ROWS * M_NV], b[M_ROWS], B[M_NV * M_NU];' if of_loops else ''}\n"
        f"return m_terms(m_parameters, q, v, M, h, {'phi, A, b, B, ' if of_loops else ''}energy); }}\n"
    )
    assert made.functions == ("m_terms",)
    library = [c_compiler, *STRICT, "-c", "m.c", "-o", "m.o"]
    program = [compiler, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "main.cpp", "m.o", "-o", "main"]
    for command in (library, program, ["./main"]):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:1000]


def test_nothing_is_written_that_is_global(tmp_path):
    """All data is const or inside functions, and nothing is called but functions of math.h and its own."""
    source = text(export(plants.five_bar(), tmp_path, states=1), ".c")
    assert re.findall(r"^static (?!void|int)", source, re.M) == []
    assert re.findall(r"^(?:double|int) \w+(?:\[|;| =)", source, re.M) == []
    called = set(re.findall(r"(\w+)\(", source)) - {"if", "for"}
    assert {name for name in called if not name.startswith("five_bar")} <= {
        *("sin", "cos", "sqrt", "fabs", "rint", "atan2", "isfinite"),
        *("all_finite", "take", "give"),
    }
