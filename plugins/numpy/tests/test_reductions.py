"""Reductions against NumPy: axes, kept dimensions, masks, initial values, NaN, order statistics."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail_numpy as dnp

PLAIN = "sum prod max min mean var std any all ptp median count_nonzero".split()
NAN = "nansum nanprod nanmax nanmin nanmean nanvar nanstd nanmedian".split()
ALONG = "cumsum cumprod argmax argmin sort argsort nancumsum nancumprod".split()


@pytest.mark.parametrize("name", PLAIN + NAN)
def test_axes_and_kept_dimensions(name, same_as_numpy):
    array = "n2" if name in NAN else "f3"
    same_as_numpy(f"xp.{name}({array})", 1e-4)
    same_as_numpy(f"xp.{name}({array}, axis=-1)", 1e-4)
    if name != "ptp":
        same_as_numpy(f"xp.{name}({array}, axis=(0, 1), keepdims=True)", 1e-4)


@pytest.mark.parametrize("name", ALONG)
def test_functions_along_one_axis(name, same_as_numpy):
    same_as_numpy(f"xp.{name}(f3, axis=1)")
    same_as_numpy(f"xp.{name}(f2, axis=None)")


CASES = """\
xp.sum(f2, where=f2 > 0, initial=3)
xp.max(f2, where=f2 > 0, initial=-1)
xp.min(f2, initial=-10)
xp.max(empty, initial=1)
xp.prod(i2, axis=1)
xp.mean(f2, where=f2 > 0)
xp.var(f2, where=f2 > 0)
xp.var(f2, ddof=1)
xp.var(c2)
xp.std(f2, axis=1, correction=1)
xp.var(f2, mean=xp.mean(f2, keepdims=True))
xp.any(f2, where=f2 > 9)
xp.all(f2, axis=0, where=f2 > 9)
xp.max(c1)
xp.min(b2)
xp.sum(f3, axis=tuple([0, 2]))
xp.argmax(n1)
xp.argmin(f3)
xp.argmax(f2, axis=0, keepdims=True)
xp.mean(empty)
xp.average(f2, weights=p1[:3], axis=1)
xp.average(f2, returned=True)
xp.sum(f2, axis=())
xp.cumulative_sum(f1, include_initial=True)
xp.cumulative_prod(f2, axis=1)
xp.diff(f1, n=2)
xp.diff(b1)
xp.diff(f2, axis=0, prepend=0)
xp.ediff1d(f1, to_end=1)
xp.nanargmax(n2, axis=1)
xp.nanargmin(n2)
xp.sort(n1)
xp.lexsort((i2[0], f2[0]))
xp.sort_complex(c1)
xp.quantile(f1, 0.3)
xp.percentile(f2, xp.asarray([10, 55.0]), axis=1)
xp.quantile(f1, 0.3, method='lower')
xp.quantile(f1, 0.3, method='higher')
xp.quantile(f1, 0.3, method='midpoint')
xp.quantile(f1, 0.35, method='nearest')
xp.quantile(f1, 0.5, method='inverted_cdf', weights=p1)
xp.quantile(n2, 0.5, axis=0)
xp.nanpercentile(n2, 40, axis=1, keepdims=True)
xp.median(f3, axis=(0, 2))
xp.median(empty)
xp.nanmedian(empty)
xp.median(xp.zeros((0, 3)), axis=0, keepdims=True)
xp.median(xp.zeros((0, 3)), axis=1, keepdims=True)
xp.trapezoid(empty)
xp.cov(f1, ddof=9)
xp.cov(f1[:1])
""".splitlines()


@pytest.mark.parametrize("case", CASES)
def test_particular_cases(case, same_as_numpy):
    same_as_numpy(case, 1e-4)


def test_partition_puts_one_element_into_its_place(arrays):
    x = arrays["f1"]
    ordered = np.sort(np.asarray(x))
    parted = np.asarray(dnp.partition(x, 2))
    assert parted[2] == ordered[2]
    assert (parted[:2] <= parted[2]).all() and (parted[3:] >= parted[2]).all()
    assert np.asarray(x[dnp.argpartition(x, -2)])[-2] == ordered[-2]


@pytest.mark.parametrize("name", ["quantile", "nanquantile", "percentile", "nanpercentile"])
def test_no_elements_have_no_quantiles(name):
    quantile = getattr(dnp, name)
    assert np.isnan(quantile(dnp.zeros(0), 0.5))
    for axis, shape in ((0, (2, 3)), (1, (2, 0))):
        result = quantile(dnp.zeros((0, 3)), dnp.asarray([0.1, 0.9]), axis=axis)
        assert result.shape == shape and np.isnan(result).all()
    none = {"weights": dnp.zeros((2, 0)), "method": "inverted_cdf", "keepdims": True}
    result = quantile(dnp.zeros((2, 0)), 0.5, axis=1, **none)
    assert result.shape == (2, 1) and np.isnan(result).all()


@pytest.mark.parametrize("method", ["linear", "lower", "higher", "midpoint", "nearest"])
def test_a_quantile_that_is_nan_has_no_value(method, arrays):
    x, q = arrays["f2"], dnp.asarray([0.5, dnp.nan, 1.0])
    for function in (dnp.quantile, dnp.nanquantile, dnp.percentile, dnp.nanpercentile):
        assert np.isnan(function(x, dnp.nan, method=method))
        result = np.asarray(function(x, q, axis=1, method=method))
        assert np.isnan(result[1]).all() and np.isfinite(result[[0, 2]]).all()
    weighted = dnp.quantile(x[0], q, weights=dnp.ones(3), method="inverted_cdf")
    assert np.isnan(np.asarray(weighted)).tolist() == [False, True, False]


def test_axes_may_be_lists(arrays):
    x = arrays["f3"]
    assert dnp.sum(x, axis=[0, 2]).shape == (3,)
    assert dnp.mean(x, axis=[1]).shape == (2, 4)
    assert dnp.max(x, axis=np.int64(1)).shape == (2, 4)


def test_half_precision_is_accumulated_in_single_precision():
    x = dnp.full((4096,), 1, "bfloat16")
    assert dnp.sum(x) == 4096
    assert dnp.mean(x) == 1


def test_sorting_descending_keeps_the_order_of_equal_elements():
    x = dnp.asarray([1, 3, 1, 3])
    assert dnp.argsort(x, descending=True).tolist() == [1, 3, 0, 2]
    assert dnp.sort(x, descending=True).tolist() == [3, 3, 1, 1]


@pytest.mark.parametrize(("call", "error", "text"), [
    (lambda: dnp.max(dnp.zeros((0,))), ValueError, r"max of an array of shape \(0,\).*initial"),
    (lambda: dnp.max(dnp.ones(2), where=dnp.ones(2) > 0), ValueError, "needs an initial value"),
    (lambda: dnp.argmin(dnp.zeros((2, 0)), axis=1), ValueError, r"argmin of .* shape \(2,"),
    (lambda: dnp.sum(dnp.ones(2), axis=1), ValueError, r"sum: axis 1 is out of bounds.*-1 to 0"),
    (lambda: dnp.sum(dnp.ones((2, 2)), axis=(0, 0)), ValueError, r"duplicate axis in \(0, 0\)"),
    (lambda: dnp.sum(dnp.ones(2), out=dnp.ones(())), NotImplementedError, "'out' argument of sum"),
    (lambda: dnp.sum([1, 2]), TypeError, r"sum requires an array.*got list.*asarray"),
    (lambda: dnp.var(dnp.ones(2), ddof=1, correction=1), ValueError, "ddof and correction"),
    (lambda: dnp.mean(dnp.ones(2), where=dnp.ones(2)), TypeError, "array of booleans"),
    (lambda: dnp.quantile(dnp.ones(2), 0.5, method="x"), ValueError, "method must be one of"),
    (lambda: dnp.cumulative_sum(dnp.ones((2, 2))), ValueError, "axis must be given"),
    (lambda: dnp.unique(dnp.zeros(0), size=2), ValueError, r"no elements to make 2 of.*fill_value"),
])  # fmt: skip
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize("f", [dnp.sum, dnp.prod, dnp.max, dnp.min, dnp.nansum, dnp.ptp])
def test_keys_are_not_reduced(f):
    import dovetail_random as random

    with pytest.raises(TypeError, match="takes arrays of numbers, got dtype key"):
        f(random.split(random.key(0)))
