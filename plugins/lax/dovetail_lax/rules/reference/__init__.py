"""Rules of ``backends.reference``: the primitives on arrays by NumPy and SciPy."""

from . import (
    arithmetic as arithmetic,
    collectives as collectives,
    contractions as contractions,
    control_flow as control_flow,
    discrete as discrete,
    gather as gather,
    joining as joining,
    linalg as linalg,
    reductions as reductions,
    rng as rng,
    shape as shape,
    sorting as sorting,
    transcendental as transcendental,
    values as values,
    windows as windows,
)
