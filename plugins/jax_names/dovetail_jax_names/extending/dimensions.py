"""Dimensions of shapes that are symbols."""

from operator import index
from typing import Any


class InconclusiveDimensionOperation(Exception):
    """A comparison of dimensions that are symbols has no answer that holds for all their values.

    Programs catch it. Dimensions are integers here, whose comparisons have answers, so that
    nothing raises it.
    """


def is_constant_dim(d: Any) -> bool:
    """Whether a dimension is an integer."""
    try:
        index(d)
    except TypeError:
        return False
    return True
