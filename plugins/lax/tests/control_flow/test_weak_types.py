"""Loops whose values start as Python scalars, which take the types that the body gives them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import grad
from dovetail_jit import jit

V = np.arange(5, dtype=np.float32)


def test_a_carry_that_starts_as_an_integer_becomes_what_the_body_returns() -> None:
    last, _ = lax.scan(lambda c, x: (lax.add(x, lax.convert_element_type(c, x.dtype)), c), 0, V)
    assert last.dtype == np.float32 and float(last) == V.sum()
    assert lax.while_loop(lambda c: c < 5, lambda c: c + 1.5, 0).dtype == np.float32
    assert float(lax.while_loop(lambda c: c < 5, lambda c: c + 1.5, 0)) == 6.0
    assert float(lax.fori_loop(0, 3, lambda i, c: c + 0.5, 0)) == 1.5
    narrow = lax.fori_loop(0, 3, lambda i, c: c + np.int8(2), 0)
    assert narrow.dtype == np.int8 and int(narrow) == 6


def test_types_pass_along_a_chain_of_carries() -> None:
    def step(c: Any, _: Any) -> Any:
        return (c[1], c[2], lax.add(np.float32(1), np.float32(1))), None

    (a, b, c), _ = lax.scan(step, (0, 0, 0), None, length=2)
    assert [(x.dtype, float(x)) for x in (a, b, c)] == [
        (np.float32, 0.0), (np.float32, 2.0), (np.float32, 2.0),
    ]  # fmt: skip


def test_an_index_yields_to_the_types_of_the_body() -> None:
    sums = lambda i, c: c + i  # noqa: E731
    for bounds in ((0, 5), (np.int32(0), 5), (np.uint8(0), np.uint8(5))):
        found = lax.fori_loop(*bounds, sums, np.int8(0))
        assert found.dtype == np.int8 and int(found) == 10
    found = jit(lambda lo, hi: lax.fori_loop(lo, hi, sums, np.int8(0)))(0, 5)
    assert found.dtype == np.int8 and int(found) == 10
    found = jit(lambda lo, hi: lax.fori_loop(lo, hi, sums, 0))(np.uint8(1), np.uint8(5))
    assert found.dtype == np.uint8 and int(found) == 10
    high = lax.fori_loop(
        np.uint32(2**32 - 3), np.uint32(2**32 - 1), lambda i, c: (c[0] + 1, i), (0, np.uint32(0))
    )
    assert (int(high[0]), int(high[1])) == (2, 2**32 - 2)


@pytest.mark.parametrize("unroll", [None, 1, True, False])
def test_bounds_that_are_traced_admit_no_unrolling_but_the_trivial(unroll: Any) -> None:
    run = jit(lambda n: lax.fori_loop(0, n, lambda i, c: c * 2 + i, 0.0, unroll=unroll))
    assert float(run(5)) == 26.0


def test_unrolling_by_nothing_is_no_unrolling() -> None:
    step = lambda c, x: (c * 0.5 + x, c)  # noqa: E731
    want, got = lax.scan(step, 0.0, V), lax.scan(step, 0.0, V, unroll=0)
    np.testing.assert_array_equal(want[1], got[1])
    slope = grad(lambda w: lax.scan(lambda c, x: (c * w + x, None), 0, V, unroll=0)[0])(0.5)
    np.testing.assert_allclose(
        slope, sum(V[4 - k] * k * 0.5 ** (k - 1) for k in range(5)), rtol=1e-6
    )


@pytest.mark.parametrize("run", [jit, lambda f: f])
def test_results_of_branches_are_as_weak_as_those_of_the_first(run: Any) -> None:
    strong, weak = lambda x: np.float32(2), lambda x: x
    choose = lambda *branches: run(lambda x: lax.switch(0, branches, x))(1.0).weak_type  # noqa: E731
    assert choose(weak, strong) and choose(weak, weak, strong)
    assert not choose(strong, weak) and not choose(strong, strong)
    assert run(lambda x: lax.cond(x > 3, strong, weak, x))(1.0).weak_type  # the first is for False
    assert not run(lambda x: lax.cond(x > 3, weak, strong, x))(1.0).weak_type
