"""The table ``remat.cost``: how much work an operation is, by which a budget chooses."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple, Protocol

from dovetail_core import ClosedJaxpr, Eqn, Primitive, RegionInterface, RuleTable

BALANCE = 0.5
"""Flops that take as long as moving one byte: what memory-bound operations cost."""


class CostRule(Protocol):
    """The floating-point operations of one application of a primitive.

    ``rule(in_avals, out_avals, **params)`` returns a number. Zero means that the operation is
    free: it only says how its operand's memory is to be read (a reshape, a broadcast).
    """

    def __call__(self, in_avals: Any, out_avals: Any, /, **params: Any) -> float: ...


class Work(NamedTuple):
    """What one equation costs.

    Attributes:
        flops: floating-point operations.
        bytes: of its operands and results, 0 where it is free.
    """

    flops: float
    bytes: float

    @property
    def cost(self) -> float:
        """Both as one number, in flops."""
        return self.flops + BALANCE * self.bytes


def _derive(primitive: Primitive) -> Callable[..., float] | None:
    if primitive.regions is not None:
        return _of_programs(primitive)
    return lambda in_avals, out_avals, /, **params: float(sum(map(size, out_avals)))


def size(aval: Any) -> int:
    """How many elements a value has; 1 for what is no array."""
    return prod(getattr(aval, "shape", ()))


def _of_programs(primitive: Primitive) -> Callable[..., float]:
    """All sub-programs, as often as a loop runs them; one of several branches."""

    def rule(in_avals: Any, out_avals: Any, /, **params: Any) -> float:
        assert primitive.regions is not None
        interface: RegionInterface = primitive.regions(params)
        each = [program_flops(r.program) for r in interface.regions]
        once = max(each) if interface.is_choice else sum(each)
        return once * (1 if interface.length is None else interface.length)

    return rule


cost_rules: RuleTable[Callable[..., float]] = RuleTable(
    "remat.cost", signature=CostRule, derive=_derive, law="cost"
)


def work(eqn: Eqn) -> Work:
    """What an equation costs."""
    ins, outs = [x.aval for x in eqn.invars], [v.aval for v in eqn.outvars]
    flops = float(cost_rules[eqn.primitive](ins, outs, **eqn.params))
    moved = sum(nbytes(a) for a in (*ins, *outs)) if flops else 0
    return Work(flops, moved)


def program_flops(program: ClosedJaxpr) -> float:
    """The floating-point operations of a whole program; remembered with it."""
    return program.memo("flops", lambda: sum(work(e).flops for e in program.eqns))


def nbytes(aval: Any) -> int:
    """The size of a value of this type in bytes (0 where that is not known)."""
    dtype = getattr(aval, "dtype", None)
    return getattr(aval, "size", 0) * getattr(dtype, "itemsize", 0)
