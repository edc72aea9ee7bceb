"""Element types of results: every pair of dtypes and Python scalars, with and without 64 bits."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail
import dovetail_numpy as dnp
from dovetail_core import enable_x64
from dovetail_jit import ShapeDtypeStruct, eval_shape, jit

CODES = "b u1 u2 u4 u8 i1 i2 i4 i8 bf f2 f4 f8 c8 c16".split()
NAMES = dict(zip(CODES, (
    "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 bfloat16 float16 float32 float64 "
    "complex64 complex128").split()))  # fmt: skip
NARROW = {"u8": "u4", "i8": "i4", "f8": "f4", "c16": "c8"}
# The dtype of x + y with 64-bit types, a star where it is weak: rows and columns are CODES, then
# Python's int, float and complex. Values of the peer library.
TABLE = """\
b u1 u2 u4 u8 i1 i2 i4 i8 bf f2 f4 f8 c8 c16 i8* f8* c16*
u1 u1 u2 u4 u8 i2 i2 i4 i8 bf f2 f4 f8 c8 c16 u1 f8* c16*
u2 u2 u2 u4 u8 i4 i4 i4 i8 bf f2 f4 f8 c8 c16 u2 f8* c16*
u4 u4 u4 u4 u8 i8 i8 i8 i8 bf f2 f4 f8 c8 c16 u4 f8* c16*
u8 u8 u8 u8 u8 f8* f8* f8* f8* bf f2 f4 f8 c8 c16 u8 f8* c16*
i1 i2 i4 i8 f8* i1 i2 i4 i8 bf f2 f4 f8 c8 c16 i1 f8* c16*
i2 i2 i4 i8 f8* i2 i2 i4 i8 bf f2 f4 f8 c8 c16 i2 f8* c16*
i4 i4 i4 i8 f8* i4 i4 i4 i8 bf f2 f4 f8 c8 c16 i4 f8* c16*
i8 i8 i8 i8 f8* i8 i8 i8 i8 bf f2 f4 f8 c8 c16 i8 f8* c16*
bf bf bf bf bf bf bf bf bf bf f4 f4 f8 c8 c16 bf bf c8
f2 f2 f2 f2 f2 f2 f2 f2 f2 f4 f2 f4 f8 c8 c16 f2 f2 c8
f4 f4 f4 f4 f4 f4 f4 f4 f4 f4 f4 f4 f8 c8 c16 f4 f4 c8
f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 c16 c16 f8 f8 c16
c8 c8 c8 c8 c8 c8 c8 c8 c8 c8 c8 c8 c16 c8 c16 c8 c8 c8
c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16
i8* u1 u2 u4 u8 i1 i2 i4 i8 bf f2 f4 f8 c8 c16 i8* f8* c16*
f8* f8* f8* f8* f8* f8* f8* f8* f8* bf f2 f4 f8 c8 c16 f8* f8* c16*
c16* c16* c16* c16* c16* c16* c16* c16* c16* c8 c8 c8 c16 c8 c16 c16* c16* c16*
""".split("\n")[:-1]


def _operands(codes):
    return [dnp.ones((), NAMES[c]) for c in codes] + [1, 1.0, 1j]


def _row(x, others):
    code = {v: k for k, v in NAMES.items()}
    sums = [dnp.add(x, y) for y in others]
    return [code[str(s.dtype)] + ("*" if s.weak_type else "") for s in sums]


@pytest.mark.parametrize("i", range(len(TABLE)))
def test_pairs_of_types_with_64_bits(i):
    with enable_x64(True):
        operands = _operands(CODES)
        assert _row(operands[i], operands) == TABLE[i].split()


def test_pairs_of_types_without_64_bits_are_those_narrowed():
    kept = [c for c in CODES if c not in NARROW]
    rows = [i for i, c in enumerate([*CODES, "", "", ""]) if c not in NARROW]
    operands = _operands(kept)
    for x, i in zip(operands, rows):
        wide = [TABLE[i].split()[j] for j in rows]
        assert _row(x, operands) == [NARROW.get(w.rstrip("*"), w.rstrip("*")) +
                                     ("*" if w.endswith("*") else "") for w in wide]  # fmt: skip


@pytest.mark.parametrize(("expression", "dtype"), [
    ("x32 * 2.5", "float32"), ("x32 * np.float64(2.5)", "float32"), ("i32 * 2.5", "float32"),
    ("i8 * 2", "int8"), ("bf * 2.5", "bfloat16"), ("i32 / i32", "float32"),
    ("bf / i32", "bfloat16"),
    ("i32 + True", "int32"), ("x32 + 1j", "complex64"), ("dnp.sin(i32)", "float32"),
    ("dnp.mean(i8)", "float32"), ("dnp.mean(bf)", "bfloat16"), ("dnp.sum(i8)", "int32"),
    ("dnp.sum(u8)", "uint32"), ("dnp.sum(i8, promote_integers=False)", "int8"),
    ("dnp.cumsum(i8)", "int8"), ("dnp.sum(dnp.asarray([True]))", "int32"),
    ("dnp.concatenate([x32, bf])", "float32"), ("dnp.where(True, i32, 2.5)", "float32"),
    ("dnp.asarray([1, 2.5])", "float32"), ("dnp.asarray([np.int8(1), 2])", "int8"),
    ("dnp.argmax(x32)", "int32"), ("dnp.full((2,), 1)", "int32"), ("dnp.arange(3.0)", "float32"),
    ("dnp.linalg.norm(i32)", "float32"), ("dnp.fft.fft(x32)", "complex64"),
])  # fmt: skip
def test_types_of_results(expression, dtype):
    ones = {n: dnp.ones(3, d) for n, d in (("x32", "float32"), ("i32", "int32"), ("i8", "int8"),
                                           ("u8", "uint8"), ("bf", "bfloat16"))}  # fmt: skip
    assert eval(expression, {"dnp": dnp, "np": np, **ones}).dtype == dtype


def test_a_plan_made_with_64_bits_off_serves_with_64_bits_on():
    x = dnp.ones(3, "float32")
    assert (x * 2.5).dtype == np.float32
    with enable_x64(True):
        assert (x * 2.5).dtype == np.float32
        assert dnp.sin(2.5).dtype == np.float64
    assert dnp.sin(2.5).dtype == np.float32


def test_integers_that_do_not_fit_are_refused():
    with pytest.raises(OverflowError, match=r"1099511627776 does not fit into int32.*enable_x64"):
        dnp.arange(3) + 2**40
    with pytest.raises(OverflowError, match="300"):
        dnp.uint8(300)


def test_questions_about_types():
    assert dnp.issubdtype(dnp.bfloat16, dnp.floating)
    assert dnp.isdtype(np.dtype("int8"), ("bool", "integral"))
    assert not dnp.isdtype("float32", "complex floating")
    assert dnp.result_type(dnp.ones(1, "int8"), 2.5) == np.float32
    assert dnp.promote_types("int32", "float16") == np.float16
    assert dnp.can_cast("int8", dnp.int16)
    assert dnp.finfo(dnp.bfloat16).bits == 16
    assert dnp.iinfo("int4").max == 7
    with pytest.raises(ValueError, match="'foo' is none of the kinds"):
        dnp.isdtype("int8", "foo")


def test_scalar_types_are_dtypes_and_make_arrays():
    assert dnp.float32(3).dtype == np.float32
    assert dnp.float32 == np.float32
    assert hash(dnp.float32) == hash(np.float32)
    assert np.zeros(1, dnp.int8).dtype == np.int8
    assert isinstance(np.float32(1), dnp.float32)
    assert dnp.bfloat16([1, 2]).shape == (2,)
    assert "float32" in repr(dnp.float32)


def test_weakly_typed_values_stay_so_beside_numpy_integers_in_programs():
    for x in (np.arange(2), np.int8(3)):
        result = eval_shape(lambda a, x=x: (a + x, dnp.maximum(x, a)), dnp.asarray(1.0))
        assert [v.weak_type for v in result] == [True, True]
        assert [v.dtype for v in result] == [np.float32] * 2
    np.testing.assert_array_equal(jit(lambda a: a + np.arange(2))(1.5), [1.5, 2.5])
    strong = eval_shape(lambda a: a + np.ones(2, np.float32), dnp.asarray(1.0))
    assert not strong.weak_type


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "complex64"])
def test_python_numbers_beside_weakly_typed_values_of_any_width(dtype: str, wide: bool):
    def f(a):
        return a * 3, dnp.where(a == 0, a, 0), dnp.ones_like(a)

    with enable_x64(wide):
        result = eval_shape(f, ShapeDtypeStruct((2,), dtype, weak_type=True))
        assert {(str(v.dtype), v.weak_type) for v in result} == {(dtype, True)}


def test_plans_made_where_types_may_meet_do_not_serve_where_they_may_not():
    x, y = dnp.ones((3, 3), "float32"), dnp.ones((3, 3), "bfloat16")
    products = [
        dnp.matmul, dnp.dot, dnp.inner, dnp.outer, dnp.vdot, dnp.tensordot, dnp.kron, dnp.cross,
        dnp.vecdot, lambda x, y: x @ y, lambda x, y: dnp.matvec(x, y[0]),
        lambda x, y: dnp.einsum("ij,jk", x, y), dnp.add, dnp.maximum, dnp.hypot, dnp.floor_divide,
        lambda x, y: dnp.where(x > 0, x, y), lambda x, y: dnp.concatenate([x, y]),
        lambda x, y: dnp.clip(x, y, y), lambda x, y: dnp.select([x > 0], [x], y),
    ]  # fmt: skip
    for f in products:
        want = np.asarray(f(x, y))
        for _ in range(2):
            with (
                dovetail.numpy_dtype_promotion("strict"),
                pytest.raises(ValueError, match="promotion"),
            ):
                f(x, y)
            np.testing.assert_array_equal(np.asarray(f(x, y)), want)
