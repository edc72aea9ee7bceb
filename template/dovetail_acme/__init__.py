"""Shifting arrays: what users import. Reading the manifest imports this, so it stays light."""

from .primitives import shift as shift, shift_p as shift_p

__all__ = ["shift"]
