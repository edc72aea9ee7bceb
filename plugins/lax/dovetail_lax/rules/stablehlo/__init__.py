"""Rules of ``backends.stablehlo``: lowering of the primitives on arrays."""

from . import (
    arithmetic as arithmetic,
    collectives as collectives,
    composite as composite,
    condensed as condensed,
    contractions as contractions,
    control_flow as control_flow,
    discrete as discrete,
    factorizations as factorizations,
    gather as gather,
    joining as joining,
    reductions as reductions,
    shape as shape,
    sorting as sorting,
    spectral as spectral,
    transcendental as transcendental,
    values as values,
    windows as windows,
)
