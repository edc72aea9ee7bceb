"""Serialized executables of the CPU without HLO that only people read, so that they load faster.

An executable contains all the HLO that it was compiled from, and most of the time of loading it
goes into building that again. The machine code needs the entry computation, and the instructions to
which buffers and some library calls refer; fusions that were compiled to machine code serve only to
be shown. Here each of these fusions is replaced by an instruction with the same result and no
operands, its body is removed, and so are the source lines of instructions.

The format is that of XLA's protocol buffers, of which the field numbers below are used. Messages
with other contents than expected are left unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .version import JAXLIB_VERSION

LEAST = 1 << 18
"""Bytes; smaller executables load in a few milliseconds."""
_KNOWN = ((0, 10),)
"""Versions of jaxlib, without the last number, whose format is known."""
_VARINT, _EIGHT, _BYTES, _FOUR = 0, 1, 2, 5  # wire types
_MODULE, _BUFFERS, _THUNKS = 1, 2, 6  # fields of a result of compiling
_KINDS = {
    b"kernel": (0, ()), b"ynn-fusion": (0, ()), b"dot": (0, ()), b"copy": (0, ()),
    b"convolution": (0, ()), b"fft": (0, ()), b"sort": (0, ()),
    b"call": (3, (1,)), b"while": (10, (1, 2)),
}  # fmt: skip
"""Kinds of steps whose references to HLO are known: the field of their own message, and the fields
in it that hold steps."""
_YNN = 21  # field of steps
_ENTRY, _COMPUTATION = 6, 3  # fields of a module
_INSTRUCTION, _COMPUTATION_ID = 2, 5  # fields of a computation
_NAME, _OPCODE, _SHAPE, _TARGET, _ID, _CALLED = 1, 2, 3, 28, 35, 38  # fields of an instruction
# Fields of an instruction: source lines, attributes for the compiler, control predecessors.
_METADATA, _ATTRIBUTES, _ORDER = 7, 68, 37

Field = tuple[int, int, Any]
_STUB = "dovetail.compiled"
"""The target of the custom calls that replace fusions."""


def is_stripped(hlo: str) -> bool:
    """True if an executable's HLO text lacks the fusions that are machine code."""
    return f'custom_call_target="{_STUB}"' in hlo


def strip_hlo(blob: bytes) -> bytes | None:
    """An equivalent serialized executable that loads faster; None if it cannot be made."""
    if JAXLIB_VERSION[:2] not in _KNOWN or len(blob) < LEAST:
        return None
    try:
        return _stripped(memoryview(blob))
    except (ValueError, IndexError, KeyError, TypeError):
        return None


def _stripped(blob: memoryview) -> bytes | None:
    length, start = _varint(blob, 0)
    top = list(_fields(blob[start + length :]))
    result = list(_fields(_one(top, 1)))
    if len([f for f, _, _ in result if f == _MODULE]) != 1:
        return None
    library = set[int]()
    if not all(_steps(thunk, library) for f, _, thunk in result if f == _THUNKS):
        return None
    wrapped = list(_fields(_one(result, _MODULE)))
    module = list(_fields(_one(wrapped, 1)))
    stripped = _Module(module, library, _referred(_one(result, _BUFFERS))).stripped()
    inner = _joined(_replaced(result, _MODULE, _joined(_replaced(wrapped, 1, stripped))))
    return bytes(blob[: start + length]) + _joined(_replaced(top, 1, inner))


def _steps(sequence: memoryview, library: set[int]) -> bool:
    """True if all steps are of known kinds; adds the instructions of library calls."""
    for f, _, step in _fields(sequence):
        if f != 1:
            continue
        parts = {number: content for number, _, content in _fields(step)}
        if bytes(parts[1]) not in _KINDS:
            return False
        own, inner = _KINDS[bytes(parts[1])]
        if _YNN in parts:
            library.update(v for number, _, v in _fields(parts[_YNN]) if number == 2)
        for number, _, content in _fields(parts[own]) if inner else ():
            if number in inner and not _steps(content, library):
                return False
    return True


def _referred(buffers: memoryview) -> set[int]:
    """The instructions that define the values in buffers."""
    result = set[int]()
    for f, _, value in _fields(buffers):
        if f == 1:
            for g, _, position in _fields(value):
                if g == 3:
                    result.update(v for h, _, v in _fields(position) if h == 4)
    return result


class _Module:
    """The computations of a module, and those of them that an executable needs."""

    def __init__(self, fields: list[Field], library: set[int], referred: set[int]) -> None:
        self.fields, self.library, self.referred = fields, library, referred
        self.computations: dict[int, list[Field]] = {}
        self.called: dict[int, list[tuple[int, bytes, list[int]]]] = {}
        for f, _, content in fields:
            if f == _COMPUTATION:
                parts = list(_fields(content))
                number = _one(parts, _COMPUTATION_ID)
                self.computations[number] = parts
                calls = [_calls(x) for g, _, x in parts if g == _INSTRUCTION]
                self.called[number] = calls

    def stripped(self) -> bytes:
        """The module with the needed computations only."""
        needed, compiled = self._needed()
        out: list[bytes] = []
        for f, wire, content in self.fields:
            if f != _COMPUTATION:
                out.append(_field(f, wire, content))
                continue
            number = _one(list(_fields(content)), _COMPUTATION_ID)
            if number in needed:
                parts = self.computations[number]
                made = [
                    (g, w, _instruction(x, compiled) if g == _INSTRUCTION else x)
                    for g, w, x in parts
                ]
                out.append(_field(f, wire, _joined(made)))
        return b"".join(out)

    def _needed(self) -> tuple[set[int], set[int]]:
        """The computations that stay, and the bodies of fusions that became machine code."""
        run, compiled, kept = [_one(self.fields, _ENTRY)], set[int](), set[int]()
        for each in run:  # grows
            for number, opcode, called in self.called[each]:
                if opcode == b"fusion":
                    (kept if number in self.library else compiled).update(called)
                else:
                    run += [c for c in called if c not in run]
        for each, calls in self.called.items():
            if any(number in self.referred for number, _, _ in calls) and each not in run:
                kept.add(each)
        pending = list(kept)
        while pending:
            for _, _, called in self.called[pending.pop()]:
                pending += [c for c in called if c not in kept]
                kept.update(called)
        return kept.union(run), compiled.difference(kept, run)


def _calls(instruction: memoryview) -> tuple[int, bytes, list[int]]:
    """The number of an instruction, its opcode, and the computations that it calls."""
    number, opcode, called = 0, b"", list[int]()
    for f, wire, content in _fields(instruction):
        if f == _ID:
            number = content
        elif f == _OPCODE:
            opcode = bytes(content)
        elif f == _CALLED:
            called += [content] if wire == _VARINT else _packed(content)
    return number, opcode, called


def _instruction(instruction: memoryview, compiled: set[int]) -> bytes:
    """An instruction without metadata; for machine code, one without operands and body."""
    fields = list(_fields(instruction))
    number, opcode, called = _calls(instruction)
    if opcode != b"fusion" or not compiled.issuperset(called):
        return _joined([x for x in fields if x[0] not in (_METADATA, _ATTRIBUTES)])
    kept = [x for x in fields if x[0] in (_NAME, _SHAPE, _ORDER)]
    call = (_OPCODE, _BYTES, b"custom-call"), (_TARGET, _BYTES, _STUB.encode())
    return _joined([*kept, *call, (_ID, _VARINT, number)])


def _one(fields: list[Field], number: int) -> Any:
    """The content of a field that occurs once."""
    (result,) = [content for f, _, content in fields if f == number]
    return result


def _replaced(fields: list[Field], number: int, content: bytes) -> list[Field]:
    return [(f, w, content if f == number else old) for f, w, old in fields]


def _joined(fields: list[Field]) -> bytes:
    return b"".join([_field(*field) for field in fields])


def _fields(message: memoryview) -> Iterator[Field]:
    """The fields of a message: number, wire type, content."""
    at, end = 0, len(message)
    while at < end:
        tag, at = _varint(message, at)
        wire = tag & 7
        if wire == _VARINT:
            content, at = _varint(message, at)
        else:
            size = {_EIGHT: 8, _FOUR: 4}.get(wire)
            if size is None:
                if wire != _BYTES:
                    raise ValueError(f"wire type {wire}")
                size, at = _varint(message, at)
            if at + size > end:
                raise ValueError("a field goes beyond its message")
            content = message[at : at + size]
            at += size
        yield tag >> 3, wire, content


def _packed(content: memoryview) -> list[int]:
    result, at = list[int](), 0
    while at < len(content):
        number, at = _varint(content, at)
        result.append(number)
    return result


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    """A number of variable length, and where it ends."""
    value = message[at]
    at += 1
    if value < 128:
        return value, at
    value, shift = value & 127, 7
    while True:
        part = message[at]
        at += 1
        value |= (part & 127) << shift
        if part < 128:
            return value, at
        shift += 7


def _number(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _field(number: int, wire: int, content: Any) -> bytes:
    tag = _number(number << 3 | wire)
    if wire == _VARINT:
        return tag + _number(content)
    if wire == _BYTES:
        return b"".join((tag, _number(len(content)), content))
    return tag + bytes(content)
