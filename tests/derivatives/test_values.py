"""Derivatives that were lost where functions saturate, overflow or have equal values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail as dv
import dovetail.lax as lax
import dovetail.nn as nn
import dovetail.numpy as dnp
from dovetail.scipy import special
from dovetail_core import enable_x64

INF = np.inf

# The values are mpmath's, of exact arguments.
SINGLE: list[tuple[Any, float, float]] = [
    (nn.sigmoid, 40.0, 4.248354255291589e-18), (special.expit, 40.0, 4.248354255291589e-18),
    (dnp.expm1, -40.0, 4.248354255291589e-18), (nn.elu, -40.0, 4.248354255291589e-18),
    (nn.celu, -40.0, 4.248354255291589e-18), (dnp.tanh, 10.0, 8.244614455767397e-09),
    (dnp.tanh, -40.0, 7.219405551381667e-35), (dnp.arcsinh, 1e22, 1e-22),
    (dnp.arccosh, 1e22, 1e-22), (lambda x: dnp.arctan2(x, 1e22), 1.0, 1e-22),
    (lambda x: dnp.arctan2(1e22, x), 1.0, -1e-22), (dnp.exp2, 128.0, 2.35865763225513e38),
    (dnp.i0, 1e-20, 5e-21), (dnp.sinc, 1e-3, -0.003289864886727897),
    (dnp.sinc, 1e-10, -3.289868133696453e-10), (nn.gelu, 1e30, 1.0), (nn.gelu, -1e30, 0.0),
    (nn.soft_sign, 1e10, 1e-20), (nn.squareplus, -1e6, 1e-12),
    (dnp.cbrt, 1e-30, 3.3333333333333e19), (dnp.reciprocal, 1e-19, -1e38),
]  # fmt: skip
DOUBLE: list[tuple[Any, float, float]] = [
    (nn.selu, -700.0, 1.7334290832552395e-304), (dnp.arcsinh, 1e200, 1e-200),
    (dnp.arccosh, 1e200, 1e-200), (dnp.tanh, 300.0, 1.0601586212017243e-260),
    (nn.log1mexp, 600.0, 2.650396553004311e-261), (lax.erf_inv, 1e-300, 0.886226925452758),
    (special.ndtri, 1e-300, 2.697304465042612e298),
]  # fmt: skip


def _near(result: Any, wanted: float, roundings: int = 16) -> None:
    result = np.asarray(result)
    scale = max(float(np.finfo(result.dtype).eps) * roundings, 1e-8)
    np.testing.assert_allclose(result, wanted, rtol=scale, atol=0)


@pytest.mark.parametrize("wide", [False, True])
def test_first_derivatives_by_all_transformations(wide: bool) -> None:
    cases, dtype = (DOUBLE, np.float64) if wide else (SINGLE, np.float32)
    with enable_x64(wide):
        for f, x, wanted in cases:
            point = dtype(x)
            slope = dv.grad(f)
            _near(slope(point), wanted)
            _near(dv.jvp(f, (point,), (dtype(1),))[1], wanted)

        def together(points: list[Any]) -> list[Any]:
            """Under jit: mapped, in a loop, in a branch and rematerialised."""
            out = []
            for (f, _, _), x in zip(cases, points):
                both = dnp.stack([x, x])
                out.append(dv.vmap(dv.grad(f))(both)[1])
                out.append(lax.scan(lambda c, v, f=f: (c, dv.grad(f)(v)), 0, both)[1][0])
                out.append(lax.cond(x == x, dv.grad(f), lambda v: v * 0, x))
                out.append(dv.grad(dv.checkpoint(f))(x))
                out.append(dv.jacrev(lambda v, f=f: f(v[None]))(x)[0])
            return out

        result = dv.jit(together)([dtype(x) for _, x, _ in cases])
        for i, (_, _, wanted) in enumerate(cases):
            for value in result[5 * i : 5 * i + 5]:
                _near(value, wanted)


def test_absolute_values_of_infinite_numbers() -> None:
    slope = dv.grad(lambda z: dnp.abs(z))
    assert complex(slope(np.complex64(complex(INF, 0)))) == 1
    assert complex(slope(np.complex64(complex(2, -INF)))) == 1j
    assert complex(slope(np.complex64(3 + 4j))) == pytest.approx(0.6 - 0.8j)
    assert complex(slope(np.complex64(3e38 + 3e38j))) == pytest.approx((1 - 1j) / 2**0.5)


def test_second_derivatives_of_distances_where_both_are_equal() -> None:
    with enable_x64(True):
        result = dv.hessian(lambda v: dnp.hypot(v[0], v[1]))(np.array([2.0, 2.0]))
        wanted = np.array([[1, -1], [-1, 1]]) / 32**0.5
        np.testing.assert_allclose(result, wanted, rtol=1e-14)
        assert [float(g) for g in dv.grad(dnp.hypot, (0, 1))(1e300, 1e300)] == pytest.approx(
            [0.5**0.5] * 2
        )


@pytest.mark.parametrize("scale", [1e22, 1e-22, 1.0])
def test_norms_of_any_size(scale: float) -> None:
    x = np.float32(scale) * np.array([[3, 4], [4, 3]], np.float32)
    for f, wanted in (
        (dnp.linalg.norm, x / np.float32(scale * 50**0.5)),
        (lambda v: dnp.linalg.norm(v, axis=1).sum(), x / np.float32(5 * scale)),
        (lambda v: dnp.linalg.vector_norm(v), x / np.float32(scale * 50**0.5)),
    ):
        for slope in (dv.grad(f), dv.jit(dv.grad(f)), dv.jacfwd(f), dv.jacrev(f)):
            np.testing.assert_allclose(slope(x), wanted, rtol=1e-6)
    np.testing.assert_allclose(dnp.linalg.norm(x), scale * 50**0.5, rtol=1e-6)
    for order in (3, 2.5):
        wanted = scale * float(np.linalg.norm([3.0, 4.0], order))
        np.testing.assert_allclose(dnp.linalg.norm(x[0], order), wanted, rtol=1e-6)
        slope = dv.grad(lambda v, order=order: dnp.linalg.norm(v, order))(x[0])
        np.testing.assert_allclose(
            slope, (np.array([3, 4]) * scale / wanted) ** (order - 1), rtol=2e-6
        )
    z = x[0] * np.complex64(1 - 1j)
    np.testing.assert_allclose(dnp.linalg.norm(z), scale * 50**0.5, rtol=1e-6)


def test_norms_of_nothing_and_of_infinities() -> None:
    norm = dnp.linalg.norm
    assert float(norm(np.zeros(0, np.float32))) == 0 and float(norm(np.zeros(2))) == 0
    assert norm(np.zeros((0, 3)), axis=0).tolist() == [0, 0, 0]
    assert norm(np.zeros((0, 3)), axis=1).shape == (0,)
    assert float(norm(np.array([INF, 1]))) == INF and np.isnan(norm(np.array([np.nan, INF])))
    assert norm(np.ones((2, 3, 4)), axis=(0, 2), keepdims=True).shape == (1, 3, 1)
