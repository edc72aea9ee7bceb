"""The record type of the examples: structured specs, gradients that are records, nesting."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp
from dovetail import lax

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def near(a, b, tolerance=1e-5):
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=tolerance, atol=tolerance)


def f(r):
    return dnp.sin(r["x"]).sum() * r["y"]


def test_a_gradient_is_a_record(records):
    r = records.record(x=X, y=2.0)
    for wrap in (lambda g: g, dovetail.jit, dovetail.remat):
        result = dovetail.grad(wrap(f))(r)
        assert type(result) is records.Record
        near(result["x"], 2 * np.cos(X))
        near(result["y"], np.sin(X).sum())
        value, tangent = dovetail.jvp(wrap(f), (r,), (records.record(x=X, y=0.0),))
        near(value, f(r))
        near(tangent, (2 * X * np.cos(X)).sum())
    value, pull = dovetail.vjp(lambda r: r, r)
    near(pull(records.record(x=2 * X, y=1.0))[0]["x"], 2 * X)
    near(dovetail.linearize(f, r)[1](records.record(x=X, y=0.0)), (2 * X * np.cos(X)).sum())


def test_tangents_of_other_types_are_refused(records):
    r, wrong = records.record(x=X, y=2.0), records.record(x=X[0], y=2.0)
    message = (
        r"has type \{x:f32\[3\] y:f32\[\]\}, but its primal of type \{x:f32\[2,3\] y:f32\[\]\}"
    )
    with pytest.raises(TypeError, match=message):
        dovetail.jvp(f, (r,), (wrong,))
    with pytest.raises(TypeError, match=r"returned a value of type \{x:f32\[2,3\] y:f32\[\]\}"):
        dovetail.grad(lambda r: r)(r)


def test_unused_records_have_zero_gradients(records):
    result = dovetail.grad(lambda r, s: s)(records.record(x=X), 1.0)
    near(result["x"], 0 * X)
    result = dovetail.jit(dovetail.grad(lambda r, s: s))(records.record(x=X), 1.0)
    near(result["x"], 0 * X)


def test_hessian_vector_products(records):
    r = records.record(x=X, y=2.0)
    second = dovetail.jvp(dovetail.grad(f), (r,), (r,))[1]
    near(second["x"], 2 * np.cos(X) - 2 * X * np.sin(X))
    near(dovetail.grad(lambda r: dovetail.grad(f)(r)["y"])(r)["x"], np.cos(X))


def test_specs_with_an_axis_per_field(records):
    r = records.record(x=X, y=2.0)
    spec = {"x": 0, "y": None}
    near(dovetail.vmap(f, in_axes=(spec,))(r), np.sin(X).sum(1) * 2)
    near(dovetail.jit(dovetail.vmap(f, in_axes=({"x": 1, "y": None},)))(r), np.sin(X).sum(0) * 2)
    result = dovetail.vmap(dovetail.grad(f), in_axes=(spec,))(r)
    near(result["x"], 2 * np.cos(X))
    near(result["y"], np.sin(X).sum(1))
    total = dovetail.grad(lambda r: dovetail.vmap(f, in_axes=(spec,))(r).sum())(r)
    near(total["y"], np.sin(X).sum())
    out = dovetail.vmap(lambda x, y: records.record(x=x, y=y), (0, None), {"x": 1, "y": 0})(X, 2.0)
    near(out["x"], X.T)
    near(out["y"], [2.0, 2.0])
    same = dovetail.vmap(lambda r: r, in_axes=(spec,), out_axes={"x": 1, "y": None})(r)
    near(same["x"], X.T)
    near(same["y"], 2.0)


def test_wrong_specs(records):
    r = records.record(x=X, y=dnp.ones(3))
    with pytest.raises(ValueError, match=r"the axis 0 of \{x:f32\[2,3\].* has 2 lengths"):
        dovetail.vmap(f)(r)
    message = (
        r"is mapped as \{'x': 0, 'y': None\}.*so that it cannot be as \{'x': None, 'y': None\}"
    )
    with pytest.raises(ValueError, match=message):
        dovetail.vmap(lambda r: r, ({"x": 0, "y": None},), {"x": None, "y": None})(r)
    with pytest.raises(
        ValueError, match=r"out_axes is None for a result that depends on the mapped"
    ):
        dovetail.vmap(lambda r: r, in_axes=({"x": 0, "y": None},), out_axes=None)(r)
    with pytest.raises(TypeError, match=r"sum_match=True, but there are no sums of.*test_records"):
        dovetail.vmap(lambda r: r, ({"x": 0, "y": None},), None, sum_match=True)(r)


def test_loops_over_slices(records):
    xs = records.record(x=X, y=dnp.ones(2))

    def step(c, r):
        return records.record(s=c["s"] + f(r)), records.record(z=r["x"], c=c["s"])

    def total(xs):
        return lax.scan(step, records.record(s=0.0), xs)[0]["s"]

    last, ys = dovetail.jit(lambda xs: lax.scan(step, records.record(s=0.0), xs))(xs)
    near(last["s"], np.sin(X).sum())
    near(ys["z"], X)
    near(ys["c"], [0, np.sin(X[0]).sum()])
    near(dovetail.grad(total)(xs)["x"], np.cos(X))
    near(dovetail.jit(dovetail.grad(dovetail.remat(total)))(xs)["y"], np.sin(X).sum(1))


def test_a_differentiated_loop_keeps_records_as_residuals(records):
    def step(c, _):
        return records.record(a=c["a"] * c["b"], b=c["b"] + 1), None

    def last(r):
        return lax.scan(step, r, None, length=3)[0]["a"]

    r = records.record(a=2.0, b=3.0)
    for wrap in (lambda g: g, dovetail.jit):
        result = wrap(dovetail.grad(last))(r)
        near(result["a"], 3 * 4 * 5)
        near(result["b"], 2 * (4 * 5 + 3 * 5 + 3 * 4))
    many = records.record(a=np.array([1.0, 2.0], np.float32), b=np.array([3.0, 4.0], np.float32))
    near(dovetail.vmap(dovetail.grad(last))(many)["a"], [60, 120])


@pytest.mark.parametrize("flag", [True, False])
def test_differentiated_branches(records, flag):
    def choose(flag, r):
        return lax.cond(flag, lambda r: r, lambda r: records.record(x=r["x"] ** 2, y=r["y"]), r)

    r = records.record(x=X, y=2.0)
    result = dovetail.grad(lambda r: f(choose(flag, r)))(r)
    near(result["x"], 2 * np.cos(X) if flag else 2 * np.cos(X**2) * 2 * X, 1e-4)
    both = dovetail.vmap(lambda flag, r: f(choose(flag, r)), (0, None))
    flags = np.array([True, False])
    near(both(flags, r), [f(r), f(choose(False, r))])
    gradient = dovetail.grad(lambda r: both(flags, r).sum())(r)
    near(gradient["x"], 2 * np.cos(X) + 2 * np.cos(X**2) * 2 * X, 1e-4)


def test_fields_of_high_types(records, quantized):
    r = records.record(q=quantized.quantize(X), y=2.0)
    assert dovetail.typeof(r).str_short() == "{q:q8[2,3] y:f32[]}"
    again = dovetail.jit(lambda r: r)(r)
    near(quantized.dequantize(again["q"]), X, 0.05)
    gradient = dovetail.grad(lambda r: (quantized.dequantize(r["q"]) * X).sum() * r["y"])(r)
    near(gradient["q"], 2 * X)


def test_custom_rules_with_high_arguments(records):
    @dovetail.custom_vjp
    def g(r):
        return f(r)

    g.defvjp(lambda r: (f(r), r), lambda r, ct: (records.record(x=ct * r["x"], y=ct * 7.0),))
    r = records.record(x=X, y=2.0)
    for wrap in (lambda g: g, dovetail.jit):
        near(wrap(g)(r), f(r))
        result = dovetail.grad(wrap(g))(r)
        near(result["x"], X)
        near(result["y"], 7.0)

    @dovetail.custom_jvp
    def h(r):
        return f(r)

    h.defjvp(lambda primals, tangents: (h(*primals), 3.0 * tangents[0]["y"]))
    near(dovetail.grad(h)(r)["y"], 3.0)
    near(dovetail.jvp(dovetail.jit(h), (r,), (r,))[1], 6.0)


def test_an_unknown_field(records):
    with pytest.raises(KeyError, match=r"a record \{x:f32\[2,3\]\} has no field 'z'"):
        dovetail.jit(lambda r: r["z"])(records.record(x=X))


def test_an_example_that_runs(records, capsys):
    records.main()
    assert "with the first angle" in capsys.readouterr().out


def test_maps_of_maps(records):
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    r = records.record(x=x, y=2.0)

    def branch(flag, r):
        return lax.cond(flag, lambda r: r, lambda r: records.record(x=-r["x"], y=r["y"]), r)

    def loop(r):
        return lax.fori_loop(0, 2, lambda i, r: records.record(x=2 * r["x"], y=r["y"]), r)

    flags = np.array([[True, False, True], [False, True, True]])
    spec = {"x": 0, "y": None}
    twice = dovetail.vmap(dovetail.vmap(branch, (0, spec)), (0, spec))
    near(twice(flags, r)["x"], np.where(flags[..., None], x, -x))
    other = dovetail.vmap(dovetail.vmap(branch, (0, spec), 1), (0, spec), 2)
    near(other(flags, r)["x"], np.where(flags[..., None], x, -x).transpose(2, 1, 0))
    near(dovetail.vmap(dovetail.vmap(loop, (spec,), {"x": 1, "y": 0}), (spec,), 0)(r)["x"],
         4 * x.transpose(0, 2, 1))  # fmt: skip
    grad = dovetail.grad(lambda r: (twice(flags, r)["x"] ** 2).sum())(r)
    near(grad["x"], 2 * x)


def test_integer_fields_in_a_differentiated_loop(records):
    def last(r):
        def step(c, _):
            return records.record(a=c["a"] * 2, n=c["n"] + 1), None

        return lax.scan(step, r, None, length=3)[0]["a"]

    for gradient in (dovetail.grad(last), dovetail.jit(dovetail.grad(last))):
        near(gradient(records.record(a=1.0, n=3))["a"], 8)


def test_a_dce_rule_that_speaks_of_records(records):
    @dovetail.custom
    def f(r):
        return records.record(a=r["a"]), r["b"]

    @f.def_dce
    def _(used, r):
        return records.record(a=7 * r["a"]) if used[0] else None, 7 * r["b"] if used[1] else None

    r = records.record(a=1.0, b=2.0)
    near(dovetail.jit(lambda r: f(r)[0])(r)["a"], 7)
    near(dovetail.jit(lambda r: f(r)[1])(r), 14)
    near(dovetail.jit(dovetail.grad(lambda r: f(r)[1]))(r)["b"], 7)


def test_records_are_put_on_devices(records):
    moved = dovetail.device_put(records.record(a=1.0, b=X), dovetail.devices()[0])
    near(moved["b"], X)
    assert moved.fields["a"].committed
