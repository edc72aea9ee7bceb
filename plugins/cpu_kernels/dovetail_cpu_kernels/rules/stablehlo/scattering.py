"""Scatter-add of many numbers to an array of one axis."""

from __future__ import annotations

from typing import Any

from dovetail_backends import boolean, operand_aliases, stablehlo_rules
from dovetail_lax import GatherScatterMode, scatter_add_p

from ...library import NUMBERS, serves
from .operand_origins import before_wrapping

_LEAST = 2000
"""The number of updates from which the kernel was faster."""
_MOST = 2**31 - 1


@stablehlo_rules.register(scatter_add_p, override=True)
def _scatter_add(b: Any, x: Any, indices: Any, updates: Any, **params: Any) -> Any:
    dn, known = params["dimension_numbers"], indices.aval.dtype.name in ("int32", "uint32")
    mode: GatherScatterMode = params["mode"]
    known = known and not mode.clips and mode is not GatherScatterMode.ONE_HOT
    if serves(b) and known and _is_of_numbers(x, updates, dn):
        further = {"output_operand_aliases": operand_aliases({0: 0}, 1)}
        raw = before_wrapping(b, indices, x.aval.size)
        config = {"wraps": boolean(raw is not None)}
        operands = [x, indices if raw is None else raw, updates]
        name = "dovetail_cpu_scatter_add"
        return b.custom_call(name, operands, b.outs, config, further=further)[0]
    rest = stablehlo_rules.replaced(scatter_add_p, _scatter_add)
    return rest(b, x, indices, updates, **params)


def _is_of_numbers(x: Any, updates: Any, dn: Any) -> bool:
    """Tell whether single numbers, and enough of them, are added to elements of one axis."""
    to, added = x.aval, updates.aval
    is_plain = dn.scatter_dims_to_operand_dims == (0,) and not dn.operand_batching_dims
    one = dn.inserted_window_dims == (0,) and not dn.update_window_dims
    fits = len(to.shape) == 1 and 0 < to.size <= _MOST and added.size >= _LEAST
    return is_plain and one and fits and to.dtype.name in NUMBERS
