"""Rules of batching, alone and beside rules of differentiation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp
from dovetail.custom_batching import custom_vmap, sequential_vmap
from dovetail_core import dce_closed, eval_jaxpr

XS = np.linspace(0.1, 1.1, 4, dtype=np.float32)


def marked() -> Any:
    """``x * y``, which becomes ``x * y + 100`` when it is batched, so that it can be seen."""

    @custom_vmap
    def f(x: Any, y: Any) -> Any:
        return x * y

    @f.def_vmap
    def rule(size: int, batched: Any, x: Any, y: Any) -> Any:
        assert batched[0] is True or batched[1] is True
        assert [v.shape[:1] == (size,) for v in (x, y)] == batched
        return x * y + 100, True

    return f


def test_the_rule_is_used_wherever_the_mapped_axis_stands() -> None:
    f = marked()
    assert f(2.0, 3.0) == 6.0 and dt.jit(f)(2.0, 3.0) == 6.0
    want = XS * 3 + 100
    for g in (f, dt.jit(f)):
        np.testing.assert_allclose(dt.vmap(g, (0, None))(XS, 3.0), want)
        np.testing.assert_allclose(dt.jit(dt.vmap(g, (None, 0)))(3.0, XS), want)
    grid = np.arange(6, dtype=np.float32).reshape(2, 3)
    row = custom_vmap(lambda x: x.sum())

    @row.def_vmap
    def sums(size: int, batched: Any, x: Any) -> Any:
        assert x.shape == (3, 2)
        return x.sum(1) * 10, True

    np.testing.assert_allclose(dt.vmap(row, in_axes=1)(grid), grid.sum(0) * 10)


def test_derivatives_of_the_batched_function_are_those_of_the_rule() -> None:
    f = custom_vmap(lambda x: dnp.sin(x))
    f.def_vmap(lambda size, batched, x: (3 * dnp.sin(x), True))
    np.testing.assert_allclose(dt.grad(f)(0.5), np.cos(0.5), rtol=1e-6)
    for mapped in (
        dt.vmap(dt.grad(f)), dt.grad(lambda x: dt.vmap(f)(x).sum()), dt.jit(dt.vmap(dt.grad(f))),
        dt.vmap(dt.grad(dt.jit(f))), dt.vmap(lambda x: dt.jvp(f, (x,), (1.0,))[1]),
    ):  # fmt: skip
        np.testing.assert_allclose(mapped(XS), 3 * np.cos(XS), rtol=1e-5)


def test_beside_a_rule_of_differentiation_either_way_round() -> None:
    f = marked()
    f.def_vjp(lambda x, y: (f(x, y), y), lambda y, ct: (7 * y * ct, None))
    np.testing.assert_allclose(dt.vmap(f, (0, None))(XS, 3.0), XS * 3 + 100)
    for slope in (
        dt.vmap(dt.grad(f), (0, None)),
        dt.grad(lambda x, y: dt.vmap(f, (0, None))(x, y).sum()),
        dt.jit(dt.grad(lambda x, y: dt.vmap(f, (0, None))(x, y).sum())),
    ):
        np.testing.assert_allclose(slope(XS, 3.0), [21.0] * 4)


def test_results_that_are_not_batched() -> None:
    f = custom_vmap(lambda x: {"a": x, "n": dnp.zeros(2)})
    f.def_vmap(lambda size, batched, x: ({"a": x, "n": dnp.ones(2)}, {"a": True, "n": False}))
    out = dt.vmap(f, out_axes={"a": 0, "n": None})(XS)
    np.testing.assert_allclose(out["n"], [1.0, 1.0])
    np.testing.assert_allclose(dt.vmap(f)(XS)["n"], np.ones((4, 2)))


def test_nested_maps_use_the_rule_once() -> None:
    calls: list[int] = []
    f = custom_vmap(lambda x: x)

    @f.def_vmap
    def rule(size: int, batched: Any, x: Any) -> Any:
        calls.append(size)
        return x + 1, True

    out = dt.vmap(dt.vmap(f))(np.zeros((2, 3), np.float32))
    np.testing.assert_allclose(out, np.ones((2, 3)))
    assert calls == [3]


def test_sequential_vmap_is_a_loop() -> None:
    shapes: list[Any] = []

    @sequential_vmap
    def f(x: Any, y: Any) -> Any:
        shapes.append(x.shape)
        return {"out": dnp.dot(x, y)}

    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    y = np.arange(3, dtype=np.float32)
    np.testing.assert_allclose(dt.vmap(f, (0, None))(a, y)["out"], a @ y)
    assert set(shapes) == {(3,)}
    text = str(dt.make_jaxpr(dt.vmap(f, (0, None)))(a, y))
    assert "scan" in text
    slope = dt.grad(lambda v: dt.vmap(f, (0, None))(v, y)["out"].sum())
    np.testing.assert_allclose(slope(a), np.stack([y, y]))
    np.testing.assert_allclose(dt.jit(dt.vmap(dt.grad(lambda v: f(v, y)["out"])))(a), [y, y])


@pytest.mark.parametrize("axis", [0, 1])
def test_a_batched_row_with_rules_of_all_kinds_agrees_with_a_loop(axis: int) -> None:
    f = dt.custom(lambda x, y: (dnp.sin(x) * y.sum(), y))
    f.def_jvp(
        lambda p, t: (f(*p), (dnp.cos(p[0]) * t[0] * p[1].sum() + dnp.sin(p[0]) * t[1].sum(), t[1]))
    )
    f.def_dce(lambda u, x, y: (dnp.sin(x) * y.sum() if u[0] else None, y if u[1] else None))
    ys = np.random.default_rng(0).normal(size=(4, 4)).astype(np.float32)
    mapped = dt.vmap(f, (0, axis), (0, 1))
    got = dt.jit(lambda x, y: dt.jvp(mapped, (x, y), (x, y)))(XS, ys)
    rows = ys if axis == 0 else ys.T
    loop = [dt.jvp(f, (x, y), (x, y)) for x, y in zip(XS, rows)]
    np.testing.assert_allclose(got[0][0], [v[0][0] for v in loop], rtol=1e-4)
    np.testing.assert_allclose(got[1][0], [v[1][0] for v in loop], rtol=1e-4)
    np.testing.assert_allclose(got[1][1], np.stack([v[1][1] for v in loop], 1), rtol=1e-4)


def test_tangents_mapped_beside_primals_that_are_not():
    """As under ``jacfwd``; what is not used of the results is dead code."""
    f = sequential_vmap(lambda x: (dnp.sin(x), x * x))
    x, ts = np.float32(0.5), np.array([1, -2, 3], np.float32)
    program = dt.make_jaxpr(dt.vmap(lambda t: dt.jvp(lambda v: f(v)[0], (x,), (t,))[1]))(ts)
    reduced = dce_closed(program, [True])[0]
    (result,) = eval_jaxpr(reduced.jaxpr, reduced.consts, ts)
    np.testing.assert_allclose(result, np.cos(x) * ts, rtol=1e-6)
    np.testing.assert_allclose(dt.jacfwd(lambda v: f(v)[0])(x), np.cos(x), rtol=1e-6)
