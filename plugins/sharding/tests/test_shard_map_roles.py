"""Values that are sums left to be done, or reduced, along axes that a function is mapped over."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp
from dovetail import P, lax
from dovetail.sharding import NamedSharding, set_mesh, use_abstract_mesh
from dovetail_backends import evaluate
from dovetail_core import ShapedArray, ShardingTypeError, typeof
from dovetail_mesh.manual_axis_types import Reduced, Unreduced
from dovetail_text.parser import parse_ir

X = np.arange(8, dtype=np.float32)
ROWS = np.arange(16, dtype=np.float32).reshape(8, 2)
W = np.arange(4, dtype=np.float32).reshape(2, 2) - 1
SUMS, KNOWN = P(unreduced={"x"}), P(reduced={"x"})


@pytest.fixture(autouse=True)
def around(explicit) -> Any:
    with set_mesh(explicit):
        yield


def sums(v: Any) -> Any:
    return lax.pcast(v, "x", to="unreduced")


def known(v: Any) -> Any:
    return lax.pcast(v, "x", to="reduced")


def varying(v: Any) -> Any:
    return lax.pcast(v, "x", to="varying")


def _on(f: Any, in_specs: Any, out_specs: Any, **options: Any) -> Any:
    return dt.shard_map(f, in_specs=in_specs, out_specs=out_specs, **options)


def _put(value: Any, spec: P) -> Any:
    return dt.reshard(dnp.asarray(value), spec)


def _seen(f: Any, spec: P, x: Any = X) -> str:
    """The type of what ``f`` makes of a part."""
    result: list[str] = []

    def noting(v: Any) -> Any:
        result.append(typeof(f(v)).str_short())
        return lax.psum(v, ("x", "y"))

    _on(noting, spec, P())(_put(x, spec))
    return result[0]


def test_types_say_what_is_known():
    assert _seen(varying, P()) == "f32[8]{V:x}"
    assert _seen(known, P()) == "f32[8]{MR:x}"
    assert _seen(sums, P("x")) == "f32[2]{MU:x}"
    assert _seen(lambda v: varying(known(v)), P()) == "f32[8]{V:x}"
    assert _seen(lambda v: lax.psum(sums(v), "x"), P("x")) == "f32[2]"
    assert _seen(lambda v: lax.psum_scatter(sums(varying(v)), "x"), P(), X[:4]) == "f32[]{V:x}"
    assert _seen(lambda v: lax.all_gather(v, "x", to="reduced"), P("x")) == "f32[4,2]{MR:x}"
    both = _seen(lambda v: lax.pcast(v, ("x", "y"), to="unreduced"), P(("x", "y")))
    assert both == "f32[1]{MU:(x,y)}"


def test_operations_pass_on_what_is_known():
    for f, wanted in (
        (lambda v: sums(v) + sums(v), "f32[2]{MU:x}"),
        (lambda v: 2.0 * -sums(v), "f32[2]{MU:x}"),
        (lambda v: sums(v).sum(), "f32[]{MU:x}"),
        (lambda v: dt.jit(lambda u: u + u)(sums(v)), "f32[2]{MU:x}"),
        (lambda v: dt.vmap(lambda u: u * 3.0)(sums(v)), "f32[2]{MU:x}"),
        (lambda v: lax.fori_loop(0, 3, lambda _, c: c + c, sums(v)), "f32[2]{MU:x}"),
        (lambda v: lax.cond(True, lambda u: u + u, lambda u: u, sums(v)), "f32[2]{MU:x}"),
        (lambda v: sums(v) * known(lax.psum(v, "x")), "f32[2]{MU:x}"),
    ):
        assert _seen(f, P("x")) == wanted
    assert _seen(lambda v: dnp.sin(known(v)) + 1.0, P()) == "f32[8]{MR:x}"
    assert _seen(lambda v: known(v) * varying(v), P()) == "f32[8]{V:x}"


def test_values_are_those_of_the_sum():
    x = _put(X, P("x"))
    total = X.reshape(4, 2).sum(0)
    for f in (lambda v: lax.psum(sums(v), "x"), lambda v: lax.psum(2.0 * sums(v), "x") / 2.0):
        np.testing.assert_allclose(_on(f, P("x"), P())(x), total)
    np.testing.assert_allclose(_on(lambda v: lax.pmean(sums(v), "x"), P("x"), P())(x), total / 4)
    each = _on(
        lambda v: lax.psum_scatter(sums(varying(v)), "x", tiled=True), P(), P("x")
    )(_put(X, P()))  # fmt: skip
    np.testing.assert_allclose(each, 4 * X)
    gathered = _on(lambda v: lax.all_gather(v, "x", tiled=True, to="reduced"), P("x"), KNOWN)(x)
    np.testing.assert_allclose(gathered, X)
    assert typeof(gathered).str_short() == "f32[8]{R:x}"


@pytest.mark.parametrize("compiled", [False, True])
def test_sums_leave_and_come_in(compiled):
    left = _on(sums, P("x"), SUMS)
    again = _on(lambda v: lax.psum(v + v, "x"), SUMS, P())
    left, again = (dt.jit(left), dt.jit(again)) if compiled else (left, again)
    out = left(_put(X, P("x")))
    assert typeof(out).str_short() == "f32[2]{U:x}"
    np.testing.assert_allclose(dt.reshard(out, P()), X.reshape(4, 2).sum(0))
    np.testing.assert_allclose(again(out), 2 * X.reshape(4, 2).sum(0))
    unasked = _on(lambda v: v, P("x"), SUMS)(_put(X, P("x")))  # what varies becomes a summand
    np.testing.assert_allclose(dt.reshard(unasked, P()), X.reshape(4, 2).sum(0))
    same = _on(lambda v: v, SUMS, SUMS, check_vma=False)(out)
    np.testing.assert_allclose(dt.reshard(same, P()), X.reshape(4, 2).sum(0))


def _weight() -> Any:
    return 1.0 + lax.axis_index("x")


PROGRAMS: dict[str, tuple[Any, P, Any, P]] = {
    "sum": (lambda v: lax.psum(sums(v), "x"), P("x"), lambda x: x.reshape(4, 2).sum(0), P()),
    "scatter": (
        lambda v: lax.psum_scatter(sums(v * _weight()), "x", tiled=True),
        P(), lambda x: 10 * x, P("x"),
    ),
    "known": (lambda v: lax.psum(known(v) * _weight(), "x"), P(), lambda x: 10 * x, P()),
    "known and used twice": (
        lambda v: lax.psum(known(v) * dnp.sin(known(v)) * _weight() + v, "x"),
        P(), lambda x: 10 * x * dnp.sin(x) + 4 * x, P(),
    ),
    "known, then not": (lambda v: dnp.sin(known(v)), P(), dnp.sin, P()),
    "beside what is equal": (
        lambda v: lax.psum((known(v) + v) * _weight(), "x"), P(), lambda x: 20 * x, P(),
    ),
    "gathered": (
        lambda v: lax.psum(lax.all_gather(v, "x", tiled=True, to="reduced") * _weight(), "x"),
        P("x"), lambda x: 10 * x, P(),
    ),
    "in a loop": (
        lambda v: lax.psum(
            lax.scan(lambda c, _: (c * known(v), None), v * _weight(), None, length=2)[0], "x"
        ),
        P(), lambda x: 10 * x**3, P(),
    ),
    "checkpointed": (
        lambda v: lax.psum(dt.checkpoint(lambda u: dnp.sin(known(u)) * _weight())(v), "x"),
        P(), lambda x: 10 * dnp.sin(x), P(),
    ),
    "product of a sum": (
        lambda v: lax.psum(sums(dnp.sin(v)) * known(lax.psum(v, "x")), "x"), P("x"),
        lambda x: dnp.sin(x.reshape(4, 2)).sum(0) * x.reshape(4, 2).sum(0), P(),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_are_those_of_the_undivided_program(name):
    f, in_spec, plain, out_spec = PROGRAMS[name]
    mapped = _on(f, in_spec, out_spec)
    x, t = _put(X / 3, in_spec), _put(np.cos(X), in_spec)

    def loss(g: Any) -> Any:
        return lambda v: dnp.sum(dnp.sin(g(v)))

    for run in (lambda h: h, dt.jit):
        np.testing.assert_allclose(run(mapped)(x), plain(X / 3), rtol=1e-4, atol=1e-5)
        result = run(dt.grad(loss(mapped)))(x)
        with set_mesh(None):
            wanted = dt.grad(loss(plain))(X / 3)
            twice = dt.grad(lambda v: dnp.sum(dt.grad(loss(plain))(v) ** 2))(X / 3)
            tangent = dt.jvp(plain, (X / 3,), (np.cos(X),))[1]
        np.testing.assert_allclose(result, wanted, rtol=1e-3, atol=1e-4)
        assert typeof(result) is typeof(x)
        second = run(dt.grad(lambda v: dnp.sum(dt.grad(loss(mapped))(v) ** 2)))(x)
        np.testing.assert_allclose(second, twice, rtol=1e-3, atol=1e-2)
        pushed = run(lambda v, u: dt.jvp(mapped, (v,), (u,))[1])(x, t)
        np.testing.assert_allclose(pushed, tangent, rtol=1e-4, atol=1e-4)


def test_cotangents_of_reduced_arguments_are_sums_that_are_left():
    f = _on(lambda v: lax.psum((v * _weight()).sum(), "x"), KNOWN, P())
    ct = dt.grad(f)(_put(X, KNOWN))
    assert typeof(ct).str_short() == "f32[8]{U:x}"
    np.testing.assert_allclose(dt.reshard(ct, P()), np.full(8, 10.0))
    summed = dt.make_jaxpr(dt.grad(f))(_put(X, KNOWN))
    outer = dt.make_jaxpr(dt.grad(_on(lambda v: lax.psum((v * _weight()).sum(), "x"), P(), P())))
    sums_of_eight = "psum_invariant[axes=('x',)]"
    assert str(summed).count(sums_of_eight) + 1 == str(outer(_put(X, P()))).count(sums_of_eight)


def test_mapped_functions():
    f = _on(lambda v: lax.psum(sums(v), "x"), P("x"), P())
    rows = np.stack([X, X + 1])
    out = dt.vmap(f)(_put(rows, P(None, "x")))
    np.testing.assert_allclose(out, rows.reshape(2, 4, 2).sum(1))


def test_programs_are_written_and_read(explicit):
    with set_mesh(None), use_abstract_mesh(explicit.abstract_mesh):
        f = _on(lambda v: lax.psum(sums(v) * known(lax.psum(v, "x")), "x"), P("x"), P())
        program = dt.make_jaxpr(f)(dt.ShapeDtypeStruct((8,), np.float32, sharding=P("x")))
        assert parse_ir(str(program)) == program
    text = str(program)
    assert "{MU:x}" in text and "{MR:x}" in text and "pcast[" in text
    aval = ShapedArray((2,), np.float32, vma={Unreduced("x"), Reduced("y"), "z"})
    assert pickle.loads(pickle.dumps(aval)) is aval
    mat = aval.manual_axis_type
    assert (mat.varying, mat.unreduced, mat.reduced) == ({"z"}, {"x"}, {"y"})
    assert ShapedArray((2,), np.float32, manual_axis_type=mat) is aval
    assert aval.cotangent_type().vma == {Reduced("x"), Unreduced("y"), "z"}


def test_the_reference_backend_knows_them():
    f = _on(lambda v: lax.psum(known(v) * _weight(), "x"), P(), P())
    program = dt.make_jaxpr(f)(_put(X, P()))
    np.testing.assert_allclose(evaluate(program, X)[0], 10 * X)


@pytest.mark.parametrize(
    ("f", "spec", "text"),
    [
        (lambda v: dnp.sin(sums(v)), P("x"), "sin at .*left to be done along \\['x'\\], and it is"),
        (lambda v: sums(v) + v, P("x"), "add at .*another varies over that. Sum the one first"),
        (lambda v: sums(v) + 1.0, P("x"), "add at .*not linear in all of these together"),
        (lambda v: sums(v) * sums(v), P("x"), "mul at .*Do them first: lax.psum"),
    ],
)
def test_what_is_not_linear_refuses_sums(f, spec, text):
    with pytest.raises(ShardingTypeError, match=text):
        _on(f, spec, P("x"))(_put(X, spec))


@pytest.mark.parametrize(
    ("f", "specs", "text"),
    [
        (sums, (P(), SUMS), "to='unreduced' of a value .*invarying along 'x'"),
        (known, (P("x"), KNOWN), "to='reduced' of a value .*varying along 'x'. What varies can"),
        (varying, (P("x"), P("x")), "to='varying' .* which is varying along 'x'"),
        (lambda v: lax.pcast(v, ("x", "y"), to="unreduced"), (P("x"), P()), "invarying and vary"),
        (lambda v: lax.pcast(v, "x", to="all"), (P(), P()), "to='all' is unknown"),
        (lambda v: lax.pmax(sums(v), "x"), (P("x"), P()), "\\{MU:x\\} at .* is to be one"),
        (lambda v: lax.all_gather(v, "x", to="reduced"), (P(), KNOWN), "varies over 'x', and a"),
        (sums, (P("x"), P()), "says that it is no sum that is left to be done along 'x'"),
        (lambda v: v, (P(), SUMS), "says that it varies over, or is a sum along, 'x'"),
        (lambda v: v, (P(), KNOWN), "says that it is reduced along 'x'. Change out_specs"),
        (lambda v: v, (SUMS, SUMS), "args\\[0\\] is of type f32\\[8\\], and its spec in in_specs"),
        (
            lambda v: lax.scan(lambda c, _: (sums(c), None), v, None, length=1)[0], (P("x"), SUMS),
            "with others that are, or are not, sums left to be done",
        ),
    ],
)  # fmt: skip
def test_what_values_cannot_be(f, specs, text):
    in_spec, out_spec = specs
    x = X if in_spec.unreduced else _put(X, in_spec)
    with pytest.raises(ValueError, match=text):
        _on(f, in_spec, out_spec)(x)


def test_specs_that_types_could_not_tell(mesh):
    with set_mesh(None), pytest.raises(ValueError, match="where all axes of a mesh are of type"):
        dt.shard_map(sums, mesh=mesh, in_specs=P("x"), out_specs=SUMS)(X)
    with pytest.raises(NotImplementedError, match="mapped over all axes of the mesh, and this one"):
        _on(sums, P("x"), SUMS, axis_names={"x"})(_put(X, P("x")))
    with set_mesh(None):
        f = dt.shard_map(
            lambda v: lax.psum(sums(v), "x"), mesh=mesh, in_specs=P("x"), out_specs=P()
        )
        x = dt.device_put(X, NamedSharding(mesh, P("x")))
        np.testing.assert_allclose(f(x), X.reshape(4, 2).sum(0))


def test_nothing_is_known_where_nothing_is_checked():
    with pytest.raises(ValueError, match="which is unknown along 'x'"):
        _on(sums, P("x"), SUMS, check_vma=False)(_put(X, P("x")))
    out = _on(known, P(), P("x"), check_vma=False)(_put(X, P()))
    np.testing.assert_allclose(out, np.tile(X, 4))


def test_arguments_that_are_sums():
    """Devices have summands, whatever these are: their sum is the value."""
    whole = _put(W, P())
    left = dt.reshard(whole, P(unreduced={"x"}))
    ins = P(unreduced={"x"})
    total = dt.shard_map(lambda w: lax.psum(w, "x"), in_specs=ins, out_specs=P())
    for f in (total, dt.jit(total)):
        np.testing.assert_array_equal(f(left), W)
    halves = dt.shard_map(
        lambda w: lax.psum_scatter(w, "y", tiled=True),
        in_specs=P(unreduced={"y"}), out_specs=P("y"),
    )  # fmt: skip
    y = halves(dt.reshard(whole, P(unreduced={"y"})))
    assert typeof(y).str_short() == "f32[2@y,2]"
    np.testing.assert_array_equal(y, W)


def test_gradients_of_weights():
    """Within, each device has its own cotangent of what is reduced; outside it is a sum."""
    x, w = _put(ROWS, P("x")), _put(W, KNOWN)
    wanted = dt.grad(lambda w: dnp.sin(ROWS @ w).sum())(W)
    specs = {"in_specs": (P("x"), P(reduced={"x"}))}
    f = dt.shard_map(lambda x, w: dnp.sin(x @ w).sum()[None], out_specs=P("x"), **specs)
    g = dt.jit(dt.grad(lambda w: f(x, w).sum()))(w)
    assert typeof(g).str_short() == "f32[2,2]{U:x}"
    np.testing.assert_allclose(dt.reshard(g, P()), wanted, rtol=1e-4, atol=1e-5)

    def local(x, w):
        return lax.psum(dt.grad(lambda w: dnp.sin(x @ w).sum())(w), "x")

    def cast(x, w):
        return local(x, lax.pcast(w, "x", to="reduced"))

    result = dt.shard_map(local, out_specs=P(), **specs)(x, w)
    np.testing.assert_allclose(result, wanted, rtol=1e-4, atol=1e-5)
    result = dt.shard_map(cast, in_specs=(P("x"), P()), out_specs=P())(x, _put(W, P()))
    np.testing.assert_allclose(result, wanted, rtol=1e-4, atol=1e-5)

    def gathered(x, w):
        whole = lambda w: lax.all_gather(w, "y", tiled=True, to="reduced")  # noqa: E731
        return dt.grad(lambda w: dnp.sin(x @ whole(w)).sum())(w)

    half = dt.shard_map(gathered, in_specs=(P(("y", "x")), P("y")), out_specs=P("y"))
    result = half(_put(ROWS, P(("y", "x"))), _put(W, P("y")))
    np.testing.assert_allclose(result, wanted, rtol=1e-4, atol=1e-5)
