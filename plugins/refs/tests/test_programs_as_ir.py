"""References in programs: types, effects, text, dead code, discharge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp
from dovetail import lax, ref as dref
from dovetail_core import (
    AccumulateEffect,
    ReadEffect,
    WriteEffect,
    check_jaxpr,
    dce_closed,
    eval_jaxpr,
    parse_ir,
    parse_type,
    print_ir,
    typeof,
)


def test_types() -> None:
    aval = typeof(dovetail.new_ref(np.zeros((2, 3), np.float32)))
    assert isinstance(aval, dref.AbstractRef)
    assert aval is dref.AbstractRef(typeof(np.zeros((2, 3), np.float32)))
    assert aval.str_short() == "Ref{f32[2,3]}"
    assert parse_type("Ref{f32[2,3]}") is aval
    assert (aval.shape, aval.ndim, aval.size) == ((2, 3), 2, 6)  # type: ignore[attr-defined]
    assert aval.tangent_type() is aval


def everything(ref: Any, other: Any, x: Any, i: Any) -> Any:
    ref[i] = x
    ref[1:3, None] += ref[0]
    dref.addupdate(ref.at[1:].at[0], ..., x)
    inner = dovetail.new_ref(x)
    empty = dovetail.empty_ref(dovetail.ShapeDtypeStruct((2,), np.int32))
    empty[0] = 2
    inner[...] = inner[...] * dref.swap(ref, 2, 7.0)
    dovetail.free_ref(empty)
    return (
        dovetail.freeze(inner) + other[np.array([0, 1])].sum() + (other[...][None])[..., True].sum()
    )


def traced() -> Any:
    ref, other = dovetail.new_ref(np.zeros(4)), dovetail.new_ref(np.ones(2))
    return dovetail.make_jaxpr(everything)(ref, other, 2.0, 3)


def test_programs_round_trip_as_text() -> None:
    program = traced()
    check_jaxpr(program)
    text = print_ir(program)
    for name in ("new", "empty", "get", "set", "swap", "addupdate", "freeze", "free"):
        assert f"ref.{name}" in text
    assert parse_ir(text) == program
    assert print_ir(parse_ir(text)) == text


def test_effects_name_the_input() -> None:
    wanted = {ReadEffect(0), WriteEffect(0), AccumulateEffect(0), ReadEffect(1)}
    program = traced()
    assert program.effects == wanted
    consts = len(program.jaxpr.constvars)  # they come before the inputs where there are no values
    assert {e.moved(e.input_index - consts) for e in program.jaxpr.effects} == wanted  # type: ignore

    def nested(a: Any, b: Any) -> Any:
        def body(c: Any, x: Any) -> Any:
            lax.cond(x > 1, lambda: dref.addupdate(b, ..., c), lambda: None)
            return c + a[0], None

        return lax.scan(body, 0.0, dnp.arange(3))[0]

    refs = dovetail.new_ref(np.ones(2)), dovetail.new_ref(0.0)
    program = dovetail.make_jaxpr(dovetail.jit(nested))(*refs)
    assert program.effects == {ReadEffect(0), AccumulateEffect(1)}
    check_jaxpr(program)


def names(program: Any) -> list[str]:
    return [e.primitive.name for e in program.eqns]


def test_dead_code() -> None:
    ref = dovetail.new_ref(0.0)

    def f(ref: Any, x: Any) -> Any:
        lax.scan(lambda c, _: (c + ref[...], None), 0.0, None, length=3)
        lax.cond(x > 0, lambda: ref[...], lambda: 1.0)
        lax.while_loop(lambda i: i < ref[...], lambda i: i + 1.0, 0.0)
        dovetail.jit(lambda r, y: (r[...], y))(ref, 1.0)
        inner = dovetail.new_ref(x)
        inner[...]
        dovetail.freeze(inner)
        ref[...]
        dref.swap(ref, ..., 2.0)
        return x

    program = dovetail.make_jaxpr(f)(ref, 1.0)
    reduced = dce_closed(program, [True], True)[0]
    check_jaxpr(reduced)
    assert names(reduced) == ["convert_element_type", "ref.set"]


def test_dead_code_keeps_writes_in_their_order_and_moves_effects() -> None:
    a, b = dovetail.new_ref(0.0), dovetail.new_ref(1.0)

    @dovetail.jit
    def inner(unused: Any, a: Any, b: Any) -> Any:
        b[...] = 3.0
        return a[...], unused

    program = dovetail.make_jaxpr(lambda x, a, b: inner(x, a, b)[0])(1.0, a, b)
    reduced = dce_closed(program, [False], True)[0]
    check_jaxpr(reduced)
    (call,) = reduced.eqns
    assert [v.aval for v in call.invars] == [typeof(b)]
    assert call.effects == {WriteEffect(0)}
    assert reduced.effects == {WriteEffect(2)}


def test_discharge_returns_all_contents() -> None:
    program = traced()
    pure = dref.discharge(program)
    check_jaxpr(pure)
    assert not pure.effects
    assert [a.str_short() for a in pure.in_avals] == ["f32[4]", "f32[2]", "f32[]~", "i32[]~"]
    assert [a.str_short() for a in pure.out_avals[1:]] == ["f32[4]", "f32[2]"]
    ref, other = dovetail.new_ref(np.zeros(4, np.float32)), dovetail.new_ref(np.ones(2, np.float32))
    want = everything(ref, other, 2.0, 3)
    inputs = [dnp.zeros(4), dnp.ones(2), 2.0, 3]
    value, last, same = eval_jaxpr(pure.jaxpr, pure.consts, *inputs)
    np.testing.assert_allclose(value, want)
    np.testing.assert_allclose(last, ref[...])
    np.testing.assert_allclose(same, other[...])


def test_discharge_makes_inputs_of_closed_over_references() -> None:
    ref, weights = dovetail.new_ref(1.0), dnp.arange(3.0)
    program = dovetail.make_jaxpr(lambda x: (dref.addupdate(ref, ..., x), weights * x)[1])(2.0)
    pure = dref.discharge(program)
    value, last = eval_jaxpr(pure.jaxpr, pure.consts, dnp.float32(1), 2.0)
    np.testing.assert_allclose(value, [0.0, 2.0, 4.0])
    assert float(last) == 3.0
    assert float(ref[...]) == 1.0


def test_loops_carry_only_what_they_write() -> None:
    written, read = dovetail.new_ref(0.0), dovetail.new_ref(2.0)

    def f(written: Any, read: Any) -> None:
        lax.fori_loop(0, 3, lambda i, c: (dref.addupdate(written, ..., read[...]), c)[1], 0)

    pure = dref.discharge(dovetail.make_jaxpr(f)(written, read))
    (scan,) = (e for e in pure.eqns if e.primitive.name == "scan")
    assert scan.params["num_consts"] == 1
    assert scan.params["num_carry"] == 3  # the counter, the value, what is written


def test_run_state_has_no_effects() -> None:
    def f(refs: Any) -> None:
        a, b = refs["a"], refs["b"]
        a[...] = a[...] + b[0]
        b[0] = 10.0

    run = dref.run_state(f)
    init = {"a": dnp.ones(()), "b": dnp.arange(2.0) + 1}
    for g in (run, dovetail.jit(run)):
        out = g(init)
        assert float(out["a"]) == 2.0
        np.testing.assert_array_equal(out["b"], [10.0, 2.0])
    assert not dovetail.make_jaxpr(run)(init).effects
    np.testing.assert_array_equal(init["b"], [1.0, 2.0])
    grads = dovetail.grad(lambda i: run(i)["a"])(init)
    np.testing.assert_array_equal(grads["b"], [1.0, 0.0])


@pytest.mark.parametrize("jitted", [False, True], ids=["eager", "jit"])
def test_views(jitted: bool) -> None:
    place = np.arange(24.0).reshape(4, 3, 2)
    ref = dovetail.new_ref(place)

    def f(view: Any, k: Any) -> Any:
        assert view.shape == (2, 2)
        view[0] = 100.0
        view.at[1][0] += 1.0
        dref.addupdate(view, (1, 1), 5.0)
        return view[...].sum() + dref.get(view.at[k])[0]

    view = ref.at[1:3].at[:, 2]
    assert (view.shape, view.ndim, len(view), view.dtype) == ((2, 2), 2, 2, np.float32)
    out = (dovetail.jit(f) if jitted else f)(view, 1)
    part = place[1:3][:, 2]
    part[0], part[1, 0], part[1, 1] = 100.0, part[1, 0] + 1.0, part[1, 1] + 5.0
    np.testing.assert_allclose(out, part.sum() + part[1][0])
    np.testing.assert_allclose(ref[...], place)


def test_views_are_pytrees() -> None:
    ref = dovetail.new_ref(np.arange(5.0))
    view = ref.at[np.array([3, 1])]
    leaves, tree = dovetail.tree.flatten(view)
    assert leaves[0] is ref
    np.testing.assert_array_equal(dovetail.tree.unflatten(tree, leaves)[...], [3.0, 1.0])
    dovetail.jit(lambda v: v.__setitem__(..., 0.0))(view)
    np.testing.assert_array_equal(ref[...], [0.0, 0.0, 2.0, 0.0, 4.0])
    assert "TransformedRef(Ref(" in repr(view)


@pytest.mark.parametrize(
    "index",
    [[0, 2], ([0, 2], [1, -1]), np.array([True, False, True]), (slice(None), [True, False, True])],
    ids=["list", "lists", "mask", "mask of a later axis"],
)
def test_views_by_lists_and_masks_are_traced(index: Any) -> None:
    place = np.arange(9.0).reshape(3, 3)
    ref = dovetail.new_ref(place)
    double = dovetail.jit(lambda v: dref.swap(v, ..., 2 * v[...]))
    np.testing.assert_array_equal(double(ref.at[index]), place[index])
    place[index] *= 2
    np.testing.assert_array_equal(ref[...], place)


@pytest.mark.parametrize("value", [True, False])
def test_boolean_arrays_without_dimensions(value: bool) -> None:
    place = np.arange(3.0)
    ref = dovetail.new_ref(place)
    index = np.array(value)
    np.testing.assert_array_equal(ref[index], place[index])
    ref[index] = 5.0
    place[index] = 5.0
    np.testing.assert_array_equal(ref[...], place)
    np.testing.assert_array_equal(ref.at[index][...], place[index])
