"""Machine code of a machine: traced and compiled once for each structure, and kept on disk with the kernels."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from importlib import resources
from typing import Any

import llvmlite
import numpy as np
from numpy.typing import NDArray

from .._jit import JIT_ENABLED, compiling, keep, kept
from ..errors import InputError
from ..kernels.generated import evaluate
from ..kernels.layout import Model
from . import llvm
from .functions import FUNCTIONS, Function, Tracing, linear
from .graph import TooLarge
from .machine import Parameters
from .program import program
from .tangents import GuardBroken, Moves, balance, evaluated, partials

__all__ = ["Code", "code", "compiled", "enabled", "why_not"]

Array = NDArray[np.float64]

CHOICES = ("generated", "kernels")
CHOICE = os.environ.get("CMB_CODE", CHOICES[0])  # read once: to look takes as long as an evaluation

_libraries: dict[str, llvm.LoadedCode | None] = {}  # None where it is too large
_partials: dict[str, tuple[llvm.LoadedCode | None, NDArray[np.int64]]] = {}  # with the places of what they tell
_recent: dict[tuple[int, ...], tuple[Model, Code]] = {}  # of the last models, whose structure need not be looked at
_RECENT = 64
_lock = threading.Lock()


def enabled() -> bool:
    """Whether code is generated: unless ``CMB_CODE=kernels`` was set at the start, or nothing is compiled at all."""
    return not why_not()


def why_not() -> str:
    """Reason why no code is generated for any machine; empty where it is."""
    if CHOICE not in CHOICES:
        raise InputError(f"the environment says CMB_CODE={CHOICE}; it must be {' or '.join(CHOICES)}")
    if not JIT_ENABLED:
        return "nothing is compiled, as NUMBA_DISABLE_JIT says"
    return "" if CHOICES[0] == CHOICE else f"the environment says CMB_CODE={CHOICE}"


class Code:
    """Generated code of one machine; each function of it is compiled at its first use.

    Attributes
    ----------
    p : ndarray
        The numbers of the machine: masses, lengths, stiffnesses.
    rows : list of int
        The independent rows that are kept.
    forms : dict
        Cache of callers of `linear`, by coordinates.
    traced, derived : dict
        Balances that were traced, each for the numbers that move in it; code of their derivatives.
    reference : float
        Size of a regular constraint gradient in the metric of M.
    """

    reference = 0.0

    def __init__(self, model: Model, rows: Sequence[int], sample: Array) -> None:
        self.model, self.rows, self.sample = model, list(rows), sample
        self.parameters = Parameters(model)
        self.p = self.parameters.values
        self._addresses: dict[str, int] = {}
        self.forms: dict[Any, Any] = {}
        self.traced: dict[bytes, Function] = {}
        self.derived: dict[bytes, tuple[llvm.LoadedCode | None, NDArray[np.int64]]] = {}

    def address(self, name: str) -> int:
        """Address of ``int64 f(double* p, double* x, double* y)``; `functions` says what x and y are.

        0 where the function is too large for straight-line code.
        """
        if name not in self._addresses:
            self._addresses[name] = self._address(name, (), FUNCTIONS[name])
        return self._addresses[name]

    def linear(self, R: Array, factor: float) -> int:
        """Address of the local state-space form of coordinates R (p, nv), whose numbers are part of the code, or 0."""
        return self._address("linear", (R.tobytes(), factor), lambda tracing: linear(tracing, R, factor))

    def partials(self, moves: Moves, x: Array) -> Array:
        """Derivatives of `tangents.balance` by parameters, outputs by parameters, at x = (q, v, a, lam, u).

        They are evaluated in Python where code is switched off or too large, or where a comparison is decided otherwise
        than at the sample; then the balance is traced anew, here.
        """
        if enabled():
            if moves.structure not in self.derived:
                self.derived[moves.structure] = self._compiled_partials(moves)
            library, places = self.derived[moves.structure]
            if library:
                found, y = np.zeros((self._outputs, moves.count)), np.empty(len(places))
                if evaluate(library.address("partials"), np.concatenate([self.p, moves.rates]), x, y):
                    found.ravel()[places] = y
                    return found
        try:
            return evaluated(self._balance(moves), self.p, moves, x)
        except GuardBroken:
            self.traced[moves.structure] = self._traced_balance(moves, x[: len(self.sample)])
            return evaluated(self.traced[moves.structure], self.p, moves, x)

    @cached_property
    def _digest(self) -> str:
        """Hash of the structure of the machine."""
        return hashlib.sha256(self.parameters.structure).hexdigest()

    @property
    def _outputs(self) -> int:
        return len(self.model.damping) + 2 * len(self.model.rows)

    def _balance(self, moves: Moves) -> Function:
        if moves.structure not in self.traced:
            self.traced[moves.structure] = self._traced_balance(moves, self.sample)
        return self.traced[moves.structure]

    def _traced_balance(self, moves: Moves, sample: Array) -> Function:
        return balance(Tracing(self.model, self.parameters.without_structure(moves.of_number), (), sample))

    def _compiled_partials(self, moves: Moves) -> tuple[llvm.LoadedCode | None, NDArray[np.int64]]:
        """Code of the partial derivatives, None where too large, and the place of each of its outputs in the matrix."""
        file = self._file("partials", moves.structure)
        with _lock:
            if file not in _partials:
                data = next(kept(file), b"")
                if not data:
                    data = self._build_partials(moves)
                    keep(file, data)
                count = int.from_bytes(data[:8], "little")
                places, code = np.frombuffer(data[8 : 8 * (count + 1)], np.int64), data[8 * (count + 1) :]
                _partials[file] = llvm.LoadedCode(code) if code else None, places
            return _partials[file]

    def _build_partials(self, moves: Moves) -> bytes:
        """File content of compiled partial derivatives: number of outputs, their places, and the code."""
        try:
            with compiling():
                made = partials(self._balance(moves), self.parameters, moves)
                code = llvm.build(llvm.module({"partials": made.function}))
        except TooLarge:
            return bytes(8)
        return len(made.places).to_bytes(8, "little") + made.places.tobytes() + code

    def _file(self, name: str, key: Any) -> str:
        of = (_sources(), self._digest, self.rows, name, key, llvm.target(), llvmlite.__version__)
        return f"machine-{hashlib.sha256(repr(of).encode()).hexdigest()[:32]}.object"

    def _address(self, name: str, key: Any, trace: Callable[[Tracing], Function]) -> int:
        file = self._file(name, key)
        with _lock:
            if file not in _libraries:
                _libraries[file] = self._library(file, name, trace)
            library = _libraries[file]
            return library.address(name) if library else 0

    def _library(self, file: str, name: str, trace: Callable[[Tracing], Function]) -> llvm.LoadedCode | None:
        for data in kept(file):
            return llvm.LoadedCode(data) if data else None
        try:
            with compiling():
                function = trace(Tracing(self.model, self.parameters, self.rows, self.sample))
                data = llvm.build(llvm.module({name: function}))
        except TooLarge:
            data = b""
        keep(file, data)
        return llvm.LoadedCode(data) if data else None


def compiled(function: Function) -> int:
    """Address of the compiled code of a traced function; equal functions are compiled once."""
    made = program(function)
    used = [(k, made.nodes[k]) for chunk in made.chunks for k in chunk.operations]
    leaves = {k for _, node in used for k in node[1:] if made.nodes[k][0] in ("const", "input")}
    leaves |= {k for chunk in made.chunks for _, k in chunk.outputs if isinstance(k, int)}
    of = (used, [(k, made.nodes[k]) for k in sorted(leaves)], [made.guards.get(k) for k, _ in used])
    outputs = [(i, repr(x)) for chunk in made.chunks for i, x in chunk.outputs]
    text = repr((of, outputs, _sources(), llvm.target(), llvmlite.__version__))
    file = f"function-{hashlib.sha256(text.encode()).hexdigest()[:32]}.object"
    with _lock:
        if file not in _libraries:
            for data in kept(file):
                _libraries[file] = llvm.LoadedCode(data)
                break
            else:
                with compiling():
                    data = llvm.build(llvm.module({"function": function}))
                keep(file, data)
                _libraries[file] = llvm.LoadedCode(data)
        return _libraries[file].address("function")


@cache
def _sources() -> str:
    """Hash of the sources that generate code; traced kernels have a folder of their own for each version."""
    digest = hashlib.sha256()
    for file in sorted(resources.files(__package__).iterdir(), key=lambda file: file.name):
        if file.name.endswith(".py"):
            digest.update(file.read_bytes())
    return digest.hexdigest()


def code(model: Model, rows: Sequence[int], sample: Array) -> Code:
    """Generated code of a machine, from a cache of recent machines.

    Parameters
    ----------
    model : Model
    rows : sequence of int
        Independent rows of the constraints.
    sample : array, shape (nq,)
        A configuration: comparisons are decided as there, and the code reports where they would be decided otherwise.
    """
    rows = sorted(int(row) for row in rows)
    own = (
        model.links,
        model.rows,
        model.loads,
        model.targets,
        model.elements,
        model.numbers,
    )  # what modes change
    asked = (*map(id, own), *rows)
    with _lock:
        if asked not in _recent:
            while len(_recent) >= _RECENT:
                _recent.pop(next(iter(_recent)))
            _recent[asked] = model, Code(model, rows, sample)  # with the model: no other one gets its identity
        return _recent[asked][1]
