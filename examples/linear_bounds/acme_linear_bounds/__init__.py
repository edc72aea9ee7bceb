"""Linear bounds of functions on boxes: affine functions of the input below and above each value."""

from dovetail_core import hide_frames

from .bounds import affine_rules as affine_rules, linear_bounds as linear_bounds

__all__ = ["linear_bounds"]

hide_frames(__name__)  # a mistake is in the line that uses this package
