"""``shard_map`` and collectives evaluated with NumPy, beside compiled programs."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp
from dovetail import P, lax, shard_map
from dovetail_backends import evaluate

X = np.linspace(-1, 1, 64, dtype=np.float32).reshape(8, 8)
GROUPS = {"axis_index_groups": [[0, 2], [1, 3]]}


def _chosen(a):
    return lax.cond(lax.psum(a.sum(), "x") > -1, lambda: lax.psum(a, "x"), lambda: a * 2)


def _counted(a):
    rounds = lax.axis_index("x")
    return lax.fori_loop(0, rounds, lambda i, c: c + a, a)


def _inner(a):
    part = shard_map(
        lambda b: b + lax.psum(b, "y") * lax.axis_index("x"),
        in_specs=P(None, "y"), out_specs=P(None, "y"), axis_names={"y"},
    )  # fmt: skip
    return part(a) + lax.psum(a, "x")


CASES = {
    "sums": lambda a: lax.psum(a, "x") + lax.pmean(dnp.sin(a), ("x", "y")) + a,
    "extremes": lambda a: lax.pmax(a, "x") * lax.pmin(a, "x") + a,
    "gathered": lambda a: lax.all_gather(a, "x", axis=1).sum(1) + a,
    "equal": lambda a: a * lax.all_gather(a, "x", to="invarying", tiled=True).sum(),
    "scattered": lambda a: lax.psum_scatter(dnp.stack([a, a * 2, a * 3, a]), "x"),
    "exchanged": lambda a: lax.all_to_all(a, "x", 1, 0, tiled=True)[:2, :1] + a,
    "sent": lambda a: lax.ppermute(a, "x", [(0, 2), (3, 1)]),
    "sent over two axes": lambda a: lax.psum(lax.ppermute(a, ("x", "y"), [(0, 5), (3, 0)]), "y"),
    "groups": lambda a: lax.psum(a, "x", **GROUPS) + lax.all_gather(a, "x", **GROUPS)[0],
    "choices": _chosen,
    "rounds": _counted,
    "ragged": lambda a: lax.ragged_all_to_all(
        a, a * 0, *[lax.pvary(dnp.asarray(v, dnp.int32), "x") for v in (
            [0, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0])], axis_name="x"),
}  # fmt: skip


def _compared(f, *args):
    wanted = dt.jit(f)(*args)
    program = dt.make_jaxpr(f)(*args)
    result = evaluate(program, *dt.tree.leaves(args))
    for a, b in zip(result, dt.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", CASES)
def test_collectives(mesh, name):
    f = shard_map(CASES[name], mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False)
    _compared(f, X)


def test_derivatives_and_nesting(mesh):
    f = shard_map(
        lambda a: lax.psum(dnp.sin(a) * a, "x"), mesh=mesh, in_specs=P("x"), out_specs=P()
    )
    _compared(dt.grad(lambda x: (f(x) ** 2).sum()), X)
    _compared(dt.vmap(f), np.stack([X, 2 * X]))
    g = shard_map(_inner, mesh=mesh, in_specs=P("x"), out_specs=P("x"), axis_names={"x"})
    _compared(g, X)
    _compared(shard_map(lambda a: a * 2, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y")), X)


def test_failures(mesh):
    f = shard_map(
        lambda a: lax.cond(lax.axis_index("x") > 0, lambda: lax.psum(a, "x"), lambda: a),
        mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False,
    )  # fmt: skip
    from dovetail_backends import reference_devices

    before = reference_devices.TIMEOUT
    reference_devices.TIMEOUT = 0.2
    try:
        with pytest.raises(RuntimeError, match=r"waits along the axes \('x',\) for others, of whi"):
            evaluate(dt.make_jaxpr(f)(X), X)
    finally:
        reference_devices.TIMEOUT = before
    program = dt.make_jaxpr(lambda a: lax.psum(a, "i"), axis_env=[("i", 2)])(X)
    with pytest.raises(NameError, match="is evaluated outside of devices with these axes"):
        evaluate(program, X)


@pytest.mark.parametrize("where", ["reference", "cpu", "device"])
@pytest.mark.parametrize("spec", [P("x"), P(None, "y"), P(("x", "y"))])
def test_on_one_device_nothing_is_divided(explicit: dt.Mesh, where: str, spec: P) -> None:
    host = np.arange(32, dtype=np.float32).reshape(8, 4)
    x = dt.device_put(host, dt.NamedSharding(explicit, spec))
    given = {"device": dt.devices()[0]} if where == "device" else {"backend": where}
    for _ in range(2):
        result = dt.jit(lambda v: {"a": v * 2, "b": lax.sin(v).sum()}, **given)(x)
        for y, wanted in ((result["a"], host * 2), (result["b"], np.sin(host).sum())):
            assert dt.typeof(y).divided is None and len(y.sharding.device_set) == 1
            assert str(y) == str(np.asarray(y)) and len(y.addressable_shards) == 1
            np.testing.assert_allclose(y, wanted, rtol=1e-4)
            np.testing.assert_allclose(y + 1, wanted + 1, rtol=1e-4)
    again = dt.device_put(result["a"], dt.NamedSharding(explicit, spec))
    assert dt.typeof(again) == dt.typeof(x)
    np.testing.assert_array_equal(again, host * 2)
