"""LLVM IR of a traced function, and its machine code by the llvmlite that numba brings."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from functools import cache

import llvmlite.binding as llvm

from .functions import Function
from .program import Chunk, program

__all__ = ["Library", "build", "module", "target"]

_BINARY = {"add": "fadd contract", "sub": "fsub contract", "mul": "fmul contract", "div": "fdiv"}
_INTRINSIC = {"sin": "sin", "cos": "cos", "sqrt": "sqrt", "abs": "fabs", "rint": "rint", "exp": "exp"}
_LIBRARY = {"atan2": "double, double", "tanh": "double"}  # of libm
_COMPARISON = {"lt": "olt", "min": "olt", "max": "ogt"}


def module(functions: Mapping[str, Function]) -> str:
    """IR of ``int64 name(double* p, double* x, double* y)`` for each; they return zero where all guards hold."""
    texts = [_Text(function, name) for name, function in functions.items()]
    used = sorted(set().union(*(text.used for text in texts)))
    declared = [f"declare double @llvm.{_INTRINSIC[op]}.f64(double)" for op in used if op not in _LIBRARY]
    declared += [f"declare double @{op}({_LIBRARY[op]})" for op in used if op in _LIBRARY]
    return "\n".join([*declared, *(text.text for text in texts)])


class _Text:
    """IR of a function, in chunks that pass values on through an array w."""

    def __init__(self, function: Function, name: str) -> None:
        self.name, self.used = name, set[str]()
        self.nodes, self.guards, chunks, self.room = program(function)
        parts = [self.chunk(at, chunk) for at, chunk in enumerate(chunks)]
        calls = [f"call void @{name}.{at}(ptr %p, ptr %x, ptr %y, ptr %w)" for at in range(len(chunks))]
        self.text = "\n".join(
            [
                *parts,
                f"define i64 @{name}(ptr noalias %p, ptr noalias %x, ptr noalias %y) nounwind {{",
                f"%w = alloca double, i64 {self.room + 1}, align 64",  # the last one counts guards that do not hold
                f"%broken = getelementptr double, ptr %w, i64 {self.room}",
                "store double 0.0, ptr %broken",
                *calls,
                "%count = load double, ptr %broken",
                "%status = fptosi double %count to i64",
                "ret i64 %status",
                "}",
            ]
        )

    def chunk(self, at: int, chunk: Chunk) -> str:
        """One function."""
        self.lines: list[str] = []
        self.known: set[int] = set()
        for k, place in chunk.passed_in.items():  # before a place is used again
            self.load(k, "w", place)
        for k in chunk.operations:
            self.operation(k)
            self.known.add(k)
            if k in chunk.passed_on:
                self.store("w", chunk.passed_on[k], f"%v{k}")
        for i, x in chunk.outputs:
            self.store("y", i, self.value(x) if isinstance(x, int) else number(x))
        arguments = "ptr noalias readonly %p, ptr noalias readonly %x, ptr noalias %y, ptr noalias %w"
        return "\n".join(
            [f"define internal void @{self.name}.{at}({arguments}) noinline nounwind {{", *self.lines, "ret void", "}"]
        )

    def value(self, k: int) -> str:
        """A node as an operand; inputs are loaded at their first use."""
        node = self.nodes[k]
        if node[0] == "const":
            return number(node[1])
        if k not in self.known:
            self.load(k, node[1], node[2])
        return f"%v{k}"

    def load(self, k: int, array: str, i: int) -> None:
        self.known.add(k)
        self.lines.append(f"%a{k} = getelementptr double, ptr %{array}, i64 {i}")
        self.lines.append(f"%v{k} = load double, ptr %a{k}")

    def store(self, array: str, i: int, value: str) -> None:
        address = f"%s{array}{i}"
        self.lines.append(f"{address} = getelementptr double, ptr %{array}, i64 {i}")
        self.lines.append(f"store double {value}, ptr {address}")

    def operation(self, k: int) -> None:
        op, *operands = self.nodes[k]
        values = [self.value(operand) for operand in operands]
        add = self.lines.append
        if op in _BINARY:
            add(f"%v{k} = {_BINARY[op]} double {values[0]}, {values[1]}")
        elif op == "neg":
            add(f"%v{k} = fneg double {values[0]}")
        elif op in _INTRINSIC:
            self.used.add(op)
            add(f"%v{k} = call double @llvm.{_INTRINSIC[op]}.f64(double {values[0]})")
        elif op in _LIBRARY:
            self.used.add(op)
            add(f"%v{k} = call double @{op}({', '.join(f'double {x}' for x in values)})")
        elif op in ("min", "max"):
            add(f"%c{k} = fcmp {_COMPARISON[op]} double {values[0]}, {values[1]}")
            add(f"%v{k} = select i1 %c{k}, double {values[0]}, double {values[1]}")
        elif op == "select":
            add(f"%c{k} = fcmp olt double {values[0]}, {values[1]}")
            add(f"%v{k} = select i1 %c{k}, double {values[2]}, double {values[3]}")
        else:  # a comparison that was decided
            add(f"%v{k} = fcmp {_COMPARISON[op]} double {values[0]}, {values[1]}")
            broken = ("0.0", "1.0") if self.guards[k] else ("1.0", "0.0")
            add(f"%b{k} = select i1 %v{k}, double {broken[0]}, double {broken[1]}")
            add(f"%g{k} = getelementptr double, ptr %w, i64 {self.room}")
            add(f"%o{k} = load double, ptr %g{k}")
            add(f"%n{k} = fadd double %o{k}, %b{k}")
            add(f"store double %n{k}, ptr %g{k}")


def number(x: float) -> str:
    """All digits of a number."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"


@cache
def target() -> tuple[str, str, str]:
    """What machine code is for: triple, processor, features."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def build(text: str) -> bytes:
    """Object code of a module of IR."""
    triple, cpu, features = target()
    # Level 1 schedules and allocates registers as level 2 does for straight lines, and compiles in half the time.
    machine = llvm.Target.from_triple(triple).create_target_machine(opt=1, cpu=cpu, features=features, reloc="pic")
    module = llvm.parse_assembly(text)
    module.triple = triple
    return machine.emit_object(module)


class Library:
    """Object code in memory; its addresses hold as long as it lives."""

    def __init__(self, code: bytes) -> None:
        triple, cpu, features = target()
        machine = llvm.Target.from_triple(triple).create_target_machine(opt=1, cpu=cpu, features=features, jit=True)
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Where a function is."""
        return self._engine.get_function_address(name)
