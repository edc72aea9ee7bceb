"""The rule table ``experimental.cost``: an operation's arithmetic, and the memory that it moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple, Protocol

from dovetail_core import ClosedJaxpr, Primitive, RegionInterface, RuleTable, stage_closed
from dovetail_cost import cost_rules as flop_rules


class Cost(NamedTuple):
    """The cost of one application of a primitive.

    Attributes:
        flops: floating-point operations, but for transcendental functions.
        transcendentals: values of ``exp``, ``sin``, ``sqrt`` and the like.
        reads: bytes that are read of each operand; None: all of them.
        writes: bytes that are written of each result; None: all of them.
        stored: bytes that are written into operands.
        view: the results are the operands' memory, seen otherwise.
    """

    flops: float = 0.0
    transcendentals: float = 0.0
    reads: tuple[float, ...] | None = None
    writes: tuple[float, ...] | None = None
    stored: float = 0.0
    view: bool = False


class Nested(NamedTuple):
    """An application that costs what programs cost.

    Attributes:
        programs: what is run. choice: whether one of them is, or all.
        times: how often; None where that is not known.
    """

    programs: list[ClosedJaxpr]
    choice: bool = False
    times: int | None = 1


class CostRule(Protocol):
    """The cost of one application of a primitive.

    ``rule(in_avals, out_avals, **params)`` returns a :class:`Cost`, or :class:`Nested` programs.
    """

    def __call__(self, in_avals: Any, out_avals: Any, /, **params: Any) -> Cost | Nested: ...


def size(aval: Any) -> int:
    """The number of elements of a value; 1 for what is no array."""
    return prod(getattr(aval, "shape", ()))


def nbytes(aval: Any) -> int:
    """The size of a value of this type in bytes; 0 where that is not known."""
    return size(aval) * getattr(getattr(aval, "dtype", None), "itemsize", 0)


def _of_regions(primitive: Primitive) -> CostRule:
    """A loop runs its programs again and again, a branch runs one of them."""

    def rule(in_avals: Any, out_avals: Any, /, **params: Any) -> Nested:
        assert primitive.regions is not None
        interface: RegionInterface = primitive.regions(params)
        times = interface.length if interface.is_loop else 1
        return Nested([r.program for r in interface.regions], interface.is_choice, times)

    return rule


def _of_decomposition(decomposition: Callable[..., Any]) -> CostRule:
    def rule(in_avals: Any, out_avals: Any, /, **params: Any) -> Nested:
        def flat(*xs: Any) -> Sequence[Any]:
            out = decomposition(*xs, **params)
            return out if isinstance(out, (list, tuple)) else [out]

        return Nested([stage_closed(flat, in_avals)])

    return rule


def _of_references(primitive: Primitive) -> CostRule:
    """The memory traffic of references: what is read is the result, all else is stored there."""

    def rule(in_avals: Any, out_avals: Any, /, **params: Any) -> Cost:
        result = sum(map(nbytes, out_avals))
        given = [a for a in in_avals if not a.is_mutable]
        reads = tuple(result if a.is_mutable else nbytes(a) for a in in_avals)
        adds = sum(map(size, given)) if primitive.name == "ref.addupdate" else 0
        into = sum(map(nbytes, given)) if len(given) < len(in_avals) else 0
        return Cost(adds, reads=reads, stored=into)

    return rule


def _derive(primitive: Primitive) -> CostRule:
    """By regions; references; flops that ``remat.cost`` declares; decomposition; an operation for
    each element of the results."""
    if primitive.regions is not None:
        return _of_regions(primitive)
    if primitive.stateful and not primitive.anonymous:
        return _of_references(primitive)
    flops = flop_rules[primitive]
    if primitive.decomposition is not None and flop_rules.is_derived(primitive):
        return _of_decomposition(primitive.decomposition)

    def rule(in_avals: Any, out_avals: Any, /, **params: Any) -> Cost:
        result = flops(in_avals, out_avals, **params)
        return Cost(result, view=not result)  # there no flops say that it is free

    return rule


cost_rules: RuleTable[CostRule] = RuleTable(
    "experimental.cost", signature=CostRule, derive=_derive, law="operation_cost"
)
