"""Batching of special functions."""

from __future__ import annotations

from ...primitives import incomplete, special
from .elementwise import elementwise

for _family in (incomplete, special):
    for _name, _primitive in vars(_family).items():
        if _name.endswith("_p"):
            elementwise(_primitive)
