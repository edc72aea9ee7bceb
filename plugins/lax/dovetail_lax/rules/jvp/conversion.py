"""Differentiation of changes of element type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import jvp_rules
from dovetail_core import is_inexact

from ...primitives.conversion import bitcast_convert_type_p, convert_element_type_p
from .kinds import zero


@jvp_rules.register(convert_element_type_p)
def _convert(
    primals: Sequence[Any], tangents: Sequence[Any], *, new_dtype: Any, weak_type: bool = False
) -> tuple[Any, Any]:
    (x,), (t,) = primals, tangents
    out = convert_element_type_p.bind(x, new_dtype=new_dtype, weak_type=weak_type)
    if not is_inexact(new_dtype):
        return out, None
    return out, convert_element_type_p.bind(t, new_dtype=new_dtype, weak_type=False)


zero(bitcast_convert_type_p)
