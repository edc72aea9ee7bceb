"""Bounds hold at samples, are exact where functions are linear, and no wider than intervals."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from acme_linear_bounds import linear_bounds

import dovetail
from dovetail import lax, nn, numpy as dnp
from dovetail_core import MissingRule

f32 = np.float32


def holds(f, low, high, points=200):
    """The bounds, which have the values at random points and corners between them."""
    below, above = (np.asarray(end) for end in linear_bounds(f)(low, high))
    rng = np.random.default_rng(0)
    t = rng.uniform(size=(points, *np.shape(low)))
    t[: points // 4] = t[: points // 4].round()
    values = np.asarray(dovetail.vmap(f)((low + t * (high - low)).astype(f32)))
    slack = 1e-4 * (1 + np.abs(values).max())
    assert np.all(below - slack <= values.min(0)) and np.all(values.max(0) <= above + slack)
    return below, above, values.min(0), values.max(0)


def scalar(f, low, high):
    return tuple(float(end) for end in linear_bounds(f)(f32(low), f32(high)))


CURVES = {
    "exp": dnp.exp, "expm1": dnp.expm1, "log1p": lambda x: dnp.log1p(x * x), "abs": dnp.abs,
    "sqrt": lambda x: dnp.sqrt(x + 4), "rsqrt": lambda x: lax.rsqrt(x + 4), "square": dnp.square,
    "cube": lambda x: x**3, "fifth": lambda x: x**5, "fourth": lambda x: x**4,
    "inverse": lambda x: 1 / (x + 4), "inverse below": lambda x: 1 / (x - 5),
    "inverse square": lambda x: (x + 4) ** -2, "tanh": dnp.tanh, "sigmoid": nn.sigmoid,
    "erf": lax.erf, "arctan": dnp.arctan, "arcsinh": dnp.arcsinh, "sinh": dnp.sinh,
    "cosh": dnp.cosh, "sin": dnp.sin, "cos": dnp.cos, "relu": nn.relu, "relu6": nn.relu6,
    "softplus": nn.softplus, "clip": lambda x: dnp.clip(x, -1, 0.5), "cbrt": dnp.cbrt,
    "minimum": lambda x: dnp.minimum(x, 0.25), "floor": dnp.floor, "gelu": nn.gelu,
}  # fmt: skip


@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize("low, high", [(-3, -1), (-1, 0.125), (-2, 3), (0, 2), (0.5, 0.5)])
def test_curves(name, low, high):
    holds(CURVES[name], f32(low), f32(high))


@pytest.mark.parametrize("name", ["exp", "tanh", "sigmoid", "relu", "arctan"])
def test_slopes_of_curves(name):
    """Less the line between its ends, a curve has narrow bounds: those of a parallel strip."""
    f, (low, high) = CURVES[name], (-0.5, 1.0)
    slope = (float(f(f32(high))) - float(f(f32(low)))) / (high - low)
    below, above = scalar(lambda x: f(x) - slope * x, low, high)
    naive = (float(f(f32(high))) - float(f(f32(low)))) + abs(slope) * (high - low)
    assert above - below < 0.85 * naive


@pytest.mark.parametrize(
    "f, expected",
    [
        (lambda x: x - x, (0, 0)),
        (lambda x: 3 * x - 2 * x - x, (0, 0)),
        (lambda x: x + (1 - x), (1, 1)),
        (lambda x: dnp.concatenate([x[None], -x[None]]).sum(), (0, 0)),
        (lambda x: 2 * x + 1, (-1, 5)),
        (lambda x: dnp.where(x > 3, x, -x), (-2, 1)),
        (lambda x: dnp.where(x > 0, 1.0, 5.0), (1, 5)),
        (lambda x: dnp.maximum(x, x - 1), (-1, 2)),
        (lambda x: x * x, (0, 4)),
        (lambda x: lax.stop_gradient(x) - x, (0, 0)),
    ],
)
def test_exact(f, expected):
    assert scalar(f, -1, 2) == pytest.approx(expected, abs=1e-6)


def test_linear_functions_are_exact():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(3, 5)).astype(f32), rng.normal(size=(5, 2)).astype(f32)
    mid, radius = rng.normal(size=5).astype(f32), rng.uniform(size=5).astype(f32)

    def f(x):
        y = (a @ x)[::-1].reshape(1, 3)
        z = dnp.roll(dnp.pad(x @ b, (1, 0)), 1)
        return dnp.cumsum(y - z - y / 2 + x[np.array([4, 0, 0])]).at[1].add(2 * x[2])

    below, above = linear_bounds(f)(mid - radius, mid + radius)
    matrix = np.asarray(dovetail.jacfwd(f)(mid))
    # NumPy's matmul of finite numbers warns of invalid ones now and then: its BLAS leaves the flag.
    with np.errstate(invalid="ignore"):
        middle, half = f(mid), abs(matrix) @ radius
    np.testing.assert_allclose(below, middle - half, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(above, middle + half, rtol=1e-4, atol=1e-4)


def test_products():
    """McCormick's planes: of x(1 - x) on [0, 1] they bound by 1/2 where intervals bound by 1."""
    both = lambda p: p[0] * p[1]  # noqa: E731
    for low, high in (
        ([1, 2], [3, 5]),
        ([-1, 2], [2, 3]),
        ([-2, -3], [-1, -1]),
        ([-2, -1], [3, 4]),
    ):
        below, above, least, greatest = holds(both, np.array(low, f32), np.array(high, f32))
        assert below == pytest.approx(least) and above == pytest.approx(greatest)
    assert scalar(lambda x: (x + 1) * (1 - x), -0.5, 0.5)[1] < 1.5**2 - 1e-3
    holds(lambda x: dnp.outer(x, 1 - x) @ x, np.zeros(3, f32), np.ones(3, f32))
    holds(lambda x: x[0] / x[1], np.array([-1, 1], f32), np.array([2, 3], f32))
    holds(lambda x: nn.softmax(x * x), np.zeros(3, f32), np.ones(3, f32))
    kernel = np.random.default_rng(0).normal(size=(2, 1, 3, 3)).astype(f32)
    holds(
        lambda x: nn.relu(lax.conv(x[None, None], kernel, (1, 1), "SAME")),
        np.zeros((4, 4), f32), np.ones((4, 4), f32),
    )  # fmt: skip


def test_nothing_is_known_of_what_is_undefined():
    assert np.isnan(scalar(lambda x: 1 / x, -1, 1)).all()
    assert np.isnan(scalar(lambda x: dnp.sqrt(x), -1, 1)[0])
    assert not scalar(dnp.log, 0, 1)[0] > -10
    assert scalar(lambda x: dnp.clip(1 / x, -1, 1), 1, 2) == pytest.approx((0.5, 1), abs=0.2)


def layers(sizes, seed=0):
    rng = np.random.default_rng(seed)
    return [
        (rng.normal(size=(m, n)).astype(f32) / m**0.5, rng.normal(size=n).astype(f32) / 4)
        for m, n in pairwise(sizes)
    ]


def mlp(parameters, activation):
    def f(x):
        *inner, (w, b) = parameters
        for v, c in inner:
            x = activation(x @ v + c)
        return x @ w + b

    return f


def intervals(parameters, activation, low, high):
    """Interval arithmetic on the same network, in NumPy."""
    for i, (w, b) in enumerate(parameters):
        up, down = np.maximum(w, 0), np.minimum(w, 0)
        low, high = low @ up + high @ down + b, high @ up + low @ down + b
        if i < len(parameters) - 1:
            low, high = (np.asarray(activation(end)) for end in (low, high))
    return low, high


@pytest.mark.parametrize("activation", [nn.relu, dnp.tanh, nn.sigmoid, dnp.arctan])
@pytest.mark.parametrize("radius", [0.0, 0.02, 0.2, 1.0, 5.0])
def test_networks(activation, radius):
    parameters = layers((3, 12, 12, 2))
    f, at = mlp(parameters, activation), np.array([0.5, -1, 0.25], f32)
    below, above, least, greatest = holds(f, at - f32(radius), at + f32(radius))
    low, high = intervals(parameters, activation, at - f32(radius), at + f32(radius))
    slack = 1e-5 * (1 + abs(high))
    assert np.all(below >= low - slack) and np.all(above <= high + slack)
    if radius == 0.02:
        assert np.all(above - below < (high - low) / 3)
        assert np.all(above - below < 1.5 * (greatest - least))


def test_trees_and_further_arguments():
    f = lambda t, scale: {"sum": t["a"] + scale * t["b"], "n": 3}  # noqa: E731
    low, high = linear_bounds(f)({"a": f32(0), "b": f32(1)}, {"a": f32(1), "b": f32(2)}, -2.0)
    assert (float(low["sum"]), float(high["sum"])) == (-4, -1)
    assert low["n"] == high["n"] == 3


def test_errors():
    with pytest.raises(MissingRule, match=r"has no rule for primitive 'sort' at .*test_bounds"):
        linear_bounds(dnp.sort)(np.zeros(2, f32), np.ones(2, f32))
    with pytest.raises(MissingRule, match="knows no bounds of 'dynamic_slice' where operands"):
        at = lambda x: lax.dynamic_slice(x, (x[0].astype("int32"),), (1,))  # noqa: E731
        linear_bounds(at)(np.zeros(2, f32), np.ones(2, f32))
    with pytest.raises(MissingRule, match=r"a value of type c64\[\] has no bounds.*test_bounds"):
        linear_bounds(lambda x: x.astype("complex64"))(f32(0), f32(1))
    with pytest.raises(TypeError, match=r"whether a loop goes on at .*a fixed number of times"):
        linear_bounds(lambda x: lax.while_loop(lambda v: v < 9, lambda v: v + 1, x))(f32(0), f32(1))
    with pytest.raises(TypeError, match=r"low has type i32\[\] and high i32\[\]"):
        linear_bounds(lambda x: x)(np.int32(0), np.int32(1))
    with pytest.raises(TypeError, match="low and high must have one structure"):
        linear_bounds(lambda x: x)([f32(0)], (f32(1),))
