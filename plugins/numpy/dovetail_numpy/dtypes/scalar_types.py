"""Constants, and scalar types ``float32``, ``int8``, ...: dtypes that make arrays when called."""

from __future__ import annotations

import builtins
from typing import Any

import ml_dtypes
import numpy as np

from dovetail_lax import dtypes
from dovetail_xla import arrays

from ..creation.arrays import asarray
from ..operands import Array

e: float = np.e
euler_gamma: float = np.euler_gamma
inf: float = np.inf
nan: float = np.nan
newaxis: None = None
pi: float = np.pi


class ScalarType(type):
    """The class of scalar types. They compare and hash as their NumPy dtype's scalar type does."""

    dtype: np.dtype[Any]

    def __hash__(cls) -> int:
        return hash(cls.dtype.type)

    def __eq__(cls, other: object) -> builtins.bool:
        return cls is other or cls.dtype.type == other

    def __ne__(cls, other: object) -> builtins.bool:
        return not cls == other

    def __call__(cls, x: Any = 0) -> Array:
        return asarray(x, dtype=cls.dtype)

    def __instancecheck__(cls, instance: Any) -> builtins.bool:
        return isinstance(instance, cls.dtype.type)


def _make(name: str, dtype: Any) -> Any:
    dt = np.dtype(dtype)
    doc = f"The scalar type of ``{dt}``: a dtype, and called it makes an array of that dtype."
    space = {"dtype": dt, "__module__": "dovetail.numpy", "__doc__": doc}
    return ScalarType(name, (object,), space)


bool = bool_ = _make("bool", np.bool_)
int1, uint1 = _make("int1", ml_dtypes.int1), _make("uint1", ml_dtypes.uint1)
int2, int4 = _make("int2", ml_dtypes.int2), _make("int4", ml_dtypes.int4)
uint2, uint4 = _make("uint2", ml_dtypes.uint2), _make("uint4", ml_dtypes.uint4)
int8, int16 = _make("int8", np.int8), _make("int16", np.int16)
int32, int64 = _make("int32", np.int32), _make("int64", np.int64)
uint8, uint16 = _make("uint8", np.uint8), _make("uint16", np.uint16)
uint32, uint64 = _make("uint32", np.uint32), _make("uint64", np.uint64)
float16, bfloat16 = _make("float16", np.float16), _make("bfloat16", ml_dtypes.bfloat16)
float32, float64 = _make("float32", np.float32), _make("float64", np.float64)
complex64, complex128 = _make("complex64", np.complex64), _make("complex128", np.complex128)
float8_e3m4 = _make("float8_e3m4", ml_dtypes.float8_e3m4)
float8_e4m3 = _make("float8_e4m3", ml_dtypes.float8_e4m3)
float8_e8m0fnu = _make("float8_e8m0fnu", ml_dtypes.float8_e8m0fnu)
float8_e4m3b11fnuz = _make("float8_e4m3b11fnuz", ml_dtypes.float8_e4m3b11fnuz)
float8_e4m3fn = _make("float8_e4m3fn", ml_dtypes.float8_e4m3fn)
float8_e4m3fnuz = _make("float8_e4m3fnuz", ml_dtypes.float8_e4m3fnuz)
float8_e5m2 = _make("float8_e5m2", ml_dtypes.float8_e5m2)
float8_e5m2fnuz = _make("float8_e5m2fnuz", ml_dtypes.float8_e5m2fnuz)
float4_e2m1fn = _make("float4_e2m1fn", ml_dtypes.float4_e2m1fn)
float6_e2m3fn = _make("float6_e2m3fn", ml_dtypes.float6_e2m3fn)
float6_e3m2fn = _make("float6_e3m2fn", ml_dtypes.float6_e3m2fn)

single, double, csingle, cdouble = float32, float64, complex64, complex128
int_, uint, float_, complex_ = int64, uint64, float64, complex128

# NumPy's abstract kinds, for issubdtype.
generic, number, inexact, integer = np.generic, np.number, np.inexact, np.integer
signedinteger, unsignedinteger = np.signedinteger, np.unsignedinteger
floating, complexfloating = np.floating, np.complexfloating
flexible, character, object_ = np.flexible, np.character, np.object_
ComplexWarning = np.exceptions.ComplexWarning

ndarray, dtype = arrays.Array, np.dtype
finfo, iinfo = dtypes.finfo, dtypes.iinfo
