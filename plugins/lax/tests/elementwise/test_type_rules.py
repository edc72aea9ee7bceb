"""Which element types each operation takes, and what it makes of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_core import ShapedArray, enable_x64, stage

B = ["bool"]
S = ["int2", "int4", "int8", "int16", "int32", "int64"]
U = ["uint2", "uint4", "uint8", "uint16", "uint32", "uint64"]
F = ["float8_e4m3fn", "float8_e5m2", "float4_e2m1fn", "bfloat16", "float16", "float32", "float64"]
C = ["complex64", "complex128"]
ALL = [*B, *S, *U, *F, *C]
NUMBERS, INEXACT, BITS = [*S, *U, *F, *C], [*F, *C], [*B, *S, *U]
PARTS = {"complex64": "float32", "complex128": "float64"}
WHOLES = {v: k for k, v in PARTS.items()}

ACCEPTED = {
    "neg sign square": NUMBERS,
    "abs": [*S, *F, *C],
    "sqrt rsqrt exp exp2 expm1 log log1p logistic reciprocal": INEXACT,
    "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh": INEXACT,
    "cbrt erf erfc erf_inv lgamma digamma bessel_i0e bessel_i1e floor ceil round is_finite": F,
    "real imag": C,
    "conj": ["float32", "float64", *C],
    "bitwise_not": BITS,
    "population_count clz": [*S, *U],
    "add sub mul div": NUMBERS,
    "rem": [*S, *U, *F],
    "max min eq ne": ALL,
    "lt le gt ge": [*B, *S, *U, *F],
    "pow atan2": INEXACT,
    "nextafter igamma igammac igamma_grad_a random_gamma_grad polygamma zeta": F,
    "complex": ["float32", "float64"],
    "bitwise_and bitwise_or bitwise_xor": BITS,
    "shift_left shift_right_logical shift_right_arithmetic mulhi": [*S, *U],
    "clamp": ALL,
    "betainc": F,
}
OPERANDS = {"clamp": 3, "betainc": 3}
BINARY = set(
    "add sub mul div rem max min eq ne lt le gt ge pow atan2 nextafter igamma igammac "
    "igamma_grad_a random_gamma_grad polygamma zeta complex bitwise_and bitwise_or bitwise_xor "
    "shift_left shift_right_logical shift_right_arithmetic mulhi".split()
)
BOOLEAN = {"eq", "ne", "lt", "le", "gt", "ge", "is_finite"}
CASES = [(name, kinds) for names, kinds in ACCEPTED.items() for name in names.split()]


def typed(f: Callable, *avals: ShapedArray) -> ShapedArray:
    """The type of the result of ``f`` on operands of these types."""
    return stage(lambda *xs: [f(*xs)], avals)[0].out_avals[0]  # type: ignore[return-value]


def result(name: str, dtype: str) -> str:
    if name in BOOLEAN:
        return "bool"
    if name in ("abs", "real", "imag"):
        return PARTS.get(dtype, dtype)
    return WHOLES.get(dtype, dtype) if name in ("complex", "conj") else dtype


@pytest.mark.parametrize(("name", "accepted"), CASES, ids=[name for name, _ in CASES])
def test_operations_accept_and_make_the_element_types_of_the_table(
    name: str, accepted: list[str]
) -> None:
    n = OPERANDS.get(name, 2 if name in BINARY else 1)
    with enable_x64(True):
        for dtype in ALL:
            avals = [ShapedArray((3,), dtype)] * n
            if dtype in accepted:
                out = typed(getattr(lax, name), *avals)
                assert out is ShapedArray((3,), result(name, dtype))
            else:
                with pytest.raises(TypeError, match=f"{dtype}|negative power"):
                    typed(getattr(lax, name), *avals)


def test_results_are_weak_where_all_operands_are() -> None:
    weak, strong = ShapedArray((), "float32", True), ShapedArray((3,), "float32")
    assert typed(lax.add, weak, weak).weak_type
    assert typed(lax.add, weak, strong) is strong
    assert typed(lax.sin, weak).weak_type
    assert typed(lax.lt, weak, weak).weak_type
    assert not typed(lax.lt, weak, strong).weak_type
    assert typed(lax.is_finite, weak).weak_type
    assert not typed(lambda x: lax.convert_element_type(x, "float32"), weak).weak_type


def test_operands_are_equally_shaped_or_scalar() -> None:
    row, scalar = ShapedArray((3,), "float32"), ShapedArray((), "float32")
    assert typed(lax.add, row, scalar) is row
    assert typed(lax.add, scalar, row) is row
    assert typed(lax.select_n, ShapedArray((), "bool"), row, scalar) is row
    assert typed(lax.select_n, ShapedArray((3,), "bool"), scalar, scalar) is row
    assert typed(lax.clamp, scalar, row, scalar) is row


def test_axes_of_length_one_stretch() -> None:
    column, line = ShapedArray((4, 1), "float32"), ShapedArray((1, 3), "float32")
    assert typed(lax.add, column, line) is ShapedArray((4, 3), "float32")
    assert typed(lax.clamp, column, ShapedArray((4, 3), "float32"), line).shape == (4, 3)


def test_pow_takes_integers_of_any_type_as_exponents() -> None:
    x = ShapedArray((3,), "bfloat16")
    for dtype in ("int32", "uint8", "int8"):
        assert typed(lax.pow, x, ShapedArray((3,), dtype)) is x
    assert typed(lambda x: lax.pow(x, 2), x) is x
    assert typed(lambda y: lax.pow(2.0, y), ShapedArray((3,), "int32")).dtype == np.float32


def test_bits_of_other_widths_change_the_last_axis() -> None:
    def cast(dtype: str) -> Callable:
        return lambda x: lax.bitcast_convert_type(x, dtype)

    assert typed(cast("int8"), ShapedArray((3,), "float32")) is ShapedArray((3, 4), "int8")
    assert typed(cast("float32"), ShapedArray((3, 4), "int8")) is ShapedArray((3,), "float32")
    assert typed(cast("uint16"), ShapedArray((), "bfloat16")) is ShapedArray((), "uint16")
    assert typed(cast("int4"), ShapedArray((), "int8")) is ShapedArray((2,), "int4")


def test_products_may_be_of_a_wider_type() -> None:
    x = ShapedArray((3,), "bfloat16")
    assert typed(lambda x: lax.mul(x, x, out_dtype="float32"), x) is ShapedArray((3,), "float32")
