"""The primitive of ``custom_linear_solve``, with the programs of the map and its solvers.

Its operands are the values that each of its four programs closes over, program by program, and the
right-hand side. So derivatives and batched forms are solves again, and an interpreter of programs
finds the map, its transpose and both solvers among the parameters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from dovetail_ad import is_linear, jvp_values
from dovetail_core import (
    ClosedJaxpr,
    Eqn,
    MissingRule,
    Primitive,
    RegionInterface,
    algebra,
    call_interface,
    effects,
    eval_jaxpr,
    lift_call,
    lift_program,
    register_parameter,
    rewriting,
    typeof,
    zeros_like_aval,
)
from dovetail_high.lowering import LowCarrier


class LinearSolveTuple(NamedTuple):
    """A value for each program: the linear map, its transpose, and the solvers of both."""

    matvec: Any
    vecmat: Any
    solve: Any
    transpose_solve: Any

    def transpose(self) -> LinearSolveTuple:
        """The same for the solve of the transposed equation."""
        return LinearSolveTuple(self.vecmat, self.matvec, self.transpose_solve, self.solve)


register_parameter(LinearSolveTuple)


class _LinearSolve(Primitive):
    """A primitive that is high if one of its programs is."""

    __slots__ = ()

    def holds_high(self, params: dict[str, Any]) -> bool:
        """True if one of the programs is high."""
        return any(p is not None and p.is_high for p in params["jaxprs"])


def split(args: Sequence[Any], lengths: Sequence[int]) -> tuple[LinearSolveTuple, list[Any]]:
    """The constants of each program, and the right-hand side."""
    rest: Iterator[Any] = iter(args)
    groups = [[next(rest) for _ in range(n)] for n in lengths]
    return LinearSolveTuple(*groups), list(rest)


def joined(groups: LinearSolveTuple, rhs: Sequence[Any]) -> list[Any]:
    """The operands, from the results of :func:`split`."""
    return [*(x for group in groups for x in group), *rhs]


def run(program: ClosedJaxpr, *operands: Any) -> list[Any]:
    """The operations of a program, one by one."""
    return eval_jaxpr(program.jaxpr, program.consts, *operands)


linear_solve_p = _LinearSolve("custom_linear_solve", multiple_results=True, anonymous=True)


@linear_solve_p.def_effectful_abstract_eval
def _type(*avals: Any, const_lengths: LinearSolveTuple, jaxprs: LinearSolveTuple) -> Any:
    given = len(avals) - sum(const_lengths)
    for name, n, program in zip(LinearSolveTuple._fields, const_lengths, jaxprs):
        if program is not None and len(program.in_avals) != n + given:
            raise TypeError(
                f"custom_linear_solve: {name} takes {len(program.in_avals)} inputs, but there are "
                f"{n} constants for it and {given} parts of the right-hand side."
            )
    return jaxprs.solve.out_avals, _regions(
        {"const_lengths": const_lengths, "jaxprs": jaxprs}
    ).effects()


@linear_solve_p.def_decomposition
def inlined(*args: Any, const_lengths: LinearSolveTuple, jaxprs: LinearSolveTuple) -> list[Any]:
    """The operations of the solver."""
    groups, rhs = split(args, const_lengths)
    return run(jaxprs.solve, *groups.solve, *rhs)


@linear_solve_p.def_regions
def _regions(params: dict[str, Any]) -> RegionInterface:
    """The region: the solver, as a program of all operands."""
    lengths, solve = params["const_lengths"], params["jaxprs"].solve
    types: list[Any] = []
    for n, program in zip(lengths, params["jaxprs"]):
        types += [] if program is None else program.in_avals[:n]
    first = lengths.matvec + lengths.vecmat
    own = range(first, first + lengths.solve)
    inputs = [i - first if i in own else a for i, a in enumerate(types)]
    inputs += range(lengths.solve, len(solve.in_avals))
    on_operands = rewriting.rearrange(solve, tuple(inputs), tuple(range(len(solve.out_avals))))

    def rebuild(program: ClosedJaxpr, _: Any) -> dict[str, Any]:
        """The parameters with another solver, reduced to the operands of the solver."""
        kept = [*own, *range(len(types), len(inputs))]
        narrow = rewriting.rearrange(program, tuple(kept), tuple(range(len(program.out_avals))))
        return {**params, "jaxprs": params["jaxprs"]._replace(solve=narrow)}

    return call_interface(on_operands, rebuild)


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    """The tangent of the solution of ``A x = b``: the solution for ``db - dA x``."""
    groups, rhs = split(primals, params["const_lengths"])
    dots, rhs_dots = split(tangents, params["const_lengths"])
    outs = linear_solve_p.bind(*primals, **params)
    x = outs[: len(rhs)]
    if any(t is not None for t in dots.matvec):
        matvec = params["jaxprs"].matvec
        changes = jvp_values(lambda *c: run(matvec, *c, *x), groups.matvec, dots.matvec)[1]
        rhs_dots = [_difference(t, c) for t, c in zip(rhs_dots, changes)]
    none: list[Any] = [None] * len(outs)
    if all(t is None for t in rhs_dots):
        return outs, none
    full = [zeros_like_aval(typeof(b)) if t is None else t for b, t in zip(rhs, rhs_dots)]
    solved = linear_solve_p.bind(*joined(groups, full), **params)
    return outs, [*solved[: len(rhs)], *none[len(rhs) :]]


def _difference(t: Any, change: Any) -> Any:
    if change is None:
        return t
    negative = algebra().neg(change)
    return negative if t is None else algebra().add(t, negative)


def _transpose(cotangents: Sequence[Any], *args: Any, **params: Any) -> list[Any]:
    """The solve of the transposed equation."""
    lengths, jaxprs = params["const_lengths"], params["jaxprs"]
    groups, rhs = split(args, lengths)
    if any(is_linear(c) for group in groups for c in group):
        raise MissingRule(
            "custom_linear_solve is transposed with respect to a value that one of its functions "
            "closes over, in which it is not linear: it is linear in the right-hand side."
        )
    if jaxprs.transpose_solve is None:
        raise TypeError(
            "custom_linear_solve is differentiated in reverse mode, which solves the "
            "transposed equation: pass transpose_solve, or symmetric=True."
        )
    nothing: list[Any] = [None] * sum(lengths)
    given = cotangents[: len(rhs)]
    if all(ct is None for ct in given):
        return nothing + [None] * len(rhs)
    full = [zeros_like_aval(typeof(b)) if ct is None else ct for b, ct in zip(rhs, given)]
    turned = {"const_lengths": lengths.transpose(), "jaxprs": jaxprs.transpose()}
    result = linear_solve_p.bind(*joined(groups.transpose(), full), **turned)
    return nothing + [ct if is_linear(b) else None for b, ct in zip(rhs, result)]


def _dce(used: list[bool], eqn: Eqn) -> tuple[list[bool], Eqn | None]:
    """Keep all of a solve or drop it, as its programs take all operands."""
    if any(used) or effects.must_be_kept(eqn.effects):
        return [True] * len(eqn.invars), eqn
    return [False] * len(eqn.invars), None


def _lowered(b: Any, *operands: Any, **params: Any) -> list[Any]:
    groups, rhs = split(operands, params["const_lengths"])
    return b.inline(params["jaxprs"].solve, [*groups.solve, *rhs])


linear_solve_p.rules = {
    "ad.jvp": _jvp,
    "ad.transpose": _transpose,
    "backends.stablehlo": _lowered,
    "dce": _dce,
    "eval": inlined,
    "refs.discharge": lambda trace, args, params: inlined(*args, **params),
}


Structures = tuple[Any, ...]


def lift(carrier: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
    """Apply the primitive to lifted operands.

    If lifted values are batches, or consist of several arrays, the lifted equation is solved. Other
    lifted values (such as series) are not right-hand sides of a linear map: then the operations of
    the solver are lifted.
    """
    if not carrier.has_instances and not isinstance(carrier, LowCarrier):
        return lift_call(carrier, lambda *xs: inlined(*xs, **params), args)
    groups, rhs = split(args, params["const_lengths"])
    ins = LinearSolveTuple(*[tuple(carrier.structure(c, 0) for c in g) for g in groups])
    x = _solution(carrier, params["jaxprs"], ins, tuple(carrier.structure(b, 0) for b in rhs))
    programs, aux = _programs(carrier, params["jaxprs"], ins, x)
    arrays = LinearSolveTuple(*[_arrays(carrier, g, s) for g, s in zip(groups, ins)])
    outs = linear_solve_p.bind(
        *joined(arrays, _arrays(carrier, rhs, x)),
        const_lengths=LinearSolveTuple(*map(len, arrays)),
        jaxprs=programs,
    )
    result: list[Any] = []
    at = 0
    for aval, s in zip(params["jaxprs"].solve.out_avals, (*x, *aux)):
        n = len(carrier.types(aval, s))
        result.append(carrier.value(outs[at : at + n], s, 0))
        at += n
    return result


def _arrays(carrier: Any, values: Sequence[Any], structures: Structures) -> list[Any]:
    return [a for v, s in zip(values, structures) for a in carrier.arrays(v, s, 0)]


def _solution(
    carrier: Any, programs: LinearSolveTuple, ins: LinearSolveTuple, x: Structures
) -> Structures:
    """The least structure of right-hand side and solution that all programs preserve."""
    while True:
        before = x
        for program, consts in zip(programs, ins):
            if program is not None:
                outs = lift_program(carrier, program, consts + x)[1]
                x = tuple(map(carrier.join_structures, x, outs))
        if x == before:
            return x


def _programs(
    carrier: Any, programs: LinearSolveTuple, ins: LinearSolveTuple, x: Structures
) -> tuple[LinearSolveTuple, Structures]:
    """The lifted programs, and the structures of the solver's further results."""
    result: dict[str, Any] = {}
    further: dict[str, Structures] = {}
    for name, program, consts in zip(LinearSolveTuple._fields, programs, ins):
        if program is None:
            result[name] = None
            continue
        outs = lift_program(carrier, program, consts + x)[1]
        further[name] = outs[len(x) :]
        result[name] = lift_program(carrier, program, consts + x, x + further[name])[0]
    return LinearSolveTuple(**result), further["solve"]


linear_solve_p.lift = lift
assert linear_solve_p.rules is not None
linear_solve_p.rules["to_lo"] = lambda *args, **params: lift(
    LowCarrier(linear_solve_p.name), args, params
)
