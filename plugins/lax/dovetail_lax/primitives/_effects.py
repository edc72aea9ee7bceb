"""The effects of primitives that hold programs."""

from __future__ import annotations

from typing import Any

from dovetail_core import NO_EFFECTS, ClosedJaxpr, Primitive


def effects_of(primitive: Primitive, params: dict[str, Any], *programs: ClosedJaxpr) -> Any:
    """The effects of sub-programs, by the operands of ``primitive``."""
    if not any([p.effects for p in programs]):  # noqa: C419
        return NO_EFFECTS
    assert primitive.regions is not None
    return primitive.regions(params).effects()
