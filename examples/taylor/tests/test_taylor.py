"""Derivatives of any order: known series, nested differentiation, curved paths, errors."""

from __future__ import annotations

import ast
from importlib.resources import files
from math import factorial

import numpy as np
import pytest
import scipy.special
from acme_taylor import taylor

import dovetail
from dovetail import enable_x64, jvp, lax, numpy as dnp
from dovetail_core import dce_closed, registry

f32 = np.float32


@pytest.fixture(autouse=True)
def _double():
    with enable_x64(True):
        yield


def nested(f, order):
    """The derivatives of t -> f(x + t v), by differentiating the derivative."""

    def derivatives(x, v):
        g, found = lambda t: f(x + t * v), []
        for _ in range(order + 1):
            found.append(g(0.0))
            g = lambda t, g=g: jvp(g, (t,), (1.0,))[1]  # noqa: E731
        return found

    return derivatives


def same(found, wanted, rtol=1e-9):
    for x, y in zip(found, wanted, strict=True):
        np.testing.assert_allclose(x, y, rtol=rtol, atol=rtol)


def coefficients(f, x, order, v=1.0):
    return [d / factorial(k) for k, d in enumerate(taylor(f, order)(x, v))]


SERIES = {  # closed forms of the coefficients at a point
    "exp": (dnp.exp, 0.0, lambda k: 1 / factorial(k)),
    "exp2": (dnp.exp2, 0.0, lambda k: np.log(2) ** k / factorial(k)),
    "expm1": (dnp.expm1, 0.0, lambda k: (k > 0) / factorial(k)),
    "log": (dnp.log, 1.0, lambda k: -((-1) ** k) / k if k else 0),
    "log1p": (dnp.log1p, 0.0, lambda k: -((-1) ** k) / k if k else 0),
    "sin": (dnp.sin, 0.0, lambda k: (0, 1, 0, -1)[k % 4] / factorial(k)),
    "cos": (dnp.cos, 0.0, lambda k: (1, 0, -1, 0)[k % 4] / factorial(k)),
    "sinh": (dnp.sinh, 0.0, lambda k: k % 2 / factorial(k)),
    "cosh": (dnp.cosh, 0.0, lambda k: (k + 1) % 2 / factorial(k)),
    "reciprocal": (lambda x: 1 / x, 1.0, lambda k: (-1) ** k),
    "sqrt": (dnp.sqrt, 1.0, lambda k: scipy.special.binom(0.5, k)),
    "rsqrt": (lax.rsqrt, 1.0, lambda k: scipy.special.binom(-0.5, k)),
    "cbrt": (dnp.cbrt, 1.0, lambda k: scipy.special.binom(1 / 3, k)),
    "power": (lambda x: x**2.5, 1.0, lambda k: scipy.special.binom(2.5, k)),
    "integer power": (lambda x: x**5, 0.0, lambda k: float(k == 5)),
    "inverse power": (lambda x: x**-3, 1.0, lambda k: (-1) ** k * scipy.special.comb(k + 2, 2)),
    "atan": (dnp.arctan, 0.0, lambda k: (0, 1, 0, -1)[k % 4] / max(k, 1)),
    "atanh": (dnp.arctanh, 0.0, lambda k: k % 2 / max(k, 1)),
    "erf": (
        lax.erf,
        0.0,
        lambda k: k % 2 * (-1) ** (k // 2) * 2 / np.sqrt(np.pi) / factorial(k // 2) / k if k else 0,
    ),
    # Bernoulli numbers.
    "tan": (
        dnp.tan,
        0.0,
        lambda k: (
            k
            % 2
            * abs(scipy.special.bernoulli(k + 1)[-1])
            * 2 ** (k + 1)
            * (2 ** (k + 1) - 1)
            / factorial(k + 1)
        ),
    ),
    "tanh": (
        dnp.tanh,
        0.0,
        lambda k: (
            k
            % 2
            * scipy.special.bernoulli(k + 1)[-1]
            * 2 ** (k + 1)
            * (2 ** (k + 1) - 1)
            / factorial(k + 1)
        ),
    ),
}


@pytest.mark.parametrize("name", SERIES)
def test_known_series(name):
    f, x, coefficient = SERIES[name]
    same(coefficients(f, x, 9), [coefficient(k) for k in range(10)])


def test_high_orders():
    """The thirtieth derivative, which nesting would reach by a billion operations."""
    same(coefficients(lambda x: 1 / (1 - x), 0.0, 30), [1] * 31)
    same(coefficients(lambda x: dnp.exp(2 * x), 0.0, 30), [2**k / factorial(k) for k in range(31)])
    # Of the logistic function: tanh(x/2) / 2 + 1/2.
    half = coefficients(lambda x: dnp.tanh(x / 2) / 2 + 0.5, 0.3, 20)
    same(coefficients(dovetail.nn.sigmoid, 0.3, 20), half)


X = np.array([0.4, 1.1, 0.7])
V = np.array([0.5, -0.3, 1.2])
W = np.array([[0.3, -0.4, 0.2], [0.5, 0.1, -0.6], [-0.2, 0.7, 0.9]])

FUNCTIONS = {
    "network": lambda x: dnp.sum(dnp.tanh(W @ dnp.tanh(W @ x))),
    "softmax": lambda x: dovetail.nn.softmax(W @ x),
    "quotients": lambda x: x[0] / x + x / (1 + x * x),
    "special": lambda x: lax.lgamma(x + 2) * lax.erf(x) + lax.digamma(x + 1),
    "powers": lambda x: x ** x[::-1] + dnp.cbrt(x) / dnp.sqrt(x + 1),
    "pieces": lambda x: dnp.abs(x - 0.5) ** 3 + dnp.maximum(x, 0.6) * dnp.floor(3 * x),
    "sorted": lambda x: dnp.sort(dnp.sin(3 * x)) * x,
    "reductions": lambda x: dnp.max(x * x) * dnp.prod(x) + dnp.cumsum(x)[1],
    "indices": lambda x: (
        dnp.asarray(x).at[1].multiply(x[0]).at[dnp.argmax(x)].set(0.3) * x[np.array([2, 0, 1])]
    ),
    "solve": lambda x: dnp.linalg.solve(W + dnp.diag(x * x), x),
    "determinant": lambda x: dnp.linalg.slogdet(W @ W.T + dnp.diag(x))[1],
    "complex": lambda x: dnp.abs(dnp.exp(1j * x) + x) + dnp.real((x + 2j) ** 3),
    "inverse": lambda x: dnp.arcsin(x / 2) + dnp.arccosh(x + 1) + dnp.arctan2(x, x[::-1]),
    "integers": lambda x: x * (x > 0.5) + dnp.where(x > 1, x**2, x**3).astype(np.float32),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_nested_differentiation_finds_the_same(name):
    f = FUNCTIONS[name]
    rtol = 1e-5 if name == "integers" else 1e-8
    same(taylor(f, 4)(X, V), nested(f, 4)(X, V), rtol)


def test_zero_to_a_power():
    """A recurrence that divides by x would yield NaN."""
    for f in (lambda x: x**3, lambda x: x**3.0, lambda x: (x * 2.0) ** 2):
        same(taylor(f, 4)(0.0, 2.0), nested(f, 4)(0.0, 2.0))


def test_curved_paths():
    """The formula of Faà di Bruno, of third order."""
    x, d1, d2, d3 = 0.3, 0.7, -0.4, 1.5
    found = taylor(dnp.sin, 3)(x, d1, d2, d3)
    s, c = np.sin(x), np.cos(x)
    same(found, [s, c * d1, c * d2 - s * d1**2, c * d3 - 3 * s * d1 * d2 - c * d1**3])


def test_structures_of_arguments_and_results():
    f = lambda p: {"a": (p["u"] * p["v"][0], 3), "b": p["v"][0] ** 2}  # noqa: E731
    p, d = {"u": 2.0, "v": [X]}, {"u": 1.0, "v": [V]}
    values, first, second = taylor(f, 2)(p, d)
    same([values["a"][0], first["a"][0], second["a"][0]], [2 * X, X + 2 * V, 2 * V])
    assert (int(values["a"][1]), int(first["a"][1])) == (3, 0)
    same([first["b"], second["b"]], [2 * X * V, 2 * V * V])


def test_types_are_kept():
    for x in (np.ones(2, f32), np.ones(2, np.float16), np.ones((2, 2), np.complex64), 1.0):
        outs = taylor(lambda x: dnp.exp(x) / (1 + x**2), 2)(x, x)
        assert len({dovetail.typeof(y) for y in outs}) == 1


def test_custom_derivatives_count():
    """An author's rule is followed at every order; the function itself is not looked into."""

    @dovetail.custom_jvp
    def f(x):
        return dnp.sin(x)

    @f.defjvp
    def _(primals, tangents):
        return f(primals[0]), 3.0 * f(primals[0]) * tangents[0]

    same(taylor(f, 4)(X, V), [np.sin(X) * (3 * V) ** k for k in range(5)])
    same(dovetail.jit(taylor(dovetail.vmap(f), 3))(X, V), nested(f, 3)(X, V))


def test_functions_with_a_custom_gradient():
    @dovetail.custom_vjp
    def f(x):
        return dnp.sin(x) * x

    f.defvjp(lambda x: (f(x), x), lambda x, ct: (ct * 7.0,))
    same(taylor(f, 3)(X, V), [np.sin(X) * X, 7 * V, 0 * V, 0 * V])


def programs(order):
    x, v = np.ones(4), np.ones(4)
    counts = []
    for f in (taylor, nested):
        program = dovetail.make_jaxpr(f(lambda x: dnp.sum(dnp.tanh(W @ x[:3])), order))(x, v)
        needed, *_ = dce_closed(program, [True] * len(program.out_avals))
        counts.append(len(needed.jaxpr.eqns))
    return counts


def test_programs_grow_with_the_square_of_the_order():
    """Second differences of the number of equations are constant; nested, they double."""
    found, other = zip(*[programs(k) for k in range(2, 7)])
    assert len(set(np.diff(found, 2))) == 1
    assert np.all(np.diff(other)[1:] > 1.7 * np.diff(other)[:-1])


def test_derivatives_first_are_polynomial_too():
    """Operations without a recurrence: the series of their derivative, not nested derivatives."""
    f = lambda x: dnp.sum(lax.erf(x))  # noqa: E731
    counts = [len(dovetail.make_jaxpr(taylor(f, k))(X, V).jaxpr.eqns) for k in range(3, 9)]
    assert len(set(np.diff(counts, 2))) == 1


def test_errors():
    with pytest.raises(ValueError, match="order is -1; it must not be negative"):
        taylor(dnp.sin, -1)
    with pytest.raises(TypeError, match=r"x has type i64\[\].* derivative 1 i64\[\].*one type of"):
        taylor(dnp.sin, 2)(1, 1)
    with pytest.raises(TypeError, match=r"x\['a'\] has type f64\[3\] and derivative 2 f64\[2\]"):
        taylor(lambda p: p["a"], 2)({"a": X}, {"a": V}, {"a": V[:2]})
    with pytest.raises(TypeError, match="x and derivative 1 must have one structure"):
        taylor(lambda p: p, 2)((X,), [V])


def test_rules_are_where_they_are_said_to_be():
    table = registry().table("taylor.series")
    for primitive, kind in [
        (lax.exp_p, "declared"),
        (lax.mul_p, "derived"),
        (lax.erf_p, "derived"),
    ]:
        assert table.get(primitive) is not None and table.origin(primitive).kind == kind


def code(path):
    """How many lines have code: not counted are comments, documentation and empty lines."""
    module = ast.parse(path.read_text())
    lines = {n.lineno for n in ast.walk(module) if hasattr(n, "lineno")}
    lines |= {n.end_lineno for n in ast.walk(module) if isinstance(n, ast.expr | ast.stmt)}
    texts = [n for n in ast.walk(module) if isinstance(n, ast.Expr) and is_text(n.value)]
    return len(lines - {k for n in texts for k in range(n.lineno, n.end_lineno + 1)})


def is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def test_the_transformation_is_short():
    package = files("acme_taylor")
    assert sum(code(package.joinpath(f"{name}.py")) for name in ("series", "derived")) <= 150
