"""A forward-style transformation: whether results depend on arguments that are marked."""

from __future__ import annotations

from typing import Any, Protocol

from dovetail_core import Carrier, LiftTrace, RuleTable, derive, lift_call, typeof


class DependsRule(Protocol):
    """``rule(carrier, args, params)``: pairs of a value and a mark to such a pair."""

    def __call__(self, carrier: Any, args: Any, params: Any) -> Any: ...


def _derive(primitive):
    def rule(carrier, args, params):
        out = primitive.bind(*[x for x, _ in args], **params)
        marked = any(mark for _, mark in args)
        return [(y, marked) for y in out] if primitive.multiple_results else (out, marked)

    return derive(primitive) or rule


depends_rules: RuleTable[Any] = RuleTable(
    "api1.depends", signature=DependsRule, derive=_derive, law="depends", empty=""
)


class DependsTrace(LiftTrace[Any]):
    """Runs operations on marked values."""

    __slots__ = ()
    what = "depends"


class Depends(Carrier):
    """Lifted values are pairs of a value and whether it is marked."""

    key = "api1.depends"

    def trace(self, parent):
        return DependsTrace(parent, self, depends_rules)

    def pure(self, x):
        return x, False

    def aval(self, value):
        return typeof(value[0])

    def structure(self, value, depth):
        return value[1]

    def join_structures(self, a, b):
        return a or b

    def types(self, aval, structure):
        return (aval,)

    def arrays(self, value, structure, depth):
        return (value[0],)

    def value(self, arrays, structure, depth):
        return arrays[0], structure

    def known(self, value):
        return None if value[1] else value[0]

    def primal(self, value):
        return value[0]

    def may(self, predicate):
        return predicate[0]

    def select(self, index, cases):
        raise TypeError("depends: an index is marked")


DEPENDS = Depends()


def depends(f):
    """For each result of ``f``, which returns a list, whether it depends on marked arguments."""

    def which(*args, marked):
        return [mark for _, mark in lift_call(DEPENDS, f, list(zip(args, marked)))]

    return which
