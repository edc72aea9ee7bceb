"""Formats of several devices, and those that ``jit`` is told: layouts of arguments and results."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail import NamedSharding, P, ShapeDtypeStruct, device_put, numpy as dnp
from dovetail.experimental.layout import Format, Layout

HOST = np.arange(32, dtype=np.float32).reshape(8, 4)
TURNED = Layout((1, 0))


def order(x: Any) -> tuple[int, ...]:
    return x.format.layout.major_to_minor


def one() -> Any:
    return dnp.ones(1).sharding


@pytest.mark.parametrize("axes", [(), ("x",), ("x", "y"), (None, "y")])
def test_parts_of_arrays_on_several_devices(mesh, axes):
    where = NamedSharding(mesh, P(*axes))
    y = device_put(HOST, Format(TURNED, where))
    assert order(y) == (1, 0) and y.sharding == where and y.committed
    assert {order(s.data) for s in y.addressable_shards} == {(1, 0)}
    for s in y.addressable_shards:
        np.testing.assert_array_equal(s.data, HOST[s.index])
    np.testing.assert_array_equal(y, HOST)
    np.testing.assert_array_equal(y + 1, HOST + 1)
    np.testing.assert_array_equal(device_put(y, NamedSharding(mesh, P())), HOST)
    assert order(device_put(y, y.format)) == (1, 0)
    np.testing.assert_array_equal(device_put(y, Format(Layout((0, 1)), where)), HOST)


@pytest.mark.parametrize("divided", [False, True])
def test_arguments_and_results_lie_as_jit_was_told(mesh, divided):
    there = Format(TURNED, NamedSharding(mesh, P("x", "y")) if divided else one())
    y = device_put(HOST, there)
    f = dovetail.jit(lambda a: a * 2, in_shardings=there, out_shardings=there)
    g = dovetail.jit(lambda a: a * 3, out_shardings=there)
    for _ in range(3):
        for x in (y, HOST, dnp.asarray(HOST)):
            assert order(f(x)) == (1, 0) and f(x).sharding == there.sharding
            np.testing.assert_array_equal(f(x), HOST * 2)
            np.testing.assert_array_equal(g(x), HOST * 3)
            np.testing.assert_array_equal(f(f(x)) + f(x), HOST * 6)
    with pytest.raises(ValueError, match=r"lies in memory as major_to_minor=\(0, 1\), and the pr"):
        f(device_put(HOST, there.sharding))
    assert "layout_mode" in f.lower(y).as_text()
    np.testing.assert_array_equal(dovetail.jit(lambda a: f(a) + 1)(y), HOST * 2 + 1)
    np.testing.assert_array_equal(dovetail.grad(lambda a: f(a).sum())(y), HOST * 0 + 2)
    for mapped in (dovetail.vmap(f), dovetail.jit(dovetail.vmap(f)), dovetail.vmap(g)):
        with pytest.raises(NotImplementedError, match=r"(?s)vmap of jit of .* nothing of the mapp"):
            mapped(HOST[None])


def test_each_result_has_its_own():
    f = dovetail.jit(
        lambda a, b: {"a": a @ b.T, "b": b}, in_shardings=(one(), Format(TURNED, one())),
        out_shardings={"a": one(), "b": Format(TURNED, one())},
    )  # fmt: skip
    for _ in range(2):
        result = f(HOST, HOST)
        assert order(result["a"]) == (0, 1) and order(result["b"]) == (1, 0)
        np.testing.assert_array_equal(result["a"], HOST @ HOST.T)
        np.testing.assert_array_equal(result["b"], HOST)


def test_the_compiler_chooses_layouts():
    told = Format(TURNED, one())
    f = dovetail.jit(lambda a: a.T, in_shardings=told, out_shardings=Format(Layout.AUTO))
    assert f.lower(HOST).compile().output_formats.layout.major_to_minor in ((0, 1), (1, 0))
    g = dovetail.jit(lambda a: a @ a.T, in_shardings=Format(Layout.AUTO))
    compiled = g.lower(ShapeDtypeStruct((8, 4), dnp.float32)).compile()
    ((chosen,), _) = compiled.input_formats
    np.testing.assert_array_equal(compiled(device_put(HOST, chosen)), HOST @ HOST.T)
    other = Layout(tuple(reversed(chosen.layout.major_to_minor)))
    with pytest.raises(ValueError, match="lies in memory as"):
        compiled(device_put(HOST, Format(other, one())))
    np.testing.assert_array_equal(g(device_put(HOST, Format(other, one()))), HOST @ HOST.T)
    assert repr(Layout.AUTO) == "AUTO" and pickle.loads(pickle.dumps(Layout.AUTO)) is Layout.AUTO


def test_types_have_formats():
    there = Format(TURNED, one())
    x = ShapeDtypeStruct((8, 4), dnp.float32, sharding=there)
    assert x.format == there and x.sharding == there.sharding and "(1, 0)" in repr(x)
    assert x != ShapeDtypeStruct((8, 4), dnp.float32, sharding=one())
    compiled = dovetail.jit(lambda a: a + 1).lower(x).compile()
    assert compiled.input_formats[0][0].layout.major_to_minor == (1, 0)
    np.testing.assert_array_equal(compiled(device_put(HOST, there)), HOST + 1)


def test_donated_and_mutable_arguments():
    there = Format(TURNED, one())
    f = dovetail.jit(lambda a: a + 1, donate_argnums=0, in_shardings=there, out_shardings=there)
    for _ in range(2):
        x = device_put(HOST, there)
        np.testing.assert_array_equal(f(x), HOST + 1)
        assert x.is_deleted()
    g = dovetail.jit(lambda a: a + 1, donate_argnums=0, out_shardings=there)
    np.testing.assert_array_equal(g(x := dnp.asarray(HOST)), HOST + 1)
    assert x.is_deleted()  # its memory is as large as that of the result

    ref = dovetail.new_ref(dnp.zeros((8, 4)))

    def add(r: Any, a: Any) -> Any:
        r[...] += a
        return a * 2

    into = dovetail.jit(add, in_shardings=(None, there), out_shardings=there)
    for n in (1, 2):
        assert order(into(ref, device_put(HOST, there))) == (1, 0)
        np.testing.assert_array_equal(ref[...], HOST * n)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: device_put(HOST, Format(Layout.AUTO, one())), ValueError, "compiler, and there"),
        (lambda: dovetail.jit(abs, in_shardings=TURNED), ValueError, "does not say where. Give Fo"),
        (
            lambda: dovetail.jit(abs, in_shardings=Format(Layout((0,)), one()))(HOST),
            ValueError,
            r"in_shardings of jit of .*list each of its 2 axes once",
        ),
        (
            lambda: dovetail.jit(abs, out_shardings=Format(Layout((1, 0), ((2, 2),)), one()))(HOST),
            NotImplementedError,
            "out_shardings of jit of .* for tiles",
        ),
        (
            lambda: dovetail.jit(lambda k: k, in_shardings=Format(Layout(()), one()))(
                dovetail.random.key(0)
            ),
            NotImplementedError,
            "made of arrays. Give a sharding alone",
        ),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()
