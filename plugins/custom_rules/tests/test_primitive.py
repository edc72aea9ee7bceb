"""The anonymous primitive itself: its text, rules of any table, late rules, lowering, lifetimes."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp
from dovetail_backends import evaluate
from dovetail_core import (
    Carrier,
    IRError,
    RuleTable,
    check_jaxpr,
    derive,
    lift_call,
    parse_ir,
    print_ir,
    printed_constants,
)
from dovetail_core.rules.tables import generation


def twice() -> Any:
    f = dt.custom(lambda x: dnp.sin(x))
    f.def_jvp(lambda p, t: (f(*p), 2 * dnp.cos(p[0]) * t[0]))
    f.def_vjp(lambda x: (f(x), x), lambda x, ct: (2 * dnp.cos(x) * ct,))
    return f


PROGRAMS: list[Any] = [
    lambda f: lambda x: f(f(x)),
    lambda f: dt.jit(f),
    lambda f: lambda x: dt.jvp(f, (x,), (1.0,))[1],
    lambda f: lambda x: dt.linearize(f, x)[1](1.0),
    lambda f: lambda x: dt.vmap(f)(dnp.stack([x, x])),
    lambda f: dt.grad(f),
]


@pytest.mark.parametrize("made", PROGRAMS)
def test_programs_are_checked_printed_parsed_and_evaluated(made: Any) -> None:
    g = made(twice())
    program = dt.make_jaxpr(g)(0.5)
    check_jaxpr(program)
    text = print_ir(program)
    assert parse_ir(text, printed_constants(program)) == program
    np.testing.assert_allclose(evaluate(program, np.float32(0.5))[0], g(0.5), rtol=1e-5)


def test_the_text_numbers_rows_because_names_need_not_be_unique() -> None:
    f, g = dt.custom(lambda x: x * 1.0), dt.custom(lambda x: x * 2.0)
    program = dt.make_jaxpr(lambda x: (f(x), g(x), f(x)))(1.0)
    text = print_ir(program)
    assert [text.count(f"'<lambda>'#{i}") for i in range(4)] == [1, 1, 1, 0]
    with pytest.raises(IRError, match="constant #0 is not the primitive '<lambda>'"):
        parse_ir(text)


def test_each_call_sees_what_the_function_is_now() -> None:
    class Scale:
        by = 2.0

    scale = Scale()
    f = dt.custom_dce(lambda s, x: (x * s.by, x), static_argnums=0)
    f.def_dce(lambda s, used, x: (x * s.by if used[0] else None, x if used[1] else None))
    for by in (2.0, 3.0):
        scale.by = by
        assert dt.jit(lambda x: f(scale, x)[0])(1.0) == by
        np.testing.assert_allclose(dt.vmap(lambda x: f(scale, x)[0])(np.ones(2)), [by, by])


def test_rules_that_come_late_are_used_by_compiled_callers() -> None:
    f = dt.custom(lambda x: dnp.sin(x))
    slope = dt.jit(dt.grad(f))
    np.testing.assert_allclose(slope(0.5), np.cos(0.5), rtol=1e-6)
    before = generation.value
    f.def_jvp(lambda p, t: (f(*p), 5 * t[0]))
    assert generation.value > before and slope(0.5) == 5.0


def test_a_rule_of_any_table() -> None:
    f = dt.custom(lambda x: dnp.sin(x))
    f.def_rule("ad.jvp", lambda p, t, program: ([dnp.sin(p[0])], [t[0] * 100]))
    for slope in (dt.grad(f), dt.jit(dt.grad(f)), dt.grad(dt.jit(f))):
        assert slope(1.0) == 100.0
    g = dt.custom(lambda x: x * 1.0)
    g.def_rule("eval", lambda x, program: [x + 41.0])
    assert g(1.0) == 42.0


class Pairs(Carrier[Any, Any]):
    """A third party's carrier: two values at once."""

    key = "pairs"

    def __init__(self) -> None:
        self.table: RuleTable[Any] = RuleTable("pairs", derive=derive)

    def trace(self, parent: Any) -> Any:
        from dovetail_core import LiftTrace

        return LiftTrace(parent, self, self.table)  # type: ignore[arg-type]

    def pure(self, x: Any) -> Any:
        return (x, x)

    def aval(self, value: Any) -> Any:
        from dovetail_core import typeof

        return typeof(value[0])

    def structure(self, value: Any, depth: int) -> Any:
        return None

    def join_structures(self, a: Any, b: Any) -> Any:
        return None

    def types(self, aval: Any, structure: Any) -> Any:
        return (aval, aval)

    def arrays(self, value: Any, structure: Any, depth: int) -> Any:
        return value

    def value(self, arrays: Any, structure: Any, depth: int) -> Any:
        return tuple(arrays)

    def known(self, value: Any) -> Any:
        return None


def test_a_table_of_a_third_party_keeps_rules_that_it_does_not_know() -> None:
    """Under it a function stays one primitive, whose dce rule is asked for results of which any
    part is used."""
    from dovetail_core import dce_closed

    seen: list[Any] = []
    f = dt.custom(lambda x: (x * 2.0, x * 3.0))

    @f.def_dce
    def rule(used: Any, x: Any) -> Any:
        seen.append(used)
        return (x * 2.0 if used[0] else None, x * 3.0 if used[1] else None)

    def both(a: Any, b: Any) -> Any:
        carrier = Pairs()
        lift_mul(carrier.table)
        out = lift_call(carrier, lambda x: f(x), [(a, b)])  # type: ignore[arg-type]
        return [*out[0], *out[1]]

    program = dt.make_jaxpr(both)(1.0, 10.0)
    left, _ = dce_closed(program, [False, True, False, False], True)
    assert seen == [(True, False)]
    assert evaluate(left, np.float32(1), np.float32(10)) == [20.0]


@pytest.mark.parametrize("in_axes", [(0, 0), (0, None), (None, None)], ids=str)
def test_a_table_of_a_third_party_keeps_rules_of_batching(in_axes: Any) -> None:
    f = dt.custom(lambda x: x * 2.0)
    f.def_vmap(lambda size, batched, x: (x * 200.0, batched[0]))

    def both(a: Any, b: Any) -> Any:
        carrier = Pairs()
        lift_mul(carrier.table)
        return lift_call(carrier, f, [(a, b)])  # type: ignore[arg-type]

    xs, factor = np.arange(3, dtype=np.float32), 2.0 if in_axes == (None, None) else 200.0
    args = [np.stack([xs, xs]) if axis == 0 else xs for axis in in_axes]
    low, high = dt.vmap(both, in_axes, axis_size=2)(args[0], 10 * args[1])
    np.testing.assert_allclose(low, [xs * factor] * 2)
    np.testing.assert_allclose(high, [10 * xs * factor] * 2)


def lift_mul(table: Any) -> None:
    from dovetail_core import primitives

    mul = primitives()["mul"]
    table.set(mul, lambda carrier, args, params: tuple(
        mul.bind(p, q, **params) for p, q in zip(*args)))  # fmt: skip


def test_lowering() -> None:
    f = dt.custom(lambda x, y: dnp.sin(x) * y)

    @f.def_lower
    def lower(b: Any, x: Any, y: Any) -> Any:
        return [b.op("stablehlo.cosine", [x], x.aval)]

    assert f(0.0, 2.0) == 1.0 and dt.jit(f)(0.0, 2.0) == 1.0
    np.testing.assert_allclose(
        dt.vmap(f, (0, None))(np.ones(2), 2.0), 2 * np.sin([1, 1]), rtol=1e-6
    )
    np.testing.assert_allclose(dt.grad(f)(0.0, 2.0), 2.0)


def test_what_a_checkpointed_caller_keeps() -> None:
    def sines(keep: Any, policy: Any) -> int:
        f = dt.custom(lambda x: dnp.sin(x))
        f.def_remat(keep)
        g = dt.checkpoint(lambda x: dnp.cos(f(x)) * x, policy=policy)
        np.testing.assert_allclose(
            dt.grad(g)(0.5),
            np.cos(np.sin(0.5)) - 0.5 * np.sin(np.sin(0.5)) * np.cos(0.5),
            rtol=1e-5,
        )
        return str(dt.make_jaxpr(lambda x: dt.vjp(g, x)[1](1.0))(0.5)).count("= sin ")

    nothing = dt.checkpoint_policies.nothing_saveable
    asked: list[Any] = []

    def ask(policy: Any, aval: Any) -> bool:
        asked.append((policy, aval.shape))
        return False

    assert sines(lambda policy, aval: True, nothing) + 1 == sines(ask, nothing)
    assert (nothing, ()) in asked


def test_programs_do_not_outlive_the_function() -> None:
    f = twice()
    program = dt.make_jaxpr(dt.grad(f))(1.0)
    alive = weakref.ref(f.rules)
    del f, program
    gc.collect()
    dt.clear_caches()
    gc.collect()
    assert alive() is None


def test_a_call_does_not_keep_its_arguments() -> None:
    f = twice()
    x = dnp.ones(3)
    dt.vmap(dt.grad(f))(x)
    dt.jit(f)(x)
    alive = weakref.ref(x)
    del x
    gc.collect()
    assert alive() is None


def test_names_and_documentation_are_the_functions() -> None:
    def documented(x: Any) -> Any:
        """What it does."""
        return x

    f = dt.custom_jvp(documented)
    assert f.__name__ == "documented" and f.__doc__ == "What it does."
    assert f.__wrapped__ is documented and repr(f) == "<custom_jvp documented>"
    assert repr(dt.custom(f)) == "<custom documented>"
