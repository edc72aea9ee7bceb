"""Rules of ``ad.jvp``: values and tangents of the primitives on arrays."""

from . import (
    arithmetic as arithmetic,
    collectives as collectives,
    condensed as condensed,
    contractions as contractions,
    discrete as discrete,
    factorizations as factorizations,
    gather as gather,
    polar as polar,
    reductions as reductions,
    shape as shape,
    sorting as sorting,
    special as special,
    spectral as spectral,
    transcendental as transcendental,
    updates as updates,
    values as values,
    windows as windows,
)
