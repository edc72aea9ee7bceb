"""Evaluation and lowering of checkpointed calls and of moves between the memories of a device."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_backends import Array, device_put, evaluate, reference_rules, stablehlo_rules
from dovetail_core import ClosedJaxpr, def_impl, evaluation

from ..primitive import place_p, remat_p

_ONE_MEMORY = frozenset({"cpu", "reference"})
"""Platforms on which a device has a single memory, so that nothing is moved."""


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
        barred = [x for x, f in zip(operands, flags) if f]
        if barred:
            avals = [x.aval for x in barred]
            result = iter(b.op("stablehlo.optimization_barrier", barred, avals))
            operands = tuple(next(result) if f else x for x, f in zip(operands, flags))
    return b.inline(jaxpr, operands)


@def_impl(remat_p)
def _remat_now(*args: Any, jaxpr: ClosedJaxpr, **params: Any) -> list[Any]:
    """Evaluate operation by operation, as a program that is new in each call is not compiled."""
    return evaluation.eval_freeing(jaxpr, *args)


@reference_rules.register(remat_p)
def _remat_reference(*args: Any, jaxpr: ClosedJaxpr, **params: Any) -> list[Any]:
    return evaluate(jaxpr, *args)


@def_impl(place_p)
def _move_now(x: Any, *, src: str, dst: str) -> Any:
    """Move an array.

    Raises:
        ValueError: the device has no memory of that name; lists those that it has.
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
def _memory_stablehlo(b: Any, x: Any, *, src: str, dst: str) -> Any:
    """The annotation by which XLA moves buffers; the operand on platforms with one memory."""
    if b.platform in _ONE_MEMORY:
        return x
    attrs = 'call_target_name = "annotate_device_placement", has_side_effect = true'
    note = f'mhlo.frontend_attributes = {{_xla_buffer_placement = "{dst}"}}'
    return b.op("stablehlo.custom_call", [x], b.out, attrs, notes=note)


@reference_rules.register(place_p)
def _memory_reference(x: Any, *, src: str, dst: str) -> Any:
    return np.asarray(x)
