"""``pmap`` on the devices that there are."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_ad import grad
from dovetail_backends import device_put
from dovetail_batching import vmap
from dovetail_jit import jit
from dovetail_sharding import Mesh, NamedSharding, PartitionSpec as P
from dovetail_sharding.pmap import pmap

X = np.arange(3.0, dtype=np.float32)[None]


def test_values_and_collectives():
    np.testing.assert_array_equal(pmap(lambda x: x + 1)(X), X + 1)
    np.testing.assert_array_equal(pmap(lambda x: lax.psum(x, "i"), "i")(X), X)
    scaled = pmap(lambda x, n, y: {"a": x * n + y}, static_broadcasted_argnums=1)
    np.testing.assert_array_equal(scaled(X, 3, X)["a"], 4 * X)
    np.testing.assert_array_equal(pmap(lambda x, y: x * y, in_axes=(0, None))(X, 2.0), 2 * X)
    columns = pmap(lambda x, *, y: x + y, in_axes=1, out_axes=1)
    np.testing.assert_array_equal(columns(X.T, y=dnp.ones(1)), X.T + 1)
    np.testing.assert_array_equal(pmap(grad(lambda x: (x**2).sum()))(dnp.asarray(X)), 2 * X)
    assert pmap(lambda x: x + 1).lower(X).compile()(X).shape == (1, 3)


def test_bad_input():
    def f(x):
        return x

    with pytest.raises(TypeError, match="pmap takes a function, got 3 of type int"):
        pmap(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"pmap of f at .*: the mapped axis has 2 elements, and"):
        pmap(f)(np.ones((2, 3)))
    with pytest.raises(ValueError, match="no argument is mapped"):
        pmap(lambda: 1)()


ROWS = np.arange(24, dtype=np.float32).reshape(8, 3)


@pytest.fixture
def on(devices):
    def mapped(f, axis_name=None, **options):
        return pmap(f, axis_name, devices=devices, **options)

    return mapped


def test_each_device_has_an_element(on, devices):
    out = on(lambda x: lax.psum(x, "i") + lax.axis_index("i"), "i")(ROWS)
    np.testing.assert_array_equal(out, ROWS.sum(0) + np.arange(8)[:, None])
    assert out.sharding == NamedSharding(Mesh(np.array(devices), ("i",)), P("i"))
    half = on(lambda x: 2 * x)(ROWS[:4])
    assert half.sharding.device_set == set(devices[:4])
    columns = on(lambda x: 2 * x, in_axes=-1, out_axes=1)(ROWS.T)
    assert columns.sharding.spec == P(None, columns.sharding.mesh.axis_names[0])
    np.testing.assert_array_equal(columns, 2 * ROWS.T)
    whole = on(lambda x: lax.psum(x, "i"), "i", out_axes=None)(ROWS)
    np.testing.assert_array_equal(whole, ROWS.sum(0))
    assert whole.sharding.is_fully_replicated
    assert str(on(lambda x: 2 * x)(ROWS).sharding.mesh.axis_names[0]) == "<axis of pmap>"


def test_arrays_that_are_elsewhere(on, devices):
    f = on(lambda x, y: x + y, in_axes=(0, None))
    here = device_put(ROWS, devices[3])
    turned = device_put(ROWS, NamedSharding(Mesh(np.array(devices[::-1]), ("k",)), P("k")))
    for x in (here, turned, f(ROWS, 0.0)):
        np.testing.assert_array_equal(f(x, device_put(1.0, devices[5])), ROWS + 1)
    given = device_put(ROWS, NamedSharding(Mesh(np.array(devices), ("k",)), P("k")))
    np.testing.assert_array_equal(on(lambda x: 2 * x, donate_argnums=0)(given), 2 * ROWS)
    assert given.is_deleted()


def test_transformations_of_it(on):
    f = on(lambda x: lax.psum(dnp.sin(x), "i") * x, "i")
    wanted = vmap(lambda x: lax.psum(dnp.sin(x), "i") * x, axis_name="i")
    np.testing.assert_allclose(
        grad(lambda x: f(x).sum())(ROWS), grad(lambda x: wanted(x).sum())(ROWS), rtol=1e-5
    )
    stacked = np.stack([ROWS, 2 * ROWS])
    result = vmap(f)(stacked)
    np.testing.assert_allclose(result, np.stack([wanted(r) for r in stacked]), rtol=1e-5)
    assert result.sharding.spec == P(None, "i")
    np.testing.assert_allclose(jit(f)(ROWS), wanted(ROWS), rtol=1e-5)
    np.testing.assert_allclose(on(vmap(lambda a: lax.psum(a, "i")), "i")(ROWS)[0], ROWS.sum(0))
    pairs = ROWS.reshape(4, 2, 3)
    inner = pmap(lambda a: lax.psum(a, ("i", "j")), "j")
    np.testing.assert_array_equal(on(inner, "i")(pairs)[1, 1], ROWS.sum(0))
