"""Moving a value between the memories of a device: at once, and inside of compiled programs."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_backends import Array, device_put, reference_rules, stablehlo_rules
from dovetail_core import def_impl

from ...primitive import place_p

_ONE_MEMORY = frozenset({"cpu", "reference"})
"""Platforms on which the memories of a device are one and the same: nothing is moved there."""


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
