"""Records: all of a program beside its executable that a call without a trace needs.

A record is text (JSON) and the bytes of arrays. Nothing in it is run, and no classes are looked up
but named tuples that the process has; programs with other parts are not recorded.

    length of the text | text | arrays, one after the other
"""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dovetail_backends import LoweredModule
from dovetail_core import ShapedArray
from dovetail_tree.registry import named_tuple_fields
from dovetail_tree.util import tree_structure

_LENGTH = struct.Struct("<Q")
_ONE = tree_structure(0)


class NotRecorded(Exception):
    """A program cannot be recorded; the text says why."""


class Record(NamedTuple):
    """A program that was lowered.

    Attributes:
        module: what its caller must know of the module, whose text is empty.
        in_avals: types of its inputs, what it closes over first. consts: the values of those.
        out_tree: the structure of its result; None where that is not known.
        executable: the key of its executable in the cache.
    """

    module: LoweredModule
    in_avals: Sequence[Any]
    consts: Sequence[Any]
    out_tree: Any
    executable: bytes


def encode_record(record: Record) -> bytes:
    """A record as bytes.

    Raises:
        NotRecorded: the program calls Python, has effects, runs on several devices, or has types or
            a structure that cannot be recorded.
    """
    module, arrays = record.module, list[bytes]()
    if module.host_callbacks or module.effects:
        raise NotRecorded("it calls Python functions or has other effects")
    if module.partition is not None:
        raise NotRecorded("it runs on several devices")
    text = json.dumps({
        "name": module.name,
        "platform": module.platform,
        "kept": module.kept,
        "donated": module.donated,
        "unusable": _types(module.unusable),
        "outs": _types(module.out_avals),
        "ins": _types(record.in_avals),
        "const_args": [_array(x, arrays) for x in module.const_args],
        "consts": [_array(x, arrays) for x in record.consts],
        "tree": None if record.out_tree is None else _structure(record.out_tree),
        "executable": record.executable.hex(),
    }).encode()  # fmt: skip
    return b"".join((_LENGTH.pack(len(text)), text, *arrays))


def decode_record(body: bytes) -> Record:
    """The record that :func:`encode_record` made these bytes of. Raises where it did not."""
    (length,) = _LENGTH.unpack(body[: _LENGTH.size])
    start = _LENGTH.size + length
    text = json.loads(body[_LENGTH.size : start])
    arrays = _Arrays(memoryview(body)[start:])
    module = LoweredModule(
        text="", name=text["name"], platform=text["platform"],
        const_args=tuple([arrays.next(x) for x in text["const_args"]]),
        kept=tuple(text["kept"]), out_avals=_avals(text["outs"]), donated=tuple(text["donated"]),
        unusable=_avals(text["unusable"]),
    )  # fmt: skip
    consts = [arrays.next(x) for x in text["consts"]]
    tree = None if text["tree"] is None else tree_structure(_tree(text["tree"]))
    return Record(module, _avals(text["ins"]), consts, tree, bytes.fromhex(text["executable"]))


def _types(avals: Sequence[Any]) -> list[Any]:
    result: list[Any] = []
    for a in avals:
        plain = a.__class__ is ShapedArray and not a.is_high and not a.vma and a.divided is None
        if not plain or a.dtype.names is not None or a.dtype != np.dtype(a.dtype.name):
            raise NotRecorded(f"it has a value of type {a.str_short()}")
        result.append((a.shape, a.dtype.name, a.weak_type))
    return result


def _avals(types: Sequence[Any]) -> tuple[Any, ...]:
    return tuple([ShapedArray(tuple(shape), np.dtype(dtype), weak) for shape, dtype, weak in types])


def _array(x: Any, arrays: list[bytes]) -> Any:
    try:
        result = np.asarray(x)
        known = result.dtype == np.dtype(result.dtype.name)
    except Exception as e:
        raise NotRecorded(f"it closes over a value that is no array: {e}") from None
    if result.dtype.hasobject or not known:
        raise NotRecorded(f"it closes over an array of {result.dtype}")
    content = result.tobytes()
    arrays.append(content)
    return result.shape, result.dtype.name, len(content)


class _Arrays:
    """The arrays of a record, one after the other."""

    def __init__(self, content: memoryview) -> None:
        self.content, self.start = content, 0

    def next(self, entry: Any) -> Any:
        shape, dtype, size = entry
        part = self.content[self.start : self.start + size]
        self.start += size
        return np.frombuffer(part, np.dtype(dtype)).reshape(shape)


def _structure(tree: Any) -> Any:
    """A structure of standard containers as JSON."""
    if tree == _ONE:
        return "*"
    data = tree.node_data()
    if data is None:
        return None
    kind, aux = data
    children = [_structure(t) for t in tree.children()]
    if kind in (tuple, list):
        return [kind.__name__, children]
    if kind is dict:
        if not all(type(k) in (str, int) for k in aux):
            raise NotRecorded("its result has a dictionary whose keys are no strings or integers")
        return ["dict", children, list(aux)]
    if kind is type(None):
        return None
    if named_tuple_fields(kind) and _attribute(kind.__module__, kind.__qualname__) is kind:
        return ["named", children, kind.__module__, kind.__qualname__]
    raise NotRecorded(f"its result has a container of type {kind.__qualname__}")


def _tree(structure: Any) -> Any:
    """A value of the structure."""
    if structure is None:
        return None
    if structure == "*":
        return 0
    kind, children, *more = structure
    values = [_tree(x) for x in children]
    if kind == "dict":
        return dict(zip(more[0], values, strict=True))
    if kind == "named":
        result = _attribute(*more)
        if not isinstance(result, type) or len(named_tuple_fields(result)) != len(values):
            raise ValueError(f"there is no named tuple {'.'.join(more)}")
        return tuple.__new__(result, values)
    return {"tuple": tuple, "list": list}[kind](values)


def _attribute(module: str, name: str) -> Any:
    """The attribute of a loaded module under a name with dots."""
    result: Any = sys.modules.get(module)
    for part in name.split("."):
        result = getattr(result, part, None)
    return result
