"""Derivatives: finite differences in double precision, dot products, and the conventions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail_lax as lax
from dovetail_ad import jvp, jvp_values, linear_transpose, vjp
from dovetail_core import enable_x64, is_inexact, typeof
from dovetail_testing import (
    Sample,
    assert_near,
    dot,
    finite_difference_with_error,
    random_like,
)

from .conftest import in_double, traced

# Their method stops at a relative error, which differences of it show.
TOLERANCES = {"igamma_grad_a": 1e-6, "random_gamma_grad": 1e-6}
FORWARD_ONLY = {"igamma_grad_a", "random_gamma_grad"}
LAST_ONLY = {"zeta", "polygamma", "regularized_incomplete_beta"}


def smooth(sample: Sample) -> bool:
    """Whether the sample's operation is differentiable there, and to what precision it tells."""
    if sample.primitive.traits.effect_only:
        return False
    if sample.primitive.name in FORWARD_ONLY | LAST_ONLY:
        return "empty" not in sample.tags
    return not {"nonsmooth", "extreme", "empty"} & set(sample.tags)


def directions(sample: Sample) -> list[list[int]]:
    """Which operands to move: all at once, and each alone."""
    inexact = [i for i, x in enumerate(sample.args) if is_inexact(np.asarray(x).dtype)]
    if sample.primitive.name in LAST_ONLY:
        return [[len(sample.args) - 1]]
    return [inexact, *([[i] for i in inexact] if len(inexact) > 1 else [])]


def test_tangents_agree_with_finite_differences(primitive_samples: list[Sample]) -> None:
    with enable_x64(True):
        samples = list(filter(smooth, in_double(primitive_samples)))
        if primitive_samples[0].primitive.name in FORWARD_ONLY:
            samples = samples[:1]  # loops with loops of tangents: slow to compile
        for sample in samples:
            for moved in filter(None, directions(sample)):
                check_tangent(sample, moved)


def pushed(sample: Sample, moved: list[int], given: Any) -> Any:
    """The first result and its tangent (None: it has none) for tangents of some operands."""
    tangents = dict(zip(moved, given))
    places = [tangents.get(i) for i in range(len(sample.args))]
    (out, *_), (tangent, *_) = jvp_values(sample.flat, list(sample.args), places)
    return out, tangent


def check_tangent(sample: Sample, moved: list[int]) -> None:
    tangents = [random_like(a, i) if i in moved else None for i, a in enumerate(sample.avals)]
    given = [t for t in tangents if t is not None]
    differentiated: Any = lambda *ts: pushed(sample, moved, ts)  # noqa: E731
    out, tangent = traced(differentiated, *given)(*given)
    if not is_inexact(np.asarray(out).dtype):
        assert tangent is None
        return
    value = traced(sample.flat, *sample.args)
    ((expected, error),) = finite_difference_with_error(
        lambda *xs: value(*xs)[:1], sample.args, tangents, scale=sample.scale
    )
    if tangent is None:
        assert_near(np.zeros(np.shape(expected)), expected, 0.0, str(sample), atol=error)
        return
    assert typeof(tangent) is typeof(out).tangent_type()
    coarse = np.asarray(out).dtype.itemsize < 8
    tol = 1e-3 if coarse else TOLERANCES.get(sample.primitive.name, 1e-8)
    assert_near(np.asarray(tangent), expected, tol, f"{sample} {moved}", atol=error)


def test_cotangents_pair_with_tangents(primitive_samples: list[Sample]) -> None:
    with enable_x64(True):
        for sample in filter(smooth, in_double(primitive_samples)):
            for moved in filter(None, directions(sample)[:1]):
                check_pairing(sample, moved)


test_cotangents_pair_with_tangents.without = FORWARD_ONLY  # type: ignore[attr-defined]


def check_pairing(sample: Sample, moved: list[int]) -> None:
    def f(*xs: Any) -> Any:
        given = dict(zip(moved, xs))
        return sample.flat(*[given.get(i, x) for i, x in enumerate(sample.args)])[0]

    primals = [sample.args[i] for i in moved]
    tangents = [random_like(typeof(x), i) for i, x in enumerate(primals)]
    out = traced(f, *primals)(*primals)
    if not is_inexact(np.asarray(out).dtype):
        return
    ct = random_like(typeof(out), 7)

    def both(primals: list[Any], tangents: list[Any], ct: Any) -> Any:
        return jvp(f, tuple(primals), tuple(tangents))[1], vjp(f, *primals)[1](ct)

    tangent, cts = traced(both, primals, tangents, ct)(primals, tangents, ct)
    for x, back in zip(primals, cts):
        assert typeof(back) is typeof(x), sample
    left, right = dot([ct], [tangent]), dot(cts, tangents)
    assert abs((left - right).real) <= 1e-10 * max(1.0, abs(left)), sample


def tangent_at(f: Callable[..., Any], *points: Any, moved: int = 0) -> Any:
    """The derivative of ``f`` in one operand."""

    def g(x: Any) -> Any:
        return f(*[x if i == moved else p for i, p in enumerate(points)])

    x = points[moved]
    return np.asarray(jvp(g, (x,), (np.ones_like(np.asarray(x)),))[1]).tolist()


def f32(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def test_ties_of_extrema_split() -> None:
    x, y = f32(1, 2, 3), f32(2, 2, 2)
    assert tangent_at(lax.max, x, y) == [0, 0.5, 1]
    assert tangent_at(lax.max, x, y, moved=1) == [1, 0.5, 0]
    assert tangent_at(lax.min, x, y) == [1, 0.5, 0]
    assert tangent_at(lax.min, x, np.float32(2), moved=1) == [0, 0.5, 1]
    z = np.array([1 + 1j, 1 + 2j], np.complex64)
    assert tangent_at(lax.max, z, z[::-1].copy()) == [0, 1]
    assert tangent_at(lax.min, z, z) == [0.5, 0.5]


def test_absolute_values_and_signs_at_zero() -> None:
    assert tangent_at(lax.abs, f32(-2, 0, 2)) == [-1, 1, 1]
    assert tangent_at(lax.abs, np.array([0, 3 + 4j], np.complex64)) == pytest.approx([0, 0.6])
    assert tangent_at(lax.sign, f32(-2, 0, 2)) == [0, 0, 0]
    assert tangent_at(lax.sign, np.zeros(1, np.complex64)) == [0]


def test_bounds_of_clamp_have_no_derivative_there() -> None:
    x = f32(-1, 0, 0.5, 1, 2)
    assert tangent_at(lax.clamp, np.float32(0), x, np.float32(1), moved=1) == [0, 0, 1, 0, 0]
    low, high = f32(0, 0, 0, 0, 0), f32(1, 1, 1, 1, 1)
    assert tangent_at(lax.clamp, low, x, high, moved=0) == [1, 0, 0, 0, 0]
    assert tangent_at(lax.clamp, low, x, high, moved=2) == [0, 0, 0, 0, 1]


def test_powers_at_zero() -> None:
    x, y = f32(0, 0, 0, 2), f32(0, 1, 2, 3)
    assert tangent_at(lax.pow, x, y) == [0, 1, 0, 12]
    assert tangent_at(lax.pow, x, y, moved=1)[:3] == [0, 0, 0]
    assert tangent_at(lambda x: lax.pow(x, 0), x) == [0, 0, 0, 0]
    assert tangent_at(lambda x: lax.pow(x, 2), x) == [0, 0, 0, 4]
    assert tangent_at(lax.pow, x, np.array([0, 1, 2, 3], np.int32)) == [0, 1, 0, 12]
    assert tangent_at(lambda x: lax.integer_pow(x, 0), x) == [0, 0, 0, 0]
    assert tangent_at(lambda x: lax.integer_pow(x, 1), x) == [1, 1, 1, 1]


def test_conversion_to_integers_ends_differentiation() -> None:
    x = f32(1.5)
    _, tangent = jvp(lambda x: lax.convert_element_type(x, int), (x,), (x,))
    assert tangent.dtype == np.dtype([("float0", np.void, 0)])
    assert tangent_at(lax.stop_gradient, x) == [0]
    assert tangent_at(lambda x: lax.stop_gradient({"a": x})["a"], x) == [0]


def test_cotangents_of_complex_parts_pair_by_the_real_part_of_the_product() -> None:
    z, ct = np.complex64(1 + 2j), np.float32(3)
    transposes = {lax.real: 3 + 0j, lax.imag: 0 - 3j}
    for f, expected in transposes.items():
        assert complex(linear_transpose(f, z)(ct)[0]) == expected
    assert complex(linear_transpose(lax.conj, z)(np.complex64(2 + 5j))[0]) == 2 - 5j
    x = np.float32(1)
    back = linear_transpose(lambda x, y: lax.complex(x, y), x, x)(np.complex64(2 + 5j))
    assert [float(b) for b in back] == [2, -5]
    assert float(linear_transpose(lambda x: lax.convert_element_type(x, "complex64"), x)(
        np.complex64(2 + 5j))[0]) == 2  # fmt: skip


def test_scalar_operands_get_the_sum_of_their_cotangents() -> None:
    row = f32(1, 2, 3)
    for f, expected in (
        (lambda s: lax.add(s, row), 3.0),
        (lambda s: lax.sub(row, s), -3.0),
        (lambda s: lax.mul(s, row), 6.0),
        (lambda s: lax.div(s, row), 1 + 1 / 2 + 1 / 3),
        (lambda s: lax.select(row > 1, s, row), 2.0),
    ):
        _, pull = vjp(f, np.float32(2))
        (back,) = pull(np.ones(3, np.float32))
        assert back.shape == () and float(back) == pytest.approx(expected)


def test_products_of_a_wider_type_have_cotangents_of_their_operands_types() -> None:
    import ml_dtypes

    x = np.array([1, 2], ml_dtypes.bfloat16)
    _, pull = vjp(lambda x: lax.mul(x, x, out_dtype="float32"), x)
    (back,) = pull(np.ones(2, np.float32))
    assert back.dtype == ml_dtypes.bfloat16 and np.asarray(back).tolist() == [2, 4]


def test_barriers_hold_tangents_and_cotangents_too() -> None:
    def f(x: Any, y: Any) -> Any:
        a, b = lax.optimization_barrier((x, y))
        return lax.mul(a, lax.sin(b))

    x, y = np.float32(2), np.float32(0.5)
    _, pull = vjp(f, x, y)
    assert [float(c) for c in pull(np.float32(1))] == pytest.approx(
        [float(np.sin(y)), float(2 * np.cos(y))]
    )


ORDERS: dict[str, Any] = {
    "grad": dovetail.grad,
    "jit(grad)": lambda f: dovetail.jit(dovetail.grad(f)),
    "jvp": lambda f: lambda u: dovetail.jvp(f, (u,), (np.float32(1),))[1],
    "jit(jvp)": lambda f: dovetail.jit(lambda u: dovetail.jvp(f, (u,), (np.float32(1),))[1]),
}


@pytest.mark.usefixtures("optimized")
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("k", [1e25, 1e-25, 1.0])
def test_quotients_whose_factor_of_the_divisors_tangent_is_out_of_range(
    k: float, order: str
) -> None:
    """Of x / y it is x / y², where y and its tangent are large or small alike."""
    first, twice = ORDERS[order], lambda f: ORDERS[order](dovetail.grad(f))
    u = np.float32(2.0)
    both = lambda u: u * u / (k * u) * k  # noqa: E731
    one = lambda u: 1 / (k * u * u) * k  # noqa: E731
    np.testing.assert_allclose([first(both)(u), first(one)(u)], [1.0, -0.25], rtol=1e-6)
    np.testing.assert_allclose([twice(both)(u), twice(one)(u)], [0.0, 0.375], rtol=1e-6, atol=1e-6)


def test_derivatives_of_quotients_beside_scalars() -> None:
    x = np.array([1.0, 2.0, -4.0], np.float32)
    np.testing.assert_allclose(dovetail.grad(lambda y: (2.0 / y).sum())(x), -2 / x**2)
    np.testing.assert_allclose(dovetail.grad(lambda s: (s / x).sum())(2.0), (1 / x).sum())
    np.testing.assert_allclose(dovetail.grad(lambda s: (x / s).sum())(2.0), -x.sum() / 4)
    tangents = dovetail.jvp(lambda s, y: s / y, (np.float32(2), x), (np.float32(1), x))[1]
    np.testing.assert_allclose(tangents, 1 / x - 2 / x)
