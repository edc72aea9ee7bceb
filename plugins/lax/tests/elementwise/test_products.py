"""Chains of products and quotients whose steps are in range, compiled as users' programs are.

NumPy computes step by step; a compiler that joins constants or divisors leaves the range.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail.lax as lax
import dovetail.numpy as dnp

BIG = {"float32": 1e30, "float64": 1e200, "bfloat16": 2.0**100}
Chain = Callable[[Any, Any, float], Any]
# Functions of x of about the size K, y near 1, and K as a constant.
CHAINS: dict[str, Chain] = {
    "x / x' / x": lambda x, y, k: x / (x * y) / x,
    "x / (x / x')": lambda x, y, k: x / (x / (x * y)),
    "quotient of quotients": lambda x, y, k: (x / (x * y)) / (x / (x + x)),
    "four divisions": lambda x, y, k: x * y / x / x / y / y,
    "divided by a constant, then x": lambda x, y, k: x / k / x,
    "x / k / k": lambda x, y, k: x * y / k / k,
    "k / (x / k)": lambda x, y, k: k / (x * y / k),
    "y / x * k": lambda x, y, k: y / x * k,
    "k (k y / x) / x": lambda x, y, k: k * (k * (y / x)) / x,
    "(y / x) k k / k": lambda x, y, k: (y / x) * k * k / k,
    "x / k times 1 / k": lambda x, y, k: (x / k) * (1 / k),
    "times 1 / k, divided by k": lambda x, y, k: (x * (1 / k)) / k,
    "(k / x) (k / x)": lambda x, y, k: (y / x * k) * (y / (x + x) * k),
    "(x / k) (x / k)": lambda x, y, k: (x * y / k) * (x / k),
    "square": lambda x, y, k: (y / x * k) ** 2,
    "cube": lambda x, y, k: (x / k * y) ** 3,
    "inverse square": lambda x, y, k: (x * (1 / k)) ** -2 / y,
    "negative constants": lambda x, y, k: (y / x) * -k * -k / k,
}


@pytest.mark.usefixtures("optimized")
@pytest.mark.parametrize("dtype", BIG)
@pytest.mark.parametrize("name", CHAINS)
def test_no_part_of_a_chain_leaves_the_range(name: str, dtype: str) -> None:
    f, k = CHAINS[name], BIG[dtype]
    with dovetail.enable_x64(dtype == "float64"):
        x = k * np.array([1.0, 1.25, 0.75])
        y = np.array([1.5, 0.75, 1.125])
        result = dovetail.jit(lambda x, y: f(x, y, k))(dnp.asarray(x, dtype), dnp.asarray(y, dtype))
        assert result.dtype == dtype
        want = f(np.asarray(x, np.float64), y, k) if dtype != "float64" else f(x, y, k)
        precision = float(dnp.finfo(dtype).eps)
        np.testing.assert_allclose(np.asarray(result, np.float64), want, rtol=16 * precision)


@pytest.mark.usefixtures("optimized")
def test_second_derivatives_of_a_large_hypotenuse() -> None:
    """d²/dx² √(x² + k²) = k² / (x² + k²)^(3/2)."""
    for k in (1e30, 1e-30):
        f = dovetail.jit(dovetail.grad(dovetail.grad(lambda x: dnp.hypot(x, k))))  # noqa: B023
        for t in (0.5, 1.0, 3.0):
            result = float(f(np.float32(t * k))) * k
            np.testing.assert_allclose(result, (1 + t * t) ** -1.5, rtol=1e-6)


@pytest.mark.usefixtures("optimized")
@pytest.mark.parametrize("around", ["jit", "scan", "cond", "vmap", "checkpoint"])
def test_chains_in_programs_inside(around: str) -> None:
    f = lambda x: x / (1.5 * x) / x * 1e30  # noqa: E731
    x = np.float32(1e30)
    g = {
        "jit": dovetail.jit(f),
        "scan": lambda x: lax.scan(lambda c, _: (c, f(x)), 0.0, None, length=2)[1][1],
        "cond": lambda x: lax.cond(x > 0, f, lambda x: x, x),
        "vmap": lambda x: dovetail.vmap(f)(x[None])[0],
        "checkpoint": dovetail.checkpoint(f),
    }[around]
    np.testing.assert_allclose(dovetail.jit(g)(x), 2 / 3, rtol=1e-6)


@pytest.mark.usefixtures("optimized")
@pytest.mark.parametrize("name", ["call", "broadcast", "reshape", "transpose", "constant"])
def test_chains_through_what_moves_elements(name: str) -> None:
    share = lambda x: x / (1.5 * x)  # noqa: E731
    f: Callable[[Any], Any] = {
        "call": lambda x: dovetail.jit(share)(x) / x * 1e30,
        "broadcast": lambda x: dnp.broadcast_to(share(x[0, 0]), (2, 3)) / x * 1e30,
        "reshape": lambda x: share(x).reshape(6, 1) / x.reshape(6, 1) * 1e30,
        "transpose": lambda x: share(x).T / x.T * 1e30,
        "constant": lambda x: (
            1 / (1.5 * x) * dnp.full((2, 3), 1e20) * dnp.full((2, 3), 1e20) / 1e10
        ),
    }[name]
    result = dovetail.jit(f)(np.full((2, 3), 1e30, np.float32))
    np.testing.assert_allclose(np.ravel(result), 2 / 3, rtol=1e-6)


CONSTANT = np.array([1e30, 1.25e30, -0.75e30, 0.0], np.float32)


@pytest.mark.usefixtures("optimized")
@pytest.mark.parametrize("name", ["array", "chain", "computed", "norm", "converted", "divided"])
def test_constants_that_are_arrays_or_computed(name: str) -> None:
    def f(x: Any) -> Any:
        k = dnp.asarray(CONSTANT)
        if name == "array":
            return (k * x) ** 2
        if name == "chain":
            return x * k * (k / 1e30) * k / k.max()
        if name == "computed":
            return (dnp.cos(k * 0) * k * x) ** 2
        if name == "norm":
            return dnp.linalg.norm(k) * x
        if name == "converted":
            return x * lax.convert_element_type(1e30, x.dtype) * lax.mul(x, 1e30)
        return x / dnp.maximum(abs(k), 1e30) / 1e-30 / dnp.maximum(abs(k), 1e30) * 1e30

    k, x = CONSTANT.astype(np.float64), 1e-30
    want = {
        "array": (k * x) ** 2,
        "chain": x * k * (k / 1e30) * k / k.max(),
        "computed": (k * x) ** 2,
        "norm": np.linalg.norm(k) * x,
        "converted": 1.0,
        "divided": x / np.maximum(abs(k), 1e30) / 1e-30 / np.maximum(abs(k), 1e30) * 1e30,
    }[name]
    if name == "divided":
        want, x = want * 1e30, 1.0
    np.testing.assert_allclose(dovetail.jit(f)(np.float32(x)), want, rtol=1e-6)


def test_what_may_be_joined_is_left_to_the_compiler() -> None:
    def f(x: Any, y: Any) -> Any:
        return x * 2.0 * 3.0 + x / 2.0 / 3.0 + x / y * 3.0 + (x * 2.0) ** 2 + 1e-20 * (y * 1e-10)

    text = dovetail.jit(f).lower(np.float32(1), np.float32(1)).as_text()
    assert "negate" not in text and "barrier" not in text
    text = dovetail.jit(lambda n: n // 3 // 2).lower(7).as_text()
    assert "negate" not in text.replace("sign", "")
