"""Types of results on divided operands, one for each rule: what JAX 0.10.2 says of the same."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp
from dovetail import P, lax
from dovetail.sharding import NamedSharding, set_mesh
from dovetail_core import Primitive, ShapedArray, ShardingTypeError, typeof

AMBIGUOUS = ShardingTypeError


def _eye(*spec: Any) -> Any:
    return dt.reshard(dnp.broadcast_to(dnp.eye(4), (4, 4, 4)), P(*spec))


def _ones(shape: Any, *spec: Any) -> Any:
    return dt.reshard(dnp.ones(shape), P(*spec))


def _i(x: Any) -> Any:
    return dnp.asarray(x, "int32")


CASES: dict[str, tuple[Any, Any]] = {
    "add": (lambda x, y, z: x + y, "f32[8@x,4@y]"),
    "add conflict": (lambda x, y, z: x + z, AMBIGUOUS),
    "add vector": (lambda x, y, z: x + dnp.ones(4), "f32[8@x,4]"),
    "mul scalar": (lambda x, y, z: x * 2, "f32[8@x,4]"),
    "sum": (lambda x, y, z: x.sum(0), "f32[4]"),
    "sum whole": (lambda x, y, z: x.sum(1), "f32[8@x]"),
    "argmax": (lambda x, y, z: dnp.argmax(x, 1), "i32[8@x]"),
    "transpose": (lambda x, y, z: x.T, "f32[4,8@x]"),
    "merge": (lambda x, y, z: x.reshape(32), "f32[32@x]"),
    "merge both": (lambda x, y, z: (x + y).reshape(32), "f32[32@(x,y)]"),
    "merge minor": (lambda x, y, z: y.reshape(32), AMBIGUOUS),
    "split": (lambda x, y, z: x.reshape(4, 2, 4), "f32[4@x,2,4]"),
    "split small": (lambda x, y, z: x.reshape(2, 4, 4), AMBIGUOUS),
    "split two": (lambda x, y, z: _ones((8, 8), ("x", "y")).reshape(4, 2, 8), "f32[4@x,2@y,8]"),
    "reshape mixed": (lambda x, y, z: x.reshape(16, 2), AMBIGUOUS),
    "reshape ones": (lambda x, y, z: (x + y).reshape(8, 1, 4, 1), "f32[8@x,1,4@y,1]"),
    "matmul": (lambda x, y, z: x @ dnp.ones((4, 4)), "f32[8@x,4]"),
    "contracted": (lambda x, y, z: x.T @ x, AMBIGUOUS),
    "contracted otherwise": (lambda x, y, z: x.T @ z, AMBIGUOUS),
    "contracted one": (lambda x, y, z: x.T @ dnp.ones((8, 4)), "f32[4,4]"),
    "twice": (lambda x, y, z: x @ x.T, AMBIGUOUS),
    "outer": (lambda x, y, z: dnp.outer(x[:, 0], y[0]), "f32[8@x,4@y]"),
    "batch": (
        lambda x, y, z: lax.dot_general(x[:, None], x[:, None], (((2,), (2,)), ((0,), (0,)))),
        "f32[8@x,1,1]",
    ),
    "batch conflict": (
        lambda x, y, z: lax.dot_general(x[:, None], z[:, None], (((2,), (2,)), ((0,), (0,)))),
        AMBIGUOUS,
    ),
    "concatenate": (lambda x, y, z: dnp.concatenate([x, x]), "f32[16@x,4]"),
    "concatenate mixed": (lambda x, y, z: dnp.concatenate([x, y], 1), AMBIGUOUS),
    "stack": (lambda x, y, z: dnp.stack([x, x]), "f32[2,8@x,4]"),
    "tile": (lambda x, y, z: dnp.tile(x, (1, 2)), "f32[8@x,8]"),
    "split off": (lambda x, y, z: dnp.split(x, 2)[0], "f32[4@x,4]"),
    "pad": (lambda x, y, z: dnp.pad(x, ((0, 0), (1, 1))), "f32[8@x,6]"),
    "pad divided": (lambda x, y, z: dnp.pad(x, ((1, 1), (0, 0))), AMBIGUOUS),
    "slice": (lambda x, y, z: lax.slice(x, (0, 0), (4, 4)), "f32[4@x,4]"),
    "slice unevenly": (lambda x, y, z: lax.slice(x, (0, 0), (6, 4)), AMBIGUOUS),
    "row": (lambda x, y, z: x[0], AMBIGUOUS),
    "column": (lambda x, y, z: x[:, 0], "f32[8@x]"),
    "gather rows": (lambda x, y, z: x[_i([0, 1])], AMBIGUOUS),
    "gather columns": (lambda x, y, z: x[:, _i([0, 1])], "f32[8@x,2]"),
    "divided indices": (
        lambda x, y, z: dnp.ones((16, 4))[dt.reshard(_i(np.zeros(8)), P("x"))],
        AMBIGUOUS,
    ),
    "take along": (
        lambda x, y, z: dnp.take_along_axis(x, dt.reshard(_i(np.zeros((8, 1))), P("x")), 1),
        "f32[8@x,1]",
    ),
    "set column": (lambda x, y, z: x.at[:, 0].set(1.0), "f32[8@x,4]"),
    "set row": (lambda x, y, z: x.at[0].set(1.0), AMBIGUOUS),
    "add to rows": (lambda x, y, z: x.at[_i([0, 1])].add(1.0), AMBIGUOUS),
    "dynamic slice": (lambda x, y, z: lax.dynamic_slice(x, (0, 0), (8, 2)), "f32[8@x,2]"),
    "dynamic update": (lambda x, y, z: lax.dynamic_update_slice(x, x, (0, 0)), "f32[8@x,4]"),
    "dynamic update of part": (
        lambda x, y, z: lax.dynamic_update_slice(x, dnp.ones((2, 4)), (0, 0)),
        AMBIGUOUS,
    ),
    "sort": (lambda x, y, z: dnp.sort(x, 1), "f32[8@x,4]"),
    "sort divided": (lambda x, y, z: dnp.sort(x, 0), AMBIGUOUS),
    "cumsum": (lambda x, y, z: dnp.cumsum(x, 1), "f32[8@x,4]"),
    "cumsum divided": (lambda x, y, z: dnp.cumsum(x, 0), AMBIGUOUS),
    "top_k": (lambda x, y, z: lax.top_k(x, 2)[1], "i32[8@x,2]"),
    "top_k divided": (lambda x, y, z: lax.top_k(x.T, 2)[0], AMBIGUOUS),
    "where": (lambda x, y, z: dnp.where(x > 0, x, 0.0), "f32[8@x,4]"),
    "where conflict": (lambda x, y, z: dnp.where(x > 0, x, y), AMBIGUOUS),
    "broadcast": (lambda x, y, z: dnp.broadcast_to(x, (3, 8, 4)), "f32[3,8@x,4]"),
    "expand": (lambda x, y, z: x[None], "f32[1,8@x,4]"),
    "convert": (lambda x, y, z: x.astype("int32"), "i32[8@x,4]"),
    "bitcast": (lambda x, y, z: lax.bitcast_convert_type(x, "int8"), "i8[8@x,4,4]"),
    "zeros_like": (lambda x, y, z: dnp.zeros_like(x), "f32[8@x,4]"),
    "fft": (lambda x, y, z: dnp.fft.fft(x), "c64[8@x,4]"),
    "solve for columns": (
        lambda x, y, z: lax.linalg.triangular_solve(dnp.eye(4), x.T, left_side=True),
        "f32[4,8@x]",
    ),
    "solve for rows": (lambda x, y, z: lax.linalg.triangular_solve(dnp.eye(4), x), "f32[8@x,4]"),
    "solve divided": (
        lambda x, y, z: lax.linalg.triangular_solve(dnp.eye(8), x, left_side=True),
        AMBIGUOUS,
    ),
    "vector norm": (lambda x, y, z: dnp.linalg.vector_norm(x.T, keepdims=True), "f32[1,1]"),
    "searchsorted": (lambda x, y, z: dnp.searchsorted(dnp.zeros(9), x), AMBIGUOUS),
    "softmax": (lambda x, y, z: dt.nn.softmax(x, 0), "f32[8@x,4]"),
    "conv": (
        lambda x, y, z: lax.conv(_ones((8, 4, 8), "x"), dnp.ones((4, 4, 3)), (1,), "SAME"),
        "f32[8@x,4,8]",
    ),
    "conv features": (
        lambda x, y, z: lax.conv(_ones((8, 4, 8), None, "x"), dnp.ones((4, 4, 3)), (1,), "SAME"),
        AMBIGUOUS,
    ),
    "window": (
        lambda x, y, z: lax.reduce_window(x, 0.0, lax.add, (1, 2), (1, 1), "VALID"),
        "f32[8@x,3]",
    ),
    "window divided": (
        lambda x, y, z: lax.reduce_window(x, 0.0, lax.add, (2, 1), (1, 1), "VALID"),
        AMBIGUOUS,
    ),
    "eigh": (lambda x, y, z: dnp.linalg.eigh(_eye("x"))[0], "f32[4@x,4]"),
    "solve": (lambda x, y, z: dnp.linalg.solve(_eye("x"), _ones((4, 4, 2), "x")), "f32[4@x,4,2]"),
    "lu": (lambda x, y, z: lax.linalg.lu(_eye("x"))[2], "i32[4@x,4]"),
    "matrix divided": (
        lambda x, y, z: lax.linalg.cholesky(_eye(None, "x"), symmetrize_input=False),
        AMBIGUOUS,
    ),
    "one_hot": (
        lambda x, y, z: dt.nn.one_hot(dt.reshard(_i(np.arange(8)), P("x")), 4),
        "f32[8@x,4]",
    ),
    "split keys": (
        lambda x, y, z: dt.vmap(lambda k: dt.random.normal(k, (3,)))(
            dt.reshard(dt.random.split(dt.random.key(0), 8), P("x"))
        ),
        "f32[8@x,3]",
    ),
    "callback": (
        lambda x, y, z: dt.pure_callback(
            lambda v: np.asarray(v) * 2, dt.ShapeDtypeStruct((8, 4), "float32"), x
        ),
        "f32[8,4]",
    ),
    "put": (lambda x, y, z: dt.device_put(x, P("y")), "f32[8@y,4]"),
    "reshard": (lambda x, y, z: dt.reshard(x, P("y")), "f32[8@y,4]"),
}


@pytest.fixture
def operands(explicit) -> Any:
    whole = np.arange(32, dtype=np.float32).reshape(8, 4)
    specs = P("x"), P(None, "y"), P("y")
    with set_mesh(explicit):
        yield [dt.device_put(whole, NamedSharding(explicit, s)) for s in specs]


@pytest.mark.parametrize("name", CASES)
def test_rule(name, operands):
    f, wanted = CASES[name]
    if wanted is AMBIGUOUS:
        with pytest.raises(ShardingTypeError, match=r"\["):
            f(*operands)
        with pytest.raises(ShardingTypeError):
            dt.jit(f)(*operands)
        return
    eager, compiled = f(*operands), dt.jit(f)(*operands)
    assert typeof(eager).str_short() == typeof(compiled).str_short() == wanted
    plain = [dnp.asarray(np.asarray(x)) for x in operands]
    expected = f(*plain) if name not in ("put", "reshard", "split keys") else compiled
    for out in (eager, compiled):
        np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-5)
        told = typeof(out).divided
        spec = P() if told is None else told.spec
        own = NamedSharding(out.sharding.mesh, spec)
        assert out.sharding.is_equivalent_to(own, out.ndim)


def test_a_rule_of_a_third_party(operands):
    x, y, _ = operands
    own = Primitive("acme.twice_sum", anonymous=True)
    own.def_abstract_eval(lambda a, b: ShapedArray(a.shape[:1], a.dtype))
    with pytest.raises(ShardingTypeError, match="nothing says how its results are divided"):
        dt.make_jaxpr(own.bind)(x, y)
    own.def_decomposition(lambda a, b: (a + b).sum(1) * 2)
    made = Primitive("acme.twice_sum2", anonymous=True)
    made.def_abstract_eval(lambda a, b: ShapedArray(a.shape[:1], a.dtype))
    made.def_decomposition(lambda a, b: (a + b).sum(1) * 2)
    assert dt.make_jaxpr(made.bind)(x, y).out_avals[0].str_short() == "f32[8@x]"
    np.testing.assert_allclose(dt.jit(made.bind)(x, y), (np.asarray(x) * 2).sum(1) * 2)


def test_types(operands, explicit):
    x, _, _ = operands
    aval = typeof(x)
    told = ShapedArray((8, 4), "float32", sharding=NamedSharding(explicit, P("x")))
    assert aval is told
    assert aval.sharding.spec == P("x", None) and aval.sharding.mesh is explicit.abstract_mesh
    assert aval.without_sharding() is ShapedArray((8, 4), "float32")
    assert ShapedArray((8,), "int32", sharding=NamedSharding(explicit, P())).divided is None
    auto = explicit.update(axis_types=None)
    assert ShapedArray((8,), "int32", sharding=NamedSharding(auto, P("x"))).divided is None
    assert aval.update(dtype=np.int32).divided is aval.divided
    assert aval.update(shape=(4, 4)).divided is None
    assert aval.with_dimension(0, 3).str_short() == "f32[3,8@x,4]"
    assert aval.with_dimension(2, 4, "y").str_short() == "f32[8@x,4,4@y]"
    assert aval.without_dimension(0).divided is None
    assert aval.tangent_type() is aval and aval.cotangent_type() is aval
    import pickle

    assert pickle.loads(pickle.dumps(aval.without_sharding())) is aval.without_sharding()
    unreduced = ShapedArray((4,), "float32", sharding=NamedSharding(explicit, P(unreduced={"x"})))
    assert unreduced.str_short() == "f32[4]{U:x}"
    assert unreduced.cotangent_type().str_short() == "f32[4]{R:x}"
    both = ShapedArray((8,), "float32", sharding=NamedSharding(explicit, P(("x", "y"))))
    assert both.str_short() == "f32[8@(x,y)]"


def test_keys_of_caches(operands, explicit):
    """A program is traced once for each way in which its arguments are divided."""
    x, y, _ = operands
    traced = []

    @dt.jit
    def f(a):
        traced.append(typeof(a).str_short())
        return a * 2

    for a in (x, y, x, np.asarray(x), y):
        f(a)
    assert traced == ["f32[8@x,4]", "f32[8,4@y]", "f32[8,4]"]


def test_described_arguments(operands, explicit):
    x, _, _ = operands
    described = dt.ShapeDtypeStruct((8, 4), "float32", sharding=x.sharding)
    assert dt.eval_shape(lambda a: a.sum(1), described).sharding.spec == P("x")
    lowered = dt.jit(lambda a: a.sum(1)).lower(described)
    assert lowered.compile()(x).sharding.spec == P("x")
    assert re.search(
        r'sharding_constraint %\d+ <mesh<\["x"=4, "y"=2\]>, \[\{"x"\}\]>', lowered.as_text()
    )


def test_types_made_before_caches_are_cleared_are_those_made_after(operands, explicit):
    before = typeof(operands[0])
    dt.clear_caches()
    after = ShapedArray((8, 4), "int32", sharding=NamedSharding(explicit, P("x")))
    assert before.update(dtype=np.int32) is after and before.divided is after.divided
