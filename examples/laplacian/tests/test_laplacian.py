"""Laplacians: closed forms, traces of Hessians, types, errors."""

from __future__ import annotations

import ast
from importlib.resources import files

import numpy as np
import pytest
from acme_laplacian import forward_laplacian, laplacian

import dovetail
from dovetail import enable_x64, lax, numpy as dnp
from dovetail_backends.testing import evaluated_by_reference
from dovetail_core import registry

f32 = np.float32


@pytest.fixture(autouse=True)
def _double():
    with enable_x64(True), evaluated_by_reference():
        yield


X = np.array([0.4, 1.1, 0.7])
W = np.array([[0.3, -0.4, 0.2], [0.5, 0.1, -0.6], [-0.2, 0.7, 0.9]])


def same(found, wanted, rtol=1e-9):
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol)


def trace(f):
    """Of the Hessian, for one element of the result after another."""

    def total(x):
        h = dovetail.jacfwd(dovetail.jacfwd(f))(x)
        return sum(h[..., i, i] for i in range(x.size))

    return total


HARMONIC = {
    "Newton's potential": lambda x: 1 / dnp.linalg.norm(x),
    "saddle": lambda x: x[0] ** 2 - x[1] ** 2 + 3 * x[0] * x[2],
    "wave": lambda x: dnp.exp(x[0]) * dnp.sin(x[1]),
    "logarithm": lambda x: dnp.log(x[0] ** 2 + x[1] ** 2),
    "angle": lambda x: dnp.arctan2(x[1], x[0]) * x[2],
    "Kelvin transform": lambda x: x[0] * x[1] / dnp.linalg.norm(x) ** 5,
}


@pytest.mark.parametrize("name", HARMONIC)
def test_harmonic_functions(name):
    same(laplacian(HARMONIC[name])(X), 0.0)


def test_gaussians_of_many_dimensions():
    a = W @ W.T + np.eye(3)
    value, gradient, found = forward_laplacian(lambda x: dnp.exp(-x @ a @ x / 2))(X)
    y = np.exp(-X @ a @ X / 2)
    same(value, y)
    same(gradient, -y * a @ X)
    same(found, y * ((a @ X) @ (a @ X) - np.trace(a)))


def test_local_energies_of_ground_states():
    """H psi / psi with psi = exp(log psi): constants, for exact wave functions."""

    def energy(log_psi, potential, x):
        _, gradient, lap = forward_laplacian(log_psi)(x)
        return -0.5 * (lap + dnp.sum(gradient**2)) + potential(x)

    oscillator = energy(lambda x: -0.5 * dnp.sum(x * x), lambda x: 0.5 * dnp.sum(x * x), X)
    same(oscillator, 1.5)
    radius = dnp.linalg.norm
    same(energy(lambda x: -radius(x), lambda x: -1 / radius(x), X), -0.5)


FUNCTIONS = {
    "network": lambda x: dnp.sum(dnp.tanh(W @ dnp.tanh(W @ x))),
    "softmax": lambda x: dovetail.nn.softmax(W @ x),
    "quotients": lambda x: x[0] / x + x / (1 + x * x),
    "special": lambda x: lax.lgamma(x + 2) * lax.erf(x) + lax.digamma(x + 1),
    "powers": lambda x: x ** x[::-1] + dnp.cbrt(x) / dnp.sqrt(x + 1),
    "pieces": lambda x: dnp.abs(x - 0.5) ** 3 + dnp.maximum(x, 0.6) * dnp.floor(3 * x),
    "sorted": lambda x: dnp.sort(dnp.sin(3 * x)) * x,
    "reductions": lambda x: dnp.max(x * x) * dnp.prod(x) + dnp.cumsum(x)[1],
    "indices": lambda x: x.at[1].multiply(x[0]).at[dnp.argmax(x)].set(0.3) * x[::-1],
    "solve": lambda x: dnp.linalg.solve(W + dnp.diag(x * x), x),
    "determinant": lambda x: dnp.linalg.slogdet(dnp.sin(W + x[:, None] * x))[1],
    "complex": lambda x: dnp.abs(dnp.exp(1j * x) + x) + dnp.real((x + 2j) ** 3),
    "inverse": lambda x: dnp.arcsin(x / 2) + dnp.arccosh(x + 1) + dnp.arctan2(x, x[::-1]),
    "attention": lambda x: dovetail.nn.softmax(x[:, None] * x @ W) @ (x[:, None] + W),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_traces_of_hessians(name):
    f = FUNCTIONS[name]
    value, gradient, found = forward_laplacian(f)(X)
    x = dnp.asarray(X)
    same(value, f(x))
    same(gradient, dovetail.jacfwd(f)(x))
    same(found, trace(f)(x), 1e-8)


def test_arguments_of_several_axes_and_constant_ones():
    x = np.linspace(0.2, 1.0, 6).reshape(2, 3)
    f = lambda x, w, *, power: dnp.sum(dnp.sin(x) @ w) ** power  # noqa: E731
    _, gradient, found = forward_laplacian(f)(x, W, power=3)
    same(gradient, dovetail.grad(lambda x: f(x, W, power=3))(x))
    flat = lambda y: f(y.reshape(2, 3), W, power=3)  # noqa: E731
    same(found, dnp.trace(dovetail.hessian(flat)(dnp.asarray(x.reshape(6)))))
    same(laplacian(f)(x, W, power=3), found)


def test_structures_of_results():
    value, gradient, found = forward_laplacian(lambda x: {"a": (x, 3), "b": dnp.sum(x**2)})(X)
    assert (int(value["a"][1]), int(found["a"][1]), gradient["a"][1].shape) == (3, 0, (3,))
    same(gradient["a"][0], np.eye(3))
    same([*found["a"][0], found["b"]], [0, 0, 0, 6])


def test_what_does_not_vary():
    _, gradient, found = forward_laplacian(lambda x: dnp.ones(2))(X)
    assert gradient.shape == (2, 3) and found.shape == (2,)
    same(found, 0.0)


def test_types_are_kept():
    for x in (np.ones(2, f32), np.ones((2, 2), np.float16), 1.5):
        value, gradient, found = forward_laplacian(lambda x: dnp.exp(x) / (1 + x**2))(x)
        assert value.dtype == gradient.dtype == found.dtype == dovetail.typeof(x).dtype


def test_custom_derivatives_count():
    """An author's rule is followed for first and second derivatives."""

    @dovetail.custom_jvp
    def f(x):
        return dnp.sin(x)

    @f.defjvp
    def _(primals, tangents):
        return f(primals[0]), 3.0 * f(primals[0]) * tangents[0]

    same(laplacian(lambda x: dnp.sum(f(x) * x))(X), np.sum((9 * X + 6) * np.sin(X)))
    g = lambda x: dnp.sum(dovetail.vmap(f)(x * x))  # noqa: E731
    same(laplacian(g)(X), trace(g)(X))


def test_functions_with_a_custom_gradient():
    @dovetail.custom_vjp
    def f(x):
        return dnp.sin(x)

    f.defvjp(lambda x: (f(x), x), lambda x, ct: (ct * dnp.exp(x),))
    same(laplacian(lambda x: dnp.sum(f(x * x)))(X), np.sum(2 * np.exp(X * X) * (1 + 2 * X * X)))


def test_linear_layers_carry_no_laplacian():
    """Before anything is nonlinear there is nothing to add."""
    program = dovetail.make_jaxpr(laplacian(lambda x: W @ (W @ x)))(X)
    assert str(program).count("dot_general") == 4  # values and rows


def operations(f, *args):
    return dovetail.jit(f).lower(*args).compile().cost_analysis()["flops"]


def test_half_the_operations_of_a_hessian():
    """Of a network as wide as its input."""
    rng = np.random.default_rng(0)
    ws = [rng.normal(size=(64, 64)) for _ in range(3)]

    def network(x):
        for w in ws:
            x = dnp.tanh(x @ w)
        return dnp.sum(x)

    x = rng.normal(size=64)
    by_hessian = operations(lambda x: dnp.trace(dovetail.hessian(network)(x)), x)
    assert operations(laplacian(network), x) < 0.55 * by_hessian


def test_no_operation_has_a_rule_of_its_own():
    table = registry().table("laplacian.forward")
    found = [table.get(p) for p in (lax.exp_p, lax.mul_p, lax.erf_p, lax.sort_p, lax.scan_p)]
    assert None not in found
    assert {origin.kind for origin in table.origins.values()} == {"derived"}


def test_errors():
    with pytest.raises(TypeError, match=r"x has type i64\[3\]; it must be one array of real"):
        laplacian(dnp.sin)(np.arange(3))
    with pytest.raises(TypeError, match=r"x has type c128\[\]~; it must be one array of real"):
        laplacian(dnp.sin)(1j)


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
    package = files("acme_laplacian")
    assert sum(code(package.joinpath(f"{name}.py")) for name in ("forward", "derived")) <= 170
