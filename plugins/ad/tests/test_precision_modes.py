"""What was recorded under one mode of 64-bit types, used under the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp
from dovetail import lax
from dovetail_ad import grad, linearize, vjp
from dovetail_core import enable_x64, jaxpr_as_fun
from dovetail_jit import jit


def scaled(x: Any) -> Any:
    return dnp.sum(dnp.sin(x) * 2.1)


def product(x: Any) -> Any:
    return dnp.sum(x * x * x * 0.1 + 0.7)


def looped(x: Any) -> Any:
    return dnp.sum(lax.fori_loop(0, 3, lambda i, c: c * 1.1 + dnp.cos(c) * 0.3, x))


@pytest.mark.parametrize("f", [scaled, product, looped])
@pytest.mark.parametrize("wide", [False, True])
def test_a_pullback_in_the_other_mode(f: Any, wide: bool) -> None:
    x = np.linspace(0.1, 0.9, 3, dtype=np.float64 if wide else np.float32)
    with dovetail.enable_x64(wide):
        value, pull = vjp(f, x)
        one = dnp.ones_like(value)
        expected = np.asarray(pull(one)[0])
    with dovetail.enable_x64(not wide):
        result = pull(one)[0]
    assert result.dtype == value.dtype == x.dtype
    np.testing.assert_array_equal(np.asarray(result), expected)


@pytest.mark.parametrize("wide", [False, True])
def test_a_linear_map_in_the_other_mode(wide: bool) -> None:
    with dovetail.enable_x64(wide):
        x = dnp.linspace(0.1, 0.9, 3)
        _, push = linearize(lambda x: x * 2.1, x)
        expected = np.asarray(push(x))
    with dovetail.enable_x64(not wide):
        result = push(x)
    np.testing.assert_array_equal(np.asarray(result), expected)


@pytest.mark.parametrize("wide", [False, True])
def test_a_program_in_the_other_mode_keeps_its_types(wide: bool) -> None:
    with dovetail.enable_x64(wide):
        x = dnp.linspace(0.1, 0.9, 3)
        program = dovetail.make_jaxpr(lambda x: (scaled(x), 0.3))(x)
        expected = jaxpr_as_fun(program)(x)
    with dovetail.enable_x64(not wide):
        result = jaxpr_as_fun(program)(x)
        again = dovetail.make_jaxpr(jaxpr_as_fun(program))(x)
    assert again.out_avals == program.out_avals
    for a, b in zip(result, expected):
        assert np.asarray(a).dtype == (np.float64 if wide else np.float32)
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b, np.asarray(a).dtype))


def test_constants_of_a_part_under_the_other_mode_keep_their_type():
    """The backward pass runs under the mode of the call, which knows nothing of that part."""

    def f(x):
        with enable_x64(True):
            wide = dnp.sin(x.astype("float64") * 2.0) * 3.0
        return (wide * 0.5).astype("float32")

    x = np.float32(1.0)
    wanted = 3 * np.cos(2.0)
    for g in (grad(f), jit(grad(f)), grad(jit(f)), lambda x: vjp(f, x)[1](np.float32(1))[0]):
        result = g(x)
        assert result.dtype == "float32"
        np.testing.assert_allclose(result, wanted, rtol=1e-6)


def test_inputs_that_are_numbers_keep_their_types_in_a_part_under_another_mode() -> None:
    """A Python number, and a NumPy number of 64 bits, is read by the mode around the call."""

    def within(body: Any) -> Any:
        def f(x: Any) -> Any:
            with enable_x64(not outer):
                return body(x)

        return f

    def loop(x: Any) -> Any:
        return lax.scan(lambda c, _: (dnp.sin(c) * c, None), x, None, length=2)[0]

    def looped(x: float) -> float:
        return np.sin(np.sin(x) * x) * np.sin(x) * x

    def slope(f: Any, x: float) -> float:
        return (f(x + 1e-6) - f(x - 1e-6)) / 2e-6

    cases: list[tuple[Any, Any]] = [
        (dnp.sin, np.sin), (lambda x: dnp.sin(x) * x, lambda x: np.sin(x) * x), (loop, looped),
        (jit(dnp.sin), np.sin), (dovetail.checkpoint(dnp.sin), np.sin),
    ]  # fmt: skip
    for outer in (False, True):
        with enable_x64(outer):
            for body, plain in cases:
                for x in (0.5, np.float64(0.5), np.array(0.5)):
                    f, want = within(body), slope(plain, 0.5)
                    ones = np.ones_like(x)
                    unit = dnp.ones_like(f(dnp.asarray(x)))
                    result = [
                        grad(f)(x), dovetail.jvp(f, (x,), (ones,))[1], linearize(f, x)[1](ones),
                        jit(grad(f))(x), grad(jit(f))(x), vjp(f, x)[1](unit)[0],
                        dovetail.jacrev(f)(x), dovetail.jacfwd(f)(x),
                        grad(dovetail.checkpoint(f))(x),
                    ]  # fmt: skip
                    np.testing.assert_allclose(result, want, rtol=1e-5)
                    assert result[0].dtype == (np.float64 if outer else np.float32)
                    second = (slope(plain, 0.5 + 1e-4) - slope(plain, 0.5 - 1e-4)) / 2e-4
                    for g in (grad(grad(f)), dovetail.jacfwd(grad(f))):
                        np.testing.assert_allclose(g(x), second, rtol=1e-3)
                    mapped = dovetail.vmap(f)(np.full(2, x))
                    np.testing.assert_allclose(mapped, plain(0.5), rtol=1e-6)
