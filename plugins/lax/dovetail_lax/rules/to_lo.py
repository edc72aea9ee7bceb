"""Rules of ``to_lo``: comparisons, conversions and sorts of arrays of extended dtypes."""

from __future__ import annotations

from functools import reduce
from typing import Any

from dovetail_core import lower_values, raise_values, to_lo_rules, typeof

from ..primitives.discrete import and_p, eq_p, ne_p, or_p
from ..primitives.sorting import sort_p
from ..primitives.values import convert_element_type_p


def _compared(primitive: Any, joined: Any) -> Any:
    """Elements are equal where all of what they are made of is, unequal where any of it is."""

    def rule(x: Any, y: Any) -> Any:
        aval: Any = typeof(x)
        a, b = aval.lower_val(x), aval.lower_val(y)
        return reduce(joined.bind, map(primitive.bind, a, b))

    return rule


@to_lo_rules.register(convert_element_type_p)
def _convert(x: Any, *, new_dtype: Any, weak_type: bool = False) -> Any:
    """Only to its own type can such an array be converted."""
    return x


@to_lo_rules.register(sort_p)
def _sort(*operands: Any, num_keys: int, **params: Any) -> list[Any]:
    """The sort of all arrays of which the operands are made; those not compared are moved along."""
    avals: list[Any] = [typeof(x) for x in operands]
    arrays = lower_values(operands, "asked for to lower sort")
    return raise_values(sort_p.bind(*arrays, num_keys=num_keys, **params), avals)


to_lo_rules.register(eq_p)(_compared(eq_p, and_p))
to_lo_rules.register(ne_p)(_compared(ne_p, or_p))
