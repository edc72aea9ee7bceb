"""Updated results compared to the function at the new inputs, and how much was computed."""

from __future__ import annotations

import numpy as np
import pytest
from acme_delta import incremental, update

import dovetail
from dovetail import lax, nn, numpy as dnp

f32 = np.float32
RNG = np.random.default_rng(0)
N = 12
X = RNG.standard_normal((N, 4)).astype(f32)
Y = RNG.standard_normal((N, 4)).astype(f32)
W = RNG.standard_normal((4, 3)).astype(f32)


def network(x, w):
    return nn.softmax(dnp.tanh(x @ w) + 1.0)


def moments(x, y):
    return (x * y).mean(0), dnp.sqrt((x**2).sum()), dnp.max(x - y, axis=1)


def branches(x, y):
    big = x.sum() > 0
    return lax.cond(big, lambda: dnp.sin(x) * y, lambda: x - y) * 2


def loop(x, y):
    total, each = lax.scan(lambda c, s: (c + s.sum(), c * s), f32(1), x)
    return total + y, each + y


def shapes(x, y):
    z = dnp.where(x > y, x, 0.0)[:, None, :] * dnp.ones((1, 2, 1), f32)
    z = z.reshape(N, 8).reshape(N, 2, 4).transpose(0, 2, 1)
    return z[:, :, 0].cumsum(1), z.cumsum(0), z.reshape(-1), z.transpose(1, 0, 2), z[::-1]


def products(x, y):
    each = dnp.einsum("ni,ni->n", x, y)
    return each, x.T @ y, y @ (x[0]), x @ y.T, x.T @ each


def grams(x, y):
    at_once = dnp.einsum("ni,nj->ij", x - x.mean(), y), dnp.einsum("ni,nj->ij", x, x)
    return (
        *at_once,
        dnp.einsum("ni,ni->i", x, y),
        dnp.einsum("nij,njk->nik", x[:, None], y[:, :, None]),
    )


def compiled(x, y):
    return dovetail.jit(lambda x, y: (dovetail.vmap(dnp.dot)(x, y), dovetail.jit(dnp.exp)(x)))(x, y)


def gradients(x, w):
    return dovetail.grad(lambda w: (network(x, w) ** 2).sum())(w)


FUNCTIONS = {
    f.__name__: (f, Y) for f in (moments, branches, loop, shapes, products, grams, compiled)
}
FUNCTIONS |= {f.__name__: (f, W) for f in (network, gradients)}
INDICES = {
    "one": 3,
    "last": -1,
    "slice": slice(2, 7, 2),
    "some": np.array([7, 2]),
    "twice": np.array([5, 5, 1]),
    "all": slice(None),
    "whole": ...,
}


def close(found, wanted):
    found, wanted = (dovetail.tree_util.tree_leaves(x) for x in (found, wanted))
    for x, y in zip(found, wanted, strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-5)


def changed(x, index, seed=1):
    """New values at an index (equal ones where an element is named twice), and the new array."""
    values = np.random.default_rng(seed).standard_normal(x.shape).astype(f32)
    new = x.copy()
    new[index] = values[index]
    return (index, values[index]), new


CASES = [(name, "some") for name in FUNCTIONS] + [("moments", index) for index in INDICES]


@pytest.mark.parametrize(("name", "index"), dict.fromkeys(CASES))
def test_updates_equal_the_function(name, index):
    f, other = FUNCTIONS[name]
    result, cache = incremental(f)(X, other)
    close(result, f(X, other))
    change, x = changed(X, INDICES[index])
    result, cache, count = update(cache, {0: change})
    close(result, f(x, other))
    assert 0 < count <= 1.2 * cache.size
    second, y = changed(other, 1, seed=2)  # a second update, of what the first one left
    result, cache, _ = update(cache, {1: second})
    close(result, f(x, y))
    (third, x), (fourth, y) = changed(x, 0, seed=3), changed(y, 2, seed=4)
    close(update(cache, {0: third, 1: fourth})[0], f(x, y))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_updates_can_be_compiled(name):
    f, other = FUNCTIONS[name]
    _, cache = dovetail.jit(incremental(f))(X, other)
    traced = []

    @dovetail.jit
    def step(cache, i, v):
        traced.append(1)
        return update(cache, {0: (i, v)})[:2]

    x = X
    for rows in ([4, 2], [0, 11], [2, 2]):
        (i, v), x = changed(x, np.array(rows), seed=rows[0])
        result, cache = step(cache, i, v)
        close(result, f(x, other))
    assert len(traced) == 1


def test_slices_are_computed_exactly():
    f = lambda x, w: dnp.exp(dnp.sin(x) * x) / (1 + x**2)  # noqa: E731
    _, cache = incremental(f)(X, W)
    change, x = changed(X, np.array([3, 8]))
    np.testing.assert_array_equal(update(cache, {0: change})[0], f(x, W))


def test_what_does_not_depend_on_a_change_is_kept():
    f = lambda x, w: (dnp.exp(x), dnp.sin(w).sum())  # noqa: E731
    (_, second), cache = incremental(f)(X, W)
    result, new, count = update(cache, {0: changed(X, 3)[0]})
    assert count == 4 and cache.size == X.size + 2 * W.size and result[1] is second
    assert update(new, {})[2] == 0


def test_counts():
    """Of a network on a thousand points one point is computed: a row of each array."""
    x = RNG.standard_normal((1000, 4)).astype(f32)
    f = lambda x, w: (dnp.tanh(x @ w) ** 2).sum()  # noqa: E731
    _, cache = incremental(f)(x, W)
    _, _, count = update(cache, {0: changed(x, 17)[0]})
    assert cache.size == (4000 + 12) + 4 * 3000 - 3000
    assert count == (4 + 12) + 3 * 3


def test_infinities_leave_a_sum_again():
    x = X.copy()
    x[3] = np.inf
    result, cache = incremental(lambda x: (x.sum(0), x.T @ Y))(x)
    result, cache, _ = update(cache, {0: (3, X[3])})
    close(result, (X.sum(0), X.T @ Y))
    result, cache, _ = update(cache, {0: (3, np.inf)})
    close(result, (x.sum(0), x.T @ Y))


def test_updates_have_derivatives():
    def f(x, w):
        return (dnp.tanh(x @ w) ** 2).sum()

    _, cache = incremental(f)(X, W)
    _, x = changed(X, 3)
    slope = dovetail.grad(lambda v: update(cache, {0: (3, v)})[0])(x[3])
    close(slope, dovetail.grad(f)(x, W)[3])
    many = dovetail.vmap(lambda v: update(cache, {0: (3, v)})[0])(Y)
    close(many, dnp.stack([f(dnp.asarray(X).at[3].set(v), W) for v in Y]))


def test_arguments_may_be_containers():
    f = lambda p: p["a"] * 2 + p["b"]  # noqa: E731
    _, cache = incremental(f)({"a": X, "b": f32(1)})
    close(update(cache, {1: (..., f32(3))})[0], X * 2 + 3)
    close(update(cache, {0: (2, 0.0)})[0][2], np.ones(4, f32))


def test_errors():
    _, cache = incremental(lambda x: x)(X)
    with pytest.raises(IndexError, match="there is no argument 1, only 1 of them"):
        update(cache, {1: (0, 0.0)})

    def effectful(x):
        dovetail.debug.print("{}", x)
        return x

    with pytest.raises(TypeError, match=r"debug_callback at .* has an effect; values alone"):
        incremental(effectful)(X)


def test_a_rule_of_ones_own():
    from acme_delta import Change, update_rules

    from dovetail_core import Primitive

    double_p = Primitive("delta_test.double")
    double_p.def_abstract_eval(lambda x: x)
    double_p.def_decomposition(lambda x: x + x)

    @update_rules.register(double_p)
    def _double(compute, old, args, params):
        (x,) = args
        return Change(old, old.at[x.rows].set(compute(double_p, [x.new[x.rows]], params)), x.rows)

    _, cache = incremental(double_p.bind)(dnp.asarray(X))
    change, x = changed(X, 3)
    result, _, count = update(cache, {0: change})
    close(result, dnp.asarray(2 * x))
    assert count == 4


def test_what_an_operation_is_made_of_is_entered():
    """Of the softmax of each row a row is computed, which no rule says."""
    _, cache = incremental(lambda x, _: nn.softmax(x))(X, W)
    _, _, count = update(cache, {0: changed(X, 3)[0]})
    assert count * N == cache.size


def test_a_gram_matrix_takes_the_changed_terms():
    _, cache = incremental(lambda x: dnp.einsum("ni,nj->ij", x, x))(X)
    (index, new), x = changed(X, 3)
    result, _, count = update(cache, {0: (index, new)})
    close(result, dnp.asarray(x.T @ x))
    assert count == 2 * 16 and cache.size == 2 * X.size
