"""Sorts by one key: from two elements on, kernels were faster at every size that was measured."""

from __future__ import annotations

from typing import Any

from dovetail_backends import i64, stablehlo_rules
from dovetail_lax import sort_p

from ...choice import serves

_KEYS = frozenset(
    f"{kind}{bits}" for kind in ("int", "uint", "float") for bits in (8, 16, 32, 64)
) | {"bool", "bfloat16"}
_MOST = 2**31 - 1


@stablehlo_rules.register(sort_p, override=True)
def _sort(b: Any, *operands: Any, dimension: int, is_stable: bool, num_keys: int) -> list[Any]:
    if serves(b) and num_keys == 1 and _has_kernel(operands, dimension):
        config = {"dimension": i64(dimension)}
        return b.custom_call("dovetail_cpu_sort", operands, b.outs, config)
    rest = stablehlo_rules.replaced(sort_p, _sort)
    return rest(b, *operands, dimension=dimension, is_stable=is_stable, num_keys=num_keys)


def _has_kernel(operands: Any, dimension: int) -> bool:
    keys = operands[0].aval
    moved = all(x.aval.dtype.name in _KEYS or x.aval.dtype.kind == "c" for x in operands)
    return keys.dtype.name in _KEYS and moved and 2 <= keys.shape[dimension] <= _MOST
