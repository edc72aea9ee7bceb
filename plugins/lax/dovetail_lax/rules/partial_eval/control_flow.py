"""Linearizing branches and loops: a known part that runs now, and a linear rest.

Each rule computes what is known, keeps the residuals that the linear rest needs, and records the
rest as one linear operation of the same kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import LinearTrace, Split, partial_eval_rules, split_program
from dovetail_core import (
    ClosedJaxpr,
    MissingRule,
    current_source,
    dce_closed,
    describe_source,
    eval_jaxpr,
    high_algebra,
    is_inexact,
    stage_closed,
    typeof,
)
from dovetail_core.interpret.mutable import LocalValue, apply_local
from dovetail_core.types.algebra import algebra, zeros

from ...primitives.control_flow import cond_p, scan_p, while_p


def _pick(values: Sequence[Any], flags: Sequence[bool], wanted: bool) -> list[Any]:
    return [x for x, f in zip(values, flags) if bool(f) == wanted]


# --- cond -----------------------------------------------------------------------------------------


@partial_eval_rules.register(cond_p)
def _cond_partial_eval(
    trace: LinearTrace, args: Sequence[Any], params: dict[str, Any]
) -> list[Any]:
    index, *operands = args
    branches: tuple[ClosedJaxpr, ...] = params["branches"]
    unknown = tuple(trace.owns(x) for x in operands)
    force = (False,) * len(branches[0].out_avals)
    while True:  # a result is unknown if it is in any branch
        splits = [split_program(b, unknown, force) for b in branches]
        joined = tuple(any(flags) for flags in zip(*(s.out_unknown for s in splits)))
        if joined == force or all(s.out_unknown == joined for s in splits):
            break
        force = joined
    known_operands = _pick(operands, unknown, False)
    slots = _Slots(splits)
    known = tuple(slots.known_branch(i) for i in range(len(branches)))
    found = cond_p.bind(index, *known_operands, branches=known)
    n = splits[0].num_known_outputs
    if not any(joined):
        return found[:n]
    linear = tuple(slots.linear_branch(i, len(known_operands)) for i in range(len(branches)))
    rest = [*found[n:], *known_operands, *_pick(operands, unknown, True)]
    linear, rest = _without_idle_references(linear, rest)
    outs = trace.record(cond_p, [index, *rest], {"branches": linear})
    return splits[0].merge(found[:n], outs)


def _without_idle_references(
    programs: tuple[ClosedJaxpr, ...], operands: list[Any]
) -> tuple[tuple[ClosedJaxpr, ...], list[Any]]:
    """Leave out operands that are mutable and that no linear program uses (few do)."""
    if not any(typeof(x).is_mutable for x in operands):
        return programs, operands
    used = [{v for e in p.eqns for v in e.invars} for p in programs]
    kept = [
        i
        for i, x in enumerate(operands)
        if not typeof(x).is_mutable or any(p.jaxpr.invars[i] in u for p, u in zip(programs, used))
    ]
    reduced = tuple(_permuted(p, kept) for p in programs)
    return reduced, [operands[i] for i in kept]


def _filling(aval: Any) -> Any:
    """A value for a place that is not used.

    Where the index is mapped all branches run, on fillings too, and zero cotangents meet what the
    branch makes of them. Linear programs multiply and divide by residuals, so with ones all of that
    is finite and stays zero; with zeros it would become NaN. Indices stay in range with zeros.
    """
    if aval.is_high:
        return high_algebra().make(aval, [_filling(a) for a in aval.lo_ty()])
    return algebra().full(aval, 1) if is_inexact(getattr(aval, "dtype", None)) else zeros(aval)


class _Slots:
    """Places for the branches' residuals: branches share places of one type, for only one runs."""

    def __init__(self, splits: Sequence[Split]) -> None:
        self.splits = splits
        self.types: list[Any] = []
        self.places = [self._place(s) for s in splits]

    def _place(self, split: Split) -> list[int]:
        free = list(range(len(self.types)))
        places: list[int] = []
        for aval in split.known.out_avals[split.num_known_outputs :]:
            place = next((i for i in free if self.types[i] == aval), None)
            if place is None:
                place = len(self.types)
                self.types.append(aval)
            else:
                free.remove(place)
            places.append(place)
        return places

    def known_branch(self, i: int) -> ClosedJaxpr:
        """Returns known results, then all places, filled in where another branch's would be."""
        split, places = self.splits[i], self.places[i]
        n = split.num_known_outputs

        def branch(*args: Any) -> list[Any]:
            outs = eval_jaxpr(split.known.jaxpr, split.known.consts, *args)
            own = dict(zip(places, outs[n:]))
            rest = [own[k] if k in own else _filling(t) for k, t in enumerate(self.types)]
            return outs[:n] + rest

        return stage_closed(branch, split.known.in_avals, split.known.jaxpr.name)

    def linear_branch(self, i: int, num_known: int) -> ClosedJaxpr:
        """Takes all places, the known operands and the unknown ones."""
        split, places = self.splits[i], self.places[i]
        n = len(self.types)
        num_residuals = len(split.residuals)

        def branch(*args: Any) -> list[Any]:
            returned = [args[k] for k in places]
            known, unknown = args[n : n + num_known], args[n + num_known :]
            residuals = split.residual_values(known, returned)
            return eval_jaxpr(split.linear.jaxpr, split.linear.consts, *residuals, *unknown)

        unknown_avals = split.linear.in_avals[num_residuals:]
        avals = [*self.types, *split.known.in_avals, *unknown_avals]
        return stage_closed(branch, avals, split.linear.jaxpr.name)


# --- scan -----------------------------------------------------------------------------------------


@partial_eval_rules.register(scan_p)
def _scan_partial_eval(
    trace: LinearTrace, args: Sequence[Any], params: dict[str, Any]
) -> list[Any]:
    nc, nk = params["num_consts"], params["num_carry"]
    unknown = [trace.owns(x) for x in args]
    split = _carry_fixed_point(params["program"], unknown, nc, nk)
    known_args, unknown_args = _pick(args, unknown, False), _pick(args, unknown, True)
    kinds = ["const"] * nc + ["carry"] * nk + ["x"] * (len(args) - nc - nk)
    known_kinds, unknown_kinds = _pick(kinds, unknown, False), _pick(kinds, unknown, True)
    found = scan_p.bind(
        *known_args,
        **{**params, "program": split.known, **_counts(known_kinds)},
    )
    n = split.num_known_outputs
    if not any(split.out_unknown):
        return found[:n]
    residuals = split.residual_values(known_args, found[n:])
    residual_kinds = [known_kinds[i] if direct else "x" for direct, i in split.residuals]
    kinds = residual_kinds + unknown_kinds
    order = sorted(range(len(kinds)), key=lambda i: ("const", "carry", "x").index(kinds[i]))
    operands = [*residuals, *unknown_args]
    linear = {
        **params, "program": _permuted(split.linear, order), **_counts(kinds),
    }  # fmt: skip
    outs = trace.record(scan_p, [operands[i] for i in order], linear)
    return split.merge(found[:n], outs)


def _carry_fixed_point(program: ClosedJaxpr, unknown: list[bool], nc: int, nk: int) -> Split:
    """Split the body so that a carry is unknown going in exactly if it is coming out.

    ``unknown`` is updated in place. A carry's own value is gone after its iteration, so it cannot
    stand for a residual; constants and slices can.
    """
    direct = tuple(not nc <= i < nc + nk for i in range(len(unknown)))
    while True:
        carry = unknown[nc : nc + nk]
        force = (*carry, *[False] * (len(program.out_avals) - nk))
        split = split_program(program, tuple(unknown), force, direct)
        if list(split.out_unknown[:nk]) == carry:
            return split
        unknown[nc : nc + nk] = split.out_unknown[:nk]


def _counts(kinds: Sequence[str]) -> dict[str, int]:
    return {"num_consts": kinds.count("const"), "num_carry": kinds.count("carry")}


def _permuted(program: ClosedJaxpr, order: Sequence[int]) -> ClosedJaxpr:
    jaxpr = program.jaxpr
    return ClosedJaxpr(jaxpr.replace(invars=[jaxpr.invars[i] for i in order]), program.consts)


# --- while ----------------------------------------------------------------------------------------


@partial_eval_rules.register(while_p)
def _while_partial_eval(
    trace: LinearTrace, args: Sequence[Any], params: dict[str, Any]
) -> list[Any]:
    """The known carry runs now; the whole loop is recorded for its linear part.

    Residuals of a loop of unknown length cannot be stacked, so the record computes the known carry
    again beside the linear one. It can be evaluated but not transposed.
    """
    nc = params["num_consts"]
    unknown = [trace.owns(x) for x in args]
    _carry_fixed_point(params["body"], unknown, nc, len(args) - nc)
    flags = unknown[nc:]
    known_args = [x for x, u in zip(args, unknown) if not u]
    body = _restricted(params["body"], unknown, [not u for u in flags])
    condition = _restricted(params["condition"], unknown, [True])
    num_consts = sum(not u for u in unknown[:nc])
    local = _on_snapshots(trace, args)
    found = iter(while_p.bind(*known_args, condition=condition, body=body, num_consts=num_consts))
    if local is None:
        recorded = trace.record(while_p, args, params)
    else:
        recorded = apply_local(trace, while_p, local, params)
    return [r if u else next(found) for r, u in zip(recorded, flags)]


def _on_snapshots(trace: LinearTrace, args: Sequence[Any]) -> list[Any] | None:
    """The operands with copies in place of references, so that a second pass has no effects."""
    avals = [typeof(x) for x in args]
    if not any(a.is_mutable for a in avals):
        return None
    return [LocalValue(trace, a, a.read(x)) if a.is_mutable else x for x, a in zip(args, avals)]


def _restricted(
    program: ClosedJaxpr, unknown: Sequence[bool], wanted: Sequence[bool]
) -> ClosedJaxpr:
    """The program's wanted outputs, which need none of the unknown inputs.

    Raises:
        MissingRule: they do need one, so that the loop is not linear in it.
    """
    reduced, left = dce_closed(program, wanted, [not u for u in unknown])
    if any(live and u for live, u in zip(left, unknown)):
        raise MissingRule(
            f"while_loop{describe_source(current_source())} is not linear: its predicate depends "
            "on a value in which the function that is being transposed should be linear."
        )
    return reduced
