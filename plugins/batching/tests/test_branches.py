"""Derivatives through branches that some elements of a mapped axis take and others do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_ad import grad, hessian, jacfwd, jacrev, jvp, linear_transpose, linearize, vjp
from dovetail_batching import vmap
from dovetail_batching.trace import BatchCarrier
from dovetail_core import Carrier, enable_x64, float0
from dovetail_custom_rules import custom_jvp, custom_vjp
from dovetail_jit import jit
from dovetail_remat import Online, checkpoint

X = np.array([[0.0, 1.0], [2.0, 3.0], [-2.0, 0.0], [0.5, 4.0]])
"""Rows where the functions below take one branch and the other; zeros are their poles."""
W = np.array([[0.3, -1.0], [2.0, 0.7]])


@pytest.fixture(autouse=True)
def double() -> Any:
    """Second derivatives are compared: in double precision."""
    with enable_x64(True):
        yield


def _ok(x: Any) -> Any:
    return dnp.all(x > 0)


@custom_jvp
def _root(x: Any) -> Any:
    return lax.sqrt(x)


@_root.defjvp
def _root_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    y = _root(x)
    return y, t / (2 * y)


@custom_vjp
def _scaled_log(w: Any, x: Any) -> Any:
    return w[0] * lax.log(x)


_scaled_log.defvjp(
    lambda w, x: (_scaled_log(w, x), (w, x)),
    lambda kept, ct: (
        dnp.stack([ct * lax.log(kept[1]), 0 * ct]).sum(1), ct * kept[0][0] / kept[1],
    ),
)  # fmt: skip


def _early_stop(w: Any, x: Any) -> Any:
    """Square roots until the sum of ``x`` gets below one, at most three times."""

    def step(c: Any, _: Any) -> Any:
        going = c.sum() > 1.0
        return lax.cond(going, lambda v: lax.sqrt(v + 0.5 * w[1, 1]), lambda v: v / 2, c), c.sum()

    last, sums = lax.scan(step, x, None, length=3)
    return dnp.concatenate([last, sums])


def _in_scan(w: Any, x: Any) -> Any:
    """A loop within a branch, with weights."""

    def inner(v: Any) -> Any:
        return lax.scan(lambda c, u: (w @ lax.log(c * c) + u, w[0] / c), v, dnp.stack([v, v]))[1]

    return lax.cond(_ok(x), inner, lambda v: dnp.stack([v, v * v]), x)


def _nested(w: Any, x: Any) -> Any:
    def outer(v: Any) -> Any:
        return lax.cond(v[0] > 1, lambda u: w @ lax.sqrt(u - 1), lambda u: w[0] / (u - 1), v)

    return lax.cond(_ok(x), outer, lambda v: 0 * v, x)


def _branch(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda w, x: lax.cond(_ok(x), f, lambda w, x: x + w[0], w, x)


CASES: dict[str, Callable[..., Any]] = {
    "log": _branch(lambda w, x: lax.log(x)),
    "sqrt": _branch(lambda w, x: lax.sqrt(x) * lax.sqrt(x[::-1])),
    "product": _branch(lambda w, x: w[0] * lax.log(x)),
    "quotient": _branch(lambda w, x: w[0] / x),
    "scalar quotient": _branch(lambda w, x: w[0, 0] / x),
    "quotient of a sum": _branch(lambda w, x: x / (w[0] + x)),
    "power": _branch(lambda w, x: x ** w[0, 0]),
    "power of weights": _branch(lambda w, x: (w[0] * w[0]) ** (1 / x)),
    "dot": _branch(lambda w, x: w @ lax.log(x)),
    "two layers": _branch(lambda w, x: lax.tanh(w @ lax.tanh(w @ lax.log(x)) / x)),
    "dot before": _branch(lambda w, x: lax.log(w @ w.T @ x)),
    "weights alone": _branch(lambda w, x: lax.log(w * 0 + x.sum() + w * w)[0]),
    "gather": _branch(lambda w, x: w[lax.convert_element_type(x[0], "int32")] / x),
    "solve": _branch(lambda w, x: dnp.linalg.solve(w, lax.log(x))),
    "joined": _branch(lambda w, x: lax.log(dnp.concatenate([w[1, 1:], x[:1]]) * x)),
    "select": _branch(lambda w, x: dnp.where(x > 1, w[0] / x, lax.log(x))),
    "scan": _in_scan,
    "early stop": _early_stop,
    "nested": _nested,
    "jit": _branch(jit(lambda w, x: jit(lambda v: w[1] / v)(x) + w @ lax.log(x))),
    "checkpoint": _branch(checkpoint(lambda w, x: w @ lax.log(x) + w[1] / x)),
    "custom_jvp": _branch(lambda w, x: w @ _root(x)),
    "custom_vjp": _branch(lambda w, x: _scaled_log(w[1:].ravel(), x)),
    "switch": lambda w, x: lax.switch(
        lax.convert_element_type(dnp.sum(x > 0), "int32"),
        [lambda x: 0 * x, lambda x: w[0] / (x * x - 4), lambda x: w @ lax.log(x)], x,
    ),
    "complex": lambda w, x: dnp.abs(lax.cond(
        _ok(x), lambda z: lax.log(z) * w[0], lambda z: z + w[0], lax.complex(x, x * 0)
    ) + 2),
    "while": lambda w, x: lax.cond(_ok(x), lambda v: lax.fori_loop(
        0, 2, lambda i, c: lax.log(c + 2) * w[0] / v, v), lambda v: v, x),
}  # fmt: skip
"""Functions of weights, which all elements share, and of one element."""


def _close(result: Any, wanted: Any, tol: float = 1e-9) -> None:
    for a, b in zip(result, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=tol, atol=tol)
        assert np.isfinite(b).all()


V = (np.array([[1.0, -0.5], [0.25, 2.0]]), X[::-1] - 0.7)
"""A direction for weights and elements."""


def _loss(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda w, x: dnp.sum(f(w, x) ** 2)


def _mapped(f: Callable[..., Any]) -> Callable[..., Any]:
    """The loss of all elements, mapped."""
    return _loss(vmap(f, (None, 0)))


def _by_element(g: Callable[..., Any], *args: Any) -> tuple[Any, Any]:
    """What ``g`` says of weights, as a sum over elements, and of each element."""
    run = jit(g)
    result = [run(*[a[i] if n % 2 else a for n, a in enumerate(args)]) for i in range(len(X))]
    return np.sum([w for w, _ in result], 0), np.stack([x for _, x in result])


def _second(loss: Callable[..., Any]) -> Callable[..., Any]:
    """The hessian times a direction: reverse mode over reverse mode."""
    slopes = grad(loss, (0, 1))

    def along(w: Any, x: Any, dw: Any, dx: Any) -> Any:
        result = slopes(w, x)
        return dnp.sum(result[0] * dw) + dnp.sum(result[1] * dx)

    return grad(along, (0, 1))


def _forward_second(loss: Callable[..., Any]) -> Callable[..., Any]:
    """The same: forward mode over reverse mode."""
    return lambda w, x, dw, dx: jvp(grad(loss, (0, 1)), (w, x), (dw, dx))[1]


@pytest.mark.parametrize("name", CASES)
def test_derivatives_are_those_of_each_element(name: str) -> None:
    f = CASES[name]
    wanted = _by_element(grad(_loss(f), (0, 1)), W, X)
    for run in (grad(_mapped(f), (0, 1)), jit(grad(jit(_mapped(f)), (0, 1)))):
        _close(run(W, X), wanted)
    slope = jit(lambda *v: jvp(_mapped(f), (W, X), v)[1])(*V)
    _close([slope], [sum(np.sum(a * b) for a, b in zip(wanted, V))])
    _close(vmap(f, (None, 0))(W, X), np.stack([f(W, x) for x in X]))
    wanted = _by_element(_second(_loss(f)), W, X, *V)
    _close(jit(_second(_mapped(f)))(W, X, *V), wanted, 1e-7)
    if name != "custom_vjp":
        _close(jit(_forward_second(_mapped(f)))(W, X, *V), wanted, 1e-7)


PAIRS: dict[str, tuple[Callable[..., Any], Any]] = {
    # What both axes share, what one of them has, and what both have; and the index of each kind.
    "weights": (lambda w, a, b: lax.cond(a * b > 0, lambda: w * lax.log(a * b), lambda: a + b), 0),
    "quotients": (lambda w, a, b: lax.cond(a * b > 0, lambda: w / a + a / b, lambda: a - b), 0),
    "index of the inner": (lambda w, a, b: lax.cond(b > 0, lambda: w * a / b, lambda: a), 0),
    "index of the outer": (lambda w, a, b: lax.cond(a > 0, lambda: b / (w * a), lambda: b), 0),
    "inner alone": (lambda w, a, b: lax.cond(a * b > 0, lambda: w * lax.log(b), lambda: b), 0),
    "outer alone": (lambda w, a, b: lax.cond(a * b > 0, lambda: w ** (1 / a), lambda: a), 0),
    "two": (lambda w, a, b: lax.cond(
        a > 0, lambda: lax.cond(b > 0, lambda: w * lax.sqrt(a / b), lambda: w / a), lambda: b), 0),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_two_mapped_axes_with_what_each_has(name: str) -> None:
    f = PAIRS[name][0]
    a, b, w = np.array([0.0, 1.0, 2.0, -1.0]), np.array([0.5, 0.0, 3.0]), 1.5

    def every(w: Any, a: Any, b: Any) -> Any:
        return dnp.sum(vmap(vmap(f, (None, None, 0)), (None, 0, None))(w, a, b) ** 2)

    one = jit(grad(lambda w, a, b: f(w, a, b) ** 2, (0, 1, 2)))
    second = jit(grad(lambda *v: sum(grad(lambda *u: f(*u) ** 2, (0, 1, 2))(*v)), (0, 1, 2)))
    for run, of_one in (
        (grad(every, (0, 1, 2)), one),
        (grad(lambda *v: sum(map(dnp.sum, grad(every, (0, 1, 2))(*v))), (0, 1, 2)), second),
    ):
        result = [[of_one(w, x, y) for y in b] for x in a]
        table = np.array(result, dtype=float)  # a, b, argument
        wanted = table[..., 0].sum(), table[..., 1].sum(1), table[..., 2].sum(0)
        _close(run(w, a, b), wanted)
        _close(jit(run)(w, a, b), wanted)
    turned = lambda w, a, b: dnp.sum(vmap(vmap(f, (None, 0, None)), (None, None, 0))(w, a, b) ** 2)  # noqa: E731
    _close(grad(turned, (0, 1, 2))(w, a, b), grad(every, (0, 1, 2))(w, a, b))
    mixed = vmap(
        grad(lambda a, b: dnp.sum(vmap(f, (None, None, 0))(w, a, b) ** 2), (0, 1)), (0, None)
    )
    table = np.array([[one(w, x, y) for y in b] for x in a], dtype=float)
    _close(mixed(a, b), (table[..., 1].sum(1), table[..., 2]))


def _rows(f: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """Ways in which many values go through ``f``, a function of one."""
    two = lambda x: x.reshape(2, -1)  # noqa: E731
    return {
        "vmap": vmap(f),
        "map": lambda x: lax.map(f, x, batch_size=3),
        "scan": lambda x: lax.scan(lambda c, r: (c, vmap(f)(r)), 0, two(x))[1].ravel(),
        "vmap of vmap": lambda x: vmap(vmap(f))(two(x)).ravel(),
        "checkpoint": checkpoint(vmap(f)),
        "checkpoint inside": vmap(checkpoint(f)),
        "jit": jit(vmap(jit(f))),
        "piecewise": lambda x: dnp.piecewise(x, [x.real > 0], [lax.log, lambda v: 0 * v]),
    }


def _log(x: Any) -> Any:
    return lax.cond(x > 0, lax.log, lambda v: v * 0, x)


def _log_of_complex(x: Any) -> Any:
    return lax.cond(lax.real(x) > 0, lax.log, lambda v: v * 0, x)


@pytest.mark.parametrize("name", _rows(_log))
@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16", "complex64"])
def test_ways_to_go_through_many_values(name: str, dtype: str) -> None:
    x = dnp.asarray([0.0, 1.0, -2.0, 0.0, 4.0, 0.5], dtype)
    is_complex = dtype == "complex64"
    run = _rows(_log_of_complex if is_complex else _log)[name]
    wanted = np.array([0, 1, 0, 0, 0.25, 2.0])
    result = grad(lambda v: dnp.sum(run(v)), holomorphic=is_complex)(x)
    assert result.dtype == x.dtype
    np.testing.assert_array_equal(np.asarray(result, complex), wanted)
    if dtype == "float64":
        np.testing.assert_array_equal(jacfwd(run)(x), np.diag(wanted))
        np.testing.assert_array_equal(jacrev(run)(x), np.diag(wanted))
        np.testing.assert_array_equal(hessian(lambda v: dnp.sum(run(v)))(x), -np.diag(wanted**2))
        second = jvp(grad(lambda v: dnp.sum(run(v))), (x,), (x * 0 + 1,))[1]
        np.testing.assert_array_equal(second, -(wanted**2))
        value, pull = vjp(run, x)
        np.testing.assert_array_equal(pull(value * 0 + 1)[0], wanted)
        np.testing.assert_array_equal(linearize(run, x)[1](x), np.where(x > 0, 1.0, 0))
        lanes = vmap(vjp(run, x)[1])(np.eye(6))[0]
        np.testing.assert_array_equal(lanes, np.diag(wanted))


def test_weights_whose_own_function_has_a_pole_no_element_goes_to() -> None:
    f = lambda w, x: lax.cond(x > 0, lambda w: 3 * w, lambda w: lax.log(w) + lax.sqrt(w), w)  # noqa: E731
    total = lambda w, x: dnp.sum(vmap(f, (None, 0))(w, x))  # noqa: E731
    assert float(grad(total)(0.0, np.ones(4))) == 12.0
    assert float(grad(total)(0.0, np.ones(0))) == 0.0
    assert np.isinf(grad(total)(0.0, np.array([1.0, -1.0])))


def test_weights_with_an_infinite_derivative_for_some_elements() -> None:
    f = lambda w, x: lax.cond(x > 0, lambda: x / w, lambda: x * w)  # noqa: E731
    slope = grad(lambda w, x: dnp.sum(vmap(f, (None, 0))(w, x)))(0.0, np.array([1.0, -1.0]))
    assert float(slope) == -np.inf


def test_integers_and_keys_beside_what_has_a_derivative() -> None:
    def f(n: Any, x: Any) -> Any:
        return lax.cond(n > 0, lambda n, v: (n * 2, v / n), lambda n, v: (n - 1, 0 * v), n, x)

    n, x = np.array([0, 1, 2]), np.array([1.0, 2.0, 3.0])
    values, pull = vjp(lambda v: vmap(f)(n, v), x)
    np.testing.assert_array_equal(values[0], [-1, 2, 4])
    np.testing.assert_array_equal(pull((np.zeros(3, float0), np.ones(3)))[0], [0, 1, 0.5])
    slopes = grad(lambda n, v: dnp.sum(vmap(f)(n, v)[1]), 1, allow_int=True)(n, x)
    np.testing.assert_array_equal(slopes, [0, 1, 0.5])


def test_linear_functions_stay_transposable() -> None:
    which = np.array([0, 2, 1, 0])
    scales = np.array([2.0, 3.0])

    def f(x: Any) -> Any:
        branches = [lambda v: v[::-1] * scales, lambda v: 4 * v, lambda v: 0 * v]
        return vmap(lambda i, v: lax.switch(i, branches, v))(which, x)

    ct = np.arange(8.0).reshape(4, 2) + 1
    (result,) = linear_transpose(f, X)(ct)
    rows = [(ct[0] * scales)[::-1], 0 * ct[1], 4 * ct[2], (ct[3] * scales)[::-1]]
    np.testing.assert_array_equal(result, rows)
    (again,) = linear_transpose(lambda c: linear_transpose(f, X)(c)[0], ct)(X)
    np.testing.assert_array_equal(again, f(X))


def test_linear_functions_of_what_is_shared_and_of_what_is_not() -> None:
    f = lambda w, x, v: lax.cond(_ok(x), lambda: w @ lax.log(x) + v / x, lambda: w[0] - v)  # noqa: E731

    def of(w: Any, x: Any, v: Any) -> Any:
        return vmap(f, (None, 0, 0))(w, x, v)

    ct = np.arange(8.0).reshape(4, 2) - 3
    v = X + 1
    run = jit(lambda w, x, c: linear_transpose(lambda v: of(0 * w, x, v), v)(c)[0])
    good = (X > 0).all(1)
    safe = np.where(X > 0, X, 1)
    np.testing.assert_allclose(run(W, X, ct), np.where(good[:, None], ct / safe, -ct))
    run = jit(lambda x, c: linear_transpose(lambda w: of(w, x, 0 * x), W)(c)[0])
    wanted = ct[good].T @ np.log(X[good]) + np.eye(2)[:, :1] * ct[~good].sum(0)
    np.testing.assert_allclose(run(X, ct), wanted)
    both = jit(lambda x, c: linear_transpose(lambda w, v: of(w, x, v), W, v)(c))
    np.testing.assert_allclose(both(X, ct)[0], wanted)


def _roots(steps: Any, x: Any, **options: Any) -> Any:
    """``x``, less a half before each root, for as many steps as are asked for."""
    start = (0 * steps, x)
    step = lambda c: (c[0] + 1, lax.sqrt(c[1] - 0.5))  # noqa: E731
    return lax.while_loop(lambda c: c[0] < steps, step, start, **options)[1]


def test_loops_that_stop_early_for_some_elements() -> None:
    steps, x = np.array([0, 1, 2, 0]), np.array([0.5, 2.0, 3.0, 0.1])
    row = lambda n, v: lax.fori_loop(0, int(n), lambda i, c: lax.sqrt(c - 0.5), v)  # noqa: E731
    wanted = np.array([grad(lambda v, n=n: row(n, v))(v) for n, v in zip(steps, x)])
    assert np.isfinite(wanted).all()
    ones = np.ones(4)
    slopes = jvp(lambda v: vmap(_roots)(steps, v), (x,), (ones,))[1]
    np.testing.assert_allclose(slopes, wanted, rtol=1e-12)
    kept = lambda v: dnp.sum(vmap(lambda n, u: _roots(n, u, checkpoint=Online(3)))(steps, v))  # noqa: E731
    for run in (grad(kept), jit(grad(kept))):
        np.testing.assert_allclose(run(x), wanted, rtol=1e-12)


def _operations(name: str) -> int:
    """How many operations the program of a case has that is not differentiated."""
    f = CASES[name]
    program = jit(lambda w, x: vmap(lambda w, x: f(w, x), (None, 0))(w, x)).lower(W, X)
    return program.compile().as_text().count(" = ")


@pytest.mark.parametrize("name", ["log", "dot", "two layers", "quotient", "nested", "scan", "jit"])
def test_programs_that_are_not_differentiated_cost_nothing(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = _operations(name)
    monkeypatch.setattr(BatchCarrier, "branch", Carrier.branch)  # all branches on all elements
    assert result == _operations(name)


def test_weights_are_not_spread_over_elements() -> None:
    for run in (vmap(CASES["dot"], (None, 0)), grad(_mapped(CASES["dot"]), (0, 1))):
        text = jit(run).lower(W, X).as_text()
        assert "dot_general" in text and "4x2x2" not in text
