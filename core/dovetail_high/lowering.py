"""Lowering to low types: programs and operations on high values as programs on their arrays.

While a program is lowered a high value is an instance of the user's own class, made by
``raise_val`` from traced arrays; ``to_lo`` rules take and return such values. A primitive that
holds sub-programs needs no rule: it is rebuilt from its lowered regions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

from dovetail_base.source import current_source, describe
from dovetail_core import (
    AbstractValue,
    Carrier,
    ClosedJaxpr,
    Eqn,
    LiftTrace,
    Primitive,
    RuleTable,
    Trace,
    lift_program,
    lift_regions,
    low_types,
    rule_checks,
    typeof,
    with_leading,
    without_leading,
)

from .partial import run_partly
from .types import low_parts


class ToLoRule(Protocol):
    """A function of low operations that does the same as a high one: ``rule(*args, **params)``.

    High operands are values of the user's classes, whose arrays may be traced; high results are
    returned so, a list where the primitive has multiple results.
    """

    def __call__(self, *args: Any, **params: Any) -> Any: ...


def _derive(primitive: Primitive) -> ToLoRule | None:
    if primitive.traits.moves:
        return partial(_array_by_array, primitive)
    if primitive.regions is None:
        return primitive.decomposition
    return lambda *args, **params: lift_regions(LowCarrier(primitive.name), primitive, args, params)


to_lo_rules: RuleTable[Callable[..., Any]] = RuleTable(
    "to_lo",
    signature=ToLoRule,
    derive=_derive,
    empty="low operations need none; a high one without decomposition cannot be compiled",
)


def _array_by_array(primitive: Primitive, /, *args: Any, **params: Any) -> Any:
    """Apply a primitive that moves elements to each of the arrays of its high operands."""
    avals: list[Any] = [typeof(x) for x in args]
    split = [a.lower_val(x) if a.is_high else None for a, x in zip(avals, args)]
    dtype = next(a.dtype for a in avals if a.is_high)
    outs: list[Any] = []
    for i in range(len(dtype.low)):
        outs.append(
            primitive.bind(*[x if p is None else p[i] for p, x in zip(split, args)], **params)
        )
    if primitive.multiple_results:
        return [dtype.value_of(arrays) for arrays in zip(*outs, strict=True)]
    return dtype.value_of(outs)


class LowerTrace(LiftTrace[Any]):
    """Applies the rules of ``to_lo`` to high operations, under itself; passes low ones on."""

    __slots__ = ()
    what = "lowering to low types"

    def lift(self, value: Any) -> Any:
        return value

    def lower(self, x: Any) -> Any:
        return x

    def process(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        if is_high(primitive, args, params):
            return run_to_lo(primitive, args, params)
        return self.parent.process(primitive, args, params)


def is_high(primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> bool:
    """Return whether an application is high: an operand, the primitive, or a sub-program."""
    if any(typeof(x).is_high for x in args):
        return True
    if primitive.is_high is not None and primitive.is_high(**params):
        return True
    return primitive.regions is not None and primitive.holds_high(params)


def run_to_lo(primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
    """Apply an operation by its rule of ``to_lo``.

    Raises:
        TypeError: the rule's results do not have the types of the type rule; names both.
    """
    rule = to_lo_rules.rules.get(primitive) or to_lo_rules.miss(primitive)
    try:
        out = rule(*args, **params)
    except Exception as e:
        to_lo_rules.blame(primitive, args, params, e)
        raise
    if primitive.regions is None:
        rule_checks.check_results(to_lo_rules, primitive, args, params, out)
    return out


def lower_to_lo(program: ClosedJaxpr) -> ClosedJaxpr:
    """The program on the arrays of its values: without high types and operations.

    Inputs and outputs of high types are replaced, in place, by their arrays (see ``low_types``). A
    program that is not high is returned as it is; the result is remembered with the program.

    Raises:
        MissingMethod: a high type or primitive does not define how it is lowered.
    """
    if not program.jaxpr.is_high:
        return program
    carrier = LowCarrier(f"the program {program.jaxpr.name!r}")
    structures = tuple(a if a.is_high else None for a in program.in_avals)
    return lift_program(carrier, program, structures)[0]


def lower_values(values: Sequence[Any], purpose: str) -> list[Any]:
    """The arrays of concrete values, in the order of a lowered program's inputs."""
    return [x for v in values for x in low_parts(v, typeof(v), purpose)]


def raise_values(arrays: Sequence[Any], avals: Sequence[AbstractValue]) -> list[Any]:
    """The values of types ``avals`` that are made of ``arrays``, a lowered program's outputs."""
    result: list[Any] = []
    rest = iter(arrays)
    high: Any = avals
    for aval in high:
        if aval.is_high:
            result.append(aval.raise_val(*[next(rest) for _ in aval.lo_ty()]))
        else:
            result.append(next(rest))
    return result


def eval_high(primitive: Primitive, otherwise: Callable[..., Any] | None) -> Callable[..., Any]:
    """The rule of evaluation of a primitive that may be high: provider ``high_evaluator``.

    Args:
        otherwise: its rule where it is not high.
    """
    high = primitive.is_high

    def rule(*args: Any, **params: Any) -> Any:
        if otherwise is None or high is None or high(**params):
            return run_to_lo(primitive, args, params)
        return otherwise(*args, **params)

    return rule


def _is_low(eqn: Eqn) -> bool:
    """Return whether an equation is low if its operands are."""
    primitive = eqn.primitive
    if primitive.stateful or (primitive.is_high is not None and primitive.is_high(**eqn.params)):
        return False
    return primitive.regions is None or not primitive.holds_high(eqn.params)


class LowCarrier(Carrier[Any, Any]):
    """Lifted values are values themselves; their structure is their type where that is high."""

    key = "to_lo"

    def __init__(self, operation: str) -> None:
        self.purpose = f"asked for to lower {operation}"

    def trace(self, parent: Trace) -> LowerTrace:
        return LowerTrace(parent, self, to_lo_rules)

    def function(self, program: ClosedJaxpr) -> Callable[..., list[Any]]:
        return partial(run_partly, program, _is_low)

    def pure(self, x: Any) -> Any:
        return x

    def aval(self, value: Any) -> AbstractValue:
        return typeof(value)

    def structure(self, value: Any, depth: int) -> AbstractValue | None:
        aval = typeof(value)
        if not aval.is_high:
            return None
        return without_leading(aval) if depth else aval

    def join_structures(self, a: Any, b: Any) -> Any:
        if a != b:
            raise TypeError(f"a value changes its type from {a} to {b}{describe(current_source())}")
        return a

    def types(self, aval: AbstractValue, structure: Any) -> tuple[AbstractValue, ...]:
        return tuple(low_types((aval if structure is None else structure,)))

    def arrays(self, value: Any, structure: Any, depth: int) -> tuple[Any, ...]:
        if structure is None:
            return (value,)
        return tuple(low_parts(value, typeof(value), self.purpose))

    def value(self, arrays: Sequence[Any], structure: Any, depth: int) -> Any:
        if structure is None:
            return arrays[0]
        aval: Any = structure
        if depth:
            stacked: Any = typeof(arrays[0])
            aval = with_leading(aval, stacked.shape[0])
        return aval.raise_val(*arrays)

    def known(self, value: Any) -> Any:
        return value

    def may(self, predicate: Any) -> Any:
        raise AssertionError("a predicate is low")

    def select(self, index: Any, cases: Sequence[Any]) -> Any:
        raise AssertionError("an index is low")
