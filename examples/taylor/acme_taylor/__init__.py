"""Derivatives of functions of pytrees along a path, and differential equations by their series."""

from dovetail_core import hide_frames

from .equations import solution as solution
from .taylor import taylor as taylor

__all__ = ["solution", "taylor"]

hide_frames(__name__)  # errors are of the line that uses this package
