"""Tries all that the plugin has: ``python -m acme_api2.checks`` prints ``name: ok`` or an error."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

import dovetail
import dovetail.numpy as dnp
import dovetail_core as core
import dovetail_lax as lax
from dovetail_cli.rules import all_primitives
from dovetail_hooks import Hooks
from dovetail_tree.util import tree_leaves

from . import along, cost
from .cost import api2_counts

X = np.array([0.5, 1.0, 2.0], np.float32)
V = np.array([1.0, -1.0, 0.5], np.float32)
CHECKS: list[Callable[[], None]] = []


def check(f: Callable[[], None]) -> Callable[[], None]:
    CHECKS.append(f)
    return f


def same(result: Any, wanted: Any) -> None:
    for a, b in zip(tree_leaves(result), tree_leaves(wanted), strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-5)


def agree(f: Callable[..., Any]) -> None:
    wanted = dovetail.jvp(f, (X,), (V,))
    same(along(f)(X, V), wanted)
    same(dovetail.jit(along(f))(X, V), wanted)


@check
def the_plugin_is_active() -> None:
    assert core.registry().plugins["api2"].problem == ""
    assert dovetail.api2.along is along and dovetail.api2.cost is cost


@check
def operations() -> None:
    agree(lambda x: dnp.sin(x) * x + 3 * dnp.cos(x)[::-1])
    agree(lambda x: dnp.sum(x * x) * dnp.exp(x))


@check
def loops_and_branches() -> None:
    agree(lambda x: lax.fori_loop(0, 4, lambda i, y: dnp.sin(y) * x, x))
    agree(lambda x: lax.scan(lambda c, y: (c + y, c * y), dnp.float32(1), x)[1])
    agree(lambda x: lax.cond(x[0] < 1, dnp.sin, dnp.cos, x))
    agree(lambda x: lax.while_loop(lambda y: dnp.sum(y) < 50, lambda y: y * y + x, x))


@check
def calls() -> None:
    agree(lambda x: dovetail.jit(lambda y: dovetail.jit(dnp.sin)(y) * y)(x))


@check
def references() -> None:
    def f(x):
        ref = dovetail.new_ref(x)
        ref[0] = x[1] * x[2]
        ref[...] = ref[...] * x
        return ref[...]

    agree(f)


@check
def other_transformations() -> None:
    def f(x):
        return dnp.sin(x) * x

    def second(x):
        return along(f)(x, V)[1]

    wanted = dovetail.jvp(lambda x: dovetail.jvp(f, (x,), (V,))[1], (X,), (V,))
    same(along(second)(X, V), wanted)
    same(dovetail.jvp(second, (X,), (V,)), wanted)
    rows = np.stack([X, X + 1])
    same(dovetail.vmap(lambda x: along(f)(x, V))(rows), dovetail.vmap(
        lambda x: dovetail.jvp(f, (x,), (V,)))(rows))  # fmt: skip
    same(along(lambda x: dovetail.grad(lambda y: dnp.sum(f(y)))(x))(X, V)[1], dovetail.jvp(
        dovetail.grad(lambda y: dnp.sum(f(y))), (X,), (V,))[1])  # fmt: skip


@check
def parameters_of_control_flow() -> None:
    def f(x):
        y = lax.scan(lambda c, a: (c + a, c * a), dnp.float32(0), x)[1]
        y = dovetail.jit(lambda z: dnp.sin(z) + z)(y)
        return lax.cond(x[0] < 1, lambda z: z * z, lambda z: z, y)

    assert cost(dovetail.make_jaxpr(lambda x: lax.sin(x) + x)(X)) == 6
    assert cost(dovetail.make_jaxpr(f)(X)) >= 3 * 2 + 6 + 3
    loop = dovetail.make_jaxpr(lambda x: lax.while_loop(lambda y: y[0] < 3, lambda y: y * y + x, x))
    assert cost(loop(X)) >= 6
    with api2_counts(True):
        assert cost(dovetail.make_jaxpr(lambda x: lax.sin(x) + x)(X)) == 2


@check
def public_modules() -> None:
    program = dovetail.make_jaxpr(lambda x: (dovetail.jit(dnp.sin)(x), dnp.cos(x)))(X)
    names = [e.primitive.name for p in core.programs.walk_programs(program)
             for e in core.programs.open_program(p).eqns]  # fmt: skip
    assert {"sin", "cos", "jit"} <= set(names)
    swapped = core.rewriting.rearrange(program, (0,), (1, 0))
    assert swapped.out_avals == program.out_avals[::-1]
    assert core.dead_code.dce_closed(program, [False, True])[0].eqns[-1].primitive is lax.cos_p
    same(core.evaluation.eval_freeing(program, X)[1], np.cos(X))
    assert core.staging.definition_of(1.0) is None
    assert not core.effects.must_be_kept(frozenset({core.ReadEffect(0)}))
    assert core.axis_names.manual_axes() == {} and core.axis_names.axes_key() == ()
    vma = core.manual_axis_types.vma_of(["x"], [], ["y"])
    assert core.manual_axis_types.axes_of(vma) and core.manual_axis_types.varying_in(vma) == {"x"}
    assert core.type_shardings.without_shardings([X])[0] is X
    assert not core.mutable_values.has_mutable(program)
    aval = core.ShapedArray((3,), "float32")
    assert aval.with_vma(core.manual_axis_types.NO_AXES) is aval.without_sharding() is aval
    assert aval.numpy_dtype() == np.float32 and aval.is_declared_as(aval)


@check
def modules_of_guides() -> None:
    assert all_primitives()["sin"] is lax.sin_p and hasattr(Hooks, "dovetail_traced")


def main() -> None:
    """Run every check, and print its result."""
    for f in CHECKS:
        try:
            f()
        except Exception:
            print(f"{f.__name__}: {traceback.format_exc()}".replace("\n", " | "))
        else:
            print(f"{f.__name__}: ok")


if __name__ == "__main__":
    main()
