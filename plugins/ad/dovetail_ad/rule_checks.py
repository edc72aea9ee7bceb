"""What rules return, checked where it is used: by number, and by type, whoever wrote the rule.

Types of arrays are interned, so that interpreters compare addresses and come here only where two
differ. Then they may still agree: types of high values are compared by value, and a number written
in Python is weakly typed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from dovetail_core import AbstractValue, Primitive, typeof
from dovetail_core.rules.checks import check_count, kind_of, refuse_result, type_of_result

from .arguments import same_type
from .tables import jvp_rules, transpose_rules
from .zeros import transposed_type


def refuse_pair(primitive: Primitive, result: Any) -> NoReturn:
    """Raise TypeError: a jvp rule returned no pair."""
    wanted = "it must return a pair (result, tangent of the result)"
    refuse_result(jvp_rules, primitive, kind_of(result), wanted)


def check_lists(
    primitive: Primitive, primals: Sequence[Any], params: dict[str, Any], outs: Any, tangents: Any
) -> None:
    """Raise TypeError unless a jvp rule returned all results, and a tangent or None for each."""
    if primitive.regions is not None or primitive.abstract_eval is None:
        count = None  # as many as its programs, or what it evaluates to, have
    else:
        count = len(primitive.infer(tuple([typeof(x) for x in primals]), params).avals)
    check_count(jvp_rules, primitive, outs, count, "result")
    check_count(jvp_rules, primitive, tangents, len(outs), "result")


def check_tangent(primitive: Primitive, primal: Any, tangent: Any) -> AbstractValue:
    """The type of a result; raises TypeError unless the tangent is of its tangent type."""
    aval = type_of_result(jvp_rules, primitive, primal, "a result")
    got = type_of_result(jvp_rules, primitive, tangent, "a tangent")
    want = aval.tangent_type()
    if not same_type(got, want):
        refuse_result(
            jvp_rules,
            primitive,
            f"a tangent of type {got.str_short()} for a result of type {aval.str_short()}",
            f"tangents of that are of type {want.str_short()}",
        )
    return aval


def check_cotangent(primitive: Primitive, args: Sequence[Any], x: Any, cotangent: Any) -> None:
    """Raise TypeError unless the cotangent of ``x``, one of ``args``, is of its cotangent type."""
    index, aval = next(i for i, a in enumerate(args) if a is x), x.aval
    what = f"the cotangent of operand {index}"
    got, want = type_of_result(transpose_rules, primitive, cotangent, what), transposed_type(aval)
    if not same_type(got, want):
        refuse_result(
            transpose_rules,
            primitive,
            f"a cotangent of type {got.str_short()} for operand {index} of type {aval.str_short()}",
            f"cotangents of that are of type {want.str_short()}",
        )
