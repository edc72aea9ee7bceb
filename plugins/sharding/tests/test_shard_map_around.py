"""``shard_map`` in programs: within another, under ``vmap`` of what is divided, of references, and
of arguments that are no arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp
from dovetail import NamedSharding, P, lax
from dovetail.sharding import AxisType, Mesh, reshard, set_mesh
from dovetail_core import ShapedArray, typeof
from dovetail_testing import assert_close

X = np.arange(6 * 24, dtype=np.float32).reshape(6, 24) / 50


def _mesh(devices: Any, *kinds: AxisType) -> Mesh:
    return Mesh(np.array(devices[:4]).reshape(2, 2), ("x", "y"), kinds)


@pytest.fixture
def square(devices):
    mesh = _mesh(devices, AxisType.Explicit, AxisType.Explicit)
    with set_mesh(mesh):
        yield mesh


def _over_y(f: Any, out: Any = None) -> Any:
    out = P("y") if out is None else out
    part = dt.shard_map(f, in_specs=P("y"), out_specs=out)
    return lambda row: part(reshard(row, P("y"))).sum()


@pytest.mark.parametrize("name", ["value", "grad", "grad of psum", "hvp", "jacrev", "whole"])
def test_of_rows_that_are_divided(name, square):
    """The mapped axis is divided along an axis that the function does not use: it stays so."""
    cos, summed = _over_y(dnp.cos), _over_y(lambda v: lax.psum(dnp.cos(v), "y"), P(None))
    whole = dt.shard_map(dnp.cos, in_specs=P(), out_specs=P())
    cases: dict[str, Any] = {
        "value": (cos, np.cos(X).sum(1)),
        "grad": (dt.grad(cos), -np.sin(X)),
        "grad of psum": (dt.grad(summed), -np.sin(X)),
        "hvp": (lambda r: dt.jvp(dt.grad(summed), (r,), (r,))[1], -np.cos(X) * X),
        "jacrev": (lambda r: dt.jacrev(dt.grad(cos))(r).sum(0), -np.cos(X)),
        "whole": (dt.grad(lambda r: whole(r).sum()), -np.sin(X)),
    }
    f, wanted = cases[name]
    for g in (dt.vmap(f), dt.jit(dt.vmap(f))):
        result = g(dt.device_put(X, P("x", None)))
        assert result.sharding.is_equivalent_to(NamedSharding(square, P("x")), result.ndim)
        assert_close(result, wanted, scale=10.0)


@pytest.mark.parametrize("kind", [AxisType.Auto, AxisType.Explicit], ids=["auto", "explicit"])
def test_within_another_over_the_other_axes(kind, devices):
    """Without ``axis_names`` it is over the axes over which no function around is mapped."""

    def inner(v: Any) -> Any:
        spec = P(None, "y")
        return dt.shard_map(lambda w: w * lax.psum(w, "y"), in_specs=spec, out_specs=spec)(v)

    with set_mesh(_mesh(devices, kind, kind)):
        outer = dt.shard_map(inner, in_specs=P("x"), out_specs=P("x"), axis_names={"x"})
        x = dt.device_put(X, P("x", "y"))
        halves = X[:, :12] + X[:, 12:]
        assert_close(dt.jit(outer)(x), X * np.concatenate([halves, halves], 1))
        all_axes = dt.shard_map(inner, in_specs=P("x", "y"), out_specs=P("x", "y"))
        with pytest.raises(ValueError, match="within a shard_map over the same"):
            dt.jit(all_axes)(x)


def test_arguments_that_are_no_arrays(mesh):
    """Where in_specs have None the function gets them as they are; arrays are whole."""
    options = {"mesh": mesh, "out_specs": P("x")}
    x = np.ones((8, 4), np.float32)
    marker = object()

    def f(what: Any, a: Any) -> Any:
        assert what is marker
        return a + 1

    mapped = dt.shard_map(f, in_specs=(None, P("x")), **options)
    assert_close(mapped(marker, x), x + 1)
    assert_close(dt.grad(lambda a: mapped(marker, a).sum())(x), x)
    sized = dt.shard_map(lambda a, s: a + dnp.ones(s), in_specs=(P("x"), None), **options)
    assert_close(dt.jit(sized, static_argnums=1)(x, (2, 4)), x + 1)
    nested = dt.shard_map(
        lambda d: d["a"] * d["n"] if d["flag"] else d["a"],
        in_specs=({"a": P("x"), "n": None, "flag": None},),
        **options,
    )
    assert_close(nested({"a": x, "n": 3, "flag": True}), 3 * x)
    with_whole = dt.shard_map(lambda a, w: a + w.sum(), in_specs=(P("x"), None), **options)
    assert_close(with_whole(x, dnp.arange(3.0)), x + 3)
    with pytest.raises(TypeError, match="not a valid array value"):
        dt.shard_map(f, in_specs=(P(), P("x")), **options)(marker, x)


def test_types_within_say_which_axes_are_manual(square):
    seen: list[Any] = []

    def f(a: Any) -> Any:
        seen.append(typeof(a).sharding)
        return a

    x = dt.device_put(X, P("x", "y"))
    dt.jit(dt.shard_map(f, out_specs=P("x"), axis_names={"x"}))(x)
    assert seen[-1].mesh.axis_types == (AxisType.Manual, AxisType.Explicit)
    assert seen[-1].spec == P(None, "y")
    dt.jit(dt.shard_map(f, out_specs=P("x", "y")))(x)
    assert seen[-1].mesh.axis_types == (AxisType.Manual, AxisType.Manual)
    assert typeof(x).sharding.mesh.axis_types == (AxisType.Explicit, AxisType.Explicit)


def test_specs_of_references_are_those_of_what_they_hold(square):
    ref = dt.new_ref(dnp.zeros(4, np.float32, out_sharding=P("x")))

    def f(r: Any) -> None:
        r[...] += lax.axis_index("x").astype(np.float32)

    dt.jit(dt.shard_map(f, out_specs=None))(ref)
    np.testing.assert_array_equal(ref[...], [0, 0, 1, 1])


def test_specs_along_one_axis_of_a_mesh_with_others(devices):
    with set_mesh(_mesh(devices, AxisType.Explicit, AxisType.Auto)):
        x = dt.device_put(X, P("x"))
        double = dt.smap(lambda a: 2 * a, out_axes=0, axis_name="x")
        assert_close(dt.jit(double)(x), 2 * X)
        with pytest.raises(TypeError, match=r"not all axes of .* are of type Explicit over which"):
            dt.jit(dt.smap(lambda a: a, out_axes=0, axis_name="y"))(x)


def test_collectives_of_sums_over_another_axis(square):
    """The transpose of a sum over one axis takes what is a summand along the other."""
    x = dt.device_put(X, P("x", "y"))
    gather = lambda a: lax.all_gather(a, "y", axis=1, tiled=True, to="reduced")  # noqa: E731
    scatter = lambda a: lax.psum_scatter(a, "x", scatter_dimension=1, tiled=True)  # noqa: E731
    bodies: list[Any] = [
        lambda a: lax.psum(dnp.sum(gather(a) ** 2), "x"),
        lambda a: lax.psum(dnp.sum(lax.all_gather(gather(a), "x") ** 2), "x") / 2,
        lambda a: lax.psum(dnp.sum(lax.ppermute(gather(a), "x", [(0, 1), (1, 0)]) ** 2), "x"),
        lambda a: lax.psum(dnp.sum(scatter(gather(a)) ** 2), "x"),
    ]
    for body in bodies[:3]:
        f = dt.shard_map(body, out_specs=P(reduced={"y"}))
        result = dt.jit(dt.grad(f))(x)
        assert result.sharding.spec == P("x", "y")
        assert_close(result, 2 * X)
    part = dt.shard_map(
        lambda a: lax.psum(dnp.sum(gather(a)[:2, 1:] ** 2), "x"), out_specs=P(reduced={"y"})
    )
    kept = np.zeros_like(X)
    kept[:2, 1:], kept[3:5, 1:] = 2 * X[:2, 1:], 2 * X[3:5, 1:]
    assert_close(dt.jit(dt.grad(part))(x), kept)
    wanted = np.tile(2 * (X[:3] + X[3:]), (2, 1))
    assert_close(dt.jit(dt.grad(dt.shard_map(bodies[3], out_specs=P(reduced={"y"}))))(x), wanted)


def test_lowering_for_types_without_a_place(mesh):
    """A type says nothing of devices, so that in_shardings do."""
    place = NamedSharding(mesh, P("x"))
    lowered = dt.jit(lambda a: a * 2, in_shardings=place).lower(ShapedArray((8, 2), np.float32))
    x = np.ones((8, 2), np.float32)
    assert_close(lowered.compile()(dt.device_put(x, place)), 2 * x)
