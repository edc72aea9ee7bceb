"""The exception where a function cannot be found by its code."""

from __future__ import annotations


class NotSound(Exception):
    """Something that a function uses has no digest that tells all that its program depends on."""
