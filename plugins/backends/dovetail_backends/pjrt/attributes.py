"""Attributes of operations: functions that return their MLIR text, for lowering rules.

An operation's attributes are a dictionary from names to results of these functions; booleans and
strings may be given as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import index
from typing import Any

import numpy as np

from dovetail_base.caches import Cache
from dovetail_core import AbstractValue, ShapedArray

from .text import Attributes, dense, element_of, element_type, tensor_type


class Attribute(str):
    """The text of an attribute, with its type.

    Attributes:
        value: the value that the text denotes, hashable; None if it is not kept.
    """

    value: Any = None

    @classmethod
    def of(cls, text: str, value: Any) -> Attribute:
        """Return an attribute that keeps its value."""
        made = cls(text)
        made.value = value
        return made


def boolean(value: bool) -> Attribute:
    """``true`` or ``false``."""
    return Attribute("true" if value else "false")


def string(text: str) -> Attribute:
    """``"text"``, with other characters than printable ASCII escaped."""
    data = text.encode(errors="backslashreplace")  # lone surrogates are not valid UTF-8
    plain = (chr(c) if 32 <= c < 127 and c not in b'"\\' else f"\\{c:02X}" for c in data)
    return Attribute(f'"{"".join(plain)}"')


def integer(value: int, dtype: Any = np.int64) -> Attribute:
    """``3 : i64``, or of another integer type: ``integer(3, "uint8")``."""
    return Attribute(f"{int(value)} : {element_type(np.dtype(dtype))}")


def i32(value: int) -> Attribute:
    """``3 : i32``."""
    return Attribute(f"{int(value)} : i32")


def i64(value: int) -> Attribute:
    """``3 : i64``."""
    return Attribute(f"{int(value)} : i64")


def floating(value: float, dtype: Any = np.float32) -> Attribute:
    """A number of a floating-point type, written as its bits: ``0x3F800000 : f32``."""
    number = np.asarray(value, dtype)[()]
    return Attribute(f"{element_of(number)} : {element_type(number.dtype)}")


_i64_arrays: Cache[tuple[int, ...], Attribute] = Cache()


def i64_array(values: Sequence[int]) -> Attribute:
    """``array<i64: 0, 1>``."""
    key = tuple(values)
    result = _i64_arrays.get(key)
    if result is None:
        integers = tuple(map(index, key))
        text = f"array<i64: {', '.join(map(str, integers))}>" if integers else "array<i64>"
        result = _i64_arrays[key] = Attribute.of(text, integers)
    return result


def bool_array(values: Sequence[bool]) -> Attribute:
    """``array<i1: true, false>``."""
    words = ", ".join("true" if v else "false" for v in values)
    return Attribute(f"array<i1: {words}>" if words else "array<i1>")


def i64_dense(values: Any) -> Attribute:
    """``dense<[[0, 1]]> : tensor<1x2xi64>`` for a (nested) sequence of integers."""
    array = np.asarray(values, np.int64)
    dims = "".join(f"{d}x" for d in array.shape)
    return Attribute(f"dense<{array.tolist() if array.size else ''}> : tensor<{dims}i64>")


def dense_array(value: Any) -> Attribute:
    """``dense<...> : tensor<...>`` for an array of any element type, with exact elements."""
    array = np.asarray(value)
    text = dense(array)
    if array.dtype == np.bool_ and '"' in text:  # raw bytes of i1 depend on MLIR's version
        text = f"dense<{str(array.tolist()).lower()}>"
    return Attribute(f"{text} : {tensor_type(ShapedArray(array.shape, array.dtype))}")


def sequence(values: Sequence[Any]) -> Attribute:
    """``[...]`` of other attributes."""
    return Attribute(f"[{', '.join(_spell('an element of a sequence', v) for v in values)}]")


def dictionary(entries: Mapping[str, Any]) -> Attribute:
    """``{name = ...}`` of other attributes, as the ``backend_config`` of a custom call."""
    return Attribute(f"{{{spelled(entries)}}}")


def enum(name: str, value: str, dialect: str = "stablehlo") -> Attribute:
    """``#stablehlo<comparison_direction LT>`` is ``enum("comparison_direction", "LT")``."""
    return Attribute(f"#{dialect}<{name} {value}>")


def record(name: str, fields: Mapping[str, Any], dialect: str = "stablehlo") -> Attribute:
    """``#stablehlo.dot<lhs_contracting_dimensions = [1], ...>``: fields are integers, sequences of
    them, booleans, or other attributes."""
    words = ", ".join(f"{k} = {_field(v)}" for k, v in fields.items())
    value = tuple((k, tuple(v) if isinstance(v, list) else v) for k, v in fields.items())
    return Attribute.of(f"#{dialect}.{name}<{words}>", value)


def convolution(
    lhs: Sequence[str | int], rhs: Sequence[str | int], out: Sequence[str | int]
) -> Attribute:
    """``#stablehlo.conv<[b, f, 0]x[o, i, 0]->[b, f, 0]>``: the meaning of each axis."""
    x, y, z = (f"[{', '.join(map(str, axes))}]" for axes in (lhs, rhs, out))
    return Attribute(f"#stablehlo.conv<{x}x{y}->{z}>")


def layouts(orders: Sequence[Sequence[int]]) -> Attribute:
    """The ``operand_layouts`` of a custom call: the axes of each array, the fastest one first."""
    return sequence([_index(order) for order in orders])


def _index(order: Sequence[int]) -> Attribute:
    return Attribute(f"dense<{list(order) or ''}> : tensor<{len(order)}xindex>")


def operand_aliases(aliases: Mapping[int, int], n_outs: int) -> Attribute:
    """The ``output_operand_aliases`` of a custom call: numbers of results by those of operands."""
    words = [
        f"#stablehlo.output_operand_alias<output_tuple_indices = [{out if n_outs > 1 else ''}], "
        f"operand_index = {operand}, operand_tuple_indices = []>"
        for operand, out in aliases.items()
    ]
    return Attribute(f"[{', '.join(words)}]")


def symbol(name: str) -> Attribute:
    """``@name``: a function of the module."""
    return Attribute(f"@{name}")


def type_attribute(aval: AbstractValue) -> Attribute:
    """``tensor<3xf32>``: a type as an attribute."""
    return Attribute(tensor_type(aval))


def spelled(attributes: Mapping[str, Any]) -> Attributes:
    """``a = 1 : i64, b = true``: attributes in the text of an operation.

    Raises:
        TypeError: a value, such as a number, could have several types; names the attribute.
    """
    spelt = {k: _spell(f"attribute {k!r}", v) for k, v in attributes.items()}
    made = Attributes(", ".join([f"{_name(k)} = {text}" for k, text in spelt.items()]))
    made.values = spelt
    return made


def _name(name: str) -> str:
    return name if name.replace(".", "").replace("_", "").isalnum() else string(name)


def _spell(what: str, value: Any) -> str:
    if isinstance(value, Attribute):
        return value
    if isinstance(value, str):
        return string(value)
    if isinstance(value, (bool, np.bool_)):
        return boolean(bool(value))
    raise TypeError(
        f"{what} is {value!r}, of type {type(value).__name__}, which can be spelt in several ways. "
        "Say which: i64(...), floating(...), i64_array(...), dense_array(...), or another function "
        "of dovetail_backends.pjrt.attributes."
    )


def _field(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(str, value))}]"  # type: ignore[arg-type]
    if isinstance(value, (bool, np.bool_, str)):
        return _spell("a field", value)
    return str(value)
