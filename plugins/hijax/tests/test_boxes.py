"""Boxes: any pytree, of types that change; through every transformation."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp
from dovetail import lax
from dovetail.hijax import Box, new_box

X = np.array([1.0, 2.0, 3.0], np.float32)


def near(a, b):
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-5, atol=1e-6)


def test_a_box_holds_any_pytree():
    box = new_box()
    assert box.get() is None and isinstance(box, Box)
    box.set({"a": X, "b": [1, 2.0]})
    assert box.get()["b"] == [1, 2.0]
    box.set(3)
    assert box.get() == 3 and repr(box) == "Box(3)"
    assert dovetail.typeof(Box((X, 1))).str_short() == "Box{(f32[3], i32[])}"


def test_passed_to_jit():
    traces = []

    @dovetail.jit
    def f(box, x):
        traces.append(x)
        box.set({"sum": x.sum(), "twice": 2 * x})
        return box.get()["twice"] + 1

    box = new_box()
    near(f(box, X), 2 * X + 1)
    near(box.get()["sum"], 6)
    near(f(box, 2 * X), 4 * X + 1)
    near(box.get()["sum"], 12)
    assert len(traces) == 2  # once for an empty box, once for a full one
    near(f(box, 3 * X), 6 * X + 1)
    assert len(traces) == 2


def test_what_a_box_held_stays_usable():
    box = new_box()
    box.set(dnp.asarray(X))
    before = box.get()
    dovetail.jit(lambda box: box.set(box.get() + 1))(box)
    near(before, X)
    near(box.get(), X + 1)


def test_mut_types_are_the_final_types():
    def f(box, x):
        box.set(x)
        box.set((x, x))

    ir = dovetail.make_jaxpr(f)(new_box(), X)
    assert [t.str_short() for t in ir.jaxpr.mut_types.values()] == ["Box{(f32[3], f32[3])}"]
    assert list(ir.jaxpr.mut_types) == [0] and ir.in_avals[0].str_short() == "Box{None}"
    again = dovetail.make_jaxpr(lambda box, x: dovetail.jit(f)(box, x))(new_box(), X)
    assert list(again.jaxpr.mut_types.values()) == list(ir.jaxpr.mut_types.values())
    box = Box(X)
    assert not dovetail.make_jaxpr(lambda box, x: box.set(2 * x))(box, X).jaxpr.mut_types


def test_a_list_that_grows():
    log = new_box()
    log.set([])

    @dovetail.jit
    def inner(log, x):
        log.set([*log.get(), x.sum()])
        return x * 2

    @dovetail.jit
    def f(log, x):
        x = inner(log, x)
        log.set([*log.get(), x])
        return inner(log, x)

    near(f(log, X), 4 * X)
    a, b, c = log.get()
    near(a, 6)
    near(b, 2 * X)
    near(c, 12)
    f(log, X)
    assert len(log.get()) == 6


def test_closed_over():
    box = new_box()

    @dovetail.jit
    def f(x):
        box.set((x, x + 1))
        return box.get()[1]

    near(f(X), X + 1)
    near(box.get()[0], X)
    near(f(2 * X), 2 * X + 1)
    near(box.get()[0], 2 * X)


@pytest.mark.parametrize("wrap", [lambda f: f, dovetail.jit, dovetail.remat])
def test_made_inside(wrap):
    def f(x):
        box = new_box()
        box.set([x])
        box.set([*box.get(), dnp.sin(x)])
        a, b = box.get()
        return (a * b).sum()

    near(wrap(f)(X), (X * np.sin(X)).sum())
    near(dovetail.grad(wrap(f))(X), np.sin(X) + X * np.cos(X))
    near(dovetail.jit(dovetail.grad(wrap(f)))(X), np.sin(X) + X * np.cos(X))
    xs = np.stack([X, 2 * X])
    near(dovetail.vmap(wrap(f))(xs), (xs * np.sin(xs)).sum(1))
    near(dovetail.jvp(wrap(f), (X,), (X,))[1], (X * (np.sin(X) + X * np.cos(X))).sum())


@pytest.mark.parametrize("outer", [lambda f: f, dovetail.jit])
@pytest.mark.parametrize("inner", [lambda f: f, dovetail.jit])
def test_written_while_differentiating(outer, inner):
    box = new_box()

    @inner
    def f(box, x):
        box.set({"seen": lax.stop_gradient(2 * x)})
        return (x**2).sum()

    near(outer(lambda box, x: dovetail.grad(lambda x: f(box, x))(x))(box, X), 2 * X)
    near(box.get()["seen"], 2 * X)


@pytest.mark.parametrize("outer", [lambda f: f, dovetail.jit])
@pytest.mark.parametrize("inner", [lambda f: f, dovetail.jit])
def test_a_backward_pass_writes_to_a_box(outer, inner):
    box = new_box()

    @dovetail.custom_vjp
    def stash(box, x):
        return x

    def backward(box, ct):
        box.set(ct)
        return None, ct

    stash.defvjp(lambda box, x: (x, box), backward)

    @inner
    def f(box, x):
        return (stash(box, x**2) * 3).sum()

    near(outer(lambda box, x: dovetail.grad(f, 1)(box, x))(box, X), 6 * X)
    near(box.get(), [3, 3, 3])


@pytest.mark.parametrize("wrap", [lambda f: f, dovetail.jit])
def test_in_scan(wrap):
    box = Box(np.float32(0))

    def f(box, x):
        def step(c, x):
            box.set(box.get() + x)
            return c + box.get(), c

        return lax.scan(step, 0.0, x)

    last, _ = wrap(f)(box, X)
    near(box.get(), 6)
    near(last, 1 + 3 + 6)


def test_a_box_must_keep_its_type_in_loops_and_branches():
    def f(box, x):
        return lax.scan(lambda c, x: (box.set([*box.get(), x]), c)[::-1], 0.0, x)

    message = r"'scan' at .*test_boxes.py.* changes Box\{\[\]\} to Box\{\[f32\[\]\]\}: in loops and"
    with pytest.raises(TypeError, match=message):
        dovetail.jit(f)(Box([]), X)
    with pytest.raises(TypeError, match=r"'cond' .* changes Box\{None\} to Box\{f32\[3\]\}"):
        dovetail.jit(lambda b, x: lax.cond(x[0] > 0, lambda: b.set(x), lambda: None))(new_box(), X)


def test_high_values_in_boxes(records, quantized):
    box = new_box()

    @dovetail.jit
    def f(box, x):
        box.set({"q": quantized.quantize(x), "r": records.record(x=x)})
        return quantized.dequantize(box.get()["q"])

    near(f(box, X), quantized.dequantize(quantized.quantize(X)))
    assert type(box.get()["q"]) is quantized.Quantized
    near(box.get()["r"]["x"], X)
    near(f(box, X), quantized.dequantize(quantized.quantize(X)))


def test_a_box_of_a_fixed_type():
    box = new_box((X, dovetail.ShapeDtypeStruct((), "float32")))
    near(box.get()[0], 0 * X)
    dovetail.jit(lambda box, x: box.set((x, x.sum())))(box, X)
    near(box.get()[1], 6)
    message = r"a value of type f32\[3\] is put into a box that was made for \(f32\[3\], f32\[\]\)"
    for wrap in (lambda f: f, dovetail.jit):
        with pytest.raises(TypeError, match=message):
            wrap(lambda box, x: box.set(x))(box, X)


def test_values_with_derivatives_or_axes_are_refused():
    box = new_box()
    with pytest.raises(TypeError, match=r"being differentiated is put into a box.*stop_gradient"):
        dovetail.grad(lambda x: (box.set(x), x.sum())[1])(X)
    with pytest.raises(TypeError, match=r"a mapped value is put into a box.* under vmap"):
        dovetail.vmap(lambda x: (box.set(x), x)[1])(X)
    with pytest.raises(TypeError, match=r"Box\{None\}"):
        dovetail.jit(lambda: new_box())()
    with pytest.raises(TypeError, match=r"box_get takes a box, got a value of type f32\[3\]"):
        dovetail.hijax.box_get(X)


@pytest.mark.parametrize("wrap", [lambda f: f, dovetail.jit, dovetail.remat])
def test_a_box_made_inside_and_written_in_a_loop_is_differentiated(wrap):
    def f(x):
        box = new_box()
        box.set(x)

        def step(i, total):
            box.set(box.get() * 2)
            return total + box.get().sum()

        return lax.fori_loop(0, 3, step, 0.0)

    near(dovetail.grad(wrap(f))(X), [14, 14, 14])
    near(dovetail.jvp(wrap(f), (X,), (X,))[1], 14 * X.sum())


def test_boxes_in_pytrees_and_closed_over_by_loops():
    state = {"log": Box(np.float32(1))}

    def f(x):
        def step(c, x):
            state["log"].set(state["log"].get() * 2)
            return c + x, None

        return lax.scan(step, 0.0, x)[0]

    near(dovetail.jit(f)(X), 6)
    near(state["log"].get(), 8)
    near(dovetail.jit(lambda state, x: state["log"].get() + x)(state, X), X + 8)
    near(dovetail.vmap(lambda x: x * state["log"].get())(X), 8 * X)
    near(dovetail.grad(lambda x: (state["log"].get() * x).sum())(X), [8, 8, 8])


def test_one_box_under_two_names():
    box = Box([X])
    message = r"one Box\{\[f32\[3\]\]\} is passed as args\[0\] and as args\[1\]"
    with pytest.raises(ValueError, match=message):
        dovetail.jit(lambda a, b: 1)(box, box)


def test_a_failed_call_leaves_the_box_as_it_was():
    box = Box(X)

    def f(box, x):
        box.set(2 * box.get())
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        dovetail.jit(f)(box, X)
    near(box.get(), X)


@pytest.mark.parametrize("run", [lambda f: f, dovetail.jit, dovetail.grad])
def test_contents_that_change_their_type_in_a_checkpointed_function(run):
    box = new_box()

    @dovetail.checkpoint
    def f(x):
        box.set([*(box.get() or []), 1.0])
        return dnp.sin(x)

    run(f)(0.5)
    run(f)(0.5)
    near(box.get(), [1, 1])


def test_retyped_in_a_program_and_again_in_a_checkpointed_function_there():
    box = new_box()
    box.set(1.0)

    @dovetail.jit
    def f(x):
        box.set([box.get(), 2.0])
        dovetail.checkpoint(lambda x: box.set({"k": box.get(), "x": 3.0}))(x)
        return x

    f(1.0)
    near(box.get()["k"], [1, 2])
    near(box.get()["x"], 3)


def test_a_differentiated_box_that_keeps_its_values_and_gets_others_beside():
    def f(box, x):
        box.set([box.get(), 2 * x])
        return x

    box, tangent = Box(1.0), Box(10.0)
    dovetail.jvp(f, (box, 3.0), (tangent, 1.0))
    near(box.get(), [1, 6])
    near(tangent.get(), [10, 2])
    dovetail.jvp(lambda box: box.set(tuple(box.get())), (box,), (tangent,))
    assert isinstance(box.get(), tuple) and isinstance(tangent.get(), tuple)


def test_a_box_has_no_axis_to_map():
    with pytest.raises(
        TypeError, match=r"vmap of f: args\[0\].*the contents of Box\{f32\[3\]\} have"
    ):

        def f(box, x):
            return x

        dovetail.vmap(f)(Box(X), X)
