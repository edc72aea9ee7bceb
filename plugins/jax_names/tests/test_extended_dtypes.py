"""Element types that a library defines by rules: conversions, sums and zeros of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp
from dovetail import lax
from dovetail_jax_names.private import core, dtypes, earray


class Greatest(dtypes.ExtendedDType):
    """float32 whose cotangents are joined by their maximum."""

    class _rules:
        @staticmethod
        def physical_element_aval(dtype: Any) -> Any:
            return core.ShapedArray((), np.float32)

        @staticmethod
        def convert_from(dtype: Any, other: Any) -> bool:
            return other == np.float32

        @staticmethod
        def convert_to(other: Any, dtype: Any) -> bool:
            return other == np.float32

        @staticmethod
        def tangent_dtype(dtype: Any) -> Any:
            return dtype

        @staticmethod
        def zero(dtype: Any) -> Any:
            return made(np.float32(-np.inf))

        @staticmethod
        def add(dtype: Any, x: Any, y: Any) -> Any:
            return made(lax.max(numbers(x), numbers(y)))

    type = dtypes.extended
    name = "greatest"


GREATEST = Greatest()


def made(x: Any) -> Any:
    return lax.convert_element_type(x, GREATEST)


def numbers(x: Any) -> Any:
    return lax.convert_element_type(x, np.float32)


def test_conversions_follow_the_rules() -> None:
    x = made(dnp.arange(3.0))
    assert isinstance(x, earray.EArray) and x.dtype == GREATEST
    assert made(x) is x
    np.testing.assert_array_equal(numbers(x), [0, 1, 2])
    both = dovetail.jit(lambda x: (made(x), numbers(x.astype(GREATEST)) + 1))(dnp.ones(2))
    assert isinstance(both[0], earray.EArray) and dovetail.typeof(both[0]).str_short()
    np.testing.assert_array_equal(both[1], [2, 2])
    pairs = dovetail.vmap(lambda x: numbers(made(x)) * 2, 1)(dnp.arange(6.0).reshape(2, 3))
    np.testing.assert_array_equal(pairs, [[0, 6], [2, 8], [4, 10]])


def test_other_conversions_are_refused() -> None:
    key = dovetail.random.key(0)
    for convert, said in (
        (lambda: made(dnp.arange(3)), "cannot convert int32 to greatest"),
        (lambda: lax.convert_element_type(made(dnp.ones(3)), np.float16), "greatest to float16"),
        (lambda: lax.convert_element_type(1.0, key.dtype), "cannot convert float32 to key<fry>"),
        (lambda: lax.convert_element_type(key, GREATEST), "cannot convert key<fry> to greatest"),
        (lambda: dnp.ones(3).astype(key.dtype), "cannot convert float32 to key<fry>"),
    ):
        with pytest.raises(ValueError, match=said):
            convert()


@pytest.mark.parametrize("jit", [dovetail.jit, lambda f: f])
def test_cotangents_are_joined_by_the_rule(jit: Any) -> None:
    ones = dnp.ones(3)

    def twice(x: Any) -> Any:
        y = made(x)
        return numbers(y).sum() * 2 + (numbers(y) * dnp.arange(3.0)).sum()

    def looped(x: Any) -> Any:
        y = made(x)
        steps = dnp.arange(4.0)
        return lax.scan(lambda c, i: (c + (numbers(y) * i).sum(), None), 0.0, steps)[0]

    def chosen(x: Any) -> Any:
        y = made(x)
        return numbers(lax.cond(x[0] > 0, lambda y: (y, y), lambda y: (y, y), y)[0]).sum()

    np.testing.assert_array_equal(jit(dovetail.grad(twice))(ones), [2, 2, 2])
    np.testing.assert_array_equal(jit(dovetail.grad(looped))(ones), [3, 3, 3])
    np.testing.assert_array_equal(jit(dovetail.grad(chosen))(ones), [1, 1, 1])
    rows = jit(dovetail.vmap(dovetail.grad(twice)))(dnp.ones((2, 3)))
    np.testing.assert_array_equal(rows, np.full((2, 3), 2))
    value, tangent = jit(lambda x: dovetail.jvp(twice, (x,), (dnp.arange(3.0),)))(ones)
    assert (value, tangent) == (9, 11)
    moved = dovetail.grad(lambda x: numbers(lax.concatenate([made(x), made(2 * x)], 0)).sum())
    np.testing.assert_array_equal(jit(moved)(ones), [3, 3, 3])


def test_cotangents_may_have_such_a_type() -> None:
    back = dovetail.vjp(numbers, made(dnp.ones(3)))[1]
    (cotangent,) = back(dnp.arange(3.0))
    assert cotangent.dtype == GREATEST
    np.testing.assert_array_equal(numbers(cotangent), [0, 1, 2])
