"""Compiled values against NumPy and SciPy: all samples, also in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_backends import reference_rules
from dovetail_core import enable_x64, typeof
from dovetail_lax.samples.kinds import numbers
from dovetail_testing import Sample, assert_close

from .conftest import in_double, some

# Finite differences are the reference of these.
LOOSE = {"igamma_grad_a": 1e5, "random_gamma_grad": 1e5}
# Differences of shares of 1.
SCALES = {"random_gamma_grad": 1.0}


def agree(sample: Sample) -> None:
    """Compiled results have the types of the type rule and the reference's values."""
    primitive = sample.primitive
    args = [np.asarray(x, typeof(x).dtype) for x in sample.args]  # type: ignore[attr-defined]
    expected = reference_rules[primitive](*args, **sample.params)
    wanted = list(expected) if primitive.multiple_results else [expected]
    types: Any = primitive.infer(sample.avals, dict(sample.params)).avals
    for got, want, aval in zip(sample.flat(), wanted, types, strict=True):
        assert (np.asarray(got).dtype, np.shape(got)) == (aval.dtype, aval.shape)
        factor, scale = LOOSE.get(primitive.name, 64.0), SCALES.get(primitive.name, sample.scale)
        assert_close(got, want, str(sample), factor=factor, scale=scale)


def test_samples(primitive_samples: list[Sample]) -> None:
    for sample in some(primitive_samples):
        agree(sample)


def test_samples_in_double_precision(primitive_samples: list[Sample]) -> None:
    with enable_x64(True):
        for sample in in_double(some(primitive_samples)):
            agree(sample)


test_samples_in_double_precision.without = {"rng_bit_generator"}  # type: ignore[attr-defined]


@pytest.mark.parametrize("dtype", ["float8_e5m2", "float8_e4m3fn"])
def test_functions_of_8_bit_floats(dtype: str) -> None:
    from dovetail_lax import add_p, erf_p, erfc_p, exp_p, lgamma_p, mul_p, sin_p, tanh_p

    x = numbers("8 bits", (0.5, 2.0), (6,), dtype)
    for p in (sin_p, exp_p, tanh_p, erf_p, erfc_p, lgamma_p):
        agree(Sample(p, (x,)))
    for p in (add_p, mul_p):
        agree(Sample(p, (x, x[::-1].copy())))


def test_zeros_keep_their_signs() -> None:
    zeros = np.array([0.0, -0.0], np.float32)
    for f in (lax.sin, lax.sign, lax.floor, lax.round, lax.sqrt, lax.asinh, lax.neg, lax.abs):
        expected = reference_rules[getattr(lax, f"{f.__name__}_p")](
            zeros, **({"rounding_method": 0} if f is lax.round else {})
        )
        assert np.signbit(np.asarray(f(zeros))).tolist() == np.signbit(expected).tolist(), f


def test_integer_arithmetic_wraps_and_division_truncates() -> None:
    low = np.int32(-(2**31))
    assert int(lax.neg(low)) == low
    assert int(lax.div(low, np.int32(-1))) == low
    assert int(lax.div(np.int32(7), np.int32(0))) == -1
    assert int(lax.rem(np.int32(7), np.int32(0))) == 7
    assert [int(lax.div(np.int32(x), np.int32(2))) for x in (-7, 7)] == [-3, 3]
    assert [int(lax.rem(np.int32(x), np.int32(2))) for x in (-7, 7)] == [-1, 1]
    assert int(lax.add(np.uint8(250), 10)) == 4
    assert int(lax.mulhi(np.uint8(250), np.uint8(250))) == 250 * 250 >> 8


def test_conversions_truncate_saturate_and_wrap() -> None:
    x = np.array([2.9, -2.9, 1e10, -1e10, np.nan, np.inf], np.float32)
    top, bottom = 2**31 - 1, -(2**31)
    wanted = [2, -2, top, bottom, 0, top]
    assert np.asarray(lax.convert_element_type(x, int)).tolist() == wanted
    assert int(lax.convert_element_type(np.int32(300), "uint8")) == 44
    assert np.asarray(lax.convert_element_type(x, bool)).all()
    z = np.array([1 + 2j, 3j], np.complex64)
    with pytest.warns(np.exceptions.ComplexWarning, match="discards the imaginary parts"):
        assert np.asarray(lax.convert_element_type(z, "float32")).tolist() == [1, 0]
    assert np.asarray(lax.convert_element_type(z, bool)).tolist() == [True, True]


def test_selection_clamps_indices() -> None:
    which = np.array([-5, 0, 1, 2, 9], np.int32)
    cases = [np.float32(v) for v in (10, 20, 30)]
    assert np.asarray(lax.select_n(which, *cases)).tolist() == [10, 10, 20, 30, 30]
    assert np.asarray(lax.select(np.array([True, False]), 1.0, 2.0)).tolist() == [1, 2]


def test_creation() -> None:
    assert np.asarray(lax.iota(int, 4)).tolist() == [0, 1, 2, 3]
    assert np.asarray(lax.broadcasted_iota("int8", (2, 3), 1)).tolist() == [[0, 1, 2]] * 2
    assert np.asarray(lax.full((2, 2), 2.5, int)).tolist() == [[2, 2]] * 2
    like = lax.full_like(np.ones((2, 3), np.float16), 2)
    assert (like.shape, like.dtype) == ((2, 3), np.float16)
    assert lax.full_like(1.0, 2).weak_type
    assert lax.empty(3, "int8").shape == (3,)
    assert np.asarray(lax.full((2,), float("inf"), "int32")).tolist() == [2**31 - 1] * 2


def test_accuracy_is_part_of_the_operation() -> None:
    x = numbers("accuracy", (0.5, 2.0), (8,))
    for accuracy in (lax.Tolerance(rtol=1e-5, ulps=2), lax.AccuracyMode.HIGHEST):
        for f in (lax.sin, lax.exp, lax.exp2, lax.tanh, lax.rsqrt, lax.cbrt):
            got = np.asarray(f(x, accuracy=accuracy))
            np.testing.assert_allclose(got, np.asarray(f(x)), rtol=1e-5)


def test_limits_of_the_incomplete_functions() -> None:
    inf, nan = np.float32(np.inf), np.float32(np.nan)
    a = np.float32(2.0)

    def values(f: Any, *points: tuple[Any, ...]) -> list[float]:
        return [float(f(*map(np.float32, p))) for p in points]

    assert values(lax.igamma, (a, 0), (a, inf), (inf, a)) == [0, 1, 0]
    assert values(lax.igammac, (a, 0), (a, inf), (inf, a)) == [1, 0, 1]
    special = pytest.importorskip("scipy.special")
    edges = [(0, a), (0, inf), (0, 0), (-1, a), (a, -1), (0, -1)]
    for p in edges:  # by definition, as SciPy has them: all mass is at 0 where a = 0
        np.testing.assert_equal(values(lax.igamma, p), [special.gammainc(*p)])
        np.testing.assert_equal(values(lax.igammac, p), [special.gammaincc(*p)])
    assert np.isnan(values(lax.igamma, (a, -1), (-1, a), (a, nan), (nan, a))).all()
    assert values(lax.betainc, (a, a, 0), (a, a, 1), (a, a, 0.5)) == [0, 1, pytest.approx(0.5)]
    assert np.isnan(values(lax.betainc, (a, a, -0.1), (a, a, 1.1), (-1, a, 0.5), (a, a, nan))).all()


def test_tails_far_from_the_middle_keep_relative_precision() -> None:
    from scipy import special

    a, x = (np.array(v, np.float32) for v in ([3, 3, 50, 0.5], [30, 1e-3, 20, 40]))
    np.testing.assert_allclose(lax.igamma(a, x), special.gammainc(a, x), rtol=2e-5)
    np.testing.assert_allclose(lax.igammac(a, x), special.gammaincc(a, x), rtol=2e-5)


def test_states_of_generators_advance() -> None:
    key = np.array([1, 2, 3, 4], np.uint32)
    state, bits = lax.rng_bit_generator(key, (6,))
    again, more = lax.rng_bit_generator(state, (6,))
    assert np.asarray(lax.rng_bit_generator(key, (6,))[1]).tolist() == np.asarray(bits).tolist()
    assert np.asarray(more).tolist() != np.asarray(bits).tolist()
    assert np.asarray(again).tolist() != np.asarray(state).tolist()
    with enable_x64(True):
        wide = lax.rng_bit_generator(key.view(np.uint64), (6,), "uint32")[1]
    assert np.asarray(wide).tolist() == np.asarray(bits).tolist()


def test_uniform_numbers_lie_between_their_bounds() -> None:
    x = np.asarray(lax.rng_uniform(2.0, np.float32(3.0), (100,)))
    assert ((x >= 2) & (x < 3)).all() and np.unique(x).size > 50


def test_booleans_are_clamped() -> None:
    x = np.array([True, False])
    for low, high in ((False, True), (True, True), (False, False)):
        result = lax.clamp(np.bool_(low), x, np.bool_(high))
        np.testing.assert_array_equal(result, np.clip(x, low, high))
