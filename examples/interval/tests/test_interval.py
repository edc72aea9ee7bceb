"""The public function: pytrees, known arguments, types, what NaN and infinities mean, errors."""

from __future__ import annotations

import numpy as np
import pytest
from acme_interval import interval

from dovetail import lax, numpy as dnp

f32 = np.float32


def test_bounds_of_a_function():
    lo, hi = interval(lambda x: 3.0 * x - 1.0)(f32(1), f32(2))
    assert (float(lo), float(hi)) == (2, 5)


def test_pytrees_in_and_out():
    def f(p):
        return {"sum": p["a"] + p["b"][0], "pair": (-p["a"], p["b"][1])}

    lo = {"a": f32(1), "b": [f32(10), np.array([0, 0], f32)]}
    hi = {"a": f32(2), "b": [f32(20), np.array([1, 2], f32)]}
    low, high = interval(f)(lo, hi)
    assert set(low) == {"sum", "pair"} and isinstance(high["pair"], tuple)
    assert (float(low["sum"]), float(high["sum"])) == (11, 22)
    assert (float(low["pair"][0]), float(high["pair"][0])) == (-2, -1)
    np.testing.assert_array_equal(high["pair"][1], [1, 2])


def test_further_arguments_are_known():
    lo, hi = interval(lambda x, w, *, shift: dnp.dot(x, w) + shift)(
        np.zeros(2, f32), np.ones(2, f32), np.array([2, -3], f32), shift=f32(1)
    )
    assert (float(lo), float(hi)) == (-2, 3)


def test_what_does_not_depend_on_the_input_is_known():
    lo, hi = interval(lambda x: (f32(2) * 3, x, None))(f32(0), f32(1))
    assert lo[0] is hi[0] and float(lo[0]) == 6
    assert lo[2] is None and hi[2] is None


def test_one_object_for_both_bounds_is_a_known_input():
    x = np.array([1, 2, 3], f32)
    lo, hi = interval(lambda p: p["x"][p["i"]] * p["y"])(
        {"x": x, "i": (i := np.int32(1)), "y": f32(-1)}, {"x": x, "i": i, "y": f32(1)}
    )
    assert (float(lo), float(hi)) == (-2, 2)


def test_a_function_without_results():
    assert interval(lambda x: {})(f32(0), f32(1)) == ({}, {})


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "int32", "int8"])
def test_types_are_those_of_the_function(dtype):
    lo, hi = (lax.full((3,), v, dtype) for v in (1, 2))
    for f in (lambda x: x * x - 2, lambda x: lax.max(x, -x), dnp.sum, lambda x: x > 1):
        low, high = interval(f)(lo, hi)
        want = f(lo)
        assert low.dtype == high.dtype == want.dtype
        assert low.shape == high.shape == want.shape
        assert low.weak_type == high.weak_type == want.weak_type


def test_python_numbers_are_weakly_typed():
    lo, hi = interval(lambda x: abs(x) ** 2 / 2 + dnp.sin(x))(-1.0, 2.0)
    assert lo.weak_type and hi.weak_type
    strong, _ = interval(lambda x: x)(0.0, f32(1))
    assert not strong.weak_type


def test_nan_says_that_nothing_is_known():
    lo, hi = interval(dnp.log)(f32(-1), f32(np.e))
    assert np.isnan(lo) and float(hi) == pytest.approx(1)
    # So a comparison with it is not known, and a choice by it may go both ways.
    lo, hi = interval(lambda x: dnp.log(x) < 2)(f32(-1), f32(1))
    assert (bool(lo), bool(hi)) == (False, True)
    lo, hi = interval(lambda x: dnp.where(dnp.log(x) < 2, 1.0, 5.0))(f32(-1), f32(1))
    assert (float(lo), float(hi)) == (1, 5)
    # Integers and booleans have no NaN: they may be any.
    lo, hi = interval(lambda x: dnp.log(x).astype("int8"))(f32(-1), f32(1))
    assert (int(lo), int(hi)) == (-128, 127)
    lo, hi = interval(lambda x: dnp.log(x).astype(bool))(f32(-1), f32(-0.5))
    assert (bool(lo), bool(hi)) == (False, True)


def test_infinities_are_numbers():
    lo, hi = interval(lambda x: dnp.exp(-x))(f32(0), f32(np.inf))
    assert (float(lo), float(hi)) == (0, 1)
    lo, hi = interval(lambda x: 1 / x)(f32(-1), f32(2))
    assert (float(lo), float(hi)) == (-np.inf, np.inf)
    lo, hi = interval(dnp.arctan)(f32(-np.inf), f32(np.inf))
    assert (float(lo), float(hi)) == (f32(-np.pi / 2), f32(np.pi / 2))
    lo, hi = interval(lambda x: x - x)(f32(np.inf), f32(np.inf))  # inf - inf
    assert np.isnan(lo) and np.isnan(hi)


def test_empty_arrays():
    lo, hi = interval(lambda x: (x * 2, dnp.sum(x)))(np.zeros((0, 3), f32), np.ones((0, 3), f32))
    assert lo[0].shape == hi[0].shape == (0, 3) and float(lo[1]) == float(hi[1]) == 0


def test_an_error_for_different_structures():
    with pytest.raises(TypeError, match=r"lo and hi must have one structure: .*'b'"):
        interval(lambda p: p)({"a": 1.0}, {"a": 1.0, "b": 2.0})


def test_an_error_for_different_types():
    message = r"lo\['a'\]\[1\] has type f32\[2\] and hi\['a'\]\[1\] f32\[3\]; convert or reshape"
    with pytest.raises(TypeError, match=message):
        interval(lambda p: p)({"a": [1.0, np.zeros(2, f32)]}, {"a": [1.0, np.zeros(3, f32)]})
    with pytest.raises(TypeError, match=r"lo has type f32\[\]~ and hi i32\[\]~"):
        interval(lambda x: x)(0.0, 1)


def test_an_error_for_complex_numbers():
    message = r"interval: a value of type c64\[\] has no bounds, .* no order. Take bounds of its"
    with pytest.raises(TypeError, match=message):
        interval(lambda x: x)(np.complex64(0), np.complex64(1j))
    with pytest.raises(TypeError, match=message):
        interval(lambda x: x.astype("complex64"))(f32(0), f32(1))


def test_an_error_for_what_is_not_an_array():
    with pytest.raises(TypeError, match="of type str is not a valid array value"):
        interval(lambda x: x)("a", "b")


def test_an_error_for_a_condition_that_is_not_known():
    from dovetail.errors import TracerBoolConversionError

    with pytest.raises(
        TracerBoolConversionError, match=r"bool\[\] that is being traced by interval"
    ):
        interval(lambda x: x if x > 0 else -x)(f32(-1), f32(1))


def test_an_error_for_a_value_that_left():
    from dovetail.errors import UnexpectedTracerError

    kept = []
    interval(lambda x: kept.append(x) or x)(f32(0), f32(1))
    with pytest.raises(UnexpectedTracerError, match="left interval, which is over"):
        dnp.sin(kept[0])
