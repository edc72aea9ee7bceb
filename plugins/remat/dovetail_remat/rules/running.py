"""Running checkpointed calls, behind a barrier that keeps compilers off them, and moving values
between the memories of a device: at once, and inside of compiled programs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_backends import Array, device_put, evaluate, reference_rules, stablehlo_rules
from dovetail_core import ClosedJaxpr, def_impl, evaluation

from ..primitive import place_p, remat_p

_ONE_MEMORY = frozenset({"cpu", "reference"})
"""Platforms on which the memories of a device are one and the same: nothing is moved there."""


@stablehlo_rules.register(remat_p)
def _remat_stablehlo(
    b: Any,
    *operands: Any,
    jaxpr: ClosedJaxpr,
    policy: Any,
    prevent_cse: bool | tuple[bool, ...],
    differentiated: bool,
    effects: str = "once",
) -> list[Any]:
    if differentiated and prevent_cse:
        flags = prevent_cse if isinstance(prevent_cse, tuple) else (True,) * len(operands)
        behind = [x for x, f in zip(operands, flags) if f]
        if behind:
            avals = [x.aval for x in behind]
            result = iter(b.op("stablehlo.optimization_barrier", behind, avals))
            operands = tuple(next(result) if f else x for x, f in zip(operands, flags))
    return b.inline(jaxpr, operands)


@def_impl(remat_p)
def _remat_now(*args: Any, jaxpr: ClosedJaxpr, **params: Any) -> list[Any]:
    """Operation by operation: a program that is new in every call would be compiled in each."""
    return evaluation.eval_freeing(jaxpr, *args)


@reference_rules.register(remat_p)
def _remat_reference(*args: Any, jaxpr: ClosedJaxpr, **params: Any) -> list[Any]:
    return evaluate(jaxpr, *args)


@def_impl(place_p)
def _place_now(x: Any, *, src: str, dst: str) -> Any:
    """Move an array at once.

    Raises:
        ValueError: the device has no memory of that name; says which it has.
    """
    if not isinstance(x, Array) or len(x.devices()) != 1:
        return x
    (device,) = x.devices()
    kinds = sorted(m.kind for m in device.addressable_memories())
    if dst not in kinds:
        raise ValueError(
            f"checkpoint: a value is to be kept in memory {dst!r}, but {device} has "
            f"{', '.join(kinds)}. Name one of these in the policy."
        )
    if device.platform in _ONE_MEMORY:
        return x
    return device_put(x, x.sharding.with_memory_kind(dst))


@stablehlo_rules.register(place_p)
def _place_stablehlo(b: Any, x: Any, *, src: str, dst: str) -> Any:
    """The annotation by which XLA moves buffers; nothing where there is one memory."""
    if b.platform in _ONE_MEMORY:
        return x
    attrs = 'call_target_name = "annotate_device_placement", has_side_effect = true'
    note = f'mhlo.frontend_attributes = {{_xla_buffer_placement = "{dst}"}}'
    return b.op("stablehlo.custom_call", [x], b.out, attrs, notes=note)


@reference_rules.register(place_p)
def _place_reference(x: Any, *, src: str, dst: str) -> Any:
    return np.asarray(x)
