"""The description of a loop in the parameters of the primitives for checkpointed loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from dovetail_core import (
    CONTROL,
    ClosedJaxpr,
    Kind,
    Operand,
    Region,
    RegionInterface,
    ShapedArray,
    with_leading,
)

from .integers import INT
from .schemes import Online

CONTROL_COLUMNS = 4
"""The columns of the integers that a forward pass returns: a row for each kept state (position,
repetitions, length, index in the buffers), then one with the last row in use and the end."""


@dataclass(frozen=True)
class Loop:
    """A loop: ``scan`` (``length`` and ``reverse``) or ``while`` (``condition``).

    ``body(*consts, *carry, *xs) -> (*carry, *ys)``; ``condition(*consts, *carry)``.
    """

    body: ClosedJaxpr
    condition: ClosedJaxpr | None
    num_consts: int
    num_carry: int
    length: int | None
    reverse: bool
    unroll: int
    scheme: Any

    @classmethod
    def of(cls, params: dict[str, Any]) -> Loop:
        """The loop described by the parameters of one of these primitives."""
        return cls(**{f.name: params[f.name] for f in fields(cls)})

    @property
    def params(self) -> dict[str, Any]:
        """Parameters of these primitives."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def parts(self, values: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        """Values that belong to operands, in three lists: for constants, carry and slices."""
        n, m = self.num_consts, self.num_consts + self.num_carry
        return list(values[:n]), list(values[n:m]), list(values[m:])

    @property
    def in_types(self) -> list[Any]:
        """The operands' types."""
        consts, carry, xs = self.parts(self.body.in_avals)
        return [*consts, *carry, *map(self.stacked, xs)]

    @property
    def out_types(self) -> list[Any]:
        """The results' types."""
        outs = self.body.out_avals
        return [*outs[: self.num_carry], *map(self.stacked, outs[self.num_carry :])]

    def stacked(self, aval: Any) -> Any:
        """The type of an array whose slices, of type ``aval``, the loop reads or writes."""
        assert self.length is not None
        return with_leading(aval, self.length)

    @property
    def slots(self) -> int:
        """The number of carries for which there is room."""
        if isinstance(self.scheme, Online):
            return self.scheme.snapshots + 1
        return max(self.scheme.slots(self.length), 2)

    def buffer(self, aval: Any) -> Any:
        """The type of the kept states of a carry."""
        return with_leading(aval, self.slots)

    @property
    def control(self) -> ShapedArray:
        """The type of the integers that describe the kept states."""
        return ShapedArray((self.slots + 1, CONTROL_COLUMNS), INT)

    def with_body(self, body: ClosedJaxpr, consts: int, carry: int, **changes: Any) -> Loop:
        """This loop with another body."""
        return replace(self, body=body, num_consts=consts, num_carry=carry, **changes)


def regions_of(params: dict[str, Any]) -> RegionInterface:
    """The regions of the loop that ``params`` describe."""
    loop = Loop.of(params)
    nc, nk = loop.num_consts, loop.num_carry
    ins, outs = len(loop.body.in_avals), len(loop.body.out_avals)

    def rebuild(programs: Sequence[ClosedJaxpr], operands: Sequence[Operand]) -> dict[str, Any]:
        kinds = [x.kind for x in operands]
        counts = {
            "num_consts": kinds.count(Kind.CONSTANT),
            "num_carry": kinds.count(Kind.CARRIED),
        }
        condition = programs[0] if len(programs) == 2 else None
        return {**params, "condition": condition, "body": programs[-1], **counts}

    step = Region(loop.body, tuple(range(ins)), tuple(range(outs)))
    test = Region(loop.condition, tuple(range(ins)), (CONTROL,)) if loop.condition else None
    return RegionInterface(
        (step,) if test is None else (test, step),
        (*[Kind.CONSTANT] * nc, *[Kind.CARRIED] * nk, *[Kind.SLICED] * (ins - nc - nk)),
        (*[Kind.CARRIED] * nk, *[Kind.STACKED] * (outs - nk)),
        rebuild,
        runs="in turn",
        length=loop.length,
    )
