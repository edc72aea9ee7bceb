"""Special functions: element types of results, shapes, and the errors for wrong arguments."""

# ruff: noqa: E501

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import dovetail_scipy.special as special
from dovetail_core import enable_x64
from dovetail_jit import jit, make_jaxpr

REAL = [
    "entr",
    "erf",
    "erfc",
    "erfinv",
    "ndtr",
    "ndtri",
    "gammaln",
    "digamma",
    "i0e",
    "i1",
    "dawsn",
    "exp1",
    "spence",
]


STRONG_IN_JAX = ("ndtr", "ndtri", "log_ndtr", "exp1", "expi", "spence", "gamma", "gammasgn")


@pytest.mark.parametrize("name", REAL)
def test_element_types(name: str) -> None:
    """Integers become the default type, narrow types stay, and so does weakness where JAX's does."""
    f = getattr(special, name)

    def aval(x: Any) -> Any:
        return make_jaxpr(f)(x).out_avals[0]

    for dtype in (np.float16, ml_dtypes.bfloat16, np.float32):
        assert aval(np.ones(2, dtype)).dtype == dtype
    assert aval(np.ones(2, np.int32)).dtype == np.float32
    assert aval(np.ones(2, bool)).dtype == np.float32
    assert aval(0.5).weak_type is (name not in STRONG_IN_JAX)
    assert not aval(np.float32(0.5)).weak_type
    assert aval(np.ones((3, 0), np.float32)).shape == (3, 0)
    with enable_x64(True):
        assert aval(np.ones(2, np.int64)).dtype == np.float64


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_narrow_types_are_rounded_once(dtype: Any) -> None:
    """They are computed in float32."""
    x = np.linspace(0.1, 3.0, 40).astype(dtype)
    want = np.asarray(special.erf(x.astype(np.float32))).astype(dtype)
    assert (np.asarray(special.erf(x)) == want).all()


def _types(f: Any, *args: Any) -> list[Any]:
    """The types of a function's results; nothing is compiled."""
    return make_jaxpr(f)(*args).out_avals


def test_shapes_broadcast() -> None:
    """Arguments broadcast, scalars beside arrays, empties too."""
    a = np.ones((3, 1), np.float32)
    assert _types(special.beta, a, np.ones(4, np.float32))[0].shape == (3, 4)
    assert _types(special.zeta, 2.0, np.ones((0, 2), np.float32))[0].shape == (0, 2)
    assert _types(special.gammainc, np.ones((0,), np.float32), 1.0)[0].shape == (0,)
    assert _types(special.hyp2f1, 1.0, a, 2.0, np.float32(0.3))[0].shape == (3, 1)
    assert _types(special.polygamma, 1, a)[0].shape == (3, 1)
    assert _types(special.wofz, np.float32(1))[0].dtype == np.complex64
    assert [v.shape for v in _types(special.sici, a)] == [(3, 1), (3, 1)]
    assert _types(special.betainc, 1, 2, 0.5)[0].weak_type
    narrow = np.ones(3, ml_dtypes.bfloat16)
    assert _types(special.betainc, narrow, narrow, 0.5)[0].dtype == narrow.dtype
    assert special.erf(np.ones((0, 2), np.float32)).shape == (0, 2)


def _old(function: Any, *args: Any) -> Any:
    with pytest.deprecated_call():
        return function(*args)


ERRORS: list[tuple[Any, type[Exception], str]] = [
    (lambda: special.erf(np.complex64(1)), TypeError, r"erf takes real numbers, got complex64 at .*test_special"),
    (lambda: special.betainc(1j, 1.0, 0.5), TypeError, r"betainc takes real numbers, got complex64"),
    (lambda: special.gamma("x"), TypeError, r"gamma, position 0: 'x' of type str is not a valid array value"),
    (lambda: special.beta(1.0, [1.0]), TypeError, r"beta requires an array or a scalar at position 1, got list"),
    (lambda: special.beta(np.ones(2), np.ones(3)), ValueError, r"beta got shapes that cannot be broadcast"),
    (lambda: special.factorial(3, exact=True), NotImplementedError, r"factorial: exact=True .* math.factorial"),
    (lambda: special.polygamma(1.0, 2.0), TypeError, r"polygamma: the order n must be of integers, got float32"),
    (lambda: special.log_ndtr(1.0, series_order=31), ValueError, r"log_ndtr: series_order must be from 0 to 30, got 31"),
    (lambda: special.log_ndtr(1.0, series_order=2.5), TypeError, r"log_ndtr: series_order must be an integer"),
    (lambda: special.multigammaln(3.0, 1.5), TypeError, r"multigammaln: d must be an integer"),
    (lambda: special.bernoulli(-1), ValueError, r"bernoulli: n must not be negative, got -1"),
    (lambda: special.bernoulli(1.5), TypeError, r"bernoulli: n must be an integer"),
    (lambda: special.bessel_jn(1.0, v=-1), ValueError, r"bessel_jn: v must not be negative and n_iter must be positive"),
    (lambda: special.bessel_jn(1.0, v=1.5), TypeError, r"bessel_jn: v must be an integer"),
    (lambda: special.sph_harm_y(1, 0, 0.3, 0.2, diff_n=1), NotImplementedError, r"diff_n is not supported .*jvp or grad"),
    (lambda: jit(lambda n: special.sph_harm_y(n, 0, 0.3, 0.2))(1), TypeError, r"sph_harm_y: n is traced.*Pass n_max"),
    (lambda: special.sph_harm_y(1.5, 0, 0.3, 0.2), TypeError, r"sph_harm_y: n must be of integers, got float32"),
    (lambda: _old(special.lpmn, 3, 2, np.ones(1)), NotImplementedError, r"lpmn: m and n must be equal, .* got 3 and 2"),
    (lambda: _old(special.lpmn, 3, 3, np.ones((2, 1))), ValueError, r"lpmn: z must be a vector, got shape \(2, 1\)"),
    (lambda: _old(special.lpmn_values, 1, 1, np.ones(1, int), True), TypeError, r"lpmn_values: z must be of float32 or float64"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "text"), ERRORS)
def test_errors(call: Any, error: type[Exception], text: str) -> None:
    """Errors name the function, the argument, the source location and the remedy."""
    with pytest.raises(error, match=text):
        call()
