"""Tries all that the plugin has: ``python -m acme_api1.checks`` prints ``name: ok`` or an error."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

import dovetail
import dovetail.numpy as dnp
import dovetail_core as core
import dovetail_lax as lax
from dovetail_core.testing import all_laws

from . import Pair, depends, hooks, rotate
from .machinery import LEDGER, api1_sines
from .pair import PairType
from .primitives import both_p, first_p, note_p, pack_p, run_p, square_p
from .rules.stablehlo import compared, negated
from .samples import samples

X = np.array([1.0, 2.0, 4.0], np.float32)
CHECKS: list[Callable[[], None]] = []


def check(f: Callable[[], None]) -> Callable[[], None]:
    CHECKS.append(f)
    return f


def same(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-6)


@check
def the_plugin_is_active() -> None:
    assert "api1" in core.registry().active
    assert core.registry().provider("api1_ledger") is LEDGER
    assert dovetail.api1.rotate is rotate and dovetail.lax.api1_rotate is rotate
    assert dovetail.api1_depends is depends


@check
def a_primitive_with_rules() -> None:
    same(rotate(X), [4, 1, 2])
    same(dovetail.jit(rotate, static_argnums=1)(X, -1), [2, 4, 1])
    same(dovetail.jit(rotate, backend="reference")(X), [4, 1, 2])
    same(dovetail.grad(lambda x: (rotate(x) * X).sum())(X), [2, 4, 1])
    same(dovetail.jvp(rotate, (X,), (X,))[1], [4, 1, 2])
    same(dovetail.vmap(rotate)(np.stack([X, X + 1])), [[4, 1, 2], [5, 2, 3]])
    same(dovetail.vmap(rotate, in_axes=1)(np.stack([X, X + 1], 1)), [[4, 1, 2], [5, 2, 3]])


@check
def laws_of_other_tables() -> None:
    tables = ("ad.jvp", "ad.transpose", "batching.batch", "backends.stablehlo")
    for _, table, law in all_laws():
        for sample in samples():
            if table in tables and law.speaks_of(sample):
                law(sample)


@check
def errors_name_the_line() -> None:
    try:
        rotate(1.0)
    except TypeError as e:
        assert str(e).startswith("rotate takes a vector, got f32[]") and " at " in str(e)
    else:
        raise AssertionError("rotate takes a number")


@check
def a_decomposition() -> None:
    same(dovetail.jit(dovetail.grad(lambda x: square_p.bind(x).sum()))(X), 2 * X)


@check
def a_region() -> None:
    program = core.stage_closed(lambda x: [square_p.bind(x)], [core.ShapedArray((), "float32")])

    def f(x):
        return run_p.bind(x, program=program)[0]

    same(dovetail.vmap(dovetail.grad(f))(X), 2 * X)
    interface = run_p.regions({"program": program})
    assert interface.operands == (core.Kind.CONSTANT,) and not interface.is_loop
    operands, results = core.slots_of(interface, [X[0]])
    part = core.Part(program, operands, results)
    made = core.assemble(interface.rebuild, [part], operands, results)
    same(made.bind(run_p)[results[0]], 1)


@check
def a_transformation() -> None:
    def f(x, y):
        return [lax.fori_loop(0, 3, lambda i, z: z + x, 1.0), dovetail.jit(lax.sin)(y), lax.sign(x)]

    assert depends(f)(1.0, 2.0, marked=[True, False]) == [True, False, False]
    for _, table, law in all_laws():
        if table == "api1.depends":
            for sample in samples():
                if law.speaks_of(sample):
                    law(sample)


@check
def a_high_type() -> None:
    def f(pair):
        return pack_p.bind(first_p.bind(pair) * 2, first_p.bind(pair))

    pair = Pair(dnp.asarray(X), dnp.asarray(X) + 1)
    found = dovetail.jit(f)(pair)
    assert isinstance(found, Pair)
    same(found.first, 2 * X)
    same(f(pair).second, X)
    program = core.stage_closed(lambda p: [f(p)], [PairType((3,))])
    low = core.lower_to_lo(program)
    assert program.jaxpr.is_high and not low.jaxpr.is_high and len(low.out_avals) == 2
    assert core.with_leading(PairType((3,)), 2) == PairType((2, 3))


@check
def a_pass_and_an_option() -> None:
    f = dovetail.jit(lambda x: lax.sin(x) + 0)
    same(f(0.0), 0)
    with api1_sines(True):
        same(f(0.0), 1)
    dovetail.config.update("api1_sines", False)
    same(f(0.0), 0)


@check
def hooks_are_called() -> None:
    def hooked(x):
        return lax.cos(x) * 3

    dovetail.jit(hooked)(X)
    assert {"traced hooked", "lowered hooked", "compiled hooked"} <= set(hooks.SEEN)


@check
def an_effect() -> None:
    LEDGER.clear()

    def f(x):
        note_p.bind(x)
        note_p.bind(x + 1)
        return x

    dovetail.block_until_ready(dovetail.jit(f)(1.0))
    assert LEDGER == [1.0, 2.0]


@check
def a_backend() -> None:
    same(dovetail.jit(lambda x: lax.sin(x) * 2, backend="api1")(X), np.sin(X) * 2)


@check
def lowering_in_both_styles() -> None:
    table = core.registry().table("backends.stablehlo")
    negate_p, less_p = core.Primitive("api1.negate"), core.Primitive("api1.less")
    negate_p.def_abstract_eval(lambda x: x)
    less_p.def_abstract_eval(lambda x, y: x.update(dtype=np.bool_))
    table.register(negate_p)(negated)
    table.register(less_p)(lambda b, x, y: compared(b, x, y, "LT"))
    same(dovetail.jit(negate_p.bind)(X), -X)
    same(less_p.bind(X, X[::-1].copy()), X < X[::-1])


@check
def dead_code_and_text() -> None:
    aval = core.ShapedArray((3,), "float32")
    program = core.stage_closed(lambda x, y: both_p.bind(x, y), [aval, aval])
    assert core.dce_closed(program, [True, False])[1] == [True, False]
    assert core.parse_ir(core.print_ir(program), core.printed_constants(program)) == program
    core.check_jaxpr(program)


@check
def an_interpreter() -> None:
    class Count(core.Interpreter):
        def visit(self, eqn, args):
            if eqn.primitive is lax.sin_p:
                self.state = [lax.add(self.state[0], 1)]
            return NotImplemented

    def f(x):
        return lax.fori_loop(0, 4, lambda i, y: lax.sin(y), x)

    count = Count([0])
    count.run(dovetail.make_jaxpr(f)(1.0), [1.0])
    same(count.state[0], 4)


@check
def a_trace_and_an_axis() -> None:
    class Counting(core.Trace):
        what, count = "counting", 0

        def process(self, primitive, args, params):
            self.count += 1
            return self.parent.process(primitive, args, params)

    counting = Counting(core.get_trace())
    core.run_under(counting, lambda: square_p.bind(2.0))
    assert counting.count == 1 and core.get_trace() is core.EVAL
    with core.bound_axis("rows", 3):
        assert core.axis_size_of("rows") == 3 and core.axis_env() == (("rows", 3),)


def main() -> None:
    """Run every check, and say how it went."""
    for f in CHECKS:
        try:
            f()
        except Exception:
            print(f"{f.__name__}: {traceback.format_exc()}".replace("\n", " | "))
        else:
            print(f"{f.__name__}: ok")


if __name__ == "__main__":
    main()
