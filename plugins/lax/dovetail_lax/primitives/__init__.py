"""The primitives on arrays, by family; importing this defines all of them."""

from . import (
    arithmetic as arithmetic,
    collectives as collectives,
    composite as composite,
    condensed as condensed,
    contractions as contractions,
    control_flow as control_flow,
    discrete as discrete,
    factorizations as factorizations,
    fft as fft,
    forms as forms,
    gather as gather,
    incomplete as incomplete,
    joining as joining,
    platforms as platforms,
    polar as polar,
    ragged as ragged,
    reductions as reductions,
    rng as rng,
    shape as shape,
    sorting as sorting,
    special as special,
    spectral as spectral,
    traits as traits,
    transcendental as transcendental,
    tridiagonal as tridiagonal,
    updates as updates,
    values as values,
    while_loop as while_loop,
    windows as windows,
)

traits.describe_all()
traits.refuse_extended()
