"""Functions given to loops and branches: traced once for all programs they are part of."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any
from weakref import ref

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import grad, jvp
from dovetail_base.options import check_tracer_leaks
from dovetail_batching import vmap
from dovetail_core import enable_x64
from dovetail_custom_rules import custom_jvp
from dovetail_jit import jit, make_jaxpr
from dovetail_numpy import asarray, ones
from dovetail_remat import checkpoint

XS = np.arange(4, dtype=np.float32)


class Counted:
    """A function, and how often it was traced."""

    def __init__(self, f: Callable[..., Any]) -> None:
        self.calls = 0

        def run(*args: Any) -> Any:
            self.calls += 1
            return f(*args)

        self.run = run


@pytest.fixture
def step() -> Counted:
    return Counted(lambda c, x: (c + x, c))


@pytest.fixture
def inc() -> Counted:
    return Counted(lambda x: x + 1)


def test_programs_that_scan_one_function(step: Counted) -> None:
    def total(xs: Any) -> Any:
        return lax.scan(step.run, 0.0, xs)[0]

    assert float(total(XS)) == 6
    assert float(jit(total)(XS)) == 6
    assert float(jit(lambda xs: total(xs) + total(xs))(XS)) == 12
    assert grad(total)(XS).tolist() == [1] * 4
    assert vmap(total)(XS[None]).tolist() == [6]
    assert float(jvp(total, (XS,), (XS,))[1]) == 6
    make_jaxpr(total)(XS)
    lax.scan(step.run, 0.0, XS[:2], reverse=True)
    lax.scan(step.run, 0.0, XS, unroll=2)
    assert step.calls == 1
    lax.scan(step.run, np.float32(0), XS)
    assert step.calls == 2


def test_loops_and_branches(inc: Counted) -> None:
    def low(x: Any) -> Any:
        return x < 5

    def dec(x: Any) -> Any:
        return x - 1

    for _ in range(2):
        assert float(jit(lambda x: lax.while_loop(low, inc.run, x))(0.0)) == 5
    for other in (dec, lambda x: x * 2):
        assert float(jit(lambda x, f=other: lax.cond(x > 0, inc.run, f, x))(1.0)) == 2
    assert inc.calls == 1


def test_bodies_of_loops_that_count() -> None:
    add = Counted(lambda i, x: x + i)
    for n in (3, 4):
        assert int(lax.fori_loop(0, n, add.run, 0)) == n * (n - 1) // 2
        assert int(jit(lambda x, n=n: lax.fori_loop(0, n, add.run, x))(0)) == n * (n - 1) // 2
    assert add.calls == 1
    for _ in range(2):
        assert int(jit(lambda n: lax.fori_loop(0, n, add.run, 0))(4)) == 6
    assert add.calls == 2  # the index is a strongly typed value


def test_changes_are_seen_by_the_next_program() -> None:
    scale = [1.0]

    def body(c: Any, x: Any) -> Any:
        return c + scale[0] * x, None

    assert float(jit(lambda xs: lax.scan(body, 0.0, xs)[0])(XS)) == 6
    scale[0] = 2.0
    assert float(jit(lambda xs: lax.scan(body, 0.0, xs)[0])(XS)) == 12


def test_a_function_over_tracers_is_traced_in_each_program() -> None:
    held: list[Any] = []

    def body(c: Any, x: Any) -> Any:
        return c + held[0] * x, None

    def program(scale: Any, xs: Any) -> Any:
        held[:] = [scale]
        return lax.scan(body, 0.0, xs)[0]

    assert float(jit(program)(2.0, XS)) == 12
    assert float(jit(lambda s, xs: program(s, xs))(3.0, XS)) == 18
    assert float(grad(program)(3.0, XS)) == 6
    held[:] = [asarray(4.0)]
    for _ in range(2):
        assert float(lax.scan(body, 0.0, XS)[0]) == 24
    assert float(grad(program)(3.0, XS)) == 6


def test_modes_and_axes_are_told_apart() -> None:
    body = Counted(lambda c, x: (c + 1, x * 1))
    jit(lambda: lax.scan(body.run, 0, XS))()
    with enable_x64(True):
        carry, _ = jit(lambda: lax.scan(body.run, 0, XS))()
    assert (str(carry.dtype), body.calls) == ("int64", 2)
    over = Counted(lambda c, x: (c + lax.axis_size("i"), x))

    def run(xs: Any) -> Any:
        return lax.scan(over.run, 0, xs)[0]

    for n in (2, 3, 2):
        assert vmap(run, axis_name="i", out_axes=None)(ones((n, 4))).tolist() == 4 * n
    assert over.calls == 2


def test_checkpointed_functions_with_static_arguments() -> None:
    power = Counted(lambda x, n: x**n)
    for n in (2, 3, 2, 3):
        f = checkpoint(power.run, static_argnums=1)
        assert float(grad(lambda x, f=f, n=n: f(x, n))(2.0)) == n * 2.0 ** (n - 1)
    assert power.calls == 2


def test_computations_of_reductions() -> None:
    add = Counted(lambda a, b: a + b)
    for xs in (XS, XS[:2]):
        assert float(lax.reduce(xs, 0.0, add.run, (0,))) == xs.sum()
        assert lax.reduce_window(xs, 0.0, add.run, (1,), (1,), "VALID").tolist() == xs.tolist()
        assert float(jit(lambda x: lax.reduce(x, 0.0, add.run, (0,)))(xs)) == xs.sum()
    assert add.calls == 1


def test_a_cleared_function_is_traced_again(inc: Counted) -> None:
    f = jit(inc.run)
    for count in (1, 2):
        assert float(f(1.0)) == float(f(2.0)) - 1 == 2
        assert inc.calls == count
        f.clear_cache()


def test_nothing_is_remembered_while_leaks_are_looked_for(step: Counted) -> None:
    with check_tracer_leaks(True):
        for _ in range(2):
            jit(lambda xs: lax.scan(step.run, 0.0, xs))(XS)
    assert step.calls == 2


def test_functions_with_custom_rules_are_let_go() -> None:
    def run() -> list[Any]:
        held = ones(())

        @custom_jvp
        def double(x: Any) -> Any:
            return x * 2 * held if body else x

        double.defjvp(lambda p, t: (double(*p), t[0] * 2))

        def body(c: Any, _: Any) -> Any:
            return double(c), None

        def outer(c: Any, _: Any) -> Any:
            return lax.scan(body, c, None, 2)

        for _ in range(2):
            assert float(jit(lambda c: lax.scan(outer, c, None, 2)[0])(1.0)) == 16
        return [ref(held), ref(body), ref(outer)]

    left = run()
    gc.collect()
    assert [r() for r in left] == [None] * 3


def test_programs_with_lasting_custom_rules_are_remembered() -> None:
    calls = Counted(lambda c, _: (_double(c), None))
    for _ in range(2):
        assert float(jit(lambda c: lax.scan(calls.run, c, None, 2)[0])(1.0)) == 4
    assert calls.calls == 1


@custom_jvp
def _double(x: Any) -> Any:
    return x * 2


_double.defjvp(lambda p, t: (_double(*p), t[0] * 2))
