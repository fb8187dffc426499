"""Runs a kernel's PTX on the processor, one thread after the other: only the instructions that podium-gpu uses."""

import ctypes
import re
import struct
from collections.abc import Callable, Sequence
from typing import Any

ENTRY = re.compile(r"\.visible \.entry (\w+)\(.*?\)\n\{\n(.*?)\n\}\n", re.DOTALL)
OPERANDS = re.compile(r"\{[^}]*\}|\[[^\]]*\]|[^,\s]+")
WORD, LONG = (1 << 32) - 1, (1 << 64) - 1
MATHS = ctypes.CDLL("libm.so.6")
MATHS.fmaf.restype, MATHS.fmaf.argtypes = ctypes.c_float, [ctypes.c_float] * 3
MATHS.fma.restype, MATHS.fma.argtypes = ctypes.c_double, [ctypes.c_double] * 3


def _single(value: float) -> float:
    return ctypes.c_float(value).value


def _bits(value: float) -> int:
    return int.from_bytes(struct.pack("<f", value), "little")


SIMPLE: dict[str, Callable[..., Any]] = {
    "cvta.to.global.u64": lambda a: a,
    "mov.u32": lambda a: a, "mov.u64": lambda a: a, "mov.f32": lambda a: a, "mov.f64": lambda a: a,
    "mov.b32": lambda a: _bits(a) if isinstance(a, float) else a,
    "cvt.u64.u32": lambda a: a, "cvt.u32.u64": lambda a: a & WORD,
    "cvt.rn.f32.u32": lambda a: _single(float(a)), "cvt.rn.f64.u32": float, "cvt.rn.f32.f64": _single,
    "mul.wide.u32": lambda a, b: a * b, "mul.lo.u64": lambda a, b: a * b & LONG,
    "add.u64": lambda a, b: a + b & LONG, "add.u32": lambda a, b: a + b & WORD, "sub.u32": lambda a, b: a - b & WORD,
    "shl.b64": lambda a, b: a << b & LONG, "shl.b32": lambda a, b: a << b & WORD, "shr.u64": lambda a, b: a >> b,
    "xor.b64": lambda a, b: a ^ b, "xor.b32": lambda a, b: a ^ b, "or.b64": lambda a, b: a | b,
    "and.b64": lambda a, b: a & b, "and.b32": lambda a, b: a & b,
    "setp.ge.u64": lambda a, b: a >= b, "setp.eq.u64": lambda a, b: a == b,
    "setp.ne.u64": lambda a, b: a != b, "setp.ne.u32": lambda a, b: a != b,
    "selp.u64": lambda a, b, which: a if which else b,
    # the product of two singles is exact in a double, so that it is rounded once
    "mul.rn.f32": lambda a, b: _single(a * b), "add.rn.f32": lambda a, b: _single(a + b),
    "add.rn.f64": lambda a, b: a + b, "neg.f32": lambda a: -a,
    "fma.rn.f32": MATHS.fmaf, "fma.rn.f64": MATHS.fma,
}  # fmt: skip


class Kernels:
    """The kernels of one PTX text."""

    def __init__(self, text: str) -> None:
        self._lines = {
            name: [line.strip().rstrip(";") for line in body.split("\n") if line.strip()]
            for name, body in ENTRY.findall(text)
        }

    def launch(self, name: str, grid: int, block: int, parameters: Sequence[int], memory: bytearray) -> None:
        """Addresses are offsets in `memory`."""
        for block_index in range(grid):
            for index in range(block):
                place = {"%ctaid.x": block_index, "%ntid.x": block, "%tid.x": index, "%nctaid.x": grid}
                Thread(self._lines[name], place, parameters, memory).run()


class Thread:
    def __init__(self, lines: list[str], place: dict[str, Any], parameters: Sequence[int], memory: bytearray) -> None:
        self._lines, self._registers, self._parameters, self._memory = lines, place, parameters, memory
        self._labels = {line[:-1]: at for at, line in enumerate(lines) if line.endswith(":")}

    def run(self) -> None:
        at: int | None = 0
        while at is not None:
            at = self._step(self._lines[at], at + 1)

    def _step(self, line: str, following: int) -> int | None:
        """Where to go on; None at the end."""
        if line.startswith("@"):
            predicate, line = line[1:].split(" ", 1)
            if not self._registers[predicate]:
                return following
        operation, _, rest = line.partition(" ")
        if operation == "ret":
            return None
        if operation == "bra":
            return self._labels[rest]
        if not (line.endswith(":") or operation == ".reg"):
            self._do(operation, OPERANDS.findall(rest))
        return following

    def _do(self, operation: str, operands: list[str]) -> None:
        first, last = operands[0], operands[-1]
        if operation == "ld.param.u64":
            self._registers[first] = self._parameters[int(last[2:-1])]
        elif operation == "ld.global.v2.u64":
            pair = struct.unpack_from("<QQ", self._memory, self._address(last, 16))
            self._registers.update(zip(_names(first), pair, strict=True))
        elif operation == "st.global.v2.u64":
            pair = [self._registers[name] for name in _names(last)]
            struct.pack_into("<QQ", self._memory, self._address(first, 16), *pair)
        elif operation == "st.global.u32":
            struct.pack_into("<I", self._memory, self._address(first, 4), self._value(last))
        elif operation == "red.global.add.u64":
            at = self._address(first, 8)
            (before,) = struct.unpack_from("<Q", self._memory, at)
            struct.pack_into("<Q", self._memory, at, before + self._value(last))
        else:
            self._registers[first] = SIMPLE[operation](*map(self._value, operands[1:]))

    def _address(self, operand: str, alignment: int) -> int:
        at: int = self._registers[operand[1:-1]]
        assert at % alignment == 0, "a GPU refuses an address that is not aligned"
        return at

    def _value(self, operand: str) -> Any:
        if operand.startswith("%"):
            return self._registers[operand]
        if operand.startswith("0f"):
            return struct.unpack("<f", int(operand[2:], 16).to_bytes(4, "little"))[0]
        if operand.startswith("0d"):
            return struct.unpack("<d", int(operand[2:], 16).to_bytes(8, "little"))[0]
        return int(operand, 0)


def _names(operand: str) -> list[str]:
    return [name.strip() for name in operand[1:-1].split(",")]
