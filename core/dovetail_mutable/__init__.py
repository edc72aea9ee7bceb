"""Mutable values, such as references, under transformations that lift values."""

from . import mutable_values as mutable_values
