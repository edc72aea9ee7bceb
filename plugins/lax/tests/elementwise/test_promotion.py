"""Type promotion: the table of pairs, weak types, strict promotion, 64-bit types off and on."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_core import ExtendedDType, enable_x64
from dovetail_lax import dtypes
from dovetail_lax.dtypes import TypePromotionError, numpy_dtype_promotion

# Rows and columns: b bool, i* f* c* Python's scalars, - no promotion.
STANDARD = """
b   b   i*  i4  s8  s16 s32 s64 u8  u16 u32 u64 f*  f8  bf  f16 f32 f64 c*  c64 c16
i*  i*  i*  i4  s8  s16 s32 s64 u8  u16 u32 u64 f*  f8  bf  f16 f32 f64 c*  c64 c16
i4  i4  i4  i4  -   -   -   -   -   -   -   -   -   -   -   -   -   -   -   -   -
s8  s8  s8  -   s8  s16 s32 s64 s16 s32 s64 f*  f*  f8  bf  f16 f32 f64 c*  c64 c16
s16 s16 s16 -   s16 s16 s32 s64 s16 s32 s64 f*  f*  f8  bf  f16 f32 f64 c*  c64 c16
s32 s32 s32 -   s32 s32 s32 s64 s32 s32 s64 f*  f*  f8  bf  f16 f32 f64 c*  c64 c16
s64 s64 s64 -   s64 s64 s64 s64 s64 s64 s64 f*  f*  f8  bf  f16 f32 f64 c*  c64 c16
u8  u8  u8  -   s16 s16 s32 s64 u8  u16 u32 u64 f*  f8  bf  f16 f32 f64 c*  c64 c16
u16 u16 u16 -   s32 s32 s32 s64 u16 u16 u32 u64 f*  f8  bf  f16 f32 f64 c*  c64 c16
u32 u32 u32 -   s64 s64 s64 s64 u32 u32 u32 u64 f*  f8  bf  f16 f32 f64 c*  c64 c16
u64 u64 u64 -   f*  f*  f*  f*  u64 u64 u64 u64 f*  f8  bf  f16 f32 f64 c*  c64 c16
f*  f*  f*  -   f*  f*  f*  f*  f*  f*  f*  f*  f*  f8  bf  f16 f32 f64 c*  c64 c16
f8  f8  f8  -   f8  f8  f8  f8  f8  f8  f8  f8  f8  f8  -   -   -   -   -   -   -
bf  bf  bf  -   bf  bf  bf  bf  bf  bf  bf  bf  bf  -   bf  f32 f32 f64 c64 c64 c16
f16 f16 f16 -   f16 f16 f16 f16 f16 f16 f16 f16 f16 -   f32 f16 f32 f64 c64 c64 c16
f32 f32 f32 -   f32 f32 f32 f32 f32 f32 f32 f32 f32 -   f32 f32 f32 f64 c64 c64 c16
f64 f64 f64 -   f64 f64 f64 f64 f64 f64 f64 f64 f64 -   f64 f64 f64 f64 c16 c16 c16
c*  c*  c*  -   c*  c*  c*  c*  c*  c*  c*  c*  c*  -   c64 c64 c64 c16 c*  c64 c16
c64 c64 c64 -   c64 c64 c64 c64 c64 c64 c64 c64 c64 -   c64 c64 c64 c16 c64 c64 c16
c16 c16 c16 -   c16 c16 c16 c16 c16 c16 c16 c16 c16 -   c16 c16 c16 c16 c16 c16 c16
"""

TYPES = {
    "b": "bool", "i4": "int4", "s8": "int8", "s16": "int16", "s32": "int32", "s64": "int64",
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "f8": "float8_e5m2",
    "bf": "bfloat16", "f16": "float16", "f32": "float32", "f64": "float64", "c64": "complex64",
    "c16": "complex128",
}  # fmt: skip
SCALARS = {"i*": 1, "f*": 1.0, "c*": 1j}
OWN = {"i*": "int64", "f*": "float64", "c*": "complex128"}
NARROW = {"int64": "int32", "uint64": "uint32", "float64": "float32", "complex128": "complex64"}
ROWS = [line.split() for line in STANDARD.split("\n") if line]
ORDER = [row[0] for row in ROWS]
PAIRS = [(row[0], b, found) for row in ROWS for b, found in zip(ORDER, row[1:])]


def value(name: str) -> object:
    return SCALARS[name] if name in SCALARS else np.dtype(TYPES[name])


def expected(name: str) -> tuple[np.dtype, bool]:
    return np.dtype(OWN.get(name) or TYPES[name]), name in SCALARS


def test_every_pair_of_element_types_promotes_as_the_table_says() -> None:
    with enable_x64(True):
        for a, b, result in PAIRS:
            if result == "-":
                with pytest.raises(TypePromotionError):
                    dtypes.result_type(value(a), value(b))
            else:
                got = dtypes.result_type(value(a), value(b), return_weak_type_flag=True)
                assert got == expected(result), (a, b)


def test_without_64_bit_types_operands_are_narrowed_before_they_promote() -> None:
    for names, asked in ((("uint32", "int64"), "int64"), (("uint64", "int32"), "uint64")):
        with pytest.warns(UserWarning, match=f"dtype {asked} was asked for"):
            assert dtypes.result_type(*map(np.dtype, names)) == np.int32
    assert dtypes.result_type(np.float64(1), ml_dtypes.bfloat16(1)) == np.float32
    assert dtypes.result_type(1) == np.int32
    assert dtypes.result_type(1.0, return_weak_type_flag=True) == (np.float32, True)
    assert dtypes.result_type(1j) == np.complex64


def test_strict_promotion_is_between_an_array_and_a_python_scalar_only() -> None:
    strong = [n for n in ORDER if n not in SCALARS]
    with enable_x64(True), numpy_dtype_promotion("strict"):
        for a in strong:
            for b in strong:
                if a == b:
                    assert dtypes.result_type(value(a), value(b)) == np.dtype(TYPES[a])
                else:
                    with pytest.raises(TypePromotionError, match="numpy_dtype_promotion='strict'"):
                        dtypes.result_type(value(a), value(b))
        assert dtypes.result_type(np.dtype("bfloat16"), 1.0) == ml_dtypes.bfloat16
        assert dtypes.result_type(np.dtype("uint8"), 1) == np.uint8
        assert dtypes.result_type(1, 2.0, return_weak_type_flag=True) == (np.float64, True)
        with pytest.raises(TypePromotionError):
            dtypes.result_type(np.dtype("int32"), 1.0)


def test_promote_types_takes_dtypes_as_they_are() -> None:
    assert dtypes.promote_types("uint64", "int8") == np.float64
    assert dtypes.promote_types(float, "bfloat16") == ml_dtypes.bfloat16
    assert dtypes.promote_types("uint32", "int8") == np.int32
    with enable_x64(True):
        assert dtypes.promote_types("uint32", "int8") == np.int64


@pytest.mark.parametrize(
    ("types", "message"),
    [
        (("float8_e5m2", "float32"), "8-bit and 4-bit floats are never promoted implicitly"),
        (("int4", "int8"), "integers of 2 and 4 bits are never promoted implicitly"),
    ],
)
def test_errors_name_the_types_and_the_remedy(types: tuple[str, str], message: str) -> None:
    with pytest.raises(TypePromotionError, match=message) as e:
        dtypes.result_type(*map(np.dtype, types))
    assert f"{types[0]} and {types[1]}" in str(e.value)
    assert "x.astype(" in str(e.value)


def test_extended_types_take_no_part_in_promotion() -> None:
    class Key(ExtendedDType):
        name = "key"
        type = dtypes.prng_key

    with pytest.raises(TypePromotionError, match="takes no part in type promotion"):
        dtypes.result_type(Key(), np.dtype("int32"))


def test_options_reject_unknown_values() -> None:
    with pytest.raises(ValueError, match="'standard' or 'strict', not 'loose'"):
        numpy_dtype_promotion("loose")


def test_result_type_needs_an_argument() -> None:
    with pytest.raises(ValueError, match="at least one array"):
        dtypes.result_type()


def test_full_fills_with_the_scalars_own_type() -> None:
    assert (lax.full((2,), 1).dtype, lax.full((2,), 1).weak_type) == (np.int32, True)
    assert (lax.full((2,), 1.0, "int8").dtype, lax.full((2,), True).dtype) == (np.int8, np.bool_)
