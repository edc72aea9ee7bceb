"""Checks under every transformation, evaluated and compiled; oracles are loops in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp
from dovetail import lax
from dovetail.experimental import checkify
from dovetail.experimental.checkify import check

f32 = np.float32
XS = np.array([3.0, -1.0, 2.0, -2.0], f32)
HERE = rf" at {__file__}:\d+ \(.*\)"


def positive(x: Any) -> Any:
    check(x > 0, "x = {x} is not positive", x=x)
    return dnp.sin(x)


def failures(f: Any, *args: Any, errors: Any = checkify.user_checks) -> str | None:
    """What failed, without its place: the same evaluated, compiled, and called compiled."""
    result: list[str | None] = []
    plain = f
    for g in (
        checkify.checkify(plain, errors),
        dovetail.jit(checkify.checkify(plain, errors)),
        checkify.checkify(dovetail.jit(plain), errors),
    ):
        message = g(*args)[0].get()
        result.append(message and message.partition(" (`check`")[0].partition(" at /")[0])
    assert result[0] == result[1] == result[2], result
    return result[0]


def test_the_message_has_values_and_the_line() -> None:
    error, out = checkify.checkify(positive)(f32(-1.5))
    wanted = rf"x = -1\.5 is not positive \(`check` failed\){HERE}"
    assert out == np.sin(f32(-1.5))
    with pytest.raises(checkify.JaxRuntimeError, match=wanted) as info:
        error.throw()
    assert "test_checkify.py" in str(info.value) and "(positive)" in str(info.value)
    assert checkify.checkify(positive)(f32(1.5))[0].get() is None
    checkify.checkify(positive)(f32(1.5))[0].throw()


def test_values_are_formatted() -> None:
    def f(x: Any, tree: Any) -> None:
        check(False, "{:.2f} {} {tree[a][1]:d} {{}}", x, tree["b"], tree=tree)

    tree = {"a": [1, np.int32(7)], "b": np.arange(3)}
    assert failures(f, f32(0.125), tree) == "0.12 [0 1 2] 7 {}"


def test_the_first_failure_is_reported() -> None:
    def f(x: Any) -> Any:
        check(x < 10, "first {x}", x=x)
        check(x < 5, "second {x}", x=x * 2)
        return x

    assert failures(f, 11) == "first 11"
    assert failures(f, 7) == "second 14"
    assert failures(f, 3) is None


def test_scan() -> None:
    def f(xs: Any) -> Any:
        def body(total: Any, x: Any) -> Any:
            check(x + total > 0, "{x} after {total}", x=x, total=total)
            return total + x, None

        return lax.scan(body, f32(0), xs)[0]

    total, wanted = f32(0), None
    for x in XS - f32(1.5):
        if x + total <= 0 and wanted is None:
            wanted = f"{x} after {total}"
        total += x
    assert failures(f, XS - f32(1.5)) == wanted
    assert failures(f, np.abs(XS)) is None


@pytest.mark.parametrize("start", [0, 3, 7, 20])
def test_conditions_and_bodies_of_loops(start: int) -> None:
    def f(x: Any) -> Any:
        def condition(s: Any) -> Any:
            check(s < 12, "condition {s}", s=s)
            return s < 10

        def body(s: Any) -> Any:
            check(s != 5, "body {s}", s=s)
            return s + 1

        return lax.while_loop(condition, body, x)

    wanted, s = None, start
    while True:
        if s >= 12:
            wanted = wanted or f"condition {s}"
        if s >= 10:
            break
        if s == 5:
            wanted = wanted or f"body {s}"
        s += 1
    assert failures(f, start) == wanted


def test_branches() -> None:
    def f(i: Any, x: Any) -> Any:
        cases = [positive, lambda x: x, lambda x: (check(x > 9, "small {x}", x=x), x)[1]]
        return lax.switch(i, cases, x)

    result = [failures(f, i, f32(-1)) for i in range(3)]
    assert result == ["x = -1.0 is not positive", None, "small -1.0"]


def test_an_element_of_a_mapped_function() -> None:
    errors, _ = dovetail.vmap(checkify.checkify(positive))(XS)
    lines = str(errors.get()).split("\n")
    assert [line.partition(" (`check`")[0] for line in lines] == [
        "at mapped index 1: x = -1.0 is not positive",
        "at mapped index 3: x = -2.0 is not positive",
    ]
    error, _ = dovetail.jit(checkify.checkify(dovetail.vmap(positive)))(XS)
    assert str(error.get()).startswith("x = -1.0 is not positive")
    assert str(error.get()).endswith(", at mapped index 1")
    twice = dovetail.vmap(dovetail.vmap(positive))
    error, _ = checkify.checkify(twice)(XS.reshape(2, 2))
    assert str(error.get()).endswith(", at mapped index 0,1")
    assert failures(dovetail.vmap(positive), np.abs(XS)) is None


def test_only_elements_that_get_there_are_checked() -> None:
    branch = lambda x: lax.cond(x < 0, positive, lambda x: x, x)  # noqa: E731
    assert failures(dovetail.vmap(branch), XS) == "x = -1.0 is not positive"
    other = lambda x: lax.cond(x > 0, positive, lambda x: x, x)  # noqa: E731
    assert failures(dovetail.vmap(other), XS) is None

    def loop(x: Any) -> Any:
        def body(s: Any) -> Any:
            check(s < 0, "{s} runs on", s=s)
            check(s > -2, "{s} is low", s=s)
            return s + 1

        return lax.while_loop(lambda s: s < 0, body, x)

    assert failures(dovetail.vmap(loop), XS) == "-2.0 is low"
    assert failures(dovetail.vmap(loop), XS + 1) is None
    out = checkify.checkify(dovetail.vmap(loop))(XS)[1]
    np.testing.assert_array_equal(out, [3, 0, 2, 0])


def test_a_condition_that_is_mapped_is_refused() -> None:
    def loop(x: Any) -> Any:
        def condition(s: Any) -> Any:
            check(s < 9, "{s}", s=s)
            return s < 0

        return lax.while_loop(condition, lambda s: s + 1, x)

    with pytest.raises(TypeError, match=r"has an effect, CheckEffect.*, under a predicate that is"):
        checkify.checkify(dovetail.vmap(loop))(XS)
    assert dovetail.vmap(checkify.checkify(loop))(XS)[0].get() is None


def test_derivatives_check_primal_values() -> None:
    assert failures(dovetail.grad(positive), f32(-2)) == "x = -2.0 is not positive"
    value = lambda x: checkify.checkify(positive)(x)[::-1]  # noqa: E731
    for g in (value, dovetail.jit(value), dovetail.checkpoint(value)):
        slope, error = dovetail.grad(g, has_aux=True)(f32(-2))
        np.testing.assert_allclose(slope, np.cos(-2.0), rtol=1e-6)
        assert "x = -2.0" in str(error.get())
    out, tangent = dovetail.jvp(lambda x: checkify.checkify(positive)(x)[1], (f32(2),), (f32(1),))
    np.testing.assert_allclose([out, tangent], [np.sin(2), np.cos(2)], rtol=1e-6)


def test_checkpoint() -> None:
    f = dovetail.checkpoint(lambda x: positive(x) * x)
    assert failures(f, f32(-1)) == failures(dovetail.grad(f), f32(-1)) == "x = -1.0 is not positive"


def test_custom_derivatives_are_kept() -> None:
    @dovetail.custom_jvp
    def f(x: Any) -> Any:
        return positive(x)

    f.defjvp(lambda primals, tangents: (primals[0], 10 * tangents[0]))

    @dovetail.custom_vjp
    def g(x: Any) -> Any:
        return positive(x)

    g.defvjp(lambda x: (x, None), lambda _, ct: (10 * ct,))
    for h in (f, g, dovetail.jit(f), dovetail.jit(g)):
        value = lambda x, h=h: checkify.checkify(h)(x)[::-1]  # noqa: E731
        slope, error = dovetail.grad(value, has_aux=True)(f32(-2))
        assert slope == 10 and "x = -2.0" in str(error.get())
        assert failures(h, f32(-2)) == "x = -2.0 is not positive"


def test_custom_derivatives_are_kept_under_mapped_predicates() -> None:
    @dovetail.custom_jvp
    def f(x: Any) -> Any:
        return positive(x)

    f.defjvp(lambda primals, tangents: (primals[0], 10 * tangents[0]))
    mapped = dovetail.vmap(lambda x: lax.cond(x < 0, f, lambda x: x, x))

    def value(xs: Any) -> Any:
        error, outs = checkify.checkify(mapped)(xs)
        return outs.sum(), error

    for g in (value, dovetail.jit(value)):
        slopes, error = dovetail.grad(g, has_aux=True)(XS)
        np.testing.assert_array_equal(slopes, [1, 10, 1, 10])
        assert "x = -1.0" in str(error.get())


def test_a_custom_function_that_closes_over_a_traced_value() -> None:
    def outer(c: Any, x: Any) -> Any:
        @dovetail.custom_jvp
        def f(x: Any) -> Any:
            return positive(x) * c

        f.defjvp(lambda primals, tangents: (primals[0], 10 * tangents[0]))
        error, out = checkify.checkify(f)(x)
        return out, error

    for g in (outer, dovetail.jit(outer)):
        slope, error = dovetail.grad(g, argnums=1, has_aux=True)(f32(3), f32(-2))
        assert slope == 10 and "x = -2.0" in str(error.get())


def test_nested_functionalization() -> None:
    def inner(x: Any) -> Any:
        error, out = checkify.checkify(positive)(x)
        return error, out

    def handles(x: Any) -> Any:
        error, out = inner(x)
        return dnp.where(error._pred, 0, out)

    def passes_on(x: Any) -> Any:
        error, out = inner(x)
        checkify.check_error(error)
        return out

    assert failures(handles, f32(-1)) is None
    assert checkify.checkify(handles)(f32(-1))[1] == 0
    assert failures(passes_on, f32(-1)) == "x = -1.0 is not positive"
    assert failures(passes_on, f32(1)) is None
    assert failures(dovetail.vmap(passes_on), XS) == "x = -1.0 is not positive"

    def later(xs: Any) -> None:
        errors, _ = dovetail.vmap(checkify.checkify(positive))(xs)
        checkify.check_error(errors)

    assert failures(later, XS) == "x = -1.0 is not positive"
    assert failures(later, np.zeros(0, f32)) is None


def test_errors_are_values() -> None:
    f = checkify.checkify(positive)

    def body(error: Any, x: Any) -> Any:
        new, _ = f(x)
        return new, new._code

    first = f(f32(1))[0]
    last, codes = lax.scan(body, first, XS)
    np.testing.assert_array_equal(codes, [0, 1, 0, 1])
    assert "x = -2.0" in str(last.get())
    leaves, structure = dovetail.tree.flatten(last)
    assert dovetail.tree.unflatten(structure, leaves).get() == last.get()


def test_kinds_that_nobody_asked_for_are_left_out() -> None:
    assert failures(positive, f32(-1), errors=checkify.nan_checks) is None
    mixed = lambda x: (positive(x), dnp.log(x))  # noqa: E731
    result = failures(mixed, f32(-1), errors=checkify.nan_checks)
    assert result == "nan generated by primitive: log"
    assert failures(mixed, f32(-1), errors=checkify.all_checks) == "x = -1.0 is not positive"


def test_without_functionalization() -> None:
    with pytest.raises(checkify.JaxRuntimeError, match=r"x = -1\.0 is not positive"):
        positive(f32(-1))
    with pytest.raises(checkify.JaxRuntimeError, match=r"x = -1\.0 .*, at mapped index 1"):
        dovetail.vmap(positive)(XS)
    with pytest.raises(checkify.JaxRuntimeError, match=r"x = -1\.0"):
        dovetail.grad(positive)(f32(-1))
    wanted = (
        rf"a check{HERE} is compiled, and nobody takes its failure: compiled code raises nothing\. "
        r"Transform the function first, error, out = jit\(checkify\(f\)\)\(\.\.\.\), and call "
        r"error\.throw\(\); or use debug_check\."
    )
    for f in (dovetail.jit(positive), lambda x: lax.map(positive, x[None])):
        with pytest.raises(ValueError, match=wanted):
            f(f32(1))
    dovetail.make_jaxpr(positive)(f32(1))


def test_debugging_checks() -> None:
    def f(x: Any) -> Any:
        checkify.debug_check(x > 0, "{x}", x=x)
        check(x > 0, "also {x}", x=x, debug=True)
        return x

    assert f(f32(-1)) == dovetail.jit(f)(f32(-1)) == -1
    assert failures(f, f32(-1)) == "-1.0"


def test_a_function_without_checks() -> None:
    error, out = checkify.checkify(lambda x: {"a": x * 2}, checkify.all_checks)(np.arange(3))
    assert error.get() is None and repr(error) == "Error(None)"
    np.testing.assert_array_equal(out["a"], [0, 2, 4])
    checkify.check_error(error)
    checkify.check_error(checkify.init_error)
    assert checkify.init_error.get() is None


def test_references() -> None:
    def f(xs: Any) -> Any:
        total = dovetail.new_ref(f32(0))

        def step(_: Any, x: Any) -> Any:
            total[...] += x
            check(total[...] < 4, "total {t}", t=total[...])
            return None, None

        lax.scan(step, None, xs)
        return total[...]

    assert failures(f, np.abs(XS)) == "total 4.0"
    assert failures(f, XS - 1) is None


def test_a_compiled_function_is_compiled_once() -> None:
    compiled: list[str] = []

    def listen(event: str, duration: float, **metadata: Any) -> None:
        if "backend_compile" in event:
            compiled.append(event)

    f = checkify.checkify(dovetail.jit(lambda xs: lax.map(positive, xs) * 3))
    f(XS)
    dovetail.monitoring.register_event_duration_secs_listener(listen)
    try:
        assert "x = -1.0" in str(f(XS)[0].get())
    finally:
        dovetail.monitoring.clear_event_listeners()
    assert compiled == []


def test_wide_types() -> None:
    with dovetail.enable_x64(True):
        result = failures(lambda x: check(x < 1, "{x}", x=x), np.float64(1) / 3 + 1)
    assert result == str(np.float64(1) / 3 + 1)


def test_messages_show_arrays() -> None:
    def one(x: Any) -> Any:
        tree = {"a": x, "b": [x.sum(), dovetail.random.key(7)]}
        checkify.check(x.sum() > 100, "{0!r} {t} {x:.2f} {x.dtype}", x, t=tree, x=x.sum())
        return x

    x = dnp.arange(2.0)
    tree = f"{{'a': {x!r}, 'b': [{x.sum()!r}, {dovetail.random.key(7)!r}]}}"
    said = f"{x!r} {tree} 1.00 float32 (`check` failed)"
    for f in one, dovetail.jit(one):
        result = checkify.checkify(f)(x)[0].get()
        assert result is not None and result.startswith(said)

    def mapped(x: Any) -> Any:
        checkify.check(x[0] < 1, "{0}", (x, x[1].astype("bfloat16")))

    result = checkify.checkify(dovetail.vmap(mapped))(dnp.array([[0.0, 1.0], [2.0, 3.0]]))[0].get()
    assert result is not None
    assert result.startswith("(Array([2., 3.], dtype=float32), Array(3, dtype=bfloat16)) (`check`")


def test_arguments_are_what_was_passed() -> None:
    def f(x: Any, flag: Any, how: str, *, axis: Any = None, n: int = 1) -> Any:
        seen.extend([flag, how, axis, n])
        check(dnp.all(x > 0), "{x} is not positive", x=x)
        return dnp.sum(x if flag and how == "as it is" else -x, axis) * n

    seen: list[Any] = []
    x = dnp.ones((2, 3))
    for flag in (True, np.True_, dnp.array(True)):
        error, out = checkify.checkify(f)(x, flag, "as it is", axis=(0, 1), n=2)
        assert error.get() is None and out == 12
    assert seen[:4] == [True, "as it is", (0, 1), 2]
    error, out = checkify.checkify(f)(-x, False, "as it is")
    assert "is not positive" in error.get() and out == 6


def test_operations_on_numbers_of_numpy_are_checked() -> None:
    inf = f32(np.inf)
    error, _ = checkify.checkify(lambda x: x - x, checkify.nan_checks)(inf)
    assert "nan generated by primitive: sub" in error.get()
    error, _ = checkify.checkify(lambda x: x["a"][0] / x["b"], checkify.div_checks)(
        {"a": np.ones(2, f32), "b": np.zeros(2, f32)}
    )
    assert "division by zero" in error.get()


def test_a_reference_is_passed_as_it_is() -> None:
    def f(ref: Any, x: Any) -> Any:
        check(ref[0] > 0, "{v} is not positive", v=ref[0])
        ref[0] = x
        return ref[0] + 1

    ref = dovetail.new_ref(dnp.array([2.0, 3.0]))
    for x, message in ((f32(-1), None), (f32(5), "-1.0 is not positive")):
        error, out = checkify.checkify(f)(ref, x)
        assert out == x + 1 and ref[0] == x
        assert error.get() is None if message is None else error.get().startswith(message)
