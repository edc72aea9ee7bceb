"""Interpreters on toy primitives: what is visited, replaced, threaded, collected, supplied."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dovetail_core import (
    CONTROL,
    ClosedJaxpr,
    Interpreter,
    Kind,
    Primitive,
    Region,
    RegionInterface,
    ShapedArray,
    check_jaxpr,
    def_impl,
    eval_jaxpr,
    interpret,
    jaxpr_as_fun,
    stage,
    stage_closed,
)
from dovetail_core.types import algebra as algebras
from dovetail_testing.toy import EMITTED, add_p, cos_p, emit_p, less_p, mul_p, neg_p, sin_p
from dovetail_testing.toy_control import call_p, cond_p, scan_p, while_p

F32, I32 = ShapedArray((), np.float32), ShapedArray((), np.int32)
f32 = np.float32
XS = np.array([0.5, 1.0, 1.5], f32)


class Algebra:
    """The two operations that interpreters ask for."""

    def full(self, aval: Any, value: Any) -> Any:
        return np.full(aval.shape, value, aval.dtype)[()]

    def convert(self, x: Any, aval: Any) -> Any:
        return aval.dtype.type(x)


@pytest.fixture(autouse=True)
def algebra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(algebras, "_provider", [Algebra()])


class Probe(Interpreter):
    """Counts sines; collects operands of negations, or puts something in the place of these."""

    def visit(self, eqn: Any, args: list[Any]) -> Any:
        if eqn.primitive is sin_p:
            self.state = [add_p.bind(self.state[0], np.int32(1))]
        if eqn.primitive is neg_p:
            if "n" in self.supplied:
                return [self.supply("n")]
            self.collect("n", args[0])
        return NotImplemented


def probed(f: Any, *args: Any, supplied: Any = None) -> Any:
    """The results, the count, and what was collected; also if all of it is staged and run."""

    def run(*xs: Any) -> list[Any]:
        probe = Probe([np.int32(0)])
        probe.supplied = dict(supplied or {})
        outs = probe.call(f, *xs)
        names[:] = probe.collected
        return [*outs, probe.state[0], *probe.collected.values()]

    names: list[Any] = []
    result = run(*args)
    avals = [ShapedArray(np.shape(x), np.asarray(x).dtype) for x in args]
    jaxpr, consts = stage(run, avals)
    check_jaxpr(ClosedJaxpr(jaxpr, consts))
    for x, y in zip(result, eval_jaxpr(jaxpr, consts, *args)):
        np.testing.assert_array_equal(x, y)
    n = len(result) - len(names) - 1
    return result[:n], result[n], dict(zip(names, result[n + 1 :]))


def same(result: Any, outs: Any, count: int, **collected: Any) -> None:
    assert len(result[0]) == len(outs) and result[1] == count and set(result[2]) == set(collected)
    for x, y in zip([*result[0], *result[2].values()], [*outs, *(collected[n] for n in result[2])]):
        np.testing.assert_allclose(x, y, rtol=1e-6)


def double(x: Any) -> Any:
    return mul_p.bind(x, f32(2))


def scan(f: Any, consts: list[Any], carry: list[Any], xs: list[Any]) -> Any:
    avals = [F32] * (len(consts) + len(carry) + len(xs))
    program = stage_closed(f, avals)
    sizes = {"consts": len(consts), "carry": len(carry), "length": len(XS)}
    return scan_p.bind(*consts, *carry, *xs, program=program, **sizes)


def test_interpret_replaces_operations_at_any_depth() -> None:
    inner = stage_closed(lambda x: [sin_p.bind(x)], [F32])
    program = stage_closed(lambda x: [sin_p.bind(call_p.bind(x, program=inner)[0])], [F32])
    visit = lambda eqn, args: [cos_p.bind(*args)] if eqn.primitive is sin_p else NotImplemented  # noqa: E731
    (result,) = interpret(program, [f32(0.5)], visit)
    np.testing.assert_allclose(result, np.cos(np.cos(f32(0.5))), rtol=1e-6)


def test_what_does_not_change_stays_the_same_program() -> None:
    inner = stage_closed(lambda x: [cos_p.bind(x)], [F32])
    seen: list[Any] = []

    def run(x: Any) -> list[Any]:
        program = stage_closed(lambda x: call_p.bind(x, program=inner), [F32])
        return interpret(
            program, [x], lambda eqn, args: seen.append(eqn.primitive) or NotImplemented
        )

    jaxpr, _ = stage(run, [F32])
    assert jaxpr.eqns[0].params["program"] is inner and seen == [call_p, cos_p]


def test_calls() -> None:
    inner = stage_closed(lambda x: [neg_p.bind(sin_p.bind(x))], [F32])
    s = np.sin(f32(0.5))
    f = lambda x: call_p.bind(x, program=inner)  # noqa: E731
    same(probed(f, f32(0.5)), [-s], 1, n=s)
    same(probed(f, f32(0.5), supplied={"n": f32(7)}), [7], 1)


def test_scan() -> None:
    def step(c: Any, k: Any, x: Any) -> list[Any]:
        k = neg_p.bind(add_p.bind(sin_p.bind(k), mul_p.bind(c, x)))
        return [k, double(k)]

    f = lambda c, k, xs: scan(step, [c], [k], [xs])  # noqa: E731
    k, ns = f32(0.25), []
    for x in XS:
        ns.append(np.sin(k) + f32(3) * x)
        k = -ns[-1]
    ns = np.array(ns)
    same(probed(f, f32(3), f32(0.25), XS), [k, -2 * ns], 3, n=ns)
    given = np.array([1.0, 2.0, 5.0], f32)
    same(probed(f, f32(3), f32(0.25), XS, supplied={"n": given}), [5, 2 * given], 3)


def test_nested_scans_stack_and_slice_twice() -> None:
    def inner(k: Any, x: Any) -> list[Any]:
        return [neg_p.bind(add_p.bind(k, x))]

    f = lambda k, xs: scan(lambda k, x: scan(inner, [], [add_p.bind(k, x)], [XS]), [], [k], [xs])  # noqa: E731
    k, ns = f32(0), np.zeros((3, 3), f32)
    for i, y in enumerate(XS):
        k = k + y
        for j, x in enumerate(XS):
            ns[i, j] = k + x
            k = -ns[i, j]
    same(probed(f, f32(0), XS), [k], 0, n=ns)
    same(probed(f, f32(0), XS, supplied={"n": np.cos(ns)}), [np.cos(ns[2, 2])], 0)


def loop(body: Any, condition: Any, x: Any) -> Any:
    programs = [stage_closed(g, [F32]) for g in (condition, body)]
    return while_p.bind(x, cond=programs[0], body=programs[1])


def test_open_ended_loops_keep_what_was_collected_last() -> None:
    body = lambda k: [neg_p.bind(neg_p_of(add_p.bind(sin_p.bind(k), k)))]  # noqa: E731
    neg_p_of = lambda x: mul_p.bind(x, f32(-1))  # noqa: E731
    f = lambda x: loop(body, lambda k: [less_p.bind(k, f32(2))], x)  # noqa: E731
    k, n, count = f32(0.5), f32(0), 0
    while k < 2:
        k, count = np.sin(k) + k, count + 1
        n = -k
    same(probed(f, f32(0.5)), [k], count, n=n)
    same(probed(f, f32(4)), [4], 0, n=0)


def test_conditions_run_ahead() -> None:
    condition = lambda k: [less_p.bind(neg_p.bind(sin_p.bind(k)), f32(-0.3))]  # noqa: E731
    f = lambda x: loop(lambda k: [mul_p.bind(sin_p.bind(k), f32(0.5))], condition, x)  # noqa: E731
    k, count = f32(1.5), 1
    while -np.sin(k) < -0.3:
        k, count = np.sin(k) * f32(0.5), count + 2
    same(probed(f, f32(1.5)), [k], count, n=np.sin(k))
    same(probed(f, f32(0)), [0], 1, n=0)


def test_conditions_in_which_operations_are_replaced() -> None:
    f = lambda x: loop(lambda k: [double(k)], lambda k: [less_p.bind(neg_p.bind(k), f32(5))], x)  # noqa: E731
    visit = lambda eqn, args: args if eqn.primitive is neg_p else NotImplemented  # noqa: E731
    assert interpret(stage_closed(f, [F32]), [f32(1)], visit) == [8]


three_p = Primitive("test.three", multiple_results=True)
three_p.def_abstract_eval(lambda *avals, programs: list(avals))


@three_p.def_regions
def _three(params: Any) -> RegionInterface:
    """A condition, and two bodies one after the other."""
    condition, one, two = params["programs"]
    return RegionInterface(
        (Region(condition, (0,), (CONTROL,)), Region(one, (0,), (0,)), Region(two, (0,), (0,))),
        (Kind.CARRIED,),
        (Kind.CARRIED,),
        lambda programs, _: {"programs": tuple(programs)},
        runs="in turn",
    )


def test_a_condition_of_several_bodies_cannot_run_ahead() -> None:
    body = stage_closed(lambda x: [double(x)], [F32])
    condition = stage_closed(lambda x: [less_p.bind(sin_p.bind(x), f32(0))], [F32])
    wanted = (
        r"an interpretation cannot go through test\.three at .*test_interpreter\.py:\d+ .*: its "
        r"condition would have to change the state or to collect, and which body is last is not "
        r"known\. Use a loop whose iterations run in turn, or leave it out \(visit\)\."
    )
    with pytest.raises(TypeError, match=wanted):
        probed(lambda x: three_p.bind(x, programs=(condition, body, body)), f32(1))


def test_branches() -> None:
    branches = [
        stage_closed(lambda x: [sin_p.bind(sin_p.bind(x))], [F32]),
        stage_closed(lambda x: [neg_p.bind(x)], [F32]),
    ]
    f = lambda i, x: cond_p.bind(i, x, branches=tuple(branches))  # noqa: E731
    same(probed(f, np.int32(0), f32(0.5)), [np.sin(np.sin(f32(0.5)))], 2, n=0)
    same(probed(f, np.int32(1), f32(0.5)), [-0.5], 0, n=0.5)


def test_types_of_branches_must_agree() -> None:
    one = stage_closed(lambda x, n: [x, neg_p.bind(n)], [F32, I32])
    two = stage_closed(lambda x, n: [neg_p.bind(x), n], [F32, I32])
    f = lambda i, x: cond_p.bind(i, x, np.int32(1), branches=(one, two))  # noqa: E731
    wanted = r"'n' is collected as i32\[\] and, in another branch, as f32\[\] at .*test_interpreter"
    with pytest.raises(TypeError, match=wanted):
        probed(f, np.int32(0), f32(0.5))


def test_a_state_that_is_only_read_is_a_constant() -> None:
    class Scale(Interpreter):
        def visit(self, eqn: Any, args: list[Any]) -> Any:
            is_sine = eqn.primitive is sin_p
            return [mul_p.bind(args[0], self.state[0])] if is_sine else NotImplemented

    step = lambda k, x: [add_p.bind(sin_p.bind(k), x)]  # noqa: E731
    run = lambda s, k: Scale([s]).call(lambda k: scan(step, [], [k], [XS]), k)  # noqa: E731
    assert run(f32(2), f32(1)) == [1 * 8 + 0.5 * 4 + 1 * 2 + 1.5]
    jaxpr, _ = stage(run, [F32, F32])
    assert (jaxpr.eqns[-1].params["carry"], jaxpr.eqns[-1].params["consts"]) == (1, 1)


ordered_p = Primitive("test.any_order", multiple_results=True)


@ordered_p.def_regions
def _regions(params: Any) -> RegionInterface:
    program: ClosedJaxpr = params["program"]
    n = len(program.in_avals)
    consts = params["consts"]
    outs = len(program.out_avals)

    def rebuild(programs: Any, operands: Any) -> Any:
        return {
            "program": programs[0],
            "consts": sum(x.kind is Kind.CONSTANT for x in operands),
            "length": params["length"],
        }

    return RegionInterface(
        (Region(program, tuple(range(n)), tuple(range(outs))),),
        (*[Kind.CONSTANT] * consts, *[Kind.SLICED] * (n - consts)),
        (Kind.STACKED,) * outs,
        rebuild,
        runs="in any order",
        length=params["length"],
        title="map_anyhow",
    )


@ordered_p.def_effectful_abstract_eval
def _type(*avals: Any, program: ClosedJaxpr, consts: int, length: int) -> Any:
    return [a.update(shape=(length, *a.shape)) for a in program.out_avals], program.effects  # type: ignore[attr-defined]


def _map(*args: Any, program: ClosedJaxpr, consts: int, length: int) -> Any:
    rows = [
        jaxpr_as_fun(program)(*args[:consts], *(x[i] for x in args[consts:]))
        for i in reversed(range(length))
    ]
    return [np.array(column[::-1]) for column in zip(*rows)]


def test_loops_in_any_order() -> None:
    def_impl(ordered_p)(_map)
    quiet = stage_closed(lambda x: [neg_p.bind(double(x))], [F32])
    f = lambda xs: ordered_p.bind(xs, program=quiet, consts=0, length=3)  # noqa: E731
    same(probed(f, XS), [-2 * XS], 0, n=2 * XS)
    same(probed(f, XS, supplied={"n": np.cos(XS)}), [np.cos(XS)], 0)
    loud = stage_closed(lambda x: [sin_p.bind(x)], [F32])
    wanted = (
        r"an interpretation cannot go through map_anyhow at .*test_interpreter\.py:\d+ .*: its "
        r"iterations run in any order, so that none comes next. Use a loop whose iterations run in "
        r"turn, or leave it out \(visit\)\."
    )
    with pytest.raises(TypeError, match=wanted):
        probed(lambda xs: ordered_p.bind(xs, program=loud, consts=0, length=3), XS)


def test_effects_happen_once() -> None:
    def step(k: Any, x: Any) -> list[Any]:
        emit_p.bind(k)
        return [neg_p.bind(add_p.bind(sin_p.bind(k), x))]

    EMITTED.clear()
    Probe([np.int32(0)]).call(lambda k: scan(step, [], [k], [XS]), f32(0.5))
    assert len(EMITTED) == 3


def custom(program_of: Any) -> Any:
    """An anonymous primitive around a program: what its author says of it is for that program."""
    primitive = Primitive("custom", multiple_results=True, anonymous=True)
    primitive.def_abstract_eval(lambda *avals, program: program.out_avals)
    primitive.def_regions(call_p.regions)
    primitive.rules = {"eval": lambda *args, program: jaxpr_as_fun(program)(*args)}
    program = stage_closed(program_of, [F32])
    return primitive, lambda x: primitive.bind(x, program=program)


@pytest.mark.parametrize("looks", [False, True])
def test_functions_with_custom_rules(looks: bool) -> None:
    class Look(Probe):
        keeps_results = looks

    def staged(f: Any) -> Any:
        return stage(lambda x: Look([np.int32(0)]).call(f, x), [F32])[0]

    quiet, f = custom(lambda x: [cos_p.bind(x)])
    assert [e.primitive for e in staged(f).eqns] == [quiet]
    loud, g = custom(lambda x: [neg_p.bind(sin_p.bind(x))])
    result = [e.primitive for e in staged(g).eqns]
    assert (loud in result) == looks and sin_p in result
    s = np.sin(f32(0.5))
    same(probed(g, f32(0.5)), [-s], 1, n=s)


def test_regions_are_visited_once() -> None:
    seen: list[Any] = []
    _, f = custom(lambda x: [sin_p.bind(x)])
    for _ in range(4):
        _, f = custom(lambda x, f=f: f(x))

    def visit(eqn: Any, args: list[Any]) -> Any:
        seen.append(eqn.primitive)
        return [cos_p.bind(*args)] if eqn.primitive is sin_p else NotImplemented

    result = interpret(stage_closed(f, [F32]), [f32(0.5)], visit)
    np.testing.assert_allclose(result, [np.cos(f32(0.5))], rtol=1e-6)
    assert seen.count(sin_p) == 1


def test_equations_keep_their_lines() -> None:
    def step(k: Any, x: Any) -> list[Any]:
        k = sin_p.bind(k)
        return [add_p.bind(k, cos_p.bind(x))]

    def lines(jaxpr: Any) -> dict[str, int]:
        inner = jaxpr.eqns[-1].params["program"].jaxpr
        return {e.primitive.name: e.source.line for e in inner.eqns if e.primitive is not add_p}

    f = lambda k: scan(step, [], [k], [XS])  # noqa: E731
    before, _ = stage(f, [F32])
    after, _ = stage(lambda k: Probe([np.int32(0)]).call(f, k), [F32])
    assert lines(before) == lines(after) and len(set(lines(before).values())) == 2


def test_numbers_collected_are_arrays_of_strong_types() -> None:
    class Numbers(Interpreter):
        def visit(self, eqn: Any, args: list[Any]) -> Any:
            self.state = [1.0]
            if eqn.primitive is sin_p:
                self.collect("one", 1.0)
            return NotImplemented

    inner = stage_closed(lambda x: [sin_p.bind(x)], [F32])
    numbers = Numbers([0.0])
    numbers.call(lambda x: scan(lambda k, y: call_p.bind(k, program=inner), [], [x], [XS]), f32(0))
    assert numbers.state[0].dtype == f32
    np.testing.assert_array_equal(numbers.collected["one"], np.ones(3, f32))


class Other(Interpreter):
    """Whose visit is a function."""

    def __init__(self, visit: Any, state: Any = ()) -> None:
        super().__init__(state)
        self.by = visit

    def visit(self, eqn: Any, args: list[Any]) -> Any:
        return self.by(self, eqn, args)


def change_type(self: Any, eqn: Any, args: Any) -> Any:
    if eqn.primitive is sin_p:
        self.state = [np.zeros(2, np.int32)]
    return NotImplemented


def grow(self: Any, eqn: Any, args: Any) -> Any:
    self.state = [*self.state, 1]
    return NotImplemented


def to_integers(self: Any, eqn: Any, args: Any) -> Any:
    return [np.int32(1)] if eqn.primitive is sin_p else NotImplemented


ERRORS = [
    (lambda self, eqn, args: [1, 2], r"visit: 'toy.sin' at .*py:\d+.* has 1 results, 2 returned"),
    (
        lambda self, eqn, args: args[0],
        r"visit: 'toy.sin' at .* has 1 results, float32 returned. Re",
    ),
    (grow, r"the state has 2 values at .*test_interpreter.py.*, before 1\."),
]


@pytest.mark.parametrize(("visit", "message"), ERRORS)
def test_errors_of_visit(visit: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Other(visit, [np.int32(0)]).call(sin_p.bind, f32(1))


def test_errors_of_loops() -> None:
    f = lambda x: scan(lambda k, y: [sin_p.bind(k)], [], [x], [XS])  # noqa: E731
    wanted = r"the state .* changes its type from i32\[\] to i32\[2\] at .*py.*In calls, branches"
    with pytest.raises(TypeError, match=wanted):
        Other(change_type, [np.int32(0)]).call(f, f32(1))
    wanted = r"in toy.scan at .*py.* an interpretation makes i32\[\] of a loop variable of type f32"
    with pytest.raises(TypeError, match=wanted):
        Other(to_integers).call(f, f32(1))
    f = lambda x: scan(lambda k, y: [neg_p.bind(k)], [], [x], [XS])  # noqa: E731
    wanted = r"'n' is supplied to toy.scan at .*py.* as f32\[2\], and each of its 3 iterations"
    with pytest.raises(ValueError, match=wanted):
        probed(f, f32(1), supplied={"n": XS[:2]})


def test_errors_of_names_and_arguments() -> None:
    with pytest.raises(
        ValueError, match=r"'n' is collected a second time at .*test_interpreter.*py"
    ):
        probed(lambda x: [neg_p.bind(neg_p.bind(x))], f32(1))
    with pytest.raises(TypeError, match="the program takes 1 inputs, 2 given"):
        interpret(stage_closed(lambda x: [x], [F32]), [1, 2], lambda *_: NotImplemented)
    with pytest.raises(KeyError, match="'m'"):
        Probe().supply("m")


class Count(Interpreter):
    """Counts how often regions run, by the copies that go through them; takes `emit` out."""

    keeps_results = True
    consumed = frozenset({emit_p})

    def enter(self, interface: RegionInterface, n: int) -> None:
        self.state = [add_p.bind(self.state[0], np.int32(1))]

    def visit(self, eqn: Any, args: list[Any]) -> Any:
        return [] if eqn.primitive is emit_p else NotImplemented


def test_regions_say_when_they_begin() -> None:
    step = lambda k, x: [call_p.bind(k, program=inner)[0]]  # noqa: E731
    inner = stage_closed(lambda k: [sin_p.bind(k)], [F32])
    count = Count([np.int32(0)])
    (result,) = count.call(lambda k: scan(step, [], [k], [XS]), f32(0.5))
    assert count.state[0] == 2 * len(XS), "a loop's body, and the call in it"
    np.testing.assert_allclose(result, np.sin(np.sin(np.sin(f32(0.5)))), rtol=1e-6)


def test_functions_with_custom_rules_keep_them_without_what_is_consumed() -> None:
    def body(x: Any) -> list[Any]:
        emit_p.bind(x)
        return [sin_p.bind(x)]

    primitive = Primitive("custom", multiple_results=True, anonymous=True)
    primitive.def_effectful_abstract_eval(
        lambda *avals, program: (program.out_avals, program.effects)
    )
    primitive.def_regions(call_p.regions)
    program = stage_closed(body, [F32])
    f = lambda x: primitive.bind(x, program=program)  # noqa: E731
    jaxpr, _ = stage(lambda x: Count([np.int32(0)]).call(f, x), [F32])
    kept = [e for e in jaxpr.eqns if e.primitive is primitive]
    assert len(kept) == 1 and not kept[0].effects
    assert not any(e.primitive is emit_p for e in jaxpr.eqns)


def test_effects_that_are_not_consumed_happen_once_in_functions_with_custom_rules() -> None:
    class Look(Interpreter):
        keeps_results = True

        def visit(self, eqn: Any, args: list[Any]) -> Any:
            if eqn.primitive is sin_p:
                self.state = [add_p.bind(self.state[0], np.int32(1))]
            return NotImplemented

    def body(x: Any) -> list[Any]:
        emit_p.bind(x)
        return [sin_p.bind(x)]

    _, f = custom(body)
    EMITTED.clear()
    Look([np.int32(0)]).call(f, f32(0.5))
    assert len(EMITTED) == 1
