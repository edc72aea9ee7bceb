"""Branches and loops: values, derivatives, batching, structure, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import grad, jacfwd, jacrev, jvp
from dovetail_base.options import disable_jit
from dovetail_batching import vmap
from dovetail_core import MissingRule, dce_closed, typeof
from dovetail_jit import jit, make_jaxpr

X = np.linspace(0.1, 1.0, 4, dtype=np.float32)
XS = np.linspace(0.5, 1.5, 20, dtype=np.float32).reshape(5, 4)
ROWS = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)


def total(x: Any) -> Any:
    return lax.reduce_sum_p.bind(x, axes=tuple(range(x.ndim)))


def close(result: Any, expected: Any) -> None:
    np.testing.assert_allclose(result, expected, rtol=2e-5, atol=1e-6)


def recurrence(x: Any, xs: Any = XS, **options: Any) -> Any:
    def step(c: Any, t: Any) -> Any:
        c = lax.sin(lax.mul(c, t))
        return c, lax.mul(c, c)

    return lax.scan(step, x, xs, **options)


def python_recurrence(x: Any, xs: Any = XS) -> Any:
    ys = []
    for t in xs:
        x = np.sin(x * t)
        ys.append(x * x)
    return x, np.stack(ys)


# --- scan -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("unroll", [1, 2, 3, 5, 7, True, False])
@pytest.mark.parametrize("reverse", [False, True])
def test_scan_is_a_loop(unroll: Any, reverse: bool) -> None:
    c, ys = recurrence(X, unroll=unroll, reverse=reverse)
    expected_c, expected = python_recurrence(X, XS[::-1] if reverse else XS)
    close(c, expected_c)
    close(ys, expected[::-1] if reverse else expected)


def test_scan_of_trees_without_xs_and_without_ys() -> None:
    (i, p), ys = lax.scan(
        lambda c, _: ((lax.add(c[0], 1), {"a": c[1]["a"]}), None), (0, {"a": X}), length=3
    )
    assert int(i) == 3 and ys is None
    close(p["a"], X)
    c, ys = lax.scan(lambda c, x: (c, {"y": x}), 1.0, {"u": XS}["u"])
    assert ys["y"].shape == (5, 4) and float(c) == 1.0


def test_the_number_of_steps_may_be_a_quotient() -> None:
    last, _ = lax.scan(lambda c, _: (lax.add(c, 1), None), 0, length=6 / 2)
    assert last == 3


def test_scan_of_no_steps_gives_empty_results() -> None:
    c, ys = recurrence(X, XS[:0])
    close(c, X)
    assert ys.shape == (0, 4)
    close(grad(lambda v: total(recurrence(v, XS[:0])[0]))(X), np.ones(4))


def test_a_weak_carry_becomes_strong() -> None:
    c, _ = lax.scan(lambda c, x: (lax.add(c, total(x)), None), 0.0, XS)
    close(c, XS.sum())
    assert not c.weak_type


def test_scan_differentiates_in_every_mode() -> None:
    def f(x: Any) -> Any:
        c, ys = recurrence(x)
        return lax.add(total(c), total(ys))

    forward, reverse = jacfwd(f)(X), grad(f)(X)
    close(forward, reverse)
    close(jit(grad(f))(X), reverse)
    close(jacfwd(jacrev(f))(X), jacrev(jacrev(f))(X))
    eps = 1e-3
    numeric = [
        float(f(X + eps * e) - f(X - eps * e)) / (2 * eps) for e in np.eye(4, dtype=np.float32)
    ]
    np.testing.assert_allclose(reverse, numeric, rtol=2e-2)


def test_gradients_reach_closed_over_values_and_xs() -> None:
    def f(w: Any, xs: Any) -> Any:
        return total(lax.scan(lambda c, x: (lax.mul(c, lax.sin(lax.mul(w, x))), None), X, xs)[0])

    dw, dxs = grad(f, (0, 1))(np.float32(0.7), XS)
    eps = 1e-2
    shifted = (float(f(np.float32(0.7 + eps), XS)) - float(f(np.float32(0.7 - eps), XS))) / (
        2 * eps
    )
    np.testing.assert_allclose(dw, shifted, rtol=2e-2)
    assert dxs.shape == XS.shape and np.all(np.isfinite(dxs))


def test_what_does_not_change_in_the_loop_is_not_stacked() -> None:
    """Residuals that are constants of the loop stay one copy; only per-step values are stacked."""
    w = np.ones((4, 4), np.float32)

    def f(w: Any) -> Any:
        step = lambda c, _: (lax.sin(lax.dot(w, c)), None)  # noqa: E731
        return total(lax.scan(step, X, None, length=50)[0])

    jaxpr = make_jaxpr(grad(f))(w)
    shapes = [v.aval.shape for e in jaxpr.eqns for v in e.outvars]  # type: ignore[attr-defined]
    assert (50, 4, 4) not in shapes and (50, 4) in shapes


def test_mapped_scans() -> None:
    f = lambda x, xs: recurrence(x, xs)  # noqa: E731
    c, ys = vmap(f, (0, None))(ROWS, XS)
    for i, row in enumerate(ROWS):
        expected_c, expected = python_recurrence(row)
        close(c[i], expected_c)
        close(ys[i], expected)
    stacked = np.stack([XS, XS + 1])
    close(vmap(f, (None, 0))(X, stacked)[0][1], python_recurrence(X, XS + 1)[0])


def test_scan_errors_name_the_place() -> None:
    with pytest.raises(
        TypeError, match=r"the loop carry.*carry\['a'\] has type f32\[4\] in the input and f32\[2\]"
    ):
        lax.scan(lambda c, _: ({"a": lax.slice(c["a"], (0,), (2,))}, None), {"a": X}, length=2)
    with pytest.raises(TypeError, match="must have one structure"):
        lax.scan(lambda c, _: ((c, c), None), X, length=2)
    with pytest.raises(TypeError, match=r"must return a pair \(carry, y\)"):
        lax.scan(lambda c, _: c, X, length=2)
    with pytest.raises(ValueError, match=r"xs\['a'\] has 5, xs\['b'\] has 4"):
        lax.scan(lambda c, x: (c, None), X, {"a": XS, "b": X})
    with pytest.raises(ValueError, match="xs has 5, length has 3"):
        lax.scan(lambda c, x: (c, None), X, XS, length=3)
    with pytest.raises(ValueError, match="pass xs with arrays, or length"):
        lax.scan(lambda c, x: (c, None), X)
    with pytest.raises(ValueError, match="is a scalar: it has no axis"):
        lax.scan(lambda c, x: (c, None), X, 1.0)
    with pytest.raises(TypeError, match="scan: f must be a function"):
        lax.scan(3, X, XS)  # type: ignore[arg-type]


def test_map_is_a_loop_in_any_batches() -> None:
    for batch_size in (None, 1, 2, 5, 100):
        close(lax.map(total, XS, batch_size=batch_size), XS.sum(1))


# --- while_loop and fori_loop ---------------------------------------------------------------------


def power(x: Any, n: Any) -> Any:
    return lax.while_loop(
        lambda s: lax.lt(s[0], n), lambda s: (lax.add(s[0], 1), lax.mul(s[1], x)), (0, x)
    )[1]


def test_while_loop_and_its_forward_mode() -> None:
    close(power(X, 3), X**4)
    close(jvp(lambda x: power(x, 3), (X,), (X,))[1], 4 * X**3 * X)
    with pytest.raises(
        MissingRule, match=r"while_loop at .*test_control_flow.py.*reverse mode.*Use scan"
    ):
        grad(lambda x: total(power(x, 3)))(X)


def test_while_loop_with_a_mapped_bound() -> None:
    result = vmap(power)(ROWS, np.asarray([0, 3, 1]))
    close(result, np.stack([ROWS[0], ROWS[1] ** 4, ROWS[2] ** 2]))
    _, t = jvp(lambda r: vmap(power)(r, np.asarray([0, 3, 1])), (ROWS,), (np.ones_like(ROWS),))
    close(t, np.stack([np.ones(4), 4 * ROWS[1] ** 3, 2 * ROWS[2]]))


def test_while_loop_errors() -> None:
    with pytest.raises(TypeError, match="must return one boolean scalar"):
        lax.while_loop(lambda x: x, lambda x: x, X)
    with pytest.raises(TypeError, match=r"carry has type f32\[4\] in the input and f32\[1\]"):
        lax.while_loop(lambda x: True, lambda x: lax.slice(x, (0,), (1,)), X)


def test_fori_loop_with_known_and_traced_bounds() -> None:
    def f(n: Any, x: Any) -> Any:
        return lax.fori_loop(0, n, lambda i, v: lax.mul(v, lax.sin(x)), x)

    close(f(3, X), X * np.sin(X) ** 3)
    close(jit(f)(3, X), X * np.sin(X) ** 3)
    expected = np.sin(X) ** 3 + 3 * X * np.sin(X) ** 2 * np.cos(X)
    close(grad(lambda x: total(f(3, x)))(X), expected)
    close(f(0, X), X)
    assert int(lax.fori_loop(2, 5, lambda i, v: lax.add(v, i), 0)) == 9
    with pytest.raises(ValueError, match="unroll needs bounds"):
        jit(lambda n: lax.fori_loop(0, n, lambda i, v: v, X, unroll=2))(3)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_fori_loop_with_floating_point_bounds(dtype: Any) -> None:
    """Known ones are rounded towards zero, computed ones are counted up as they are."""

    def places(low: Any, high: Any) -> Any:
        return lax.fori_loop(low, high, lambda i, v: (v[0] + i, v[1] + 1), (0.0, 0))

    low, high = (lax.convert_element_type(x, dtype) for x in (-1.5, 2.25))
    assert tuple(map(float, places(low, high))) == (-1 + 0 + 1, 3)
    assert tuple(map(float, jit(places)(low, high))) == (-1.5 - 0.5 + 0.5 + 1.5, 4)
    assert tuple(map(float, places(0.5, 3.0))) == (0 + 1 + 2, 3)
    seen: list[Any] = []
    lax.fori_loop(0.0, 2.0, lambda i, v: seen.append(i.dtype) or v, 0.0)
    assert seen == [np.int32]
    cube = grad(lambda x: lax.fori_loop(0.0, 2.0, lambda i, v: v * x, x))(2.0)
    assert float(cube) == 12.0
    assert float(lax.fori_loop(False, True, lambda i, v: v + 1, 0.0)) == 1.0


# --- cond and switch ------------------------------------------------------------------------------


def choose(p: Any, x: Any) -> Any:
    return lax.cond(p, lambda v: lax.sin(v), lambda v: lax.mul(v, v), x)


@pytest.mark.parametrize("p", [True, False, 1, 0, 2.5])
def test_cond_chooses(p: Any) -> None:
    close(choose(p, X), np.sin(X) if p else X * X)
    close(jit(choose)(p, X), np.sin(X) if p else X * X)
    close(grad(lambda x: total(choose(p, x)))(X), np.cos(X) if p else 2 * X)


def test_cond_with_a_mapped_predicate() -> None:
    p = np.asarray([True, False, True])
    expected = np.where(p[:, None], np.sin(ROWS), ROWS * ROWS)
    close(vmap(choose)(p, ROWS), expected)
    slope = np.where(p[:, None], np.cos(ROWS), 2 * ROWS)
    close(vmap(grad(lambda x, q: total(choose(q, x))))(ROWS, p), slope)
    close(grad(lambda r: total(vmap(choose)(p, r)))(ROWS), slope)


def test_branches_with_different_residuals_share_places() -> None:
    def f(i: Any, x: Any) -> Any:
        branches = [
            lambda v: lax.sin(lax.exp(v)),
            lambda v: lax.mul(lax.mul(v, v), v),
            lambda v: v,
        ]
        return total(lax.switch(i, branches, x))

    slopes = [np.cos(np.exp(X)) * np.exp(X), 3 * X * X, np.ones(4)]
    for i, expected in enumerate(slopes):
        close(grad(f, 1)(i, X), expected)
        close(jit(grad(f, 1))(i, X), expected)
    close(vmap(grad(f, 1), (0, None))(np.arange(3), X), np.stack(slopes))


def test_switch_clamps_its_index() -> None:
    branches = [lambda: 0, lambda: 1, lambda: 2]
    assert [int(lax.switch(i, branches)) for i in (-5, 0, 1, 2, 9)] == [0, 0, 1, 2, 2]


def test_what_branches_pass_through_does_not_depend_on_the_choice() -> None:
    def f(i: Any, x: Any, y: Any) -> Any:
        return lax.switch(i, [lambda v: (v, y, v, y), lambda v: (v, y, y, y + 0)] * 2, x)

    x, y = jit(lambda a: a)(X), jit(lambda a: 2 * a)(X)
    kept, closed, chosen, added = f(0, x, y)
    assert kept is x and closed is y
    close((chosen, added), (X, 2 * X))
    outs = vmap(f, (0, None, None), (None, None, 0, 0))(np.array([0, 1]), x, y)
    close(outs[2], [X, 2 * X])
    close(outs[1], 2 * X)
    same = lambda p, v: lax.cond(p > 0, lambda v: v, lambda v: v, v)  # noqa: E731
    for given in (3.0, np.float32(3), 3, X):  # numbers and arrays of NumPy, too
        kept = vmap(same, (0, None), None)(np.arange(3), given)
        assert typeof(kept) == typeof(given)
        close(kept, given)
    (eqn,) = [e for e in make_jaxpr(f)(0, x, y).eqns if e.primitive is lax.cond_p]
    assert len(eqn.outvars) == 2
    close(grad(lambda v: total(f(1, v, v)[0] * 3.0))(x), 3 + 0 * X)
    assert lax.cond(True, lambda v: v, lambda v: v, 3).shape == ()  # becomes an array
    assert lax.cond(True, lambda v: v, lambda v: v, x) is x
    effects: list[Any] = []

    def seen(v: Any) -> Any:
        effects.append(1)
        return v

    lax.cond(True, seen, lambda v: v, x)
    assert effects


def test_cond_forms_and_errors() -> None:
    assert float(lax.cond(True, 1.0, lambda a: lax.add(a, 1.0), 5.0, lambda b: b)) == 2.0
    assert float(lax.cond(False, lambda a: a, lambda a: lax.neg(a), operand=3.0)) == -3.0
    with pytest.raises(
        TypeError, match=r"result\['y'\] has type f32\[4\] in <lambda> \(branch 0\) and i32"
    ):
        lax.cond(True, lambda x: {"y": 1}, lambda x: {"y": x}, X)
    with pytest.raises(TypeError, match="must have one structure"):
        lax.cond(True, lambda x: (x, x), lambda x: x, X)
    with pytest.raises(TypeError, match=r"must be a boolean scalar, got f32\[4\]"):
        lax.cond(X, lambda x: x, lambda x: x, X)
    with pytest.raises(TypeError, match="index must be an integer scalar"):
        lax.switch(1.5, [lambda: 0, lambda: 1])
    with pytest.raises(ValueError, match="at least one branch"):
        lax.switch(0, [])


# --- together -------------------------------------------------------------------------------------


def nested(x: Any) -> Any:
    def step(c: Any, t: Any) -> Any:
        c = lax.cond(lax.gt(total(c), 2.0), lambda v: lax.mul(v, 0.5), lambda v: power(v, 2), c)
        return lax.add(c, t), total(c)

    return lax.scan(step, x, XS)


def test_scan_of_cond_of_while() -> None:
    c, ys = X, []
    for t in XS:
        c = c * 0.5 if c.sum() > 2 else c**3
        ys.append(c.sum())
        c = c + t
    close(nested(X)[0], c)
    close(nested(X)[1], np.asarray(ys))
    close(vmap(nested)(np.stack([X, 2 * X]))[0][0], c)
    forward = jacfwd(lambda v: nested(v)[0])(X)
    close(jit(jacfwd(lambda v: nested(v)[0]))(X), forward)


def test_python_control_flow_with_disable_jit() -> None:
    with disable_jit(True):
        close(recurrence(X)[1], python_recurrence(X)[1])
        close(choose(True, X), np.sin(X))
        close(power(X, 3), X**4)
        assert int(lax.fori_loop(0, 4, lambda i, v: v + i, 0)) == 6


def test_python_control_flow_under_transformations_with_disable_jit() -> None:
    def loop(x: Any) -> Any:
        return lax.while_loop(lambda c: c < 30, lambda c: c * x, x)

    def branchy(x: Any) -> Any:
        return lax.cond(x > 0, lambda y: y * y if y > 1 else y, lambda y: y, x)

    def steps(c: Any, t: Any) -> Any:
        return (c * t if c > 0 else c), float(t)

    with disable_jit(True):
        close(grad(loop)(np.float32(2)), 5 * 2.0**4)
        close(grad(branchy)(np.float32(3)), 6)
        close(grad(lambda x: lax.scan(steps, x, X[:2])[0])(np.float32(2)), X[0] * X[1])
        result = vmap(lambda n: lax.fori_loop(0, n, lambda i, c: c + i, 0))(np.arange(4))
    assert result.tolist() == [0, 0, 1, 3]


def test_dead_code_in_loops_and_branches() -> None:
    def f(x: Any) -> Any:
        (a, b), ys = lax.scan(
            lambda c, t: ((lax.mul(c[0], t), lax.sin(c[1])), lax.exp(c[1])), (x, x), XS
        )
        return a, b, ys

    program = make_jaxpr(f)(X)
    reduced, left = dce_closed(program, [True, False, False])
    assert left == [True]
    (eqn,) = reduced.eqns
    assert [e.primitive.name for e in eqn.params["jaxpr"].eqns] == ["mul"]
    assert dce_closed(program, [False, False, False])[0].eqns == []


def test_tracers_of_outer_transformations_are_closed_over() -> None:
    def f(y: Any) -> Any:
        return total(lax.cond(True, lambda v: lax.mul(v, y), lambda v: v, X))

    close(grad(f)(np.float32(2.0)), X.sum())
    close(vmap(lambda y: lax.scan(lambda c, _: (lax.add(c, y), None), 0.0, length=3)[0])(X), 3 * X)
    assert lax.scan(lambda c, _: (c + 1, None), 0, None, length=2.5)[0] == 2  # as int() does


def test_branches_that_are_not_taken_leave_no_nan() -> None:
    """All branches run where the predicate is mapped, also on what stands for the residuals of the
    ones not taken; their zero cotangents must stay zero."""
    branches = {
        "quotient": lambda v: lax.div(v, total(lax.mul(v, v))),
        "root": lambda v: lax.sqrt(lax.add(lax.mul(v, v), 1.0)),
        "logarithm": lambda v: lax.log(lax.add(lax.exp(v), 1.0)),
        "power": lambda v: lax.pow(lax.add(lax.mul(v, v), 1.0), -1.5),
    }
    flags = np.asarray([True, False, True])
    for f in branches.values():

        def g(flag: Any, x: Any, f: Any = f) -> Any:
            inner = lambda y: total(lax.cond(flag, lax.sin, f, y))  # noqa: E731
            return total(lax.mul(x, grad(inner)(x)))

        mapped = jit(grad(lambda xs, g=g: total(vmap(g)(flags, xs))))(ROWS)
        expected = [jit(grad(g, 1))(flag, x) for flag, x in zip(flags, ROWS)]
        close(mapped, np.stack(expected))


def test_a_branch_that_is_given_twice_is_traced_once() -> None:
    traced: list[int] = []

    def square(x: Any) -> Any:
        traced.append(1)
        return x * x

    assert float(lax.cond(np.asarray(True), square, square, 3.0)) == 9.0
    assert float(lax.switch(np.asarray(2), [square, lax.sin, square], 3.0)) == 9.0
    assert len(traced) == 1


def test_results_of_branches_that_differ_are_named() -> None:
    with pytest.raises(TypeError, match=r"cond branch outputs must have the same pytree struct"):
        lax.cond(np.bool_(True), lambda: 1.0, lambda: (1.0,))
    with pytest.raises(TypeError, match=r"switch: the branches' results: types must"):
        lax.switch(np.asarray(0), [lambda: np.ones(2, np.float32), lambda: np.ones(3, np.float32)])


def test_a_list_is_a_pair_of_carry_and_result() -> None:
    last, ys = lax.scan(lambda c, x: [lax.add(c, x), c], np.int32(0), np.arange(3, dtype=np.int32))
    assert last == 3 and ys.tolist() == [0, 0, 1]


def test_indices_of_loops_in_python_are_whole_numbers_of_python() -> None:
    kinds = []
    with disable_jit(True):
        result = lax.fori_loop(0, 3, lambda i, x: (kinds.append(type(i)), x + i)[1], 0)
    assert result == 3 and type(result) is int and kinds == [int] * 3


def test_functions_of_associative_scans_keep_structures() -> None:
    with pytest.raises(ValueError, match="must return as many arrays as elems has"):
        lax.associative_scan(lambda a, b: (a, b), np.arange(4))


def test_functions_of_scans_and_reductions_may_return_other_containers() -> None:
    xs = np.arange(4, dtype=np.float32), np.full(4, 2, np.float32)

    def both(a: Any, b: Any) -> Any:
        return [a[0] + b[0], a[1] * b[1]]  # a list for a tuple

    sums, products = lax.associative_scan(both, xs)
    assert sums.tolist() == [0, 1, 3, 6] and products.tolist() == [2, 4, 8, 16]
    named = lax.associative_scan(lambda a, b: (a["p"] * b["p"],), {"p": xs[1]}, reverse=True)
    assert named["p"].tolist() == [16, 8, 4, 2]
    result = lax.reduce(xs, (np.float32(0), np.float32(1)), both, (0,))
    assert type(result) is list and [float(x) for x in result] == [6, 16]
    again = lax.reduce(xs, (np.float32(0), np.float32(1)), both, (0,))  # not traced anew
    assert type(again) is list
    windows = lax.reduce_window(xs, (np.float32(0), np.float32(1)), both, (2,), (1,), "valid")
    assert [w.tolist() for w in windows] == [[1, 3, 5], [4, 4, 4]]


def test_constants_to_differentiation_are_of_types_that_there_are() -> None:
    assert lax.stop_gradient(np.ones(2)).dtype == np.float32
    assert lax.stop_gradient(np.ones(2, np.int8)).dtype == np.int8
