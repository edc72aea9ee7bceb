"""Batching of special functions, and of derivatives of elementwise functions."""

from __future__ import annotations

from ...primitives import numerical, slopes, special
from .elementwise import elementwise

for _family in (numerical, slopes, special):
    for _name, _primitive in vars(_family).items():
        if _name.endswith("_p") and _primitive.module == _family.__name__:
            elementwise(_primitive)
