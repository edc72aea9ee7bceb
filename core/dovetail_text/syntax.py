"""Notations of parameters and types of registered kinds in the text of programs."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple, cast

import ml_dtypes
import numpy as np

from dovetail_core import (
    AbstractValue,
    AccumulateEffect,
    ExtendedDType,
    IOEffect,
    OrderedIOEffect,
    ReadEffect,
    ShapedArray,
    WriteEffect,
    float0,
    short_dtype,
)


class Kind(NamedTuple):
    """A kind of parameter: ``name"text"`` where it has its own text, else by its fields."""

    name: str
    cls: type
    to_text: Callable[[Any], str] | None
    from_text: Callable[[str], Any] | None


_by_class: dict[type, Kind] = {}
_by_name: dict[str, Kind] = {}
_types: dict[str, Callable[[str], AbstractValue]] = {}
_dtypes: dict[str, ExtendedDType] = {}


def register_parameter(
    cls: type,
    to_text: Callable[[Any], str] | None = None,
    from_text: Callable[[str], Any] | None = None,
    *,
    name: str = "",
) -> None:
    """Let parameters of class ``cls`` be printed and parsed.

    With both functions a value is written ``name"text"``. Without them ``cls`` is an enumeration,
    a named tuple or a dataclass, written ``name.MEMBER`` or ``name(field=value)``; such a class
    can be printed and parsed unregistered, too, but then by its module's name.

    Raises:
        ValueError: ``name`` (the class's own by default) is taken by another class.
    """
    kind = Kind(name or cls.__qualname__, cls, to_text, from_text)
    other = _by_name.setdefault(kind.name, kind)
    if _full_name(other.cls) != _full_name(cls):
        raise ValueError(
            f"parameters named {kind.name!r} are of class {_full_name(other.cls)}, so "
            f"{_full_name(cls)} needs another name: register_parameter(..., name=...)"
        )
    _by_class[cls] = _by_name[kind.name] = kind


RESERVED = {"in", "let", "lambda", "inf", "nan"}
"""Words that have a meaning wherever they stand."""


def word(name: str) -> str:
    """A name as it is written: quoted if it is no word."""
    return name if is_word(name) else repr(name)


def is_word(name: str, joined: str = ".") -> bool:
    """Return whether a name needs no quotes: identifiers, joined by dots or ``joined``."""
    parts = name.replace(joined, ".").split(".")
    return all(p.isidentifier() for p in parts) and name not in RESERVED and name.isascii()


def register_numbered(cls: type) -> None:
    """Let parameters of a class without a text form be written by their ``name`` and a number,
    ``f#0``, as large constants are: ``printed_constants`` has them."""
    numbered.add(cls)


numbered: set[type] = set()


def register_type_notation(name: str, from_text: Callable[[str], AbstractValue]) -> None:
    """Let types that print as ``name`` or ``name{text}`` (``str_short``) be parsed.

    ``from_text`` takes the text between the braces; it may call ``parse_type``.
    """
    _types[name] = from_text


def register_dtype(dtype: ExtendedDType) -> ExtendedDType:
    """Let element types that NumPy lacks be parsed, by their ``name``."""
    _dtypes[dtype.name] = dtype
    return dtype


def kind_of(value: Any) -> Kind | None:
    """The kind of a parameter: a registered one, or that of its enumeration or record class."""
    cls: type[Any] = value.__class__
    result = _by_class.get(cls)
    if result is None and (is_record(cls) or issubclass(cls, Enum)):
        return Kind(f"@{_full_name(cls)}", cls, None, None)
    return result


def find_kind(name: str) -> Kind | None:
    """The kind that ``name`` stands for in text.

    Classes named by their module are looked up in modules already imported: parsing a text imports
    nothing that the text names.
    """
    if not name.startswith("@"):
        return _by_name.get(name)
    module, _, path = name[1:].partition(":")
    result: Any = sys.modules.get(module)
    for part in path.split("."):
        result = getattr(result, part, None)
    if isinstance(result, type) and (is_record(result) or issubclass(result, Enum)):
        return Kind(name, cast(type, result), None, None)
    return None


def is_record(cls: type[Any]) -> bool:
    """Return whether values of ``cls`` are written by fields: a named tuple or a dataclass."""
    return dataclasses.is_dataclass(cls) or (tuple in cls.__mro__ and hasattr(cls, "_fields"))


def field_names(cls: type) -> list[str]:
    """The fields of a record class that its constructor takes."""
    if dataclasses.is_dataclass(cls):
        return [f.name for f in dataclasses.fields(cls) if f.init]
    return list(cast(Any, cls)._fields)


def find_type(name: str) -> Callable[[str], AbstractValue] | None:
    """The parser of types that are written ``name{...}``."""
    return _types.get(name)


_NUMPY = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 "
    "complex128"
).split()
_others: list[Any] = [getattr(ml_dtypes, n) for n in ml_dtypes.__all__]
_scalars: list[Any] = [t for t in _others if isinstance(t, type) and issubclass(t, np.generic)]
_known: list[np.dtype[Any]] = [np.dtype(t) for t in [*_NUMPY, *_scalars]]
_named: dict[str, Any] = {n: d for d in _known for n in (d.name, short_dtype(d))}
_named["float0"] = float0


def find_dtype(name: str) -> Any:
    """The element type that a short (``f32``) or full (``float32``) name stands for, or None."""
    return _dtypes.get(name) or _named.get(name)


def array_type(name: str, dims: str, weak: bool) -> ShapedArray | None:
    """The array type ``name[dims]``, or None if no element type has that name."""
    dtype = find_dtype(name)
    if dtype is None:
        return None
    return ShapedArray([int(d) for d in dims.split(",") if d.strip()], dtype, weak)


def _full_name(cls: type) -> str:
    return f"{cls.__module__}:{cls.__qualname__}"


for _name, _class in {
    "read": ReadEffect,
    "write": WriteEffect,
    "accumulate": AccumulateEffect,
    "io": IOEffect,
    "ordered_io": OrderedIOEffect,
}.items():
    register_parameter(_class, name=_name)
