"""Transformations of random programs in random order, against loops and finite differences."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

import dovetail
import dovetail.numpy as dnp
from dovetail_backends.testing import evaluated_by_reference
from dovetail_core import get_trace

from .programs import (
    REVERSIBLE,
    curvature,
    directional,
    gradient,
    programs,
    run,
    run_numpy,
)

FULL = 12 if os.environ.get("DOVETAIL_TEST_FULL") == "1" else 1
POINTS = np.cos(np.arange(12.0) + 0.5).reshape(3, 4)
X, V = POINTS[0], POINTS[1]
WEIGHTS = 1 + 0.5 * np.sin(np.arange(4.0))
EXACT = 1e-8  # but for finite differences inside of the oracle
QUICK = {"xla_backend_optimization_level": 0}  # what is tested is what XLA is given
KS = np.asarray([0, 2, 1], np.int32)
ALL = (*REVERSIBLE, "while")


def examples(count: int) -> Callable[[Any], Any]:
    """The same ``count`` examples each time (more where everything is tested)."""
    return settings(
        max_examples=count * FULL,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink] if FULL > 1 else [Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


@pytest.fixture(autouse=True, scope="module")
def double_precision() -> Iterator[None]:
    """Finite differences need digits. What is not compiled as a whole is evaluated by NumPy."""
    with dovetail.enable_x64(True), evaluated_by_reference():
        yield


def close(result: Any, expected: Any, tol: float = 1e-6) -> None:
    expected = np.asarray(expected)
    scale = max(1.0, float(np.max(np.abs(expected), initial=0)))
    np.testing.assert_allclose(np.asarray(result), expected, rtol=0, atol=tol * scale)


def maybe_jit(jitted: bool, f: Callable[..., Any]) -> Callable[..., Any]:
    """A function, compiled quickly where it is called at rest; within a program no options are
    taken."""
    if not jitted:
        return f
    inside, outermost = dovetail.jit(f), dovetail.jit(f, compiler_options=QUICK)

    def call(*args: Any) -> Any:
        return (outermost if get_trace().computes else inside)(*args)

    return call


def scalar(p: Any) -> Callable[[Any, Any], Any]:
    return lambda x, k: (run(p, x, k) * WEIGHTS).sum()


def scalar_numpy(p: Any, k: int) -> Callable[[Any], Any]:
    return lambda x: (run_numpy(p, x, k) * WEIGHTS).sum()


flags = st.lists(st.booleans(), min_size=4, max_size=4)


@examples(14)
@given(programs(ALL), st.sampled_from([0, 1, 2]), st.booleans())
def test_values(p: Any, k: int, jitted: bool) -> None:
    f = maybe_jit(jitted, lambda x, k: run(p, x, k))
    close(f(X, np.int32(k)), run_numpy(p, X, k), EXACT)


@examples(14)
@given(programs(ALL), st.sampled_from([(0, None), (None, 0), (0, 0)]), st.booleans())
def test_vmap_is_a_loop(p: Any, axes: Any, jitted: bool) -> None:
    """Also where the predicates of branches and loops are mapped."""
    args = [a if ax == 0 else a[0] for a, ax in zip((POINTS, KS), axes)]
    f = maybe_jit(jitted, dovetail.vmap(lambda x, k: run(p, x, k), axes))
    rows = [[a[i] if ax == 0 else a for a, ax in zip(args, axes)] for i in range(3)]
    close(f(*args), np.stack([run_numpy(p, x, int(k)) for x, k in rows]), EXACT)


@examples(12)
@given(programs(), st.permutations(["grad", "vmap"]), flags)
def test_grad_and_vmap_in_either_order(p: Any, order: list[str], jitted: list[bool]) -> None:
    f: Any = maybe_jit(jitted[0], scalar(p))
    if order == ["grad", "vmap"]:
        f = dovetail.vmap(maybe_jit(jitted[1], dovetail.grad(f)))
    else:
        mapped = maybe_jit(jitted[1], dovetail.vmap(f))
        f = dovetail.grad(lambda xs, ks: mapped(xs, ks).sum())
    result = maybe_jit(jitted[2] or jitted[3], f)(POINTS, KS)
    expected = [gradient(scalar_numpy(p, int(k)), x) for x, k in zip(POINTS, KS)]
    close(result, np.stack(expected))


@examples(10)
@given(programs(ALL), st.sampled_from(["jvp", "jacfwd", "linearize"]), flags)
def test_forward_mode_of_mapped_programs(p: Any, mode: str, jitted: list[bool]) -> None:
    f = maybe_jit(jitted[0], lambda x, k: run(p, x, k))

    def push(x: Any, k: Any) -> Any:
        g = lambda y: f(y, k)  # noqa: E731
        if mode == "jvp":
            return dovetail.jvp(g, (x,), (V,))[1]
        if mode == "jacfwd":
            return dovetail.jacfwd(g)(x) @ V
        return dovetail.linearize(g, x)[1](V)

    result = maybe_jit(jitted[1], dovetail.vmap(maybe_jit(jitted[2], push)))(POINTS, KS)
    expected = [
        directional(lambda y, k=int(k): run_numpy(p, y, k), x, V) for x, k in zip(POINTS, KS)
    ]
    close(result, np.stack(expected))


SECOND: dict[str, Callable[[Any], Callable[[Any], Any]]] = {
    "hessian": lambda f: lambda x: V @ dovetail.hessian(f)(x) @ WEIGHTS,
    "jacrev of grad": lambda f: lambda x: V @ dovetail.jacrev(dovetail.grad(f))(x) @ WEIGHTS,
    "jvp of grad": lambda f: lambda x: dovetail.jvp(dovetail.grad(f), (x,), (V,))[1] @ WEIGHTS,
    "jvp of vjp": lambda f: (
        lambda x: (
            dovetail.jvp(lambda y: dovetail.vjp(f, y)[1](np.float64(1))[0], (x,), (V,))[1] @ WEIGHTS
        )
    ),
    "vjp of jvp": lambda f: (
        lambda x: (
            dovetail.vjp(lambda y: dovetail.jvp(f, (y,), (V,))[1], x)[1](np.float64(1))[0] @ WEIGHTS
        )
    ),
    "jvp of jvp": lambda f: (
        lambda x: dovetail.jvp(lambda y: dovetail.jvp(f, (y,), (V,))[1], (x,), (WEIGHTS,))[1]
    ),
}


@examples(12)
@given(
    programs(tuple(k for k in REVERSIBLE if k != "grad"), 4),
    st.sampled_from([0, 1, 2]),
    st.sampled_from(sorted(SECOND)),
    flags,
)
def test_second_derivatives_in_every_mode(p: Any, k: int, mode: str, jitted: list[bool]) -> None:
    f = maybe_jit(jitted[0], lambda x: scalar(p)(x, np.int32(k)))
    result = maybe_jit(jitted[1] or jitted[2], SECOND[mode](f))(X)
    close(result, curvature(scalar_numpy(p, k), X, V, WEIGHTS), 1e-5)


@examples(6)
@given(programs(ALL, 4), flags)
def test_mapping_twice(p: Any, jitted: list[bool]) -> None:
    inner = dovetail.vmap(maybe_jit(jitted[0], lambda x, k: run(p, x, k)), (0, None))
    outer = dovetail.vmap(maybe_jit(jitted[1], inner), (None, 0), 1)
    result = maybe_jit(jitted[2], outer)(POINTS, KS)
    expected = [[run_numpy(p, x, int(k)) for k in KS] for x in POINTS]
    close(result, np.asarray(expected), EXACT)


@examples(6)
@given(programs(REVERSIBLE, 4), st.sampled_from([0, 1, 2]))
def test_the_reference_backend_agrees(p: Any, k: int) -> None:
    f = dovetail.value_and_grad(scalar(p))
    result = dovetail.jit(f, backend="reference")(X, np.int32(k))
    for a, b in zip(result, maybe_jit(True, f)(X, np.int32(k))):
        close(a, b, EXACT)


def test_the_grammar_means_what_it_says() -> None:
    """The oracle against numbers worked out by hand."""
    x = np.asarray([0.5, -1.0])
    assert run_numpy((("cond", ("sin",), ("tanh",)),), x, 1).tolist() == np.sin(x).tolist()
    assert run_numpy((("while", ("reversed",)),), x, 1).tolist() == [-1.0, 0.5]
    result = run_numpy((("grad", ("sin",)),), x, 0)
    close(result, x + 0.1 * np.cos(x), 1e-10)
    close(run((("grad", ("sin",)),), dnp.asarray(x), 0), result, 1e-10)
