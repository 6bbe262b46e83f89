"""LLVM IR of a traced function, and its machine code by the llvmlite that numba installs."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from functools import cache

import llvmlite.binding as llvm

from .functions import Function
from .program import Chunk, program

__all__ = ["LoadedCode", "build", "module", "target"]

_BINARY = {"add": "fadd contract", "sub": "fsub contract", "mul": "fmul contract", "div": "fdiv"}
_INTRINSIC = {"sin": "sin", "cos": "cos", "sqrt": "sqrt", "abs": "fabs", "rint": "rint", "exp": "exp"}
_LIBRARY = {"atan2": "double, double", "log": "double", "tanh": "double"}  # of libm
_COMPARISON = {"lt": "olt", "min": "olt", "max": "ogt"}


def module(functions: Mapping[str, Function]) -> str:
    """IR of ``int64 name(double* p, double* x, double* y)`` for each; they return zero where all guards hold."""
    texts = [_Text(function, name) for name, function in functions.items()]
    used = sorted(set().union(*(text.used for text in texts)))
    declared = [f"declare double @llvm.{_INTRINSIC[op]}.f64(double)" for op in used if op not in _LIBRARY]
    declared += [f"declare double @{op}({_LIBRARY[op]})" for op in used if op in _LIBRARY]
    return "\n".join([*declared, *(text.text for text in texts)])


class _Text:
    """IR of a function, in chunks that pass values on through an array w; equal chunks are one function."""

    def __init__(self, function: Function, name: str) -> None:
        self.name, self.used = name, set[str]()
        self.nodes, self.guards, chunks, self.room, self.large = program(function)
        arguments = "ptr noalias readonly %p, ptr noalias readonly %x, ptr noalias %y, ptr noalias %w"
        arguments += ", ptr noalias readonly %t" if self.large else ""
        made: dict[str, str] = {}
        parts, calls = [], []
        for at, chunk in enumerate(chunks):
            body = self.chunk(chunk)
            if body not in made:
                made[body] = f"@{name}.{len(made)}"
                lines = [f"define internal void {made[body]}({arguments}) noinline nounwind {{", body, "ret void", "}"]
                parts.append("\n".join(lines))
            table = ""
            if self.large:
                table = f", ptr @{name}.t{at}"
                places = ", ".join(f"i32 {i}" for i in self.table)
                parts.append(f"@{name}.t{at} = internal constant [{len(self.table)} x i32] [{places}]")
            calls.append(f"call void {made[body]}(ptr %p, ptr %x, ptr %y, ptr %w{table})")
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

    def chunk(self, chunk: Chunk) -> str:
        """Body of a chunk. Where it looks up its places in a table, equal operations are the same text."""
        self.lines: list[str] = []
        self.table: list[int] = []
        self.names: dict[int, str] = {}
        self.passed_in = chunk.passed_in
        for k in chunk.operations:
            self.operation(k)
            if k in chunk.passed_on:
                self.store("w", chunk.passed_on[k], self.names[k])
        for i, x in chunk.outputs:
            self.store("y", i, self.value(x) if isinstance(x, int) else number(x))
        return "\n".join(self.lines)

    def value(self, k: int) -> str:
        """Operand for a node; one that is not computed in this chunk is loaded at its first use."""
        node = self.nodes[k]
        if node[0] == "const":
            return number(node[1])
        if k not in self.names:
            array, i = ("w", self.passed_in[k]) if k in self.passed_in else node[1:]
            address = self.address(array, i)
            self.names[k] = self.add(f"load double, ptr {address}")
        return self.names[k]

    def add(self, text: str) -> str:
        """Add a line with a result; returns the name of the result."""
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    def address(self, array: str, i: int) -> str:
        """Operand with the address of an entry of an array; for large functions, through the table of places."""
        if not self.large:
            return self.add(f"getelementptr double, ptr %{array}, i64 {i}")
        self.table.append(i)
        entry = self.add(f"getelementptr i32, ptr %t, i64 {len(self.table) - 1}")
        place = self.add(f"load i32, ptr {entry}")
        return self.add(f"getelementptr double, ptr %{array}, i32 {place}")

    def store(self, array: str, i: int, value: str) -> None:
        address = self.address(array, i)
        self.lines.append(f"store double {value}, ptr {address}")

    def operation(self, k: int) -> None:
        op, *operands = self.nodes[k]
        values = [self.value(operand) for operand in operands]
        add = self.add
        if op in _BINARY:
            self.names[k] = add(f"{_BINARY[op]} double {values[0]}, {values[1]}")
        elif op == "neg":
            self.names[k] = add(f"fneg double {values[0]}")
        elif op in _INTRINSIC:
            self.used.add(op)
            self.names[k] = add(f"call double @llvm.{_INTRINSIC[op]}.f64(double {values[0]})")
        elif op in _LIBRARY:
            self.used.add(op)
            self.names[k] = add(f"call double @{op}({', '.join(f'double {x}' for x in values)})")
        elif op in ("min", "max"):
            less = add(f"fcmp {_COMPARISON[op]} double {values[0]}, {values[1]}")
            self.names[k] = add(f"select i1 {less}, double {values[0]}, double {values[1]}")
        elif op == "select":
            less = add(f"fcmp olt double {values[0]}, {values[1]}")
            self.names[k] = add(f"select i1 {less}, double {values[2]}, double {values[3]}")
        else:  # a comparison that was decided
            less = add(f"fcmp {_COMPARISON[op]} double {values[0]}, {values[1]}")
            broken = ("0.0", "1.0") if self.guards[k] else ("1.0", "0.0")
            one = add(f"select i1 {less}, double {broken[0]}, double {broken[1]}")
            count = add(f"getelementptr double, ptr %w, i64 {self.room}")
            before = add(f"load double, ptr {count}")
            after = add(f"fadd double {before}, {one}")
            self.lines.append(f"store double {after}, ptr {count}")


def number(x: float) -> str:
    """Text of a number with all digits, as its bits."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"


@cache
def target() -> tuple[str, str, str]:
    """Target of machine code: triple, processor, features."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def build(text: str) -> bytes:
    """Object code of a module of IR, for this processor."""
    triple, cpu, features = target()
    # Level 1 schedules and allocates registers as level 2 does for straight lines, and compiles in half the time.
    machine = llvm.Target.from_triple(triple).create_target_machine(opt=1, cpu=cpu, features=features, reloc="pic")
    module = llvm.parse_assembly(text)
    module.triple = triple
    return machine.emit_object(module)


class LoadedCode:
    """Object code loaded into memory; its addresses are valid as long as it lives."""

    def __init__(self, code: bytes) -> None:
        triple, cpu, features = target()
        machine = llvm.Target.from_triple(triple).create_target_machine(opt=1, cpu=cpu, features=features, jit=True)
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Address of a function of the library."""
        return self._engine.get_function_address(name)
