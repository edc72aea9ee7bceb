"""Cells of ``backends.reference``: the primitives on arrays by NumPy and SciPy."""

from . import (
    arithmetic as arithmetic,
    control_flow as control_flow,
    discrete as discrete,
    gather as gather,
    joining as joining,
    rng as rng,
    scatter as scatter,
    shape as shape,
    slicing as slicing,
    special as special,
    transcendental as transcendental,
    values as values,
)
