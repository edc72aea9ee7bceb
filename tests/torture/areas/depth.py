"""Deep nests of mixed constructs, deep pytrees, long chains: right, or a clear error."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import dovetail
import dovetail.numpy as dnp
from dovetail import lax, tree_util

LIMIT = 120.0
BATCH = 25

QUICK = {"xla_backend_optimization_level": 0}  # what is attacked is what XLA is given
Function = Callable[[Any], Any]


def attempt(rng: random.Random, begin: Callable[[str], None]) -> None:
    kinds = [_value, _value, _transformed, _transformed, _beyond, _tree, _tree_too_deep, _chain]
    rng.choice(kinds)(rng, begin)


# The oracle: dual numbers in plain Python


class Dual:
    """A number and its derivative, either of which may be such a pair."""

    def __init__(self, primal: Any, tangent: Any) -> None:
        self.primal, self.tangent = primal, tangent

    def __mul__(self, k: float) -> Dual:
        return Dual(self.primal * k, self.tangent * k)

    def __add__(self, k: float) -> Dual:
        return Dual(self.primal + k, self.tangent)

    def times(self, other: Any) -> Dual:
        """The product with something that is no dual at this level."""
        return Dual(times(self.primal, other), times(self.tangent, other))


def times(a: Any, b: Any) -> Any:
    if isinstance(a, Dual) and isinstance(b, Dual):
        return Dual(
            times(a.primal, b.primal),
            plus(times(a.primal, b.tangent), times(a.tangent, b.primal)),
        )
    return a * b if not isinstance(b, Dual) else b * a


def plus(a: Any, b: Any) -> Any:
    if isinstance(a, Dual) and isinstance(b, Dual):
        return Dual(plus(a.primal, b.primal), plus(a.tangent, b.tangent))
    return a + b if not isinstance(b, Dual) else b + a


def number(x: Any) -> float:
    return number(x.primal) if isinstance(x, Dual) else x


def sin(x: Any) -> Any:
    if isinstance(x, Dual):
        return Dual(sin(x.primal), times(cos(x.primal), x.tangent))
    return math.sin(x)


def cos(x: Any) -> Any:
    if isinstance(x, Dual):
        return Dual(cos(x.primal), times(sin(x.primal) * -1.0, x.tangent))
    return math.cos(x)


def zero(x: Any) -> Any:
    return Dual(zero(x.primal), zero(x.tangent)) if isinstance(x, Dual) else 0.0


def one_beside(x: Any) -> Any:
    """1 of the structure of ``x``."""
    return Dual(one_beside(x.primal), zero(x.tangent)) if isinstance(x, Dual) else 1.0


# Constructs: around a function and its oracle


def _construct(
    rng: random.Random, f: Function, oracle: Function, rare: list[int], names: list[str]
) -> Any:
    """A construct around a function, by Dovetail and in plain Python."""
    a, b = rng.choice([0.75, 0.9, 1.1]), rng.choice([-0.25, 0.1, 0.4])

    def step(x: Any) -> Any:
        return f(x) * a + b

    def step_(x: Any) -> Any:
        return oracle(x) * a + b

    if rare[0] > 0 and rng.random() < 0.1:
        rare[0] -= 1
        return rng.choice([_custom_jvp, _mapped, _differentiated])(step, step_)
    return _common(rng, rng.choice(names), step, step_)


def _common(rng: random.Random, name: str, step: Function, step_: Function) -> Any:
    t = rng.choice([-0.5, 0.2, 0.6])
    if name == "cond":

        def cond(x: Any) -> Any:
            return lax.cond(x > t, step, lambda x: x * 0.5, x)

        return cond, lambda x: step_(x) if number(x) > t else x * 0.5
    if name == "switch":
        branches = [lambda x: x * 0.5, step, lambda x: x + 0.5]

        def switch(x: Any) -> Any:
            return lax.switch(1 + lax.convert_element_type(x > 5, "int32"), branches, x)

        return switch, step_
    if name == "while":

        def loop(x: Any) -> Any:
            return lax.while_loop(lambda s: s[0] < 1, lambda s: (s[0] + 1, step(s[1])), (0, x))[1]

        return loop, step_
    one = {
        "fori": lambda x: lax.fori_loop(0, 1, lambda i, c: step(c), x),
        "scan": lambda x: lax.scan(lambda c, _: (step(c), c), x, None, length=1)[0],
        "jit": dovetail.jit(step),
        "checkpoint": dovetail.checkpoint(step),
        "custom_vjp": _custom_vjp(step),
    }
    return one[name], step_


def _custom_vjp(step: Function) -> Function:
    f = dovetail.custom_vjp(lambda x: step(x))
    f.defvjp(lambda x: dovetail.vjp(step, x), lambda pullback, ct: pullback(ct))
    return f


def _custom_jvp(step: Function, step_: Function) -> Any:
    f = dovetail.custom_jvp(lambda x: step(x))
    f.defjvp(lambda primals, tangents: dovetail.jvp(step, primals, tangents))
    return f, step_


def _mapped(step: Function, step_: Function) -> Any:
    def mapped(x: Any) -> Any:
        return dovetail.vmap(step)(dnp.stack([x, x]))[1]

    return mapped, step_


def _differentiated(step: Function, step_: Function) -> Any:
    def derivative(x: Any) -> Any:
        return dovetail.jvp(step, (x,), (dnp.ones_like(x),))[1]

    return derivative, lambda x: step_(Dual(x, one_beside(x))).tangent


def _nest(rng: random.Random, depth: int, rare: int = 2) -> tuple[Function, Function, bool]:
    """A nest, its oracle, and whether it has a gradient."""
    f, oracle = dnp.sin, sin
    left = [rare]
    # A while loop has no reverse mode, and custom_vjp no forward mode but by that.
    names = ["cond", "switch", "fori", "scan", "jit", "checkpoint"]
    names.append(rng.choice(["while", "custom_vjp"]))
    reversible = True
    for _ in range(depth):
        f, oracle = _construct(rng, f, oracle, left, names)
        reversible = reversible and f.__name__ != "loop"
    return f, oracle, reversible


def _depth(rng: random.Random) -> int:
    return rng.choice([4, 8, 16, 30, 60, 100])


def _value(rng: random.Random, begin: Callable[[str], None]) -> None:
    depth = _depth(rng)
    begin(f"nest {depth} deep, evaluated")
    f, oracle, _ = _nest(rng, depth)
    x = rng.uniform(-1, 1)
    result = dovetail.jit(f, compiler_options=QUICK)(np.float32(x))
    np.testing.assert_allclose(result, oracle(x), rtol=2e-3, atol=2e-3)


def _transformed(rng: random.Random, begin: Callable[[str], None]) -> None:
    depth = min(_depth(rng), 30)  # XLA takes long over the derivatives of deeper ones
    f, oracle, reversible = _nest(rng, depth, rare=1)
    x = np.float32(rng.uniform(-1, 1))
    kind = rng.choice(["jvp", "vmap", "grad"] if reversible else ["jvp", "vmap"])
    begin(f"nest {depth} deep, {kind}")
    if kind == "vmap":
        result = dovetail.jit(dovetail.vmap(f), compiler_options=QUICK)(np.array([x, -x]))
        np.testing.assert_allclose(
            result, [oracle(float(x)), oracle(-float(x))], rtol=2e-3, atol=2e-3
        )
        return

    def derivative(x: Any) -> Any:
        return dovetail.grad(f)(x) if kind == "grad" else dovetail.jvp(f, (x,), (x * 0 + 1,))[1]

    result = dovetail.jit(derivative, compiler_options=QUICK)(x)
    expected = oracle(Dual(float(x), 1.0)).tangent
    np.testing.assert_allclose(result, expected, rtol=5e-3, atol=5e-3)


def _beyond(rng: random.Random, begin: Callable[[str], None]) -> None:
    begin("nest too deep for the stack")
    f, _, _ = _nest(rng, rng.choice([250, 400]), rare=0)
    try:
        dovetail.make_jaxpr(f)(np.float32(0.5))
    except RecursionError as e:
        assert "functions are being traced within each other at " in str(e), e
        assert "sys.setrecursionlimit(" in str(e), e
    small, oracle, _ = _nest(rng, 3, rare=0)
    result = dovetail.jit(small)(np.float32(0.5))
    np.testing.assert_allclose(result, oracle(0.5), rtol=1e-3)


def _deep_tree(rng: random.Random, depth: int, leaf: Any) -> Any:
    tree = leaf
    for _ in range(depth):
        wrap = rng.choice([lambda t: [t], lambda t: (t,), lambda t: {"a": t}, lambda t: (t, None)])
        tree = wrap(tree)
    return tree


def _tree(rng: random.Random, begin: Callable[[str], None]) -> None:
    depth = rng.choice([50, 200, 600])
    begin(f"pytree {depth} deep")
    x = rng.uniform(-1, 1)
    tree = _deep_tree(rng, depth, np.float32(x))
    leaves, treedef = tree_util.tree_flatten(tree)
    assert tree_util.tree_unflatten(treedef, leaves) == tree
    (result,) = tree_util.tree_leaves(dovetail.jit(lambda t: tree_util.tree_map(dnp.sin, t))(tree))
    np.testing.assert_allclose(result, math.sin(x), rtol=1e-5)
    gradient = dovetail.grad(lambda t: dnp.sin(tree_util.tree_leaves(t)[0]))(tree)
    assert tree_util.tree_structure(gradient) == treedef
    np.testing.assert_allclose(tree_util.tree_leaves(gradient)[0], math.cos(x), rtol=1e-5)


def _tree_too_deep(rng: random.Random, begin: Callable[[str], None]) -> None:
    begin("pytree too deep for the stack")
    tree = _deep_tree(rng, rng.choice([1500, 10_000]), np.float32(1))
    uses: list[Function] = [
        tree_util.tree_leaves,
        tree_util.tree_flatten_with_path,
        dovetail.jit(lambda t: t),
        dovetail.grad(lambda t: 1.0),
        dovetail.vmap(lambda t: t),
        lambda t: lax.scan(lambda c, _: (c, None), t, None, length=1),
        lambda t: dovetail.jit(lambda x: t)(np.float32(1)),
    ]
    try:
        rng.choice(uses)(tree)
        raise AssertionError("no error")
    except RecursionError as e:
        assert "a pytree is nested more deeply" in str(e), e
    assert sys.getrecursionlimit() == 1000
    assert float(dovetail.jit(lambda t: t[0] + 1)([np.float32(1)])) == 2.0


def _chain(rng: random.Random, begin: Callable[[str], None]) -> None:
    n = rng.choice([100, 1000, 10_000])
    kind = rng.choice(["eager", "trace", "grad", "vmap", "lower"])
    begin(f"chain of {n}, {kind}")
    a = rng.uniform(0.9, 0.99)

    def f(x: Any) -> Any:
        for _ in range(n):
            x = dnp.sin(x) * a
        return x

    x = np.float32(0.5)
    if kind == "eager":
        y = 0.5
        for _ in range(n):
            y = math.sin(y) * a
        np.testing.assert_allclose(f(x), y, rtol=1e-2, atol=1e-6)
    elif kind == "vmap":
        program = dovetail.make_jaxpr(dovetail.vmap(f))(np.ones(3, np.float32))
        assert program.out_avals[0].shape == (3,)
    elif kind == "lower":
        text = dovetail.jit(f).lower(x).as_text()
        assert text.count("sine") == n
    else:
        g = dovetail.grad(f) if kind == "grad" else f
        result = [e.primitive.name for e in dovetail.make_jaxpr(g)(x).eqns]
        assert result.count("sin") == n
        assert result.count("cos") == (n if kind == "grad" else 0)
