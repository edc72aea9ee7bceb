"""Questions about element types."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from dovetail_core import ExtendedDType, ShapedArray, enable_x64, typeof
from dovetail_core.types.algebra import algebra, zeros_like_aval
from dovetail_jit import jit
from dovetail_lax import dtypes


class KeyType(ExtendedDType):
    name = "key<test>"
    type = dtypes.prng_key


KEY = KeyType()


@pytest.mark.parametrize(
    ("a", "b", "answer"),
    [
        (ml_dtypes.bfloat16, np.floating, True),
        ("bfloat16", np.inexact, True),
        ("bfloat16", "float32", False),
        (ml_dtypes.float8_e4m3fn, np.floating, True),
        (ml_dtypes.int4, np.signedinteger, True),
        (ml_dtypes.uint2, np.integer, True),
        (ml_dtypes.uint2, np.signedinteger, False),
        (float, np.floating, True),
        (int, float, False),
        (np.int64, int, True),
        (np.int32, int, False),
        (bool, np.integer, False),
        ("float32", np.generic, True),
        ("float32", dtypes.extended, False),
        (np.floating, np.inexact, True),
        (np.inexact, np.floating, False),
        (dtypes.float0, np.inexact, False),
        (KEY, dtypes.prng_key, True),
        (KEY, dtypes.extended, True),
        (KEY, np.generic, True),
        (KEY, np.number, False),
        ("U3", np.character, True),
    ],
)
def test_issubdtype(a: object, b: object, answer: bool) -> None:
    assert dtypes.issubdtype(a, b) is answer


def test_canonical_types_depend_on_enable_x64() -> None:
    assert dtypes.canonicalize_dtype(float) == np.float32
    with enable_x64(True):
        assert dtypes.canonicalize_dtype("int64") == np.int64
    with pytest.raises(ValueError, match="extended dtype"):
        dtypes.canonicalize_dtype(KEY)
    assert dtypes.canonicalize_dtype(KEY, allow_extended_dtype=True) is KEY


def test_widths_and_limits() -> None:
    widths = {"int4": 4, "uint2": 2, "float4_e2m1fn": 4, "bool": 8, "complex64": 64, "int16": 16}
    assert {n: dtypes.itemsize_bits(n) for n in widths} == widths
    assert dtypes.finfo("bfloat16").eps == 2.0**-7
    assert dtypes.finfo(np.float32).max == np.finfo(np.float32).max
    assert (dtypes.iinfo("int4").min, dtypes.iinfo("uint8").max) == (-8, 255)
    for wrong, ask in (("int32", dtypes.finfo), ("float32", dtypes.iinfo)):
        with pytest.raises(ValueError):
            ask(wrong)


def test_python_types_of_elements() -> None:
    assert dtypes.scalar_type_of(np.ones(2, "bfloat16")) is float
    assert dtypes.scalar_type_of(np.dtype("uint8")) is int
    assert [dtypes.scalar_type_of(x) for x in (True, 1, 1.0, 1j)] == [bool, int, float, complex]
    with pytest.raises(TypeError):
        dtypes.scalar_type_of(KEY)


def test_dtype_of_values_and_of_names() -> None:
    assert dtypes.dtype_of(1.0) == np.float32
    assert dtypes.dtype_of("float64") == np.float32
    assert dtypes.dtype_of(np.ones(2, np.int8)) == np.int8
    with pytest.raises(TypeError, match="only numbers and booleans"):
        dtypes.dtype_of("U3")


def test_python_scalars_are_weakly_typed() -> None:
    assert [dtypes.is_weakly_typed(x) for x in (1, 1.0, 1j, True, np.float32(1))] == [
        True, True, True, False, False,
    ]  # fmt: skip


@pytest.mark.parametrize("shape", [(), (2, 3), (0,)])
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.complex64])
@pytest.mark.parametrize("weak", [False, True])
def test_what_is_filled_is_of_the_type_asked_for(shape: Any, dtype: Any, weak: bool) -> None:
    aval = ShapedArray(shape, dtype, weak)
    x = algebra().full(aval, 2)
    assert typeof(x) is aval and (np.asarray(x) == 2).all()
    f = jit(lambda: (algebra().full(aval, 2), zeros_like_aval(aval)))
    assert [typeof(y) for y in f()] == [aval, aval]
