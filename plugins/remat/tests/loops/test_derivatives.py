"""Checkpointed loops have the derivatives of plain ones, under every transformation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import (
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linear_transpose,
    linearize,
    value_and_grad,
    vjp,
)
from dovetail_backends.testing import evaluated_by_reference
from dovetail_base.options import disable_jit
from dovetail_batching import vmap
from dovetail_core import parse_ir, print_ir
from dovetail_jit import jit, make_jaxpr
from dovetail_remat import Binomial, Online, Periodic, checkpoint
from dovetail_tree.util import tree_leaves

SCHEMES = [Binomial(3), Periodic(4), Online(2)]
N = 11
SLICES = np.linspace(0.0, 1.0, N)
X = np.array([0.3, 0.7])
W = 1.1
XS = np.stack([X, 2 * X, X - 1])
WS = np.array([1.1, 0.9, 0.2])
Function = Callable[..., Any]

pytestmark = pytest.mark.usefixtures("x64")


@pytest.fixture(autouse=True)
def evaluation() -> Iterator[None]:
    """By NumPy, which need not compile; what is compiled is so in :func:`test_compiled`."""
    with evaluated_by_reference():
        yield


def total(x: Any) -> Any:
    return lax.reduce_sum_p.bind(x, axes=tuple(range(x.ndim)))


def loss(scheme: Any, reverse: bool = False) -> Function:
    """A loop with an integer carry, slices, stacked results and a closed-over parameter."""

    def f(x: Any, w: Any, xs: Any = SLICES) -> Any:
        def step(carry: Any, s: Any) -> Any:
            k, c = carry
            scale = lax.convert_element_type(k, np.float64)
            new = lax.add(lax.sin(lax.mul(w, c)), lax.mul(s, scale))
            return (lax.add(k, np.int32(1)), new), {"sum": total(new), "step": k}

        start = (np.int32(0), x)
        (_, c), ys = lax.scan(step, start, xs, reverse=reverse, checkpoint=scheme)
        weights = np.arange(float(N))
        return lax.add(total(lax.mul(c, c)), total(lax.mul(ys["sum"], weights)))

    return f


def transposed_twice(f: Function) -> Any:
    """The linear part of a gradient, whose transposes are linear in what their loops carry."""
    _, push = linearize(grad(f), X, W)
    pull = linear_transpose(push, X, W)
    return linear_transpose(lambda ct: pull(ct), X)((X, 1.0))


USES: dict[str, Callable[[Function], Any]] = {
    "value": lambda f: f(X, W),
    "jvp": lambda f: jvp(f, (X, W), (X, 1.0)),
    "grad": lambda f: grad(f, (0, 1, 2))(X, W, SLICES),
    "value and grad in jit": lambda f: jit(value_and_grad(f, (0, 1)))(X, W),
    "vmap of grad": lambda f: vmap(grad(f, (0, 1)))(XS, WS),
    "vmap of grad by a constant": lambda f: vmap(grad(f, (0, 1)), (None, 0))(X, WS),
    "grad of vmap": lambda f: grad(lambda xs: total(vmap(f, (0, None))(xs, W)))(XS),
    "vmap of a pullback": lambda f: vmap(vjp(f, X, W)[1])(np.arange(3.0)),
    "jvp of grad": lambda f: jvp(grad(f, (0, 1)), (X, W), (X, 1.0)),
    "forward over reverse": lambda f: jacfwd(grad(f, (0, 1)), (0, 1))(X, W),
    "reverse over reverse": lambda f: jacrev(grad(f, (0, 1)), (0, 1))(X, W),
    "reverse over forward": lambda f: jacrev(jacfwd(f))(X, W),
    "hessian in jit": lambda f: jit(hessian(f, (0, 1)))(X, W),
    "reverse over reverse in jit": lambda f: jit(jacrev(grad(f)))(X, W),
    "grad of jit of grad": lambda f: grad(lambda x: total(jit(grad(f))(x, W)))(X),
    "transposes of a second derivative": transposed_twice,
    "vmap of reverse over reverse": lambda f: vmap(jacrev(grad(f)))(XS, WS),
    "third order": lambda f: grad(lambda x: total(grad(lambda y: total(grad(f)(y, W)))(x)))(X),
    "vmap of a linear map": lambda f: vmap(linearize(lambda x: f(x, W), X)[1])(np.eye(2)),
    "transposed pullback": lambda f: linear_transpose(vjp(f, X, W)[1], 1.0)((X, 1.0)),
    "in remat": lambda f: grad(checkpoint(f), (0, 1))(X, W),
}


SHORT = ["grad", "vmap of grad", "jvp of grad", "reverse over reverse", "transposed pullback"]
CASES = [(SCHEMES[0], use) for use in USES] + [(s, use) for s in SCHEMES[1:] for use in SHORT]


@pytest.mark.parametrize(("scheme", "use"), CASES, ids=str)
def test_a_scan_has_the_same_derivatives(scheme: Any, use: str) -> None:
    wanted = tree_leaves(USES[use](loss(None)))
    result = tree_leaves(USES[use](loss(scheme)))
    assert len(wanted) == len(result)
    for a, b in zip(wanted, result):
        np.testing.assert_allclose(b, a, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
def test_compiled(scheme: Any) -> None:
    wanted = tree_leaves(USES["grad"](loss(None)))
    result = tree_leaves(jit(grad(loss(scheme), (0, 1, 2)))(X, W, SLICES))
    for a, b in zip(wanted, result, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
def test_a_reversed_scan_has_the_same_gradient(scheme: Any) -> None:
    wanted = grad(loss(None, reverse=True), (0, 1, 2))(X, W, SLICES[::-1].copy())
    result = grad(loss(scheme, reverse=True), (0, 1, 2))(X, W, SLICES[::-1].copy())
    for a, b in zip(wanted, result):
        np.testing.assert_allclose(b, a, rtol=1e-12)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 30])
@pytest.mark.parametrize("s", [1, 2, 7])
def test_loops_of_any_length(n: int, s: int) -> None:
    def f(x: Any, scheme: Any) -> Any:
        return total(lax.fori_loop(0, n, lambda i, c: lax.sin(c), x, checkpoint=scheme))

    wanted = grad(lambda x: f(x, None))(X)
    for scheme in (Binomial(s), Periodic(s), Online(s)):
        np.testing.assert_allclose(grad(lambda x: f(x, scheme))(X), wanted, rtol=1e-12)  # noqa: B023


def test_nested_loops_with_a_scheme_each() -> None:
    def f(x: Any, w: Any, outer: Any, inner: Any) -> Any:
        def row(c: Any, s: Any) -> Any:
            def step(i: Any, d: Any) -> Any:
                return lax.sin(lax.add(lax.mul(w, d), s))

            c = lax.fori_loop(0, 5, step, c, checkpoint=inner)
            return c, total(c)

        c, ys = lax.scan(row, x, np.linspace(0.0, 1.0, 7), checkpoint=outer)
        return lax.add(total(c), total(lax.mul(ys, ys)))

    first = jit(grad(f, (0, 1)), static_argnums=(2, 3))
    second = jit(jacrev(grad(f)), static_argnums=(2, 3))
    for use, outer, inner in (
        (first, Binomial(2), Periodic(2)),
        (first, None, Online(1)),
        (second, Online(2), Binomial(1)),
    ):
        wanted, result = use(X, W, None, None), use(X, W, outer, inner)
        for a, b in zip(tree_leaves(wanted), tree_leaves(result)):
            np.testing.assert_allclose(b, a, rtol=1e-11)


def test_a_checkpointed_loop_inside_of_a_scan_and_a_cond() -> None:
    def f(x: Any, scheme: Any) -> Any:
        def step(c: Any, s: Any) -> Any:
            def yes(c: Any) -> Any:
                return lax.fori_loop(
                    0, 6, lambda i, d: lax.sin(lax.mul(d, s)), c, checkpoint=scheme
                )

            return lax.cond(s > 0.4, yes, lax.cos, c), None

        return total(lax.scan(step, x, np.linspace(0.0, 2.0, 6))[0])

    wanted = jit(grad(lambda x: f(x, None)))(X)
    np.testing.assert_allclose(jit(grad(lambda x: f(x, Binomial(2))))(X), wanted, rtol=1e-12)
    wanted = vmap(grad(lambda x: f(x, None)))(XS)
    np.testing.assert_allclose(vmap(grad(lambda x: f(x, Binomial(2))))(XS), wanted, rtol=1e-12)


def test_collectives_over_a_mapped_axis() -> None:
    def f(x: Any, scheme: Any) -> Any:
        def step(i: Any, c: Any) -> Any:
            index = lax.convert_element_type(lax.axis_index("i"), np.float64)
            return lax.add(lax.mul(lax.sin(c), index), lax.mul(0.1, lax.psum(c, "i")))

        return lax.fori_loop(0, 4, step, x, checkpoint=scheme)

    def every(scheme: Any) -> Any:
        return (
            vmap(grad(lambda x: f(x, scheme)), axis_name="i")(WS),
            vmap(grad(lambda x: f(x, scheme)), axis_name="i", in_axes=None, axis_size=3)(W),
            vmap(grad(grad(lambda x: f(x, scheme))), axis_name="i")(WS),
        )

    for a, b in zip(every(None), every(Binomial(2))):
        np.testing.assert_allclose(b, a, rtol=1e-12)


def test_without_compilation_loops_run_in_python() -> None:
    with disable_jit(True):
        value = loss(Binomial(2))(X, W)
    np.testing.assert_allclose(value, loss(None)(X, W), rtol=1e-12)


def test_only_carries_that_reverse_mode_looks_at_are_kept() -> None:
    def f(x: Any) -> Any:
        def step(carry: Any, _: Any) -> Any:
            c, sum_ = carry
            return (lax.sin(c), lax.add(sum_, c)), None

        (_, sum_), _ = lax.scan(step, (x, x), None, length=9, checkpoint=Binomial(4))
        return total(sum_)

    program = make_jaxpr(grad(f))(X)
    (forward,) = [e for e in program.eqns if e.primitive.name == "checkpointed_forward"]
    assert forward.params["stored"] == (True, False)


def test_the_size_of_the_program_depends_neither_on_steps_nor_on_snapshots() -> None:
    def text(n: int, scheme: Any) -> int:
        def f(x: Any) -> Any:
            return total(lax.fori_loop(0, n, lambda i, c: lax.sin(c), x, checkpoint=scheme))

        return jit(grad(f)).lower(X).as_text().count("\n")

    for kind in (Binomial, Online, Periodic):
        sizes = {text(n, kind(s)) for n in (40, 1000, 100000) for s in (3, 17)}
        assert len(sizes) == 1


def test_programs_print_and_parse() -> None:
    program = make_jaxpr(jacrev(grad(loss(Online(2)))))(X, W)
    text = print_ir(program)
    assert "checkpointed_forward" in text and "checkpointed_reverse" in text
    assert print_ir(parse_ir(text)) == text
