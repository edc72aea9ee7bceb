"""Batching of all elementwise operations, by the one rule that they share."""

from __future__ import annotations

from ...primitives import (
    arithmetic,
    bits,
    comparison,
    complex,
    conversion,
    exponential,
    identity,
    rounding,
    selection,
    special,
    trigonometric,
)
from .kinds import elementwise

_FAMILIES = (
    arithmetic,
    bits,
    comparison,
    complex,
    exponential,
    rounding,
    selection,
    special,
    trigonometric,
)

for _family in _FAMILIES:
    for _name, _primitive in vars(_family).items():
        if _name.endswith("_p"):
            elementwise(_primitive)

for _primitive in (conversion.convert_element_type_p, identity.copy_p, identity.stop_gradient_p):
    elementwise(_primitive)
