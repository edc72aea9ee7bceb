"""Derivatives of any order: known series, nested differentiation, curved paths, errors."""

from __future__ import annotations

from math import factorial

import numpy as np
import pytest
import scipy.special
from taylor import taylor

import dovetail
from dovetail import enable_x64, jvp, lax, numpy as dnp
from dovetail_backends.testing import evaluated_by_reference
from dovetail_core import Primitive, dce_closed, def_impl, registry
from dovetail_experimental.jet import (
    def_comp,
    def_deriv,
    deflinear,
    defzero,
    deriv_prop,
    fact,
    jet,
    jet2,
    jet_rules,
    linear_prop,
    zero_prop,
    zero_series,
    zero_term,
)

f32 = np.float32


@pytest.fixture(autouse=True)
def _double():
    with enable_x64(True), evaluated_by_reference():
        yield


def nested(f, order):
    """The derivatives of t -> f(x + t v), by differentiating the derivative."""

    def derivatives(x, v):
        g, result = lambda t: f(x + t * v), []
        for _ in range(order + 1):
            result.append(g(0.0))
            g = lambda t, g=g: jvp(g, (t,), (1.0,))[1]  # noqa: E731
        return result

    return derivatives


def same(result, wanted, rtol=1e-9):
    for x, y in zip(result, wanted, strict=True):
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
    result = taylor(dnp.sin, 3)(x, d1, d2, d3)
    s, c = np.sin(x), np.cos(x)
    same(result, [s, c * d1, c * d2 - s * d1**2, c * d3 - 3 * s * d1 * d2 - c * d1**3])


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
    result, other = zip(*[programs(k) for k in range(2, 7)])
    assert len(set(np.diff(result, 2))) == 1
    assert np.all(np.diff(other)[1:] > 1.7 * np.diff(other)[:-1])


DERIVED = {  # functions of numbers from -1 to 1 whose series is that of a derivative
    "tanh": dnp.tanh,
    "logistic": lax.logistic,
    "asin": dnp.arcsin,
    "acos": dnp.arccos,
    "atan": dnp.arctan,
    "asinh": dnp.arcsinh,
    "acosh": lambda x: dnp.arccosh(x + 2.5),
    "atanh": dnp.arctanh,
    "erf": lax.erf,
    "erfc": lax.erfc,
    "erf_inv": lax.erf_inv,
}


@pytest.mark.parametrize("name", DERIVED)
def test_derivatives_first_are_polynomial_too(name):
    """Operations by the series of their derivative, nothing nested; and those derivatives."""
    f = DERIVED[name]
    for derivatives in range(2):
        counts = [len(series_program(f, derivatives, k).jaxpr.eqns) for k in range(3, 9)]
        assert len(set(np.diff(counts, 2))) == 1, counts


def along(f, derivatives):
    """``f`` or its derivative along ones."""
    return (lambda x: jvp(f, (x,), (dnp.ones_like(x),))[1]) if derivatives else f


def series_program(f, derivatives, order):
    g = along(f, derivatives)
    return dovetail.make_jaxpr(taylor(lambda x: dnp.sum(g(x)), order))(X, V)


@pytest.mark.parametrize("derivatives", [0, 1])
@pytest.mark.parametrize("name", DERIVED)
def test_series_of_derivatives_are_nested_derivatives(name, derivatives):
    x, g = np.array([-0.6, 0.0, 0.3]), along(DERIVED[name], derivatives)
    same(taylor(g, 5)(x, V), nested(g, 5)(x, V), 1e-8)
    curved = lambda t: g(x + t * V + t**2 * x)  # noqa: E731
    same(taylor(curved, 3)(0.0, 1.0), nested(curved, 3)(0.0, 1.0), 1e-8)


def test_series_keep_the_digits_of_small_derivatives():
    """The first derivatives of tanh and logistic where these are rounded to 1."""
    x = np.array([25.0, 40.0])
    e = np.exp(-2 * x)
    result = taylor(dnp.tanh, 2)(x, np.ones(2))[1:]
    same([y / e for y in result], [np.full(2, 4.0), np.full(2, -8.0)], 1e-12)
    result = taylor(lax.logistic, 2)(2 * x, np.ones(2))[1:]
    same([y / e for y in result], [np.ones(2), -np.ones(2)], 1e-12)


def test_errors():
    ones, place = np.ones(2), r"at .*test_jet\.py"
    with pytest.raises(ValueError, match=rf"jet {place}.*: there are 2 primals and 1 series; give"):
        jet(lambda x, y: x * y, (1.0, 2.0), ([1.0],))
    with pytest.raises(TypeError, match=r"series\[0\] is of type float; give a list of arrays"):
        jet(dnp.sin, (1.0,), (1.0,))
    with pytest.raises(
        ValueError, match=r"series have the lengths 1, 2; .* Fill them up with zero"
    ):
        jet(lambda x, y: x * y, (1.0, 2.0), ([1.0], [1.0, 0.0]))
    with pytest.raises(
        ValueError, match=r"primals\[0\] is not an array but of type dict; pass the"
    ):
        jet(lambda x: x["a"], ({"a": 1.0},), ([{"a": 1.0}],))
    with pytest.raises(
        TypeError, match=r"\[0\] has type i64\[\]~ and series\[0\]\[0\] f64\[\]~; both"
    ):
        jet(dnp.sin, (1,), ([1.0],))
    with pytest.raises(
        TypeError, match=r"\[1\] has type f64\[2\] and series\[1\]\[2\] f64\[\]~; both"
    ):
        jet(lambda x, y: x, (1.0, ones), ([1.0] * 3, [ones, ones, 1.0]))
    with pytest.raises(
        TypeError, match=r"has type f64\[\]~ and series\[0\]\[0\] c128\[\]~; both must"
    ):
        jet(dnp.sin, (1.0,), ([1j],))


def test_derivatives_and_coefficients():
    value, derivatives = jet(dnp.exp, (0.5,), ([2.0, 0.0, 0.0],))
    other, coefficients = jet2(dnp.exp, (0.5,), ([2.0, 0.0, 0.0],))
    same([value, other], [np.exp(0.5)] * 2)
    same(derivatives, [np.exp(0.5) * 2**k for k in (1, 2, 3)])
    same(coefficients, [np.exp(0.5) * 2**k / factorial(k) for k in (1, 2, 3)])
    same([fact(5), *fact(dnp.arange(4))], [120, 1, 1, 2, 6])


def test_several_arguments_and_results():
    """What does not move has derivatives that are zero; those of integers are of real numbers."""
    f = lambda x, y: {"a": (x * y, dnp.ones(2)), "n": dnp.arange(3)}  # noqa: E731
    value, terms = jet(f, (2.0, 3.0), ((1.0, 0.0), [0.0, 1.0]))
    same(terms["a"][0], [3.0, 2.0])  # (x y)'' = x'' y + 2 x' y' + x y''
    same([value["a"][0], *terms["a"][1]], [6.0, np.zeros(2), np.zeros(2)])
    assert [t.shape for t in terms["n"]] == [(3,)] * 2 and terms["n"][0].dtype == np.float64
    assert jet(f, (2.0, 3.0), ([], []))[1] == {"a": ([], []), "n": []}


def test_mixed_derivatives_from_two_directions():
    """d2/dxdy by polarization: (D^2_{u+v} - D^2_{u-v}) / 4."""
    f = lambda x, y: dnp.sin(x) * dnp.exp(x * y)  # noqa: E731
    second = lambda u, v: jet(f, (0.3, 0.7), ([u, 0.0], [v, 0.0]))[1][1]  # noqa: E731
    wanted = dovetail.grad(dovetail.grad(f, 0), 1)(0.3, 0.7)
    same([(second(1.0, 1.0) - second(1.0, -1.0)) / 4], [wanted])


def primitive(name, f=np.sin):
    p = Primitive(name)
    p.def_abstract_eval(lambda x, **params: x)
    def_impl(p)(lambda x, **params: dnp.asarray(f(x)))
    return p


def test_rules_of_ones_own_primitives():
    sine, twice, step, composed = (
        primitive("test_jet.sine"),
        primitive("test_jet.twice", lambda x: 2 * x),
        primitive("test_jet.step", np.floor),
        primitive("test_jet.composed", lambda x: np.sin(x) ** 2),
    )
    x, terms = np.float64(0.4), [1.0, 0.5, -2.0]
    for p, define, f in [
        (sine, lambda p: def_deriv(p, dnp.cos), dnp.sin),
        (twice, deflinear, lambda x: 2 * x),
        (step, defzero, dnp.floor),
        (composed, lambda p: def_comp(p, lambda x: dnp.sin(x) ** 2), lambda x: dnp.sin(x) ** 2),
    ]:
        define(p)
        wanted = jet(f, (x,), (terms,))
        result = jet(p.bind, (x,), (terms,))
        same([result[0], *result[1]], [wanted[0], *wanted[1]])
        assert p in jet_rules


def test_rules_in_the_form_of_a_dictionary():
    scaled = primitive("test_jet.scaled", lambda x: x)
    seen = []

    def rule(primals, series, **params):
        seen.append((primals, series, params))
        return primals[0] * params["by"], [zero_term, *[c * params["by"] for c in series[0][1:]]]

    jet_rules[scaled] = rule
    value, terms = jet(lambda x: scaled.bind(x, by=3.0), (1.0,), ([1.0, 2.0, 6.0],))
    same([value, *terms], [3, 0, 6, 18])
    assert seen[0][2] == {"by": 3.0}
    same(seen[0][1][0], [1, 1, 1])  # rules see coefficients
    # Rules of Dovetail's own primitives are called in the same form.
    value, terms = jet_rules[lax.mul_p]((2.0, 3.0), ([1.0, 0.0], [0.0, 5.0]))
    same([value, *terms], [6, 3, 10])
    value, terms = jet_rules[lax.div_p]((2.0, 4.0), ([1.0], zero_series))
    same([value, *terms], [0.5, 0.25])
    assert jet_rules[lax.sin_p]((1.0,), (zero_series,))[1] is zero_series
    assert lax.exp_p in list(jet_rules) and len(jet_rules) > 20
    with pytest.raises(KeyError):
        jet_rules[primitive("test_jet.unknown")]


def test_propagation():
    same([linear_prop(lax.neg_p, (1.0,), ([2.0, 3.0],))[1]], [[-2.0, -3.0]])
    same(zero_prop(lax.floor_p, (1.5,), ([2.0, 3.0],))[:1], [1.0])
    value, terms = deriv_prop(lax.sin_p, dnp.cos, (0.5,), ([1.0, 0.0, 0.0],))
    same([value, *terms], [np.sin(0.5), np.cos(0.5), -np.sin(0.5) / 2, -np.cos(0.5) / 6])


def test_rules_are_where_they_are_said_to_be():
    table = registry().table("experimental.series")
    for primitive, kind in [
        (lax.exp_p, "declared"),
        (lax.mul_p, "derived"),
        (lax.lgamma_p, "derived"),
    ]:
        assert table.get(primitive) is not None and table.origin(primitive).kind == kind
