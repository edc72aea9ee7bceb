"""Primitives that hold programs: ``cond``, ``scan``, ``while`` and ``platform_dependent``.

``while(*cond_consts, *body_consts, *carry)``, with ``cond_nconsts`` and ``body_nconsts``, is how a
loop is bound. A mutable value must be one operand, though both programs may use it: then both take
all constants, and the parameter is ``num_consts``. So do the programs of its regions, and those
that transformations put together; these become two lists again where that is possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from dovetail_core import (
    CONTROL,
    NO_EFFECTS,
    ClosedJaxpr,
    Kind,
    Operand,
    Primitive,
    Region,
    RegionInterface,
    manual_axis_types,
    rewriting,
    with_leading,
)

from .traits import describe


def effects_of(primitive: Primitive, params: dict[str, Any], *programs: ClosedJaxpr) -> Any:
    """The effects of sub-programs, by the operands of ``primitive``."""
    if not any([p.effects for p in programs]):  # noqa: C419
        return NO_EFFECTS
    assert primitive.regions is not None
    return primitive.regions(params).effects()


Programs = Sequence[ClosedJaxpr]


def _count(operands: Sequence[Operand], kind: Kind) -> int:
    return [x.kind for x in operands].count(kind)


# cond(index, *operands): the branch number ``index`` on the operands. There must be one of that
# number, which the functions that bind it see to.

cond_p = Primitive("cond", multiple_results=True)


@cond_p.def_effectful_abstract_eval
def _cond_type(index: Any, *operands: Any, branches: tuple[ClosedJaxpr, ...]) -> Any:
    # A branch that returns a constant may know that of a result which varies in another one.
    all_outs = [b.out_avals for b in branches]
    outs = [
        a[0].with_vma(manual_axis_types.NO_AXES.union(*[x.vma for x in a])) for a in zip(*all_outs)
    ]
    return outs, effects_of(cond_p, {"branches": branches}, *branches)


@cond_p.def_regions
def _cond_regions(params: dict[str, Any]) -> RegionInterface:
    branches: tuple[ClosedJaxpr, ...] = params["branches"]
    operands = tuple(range(1, 1 + len(branches[0].in_avals)))
    results = tuple(range(len(branches[0].out_avals)))
    return RegionInterface(
        tuple(Region(b, operands, results) for b in branches),
        (Kind.CONTROL, *[Kind.CONSTANT] * len(operands)),
        (Kind.PLAIN,) * len(results),
        lambda programs, _: {"branches": tuple(programs)},
    )


# scan(*consts, *carry, *xs) -> (*carry, *ys)

scan_p = Primitive("scan", multiple_results=True)


@scan_p.def_effectful_abstract_eval
def _scan_type(*operands: Any, **params: Any) -> Any:
    program: ClosedJaxpr = params["jaxpr"]
    n: int = params["num_carry"]
    outs: list[Any] = list(program.out_avals)
    ys = [with_leading(a, params["length"]) for a in outs[n:]]
    return outs[:n] + ys, effects_of(scan_p, params, program)


@scan_p.def_regions
def _scan_regions(params: dict[str, Any]) -> RegionInterface:
    program: ClosedJaxpr = params["jaxpr"]
    nc: int = params["num_consts"]
    nk: int = params["num_carry"]
    ins, outs = len(program.in_avals), len(program.out_avals)

    def rebuild(programs: Programs, operands: Sequence[Operand]) -> dict[str, Any]:
        consts, carry = _count(operands, Kind.CONSTANT), _count(operands, Kind.CARRIED)
        return {**params, "jaxpr": programs[0], "num_consts": consts, "num_carry": carry}

    return RegionInterface(
        (Region(program, tuple(range(ins)), tuple(range(outs))),),
        (*[Kind.CONSTANT] * nc, *[Kind.CARRIED] * nk, *[Kind.SLICED] * (ins - nc - nk)),
        (*[Kind.CARRIED] * nk, *[Kind.STACKED] * (outs - nk)),
        rebuild,
        runs="in turn",
        length=params["length"],
        backward=lambda *new: {**rebuild(*new), "reverse": not params["reverse"]},
    )


Params = dict[str, Any]


class While(Primitive):
    """``while``."""

    __slots__ = ()

    def bind(self, *args: Any, **params: Any) -> Any:
        """Apply to values; constants that both programs take become the list of each."""
        if "num_consts" in params:
            args, params = _parted(args, params)
        return super().bind(*args, **params)


class Parts(NamedTuple):
    """The programs of a loop, what each closes over, and the carry."""

    condition: ClosedJaxpr
    condition_consts: Sequence[Any]
    body: ClosedJaxpr
    body_consts: Sequence[Any]
    carry: Sequence[Any]


def while_parts(operands: Sequence[Any], params: Params) -> Parts:
    """The operands of a loop by what they are for."""
    condition, body = params["cond_jaxpr"], params["body_jaxpr"]
    if "num_consts" in params:
        n = params["num_consts"]
        return Parts(condition, operands[:n], body, operands[:n], operands[n:])
    c = params["cond_nconsts"]
    n = c + params["body_nconsts"]
    return Parts(condition, operands[:c], body, operands[c:n], operands[n:])


def _parted(args: tuple[Any, ...], params: Params) -> tuple[tuple[Any, ...], Params]:
    """Operands and parameters where each program takes the constants that it uses."""
    n = params["num_consts"]
    condition, body = params["cond_jaxpr"], params["body_jaxpr"]
    ours, theirs = _used(condition, n), _used(body, n)
    if any(i in theirs and condition.in_avals[i].is_mutable for i in ours):
        return args, params
    operands = (*[args[i] for i in ours], *[args[i] for i in theirs], *args[n:])
    return operands, _params(_taking(condition, ours, n), len(ours),
                             _taking(body, theirs, n), len(theirs))  # fmt: skip


def _params(condition: ClosedJaxpr, nc: int, body: ClosedJaxpr, nb: int) -> Params:
    return {
        "body_jaxpr": body, "body_nconsts": nb, "cond_jaxpr": condition, "cond_nconsts": nc,
    }  # fmt: skip


def _used(program: ClosedJaxpr, n: int) -> tuple[int, ...]:
    """The indices of the first ``n`` inputs that the program uses."""
    if n == 0:
        return ()

    def find() -> tuple[int, ...]:
        jaxpr = program.jaxpr
        used = {x for e in jaxpr.eqns for x in e.invars}.union(jaxpr.outvars)
        return tuple([i for i, v in enumerate(jaxpr.invars[:n]) if v in used])

    return program.memo(("constants used", n), find)


def _taking(program: ClosedJaxpr, consts: Sequence[int], n: int) -> ClosedJaxpr:
    """The program without the others of its first ``n`` inputs."""
    inputs = (*consts, *range(n, len(program.in_avals)))
    return rewriting.rearrange(program, inputs, tuple(range(len(program.out_avals))))


def _together(params: Params) -> tuple[ClosedJaxpr, ClosedJaxpr, int]:
    """Programs that take the constants of both, and how many these are."""
    condition, body = params["cond_jaxpr"], params["body_jaxpr"]
    if "num_consts" in params:
        return condition, body, params["num_consts"]
    nc, nb = params["cond_nconsts"], params["body_nconsts"]
    of_condition, of_body = condition.in_avals[:nc], body.in_avals[:nb]
    carry = range(nc, len(condition.in_avals))
    wide = rewriting.rearrange(condition, (*range(nc), *of_body, *carry), (0,))
    inputs, outputs = (*of_condition, *range(len(body.in_avals))), range(len(body.out_avals))
    return wide, rewriting.rearrange(body, inputs, tuple(outputs)), nc + nb


while_p = While("while", multiple_results=True)


@while_p.def_effectful_abstract_eval
def _while_type(*operands: Any, **params: Any) -> Any:
    condition, body = params["cond_jaxpr"], params["body_jaxpr"]
    return body.out_avals, effects_of(while_p, params, condition, body)


def _rebuilt(programs: Sequence[ClosedJaxpr], operands: Sequence[Operand]) -> Params:
    """Parameters for these operands as they come: two lists where no constant is in both."""
    n = [x.kind for x in operands].count(Kind.CONSTANT)
    condition, body = programs
    ours, theirs = _used(condition, n), _used(body, n)
    nc = ours[-1] + 1 if ours else 0
    if theirs and theirs[0] < nc:
        return {"cond_jaxpr": condition, "body_jaxpr": body, "num_consts": n}
    return _params(_taking(condition, range(nc), n), nc, _taking(body, range(nc, n), n), n - nc)


@while_p.def_regions
def _while_regions(params: Params) -> RegionInterface:
    condition, body, n = _together(params)
    operands = tuple(range(len(body.in_avals)))
    carry = range(len(body.out_avals))
    return RegionInterface(
        (Region(condition, operands, (CONTROL,)), Region(body, operands, tuple(carry))),
        (*[Kind.CONSTANT] * n, *[Kind.CARRIED] * len(carry)),
        (Kind.CARRIED,) * len(carry),
        _rebuilt,
        runs="in turn",
        title="while_loop",
        remedy=(
            "Use scan, or fori_loop with bounds that are known while tracing; or keep some of the "
            "values, while_loop(..., checkpoint=dovetail.Online(snapshots=...)); or forward mode "
            "(jvp, jacfwd)."
        ),
    )


platform_dependent_p = Primitive("platform_dependent", multiple_results=True)
"""``platforms`` names those of each branch; the last branch may be for all others, None."""


@platform_dependent_p.def_effectful_abstract_eval
def _platform_dependent_type(
    *operands: Any, branches: tuple[ClosedJaxpr, ...], platforms: Any
) -> Any:
    params = {"branches": branches, "platforms": platforms}
    return branches[0].out_avals, effects_of(platform_dependent_p, params, *branches)


@platform_dependent_p.def_regions
def _platform_dependent_regions(params: dict[str, Any]) -> RegionInterface:
    branches: tuple[ClosedJaxpr, ...] = params["branches"]
    operands = tuple(range(len(branches[0].in_avals)))
    results = tuple(range(len(branches[0].out_avals)))
    return RegionInterface(
        tuple(Region(b, operands, results) for b in branches),
        (Kind.CONSTANT,) * len(operands),
        (Kind.PLAIN,) * len(results),
        lambda programs, _: {"branches": tuple(programs), "platforms": params["platforms"]},
    )


def branch_for(platform: str, branches: Sequence[Any], platforms: Sequence[Any]) -> Any:
    """The branch for a platform.

    Raises:
        NotImplementedError: there is none; names those that there are.
    """
    for branch, names in zip(branches, platforms):
        if names is None or platform in names:
            return branch
    known = ", ".join(sorted({n for names in platforms for n in names}))
    raise NotImplementedError(
        f"lax.platform_dependent has no branch for the platform {platform!r}, only for {known}: "
        f"give {platform}=, or default=."
    )


describe(__name__)
