"""Rebuilding of applications from changed regions, with other operands, results and kinds.

The code that changes an application gives, region by region, the slot of each input of a program
and the slot of each output. A slot that is both is a loop variable. Here slots are brought into the
order of kinds, inputs and outputs of programs into that of slots, and the primitive's interface
makes its parameters of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from ..dispatch.primitive import Primitive
from .closing import (
    merge_operands as merge_operands,
    mutable_constants as mutable_constants,
    same_operands as same_operands,
    with_inputs,
)
from .programs import ClosedJaxpr, Var
from .regions import CONTROL, Kind, Operand, Rebuild, RegionInterface

__all__ = (
    "Application",
    "Part",
    "Slot",
    "assemble",
    "bind_rewritten",
    "merge_operands",
    "mutable_constants",
    "rearrange",
    "same_operands",
    "slots_of",
)


class Slot:
    """An operand, a result, or a loop variable of an application that is being rebuilt.

    ``value`` is the operand, ``origin`` the number of the operand that it replaces. A region that
    does not define a result returns the input of the slot ``otherwise``; for a loop variable that
    is the slot itself.
    """

    __slots__ = ("kind", "value", "origin", "_otherwise")

    def __init__(
        self,
        kind: Kind,
        value: Any = None,
        origin: int | None = None,
        otherwise: Slot | None = None,
    ) -> None:
        self.kind = kind
        self.value = value
        self.origin = origin
        self._otherwise = otherwise

    @property
    def otherwise(self) -> Slot | None:
        """The slot whose input is returned for this result. Itself is not stored as such: its value
        would not be freed after the last use."""
        return self if self.kind.carried else self._otherwise


def slots_of(interface: RegionInterface, args: Sequence[Any]) -> tuple[list[Slot], list[Slot]]:
    """Slots for the operands of an application, with their values, and for its results."""
    kinds = zip(interface.operands, args)
    operands = [Slot(kind, x, i) for i, (kind, x) in enumerate(kinds)]
    results = [Slot(kind) for kind in interface.results]
    for r, i in interface.loop:
        results[r] = operands[i]
    return operands, results


class Part(NamedTuple):
    """A region: a program, the slots of its inputs, and those of its outputs (None: unused)."""

    program: ClosedJaxpr
    ins: Sequence[Slot]
    outs: Sequence[Slot | int | None]


class Application(NamedTuple):
    """A rebuilt application: parameters, and operands and results in order."""

    params: dict[str, Any]
    operands: list[Slot]
    results: list[Slot]

    def bind(self, primitive: Primitive) -> dict[Slot, Any]:
        """Apply ``primitive``; returns the results by their slots."""
        outs = primitive.bind(*[s.value for s in self.operands], **self.params)
        return dict(zip(self.results, outs))


def assemble(
    rebuild: Rebuild, parts: Sequence[Part], operands: Sequence[Slot], results: Sequence[Slot]
) -> Application:
    """The application of the given parts; slots of one kind stay in the given order.

    Mutable values that a part's program closes over become operands.
    """
    parts, operands = _with_mutable_operands(parts, operands)
    ins = sorted(operands, key=_rank)
    rest = sorted([s for s in results if not s.kind.carried], key=_rank)
    if len(parts) > 1:
        # Each has slices and stacked results of its own: those of the first come first.
        taken = _first(parts, [p.ins for p in parts])
        given = _first(parts, [p.outs for p in parts])
        ins.sort(key=lambda s: (s.kind.rank, taken.get(s, 0) if s.kind is Kind.SLICED else 0))
        rest.sort(key=lambda s: given.get(s, 0) if s.kind is Kind.STACKED else -1)
    carried = [s for s in ins if s.kind.carried]
    outs = [*carried, *rest]
    seen = ins if ins and ins[0].kind is not Kind.CONTROL else ins[1:]
    if len(parts) == 1:
        programs = [_arranged(parts[0], seen, outs, parts)]
    else:
        programs = [_arranged(p, *_own(p, seen, outs), parts) for p in parts]
    params = rebuild(programs, [Operand(s.kind, s.origin) for s in ins])
    return Application(params, ins, outs)


def bind_rewritten(primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
    """Apply a primitive with regions whose programs were changed one by one; mutable values that
    they close over become operands."""
    assert primitive.regions is not None
    interface: RegionInterface = primitive.regions(params)
    if not any(mutable_constants(r.program) for r in interface.regions):
        return primitive.bind(*args, **params)
    operands, results = slots_of(interface, args)
    parts = [
        Part(
            r.program,
            [operands[i] for i in r.operands],
            [k if k == CONTROL else results[k] for k in r.results],
        )
        for r in interface.regions
    ]
    result = assemble(interface.rebuild, parts, operands, results).bind(primitive)
    return [result[s] for s in results]


def _with_mutable_operands(
    parts: Sequence[Part], operands: Sequence[Slot]
) -> tuple[Sequence[Part], Sequence[Slot]]:
    if not any(p.program.consts and mutable_constants(p.program) for p in parts):
        return parts, operands
    slots = {id(s.value): s for s in operands if s.kind is Kind.CONSTANT}
    further: list[Slot] = []
    changed: list[Part] = []
    for part in parts:
        positions: list[int | None] = []
        new: list[Slot] = []
        for value in mutable_constants(part.program):
            slot = slots.get(id(value))
            if slot is None:
                slot = slots[id(value)] = Slot(Kind.CONSTANT, value)
                further.append(slot)
            known = slot in part.ins
            positions.append(part.ins.index(slot) if known else None)
            new += [] if known else [slot]
        program = with_inputs(part.program, positions)
        changed.append(Part(program, [*new, *part.ins], part.outs))
    return changed, [*operands, *further]


_rank = attrgetter("kind.rank")


def _first(parts: Sequence[Part], slots: Sequence[Sequence[Any]]) -> dict[Any, int]:
    """The first part that has each slot."""
    return {s: n for n in reversed(range(len(parts))) for s in slots[n]}


def _own(part: Part, ins: Sequence[Slot], outs: Sequence[Slot]) -> tuple[list[Slot], list[Slot]]:
    """The slots of inputs and outputs without the slices and stacked results of other parts."""
    taken, given = set(part.ins), set(part.outs)
    return (
        [s for s in ins if s.kind is not Kind.SLICED or s in taken],
        [s for s in outs if s.kind is not Kind.STACKED or s in given],
    )


def _arranged(
    part: Part, ins: Sequence[Slot], outs: Sequence[Slot], parts: Sequence[Part]
) -> ClosedJaxpr:
    """The part's program, with inputs and outputs in the given order.

    An input is added for each slot that it does not take. If it takes loop variables several times
    (the two operands of a reduction), all of the first come before all of the second.
    """
    if part.ins == ins and part.outs == outs:
        return part.program
    taken = {s: k for k, s in enumerate(part.ins)}
    given = {s: k for k, s in enumerate(part.outs)}
    if len(taken) == len(part.ins) == len(ins) and len(given) == len(part.outs) == len(outs):
        try:
            inputs, outputs = [taken[s] for s in ins], [given[s] for s in outs]
            return rearrange(part.program, tuple(inputs), tuple(outputs))
        except KeyError:
            pass  # as many, but not the same slots
    return _completed(part, ins, outs, parts)


def _completed(
    part: Part, ins: Sequence[Slot], outs: Sequence[Slot], parts: Sequence[Part]
) -> ClosedJaxpr:
    """The part's program with further inputs, and outputs that return inputs."""
    types = {s: a for p in parts for s, a in zip(p.ins, p.program.in_avals)}
    inputs: list[Any] = []  # positions, or types of inputs that are added
    where: dict[Slot, int] = {}
    for slot, k in _in_rounds(ins, part.ins):
        where.setdefault(slot, len(inputs))
        inputs.append(types[slot] if k is None else k)
    if CONTROL in part.outs:
        return rearrange(part.program, tuple(inputs), (0,))
    outputs: list[int] = []
    for slot, k in _in_rounds(outs, part.outs):
        if k is None:
            assert slot.otherwise is not None, "each region defines each plain result"
            k = ~where[slot.otherwise]
        outputs.append(k)
    return rearrange(part.program, tuple(inputs), tuple(outputs))


def _in_rounds(order: Sequence[Slot], result: Sequence[Any]) -> list[tuple[Slot, int | None]]:
    """Slots in order, each with its index in ``found`` or None; loop variables round by round."""
    positions: dict[Any, list[int]] = {}
    for k, slot in enumerate(result):
        positions.setdefault(slot, []).append(k)
    carried = [s for s in order if s.kind.carried]
    start = order.index(carried[0]) if carried else 0
    rounds = max((len(positions.get(s, ())) for s in carried), default=0)
    before, after = order[:start], order[start + len(carried) :]
    pairs: list[tuple[Slot, int | None]] = [(s, _position(positions, s, 0)) for s in before]
    for n in range(max(rounds, 1)):
        pairs += [
            (s, _position(positions, s, n))
            for s in carried
            if n < max(len(positions.get(s, ())), 1)
        ]
    return pairs + [(s, _position(positions, s, 0)) for s in after]


def _position(positions: dict[Any, list[int]], slot: Slot, n: int) -> int | None:
    return positions[slot][n] if slot in positions else None


def rearrange(
    program: ClosedJaxpr, inputs: tuple[Any, ...], outputs: tuple[int, ...]
) -> ClosedJaxpr:
    """The program with these inputs and outputs; remembered with it.

    Args:
        inputs: positions among its inputs, or types of inputs that it does not use.
        outputs: positions among its outputs, or ``~k`` for its new input number k.
    """
    jaxpr = program.jaxpr
    if inputs == tuple(range(len(jaxpr.invars))) and outputs == tuple(range(len(jaxpr.outvars))):
        return program
    return program.memo(("arranged", inputs, outputs), lambda: _permute(program, inputs, outputs))


def _permute(
    program: ClosedJaxpr, inputs: tuple[Any, ...], outputs: tuple[int, ...]
) -> ClosedJaxpr:
    jaxpr = program.jaxpr
    invars = [jaxpr.invars[i] if isinstance(i, int) else Var(i) for i in inputs]
    outvars = [jaxpr.outvars[k] if k >= 0 else invars[~k] for k in outputs]
    n = len(jaxpr.constvars)
    at = {n + i: n + k for k, i in enumerate(inputs) if isinstance(i, int)}
    at.update((i, i) for i in range(n))
    types = {at[i]: t for i, t in jaxpr.mut_types.items() if i in at}
    changed = jaxpr.replace(invars=invars, outvars=outvars, mut_types=types)
    return ClosedJaxpr(changed, program.consts)
