"""Derivatives along a direction: a trace beside those of ``ad`` and ``batching``.

A lifted value is a pair of a value and its tangent, or None where that is zero. What a primitive's
traits say of it, linear operands and constant ones, is its rule; others have rules in
``along_rules.py``. Loops, branches and calls follow from their regions, and mutable values that the
function makes from the kernel's local values.
"""

from __future__ import annotations

from typing import Any, Protocol

from dovetail_core import (
    Carrier,
    LiftTrace,
    MissingRule,
    RuleTable,
    add_tangents,
    algebra,
    derive,
    lift_call,
    rule_checks,
    typeof,
    zeros_like_aval,
)


class AlongRule(Protocol):
    """``rule(carrier, args, params)``: pairs of a value and its tangent to such a pair."""

    def __call__(self, carrier: Any, args: Any, params: Any) -> Any: ...


along_rules: RuleTable[Any] = RuleTable("api2.along", signature=AlongRule)


@along_rules.deriver
def _derive(primitive):
    return derive(primitive) or _by_traits(primitive)


def _by_traits(primitive):
    """The rule of an operation that is linear in each operand with a tangent, others fixed."""

    def rule(carrier, args, params):
        varying = [i for i, (_, t) in enumerate(args) if t is not None]
        groups = primitive.traits.multilinear_in(varying, len(args), params)
        if groups is None:
            raise MissingRule(f"api2.along: {primitive.name!r} is not linear where it varies")
        out = primitive.bind(*[x for x, _ in args], **params)
        total = [None] * (len(out) if primitive.multiple_results else 1)
        for group in groups:
            new = primitive.bind(*[_operand(a, i in group) for i, a in enumerate(args)], **params)
            parts = new if primitive.multiple_results else [new]
            total = [b if a is None else add_tangents(a, b) for a, b in zip(total, parts)]
        return list(zip(out, total)) if primitive.multiple_results else (out, total[0])

    return rule


def _operand(pair, is_varied):
    value, tangent = pair
    if not is_varied:
        return value
    return zeros_like_aval(typeof(value)) if tangent is None else tangent


class AlongTrace(LiftTrace[Any]):
    """Runs operations on pairs."""

    __slots__ = ()
    what = "along"

    def apply(self, rule, args, params):
        out = rule(self.carrier, args, params)
        for pair in out if isinstance(out, list) else [out]:
            if not isinstance(pair, tuple):
                raise TypeError(f"no pair, but {rule_checks.describe_result(pair)}")
        return out


class Along(Carrier):
    """Pairs of a value and a tangent; their structure is whether there is a tangent."""

    key = "api2.along"

    def trace(self, parent):
        return AlongTrace(parent, self, along_rules)

    def pure(self, x):
        return x, None

    def aval(self, value):
        return typeof(value[0])

    def structure(self, value, depth):
        return value[1] is not None

    def join_structures(self, a, b):
        return a or b

    def types(self, aval, structure):
        return (aval, aval.tangent_type()) if structure else (aval,)

    def arrays(self, value, structure, depth):
        if not structure:
            return (value[0],)
        return value[0], _operand(value, True)

    def value(self, arrays, structure, depth):
        return (arrays[0], arrays[1]) if structure else (arrays[0], None)

    def known(self, value):
        return value[0] if value[1] is None else None

    def primal(self, value):
        return value[0]

    def may(self, predicate):
        return predicate[0]

    def select(self, index, cases):
        values = algebra().pick(index[0], [v for v, _ in cases])
        if all(t is None for _, t in cases):
            return values, None
        return values, algebra().pick(index[0], [_operand(c, True) for c in cases])


ALONG = Along()


def along(f):
    """``along(f)(x, v)``: the value of ``f`` at ``x``, and its derivative along ``v``."""

    def run(x, v):
        value, tangent = lift_call(ALONG, f, [(x, v)])
        return value, zeros_like_aval(typeof(value)) if tangent is None else tangent

    return run
