"""Python scalars in control flow: loops whose values start as some, branches that return some."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import grad
from dovetail_batching import vmap
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
        result = lax.fori_loop(*bounds, sums, np.int8(0))
        assert result.dtype == np.int8 and int(result) == 10
    result = jit(lambda lo, hi: lax.fori_loop(lo, hi, sums, np.int8(0)))(0, 5)
    assert result.dtype == np.int8 and int(result) == 10
    result = jit(lambda lo, hi: lax.fori_loop(lo, hi, sums, 0))(np.uint8(1), np.uint8(5))
    assert result.dtype == np.uint8 and int(result) == 10
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


@pytest.mark.parametrize("weak, strong", [(1.0, np.float32(2)), (3, np.int32(4)), (1j, None)])
def test_results_of_branches_are_strongly_typed_where_one_is(weak: Any, strong: Any) -> None:
    strong = np.complex64(2 + 1j) if strong is None else strong
    for kinds in permutations([weak, weak, strong]):
        for i, want in enumerate(kinds):
            branches = [lambda k=k: lax.add(k, 0 * k) for k in kinds]
            for run in (lax.switch, jit(lambda n, b=branches: lax.switch(n, b))):
                result = run(i, branches) if run is lax.switch else run(i)
                assert result.dtype == np.asarray(strong).dtype and not result.weak_type
                assert complex(result) == want
            mapped = vmap(lambda n, b=branches: lax.switch(n, b))(np.arange(3))
            assert not mapped.weak_type
            np.testing.assert_array_equal(mapped, kinds)
    for kinds in permutations([weak, weak * 2, weak * 3]):
        assert lax.switch(1, [lambda k=k: k for k in kinds]).weak_type
    for order in ([weak, strong], [strong, weak]):
        first, second = [lambda k=k: k for k in order]
        assert not lax.cond(True, first, second).weak_type
        assert not lax.platform_dependent(cpu=first, default=second).weak_type
