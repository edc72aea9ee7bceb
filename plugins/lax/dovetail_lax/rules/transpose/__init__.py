"""Rules of ``ad.transpose``: the primitives on arrays that are linear in some operand."""

from . import (
    arithmetic as arithmetic,
    collectives as collectives,
    complex as complex,
    conv as conv,
    conversion as conversion,
    cumulative as cumulative,
    dot as dot,
    factorizations as factorizations,
    fft as fft,
    gather as gather,
    identity as identity,
    joining as joining,
    reductions as reductions,
    scatter as scatter,
    selection as selection,
    shape as shape,
    slicing as slicing,
    windows as windows,
)
