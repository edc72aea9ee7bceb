"""``closure_convert`` and ``custom_gradient``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp

XS = np.linspace(0.1, 1.1, 4, dtype=np.float32)


@dt.custom_gradient
def twice(x: Any) -> Any:
    c = dnp.cos(x)
    return dnp.sin(x), lambda ct: 2 * ct * c


def test_custom_gradient_in_all_modes() -> None:
    want = 2 * np.cos(XS)
    np.testing.assert_allclose(twice(XS), np.sin(XS), rtol=1e-6)
    for slope in (
        dt.vmap(dt.grad(twice)), dt.grad(lambda x: twice(x).sum()), dt.jit(dt.vmap(dt.grad(twice))),
        dt.grad(lambda x: dt.vmap(twice)(x).sum()), dt.vmap(dt.grad(dt.jit(twice))),
        lambda x: dt.jvp(twice, (x,), (np.ones_like(x),))[1],
    ):  # fmt: skip
        np.testing.assert_allclose(slope(XS), want, rtol=1e-6)
    np.testing.assert_allclose(dt.grad(dt.grad(twice))(0.5), -2 * np.sin(0.5), rtol=1e-6)


def test_custom_gradient_of_several_arguments_and_results() -> None:
    @dt.custom_gradient
    def f(x: Any, y: Any) -> Any:
        return (x * y, {"s": x + y}), lambda ct: (ct[0] * 10, ct[1]["s"] * 100)

    assert dt.grad(lambda x, y: f(x, y)[0], (0, 1))(1.0, 2.0) == (10.0, 0.0)
    assert dt.grad(lambda x, y: f(y=y, x=x)[1]["s"], (0, 1))(1.0, 2.0) == (0.0, 100.0)


def test_closure_convert_moves_what_may_be_differentiated() -> None:
    table = np.arange(3)

    def outer(p: Any, x: Any) -> Any:
        converted, values = dt.closure_convert(lambda y: (y * p).sum() + table.sum(), x)
        assert len(values) == 1 and values[0] is p
        return minimize(converted, x, *values)

    @dt.custom_vjp
    def _unused(x: Any) -> Any:
        return x

    def minimize(f: Any, x: Any, *values: Any) -> Any:
        solve.f = f
        return solve(x, list(values))

    @dt.custom_jvp
    def solve(x: Any, values: Any) -> Any:
        return solve.f(x, *values)

    @solve.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        return solve(*primals), 10 * dt.jvp(solve.f, (primals[0], *primals[1]),
                                            (tangents[0], *tangents[1]))[1]  # fmt: skip

    assert dt.grad(outer)(3.0, dnp.ones(2)) == 20.0


def test_closure_convert_without_tracers_keeps_everything_inside() -> None:
    converted, values = dt.closure_convert(lambda x: x * XS, XS)
    assert values == []
    np.testing.assert_allclose(converted(XS), XS * XS)


def test_bad_input() -> None:
    converted, _ = dt.closure_convert(lambda x: x, 1.0)
    with pytest.raises(TypeError, match="takes arguments of the structure of the example"):
        converted([1.0])
    with pytest.raises(TypeError, match="closure_convert of f: an example argument: 'a' of type"):
        dt.closure_convert(named, "a")
    bad = dt.custom_gradient(named)
    with pytest.raises(TypeError, match=r"f must return a pair \(result, function from the"):
        bad(1.0)


def named(x: Any) -> Any:
    return x


named.__name__ = "f"
