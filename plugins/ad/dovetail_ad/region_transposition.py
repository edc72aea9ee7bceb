"""Transposition of primitives with regions, by transposed regions and loops that run backwards.

The cotangent of a loop variable is a loop variable of the transposed loop. Cotangents of stacked
results are slices, and cotangents of slices are stacked results. The cotangent of a constant is
summed over the iterations: in a further loop variable, or after a loop that cannot have one. All of
this follows from the regions of a primitive.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from dovetail_core import (
    ClosedJaxpr,
    Kind,
    MissingRule,
    Part,
    Primitive,
    Region,
    RegionInterface,
    Slot,
    add_tangents,
    algebra,
    assemble,
    current_source,
    describe_source,
    generation,
    get_trace,
    run_under,
    stage_closed,
    typeof,
    zeros_like_aval,
)

from .linear import LinearTrace, is_linear, run_linear
from .region_linearization import not_linear, split_regions
from .tables import TransposeRule, transpose_rules
from .tangents import transposed_type
from .transposition import at_own_lines, backward_pass, derive_transpose, transpose_program

Flags = tuple[bool, ...]


@transpose_rules.deriver
def derive(primitive: Primitive) -> TransposeRule | None:
    """The rule that follows from a primitive's regions, or else from its decomposition."""
    return derive_transpose(primitive) if primitive.regions is None else _of_regions(primitive)


def _of_regions(primitive: Primitive) -> TransposeRule:

    def rule(cotangent: Any, *args: Any, **params: Any) -> list[Any]:
        interface: RegionInterface = primitive.regions(params)  # type: ignore[misc]
        _check_transposable(primitive, interface, args)
        return _Transposition(primitive, interface, args, params, cotangent).run()

    return rule


class OpenEndedLoop(MissingRule, ValueError):
    """Reverse-mode differentiation of a loop whose number of iterations is not known."""


def _check_transposable(
    primitive: Primitive, interface: RegionInterface, args: Sequence[Any]
) -> None:
    title = interface.title or primitive.name
    if interface.control is not None and is_linear(args[interface.control]):
        raise not_linear(primitive, interface)
    if interface.is_open_ended:
        if split_regions(interface, [is_linear(x) for x in args]).has_unknown_control(interface):
            raise not_linear(primitive, interface)
        remedy = f" {interface.remedy}" if interface.remedy else ""
        raise OpenEndedLoop(
            f"{title}{describe_source(current_source())} cannot be differentiated in reverse mode: "
            "the number of its iterations, and so of the values to keep, is not known when it is "
            f"compiled.{remedy}"
        )
    if interface.is_loop and interface.backward is None:
        raise MissingRule(
            f"{title}{describe_source(current_source())} cannot be transposed: it does not say how "
            f"it runs backwards. The author of {primitive.module} can say so by "
            "RegionInterface(..., backward=...)."
        )


class _Transposition:
    """One application; ``linear`` marks operands that have cotangents, ``given`` such results."""

    def __init__(
        self,
        primitive: Primitive,
        interface: RegionInterface,
        args: Sequence[Any],
        params: dict[str, Any],
        cotangents: Sequence[Any],
    ) -> None:
        self.primitive = primitive
        self.interface = interface
        self.args = args
        kinds = interface.operands
        # After partial evaluation all loop variables are unknowns. One that starts with a known
        # value starts with a zero tangent, so its cotangent is not needed.
        self.linear = [is_linear(x) or kind.carried for x, kind in zip(args, kinds)]
        self.given = [
            ct is not None or kind.carried for ct, kind in zip(cotangents, interface.results)
        ]
        self.types = lambda: primitive.infer(tuple([typeof(x) for x in args]), params).avals
        self.known = [
            None if live else Slot(kind, x) for x, kind, live in zip(args, kinds, self.linear)
        ]
        self.out_cts = [
            Slot(_coming_in(kind), self._zero(r) if ct is None else ct) if g else None
            for r, (kind, ct, g) in enumerate(zip(interface.results, cotangents, self.given))
        ]
        result = {i: r for r, i in interface.loop}
        self.in_cts = [
            None
            if not live
            else self.out_cts[result[i]]
            if kind.carried
            else Slot(*self._going_out(kind, args[i]))
            for i, (kind, live) in enumerate(zip(kinds, self.linear))
        ]

    def _zero(self, result: int) -> Any:
        return zeros_like_aval(transposed_type(self.types()[result]))

    def _going_out(self, kind: Kind, x: Any) -> tuple[Kind, Any]:
        """The kind of an operand's cotangent, and its initial value if it is summed up."""
        if kind is Kind.SLICED:
            return Kind.STACKED, None
        if not self.interface.is_loop:
            return Kind.PLAIN, None
        if self.interface.runs == "in turn":
            return Kind.CARRIED, zeros_like_aval(transposed_type(x.aval))
        return Kind.STACKED, None

    def run(self) -> list[Any]:
        """A cotangent per operand."""
        interface = self.interface
        parts = [self._part(region) for region in interface.regions]
        sums = [s for s in self._constants() if s is not None and s.kind is Kind.CARRIED]
        variables = [s for s in self.out_cts if s is not None]
        operands = [*(s for s in self.known if s is not None), *sums, *variables]
        given = {s for p in parts for s in p.outs}
        results = [s for s in self.in_cts if s is not None and not s.kind.carried and s in given]
        rebuild = interface.backward if interface.is_loop else interface.rebuild
        assert rebuild is not None
        result = assemble(rebuild, parts, operands, results).bind(self.primitive)
        for s in self._constants():
            if s is not None and s.kind is Kind.STACKED:
                result[s] = algebra().sum(result[s], (0,))
        return [None if s is None else result.get(s) for s in self.in_cts]

    def _constants(self) -> list[Slot | None]:
        """The cotangents of operands that are constants."""
        kinds = self.interface.operands
        return [s for s, kind in zip(self.in_cts, kinds) if kind is Kind.CONSTANT]

    def _part(self, region: Region) -> Part:
        linear = tuple(self.linear[i] for i in region.operands)
        given = tuple(self.given[r] for r in region.results)
        ins = [s for s in (self.known[i] for i in region.operands) if s is not None]
        cts = [s for s in (self.out_cts[r] for r in region.results) if s is not None]
        outs = [s for s in (self.in_cts[i] for i in region.operands) if s is not None]
        if not (self.interface.is_loop or self.interface.is_choice):
            program, nonzero = transpose_program(region.program, linear, given)
            return Part(program, [*ins, *cts], [s for s, some in zip(outs, nonzero) if some])
        variables = {s for s in self.out_cts if s is not None}
        summed = tuple(s.kind.carried and s not in variables for s in outs)
        taken = [*ins, *(s for s, own in zip(outs, summed) if own), *cts]
        order = tuple(sorted(range(len(taken)), key=lambda k: taken[k].kind.rank))
        program = _transposed_region(region.program, linear, given, summed, order)
        return Part(program, [taken[k] for k in order], outs)


def _coming_in(kind: Kind) -> Kind:
    """The kind as an operand of the cotangent of a result."""
    return {Kind.STACKED: Kind.SLICED, Kind.PLAIN: Kind.CONSTANT}.get(kind, kind)


def _transposed_region(
    program: ClosedJaxpr, linear: Flags, given: Flags, summed: Flags, order: tuple[int, ...]
) -> ClosedJaxpr:
    """The transpose of a linear program, with the cotangents of all linear inputs.

    Its inputs, permuted by ``order``, are the other inputs, partial sums of the cotangents of the
    linear inputs marked in ``summed``, and cotangents of the ``given`` outputs; it returns the new
    sums instead of those cotangents. Cached with the program.
    """
    key = ("transposed region", linear, given, summed, order, generation.value)
    return program.memo(key, lambda: _transpose_region(program, linear, given, summed, order))


def _transpose_region(
    program: ClosedJaxpr, linear: Flags, given: Flags, summed: Flags, order: tuple[int, ...]
) -> ClosedJaxpr:
    avals = program.in_avals
    known = [a for a, live in zip(avals, linear) if not live]
    live_cts = [transposed_type(a) for a, live in zip(avals, linear) if live]
    sums = [a for a, own in zip(live_cts, summed) if own]
    cts = [transposed_type(a) for a, g in zip(program.out_avals, given) if g]

    def transposed(*ordered: Any) -> list[Any]:
        args = [x for _, x in sorted(zip(order, ordered), key=itemgetter(0))]
        values = iter(args[: len(known)])
        before = iter(args[len(known) : len(known) + len(sums)])
        rest = iter(args[len(known) + len(sums) :])
        trace = LinearTrace(get_trace())
        ins = [trace.unknown(a) if live else next(values) for a, live in zip(avals, linear)]
        outs = at_own_lines(run_under, trace, run_linear, trace, program, *ins)
        unknown = [x for x, live in zip(ins, linear) if live]
        wanted = [next(rest) if g else None for g in given]
        result = at_own_lines(backward_pass, trace, unknown, outs, wanted)
        return [
            _total(next(before) if own else None, ct, a)
            for ct, own, a in zip(result, summed, live_cts)
        ]

    types = [*known, *sums, *cts]
    return stage_closed(transposed, [types[k] for k in order], program.jaxpr.name)


def _total(before: Any, ct: Any, aval: Any) -> Any:
    """The sum of two cotangents either of which may be None, for zero."""
    if before is None:
        return zeros_like_aval(aval) if ct is None else ct
    return before if ct is None else add_tangents(before, ct)
