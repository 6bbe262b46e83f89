"""What the disk keeps of compiled kernels."""

import ast
import errno
import hashlib
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numba
import numpy as np
import pytest
from filelock import FileLock
from numba import types

from cmbcontrol import _jit

needs_jit = pytest.mark.skipif(not _jit.JIT_ENABLED, reason="nothing is compiled")
PACKAGE = Path(__file__).parents[1] / "cmbcontrol"
CALLEE = """\
from .._jit import kernel


@kernel
def callee(x):
    return x + {}
"""
CALLER = """\
from .._jit import kernel
from .callee import callee


@kernel
def caller(x):
    return 10.0 * callee(x)
"""
RUN = "from cmbcontrol.kernels.caller import caller; print(caller(1.0), sum(caller.stats.cache_hits.values()))"
ALSO_COMPLEX = "from cmbcontrol.kernels.caller import caller; print(caller(1.0j), caller(1.0))"


def start(code, folder, path=None, **variables):
    """A fresh interpreter that finds the package in `folder`, and nothing of what this user has kept."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "XDG_"))}
    env |= {"PYTHONPATH": str(path or folder), "HOME": str(folder / "home"), **variables}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-W", "always", "-c", code], cwd=folder, env=env, **pipes)


def python(code, folder, path=None, warns=False, **variables):
    """What it prints."""
    process = start(code, folder, path, **variables)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert ("RuntimeWarning: compiled kernels cannot be kept" in err) == warns, err
    return out.split()


@pytest.fixture
def copy(tmp_path):
    """A copy of the package with two small kernels, one calling the other."""
    return copied(tmp_path)


def copied(folder):
    shutil.copytree(PACKAGE, folder / "cmbcontrol", ignore=shutil.ignore_patterns("__pycache__", "data"))
    (folder / "cmbcontrol" / "__init__.py").write_text("")
    (folder / "cmbcontrol" / "kernels" / "caller.py").write_text(CALLER)
    write_callee(folder, 1.0)
    return folder


def write_callee(folder, increment):
    (folder / "cmbcontrol" / "kernels" / "callee.py").write_text(CALLEE.format(increment))


def kept(folder):
    return sorted(folder.rglob("*.code"))


def allow_no_folder_beside_the_source(folder):
    """As in a read-only installation, but for root as well: a file stands where the folder would be."""
    (folder / "cmbcontrol" / "kernels" / "__pycache__").write_text("")


@pytest.mark.parametrize(
    "elsewhere",
    [False, pytest.param(True, marks=pytest.mark.slow)],  # in short: test_without_any_folder
    ids=["beside the source", "NUMBA_CACHE_DIR"],
)
@pytest.mark.slow
def test_an_edited_callee_is_compiled_again(copy, elsewhere):
    variables = {"NUMBA_CACHE_DIR": str(copy / "cache")} if elsewhere else {}
    assert python(RUN, copy, **variables) == ["20.0", "0"]
    assert python(RUN, copy, **variables) == ["20.0", "1"]  # from the cache
    write_callee(copy, 2.0)
    assert python(RUN, copy, **variables) == ["30.0", "0"]
    assert any(kept(copy / "cache")) == elsewhere


@pytest.mark.slow
def test_versions_that_share_a_folder_leave_each_other_alone(tmp_path):
    old, new = copied(tmp_path / "old"), copied(tmp_path / "new")
    write_callee(new, 2.0)
    for hits in ("0", "1"):
        for folder, answer in ((old, "20.0"), (new, "30.0")):
            assert python(RUN, folder, NUMBA_CACHE_DIR=str(tmp_path / "cache")) == [answer, hits]


def test_few_folders_of_older_sources_are_kept(tmp_path):
    for i in range(6):
        folder = tmp_path / f"kernels-{i}"
        _jit._make(folder)
        os.utime(folder, (i, i))
    (tmp_path / "something else").mkdir()
    _jit._make(tmp_path / "kernels-new")
    names = {folder.name for folder in tmp_path.iterdir()}
    assert names == {"kernels-3", "kernels-4", "kernels-5", "kernels-new", "something else"}


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """Makes a kernel as a new process would, which keeps its code in `tmp_path`."""
    monkeypatch.setattr(_jit, "_folders", lambda: (tmp_path / "kernels-a", tmp_path / "kernels-b"))
    monkeypatch.setattr(_jit, "_told", [])

    def make():
        compiled = numba.njit(lambda x: x + 1.0)
        compiled._cache = _jit._DiskCache(compiled)
        return compiled

    return make


def hits(compiled):
    """Whether the kernel was on disk. It gives the right answer in any case."""
    assert compiled(1.0) == 2.0
    return sum(compiled.stats.cache_hits.values())


def flipped(data):
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


def of_something_else(data):
    data = pickle.dumps(("another signature", ()))
    return hashlib.sha256(data).digest() + data


@needs_jit
@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: data[: len(data) // 2], flipped, of_something_else])
def test_a_damaged_file_is_compiled_again(tmp_path, tiny, damage):
    assert [hits(tiny()), hits(tiny())] == [0, 1]
    (file,) = kept(tmp_path)
    file.write_bytes(damage(file.read_bytes()))
    assert [hits(tiny()), hits(tiny())] == [0, 1]


@needs_jit
def test_code_is_written_to_the_first_folder_that_takes_it(tmp_path, tiny):
    (tmp_path / "kernels-a").write_text("")  # a file stands where the folder would be: holds for root, too
    assert [hits(tiny()), hits(tiny())] == [0, 1]
    (tmp_path / "kernels-a").unlink()
    assert hits(tiny()) == 1  # and is read from there
    assert [file.parent.name for file in kept(tmp_path)] == ["kernels-b"]


@needs_jit
def test_a_full_disk_keeps_no_part_of_a_file(tmp_path, tiny, monkeypatch):
    write = Path.write_bytes

    def half(path, data):
        write(path, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", half)
    with pytest.warns(RuntimeWarning, match=r"cannot be kept in .* set NUMBA_CACHE_DIR"):
        assert hits(tiny()) == 0
    assert hits(tiny()) == 0  # without another word
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == []


@pytest.mark.slow
def test_a_read_only_installation_keeps_its_kernels_with_the_user(copy):
    allow_no_folder_beside_the_source(copy)
    assert python(RUN, copy) == ["20.0", "0"]
    assert kept(copy / "home")
    assert python(RUN, copy) == ["20.0", "1"]


@pytest.mark.slow
def test_without_any_folder_kernels_are_compiled_at_every_start(copy):
    allow_no_folder_beside_the_source(copy)
    (copy / "home").write_text("")
    assert python(RUN, copy, warns=True) == ["20.0", "0"]
    cache = {"NUMBA_CACHE_DIR": str(copy / "cache")}  # the remedy that the warning names
    assert [python(RUN, copy, **cache) for _ in range(2)] == [["20.0", "0"], ["20.0", "1"]]


@pytest.mark.slow
def test_an_installation_in_a_zip_file(copy):
    archive = shutil.make_archive(str(copy / "installed"), "zip", copy, "cmbcontrol")
    shutil.rmtree(copy / "cmbcontrol")
    assert python(RUN, copy, archive) == ["20.0", "0"]
    assert python(RUN, copy, archive) == ["20.0", "1"]


def test_nothing_is_compiled_without_jit(copy):
    code = "from cmbcontrol.kernels.caller import caller; from cmbcontrol import _jit; print(caller(1.0))"
    assert python(code, copy, NUMBA_DISABLE_JIT="1") == ["20.0"]
    assert not kept(copy)


@pytest.mark.slow
def test_processes_that_start_cold_together(copy):
    """For different arguments, too, while their folder is dropped by another version."""
    codes = (RUN, ALSO_COMPLEX) * 2
    for dropped in (True, False):
        processes = [start(code, copy) for code in codes]
        while any(process.poll() is None for process in processes):
            for folder in copy.rglob("kernels-*") if dropped else ():
                shutil.rmtree(folder, ignore_errors=True)
            time.sleep(0.01)
        for process, code in zip(processes, codes, strict=True):
            out, err = process.communicate()
            assert (process.returncode, err) == (0, ""), err
            assert out.split()[0] == ("20.0" if code is RUN else "(10+10j)")
    assert python(RUN, copy) == ["20.0", "1"]
    assert python(ALSO_COMPLEX, copy) == ["(10+10j)", "20.0"]


@needs_jit
def test_of_processes_that_start_together_one_compiles(copy):
    processes = [start(RUN, copy) for _ in range(3)]
    found = [process.communicate(timeout=120) for process in processes]
    assert sorted(found) == [("20.0 0\n", ""), ("20.0 1\n", ""), ("20.0 1\n", "")]
    assert not list(copy.rglob("*.lock"))


@needs_jit
@pytest.mark.slow
def test_a_process_that_holds_a_kernel_too_long_is_not_waited_for(copy):
    python(RUN, copy)
    (file,) = (file for file in kept(copy) if file.name.startswith("caller.caller-"))
    file.unlink()
    with FileLock(f"{file}.lock"):
        begin = time.monotonic()
        assert python(f"from cmbcontrol import _jit; _jit._WAIT = 1.0; {RUN}", copy) == ["20.0", "0"]
        assert time.monotonic() - begin > 1.0


@pytest.mark.slow
def test_killed_while_compiling(copy):
    code = "import cmbcontrol.kernels.caller; print(flush=True); " + RUN
    for wait in (0.02, 0.1, 0.2, 0.3):
        with start(code, copy) as process:
            process.stdout.readline()
            time.sleep(wait)
            process.kill()
        assert not any(file.read_bytes() == b"" for file in kept(copy))
    assert python(RUN, copy)[0] == "20.0"
    assert python(RUN, copy) == ["20.0", "1"]


@needs_jit
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
@pytest.mark.slow
def test_interrupted_while_compiling(copy):
    """In the same process the kernel is compiled at the next call. Without care for it, some end in a crash."""
    code = """
import signal, time, numpy as np
from cmbcontrol.kernels.caller import caller
signal.signal(signal.SIGALRM, signal.default_int_handler)
caller(np.int8(1))  # numba itself is loaded
start = time.perf_counter()
caller(np.uint64(1))
one = time.perf_counter() - start  # what a compilation takes here, now
interrupted = 0
kinds = [float, complex, np.float32, np.int16, np.int32, np.uint8, np.uint16, np.uint32, np.complex64, np.bool_]
for i, kind in enumerate(kinds):
    try:
        signal.setitimer(signal.ITIMER_REAL, (0.05 + 0.08 * i) * one)
        caller(kind(1))
    except KeyboardInterrupt:
        interrupted += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    assert caller(kind(1)) == 20.0, kind
print(interrupted)
"""
    assert int(python(code, copy)[0]) > 3
    assert python(RUN, copy) == ["20.0", "1"]


@pytest.mark.smoke
def test_all_that_kernels_are_compiled_from_counts_for_the_cache():
    """A constant of another module is compiled in; a change of it must reach the kernels."""
    for file in (PACKAGE / "kernels").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.level == 2:  # from ..module
                assert f"{node.module}.py" in _jit.SOURCES, f"{file.name} imports {node.module}"
            assert not (isinstance(node, ast.ImportFrom) and node.level > 2)


@pytest.mark.last
@needs_jit
def test_no_kernel_was_compiled_for_two_kinds_of_arguments():
    """Wrong array kinds recompile silently, seconds each: the whole suite asks each kernel for one signature.

    The array fields of a record, which one kernel passes to another, do not count, and two small kernels that take
    columns and transposed matrices. Two more copy arrays of whole numbers, too: of each kind of number one.
    """

    def plain(kind):
        return types.Array(kind.dtype, kind.ndim, "C") if isinstance(kind, types.NestedArray) else kind

    found = []
    for kernel in _jit.kernels():
        own = kernel.py_func.__module__.startswith("cmbcontrol.")
        if not own or kernel.__name__ in ("rotate_back", "product"):
            continue
        signatures = {tuple(map(plain, signature)) for signature in kernel.signatures}
        apart: dict = {}
        for signature in signatures:
            numbers = signature[0].dtype if kernel.__name__ in ("copy", "copy_rows") else None
            apart.setdefault(numbers, []).append(signature)
        for alike in apart.values():
            for i, column in enumerate(zip(*alike, strict=True)):
                kinds = sorted(set(map(str, column)))
                if len(kinds) > 1:
                    found.append(f"{kernel.__name__}, argument {i}: {' and '.join(kinds)}")
    if found:
        pytest.fail("\n".join(found), pytrace=False)


class TestBorrowedArrays:
    """Kernels do not count references, unless they say that they make or return arrays."""

    @pytest.mark.skipif(not _jit.JIT_ENABLED, reason="nothing is compiled")
    def test_one_that_returns_an_array_says_so(self):
        for returned in (lambda x: x, lambda x: (1.0, x[1:]), lambda x: (2, (x, 1))):
            with pytest.raises(TypeError, match=r"returns .*write @kernel\(allocates=True\)"):
                _jit.kernel(returned)(np.zeros(3))
        assert _jit.kernel(lambda x: x[1:], allocates=True)(np.zeros(3)).shape == (2,)

    @pytest.mark.skipif(not _jit.JIT_ENABLED, reason="nothing is compiled")
    def test_one_that_makes_an_array_says_so(self):
        made = lambda n: np.empty(n).size  # noqa: E731
        with pytest.raises(Exception, match="empty"):
            _jit.kernel(made)(3)
        assert _jit.kernel(made, allocates=True)(3) == 3

    def test_scratch_is_an_array_of_its_own(self):
        @_jit.kernel
        def inner(n):
            x = _jit.scratch(3)
            for i in range(3):
                x[i] = n + i
            return x[0] + x[1] + x[2]

        @_jit.kernel
        def outer(out):
            x = _jit.scratch((2, 3))
            for i in range(2):
                for k in range(3):
                    x[i, k] = 10.0 * i + k
            row = x[1]
            for i in range(out.shape[0]):
                out[i] = inner(i) + row[2] + x[0, 1]
            return x.size

        out = np.empty(50)
        assert outer(out) == 6
        np.testing.assert_array_equal(out, 3.0 * np.arange(50) + 16.0)


LARGE_KERNELS = """
import sys
from pathlib import Path
import numba
from cmbcontrol import _jit
_jit._LARGE, folder = 0, Path(sys.argv[1])
_jit._folders = lambda: (folder,)
others = [numba.njit(lambda x: x) for _ in range(int(sys.argv[2]))]
for other in others:
    other(1.0)

def kept(function):
    compiled = numba.njit(function)
    compiled._cache = _jit._DiskCache(compiled)
    return compiled

@kept
def inner(x):
    return 3.0 * x

@kept
def middle(x):
    return inner(x) + 1.0

@kept
def outer(x):
    return middle(x) - inner(x + 1.0)

assert outer(2.0) == -2.0
print(*(sum(kernel.stats.cache_hits.values()) for kernel in (inner, middle, outer)))
"""


class TestLargeKernels:
    """They are code of their own, which callers find by its symbol."""

    @pytest.fixture
    def hits_of(self, tmp_path):
        def run(others=0):
            command = [sys.executable, "-c", LARGE_KERNELS, str(tmp_path), str(others)]
            environment = os.environ | {"PYTHONPATH": ":".join(sys.path)}
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            return [int(x) for x in done.stdout.split()]

        return run

    @pytest.mark.skipif(not _jit.JIT_ENABLED, reason="nothing is compiled")
    @pytest.mark.slow
    def test_they_are_loaded_before_their_callers(self, hits_of):
        assert hits_of() == [0, 0, 0]
        assert hits_of() == [1, 1, 1]

    @pytest.mark.skipif(not _jit.JIT_ENABLED, reason="nothing is compiled")
    @pytest.mark.parametrize("damage", [lambda path: path.unlink(), lambda path: path.write_bytes(b"x" * 3000)])
    @pytest.mark.slow
    def test_callers_of_one_that_was_lost_are_compiled_again(self, hits_of, tmp_path, damage):
        hits_of()
        (path,) = tmp_path.glob("__main__.inner-*")
        damage(path)
        assert hits_of(others=5) == [0, 0, 0]  # with another symbol
        assert hits_of() == [1, 1, 1]

    @pytest.mark.skipif(not _jit.JIT_ENABLED, reason="nothing is compiled")
    @pytest.mark.slow
    def test_a_caller_that_was_lost(self, hits_of, tmp_path):
        hits_of()
        (path,) = tmp_path.glob("__main__.middle-*")
        path.unlink()
        assert hits_of(others=5) == [1, 0, 0]
        assert hits_of() == [1, 1, 1]
