"""Operands that forward their attributes to an array they wrap, and convert themselves."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_ad import jvp
from dovetail_batching import vmap
from dovetail_jit import jit
from dovetail_tree.util import tree_map

FLOATS = "add sub mul matmul truediv floordiv mod pow eq ne lt le gt ge".split()
BITS = "lshift rshift and_ or_ xor".split()
OPERATORS: list[Any] = [*[getattr(operator, n) for n in [*FLOATS, *BITS]], divmod]


class Forwarding:
    """Like a parameter of a library of networks: has ``aval``, ``shape`` and ``dtype``."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __jax_array__(self) -> Any:
        return self.array

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.array, name)


def agree(result: Any, expected: Any) -> None:
    tree_map(np.testing.assert_array_equal, result, expected)


def ways(f: Callable[[Any, Any], Any], differentiable: bool) -> list[Callable[[Any, Any], Any]]:
    """The same value evaluated, traced, mapped and differentiated."""
    result: list[Any] = [
        f,
        jit(f),
        lambda x, y: tree_map(lambda v: v[0], vmap(f)(x[None], y[None])),
    ]
    if differentiable:
        result.append(lambda x, y: jvp(lambda x: f(x, y), (x,), (x,))[0])
    return result


@pytest.mark.parametrize("op", OPERATORS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["float32", "int32"], ids=str)
def test_operators_take_them_every_time(op: Any, dtype: str) -> None:
    is_bits = op.__name__ in BITS
    x = dnp.arange(1, 4, dtype="int32" if is_bits else "float32")
    y = dnp.arange(2, 5, dtype="int32" if is_bits else dtype)
    expected, reflected = op(x, y), op(y, x)
    pairs = [
        (lambda x, y: op(x, Forwarding(y)), expected),
        (lambda x, y: op(Forwarding(y), x), reflected),
    ]
    for f, value in pairs:
        for way in ways(f, not is_bits):
            for _ in range(2):
                agree(way(x, y), value)


@pytest.mark.parametrize("name", ["add", "multiply", "arctan2", "maximum", "equal", "power"])
def test_functions_of_two_take_them_every_time(name: str) -> None:
    f, x = getattr(dnp, name), dnp.arange(1.0, 4.0)
    expected = f(x, x)
    for g in (f, jit(lambda a, b: f(a, b))):
        agree(g(x, x), expected)
    for pair in ((x, Forwarding(x)), (Forwarding(x), x), (Forwarding(x), Forwarding(x))):
        for _ in range(2):
            agree(f(*pair), expected)


def test_functions_of_one_and_where_take_them_every_time() -> None:
    x = dnp.arange(1.0, 4.0)
    for f in (dnp.sin, dnp.exp, dnp.abs, dnp.negative):
        for _ in range(2):
            agree(f(Forwarding(x)), f(x))
    for _ in range(2):
        agree(dnp.where(x > 2, Forwarding(x), Forwarding(x * 2)), dnp.where(x > 2, x, x * 2))
        agree(dnp.where(Forwarding(x > 2), x, 0.0), dnp.where(x > 2, x, 0.0))


def test_reductions_products_and_conversions_take_them_every_time() -> None:
    x = dnp.arange(6.0).reshape(2, 3)
    for f in (dnp.mean, dnp.sum, dnp.max, dnp.var, lambda a: dnp.asarray(a) * 2, dnp.zeros_like):
        for way in (f, jit(lambda a, f=f: f(Forwarding(a)))):
            agree(way(x), f(x))
        for _ in range(2):
            agree(f(Forwarding(x)), f(x))
            agree(jvp(lambda a, f=f: f(Forwarding(a)), (x,), (x,)), jvp(f, (x,), (x,)))
    for _ in range(2):
        agree(dnp.matmul(Forwarding(x), Forwarding(x.T)), x @ x.T)
        agree(lax.convert_element_type(Forwarding(x), np.int32), x.astype(int))


class Path:
    """Makes an object of itself of any attribute, and compares element by element: no hash."""

    __hash__ = None  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Path()

    def __eq__(self, other: object) -> Any:
        return Path()

    def __radd__(self, other: Any) -> str:
        return "its own"

    __rmatmul__ = __radd__


def test_what_has_no_hash_is_left_alone() -> None:
    x = dnp.arange(3.0)
    assert x + Path() == x @ Path() == "its own"
    assert isinstance(x == Path(), Path)
    with pytest.raises(TypeError):
        x * Path()


def test_what_forwards_and_converts_not_may_answer_itself() -> None:
    class Cursor:
        def __init__(self, array: Any) -> None:
            self.array = array

        def __getattr__(self, name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            return getattr(self.array, name)

        def __radd__(self, other: Any) -> str:
            return "mine"

        __rpow__ = __rmatmul__ = __gt__ = __radd__

    x = dnp.ones(2)
    for _ in range(2):
        y: Any = Cursor(x)
        assert x + y == x**y == x @ y == (x < y) == "mine"
        assert x.aval == y.aval
        float(dnp.sum(x + x))  # so that there is a plan for these types


def test_errors_of_operands_are_still_told() -> None:
    x = dnp.arange(1.0, 4.0)
    with pytest.raises(TypeError, match="shapes"):
        x + Forwarding(dnp.arange(2.0))
    with pytest.raises(TypeError, match="shapes"):
        x @ Forwarding(dnp.arange(2.0))
    with pytest.raises(TypeError, match="bitwise_and"):
        x & Forwarding(x)
