"""The cost model: the table ``remat.cost`` of the work of operations, by which budgets choose."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple, Protocol

from dovetail_core import ClosedJaxpr, Eqn, Primitive, RegionInterface, RuleTable

BALANCE = 0.5
"""Flops that take as long as moving one byte; gives the cost of memory-bound operations."""


class CostRule(Protocol):
    """The floating-point operations of one application of a primitive.

    ``rule(in_avals, out_avals, **params)`` returns a number. Zero means that the operation is
    free: it only changes how the memory of its operand is read (a reshape, a broadcast).
    """

    def __call__(self, in_avals: Any, out_avals: Any, /, **params: Any) -> float: ...


class Work(NamedTuple):
    """The work of one equation.

    Attributes:
        flops: floating-point operations.
        bytes: the size of its operands and results; 0 if it is free.
    """

    flops: float
    bytes: float

    @property
    def cost(self) -> float:
        """Flops and bytes as one number, in flops."""
        return self.flops + BALANCE * self.bytes


def _derive(primitive: Primitive) -> Callable[..., float] | None:
    if primitive.regions is not None:
        return _of_programs(primitive)
    return lambda in_avals, out_avals, /, **params: float(sum(map(size, out_avals)))


def size(aval: Any) -> int:
    """The number of elements of a value; 1 if it is not an array."""
    return prod(getattr(aval, "shape", ()))


def _of_programs(primitive: Primitive) -> Callable[..., float]:
    """The rule that sums the work of all regions, times the iterations of a loop; of branches the
    most expensive one counts."""

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
    """The work of an equation."""
    ins, outs = [x.aval for x in eqn.invars], [v.aval for v in eqn.outvars]
    flops = float(cost_rules[eqn.primitive](ins, outs, **eqn.params))
    moved = sum(nbytes(a) for a in (*ins, *outs)) if flops else 0
    return Work(flops, moved)


def program_flops(program: ClosedJaxpr) -> float:
    """The floating-point operations of a program; cached with it."""
    return program.memo("flops", lambda: sum(work(e).flops for e in program.eqns))


def nbytes(aval: Any) -> int:
    """The size of a value of this type in bytes; 0 if it is not known."""
    dtype = getattr(aval, "dtype", None)
    return getattr(aval, "size", 0) * getattr(dtype, "itemsize", 0)
