"""Rules of transposition: ``custom_transpose``, ``def_transpose``, ``linear_call``."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail as dt
import dovetail.numpy as dnp
from dovetail.custom_derivatives import linear_call

XS = np.linspace(1.0, 2.0, 3, dtype=np.float32)
SCALAR = dt.ShapeDtypeStruct((), dnp.float32)


def divide(r: Any, x: Any) -> Any:
    return x / r


def call(r: Any, x: Any) -> Any:
    """``x / r``, whose transpose says four times the cotangent, so that its use can be seen."""
    return linear_call(divide, lambda r, ct: 4 * ct / r, r, x)


def test_values_and_transposes() -> None:
    assert call(2.0, 8.0) == 4.0 and dt.jit(call)(2.0, 8.0) == 4.0
    assert dt.linear_transpose(lambda x: call(2.0, x), 1.0)(8.0) == (16.0,)
    for slope in (dt.grad(call, 1), dt.jit(dt.grad(call, 1)), dt.grad(dt.jit(call), 1)):
        assert slope(2.0, 8.0) == 2.0
    assert dt.jvp(lambda x: call(2.0, x), (8.0,), (1.0,)) == (4.0, 0.5)


def test_the_transpose_of_the_transpose_is_the_function() -> None:
    once = lambda ct: dt.linear_transpose(lambda x: call(2.0, x), 1.0)(ct)[0]  # noqa: E731
    assert dt.linear_transpose(once, 1.0)(8.0) == (4.0,)


def test_residuals_are_differentiated_through_the_body() -> None:
    assert dt.grad(call)(2.0, 8.0) == -2.0
    assert dt.jit(dt.grad(call))(2.0, 8.0) == -2.0
    # Mixed: the derivative in r of 4 / r.
    assert dt.grad(dt.grad(call, 1))(2.0, 8.0) == -1.0


def test_under_vmap_shared_residuals_and_arguments() -> None:
    np.testing.assert_allclose(dt.vmap(call, (0, None))(XS, 8.0), 8 / XS, rtol=1e-6)
    np.testing.assert_allclose(dt.vmap(dt.grad(call, 1), (0, None))(XS, 8.0), 4 / XS, rtol=1e-6)
    total = lambda x: dt.vmap(call, (0, None))(XS, x).sum()  # noqa: E731
    np.testing.assert_allclose(dt.grad(total)(8.0), (4 / XS).sum(), rtol=1e-6)
    np.testing.assert_allclose(dt.jit(dt.grad(total))(8.0), (4 / XS).sum(), rtol=1e-6)


def test_in_a_scan() -> None:
    def loop(x: Any) -> Any:
        return dt.lax.scan(lambda c, r: (call(r, c), None), x, XS)[0]

    np.testing.assert_allclose(dt.grad(loop)(1.0), np.prod(4 / XS), rtol=1e-5)
    np.testing.assert_allclose(dt.jvp(loop, (1.0,), (1.0,))[1], np.prod(1 / XS), rtol=1e-5)


def test_pytrees_and_zero_cotangents() -> None:
    def fun(r: Any, x: Any) -> Any:
        return {"a": x[0] * r, "b": x[1]}

    def transposed(r: Any, ct: Any) -> Any:
        return [ct["a"] * r, ct["b"]]

    f = lambda x: linear_call(fun, transposed, 3.0, x)["a"]  # noqa: E731
    assert dt.grad(f)([1.0, 2.0]) == [3.0, 0.0]


def test_custom_transpose_takes_the_types_of_its_results() -> None:
    @dt.custom_transpose
    def f(r: Any, x: Any) -> Any:
        return x / r

    @f.def_transpose
    def rule(r: Any, ct: Any) -> Any:
        return 4 * ct / r

    total = lambda x: x + f(SCALAR, 2.0, x)  # noqa: E731
    assert total(8.0) == 12.0 and dt.grad(total)(8.0) == 3.0
    assert dt.jit(dt.grad(total))(8.0) == 3.0 and dt.jvp(total, (8.0,), (1.0,)) == (12.0, 1.5)


def test_beside_a_rule_of_forward_mode() -> None:
    f = dt.custom(divide)
    f.def_transpose(lambda r, ct: 4 * ct / r)
    f.def_jvp(lambda p, t: (f(*p), f(p[0], t[1])))
    assert dt.jvp(f, (2.0, 8.0), (1.0, 1.0)) == (4.0, 0.5)  # the rule knows no residual
    assert dt.grad(f, (0, 1))(2.0, 8.0) == (0.0, 2.0)


def test_linear_call_of_python_numbers() -> None:
    """Numbers are arrays to the functions, and results are arrays."""
    seen: list[Any] = []

    def f(r: Any, x: Any) -> Any:
        seen.append((r, x["a"]))
        return {"y": r * x["a"], "one": 1.0}

    out = linear_call(f, lambda r, c: {"a": r * c["y"]}, 2.0, {"a": 3})
    assert all(hasattr(v, "dtype") for v in (*seen[0], out["y"], out["one"]))
    assert float(out["y"]) == 6 and out["y"].dtype == np.float32
    assert not isinstance(linear_call(lambda r, x: x, lambda r, c: c, 1.0, 3), int)
