"""Values that the compiler divides in one way: ``shard_alike``, and the arrays of a random key."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp
from dovetail import NamedSharding, P
from dovetail.experimental.shard_alike import shard_alike
from dovetail_testing import assert_close

X = np.arange(32, dtype=np.float32).reshape(8, 4)


@pytest.fixture
def x(mesh):
    return dt.device_put(X, NamedSharding(mesh, P("x", "y")))


def _is_like(y: Any, x: Any) -> bool:
    return y.sharding.is_equivalent_to(x.sharding, x.ndim)


def test_what_is_made_is_divided_as_an_argument(x):
    f = dt.jit(lambda a: shard_alike(a, dnp.ones((8, 4)))[1])
    assert _is_like(f(x), x) and not _is_like(dt.jit(lambda a: dnp.ones((8, 4)))(x), x)
    other = dt.jit(lambda a: shard_alike({"a": dnp.zeros((8, 4), "int32")}, {"a": a})[0]["a"])
    assert _is_like(other(x), x) and other(x).dtype == np.int32
    pair = shard_alike(x, np.ones((8, 4), np.float32))
    assert_close(pair[0], X)
    assert_close(pair[1], np.ones((8, 4), np.float32))


def test_under_transformations(x):
    def f(a: Any) -> Any:
        a, b = shard_alike(a, 2 * a[::-1])
        return dnp.sin(a) * b

    plain = lambda a: dnp.sin(a) * 2 * a[::-1]  # noqa: E731
    assert_close(dt.jit(f)(x), plain(X))
    total = lambda g: lambda a: g(a).sum()  # noqa: E731
    assert_close(dt.jit(dt.grad(total(f)))(x), dt.grad(total(plain))(X), scale=100.0)
    assert_close(dt.jvp(f, (x,), (x,))[1], dt.jvp(plain, (X,), (X,))[1], scale=1e3)
    assert_close(dt.jit(dt.vmap(f))(x), dt.vmap(plain)(X))
    mapped = dt.jit(dt.vmap(lambda a, b: shard_alike(a, b), in_axes=(0, 1)))
    made = mapped(x, dnp.ones((4, 8)))
    assert_close(made[0], X)
    assert made[1].shape == (8, 4) and _is_like(made[1], x)
    one = dt.vmap(lambda a: shard_alike(a, dnp.ones(4))[1])(X)
    assert_close(one, np.ones((8, 4), np.float32))
    integers = lambda a: shard_alike(a, dnp.arange(32).reshape(8, 4))[0].sum()  # noqa: E731
    assert_close(dt.grad(integers)(X), np.ones((8, 4), np.float32))


def test_on_one_device():
    assert "sharding_group" not in dt.jit(lambda a: shard_alike(a, a)).lower(X).as_text()
    assert_close(dt.jit(lambda a: shard_alike(a, a + 1)[1])(X), X + 1)


def test_errors():
    with pytest.raises(ValueError, match=r"shard_alike at .*: leaf 1 has shape \(3,\) in x and"):
        shard_alike((1.0, np.ones(3)), (1.0, np.ones(4)))
    with pytest.raises(ValueError, match=r"x has the structure .*, and y has"):
        shard_alike([1.0], (1.0,))


@pytest.mark.parametrize("name", ["threefry2x32", "rbg", "philox2x32"])
def test_keys_are_divided_as_seeds_are(name, mesh):
    """All arrays of a key, also those that are constant."""
    place = NamedSharding(mesh, P("x", "y"))
    seeds = dt.device_put(np.arange(16, dtype=np.uint32).reshape(8, 2), place)
    make = lambda s: dt.vmap(dt.vmap(lambda n: dt.random.key(n, impl=name)))(s)  # noqa: E731
    keys = dt.jit(lambda s: make(s).T)(seeds)
    assert keys.sharding.is_equivalent_to(NamedSharding(mesh, P("y", "x")), 2)
    wanted = dt.random.key_data(make(np.arange(16, dtype=np.uint32).reshape(8, 2)).T)
    np.testing.assert_array_equal(dt.random.key_data(keys), wanted)
