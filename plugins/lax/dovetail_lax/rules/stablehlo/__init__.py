"""Rules of ``backends.stablehlo``: lowering of the primitives on arrays."""

from . import (
    arithmetic as arithmetic,
    control_flow as control_flow,
    conv as conv,
    discrete as discrete,
    dot as dot,
    factorizations as factorizations,
    fft as fft,
    gather as gather,
    joining as joining,
    reductions as reductions,
    scatter as scatter,
    shape as shape,
    slicing as slicing,
    sorting as sorting,
    special as special,
    spectral as spectral,
    transcendental as transcendental,
    values as values,
    windows as windows,
)
