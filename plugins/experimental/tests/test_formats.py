"""Formats of arrays: where they are and how their elements lie, chosen by ``device_put``."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail import device_put, numpy as dnp
from dovetail.experimental.layout import Format, Layout

HOST = np.arange(6, dtype=np.float32).reshape(2, 3)


def turned(x: Any) -> Any:
    """The same array with its first axis fastest."""
    x = dnp.asarray(x)
    return device_put(x, Format(Layout(tuple(reversed(range(x.ndim)))), x.sharding))


def order(x: Any) -> tuple[int, ...]:
    return x.format.layout.major_to_minor


def test_arrays_say_their_format():
    x = dnp.asarray(HOST)
    assert x.format == Format(Layout((0, 1)), x.sharding) == Format(Layout([0, 1]), x.sharding)  # type: ignore[arg-type]
    assert hash(x.format) == hash(dnp.ones((2, 3)).format)
    assert order(dnp.ones(())) == () and order(dnp.ones(3, "int4")) == (0,)
    assert dovetail.tree.leaves(x.format) == [x.format]
    assert not hasattr(dovetail.make_jaxpr(lambda x: x * hasattr(x, "format"))(x), "format")


def test_what_is_put_lies_as_it_was_told():
    x = dnp.asarray(HOST)
    y = turned(HOST)
    assert order(y) == (1, 0) and y.committed and y.shape == x.shape
    assert np.asarray(y).strides == (4, 8)
    np.testing.assert_array_equal(y, HOST)
    assert order(device_put(y, x.format)) == (0, 1)
    assert order(device_put(y, x.sharding)) == (1, 0)
    assert device_put(x, x.format).unsafe_buffer_pointer() == x.unsafe_buffer_pointer()
    assert (
        order(device_put(y, Format(None, x.sharding))) == order(device_put(y, Format())) == (1, 0)
    )
    cube = dnp.arange(24.0).reshape(2, 3, 4)
    z = device_put(cube, Format(Layout((2, 0, 1)), cube.sharding))
    assert order(z) == (2, 0, 1) and (np.asarray(z) == np.asarray(cube)).all()
    back = device_put(z, Format(Layout((1, 2, 0)), cube.sharding))
    assert order(back) == (1, 2, 0) and (np.asarray(back) == np.asarray(cube)).all()


def test_trees_of_formats():
    x = dnp.asarray(HOST)
    tree = {"a": x, "b": (x, x)}
    result = device_put(tree, {"a": turned(x).format, "b": x.sharding})
    assert [order(v) for v in dovetail.tree.leaves(result)] == [(1, 0), (0, 1), (0, 1)]
    result = device_put(tree, turned(x).format)
    assert {order(v) for v in dovetail.tree.leaves(result)} == {(1, 0)}


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "bool", "complex64", "int4"])
def test_every_use_gets_the_values(dtype):
    x = dnp.arange(6).reshape(2, 3).astype(dtype)
    y = turned(x)
    f = dovetail.jit(lambda a, b: (a.T, dnp.where(a == b, a, b)))
    for _ in range(3):
        for a, b in ((x, x), (y, x), (x, y), (y, y)):
            t, w = f(a, b)
            assert (t == x.T).all() and (w == x).all()
            assert (a == b).all()
            if dtype not in ("bool", "int4"):
                np.testing.assert_array_equal(np.asarray(a + b), np.asarray(x + x))
    assert y.tolist() == x.tolist() and y[1].tolist() == x[1].tolist()
    assert [v.tolist() for v in y] == x.tolist()


def test_uses_of_all_kinds():
    x, y = dnp.asarray(HOST), turned(HOST)
    np.testing.assert_array_equal(dovetail.grad(lambda a: (a * a).sum())(y), 2 * HOST)
    np.testing.assert_array_equal(dovetail.vmap(lambda a: a * 2)(y), 2 * HOST)
    np.testing.assert_array_equal(dovetail.jit(lambda a: a + y)(x), 2 * HOST)
    np.testing.assert_array_equal(
        dovetail.jit(lambda a: a + 1, donate_argnums=0)(turned(x)), HOST + 1
    )
    np.testing.assert_array_equal(dovetail.jit(lambda a: a * 2).lower(x).compile()(y), 2 * HOST)
    np.testing.assert_array_equal(dovetail.lax.scan(lambda c, a: (c + a, a), x[0], y)[1], HOST)
    np.testing.assert_array_equal(y @ y.T, HOST @ HOST.T)
    np.testing.assert_array_equal(np.from_dlpack(y), HOST)
    for same in (
        pickle.loads(pickle.dumps(y)),
        copy.deepcopy(y),
        y.copy(),
        dnp.array(y),
        y.clone(),
    ):
        np.testing.assert_array_equal(same, HOST)
        np.testing.assert_array_equal(same + x, 2 * HOST)
    seen: list[Any] = []
    dovetail.jit(lambda a: dovetail.debug.callback(seen.append, a))(y)
    dovetail.effects_barrier()
    np.testing.assert_array_equal(seen[0], HOST)


def test_programs_take_other_layouts_where_they_are_traced():
    x = dnp.asarray(HOST)
    there = turned(x).format
    f = lambda a: device_put(a * 1.0, there)  # noqa: E731
    np.testing.assert_array_equal(dovetail.jit(f)(x), HOST)
    np.testing.assert_array_equal(dovetail.vmap(f)(x[None])[0], HOST)
    assert order(dovetail.jit(f)(x)) == (0, 1)


def wrong(layout: Any, sharding: Any = None) -> Any:
    return lambda: device_put(HOST, Format(layout, sharding or dnp.ones(3).sharding))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (wrong(Layout((0,))), ValueError, r"at .*: major_to_minor is \(0,\), .* f32\[2,3"),
        (wrong(Layout((0, 0))), ValueError, r"list each of its 2 axes once, the slowest first"),
        (wrong(Layout((1, 0), ((8, 128),))), NotImplementedError, "not supported for tiles. G"),
        (wrong("C"), TypeError, r"Format at .*: the layout is of type str; give Layout\("),
        (wrong(None, "cpu"), TypeError, r"Format at .*: the sharding is of type str; give that of"),
        (lambda: device_put(HOST, Format(Layout((0, 1)))), ValueError, "does not say where. Give"),
        (lambda: device_put(HOST, Layout((0, 1))), ValueError, "of type Layout .*: give a device"),
        (
            lambda: device_put(np.zeros(2, dovetail.dtypes.float0), dnp.ones(2).format),
            TypeError,
            "is no array, and has no layout",
        ),
    ],
)  # fmt: skip
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()
