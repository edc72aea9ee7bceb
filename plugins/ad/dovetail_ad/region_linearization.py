"""Linearization of primitives with regions: a known part that runs now, and a linear part.

The ``ad.partial_eval`` rule of such a primitive follows from its regions. Each region is split in
two. The primitive is applied to the known parts, which also return the residuals that the linear
parts need. A second application, to the linear parts, takes the residuals and is recorded. A
residual of a loop is stacked, one slice for each iteration; branches share results for residuals of
one type, because only one branch runs; residuals of a call are further results. Constants and
slices are residuals themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from dovetail_core import (
    CONTROL,
    ClosedJaxpr,
    Kind,
    MissingRule,
    Part,
    Primitive,
    Region,
    RegionInterface,
    Slot,
    algebra,
    assemble,
    current_source,
    dce_closed,
    describe_source,
    eval_jaxpr,
    high_algebra,
    is_inexact,
    mutable_values,
    slots_of,
    stage_closed,
    typeof,
    zeros_like_aval,
)

from .linear import LinearTrace
from .split import Split, shared, split_program
from .tables import partial_eval_rules


@partial_eval_rules.deriver
def derive_partial_eval(primitive: Primitive) -> Callable[..., list[Any]] | None:
    """The rule that follows from a primitive's regions."""
    if primitive.regions is None:
        return None

    def rule(trace: LinearTrace, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        interface: RegionInterface = primitive.regions(params)  # type: ignore[misc]
        result = split_regions(interface, [trace.owns(x) for x in args])
        if result.has_unknown_control(interface):
            if any([typeof(x).is_mutable for x in args]):  # noqa: C419
                raise not_linear(primitive, interface)
            return trace.record(primitive, args, params)
        if interface.is_open_ended:
            return _run_twice(primitive, trace, args, params, interface, result)
        return _Linearization(primitive, interface, result, args).run(trace)

    return rule


def not_linear(primitive: Primitive, interface: RegionInterface) -> MissingRule:
    """The error for an application with :meth:`SplitRegions.has_unknown_control`."""
    return MissingRule(
        f"{interface.title or primitive.name}{describe_source(current_source())} is not linear: "
        "its predicate depends on a value in which the function that is being transposed should "
        "be linear."
    )


class SplitRegions(NamedTuple):
    """The regions of one application in two parts each.

    Attributes:
        splits: one for each region.
        unknown: True for each unknown operand; a loop variable is unknown if any iteration makes
            it unknown.
        out_unknown: True for each unknown result.
    """

    splits: list[Split]
    unknown: list[bool]
    out_unknown: list[bool]

    def has_unknown_control(self, interface: RegionInterface) -> bool:
        """True if unknown values decide which region runs, or how often: then none can run yet."""
        if interface.control is not None and self.unknown[interface.control]:
            return True
        return any(
            CONTROL in region.results and any(split.out_unknown)
            for region, split in zip(interface.regions, self.splits)
        )


def split_regions(interface: RegionInterface, unknown: Sequence[bool]) -> SplitRegions:
    """Split the regions at unknown operands.

    A loop variable is unknown as an input of the body exactly if it is as an output, and a result
    is unknown in all regions if it is in one. A loop variable changes in each iteration, so it
    cannot serve as a residual; constants and slices can.
    """
    ins, force = list(unknown), [False] * len(interface.results)
    while True:
        for r, i in interface.loop:
            force[r] = ins[i]
        splits = [_split_region(interface, region, ins, force) for region in interface.regions]
        out = list(force)
        for region, split in zip(interface.regions, splits):
            for r, is_unknown in zip(region.results, split.out_unknown):
                if r != CONTROL:
                    out[r] = out[r] or is_unknown
        risen = [i for r, i in interface.loop if out[r] and not ins[i]]
        for i in risen:
            ins[i] = True
        if not risen and all(
            out[r] == u or r == CONTROL
            for region, split in zip(interface.regions, splits)
            for r, u in zip(region.results, split.out_unknown)
        ):
            return SplitRegions(splits, ins, out)
        if not risen:
            force = out


def _split_region(
    interface: RegionInterface, region: Region, unknown: Sequence[bool], force: Sequence[bool]
) -> Split:
    forced = tuple(r != CONTROL and force[r] for r in region.results)
    direct = tuple(not interface.operands[i].carried for i in region.operands)
    return split_program(
        region.program,
        tuple(unknown[i] for i in region.operands),
        forced if any(forced) else None,
        None if all(direct) else direct,
    )


class _Linearization:
    """One application: slots for its operands and results, and for residuals."""

    def __init__(
        self,
        primitive: Primitive,
        interface: RegionInterface,
        result: SplitRegions,
        args: Sequence[Any],
    ) -> None:
        self.primitive = primitive
        self.interface = interface
        self.splits, self.unknown, self.out_unknown = result
        self.operands, self.results = slots_of(interface, args)
        self.invariants: list[list[Slot]] = [[] for _ in self.splits]
        if interface.is_loop:
            self._share()
        self.residuals: list[list[Slot]] = []  # per region, in the order of its split

    def _share(self) -> None:
        """Compute residuals that are the same in all iterations outside the loop."""
        for n, (region, split) in enumerate(zip(self.interface.regions, self.splits)):
            known = [self.operands[i] for i in region.operands if not self.unknown[i]]
            result = shared(split, tuple([s.kind is Kind.CONSTANT for s in known]))
            values = result.values([s.value for s in known])
            self.splits[n] = result.split
            self.invariants[n] = [Slot(Kind.CONSTANT, x) for x in values]

    def run(self, trace: LinearTrace) -> list[Any]:
        """Apply the primitive to the known parts, and record it with the linear ones."""
        known = self._known()
        if not any(self.out_unknown):
            return [known[s] for s in self.results]
        linear = self._linear(trace, known)
        pairs = zip(self.results, self.out_unknown)
        return [linear[s] if is_unknown else known[s] for s, is_unknown in pairs]

    def _filter(self, slots: Sequence[Slot], flags: Sequence[bool], wanted: bool) -> list[Slot]:
        return [s for s, f in zip(slots, flags) if f == wanted]

    def _known(self) -> dict[Slot, Any]:
        """Results of the known parts, and residuals."""
        results = self._filter(self.results, self.out_unknown, False)
        residuals, programs = self._residuals()
        parts: list[Part] = []
        for region, program, made in zip(self.interface.regions, programs, residuals):
            ins = [self.operands[i] for i in region.operands if not self.unknown[i]]
            outs = [self.results[r] for r in region.results if not self.out_unknown[r]]
            parts.append(Part(program, ins, [*outs, *made]))
        slots = dict.fromkeys(s for made in residuals for s in made)
        known = set(results)
        further = [s for s in slots if s not in known]
        operands = self._filter(self.operands, self.unknown, False)
        if not results and not further and not any(p.program.effects for p in parts):
            return {}
        application = assemble(self.interface.rebuild, parts, operands, [*results, *further])
        return application.bind(self.primitive)

    def _residuals(self) -> tuple[list[list[Slot]], list[ClosedJaxpr]]:
        """Per region the slots that it returns after its results, and the program that does."""
        if self.interface.is_choice:
            shared = _SharedResiduals(self.splits)
            slots = [Slot(Kind.PLAIN) for _ in shared.types]
            self.residuals = [[slots[k] for k in own] for own in shared.indices]
            programs = [shared.padded(s, own) for s, own in zip(self.splits, shared.indices)]
            return [slots for _ in programs], programs
        kind = Kind.STACKED if self.interface.is_loop else Kind.PLAIN
        pairs = zip(self.interface.regions, self.splits)
        self.residuals = [self._forwarded(region, split, kind) for region, split in pairs]
        return self.residuals, [s.known for s in self.splits]

    def _forwarded(self, region: Region, split: Split, kind: Kind) -> list[Slot]:
        """Slots of the residuals: that of a result of this kind and equal value, or a new one."""
        outvars = split.known.jaxpr.outvars
        known = [self.results[r] for r in region.results if not self.out_unknown[r]]
        same = {v: s for v, s in zip(outvars, known) if s.kind is kind}
        return [same.get(v) or Slot(kind) for v in outvars[split.num_known_outputs :]]

    def _linear(self, trace: LinearTrace, known: dict[Slot, Any]) -> dict[Slot, Any]:
        """Record the linear parts; results by their slots."""
        interface = self.interface
        kind = Kind.SLICED if interface.is_loop else Kind.CONSTANT
        taken: dict[Slot, Slot] = {}
        parts: list[Part] = []
        every = zip(interface.regions, self.splits, self.residuals, self.invariants)
        for region, split, returned, invariants in every:
            inputs = [self.operands[i] for i in region.operands]
            unknown = [self.unknown[i] for i in region.operands]
            given = self._filter(inputs, unknown, False) + invariants
            ins: list[Slot] = []
            for direct, i in split.residuals:
                slot = given[i] if direct else taken.get(returned[i])
                if slot is None:
                    slot = Slot(kind, known[returned[i]])
                taken[slot if direct else returned[i]] = slot
                ins.append(slot)
            ins += self._filter(inputs, unknown, True)
            outs = [self.results[r] for r in region.results if self.out_unknown[r]]
            parts.append(Part(split.linear, ins, outs))
        control = [] if interface.control is None else [self.operands[interface.control]]
        operands = [*control, *taken.values(), *self._filter(self.operands, self.unknown, True)]
        results = self._filter(self.results, self.out_unknown, True)
        made = assemble(interface.rebuild, parts, operands, results)
        values = [s.value for s in made.operands]
        return dict(zip(made.results, trace.record(self.primitive, values, made.params)))


class _SharedResiduals:
    """Results for the residuals of branches: those of one type are shared, as one branch runs.

    ``types`` has the type of each, ``indices`` per branch the indices of its own residuals.
    """

    def __init__(self, splits: Sequence[Split]) -> None:
        self.types: list[Any] = []
        self.indices = [self._assign(s) for s in splits]

    def _assign(self, split: Split) -> list[int]:
        free = list(range(len(self.types)))
        indices: list[int] = []
        for aval in split.known.out_avals[split.num_known_outputs :]:
            i = next((i for i in free if self.types[i] == aval), None)
            if i is None:
                i = len(self.types)
                self.types.append(aval)
            else:
                free.remove(i)
            indices.append(i)
        return indices

    def padded(self, split: Split, own: Sequence[int]) -> ClosedJaxpr:
        """A program that returns known results, then all residuals, padded for other branches."""
        if list(own) == list(range(len(self.types))):
            return split.known
        types, n = tuple(self.types), split.num_known_outputs

        def branch(*args: Any) -> list[Any]:
            outs = eval_jaxpr(split.known.jaxpr, split.known.consts, *args)
            held = dict(zip(own, outs[n:]))
            return outs[:n] + [held[k] if k in held else _padding(t) for k, t in enumerate(types)]

        return split.known.memo(
            ("shared residuals", types, tuple(own)),
            lambda: stage_closed(branch, split.known.in_avals, split.known.jaxpr.name),
        )


def _padding(aval: Any) -> Any:
    """A value for a residual of another branch.

    If the index is mapped, all branches run, on padding too, and multiply cotangents of zero by
    what they compute from it. Linear programs multiply and divide by residuals, so with ones all
    values are finite and products zero; with zeros they would be NaN. Indices are zero, in range.
    """
    if aval.is_high:
        return high_algebra().make(aval, [_padding(a) for a in aval.lo_ty()])
    return (
        algebra().full(aval, 1)
        if is_inexact(getattr(aval, "dtype", None))
        else zeros_like_aval(aval)
    )


def _run_twice(
    primitive: Primitive,
    trace: LinearTrace,
    args: Sequence[Any],
    params: dict[str, Any],
    interface: RegionInterface,
    result: SplitRegions,
) -> list[Any]:
    """Run the known part of a loop of unknown length now, and record the complete loop.

    Its residuals cannot be stacked, so the recorded loop computes the known values again. It can be
    evaluated but not transposed.
    """
    operands, results = slots_of(interface, args)
    parts: list[Part] = []
    for region, split in zip(interface.regions, result.splits):
        n, known = split.num_known_outputs, split.known
        wanted = [k < n for k in range(len(known.out_avals))]
        ins = [operands[i] for i in region.operands if not result.unknown[i]]
        left = [r for r in region.results if r == CONTROL or not result.out_unknown[r]]
        outs = [r if r == CONTROL else results[r] for r in left]
        parts.append(Part(dce_closed(known, wanted, True)[0], ins, outs))
    kept = [s for s, u in zip(operands, result.unknown) if not u]
    local = _on_snapshots(trace, args)
    values = assemble(interface.rebuild, parts, kept, []).bind(primitive)  # by loop variables
    if local is None:
        recorded = trace.record(primitive, args, params)
    else:
        recorded = mutable_values.apply_local(trace, primitive, local, params)
    return [
        x if is_unknown else values[s]
        for x, s, is_unknown in zip(recorded, results, result.out_unknown)
    ]


def _on_snapshots(trace: LinearTrace, args: Sequence[Any]) -> list[Any] | None:
    """The operands with copies instead of references, so that a second run has no effects.

    Returns None if there are no references.
    """
    avals = [typeof(x) for x in args]
    if not any(a.is_mutable for a in avals):
        return None
    return [
        mutable_values.LocalValue(trace, a, a.read(x)) if a.is_mutable else x
        for x, a in zip(args, avals)
    ]
