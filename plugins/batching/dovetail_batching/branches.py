"""Branches of a mapped predicate, which run on all elements and are selected from afterwards.

The cotangents that leave a branch must be zero for elements that do not take it, whatever its
derivatives are: its operands go through ``taken`` (see ``Algebra``). Values shared by all elements,
such as closed-over weights, stay unmapped. Their cotangents are sums over elements, so ``taken``
must be applied earlier: to the operands of each operation that combines shared and mapped values.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

from dovetail_base.scopes import run_with
from dovetail_core import (
    CONTROL,
    AbstractValue,
    ClosedJaxpr,
    Eqn,
    Interpreter,
    Jaxpr,
    Kind,
    Literal,
    Part,
    Primitive,
    RegionInterface,
    ShapedArray,
    Slot,
    Tracer,
    algebra,
    assemble,
    eval_jaxpr,
    is_inexact,
    jaxpr_as_fun,
    lift_call,
    slots_of,
    stage_closed,
    typeof,
)

operation_p = Primitive("branch_operation", multiple_results=True, unlisted=True)
"""branch_operation(*indices, *operands): one operation, as a program of one equation, in nested
branches that are taken where each index equals its entry of ``cases``. It exists only while a
branch is batched."""


@operation_p.def_effectful_abstract_eval
def _operation_type(*args: Any, program: ClosedJaxpr, cases: tuple[int, ...]) -> Any:
    return program.out_avals, program.effects


@operation_p.def_decomposition
def _operation(*args: Any, program: ClosedJaxpr, cases: tuple[int, ...]) -> list[Any]:
    return jaxpr_as_fun(program)(*args[len(cases) :])


_enclosing: ContextVar[Sequence[tuple[tuple[Any, Any], int]]] = ContextVar(
    "dovetail_enclosing_branches", default=()
)
"""The branches that enclose the one being batched: for each its index, batched, and its case."""


def run_branch(program: ClosedJaxpr, case: int, index: Any, *args: Any) -> Sequence[Any]:
    """The results of a branch, taken where ``index``, which is mapped, equals ``case`` and the
    enclosing branches are taken."""
    enclosing, trace, tracer = _enclosing.get(), index._trace, index.__class__
    for outer, its_case in enclosing:
        index = algebra().within(trace.lift(outer), its_case, index)
    given = algebra().taken(index, args, case, False)
    mapped = [x.__class__ is tracer and x._trace is trace for x in given]
    if program.effects or any(_may_vary(x) and not m for x, m in zip(given, mapped)):
        wrapped = _with_branch_operations(program, case, typeof(index))
        if wrapped is not None:
            program, given = wrapped, [index, *given]
    if enclosing:
        return run_with(_enclosing, (), eval_jaxpr, program.jaxpr, program.consts, *given)
    return eval_jaxpr(program.jaxpr, program.consts, *given)


def _may_vary(x: Any) -> bool:
    return isinstance(x, Tracer) and _is_inexact(typeof(x))


def _is_inexact(aval: AbstractValue) -> bool:
    return isinstance(aval, ShapedArray) and is_inexact(aval.dtype)


def _varies(v: Any) -> bool:
    return _is_inexact(v.aval)


def _with_branch_operations(
    program: ClosedJaxpr, case: int, index: AbstractValue
) -> ClosedJaxpr | None:
    """The program of an index and the inputs, with its operations wrapped in :data:`operation_p`;
    None if no operation needs it. Cached with the program."""

    def make() -> ClosedJaxpr | None:
        changes: list[bool] = []

        def run(index: Any, *args: Any) -> list[Any]:
            operations = _Operations(index, case)
            outs = operations.run(program, args)
            changes.append(operations.changes)
            return outs

        made = stage_closed(run, [index, *program.in_avals], program.jaxpr.name)
        return made if changes[-1] else None

    return program.memo(("branch", case, index), make)


class _Operations(Interpreter):
    """Wraps operations that may combine shared and mapped values in :data:`operation_p`, and
    applies ``taken`` to values read from references."""

    def __init__(self, index: Any, case: int) -> None:
        super().__init__()
        self.index, self.case = index, case
        self.changes = False

    def visit(self, eqn: Eqn, args: list[Any]) -> Any:
        primitive, index = eqn.primitive, self.index
        if primitive is operation_p:
            self.changes = True
            cases = (self.case, *eqn.params["cases"])
            return primitive.bind(index, *args, program=eqn.params["program"], cases=cases)
        if _has_own_rules(eqn):
            pass
        elif primitive.regions is not None:
            interface: RegionInterface = primitive.regions(eqn.params)
            if eqn.effects or not _is_choice(interface):
                return self.wrap_regions(primitive, interface, args, eqn.params)
        elif primitive.stateful:
            self.changes = True
            outs = _bound(primitive, args, eqn.params)
            return algebra().taken(index, outs, self.case, False)
        values = dict(zip(eqn.invars, args))
        inputs: list[Any] = [v for v in values if v.__class__ is not Literal]
        both = inputs, eqn.outvars
        if eqn.effects or len(inputs) < 2 or not all(any(map(_varies, vs)) for vs in both):
            return _bound(primitive, args, eqn.params)
        self.changes = True
        program = ClosedJaxpr(Jaxpr([], inputs, eqn.outvars, [eqn]))
        operands = [values[v] for v in inputs]
        return operation_p.bind(index, *operands, program=program, cases=(self.case,))

    def wrap_regions(
        self, primitive: Primitive, interface: RegionInterface, args: list[Any], params: Any
    ) -> list[Any]:
        """Apply a primitive to regions with wrapped operations, the index as one more constant."""
        operands, results = slots_of(interface, args)
        index = Slot(Kind.CONSTANT, self.index)
        parts: list[Part] = []
        result: list[bool] = []
        for r in interface.regions:
            made = None
            if CONTROL not in r.results:  # a predicate has no cotangents
                made = _with_branch_operations(r.program, self.case, typeof(self.index))
            ins = [operands[i] for i in r.operands]
            outs = [k if k == CONTROL else results[k] for k in r.results]
            parts.append(Part(made or r.program, [index, *ins] if made else ins, outs))
            result.append(made is not None)
        if not any(result):
            return _bound(primitive, args, params)
        self.changes = True
        applied = assemble(interface.rebuild, parts, [*operands, index], results).bind(primitive)
        return [applied[s] for s in results]


def _bound(primitive: Primitive, args: Sequence[Any], params: Any) -> list[Any]:
    out = primitive.bind(*args, **params)
    return out if primitive.multiple_results else [out]


def _is_choice(interface: RegionInterface) -> bool:
    """True if the first operand selects the region that runs."""
    return bool(interface.operands) and interface.operands[0] is Kind.CONTROL


def _batch_choice(
    carrier: Any,
    program: ClosedJaxpr,
    cases: Sequence[int],
    args: Sequence[Any],
    dims: Sequence[int | None],
) -> list[Any]:
    """The batched results of a choice among regions, nested in branches.

    If its index is mapped, its regions are branches that these enclose: then all have one index.
    Otherwise the operations of its regions are wrapped in :data:`operation_p`.
    """
    n, pairs = len(cases), list(zip(args, dims))
    (eqn,) = program.eqns
    index: Any = eqn.invars[0]
    if index.__class__ is not Literal and dims[n + program.jaxpr.invars.index(index)] is not None:
        enclosing, f = tuple(zip(pairs[:n], cases)), jaxpr_as_fun(program)

        def run(*xs: Any) -> list[Any]:
            outs = run_with(_enclosing, enclosing, f, *xs[n:])
            for outer, case in zip(xs, cases):
                outs = algebra().taken(outer, outs, case, False)
            return list(outs)

        return lift_call(carrier, run, pairs)
    wrapped = _with_wrapped_regions(program, cases, [carrier.aval(p) for p in pairs[:n]])
    return lift_call(carrier, jaxpr_as_fun(wrapped), pairs)


def _with_wrapped_regions(
    program: ClosedJaxpr, cases: Sequence[int], indices: Sequence[AbstractValue]
) -> ClosedJaxpr:
    """The program of indices and the inputs, with the operations in the regions of its one equation
    wrapped in :data:`operation_p`; cached with the program."""
    if len(cases) > 1:
        program = _with_wrapped_regions(program, cases[1:], indices[1:])

    def run(index: Any, *inputs: Any) -> list[Any]:
        (eqn,) = program.eqns
        values: dict[Any, Any] = dict(zip(program.jaxpr.invars, inputs))
        args = [v.val if isinstance(v, Literal) else values[v] for v in eqn.invars]
        assert eqn.primitive.regions is not None
        interface: RegionInterface = eqn.primitive.regions(eqn.params)
        wrapper = _Operations(index, cases[0])
        return wrapper.wrap_regions(eqn.primitive, interface, args, eqn.params)

    def make() -> ClosedJaxpr:
        return stage_closed(run, [indices[0], *program.in_avals], program.jaxpr.name)

    return program.memo(("wrapped regions", cases[0], indices[0]), make)


def _has_own_rules(eqn: Eqn) -> bool:
    """True for a call of a function with rules of its own, whose operations are not wrapped."""
    primitive = eqn.primitive
    if primitive.anonymous:
        return True
    if primitive.lift is None or primitive.regions is None:
        return False
    return not primitive.regions(eqn.params).is_loop


def _kind(program: ClosedJaxpr, dims: Sequence[int | None]) -> str:
    """The way to keep terms of elements that do not take the branch out of cotangents of shared
    operands, which are sums over all elements, given the mapped axes of operands.

    Returns: ``"linear"``: apply ``taken`` to results only, as the derivative does not depend on
        values. ``"multilinear"``: make mapped operands zero, which makes the cotangents zero.
        ``""``: broadcast shared operands over the elements.
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
    # An elementwise operation broadcasts its operands anyway, and its slope may be infinite at 0.
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
    """The batched results of an operation nested in branches."""
    n = len(cases)
    indices, operands, own = list(zip(args[:n], dims)), list(args[n:]), list(dims[n:])
    shared = [i for i, (x, d) in enumerate(zip(operands, own)) if d is None and _may_vary(x)]
    f = jaxpr_as_fun(program)
    if program.eqns[0].primitive.regions is not None and not _has_own_rules(program.eqns[0]):
        return _batch_choice(carrier, program, cases, args, dims)
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
