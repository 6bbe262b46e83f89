"""Machine code is made once for each structure, and kept on disk; what is damaged there is made again."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from cmbcontrol import JointForce, plants
from cmbcontrol._jit import JIT_ENABLED
from cmbcontrol.characteristics import SpringDamper
from cmbcontrol.dynamics.acceleration import acceleration, forward_dynamics
from cmbcontrol.errors import InputError
from cmbcontrol.trace import code as module
from cmbcontrol.trace import llvm
from cmbcontrol.trace.code import code, enabled
from cmbcontrol.trace.functions import FUNCTIONS

needs_jit = pytest.mark.skipif(not JIT_ENABLED, reason="nothing is compiled")


def test_it_can_be_switched_off(monkeypatch):
    monkeypatch.setattr(module, "CHOICE", "kernels")
    assert not enabled()
    monkeypatch.setattr(module, "CHOICE", "generated")
    assert enabled() == JIT_ENABLED
    monkeypatch.setattr(module, "CHOICE", "interpreted")
    with pytest.raises(InputError, match="CMB_CODE=interpreted; it must be generated or kernels"):
        enabled()


@pytest.mark.parametrize(("said", "expected"), [({}, "generated"), ({"CMB_CODE": "kernels"}, "kernels")])
def test_by_the_environment(said, expected):
    environment = {name: value for name, value in os.environ.items() if name != "CMB_CODE"} | said
    program = "from cmbcontrol.trace import code; print(code.CHOICE)"
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [expected]


@needs_jit
def test_one_structure_is_compiled_once(monkeypatch):
    first = plants.five_bar()
    q = first.assemble(left=2.1, right=1.0)
    found = code(first.arrays, [0, 1], q)
    addresses = [found.address(name) for name in FUNCTIONS]
    monkeypatch.setattr(llvm, "build", None)  # would fail
    assert code(first.arrays, [1, 0], q) is found
    again = code(plants.five_bar().arrays, [0, 1], q)
    assert again is not found
    assert [again.address(name) for name in FUNCTIONS] == addresses


SCRIPT = """
import numpy as np
from cmbcontrol import plants
from cmbcontrol.trace import code, llvm
made = []
build = llvm.build
llvm.build = lambda text: made.append(text) or build(text)
plant = plants.five_bar()
found = code.code(plant.arrays, [1], plant.assemble(left=2.1, right=1.0))  # as no other test, which may be kept
assert found.address("land") and found.address("land")
print(len(made))
"""


def python(tmp_path):
    environment = {"NUMBA_CACHE_DIR": str(tmp_path), "PATH": "", "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True)
    return int(done.stdout)


@needs_jit
@pytest.mark.slow
def test_kept_on_disk_and_damage_is_repaired(tmp_path):
    assert python(tmp_path) == 1
    assert python(tmp_path) == 0
    (kept,) = tmp_path.rglob("machine-*.object")
    whole = kept.read_bytes()
    for damaged in (b"", whole[:100], whole[:-1] + bytes([whole[-1] ^ 1])):
        kept.write_bytes(damaged)
        assert python(tmp_path) == 1
        assert kept.read_bytes() == whole
    assert python(tmp_path) == 0


@needs_jit
def test_rows_that_are_kept_belong_to_the_code():
    plant, q, _ = plants.catalogue["parallelogram"].start()
    rank = plant.generic_rank(q)
    assert rank < len(plant.row_names)
    some, others = code(plant.arrays, range(rank), q), code(plant.arrays, range(1, rank + 1), q)
    assert some.rows == list(range(rank))
    assert some.address("land") != others.address("land")
    np.testing.assert_array_equal(some.p, others.p)


@needs_jit
def test_threads_get_the_same_code():
    plant, q, _ = plants.catalogue["three-rrr"].start()
    rows = range(plant.generic_rank(q))

    def ask(_):
        return code(plant.arrays, rows, q).address("land")

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(ask, range(40)))) == 1


@needs_jit
def test_other_numbers_in_force_elements_are_those_of_the_code():
    """A spring fifty times as stiff, against the equations of motion by the kernels."""
    spring = JointForce("spring", "angle", SpringDamper(10.0, 0.0))
    soft = plants.pendulum().with_parts(forces=[spring])
    q, rest, found = soft.assemble(angle=0.3), np.zeros(soft.nv), []
    for plant in (soft, soft.with_force_numbers(replace(spring, characteristic=SpringDamper(500.0, 0.0)))):
        terms = plant.terms(q, rest)
        found.append(forward_dynamics(plant, q, rest))
        np.testing.assert_allclose(found[-1], acceleration(terms, np.zeros(plant.nv)), rtol=1e-9, atol=1e-9)
    assert np.abs(found[1]).max() > 10.0 * np.abs(found[0]).max()
