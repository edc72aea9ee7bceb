"""A rule that is registered after a function was compiled changes what the next call computes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import grad, jvp, jvp_rules, linear_transpose, transpose_rules
from dovetail_backends import reference_rules, stablehlo_rules
from dovetail_batching import batch_rules, vmap
from dovetail_core import Primitive, RuleTable, eval_rules, generation
from dovetail_jit import jit, make_jaxpr

X = np.linspace(0.1, 1.0, 4, dtype=np.float32)
BATCH = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)


def total(x: Any) -> Any:
    return lax.reduce_sum_p.bind(x, axes=tuple(range(x.ndim)))


@pytest.fixture
def new_p(request: pytest.FixtureRequest) -> Any:
    """A new primitive: the identity, said by a decomposition; its rules are removed afterwards."""
    p = Primitive(f"acme.late.{request.node.name}")
    p.def_abstract_eval(lambda x: x)
    p.def_decomposition(lambda x: lax.mul(x, 1.0))
    yield p
    tables: list[RuleTable[Any]] = [
        jvp_rules, transpose_rules, batch_rules, stablehlo_rules, reference_rules, eval_rules,
    ]  # fmt: skip
    for table in tables:
        table.rules.pop(p, None)
        table.origins.pop(p, None)


def doubled(b: Any, x: Any) -> Any:
    return b.op("stablehlo.add", [x, x], b.out)


CALLS: dict[str, Callable[[Any], Callable[[Any], Any]]] = {
    "jit": lambda p: jit(lambda x: p.bind(x)),
    "jit of jit": lambda p: jit(jit(lambda x: p.bind(x))),
    "scan": lambda p: jit(lambda x: lax.scan(lambda c, _: (p.bind(c), None), x, length=1)[0]),
    "cond": lambda p: jit(lambda x: lax.cond(total(x) > -99, p.bind, lax.neg, x)),
    "eager": lambda p: p.bind,
}


@pytest.mark.parametrize("how", CALLS)
def test_a_lowering_is_used_by_the_next_call(new_p: Any, how: str) -> None:
    f = CALLS[how](new_p)
    for _ in range(2):
        np.testing.assert_allclose(f(X), X)
    stablehlo_rules.set(new_p, doubled)
    for _ in range(2):
        np.testing.assert_allclose(f(X), 2 * X)
    stablehlo_rules.set(new_p, lambda b, x: x, override=True)
    np.testing.assert_allclose(f(X), X)


def test_stages_that_were_lowered_keep_what_they_are(new_p: Any) -> None:
    f = jit(lambda x: new_p.bind(x))
    before = f.lower(X)
    np.testing.assert_allclose(before.compile()(X), X)
    stablehlo_rules.set(new_p, doubled)
    np.testing.assert_allclose(before.compile()(X), X)
    assert f.lower(X).as_text() != before.as_text()
    np.testing.assert_allclose(f.lower(X).compile()(X), 2 * X)
    np.testing.assert_allclose(f(X), 2 * X)


def test_a_derivative_is_used_by_the_next_call(new_p: Any) -> None:
    f = jit(lambda x: total(new_p.bind(x)))
    calls: list[Callable[[Any], Any]] = [
        grad(f),
        jit(grad(f)),
        jit(grad(lambda x: total(lax.scan(lambda c, _: (new_p.bind(c), None), x, length=1)[0]))),
        lambda x: jvp(jit(new_p.bind), (x,), (np.ones_like(x),))[1],
        lambda x: vmap(grad(f))(BATCH)[0],
    ]
    for g in calls:
        np.testing.assert_allclose(g(X), np.ones(4))
    jvp_rules.set(
        new_p, lambda primals, tangents: (new_p.bind(*primals), lax.mul(3.0, tangents[0]))
    )
    for g in calls:
        np.testing.assert_allclose(g(X), np.full(4, 3.0))
    np.testing.assert_allclose(f(X), X.sum(), rtol=1e-6)


def test_a_transpose_is_used_by_the_next_call(new_p: Any) -> None:
    jvp_rules.set(new_p, lambda primals, tangents: (new_p.bind(*primals), new_p.bind(*tangents)))
    f = jit(new_p.bind)
    calls: list[Callable[[Any], Any]] = [
        lambda x: linear_transpose(f, x)(x)[0],
        jit(lambda x: linear_transpose(f, x)(x)[0]),
        jit(lambda x: lax.mul(grad(lambda y: total(f(y)))(x), x)),
        jit(lambda x: lax.mul(grad(lambda y: total(lax.cond(True, f, f, y)))(x), x)),
    ]
    for g in calls:
        np.testing.assert_allclose(g(X), X)
    transpose_rules.set(new_p, lambda ct, x: [lax.mul(5.0, ct)])
    for g in calls:
        np.testing.assert_allclose(g(X), 5 * X, rtol=1e-6)


def test_a_batching_rule_is_used_by_the_next_call(new_p: Any) -> None:
    f = jit(new_p.bind)
    calls = [vmap(f), jit(vmap(f)), jit(vmap(lambda x: lax.map(new_p.bind, x)))]
    for g in calls:
        np.testing.assert_allclose(g(BATCH), BATCH)
    batch_rules.set(new_p, lambda axis, args, dims: (lax.neg(args[0]), dims[0]))
    for g in calls:
        np.testing.assert_allclose(g(BATCH), -BATCH)
    np.testing.assert_allclose(f(X), X)


def test_a_reference_rule_is_used_by_the_next_call(new_p: Any) -> None:
    f = jit(new_p.bind, backend="reference")
    np.testing.assert_allclose(f(X), X)
    reference_rules.set(new_p, lambda x: x + 1)
    np.testing.assert_allclose(f(X), X + 1)


def test_only_changes_cost_a_compilation(new_p: Any) -> None:
    traced: list[Any] = []

    @jit
    def f(x: Any) -> Any:
        traced.append(x)
        return new_p.bind(x)

    f(X)
    before = generation.value
    make_jaxpr(grad(lambda x: total(new_p.bind(x))))(X)  # derives rules: no change
    vmap(new_p.bind)(BATCH)
    assert generation.value == before
    f(X)
    assert len(traced) == 1
    anonymous = Primitive("mine", anonymous=True)
    jvp_rules.set(anonymous, lambda primals, tangents: (primals[0], tangents[0]))
    assert generation.value == before, "a custom rule of one function concerns no other"
    batch_rules.set(new_p, lambda axis, args, dims: (args[0], dims[0]))
    assert generation.value == before + 1
    f(X)
    assert len(traced) == 2


_FIRST = """
import numpy as np

import dovetail
import dovetail.numpy as dnp

calls = []
f = dovetail.jit(lambda x: calls.append(1) or dnp.sin(x))
compiled = []
dovetail_core = __import__("dovetail_hooks", fromlist=["manager", "hookimpl"])


class Compiled:
    @dovetail_core.hookimpl
    def dovetail_compiled(self, name, platform, cached, seconds):
        compiled.append(name)


dovetail_core.manager().register(Compiled())
for _ in range(3):
    f(np.ones(3, np.float32))
import dovetail.random

dovetail.random.key(0)  # its options, too
f(np.ones(3, np.float32))
print(len(calls), compiled.count("<lambda>") + compiled.count("_lambda_"))
"""


def test_the_first_function_of_a_process_is_traced_and_compiled_once() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _FIRST], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["1", "1"]
