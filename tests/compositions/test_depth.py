"""Deep nests and long chains: the work grows as the program does, and the stack holds them.

Work is counted in calls of functions, so nothing here depends on the machine's speed. The program
of a gradient grows with the square of the depth where values are returned from level to level.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp
from dovetail import lax, tree_util
from dovetail_core import check_jaxpr
from dovetail_core.ir.programs import ClosedJaxpr, open_program, walk_programs
from dovetail_text.parser import parse_ir

from .nests import CONSTRUCTS, Function, calls, nested, scan, switch

X = np.float32(1.5)
XS = np.linspace(0.5, 1.5, 3, dtype=np.float32)
KINDS: dict[str, Callable[[Function], Any]] = {
    "trace": lambda f: dovetail.make_jaxpr(f)(X),
    "lower": lambda f: dovetail.jit(f).lower(X),
    "jvp": lambda f: dovetail.make_jaxpr(lambda x: dovetail.jvp(f, (x,), (x,)))(X),
    "vmap": lambda f: dovetail.make_jaxpr(dovetail.vmap(f))(XS),
    "vmap of vmap": lambda f: dovetail.make_jaxpr(dovetail.vmap(dovetail.vmap(f)))(XS[None]),
    "grad": lambda f: dovetail.make_jaxpr(dovetail.grad(f))(X),
    "vmap of grad": lambda f: dovetail.make_jaxpr(dovetail.vmap(dovetail.grad(f)))(XS),
    "lower grad": lambda f: dovetail.jit(dovetail.grad(f)).lower(X),
}
FORWARD = [k for k in KINDS if "grad" not in k]
CASES = [
    (c, k) for c in CONSTRUCTS for k in KINDS if k in FORWARD or c.__name__ != "while_loop"
]  # fmt: skip


@contextmanager
def limit(frames: int) -> Iterator[None]:
    """Python's stack holds so many frames."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(frames)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


@pytest.fixture
def tall() -> Iterator[None]:
    """A stack that holds all, so that nothing is begun twice."""
    with limit(10_000):
        yield


def size(program: ClosedJaxpr) -> int:
    """How many operands and results the operations of a program have, each sub-program's once."""
    eqns = [e for p in walk_programs(program) for e in open_program(p).eqns]
    return sum(1 + len(e.invars) + len(e.outvars) for e in eqns)


def size_of(kind: str, f: Function) -> int:
    if "lower" in kind:
        return size(dovetail.make_jaxpr(dovetail.grad(f) if "grad" in kind else f)(X))
    return size(KINDS[kind](f))


@pytest.mark.parametrize(("construct", "kind"), CASES, ids=[f"{c.__name__}-{k}" for c, k in CASES])
def test_the_work_grows_as_the_program_does(construct: Any, kind: str, tall: None) -> None:
    run = KINDS[kind]
    run(nested(construct, 3))  # what happens once in a process
    small, large = (calls(lambda n=n: run(nested(construct, n))) for n in (8, 32))
    before, after = (size_of(kind, nested(construct, n)) for n in (8, 32))
    assert large / small < 1.15 * max(after / before, 4.0)


def test_a_low_stack_costs_no_more_than_twice_the_work() -> None:
    f, kind = nested(scan, 60), KINDS["lower grad"]
    kind(nested(scan, 3))
    limited = calls(lambda: kind(f))
    with limit(10_000):
        assert limited < 2.5 * calls(lambda: kind(nested(scan, 60)))


ONCE = [(c, k) for c, k in CASES if c is not switch and k not in ("grad", "vmap of grad")]


@pytest.mark.parametrize(("construct", "kind"), ONCE, ids=[f"{c.__name__}-{k}" for c, k in ONCE])
def test_a_hundred_levels_fit_on_the_stack(construct: Any, kind: str) -> None:
    assert sys.getrecursionlimit() == 1000
    KINDS[kind](nested(construct, 100))


@pytest.mark.parametrize("construct", CONSTRUCTS, ids=lambda c: c.__name__)
def test_a_nest_has_the_value_and_derivative_of_its_operations(construct: Any) -> None:
    f, depth = nested(construct, 24), 24
    scale = 0.5**depth
    np.testing.assert_allclose(f(X), np.sin(X) * scale, rtol=1e-5)
    primal, tangent = dovetail.jvp(f, (X,), (np.float32(1),))
    np.testing.assert_allclose(primal, np.sin(X) * scale, rtol=1e-5)
    # The derivative that a custom rule gives is 0.5 in all, for it stands for all within.
    custom = construct.__name__.startswith("custom")
    wanted = 0.5 if custom else np.cos(X) * scale
    if construct.__name__ != "custom_vjp":
        np.testing.assert_allclose(tangent, wanted, rtol=1e-5)
    if construct.__name__ != "while_loop":
        np.testing.assert_allclose(dovetail.grad(f)(X), wanted, rtol=1e-5)
    np.testing.assert_allclose(dovetail.vmap(f)(XS), np.sin(XS) * scale, rtol=1e-5)


# What each level uses twice


def twice(construct: Callable[[Function], Function], depth: int) -> Function:
    """Each level calls the next one, one function, twice."""
    f: Function = dnp.sin
    for _ in range(depth):
        f = (lambda inner: lambda x: inner(x) + inner(x))(construct(f))
    return f


def scanned(f: Function) -> Function:
    def body(c: Any, _: Any) -> Any:
        return f(c), None

    return lambda x: lax.scan(body, x, None, length=1)[0]


@pytest.mark.parametrize("kind", ["trace", "lower"])
@pytest.mark.parametrize("construct", [scanned, dovetail.checkpoint, dovetail.jit])
def test_what_is_used_twice_is_traced_and_written_once(construct: Any, kind: str) -> None:
    run = KINDS[kind]
    run(scanned(twice(construct, 3)))
    small, large = (calls(lambda n=n: run(scanned(twice(construct, n)))) for n in (6, 18))
    assert large < 5 * small


def test_a_function_that_is_both_branches_is_traced_once() -> None:
    def nest(depth: int) -> Function:
        f: Function = dnp.sin
        for _ in range(depth):
            f = (lambda inner: lambda x: lax.cond(x > 0, inner, inner, x))(f)
        return f

    KINDS["trace"](nest(3))
    small, large = (calls(lambda n=n: KINDS["trace"](nest(n))) for n in (6, 18))
    assert large < 5 * small


def test_a_function_is_traced_again_where_it_closes_over_something_else() -> None:
    def f(x: Any) -> Any:
        k = 1.0

        def body(c: Any, _: Any) -> Any:
            return c * k, None

        def run(x: Any) -> Any:
            return lax.scan(body, x, None, length=2)[0]

        def both(c: Any, _: Any) -> Any:
            nonlocal k
            k = 2.0
            once = run(c)
            k = 3.0
            return once + run(c), None

        return lax.scan(both, x, None, length=1)[0]

    np.testing.assert_allclose(dovetail.jit(f)(X), X * 4 + X * 9, rtol=1e-6)


def test_a_function_is_traced_again_where_one_within_it_closes_over_something_else() -> None:
    def f(x: Any) -> Any:
        k = 2.0

        def inner(c: Any) -> Any:
            return c * k

        def body(c: Any, _: Any) -> Any:
            return inner(c), None

        def both(c: Any, _: Any) -> Any:
            nonlocal k
            once = lax.scan(body, c, None, length=1)[0]
            k = 3.0
            return once + lax.scan(body, c, None, length=1)[0], None

        return lax.scan(both, x, None, length=1)[0]

    np.testing.assert_allclose(dovetail.jit(f)(X), X * 2 + X * 3, rtol=1e-6)


def test_a_carry_that_becomes_strongly_typed_does_not_trace_the_body_twice() -> None:
    traced = 0

    def body(c: Any, x: Any) -> Any:
        nonlocal traced
        traced += 1
        return c + x, c

    program = dovetail.make_jaxpr(lambda xs: lax.scan(body, 0.0, xs))(XS)
    assert traced == 1
    check_jaxpr(program)
    last, before = dovetail.jit(lambda xs: lax.scan(body, 0.0, xs))(XS)
    np.testing.assert_allclose(last, XS.sum(), rtol=1e-6)
    np.testing.assert_allclose(before, np.cumsum(XS) - XS, rtol=1e-6)
    assert last.dtype == np.float32 and not last.weak_type


def test_loops_in_the_condition_of_a_mapped_loop_are_lifted_once() -> None:
    def nest(depth: int) -> Function:
        f: Function = dnp.sin
        for _ in range(depth):
            f = (
                lambda inner: (
                    lambda x: lax.while_loop(
                        lambda c: c[0] < inner(c[1]), lambda c: (c[0] + 1.0, c[1]), (x, x)
                    )[0]
                )
            )(f)
        return f

    KINDS["vmap"](nest(2))
    small, large = (calls(lambda n=n: KINDS["vmap"](nest(n))) for n in (3, 9))
    assert large < 6 * small


# Programs


def test_equal_nests_are_equal_and_others_are_not() -> None:
    def program(depth: int, innermost: Function) -> ClosedJaxpr:
        f = innermost
        for _ in range(depth):
            f = (lambda inner: lambda x: lax.cond(x > 0, inner, lambda x: x, x))(f)
        return dovetail.make_jaxpr(f)(X)

    a, b = program(100, dnp.sin), program(100, dnp.sin)
    assert a == b and hash(a) == hash(b)
    assert a != program(100, dnp.cos) and a != program(99, dnp.sin)
    small, large = (calls(lambda n=n: program(n, dnp.sin) == program(n, dnp.sin)) for n in (10, 40))
    assert large < 5 * small


def test_equality_looks_at_what_is_shared_once() -> None:
    def program() -> ClosedJaxpr:
        f: Function = dnp.sin
        for _ in range(40):
            f = (lambda inner: lambda x: lax.cond(x > 0, inner, inner, x))(f)
        return dovetail.make_jaxpr(f)(X)

    assert program() == program()


# What the stack does not hold


@pytest.mark.parametrize(
    "construct", [nest for nest in CONSTRUCTS if "custom" not in nest.__name__]
)
def test_the_error_of_a_nest_that_is_too_deep_says_what_to_do(construct: Any) -> None:
    with pytest.raises(RecursionError) as e:
        nested(construct, 400)(X)
    text = str(e.value)
    assert "functions are being traced within each other at " in text
    assert "sys.setrecursionlimit(10000), or nest less deeply" in text
    np.testing.assert_allclose(nested(construct, 2)(X), np.sin(X) / 4, rtol=1e-6)  # all is well


def test_a_recursion_of_the_users_own_stays_as_it_is() -> None:
    def f(x: Any) -> Any:
        return f(x)

    with pytest.raises(RecursionError, match="maximum recursion depth exceeded"):
        dovetail.jit(f)(X)


@pytest.mark.parametrize(
    "use",
    [
        dovetail.jit(lambda t: t),
        dovetail.grad(lambda t: 1.0),
        dovetail.vmap(lambda t: t),
        lambda t: dovetail.jvp(lambda t: t, (t,), (t,)),
        lambda t: lax.scan(lambda c, _: (c, None), t, None, length=1),
        lambda t: lax.cond(True, lambda t: t, lambda t: t, t),
        lambda t: dovetail.jit(lambda x: t)(X),
        lambda t: dovetail.checkpoint(lambda t: t)(t),
    ],
)
def test_pytrees_that_are_too_deep_are_refused_everywhere(use: Function) -> None:
    tree: Any = X
    for _ in range(10_000):
        tree = [tree]
    with pytest.raises(RecursionError, match=r"a pytree is nested more deeply at .*test_depth"):
        use(tree)
    assert float(dovetail.jit(lambda t: t[0] + 1)([X])) == 2.5


def test_pytrees_that_the_stack_holds_pass() -> None:
    tree: Any = X
    for n in range(600):
        tree = ([tree], (tree,), {"a": tree})[n % 3]
    leaves, treedef = tree_util.tree_flatten(tree)
    assert leaves == [X] and tree_util.tree_unflatten(treedef, leaves) == tree
    out = dovetail.jit(lambda t: tree_util.tree_map(dnp.sin, t))(tree)
    assert tree_util.tree_structure(out) == treedef
    gradient = dovetail.grad(lambda t: dnp.sin(tree_util.tree_leaves(t)[0]))(tree)
    np.testing.assert_allclose(tree_util.tree_leaves(gradient), [np.cos(X)], rtol=1e-6)


# Chains


def chain(n: int) -> Function:
    def f(x: Any) -> Any:
        for _ in range(n):
            x = dnp.sin(x)
        return x

    return f


CHAINED: dict[str, Callable[[Function], Any]] = {
    **KINDS,
    "eager": lambda f: f(X),
    "eager grad": lambda f: dovetail.grad(f)(X),
    "grad of checkpoint": lambda f: KINDS["grad"](dovetail.checkpoint(f)),
    "print": lambda f: str(dovetail.make_jaxpr(f)(X)),
    "equality": lambda f: dovetail.make_jaxpr(f)(X) == dovetail.make_jaxpr(f)(X),
    "check": lambda f: check_jaxpr(dovetail.make_jaxpr(f)(X)),
}


@pytest.mark.parametrize("kind", CHAINED)
def test_the_work_grows_as_the_chain_does(kind: str) -> None:
    run = CHAINED[kind]
    run(chain(3))
    small, large = (calls(lambda n=n: run(chain(n))) for n in (100, 400))
    assert large < 4.6 * small


def test_a_chain_of_ten_thousand() -> None:
    f, n = chain(10_000), 10_000
    program = dovetail.make_jaxpr(f)(X)
    assert len(program.eqns) == n
    assert len(dovetail.make_jaxpr(dovetail.grad(f))(X).eqns) >= 2 * n
    assert len(dovetail.jit(f).lower(X).as_text().splitlines()) > n
    assert parse_ir(str(program)) == program
    value = X
    for _ in range(n):
        value = np.sin(value)
    np.testing.assert_allclose(f(X), value, rtol=1e-3)


def test_places_of_a_chain_are_found_without_searching_it() -> None:
    def f(x: Any) -> Any:
        for _ in range(5000):
            x = dnp.sin(x)
            x.origin()
        return x

    seen = 0

    class Equations(list[Any]):
        def __iter__(self) -> Any:
            raise AssertionError("the whole program is gone through")

        def __getitem__(self, key: Any) -> Any:
            nonlocal seen
            result = super().__getitem__(key)
            seen += len(result) if isinstance(key, slice) else 1
            return result

    def g(x: Any) -> Any:
        x._trace.eqns = Equations()
        return f(x)

    with pytest.raises(AssertionError, match="gone through"):  # where the program is made
        dovetail.make_jaxpr(g)(X)
    assert seen == 5000
