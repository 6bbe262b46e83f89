"""Compilation of kernels; with `_bundle`, which defines how they pass arrays, the only place that imports numba.

Every kernel is compiled for one target (CPU, float64), and its machine code is kept on disk. numba's own cache would
not do. It knows the file of the *calling* function alone, so a kernel whose callee in another file has changed silently
runs the old code (numba issue 1833). It finds its files through an index, which two processes that compile at the same
time may overwrite for each other. A damaged file is a traceback at every start, and where no folder can be written
nothing can be imported. Here

* a folder belongs to the sources of all kernels at once: when one of them changes, another folder is used;
* a file belongs to one kernel, one signature, one processor, one version of Python and numba. It appears whole or not
  at all, and carries a checksum. What cannot be read is compiled again;
* of processes that need the same kernel, one compiles it, and the others wait for its file;
* files are read from wherever they are, and written to the first place that takes them.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import hashlib
import itertools
import math
import pickle
import shutil
import signal
import sys
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar, overload

import numba
import numpy as np
from llvmlite import binding as llvm
from llvmlite import ir
from numba.core import cgutils, sigutils, types
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.extending import intrinsic
from numba.misc.appdirs import AppDirs
from numba.np import arrayobj

from ._bundle import BundleType, bundle

__all__ = [
    "JIT_ENABLED",
    "Callback",
    "bundle",
    "call",
    "entry",
    "execute",
    "is_kept",
    "keep",
    "kept",
    "kernel",
    "kernels",
    "needs_compilation",
    "plain",
    "scratch",
    "where_less",
]

_Function = TypeVar("_Function", bound=Callable)

# what the annotations of numba do not tell
_config: Any = numba.config
_njit: Any = numba.njit
_Tuple: Any = types.BaseTuple

JIT_ENABLED = not _config.DISABLE_JIT

SOURCES = ("_bundle.py", "_jit.py", "_tolerance.py")  # beside the kernels: constants are compiled in
_OTHERS = 3  # folders of other sources that stay when a new one is made: versions of the package may share a place
_SUM = 32  # bytes of a checksum
_LARGE = 4096  # bytes of machine code: below, calls are worth to be taken in
_WAIT = 300.0  # s until a kernel is compiled here that another process compiles: ten times what the largest one takes
_registry: list[Callable] = []
_caches: dict[str, _DiskCache] = {}  # by name of the kernel
_told: list[bool] = []
_handlers: dict[int, Callable] = {}  # of signals that wait while numba compiles
_came: list[tuple[int, Any]] = []  # the signals that did, each with its frame


def _fingerprint() -> str:
    """Hash of all sources that are compiled; empty where there are no source files, as in a frozen program."""
    here = resources.files(__package__)
    digest = hashlib.sha256()
    try:
        files = [
            *(here / name for name in SOURCES),
            *(file for file in (here / "kernels").iterdir() if file.name.endswith(".py")),
        ]
        for file in sorted(files, key=lambda file: file.name):
            digest.update(file.name.encode())
            digest.update(file.read_bytes())
    except OSError:
        return ""
    return digest.hexdigest()[:16]


_FINGERPRINT = _fingerprint()  # of what is being imported: files may be edited while the program runs


@cache
def _folders() -> tuple[Path, ...]:
    """Folders where machine code of these sources may be, the preferred one first.

    No folder for temporary files is among them: where others can write, no code is read.
    """
    if not _FINGERPRINT:
        return ()
    places = [Path(_config.CACHE_DIR, "cmbcontrol").absolute()] if _config.CACHE_DIR else []
    places.append(Path(__file__).parent / "kernels" / "__pycache__")
    places.append(Path(AppDirs("cmbcontrol", appauthor=False).user_cache_dir))  # relative for a user without a home
    return tuple(place / f"kernels-{_FINGERPRINT}" for place in places if place.is_absolute())


def kept(name: str) -> Iterator[bytes]:
    """Contents of the files of this name that are complete."""
    for folder in _folders():
        with contextlib.suppress(OSError):
            data = (folder / name).read_bytes()
            if hashlib.sha256(data[_SUM:]).digest() == data[:_SUM]:
                yield data[_SUM:]


def keep(name: str, data: bytes) -> None:
    """Write a file of this name to the first folder that can be written, all at once."""
    for folder in _folders():
        part = folder / f"{name}.{uuid.uuid4().hex[:16]}.part"
        try:
            _make(folder)
            part.write_bytes(hashlib.sha256(data).digest() + data)
            part.replace(folder / name)
            return
        except OSError:
            continue
        finally:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
    _tell_that_nothing_is_kept()


def _make(folder: Path) -> None:
    """Make a folder, and delete old ones of other sources but a few. A process that still uses one compiles again."""
    if folder.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(OSError):
        others = sorted(folder.parent.glob("kernels-*"), key=lambda other: other.stat().st_mtime)
        for other in [other for other in others if other != folder][:-_OTHERS]:
            shutil.rmtree(other, ignore_errors=True)


def _tell_that_nothing_is_kept() -> None:
    """Warn, once, that no folder can be written; other kernels would only repeat it."""
    if _told:
        return
    _told.append(True)
    tried = " or ".join(str(folder.parent) for folder in _folders()) or "a program without its source files"
    warnings.warn(
        f"compiled kernels cannot be kept in {tried}, so every start compiles them, which takes about a minute; "
        "set NUMBA_CACHE_DIR to a folder that can be written",
        RuntimeWarning,
        stacklevel=2,
    )


class _DiskCache(NullCache):
    """Cache of the machine code of one kernel, a file for each signature; used in a dispatcher in place of numba's.

    numba puts the code of all that a kernel calls into it, down to the leaves, and compiles it there once more: the
    time loop alone would hold that of a hundred others. Here a large kernel is code of its own, which its callers
    find by its symbol. A file lists the symbols it needs, and they are loaded first.
    """

    def __init__(self, kernel: Any) -> None:
        function = kernel.py_func
        self._kernel, self._name = kernel, f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}"
        checked = bool(_config.BOUNDSCHECK)  # of indices, which code that was compiled without it does not
        self._of = sys.implementation.cache_tag, numba.__version__, function.__code__.co_firstlineno, checked
        _caches[self._name] = self

    def _file(self, signature: Any, codegen: Any) -> str:
        text = repr((*self._of, signature, codegen.magic_tuple()))
        return f"{self._name}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.code"

    def load_overload(self, signature: Any, target_context: Any) -> CompileResult | None:
        _let_signals_act()  # numba has only just begun with this kernel
        target_context.refresh()
        for data in kept(self._file(signature, target_context.codegen())):
            # A whole file that is none of ours may raise anything; what it says is not needed to go on.
            with contextlib.suppress(Exception):
                found, needs, large, compiled = pickle.loads(data)
                if found == signature and all(_caches[name].has(args, symbol) for name, args, symbol in needs):
                    made = CompileResult._rebuild(target_context, *compiled)
                    self._share(made, needs, large)
                    return made
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        library = compiled.library
        if library.has_dynamic_globals:  # addresses of this process
            return
        called = [getattr(other, "needs", ()) for other in library._linking_libraries]
        needs = tuple(dict.fromkeys(need for some in called for need in some))
        large = len(library._get_compiled_object()) > _LARGE
        keep(self._file(signature, compiled.codegen), dumps((signature, needs, large, compiled._reduce())))
        self._share(compiled, needs, large)

    def holds(self, args: Any) -> bool:
        """Whether there is a file of code for these arguments."""
        file = self._file(args, self._kernel.targetctx.codegen())
        return any((folder / file).exists() for folder in _folders())

    @contextlib.contextmanager
    def alone(self, args: Any) -> Iterator[None]:
        """Context that waits until no other process compiles for these arguments; then its file is there.

        A kernel waits for those that it calls, never the other way round, so no two wait for each other. Where there
        are no locks, and after a while, it goes on: to compile twice does no harm.
        """
        if not _folders() or self.holds(args):
            yield
            return
        from filelock import FileLock, Timeout  # as slow to import as most of the package

        file, until = self._file(args, self._kernel.targetctx.codegen()), time.monotonic() + _WAIT
        path = _folders()[0] / f"{file}.lock"
        lock = FileLock(path)
        with contextlib.suppress(OSError, NotImplementedError):
            _make(path.parent)
            while not lock.is_locked and time.monotonic() < until:
                with contextlib.suppress(Timeout):
                    lock.acquire(timeout=0.2)
                _let_signals_act()
        try:
            yield
        finally:
            lock.release()
            with contextlib.suppress(OSError):  # who waits for a lock that is gone has it for himself
                path.unlink(missing_ok=True)

    def has(self, args: Any, symbol: str) -> bool:
        """Whether code for these arguments, loaded or else compiled now, has this symbol."""
        self._kernel.compile(args)
        return self._kernel.overloads[args].fndesc.llvm_func_name == symbol

    def _share(self, made: Any, needs: tuple[Any, ...], large: bool) -> None:
        """Set what callers link: a large kernel by its symbol, without its code."""
        library = made.library
        library.needs = needs
        if large:
            nothing = llvm.parse_assembly(str(library.codegen._create_empty_module("nothing")))
            library._get_module_for_linking = lambda: nothing
            library.needs = ((self._name, made.signature.args, made.fndesc.llvm_func_name),)


def _let_signals_act() -> None:
    """Run the handlers of the signals that came while numba compiled."""
    while _came:
        number, frame = _came.pop(0)
        handler: Any = _handlers.get(number) or signal.getsignal(number)  # only of those that can be called, some wait
        handler(number, frame)


_compile_times = threading.local()  # seconds of this thread, and how deep it is in them


@contextlib.contextmanager
def compiling() -> Iterator[None]:
    """Context whose time is added to `compile_time`; nested ones are counted once."""
    begin, depth = time.perf_counter(), getattr(_compile_times, "depth", 0)
    _compile_times.depth = depth + 1
    try:
        yield
    finally:
        _compile_times.depth = depth
        if depth == 0:
            _compile_times.seconds = compile_time() + time.perf_counter() - begin


def compile_time() -> float:
    """Time that this thread has spent on compiling, s."""
    return getattr(_compile_times, "seconds", 0.0)


def _uninterrupted(compile_now: Callable) -> Callable:
    """Wrap a compile function so that signals act only when another kernel begins to compile, or at the end.

    An exception out of the handler of a signal (Ctrl-C) within callbacks of LLVM is lost, or ends in a crash.
    """

    def compiled(signature: Any) -> Any:
        with compiling():
            return uninterrupted(signature)

    def uninterrupted(signature: Any) -> Any:
        if _handlers or threading.current_thread() is not threading.main_thread():  # handlers run in that one only
            return compile_now(signature)
        collects = gc.isenabled()
        gc.disable()  # a tenth of the time went into looking at the millions of objects that numba makes
        try:
            for number in sorted(signal.valid_signals()):
                if callable(handler := signal.getsignal(number)):
                    _handlers[number] = handler
                    signal.signal(number, lambda *came: _came.append(came))
            return compile_now(signature)
        finally:
            while _handlers:
                signal.signal(*_handlers.popitem())
            if collects:
                gc.enable()
            _let_signals_act()

    return compiled


@overload
def kernel(function: _Function, *, allocates: bool = False) -> _Function: ...


@overload
def kernel(*, allocates: bool = False) -> Callable[[_Function], _Function]: ...


def kernel(function: Any = None, *, allocates: bool = False) -> Any:
    """Decorator: compile `function` on first use, and keep the machine code on disk for the next process.

    A kernel that makes arrays, or returns some, needs `allocates=True`. All others borrow the arrays of their
    callers, and do not count references to them: counting is an atomic operation for each array at each call, and took
    half of the time of a small machine. A kernel that makes or returns arrays without it is refused when it is
    compiled.
    """
    if function is None:
        return lambda f: kernel(f, allocates=allocates)
    compiled = _njit(error_model="numpy", nogil=True, no_cfunc_wrapper=True, _nrt=allocates)(function)
    if JIT_ENABLED:
        compiled.compile = _uninterrupted(_for_all_numbers(compiled, allocates))
        if function.__module__.startswith(f"{__package__}.kernels."):  # the sources that the folder belongs to
            compiled._cache = _DiskCache(compiled)
        _registry.append(compiled)
    return compiled


def _for_all_numbers(kernel: Any, allocates: bool) -> Callable:
    """Wrap the compile function of a kernel so that literal numbers are compiled as any numbers.

    A kernel that does not allocate must return no array: its reference would not be counted, and the array would be
    lost.
    """
    compile_now = kernel.compile

    def compiled(signature: Any) -> Any:
        args = tuple(types.unliteral(kind) for kind in sigutils.normalize_signature(signature)[0])
        with kernel._cache.alone(args) if isinstance(kernel._cache, _DiskCache) else contextlib.nullcontext():
            entry_point = compile_now(args)
        if not allocates and _holds_array(found := kernel.overloads[args].signature.return_type):
            raise TypeError(f"kernel {kernel.__name__} returns {found}: write @kernel(allocates=True)")
        return entry_point

    return compiled


def _holds_array(kind: Any) -> bool:
    return isinstance(kind, types.Array | BundleType) or (isinstance(kind, _Tuple) and any(map(_holds_array, kind)))


def _scratch(shape: int | tuple[int, ...]) -> Any:
    """Scratch array on the stack that ends with the call of its kernel: it may be passed on, but not returned.

    The shape must be a literal. It costs nothing, and may be used where nothing may be allocated.
    """
    return np.empty(shape)


@intrinsic(prefer_literal=True)
def _on_the_stack(context: Any, shape: Any) -> Any:
    lengths = [axis.literal_value for axis in (shape if isinstance(shape, _Tuple) else (shape,))]
    item = types.float64.bitwidth // 8
    strides = [item * math.prod(lengths[axis + 1 :]) for axis in range(len(lengths))]
    array = types.Array(types.float64, len(lengths), "C")

    def lower(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        def size(number: int) -> ir.Constant:
            return context.get_constant(types.intp, number)

        room = cgutils.alloca_once(builder, ir.ArrayType(ir.DoubleType(), math.prod(lengths)))
        made = context.make_array(array)(context, builder)
        arrayobj.populate_array(
            made,
            data=builder.bitcast(room, ir.DoubleType().as_pointer()),
            shape=[size(length) for length in lengths],
            strides=[size(stride) for stride in strides],
            itemsize=size(item),
            meminfo=None,
        )
        return made._getvalue()

    return array(shape), lower


scratch = _on_the_stack if JIT_ENABLED else _scratch


@kernel
def where_less(a, b, x, y):
    """Value x where a < b, else y. Traced kernels compute both and select one; an ``if`` would be decided for good."""
    return x if a < b else y


def plain(function: _Function) -> _Function:
    """Python function of a kernel, for single calls of small kernels from Python."""
    return function.py_func if JIT_ENABLED else function  # type: ignore[attr-defined]


def kernels() -> tuple[Callable, ...]:
    """All compiled kernels that have been imported so far."""
    return tuple(_registry)


def is_kept(kernel: Any, *args: Any) -> bool:
    """Whether machine code of a kernel for these arguments is on disk."""
    return kernel._cache.holds(tuple(map(numba.typeof, args)))


def needs_compilation(last: str = "record.output_quantities") -> bool:
    """Whether a kernel (by default the last one of a simulation) is not on disk yet: the first run takes a while."""
    return JIT_ENABLED and not any(next(folder.glob(f"{last}-*.code"), None) for folder in _folders())


# -- kernels that call Python --------------------------------------------------------------------------------------


_SIGNATURE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_double)
_interpreted: dict[int, Callable[[int, float], int]] = {}  # where nothing is compiled, an address is a key of it
_addresses = itertools.count(1)


class Callback:
    """Function (what, t) -> int that kernels can `call`, as long as this object lives. It must not raise.

    Numbers go through arrays that both sides know. numba's own way, function objects as arguments, costs 10 us for each
    call of a kernel, and the signature of a function with arrays differs from machine to machine.
    """

    def __init__(self, function: Callable[[int, float], int]) -> None:
        if JIT_ENABLED:
            self._function = _SIGNATURE(function)
            self.address = ctypes.cast(self._function, ctypes.c_void_p).value or 0
        else:
            self.address = next(_addresses)
            _interpreted[self.address] = function

    def __del__(self) -> None:
        if not JIT_ENABLED and _interpreted is not None:  # None at the end of the program
            _interpreted.pop(self.address, None)


def entry(function: Any, *arguments: Any) -> Callable:
    """Machine code of a kernel for arguments of these types, which is called without a check of types."""
    if not JIT_ENABLED:
        return function
    kinds = function, _kind(arguments)
    if kinds not in _entries:
        signature = tuple(numba.typeof(x) for x in arguments)  # takes a millisecond for all the arrays of a run
        if signature not in function.overloads:
            function.compile(signature)
        _entries[kinds] = function.get_overload(signature)
    return _entries[kinds]


_entries: dict[Any, Callable] = {}


def _kind(x: Any) -> Any:
    """Key on which the type of an argument depends."""
    if isinstance(x, tuple):
        known = getattr(x, "__dict__", None)  # bundles have one
        if known is None:
            return type(x), *map(_kind, x)
        if "_kind" not in known:
            known["_kind"] = type(x), *map(_kind, x)
        return known["_kind"]
    return (x.dtype, x.ndim, x.flags.num) if isinstance(x, np.ndarray) else type(x)


if JIT_ENABLED:

    @intrinsic
    def call(typing_context, address, what, t):
        """Status that the function at an address returns."""

        def generate(context, builder, signature, arguments):
            kind = ir.FunctionType(ir.IntType(64), [ir.IntType(64), ir.DoubleType()])
            function = builder.inttoptr(arguments[0], kind.as_pointer())
            return builder.call(function, arguments[1:])

        return types.int64(types.int64, types.int64, types.float64), generate

    @intrinsic
    def execute(typing_context, address, p, x, y):
        """Status that generated code at an address returns, for parameters p and inputs x; y gets its outputs."""

        def generate(context, builder, signature, arguments):
            double = ir.DoubleType().as_pointer()
            kind = ir.FunctionType(ir.IntType(64), [double] * 3)
            function = builder.inttoptr(arguments[0], kind.as_pointer())
            arrays = zip(signature.args[1:], arguments[1:], strict=True)
            return builder.call(function, [context.make_array(t)(context, builder, a).data for t, a in arrays])

        return types.int64(types.int64, p, x, y), generate

else:

    def call(address: int, what: int, t: float) -> int:  # type: ignore[misc]
        """The status that the function at an address returns."""
        return _interpreted[address](what, t)

    def execute(address: int, p: Any, x: Any, y: Any) -> int:  # type: ignore[misc]
        """Nothing is generated where nothing is compiled."""
        raise NotImplementedError
