"""Corners of functions: scalars, signs, derivatives at zero, odd arguments, error classes."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import dovetail_numpy as dnp
from dovetail_ad import grad, jvp
from dovetail_batching import vmap
from dovetail_core import ConcretizationTypeError, enable_x64
from dovetail_jit import jit, make_jaxpr

CASES = """
xp.trim_zeros(np.array([[0, 0, 0], [0, 1, 0]]))
xp.trim_zeros(np.array([[0, 2, 0], [0, 1, 0]]), "f")
xp.trim_zeros(np.array([[0, 2, 0], [0, 0, 0]]), axis=0)
xp.trim_zeros(np.zeros((2, 2), np.float32))
xp.cumsum(f0, 0)
xp.cumprod(f0)
xp.insert(f1, np.array([True, False, True, False, False, True]), 9)
xp.insert(f1, [], 9)
xp.take(f1, np.array([0, 0]))
xp.pad(i2, xp.asarray([1, 2]))
xp.pad(f2, np.array([[1, 2], [0, 1]]), "edge")
f2.var()
f2.view()
f0.byteswap()
i2.byteswap()
xp.floor_divide(f1, -np.float32(np.inf))
xp.floor_divide(f1, np.float32(np.inf))
xp.polyval(xp.asarray([[1, 2], [3, 4]]), 2)
xp.poly(np.array([2.0, 1.0]))
xp.poly(xp.asarray([]))
xp.unwrap(xp.asarray([0, 4, 8, 12]), period=6)
xp.unwrap(xp.asarray([0, 4, 8, 1, -9]), period=7)
xp.unwrap(xp.asarray([0, 4, 8, 1, -9]))
xp.unwrap(f2 * 3, discont=4.0, axis=0)
xp.shape(np.array([[1, 2]]))
xp.ndim(np.array([1, 2]))
xp.size(np.array([[1, 2], [3, 4]]))
xp.bincount(b1.astype("int8"))
"""
ERRORS = (TypeError, ValueError)


@pytest.mark.parametrize("case", CASES.strip().splitlines())
def test_same_as_numpy(case, same_as_numpy):
    same_as_numpy(case)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_spacing_has_the_sign_of_the_element_and_reaches_the_least_numbers(dtype):
    info = np.finfo(dtype)
    tiny, least = info.tiny, info.smallest_subnormal
    x = np.array(
        [0, 1, 1.5, 3.7, info.max, tiny, tiny * 8, least, 2 * least, np.inf, np.nan], dtype
    )
    x = np.concatenate([x, -x[1:]])
    with np.errstate(all="ignore"):
        wanted = np.spacing(x)
    np.testing.assert_array_equal(np.asarray(dnp.spacing(dnp.asarray(x))), wanted)


def test_logarithms_of_infinite_and_zero_complex_numbers():
    x = np.array([0, np.inf + 0j, complex(np.inf, 2), complex(-np.inf, 1), 3 - 4j], np.complex64)
    with np.errstate(all="ignore"):
        for name in ("log2", "log10"):
            np.testing.assert_allclose(
                np.asarray(getattr(dnp, name)(dnp.asarray(x))), getattr(np, name)(x), rtol=1e-6
            )


def test_bessel_function_is_even_so_that_its_derivative_at_zero_is_zero():
    # i0'(x) = x/2 + x**3/16 + x**5/384 + ...
    x = np.array([0.0, -0.5, 0.5], np.float32)
    wanted = x / 2 + x**3 / 16 + x**5 / 384
    np.testing.assert_allclose(np.asarray(vmap(grad(dnp.i0))(dnp.asarray(x))), wanted, rtol=1e-5)


def test_mantissas_have_the_slope_of_their_power_of_two():
    x = dnp.array([0.3, -5.0, 8.0, 0.0])
    (mantissa, exponent), (slope, _) = jvp(dnp.frexp, (x,), (dnp.ones(4),))
    np.testing.assert_array_equal(np.asarray(mantissa), np.frexp(np.asarray(x))[0])
    np.testing.assert_allclose(np.asarray(slope)[:3], 2.0 ** -np.asarray(exponent)[:3])


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64"])
def test_mantissas_of_subnormal_numbers(dtype):
    with enable_x64(dtype == "float64"):
        info = ml_dtypes.finfo(dtype)
        least = float(info.smallest_subnormal)
        digits = np.array([1, -1, 3, 2**info.nmant - 1, 2**info.nmant, 0.0, -0.0, np.inf, np.nan])
        with np.errstate(invalid="ignore"):
            exact = digits * least  # in double precision, or without rounding in any
        x = exact.astype(info.dtype)
        mantissa, exponent = np.frexp(exact)
        for f in (dnp.frexp, jit(dnp.frexp)):
            result, power = (np.asarray(v) for v in f(x))
            np.testing.assert_array_equal(result.astype(np.float64), mantissa)
            np.testing.assert_array_equal(np.signbit(result)[:7], np.signbit(mantissa)[:7])
            np.testing.assert_array_equal(power, np.where(np.isfinite(exact), exponent, 0))


@pytest.mark.parametrize("method", ["var", "std", "mean", "sum", "real", "T", "size"])
def test_traced_arrays_have_all_methods_of_arrays(method, arrays):
    def f(x):
        result = getattr(x, method)
        return result() if callable(result) else result

    np.testing.assert_allclose(np.asarray(jit(f)(arrays["f2"])), np.asarray(f(arrays["f2"])), 1e-6)


def test_traced_arrays_move_to_devices_and_refuse_to_be_bytes(arrays):
    x = arrays["f2"]
    np.testing.assert_array_equal(jit(lambda v: v.to_device(x.device))(x), x)
    for method in ("tobytes", "tolist"):
        with pytest.raises(ConcretizationTypeError):
            jit(lambda v, method=method: getattr(v, method)())(x)


def test_a_fill_value_has_an_effect_only_with_its_mode(arrays):
    x = arrays["f1"]
    positions = dnp.array([0, 9])
    assert float(x.at[positions].get(fill_value=-7.0)[1]) == float(x[-1])
    assert float(x.at[positions].get(mode="fill", fill_value=-7.0)[1]) == -7.0


def test_lists_are_values_of_updates(arrays):
    wanted = np.asarray(arrays["f1"]).copy()
    wanted[1:3] = [5, 6]
    np.testing.assert_array_equal(np.asarray(arrays["f1"].at[1:3].set([5.0, 6.0])), wanted)


def test_results_that_are_not_weakly_typed():
    assert not dnp.array([dnp.asarray(2), 3]).weak_type
    assert not dnp.linspace(0, 1, 3, retstep=True)[1].weak_type
    assert not dnp.log2(2.5).weak_type
    assert not dnp.log10(2.5).weak_type
    assert not dnp.diagflat(2.0).weak_type
    assert not dnp.choose(dnp.array([0, 1]), [1, 2], mode="clip").weak_type
    assert not dnp.piecewise(dnp.arange(3.0), [dnp.arange(3) > 0], [1.0, 2.0]).weak_type
    assert not dnp.piecewise(2.0, [True], [1.0, 2.0]).weak_type


def test_choose_asks_traced_indices_for_their_bounds():
    f = jit(lambda i: dnp.choose(i, [i, -i]))
    with pytest.raises(ConcretizationTypeError, match=r"of type i32\[2\], traced. Give mode="):
        f(np.arange(2, dtype=np.int32))


def test_one_zero_is_a_polynomial():
    assert dnp.poly(2.0).tolist() == [1, -2]


def test_the_greater_one_of_equal_numbers_and_of_partly_undefined_ones():
    # The second where neither is greater; complex numbers are compared part by part.
    assert np.signbit(np.asarray(dnp.fmax(0.0, -0.0)))
    assert grad(dnp.fmax, (0, 1))(1.0, 1.0) == (0, 1)
    x, y = np.array([np.nan, 3, 1], np.float32), np.array([2, np.nan, 5], np.float32)
    for name in ("fmax", "fmin"):
        wanted = getattr(np, name)(x, y)
        np.testing.assert_array_equal(np.asarray(getattr(dnp, name)(x, y)), wanted)


@pytest.mark.parametrize("name", ["logaddexp", "logaddexp2"])
def test_sums_of_exponentials_have_smooth_derivatives_also_at_equal_operands(name):
    f = getattr(dnp, name)
    both = grad(f, (0, 1))
    np.testing.assert_allclose(both(0.0, 0.0), (0.5, 0.5), rtol=1e-6)
    base = 2.0 if name == "logaddexp2" else np.e
    for x, y in ((1.0, 3.0), (3.0, 1.0), (-2.0, -2.0)):
        share = base**x / (base**x + base**y)
        np.testing.assert_allclose(both(x, y), (share, 1 - share), rtol=1e-5)
    np.testing.assert_allclose(grad(grad(f))(0.0, 0.0), np.log(base) / 4, rtol=1e-5)
    assert float(f(np.inf, np.inf)) == np.inf
    assert float(f(-np.inf, -np.inf)) == -np.inf
    assert np.isnan(float(f(np.nan, 1.0)))


def test_quotients_rounded_down_do_not_change_with_their_operands():
    assert grad(dnp.floor_divide, (0, 1))(7.5, 2.0) == (0, 0)
    assert grad(dnp.floor_divide, (0, 1))(7.5, 0.0) == (0, 0)


def test_exponents_beyond_all_results():
    x = np.array([0, 1, -1, 1e-40, 3e38], np.float32)
    for n in (2**30, -(2**30), 300, -300):
        with np.errstate(all="ignore"):
            wanted = np.ldexp(x, n)
        np.testing.assert_array_equal(
            np.asarray(dnp.ldexp(x, n))[[0, 1, 2, 4]], wanted[[0, 1, 2, 4]]
        )
    assert float(dnp.ldexp(1.0, dnp.array(2**32 - 1, "uint32"))) == np.inf


def test_functions_along_axes_may_return_several_arrays(arrays):
    x = arrays["f2"]
    low, high = dnp.apply_along_axis(lambda v: (v.min(), v[::-1]), 1, x)
    np.testing.assert_array_equal(np.asarray(low), np.asarray(x).min(1))
    np.testing.assert_array_equal(np.asarray(high), np.asarray(x)[:, ::-1])


def test_the_least_integer_is_an_array():
    assert int(dnp.array(-(2**31))) == -(2**31)
    with pytest.raises(OverflowError, match="2147483648"):
        dnp.array(2**31)


def test_sets_of_a_given_size_are_filled_up_with_their_least_element():
    a, b = dnp.array([5, 2, 7]), dnp.array([2, 9])
    assert dnp.setxor1d(a, b, size=5).tolist() == [5, 7, 9, 5, 5]
    assert dnp.intersect1d(a, b, size=3).tolist() == [2, 2, 2]
    assert dnp.setdiff1d(a, b, size=4).tolist() == [5, 7, 0, 0]
    assert dnp.setxor1d(a, a, size=2).tolist() == [0, 0]
    assert dnp.setxor1d(a, b, size=4, fill_value=-1).tolist() == [5, 7, 9, -1]


def test_keywords_of_functions_that_take_them():
    assert float(dnp.fmax(x1=1.0, x2=2.0)) == 2
    assert float(dnp.fmin(x1=1.0, x2=2.0)) == 1
    assert float(dnp.trunc(x=2.5)) == 2
    assert float(dnp.i0(x=0.0)) == pytest.approx(1)


def test_vectorized_results_have_the_sizes_of_their_core_dimensions():
    f = dnp.vectorize(lambda x: x[:2], signature="(n)->(n)")
    with pytest.raises(ValueError, match=r"'n' has size 2 in a result of shape \(2,\), but 4 is"):
        f(dnp.ones((3, 4)))
    g = dnp.vectorize(lambda x: (x[:2], x[1:]), signature="(n)->(k),(k)")
    with pytest.raises(ValueError, match="'k' has size 3"):
        g(dnp.ones((3, 4)))


@pytest.mark.parametrize(("call", "errors", "text"), [
    (lambda x: dnp.where(x > 0, x, dnp.ones(4)), ERRORS, "where got shapes that cannot be"),
    (lambda x: dnp.signbit(x * 1j), ERRORS, "signbit does not accept dtype complex64"),
    (lambda x: dnp.round(x > 0), ERRORS, "round does not accept dtype bool"),
    (lambda x: dnp.where(x > 0, 1), ERRORS, "takes either one argument or three"),
    (lambda x: dnp.take(x, 1.0), ERRORS, "take: indices must be of an integer type"),
    (lambda x: dnp.sum(x, axis=3), (ValueError, IndexError), "sum: axis 3 is out of bounds"),
    (lambda x: x["0" == 0, 1.5], (TypeError, IndexError), "an index must be of integers"),
    (lambda x: x[range(2)], (TypeError, IndexError), "only integers, slices"),
    (lambda x: x[dnp.zeros((2,), int), dnp.zeros((3,), int)], (IndexError, ValueError),
     "do not broadcast together"),
    (lambda x: jit(lambda v, i: v[i:])(x, 1), (TypeError, IndexError), "a slice bound of type"),
    (lambda x: x @ 2, (ValueError,), "matmul needs operands of at least one dimension"),
    (lambda x: 2 @ x, (ValueError,), "matmul needs operands of at least one dimension"),
    (lambda x: dnp.arange(None), ERRORS, r"bounds must be real numbers, got \(None, None, None\)"),
    (lambda x: dnp.arange(1j), ERRORS, "bounds must be real numbers"),
    (lambda x: dnp.zeros(-1), ERRORS, r"dimensions of a shape cannot be negative, got \(-1,\)"),
    (lambda x: dnp.isin(x, 1, method="foo"), (ValueError,), "method must be 'auto'.*got 'foo'"),
    (lambda x: jit(dnp.arange)(3), (ConcretizationTypeError,), "start is a traced value"),
    (lambda x: x @ x, ERRORS, r"matmul got operands of shapes \(2, 3\) and \(2, 3\)"),
    (lambda x: dnp.put(x, 0, 1, "raise", inplace=False), (NotImplementedError,), "got 'raise'"),
    (lambda x: dnp.put_along_axis(x, dnp.array([0]), 1, 1, inplace=False), (ValueError,),
     r"indices of shape \(1,\) must have as many dimensions"),
])  # fmt: skip
def test_errors(call, errors, text, arrays):
    for error in errors:
        with pytest.raises(error, match=text):
            call(arrays["f2"])


@pytest.mark.parametrize("decimals", [400, 38, 37, 10, -10, -37, -38, -400])
def test_rounding_to_places_that_numbers_do_not_have(decimals: int) -> None:
    x = np.array([1.5, -2e37, np.inf, -np.inf, np.nan, 0.0], np.float32)
    wanted = x if decimals > 0 else np.where(np.isfinite(x), np.float32(0), x)
    if decimals == -10:
        wanted[1] = x[1]
    if decimals == -37:
        wanted[1] = x[1]
    np.testing.assert_allclose(dnp.round(x, decimals), wanted, rtol=1e-6)
    n = np.array([150, -(2**31), 7], np.int32)
    np.testing.assert_array_equal(dnp.round(n, decimals), n if decimals > 0 else 0 * n)


def test_ranks_for_several_tolerances_of_one_matrix() -> None:
    m, tol = np.diag([3.0, 2.0, 1.0]).astype(np.float32), np.array([0.5, 1.5, 2.5, 4], np.float32)
    np.testing.assert_array_equal(dnp.linalg.matrix_rank(m, tol=tol), [3, 2, 1, 0])


def test_a_number_has_no_roots() -> None:
    assert dnp.roots(np.float32(2)).shape == (0,)


def test_integers_beyond_64_bits_are_real() -> None:
    assert dnp.isrealobj(10**30) and not dnp.iscomplexobj(-(10**30))


@pytest.mark.parametrize(
    "name, values", [("shape", ((), (2,))), ("ndim", (0, 1)), ("size", (1, 2))]
)
def test_what_is_no_array_has_a_shape_for_now(name, values):
    for x, value in zip((None, [1, 2]), values):
        text = rf"{name} of a value of type {type(x).__name__} at .*test_corners.py:\d+ .*will fail"
        with pytest.warns(DeprecationWarning, match=text):
            assert getattr(dnp, name)(x) == value


def test_cov_takes_a_number_of_degrees():
    with pytest.raises(TypeError, match=r"cov requires an array or a scalar at position 4, got di"):
        dnp.cov(dnp.ones((2, 3)), aweights=dnp.ones(3), ddof={1: 2})  # type: ignore[arg-type]


def test_small_dtypes_whose_character_is_that_of_long_double():
    x = np.ones(2, ml_dtypes.float8_e4m3fnuz)
    assert dnp.float8_e4m3fnuz(1) == 1 and dnp.asarray(x).dtype == x.dtype
    assert (
        dnp.zeros(2).astype(x.dtype).dtype == make_jaxpr(lambda: dnp.add(x, x))().out_avals[0].dtype
    )
    with pytest.raises(TypeError, match="only numbers and booleans"):
        dnp.zeros(2, np.longdouble)


@pytest.mark.parametrize("f", [lambda x: x**2, lambda x: x**-1, dnp.reciprocal])
def test_whole_powers_are_one_operation(f):
    (eqn,) = make_jaxpr(f)(dnp.ones(3)).eqns
    assert eqn.primitive.name == "integer_pow" and eqn.params["y"] in (2, -1)


@pytest.mark.parametrize("name", ["lexsort", "dstack"])
def test_an_array_of_arrays_is_cut_into_slices(name):
    x = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    f = getattr(dnp, name)
    np.testing.assert_array_equal(f(dnp.asarray(x)), getattr(np, name)(x))
    assert "unstack" not in str(make_jaxpr(f)(x))
