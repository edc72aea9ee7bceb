"""Rules of ``backends.reference``: the primitives on arrays by NumPy and SciPy."""

from . import (
    arithmetic as arithmetic,
    control_flow as control_flow,
    conv as conv,
    cumulative as cumulative,
    discrete as discrete,
    dot as dot,
    fft as fft,
    gather as gather,
    joining as joining,
    linalg as linalg,
    reductions as reductions,
    rng as rng,
    scatter as scatter,
    shape as shape,
    slicing as slicing,
    sorting as sorting,
    special as special,
    transcendental as transcendental,
    values as values,
    windows as windows,
)
