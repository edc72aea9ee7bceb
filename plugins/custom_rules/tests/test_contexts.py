"""Rules that read options, user contexts and named axes: derived programs follow them.

A rule runs when what it is asked for is derived: the forward rule under the call of ``vjp``, the
backward rule under the call of the pullback, also where the program of either was derived before
under something else.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Barrier, Thread
from typing import Any

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp
from dovetail import lax
from dovetail_core import ClosedJaxpr, enable_x64, jaxpr_as_fun

scale = dt.make_user_context(1.0)
SCALES = (1.0, 3.0, 5.0, 1.0)
F = Callable[[Any], Any]


def by_vjp() -> F:
    @dt.custom_vjp
    def f(x: Any) -> Any:
        return x * scale.value

    f.defvjp(lambda x: (f(x), scale.value), lambda kept, g: (g * (10 * kept + scale.value),))
    return f


def by_jvp() -> F:
    @dt.custom_jvp
    def f(x: Any) -> Any:
        return x * scale.value

    f.defjvp(lambda p, t: (f(p[0]), 11 * scale.value * t[0]))
    return f


def by_vmap() -> F:
    @dt.custom_batching.custom_vmap
    def f(x: Any) -> Any:
        return x * scale.value

    f.def_vmap(lambda size, batched, x: (7 * scale.value * x, True))
    return f


FORMS: dict[str, Callable[[F], F]] = {
    "as it is": lambda f: f,
    "jit": dt.jit,
    "jit of jit": lambda f: dt.jit(lambda x: dt.jit(f)(x)),
    "cond": lambda f: lambda x: lax.cond(x < 100, f, lambda x: x, x),
    "cond in jit": lambda f: dt.jit(lambda x: lax.cond(x < 100, f, lambda x: x, x)),
    "scan": lambda f: lambda x: lax.scan(lambda c, _: (f(c), None), x, None, length=1)[0],
    "while": lambda f: lambda x: lax.fori_loop(0, 1, lambda i, c: f(c), x),
    "checkpoint": dt.checkpoint,
    "checkpoint of jit": lambda f: dt.checkpoint(dt.jit(f)),
    "jit of checkpoint": lambda f: dt.jit(dt.checkpoint(f)),
    "jit of scan of checkpoint": lambda f: dt.jit(
        lambda x: lax.scan(lambda c, _: (dt.checkpoint(f)(c), None), x, None, length=1)[0]
    ),
}
every_form = pytest.mark.parametrize("form", FORMS.values(), ids=list(FORMS))


def under_each(f: Callable[[], Any]) -> list[Any]:
    result: list[Any] = []
    for value in SCALES:
        with scale(value):
            result.append(f())
    return result


@every_form
def test_backward_rules_follow_the_context_of_the_pullback(form: Any) -> None:
    h = form(by_vjp())
    for forward in (1.0, 2.0):
        with scale(forward):
            value, pullback = dt.vjp(h, 2.0)
        assert value == 2 * forward
        result = under_each(lambda: float(pullback(1.0)[0]))  # noqa: B023
        assert result == [10 * forward + s for s in SCALES]
        assert under_each(lambda: float(dt.jit(pullback)(1.0)[0])) == result  # noqa: B023
        mapped = under_each(lambda: dt.vmap(pullback)(dnp.ones(2))[0].tolist())  # noqa: B023
        assert mapped == [[s, s] for s in result]


@every_form
def test_derivatives_follow_the_context_of_their_call(form: Any) -> None:
    h = form(by_vjp())
    assert under_each(lambda: float(dt.grad(h)(2.0))) == [11 * s for s in SCALES]
    assert under_each(lambda: float(dt.jit(dt.grad(h))(2.0))) == [11 * s for s in SCALES]
    mapped = under_each(lambda: dt.vmap(dt.grad(h))(dnp.ones(2)).tolist())
    assert mapped == [[11 * s, 11 * s] for s in SCALES]
    h = form(by_jvp())
    assert under_each(lambda: float(dt.grad(h)(2.0))) == [11 * s for s in SCALES]
    assert under_each(lambda: float(dt.jvp(h, (2.0,), (1.0,))[1])) == [11 * s for s in SCALES]
    with scale(3.0):
        _, pullback = dt.vjp(h, 2.0)  # the rule has run
        _, linear = dt.linearize(h, 2.0)
    assert under_each(lambda: float(pullback(1.0)[0])) == [33.0] * 4
    assert under_each(lambda: float(linear(1.0))) == [33.0] * 4


@every_form
def test_forward_mode_follows_the_context_in_which_it_is_asked_for(form: Any) -> None:
    """Also where the rule runs when a program of the derivative is evaluated, or mapped."""
    h = form(by_vjp())
    assert under_each(lambda: float(dt.jvp(h, (2.0,), (1.0,))[1])) == [11 * s for s in SCALES]

    def tangent(x: Any) -> Any:
        return dt.jvp(h, (x,), (1.0,))[1]

    for s in (3.0, 1.0):
        with scale(s):
            program = dt.make_jaxpr(tangent)(2.0)
            _, linear = dt.linearize(h, 2.0)
            staged = dt.make_jaxpr(linear)(1.0)
            lowered = dt.jit(tangent).trace(2.0)
        kept, of_linear = jaxpr_as_fun(program), jaxpr_as_fun(staged)
        for call in (
            lambda: kept(2.0)[0], lambda: dt.jit(kept)(2.0)[0],  # noqa: B023
            lambda: dt.vmap(kept)(dnp.full(2, 2.0))[0][1],  # noqa: B023
            lambda: linear(1.0), lambda: dt.jit(linear)(1.0),  # noqa: B023
            lambda: of_linear(1.0)[0], lambda: dt.vmap(of_linear)(dnp.ones(2))[0][1],  # noqa: B023
            lambda: lowered.lower().compile()(2.0),  # noqa: B023
        ):  # fmt: skip
            assert under_each(lambda: float(call())) == [11 * s] * 4  # noqa: B023


@every_form
def test_mapped_programs_follow_the_context_of_their_call(form: Any) -> None:
    h = form(by_vmap())
    assert under_each(lambda: dt.vmap(h)(dnp.ones(2)).tolist()) == [[7 * s] * 2 for s in SCALES]


@every_form
def test_a_program_that_is_kept_follows_the_context_in_which_it_is_transformed(form: Any) -> None:
    program = dt.make_jaxpr(form(by_vjp()))(2.0)
    call = jaxpr_as_fun(program)
    result = under_each(lambda: float(dt.grad(lambda x: call(x)[0])(2.0)))
    assert result == [11 * s for s in SCALES]


@every_form
def test_rules_see_the_precision_of_products(form: Any) -> None:
    seen: list[Any] = []

    @dt.custom_vjp
    def f(x: Any) -> Any:
        return 2 * x

    def backward(_: Any, g: Any) -> Any:
        program = dt.make_jaxpr(dnp.dot)(dnp.ones((2, 2)), dnp.ones((2, 2)))
        seen.append(str(program.eqns[-1].params["precision"]))
        return (g,)

    f.defvjp(lambda x: (f(x), None), backward)
    _, pullback = dt.vjp(form(f), 2.0)
    for precision in ("float32", "bfloat16", "float32"):
        with dt.default_matmul_precision(precision):
            pullback(1.0)
    with dt.default_matmul_precision("tensorfloat32"):
        pullback(1.0)
    result = list(dict.fromkeys(seen))  # what was derived under one is used again
    assert ["HIGHEST" in s for s in result] == [True, False, False]
    assert len(result) == 3


@every_form
def test_rules_see_the_mode_of_64_bit_types(form: Any) -> None:
    @dt.custom_vjp
    def f(x: Any) -> Any:
        return 2 * x

    def backward(_: Any, g: Any) -> Any:
        return (g * (64 if dnp.arange(3.0).dtype == np.float64 else 32),)

    f.defvjp(lambda x: (f(x), None), backward)
    _, pullback = dt.vjp(form(f), np.float32(2.0))
    result: list[Any] = []
    for wide in (False, True, False):
        with enable_x64(wide):
            result.append(float(pullback(np.float32(1.0))[0]))
    assert result == [32, 64, 32]


def test_rules_see_the_names_of_axes_around_the_pullback() -> None:
    @dt.custom_vjp
    def f(x: Any) -> Any:
        return 2 * x

    f.defvjp(lambda x: (f(x), None), lambda _, g: (lax.psum(g, "i"),))
    for form in FORMS.values():
        _, pullback = dt.vjp(form(f), 1.0)
        for n in (3, 4, 3):
            result = dt.vmap(pullback, axis_name="i")(dnp.ones(n))[0]
            assert result.tolist() == [n] * n


def test_threads_have_derived_programs_of_their_own_contexts() -> None:
    h = dt.jit(by_vjp())
    with scale(1.0):
        _, pullback = dt.vjp(h, 2.0)
    begin, result = Barrier(4), dict[float, list[float]]()

    def run(value: float) -> None:
        with scale(value):
            begin.wait(60)
            result[value] = [float(pullback(1.0)[0]) for _ in range(5)]

    threads = [Thread(target=run, args=(float(i),)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert result == {float(i): [10.0 + i] * 5 for i in range(4)}


def test_what_is_derived_is_derived_once_for_each_context() -> None:
    program: ClosedJaxpr = dt.make_jaxpr(lambda x: x)(1.0)
    made: list[float] = []
    for value in (1.0, 2.0, 1.0, 2.0):
        with scale(value):
            assert program.memo("key", lambda: made.append(value) or value) == value  # noqa: B023
            assert program.known("key") == value
    assert made == [1.0, 2.0] and program.known("another key") is None
