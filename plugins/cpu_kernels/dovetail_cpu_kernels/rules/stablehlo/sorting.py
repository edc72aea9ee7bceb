"""Sorts, where kernels by one key were faster at every size that was measured from two elements on,
and the largest elements."""

from __future__ import annotations

from typing import Any

from dovetail_backends import i64, stablehlo_rules
from dovetail_lax import sort_p, top_k_p

from ...library import serves

_KEYS = frozenset(
    f"{kind}{bits}" for kind in ("int", "uint", "float") for bits in (8, 16, 32, 64)
) | {"bool", "bfloat16"}
_MOST, _LEAST_BY_KEYS = 2**31 - 1, 5
"""Elements of a line up to which there are kernels, and from which those for several keys were
faster."""


@stablehlo_rules.register(sort_p, override=True)
def _sort(b: Any, *operands: Any, dimension: int, is_stable: bool, num_keys: int) -> list[Any]:
    if serves(b) and _has_kernel(operands, dimension, num_keys):
        config = {"dimension": i64(dimension), "num_keys": i64(num_keys)}
        return b.custom_call("dovetail_cpu_sort", operands, b.outs, config)
    rest = stablehlo_rules.replaced(sort_p, _sort)
    return rest(b, *operands, dimension=dimension, is_stable=is_stable, num_keys=num_keys)


def _has_kernel(operands: Any, dimension: int, num_keys: int) -> bool:
    ordered = all(x.aval.dtype.name in _KEYS for x in operands[:num_keys])
    moved = all(x.aval.dtype.name in _KEYS or x.aval.dtype.kind == "c" for x in operands)
    least = 2 if num_keys == 1 else _LEAST_BY_KEYS
    return ordered and moved and least <= operands[0].aval.shape[dimension] <= _MOST


_LEAST_K, _LEAST_N = 8, 1000
"""Many short rows of which few elements are wanted XLA goes through as fast."""


@stablehlo_rules.register(top_k_p, override=True)
def _top_k(b: Any, x: Any, *, k: int, axis: int) -> list[Any]:
    n, is_last = x.aval.shape[axis], axis == len(x.aval.shape) - 1
    fits = x.aval.dtype.name in _KEYS and is_last and n <= _MOST
    if serves(b) and fits and k and (k >= _LEAST_K or n >= _LEAST_N) and x.aval.size:
        return b.custom_call("dovetail_cpu_top_k", [x], b.outs)
    return stablehlo_rules.replaced(top_k_p, _top_k)(b, x, k=k, axis=axis)
