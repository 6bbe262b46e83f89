"""The call: what it writes, what it refuses, and what other tools say of it."""

import ctypes
import re
import subprocess
import sys
import zipfile
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from cmbcontrol import Body, Constant, Coupling, FunctionPlant, GearFriction, Mechanism, Revolute, fmu, plants
from cmbcontrol.controllers import Delay, ProjectedInverseDynamics
from cmbcontrol.errors import FileError, InputError, InputTypeError, SingularConfigurationError

from ..fixtures import refuses
from .conftest import COMPILER

module = sys.modules["cmbcontrol.fmu.export"]  # whose name is that of the function, too
both = pytest.mark.parametrize("version", ["3.0", "2.0"])
KINDS = ("ModelExchange", "CoSimulation", ("ModelExchange", "CoSimulation"))


@pytest.mark.first(1)
@pytest.mark.nojit_slow
@pytest.mark.parametrize(
    ("name", "version", "kind"),
    [
        *(("five-bar", *pair) for pair in product(("3.0", "2.0"), KINDS)),
        *zip(("loader", "delta", "excavator"), ("2.0", "3.0", "2.0"), KINDS, strict=True),
    ],
)
def test_the_validation_of_fmpy_finds_nothing(tmp_path, name, version, kind):
    validate = pytest.importorskip("fmpy.validation").validate_fmu
    plant, q, _ = plants.catalogue[name].start()
    made = fmu.export(plant, tmp_path / "machine.fmu", q, version=version, kind=kind, binary=False)
    assert validate(str(made.path)) == []


@pytest.mark.slow
@pytest.mark.nojit_slow
@both
def test_c_is_free_of_warnings(tmp_path, version):
    """All of them are errors, of one machine without loads and one with, and of one with a law."""
    if COMPILER is None:
        pytest.skip("no C compiler")
    five_bar, excavator = plants.five_bar(), plants.excavator()
    law = ProjectedInverseDynamics(five_bar, ("left", "right"), Constant([2.1, 1.0]), bandwidth=8.0, period=1e-3)
    continuous = ProjectedInverseDynamics(five_bar, ("left", "right"), Constant([2.1, 1.0]), bandwidth=8.0)
    for plant, more in ((five_bar, None), (excavator, None), (five_bar, law | Delay(1e-3)), (five_bar, continuous)):
        made = fmu.export(plant, tmp_path / "m.fmu", law=more, version=version, binary=False, overwrite=True)
        folder = tmp_path / "unzipped"
        with zipfile.ZipFile(made.path) as archive:
            archive.extractall(folder)
        strict = "-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Werror"
        for standard in ("-std=c99", "-std=gnu11"):  # whose headers have more names
            command = [COMPILER, standard, *strict.split(), "-O1", "-c", "fmu.c", "-o", "fmu.o"]
            done = subprocess.run(command, cwd=folder / "sources", capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr[:2000]


@both
def test_all_functions_of_the_standard_are_there(exported, version, tmp_path):
    """As the headers that fmpy brings list them."""
    fmpy = pytest.importorskip("fmpy")
    made = exported(plants.pendulum(), version=version)
    header = Path(fmpy.__file__).parent / "c-code" / f"fmi{version[0]}Functions.h"
    names = set(re.findall(rf"\bfmi{version[0]}\w+TYPE\s+(fmi{version[0]}\w+);", header.read_text()))
    assert len(names) > 30
    with zipfile.ZipFile(made.path) as archive:
        library = next(n for n in archive.namelist() if n.startswith("binaries/"))
        archive.extract(library, tmp_path)
    loaded = ctypes.CDLL(str(tmp_path / library))
    assert [n for n in names if not hasattr(loaded, n)] == []
    assert not hasattr(loaded, "qr_factor")


@pytest.mark.slow
@both
def test_sources_are_built_by_another_tool(tmp_path, version):
    """fmpy compiles them with CMake, from what the FMU says of them."""
    fmpy = pytest.importorskip("fmpy")
    build = pytest.importorskip("fmpy.build")
    if COMPILER is None:
        pytest.skip("no C compiler")
    plant = plants.five_bar()
    made = fmu.export(plant, tmp_path / "m.fmu", plant.assemble(left=-2.2, right=-1.0), version=version, binary=False)
    with zipfile.ZipFile(made.path) as archive:
        archive.extractall(tmp_path / "u")
    (tmp_path / "build").mkdir()
    build.build_platform_binary(tmp_path / "u", tmp_path / "build")
    found = fmpy.simulate_fmu(str(tmp_path / "u"), stop_time=0.1)
    assert np.isfinite([*found[-1]]).all()


def test_what_was_written_is_told(tmp_path):
    plant = plants.excavator()
    made = fmu.export(plant, tmp_path / "m.fmu", version="2.0", kind="CoSimulation", bodies=["bucket"], binary=False)
    assert (made.version, made.kinds, made.binary) == ("2.0", ("CoSimulation",), "")
    assert made.inputs[: plant.nu] == tuple(f"u.{n}" for n in plant.actuator_names)
    assert [n for n in made.inputs if n.startswith("load.digging_f")]
    assert {n.split(".")[1] for n in made.outputs if n.startswith("frame")} == {"bucket"}
    assert made.references["time"] == 0
    with zipfile.ZipFile(made.path) as archive:
        names = archive.namelist()
    assert "modelDescription.xml" in names and "sources/fmu.c" in names
    assert not any(n.startswith("binaries") for n in names)


def test_the_same_machine_gives_the_same_file(tmp_path):
    for name in ("a.fmu", "b.fmu"):
        fmu.export(plants.five_bar(), tmp_path / name, binary=False)
    assert (tmp_path / "a.fmu").read_bytes() == (tmp_path / "b.fmu").read_bytes()


def test_files_hold_no_path_of_this_machine(exported):
    made = exported(plants.pendulum())
    with zipfile.ZipFile(made.path) as archive:
        for name in archive.namelist():
            content = archive.read(name)
            assert str(Path.home()).encode() not in content or str(Path.home()) == "/"
            assert str(Path(__file__).parents[2]).encode() not in content


def test_the_platform_of_a_library_is_that_of_the_standard(monkeypatch):
    for system, processor, three, two in (
        ("linux", "x86_64", ("x86_64-linux", ".so"), ("linux64", ".so")),
        ("win32", "AMD64", ("x86_64-windows", ".dll"), ("win64", ".dll")),
        ("darwin", "arm64", ("aarch64-darwin", ".dylib"), ("darwin64", ".dylib")),
    ):
        monkeypatch.setattr(sys, "platform", system)
        monkeypatch.setattr(module.platform, "machine", lambda processor=processor: processor)
        assert module._platform("3.0") == three
        assert module._platform("2.0") == two


def test_refusals(tmp_path, monkeypatch):
    plant, path = plants.five_bar(), tmp_path / "m.fmu"

    def export(machine=plant, **options):
        return lambda: fmu.export(machine, options.pop("path", path), **{"binary": False, **options})

    particle = plants.catalogue["particle"].start()[0]
    assert isinstance(particle, FunctionPlant)
    refuses(export(particle), "cannot be exported", "Python", kind=InputTypeError)
    refuses(export(path=tmp_path / "m.zip"), ".fmu", "m.zip", kind=InputError)
    refuses(export(version="1.0"), "version", "3.0", "2.0", kind=InputError)
    refuses(export(kind="ScheduledExecution"), "kind", "ModelExchange", kind=InputError)
    refuses(export(kind=()), "kind", "both", kind=InputError)
    refuses(export(bodies=["arm"]), "bodies", "'arm'", kind=InputError)
    refuses(export(internal_step=0.0), "internal_step", "0", kind=InputError)
    refuses(export(references="outside"), "references", "inside", kind=InputError)
    refuses(export(u=[1.0]), "u", kind=InputError)
    refuses(export(u=[1.0, 2.0], law=[1.0, 2.0]), "law", kind=InputError)
    path.write_bytes(b"mine")
    refuses(export(), "overwrite=True", kind=FileError)
    assert path.read_bytes() == b"mine"
    monkeypatch.setattr(module.shutil, "which", lambda name: None)
    refuses(export(overwrite=True, binary=True), "compiler", "binary=False", kind=FileError)
    assert path.read_bytes() == b"mine"


def test_friction_in_proportion_to_loads_is_refused(tmp_path):
    """What a gear takes depends on what its coupling carries."""
    shafts = [Body(name, 1.0, inertia=(0.1,) * 3) for name in ("fast", "slow")]
    joints = [Revolute(f"{b.name}_pin", "ground", b.name, axis=(0, 0, 1)) for b in shafts]
    wheels = Coupling("gear", {"fast_pin": 1.0, "slow_pin": -5.0})
    plant = Mechanism("gear box", shafts, joints, [wheels], forces=[GearFriction("mesh", "gear", efficiency=0.9)])
    refuses(
        lambda: fmu.export(plant, tmp_path / "m.fmu", binary=False), "gear box", "mesh", "friction", kind=InputError
    )


def test_a_singular_start_is_refused(tmp_path):
    """The five-bar stretched out, of which two motions begin."""
    plant = plants.five_bar()
    stretched = plant.pack({"left": np.pi, "elbow_left": -np.pi, "elbow_right": np.pi})
    refuses(
        lambda: fmu.export(plant, tmp_path / "m.fmu", stretched, binary=False),
        "singular configuration", "another configuration", kind=SingularConfigurationError,
    )  # fmt: skip
