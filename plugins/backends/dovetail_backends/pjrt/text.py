"""Types, constants and names in MLIR's text form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dovetail_core import AbstractValue, Cache, ShapedArray, float0

_ELEMENTS = {
    "bool": "i1", "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64",
    "complex64": "complex<f32>", "complex128": "complex<f64>",
    "int2": "i2", "int4": "i4", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint2": "ui2", "uint4": "ui4", "uint8": "ui8", "uint16": "ui16", "uint32": "ui32",
    "uint64": "ui64",
    "float8_e3m4": "f8E3M4", "float8_e4m3": "f8E4M3", "float8_e4m3fn": "f8E4M3FN",
    "float8_e4m3b11fnuz": "f8E4M3B11FNUZ", "float8_e4m3fnuz": "f8E4M3FNUZ",
    "float8_e5m2": "f8E5M2", "float8_e5m2fnuz": "f8E5M2FNUZ", "float8_e8m0fnu": "f8E8M0FNU",
    "float4_e2m1fn": "f4E2M1FN",
}  # fmt: skip

_types: Cache[AbstractValue, str] = Cache()


class Attributes(str):
    """The text of all attributes of an operation.

    Attributes:
        values: these attributes by name.
    """

    values: Mapping[str, Any]


def identifier(name: str) -> str:
    """``name`` as a valid MLIR symbol: letters and digits of ASCII, no digit first."""
    plain = "".join(c if c.isascii() and c.isalnum() else "_" for c in name)
    return f"_{plain}" if plain[:1].isdigit() else plain


def element_type(dtype: Any) -> str:
    """The MLIR name of an element type.

    Raises:
        TypeError: StableHLO has no such type.
    """
    if dtype == float0:
        return "i1"
    if dtype.name not in _ELEMENTS:
        raise TypeError(f"StableHLO has no element type for dtype {dtype.name}")
    return _ELEMENTS[dtype.name]


def tensor_type(aval: AbstractValue) -> str:
    """The MLIR type of an array type: ``tensor<2x3xf32>``."""
    result = _types.get(aval)
    if result is None:
        assert isinstance(aval, ShapedArray), f"{aval} must be lowered to low types first"
        dims = "".join(f"{d}x" for d in aval.shape)
        result = _types[aval] = f"tensor<{dims}{element_type(aval.dtype)}>"
    return result


def dense(value: np.ndarray[Any, Any]) -> str:
    """``dense<...>`` without its type: a splat if all elements are equal, else raw bytes.

    Elements are written as bits, so that they are read back exactly.
    """
    flat = value.reshape(-1)
    if flat.size == 0:
        return "dense<>"
    first = flat[0]
    if flat.size == 1 or flat.tobytes() == np.full_like(flat, first).tobytes():
        return f"dense<{element_of(first)}>"
    return f'dense<"0x{np.ascontiguousarray(flat).tobytes().hex().upper()}">'


def element_of(x: Any) -> str:
    """A NumPy scalar in MLIR's text form; floating-point numbers as their bits."""
    kind = x.dtype.kind
    if kind == "b":
        return "true" if x else "false"
    if kind in "iu":
        return str(int(x))
    if kind == "c":
        return f"({element_of(x.real)}, {element_of(x.imag)})"
    if x.dtype.name in ("int4", "uint4", "int2", "uint2"):
        return str(int(x))
    bits = x.tobytes()[::-1].hex().upper()
    return f"0x{bits}"
