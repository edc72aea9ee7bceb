"""Messages for operands that operations refuse: the operation, the types, the place, the remedy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_core import ShapedArray, stage

F3 = ShapedArray((3,), "float32")
I3 = ShapedArray((3,), "int32")
B3 = ShapedArray((3,), "bool")
C3 = ShapedArray((3,), "complex64")


def trace(f: Callable[..., Any], *avals: ShapedArray) -> None:
    stage(lambda *xs: [f(*xs)], avals)


CASES: list[tuple[Callable[..., Any], tuple[ShapedArray, ...], type[Exception], list[str]]] = [
    (lax.sin, (I3,), TypeError, ["lax.sin does not accept", "int32", "i32[3]", "x.astype(dtype)"]),
    (lax.bitwise_and, (F3, F3), TypeError, ["lax.bitwise_and does not accept", "booleans"]),
    (lax.lt, (C3, C3), TypeError, ["lax.lt does not accept", "complex64"]),
    (lax.add, (F3, I3), TypeError,
     ["lax.add takes operands of one dtype", "f32[3] and i32[3]", "dovetail.numpy"]),
    (lambda x: lax.add(x, 1.5), (I3,), TypeError, ["lax.add", "i32[3] and f32[]"]),
    (lax.add, (F3, ShapedArray((4,), "float32")), TypeError,
     ["lax.add takes operands of equal shapes", "(3,), (4,)", "broadcast"]),
    (lax.add, (F3, ShapedArray((1, 3), "float32")), TypeError, ["(3,), (1, 3)"]),
    (lambda x: lax.add(x, [1.0]), (F3,), TypeError, ["lax.add takes arrays", "[1.0] of type list"]),
    (lambda x: lax.sin("a"), (F3,), TypeError, ["lax.sin takes arrays", "'a' of type str"]),
    (lambda x: lax.sin(None), (F3,), TypeError, ["lax.sin takes arrays", "NoneType"]),
    (lambda x: lax.add(x, 1 << 40), (I3,), OverflowError, ["1099511627776", "int32", "enable_x64"]),
    (lambda x: lax.neg(1 << 31), (I3,), OverflowError, ["2147483648"]),
    (lambda x: lax.integer_pow(x, -1), (I3,), TypeError,
     ["cannot be raised to negative powers", "i32[3] and -1"]),
    (lambda x: lax.integer_pow(x, cast(Any, 2.5)), (F3,), TypeError,
     ["Python integer", "2.5", "lax.pow"]),
    (lax.pow, (I3, I3), TypeError, ["lax.pow does not accept", "int32"]),
    (lax.select_n, (F3, F3, F3), TypeError, ["booleans or integers", "f32[3]"]),
    (lax.select_n, (B3, F3, F3, F3), TypeError, ["two cases", "got 3 cases"]),
    (lax.select_n, (B3, F3, I3), TypeError, ["lax.select_n takes operands of one dtype"]),
    (lambda w: lax.select_n(w), (B3,), ValueError, ["at least one case"]),
    (lax.clamp, (F3, I3, F3), TypeError, ["lax.clamp takes operands of one dtype"]),
    (lambda x: lax.convert_element_type(x, None), (F3,), ValueError, ["needs a dtype"]),
    (lambda x: lax.convert_element_type(x, "U3"), (F3,), TypeError, ["<U3", "not supported"]),
    (lambda x: lax.bitcast_convert_type(x, "complex64"), (F3,), TypeError,
     ["does not reinterpret f32[3] as complex64", "x.view(dtype)"]),
    (lambda x: lax.bitcast_convert_type(x, "int32"), (ShapedArray((3, 3), "int8"),), ValueError,
     ["cannot make int32 (32 bits) of i8[3,3]", "length 4"]),
    (lambda x: lax.reduce_precision(x, 0, 3), (F3,), ValueError, ["positive exponent_bits"]),
    (lambda x: lax.reduce_precision(x, 5, 3), (I3,), TypeError, ["lax.reduce_precision"]),
    (lambda x: lax.iota("bool", 3), (F3,), TypeError, ["lax.iota does not accept", "bool"]),
    (lambda x: lax.iota("int32", -3), (F3,), TypeError, ["non-negative sizes, got (-3,)"]),
    (lambda x: lax.broadcasted_iota("int32", (2, 3), 2), (F3,), ValueError, ["from 0 to 1"]),
    (lambda x: lax.full((2,), x), (F3,), TypeError, ["scalar fill_value", "(3,)"]),
    (lambda x: lax.full_like(x, x), (F3,), TypeError, ["scalar fill_value", "(3,)"]),
    (lambda x: lax.round(x, 5), (F3,), ValueError, ["5 is not a valid RoundingMethod"]),
    (lambda x: lax.complex(x, x), (ShapedArray((3,), "bfloat16"),), TypeError,
     ["no complex dtype has parts of dtype bfloat16"]),
    (lambda x: lax.sin(x, accuracy=cast(Any, "high")), (F3,), TypeError,
     ["lax.AccuracyMode", "'high'"]),
    (lambda x: lax.Tolerance(rtol=-1.0), (F3,), ValueError, ["must not be negative"]),
    (lambda x: lax.rng_bit_generator(x, (3,)), (F3,), TypeError, ["u32[4] or u64[2]", "f32[3]"]),
    (lambda k: lax.rng_bit_generator(k, (3,), "float32"), (ShapedArray((4,), "uint32"),),
     TypeError, ["uint8, uint16, uint32, uint64", "not float32"]),
    (lambda x: lax.rng_uniform(x, x, (3,)), (F3,), ValueError, ["scalar bounds"]),
]  # fmt: skip


@pytest.mark.parametrize(("f", "avals", "error", "words"), CASES, ids=lambda x: None)
def test_messages(
    f: Callable[..., Any],
    avals: tuple[ShapedArray, ...],
    error: type[Exception],
    words: list[str],
) -> None:
    with pytest.raises(error) as e:
        trace(f, *avals)
    for word in words:
        assert word in str(e.value)


def test_type_errors_name_the_users_line() -> None:
    def user_code(x: Any) -> Any:
        return lax.sin(x)

    with pytest.raises(TypeError) as e:
        trace(user_code, I3)
    line = user_code.__code__.co_firstlineno + 1
    assert f"{__file__}:{line}" in str(e.value)


def test_derivatives_that_do_not_exist_are_named() -> None:
    from dovetail_ad import jvp

    x = np.float32(1.5)
    for f, name in (
        (lambda a: lax.zeta(a, x), "zeta has no derivative in its operand 'x'"),
        (lambda a: lax.polygamma(a, x), "polygamma has no derivative in its operand 'm'"),
        (lambda a: lax.betainc(a, x, x / 2), "betainc has no derivative in its operand 'a'"),
    ):
        with pytest.raises(NotImplementedError, match=name):
            jvp(f, (x,), (x,))
