"""Branches that some elements of a mapped axis take, while they run on all of them.

Of an element that does not take a branch no cotangent comes out of it, whatever derivatives are
there: what the branch takes is ``taken`` (see ``Algebra``). What all elements share, closed-over
weights say, stays as it is, and so the zero must hold as early as where an operation puts it
together with what is mapped: later, cotangents are sums over elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_core import (
    AbstractValue,
    ClosedJaxpr,
    Eqn,
    Interpreter,
    Jaxpr,
    Literal,
    Primitive,
    ShapedArray,
    Tracer,
    is_inexact,
    jaxpr_as_fun,
    lift_call,
    stage_closed,
    typeof,
)
from dovetail_core.types.algebra import algebra

operation_p = Primitive("branch_operation", multiple_results=True, unlisted=True)
"""branch_operation(*indices, *operands): one operation, a program of itself, in branches within
each other that are taken where each index is its case of ``cases``. It is there from when a branch
is looked at until it is batched."""


@operation_p.def_effectful_abstract_eval
def _operation_type(*args: Any, program: ClosedJaxpr, cases: tuple[int, ...]) -> Any:
    return program.out_avals, program.effects


@operation_p.def_decomposition
def _operation(*args: Any, program: ClosedJaxpr, cases: tuple[int, ...]) -> list[Any]:
    return jaxpr_as_fun(program)(*args[len(cases) :])


def run_branch(
    program: ClosedJaxpr,
    case: int,
    is_mapped: Callable[[Any], bool],
    index: Any,
    args: Sequence[Any],
) -> list[Any]:
    """The results of a branch that is taken where ``index``, which is mapped, is ``case``."""
    args = algebra().taken(index, args, case, False)
    shared = [x for x in args if _may_vary(x) and not is_mapped(x)]
    if not shared and not program.effects:
        return jaxpr_as_fun(program)(*args)
    return jaxpr_as_fun(_apart(program, case, typeof(index)))(index, *args)


def _may_vary(x: Any) -> bool:
    return isinstance(x, Tracer) and _is_inexact(typeof(x))


def _is_inexact(aval: AbstractValue) -> bool:
    return isinstance(aval, ShapedArray) and is_inexact(aval.dtype)


def _varies(v: Any) -> bool:
    return _is_inexact(v.aval)


def _apart(program: ClosedJaxpr, case: int, index: AbstractValue) -> ClosedJaxpr:
    """The program of an index and the inputs, with its operations as :data:`operation_p`;
    remembered with it."""

    def run(index: Any, *args: Any) -> list[Any]:
        return _Operations(index, case).run(program, args)

    def make() -> ClosedJaxpr:
        return stage_closed(run, [index, *program.in_avals], program.jaxpr.name)

    return program.memo(("branch", case, index), make)


class _Operations(Interpreter):
    """Wraps operations that may put together what elements share with what they do not, and says of
    what is read that a branch takes it."""

    def __init__(self, index: Any, case: int) -> None:
        super().__init__()
        self.index, self.case = index, case

    def visit(self, eqn: Eqn, args: list[Any]) -> Any:
        primitive, index = eqn.primitive, self.index
        if primitive is operation_p:
            cases = (self.case, *eqn.params["cases"])
            return primitive.bind(index, *args, program=eqn.params["program"], cases=cases)
        whole = _is_lifted_whole(eqn)
        if primitive.regions is not None and not whole:
            return NotImplemented
        if primitive.stateful and not whole:
            out = primitive.bind(*args, **eqn.params)
            outs = out if primitive.multiple_results else [out]
            return algebra().taken(index, outs, self.case, False)
        values = dict(zip(eqn.invars, args))
        inputs: list[Any] = [v for v in values if v.__class__ is not Literal]
        both = inputs, eqn.outvars
        if eqn.effects or len(inputs) < 2 or not all(any(map(_varies, vs)) for vs in both):
            return NotImplemented
        program = ClosedJaxpr(Jaxpr([], inputs, eqn.outvars, [eqn]))
        operands = [values[v] for v in inputs]
        return operation_p.bind(index, *operands, program=program, cases=(self.case,))


def _is_lifted_whole(eqn: Eqn) -> bool:
    """Whether it is a function with rules of its own, which is not entered."""
    primitive = eqn.primitive
    if primitive.anonymous:
        return True
    if primitive.lift is None or primitive.regions is None:
        return False
    return not primitive.regions(eqn.params).is_loop


def _kind(program: ClosedJaxpr, dims: Sequence[int | None]) -> str:
    """What is to be done that no cotangent of an operand that is shared, and so a sum over all
    elements, has a part of those that do not take the branch, given where operands are mapped.

    Returns: ``"linear"``: nothing but to ``taken`` results, if the derivative does not depend on
        values. ``"multilinear"``: mapped operands that are zero make it zero. ``""``: what is
        shared must be spread over the elements.
    """
    (eqn,) = program.eqns
    at: dict[Any, int] = {v: i for i, v in enumerate(program.jaxpr.invars)}
    inputs = [at.get(v) for v in eqn.invars]
    traits, count, params = eqn.primitive.traits, len(eqn.invars), eqn.params
    inexact = [_is_inexact(v.aval) for v in eqn.invars]
    varying = [k for k, i in enumerate(inputs) if i is not None and inexact[k]]
    if traits.linear_in(varying, count, params) is not None:
        return "linear"
    is_mapped = [i is not None and dims[i] is not None for i in inputs]
    mapped = [k for k in varying if is_mapped[k]]
    others = any(m and not x for m, x in zip(is_mapped, inexact))
    # What is elementwise spreads operands in any case: so do it where its slope is infinite.
    needed = varying if others or traits.elementwise else mapped
    multilinear = bool(mapped) and traits.multilinear_in(needed, count, params) is not None
    return "multilinear" if multilinear else ""


def batch_operation(
    carrier: Any,
    program: ClosedJaxpr,
    cases: Sequence[int],
    args: Sequence[Any],
    dims: Sequence[int | None],
) -> list[Any]:
    """The batched results of an operation in branches."""
    n = len(cases)
    indices, operands, own = list(zip(args[:n], dims)), list(args[n:]), list(dims[n:])
    shared = [i for i, (x, d) in enumerate(zip(operands, own)) if d is None and _may_vary(x)]
    f = jaxpr_as_fun(program)
    if not shared or all(d is None for d in own):
        return lift_call(carrier, f, list(zip(operands, own)))
    kind = _kind(program, own)
    for i in [] if kind else shared:
        operands[i], own[i] = algebra().broadcast(operands[i], carrier.axis.size, 0), 0

    def run(*xs: Any) -> list[Any]:
        def taken(values: Sequence[Any], zeroed: bool) -> Sequence[Any]:
            for index, case in zip(xs, cases):
                values = algebra().taken(index, values, case, zeroed)
            return values

        given = xs[n:] if kind == "linear" else taken(xs[n:], kind == "multilinear")
        return list(taken(f(*given), False))

    return lift_call(carrier, run, [*indices, *zip(operands, own)])
