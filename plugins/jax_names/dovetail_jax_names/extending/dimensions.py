"""Dimensions of shapes that are symbols."""


class InconclusiveDimensionOperation(Exception):
    """A comparison of dimensions that are symbols has no answer that holds for all their values.

    Programs catch it. Dimensions are integers here, whose comparisons have answers, so that
    nothing raises it.
    """
